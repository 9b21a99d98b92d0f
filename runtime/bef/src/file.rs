//! A file in memory, not checked yet.

#[expect(
    unsafe_code,
    reason = "nothing keeps others from changing a mapped file"
)]
mod map;

use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use tfrt_attr::AlignedBytes;

use crate::error::BefError;
use crate::read::sections::Sections;
use crate::verify::VerifiedBef;
use map::MappedBytes;

/// The bytes of a file in aligned memory, not checked yet. Clones share them.
///
/// ```
/// use tfrt_bef::BefFile;
/// use tfrt_bef::format::SectionId;
///
/// let file = BefFile::from_bytes(b"\x0b\xef\0\x00\x04f\0");
/// assert_eq!(file.sections()?.bytes(SectionId::Strings), Some(&b"f\0"[..]));
/// assert!(file.verify().is_err());
/// # Ok::<(), tfrt_bef::BefError>(())
/// ```
#[derive(Clone)]
pub struct BefFile {
    bytes: Arc<FileBytes>,
}

/// The bytes of a file at an address that is a multiple of 8, and their owner.
enum FileBytes {
    Read(AlignedBytes),
    Mapped(MappedBytes),
}

impl Deref for FileBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Read(bytes) => bytes,
            Self::Mapped(bytes) => bytes,
        }
    }
}

impl BefFile {
    /// Reads the file at `path` into memory.
    ///
    /// # Errors
    /// If the file cannot be read. Its content is not checked.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        std::fs::File::open(path).and_then(Self::read_from)
    }

    /// Reads `reader` to its end.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn read_from(reader: impl io::Read) -> io::Result<Self> {
        Ok(Self {
            bytes: Arc::new(FileBytes::Read(AlignedBytes::read_to_end(reader)?)),
        })
    }

    /// Copies `bytes` into aligned memory.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self {
            bytes: Arc::new(FileBytes::Read(AlignedBytes::from(bytes))),
        }
    }

    /// Returns the bytes of the file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Locates the sections.
    ///
    /// # Errors
    /// If the header of the file, or of a section, is malformed.
    pub fn sections(&self) -> Result<Sections<'_>, BefError> {
        Sections::read(&self.bytes)
    }

    /// Checks the tables of the file: everything except the bodies and the optional sections.
    ///
    /// Takes time linear in the size of the file (except for sorting the body offsets), and memory
    /// of a small multiple of it.
    ///
    /// # Errors
    /// The first violation of the rules that is found.
    pub fn verify(&self) -> Result<VerifiedBef, BefError> {
        VerifiedBef::new(self.clone())
    }
}

impl fmt::Debug for BefFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BefFile({} bytes)", self.bytes.len())
    }
}
