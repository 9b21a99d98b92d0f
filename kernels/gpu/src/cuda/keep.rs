//! Objects that live until a stream has reached a point, mainly host memory of copies.
//!
//! ```text
//!   keep ──► list ──┬── a caller that has synchronized the stream drops the objects before that point
//!                   └── a thread polls the events of the rest
//! ```
//!
//! A program that has synchronized a stream may use the host memory of its copies, so they are
//! dropped before the call returns. The thread is for programs that never synchronize. It polls
//! less and less often, and sleeps while there are no objects to keep. A callback of the driver
//! would avoid polling, but is not called once a stream has failed.
#![expect(unsafe_code, reason = "calls the driver")]

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use cudarc::driver::sys::CUevent;
use tfrt::host::log;

use super::call;
use super::object::Object;
use crate::api::Status;

/// An object, and the event behind which it may go.
struct Kept {
    /// The stream that the event is recorded in.
    stream: u64,
    /// The number of the object; later ones have larger numbers.
    number: u64,
    event: Object,
    _object: Box<dyn Any + Send>,
}

/// A point in the sequence of kept objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point(u64);

#[derive(Default)]
struct State {
    kept: Vec<Kept>,
    num_kept: u64,
    is_closed: bool,
}

#[derive(Default)]
struct List {
    state: Mutex<State>,
    /// Held from when objects are taken from the list until they are dropped.
    dropping: Mutex<()>,
    /// There is an object, or there will be none.
    has_changed: Condvar,
}

/// The kept objects, and the thread that drops those that nobody else drops.
pub(super) struct Keeper {
    list: Arc<List>,
    thread: Option<JoinHandle<()>>,
}

thread_local! {
    /// This thread drops objects.
    static IS_DROPPING: Cell<bool> = const { Cell::new(false) };
}

const SOON: Duration = Duration::from_micros(20);
const LATER: Duration = Duration::from_millis(2);

impl List {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the objects of which `may_go` holds. When it returns, nobody has them any more, even
    /// if another thread has taken them from the list.
    fn drop_where(&self, may_go: impl Fn(&Kept) -> bool) {
        // The drop of an object may come here again.
        if IS_DROPPING.replace(true) {
            return;
        }
        let dropping = self.dropping.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        let gone: Vec<Kept> = state.kept.extract_if(.., |kept| may_go(kept)).collect();
        drop(state);
        if catch_unwind(AssertUnwindSafe(|| drop(gone))).is_err() {
            log::error!("dropping an object after GPU work panicked");
        }
        drop(dropping);
        IS_DROPPING.set(false);
    }

    /// Polls until the keeper is dropped and nothing is left.
    fn poll(&self) {
        let mut pause = SOON;
        let mut num_seen = 0;
        loop {
            let mut state = self.lock();
            while state.kept.is_empty() {
                if state.is_closed {
                    return;
                }
                let waited = self.has_changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
            }
            let waited = self.has_changed.wait_timeout(state, pause);
            let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
            pause = match state.num_kept > num_seen {
                true => SOON,
                false => (pause * 2).min(LATER),
            };
            num_seen = state.num_kept;
            drop(state);
            self.drop_where(|kept| has_passed(&kept.event));
        }
    }
}

impl Keeper {
    /// Starts the thread. It ends when the keeper is dropped and nothing is left.
    pub(super) fn start() -> std::io::Result<Self> {
        let list = Arc::new(List::default());
        let polled = Arc::clone(&list);
        let thread = std::thread::Builder::new().name("gpu keeper".to_owned());
        let thread = thread.spawn(move || polled.poll())?;
        Ok(Self {
            list,
            thread: Some(thread),
        })
    }

    /// Keeps an object until an event of a stream is done.
    pub(super) fn keep(&self, stream: u64, event: Object, object: Box<dyn Any + Send>) {
        let mut state = self.list.lock();
        state.num_kept += 1;
        let number = state.num_kept;
        state.kept.push(Kept {
            stream,
            number,
            event,
            _object: object,
        });
        drop(state);
        self.list.has_changed.notify_one();
    }

    /// Returns the point behind the objects that are kept now.
    pub(super) fn point(&self) -> Point {
        Point(self.list.lock().num_kept)
    }

    /// Drops the objects of a stream before a point, all of whose work is done.
    pub(super) fn drop_before(&self, stream: u64, point: Point) {
        self.list
            .drop_where(|kept| kept.stream == stream && kept.number <= point.0);
    }

    /// Drops the objects whose events are done.
    pub(super) fn drop_passed(&self) {
        self.list.drop_where(|kept| has_passed(&kept.event));
    }
}

impl Drop for Keeper {
    /// Waits until nothing is left, so that no event outlives the implementation.
    fn drop(&mut self) {
        self.list.lock().is_closed = true;
        self.list.has_changed.notify_one();
        if let Some(thread) = self.thread.take()
            // A kept object may have been the last user of the implementation.
            && thread.thread().id() != std::thread::current().id()
        {
            // A panic there has been printed.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let num_kept = self.list.lock().kept.len();
        f.debug_struct("Keeper")
            .field("num_kept", &num_kept)
            .finish_non_exhaustive()
    }
}

/// Returns `true` if the work before an event is done, or will never be.
fn has_passed(event: &Object) -> bool {
    let functions = &event.context.functions;
    let result = call!(
        functions,
        "cuEventQuery(event)",
        cuEventQuery(event.number as CUevent)
    );
    !matches!(result, Err(error) if error.status == Status::NOT_READY)
}
