//! The limits of a reader, independent of the file.
//!
//! Only section sizes and locations need limits: everything else is bounded by the size of the
//! file, since tables are read entry by entry and bodies and records do not overlap.

/// The maximum number of bytes in a section: offsets into sections have 32 bits.
pub const MAX_SECTION_BYTES: u64 = u32::MAX as u64;

/// The maximum nesting depth of a location. A deeper one is treated as out of range.
pub const MAX_LOCATION_NESTING: u32 = 64;

/// The maximum number of records in one location. A larger one is treated as out of range.
pub const MAX_LOCATION_RECORDS: u32 = 1 << 14;

/// The maximum total number of bytes in the names of one location. A larger one is treated as out
/// of range.
pub const MAX_LOCATION_TEXT_BYTES: usize = 1 << 20;
