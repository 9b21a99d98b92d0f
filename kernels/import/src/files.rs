//! Files next to a model or a program.
//!
//! A file may only name files in its own folder, by a relative path. The path is first checked as
//! text, by the same rules on every system. After following all links, the file must be in the
//! folder, and a regular file. Only then is it opened.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tfrt_tensor::HostBuffer;
use tfrt_tensor::file::{Source, Stream};

use crate::error::ImportError;
use crate::malloc;

/// The files in a folder, opened when they are needed.
///
/// ```
/// use tfrt_import::files::FolderFiles;
///
/// let files = FolderFiles::of_folder(std::env::temp_dir());
/// let error = files.read("../secret", 0, 1).unwrap_err();
/// assert_eq!(error.to_string(), "the path leaves its folder");
/// ```
#[derive(Clone, Debug, Default)]
pub struct FolderFiles {
    /// None for what was not read from a file.
    folder: Option<PathBuf>,
    opened: Rc<RefCell<HashMap<String, Stream<File>>>>,
}

impl FolderFiles {
    /// Returns the files of a folder. By default there are none.
    #[must_use]
    pub fn of_folder(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
            opened: Rc::default(),
        }
    }

    /// Returns the files of the folder that a file is in.
    #[must_use]
    pub fn beside(path: &Path) -> Self {
        Self::of_folder(match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        })
    }

    /// Returns so many bytes of a file.
    ///
    /// # Errors
    /// A path that is not a plain relative one or leaves the folder; a file that is not regular, or
    /// too short; failures to read.
    pub fn read(
        &self,
        location: &str,
        offset: u64,
        len_bytes: u64,
    ) -> Result<HostBuffer, ImportError> {
        self.with_stream(location, |stream| {
            let found = stream.len_bytes();
            let end = offset.checked_add(len_bytes);
            if end.is_none_or(|end| end > found) {
                return Err(ImportError::new(format!(
                    "expected {len_bytes} bytes at offset {offset}, found a file of {found} bytes"
                )));
            }
            let buffer = stream.buffer_at(offset, len_bytes);
            buffer.map_err(|error| ImportError::new(error.to_string()))
        })
    }

    /// Returns the size of a file.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn len_bytes(&self, location: &str) -> Result<u64, ImportError> {
        self.with_stream(location, |stream| Ok(stream.len_bytes()))
    }

    fn with_stream<R>(
        &self,
        location: &str,
        act: impl FnOnce(&mut Stream<File>) -> Result<R, ImportError>,
    ) -> Result<R, ImportError> {
        let mut opened = self.opened.borrow_mut();
        if let Some(stream) = opened.get_mut(location) {
            return act(stream);
        }
        let mut stream = self.open(location)?;
        let result = act(&mut stream);
        opened.insert(location.to_owned(), stream);
        result
    }

    fn open(&self, location: &str) -> Result<Stream<File>, ImportError> {
        check_location(location)?;
        let folder = self.folder.as_deref();
        let folder = folder.ok_or_else(|| {
            ImportError::new("external data requires a model that is read from a file")
        })?;
        let failed = |error: std::io::Error| ImportError::new(error.to_string());
        let folder = folder.canonicalize().map_err(failed)?;
        let path = folder.join(location).canonicalize().map_err(failed)?;
        if !path.starts_with(&folder) {
            return Err(ImportError::new(
                "the file is outside of the folder of the model",
            ));
        }
        if !std::fs::metadata(&path).map_err(failed)?.is_file() {
            return Err(ImportError::new("not a regular file"));
        }
        Stream::open(&path, &malloc()).map_err(failed)
    }
}

/// Refuses paths that are not plain relative ones on every system.
fn check_location(location: &str) -> Result<(), ImportError> {
    let refused = |what: &str| Err(ImportError::new(format!("the path {what}")));
    if location.is_empty() {
        return refused("is empty");
    }
    if location.contains('\0') {
        return refused("contains a NUL character");
    }
    if location.contains('\\') {
        return refused("contains a backslash");
    }
    let mut bytes = location.bytes();
    let has_drive =
        bytes.next().is_some_and(|c| c.is_ascii_alphabetic()) && bytes.next() == Some(b':');
    if location.starts_with('/') || has_drive || Path::new(location).is_absolute() {
        return refused("is absolute");
    }
    if location.split('/').any(|part| part == "..") {
        return refused("leaves its folder");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_paths_are_allowed() {
        let check = |location: &str, expected: &str| {
            let found = check_location(location).map_or_else(|e| e.to_string(), |()| String::new());
            assert_eq!(found, expected, "{location:?}");
        };
        check("weights.bin", "");
        check("a/b..c/weights", "");
        check("", "the path is empty");
        check("/etc/passwd", "the path is absolute");
        check("C:/weights", "the path is absolute");
        check("../weights", "the path leaves its folder");
        check("a/../../weights", "the path leaves its folder");
        check("a\\b", "the path contains a backslash");
        check("a\0b", "the path contains a NUL character");
    }
}
