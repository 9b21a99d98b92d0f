//! Memory-mapped files. The only unsafe code in this crate.
//!
//! Pages are read on first access, and shared by all processes that map the file. In return, the
//! caller has a duty that cannot be checked, see [`BefFile::map`].

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use memmap2::Mmap;
use tfrt_attr::FILE_ALIGNMENT;

use super::{BefFile, FileBytes};

/// A mapped file. It starts at a page, hence at a multiple of [`FILE_ALIGNMENT`].
pub(super) struct MappedBytes(Mmap);

impl Deref for MappedBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl BefFile {
    /// Maps the file at `path` into memory, without copying it.
    ///
    /// [`open`](Self::open) reads the file instead and is safe. Mapping is worthwhile for large
    /// files of which little is used, and if many processes share one file.
    ///
    /// # Errors
    /// If the file cannot be opened or mapped. Its content is not checked.
    ///
    /// # Safety
    /// 1. The file must not be changed or truncated, in this process or another one, while the
    ///    returned value, a clone of it, or anything created from one (such as a
    ///    [`VerifiedBef`](crate::VerifiedBef)) lives.
    ///
    /// ```
    /// use tfrt_bef::BefFile;
    ///
    /// let path = std::env::temp_dir().join(format!("tfrt-map-{}.bef", std::process::id()));
    /// std::fs::write(&path, b"\x0b\xef\0")?;
    /// // SAFETY: duty 1. The name is that of this process alone, which leaves the file as it is.
    /// let file = unsafe { BefFile::map(&path) }?;
    /// assert_eq!(file.bytes(), b"\x0b\xef\0");
    /// # drop(file);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub unsafe fn map(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: `Mmap::map` requires duty 1, which the caller fulfils for as long as the map
        // lives: the returned value owns it.
        let map = unsafe { Mmap::map(&file) }?;
        assert!(
            map.as_ptr().addr().is_multiple_of(FILE_ALIGNMENT),
            "a page starts at a multiple of {FILE_ALIGNMENT}"
        );
        Ok(Self {
            bytes: Arc::new(FileBytes::Mapped(MappedBytes(map))),
        })
    }
}
