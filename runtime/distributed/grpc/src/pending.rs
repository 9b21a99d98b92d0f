//! A limit on the requests that are under way: a client cannot fill the memory of a task with
//! executions that wait for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tonic::Status;

/// What a request takes in addition to its bytes, at least: its decoded form, its context, its
/// place in the work queue.
const OVERHEAD_BYTES: u64 = 1024;

/// The bytes of all requests that are under way.
#[derive(Debug)]
pub(crate) struct Pending {
    max_bytes: u64,
    num_bytes: Arc<AtomicU64>,
}

/// A request that is under way until this is dropped.
#[derive(Debug)]
pub(crate) struct Admitted {
    num_bytes: u64,
    all: Arc<AtomicU64>,
}

impl Pending {
    pub(crate) fn new(max_bytes: u64) -> Self {
        Self {
            max_bytes,
            num_bytes: Arc::default(),
        }
    }

    /// Admits a request of so many bytes.
    ///
    /// # Errors
    /// If there are too many with it.
    pub(crate) fn admit(&self, num_bytes: usize) -> Result<Admitted, Status> {
        let num_bytes = num_bytes as u64 + OVERHEAD_BYTES;
        // Relaxed: the sum orders nothing else.
        let before = self.num_bytes.fetch_add(num_bytes, Ordering::Relaxed);
        let admitted = Admitted {
            num_bytes,
            all: Arc::clone(&self.num_bytes),
        };
        match before + num_bytes <= self.max_bytes {
            true => Ok(admitted),
            false => Err(Status::resource_exhausted(format!(
                "the requests under way would exceed the limit of {} bytes",
                self.max_bytes
            ))),
        }
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        // Relaxed: as above.
        self.all.fetch_sub(self.num_bytes, Ordering::Relaxed);
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
