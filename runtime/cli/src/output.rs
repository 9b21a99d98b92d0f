//! Output files.

use std::io::{IsTerminal, Write};

use crate::failure::{Failure, Reason};

/// Writes a whole output; `-` is standard output.
pub(crate) fn write(path: &str, bytes: &[u8]) -> Result<(), Failure> {
    if path == "-" {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)
            .and_then(|()| out.flush())
            .map_err(|error| Failure::of_output(&error))
    } else {
        std::fs::write(path, bytes).map_err(|error| {
            Failure::Message(format!(
                "cannot open output file '{path}': {}",
                Reason(&error)
            ))
        })
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
    Failure::Message(format!(
        "standard output is a terminal, which cannot show {what}: use `-o FILE` or a pipe"
    ))
}

/// Prints one line to standard output, at once.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    write("-", format!("{line}\n").as_bytes())
}
