//! Tensors in files next to the model.
//!
//! A file may only name files in the folder of the model, by a relative path. The path is first
//! checked as text, by the same rules on every system. After following all links, the file must be
//! in the folder, and a regular file. Only then is it opened.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_tensor::HostBuffer;
use tfrt_tensor::file::{Source, Stream};

use crate::proto::StringStringEntryProto;
use crate::tensor::malloc;

/// The location of a tensor in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExternalData {
    location: String,
    offset: u64,
    length: Option<u64>,
}

impl ExternalData {
    pub(crate) fn of(entries: &[StringStringEntryProto]) -> Result<Self, ImportError> {
        let (mut location, mut offset, mut length) = (None, 0, None);
        for entry in entries {
            let number = || {
                let parsed = entry.value().parse::<u64>();
                parsed.map_err(|_| {
                    ImportError::new(format!(
                        "expected a number of bytes in `{}` of the external data, found `{}`",
                        shown(entry.key()),
                        shown(entry.value())
                    ))
                })
            };
            match entry.key() {
                "location" => location = Some(entry.value().to_owned()),
                "offset" => offset = number()?,
                "length" => length = Some(number()?),
                // A checksum, or what later versions add.
                _ => {}
            }
        }
        let location = location.ok_or_else(|| {
            ImportError::new("expected a `location` of the external data, found none")
        })?;
        Ok(Self {
            location,
            offset,
            length,
        })
    }
}

/// The files next to a model, opened when they are needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExternalFiles {
    /// The folder of the model; none if it was not read from a file.
    folder: Option<PathBuf>,
    opened: Rc<RefCell<HashMap<String, Stream<File>>>>,
}

impl ExternalFiles {
    pub(crate) fn of_folder(folder: PathBuf) -> Self {
        Self {
            folder: Some(folder),
            opened: Rc::default(),
        }
    }

    /// Returns the bytes of a tensor, in the required number.
    pub(crate) fn read(
        &self,
        place: &ExternalData,
        expected_bytes: u64,
    ) -> Result<HostBuffer, ImportError> {
        let location = &place.location;
        self.read_located(place, expected_bytes)
            .map_err(|error| error.within(format!("external data `{}`", shown(location))))
    }

    fn read_located(
        &self,
        place: &ExternalData,
        expected_bytes: u64,
    ) -> Result<HostBuffer, ImportError> {
        if let Some(found) = place.length.filter(|&length| length != expected_bytes) {
            return Err(ImportError::new(format!(
                "expected {expected_bytes} bytes, found `length` {found}"
            )));
        }
        let mut opened = self.opened.borrow_mut();
        if !opened.contains_key(&place.location) {
            let stream = self.open(&place.location)?;
            opened.insert(place.location.clone(), stream);
        }
        let stream = opened
            .get_mut(&place.location)
            .expect("it is opened by now");
        let len_bytes = stream.len_bytes();
        let end = place.offset.checked_add(expected_bytes);
        if end.is_none_or(|end| end > len_bytes) {
            return Err(ImportError::new(format!(
                "expected {expected_bytes} bytes at offset {}, found a file of {len_bytes} bytes",
                place.offset
            )));
        }
        stream
            .buffer_at(place.offset, expected_bytes)
            .map_err(|error| ImportError::new(error.to_string()))
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

    fn entry(key: &str, value: &str) -> StringStringEntryProto {
        StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value.to_owned()),
        }
    }

    #[test]
    fn numbers_of_external_data_must_be_numbers() {
        let place = ExternalData::of(&[entry("location", "w"), entry("offset", "-1")]);
        assert_eq!(
            place.unwrap_err().to_string(),
            "expected a number of bytes in `offset` of the external data, found `-1`"
        );
        let place = ExternalData::of(&[entry("offset", "1")]);
        assert_eq!(
            place.unwrap_err().to_string(),
            "expected a `location` of the external data, found none"
        );
    }

    #[test]
    fn external_data_stays_in_the_folder_and_within_files() {
        let root = std::env::temp_dir().join(format!("tfrt-onnx-external-{}", std::process::id()));
        let folder = root.join("model");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(root.join("secret"), [1; 8]).unwrap();
        std::fs::write(folder.join("w"), [0, 1, 2, 3, 4, 5]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("secret"), folder.join("link")).unwrap();
        let files = ExternalFiles::of_folder(folder.clone());
        let read = |location: &str, offset: u64, length: Option<u64>, expected: u64| {
            let place = ExternalData {
                location: location.to_owned(),
                offset,
                length,
            };
            match files.read(&place, expected) {
                Ok(buffer) => format!("{:?}", &*buffer.read().unwrap()),
                Err(error) => error.to_string(),
            }
        };
        assert_eq!(read("w", 1, Some(3), 3), "[1, 2, 3]");
        assert_eq!(read("w", 6, None, 0), "[]");
        assert_eq!(
            read("w", 4, None, 3),
            "external data `w`: expected 3 bytes at offset 4, found a file of 6 bytes"
        );
        assert_eq!(
            read("w", u64::MAX, None, 3),
            format!(
                "external data `w`: expected 3 bytes at offset {}, found a file of 6 bytes",
                u64::MAX
            )
        );
        assert_eq!(
            read("w", 0, Some(2), 3),
            "external data `w`: expected 3 bytes, found `length` 2"
        );
        assert_eq!(
            read("sub", 0, None, 1),
            "external data `sub`: not a regular file"
        );
        #[cfg(unix)]
        assert_eq!(
            read("link", 0, None, 1),
            "external data `link`: the file is outside of the folder of the model"
        );
        std::fs::remove_dir_all(&root).unwrap();
    }
}
