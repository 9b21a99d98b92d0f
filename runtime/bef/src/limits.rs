//! What a reader takes at most, whatever a file says.
//!
//! Beside the size of sections only locations need limits: everything else is bounded by the bytes that there are, because
//! tables are read entry by entry and no body or record overlaps another.

/// How many bytes a section may have: offsets into sections have 32 bits.
pub const MAX_SECTION_BYTES: u64 = u32::MAX as u64;

/// How deep a location may nest. A deeper one reads as one that is out of range.
pub const MAX_LOCATION_NESTING: u32 = 64;

/// How many records one location may have. A larger one reads as one that is out of range.
pub const MAX_LOCATION_RECORDS: u32 = 1 << 14;

/// How many bytes the names of one location may have together. A larger one reads as one that is out of range.
pub const MAX_LOCATION_TEXT_BYTES: usize = 1 << 20;
