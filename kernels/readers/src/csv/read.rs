//! Reading rows.

use std::sync::OnceLock;

use ::csv::ByteRecord;
use tfrt_data::{ElementTypes, StageDescription, Values};
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::CsvOptions;
use super::chunks::{Beginning, Chunks, Next, Parsed, Plan};
use super::filling::{Filling, row_bytes};
use super::infer::infer_schema;
use super::input::{Input, Place, RowError, open_stream};
use crate::files::{FileSystems, Files, OpenFile};
use crate::read_ahead::{Element, Format, ReadElements};
use crate::schema::{Column, Schema};

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
        let mut stream = file.read(self.options.compression)?;
        if ctx.queue().parallelism_level() > 1 {
            let beginning = Beginning::read(stream, &self.options);
            if beginning.is_suitable()
                && let Some((plan, place)) = self.plan(schema, &beginning, &file)?
            {
                let columns = plan.fillings();
                let rows = Ahead::Chunks(Chunks::new(plan, beginning, place));
                return Ok(Box::new(FileRows::new(rows, columns, &self.options, file)));
            }
            stream = beginning.into_stream();
        }
        let mut input = open_stream(stream, &self.options);
        let columns = self.columns(schema, &mut input, &file)?;
        let columns = columns
            .iter()
            .map(|(column, position)| Filling::new(column, *position))
            .collect();
        let rows = Ahead::Rows(input, Place::default(), None);
        Ok(Box::new(FileRows::new(rows, columns, &self.options, file)))
    }
}

impl Rows {
    /// Returns the columns of the schema, and which fields of a row they are. Reads the header.
    fn columns(
        &self,
        schema: &Schema,
        input: &mut Input,
        file: &OpenFile,
    ) -> Result<Vec<(Column, usize)>, Error> {
        let columns = schema.columns().iter().cloned();
        if !self.options.has_header {
            return Ok(columns.zip(0..).collect());
        }
        let header = input.header(file)?;
        let with_position = |column: Column| {
            let found = header.iter().position(|name| *name == column.name);
            let position = found.ok_or_else(|| {
                let header = header.join("`, `");
                let name = &column.name;
                file.error(format_args!("expected a column `{name}`, found `{header}`"))
            })?;
            Ok((column, position))
        };
        columns.map(with_position).collect()
    }

    /// Returns how the rows of a file are parsed in chunks, and where they begin, if the first
    /// chunk tells: it has the header, or the first row, as a whole.
    fn plan(
        &self,
        schema: &Schema,
        beginning: &Beginning,
        file: &OpenFile,
    ) -> Result<Option<(Plan, Place)>, Error> {
        let mut input = beginning.first_rows(&self.options);
        let mut place = input.place();
        if self.options.has_header {
            input.header(file)?;
            place = input.place();
        } else if input.next_record(&mut ByteRecord::new()).is_err() {
            return Ok(None);
        }
        let Some(num_fields) = input.num_fields() else {
            return Ok(None);
        };
        let columns = self.columns(schema, &mut input, file)?;
        Ok(Some((Plan::new(&self.options, columns, num_fields), place)))
    }
}

/// What is read next of a file.
enum Ahead {
    /// Rows one by one, and their place; then, chunks.
    Rows(Input, Place, Option<Chunks>),
    /// Rows that are parsed already; then, chunks.
    Parsed(Parsed, Chunks),
    Chunks(Chunks),
    Nothing,
}

/// How large a batch becomes.
#[derive(Clone, Copy, Debug)]
struct BatchLimit {
    /// Whether each row becomes an element: then an error stands between rows, and otherwise in
    /// front of the batch.
    hands_out_rows: bool,
    num_rows: u64,
}

impl BatchLimit {
    /// Returns `true` if there is room for a row behind so many rows and bytes.
    fn allows(self, num_rows: usize, num_bytes: usize) -> bool {
        (num_rows as u64) < self.num_rows && (!self.hands_out_rows || num_bytes < MAX_BATCH_BYTES)
    }
}

/// The rows of one file.
struct FileRows {
    ahead: Ahead,
    columns: Vec<Filling>,
    is_lossy: bool,
    limit: BatchLimit,
    file: OpenFile,
    record: ByteRecord,
    /// About how much memory the rows in the columns take.
    num_bytes: usize,
    num_read: u64,
    /// An error behind the rows that were handed out.
    failed: Option<Error>,
}

impl ReadElements for FileRows {
    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        while self.limit.allows(self.num_rows(), self.num_bytes) {
            match self.read_rows(ctx) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    if !self.limit.hands_out_rows || self.num_rows() == 0 {
                        return Some(Err(error));
                    }
                    self.failed = Some(error);
                    break;
                }
            }
        }
        self.take_incomplete(ctx)
    }

    fn take_incomplete(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        match self.num_rows() {
            0 => None,
            num_rows => Some(self.take_batch(num_rows, ctx)),
        }
    }
}

