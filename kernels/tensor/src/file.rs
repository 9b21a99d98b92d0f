//! Tensor files.
//!
//! [`btf`] is the format of the runtime's own kernels, [`npy`] that of NumPy. With the feature
//! `formats` there are archives of NumPy arrays and safetensors files, too. [`FileFormat`] is their
//! common interface. The sizes that a file states are checked against its actual size before memory
//! is allocated: reading a malicious file costs at most a small multiple of its size, and ends in
//! an error with a location.

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
