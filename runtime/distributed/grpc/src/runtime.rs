//! The threads of the network.

use std::io;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::runtime::{Builder, Handle, Runtime};

/// The most threads that serve the sockets of a process. They do only what takes little time.
const MAX_THREADS: usize = 2;

/// Returns the number of threads that serve the sockets of this process. Where several tasks share
/// a few processors, a second one costs more changes of threads than it saves: an all-reduce of
/// 1 KiB by four tasks on two processors takes 1.16 times as long.
fn num_threads() -> usize {
    let num_processors = std::thread::available_parallelism().map_or(1, usize::from);
    (num_processors / 4).clamp(1, MAX_THREADS)
}

/// The threads that serve sockets, shared by all communicators of a process. They end with the last
/// communicator, client, connection and call.
#[derive(Debug)]
pub(crate) struct NetworkThreads {
    /// None while it is dropped.
    runtime: Option<Runtime>,
}

static SHARED: Mutex<Weak<NetworkThreads>> = Mutex::new(Weak::new());

impl NetworkThreads {
    /// Returns the threads of this process.
    pub(crate) fn shared() -> io::Result<Arc<Self>> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(threads) = shared.upgrade() {
            return Ok(threads);
        }
        let runtime = Builder::new_multi_thread()
            .worker_threads(num_threads())
            .thread_name("tfrt-grpc")
            .enable_all()
            .build()?;
        let threads = Arc::new(Self {
            runtime: Some(runtime),
        });
        *shared = Arc::downgrade(&threads);
        Ok(threads)
    }

    pub(crate) fn handle(&self) -> &Handle {
        let runtime = self.runtime.as_ref();
        runtime
            .expect("the runtime is there until the drop")
            .handle()
    }
}

impl Drop for NetworkThreads {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Does not wait: the last communicator may be dropped on one of the threads themselves.
            runtime.shutdown_background();
        }
    }
}
