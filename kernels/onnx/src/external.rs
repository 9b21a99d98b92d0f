//! Tensors in files next to the model.

use tfrt_import::ImportError;
use tfrt_import::files::FolderFiles;
use tfrt_import::names::shown;
use tfrt_tensor::HostBuffer;

use crate::proto::StringStringEntryProto;

/// The location of a tensor in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExternalData {
    pub(crate) location: String,
    pub(crate) offset: u64,
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

/// Returns the bytes of a tensor in a file next to the model, in the required number.
pub(crate) fn read(
    files: &FolderFiles,
    place: &ExternalData,
    expected_bytes: u64,
) -> Result<HostBuffer, ImportError> {
    let read = match place.length.filter(|&length| length != expected_bytes) {
        Some(found) => Err(ImportError::new(format!(
            "expected {expected_bytes} bytes, found `length` {found}"
        ))),
        None => files.read(&place.location, place.offset, expected_bytes),
    };
    read.map_err(|error| error.within(format!("external data `{}`", shown(&place.location))))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let files = FolderFiles::of_folder(folder.clone());
        let read = |location: &str, offset: u64, length: Option<u64>, expected: u64| {
            let place = ExternalData {
                location: location.to_owned(),
                offset,
                length,
            };
            match super::read(&files, &place, expected) {
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
