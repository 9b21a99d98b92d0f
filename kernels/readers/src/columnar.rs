//! Columnar files: Parquet, and the files and streams of Arrow.
//!
//! Columns of numbers, truth values and strings become tensors, as they are in memory where that is
//! possible: the tensor keeps Arrow's memory. Dates and times become the integers that stand for
//! them, dictionaries are decoded, and lists of a fixed size become tensors of rank 2. Other nested
//! columns are refused by name.
//!
//! The features `parquet` and `arrow` are off by default, since the crates take long to build.
//! Without them, the functions here return errors that name them.

mod conditions;

#[cfg(feature = "columnar")]
mod batch;

#[cfg(feature = "parquet")]
mod parquet_file;

#[cfg(feature = "parquet")]
mod page_limit;

#[cfg(feature = "arrow")]
mod arrow_stream;

#[cfg(feature = "columnar")]
mod write;

use std::fmt;
use std::io::Write;
use std::str::FromStr;

use tfrt_data::{Dataset, require_positive};
use tfrt_support::{DType, Error, ErrorCode};

use crate::files::Files;
use crate::policy::OnError;
use crate::write::WriteColumns;

pub use conditions::Conditions;

/// A format of columnar files, whether or not its feature is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnarFormat {
    /// Parquet; needs the feature `parquet`.
    Parquet,
    /// Arrow IPC, a file or a stream; needs the feature `arrow`.
    Arrow,
}

impl ColumnarFormat {
    /// What people call datasets of the format.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Arrow => "arrow_ipc",
        }
    }

    /// The error of a format whose feature is off.
    #[allow(dead_code, reason = "used unless every feature is on")]
    fn missing(self) -> Error {
        match self {
            Self::Parquet => crate::feature::missing("Parquet files", "parquet"),
            Self::Arrow => crate::feature::missing("Arrow files", "arrow"),
        }
    }
}

/// What becomes of values that are missing.
///
/// ```
/// use tfrt_readers::columnar::Nulls;
///
/// assert_eq!("mask".parse::<Nulls>()?, Nulls::Mask);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Nulls {
    /// They are an error, which names the column and the row.
    #[default]
    Error,
    /// NaN, zero, false or the empty string.
    Default,
    /// The same, and each column is followed by one of type `i1` that says which values were there.
    Mask,
}

impl FromStr for Nulls {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "error" => Ok(Self::Error),
            "default" => Ok(Self::Default),
            "mask" => Ok(Self::Mask),
            _ => {
                let message = format!("expected `error`, `default` or `mask`, found `{text}`");
                Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
            }
        }
    }
}

/// How columnar files are read.
///
/// ```
/// use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions};
///
/// let options = ColumnarOptions { columns: Some(vec!["price".into()]), ..ColumnarOptions::default() };
/// match options.dataset(ColumnarFormat::Parquet, "prices.parquet") {
///     Ok(rows) => assert_eq!(rows.name(), "unbatch"),
///     Err(error) => assert_eq!(error.message(), "Parquet files need the cargo feature `parquet` of `tfrt-readers`"),
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ColumnarOptions {
    /// The columns that are read, in the order of the components; by default all of them, in the
    /// order of the file.
    pub columns: Option<Vec<String>>,
    /// So many rows at most are one element, whose components are tensors. Batches do not reach
    /// over the record batches of an Arrow file. An error takes the place of its whole batch,
    /// whatever the policy. Without a batch size, every row is an element.
    pub batch_size: Option<u64>,
    /// What becomes of values that are missing.
    pub nulls: Nulls,
    /// Of Parquet files, only part `.1` of `.0` parts, numbered from 0: the row groups for which
    /// the sum of the number of the group and the number of its file, divided by `.0`, leaves the
    /// remainder `.1`. So files with one row group each are shared out, too.
    pub row_groups: Option<(u64, u64)>,
    /// Of Parquet files, only the row groups that may have rows that satisfy these conditions,
    /// according to the statistics in the file. All rows of these row groups are elements: a
    /// `filter` above decides about each row.
    pub conditions: Option<Conditions>,
    /// What follows an error.
    pub on_error: OnError,
}

