//! Datasets of what is read from files, ahead of its use.
//!
//! A *reader*, a task of the blocking pool, reads a batch of elements ahead while those of the
//! batch before are drawn:
//!
//! ```text
//!  draw ──► buffered ──► Answer                                   thread of the pool
//!             │ few are left: start ─────────────────────────────► read up to 80 elements or 1 MiB
//!             │ none is left: wait for the batch ◄──────────────── publish the batch
//! ```
//!
//! There is one reader at a time. It stops when the request that started it is cancelled, or the
//! iterator is dropped. A [`Format`] says how the elements of one file are read; the files follow
//! each other.
//!
//! A checkpoint has the place of the first element that was not drawn: elements that were read
//! ahead are read again. The place is the number and the name of a file, and where its reader can
//! go on; if the format does not say where, the elements in front are read again and dropped.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tfrt_async::{AnyRef, AsyncValueRef, Promise, Value};
use tfrt_data::{
    Cardinality, Dataset, Draw, Machine, Outcome, Position, Serial, Stage, StageDescription,
    StateReader, StateWriter, StepResult, Values,
};
use tfrt_host::{ExecutionContext, log};
use tfrt_queue::Task;
use tfrt_support::{Error, ErrorCode};

use crate::files::{FileSystems, Files, OpenFile};
use crate::policy::OnError;

/// A reader is started when no more elements than this are buffered.
const MIN_BUFFERED: usize = 20;

/// A reader reads until so many are buffered, beside those that are waited for.
const MAX_BUFFERED: usize = 80;

/// A reader stops after so many bytes, so that the first element does not wait for all the others.
const MAX_BATCH_BYTES: usize = 1 << 20;

/// No reader is started while buffered elements take so many bytes.
const MAX_BUFFERED_BYTES: usize = 1 << 26;

/// A file format: how the elements of a file are read.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_data::Dataset;
/// use tfrt_host::ExecutionContext;
/// use tfrt_readers::files::{Files, OpenFile};
/// use tfrt_readers::policy::OnError;
/// use tfrt_readers::read_ahead::{Element, Format, ReadElements, dataset};
/// use tfrt_support::Error;
///
/// /// Every byte of a file, as a number.
/// #[derive(Debug)]
/// struct Bytes;
///
/// impl Format for Bytes {
///     fn name(&self) -> &'static str {
///         "bytes"
///     }
///
///     fn open(&self, file: OpenFile, _ctx: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error> {
///         Ok(Box::new(BytesReader { bytes: file.read_whole()?, next: 0 }))
///     }
/// }
///
/// struct BytesReader {
///     bytes: Vec<u8>,
///     next: usize,
/// }
///
/// impl ReadElements for BytesReader {
///     fn read_element(&mut self, _ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
///         let byte = *self.bytes.get(self.next)?;
///         self.next += 1;
///         Some(Ok(Element::one(byte, 1)))
///     }
/// }
///
/// let bytes: Dataset = dataset(Bytes, &Files::from("picture.raw"), OnError::Stop)?;
/// assert_eq!(bytes.name(), "bytes");
/// # Ok::<(), Error>(())
/// ```
pub trait Format: fmt::Debug + Send + Sync + 'static {
    /// What people call datasets of the format, as in `tfrt_data.NAME_dataset`.
    fn name(&self) -> &'static str;

    /// Opens a file. Runs on the blocking pool.
    ///
    /// # Errors
    /// If the file cannot be opened, or is not of the format. The next file is gone on with, unless
    /// the policy says otherwise.
    fn open(&self, file: OpenFile, ctx: &ExecutionContext) -> Result<Box<dyn ReadElements>, Error>;

    /// Opens a file to go on at a [position](ReadElements::position), where its reader had returned
    /// so many elements and errors. Returns `None` if that would take reading what is in front:
    /// then the file is opened as a whole, and the elements in front are read again and dropped,
    /// which ends when nobody needs them any more. That is the default.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    fn open_at(
        &self,
        file: &OpenFile,
        num_read: u64,
        position: u64,
        ctx: &ExecutionContext,
    ) -> Result<Option<Box<dyn ReadElements>>, Error> {
        let _ = (file, num_read, position, ctx);
        Ok(None)
    }

    /// Describes what decides about the elements, beside the names of the files: see
    /// [`Stage::describe`].
    fn describe(&self, to: &mut StageDescription<'_>) {
        let _ = to;
    }
}

