//! The command line as it was typed.
//!
//! Flags are spelled as those of LLVM's tools: `-flag`, `--flag`, `--flag=v` and `--flag v` are all accepted.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

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