impl ColumnarOptions {
    /// The dataset of the rows of files.
    ///
    /// # Errors
    /// If a number is out of range, or the feature of the format is off. What is wrong with a file
    /// shows when it is read.
    pub fn dataset(
        &self,
        format: ColumnarFormat,
        files: impl Into<Files>,
    ) -> Result<Dataset, Error> {
        self.check()?;
        if self.conditions.is_some() && format != ColumnarFormat::Parquet {
            let message = format!(
                "conditions need the statistics of Parquet files, which `{}` files lack",
                format.name()
            );
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        }
        let rows = self.batches(format, &files.into())?;
        match self.batch_size {
            Some(_) => Ok(rows),
            None => rows.unbatch(),
        }
    }

    /// Checks the numbers.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if let Some(batch_size) = self.batch_size {
            require_positive("batch_size", batch_size)?;
        }
        if let Some((num_shards, index)) = self.row_groups {
            require_positive("num_shards", num_shards)?;
            if index >= num_shards {
                let max = num_shards - 1;
                let message = format!("index must be between 0 and {max}, not {index}");
                return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
            }
        }
        Ok(())
    }

    /// Opens a file.
    #[cfg(feature = "columnar")]
    pub(crate) fn open(
        &self,
        format: ColumnarFormat,
        file: crate::files::OpenFile,
        ctx: &tfrt_host::ExecutionContext,
    ) -> Result<Box<dyn crate::read_ahead::ReadElements>, Error> {
        use crate::read_ahead::Format as _;

        match format {
            #[cfg(feature = "parquet")]
            ColumnarFormat::Parquet => parquet_file::ParquetFiles::new(self).open(file, ctx),
            #[cfg(feature = "arrow")]
            ColumnarFormat::Arrow => arrow_stream::ArrowFiles::new(self).open(file, ctx),
            #[allow(unreachable_patterns, reason = "reached unless every feature is on")]
            format => {
                let _ = (file, ctx);
                Err(format.missing())
            }
        }
    }

    fn batches(&self, format: ColumnarFormat, files: &Files) -> Result<Dataset, Error> {
        match format {
            #[cfg(feature = "parquet")]
            ColumnarFormat::Parquet => {
                let format = parquet_file::ParquetFiles::new(self);
                crate::read_ahead::dataset(format, files, self.on_error)
            }
            #[cfg(feature = "arrow")]
            ColumnarFormat::Arrow => {
                let format = arrow_stream::ArrowFiles::new(self);
                crate::read_ahead::dataset(format, files, self.on_error)
            }
            #[allow(unreachable_patterns, reason = "reached unless every feature is on")]
            format => {
                let _ = files;
                Err(format.missing())
            }
        }
    }
}

/// What a columnar file says of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnarSummary {
    /// The names and types of the columns, as the format calls them.
    pub columns: Vec<(String, String)>,
    /// How many rows there are, if the file says so without being read.
    pub num_rows: Option<u64>,
    /// How many row groups there are, if the format has them.
    pub num_row_groups: Option<u64>,
}

/// What a file says of itself.
///
/// # Errors
/// If the file cannot be read, or the feature of the format is off.
pub fn summarize(
    format: ColumnarFormat,
    file: &crate::files::OpenFile,
) -> Result<ColumnarSummary, Error> {
    match format {
        #[cfg(feature = "parquet")]
        ColumnarFormat::Parquet => parquet_file::summarize(file),
        #[cfg(feature = "arrow")]
        ColumnarFormat::Arrow => arrow_stream::summarize(file),
        #[allow(unreachable_patterns, reason = "reached unless every feature is on")]
        format => {
            let _ = file;
            Err(format.missing())
        }
    }
}

/// A writer of a columnar file. The columns have these names, and elements of these types.
///
/// # Errors
/// If there can be no such column, the file cannot be written, or the feature of the format is off.
pub fn write_columns<W: Write + Send + fmt::Debug + 'static>(
    format: ColumnarFormat,
    output: W,
    columns: &[(String, DType)],
) -> Result<Box<dyn WriteColumns>, Error> {
    match format {
        #[cfg(feature = "parquet")]
        ColumnarFormat::Parquet => write::parquet(output, columns),
        #[cfg(feature = "arrow")]
        ColumnarFormat::Arrow => write::arrow(output, columns),
        #[allow(unreachable_patterns, reason = "reached unless every feature is on")]
        format => {
            let _ = (output, columns);
            Err(format.missing())
        }
    }
}
