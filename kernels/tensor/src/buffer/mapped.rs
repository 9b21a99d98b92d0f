//! Files that are mapped into memory.
#![expect(unsafe_code, reason = "gives memory back that others may be reading")]

use std::fs::File;
use std::io;
use std::ops::Range;

/// A file in memory, read-only.
///
/// Invariant M1: the memory shows a file that does not change while this lives. Upheld by the
/// callers of [`new`](Self::new).
pub(crate) struct MappedFile(memmap2::Mmap);

impl MappedFile {
    /// Maps a file.
    ///
    /// # Safety
    /// 1. The file must not be changed or shortened while the result lives.
    pub(crate) unsafe fn new(file: &File) -> io::Result<Self> {
        // SAFETY: duty 1.
        Ok(Self(unsafe { memmap2::Mmap::map(file) }?))
    }

    /// Releases the memory of a part of the file to the system, which reads it again when it is
    /// used.
    pub(super) fn give_back(&self, part: Range<usize>) {
        if part.is_empty() || part.end > self.0.len() {
            return;
        }
        #[cfg(unix)]
        {
            let advice = memmap2::UncheckedAdvice::DontNeed;
            // SAFETY: M1: the same bytes are read again, so that borrows of them do not notice.
            let given = unsafe {
                self.0
                    .unchecked_advise_range(advice, part.start, part.len())
            };
            // The memory stays in use if the system refuses.
            drop(given);
        }
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
