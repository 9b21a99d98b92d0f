//! Locations: where ops come from.

use std::fmt::Write as _;

use tfrt_support::Place;

use crate::attribute::AttrId;
use crate::module::Module;
use crate::print::attributes::{print_attribute, print_string};

tfrt_support::define_id! {
    /// A location of a [`Module`]; equal ids mean equal locations.
    pub struct LocationId("loc");
}

/// A location. Locations inside it are ids of the same module.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// Unknown.
    Unknown,
    /// A position in a file, counted from 1.
    File {
        /// The file, as its producer named it.
        file: Box<str>,
        /// The line.
        line: u32,
        /// The column, in bytes.
        column: u32,
    },
    /// A name of another location, which is [`Location::Unknown`] if there is none.
    Name {
        /// The name.
        name: Box<str>,
        /// The named location, which is not itself a name.
        child: LocationId,
    },
    /// A call.
    CallSite {
        /// The location of the callee.
        callee: LocationId,
        /// The location of the call.
        caller: LocationId,
    },
    /// Several locations at once, created by [`Module::fused_location`].
    Fused {
        /// The members, distinct and known.
        members: Box<[LocationId]>,
        /// Additional data from the producer.
        metadata: Option<AttrId>,
    },
}

impl Module {
    /// Returns the unknown location.
    pub fn unknown_location(&mut self) -> LocationId {
        self.intern_location(Location::Unknown)
    }

    /// Returns a position in a file.
    pub fn file_location(&mut self, file: &str, line: u32, column: u32) -> LocationId {
        self.intern_location(Location::File {
            file: file.into(),
            line,
            column,
        })
    }

    /// Returns several locations as one: members of fused locations with the same metadata are
    /// flattened, unknown and repeated ones are dropped, and without metadata a single member
    /// represents itself.
    pub fn fused_location(
        &mut self,
        locations: &[LocationId],
        metadata: Option<AttrId>,
    ) -> LocationId {
        let mut members: Vec<LocationId> = Vec::new();
        for &location in locations {
            match self.location(location) {
                Location::Fused {
                    members: inner,
                    metadata: same,
                } if *same == metadata => {
                    members.extend(inner.iter().copied());
                }
                Location::Unknown => {}
                _ => members.push(location),
            }
        }
        let mut seen = std::collections::HashSet::new();
        members.retain(|member| seen.insert(*member));
        match (members.as_slice(), metadata) {
            ([], None) => self.unknown_location(),
            ([one], None) => *one,
            ([], Some(_)) => {
                let unknown = self.unknown_location();
                self.intern_location(Location::Fused {
                    members: [unknown].into(),
                    metadata,
                })
            }
            _ => self.intern_location(Location::Fused {
                members: members.into(),
                metadata,
            }),
        }
    }

    /// Returns the place to show for a location: its first position in a file, otherwise its text.
    #[must_use]
    pub fn place(&self, location: LocationId) -> Place {
        let mut pending = vec![location];
        while let Some(next) = pending.pop() {
            match self.location(next) {
                Location::File { file, line, column } => {
                    return Place::file(&**file, *line, *column);
                }
                Location::Unknown => {}
                Location::Name { child, .. } => pending.push(*child),
                Location::CallSite { callee, caller } => pending.extend([*caller, *callee]),
                Location::Fused { members, .. } => pending.extend(members.iter().rev()),
            }
        }
        match self.location(location) {
            Location::Unknown => Place::Unknown,
            _ => Place::Text(format!("loc({})", location_text(self, location)).into()),
        }
    }
}

/// Returns the text between the parentheses of `loc(…)`.
#[must_use]
pub fn location_text(module: &Module, location: LocationId) -> String {
    let mut out = String::new();
    write_location(module, location, &mut out);
    out
}

fn write_location(module: &Module, location: LocationId, out: &mut String) {
    match module.location(location) {
        Location::Unknown => out.push_str("unknown"),
        Location::File { file, line, column } => {
            print_string(file.as_bytes(), out);
            let _ = write!(out, ":{line}:{column}");
        }
        Location::Name { name, child } => {
            print_string(name.as_bytes(), out);
            if *module.location(*child) != Location::Unknown {
                out.push('(');
                write_location(module, *child, out);
                out.push(')');
            }
        }
        Location::CallSite { callee, caller } => {
            out.push_str("callsite(");
            write_location(module, *callee, out);
            out.push_str(" at ");
            write_location(module, *caller, out);
            out.push(')');
        }
        Location::Fused { members, metadata } => {
            out.push_str("fused");
            if let Some(metadata) = metadata {
                out.push('<');
                print_attribute(module, *metadata, out);
                out.push('>');
            }
            out.push('[');
            for (index, member) in members.iter().enumerate() {
                if index != 0 {
                    out.push_str(", ");
                }
                write_location(module, *member, out);
            }
            out.push(']');
        }
    }
}
