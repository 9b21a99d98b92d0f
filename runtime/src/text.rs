//! Programs in MLIR text: from a source to something that can be run, without a file in between.
//!
//! This is also how a Rust program embeds the runtime: compile or open a program, load it into a host, look a function up,
//! execute it, and wait for its results. A host and a program are shared freely between threads.
//!
//! ```
//! use std::sync::Arc;
//! use tfrt::executor::Program;
//! use tfrt::host::RequestContextBuilder;
//! use tfrt::prelude::*;
//!
//! /// Returns the sum of two numbers.
//! #[tfrt_kernel("my.add")]
//! fn add(a: i32, b: i32) -> i32 {
//!     a.wrapping_add(b)
//! }
//!
//! # tfrt::declare_ops!(RETURN);
//! # static RETURN: tfrt::ods::OpDef = tfrt::ods::OpDef {
//! #     operands: &[tfrt::ods::OperandDef::variadic("values", tfrt::ods::TypeConstraint::Any)],
//! #     traits: tfrt::ods::OpTraits::TERMINATOR,
//! #     ..tfrt::ods::OpDef::new("tfrt.return")
//! # };
//! let source = r#"
//!     func @double(%x: i32) -> i32 {
//!       %y = "my.add"(%x, %x) : (i32, i32) -> i32
//!       "tfrt.return"(%y) : (i32) -> ()
//!     }
//! "#;
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let file = tfrt::text::compile(source, "double.mlir", &kernels).expect("the program is sound");
//!
//! let host = HostContext::builder().registry(kernels).queue(tfrt::queue::create_queue("mstd:2")?).build();
//! let double = Program::load(&host, &file).unwrap().function("double").expect("it is there");
//!
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
//! let results = double.execute(&ctx, &[AnyRef::available(21_i32)]);
//! host.await_values(&results)?;
//! assert_eq!(results[0].get::<i32>(), Some(&42));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use tfrt_bef::BefFile;
use tfrt_compiler::{EncodeOptions, encode};
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::registry::DialectRegistration;
use tfrt_host::library::LoadedLibrary;
use tfrt_ir::{ParseOptions, Registry, VerifyOptions, parse, verify};
use tfrt_support::{Diagnostic, Place};

pub use tfrt_compiler as compiler;
pub use tfrt_ir as ir;

/// Makes a file of a program, checked against the declarations of `kernels`. `file_name` is what diagnostics and the locations
/// of errors at run time call the source.
///
/// # Errors
/// Everything that is wrong with the program, in the order of the source: one finding if it is no MLIR text, else every
/// breach of a rule.
pub fn compile(
    source: &str,
    file_name: &str,
    kernels: &KernelRegistry,
) -> Result<BefFile, Vec<Diagnostic>> {
    let of_libraries = kernels.libraries().iter().flat_map(LoadedLibrary::dialects);
    let dialects = DialectRegistration::linked().chain(of_libraries);
    let registry = Registry::new(kernels.ops(), dialects)
        .map_err(|error| vec![Diagnostic::error(Place::Unknown, error.to_string())])?;
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let module = parse(source, file_name, &Arc::new(registry), &options)?;
    let found = verify(
        &module,
        &VerifyOptions {
            stops_at_first: false,
            shows_op: false,
        },
    );
    if !found.is_empty() {
        return Err(found);
    }
    let bytes = encode(
        &module,
        &EncodeOptions {
            notes: false,
            ..EncodeOptions::default()
        },
    )?;
    Ok(BefFile::from_bytes(&bytes))
}
