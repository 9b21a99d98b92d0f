//! Reading rows.

use std::fmt;
use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use tfrt_async::AnyRef;
use tfrt_data::{ElementTypes, StageDescription};
use tfrt_host::ExecutionContext;
use tfrt_support::{DType, Error};
use tfrt_tensor::I1;

use super::CsvOptions;
use super::infer::infer_schema;
use crate::column::Values;
use crate::files::{FileSystems, Files, OpenFile, Stream};
use crate::read_ahead::{Element, Format, ReadElements};
use crate::schema::{Cell, Column, Missing, Schema};

/// The longest row, in bytes: a small compressed file may be one enormous row.
const MAX_ROW_BYTES: u64 = 1 << 28;

/// Bytes that are read at once.
const BUFFER_BYTES: usize = 256 * 1024;

/// No further row is read into a batch that is taken apart again when its rows have so many bytes.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// So many rows are read at once if each of them is an element.
const NUM_ROWS_AT_ONCE: u64 = 256;

/// The format.
#[derive(Debug)]
pub(super) struct Rows {
    options: CsvOptions,
    /// Where the columns are found if none were given.
    files: Files,
    /// Those of the first file that has some: all files have the same columns.
    inferred: OnceLock<Schema>,
}

impl Rows {
    pub(super) fn new(options: &CsvOptions, files: &Files) -> Self {
        Self {
            options: options.clone(),
            files: files.clone(),
            inferred: OnceLock::new(),
        }
    }

    /// The columns of the first file that has some. That is not the first file that is read where a
    /// checkpoint is in a later one.
    fn infer(&self, file: &OpenFile, ctx: &ExecutionContext) -> Result<Schema, Error> {
        let systems = FileSystems::of(ctx.host());
        let paths = self.files.resolve(&systems).unwrap_or_default();
        for path in paths {
            if path == *file.path() {
                break;
            }
            let first = OpenFile::new(path, systems.clone());
            if let Ok(schema) = infer_schema(&first, &self.options) {
                return Ok(schema);
            }
        }
        infer_schema(file, &self.options)
    }
}

impl Format for Rows {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn element_types(&self) -> ElementTypes {
        match &self.options.schema {
            Some(schema) => schema.types_of_batches(),
            None => ElementTypes::UNKNOWN,
        }
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("options", format_args!("{:?}", self.options));
    }

    fn open(&self, file: OpenFile, ctx: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error> {
        let schema = match (&self.options.schema, self.inferred.get()) {
            (Some(schema), _) | (None, Some(schema)) => schema,
            (None, None) => {
                let schema = self.infer(&file, ctx)?;
                self.inferred.get_or_init(|| schema)
            }
        };
        let mut input = open(&file, &self.options)?;
        let positions: Vec<usize> = if self.options.has_header {
            let header = input.header(&file)?;
            let position = |column: &Column| {
                let found = header.iter().position(|name| *name == column.name);
                found.ok_or_else(|| {
                    let header = header.join("`, `");
                    let name = &column.name;
                    file.error(format_args!("expected a column `{name}`, found `{header}`"))
                })
            };
            schema
                .columns()
                .iter()
                .map(position)
                .collect::<Result<_, _>>()?
        } else {
            (0..schema.columns().len()).collect()
        };
        let columns = schema.columns().iter().zip(positions);
        Ok(Box::new(FileRows {
            columns: columns
                .map(|(column, position)| Filling::new(column, position))
                .collect(),
            input,
            is_lossy: self.options.is_lossy,
            hands_out_rows: self.options.batch_size.is_none(),
            batch_size: self.options.batch_size.unwrap_or(NUM_ROWS_AT_ONCE),
            file,
            record: ByteRecord::new(),
            num_bytes: 0,
            num_read: 0,
            failed: None,
            has_ended: false,
        }))
    }
}

/// A file whose rows are read.
pub(super) struct Input {
    reader: Reader<Metered>,
    budget: Arc<AtomicU64>,
    mark: u8,
    num_bytes: Arc<AtomicU64>,
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
    let stream = file.read(options.compression)?;
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
    let reader = ReaderBuilder::new()
        .has_headers(options.has_header)
        .delimiter(options.delimiter)
        .quoting(options.quote.is_some())
        .quote(options.quote.unwrap_or(b'"'))
        .comment(options.comment)
        .buffer_capacity(BUFFER_BYTES)
        .from_reader(metered);
    Ok(Input {
        reader,
        budget,
        mark,
        num_bytes,
    })
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
        header.iter().map(name).collect()
    }

