//! Starting the threads of a queue.

use std::io;

use crate::sync::thread::{self, JoinHandle};

/// The stack of every thread of a queue: kernels are not written for small ones.
#[cfg(not(loom))]
const STACK_BYTES: usize = 8 << 20;

/// Starts the threads of a queue.
#[derive(Debug, Default)]
pub(super) struct Spawner {
    #[cfg(test)]
    pub(super) limit: ThreadLimit,
}

impl Spawner {
    /// Starts a thread.
    ///
    /// # Errors
    /// Fails if the system refuses another thread.
    pub(super) fn spawn(
        &self,
        name: String,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<JoinHandle<()>> {
        #[cfg(test)]
        self.limit.take_one()?;
        let builder = thread::Builder::new().name(name);
        // Loom's threads have small stacks, and there are thousands of them.
        #[cfg(not(loom))]
        let builder = builder.stack_size(STACK_BYTES);
        builder.spawn(run)
    }
}

/// Stands in for the limits of the system in tests.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct ThreadLimit(std::sync::atomic::AtomicIsize);

#[cfg(test)]
impl Default for ThreadLimit {
    fn default() -> Self {
        Self(isize::MAX.into())
    }
}

#[cfg(test)]
impl ThreadLimit {
    /// Lets `num_threads` more threads start.
    pub(super) fn set(&self, num_threads: isize) {
        self.0
            .store(num_threads, std::sync::atomic::Ordering::SeqCst);
    }

    fn take_one(&self) -> io::Result<()> {
        let num_left = self.0.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        if num_left > 0 {
            Ok(())
        } else {
            Err(io::ErrorKind::WouldBlock.into())
        }
    }
}
