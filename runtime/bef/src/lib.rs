//! BEF, the binary executable format of TFRT: reader, verifier and writer.
//!
//! A file contains the functions of a program as dataflow graphs. It consists of a header and a
//! sequence of sections:
//!
//! ```text
//!  0b ef 00                                     magic, version
//!  section 0   Strings                          names and spellings, sorted
//!  section 1   Attributes                       constants of kernels, see `tfrt_attr`
//!  section 2   Kernels                          names of kernels; a position is a kernel code
//!  section 3   Types                            spellings of types; a position is a type index
//!  section 4   FunctionIndex                    kind, body, name, signature; a position is a function id
//!  section 5   Functions                        bodies: registers, kernel table, kernel records
//!  section 6   LocationStrings   section 7      Locations              source locations
//!  section 8   AttributeTypes    section 9      AttributeNames         optional: for decoding
//!  section 10  RegisterTypes     section 64     KernelFlags            ours: which kernels run non-strictly
//! ```
//!
//! Files are untrusted. A [`BefFile`] is a sequence of bytes. [`BefFile::verify`] checks its tables
//! and returns a [`VerifiedBef`], whose [`function`](VerifiedBef::function) checks a body on its
//! first look-up and returns a [`VerifiedFunction`]. These two types allow the executor to skip
//! checks. To write files, [`write::BefBuilder`] produces the same bytes as TFRT, and
//! [`builder::ProgramBuilder`] is a higher-level interface for programs that do not come from MLIR.
//! [`dump::dump`] prints any file in readable form, including its errors.
//!
//! Files are read in place, not run in place. A verified file is never decoded as a whole: names,
//! attributes and kernel records are views of its bytes, which may be mapped, and each optional
//! section is read when it is first needed. The executor lowers a function to its own code when the
//! function is first looked up; from then on it reads only attributes and locations of the file.
//!
//! This crate does not know kernels, Rust types or the text form.
//!
//! ```
//! use tfrt_bef::write::{BefBuilder, WriteOptions};
//! use tfrt_bef::BefFile;
//!
//! let bytes = BefBuilder::new(WriteOptions::default()).finish()?;
//! let bef = BefFile::from_bytes(&bytes).verify()?;
//! assert_eq!(bef.functions().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
// Only `read::map` contains unsafe code.
#![deny(unsafe_code)]

#[cfg(target_endian = "big")]
compile_error!("kernel records are read in place: BEF needs a little-endian machine");

pub mod format;

pub mod limits;

pub mod ids;

mod location;

pub mod cursor;

mod file;

pub mod read;

mod verify;

pub mod write;

pub mod builder;

pub mod dump;

mod error;

mod invariant;

pub use error::{BefError, BodyPart, Fault, Reason};
pub use file::BefFile;
pub use ids::{
    AttributeOffset, FunctionId, KernelCode, KernelId, LocationOffset, RegisterId, StringOffset,
    TypeNameId,
};
pub use location::BefLocation;
pub use tfrt_support::FunctionKind;
pub use verify::{BefFunction, KernelEntry, VerifiedBef, VerifiedFunction};
