//! Objects that live until a stream has reached a point, mainly host memory of copies.
//!
//! ```text
//!   keep ──► list ──┬── a thread that polls drops what the device has passed
//!                   └── a caller that has waited drops the borrows among it
//! ```
//!
//! A program that has waited for a copy may use its host memory, so the borrows of host memory are
//! dropped before the call returns. The thread is for programs that never wait, and for all other
//! objects: their drop may wait for the device, which may itself wait for the work that a caller is
//! about to enqueue. The thread polls less and less often, and sleeps while there is nothing to
//! keep. A callback of the driver would avoid polling, but is not called once a stream has failed.
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

use super::object::{Context, report};
use super::real_call;
use crate::api::Status;

/// An object that the device may need.
pub(super) struct Held {
    is_borrow: bool,
    _object: Box<dyn Any + Send>,
}

impl Held {
    /// A borrow of host memory. Its drop neither waits nor calls the driver.
    pub(super) fn borrow(object: Box<dyn Any + Send>) -> Self {
        Self {
            is_borrow: true,
            _object: object,
        }
    }

    /// Any other object.
    pub(super) fn object(object: Box<dyn Any + Send>) -> Self {
        Self {
            is_borrow: false,
            _object: object,
        }
    }
}

/// An event of the implementation itself.
///
/// Its calls do not fail on request, and are not counted.
pub(super) struct Mark {
    /// The driver's pointer.
    pub(super) number: u64,
    pub(super) context: Arc<Context>,
}

/// An object, and the event behind which it may go.
struct Kept {
    mark: Mark,
    /// Nothing, once a borrow is dropped.
    held: Option<Held>,
}

#[derive(Default)]
struct State {
    kept: Vec<Kept>,
    num_kept: u64,
    is_closed: bool,
}

#[derive(Default)]
struct List {
    state: Mutex<State>,
    /// Held from when borrows are taken from the list until they are dropped.
    dropping: Mutex<()>,
    /// Notified when an object is added and when the keeper is dropped.
    has_changed: Condvar,
}

/// The kept objects, and the thread that drops those that nobody else drops.
pub(super) struct Keeper {
    list: Arc<List>,
    thread: Option<JoinHandle<()>>,
}

thread_local! {
    /// This thread drops borrows.
    static IS_DROPPING: Cell<bool> = const { Cell::new(false) };
}

const SOON: Duration = Duration::from_micros(20);
const LATER: Duration = Duration::from_millis(2);

impl List {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the borrows that the device has passed. When it returns, none of them exists, even if
    /// another thread has taken them from the list.
    fn drop_borrows(&self) {
        // The drop of a borrow may come here again.
        if IS_DROPPING.replace(true) {
            return;
        }
        let dropping = self.dropping.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.lock();
        let borrows = state.kept.iter_mut().filter(|kept| kept.is_borrow());
        let passed = borrows.filter(|kept| kept.mark.has_passed());
        let gone: Vec<Held> = passed.filter_map(|kept| kept.held.take()).collect();
        drop(state);
        drop_all(gone);
        drop(dropping);
        IS_DROPPING.set(false);
    }

    /// Drops the objects that the device has passed, and the events of dropped borrows. May wait
    /// for the device.
    fn drop_objects(&self) {
        let mut state = self.lock();
        let passed = |kept: &mut Kept| !kept.is_borrow() && kept.mark.has_passed();
        let gone: Vec<Kept> = state.kept.extract_if(.., passed).collect();
        drop(state);
        drop_all(gone);
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
            self.drop_borrows();
            self.drop_objects();
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

    /// Keeps an object until an event is done.
    pub(super) fn keep(&self, mark: Mark, held: Held) {
        let mut state = self.list.lock();
        state.num_kept += 1;
        let held = Some(held);
        state.kept.push(Kept { mark, held });
        drop(state);
        self.list.has_changed.notify_one();
    }

    /// Drops the borrows whose events are done. Does not wait for the device.
    pub(super) fn drop_passed(&self) {
        self.list.drop_borrows();
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

impl Kept {
    fn is_borrow(&self) -> bool {
        self.held.as_ref().is_some_and(|held| held.is_borrow)
    }
}

impl Mark {
    /// Returns `true` if the work before the event is done, or will never be.
    fn has_passed(&self) -> bool {
        let functions = &self.context.functions;
        let result = real_call!(
            functions,
            "cuEventQuery(event)",
            cuEventQuery(self.number as CUevent)
        );
        !matches!(result, Err(error) if error.status == Status::NOT_READY)
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        let functions = &self.context.functions;
        report(real_call!(
            functions,
            "cuEventDestroy(event)",
            cuEventDestroy_v2(self.number as CUevent)
        ));
    }
}

fn drop_all<T>(gone: Vec<T>) {
    if catch_unwind(AssertUnwindSafe(|| drop(gone))).is_err() {
        log::error!("dropping an object after GPU work panicked");
    }
}
