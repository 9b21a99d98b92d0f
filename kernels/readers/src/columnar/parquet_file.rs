//! Parquet files.

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::file::reader::ChunkReader;
use tfrt_data::StageDescription;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::batch::{NUM_ROWS_AT_ONCE, element, guarded, positions};
use super::{ColumnarOptions, ColumnarSummary};
use crate::files::OpenFile;
use crate::read_ahead::{Element, Format, ReadElements};

#[derive(Debug)]
pub(super) struct ParquetFiles {
    options: ColumnarOptions,
}

impl ParquetFiles {
    pub(super) fn new(options: &ColumnarOptions) -> Self {
        Self {
            options: options.clone(),
        }
    }
}

impl Format for ParquetFiles {
    fn name(&self) -> &'static str {
        "parquet"
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("options", format_args!("{:?}", self.options));
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        match file.open_file()? {
            Some(local) => self.open_chunks(local, file),
            None => {
                let bytes = Bytes::from(file.read_whole()?);
                self.open_chunks(bytes, file)
            }
        }
    }
}

impl ParquetFiles {
    fn open_chunks<C: ChunkReader + 'static>(
        &self,
        chunks: C,
        file: OpenFile,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let builder = guarded(&file, || ParquetRecordBatchReaderBuilder::try_new(chunks))?;
        let wanted = positions(builder.schema(), &self.options, &file)?;
        let mask = ProjectionMask::roots(builder.parquet_schema(), wanted.iter().copied());
        // What is read has its columns in the order of the file.
        let mut in_file = wanted.clone();
        in_file.sort_unstable();
        in_file.dedup();
        let place = |column: &usize| in_file.binary_search(column).unwrap_or(0);
        let columns = wanted.iter().map(place).collect();
        let batch_size = self.options.batch_size.unwrap_or(NUM_ROWS_AT_ONCE);
        // The reader sets memory aside for so many rows.
        let num_rows = builder.metadata().file_metadata().num_rows().max(1);
        let batch_size = batch_size.min(num_rows as u64).min(1 << 20);
        let mut builder = builder
            .with_projection(mask)
            .with_batch_size(batch_size as usize);
        if let Some((num_shards, index)) = self.options.row_groups {
            let num_groups = builder.metadata().num_row_groups();
            let is_ours = |group: &usize| *group as u64 % num_shards == index;
            builder = builder.with_row_groups((0..num_groups).filter(is_ours).collect());
        }
        let reader = guarded(&file, || builder.build())?;
        Ok(Box::new(FileBatches {
            reader,
            columns,
            options: self.options.clone(),
            file,
            num_rows: 0,
            has_ended: false,
        }))
    }
}

struct FileBatches {
    reader: ParquetRecordBatchReader,
    columns: Vec<usize>,
    options: ColumnarOptions,
    file: OpenFile,
    /// How many rows were read.
    num_rows: u64,
    has_ended: bool,
}

impl ReadElements for FileBatches {
    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if self.has_ended {
            return None;
        }
        let read = guarded(&self.file, || self.reader.next().transpose());
        let batch = match read {
            Ok(batch) => batch?,
            Err(error) => {
                self.has_ended = true;
                let row = self.num_rows;
                return Some(Err(error.with_note(format_args!(" (behind row {row})"))));
            }
        };
        let first_row = self.num_rows;
        self.num_rows += batch.num_rows() as u64;
        Some(element(
            &batch,
            &self.columns,
            self.options.nulls,
            first_row,
            &self.file,
            ctx.allocator(),
        ))
    }
}

pub(super) fn summarize(file: &OpenFile) -> Result<ColumnarSummary, Error> {
    let bytes = Bytes::from(file.read_whole()?);
    let builder = guarded(file, || ParquetRecordBatchReaderBuilder::try_new(bytes))?;
    let columns = builder.schema().fields().iter();
    Ok(ColumnarSummary {
        columns: columns
            .map(|field| (field.name().clone(), field.data_type().to_string()))
            .collect(),
        num_rows: u64::try_from(builder.metadata().file_metadata().num_rows()).ok(),
        num_row_groups: Some(builder.metadata().num_row_groups() as u64),
    })
}
