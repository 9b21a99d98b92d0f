//! `tfrt completions`: completion scripts for shells.

use clap::{CommandFactory, Parser};
use clap_complete::Shell;

use crate::Tfrt;
use crate::failure::Failure;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  tfrt completions bash > ~/.local/share/bash-completion/completions/tfrt
  tfrt completions fish > ~/.config/fish/completions/tfrt.fish
  tfrt completions zsh > _tfrt                      move the file to a folder in `fpath`";

/// Print a shell completion script.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The shell to write the script for
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Tfrt::command(), program, &mut script);
    output::write("-", &script)
}
