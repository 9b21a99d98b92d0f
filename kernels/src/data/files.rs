//! Datasets of the contents of files.
//!
//! The operand is the name of a file, that of a folder, or a pattern such as `train-*.csv`;
//! [`tfrt_readers::files::Files`] resolves it to files. They are read one after another, ahead of
//! their use, and decompressed according to `compression`: `auto` (the default), `none`, `gzip`,
//! `zlib` or `zstd`. `on_error` determines the effect of an error: `fail` (the default) puts the
//! error in the place of its element, `stop` ends the sequence after it, and `skip(N)` skips up to
//! `N` errors and logs their number. With a `batch_size` of CSV rows or examples, the error of a
//! row precedes the batch that lacks the row, unless it ends the sequence: then the rows in front
//! of it are the last batch. An error in a Parquet or Arrow file takes the place of its whole
//! batch.

use std::str::FromStr;

use tfrt::data::{Dataset, require_positive};
use tfrt::prelude::*;
use tfrt_readers::columnar::{ColumnarFormat, ColumnarOptions};
use tfrt_readers::csv::CsvOptions;
use tfrt_readers::dataset_folder::DatasetFolderOptions;
use tfrt_readers::example::{SequenceSchema, parse_examples, parse_sequence_examples};
use tfrt_readers::fixed_length::FixedLengthOptions;
use tfrt_readers::image_folder::ImageFolderOptions;
use tfrt_readers::schema::Schema;
use tfrt_readers::tar::TarOptions;
use tfrt_readers::tensor_files::{TensorFileOptions, TensorFormat};
use tfrt_readers::text::{TextLineOptions, list_files_dataset as names_of_files};
use tfrt_readers::tfrecord::TfRecordOptions;

use super::op_verifiers::verify_dataset;

/// Returns the value of an attribute, or its default.
fn parsed<T: FromStr<Err = Error> + Default>(text: Option<&str>) -> Result<T> {
    text.map_or_else(|| Ok(T::default()), str::parse)
}

/// Returns a number of rows.
fn batch_size(rows: Option<i64>) -> Result<Option<u64>> {
    let size = |rows| require_positive("batch_size", rows).map(i64::unsigned_abs);
    rows.map(size).transpose()
}

/// Returns the byte that an attribute consists of.
fn one_byte(name: &str, text: Option<&str>) -> Result<Option<u8>> {
    match text.map(str::as_bytes) {
        None => Ok(None),
        Some(&[byte]) => Ok(Some(byte)),
        Some(_) => {
            let message = format!("expected a {name} of one byte");
            Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
        }
    }
}

/// Names separated by commas.
pub(super) fn names(list: Option<&str>) -> Option<Vec<String>> {
    list.map(|list| list.split(',').map(|name| name.trim().to_owned()).collect())
}

/// Creates a dataset of the records of TFRecord files, each a string. `verify` selects the
/// checksums to compare: `all`, `header` or `none`.
///
/// # Errors
/// Draws fail with `failed to open file P due to error: E`,
/// `failed to read file P due to error: E`, `No file system is found for the given scheme`,
/// `data corruption at position N` and `truncated record at position N`.
#[tfrt_kernel(
    "tfrt_data.tf_record_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn tf_record_dataset(
    path: &str,
    #[attr] compression: Option<&str>,
    #[attr] verify: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    record_options(compression, verify, on_error)?.dataset(path)
}

/// Creates a dataset of the features of the records of TFRecord files, each of which is a
/// `tf.Example`: one component for each column of `schema`, as for `parse_example_dataset`. Records
/// are parsed while they are read, so errors name the record and its file, and `on_error` applies
/// to them, too. With `batch_size`, elements are tensors with a row for each of as many examples;
/// the last batch of a file may have fewer.
///
/// # Errors
/// If the schema is wrong, or has columns with any number of values and there is a `batch_size`.
/// Draws fail like those of `tf_record_dataset`, or with the feature that does not match the
/// schema.
#[tfrt_kernel(
    "tfrt_data.example_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn example_dataset(
    path: &str,
    #[attr] schema: &str,
    #[attr("batch_size")] rows: Option<i64>,
    #[attr] compression: Option<&str>,
    #[attr] verify: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let options = record_options(compression, verify, on_error)?;
    match batch_size(rows)? {
        Some(rows) => options.example_batches(path, schema.parse()?, rows),
        None => options.examples(path, schema.parse()?),
    }
}

fn record_options(
    compression: Option<&str>,
    verify: Option<&str>,
    on_error: Option<&str>,
) -> Result<TfRecordOptions> {
    Ok(TfRecordOptions {
        compression: parsed(compression)?,
        verify: parsed(verify)?,
        on_error: parsed(on_error)?,
        // The program that an error is reported to names the file.
        names_file: false,
        ..TfRecordOptions::default()
    })
}

/// Creates a dataset of the lines of text files, each a string.
///
/// # Errors
/// Draws fail if a file cannot be read, or a line is longer than 256 MiB.
#[tfrt_kernel(
    "tfrt_data.text_line_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn text_line_dataset(
    path: &str,
    #[attr] compression: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let options = TextLineOptions {
        compression: parsed(compression)?,
        on_error: parsed(on_error)?,
        ..TextLineOptions::default()
    };
    options.dataset(path)
}

