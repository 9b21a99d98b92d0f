//! Hand-written custom forms, for ops whose text an assembly format cannot describe.
//!
//! A dialect registers an [`OpSyntax`] for such an op: a function that parses the text after the
//! name of the op, and one that prints it. The op need not be declared. A tool that only rewrites a
//! program, such as the input of a lowering, can therefore read and write it without knowing the
//! meaning of its ops.
//!
//! ```
//! use std::sync::Arc;
//! use tfrt_ir::syntax::{OpParser, OpPrinter, OpSyntax, SyntaxError};
//! use tfrt_ir::{Module, OpId, OpState, ParseOptions, PrintOptions, Registry, parse, print};
//!
//! /// `lib.repeat %x 3 times : i32`
//! static REPEAT: OpSyntax = OpSyntax { op: "lib.repeat", parse: parse_repeat, print: print_repeat };
//!
//! fn parse_repeat(parser: &mut OpParser<'_, '_, '_>, state: &mut OpState) -> Result<(), SyntaxError> {
//!     let value = parser.value()?;
//!     let count = parser.attribute(None)?;
//!     state.attributes.push(("count".into(), count));
//!     parser.expect("times")?;
//!     parser.expect(":")?;
//!     let ty = parser.ty()?;
//!     state.operands.push(parser.resolve(value, ty)?);
//!     Ok(())
//! }
//!
//! fn print_repeat(printer: &mut OpPrinter<'_, '_>, module: &Module, op: OpId) -> bool {
//!     let (&[value], Some(count)) = (module.operands(op), module.attr(op, "count")) else { return false };
//!     printer.text(" ");
//!     printer.value(value);
//!     printer.text(" ");
//!     printer.attribute_without_type(count);
//!     printer.text(" times : ");
//!     printer.ty(module.value_type(value));
//!     true
//! }
//!
//! let registry = Arc::new(Registry::default().with_syntaxes([&REPEAT]));
//! let options = ParseOptions { allow_unregistered_dialects: true };
//! let source = "func @f(%x: i32) {\n  lib.repeat %x 3 times : i32\n}\n";
//! let module = parse(source, "f.mlir", &registry, &options).map_err(|errors| errors[0].to_string())?;
//! assert!(print(&module, &PrintOptions::default()).contains("lib.repeat %arg0 3 times : i32"));
//! # Ok::<(), String>(())
//! ```

pub use crate::parse::written::{NamedValue, OpParser, SEGMENT_SIZES, SyntaxError, segment_sizes};
pub use crate::print::written::OpPrinter;

use std::fmt;

use crate::module::{Module, OpId, OpState};
use crate::registry::Registry;

/// Parses the text after the name of an op into its state, which has a name and a location already.
pub type ParseFn = fn(&mut OpParser<'_, '_, '_>, &mut OpState) -> Result<(), SyntaxError>;

/// Prints the text after the name of an op. Returns `false` if the custom form cannot show the op;
/// it is then printed in generic form.
pub type PrintFn = fn(&mut OpPrinter<'_, '_>, &Module, OpId) -> bool;

/// The hand-written custom form of one op.
#[derive(Clone, Copy)]
pub struct OpSyntax {
    /// The full name of the op.
    pub op: &'static str,
    /// The parser.
    pub parse: ParseFn,
    /// The printer.
    pub print: PrintFn,
}

impl fmt::Debug for OpSyntax {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpSyntax")
            .field("op", &self.op)
            .finish_non_exhaustive()
    }
}

impl Registry {
    /// Adds hand-written custom forms. An op has one custom form: that of its assembly format takes
    /// precedence, then the first one that was added.
    #[must_use]
    pub fn with_syntaxes(mut self, syntaxes: impl IntoIterator<Item = &'static OpSyntax>) -> Self {
        for syntax in syntaxes {
            self.syntaxes.entry(syntax.op).or_insert(syntax);
        }
        self
    }

    /// Returns the hand-written custom form of an op, if there is one.
    #[must_use]
    pub fn syntax(&self, op: &str) -> Option<&'static OpSyntax> {
        self.syntaxes.get(op)?.downcast_ref()
    }
}
