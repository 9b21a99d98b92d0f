//! The compiler: between the program as IR and the program as a BEF file.
//!
//! ```text
//!  Module ──encode──► BEF bytes          collect ► attributes, locations ► streams ► bodies
//!  Module ◄──decode── BEF file           names that the file forgets come back from the declarations
//!  Module ──print_streams──► remarks
//!  Module ──passes──► the same module
//! ```
//!
//! [`encode`](encode::encode) writes byte for byte what TFRT writes. It expects a verified program, but never trusts that: what a
//! file cannot hold is an error with a place. [`decode`](decode::decode) makes a program out of any file that the reader verified.
//! Neither runs [`passes`]: a program is stored as it is written, and only who asks for a pass gets it.
//!
//! No op is known here by name but the terminator of functions, which files do not store; everything else about an op
//! comes from its declaration.
#![forbid(unsafe_code)]

pub mod stream_analysis;

pub mod encode;

pub mod decode;

pub mod passes;

mod element_type;

pub use decode::{Decoded, decode};
pub use encode::{EncodeOptions, encode};

/// The op that ends every body. It is no kernel: a file stores its operands as the results of the function.
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
