//! Parquet files.

use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{ConvertedType, LogicalType, SortOrder};
use parquet::file::metadata::{ColumnChunkMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use parquet::file::statistics::Statistics;
use tfrt_data::StageDescription;
use tfrt_host::ExecutionContext;
use tfrt_support::Error;

use super::batch::{NUM_ROWS_AT_ONCE, element, guarded, positions};
use super::conditions::{Bounds, Condition, Conditions};
use super::page_limit::LimitedPages;
use super::{ColumnarOptions, ColumnarSummary, Nulls};
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
        }
        if let Some(conditions) = &self.options.conditions {
            let is_refused = self.options.nulls == Nulls::Error;
            let all = builder.metadata().row_groups();
            groups = select_groups(all, &groups, conditions, is_refused, &file)?;
        }
        if groups.len() < builder.metadata().num_row_groups() {
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

/// Returns the row groups that may have rows that satisfy the conditions. A missing value is an
/// error of the reader if `is_refused` is true; otherwise it becomes one that the statistics do not
/// cover.
fn select_groups(
    all: &[RowGroupMetaData],
    groups: &[usize],
    conditions: &Conditions,
    is_refused: bool,
    file: &OpenFile,
) -> Result<Vec<usize>, Error> {
    let mut selected = Vec::new();
    for &group in groups {
        let mut may_hold = true;
        for condition in conditions.iter() {
            may_hold &= may_hold_in(&all[group], condition, is_refused, file)?;
        }
        selected.extend(may_hold.then_some(group));
    }
    Ok(selected)
}

/// Returns `true` unless the statistics of a row group tell that no row satisfies the condition.
fn may_hold_in(
    group: &RowGroupMetaData,
    condition: &Condition,
    is_refused: bool,
    file: &OpenFile,
) -> Result<bool, Error> {
    let name = &condition.column;
    let is_wanted = |column: &&ColumnChunkMetaData| column.column_path().string() == *name;
    let Some(column) = group.columns().iter().find(is_wanted) else {
        let names: Vec<String> = group
            .columns()
            .iter()
            .map(|column| column.column_path().string())
            .collect();
        let found = names.join("`, `");
        return Err(file.error(format_args!(
            "conditions: expected a column `{name}`, found `{found}`"
        )));
    };
    let Some(bounds) = bounds_of(column) else {
        return Ok(true);
    };
    let is_possible = condition.may_hold(bounds).ok_or_else(|| {
        let (expected, found) = (condition.kind(), column.column_type());
        file.error(format_args!(
            "conditions: column `{name}` is compared with {expected}, and has values of type {found}"
        ))
    })?;
    let num_missing = column.statistics().and_then(Statistics::null_count_opt);
    Ok(is_possible || (!is_refused && num_missing != Some(0)))
}

/// Returns the least and the greatest value of a column in a row group, if the file has them, and
/// in the order of the values.
fn bounds_of(column: &ColumnChunkMetaData) -> Option<Bounds<'_>> {
    let description = column.column_descr();
    let is_decimal = description.converted_type() == ConvertedType::DECIMAL
        || matches!(
            description.logical_type_ref(),
            Some(LogicalType::Decimal(_))
        );
    let is_unsigned = match description.sort_order() {
        SortOrder::SIGNED | SortOrder::TOTAL_ORDER => false,
        SortOrder::UNSIGNED => true,
        _ => return None,
    };
    let statistics = column.statistics()?;
    // Old files compare unsigned numbers and strings as signed ones.
    if is_decimal || (is_unsigned && statistics.is_min_max_deprecated()) {
        return None;
    }
    Some(match statistics {
        Statistics::Boolean(of) => Bounds::Truths(*of.min_opt()?, *of.max_opt()?),
        Statistics::Int32(of) => {
            let (least, greatest) = (*of.min_opt()?, *of.max_opt()?);
            match is_unsigned {
                true => Bounds::Integers((least as u32).into(), (greatest as u32).into()),
                false => Bounds::Integers(least.into(), greatest.into()),
            }
        }
        Statistics::Int64(of) => {
            let (least, greatest) = (*of.min_opt()?, *of.max_opt()?);
            match is_unsigned {
                true => Bounds::Integers((least as u64).into(), (greatest as u64).into()),
                false => Bounds::Integers(least.into(), greatest.into()),
            }
        }
        Statistics::Float(of) => {
            Bounds::Floats((*of.min_opt()?).into(), (*of.max_opt()?).into(), true)
        }
        Statistics::Double(of) => Bounds::Floats(*of.min_opt()?, *of.max_opt()?, false),
        Statistics::ByteArray(of) if is_unsigned => {
            Bounds::Strings(of.min_bytes_opt()?, of.max_bytes_opt()?)
        }
        _ => return None,
    })
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
