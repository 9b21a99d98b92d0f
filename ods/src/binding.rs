//! Matching the attributes of a kernel in a file to those that its op declares.
//!
//! Files list the attributes of a kernel in byte order of their names. The names themselves are in
//! an optional section. [`bind`] finds the declared attributes among those of the file:
//!
//! - An op with fixed names has each of its attributes under its name. Other attributes, perhaps
//!   for other tools, are not bound. In a file without names, position decides, so the number must
//!   match exactly.
//! - An [optional](crate::AttrDef::is_optional) attribute may be missing: [`ABSENT`] takes its
//!   place. In a file without names, either all optional attributes of a kernel are present or
//!   none.
//! - An op with [free names](OpTraits::FREE_ATTRIBUTE_NAMES) has its attributes by position.
//! - An op that takes [any attributes](OpTraits::ANY_ATTRIBUTES) has all of them.

use std::fmt;

use crate::op::{AttrDef, FunctionDef, FunctionForm, OpDef};
use crate::traits::OpTraits;

/// The attribute with the cost of an op, used only for stream analysis. Any op may have it; files
/// never contain it.
pub const COST_ATTRIBUTE: &str = "_tfrt_cost";

/// The attribute of an op that may start before its operands are available. Files store it as a
/// flag, not as an attribute.
pub const NON_STRICT_ATTRIBUTE: &str = "bef.nonstrict";

/// Returns `true` if files do not list an attribute with this name.
#[must_use]
pub fn is_unlisted(name: &str) -> bool {
    name == COST_ATTRIBUTE || name == NON_STRICT_ATTRIBUTE
}

/// The offset that represents a missing optional attribute. No attribute has this offset in a
/// section.
pub const ABSENT: u32 = u32::MAX;

/// The positions of an op's attributes among those that a file lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Binding {
    /// Each at its own position.
    InOrder,
    /// The position of each declared attribute in the file; `None` for a missing optional one.
    At(Vec<Option<usize>>),
}

/// Finds the attributes of an op among the `found` attributes of a file, whose names are `names` if
/// the file has them.
///
/// ```
/// use tfrt_ods::binding::{Binding, bind};
/// use tfrt_ods::{AttrDef, AttrKind, OpDef};
///
/// static SCALE: OpDef = OpDef {
///     attributes: &[AttrDef::new("factor", AttrKind::I32)],
///     ..OpDef::new("my.scale")
/// };
/// assert_eq!(bind(&SCALE, 1, Some(&["factor"])), Ok(Binding::InOrder));
/// assert_eq!(bind(&SCALE, 2, Some(&["a.note", "factor"])), Ok(Binding::At(vec![Some(1)])));
/// assert_eq!(
///     bind(&SCALE, 1, Some(&["facter"])).unwrap_err().to_string(),
///     "attribute `factor` of `my.scale` is missing; found `facter`"
/// );
/// ```
///
/// # Errors
/// If a declared attribute is missing, or if position decides and the number differs.
pub fn bind(def: &OpDef, found: usize, names: Option<&[&str]>) -> Result<Binding, BindError> {
    if def.traits.contains(OpTraits::ANY_ATTRIBUTES) {
        return Ok(Binding::InOrder);
    }
    let declared = def.attributes;
    let is_free = def.traits.contains(OpTraits::FREE_ATTRIBUTE_NAMES);
    let Some(names) = names.filter(|_| !is_free) else {
        let num_required = declared.iter().filter(|known| !known.is_optional()).count();
        if found == declared.len() {
            return Ok(Binding::InOrder);
        }
        if found == num_required {
            let mut places = 0..found;
            let place = |known: &AttrDef| (!known.is_optional()).then(|| places.next()).flatten();
            return Ok(Binding::At(declared.iter().map(place).collect()));
        }
        return Err(miscounted(def, found, names));
    };
    let is_in_order = names.len() == declared.len()
        && (names.iter().zip(declared)).all(|(name, attribute)| *name == attribute.name);
    if is_in_order {
        return Ok(Binding::InOrder);
    }
    let position = |known: &AttrDef| {
        let wanted = known.name;
        let mut places = (0..names.len()).filter(|&index| names[index] == wanted);
        match (places.next(), places.next()) {
            (None, _) if known.is_optional() => Ok(None),
            (None, _) => Err(missing(def, wanted, names)),
            (place, None) => Ok(place),
            (Some(_), Some(_)) => Err(BindError::Repeated {
                op: def.name,
                attribute: wanted,
            }),
        }
    };
    declared
        .iter()
        .map(position)
        .collect::<Result<_, _>>()
        .map(Binding::At)
}

