//! Programs in MLIR text: compiles a source to a program that can run, without an intermediate
//! file.
//!
//! This is also how a Rust program embeds the runtime: compile or open a program, load it into a
//! host, look a function up, execute it, and wait for its results. A host and a program are shared
//! freely between threads.
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
//! let source = r#"
//!     func @double(%x: i32) -> i32 {
//!       %y = "my.add"(%x, %x) : (i32, i32) -> i32
//!       tfrt.return %y : i32
//!     }
//! "#;
//! let kernels = Arc::new(KernelRegistry::from_link()?);
//! let file = tfrt::text::compile(source, "double.mlir", &kernels)?;
//!
//! let host = HostContext::builder().registry(kernels).queue(tfrt::queue::create_queue("mstd:2")?).build();
//! let double = Program::load(&host, &file)?.function("double").ok_or("unknown function `double`")?;
//! // From here on the compiler checks arguments and results.
//! let double = double.typed::<(i32,), (i32,)>()?;
//!
//! let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
//! let (result,) = double.call(&ctx, (21,));
//! host.await_values(&[result.as_any().clone()])?;
//! assert_eq!(result.as_result()?, &42);
//!
//! let refused = double.untyped().clone().typed::<(f32,), (i32,)>().unwrap_err();
//! let expected = "function `double`: expected the type `(f32) -> (i32)`, found `(i32) -> (i32)`";
//! assert_eq!(refused.message(), expected);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use tfrt_bef::BefFile;
use tfrt_compiler::passes::thread_chains;
use tfrt_compiler::{EncodeOptions, LinkedSyntaxes, encode};
use tfrt_host::kernel::DialectRegistration;
use tfrt_host::kernel::KernelRegistry;
use tfrt_host::kernel::library::LoadedLibrary;
use tfrt_ir::{Module, ParseOptions, Registry, VerifyOptions, parse, parse_without_chains, verify};
use tfrt_ods::verify::region;
use tfrt_ods::{OpDef, OpTraits, OperandDef, TypeConstraint};
use tfrt_support::{Diagnostics, Place};

pub use tfrt_compiler as compiler;
pub use tfrt_ir as ir;

pub use tfrt_support::render_diagnostics as render;

/// The terminator of functions. Files represent it without a name, so every program may use it,
/// regardless of the linked kernels; the declaration of the standard kernel library takes
/// precedence.
static RETURN: OpDef = OpDef {
    summary: "Returns values to the caller of the function or region.",
    operands: &[OperandDef::variadic("values", TypeConstraint::Any)],
    traits: OpTraits::TERMINATOR.with(OpTraits::CHEAP),
    assembly_format: Some("($values `:` type($values))?"),
    verifier: Some(region::function_return),
    ..OpDef::new("tfrt.return")
};

/// Compiles a program to a file, checked against the declarations of `kernels`. Diagnostics and
/// locations of run-time errors refer to the source as `file_name`. Functions end in `tfrt.return`,
/// even if `kernels` do not declare it.
///
/// # Errors
/// Returns all errors of the program in source order: one if it is not MLIR text, otherwise one for
/// every violated rule.
pub fn compile(
    source: &str,
    file_name: &str,
    kernels: &KernelRegistry,
) -> Result<BefFile, Diagnostics> {
    compile_edited(source, file_name, kernels, Chains::Written, |_| ())
}

/// Compiles a program like [`compile`], and adds the chains that its order requires; see
/// [`thread_chains`]. `kernels` must contain one that starts chains and one that merges them, as
/// the standard kernel library does.
///
/// A function that takes part in an order takes its chains before its other arguments.
///
/// # Errors
/// Returns the errors of [`compile`], and the reasons why chains cannot be added.
pub fn compile_without_chains(
    source: &str,
    file_name: &str,
    kernels: &KernelRegistry,
) -> Result<BefFile, Diagnostics> {
    compile_edited(source, file_name, kernels, Chains::LeftOut, |_| ())
}

/// The source of a program's chains.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Chains {
    /// The text contains the chains.
    Written,
    /// The chains are derived.
    LeftOut,
}

/// Makes a file of a program that is sound, after an edit that keeps it so.
pub(crate) fn compile_edited(
    source: &str,
    file_name: &str,
    kernels: &KernelRegistry,
    chains: Chains,
    edit: impl FnOnce(&mut Module),
) -> Result<BefFile, Diagnostics> {
    let with_source = |found: Diagnostics| found.with_source(source);
    let registry = registry(kernels)?;
    let mut module = match chains {
        Chains::Written => parse(source, file_name, &registry, &PARSE_OPTIONS)?,
        Chains::LeftOut => parse_without_chains(source, file_name, &registry, &PARSE_OPTIONS)?,
    };
    check(&module).map_err(with_source)?;
    if let Chains::LeftOut = chains {
        let root = module.root();
        thread_chains(&mut module, root).map_err(with_source)?;
    }
    edit(&mut module);
    to_file(&module).map_err(with_source)
}

const PARSE_OPTIONS: ParseOptions = ParseOptions {
    allow_unregistered_dialects: true,
};

/// Returns the declarations for parsing text.
fn registry(kernels: &KernelRegistry) -> Result<Arc<Registry>, Diagnostics> {
    let of_libraries = kernels.libraries().iter().flat_map(LoadedLibrary::dialects);
    let dialects = DialectRegistration::linked().chain(of_libraries);
    let mut ops = kernels.clone();
    // Where no library declares it.
    if ops.op(RETURN.name).is_none() {
        ops.add_op(&RETURN)
            .expect("a name that is not declared is free");
    }
    Registry::of_table(Arc::new(ops), dialects)
        .map(|registry| Arc::new(registry.with_syntaxes(LinkedSyntaxes::all())))
        .map_err(|error| Diagnostics::error(Place::Unknown, error.to_string()))
}

/// Parses and verifies a program without encoding it. See [`compile`].
///
/// # Errors
/// Returns the errors of [`compile`].
pub fn parse_program(
    source: &str,
    file_name: &str,
    kernels: &KernelRegistry,
) -> Result<Module, Diagnostics> {
    let with_source = |found: Diagnostics| found.with_source(source);
    let module = parse(source, file_name, &registry(kernels)?, &PARSE_OPTIONS)?;
    check(&module).map_err(with_source)?;
    Ok(module)
}

/// Encodes a program without names and locations, which only other tools need.
///
/// # Errors
/// Returns the parts of the program that a file cannot represent.
pub fn smallest_file_of(module: &Module) -> Result<BefFile, Diagnostics> {
    let options = EncodeOptions {
        optional_sections: false,
        notes: false,
    };
    encode(module, &options).map(|bytes| BefFile::from_bytes(&bytes))
}

fn check(module: &Module) -> Result<(), Diagnostics> {
    let options = VerifyOptions {
        stops_at_first: false,
        shows_op: false,
        refuses_stray_attributes: true,
    };
    match verify(module, &options) {
        found if found.is_empty() => Ok(()),
        found => Err(found.into()),
    }
}

fn to_file(module: &Module) -> Result<BefFile, Diagnostics> {
    let options = EncodeOptions {
        notes: false,
        ..EncodeOptions::default()
    };
    encode(module, &options).map(|bytes| BefFile::from_bytes(&bytes))
}
