//! File formats of input pipelines.
//!
//! | module | is about |
//! |---|---|
//! | [`tfrecord`] | TFRecord: strings of bytes with checksums |
//! | [`text`] | lines of text |
//! | [`example`] | `tf.Example` and `tf.SequenceExample`: named values in records |
//! | [`mod@csv`] | comma-separated values (feature `csv`) |
//! | [`tensor_files`] | BTF and npy files; with the feature `formats`, npz and safetensors files |
//! | [`columnar`] | Parquet files and Arrow IPC files and streams (features `parquet` and `arrow`) |
//! | [`files`] | which files are read: names, folders and patterns; file systems; compression |
//! | [`schema`] | what the columns of a file are |
//! | [`write`](mod@write) | files of columns that are written
//! | [`table`] | files of rows, whatever their format
//! | [`read_ahead`] | datasets of elements that the blocking pool reads ahead |
//! | [`policy`] | what follows an error |
//!
//! Each format has a reader over any stream of bytes, which knows nothing of pipelines, and a dataset.
//! No file can make a reader panic. The memory that a file takes is bounded by a small multiple of its
//! size, with these exceptions, where a few bytes may stand for many: a record of a compressed file,
//! a line or a row of text (256 MiB each), a page of a Parquet file (2 GiB, the most that the format
//! allows), and a column with a dictionary (1 GiB a batch). Errors say in which file, in which record
//! and at which byte they are.
//!
//! A format whose feature is off is not silently absent: its functions exist, and return an error that names the feature.
#![forbid(unsafe_code)]

pub mod files;

pub mod policy;

pub mod schema;

pub mod read_ahead;

pub mod tfrecord;

pub mod text;

pub mod example;

pub mod csv;

pub mod tensor_files;

pub mod columnar;

pub mod write;

pub mod table;

mod column;

mod feature;
