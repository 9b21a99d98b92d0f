//! A file, or a part of one, as a stream of rows.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use ::csv::{ByteRecord, ErrorKind, Position, Reader, ReaderBuilder};
use tfrt_support::Error;

use super::CsvOptions;
use crate::files::{OpenFile, Stream};

/// The longest row, in bytes: a small compressed file may be one enormous row.
const MAX_ROW_BYTES: u64 = 1 << 28;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// Stands in front of a part of a file that is not its beginning. The parser drops a byte-order
/// mark at the beginning of what it reads, and in the middle of a file a mark belongs to its row.
const EMPTY_LINE: &[u8] = b"\n";

/// A file whose rows are read.
pub(super) struct Input {
    reader: Reader<Metered>,
    /// The number of fields of each row, once it is known.
    num_fields: Option<usize>,
    budget: Arc<AtomicU64>,
    mark: u8,
    num_bytes: Arc<AtomicU64>,
    /// Whether an empty line was put in front of the stream.
    has_empty_line: bool,
}

/// A place in a file, or in a part of one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) byte: u64,
    /// The number of line breaks in front.
    pub(super) num_lines: u64,
}

impl Place {
    fn of(position: &Position) -> Self {
        Self {
            byte: position.byte(),
            num_lines: position.line().saturating_sub(1),
        }
    }

    /// Returns `true` if this is the first byte of the file.
    pub(super) fn is_start(self) -> bool {
        self.byte == 0
    }

    /// Returns the place in the whole file of a place in a part that begins here.
    pub(super) fn and(self, behind: Self) -> Self {
        Self {
            byte: self.byte + behind.byte,
            num_lines: self.num_lines + behind.num_lines,
        }
    }

    /// Returns the number of the line, counted from 1.
    pub(super) fn line(self) -> u64 {
        self.num_lines + 1
    }
}

/// What is wrong with a row.
#[derive(Debug)]
pub(super) struct RowError {
    pub(super) text: String,
    /// Whether nothing can be read behind the row.
    pub(super) is_last: bool,
}

/// A stream that fails when a row is too long, and marks its end.
///
/// The parser does not tell whether a quoted field is open at the end of a file. So a mark follows
/// the file, a row of one character. An open field contains the mark; otherwise, the mark is the
/// last row.
struct Metered {
    stream: Stream,
    /// How many bytes may still be read. Used by one thread at a time: relaxed.
    budget: Arc<AtomicU64>,
    /// The character of the mark, which has no meaning in the file.
    mark: u8,
    /// How many bytes the file has, once its end was found, and the maximum before. Used by one
    /// thread at a time: relaxed.
    num_bytes: Arc<AtomicU64>,
    num_read: u64,
}

impl Read for Metered {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let num_read = self.stream.read(buffer)?;
        if num_read == 0 && !buffer.is_empty() {
            return Ok(self.read_mark(buffer));
        }
        self.num_read += num_read as u64;
        let left = self.budget.load(Ordering::Relaxed);
        match left.checked_sub(num_read as u64) {
            Some(left) => {
                self.budget.store(left, Ordering::Relaxed);
                Ok(num_read)
            }
            None => Err(io::Error::other(format!(
                "expected a row of at most {MAX_ROW_BYTES} bytes"
            ))),
        }
    }
}

impl Metered {
    /// Hands out the mark, once. A parser's buffer has room for it.
    fn read_mark(&mut self, buffer: &mut [u8]) -> usize {
        let mark = [b'\n', self.mark, b'\n'];
        let is_marked = self.num_bytes.load(Ordering::Relaxed) != u64::MAX;
        let Some(room) = buffer.get_mut(..mark.len()).filter(|_| !is_marked) else {
            return 0;
        };
        room.copy_from_slice(&mark);
        self.num_bytes.store(self.num_read, Ordering::Relaxed);
        mark.len()
    }
}

/// A quoted field that a file does not close.
#[derive(Debug)]
struct OpenField;

impl fmt::Display for OpenField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected a closing quote, found the end of the file")
    }
}

impl std::error::Error for OpenField {}

/// Opens a file, before its header.
pub(super) fn open(file: &OpenFile, options: &CsvOptions) -> Result<Input, Error> {
    Ok(open_stream(file.read(options.compression)?, options))
}

/// Returns a parser as the options say.
fn builder(options: &CsvOptions) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder
        .has_headers(options.has_header)
        .delimiter(options.delimiter)
        .quoting(options.quote.is_some())
        .quote(options.quote.unwrap_or(b'"'))
        .comment(options.comment)
        .buffer_capacity(BUFFER_BYTES);
    builder
}

