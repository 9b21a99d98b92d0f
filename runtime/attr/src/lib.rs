//! The byte layouts of attribute values: encode, verify, and read in place.
//!
//! An attribute is a compile-time constant of a kernel: a number, a string, an array, a shape, a
//! dense tensor, or an aggregate. The *section* of attributes is a sequence of individually aligned
//! encodings, and an attribute is identified by its byte offset in it. The encoding contains
//! neither its length nor its type: the [`AttrTypeCode`] is stored elsewhere, with the offset. The
//! file format stores attributes in these layouts, and the host passes them to kernels in the same
//! form.
//!
//! ```text
//!  AttrValue ──AttrEncoder──► section + offset + AttrTypeCode ──FromAttr──► &str, &[i64], DenseView, …   (in place)
//!      ▲                                 │
//!      └────────────decode◄──────────────┴──► verify (bounds, alignment, nesting; linear, never panics)
//! ```
//!
//! Input bytes are untrusted: every read is bounds-checked, and a wrong offset or code yields an
//! [`AttrError`], never a panic.
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

mod code;

mod value;

mod argument;

mod encode;

mod read;

mod view;

pub mod verify;

pub mod decode;

mod aligned;

pub mod vbr;

pub mod limits;

mod error;

mod bytes;

pub use aligned::{AlignedBytes, FILE_ALIGNMENT};
pub use argument::{OpAttrArgument, ToOpAttr};
pub use code::{AttrTypeCode, AttrTypeKind};
pub use encode::{AttrEncoder, EncodeError, PADDING};
pub use error::{AttrError, AttrProblem};
pub use read::{Element, FromAttr};
pub use value::{AttrValue, DenseAttr, Scalar, SymbolRefAttr};
pub use view::{AggregateView, AttrRef, CompilationUnitView, DenseView, ShapeView};
