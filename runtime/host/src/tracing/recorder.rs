//! The sink that keeps everything, for a file that viewers open.
//!
//! Each thread writes to its own *track*, under a lock that is contended only while the file is
//! written. Expensive work is left to the writer: decoding places, and finding the producer of each
//! value that a kernel reads.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::sink::{Activity, Arrival, KernelRun, TracingSink};
use crate::kernel::location::LocationSource;

mod chrome;

/// The number of slices kept for each thread by default: about 200 MB of kernels.
const DEFAULT_CAPACITY: usize = 1 << 20;

/// Keeps every activity in memory, and writes them as a file in Chrome's trace event format, which
/// the viewer of Perfetto (<https://ui.perfetto.dev>) opens.
///
/// The file has a track for each thread, with a slice for each scope, and for each kernel with its
/// place in the source, stream and invocation; a span from the start of an asynchronous kernel
/// until its last result is available; an arrow from the kernel that produced a value to each
/// kernel that reads it; a track for each stage of an input pipeline, with a span for each draw of
/// an element; a track for each stream of a device; and a curve of the number of waiting tasks. An
/// arrow never leads to a kernel that started before the value was produced, as non-strict kernels
/// may.
///
/// See [the module](super) for an example.
pub struct TraceRecorder {
    /// Unique among recorders.
    number: u64,
    start: Instant,
    capacity: usize,
    tracks: Mutex<Vec<Arc<Track>>>,
}

/// The activities of one thread.
struct Track {
    thread: String,
    records: Mutex<Records>,
}

#[derive(Default)]
struct Records {
    /// In the order in which they began.
    slices: Vec<Slice>,
    /// The indices of the open scopes among the slices; `None` for those that are not kept.
    open: Vec<Option<usize>>,
    events: Vec<Event>,
    samples: Vec<Sample>,
    arrivals: Vec<Arrived>,
    spans: Vec<NamedSpan>,
    device_work: Vec<DeviceWork>,
    num_dropped: usize,
}

/// A scope. Times are in nanoseconds since the start of the recorder.
struct Slice {
    name: Cow<'static, str>,
    start_ns: u64,
    /// `None` while it is open.
    end_ns: Option<u64>,
    kernel: Option<Box<Kernel>>,
}

/// The properties of a slice that is the run of a kernel.
struct Kernel {
    place: Option<(Arc<dyn LocationSource>, u32)>,
    invocation: u64,
    stream: Option<u32>,
    operands: Box<[u32]>,
    results: Box<[u32]>,
}

struct Event {
    name: String,
    at_ns: u64,
}

/// The value of a quantity.
struct Sample {
    name: &'static str,
    at_ns: u64,
    value: u64,
}

/// A result of a kernel that became available later.
struct Arrived {
    kernel: &'static str,
    invocation: u64,
    register: u32,
    /// When the kernel had returned.
    since_ns: u64,
    at_ns: u64,
}

/// What belongs to no thread.
struct NamedSpan {
    track: Arc<str>,
    start_ns: u64,
    end_ns: u64,
}

/// The work of a device.
struct DeviceWork {
    track: Arc<str>,
    name: Box<str>,
    start_ns: u64,
    end_ns: u64,
}

thread_local! {
    /// The track of this thread, and the number of its recorder.
    static TRACK: RefCell<Option<(u64, Arc<Track>)>> = const { RefCell::new(None) };
}

impl TraceRecorder {
    /// Creates a recorder that keeps a million slices for each thread.
    #[must_use]
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY)
    }

    /// Creates a recorder that keeps `capacity` slices for each thread, and as many events and
    /// samples; later ones are only counted.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        // Relaxed: only uniqueness matters; it orders no other memory.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            start: Instant::now(),
            capacity,
            tracks: Mutex::default(),
        }
    }

    /// Returns the number of slices, events, spans and samples that were not kept because of the
    /// capacity.
    #[must_use]
    pub fn num_dropped(&self) -> usize {
        let tracks = lock(&self.tracks);
        tracks
            .iter()
            .map(|track| lock(&track.records).num_dropped)
            .sum()
    }

    /// Writes everything recorded so far. Open scopes end now. Threads that record something wait
    /// meanwhile.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write(&self, out: impl io::Write) -> io::Result<()> {
        let tracks = lock(&self.tracks);
        let threads = tracks
            .iter()
            .map(|track| (&*track.thread, lock(&track.records)));
        let threads: Vec<_> = threads.collect();
        chrome::write(&threads, self.now_ns(), out)
    }

    fn now_ns(&self) -> u64 {
        self.ns_of(Instant::now())
    }

    /// Returns the time since the start of the recorder.
    fn ns_of(&self, time: Instant) -> u64 {
        let elapsed = time.saturating_duration_since(self.start);
        // 64 bits of nanoseconds are 584 years.
        u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Records something on the track of this thread. Does nothing if the thread is ending.
    fn record(&self, record: impl FnOnce(&mut Records)) {
        let _ = TRACK.try_with(|current| {
            let mut current = current.borrow_mut();
            let track = match &mut *current {
                Some((number, track)) if *number == self.number => track,
                other => &mut other.insert((self.number, self.add_track())).1,
            };
            record(&mut lock(&track.records));
        });
    }

    fn add_track(&self) -> Arc<Track> {
        let mut tracks = lock(&self.tracks);
        let number = tracks.len() + 1;
        let name = std::thread::current().name().map(str::to_owned);
        let track = Arc::new(Track {
            thread: name.unwrap_or_else(|| format!("thread {number}")),
            records: Mutex::default(),
        });
        tracks.push(Arc::clone(&track));
        track
    }
}