/// Opens a stream, before its header.
pub(super) fn open_stream(stream: Stream, options: &CsvOptions) -> Input {
    let budget = Arc::new(AtomicU64::new(MAX_ROW_BYTES));
    let num_bytes = Arc::new(AtomicU64::new(u64::MAX));
    let special = [Some(options.delimiter), options.quote, options.comment];
    // One of four characters is not among three.
    let mut marks = b"abcd".iter().copied();
    let mark = marks.find(|&mark| !special.contains(&Some(mark)));
    let mark = mark.unwrap_or_default();
    let metered = Metered {
        stream,
        budget: Arc::clone(&budget),
        mark,
        num_bytes: Arc::clone(&num_bytes),
        num_read: 0,
    };
    // The number of fields is checked here: rows of a part of a file have as many as those in front
    // of it.
    Input {
        reader: builder(options).flexible(true).from_reader(metered),
        num_fields: None,
        budget,
        mark,
        num_bytes,
        has_empty_line: false,
    }
}

/// Opens a stream that is a part of a file, but not its beginning.
pub(super) fn open_part(stream: Stream, options: &CsvOptions) -> Input {
    Input {
        has_empty_line: true,
        ..open_stream(Box::new(EMPTY_LINE.chain(stream)), options)
    }
}

impl Input {
    /// The names of the columns.
    pub(super) fn header(&mut self, file: &OpenFile) -> Result<Vec<String>, Error> {
        let failed = |error| file.error(format_args!("the header: {}", text_of(&error)));
        let header = self.reader.byte_headers().map_err(failed)?.clone();
        if self.is_end(&header).map_err(failed)? {
            return Ok(Vec::new());
        }
        let name = |field: &[u8]| {
            String::from_utf8(field.to_vec())
                .map_err(|_| file.error("the header: expected UTF-8, found other bytes"))
        };
        self.num_fields = Some(header.len());
        header.iter().map(name).collect()
    }

    /// Returns the same rows, which are a part of a file with so many fields in each row.
    pub(super) fn with_num_fields(mut self, num_fields: usize) -> Self {
        self.num_fields = Some(num_fields);
        self
    }

    /// Returns the number of fields in each row, which the first one determines.
    pub(super) fn num_fields(&self) -> Option<usize> {
        self.num_fields
    }

    /// Returns the place of the next row.
    pub(super) fn place(&self) -> Place {
        self.place_of(self.reader.position())
    }

    /// Returns the place of a row that was read, if it is known.
    pub(super) fn place_of_record(&self, record: &ByteRecord) -> Option<Place> {
        record.position().map(|position| self.place_of(position))
    }

    fn place_of(&self, position: &Position) -> Place {
        let place = Place::of(position);
        match self.has_empty_line {
            true => Place {
                byte: place.byte.saturating_sub(EMPTY_LINE.len() as u64),
                num_lines: place.num_lines.saturating_sub(1),
            },
            false => place,
        }
    }

    /// Reads a row. Nothing if there is no further one.
    pub(super) fn next_record(&mut self, record: &mut ByteRecord) -> Result<bool, RowError> {
        self.budget.store(MAX_ROW_BYTES, Ordering::Relaxed);
        let failed = |error| RowError {
            text: text_of(&error),
            is_last: matches!(error.kind(), ErrorKind::Io(_)),
        };
        if !self.reader.read_byte_record(record).map_err(failed)?
            || self.is_end(record).map_err(failed)?
        {
            return Ok(false);
        }
        let expected = *self.num_fields.get_or_insert(record.len());
        if record.len() != expected {
            return Err(RowError {
                text: format!("expected {expected} fields, found {}", record.len()),
                is_last: false,
            });
        }
        Ok(true)
    }

    /// Returns `true` if the row that was read is the mark behind the file. It is an error if it
    /// contains the mark.
    fn is_end(&self, record: &ByteRecord) -> Result<bool, ::csv::Error> {
        // The mark follows a line break of ours.
        let num_bytes = self.num_bytes.load(Ordering::Relaxed);
        if self.reader.position().byte() <= num_bytes.saturating_add(1) {
            return Ok(false);
        }
        match record.len() == 1 && record[0] == [self.mark] {
            true => Ok(true),
            false => Err(io::Error::other(OpenField).into()),
        }
    }
}

/// What is wrong, without the place, which is told in our own way.
fn text_of(error: &::csv::Error) -> String {
    match error.kind() {
        ErrorKind::Io(error) if error.get_ref().is_some_and(|error| error.is::<OpenField>()) => {
            OpenField.to_string()
        }
        ErrorKind::Io(error) => format!("failed to read: {error}"),
        _ => error.to_string(),
    }
}
