//! The byte layouts of attribute values: encode, verify, and read in place.
//!
//! An attribute is a compile-time constant of a kernel: a number, a string, an array, a shape, a dense tensor, or a mixture.
//! Attributes live in one blob of individually aligned encodings, the *section*, and an attribute is named by its byte offset
//! there. Nothing in the blob says where one ends or what it is: the offset goes with an [`AttrTypeCode`] that somebody else
//! keeps. The same layouts serve the file format, which stores them, and the host, which hands them to kernels.
//!
//! ```text
//!  AttrValue ──AttrEncoder──► section + offset + AttrTypeCode ──FromAttr──► &str, &[i64], DenseView, …   (in place)
//!      ▲                                 │
//!      └────────────decode◄──────────────┴──► verify (bounds, alignment, nesting; linear, never panics)
//! ```
//!
//! Bytes are not trusted: every read is bounds-checked, and a wrong offset or code yields an [`AttrError`], never a panic.
//!
//! ```
//! use tfrt_attr::{AlignedBytes, AttrEncoder, AttrValue, FromAttr, Scalar};
//!
//! let mut encoder = AttrEncoder::new();
//! let list = AttrValue::Array(vec![Scalar::i64(1).into(), Scalar::i64(2).into()]);
//! let offset = encoder.encode(&list)?;
//! let section = AlignedBytes::from(encoder.as_bytes());
//! assert_eq!(<&[i64]>::read(&section, offset)?, [1, 2]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!("slices are read in place: attributes need a little-endian machine");

pub mod code;

pub mod value;

pub mod encode;

pub mod read;

pub mod view;

pub mod verify;

pub mod decode;

pub mod aligned;

pub mod vbr;

pub mod limits;

pub mod error;

mod bytes;

pub use aligned::AlignedBytes;
pub use code::{AttrKind, AttrTypeCode};
pub use encode::{AttrEncoder, EncodeError};
pub use error::AttrError;
pub use read::{Element, FromAttr};
pub use value::{AttrValue, DenseAttr, Scalar, SymbolRefAttr};
pub use view::{AggregateView, AttrRef, CompilationUnitView, DenseView, ShapeView};
