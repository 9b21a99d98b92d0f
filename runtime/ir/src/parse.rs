//! The parser: text to programs, the inverse of the printer.
//!
//! A recursive-descent parser with one function for each production, over small tokens that know
//! their location. It stops at the first error, with the message and location of MLIR's error; only
//! undefined values and blocks are reported together. Nesting is bounded by [`MAX_NESTING`], so a
//! text cannot exhaust the stack.
//!
//! The parsed program is not verified: see [`crate::verify()`].

mod options;

mod lexer;

mod parser;

mod types;

mod attributes;

mod dense;

mod layouts;

mod resources;

mod locations;

mod scopes;

mod values;

mod ops;

mod builtin;

mod custom;

pub(crate) mod written;

use std::sync::Arc;

use tfrt_support::Diagnostics;

use crate::attribute::AttrId;
use crate::module::Module;
use crate::registry::Registry;
use crate::types::TypeId;
use lexer::Kind;
use parser::Parser;

pub use options::{MAX_NESTING, ParseOptions};

/// Parses the program in a text. Locations name the file `file_name`.
///
/// # Errors
/// The errors in the text: one, or one for each undefined value or block; never empty.
pub fn parse(
    source: &str,
    file_name: &str,
    registry: &Arc<Registry>,
    options: &ParseOptions,
) -> Result<Module, Diagnostics> {
    let mut module = Module::new(Arc::clone(registry));
    parse_into(&mut module, source, file_name, options)?;
    Ok(module)
}

/// Parses the program in a text that may be written without chains: an op may omit those that it is
/// declared to take, all of them or none. An op in its custom form then has no declared chains
/// either; in the generic form they are optional.
///
/// The module [records this](Module::leaves_out_chains), and is verified accordingly.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_ir::{ParseOptions, Registry, VerifyOptions, parse, parse_without_chains, verify};
/// use tfrt_ods::{Effect, OpDef, OperandDef, ResultDef, TypeConstraint};
///
/// const CHAIN: TypeConstraint = TypeConstraint::Exact("!tfrt.chain");
/// static PRINT: OpDef = OpDef {
///     operands: &[OperandDef::new("value", TypeConstraint::Exact("i32")), OperandDef::new("in", CHAIN)],
///     results: &[ResultDef::new("out", CHAIN)],
///     effect: Effect::IO,
///     assembly_format: Some("operands attr-dict"),
///     ..OpDef::new("my.print")
/// };
///
/// let registry = Arc::new(Registry::new([&PRINT], [])?);
/// let source = "%x = \"builtin.x\"() : () -> i32\nmy.print %x\n";
/// let module = parse_without_chains(source, "p.mlir", &registry, &ParseOptions::default()).unwrap();
/// assert!(verify(&module, &VerifyOptions::default()).is_empty());
/// assert!(parse(source, "p.mlir", &registry, &ParseOptions::default()).is_err());
/// # Ok::<(), tfrt_ir::RegistryError>(())
/// ```
///
/// # Errors
/// As for [`parse()`].
pub fn parse_without_chains(
    source: &str,
    file_name: &str,
    registry: &Arc<Registry>,
    options: &ParseOptions,
) -> Result<Module, Diagnostics> {
    let mut module = Module::new(Arc::clone(registry));
    module.set_leaves_out_chains(true);
    parse_into(&mut module, source, file_name, options)?;
    Ok(module)
}

fn parse_into(
    module: &mut Module,
    source: &str,
    file_name: &str,
    options: &ParseOptions,
) -> Result<(), Diagnostics> {
    let mut parser = Parser::new(source, file_name, module, *options);
    match parser.program() {
        Ok(()) => Ok(()),
        Err(_) => Err(Diagnostics::from(parser.into_diagnostics()).with_source(source)),
    }
}

/// Parses the spelling of a type, such as `tensor<2xi32>`, of any dialect. Returns `None` if it is
/// not one.
pub fn parse_type(module: &mut Module, spelling: &str) -> Option<TypeId> {
    if let Some(known) = module.known_type(spelling) {
        return Some(known);
    }
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let mut parser = Parser::new(spelling, "", module, options);
    parser.is_lenient = true;
    let ty = parser.ty().ok()?;
    (parser.token().kind == Kind::Eof).then_some(ty)
}

/// Parses the text of an attribute, such as `[1 : i32, "x"]`. Returns `None` if it is not one.
pub fn parse_attribute(module: &mut Module, text: &str) -> Option<AttrId> {
    let options = ParseOptions {
        allow_unregistered_dialects: true,
    };
    let mut parser = Parser::new(text, "", module, options);
    let attribute = parser.attribute(None).ok()?;
    (parser.token().kind == Kind::Eof).then_some(attribute)
}

#[cfg(test)]
mod tests;
