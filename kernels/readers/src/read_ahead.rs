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
//! There is one reader at a time. It reads 80 elements ahead unless the pipeline says otherwise
//! ([`Dataset::with_read_ahead`]), and is started when at most a quarter of these is left. The
//! reader stops behind an element when the request that started it is cancelled, or the iterator is
//! dropped. A [`Format`] says how the elements of one file are read; the files follow each other.
//!
//! A checkpoint has the place of the first element that was not drawn: elements that were read
//! ahead are read again. The place is the number and the name of a file, and where its reader can
//! go on; if the format does not say where, the elements in front are read again and dropped.
//!
//! An element may be made of many records. An error of a record takes a place of its own, in front
//! of the element that lacks the record. If the error ends the pass, the element is cut short: it
//! has the records in front of the error, and comes first. Where workers share the records of a
//! file, these records are a part of the next element instead, and are lost if the pass of the
//! worker of that element has ended.

mod source;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use tfrt_async::{AnyRef, AsyncValueRef, Promise, Value};
use tfrt_data::{
    Cardinality, Dataset, Draw, ElementTypes, HeldBytes, LearnedNumber, Machine, NumAhead, Outcome,
    Position, Serial, Stage, StageDescription, StateReader, StateWriter, StepResult, Values,
};
use tfrt_host::ExecutionContext;
use tfrt_queue::Task;
use tfrt_support::Error;

use crate::files::{Files, OpenFile};
use crate::policy::OnError;

use source::{Batch, Bookmark, Item, MAX_BATCH_BYTES, Share, Source};

/// A reader reads until so many are buffered, beside those that are waited for, unless the pipeline
/// says otherwise.
const NUM_AHEAD: usize = 80;

/// A reader is started when at most this part of them, one of four, is buffered.
const MIN_PART: usize = 4;

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

    /// Returns the types of the components of the elements, as far as they are known before a file
    /// is read.
    fn element_types(&self) -> ElementTypes {
        ElementTypes::UNKNOWN
    }

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

    /// Returns what was read of an element that is not complete. Called behind an error that ends
    /// the pass, so that the records in front of the error are not lost; nothing is read
    /// afterwards. At the end of a file, [`read_element`](Self::read_element) returns such an
    /// element. Not called where workers share the records of a file. By default, there is none.
    fn take_incomplete(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        let _ = ctx;
        None
    }

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
        learned: LearnedNumber::default(),
    })
}

#[derive(Clone, Debug)]
struct ReadAhead {
    format: Arc<dyn Format>,
    files: Files,
    on_error: OnError,
    share: Option<Share>,
    /// How far to read ahead, if that is found by experiment.
    learned: LearnedNumber,
}

impl Stage for ReadAhead {
    fn name(&self) -> &'static str {
        self.format.name()
    }

    fn cardinality(&self) -> Cardinality {
        Cardinality::Unknown
    }

    fn element_types(&self) -> ElementTypes {
        self.format.element_types()
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

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(ReadAheadMachine {
            held: HeldBytes::of(self.name(), position),
            num_ahead: NumAhead::of(self.name(), position, NUM_AHEAD).learning(&self.learned),
            source: Arc::new(Source::new(
                Arc::clone(&self.format),
                self.files.clone(),
                self.on_error,
                self.share,
            )),
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

#[derive(Debug)]
struct ReadAheadMachine {
    source: Arc<Source>,
    /// Where the element is that is handed out next.
    next: Bookmark,
    buffered: VecDeque<Item>,
    /// About how much memory they take.
    num_buffered_bytes: usize,
    held: HeldBytes,
    num_ahead: NumAhead,
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
            let num_ahead = self.num_ahead.now(ctx);
            if self.buffered.len() <= num_ahead / MIN_PART + num_outstanding
                && self.num_buffered_bytes < MAX_BUFFERED_BYTES
                && self.being_read.is_none()
                && !self.has_ended
            {
                self.start_reader(num_ahead, num_outstanding, ctx);
            }
            if let Some(item) = self.buffered.pop_front() {
                self.held.tell(|| self.num_buffered_bytes as u64);
                self.num_buffered_bytes -= item.len_bytes;
                self.num_ahead.deliver(item.len_bytes as u64);
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
        to.bool(next.is_behind_cut_element);
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        let (has_ended, file, num_read) = (from.bool()?, from.u64()?, from.u64()?);
        let (has_position, position) = (from.bool()?, from.u64()?);
        let num_skipped = from.u64()?;
        let path = String::from_utf8_lossy(from.bytes()?);
        self.next = Bookmark {
            has_ended,
            file,
            num_read,
            position: has_position.then_some(position),
            num_skipped,
            is_behind_cut_element: from.bool()?,
        };
        self.has_ended = has_ended;
        self.source.go_to(self.next, &path);
        Ok(())
    }
}

impl ReadAheadMachine {
    fn buffer(&mut self, mut items: VecDeque<Item>) {
        let sizes = items.iter().map(|item| item.len_bytes);
        self.num_buffered_bytes += sizes.clone().sum::<usize>();
        self.num_ahead.end(sizes.map(|len_bytes| len_bytes as u64));
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

    fn start_reader(&mut self, num_ahead: usize, num_outstanding: usize, ctx: &ExecutionContext) {
        let wanted = num_ahead + num_outstanding - self.buffered.len().min(num_ahead);
        let max_elements = match self.num_ahead.begin(wanted, MAX_BATCH_BYTES as u64) {
            0 if self.buffered.is_empty() => 1,
            max_elements => max_elements,
        };
        if max_elements == 0 {
            return;
        }
        let (promise, read): (Promise<Batch>, _) = AsyncValueRef::unconstructed();
        let source = Arc::clone(&self.source);
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
        self.source.stop();
    }
}
