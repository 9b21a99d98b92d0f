//! The rules for declarations themselves.
//!
//! A record can be inconsistent, for instance with a default that its attribute cannot have.
//! [`OpDef::check`] finds such errors, in constants too, so that a wrong declaration does not
//! compile:
//!
//! ```compile_fail
//! use tfrt_ods::{OpDef, OperandDef, TypeConstraint};
//!
//! const TWICE: OpDef = OpDef {
//!     operands: &[OperandDef::new("a", TypeConstraint::Any), OperandDef::new("a", TypeConstraint::Any)],
//!     ..OpDef::new("my.twice")
//! };
//! const _: () = TWICE.assert_valid();
//! ```
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

use crate::const_text::{Text, same};
use crate::format;
use crate::op::OpDef;

/// The rule that a declaration violates, and the location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeclarationError {
    /// The text, in consecutive parts.
    parts: [&'static str; 5],
    /// The byte offset in the assembly format.
    offset: Option<usize>,
}

impl DeclarationError {
    /// `BEFORE NAME AFTER`
    pub(crate) const fn named(
        before: &'static str,
        name: &'static str,
        after: &'static str,
    ) -> Self {
        Self {
            parts: [before, name, after, "", ""],
            offset: None,
        }
    }

    const fn plain(text: &'static str) -> Self {
        Self::named(text, "", "")
    }

    /// Sets the byte offset in the assembly format.
    pub(crate) const fn at(self, offset: usize) -> Self {
        Self {
            offset: Some(offset),
            ..self
        }
    }

    /// Returns the byte offset in the assembly format, if the error is there.
    #[must_use]
    pub const fn offset(&self) -> Option<usize> {
        self.offset
    }

    /// Returns the message without the location.
    #[must_use]
    pub fn message(&self) -> String {
        self.parts.concat()
    }
}

impl fmt::Display for DeclarationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| f.write_str(part))?;
        match self.offset {
            Some(offset) => write!(f, " at byte {offset}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for DeclarationError {}

tfrt_support::convert_errors!(DeclarationError);

type Check = Result<(), DeclarationError>;

/// The `?` operator for constants.
macro_rules! attempt {
    ($attempt:expr) => {
        match $attempt {
            Ok(value) => value,
            Err(error) => return Err(error),
        }
    };
}

pub(crate) use attempt;

impl OpDef {
    /// Checks the declaration against the [rules](self).
    ///
    /// ```
    /// use tfrt_ods::{AttrDef, AttrDefault, AttrKind, OpDef};
    ///
    /// const SCALE: OpDef = OpDef {
    ///     attributes: &[AttrDef { default: Some(AttrDefault::Int(300)), ..AttrDef::new("times", AttrKind::I32) }],
    ///     ..OpDef::new("my.scale")
    /// };
    /// const _: () = SCALE.assert_valid();
    ///
    /// const WRONG: OpDef = OpDef {
    ///     attributes: &[AttrDef { default: Some(AttrDefault::Bool(true)), ..AttrDef::new("times", AttrKind::I32) }],
    ///     ..SCALE
    /// };
    /// assert_eq!(WRONG.check().unwrap_err().to_string(), "attribute `times` cannot have its default");
    /// ```
    ///
    /// # Errors
    /// The first rule that it violates.
    pub const fn check(&self) -> Result<(), DeclarationError> {
        attempt!(self.check_name());
        attempt!(self.check_operands());
        attempt!(self.check_results());
        attempt!(self.check_attributes());
        attempt!(self.check_functions());
        attempt!(self.check_traits());
        if self.assembly_format.is_some() {
            attempt!(self.check_distinct_names());
            attempt!(format::check(self));
        }
        Ok(())
    }

    /// Checks the declaration where it is defined, as a constant: `const _: () =
    /// OP.assert_valid();`.
    ///
    /// # Panics
    /// At compile time, if it violates a rule.
    #[track_caller]
    pub const fn assert_valid(&self) {
        let Err(error) = self.check() else {
            return;
        };
        let mut text = Text::new();
        text.push("wrong declaration of `");
        text.push(self.name);
        text.push("`: ");
        let mut index = 0;
        while index < error.parts.len() {
            text.push(error.parts[index]);
            index += 1;
        }
        if let Some(offset) = error.offset {
            text.push(" at byte ");
            text.push_number(offset);
        }
        panic!("{}", text.as_str());
    }
}

/// Checks declarations where they are defined, as a constant.
///
/// # Panics
/// At compile time, if one of them violates a [rule](OpDef::check).
#[track_caller]
pub const fn assert_all_valid(ops: &[&OpDef]) {
    let mut index = 0;
    while index < ops.len() {
        ops[index].assert_valid();
        index += 1;
    }
}

/// Lookup of parts by name.
macro_rules! impl_index {
    ($($function:ident: $list:ident;)+) => {
        impl OpDef {$(
            pub(crate) const fn $function(&self, name: &str) -> Option<usize> {
                let mut index = 0;
                while index < self.$list.len() {
                    if same(self.$list[index].name, name) {
                        return Some(index);
                    }
                    index += 1;
                }
                None
            }
        )+}
    };
}

impl_index! {
    operand_index: operands;
    result_index: results;
    attribute_index: attributes;
    function_index: functions;
}

#[cfg(test)]
mod tests;
