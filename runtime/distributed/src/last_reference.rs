//! The end of shared objects on the work queue, wherever their last reference is dropped.
//!
//! The end of a server, a context or a cluster calls waiters. Threads of the transport and of
//! timers must not run those.

use std::sync::Arc;

use tfrt_queue::{ConcurrentWorkQueue, Task};

/// Drops a reference. If it is the last one, its object ends in a task of the work queue.
pub(crate) fn drop_on_queue<T: Send + Sync + 'static>(
    queue: &Arc<dyn ConcurrentWorkQueue>,
    reference: Arc<T>,
) {
    if let Some(last) = Arc::into_inner(reference) {
        queue.add_task(Task::new(move || drop(last)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::thread::{ThreadId, current};

    use super::*;

    /// Tells which thread ends it.
    struct Telling(Sender<ThreadId>);

    impl Drop for Telling {
        fn drop(&mut self) {
            let _ = self.0.send(current().id());
        }
    }

    #[test]
    fn only_the_last_reference_ends_an_object_and_on_the_queue() {
        let host = crate::testing::host("mstd:1");
        let (sender, ended) = channel();
        let first = Arc::new(Telling(sender));
        let second = Arc::clone(&first);
        drop_on_queue(host.queue(), first);
        host.quiesce().unwrap();
        assert!(ended.try_recv().is_err());
        drop_on_queue(host.queue(), second);
        let thread = ended.recv_timeout(std::time::Duration::from_secs(60));
        assert_ne!(thread.unwrap(), current().id());
    }
}
