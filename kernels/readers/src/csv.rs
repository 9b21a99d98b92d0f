//! Comma-separated values.
//!
//! A file has rows, and a row has one field for each column. The first row names the columns,
//! unless the options say otherwise. What the columns are, a [`Schema`] says; without one, the
//! first rows are looked at: a column of whole numbers is `i64`, one of other numbers `f64`, and
//! any other `str`. In the latter two, a missing value is `NaN` or the empty string; a column of
//! whole numbers that lacks values is `f64`.
//!
//! Several threads parse a file up to its first quote, even one in a comment, each a chunk of 256
//! KiB at a time. The elements, their order and the errors do not depend on it. The chunks that are
//! held are as many as there are threads, at most 16.
//!
//! Without the feature `csv`, [`CsvOptions::dataset`] returns an error.

#[cfg(feature = "csv")]
mod infer;

#[cfg(feature = "csv")]
mod input;

#[cfg(feature = "csv")]
mod filling;

#[cfg(feature = "csv")]
mod fields;

#[cfg(feature = "csv")]
mod chunks;

#[cfg(feature = "csv")]
mod read;

#[cfg(feature = "csv")]
mod write;

use tfrt_data::{Dataset, require_positive};
use tfrt_support::Error;

use crate::files::{Compression, Files};
use crate::policy::OnError;
use crate::schema::Schema;

#[cfg(feature = "csv")]
pub use infer::infer_schema;
#[cfg(feature = "csv")]
pub use write::CsvWriter;

/// How rows are read.
///
/// ```
/// # #[cfg(feature = "csv")] {
/// use tfrt_readers::csv::CsvOptions;
///
/// let schema = "price: f32, name: str".parse()?;
/// let options = CsvOptions { schema: Some(schema), batch_size: Some(32), ..CsvOptions::default() };
/// assert_eq!(options.dataset("prices.csv")?.name(), "csv");
/// # }
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct CsvOptions {
    /// What the columns are. With a header, these are looked for by name, and others are left out;
    /// without one, they are the first ones.
    pub schema: Option<Schema>,
    /// Whether the first row names the columns.
    pub has_header: bool,
    /// What stands between fields.
    pub delimiter: u8,
    /// What stands around a field with delimiters, quotes (twice) or ends of lines in it. Nothing:
    /// quotes are like other characters.
    pub quote: Option<u8>,
    /// What a line begins with that is left out.
    pub comment: Option<u8>,
    /// Whether bytes that are not UTF-8 are replaced. Otherwise they are an error.
    pub is_lossy: bool,
    /// So many rows are one element, whose components are tensors; the last one of a file may have
    /// fewer. An error stands in front of the element that lacks its row; if it ends the pass, the
    /// rows in front of it are delivered first, as the last element. Where workers share the
    /// records of a file, as [`Dataset::auto_shard`] may let them, these rows are a part of the
    /// next element instead, and are lost if the pass of the worker of that element has ended.
    /// Without a batch size, every row is an element.
    pub batch_size: Option<u64>,
    /// How the files are compressed.
    pub compression: Compression,
    /// What follows an error.
    pub on_error: OnError,
}

impl Default for CsvOptions {
    fn default() -> Self {
        Self {
            schema: None,
            has_header: true,
            delimiter: b',',
            quote: Some(b'"'),
            comment: None,
            is_lossy: false,
            batch_size: None,
            compression: Compression::Auto,
            on_error: OnError::Fail,
        }
    }
}

/// A dataset of the rows of files that have a header, each with one component for each column.
///
/// # Errors
/// If the feature `csv` is off. What is wrong with a file shows when it is read.
pub fn csv_dataset(files: impl Into<Files>) -> Result<Dataset, Error> {
    CsvOptions::default().dataset(files)
}

impl CsvOptions {
    /// The dataset of the rows of files.
    ///
    /// # Errors
    /// If the batch size is zero, a column of the schema is not of single values, or the feature
    /// `csv` is off. What is wrong with a file shows when it is read.
    pub fn dataset(&self, files: impl Into<Files>) -> Result<Dataset, Error> {
        if let Some(batch_size) = self.batch_size {
            require_positive("batch_size", batch_size)?;
        }
        if let Some(schema) = &self.schema {
            schema.expect_scalars("CSV files")?;
        }
        self.dataset_of(&files.into())
    }

    #[cfg(feature = "csv")]
    fn dataset_of(&self, files: &Files) -> Result<Dataset, Error> {
        let rows = crate::read_ahead::dataset(read::Rows::new(self, files), files, self.on_error)?;
        match self.batch_size {
            Some(_) => Ok(rows),
            None => rows.unbatch(),
        }
    }

    #[cfg(not(feature = "csv"))]
    fn dataset_of(&self, _files: &Files) -> Result<Dataset, Error> {
        Err(crate::feature::missing("CSV files", "csv"))
    }
}
