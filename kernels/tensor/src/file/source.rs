//! The source of a tensor file's bytes: a stream that is read in pieces, or shared memory.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use tfrt_host::allocator::{HostAllocator, Malloc};
use tfrt_support::DType;

use crate::buffer::{HostBuffer, MappedFile};
use crate::error::TensorError;

/// The bytes of a file.
pub trait Source {
    /// Returns the number of bytes.
    fn len_bytes(&self) -> u64;

    /// Reads bytes at an offset.
    ///
    /// # Errors
    /// [`SourceError::Ended`] if the file ends before them, or the error of reading.
    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), SourceError>;

    /// Returns bytes at an offset as a buffer: read into memory that is aligned for elements, or
    /// shared if they are in memory.
    ///
    /// # Errors
    /// [`SourceError::Ended`] if the file ends before them, [`SourceError::Tensor`] if there is no
    /// memory, or the error of reading.
    fn buffer_at(&mut self, offset: u64, len_bytes: u64) -> Result<HostBuffer, SourceError>;
}

/// The reasons why bytes of a file cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum SourceError {
    /// The file ends before them.
    Ended {
        /// The requested number of bytes.
        expected: u64,
        /// The number of bytes at that offset.
        found: u64,
    },
    /// Reading failed.
    Io(io::Error),
    /// There is no memory for them, or they are being written.
    Tensor(TensorError),
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ended { expected, found } => {
                write!(f, "expected {expected} bytes, found {found}")
            }
            Self::Io(error) => error.fmt(f),
            Self::Tensor(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for SourceError {}

tfrt_support::convert_errors!(SourceError);

impl From<TensorError> for SourceError {
    fn from(error: TensorError) -> Self {
        Self::Tensor(error)
    }
}

/// Checks that `expected` bytes at `offset` are within a file.
fn expect_within(file_bytes: u64, offset: u64, expected: u64) -> Result<(), SourceError> {
    let found = file_bytes.saturating_sub(offset);
    if expected <= found {
        Ok(())
    } else {
        Err(SourceError::Ended { expected, found })
    }
}

/// A source that can be read at any offset, such as an open file.
pub trait ReadAt {
    /// Returns the number of bytes.
    ///
    /// # Errors
    /// The error of the system.
    fn total_bytes(&mut self) -> io::Result<u64>;

    /// Reads all bytes of a range that starts at an offset.
    ///
    /// # Errors
    /// What reading fails with.
    fn read_exact_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()>;

    /// Reads bytes at an offset into a new buffer.
    ///
    /// # Errors
    /// The error of reading, or [`SourceError::Tensor`] if there is no memory.
    fn read_buffer_at(
        &mut self,
        offset: u64,
        len_bytes: usize,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<HostBuffer, SourceError> {
        let mut buffer = HostBuffer::zeroed(allocator, len_bytes, 1)?;
        self.read_exact_at(offset, &mut buffer.write()?)
            .map_err(SourceError::Io)?;
        Ok(buffer)
    }
}

impl ReadAt for File {
    fn total_bytes(&mut self) -> io::Result<u64> {
        self.seek(SeekFrom::End(0))
    }

    fn read_exact_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(offset))?;
        self.read_exact(bytes)
    }

    // Into memory that was not cleared before: that would take about as long as reading.
    #[cfg(unix)]
    fn read_buffer_at(
        &mut self,
        offset: u64,
        len_bytes: usize,
        allocator: &Arc<dyn HostAllocator>,
    ) -> Result<HostBuffer, SourceError> {
        HostBuffer::read_file(allocator, self, offset, len_bytes)
    }
}

impl<T: AsRef<[u8]>> ReadAt for Cursor<T> {
    fn total_bytes(&mut self) -> io::Result<u64> {
        Ok(self.get_ref().as_ref().len() as u64)
    }

    fn read_exact_at(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.set_position(offset);
        self.read_exact(bytes)
    }
}

/// A stream that can be read at any offset, such as an open file.
#[derive(Debug)]
pub struct Stream<R> {
    stream: R,
    len_bytes: u64,
    allocator: Arc<dyn HostAllocator>,
}

impl Stream<File> {
    /// Opens a file.
    ///
    /// # Errors
    /// What the system fails with.
    pub fn open(path: impl AsRef<Path>, allocator: &Arc<dyn HostAllocator>) -> io::Result<Self> {
        Self::new(File::open(path)?, allocator)
    }
}

impl<R: ReadAt> Stream<R> {
    /// Creates a stream; buffers are drawn from the allocator.
    ///
    /// # Errors
    /// The error of determining its size.
    pub fn new(mut stream: R, allocator: &Arc<dyn HostAllocator>) -> io::Result<Self> {
        Ok(Self {
            len_bytes: stream.total_bytes()?,
            stream,
            allocator: Arc::clone(allocator),
        })
    }
}

impl<R: ReadAt> Source for Stream<R> {
    fn len_bytes(&self) -> u64 {
        self.len_bytes
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), SourceError> {
        expect_within(self.len_bytes, offset, bytes.len() as u64)?;
        self.stream
            .read_exact_at(offset, bytes)
            .map_err(SourceError::Io)
    }

    fn buffer_at(&mut self, offset: u64, len_bytes: u64) -> Result<HostBuffer, SourceError> {
        expect_within(self.len_bytes, offset, len_bytes)?;
        let len_bytes = usize::try_from(len_bytes).map_err(|_| TensorError::OutOfMemory {
            size_bytes: usize::MAX,
        })?;
        self.stream
            .read_buffer_at(offset, len_bytes, &self.allocator)
    }
}

