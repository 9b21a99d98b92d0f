//! The dataset of the records of a file.
//!
//! A *reader*, a task of the blocking pool, reads a batch of records ahead while those of the batch before are drawn:
//!
//! ```text
//!  draw ──► buffered ──► Answer                                   thread of the pool
//!             │ few are left: start ─────────────────────────────► read up to 80 records or 1 MiB
//!             │ none is left: wait for the batch ◄──────────────── publish the batch
//! ```
//!
//! There is one reader at a time. It stops when the request that started it is cancelled, or the iterator is dropped.
//!
//! A checkpoint has the position of the first record that was not drawn: records that were read ahead are read again.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Promise, Value};
use tfrt_data::{
    Dataset, Draw, Machine, Outcome, Position, Serial, Stage, StageDescription, StateReader,
    StateWriter, Step,
};
use tfrt_host::ExecutionContext;
use tfrt_queue::Task;
use tfrt_support::Error;

use super::read::{RecordError, RecordReader};

/// A reader is started when no more records than this are buffered.
const MIN_BUFFERED: usize = 20;

/// A reader reads until so many are buffered, beside those that are waited for.
const MAX_BUFFERED: usize = 80;

/// A reader stops after so many bytes, so that the first record does not wait for all the others.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// A dataset of the records of a file, each a string with one component.
///
/// The file is opened for each iterator, with the first draw. A wrong checksum takes the place of its record; a record that is cut off,
/// and a file that cannot be read, are followed by the end.
///
/// # Errors
/// None at present: what is wrong with a file shows when it is read.
pub fn tf_record_dataset(path: &str) -> Result<Dataset, Error> {
    Dataset::new(Records { path: path.into() })
}

#[derive(Debug)]
struct Records {
    path: Arc<str>,
}

impl Stage for Records {
    fn name(&self) -> &'static str {
        "tf_record"
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("path", &self.path);
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(RecordsMachine {
            source: Arc::new(Source {
                path: Arc::clone(&self.path),
                state: Mutex::new(State::Closed { position: 0 }),
                is_dropped: AtomicBool::new(false),
            }),
            next: Some(0),
            buffered: VecDeque::new(),
            being_read: None,
            has_ended: false,
            has_waited: false,
            num_waiting: 0,
            starter: None,
        }))
    }
}

/// The file, and what tells its reader to stop.
#[derive(Debug)]
struct Source {
    path: Arc<str>,
    /// Never contended: the reader has it while it runs, and the iterator when none does. The lock lets safe code say so.
    state: Mutex<State>,
    /// Set when nobody can draw any more. Orders nothing: relaxed.
    is_dropped: AtomicBool,
}

#[derive(Debug)]
enum State {
    /// To be opened, and read from there.
    Closed {
        position: u64,
    },
    Open(RecordReader<File>),
    Ended,
}

/// A record, or why there is none.
#[derive(Debug)]
struct Read {
    record: Result<ByteString, Error>,
    /// Where the next record begins, if there may be one.
    next: Option<u64>,
}

/// Records and errors in order.
#[derive(Debug, Default)]
struct Batch {
    records: VecDeque<Read>,
    has_ended: bool,
}

impl Value for Batch {
    const MLIR_TYPE: &'static str = "!tfrt_data.records";
    const IS_MUTABLE: bool = true;
}

#[derive(Debug)]
struct RecordsMachine {
    source: Arc<Source>,
    /// Where the record begins that is handed out next, if there may be one.
    next: Option<u64>,
    buffered: VecDeque<Read>,
    /// What the reader is about to publish.
    being_read: Option<AsyncValueRef<Batch>>,
    has_ended: bool,
    /// Whether a request waits for the reader.
    has_waited: bool,
    /// How many of the next answers are for requests that waited.
    num_waiting: usize,
    /// The context that the reader was started in, which errors that were waited for are reported to.
    starter: Option<ExecutionContext>,
}

impl Machine for RecordsMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> Step {
        loop {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return Step::Answer(Outcome::Error(cancelled.clone()));
            }
            if let Some(read) = self.being_read.take_if(|read| read.is_available()) {
                self.take_over(&read, num_outstanding);
            }
            if self.buffered.len() <= MIN_BUFFERED + num_outstanding
                && self.being_read.is_none()
                && !self.has_ended
            {
                self.start_reader(num_outstanding, ctx);
            }
            if let Some(record) = self.buffered.pop_front() {
                return Step::Answer(self.answer(record, ctx));
            }
            match &self.being_read {
                Some(read) if !read.is_available() => {
                    self.has_waited = true;
                    return Step::Wait(read.as_any().clone());
                }
                Some(_) => {}
                None if self.has_ended => return Step::Answer(Outcome::END),
                // Nobody else can read: this thread does.
                None => {
                    let batch = self.source.read(1, ctx);
                    self.has_ended = batch.has_ended;
                    self.buffered = batch.records;
                }
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        to.bool(self.next.is_some());
        to.u64(self.next.unwrap_or(0));
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let (may_go_on, position) = (from.bool()?, from.u64()?);
        self.next = may_go_on.then_some(position);
        let state = match self.next {
            Some(position) => State::Closed { position },
            None => State::Ended,
        };
        self.has_ended = self.next.is_none();
        *self.source.hold() = state;
        Ok(())
    }
}

