//! Records at any place of a file, through an index of where they begin.
//!
//! An index is a text with one line for each record: its position and its size in bytes, with
//! header and checksums. It lies beside the records, under their name with `.idx` at the end. The
//! format is that of `tfrecord2idx`, a tool of NVIDIA DALI.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Promise};
use tfrt_data::{Dataset, ElementFunction, Values};
use tfrt_host::ExecutionContext;
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};

use super::read::{RecordError, RecordReader, Verify};
use crate::files::failed_to;

/// The smallest size of a record in a file: a header and a footer.
const MIN_RECORD_BYTES: u64 = 16;

/// The positions of the records of a file, from its start, without gaps.
///
/// ```
/// use tfrt_readers::tfrecord::{RecordIndex, RecordWriter};
///
/// let mut file = Vec::new();
/// let mut writer = RecordWriter::new(&mut file);
/// writer.write(b"red")?;
/// writer.write(b"blue")?;
/// writer.finish()?;
///
/// let index = RecordIndex::of_records(&file[..])?;
/// assert_eq!(index.to_string(), "0 19\n19 20\n");
/// assert_eq!(index.span(1), Some(19..39));
/// assert_eq!(index.to_string().parse::<RecordIndex>()?, index);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordIndex {
    /// Where each record ends.
    ends: Vec<u64>,
}

impl RecordIndex {
    /// Reads the records of an uncompressed file, and returns their positions. Checksums of data
    /// are not compared.
    ///
    /// # Errors
    /// If a record is damaged or cut off, or the file cannot be read.
    pub fn of_records(input: impl Read) -> Result<Self, RecordError> {
        let mut reader = RecordReader::new(input).verifying(Verify::Header);
        let mut ends = Vec::new();
        while let Some(record) = reader.next() {
            record?;
            ends.push(reader.position());
        }
        Ok(Self { ends })
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ends.len() as u64
    }

    /// Returns `true` if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the bytes of a record in its file, with header and checksums; `None` if there is no
    /// record of this number.
    #[must_use]
    pub fn span(&self, record: u64) -> Option<Range<u64>> {
        let record = usize::try_from(record).ok()?;
        let end = *self.ends.get(record)?;
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(start..end)
    }

    /// Returns the size of the file, in bytes.
    #[must_use]
    pub fn num_file_bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }
}

/// The lines of the text form.
impl fmt::Display for RecordIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut start = 0;
        for &end in &self.ends {
            writeln!(f, "{start} {}", end - start)?;
            start = end;
        }
        Ok(())
    }
}

impl FromStr for RecordIndex {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut ends = Vec::new();
        let mut expected = 0;
        for (number, line) in (1..).zip(text.lines()) {
            let wrong = |what: fmt::Arguments<'_>| {
                let message = format!("line {number} of an index: expected {what}");
                Error::new(message).with_code(ErrorCode::DataLoss)
            };
            let numbers = line.split_once(' ');
            let numbers = numbers.and_then(|(start, size)| {
                Some((
                    start.parse::<u64>().ok()?,
                    size.trim_end().parse::<u64>().ok()?,
                ))
            });
            let (start, size) = numbers.ok_or_else(|| {
                wrong(format_args!(
                    "the position and the size of a record, found `{}`",
                    line.escape_debug()
                ))
            })?;
            if start != expected {
                return Err(wrong(format_args!("position {expected}, found {start}")));
            }
            let end = start.checked_add(size).filter(|_| size >= MIN_RECORD_BYTES);
            expected = end.ok_or_else(|| {
                let most = u64::MAX - start;
                wrong(format_args!(
                    "a size from {MIN_RECORD_BYTES} to {most} bytes, found {size}"
                ))
            })?;
            ends.push(expected);
        }
        Ok(Self { ends })
    }
}

/// A file of records that are read in any order.
///
/// ```no_run
/// use tfrt_data::Dataset;
/// use tfrt_readers::tfrecord::IndexedRecords;
///
/// let records = IndexedRecords::open("train.tfrecord")?;
/// // Every fourth record, in an order that differs in each pass over the data.
/// let last = records.len() as i64;
/// let numbers = Dataset::range(0, last, 4)?.shuffle(last, 1, 2)?;
/// let samples = records.dataset(&numbers)?;
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndexedRecords {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    file: File,
    path: Arc<str>,
    index: RecordIndex,
}

impl IndexedRecords {
    /// Opens a file of this machine that is not compressed, with the index beside it: `PATH.idx`,
    /// as `tfrt data index` writes it.
    ///
    /// # Errors
    /// If one of the two cannot be read, or the index is damaged or that of another file.
    pub fn open(path: &str) -> Result<Self, Error> {
        let index_path = index_path(path);
        let text = std::fs::read_to_string(&index_path)
            .map_err(|error| failed_to("read", &index_path, &error))?;
        let index: RecordIndex = text
            .parse()
            .map_err(|error: Error| error.with_note(format!(" (in {index_path})")))?;
        Self::with_index(path, index)
    }