/// Returns the names of all attributes that the op declares, including those that name functions.
pub(crate) fn attribute_names(def: &OpDef) -> Vec<&'static str> {
    let is_symbol = |function: &&FunctionDef| function.form != FunctionForm::Region;
    let symbols = def.functions.iter().filter(is_symbol);
    let attributes = def.attributes.iter().map(|attribute| attribute.name);
    attributes
        .chain(symbols.map(|function| function.name))
        .collect()
}

/// The reason why the attributes of an op cannot be found in a file.
///
/// ```
/// use tfrt_ods::binding::{BindError, bind};
/// use tfrt_ods::{AttrDef, AttrKind, OpDef};
///
/// static SCALE: OpDef = OpDef {
///     attributes: &[AttrDef::new("factor", AttrKind::I32)],
///     ..OpDef::new("my.scale")
/// };
/// let error = bind(&SCALE, 2, Some(&["factor", "factor"])).unwrap_err();
/// assert_eq!(error, BindError::Repeated { op: "my.scale", attribute: "factor" });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BindError {
    /// A declared attribute is missing.
    Missing {
        /// The op.
        op: &'static str,
        /// The attribute.
        attribute: &'static str,
        /// The attributes of the file that are not declared.
        others: Vec<String>,
    },
    /// The file has an attribute twice.
    Repeated {
        /// The op.
        op: &'static str,
        /// The attribute.
        attribute: &'static str,
    },
    /// Position decides, and the number of attributes is neither that of all declared attributes
    /// nor that of the required ones.
    Miscounted {
        /// The op.
        op: &'static str,
        /// The names of the required attributes.
        required: Vec<&'static str>,
        /// The number of the optional attributes.
        num_optional: usize,
        /// The number of attributes in the file.
        found: usize,
        /// Their names, if the file has them.
        names: Option<Vec<String>>,
    },
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing {
                op,
                attribute,
                others,
            } => {
                write!(f, "attribute `{attribute}` of `{op}` is missing")?;
                match &others[..] {
                    [] => Ok(()),
                    others => write!(f, "; found {}", quoted(others)),
                }
            }
            Self::Repeated { op, attribute } => {
                write!(f, "attribute `{attribute}` of `{op}` is given twice")
            }
            Self::Miscounted {
                op,
                required,
                num_optional,
                found,
                names,
            } => {
                write!(f, "`{op}` takes ")?;
                match &required[..] {
                    [] => write!(f, "no attributes")?,
                    [one] => write!(f, "1 attribute (`{one}`)")?,
                    many => write!(f, "{} attributes ({})", many.len(), quoted(many))?,
                }
                if *num_optional > 0 {
                    write!(f, ", and up to {num_optional} optional attributes")?;
                }
                match names.as_deref() {
                    Some([]) => write!(f, "; found none"),
                    Some(names) => write!(f, "; found {}", quoted(names)),
                    None => write!(f, "; found {found} without names"),
                }
            }
        }
    }
}

impl std::error::Error for BindError {}

tfrt_support::convert_errors!(BindError);

#[cold]
fn missing(def: &OpDef, attribute: &'static str, names: &[&str]) -> BindError {
    let is_declared = |name: &&&str| def.attributes.iter().any(|known| known.name == **name);
    let others = names.iter().filter(|name| !is_declared(name));
    BindError::Missing {
        op: def.name,
        attribute,
        others: others.map(|name| (*name).to_owned()).collect(),
    }
}

