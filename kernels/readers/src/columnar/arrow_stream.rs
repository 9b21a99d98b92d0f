//! Arrow IPC: streams, and files, which are streams behind a mark and in front of a footer.

use std::io::{self, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use tfrt_data::StageDescription;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::batch::{NUM_ROWS_AT_ONCE, element, guarded, positions};
use super::{ColumnarOptions, ColumnarSummary};
use crate::files::{Compression, OpenFile, Stream};
use crate::read_ahead::{Element, Format, ReadElements};

/// How a file begins, and how it ends.
const MAGIC: &[u8; 6] = b"ARROW1";

/// The mark of a file is followed by zeros: up to a multiple of 8 bytes, or of 64.
const ALIGN_BYTES: usize = 8;
const MAX_START_BYTES: usize = 64;

/// The length of the footer, and the magic behind it.
const END_BYTES: u64 = 10;

/// Bytes that are read at once.
const CHUNK_BYTES: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct ArrowFiles {
    options: ColumnarOptions,
}

impl ArrowFiles {
    pub(super) fn new(options: &ColumnarOptions) -> Self {
        Self {
            options: options.clone(),
        }
    }
}

impl Format for ArrowFiles {
    fn name(&self) -> &'static str {
        "arrow_ipc"
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("options", format_args!("{:?}", self.options));
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        Ok(Box::new(FileBatches {
            batches: Batches::open(&file)?,
            columns: None,
            rest: None,
            options: self.options.clone(),
            file,
            num_rows: 0,
            has_ended: false,
        }))
    }
}

/// The record batches of a file.
struct Batches {
    stream: Stream,
    decoder: StreamDecoder,
    buffer: Buffer,
    /// How many bytes were read.
    position: u64,
}

impl Batches {
    fn open(file: &OpenFile) -> Result<Self, Error> {
        let mut start = [0; 6];
        let is_file = match file.open()?.read_exact(&mut start) {
            Ok(()) => start == *MAGIC,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(file.read_error(&error)),
        };
        let stream = match (is_file, file.open_file()?) {
            (false, _) => file.read(Compression::Auto)?,
            (true, Some(local)) => within_file(local, file)?,
            (true, None) => within_file(io::Cursor::new(file.read_whole()?), file)?,
        };
        Ok(Self {
            stream,
            decoder: StreamDecoder::new(),
            buffer: Buffer::default(),
            position: 0,
        })
    }

    /// The next batch; nothing at the end.
    fn next(&mut self, file: &OpenFile) -> Result<Option<RecordBatch>, Error> {
        loop {
            let (decoder, buffer) = (&mut self.decoder, &mut self.buffer);
            if let Some(batch) = guarded(file, || decoder.decode(buffer))? {
                return Ok(Some(batch));
            }
            let mut chunk = Vec::new();
            let mut input = (&mut self.stream).take(CHUNK_BYTES as u64);
            input
                .read_to_end(&mut chunk)
                .map_err(|error| file.read_error(&error))?;
            if chunk.is_empty() {
                guarded(file, || self.decoder.finish())?;
                if self.decoder.schema().is_none() {
                    return Err(file.error("expected an Arrow stream, found an empty one"));
                }
                return Ok(None);
            }
            self.position += chunk.len() as u64;
            self.buffer = Buffer::from(chunk);
        }
    }
}

