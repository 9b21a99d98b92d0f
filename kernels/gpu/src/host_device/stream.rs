//! Streams: queues of work, each with a thread; and events: places in them.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Instant;

use super::HostDevice;
use super::fault::Fault;
use super::order::{self, Before, Clock, Life, Moment};
use crate::api::handle::ContextHandle;
use crate::values::lock;

/// A piece of work.
pub(super) type Work = Box<dyn FnOnce(&HostDevice) -> Result<(), Fault> + Send>;

/// A piece of work that can run any number of times.
pub(super) type RecordedWork = Box<dyn Fn(&HostDevice) -> Result<(), Fault> + Send + Sync>;

/// What a stream has been asked for since a capture began.
#[derive(Default)]
pub(super) struct Recording {
    pub(super) work: Vec<RecordedWork>,
    /// Objects that the work needs.
    pub(super) kept: Vec<Box<dyn Any + Send>>,
    /// The reason why the work cannot become a graph.
    pub(super) refusal: Option<String>,
}

/// A stream.
pub(super) struct Queue {
    life: Arc<Life>,
    pub(super) context: ContextHandle,
    state: Mutex<State>,
    /// There is work, or there will be none.
    has_work: Condvar,
    /// A piece of work is done.
    has_done: Condvar,
}

#[derive(Default)]
struct State {
    work: VecDeque<(Moment, Work)>,
    before: Before,
    /// The number of enqueued pieces of work so far, and of completed ones.
    num_enqueued: u64,
    num_done: u64,
    is_closed: bool,
    has_thread: bool,
    /// Set during a capture.
    recording: Option<Recording>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = lock(&self.state);
        f.debug_struct("Queue")
            .field("num_enqueued", &state.num_enqueued)
            .field("num_done", &state.num_done)
            .finish_non_exhaustive()
    }
}

impl Queue {
    pub(super) fn new(id: u64, context: ContextHandle) -> Self {
        Self {
            life: Life::new(id),
            context,
            state: Mutex::default(),
            has_work: Condvar::new(),
            has_done: Condvar::new(),
        }
    }

    /// Enqueues work. The thread is started with the first piece. Work that is refused is dropped.
    pub(super) fn push(
        self: &Arc<Self>,
        device: &Arc<HostDevice>,
        work: Work,
    ) -> Result<(), Refusal> {
        let mut state = lock(&self.state);
        // The thread may have ended.
        if state.is_closed {
            return Err(Refusal::Closed);
        }
        if !state.has_thread {
            let (queue, device) = (Arc::clone(self), Arc::downgrade(device));
            let thread = std::thread::Builder::new().name("gpu stream".into());
            if thread.spawn(move || queue.run(&device)).is_err() {
                return Err(Refusal::NoThread);
            }
            state.has_thread = true;
        }
        state.num_enqueued += 1;
        if device.options.checks_order {
            state.before.join_seen(&lock(&device.seen));
        }
        let moment = Moment {
            life: Arc::clone(&self.life),
            place: state.num_enqueued,
            before: state.before.clone(),
        };
        state.work.push_back((moment, work));
        drop(state);
        self.has_work.notify_one();
        Ok(())
    }

    /// Begins a capture. Returns `false` if there is one already.
    pub(super) fn begin_recording(&self) -> bool {
        let mut state = lock(&self.state);
        let is_first = state.recording.is_none();
        state.recording.get_or_insert_default();
        is_first
    }

    /// Ends the capture and returns what it has recorded, or `None` if there is no capture.
    pub(super) fn end_recording(&self) -> Option<Recording> {
        lock(&self.state).recording.take()
    }

    /// Calls `change` with the recording. Outside of a capture, does nothing and returns `false`.
    pub(super) fn record(&self, change: impl FnOnce(&mut Recording)) -> bool {
        let mut state = lock(&self.state);
        let recording = state.recording.as_mut();
        recording.map(change).is_some()
    }

    /// Makes the capture fail with a reason. Outside of a capture, does nothing and returns
    /// `false`.
    pub(super) fn refuse_recording(&self, reason: &str) -> bool {
        self.record(|recording| {
            recording.refusal.get_or_insert_with(|| reason.to_owned());
        })
    }

