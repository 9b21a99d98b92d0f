//! Limits of encodings, stricter than those of the format.

/// The maximum nesting depth of aggregates: an aggregate that holds only numbers has depth 1.
pub const MAX_NESTING: u32 = 64;

/// The maximum number of elements of an aggregate: the header has 16 bits for the size of its
/// offset table.
pub const MAX_AGGREGATE_LEN: usize = 16_380;

/// The highest rank of a dense attribute: the header holds the size of its dimension list in 16
/// bits.
pub const MAX_DENSE_RANK: usize = (u16::MAX as usize - 20) / 8;
