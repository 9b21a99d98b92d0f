//! The datasets, one file each.

pub(crate) mod range;

pub(crate) mod values;

pub(crate) mod map;

pub(crate) mod parallel_map;

pub(crate) mod filter;

pub(crate) mod batch;

pub(crate) mod map_and_batch;

pub(crate) mod padded_batch;

pub(crate) mod prefetch;

pub(crate) mod repeat;

pub(crate) mod skip;

pub(crate) mod interleave;

pub(crate) mod shuffle;

pub(crate) mod memory;

pub(crate) mod take;

pub(crate) mod shard;

pub(crate) mod even_shard;

pub(crate) mod zip;

pub(crate) mod concatenate;

pub(crate) mod unbatch;

pub(crate) mod window;

pub(crate) mod number;

pub(crate) mod scan;

pub(crate) mod cache;

pub(crate) mod choose;

pub(crate) mod on_error;

pub(crate) mod options;

pub(crate) mod assert_cardinality;

pub(crate) mod unique;

pub(crate) mod group_by_window;

pub(crate) mod resample;

pub(crate) mod generator;

pub(crate) mod ragged_batch;

mod degree;

mod copies;

mod row;

mod signal;

mod dropping;

mod replay;

mod whole;

mod gather;

/// The number of results that a stage draws past a known end if its definition requires a number of
/// draws: a program chooses this number, which may be too large to count to.
pub(crate) const MAX_DRAWS_PAST_END: u64 = 1 << 20;
