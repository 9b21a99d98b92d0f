//! Parquet files.

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::ChunkReader;
use tfrt_data::StageDescription;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::batch::{NUM_ROWS_AT_ONCE, element, guarded, positions};
use super::page_limit::LimitedPages;
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
        let metadata = guarded(&file, || {
            ArrowReaderMetadata::load(&chunks, ArrowReaderOptions::default())
        })?;
        let builder =
            ParquetRecordBatchReaderBuilder::new_with_metadata(LimitedPages(chunks), metadata);
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
        let mut groups: Vec<usize> = (0..builder.metadata().num_row_groups()).collect();
        if let Some((num_shards, index)) = self.options.row_groups {
            let shard = |group: &usize| file.number().wrapping_add(*group as u64) % num_shards;
            groups.retain(|group| shard(group) == index);
            builder = builder.with_row_groups(groups.clone());
        }
        let runs = runs_of(builder.metadata().row_groups(), &groups);
        let reader = guarded(&file, || builder.build())?;
        Ok(Box::new(FileBatches {
            reader,
            columns,
            options: self.options.clone(),
            file,
            runs,
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
    /// Where the rows that are read are in the file.
    runs: Vec<Run>,
    /// How many rows were read.
    num_rows: u64,
    has_ended: bool,
}

/// Rows of a row group that is read.
struct Run {
    /// The number of the first row among those that are read.
    first: u64,
    /// Its number in the file.
    first_in_file: u64,
    /// The number of the row group.
    group: usize,
    /// Where the row group begins in the file.
    position: u64,
}

/// The runs of row groups, whose numbers are in order.
fn runs_of(all: &[RowGroupMetaData], groups: &[usize]) -> Vec<Run> {
    let (mut runs, mut first, mut first_in_file) = (Vec::new(), 0, 0);
    for (number, group) in all.iter().enumerate() {
        let num_rows = u64::try_from(group.num_rows()).unwrap_or(0);
        if groups.binary_search(&number).is_ok() {
            let columns = group.columns().iter();
            // Where the file tells nonsense, the start of the file stands for it.
            let position = columns.map(|column| {
                let first = column.dictionary_page_offset();
                let first = first.unwrap_or_else(|| column.data_page_offset());
                u64::try_from(first).unwrap_or(0)
            });
            let position = position.min();
            runs.push(Run {
                first,
                first_in_file,
                group: number,
                position: position.unwrap_or(0),
            });
            first += num_rows;
        }
        first_in_file += num_rows;
    }
    runs
}

impl FileBatches {
    /// The number in the file of a row that is read.
    fn row_in_file(&self, row: u64) -> u64 {
        match self.run_of(row) {
            Some(run) => run.first_in_file.wrapping_add(row - run.first),
            None => row,
        }
    }

    /// The row group of a row that is read.
    fn run_of(&self, row: u64) -> Option<&Run> {
        let next = self.runs.partition_point(|run| run.first <= row);
        self.runs.get(next.checked_sub(1)?)
    }
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
                let row = self.row_in_file(self.num_rows);
                let note = match self.run_of(self.num_rows) {
                    Some(Run {
                        group, position, ..
                    }) => format!(" (after row {row}, in row group {group} at byte {position})"),
                    None => format!(" (after row {row})"),
                };
                return Some(Err(error.with_note(note)));
            }
        };
        let first_row = self.num_rows;
        self.num_rows += batch.num_rows() as u64;
        Some(element(
            &batch,
            &self.columns,
            self.options.nulls,
            |row| self.row_in_file(first_row + row),
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