/// The elements of one file.
pub trait ReadElements: Send {
    /// Reads the next element, or an error in its place; nothing at the end of the file. Runs on
    /// the blocking pool, and is not called again after the end.
    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>>;

    /// Where a reader of this file could go on, if it can do so without reading what is in front;
    /// what the number means is up to the format.
    fn position(&self) -> Option<u64> {
        None
    }
}

/// An element that was read.
#[derive(Debug)]
pub struct Element {
    /// Its components.
    pub values: Values,
    /// About how much memory it takes.
    pub len_bytes: usize,
}

impl Element {
    /// An element with one component.
    pub fn one(payload: impl Value, len_bytes: usize) -> Self {
        let mut values = Values::new();
        values.push(AnyRef::available(payload));
        Self { values, len_bytes }
    }
}

/// The dataset of the elements of all files, one file after the other. The names of the files are
/// looked up for each iterator, with the first draw.
///
/// # Errors
/// None at present: what is wrong with files shows when they are read.
pub fn dataset(format: impl Format, files: &Files, on_error: OnError) -> Result<Dataset, Error> {
    Dataset::new(ReadAhead {
        format: Arc::new(format),
        files: files.clone(),
        on_error,
        share: None,
    })
}

#[derive(Clone, Debug)]
struct ReadAhead {
    format: Arc<dyn Format>,
    files: Files,
    on_error: OnError,
    share: Option<Share>,
}

/// What one of several workers reads: every so many files or, where there are fewer files than
/// workers, every so many records of each file.
#[derive(Clone, Copy, Debug)]
struct Share {
    num_workers: u64,
    index: u64,
}

impl Share {
    fn has(self, number: u64) -> bool {
        number % self.num_workers == self.index
    }
}

impl Stage for ReadAhead {
    fn name(&self) -> &'static str {
        self.format.name()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("path", self.files.names().collect::<Vec<_>>().join(", "));
        self.format.describe(to);
        if self.on_error != OnError::Fail {
            to.attribute("on_error", self.on_error);
        }
        if let Some(Share { num_workers, index }) = self.share {
            to.attribute("share", format_args!("{index} of {num_workers}"));
        }
    }

    fn share_files(&self, num_workers: u64, index: u64) -> Option<Result<Dataset, Error>> {
        // A share of a share would need records to be counted twice.
        if self.share.is_some() || num_workers == 0 {
            return None;
        }
        Some(Dataset::new(Self {
            share: Some(Share { num_workers, index }),
            ..self.clone()
        }))
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ReadAheadMachine {
            source: Arc::new(Source {
                format: Arc::clone(&self.format),
                files: self.files.clone(),
                on_error: self.on_error,
                share: self.share,
                shared_records: OnceLock::new(),
                paths: OnceLock::new(),
                state: Mutex::new(State::at(Bookmark::START)),
                is_dropped: AtomicBool::new(false),
            }),
            next: Bookmark::START,
            buffered: VecDeque::new(),
            num_buffered_bytes: 0,
            being_read: None,
            has_ended: false,
            has_waited: false,
            num_waiting: 0,
            starter: None,
        }))
    }
}

