//! NumPy archives: named arrays in a ZIP archive, `.npz`. Entries may be compressed.

use std::io::{Cursor, Read, Write};
use std::sync::Arc;

use tfrt_host::allocator::HostAllocator;
use tfrt_support::escape::escaped;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::buffer::{Elements, HostBuffer};
use crate::file::error::FileError;
use crate::file::named::NamedTensor;
use crate::file::npy;

/// The entries of an archive may expand, all together, to this many times its size, and to
/// [`FREE_BYTES`] more.
const MAX_EXPANSION: u64 = 128;

/// So much an archive may expand to, however small it is, in bytes.
const FREE_BYTES: u64 = 1 << 20;

/// The extension of an entry's name.
const EXTENSION: &str = ".npy";

/// Reads all arrays of an archive.
///
/// # Errors
/// [`FileError`], with the entry and the error; also if the archive expands beyond the limit.
pub fn read(
    file: &HostBuffer,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<Vec<NamedTensor>, FileError> {
    let bytes = file.read()?;
    let mut archive = ZipArchive::new(Cursor::new(BorrowedFile(&bytes))).map_err(wrong)?;
    let mut budget = FREE_BYTES.saturating_add((bytes.len() as u64).saturating_mul(MAX_EXPANSION));
    let mut tensors = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(wrong)?;
        let name = entry.name().map_err(wrong)?.into_owned();
        let in_entry = |error: FileError| FileError::Entry {
            name: name.clone(),
            error: Box::new(error),
        };
        let array = read_entry(&mut entry, &mut budget, allocator).map_err(in_entry)?;
        let tensor = npy::read(&array, allocator).map_err(in_entry)?;
        let stem = name.strip_suffix(EXTENSION).unwrap_or(&name);
        tensors.push(NamedTensor::new(stem, tensor));
    }
    Ok(tensors)
}

type BorrowedCursor<'a> = Cursor<BorrowedFile<'a>>;

/// The bytes of an archive, while they are being read.
struct BorrowedFile<'a>(&'a Elements<'a, u8>);

impl AsRef<[u8]> for BorrowedFile<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// Expands an entry, as far as the budget allows.
fn read_entry(
    entry: &mut zip::read::ZipFile<'_, BorrowedCursor<'_>>,
    budget: &mut u64,
    allocator: &Arc<dyn HostAllocator>,
) -> Result<HostBuffer, FileError> {
    let too_large = || {
        FileError::at(
            0,
            "expected an archive that expands to at most 128 times its size",
        )
    };
    let claimed = entry.size();
    *budget = budget.checked_sub(claimed).ok_or_else(too_large)?;
    // Within the budget, so that what is claimed can be taken at once.
    let mut array =
        HostBuffer::zeroed(allocator, usize::try_from(claimed).unwrap_or(usize::MAX), 1)?;
    entry
        .read_exact(&mut array.write()?)
        .map_err(FileError::Io)?;
    let mut more = [0];
    match entry.read(&mut more).map_err(FileError::Io)? {
        0 => Ok(array),
        _ => Err(FileError::at(
            0,
            format!("the entry is longer than the {claimed} bytes in its header"),
        )),
    }
}

/// Writes an archive of these tensors, uncompressed, so their elements can be used in place.
///
/// # Errors
/// If a tensor is not dense, arrays do not support its element type, or a name is not a path below
/// the folder into which the archive is unpacked.
pub fn write(tensors: &[NamedTensor]) -> Result<Vec<u8>, FileError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .with_alignment(64);
    for named in tensors {
        if !is_path_below(&named.name) {
            let name = escaped(&named.name);
            return Err(FileError::at(
                0,
                format!("expected the name of an entry, found the unsafe path `{name}`"),
            ));
        }
        let mut array = Vec::new();
        npy::write(&mut array, named.expect_dense("npz")?)?;
        archive
            .start_file(format!("{}{EXTENSION}", named.name), options)
            .map_err(wrong)?;
        archive.write_all(&array).map_err(FileError::Io)?;
    }
    archive.finish().map(Cursor::into_inner).map_err(wrong)
}

/// Returns `true` if a name is a path that leads below the folder that it starts from, on every
/// system.
fn is_path_below(name: &str) -> bool {
    let mut parts = name.split(['/', '\\']);
    !name.contains(|c: char| c.is_control() || c == ':')
        && parts.all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cold]
fn wrong(error: ZipError) -> FileError {
    match error {
        ZipError::Io(error) => FileError::Io(error),
        error => FileError::at(0, error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::DenseHostTensor;
    use crate::shape::Shape;
    use crate::testing::malloc;

    fn compressed(name: &str, content: &[u8]) -> Vec<u8> {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        archive.start_file(name, options).unwrap();
        archive.write_all(content).unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn names_lead_nowhere_else() {
        let written = |name: &str| {
            let one = DenseHostTensor::filled(&malloc(), Shape::scalar(), 1_i32).unwrap();
            write(&[NamedTensor::new(name, one)])
        };
        for name in ["x", "layer.0/kernel", "..x", "é"] {
            assert!(written(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "/x",
            "x/",
            "../x",
            "x/../../y",
            "..\\x",
            "C:x",
            "a//b",
            "./x",
            "\0",
            "\u{1b}[31m",
        ] {
            let error = written(name).unwrap_err().to_string();
            assert!(error.contains("expected the name of an entry"), "{error}");
            assert!(!error.contains(char::is_control), "{error:?}");
        }
    }

    fn read_all(file: Vec<u8>) -> Result<Vec<NamedTensor>, FileError> {
        read(&HostBuffer::from_owner(file).unwrap(), &malloc())
    }

    fn ones(len: usize) -> DenseHostTensor {
        DenseHostTensor::filled(&malloc(), Shape::new(&[len]).unwrap(), 1.0_f32).unwrap()
    }

    #[test]
    fn arrays_come_back_under_their_names() {
        let tensors = [
            NamedTensor::new("weights", ones(3)),
            NamedTensor::new("b/ias", ones(0)),
        ];
        let read = read_all(write(&tensors).unwrap()).unwrap();
        let text = |tensors: &[NamedTensor]| -> Vec<String> {
            tensors
                .iter()
                .map(|named| format!("{}: {}", named.name, named.tensor))
                .collect()
        };
        assert_eq!(text(&read), text(&tensors));
    }

    #[test]
    fn compressed_arrays_are_read() {
        let mut array = Vec::new();
        npy::write(&mut array, &ones(5)).unwrap();
        let read = read_all(compressed("x.npy", &array)).unwrap();
        assert_eq!(
            (read[0].name.as_str(), read[0].tensor.shape().dims()),
            ("x", &[5][..])
        );
    }

    #[test]
    fn archives_that_expand_beyond_measure_are_refused() {
        let bomb = compressed("x.npy", &vec![0; 8 << 20]);
        assert!(bomb.len() < 20_000);
        assert_eq!(
            read_all(bomb).unwrap_err().to_string(),
            "`x.npy`: at offset 0: expected an archive that expands to at most 128 times its size"
        );
    }

    #[test]
    fn wrong_entries_are_named() {
        assert_eq!(
            read_all(compressed("note.txt", b"hello"))
                .unwrap_err()
                .to_string(),
            "`note.txt`: at offset 0: expected the start of an npy file"
        );
        assert!(read_all(b"PK\x03\x04".to_vec()).is_err());
    }
}
