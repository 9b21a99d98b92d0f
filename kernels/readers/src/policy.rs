//! What follows an error in a file: the policy of datasets, by its name among the readers.
//!
//! A reader that skips an error goes on with the next record. Records that are skipped are counted,
//! and the count is logged at the end of the pass.

pub use tfrt_data::OnError;
