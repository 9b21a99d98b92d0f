//! TFRecord: files of byte strings, each with checksums of its length and its data.
//!
//! ```text
//!  ┌────────────┬───────────────────┬──────────┬────────────────┐
//!  │ length u64 │ checksum of these │ data     │ checksum of    │   little endian; the next record follows at once
//!  │            │ 8 bytes, u32      │          │ the data, u32  │
//!  └────────────┴───────────────────┴──────────┴────────────────┘
//! ```
//!
//! A checksum is a CRC-32C that is *masked*: rotated and increased, so that the checksum of data
//! that contains checksums is not special.
//!
//! ```
//! use tfrt_readers::tfrecord::{RecordReader, RecordWriter};
//!
//! let mut file = Vec::new();
//! let mut writer = RecordWriter::new(&mut file);
//! writer.write(b"red")?;
//! writer.write(b"blue")?;
//! writer.finish()?;
//!
//! let records: Result<Vec<_>, _> = RecordReader::new(&file[..]).collect();
//! assert_eq!(records?, [b"red".to_vec(), b"blue".to_vec()]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checksum;

mod index;

mod read;

mod write;

mod dataset;

pub use checksum::masked_crc32c;
pub use dataset::{TfRecordOptions, tf_record_dataset};
pub use index::{IndexedRecords, RecordIndex, index_path};
pub use read::{RecordError, RecordReader, Verify};
pub use write::RecordWriter;
