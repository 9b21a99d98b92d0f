//! The command line.
//!
//! Flags are spelled as in LLVM's tools: `-flag`, `--flag`, `--flag=v` and `--flag v` are all
//! accepted, and a flag without a value may be set to true or false: `--flag=false`.

use std::ffi::OsString;
use std::io::{Stderr, stderr};
use std::path::Path;

use anstream::{AutoStream, ColorChoice};
use clap::{Args, Command, ValueEnum};

use crate::diagnostics::render::Styles;
use crate::diagnostics::{DEFAULT_MAX_ERRORS, Reporter, SourceMap};
use crate::failure::Failure;

/// Normalises dashes: two for flags of several letters and for `--o=x`, one for flags of one
/// letter. Everything after `--` stays.
pub(crate) fn with_two_dashes(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut is_verbatim = false;
    arguments
        .into_iter()
        .map(|argument| {
            is_verbatim |= argument == "--";
            match argument.to_str() {
                Some(text) if !is_verbatim && is_long_flag_of_one_dash(text) => {
                    format!("-{text}").into()
                }
                Some(text) if !is_verbatim && is_letter_of_two_dashes(text) => text[1..].into(),
                _ => argument,
            }
        })
        .collect()
}

fn is_long_flag_of_one_dash(text: &str) -> bool {
    let Some(flag) = text.strip_prefix('-') else {
        return false;
    };
    let name = flag.split('=').next().unwrap_or(flag);
    // `-o=x` too: the name of the flag has one letter, but its short form would take `=x` for the
    // value.
    !flag.starts_with('-') && (name.len() > 1 || flag.len() > name.len())
}

fn is_letter_of_two_dashes(text: &str) -> bool {
    let letter = text.strip_prefix("--").unwrap_or_default();
    letter.len() == 1 && letter.starts_with(|letter: char| letter.is_ascii_alphabetic())
}

/// Spells `trace --cluster MERGED TRACE…`, without the name of the tool, as `cluster trace MERGED
/// TRACE…`. In `trace --cluster JOB=ADDRESS …`, which runs a program, there is a `=`.
#[cfg(all(feature = "grpc", unix))]
pub(crate) fn with_command_of_traces(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let [command, flag, merged, ..] = &mut arguments[..] else {
        return arguments;
    };
    if command == "trace" && flag == "--cluster" && !merged.to_string_lossy().contains('=') {
        *command = "cluster".into();
        *flag = "trace".into();
    }
    arguments
}

/// Returns `true` if an argument may be a flag that is set to true or false. Describing all
/// arguments of a command takes a while, and few command lines need that.
pub(crate) fn may_set_flags(arguments: &[OsString]) -> bool {
    let value = |argument: &OsString| {
        let (_, value) = argument.to_str()?.strip_prefix("--")?.split_once('=')?;
        truth(value)
    };
    arguments.iter().any(|argument| value(argument).is_some())
}

/// Returns the value of a flag that is true or false, as LLVM's tools take it.
fn truth(value: &str) -> Option<bool> {
    match value {
        "" | "true" | "TRUE" | "True" | "1" => Some(true),
        "false" | "FALSE" | "False" | "0" => Some(false),
        _ => None,
    }
}

/// Resolves flags that are set to true or false: `--flag=true` becomes `--flag`, and `--flag=false`
/// is removed together with earlier occurrences of `--flag`. `command` describes the arguments, the
/// first of which is the name of the tool.
///
/// # Errors
/// Such a flag has a value other than true or false.
pub(crate) fn with_plain_flags(
    command: impl FnOnce() -> Command,
    arguments: Vec<OsString>,
) -> Result<Vec<OsString>, Failure> {
    let mut command = command();
    command.build();
    let command = arguments
        .get(1)
        .and_then(|name| command.find_subcommand(name))
        .unwrap_or(&command);
    let takes_no_value = |name: &str| {
        command
            .get_arguments()
            .find(|argument| argument.get_long() == Some(name))
            .is_some_and(|argument| {
                let num_values = argument.get_num_args().map(|range| range.max_values());
                !argument.get_action().takes_values() || num_values == Some(0)
            })
    };
    let mut plain: Vec<OsString> = Vec::with_capacity(arguments.len());
    let mut is_verbatim = false;
    for argument in arguments {
        is_verbatim |= argument == "--";
        let said = argument
            .to_str()
            .filter(|_| !is_verbatim)
            .and_then(|text| text.strip_prefix("--")?.split_once('='))
            .filter(|(name, _)| takes_no_value(name));
        let Some((name, value)) = said else {
            plain.push(argument);
            continue;
        };
        let flag = format!("--{name}");
        match truth(value) {
            Some(true) => plain.push(flag.into()),
            Some(false) => plain.retain(|before| *before != *flag),
            None => {
                let message = format!(
                    "for the {flag} option: '{value}' is invalid value for boolean argument! Try \
                     0 or 1"
                );
                return Err(Failure::new(message));
            }
        }
    }
    Ok(plain)
}

/// Returns the name under which the tool was started: the last part of the path, without `.exe`.
pub(crate) fn program_name(argument: Option<&OsString>) -> String {
    argument
        .and_then(|path| Path::new(path).file_name())
        .map(|name| name.to_string_lossy().trim_end_matches(".exe").to_owned())
        .unwrap_or_else(|| "tfrt".to_owned())
}

/// Returns `true` if a tool has the name of one of the original's tools, on whose exact output
/// scripts depend.
pub(crate) fn is_original(program: &str) -> bool {
    matches!(
        program,
        "bef_executor"
            | "bef_executor_lite"
            | "bef_executor_debug_tracing"
            | "code_size_test_driver"
            | "tfrt_translate"
            | "tfrt_opt"
            | "tfrt_gpu_executor"
            | "tfrt_gpu_translate"
            | "tfrt_gpu_opt"
    )
}

