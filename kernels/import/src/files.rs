//! Files next to a model or a program.
//!
//! A file may only name files in its own folder, by a relative path. The path is first checked as
//! text, by the same rules on every system. After following all links, the file must be in the
//! folder, and a regular file. Only then is it opened.
//!
//! A part of a file is read once, however often it is asked for. Parts may overlap, but all of them
//! together may be at most four times as large as the file, so that a small file cannot fill the
//! memory. Files may also be [mapped](FolderFiles::mapped_by): then parts take no memory of their
//! own.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tfrt_tensor::HostBuffer;
use tfrt_tensor::file::{Source, Stream};

use crate::error::ImportError;
use crate::malloc;

/// How many times as large as a file all parts that are read of it may be.
const MAX_OVERLAP: u64 = 4;

/// The size of the pieces in which a whole file is read.
const PIECE_BYTES: u64 = 1 << 20;

/// A function that maps a file into memory.
pub type MapFile = fn(&Path) -> io::Result<HostBuffer>;

/// A file, and what was read of it.
struct Opened {
    source: Box<dyn Source>,
    /// The parts by offset and size.
    parts: HashMap<(u64, u64), HostBuffer>,
    /// The size of all parts.
    read_bytes: u64,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("len_bytes", &self.source.len_bytes())
            .field("read_bytes", &self.read_bytes)
            .finish_non_exhaustive()
    }
}

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
    opened: Rc<RefCell<HashMap<String, Opened>>>,
    map: Option<MapFile>,
}

impl FolderFiles {
    /// Returns the files of a folder. By default there are none.
    #[must_use]
    pub fn of_folder(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
            opened: Rc::default(),
            map: None,
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

    /// Returns these files, mapped by a function instead of read: the parts of a file are views of
    /// it. The function has to ensure that files do not change meanwhile.
    #[must_use]
    pub fn mapped_by(mut self, map: MapFile) -> Self {
        self.map = Some(map);
        self
    }

    /// Returns so many bytes of a file.
    ///
    /// # Errors
    /// A path that is not a plain relative one or leaves the folder; a file that is not regular, or
    /// too short; parts that overlap too often; failures to read.
    pub fn read(
        &self,
        location: &str,
        offset: u64,
        len_bytes: u64,
    ) -> Result<HostBuffer, ImportError> {
        self.with_file(location, |file| {
            if let Some(part) = file.parts.get(&(offset, len_bytes)) {
                return Ok(part.clone());
            }
            check_part(&*file.source, offset, len_bytes)?;
            let most = file.source.len_bytes().saturating_mul(MAX_OVERLAP);
            let read_bytes = file.read_bytes.saturating_add(len_bytes);
            if read_bytes > most {
                return Err(ImportError::new(format!(
                    "the parts of the file overlap: expected at most {most} bytes in all, \
                     {MAX_OVERLAP} times the size of the file, found {read_bytes}"
                )));
            }
            let part = part_of(&mut *file.source, offset, len_bytes)?;
            file.read_bytes = read_bytes;
            file.parts.insert((offset, len_bytes), part.clone());
            Ok(part)
        })
    }

    /// Passes all bytes of a file to a function, in pieces.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), and those of the function.
    pub fn read_whole(
        &self,
        location: &str,
        mut each: impl FnMut(&[u8]),
    ) -> Result<(), ImportError> {
        self.with_file(location, |file| {
            let len_bytes = file.source.len_bytes();
            let mut offset = 0;
            while offset < len_bytes {
                let piece_bytes = PIECE_BYTES.min(len_bytes - offset);
                let piece = part_of(&mut *file.source, offset, piece_bytes)?;
                let piece = piece.read();
                each(&piece.map_err(|error| ImportError::new(error.to_string()))?);
                offset += piece_bytes;
            }
            Ok(())
        })
    }

    /// Returns the size of a file.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub fn len_bytes(&self, location: &str) -> Result<u64, ImportError> {
        self.with_file(location, |file| Ok(file.source.len_bytes()))
    }

    fn with_file<R>(
        &self,
        location: &str,
        act: impl FnOnce(&mut Opened) -> Result<R, ImportError>,
    ) -> Result<R, ImportError> {
        let mut opened = self.opened.borrow_mut();
        if let Some(file) = opened.get_mut(location) {
            return act(file);
        }
        let mut file = Opened {
            source: self.open(location)?,
            parts: HashMap::new(),
            read_bytes: 0,
        };
        let result = act(&mut file);
        opened.insert(location.to_owned(), file);
        result
    }

    fn open(&self, location: &str) -> Result<Box<dyn Source>, ImportError> {
        check_location(location)?;
        let folder = self.folder.as_deref();
        let folder = folder.ok_or_else(|| {
            ImportError::new("external data requires a model that is read from a file")
        })?;
        let failed = |error: io::Error| ImportError::new(error.to_string());
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
        Ok(match self.map {
            Some(map) => Box::new(map(&path).map_err(failed)?),
            None => Box::new(Stream::open(&path, &malloc()).map_err(failed)?),
        })
    }
}

/// Refuses a part that goes beyond the end of a file.
fn check_part(source: &dyn Source, offset: u64, len_bytes: u64) -> Result<(), ImportError> {
    let found = source.len_bytes();
    let end = offset.checked_add(len_bytes);
    if end.is_none_or(|end| end > found) {
        return Err(ImportError::new(format!(
            "expected {len_bytes} bytes at offset {offset}, found a file of {found} bytes"
        )));
    }
    Ok(())
}

/// Reads a part of a file, which has it.
fn part_of(
    source: &mut dyn Source,
    offset: u64,
    len_bytes: u64,
) -> Result<HostBuffer, ImportError> {
    let buffer = source.buffer_at(offset, len_bytes);
    buffer.map_err(|error| ImportError::new(error.to_string()))
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
    fn parts_are_read_once_and_may_not_overlap_without_end() {
        let folder = std::env::temp_dir().join(format!("tfrt-files-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let bytes: Vec<u8> = (0..100).collect();
        std::fs::write(folder.join("w"), &bytes).unwrap();
        let files = FolderFiles::of_folder(folder.clone());
        let first = files.read("w", 8, 92).unwrap();
        for _ in 0..1000 {
            let again = files.read("w", 8, 92).unwrap();
            assert_eq!(again.address(), first.address());
        }
        for offset in 0..3 {
            files.read("w", offset, 92).unwrap();
        }
        let error = files.read("w", 3, 92).unwrap_err().to_string();
        assert!(error.contains("expected at most 400 bytes"), "{error}");
        let mut whole = Vec::new();
        let each = |piece: &[u8]| whole.extend_from_slice(piece);
        files.read_whole("w", each).unwrap();
        assert_eq!(whole, bytes);
        std::fs::remove_dir_all(folder).unwrap();
    }

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