/// A whole file in memory: buffers are parts of it.
impl Source for HostBuffer {
    fn len_bytes(&self) -> u64 {
        HostBuffer::len_bytes(self) as u64
    }

    fn read_at(&mut self, offset: u64, bytes: &mut [u8]) -> Result<(), SourceError> {
        let part = self.buffer_at(offset, bytes.len() as u64)?;
        bytes.copy_from_slice(&part.read()?);
        Ok(())
    }

    fn buffer_at(&mut self, offset: u64, len_bytes: u64) -> Result<HostBuffer, SourceError> {
        expect_within(Source::len_bytes(self), offset, len_bytes)?;
        // Both fit: they are within a buffer.
        Ok(self.slice(offset as usize, len_bytes as usize)?)
    }
}

/// Returns the same bytes, aligned for elements of a type: copied if they are not where they should
/// be, which a whole file in memory may lead to, and which no format forbids.
pub(super) fn aligned(buffer: HostBuffer, dtype: DType) -> Result<HostBuffer, TensorError> {
    if buffer
        .address()
        .is_multiple_of(dtype.align_bytes().unwrap_or(1))
    {
        return Ok(buffer);
    }
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    HostBuffer::copied(&allocator, &buffer.read()?)
}

/// Maps a file into memory, as a read-only buffer. Bytes are read when they are first used, and
/// never copied.
///
/// # Errors
/// What the system fails with.
///
/// # Safety
/// 1. The file must not be changed or shortened while the buffer, or any part of it, lives.
#[expect(unsafe_code, reason = "states the duty of whoever maps a file")]
pub unsafe fn map(path: impl AsRef<Path>) -> io::Result<HostBuffer> {
    let file = File::open(path)?;
    // SAFETY: duty 1.
    let mapped = unsafe { MappedFile::new(&file) }?;
    HostBuffer::from_owner(mapped).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::malloc;

    fn check(source: &mut dyn Source) {
        let mut two = [0; 2];
        source.read_at(1, &mut two).unwrap();
        assert_eq!(two, [1, 2]);
        assert_eq!(*source.buffer_at(2, 3).unwrap().read().unwrap(), [2, 3, 4]);
        assert!(source.buffer_at(5, 0).unwrap().is_empty());
        for (offset, len, found) in [(3, 3, 2), (9, 1, 0), (1, u64::MAX, 4), (u64::MAX, 1, 0)] {
            let error = source.buffer_at(offset, len).unwrap_err().to_string();
            assert_eq!(error, format!("expected {len} bytes, found {found}"));
        }
    }

    #[test]
    fn streams_and_memory_are_read_alike() {
        let bytes = vec![0, 1, 2, 3, 4];
        check(&mut Stream::new(Cursor::new(bytes.clone()), &malloc()).unwrap());
        check(&mut HostBuffer::from_owner(bytes).unwrap());
    }

    #[test]
    #[expect(unsafe_code, reason = "calls what has a duty")]
    fn mapped_and_opened_files_are_read_alike() {
        let path = std::env::temp_dir().join(format!("tfrt-tensor-map-{}", std::process::id()));
        std::fs::write(&path, [0, 1, 2, 3, 4]).unwrap();
        // SAFETY: 1: the file is not shared.
        let mapped = unsafe { map(&path) };
        let opened = Stream::open(&path, &malloc());
        std::fs::remove_file(&path).unwrap();
        check(&mut mapped.unwrap());
        check(&mut opened.unwrap());
    }

    /// Returns how many bytes of files in memory the process takes up.
    #[cfg(target_os = "linux")]
    fn resident_file_bytes() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = |name: &str| {
            let mut lines = status.lines();
            let value = lines.find_map(|line| line.strip_prefix(name)).unwrap();
            let kib = value.trim().trim_end_matches(" kB");
            1024 * kib.parse::<usize>().unwrap()
        };
        // Temporary files may lie in memory.
        line("RssFile:") + line("RssShmem:")
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[expect(unsafe_code, reason = "calls what has a duty")]
    fn a_part_that_is_given_back_takes_no_memory_and_is_read_again() {
        const SIZE_BYTES: usize = 64 << 20;
        let path = std::env::temp_dir().join(format!("tfrt-tensor-give-{}", std::process::id()));
        std::fs::write(&path, vec![7; SIZE_BYTES]).unwrap();
        // SAFETY: 1: the file is not shared.
        let mapped = unsafe { map(&path) };
        std::fs::remove_file(&path).unwrap();
        let part = mapped.unwrap().slice(5, SIZE_BYTES - 9).unwrap();
        let is_intact = || part.read().unwrap().iter().all(|&byte| byte == 7);
        assert!(is_intact());
        let used = resident_file_bytes();
        part.give_back();
        // Other tests take little.
        assert!(resident_file_bytes() < used - SIZE_BYTES / 2);
        assert!(is_intact());
        // An empty part, and memory that is not a file.
        part.slice(3, 0).unwrap().give_back();
        let other = HostBuffer::copied(&malloc(), &[1_u8; 1 << 16]).unwrap();
        other.give_back();
        assert!(other.read().unwrap().iter().all(|&byte| byte == 1));
    }

    #[test]
    fn a_file_that_was_cut_since_it_was_opened_ends_in_an_error() {
        let path = std::env::temp_dir().join(format!("tfrt-tensor-cut-{}", std::process::id()));
        std::fs::write(&path, [0; 100]).unwrap();
        let mut opened = Stream::open(&path, &malloc()).unwrap();
        std::fs::write(&path, [0; 10]).unwrap();
        let read = opened.buffer_at(0, 100);
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(read, Err(SourceError::Io(_))));
    }
}
