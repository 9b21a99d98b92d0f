//! Bytes that start at an address aligned for every attribute, regardless of the allocator.

use std::fmt;
use std::io;
use std::ops::Deref;

use zerocopy::IntoBytes;

/// The alignment of [`AlignedBytes`], and of a BEF file in memory.
pub const FILE_ALIGNMENT: usize = 8;

/// An owned, immutable byte string at an address that is a multiple of [`FILE_ALIGNMENT`].
///
/// ```
/// use tfrt_attr::AlignedBytes;
///
/// let bytes = AlignedBytes::from(&b"abc"[..]);
/// assert_eq!(&bytes[..], b"abc");
/// assert_eq!(bytes.as_ptr().addr() % 8, 0);
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AlignedBytes {
    words: Box<[u64]>,
    /// At most eight times the number of words, and at most seven below that.
    len: usize,
}

impl AlignedBytes {
    /// Reads `reader` to its end.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn read_to_end(mut reader: impl io::Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes)?;
        Ok(Self::from(&bytes[..]))
    }
}

impl From<&[u8]> for AlignedBytes {
    fn from(bytes: &[u8]) -> Self {
        let mut words = vec![0_u64; bytes.len().div_ceil(FILE_ALIGNMENT)].into_boxed_slice();
        words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
        Self {
            words,
            len: bytes.len(),
        }
    }
}

impl Deref for AlignedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.words.as_bytes()[..self.len]
    }
}

impl fmt::Debug for AlignedBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AlignedBytes({} bytes)", self.len)
    }
}