#[cold]
fn miscounted(def: &OpDef, found: usize, names: Option<&[&str]>) -> BindError {
    let required = def.attributes.iter().filter(|known| !known.is_optional());
    let required: Vec<&str> = required.map(|known| known.name).collect();
    BindError::Miscounted {
        op: def.name,
        num_optional: def.attributes.len() - required.len(),
        required,
        found,
        names: names.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
    }
}

/// Formats names as `` `a`, `b` ``.
pub(crate) fn quoted(names: &[impl fmt::Display]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constraint::AttrKind;

    static PAIR: OpDef = OpDef {
        attributes: &[
            AttrDef::new("first", AttrKind::I32),
            AttrDef::new("second", AttrKind::I32),
        ],
        ..OpDef::new("t.pair")
    };

    fn check(def: &OpDef, names: &[&str], expected: Result<Binding, &str>) {
        let found = bind(def, names.len(), Some(names)).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(String::from), "{names:?}");
    }

    #[test]
    fn fixed_names_are_found_wherever_they_stand() {
        check(&PAIR, &["first", "second"], Ok(Binding::InOrder));
        check(
            &PAIR,
            &["a", "first", "m", "second"],
            Ok(Binding::At(vec![Some(1), Some(3)])),
        );
        check(
            &PAIR,
            &["second", "first"],
            Ok(Binding::At(vec![Some(1), Some(0)])),
        );
        check(
            &PAIR,
            &["frist", "second"],
            Err("attribute `first` of `t.pair` is missing; found `frist`"),
        );
        check(
            &PAIR,
            &["first", "first", "second"],
            Err("attribute `first` of `t.pair` is given twice"),
        );
    }

    #[test]
    fn without_names_the_number_must_be_right() {
        assert_eq!(bind(&PAIR, 2, None), Ok(Binding::InOrder));
        assert_eq!(
            bind(&PAIR, 3, None).unwrap_err().to_string(),
            "`t.pair` takes 2 attributes (`first`, `second`); found 3 without names"
        );
    }

    #[test]
    fn an_optional_attribute_may_be_missing() {
        static TRIPLE: OpDef = OpDef {
            attributes: &[
                AttrDef::optional("axis", AttrKind::I32),
                AttrDef::new("first", AttrKind::I32),
                AttrDef::optional("mode", AttrKind::I32),
            ],
            ..OpDef::new("t.triple")
        };
        check(&TRIPLE, &["axis", "first", "mode"], Ok(Binding::InOrder));
        check(
            &TRIPLE,
            &["first"],
            Ok(Binding::At(vec![None, Some(0), None])),
        );
        check(
            &TRIPLE,
            &["first", "mode"],
            Ok(Binding::At(vec![None, Some(0), Some(1)])),
        );
        check(
            &TRIPLE,
            &["axis"],
            Err("attribute `first` of `t.triple` is missing"),
        );
        assert_eq!(bind(&TRIPLE, 3, None), Ok(Binding::InOrder));
        assert_eq!(
            bind(&TRIPLE, 1, None),
            Ok(Binding::At(vec![None, Some(0), None]))
        );
        assert_eq!(
            bind(&TRIPLE, 2, None).unwrap_err().to_string(),
            "`t.triple` takes 1 attribute (`first`), and up to 2 optional attributes; found 2 \
             without names"
        );
    }

    #[test]
    fn free_names_are_bound_by_position() {
        let free = OpDef {
            traits: OpTraits::FREE_ATTRIBUTE_NAMES,
            ..PAIR
        };
        check(&free, &["x", "y"], Ok(Binding::InOrder));
        check(
            &free,
            &["x"],
            Err("`t.pair` takes 2 attributes (`first`, `second`); found `x`"),
        );
    }

    #[test]
    fn an_op_that_takes_any_attributes_has_all_of_them() {
        let open = OpDef {
            traits: OpTraits::ANY_ATTRIBUTES,
            ..OpDef::new("t.open")
        };
        check(&open, &["a", "b", "c"], Ok(Binding::InOrder));
    }
}