impl RecordsMachine {
    /// Buffers what was read.
    fn take_over(&mut self, read: &AsyncValueRef<Batch>, num_outstanding: usize) {
        match read.try_write() {
            Ok(mut batch) => {
                self.has_ended = batch.has_ended;
                self.buffered.append(&mut batch.records);
            }
            // The pool dropped the task.
            Err(_) => {
                let stopped = || Error::new("the reader was stopped");
                let error = read.error_if_present().cloned().unwrap_or_else(stopped);
                self.buffered.push_back(Read {
                    record: Err(error),
                    next: None,
                });
                self.has_ended = true;
            }
        }
        if std::mem::take(&mut self.has_waited) {
            self.num_waiting = num_outstanding;
        }
    }

    fn start_reader(&mut self, num_outstanding: usize, ctx: &ExecutionContext) {
        let (promise, read): (Promise<Batch>, _) = AsyncValueRef::unconstructed();
        let source = Arc::clone(&self.source);
        let max_records = MAX_BUFFERED + num_outstanding - self.buffered.len().min(MAX_BUFFERED);
        let task_ctx = ctx.clone();
        let task = Task::new(move || promise.emplace(source.read(max_records, &task_ctx)));
        let queue = ctx.queue();
        if queue
            .add_blocking_task_for(ctx.request().tag(), task, true)
            .is_ok()
        {
            self.being_read = Some(read);
            self.starter = Some(ctx.clone());
        }
    }

    /// The outcome of a record. Errors are reported to whoever draws it, or, if it was waited for, to whoever started the reader.
    fn answer(&mut self, read: Read, ctx: &ExecutionContext) -> Outcome {
        self.next = read.next;
        let has_waited = self.num_waiting > 0;
        self.num_waiting = self.num_waiting.saturating_sub(1);
        match read.record {
            Ok(record) => Outcome::one(AnyRef::available(record)),
            Err(error) => {
                let starter = self.starter.as_ref().filter(|_| has_waited);
                Outcome::error(starter.unwrap_or(ctx).emit_error(error))
            }
        }
    }
}

impl Drop for RecordsMachine {
    fn drop(&mut self) {
        self.source.is_dropped.store(true, Ordering::Relaxed);
    }
}

impl Source {
    /// Reads so many records, or fewer.
    fn read(&self, max_records: usize, ctx: &ExecutionContext) -> Batch {
        let mut batch = Batch::default();
        let mut num_bytes = 0;
        let mut state = self.hold();
        if let State::Closed { position } = *state {
            *state = match self.open(position) {
                Ok(file) => State::Open(RecordReader::starting_at(position, file)),
                Err(error) => {
                    batch.records.push_back(Read {
                        record: Err(error),
                        next: None,
                    });
                    State::Ended
                }
            };
        }
        while batch.records.len() < max_records && num_bytes < MAX_BATCH_BYTES {
            let State::Open(reader) = &mut *state else {
                break;
            };
            if self.is_dropped.load(Ordering::Relaxed) || ctx.request().is_cancelled() {
                return batch;
            }
            match reader.next() {
                Some(Ok(record)) => {
                    num_bytes += record.len();
                    batch.records.push_back(Read {
                        record: Ok(record.into()),
                        next: Some(RecordReader::position(reader)),
                    });
                }
                Some(Err(error)) => {
                    let goes_on = matches!(error, RecordError::Corrupt { .. });
                    batch.records.push_back(Read {
                        record: Err(self.explain(error)),
                        next: goes_on.then(|| RecordReader::position(reader)),
                    });
                }
                // Closes the file.
                None => *state = State::Ended,
            }
        }
        batch.has_ended = matches!(*state, State::Ended);
        batch
    }

    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the file, at a position.
    fn open(&self, position: u64) -> Result<File, Error> {
        if scheme(&self.path).is_some() {
            return Err(Error::new("No file system is found for the given scheme"));
        }
        let mut file = File::open(&*self.path).map_err(|error| self.io_error("open", &error))?;
        if position > 0 {
            file.seek(SeekFrom::Start(position))
                .map_err(|error| self.io_error("read", &error))?;
        }
        Ok(file)
    }

    fn explain(&self, error: RecordError) -> Error {
        match error {
            RecordError::Io(error) => self.io_error("read", &error),
            error => error.into(),
        }
    }

    fn io_error(&self, what: &str, error: &io::Error) -> Error {
        let path = &self.path;
        let text = error.to_string();
        // What the system says, without its number.
        let text = text.split(" (os error ").next().unwrap_or_default();
        Error::new(format!("failed to {what} file {path} due to error: {text}"))
    }
}

/// The scheme of a path: of `gs://bucket/file`, that is `gs`. Paths of this machine have none.
fn scheme(path: &str) -> Option<&str> {
    let (scheme, _) = path.split_once("://")?;
    let is_scheme = scheme
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    (is_scheme && !scheme.is_empty()).then_some(scheme)
}
