//! Locations of a program: making them, and the place to show for one.

use tfrt_support::Place;

use crate::ids::{AttrId, LocationId};
use crate::location::Location;
use crate::module::Module;
use crate::print::attributes::location_text;

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
                Location::File { file, line, column }
                | Location::FileRange {
                    file, line, column, ..
                } => {
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
