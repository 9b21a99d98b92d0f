//! Locations: where ops come from.

use crate::ids::AttrId;

pub(crate) use crate::ids::LocationId;

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
    /// A range in a file.
    FileRange {
        /// The file, as its producer named it.
        file: Box<str>,
        /// The first line.
        line: u32,
        /// The column where the range starts, in bytes.
        column: u32,
        /// The last line.
        end_line: u32,
        /// The column where the range ends, in bytes.
        end_column: u32,
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
    /// Several locations at once, created by
    /// [`Module::fused_location`](crate::Module::fused_location).
    Fused {
        /// The members, distinct and known.
        members: Box<[LocationId]>,
        /// Additional data from the producer.
        metadata: Option<AttrId>,
    },
}
