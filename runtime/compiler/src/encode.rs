//! From IR to a BEF file.
//!
//! ```text
//! 1. collect     walks the program once, op after op and inner ops first: every string, type, kernel name, attribute and
//!                function enters its table at its first occurrence, and whatever a file cannot hold is reported
//! 2. bodies      for each function that has one: registers, streams, kernels
//! 3. write       `tfrt_bef` lays it out
//! ```
//!
//! Invariant E1: a program that passes the first phase is correct. After that, encoding can only
//! fail at a limit of the format, such as its 32-bit offsets.

use tfrt_bef::write::WriteOptions;
use tfrt_ir::Module;
use tfrt_support::Diagnostics;

mod collect;

mod attributes;

mod functions;

mod locations;

pub use attributes::attribute_value;

/// Options for encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodeOptions {
    /// Whether to write the sections that only decoding needs. On by default.
    pub optional_sections: bool,
    /// Whether errors at an op show the op in a note. On by default.
    pub notes: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            optional_sections: true,
            notes: true,
        }
    }
}

/// Encodes a program as a BEF file.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_compiler::{EncodeOptions, encode};
/// use tfrt_ir::{ParseOptions, Registry, parse};
///
/// let registry = Arc::new(Registry::default());
/// let options = ParseOptions { allow_unregistered_dialects: true };
/// let parse = |source: &str| parse(source, "f.mlir", &registry, &options).map_err(|errors| errors[0].to_string());
///
/// let module = parse("func @f() {\n  \"my.op\"() {a = 7 : i32} : () -> ()\n  \"tfrt.return\"() : () -> ()\n}\n")?;
/// let bytes = encode(&module, &EncodeOptions::default()).map_err(|errors| errors[0].to_string())?;
/// assert_eq!(bytes[..3], [0x0b, 0xef, 0]);
///
/// let module = parse("func @f() {\n  \"my.op\"() {a} : () -> ()\n  \"tfrt.return\"() : () -> ()\n}\n")?;
/// let errors = encode(&module, &EncodeOptions::default()).unwrap_err();
/// assert_eq!(errors[0].to_string(), "f.mlir:2:3: error: BEF files cannot encode the 'a' attribute");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Returns everything that a file cannot hold, in program order, with at most one error for each
/// op. An attribute that cannot be encoded is reported only if there is no error before it. The
/// first undefined function is reported only if there is no other error at all.
pub fn encode(module: &Module, options: &EncodeOptions) -> Result<Vec<u8>, Diagnostics> {
    let write_options = WriteOptions {
        optional_sections: options.optional_sections,
    };
    let mut collection = collect::collect(module, write_options, options.notes)?;
    functions::define_bodies(module, &mut collection);
    collection.builder.finish().map_err(|error| {
        let place = module.place(module.op_location(module.root()));
        Diagnostics::error(
            place,
            format!("the program exceeds a limit of BEF files: {error}"),
        )
    })
}