/// The stream in a file.
fn within_file(
    mut input: impl Read + Seek + Send + 'static,
    file: &OpenFile,
) -> Result<Stream, Error> {
    let mut find = || {
        let len_bytes = input.seek(SeekFrom::End(0))?;
        let mut end = [0; END_BYTES as usize];
        let Some(end_start) = len_bytes.checked_sub(END_BYTES) else {
            return Ok(None);
        };
        input.seek(SeekFrom::Start(end_start))?;
        input.read_exact(&mut end)?;
        input.seek(SeekFrom::Start(0))?;
        let mut start = Vec::new();
        let max_start_bytes = (MAX_START_BYTES + ALIGN_BYTES) as u64;
        input
            .by_ref()
            .take(max_start_bytes)
            .read_to_end(&mut start)?;
        let mut words = start.chunks(ALIGN_BYTES).skip(1);
        let num_zeros = words.position(|word| word.iter().any(|&byte| byte != 0));
        let start_bytes = (ALIGN_BYTES * (1 + num_zeros.unwrap_or(0))) as u64;
        input.seek(SeekFrom::Start(start_bytes))?;
        let [a, b, c, d, magic @ ..] = end;
        let footer_bytes = u64::from(u32::from_le_bytes([a, b, c, d]));
        let stream_bytes = end_start
            .checked_sub(start_bytes)
            .and_then(|len| len.checked_sub(footer_bytes));
        Ok(stream_bytes.filter(|_| magic == *MAGIC))
    };
    let found = find().map_err(|error: io::Error| file.read_error(&error))?;
    let stream_bytes = found.ok_or_else(|| {
        file.error("expected the footer of an Arrow file, found other bytes: the file was cut off")
    })?;
    Ok(Box::new(input.take(stream_bytes)))
}

struct FileBatches {
    batches: Batches,
    /// The places of the columns, once the schema is known.
    columns: Option<Vec<usize>>,
    /// What is left of a record batch.
    rest: Option<RecordBatch>,
    options: ColumnarOptions,
    file: OpenFile,
    /// How many rows were handed out.
    num_rows: u64,
    has_ended: bool,
}

impl ReadElements for FileBatches {
    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if self.has_ended {
            return None;
        }
        let read = self.read(ctx);
        if let Err(error) = read {
            self.has_ended = true;
            let (row, position) = (self.num_rows, self.batches.position);
            let note = format!(" (after row {row}, before byte {position} of the stream)");
            return Some(Err(error.with_note(note)));
        }
        let (batch, columns) = match (self.rest.take(), &self.columns) {
            (Some(batch), Some(columns)) => (batch, columns),
            _ => return None,
        };
        let batch_size = self.options.batch_size.unwrap_or(NUM_ROWS_AT_ONCE);
        let num_rows = (batch.num_rows() as u64).min(batch_size) as usize;
        let head = batch.slice(0, num_rows);
        if num_rows < batch.num_rows() {
            self.rest = Some(batch.slice(num_rows, batch.num_rows() - num_rows));
        }
        let first_row = self.num_rows;
        self.num_rows += num_rows as u64;
        let nulls = self.options.nulls;
        Some(element(
            &head,
            columns,
            nulls,
            |row| first_row + row,
            &self.file,
            ctx.allocator(),
        ))
    }
}

impl FileBatches {
    /// Makes sure that there is a batch with rows, unless the file has ended.
    fn read(&mut self, _ctx: &ExecutionContext) -> Result<(), Error> {
        while self.rest.is_none() {
            let Some(batch) = self.batches.next(&self.file)? else {
                return Ok(());
            };
            if self.columns.is_none() {
                self.columns = Some(positions(&batch.schema(), &self.options, &self.file)?);
            }
            self.rest = Some(batch).filter(|batch| batch.num_rows() > 0);
        }
        Ok(())
    }
}

pub(super) fn summarize(file: &OpenFile) -> Result<ColumnarSummary, Error> {
    let mut batches = Batches::open(file)?;
    let mut num_rows = 0;
    while let Some(batch) = batches.next(file)? {
        num_rows += batch.num_rows() as u64;
    }
    let schema = batches.decoder.schema();
    let fields = schema.iter().flat_map(|schema| schema.fields().iter());
    Ok(ColumnarSummary {
        columns: fields
            .map(|field| (field.name().clone(), field.data_type().to_string()))
            .collect(),
        num_rows: Some(num_rows),
        num_row_groups: None,
    })
}