/// How much to report about a program.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DiagnosticArguments {
    /// The maximum number of errors to show; 0 shows all
    #[arg(long = "max-errors", value_name = "N", default_value_t = DEFAULT_MAX_ERRORS)]
    max_errors: usize,

    /// When to colour errors; `auto` means on a terminal, unless the variable NO_COLOR is set
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = When::Auto)]
    color: When,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl DiagnosticArguments {
    /// Returns a reporter that prints to standard error.
    pub(crate) fn printing(self, sources: SourceMap) -> Reporter<AutoStream<Stderr>> {
        self.set_up(|out| Reporter::printing(sources, out))
    }

    /// Returns a reporter that compares diagnostics with expectations, and prints to standard
    /// error.
    pub(crate) fn verifying(self, sources: SourceMap) -> Reporter<AutoStream<Stderr>> {
        self.set_up(|out| Reporter::verifying(sources, out))
    }

    /// Returns a reporter that compares diagnostics with the expectations in their source files,
    /// and prints to standard error.
    pub(crate) fn verifying_lazily(self, sources: SourceMap) -> Reporter<AutoStream<Stderr>> {
        self.set_up(|out| Reporter::verifying_lazily(sources, out))
    }

    fn set_up(
        self,
        reporter: impl FnOnce(AutoStream<Stderr>) -> Reporter<AutoStream<Stderr>>,
    ) -> Reporter<AutoStream<Stderr>> {
        let wanted = match self.color {
            When::Auto => AutoStream::choice(&stderr()),
            When::Always => ColorChoice::Always,
            When::Never => ColorChoice::Never,
        };
        let (styles, choice) = match wanted {
            // Plain text is written as it is, to the byte.
            ColorChoice::Never => (Styles::PLAIN, ColorChoice::AlwaysAnsi),
            choice => (Styles::COLORED, choice),
        };
        reporter(AutoStream::new(stderr(), choice))
            .with_styles(styles)
            .with_max_errors(self.max_errors)
    }
}

/// How to print MLIR.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Printing")]
pub(crate) struct PrintingArguments {
    /// Print every op in its generic form: `"tfrt.return"() : () -> ()`
    #[arg(long = "mlir-print-op-generic")]
    pub(crate) op_generic: bool,

    /// Print the location of every op, with aliases that are defined at the end
    #[arg(long = "mlir-print-debuginfo")]
    pub(crate) debug_info: bool,

    /// Print locations inline, without aliases
    #[arg(long = "mlir-print-local-scope")]
    pub(crate) local_scope: bool,

    /// Print functions in the newer syntax, `func.func`
    #[arg(long = "func-dialect")]
    pub(crate) func_dialect: bool,
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction};

    use super::*;

    fn check(typed: &[&str], expected: &[&str]) {
        assert_eq!(with_two_dashes(typed.iter().map(OsString::from)), expected);
    }

    #[test]
    fn one_dash_is_as_good_as_two() {
        check(
            &["-functions=a", "-o", "x", "-h", "-"],
            &["--functions=a", "-o", "x", "-h", "-"],
        );
        check(&["-o=x", "--o=x"], &["--o=x", "--o=x"]);
        check(&["--h", "--o", "x", "--"], &["-h", "-o", "x", "--"]);
    }

    fn tool() -> Command {
        let flag = |name: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue);
        let value = |name: &'static str| Arg::new(name).long(name);
        let run = Command::new("run").args([flag("fast"), flag("loud"), value("name")]);
        Command::new("tool").subcommand(run)
    }

    fn plain(typed: &[&str]) -> Result<Vec<String>, String> {
        let typed = ["tool", "run"].iter().chain(typed).map(OsString::from);
        match with_plain_flags(tool, typed.collect()) {
            Ok(plain) => {
                let texts = plain.iter().skip(2).map(|text| text.to_string_lossy());
                Ok(texts.map(String::from).collect())
            }
            Err(Failure::Error(error)) => Err(error.to_string()),
            Err(_) => Err(String::new()),
        }
    }

    #[test]
    fn a_flag_may_be_said_to_be_true_or_false() {
        let check = |typed: &[&str], expected: &[&str]| {
            let expected: Vec<String> = expected.iter().map(|&text| text.into()).collect();
            assert_eq!(plain(typed), Ok(expected), "{typed:?}");
        };
        check(&["--fast=true", "--loud=1"], &["--fast", "--loud"]);
        check(&["--fast=false", "--loud=0", "x"], &["x"]);
        check(&["--fast", "--fast=false"], &[]);
        check(&["--fast=false", "--fast"], &["--fast"]);
        check(
            &["--name=true", "--", "--fast=true"],
            &["--name=true", "--", "--fast=true"],
        );
    }

    #[test]
    fn a_flag_is_not_said_to_be_anything_else() {
        assert_eq!(
            plain(&["--fast=maybe"]).unwrap_err(),
            "for the --fast option: 'maybe' is invalid value for boolean argument! Try 0 or 1"
        );
    }

    #[test]
    fn what_follows_two_dashes_alone_is_no_flag() {
        check(&["--", "-name"], &["--", "-name"]);
    }

    #[test]
    fn the_program_is_called_by_the_last_part_of_its_path() {
        assert_eq!(
            program_name(Some(&"/usr/bin/bef_executor".into())),
            "bef_executor"
        );
        assert_eq!(program_name(None), "tfrt");
    }
}