/// The files, and what tells their reader to stop.
#[derive(Debug)]
struct Source {
    format: Arc<dyn Format>,
    files: Files,
    on_error: OnError,
    share: Option<Share>,
    /// That of the records, if there are fewer files than workers; known with the names.
    shared_records: OnceLock<Share>,
    /// The names of the files, once they have been looked up.
    paths: OnceLock<Box<[Arc<str>]>>,
    /// Never contended: the reader has it while it runs, and the iterator when none does. The lock
    /// lets safe code say so.
    state: Mutex<State>,
    /// Set when nobody can draw any more. Orders nothing: relaxed.
    is_dropped: AtomicBool,
}

/// How far the files have been read.
struct State {
    progress: Progress,
    place: Bookmark,
    /// The name of the file that a checkpoint was in, until the names are looked up.
    restored_path: Option<Box<str>>,
    first_skipped: Option<Error>,
}

enum Progress {
    /// The names have not been looked up.
    Start,
    /// These files follow.
    Between(std::vec::IntoIter<Arc<str>>),
    /// So many elements of a file are read again and dropped, since a checkpoint is behind them.
    CatchingUp(Box<dyn ReadElements>, u64, std::vec::IntoIter<Arc<str>>),
    /// A file is being read, and these follow.
    Within(Box<dyn ReadElements>, std::vec::IntoIter<Arc<str>>),
    Ended,
}

/// The place of an element, from which another iterator can go on.
#[derive(Clone, Copy, Debug)]
struct Bookmark {
    /// Whether there is nothing there.
    has_ended: bool,
    /// The number of the file.
    file: u64,
    /// How many elements and errors of the file are in front.
    num_read: u64,
    /// What the reader says of the place.
    position: Option<u64>,
    /// How many errors were skipped in front.
    num_skipped: u64,
}

impl Bookmark {
    const START: Self = Self {
        has_ended: false,
        file: 0,
        num_read: 0,
        position: None,
        num_skipped: 0,
    };
}

impl State {
    fn at(place: Bookmark) -> Self {
        Self {
            progress: match place.has_ended {
                true => Progress::Ended,
                false => Progress::Start,
            },
            place,
            restored_path: None,
            first_skipped: None,
        }
    }

    /// Where the next element is.
    fn bookmark(&self) -> Bookmark {
        Bookmark {
            has_ended: matches!(self.progress, Progress::Ended),
            ..self.place
        }
    }

    /// Goes on to the start of the next file.
    fn leave_file(&mut self) {
        self.place.file += 1;
        (self.place.num_read, self.place.position) = (0, None);
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bookmark().fmt(f)
    }
}

/// An element or an error, and the place of the next one.
#[derive(Debug)]
struct Item {
    element: Result<Values, Error>,
    /// About how much memory the element takes.
    len_bytes: usize,
    next: Bookmark,
}

/// Elements and errors in order.
#[derive(Debug, Default)]
struct Batch {
    items: VecDeque<Item>,
    has_ended: bool,
}

impl Value for Batch {
    const MLIR_TYPE: &'static str = "!tfrt_data.records";
    const IS_MUTABLE: bool = true;
}

#[derive(Debug)]
struct ReadAheadMachine {
    source: Arc<Source>,
    /// Where the element is that is handed out next.
    next: Bookmark,
    buffered: VecDeque<Item>,
    /// About how much memory they take.
    num_buffered_bytes: usize,
    /// What the reader is about to publish.
    being_read: Option<AsyncValueRef<Batch>>,
    has_ended: bool,
    /// Whether a request waits for the reader.
    has_waited: bool,
    /// How many of the next answers are for requests that waited.
    num_waiting: usize,
    /// The context that the reader was started in, which errors that were waited for are reported
    /// to.
    starter: Option<ExecutionContext>,
}

