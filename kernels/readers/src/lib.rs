//! File formats of input pipelines.
//!
//! | module | format |
//! |---|---|
//! | [`tfrecord`] | TFRecord: strings of bytes with checksums |
//!
//! Each format has a reader and a writer over any stream of bytes, which know nothing of pipelines, and a dataset that reads ahead on the
//! blocking pool. No file can make a reader panic, or take more memory than a small multiple of its size.
#![forbid(unsafe_code)]

pub mod tfrecord;
