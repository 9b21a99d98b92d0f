//! A limit on the requests that are under way: a client cannot fill the memory of a task with
//! executions that wait forever.

use std::sync::Arc;

use tonic::Status;

use crate::budget::{Budget, Taken};

/// What a request takes in addition to its bytes, at least: its decoded form, its context, its
/// place in the work queue.
const OVERHEAD_BYTES: u64 = 1024;

/// The bytes of all requests that are under way.
#[derive(Debug)]
pub(crate) struct Pending(Arc<Budget>);

impl Pending {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self(Budget::new(max_bytes))
    }

    /// Admits a request of so many bytes, which is under way until the result is dropped.
    ///
    /// # Errors
    /// If there are too many with it.
    pub(crate) fn admit(&self, num_bytes: usize) -> Result<Taken, Status> {
        let mut admitted = self.0.begin();
        match admitted.take(num_bytes as u64 + OVERHEAD_BYTES) {
            true => Ok(admitted),
            false => Err(Status::resource_exhausted(format!(
                "the requests under way would exceed the limit of {} bytes",
                self.0.max_bytes()
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_admitted_while_there_is_room() {
        let pending = Pending::new(3 * OVERHEAD_BYTES);
        let first = pending.admit(0).unwrap();
        let _second = pending.admit(OVERHEAD_BYTES as usize).unwrap();
        assert_eq!(
            pending.admit(0).unwrap_err().message(),
            "the requests under way would exceed the limit of 3072 bytes"
        );
        drop(first);
        assert!(pending.admit(1).is_err());
        assert!(pending.admit(0).is_ok());
    }
}
