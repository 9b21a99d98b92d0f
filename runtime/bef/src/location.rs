//! Locations: where operations come from.

use tfrt_support::Place;

/// A location, as a tree.
///
/// ```
/// use tfrt_bef::BefLocation;
///
/// let file = BefLocation::File { file: "f.py".into(), line: 1, column: 2 };
/// assert_eq!(file.place().to_string(), "f.py:1:2");
/// let named = BefLocation::Name { name: "conv".into(), child: Box::new(file) };
/// assert_eq!(named.place().to_string(), "f.py;1;2(conv)");
/// assert_eq!(named.debug_name(), Some("conv"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BefLocation {
    /// An unknown location.
    Unknown,
    /// A position in a file.
    File {
        /// The file, as its producer named it.
        file: String,
        /// The line, from 1.
        line: u32,
        /// The column, from 1.
        column: u32,
    },
    /// A name for another location.
    Name {
        /// The name.
        name: String,
        /// The named location; [`BefLocation::Unknown`] for a bare name.
        child: Box<BefLocation>,
    },
    /// A location that was inlined into another one.
    CallSite {
        /// The location inside the callee.
        callee: Box<BefLocation>,
        /// The location of the call.
        caller: Box<BefLocation>,
    },
    /// Several locations at once.
    Fused(Vec<BefLocation>),
}

impl BefLocation {
    /// Returns the location for people.
    #[must_use]
    pub fn place(&self) -> Place {
        match self {
            Self::File { file, line, column } => Place::file(file.as_str(), *line, *column),
            other => {
                let mut text = String::new();
                other.push_text(&mut text);
                Place::Text(text.into())
            }
        }
    }

    fn push_text(&self, text: &mut String) {
        match self {
            Self::Unknown => text.push_str("(unknown)"),
            Self::File { file, line, column } => text.push_str(&format!("{file};{line};{column}")),
            Self::Name { name, child } if **child == Self::Unknown => text.push_str(name),
            Self::Name { name, child } => {
                child.push_text(text);
                text.push('(');
                text.push_str(name);
                text.push(')');
            }
            Self::CallSite { callee, caller } => {
                callee.push_text(text);
                text.push_str("<-");
                caller.push_text(text);
            }
            Self::Fused(members) => {
                for (index, member) in members.iter().enumerate() {
                    if index != 0 {
                        text.push(',');
                    }
                    member.push_text(text);
                }
            }
        }
    }

    /// Returns the debug name of the operation: that of the location, of a callee, or of the first
    /// named member.
    #[must_use]
    pub fn debug_name(&self) -> Option<&str> {
        match self {
            Self::CallSite { callee, .. } => callee.own_name(),
            Self::Fused(members) => members.iter().find_map(Self::own_name),
            other => other.own_name(),
        }
    }

    fn own_name(&self) -> Option<&str> {
        match self {
            Self::Name { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Returns the place that represents a location out of range.
pub(crate) fn out_of_range() -> Place {
    Place::file("", u32::MAX, u32::MAX)
}
