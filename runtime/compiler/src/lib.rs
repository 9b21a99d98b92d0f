//! The compiler: translation between IR and BEF files, and passes.
//!
//! ```text
//!  Module ──encode──► BEF bytes          collect ► attributes, locations ► streams ► bodies
//!  Module ◄──decode── BEF file           missing names are restored from declarations
//!  Module ──print_streams──► remarks
//!  Module ──passes──► the same module
//! ```
//!
//! [`encode`](encode::encode) produces the same bytes as TFRT. It expects a verified program, but
//! does not rely on it: anything that a file cannot represent is an error with a location.
//! [`decode`](decode::decode) turns any verified file into a program. Neither runs [`passes`]: a
//! program is stored as written unless a pass is requested.
//!
//! This crate knows one op by name, the terminator of functions, which files do not store.
//! Everything else about an op comes from its declaration.
#![forbid(unsafe_code)]

pub mod stream_analysis;

mod encode;

mod decode;

mod syntax;

pub mod passes;

pub mod element_type;

pub use decode::{Decoded, attribute_of, decode};
pub use encode::{EncodeOptions, attribute_value, encode};
pub use syntax::LinkedSyntaxes;

/// The op that ends every body. It is not a kernel: a file stores its operands as the results of
/// the function.
const RETURN_OP: &str = "tfrt.return";

/// The type of chains, as it is spelled.
const CHAIN_TYPE: &str = "!tfrt.chain";

/// The notation of shapes that files can hold.
const SHAPE_NOTATION: &str = "corert.shape";

/// The attribute of a function that runs in the interpreter of synchronous functions.
const SYNC_ATTRIBUTE: &str = "tfrt.sync";

/// The attribute of a function that the host defines.
const NATIVE_ATTRIBUTE: &str = "tfrt.native";

use tfrt_ir::symbols::COMPILED_ATTRIBUTE;
use tfrt_ods::binding::{COST_ATTRIBUTE, NON_STRICT_ATTRIBUTE};
