//! Suppression of standard output during repeated runs: output that is printed a thousand times is
//! not part of the report.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};

use crate::failure::Failure;

/// As long as it lives, nothing that this process writes to standard output arrives anywhere.
#[derive(Debug)]
pub(super) struct QuietOutput {
    before: OwnedFd,
}

impl QuietOutput {
    /// Sends standard output nowhere.
    pub(super) fn start() -> Result<Self, Failure> {
        let redirect = || {
            let mut out = io::stdout();
            out.flush()?;
            let before = out.as_fd().try_clone_to_owned()?;
            let nowhere = File::options().write(true).open("/dev/null")?;
            rustix::stdio::dup2_stdout(nowhere)?;
            Ok(Self { before })
        };
        redirect().map_err(|error: io::Error| {
            Failure::caused("cannot discard the output of the program", error)
        })
    }
}

impl Drop for QuietOutput {
    fn drop(&mut self) {
        // What is still in the buffer was printed by the program. If either fails, whoever prints
        // next learns of it.
        let _ = io::stdout().flush();
        let _ = rustix::stdio::dup2_stdout(&self.before);
    }
}