impl FileRows {
    fn new(ahead: Ahead, columns: Vec<Filling>, options: &CsvOptions, file: OpenFile) -> Self {
        Self {
            ahead,
            columns,
            is_lossy: options.is_lossy,
            limit: BatchLimit {
                hands_out_rows: options.batch_size.is_none(),
                num_rows: options.batch_size.unwrap_or(NUM_ROWS_AT_ONCE),
            },
            file,
            record: ByteRecord::new(),
            num_bytes: 0,
            num_read: 0,
            failed: None,
        }
    }

    fn num_rows(&self) -> usize {
        self.columns
            .first()
            .map_or(0, |column| column.rows.values.len())
    }

    /// Adds rows to the columns, or goes on to further ones. Returns `false` if there are none.
    fn read_rows(&mut self, ctx: &ExecutionContext) -> Result<bool, Error> {
        match std::mem::replace(&mut self.ahead, Ahead::Nothing) {
            Ahead::Nothing => return Ok(false),
            Ahead::Chunks(mut chunks) => {
                self.ahead = match chunks.next(ctx) {
                    Next::Parsed(parsed) => Ahead::Parsed(parsed, chunks),
                    Next::Rows(input, place) => Ahead::Rows(input, place, Some(chunks)),
                    Next::End => Ahead::Nothing,
                };
            }
            Ahead::Parsed(mut parsed, chunks) => {
                let (rows_before, bytes_before) = (self.num_rows(), self.num_bytes);
                let limit = self.limit;
                let (num_rows, num_bytes) = parsed.move_rows(&mut self.columns, |rows, bytes| {
                    limit.allows(rows_before + rows, bytes_before + bytes)
                });
                self.num_bytes += num_bytes;
                self.num_read += num_rows as u64;
                self.ahead = match parsed.is_empty() {
                    true => Ahead::Chunks(chunks),
                    false => Ahead::Parsed(parsed, chunks),
                };
            }
            Ahead::Rows(mut input, place, chunks) => {
                let read = self.read_row(&mut input, place);
                self.ahead = match &read {
                    Ok(true) => Ahead::Rows(input, place, chunks),
                    Ok(false) => chunks.map_or(Ahead::Nothing, Ahead::Chunks),
                    Err(RowFailure { is_last: true, .. }) => Ahead::Nothing,
                    Err(_) => Ahead::Rows(input, place, chunks),
                };
                return match read {
                    Ok(_) => Ok(true),
                    Err(failure) => Err(failure.error),
                };
            }
        }
        Ok(true)
    }

    /// Adds a row to the columns. Returns `false` if there is none.
    fn read_row(&mut self, input: &mut Input, part: Place) -> Result<bool, RowFailure> {
        let number = self.num_read;
        let start = input.place();
        let read = input.next_record(&mut self.record);
        let place = |record: &ByteRecord| part.and(input.place_of_record(record).unwrap_or(start));
        match read {
            Ok(true) => self.num_read += 1,
            Ok(false) => return Ok(false),
            Err(RowError { text, is_last }) => {
                self.num_read += 1;
                let place = match is_last {
                    true => part.and(start),
                    false => place(&self.record),
                };
                let message = format_args!("line {}: {text}", place.line()).to_string();
                let error = self.file.record_error(number, place.byte, message);
                return Err(RowFailure { error, is_last });
            }
        }
        let num_rows = self.num_rows();
        let (record, is_lossy) = (&self.record, self.is_lossy);
        let failed = self.columns.iter_mut().find_map(|column| {
            let field = record.get(column.position);
            let error = column.add(field, is_lossy).err()?;
            let place = place(record);
            let message = format!(
                "line {}, column {} (`{}`): expected {}, {error}",
                place.line(),
                column.position + 1,
                column.name,
                column.dtype
            );
            Some(self.file.record_error(number, place.byte, message))
        });
        if let Some(error) = failed {
            self.truncate(num_rows);
            let is_last = false;
            return Err(RowFailure { error, is_last });
        }
        self.num_bytes += row_bytes(self.record.as_slice().len(), self.columns.len());
        Ok(true)
    }

    /// Takes back what was added behind so many rows: the columns must have as many rows each.
    fn truncate(&mut self, num_rows: usize) {
        for column in &mut self.columns {
            column.rows.truncate(num_rows, 1);
        }
    }

    /// The rows as an element. If there is no memory for it, the rows are lost.
    fn take_batch(&mut self, num_rows: usize, ctx: &ExecutionContext) -> Result<Element, Error> {
        let len_bytes = std::mem::take(&mut self.num_bytes);
        let mut values = Values::new();
        let mut columns = self.columns.iter_mut();
        let taken = columns.try_for_each(|column| {
            let rows = &mut column.rows;
            rows.take_tensors(num_rows, &[], ctx.allocator(), &mut values)
        });
        if taken.is_err() {
            self.truncate(0);
        }
        taken.map(|()| Element { values, len_bytes })
    }
}

/// The error of a row.
struct RowFailure {
    error: Error,
    /// Whether nothing can be read behind the row.
    is_last: bool,
}
