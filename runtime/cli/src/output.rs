//! Output files.

use std::io::{IsTerminal, Write};

use crate::failure::Failure;

/// Writes a whole output; `-` is standard output.
pub(crate) fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(Failure::of_output)
    } else {
        std::fs::write(path, bytes)
            .map_err(|error| Failure::caused(format!("cannot open output file '{path}'"), error))
    }
}

/// Writes a whole output that is not text; a terminal does not get it.
pub(crate) fn write_binary(path: &str, bytes: &[u8], what: &str) -> Result<(), Failure> {
    if path == "-" && std::io::stdout().is_terminal() {
        return Err(terminal_refused(what));
    }
    write(path, bytes)
}

fn terminal_refused(what: &str) -> Failure {
    Failure::new(format!(
        "refused to write {what} to a terminal: use `-o FILE` or a pipe"
    ))
}

/// Prints one line to standard output, at once.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    write("-", format!("{line}\n").as_bytes())
}