/// Keeps an item if there is room, and counts it otherwise. Returns the index of a kept item.
fn keep<T>(items: &mut Vec<T>, capacity: usize, num_dropped: &mut usize, item: T) -> Option<usize> {
    if items.len() < capacity {
        items.push(item);
        Some(items.len() - 1)
    } else {
        *num_dropped += 1;
        None
    }
}

impl Kernel {
    fn new(run: &KernelRun<'_>) -> Self {
        let source = run.ctx.location_source();
        Self {
            place: source.map(|source| (Arc::clone(source), run.location_token)),
            invocation: run.invocation,
            stream: run.stream,
            operands: run.operands.into(),
            results: run.results.into(),
        }
    }
}

impl Drop for TraceRecorder {
    /// Frees the records: threads keep their tracks for longer.
    fn drop(&mut self) {
        for track in &*lock(&self.tracks) {
            *lock(&track.records) = Records::default();
        }
    }
}

impl Default for TraceRecorder {
    fn default() -> Self {
        Self::new()
    }
}

impl TracingSink for TraceRecorder {
    fn begin(&self, activity: Activity<'_>) {
        let kernel = activity.kernel.map(|kernel| Box::new(Kernel::new(&kernel)));
        self.record(|records| {
            let slice = Slice {
                name: activity.name,
                start_ns: self.now_ns(),
                end_ns: None,
                kernel,
            };
            let kept = keep(
                &mut records.slices,
                self.capacity,
                &mut records.num_dropped,
                slice,
            );
            records.open.push(kept);
        });
    }

    fn end(&self) {
        let end_ns = self.now_ns();
        self.record(|records| {
            if let Some(kept) = records.open.pop().flatten() {
                records.slices[kept].end_ns = Some(end_ns);
            }
        });
    }

    fn event(&self, name: &str) {
        self.record(|records| {
            let event = Event {
                name: name.to_owned(),
                at_ns: self.now_ns(),
            };
            keep(
                &mut records.events,
                self.capacity,
                &mut records.num_dropped,
                event,
            );
        });
    }

    fn arrived(&self, arrival: Arrival) {
        let since_ns = self.ns_of(arrival.since);
        self.record(|records| {
            let arrived = Arrived {
                kernel: arrival.kernel,
                invocation: arrival.invocation,
                register: arrival.register,
                since_ns,
                at_ns: self.now_ns(),
            };
            keep(
                &mut records.arrivals,
                self.capacity,
                &mut records.num_dropped,
                arrived,
            );
        });
    }

    fn span(&self, track: &Arc<str>, since: Instant) {
        let start_ns = self.ns_of(since);
        self.record(|records| {
            let span = NamedSpan {
                track: Arc::clone(track),
                start_ns,
                end_ns: self.now_ns(),
            };
            keep(
                &mut records.spans,
                self.capacity,
                &mut records.num_dropped,
                span,
            );
        });
    }

    fn device_work(&self, track: &Arc<str>, name: &str, start: Instant, end: Instant) {
        let (start_ns, end_ns) = (self.ns_of(start), self.ns_of(end));
        self.record(|records| {
            let work = DeviceWork {
                track: Arc::clone(track),
                name: name.into(),
                start_ns,
                end_ns,
            };
            keep(
                &mut records.device_work,
                self.capacity,
                &mut records.num_dropped,
                work,
            );
        });
    }

    fn counter(&self, name: &'static str, value: u64) {
        self.record(|records| {
            let sample = Sample {
                name,
                at_ns: self.now_ns(),
                value,
            };
            keep(
                &mut records.samples,
                self.capacity,
                &mut records.num_dropped,
                sample,
            );
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // No code that runs under the locks panics half-way.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for TraceRecorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceRecorder")
            .field("capacity", &self.capacity)
            .field("num_threads", &lock(&self.tracks).len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
