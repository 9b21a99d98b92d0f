//! Output files.

use std::io::Write;

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

/// Prints one line to standard output, at once.
pub(crate) fn print_line(line: &str) -> Result<(), Failure> {
    write("-", format!("{line}\n").as_bytes())
}