    /// Reads a row. Nothing if there is no further one.
    pub(super) fn next_record(&mut self, record: &mut ByteRecord) -> Result<bool, ::csv::Error> {
        self.budget.store(MAX_ROW_BYTES, Ordering::Relaxed);
        let read = self.reader.read_byte_record(record);
        let is_row = match &read {
            Ok(is_row) => *is_row,
            // The mark has one field, and so may have the row that contains it.
            Err(error) => matches!(error.kind(), ErrorKind::UnequalLengths { .. }),
        };
        match is_row && self.is_end(record)? {
            true => Ok(false),
            false => read,
        }
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
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("expected {expected_len} fields, found {len}"),
        _ => error.to_string(),
    }
}

/// A column, and its values of the rows that were read.
struct Filling {
    name: String,
    dtype: DType,
    /// Which field of a row.
    position: usize,
    default: Option<Cell>,
    values: Values,
    /// Which values were there, if somebody asks.
    mask: Option<Vec<I1>>,
}

impl Filling {
    fn new(column: &Column, position: usize) -> Self {
        Self {
            name: column.name.clone(),
            dtype: column.dtype,
            position,
            default: column.default_value(),
            values: Values::new(column.dtype),
            mask: (column.missing == Missing::Mask).then(Vec::new),
        }
    }

    /// Adds the value in a row. Adds nothing if it fails.
    #[inline]
    fn add(&mut self, record: &ByteRecord, is_lossy: bool) -> Result<(), CellError> {
        let Some(field) = record.get(self.position) else {
            return Err(CellError::EndOfRow);
        };
        // Blanks around a number do not count. Alone, they are not a value.
        let text = match self.dtype {
            DType::String => field,
            _ => field.trim_ascii(),
        };
        let is_there = match (text.is_empty(), &self.default) {
            (true, Some(default)) => {
                self.values.push(default.clone());
                false
            }
            (_, _) if self.dtype == DType::String => match String::from_utf8_lossy(field) {
                std::borrow::Cow::Borrowed(_) => self.values.push_text(field),
                std::borrow::Cow::Owned(text) if is_lossy => self.values.push_text(text.as_bytes()),
                std::borrow::Cow::Owned(_) => return Err(CellError::NotUtf8),
            },
            (is_empty, _) => match self.values.push_text(text) {
                true => true,
                false if is_empty => return Err(CellError::Empty),
                false => return Err(CellError::Other(shortened(field))),
            },
        };
        if let Some(mask) = &mut self.mask {
            mask.push(is_there.into());
        }
        Ok(())
    }

    /// Takes back what was added behind the first `num_rows` values.
    fn truncate(&mut self, num_rows: usize) {
        self.values.truncate(num_rows);
        if let Some(mask) = &mut self.mask {
            mask.truncate(num_rows);
        }
    }
}

/// What stands in place of a value.
#[derive(Debug)]
enum CellError {
    EndOfRow,
    Empty,
    NotUtf8,
    /// Another text, which begins so.
    Other(String),
}

impl fmt::Display for CellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndOfRow => f.write_str("found the end of the row"),
            Self::Empty => f.write_str("found nothing"),
            Self::NotUtf8 => f.write_str("found bytes that are not UTF-8"),
            Self::Other(text) => write!(f, "found `{text}`"),
        }
    }
}

impl std::error::Error for CellError {}

/// The beginning of a field, for a message.
fn shortened(field: &[u8]) -> String {
    const MAX_BYTES: usize = 40;
    let text = String::from_utf8_lossy(&field[..field.len().min(MAX_BYTES)]);
    let dots = if field.len() > MAX_BYTES { "…" } else { "" };
    format!("{text}{dots}")
}