    /// Runs work until the stream is closed and empty.
    fn run(&self, device: &Weak<HostDevice>) {
        loop {
            let (moment, work) = {
                let mut state = lock(&self.state);
                loop {
                    if let Some(work) = state.work.pop_front() {
                        break work;
                    }
                    if state.is_closed {
                        return;
                    }
                    state = self
                        .has_work
                        .wait(state)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            };
            // Work of a device that is gone is nobody's any more.
            if let Some(device) = device.upgrade() {
                order::run(moment, || device.run(self.context, work));
            }
            lock(&self.state).num_done += 1;
            self.has_done.notify_all();
        }
    }

    /// Lets the thread end once all work is done.
    pub(super) fn close(&self) {
        let mut state = lock(&self.state);
        state.is_closed = true;
        self.life.close(state.num_enqueued);
        drop(state);
        self.has_work.notify_one();
    }

    /// Lets the next piece of work come after all that `clock` has.
    pub(super) fn join(&self, clock: &Clock) {
        lock(&self.state).before.clock.join(clock);
    }

    /// Returns the place after all enqueued work, and all that comes before that place. Work that
    /// another thread enqueues meanwhile is in both or in neither.
    pub(super) fn now(&self) -> (u64, Clock) {
        let state = lock(&self.state);
        let mut clock = state.before.clock.clone();
        clock.add(&self.life, state.num_enqueued);
        (state.num_enqueued, clock)
    }

    /// Returns the place after all enqueued work.
    pub(super) fn end(&self) -> u64 {
        lock(&self.state).num_enqueued
    }

    /// Returns `true` if all work before a place is done.
    pub(super) fn is_past(&self, place: u64) -> bool {
        lock(&self.state).num_done >= place
    }

    /// Waits until all work before a place is done.
    pub(super) fn wait_for(&self, place: u64) {
        let mut state = lock(&self.state);
        while state.num_done < place {
            state = self
                .has_done
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The reasons why a stream accepts no work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It was destroyed.
    Closed,
    /// Its thread cannot be started.
    NoThread,
}

/// An event.
#[derive(Debug)]
pub(super) struct HostEvent {
    pub(super) context: ContextHandle,
    pub(super) has_timing: bool,
    /// What comes before the last record.
    pub(super) clock: Clock,
    /// The last record.
    pub(super) place: Option<(Arc<Queue>, u64)>,
    /// When the work before the last record was done.
    pub(super) time: Arc<Mutex<Option<Instant>>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::Current;
    use crate::api::handle::StreamHandle;

    #[test]
    fn a_closed_stream_refuses_work() {
        let device = HostDevice::new(super::super::Options::default());
        let queue = Arc::new(Queue::new(1, ContextHandle(1)));
        queue.push(&device, Box::new(|_| Ok(()))).unwrap();
        queue.close();
        let late = queue.push(&device, Box::new(|_| Ok(())));
        assert_eq!(late, Err(Refusal::Closed));
        queue.wait_for(queue.end());
    }

    #[test]
    fn clocks_do_not_grow_with_streams_that_are_gone() {
        let device = HostDevice::new(super::super::Options {
            checks_order: true,
            ..super::super::Options::default()
        });
        let driver = &HostDevice::gpu(&device).driver;
        driver.init().unwrap();
        let context = driver.context_create(driver.device(0).unwrap()).unwrap();
        let current = &Current::set(&**driver, context).unwrap();
        let word = driver.memory_allocate(current, 4).unwrap();
        let main = driver.stream_create(current).unwrap();
        let event = driver.event_create(current, false).unwrap();
        for round in 0..20 {
            let stream = driver.stream_create(current).unwrap();
            let set = |stream| driver.set_u32_async(current, word, 1, 1, stream).unwrap();
            set(stream);
            driver.event_record(event, stream).unwrap();
            driver.stream_wait_event(main, event).unwrap();
            set(main);
            // The stream is destroyed before the host waits, or afterwards.
            if round % 2 == 0 {
                driver.stream_destroy(stream).unwrap();
            }
            driver.stream_synchronize(main).unwrap();
            if round % 2 == 1 {
                driver.stream_destroy(stream).unwrap();
            }
        }
        driver.event_record(event, main).unwrap();
        enqueue(&device, main);
        let queue = device.find_queue(main).unwrap();
        let (_, clock) = queue.now();
        assert_eq!(clock.num_streams(), 1);
        assert_eq!(lock(&device.seen).clock().num_streams(), 1);
        assert!(device.unordered_accesses().is_empty());
        driver.event_destroy(event).unwrap();
        driver.stream_destroy(main).unwrap();
        driver.memory_free(word).unwrap();
        driver.context_destroy(context).unwrap();
    }

    /// Enqueues a piece of work, which brings the clock of the stream up to date.
    fn enqueue(device: &Arc<HostDevice>, stream: StreamHandle) {
        let queue = device.find_queue(stream).unwrap();
        queue.push(device, Box::new(|_| Ok(()))).unwrap();
    }
}