    /// Opens a file of this machine that is not compressed, with its index.
    ///
    /// # Errors
    /// If the file cannot be read, or the index is that of another file.
    pub fn with_index(path: &str, index: RecordIndex) -> Result<Self, Error> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (len_bytes, file) = opened.map_err(|error| failed_to("open", path, &error))?;
        let expected = index.num_file_bytes();
        if len_bytes != expected {
            let message =
                format!("{path}: expected {expected} bytes, as the index says, found {len_bytes}");
            return Err(Error::new(message).with_code(ErrorCode::DataLoss));
        }
        let path = path.into();
        let shared = Arc::new(Shared { file, path, index });
        Ok(Self { shared })
    }

    /// Returns the number of records.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.shared.index.len()
    }

    /// Returns `true` if there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.index.is_empty()
    }

    /// Reads the data of a record and compares its checksums. Blocks the thread.
    ///
    /// # Errors
    /// If there is no record of this number, it is damaged, or it cannot be read.
    pub fn record(&self, number: u64) -> Result<Vec<u8>, Error> {
        self.shared.record(number)
    }

    /// Returns the records with these numbers, each an element with one component of type
    /// `!tfrt.string`. The numbers are elements with one component of type `i64`. Records are read
    /// on the blocking pool: with [`prefetch`](Dataset::prefetch), several at a time.
    ///
    /// # Errors
    /// If `numbers` has other components, as far as is known.
    pub fn dataset(&self, numbers: &Dataset) -> Result<Dataset, Error> {
        let name = format!("records({})", self.shared.path);
        let shared = Arc::clone(&self.shared);
        let read = move |ctx: &ExecutionContext, values: &[AnyRef]| -> Result<Values, Error> {
            let number = values.first().and_then(|value| value.get::<i64>()).copied();
            let number = number.ok_or_else(|| {
                let message = "expected the number of a record, of type `i64`";
                Error::new(message).with_code(ErrorCode::InvalidArgument)
            })?;
            let (promise, record): (Promise<ByteString>, _) = AsyncValueRef::unconstructed();
            let (shared, reader_ctx) = (Arc::clone(&shared), ctx.clone());
            let task = Task::new(move || {
                let record = match u64::try_from(number) {
                    Ok(number) => shared.record(number),
                    Err(_) => Err(shared.no_record(number)),
                };
                match record {
                    Ok(record) => promise.emplace(record.into()),
                    Err(error) => promise.set_error(reader_ctx.emit_error(error)),
                }
            });
            let tag = ctx.request().tag();
            // A task that the queue refuses is dropped, and its promise is an error then.
            let _ = ctx.queue().add_blocking_task_for(tag, task, true);
            Ok(Values::from_iter([record.into_any()]))
        };
        numbers.map_with(ElementFunction::from_named_closure(name, 1, 1, read), &[])
    }
}

/// Returns the path of the index of a file of records.
///
/// ```
/// assert_eq!(tfrt_readers::tfrecord::index_path("a.tfrecord"), "a.tfrecord.idx");
/// ```
#[must_use]
pub fn index_path(path: &str) -> String {
    format!("{path}.idx")
}

impl Shared {
    fn record(&self, number: u64) -> Result<Vec<u8>, Error> {
        let path = &self.path;
        let span = self
            .index
            .span(number)
            .ok_or_else(|| self.no_record(number))?;
        let mut bytes = Vec::new();
        let len_bytes = usize::try_from(span.end - span.start).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(len_bytes).map_err(|_| {
            let message = format!("{path}: no memory for the {len_bytes} bytes of record {number}");
            Error::new(message).with_code(ErrorCode::ResourceExhausted)
        })?;
        bytes.resize(len_bytes, 0);
        self.read_exact_at(&mut bytes, span.start)
            .map_err(|error| failed_to("read", path, &error))?;
        let mut reader = RecordReader::starting_at(span.start, &bytes[..]);
        let record = reader.next().filter(|_| reader.position() == span.end);
        match record {
            Some(Ok(record)) => Ok(record),
            Some(Err(error)) => {
                Err(Error::from(error).with_note(format!(" (record {number} of {path})")))
            }
            None => {
                let message = format!("{path}: the index has another size of record {number}");
                Err(Error::new(message).with_code(ErrorCode::DataLoss))
            }
        }
    }
}

impl Shared {
    #[cold]
    fn no_record(&self, number: impl fmt::Display) -> Error {
        let (path, len) = (&self.path, self.index.len());
        let message = format!("{path}: expected a record below {len}, found {number}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }

    /// Fills `bytes` from a position of the file. Several threads may do so at once.
    #[cfg(unix)]
    fn read_exact_at(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, bytes, position)
    }

    /// Fills `bytes` from a position of the file. Threads that share a handle would share its
    /// position, so each read has its own.
    #[cfg(not(unix))]
    fn read_exact_at(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        use std::io::{Seek, SeekFrom};

        let mut file = File::open(&*self.path)?;
        file.seek(SeekFrom::Start(position))?;
        file.read_exact(bytes)
    }
}
