//! The command line as it was typed.
//!
//! Flags are spelled as those of LLVM's tools: `-flag`, `--flag`, `--flag=v` and `--flag v` are all accepted.

use std::ffi::OsString;
use std::io::{Stderr, stderr};
use std::path::Path;

use clap::Args;

use crate::diagnostics::{DEFAULT_MAX_ERRORS, Reporter, SourceMap};

/// Gives flags of one dash their second one; `-x` and everything behind `--` stay.
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
    // `-o=x` too: the name of the flag has one letter, but its short form would take `=x` for the value.
    !flag.starts_with('-') && (name.len() > 1 || flag.len() > name.len())
}

/// The name that the tool was started under: the last part of the path, without `.exe`.
pub(crate) fn program_name(argument: Option<&OsString>) -> String {
    argument
        .and_then(|path| Path::new(path).file_name())
        .map(|name| name.to_string_lossy().trim_end_matches(".exe").to_owned())
        .unwrap_or_else(|| "tfrt".to_owned())
}

/// How much is said about a program.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct DiagnosticArguments {
    /// Show so many errors at most and count the others; 0 shows all
    #[arg(long = "max-errors", value_name = "N", default_value_t = DEFAULT_MAX_ERRORS)]
    max_errors: usize,
}

impl DiagnosticArguments {
    /// A reporter to standard error that prints.
    pub(crate) fn printing(self, sources: SourceMap) -> Reporter<Stderr> {
        Reporter::printing(sources, stderr()).with_max_errors(self.max_errors)
    }

    /// A reporter to standard error that holds diagnostics against expectations.
    pub(crate) fn verifying(self, sources: SourceMap) -> Reporter<Stderr> {
        Reporter::verifying(sources, stderr()).with_max_errors(self.max_errors)
    }

    /// A reporter to standard error that holds diagnostics against expectations of the sources that they are about.
    pub(crate) fn verifying_lazily(self, sources: SourceMap) -> Reporter<Stderr> {
        Reporter::verifying_lazily(sources, stderr()).with_max_errors(self.max_errors)
    }
}

/// How printed MLIR looks.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Printing")]
pub(crate) struct PrintingArguments {
    /// Print every op in its generic form: `"tfrt.return"() : () -> ()`
    #[arg(long = "mlir-print-op-generic")]
    pub(crate) op_generic: bool,

    /// Print the location of every op, as aliases that stand at the end
    #[arg(long = "mlir-print-debuginfo")]
    pub(crate) debug_info: bool,

    /// Print locations in place, without aliases
    #[arg(long = "mlir-print-local-scope")]
    pub(crate) local_scope: bool,
}

#[cfg(test)]
mod tests {
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