/// The rows of one file.
struct FileRows {
    input: Input,
    columns: Vec<Filling>,
    is_lossy: bool,
    /// Whether each row becomes an element: then an error stands between rows, and otherwise in
    /// front of the batch.
    hands_out_rows: bool,
    batch_size: u64,
    file: OpenFile,
    record: ByteRecord,
    /// About how much memory the rows in the columns take.
    num_bytes: usize,
    num_read: u64,
    /// An error behind the rows that were handed out.
    failed: Option<Error>,
    has_ended: bool,
}

impl ReadElements for FileRows {
    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let is_full = |this: &Self| {
            this.num_rows() as u64 >= this.batch_size
                || (this.hands_out_rows && this.num_bytes >= MAX_BATCH_BYTES)
        };
        while !self.has_ended && !is_full(self) {
            if let Err(error) = self.read_row() {
                if !self.hands_out_rows || self.num_rows() == 0 {
                    return Some(Err(error));
                }
                self.failed = Some(error);
                break;
            }
        }
        match self.num_rows() {
            0 => None,
            num_rows => Some(self.take_batch(num_rows, ctx)),
        }
    }
}

impl FileRows {
    fn num_rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.values.len())
    }

    /// Adds a row to the columns, unless there is none.
    fn read_row(&mut self) -> Result<(), Error> {
        let number = self.num_read;
        self.num_read += 1;
        let start = self.input.reader.position().clone();
        match self.input.next_record(&mut self.record) {
            Ok(true) => {}
            Ok(false) => {
                self.has_ended = true;
                return Ok(());
            }
            Err(error) => {
                self.has_ended = matches!(error.kind(), ErrorKind::Io(_));
                let place = error.position().unwrap_or(&start);
                let message =
                    format_args!("line {}: {}", place.line(), text_of(&error)).to_string();
                return Err(self.file.record_error(number, place.byte(), message));
            }
        }
        let num_rows = self.num_rows();
        let (record, is_lossy) = (&self.record, self.is_lossy);
        let failed = self.columns.iter_mut().find_map(|column| {
            let error = column.add(record, is_lossy).err()?;
            let place = record.position().unwrap_or(&start);
            let message = format!(
                "line {}, column {} (`{}`): expected {}, {error}",
                place.line(),
                column.position + 1,
                column.name,
                column.dtype
            );
            Some(self.file.record_error(number, place.byte(), message))
        });
        if let Some(error) = failed {
            // The columns must have as many rows each.
            for column in &mut self.columns {
                column.truncate(num_rows);
            }
            return Err(error);
        }
        self.num_bytes += self.record.as_slice().len() + self.columns.len() * size_of::<Cell>();
        Ok(())
    }

    /// The rows as an element. If there is no memory for it, the rows are lost.
    fn take_batch(&mut self, num_rows: usize, ctx: &ExecutionContext) -> Result<Element, Error> {
        let len_bytes = std::mem::take(&mut self.num_bytes);
        let values = self.take_columns(num_rows, ctx);
        if values.is_err() {
            // The columns must have as many rows each.
            for column in &mut self.columns {
                column.values = Values::new(column.dtype);
                column.mask = column.mask.is_some().then(Vec::new);
            }
        }
        Ok(Element {
            values: values?,
            len_bytes,
        })
    }

    fn take_columns(
        &mut self,
        num_rows: usize,
        ctx: &ExecutionContext,
    ) -> Result<tfrt_data::Values, Error> {
        let mut values = tfrt_data::Values::new();
        for column in &mut self.columns {
            values.push(column.values.take_tensor(&[num_rows], ctx.allocator())?);
            if let Some(mask) = &mut column.mask {
                let mut mask = Values::I1(std::mem::take(mask));
                let mask: AnyRef = mask.take_tensor(&[num_rows], ctx.allocator())?;
                values.push(mask);
            }
        }
        Ok(values)
    }
}
