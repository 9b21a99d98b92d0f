//! Tensor files.
//!
//! [`btf`] is the format of the runtime's own kernels, [`npy`] that of NumPy. With the feature
//! `formats` there are archives of NumPy arrays and safetensors files, too. [`FileFormat`] treats
//! them all alike. What a file claims is checked against what it has before any memory is taken:
//! reading a hostile file costs at most a small multiple of its size, and ends in an error that
//! says where.

mod source;

pub mod btf;

pub mod npy;

#[cfg(feature = "formats")]
pub mod npz;

#[cfg(feature = "formats")]
pub mod safetensors;

mod error;

mod named;

mod format;

pub use error::FileError;
pub use format::FileFormat;
pub use named::NamedTensor;
pub use source::{ReadAt, Source, SourceError, Stream, map};