impl Machine for ReadAheadMachine {
    fn step(&mut self, num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        loop {
            if let Some(cancelled) = ctx.request().cancel_value() {
                return StepResult::Answer(Outcome::Error(cancelled.clone()));
            }
            if let Some(read) = self.being_read.take_if(|read| read.is_available()) {
                self.take_over(&read, num_outstanding);
            }
            if self.buffered.len() <= MIN_BUFFERED + num_outstanding
                && self.num_buffered_bytes < MAX_BUFFERED_BYTES
                && self.being_read.is_none()
                && !self.has_ended
            {
                self.start_reader(num_outstanding, ctx);
            }
            if let Some(item) = self.buffered.pop_front() {
                self.num_buffered_bytes -= item.len_bytes;
                return StepResult::Answer(self.answer(item, ctx));
            }
            match &self.being_read {
                Some(read) if !read.is_available() => {
                    self.has_waited = true;
                    return StepResult::Wait(read.as_any().clone());
                }
                Some(_) => {}
                None if self.has_ended => return StepResult::Answer(Outcome::END),
                // Nobody else can read: this thread does.
                None => {
                    let batch = self.source.read(1, ctx);
                    self.has_ended = batch.has_ended;
                    self.buffer(batch.items);
                }
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        let next = self.next;
        to.bool(next.has_ended);
        to.u64(next.file);
        to.u64(next.num_read);
        to.bool(next.position.is_some());
        to.u64(next.position.unwrap_or(0));
        to.u64(next.num_skipped);
        to.bytes(self.source.path_of(next.file).as_bytes());
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let (has_ended, file, num_read) = (from.bool()?, from.u64()?, from.u64()?);
        let (has_position, position) = (from.bool()?, from.u64()?);
        self.next = Bookmark {
            has_ended,
            file,
            num_read,
            position: has_position.then_some(position),
            num_skipped: from.u64()?,
        };
        self.has_ended = has_ended;
        let path = String::from_utf8_lossy(from.bytes()?);
        *self.source.hold() = State {
            restored_path: (!path.is_empty()).then(|| path.into()),
            ..State::at(self.next)
        };
        Ok(())
    }
}

impl ReadAheadMachine {
    fn buffer(&mut self, mut items: VecDeque<Item>) {
        self.num_buffered_bytes += items.iter().map(|item| item.len_bytes).sum::<usize>();
        self.buffered.append(&mut items);
    }

    /// Buffers what was read.
    fn take_over(&mut self, read: &AsyncValueRef<Batch>, num_outstanding: usize) {
        match read.try_write() {
            Ok(mut batch) => {
                self.has_ended = batch.has_ended;
                self.buffer(std::mem::take(&mut batch.items));
            }
            // The pool dropped the task.
            Err(_) => {
                let stopped = || Error::new("the reader was stopped");
                let error = read.error_if_present().cloned().unwrap_or_else(stopped);
                let next = Bookmark {
                    has_ended: true,
                    ..self.next
                };
                self.buffered.push_back(Item {
                    element: Err(error),
                    len_bytes: 0,
                    next,
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
        let max_elements = MAX_BUFFERED + num_outstanding - self.buffered.len().min(MAX_BUFFERED);
        let task_ctx = ctx.clone();
        let task = Task::new(move || promise.emplace(source.read(max_elements, &task_ctx)));
        let queue = ctx.queue();
        if queue
            .add_blocking_task_for(ctx.request().tag(), task, true)
            .is_ok()
        {
            self.being_read = Some(read);
            self.starter = Some(ctx.clone());
        }
    }

    /// The outcome of an element. Errors are reported to whoever draws it, or, if it was waited
    /// for, to whoever started the reader.
    fn answer(&mut self, item: Item, ctx: &ExecutionContext) -> Outcome {
        self.next = item.next;
        let has_waited = self.num_waiting > 0;
        self.num_waiting = self.num_waiting.saturating_sub(1);
        match item.element {
            Ok(values) => Outcome::Element(values),
            Err(error) => {
                let starter = self.starter.as_ref().filter(|_| has_waited);
                Outcome::error(starter.unwrap_or(ctx).emit_error(error))
            }
        }
    }
}

impl Drop for ReadAheadMachine {
    fn drop(&mut self) {
        self.source.is_dropped.store(true, Ordering::Relaxed);
    }
}

impl Source {
    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a file, counted from 0; empty if there is none, or none has been looked up.
    fn path_of(&self, file: u64) -> &str {
        let paths = self.paths.get().map_or(&[][..], |paths| paths);
        let path = usize::try_from(file).ok().and_then(|file| paths.get(file));
        path.map_or("", |path| path)
    }

    /// Leaves the files, or the records, to this worker that are its own.
    fn share_among_workers(&self, paths: &mut Vec<Arc<str>>) {
        let Some(share) = self.share else { return };
        if (paths.len() as u64) < share.num_workers {
            // The first to know is the only reader.
            let _ = self.shared_records.set(share);
            return;
        }
        let mut number = 0;
        paths.retain(|_| {
            number += 1;
            share.has(number - 1)
        });
    }

    /// The number of the file that a checkpoint was in. Files in front of it may have come or gone
    /// since.
    fn find_restored(&self, state: &mut State, paths: &[Arc<str>]) -> Result<usize, Error> {
        let number = usize::try_from(state.place.file).unwrap_or(usize::MAX);
        let found = paths.get(number);
        let Some(restored) = state.restored_path.take() else {
            return Ok(number.min(paths.len()));
        };
        if found.is_some_and(|path| **path == *restored) {
            return Ok(number);
        }
        if let Some(index) = paths.iter().position(|path| **path == *restored) {
            state.place.file = index as u64;
            return Ok(index);
        }
        let found = match found {
            Some(path) => format!("`{path}` as file {number}"),
            None if paths.len() == 1 => "1 file".to_owned(),
            None => format!("{} files", paths.len()),
        };
        let message = format!("expected the file `{restored}` of the checkpoint, found {found}");
        Err(Error::new(message).with_code(ErrorCode::NotFound))
    }

    /// Reads so many elements, or fewer.
    fn read(&self, max_elements: usize, ctx: &ExecutionContext) -> Batch {
        let mut batch = Batch::default();
        let mut num_bytes = 0;
        let mut state = self.hold();
        while batch.items.len() < max_elements && num_bytes < MAX_BATCH_BYTES {
            if self.is_dropped.load(Ordering::Relaxed) || ctx.request().is_cancelled() {
                return batch;
            }
            let (element, len_bytes) = match self.advance(&mut state, ctx) {
                Advance::Element(Element { values, len_bytes }) => (Ok(values), len_bytes),
                Advance::Error(error) => match self.judge(&mut state, error) {
                    Some(error) => (Err(error), 0),
                    None => continue,
                },
                Advance::NextFile => continue,
                Advance::End => break,
            };
            let next = state.bookmark();
            num_bytes += len_bytes;
            batch.items.push_back(Item {
                element,
                len_bytes,
                next,
            });
        }
        batch.has_ended = matches!(state.progress, Progress::Ended);
        if batch.has_ended {
            self.tell_of_skipped(&mut state);
        }
        batch
    }

    /// One step: opens a file, or reads an element. Where it fails, the state is that behind the
    /// failure.
    fn advance(&self, state: &mut State, ctx: &ExecutionContext) -> Advance {
        match std::mem::replace(&mut state.progress, Progress::Ended) {
            Progress::Start => match self.files.resolve(&FileSystems::of(ctx.host())) {
                Ok(mut paths) => {
                    self.share_among_workers(&mut paths);
                    let paths_in_order = self.paths.get_or_init(|| paths.as_slice().into());
                    match self.find_restored(state, paths_in_order) {
                        Ok(num_behind) => {
                            paths.drain(..num_behind);
                            state.progress = Progress::Between(paths.into_iter());
                            Advance::NextFile
                        }
                        Err(error) => Advance::Error(error),
                    }
                }
                Err(error) => Advance::Error(error),
            },
            Progress::Between(mut rest) => {
                let Some(path) = rest.next() else {
                    return Advance::End;
                };
                let file = OpenFile::new(path, FileSystems::of(ctx.host()));
                let file = file.with_number(state.place.file);
                match self.open_at_place(state.place, file, ctx) {
                    Ok((reader, 0)) => {
                        state.progress = Progress::Within(reader, rest);
                        Advance::NextFile
                    }
                    Ok((reader, num_in_front)) => {
                        state.progress = Progress::CatchingUp(reader, num_in_front, rest);
                        Advance::NextFile
                    }
                    Err(error) => {
                        state.leave_file();
                        state.progress = Progress::Between(rest);
                        Advance::Error(error)
                    }
                }
            }
            Progress::CatchingUp(reader, 0, rest) => {
                state.progress = Progress::Within(reader, rest);
                Advance::NextFile
            }
            Progress::CatchingUp(mut reader, num_in_front, rest) => {
                state.progress = match reader.read_element(ctx) {
                    Some(_) => Progress::CatchingUp(reader, num_in_front - 1, rest),
                    // The file has become shorter.
                    None => {
                        state.leave_file();
                        Progress::Between(rest)
                    }
                };
                Advance::NextFile
            }
            Progress::Within(mut reader, rest) => match reader.read_element(ctx) {
                None => {
                    // Closes the file.
                    state.leave_file();
                    state.progress = Progress::Between(rest);
                    Advance::NextFile
                }
                Some(read) => {
                    let number = state.place.num_read;
                    state.place.num_read += 1;
                    state.place.position = reader.position();
                    state.progress = Progress::Within(reader, rest);
                    match self.shared_records.get() {
                        Some(share) if !share.has(number) => Advance::NextFile,
                        _ => read.map_or_else(Advance::Error, Advance::Element),
                    }
                }
            },
            Progress::Ended => Advance::End,
        }
    }

    /// Opens a file at a place, or in front of it, with how many elements are between.
    fn open_at_place(
        &self,
        place: Bookmark,
        file: OpenFile,
        ctx: &ExecutionContext,
    ) -> Result<(Box<dyn ReadElements>, u64), Error> {
        let num_read = place.num_read;
        if num_read > 0
            && let Some(position) = place.position
            && let Some(reader) = self.format.open_at(&file, num_read, position, ctx)?
        {
            return Ok((reader, 0));
        }
        Ok((self.format.open(file, ctx)?, num_read))
    }

    /// What is handed on of an error.
    fn judge(&self, state: &mut State, error: Error) -> Option<Error> {
        match self.on_error {
            OnError::Fail => Some(error),
            OnError::Stop => {
                state.progress = Progress::Ended;
                Some(error)
            }
            OnError::Skip { max } if state.place.num_skipped < max => {
                state.place.num_skipped += 1;
                state.first_skipped.get_or_insert(error);
                None
            }
            OnError::Skip { max } => {
                state.progress = Progress::Ended;
                Some(error.with_note(format_args!(" (errors skipped before: {max})")))
            }
        }
    }

    fn tell_of_skipped(&self, state: &mut State) {
        if let Some(first) = state.first_skipped.take() {
            let s = if state.place.num_skipped == 1 {
                ""
            } else {
                "s"
            };
            log::write_line(
                log::Level::Warning,
                file!(),
                line!(),
                format_args!(
                    "a `{}` dataset skipped {} error{s}, the first: {}",
                    self.format.name(),
                    state.place.num_skipped,
                    first.message()
                ),
            );
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        // A pass that was not finished skipped errors, too.
        let mut state = std::mem::replace(&mut *self.hold(), State::at(Bookmark::START));
        self.tell_of_skipped(&mut state);
    }
}

/// What a step of reading came to.
enum Advance {
    Element(Element),
    Error(Error),
    /// There is nothing yet: the next step may find something.
    NextFile,
    End,
}