/// Creates a dataset of the records of files in which all records have `record_bytes` bytes, each a
/// string. A header of `header_bytes` and a footer of `footer_bytes` are skipped; the default is 0.
///
/// # Errors
/// If `record_bytes` is not positive, or a length is negative or above 256 MiB. Draws fail if a
/// file cannot be read, or does not have a whole number of records.
#[tfrt_kernel(
    "tfrt_data.fixed_length_record_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn fixed_length_record_dataset(
    path: &str,
    #[attr] record_bytes: i64,
    #[attr] header_bytes: Option<i64>,
    #[attr] footer_bytes: Option<i64>,
    #[attr] compression: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let length = |name: &str, bytes: i64| {
        u64::try_from(bytes).map_err(|_| {
            let message = format!("{name} must not be negative, found {bytes}");
            Error::new(message).with_code(ErrorCode::InvalidArgument)
        })
    };
    let options = FixedLengthOptions {
        header_bytes: length("header_bytes", header_bytes.unwrap_or(0))?,
        footer_bytes: length("footer_bytes", footer_bytes.unwrap_or(0))?,
        compression: parsed(compression)?,
        on_error: parsed(on_error)?,
        ..FixedLengthOptions::new(length("record_bytes", record_bytes)?)
    };
    options.dataset(path)
}

/// Creates a dataset of the samples of tar archives, in the layout of WebDataset: the key of a
/// sample, then the contents of its file for each of `extensions`, such as `"jpg|png, cls"`, all
/// strings. Without `extensions`, each file is an element: its path and its contents.
///
/// # Errors
/// If an extension is requested twice, or the library was built without the feature `tar`. Draws
/// fail if an archive is damaged, with the byte of the damage, and if a sample lacks a file or
/// takes more than 256 MiB.
#[tfrt_kernel(
    "tfrt_data.tar_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn tar_dataset(
    path: &str,
    #[attr] extensions: Option<&str>,
    #[attr] compression: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let options = TarOptions {
        extensions: names(extensions).unwrap_or_default(),
        compression: parsed(compression)?,
        on_error: parsed(on_error)?,
        ..TarOptions::default()
    };
    options.dataset(path)
}

/// Creates a dataset of the images of a folder whose subfolders are named after labels: the
/// contents of a file, a string, and the place of its subfolder in the order of the names, of type
/// i64. `extensions` names the files to read; the default is `"jpg, jpeg, png, webp"`.
///
/// # Errors
/// Draws fail if the folder or a file cannot be read.
#[tfrt_kernel(
    "tfrt_data.image_folder_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn image_folder_dataset(
    path: &str,
    #[attr] extensions: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let mut options = ImageFolderOptions {
        on_error: parsed(on_error)?,
        ..ImageFolderOptions::default()
    };
    if let Some(extensions) = names(extensions) {
        options.extensions = extensions;
    }
    options.dataset(path)
}

/// Creates a dataset of the paths of the files that match a name, in order, each a string.
///
/// # Errors
/// Draws fail with ``no file matches `P` ``.
#[tfrt_kernel(
    "tfrt_data.list_files_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn list_files_dataset(pattern: &str) -> Result<Dataset> {
    names_of_files(pattern)
}

/// Creates a dataset of the features of records, each of which is a `tf.Example`: one component for
/// each column of the schema, such as `"image: str, pixels: f32 [28, 28], label: i64 = -1, ids: i64
/// [?], weight: f32?"`. A column with `?` may be missing, and is followed by a component of type i1
/// that is true if it is present.
///
/// # Errors
/// If the schema is wrong. Elements whose features do not match the schema are errors.
#[tfrt_kernel(
    "tfrt_data.parse_example_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn parse_example_dataset(input: &Dataset, #[attr] schema: &str) -> Result<Dataset> {
    parse_examples(input, schema.parse()?)
}

/// Creates a dataset of the features of records, each of which is a `tf.SequenceExample`: those of
/// the schema `context`, then those of the schema `sequences`, which are tensors with a row for
/// each step.
///
/// # Errors
/// If a schema is wrong. Elements whose features do not match the schemas are errors.
#[tfrt_kernel(
    "tfrt_data.parse_sequence_example_dataset",
    pure,
    chain = none,
    results(dataset),
    format = "operands attr-dict",
    verify = verify_dataset
)]
fn parse_sequence_example_dataset(
    input: &Dataset,
    #[attr] context: Option<&str>,
    #[attr] sequences: Option<&str>,
) -> Result<Dataset> {
    let schema = |text: Option<&str>| text.map(str::parse::<Schema>).transpose();
    parse_sequence_examples(
        input,
        SequenceSchema::new(schema(context)?, schema(sequences)?)?,
    )
}

