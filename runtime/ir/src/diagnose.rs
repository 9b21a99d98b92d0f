//! Diagnostics about ops.

use tfrt_support::{Diagnostic, Severity};

use crate::module::{Module, OpId};
use crate::print::{PrintOptions, print_op};

/// The start of the note that shows the op of a diagnostic.
pub const CURRENT_OPERATION: &str = "see current operation: ";

/// Options for diagnostics about ops.
///
/// ```
/// use std::sync::Arc;
/// use tfrt_ir::{Module, OpDiagnostics, Registry};
///
/// let module = Module::new(Arc::new(Registry::default()));
/// let found = OpDiagnostics { shows_op: true }.error(&module, module.root(), "no functions");
/// assert_eq!(found.to_string(), "UnknownLocation: error: no functions");
/// assert_eq!(found.notes[0].message, "see current operation: \"builtin.module\"() ({\n^bb0:\n}) : () -> ()");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpDiagnostics {
    /// `true` to show the op in its generic form in a note, as tools do unless they verify
    /// diagnostics.
    pub shows_op: bool,
}

impl OpDiagnostics {
    /// Creates an error at the location of an op.
    #[must_use]
    pub fn error(self, module: &Module, op: OpId, message: impl Into<String>) -> Diagnostic {
        self.finding(module, op, Severity::Error, message)
    }

    /// Creates an error at the location of an op, with the op's name in the message.
    #[must_use]
    pub fn op_error(self, module: &Module, op: OpId, message: impl AsRef<str>) -> Diagnostic {
        self.error(
            module,
            op,
            format!("'{}' op {}", module.op_name(op), message.as_ref()),
        )
    }

    /// Creates a diagnostic at the location of an op.
    #[must_use]
    pub fn finding(
        self,
        module: &Module,
        op: OpId,
        severity: Severity,
        message: impl Into<String>,
    ) -> Diagnostic {
        let place = module.place(module.op_location(op));
        let diagnostic = Diagnostic::new(severity, place.clone(), message);
        if !self.shows_op {
            return diagnostic;
        }
        let options = PrintOptions {
            generic: true,
            elide_large_elements: true,
            ..PrintOptions::default()
        };
        diagnostic.with_note(
            place,
            format!("{CURRENT_OPERATION}{}", print_op(module, op, &options)),
        )
    }
}
