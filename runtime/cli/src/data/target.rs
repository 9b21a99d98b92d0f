//! Files that commands write.

use std::fs::File;

use crate::failure::Failure;

/// A file that takes its name only when it is whole: half a file would pass for a whole one, and
/// the file of this name may be the one that is read.
pub(super) struct Target<'a> {
    path: &'a str,
    /// The path to which the rows are written: the requested path itself, if it is not a file but,
    /// for example, a pipe.
    pub(super) written: String,
}

impl<'a> Target<'a> {
    /// # Errors
    /// If the file cannot be created.
    pub(super) fn new(path: &'a str) -> Result<Self, Failure> {
        let is_other = std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let written = match is_other {
            true => path.to_owned(),
            false => format!("{path}.partial-{}", std::process::id()),
        };
        let this = Self { path, written };
        if !is_other {
            // Here, where the requested path is known: the user did not choose the other name.
            File::create(&this.written).map_err(|error| {
                Failure::caused(format!("error: cannot create `{path}`"), error)
            })?;
        }
        Ok(this)
    }

    pub(super) fn finish(self) -> Result<(), Failure> {
        if self.written == self.path {
            return Ok(());
        }
        std::fs::rename(&self.written, self.path).map_err(|error| {
            let path = self.path;
            Failure::caused(format!("error: cannot write `{path}`"), error)
        })
    }
}

impl Drop for Target<'_> {
    /// Removes an incomplete file.
    fn drop(&mut self) {
        if self.written != self.path {
            // After a rename, there is nothing to remove.
            let _ = std::fs::remove_file(&self.written);
        }
    }
}