/// Creates a dataset of the rows of CSV files, with one component for each column of the schema,
/// such as `"price: f32 = nan, name: str"`. Without a schema, the columns are inferred from the
/// first rows. `header` tells whether the first row contains the names of the columns, which is the
/// default; `delimiter` separates fields. `quote` encloses fields that contain delimiters: `"` by
/// default, and none if it is empty. Lines that begin with `comment` are left out. If `lossy` is
/// true, bytes that are not UTF-8 are replaced instead of being an error. With `batch_size`,
/// elements are tensors of as many rows.
///
/// # Errors
/// If an attribute is wrong. A row that does not match the schema is an error with its line and
/// column.
#[tfrt_kernel(
    "tfrt_data.csv_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "attributes of the kernel")]
fn csv_dataset(
    path: &str,
    #[attr] schema: Option<&str>,
    #[attr] header: Option<bool>,
    #[attr] delimiter: Option<&str>,
    #[attr] quote: Option<&str>,
    #[attr] comment: Option<&str>,
    #[attr] lossy: Option<bool>,
    #[attr("batch_size")] rows: Option<i64>,
    #[attr] compression: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let options = CsvOptions {
        schema: schema.map(str::parse).transpose()?,
        has_header: header.unwrap_or(true),
        delimiter: one_byte("delimiter", delimiter)?.unwrap_or(b','),
        quote: match quote {
            Some("") => None,
            quote => Some(one_byte("quote", quote)?.unwrap_or(b'"')),
        },
        comment: one_byte("comment", comment)?,
        is_lossy: lossy.unwrap_or(false),
        batch_size: batch_size(rows)?,
        compression: parsed(compression)?,
        on_error: parsed(on_error)?,
    };
    options.dataset(path)
}

/// Creates a dataset of the tensors in files: each file is one element, with a component for each
/// tensor, or for each of those that `tensors` names, separated by commas.
/// `tfrt_data.unbatch_dataset` turns each row into an element.
///
/// # Errors
/// If the library was built without the format. Draws fail if a file is damaged, with the location
/// of the damage.
#[tfrt_kernel(
    "tfrt_data.{FORMAT}_dataset",
    FORMAT = [0 as "btf", 1 as "npy", 2 as "npz", 3 as "safetensors"],
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn tensor_file_dataset<const FORMAT: usize>(
    path: &str,
    #[attr] tensors: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    const FORMATS: [TensorFormat; 4] = [
        TensorFormat::Btf,
        TensorFormat::Npy,
        TensorFormat::Npz,
        TensorFormat::Safetensors,
    ];
    let options = TensorFileOptions {
        names: names(tensors),
        format: Some(FORMATS[FORMAT]),
        on_error: parsed(on_error)?,
    };
    options.dataset(path)
}

/// Creates a dataset of the rows of Parquet files, or of Arrow files or streams, with one component
/// for each column, or for each of those that `columns` names, separated by commas. `nulls`
/// determines the treatment of missing values: `error` (the default), `default` (NaN, zero or the
/// empty string), or `mask` (like `default`, and each column is followed by one of type i1 that
/// marks the present values). With `batch_size`, elements are tensors of at most as many rows.
///
/// `conditions` on columns, such as `"price >= 3.5, kind = 'red'"`, leave out the row groups of
/// Parquet files that have no row that satisfies them, according to the statistics in the file. All
/// rows of the other row groups are elements.
///
/// # Errors
/// If an attribute is wrong, or the library was built without the format. Draws fail if a file is
/// damaged or has no such column.
#[tfrt_kernel(
    "tfrt_data.{FORMAT}_dataset",
    FORMAT = [0 as "parquet", 1 as "arrow_ipc"],
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn columnar_dataset<const FORMAT: usize>(
    path: &str,
    #[attr] columns: Option<&str>,
    #[attr] conditions: Option<&str>,
    #[attr("batch_size")] rows: Option<i64>,
    #[attr] nulls: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    const FORMATS: [ColumnarFormat; 2] = [ColumnarFormat::Parquet, ColumnarFormat::Arrow];
    let options = ColumnarOptions {
        columns: names(columns),
        batch_size: batch_size(rows)?,
        nulls: parsed(nulls)?,
        row_groups: None,
        conditions: conditions.map(str::parse).transpose()?,
        on_error: parsed(on_error)?,
    };
    options.dataset(FORMATS[FORMAT], path)
}

/// Creates a dataset of the rows of a split in a folder of the library `datasets` (Hugging Face):
/// `corpus/train`, as `save_to_disk` writes it or as it is downloaded. The attributes are those of
/// `parquet_dataset`. Images and sounds are the bytes of their files, strings.
///
/// # Errors
/// If an attribute is wrong, or the library was built without the formats. Draws fail if a file is
/// damaged or has no such column.
#[tfrt_kernel(
    "tfrt_data.dataset_folder_dataset",
    chain = none,
    results(dataset),
    format = "operands attr-dict"
)]
fn dataset_folder_dataset(
    path: &str,
    #[attr] columns: Option<&str>,
    #[attr("batch_size")] rows: Option<i64>,
    #[attr] nulls: Option<&str>,
    #[attr] on_error: Option<&str>,
) -> Result<Dataset> {
    let options = DatasetFolderOptions {
        columns: names(columns),
        batch_size: batch_size(rows)?,
        nulls: parsed(nulls)?,
        on_error: parsed(on_error)?,
    };
    options.dataset(path)
}
