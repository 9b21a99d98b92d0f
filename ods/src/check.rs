//! The rules for declarations themselves.
//!
//! A record can be inconsistent, for instance with a default that its attribute cannot have.
//! [`OpDef::check`] finds such errors. The macros that declare ops call it while they expand, so a
//! wrong declaration does not compile. Constants in the expansion check facts that only the
//! compiler knows, such as the kind of an attribute of the author's own type.
//!
//! 1. The name is a dialect, a dot, and letters, digits, underscores, dollar signs and dots.
//! 2. The names of operands, results, attributes and functions are identifiers. Those of one kind
//!    are distinct. If the op has an assembly format, which distinguishes parts only by name, all
//!    except results are distinct, and results differ from operands.
//! 3. At most one operand and one result are optional or variadic.
//! 4. A part that has the type of an operand, or shares its memory, names an existing operand whose
//!    own type does not depend on another.
//! 5. Attributes are in ascending byte order of their names; so are functions by symbol, followed
//!    by the regions.
//! 6. Integers have 1, 8, 16, 32 or 64 bits; cases of enumerations have distinct identifiers, and
//!    values that fit.
//! 7. Defaults are values that their attributes can have.
//! 8. Traits and effects do not contradict each other or the number of operands and results.
//! 9. Signatures belong to functions of the op.
//! 10. The assembly format is well formed and fits, as specified in [`crate::format`].
//! 11. Attributes with free names have no defaults, and their op has no assembly format; an op that
//!     takes any attributes declares none.

mod parts;

mod kinds;

mod traits;

use std::fmt;

use crate::format::Format;
use crate::op::OpDef;

/// The rule that a declaration violates, and the location.
///
/// ```
/// use tfrt_ods::{DeclarationError, DeclarationPart};
/// use tfrt_ods::{OpDef, OperandDef, TypeConstraint};
///
/// const A: OperandDef = OperandDef::new("a", TypeConstraint::Any);
/// let error = OpDef { operands: &[A, A], ..OpDef::new("my.twice") }.check().unwrap_err();
/// assert_eq!(error.to_string(), "two operands have the name `a`");
/// assert_eq!(error.place(), DeclarationPart::Part("a"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationError {
    message: String,
    place: DeclarationPart,
}

/// The part of a declaration that an error is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeclarationPart {
    /// The op as a whole.
    Op,
    /// The operand, result, attribute or function with this name.
    Part(&'static str),
    /// The assembly format, at this byte; `None` if something is missing from the whole.
    Format(Option<usize>),
}

impl DeclarationError {
    pub(crate) fn new(place: DeclarationPart, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            place,
        }
    }

    /// Returns the message without the location.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the location.
    #[must_use]
    pub fn place(&self) -> DeclarationPart {
        self.place
    }
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.place {
            DeclarationPart::Format(Some(offset)) => write!(f, " at byte {offset}"),
            // The message names the part.
            DeclarationPart::Op | DeclarationPart::Part(_) | DeclarationPart::Format(None) => {
                Ok(())
            }
        }
    }
}

impl std::error::Error for DeclarationError {}

tfrt_support::convert_errors!(DeclarationError);

type Check = Result<(), DeclarationError>;

/// Returns an error about the op as a whole.
fn op_error<T>(message: impl Into<String>) -> Result<T, DeclarationError> {
    Err(DeclarationError::new(DeclarationPart::Op, message))
}

/// Returns an error about the part with this name.
fn part_error<T>(name: &'static str, message: impl Into<String>) -> Result<T, DeclarationError> {
    Err(DeclarationError::new(DeclarationPart::Part(name), message))
}

impl OpDef {
    /// Checks the declaration against the rules.
    ///
    /// ```
    /// use tfrt_ods::{AttrDef, AttrDefault, AttrKind, OpDef};
    ///
    /// const SCALE: OpDef = OpDef {
    ///     attributes: &[AttrDef { default: Some(AttrDefault::Int(300)), ..AttrDef::new("times", AttrKind::I32) }],
    ///     ..OpDef::new("my.scale")
    /// };
    /// assert!(SCALE.check().is_ok());
    ///
    /// const WRONG: OpDef = OpDef {
    ///     attributes: &[AttrDef { default: Some(AttrDefault::Bool(true)), ..AttrDef::new("times", AttrKind::I32) }],
    ///     ..SCALE
    /// };
    /// let error = WRONG.check().unwrap_err();
    /// assert_eq!(error.to_string(), "attribute `times` has a default of the wrong type");
    /// ```
    ///
    /// # Errors
    /// The first rule that it violates.
    pub fn check(&self) -> Result<(), DeclarationError> {
        self.check_name()?;
        self.check_operands()?;
        self.check_results()?;
        self.check_attributes()?;
        self.check_functions()?;
        self.check_traits()?;
        if self.assembly_format.is_some() {
            self.check_distinct_names()?;
            Format::parse(self)?;
        }
        Ok(())
    }

    pub(crate) fn operand_index(&self, name: &str) -> Option<usize> {
        self.operands
            .iter()
            .position(|operand| operand.name == name)
    }

    pub(crate) fn result_index(&self, name: &str) -> Option<usize> {
        self.results.iter().position(|result| result.name == name)
    }

    pub(crate) fn attribute_index(&self, name: &str) -> Option<usize> {
        self.attributes
            .iter()
            .position(|attribute| attribute.name == name)
    }

    pub(crate) fn function_index(&self, name: &str) -> Option<usize> {
        self.functions
            .iter()
            .position(|function| function.name == name)
    }
}

#[cfg(test)]
mod tests;
