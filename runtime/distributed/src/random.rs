//! Numbers that are unique across processes.

use std::hash::{BuildHasher, RandomState};

/// Returns a random number that is not 0.
pub(crate) fn non_zero() -> u64 {
    loop {
        // Every state has keys of its own, and the first of a thread takes them from the system.
        let number = RandomState::new().hash_one(std::time::Instant::now());
        if number != 0 {
            return number;
        }
    }
}
