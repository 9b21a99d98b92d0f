//! File formats of input pipelines.
//!
//! | module | contents |
//! |---|---|
//! | [`tfrecord`] | TFRecord: strings of bytes with checksums |
//! | [`text`] | lines of text |
//! | [`example`] | `tf.Example` and `tf.SequenceExample`: named values in records |
//! | [`mod@csv`] | comma-separated values (feature `csv`) |
//! | [`fixed_length`] | records of a fixed length |
//! | [`image_folder`] | images in folders that are named after their labels |
//! | [`tar`] | archives of samples (feature `tar`) |
//! | [`tensor_files`] | BTF and npy files; with the feature `formats`, npz and safetensors files |
//! | [`columnar`] | Parquet files and Arrow IPC files and streams (features `parquet` and `arrow`) |
//! | [`dataset_folder`] | folders of the library `datasets` (features `parquet` and `arrow`) |
//! | [`files`] | the files to read: names, folders and patterns; file systems; compression |
//! | [`schema`] | the columns of a file |
//! | [`write`](mod@write) | writers of files of columns |
//! | [`table`] | files of rows in any format |
//! | [`read_ahead`] | datasets of elements that the blocking pool reads ahead |
//! | [`policy`] | what happens after an error |
//! | [`cache`] | elements that are kept in files |
//!
//! Each format has a dataset, and a reader over any stream of bytes that does not depend on
//! pipelines. No file can make a reader panic. The memory that a file takes is bounded by a small
//! multiple of its size, with these exceptions, where a few bytes may stand for many: a record of a
//! compressed file, a line or a row of text, a page of a Parquet file (256 MiB each), and a column
//! with a dictionary (1 GiB a batch). Errors name the file, the record and the byte.
//!
//! A format whose feature is off is not silently absent: its functions exist, and return an error
//! that names the feature.
#![forbid(unsafe_code)]

pub mod files;

pub mod policy;

pub mod schema;

pub mod read_ahead;

pub mod tfrecord;

pub mod text;

pub mod example;

pub mod csv;

pub mod fixed_length;

pub mod image_folder;

pub mod tar;

pub mod tensor_files;

pub mod columnar;

pub mod dataset_folder;

pub mod write;

pub mod table;

pub mod cache;

mod column;

#[cfg(feature = "csv")]
mod decimal;

#[cfg(feature = "csv")]
mod swar;

mod feature;
