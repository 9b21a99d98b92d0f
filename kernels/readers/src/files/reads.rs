//! What has been read of the files of a host, for those who show progress.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Stream;

/// What has been read of the files of a host so far: bytes as they are in the files, compressed or
/// not. A file that is read in parts, such as a Parquet file, counts as a whole when it is opened.
///
/// ```
/// use tfrt_host::HostContext;
/// use tfrt_readers::files::FileSystems;
///
/// let host = HostContext::builder().build();
/// let read = FileSystems::of(&host).files_read();
/// assert_eq!((read.num_bytes, read.last), (0, None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesRead {
    /// The bytes of all files.
    pub num_bytes: u64,
    /// The file that was opened last.
    pub last: Option<LastFile>,
}

/// The file that was opened last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastFile {
    /// Its path.
    pub path: Arc<str>,
    /// The bytes that were read of it.
    pub num_bytes: u64,
    /// The bytes that it has, if they are known.
    pub len_bytes: Option<u64>,
}

/// Counts what is read.
#[derive(Debug, Default)]
pub(super) struct Reads {
    all: Arc<Counter>,
    last: Mutex<Option<Opened>>,
}

#[derive(Debug)]
struct Opened {
    path: Arc<str>,
    len_bytes: Option<u64>,
    counter: Arc<Counter>,
}

/// A number of bytes. Orders nothing: relaxed.
#[derive(Debug, Default)]
struct Counter(AtomicU64);

impl Counter {
    fn add(&self, num_bytes: u64) {
        self.0.fetch_add(num_bytes, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Reads {
    /// Counts a file that is read in parts.
    pub(super) fn add_file(&self, path: &Arc<str>, len_bytes: u64) {
        self.all.add(len_bytes);
        self.open(path, Some(len_bytes)).add(len_bytes);
    }

    /// Returns a stream whose bytes are counted.
    pub(super) fn count(
        &self,
        path: &Arc<str>,
        len_bytes: Option<u64>,
        stream: impl Read + Send + 'static,
    ) -> Stream {
        Box::new(Counted {
            stream,
            all: Arc::clone(&self.all),
            file: self.open(path, len_bytes),
        })
    }

    fn open(&self, path: &Arc<str>, len_bytes: Option<u64>) -> Arc<Counter> {
        let counter = Arc::default();
        let opened = Opened {
            path: Arc::clone(path),
            len_bytes,
            counter: Arc::clone(&counter),
        };
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
        counter
    }

    pub(super) fn so_far(&self) -> FilesRead {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        FilesRead {
            num_bytes: self.all.get(),
            last: last.as_ref().map(|opened| LastFile {
                path: Arc::clone(&opened.path),
                num_bytes: opened.counter.get(),
                len_bytes: opened.len_bytes,
            }),
        }
    }
}

/// A stream whose bytes are counted.
struct Counted<S> {
    stream: S,
    all: Arc<Counter>,
    file: Arc<Counter>,
}

impl<S> Counted<S> {
    fn count(&self, num_bytes: usize) {
        self.all.add(num_bytes as u64);
        self.file.add(num_bytes as u64);
    }
}

impl<S: Read> Read for Counted<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_bytes = self.stream.read(buffer)?;
        self.count(num_bytes);
        Ok(num_bytes)
    }

    // A file knows how many bytes it has, and allocates memory for all of them at once.
    fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let len_before = buffer.len();
        let read = self.stream.read_to_end(buffer);
        self.count(buffer.len() - len_before);
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that can only be read as a whole, and fails behind its bytes if it `fails`.
    struct Whole {
        fails: bool,
    }

    impl Read for Whole {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn read_to_end(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
            buffer.extend_from_slice(b"bytes");
            match self.fails {
                true => Err(io::ErrorKind::BrokenPipe.into()),
                false => Ok(5),
            }
        }
    }

    #[test]
    fn a_file_is_read_to_its_end_in_its_own_way_and_counted() {
        let reads = Reads::default();
        let path = "a".into();
        for (fails, num_bytes) in [(false, 5), (true, 10)] {
            let mut stream = reads.count(&path, None, Whole { fails });
            let mut found = b"some ".to_vec();
            let read = stream.read_to_end(&mut found).map_err(|error| error.kind());
            let expected = match fails {
                true => Err(io::ErrorKind::BrokenPipe),
                false => Ok(5),
            };
            assert_eq!(read, expected);
            assert_eq!(found, b"some bytes");
            let so_far = reads.so_far();
            assert_eq!(so_far.num_bytes, num_bytes);
            assert_eq!(so_far.last.map(|last| last.num_bytes), Some(5));
        }
    }
}
