//! Elements that are kept in a file after the first whole pass.
//!
//! ```text
//!  first pass   input ──► element ──┬──► consumer
//!                                   └──► P.17-0.unfinished ── at the end, renamed ──► P
//!  later        P ──► element ──► consumer
//! ```
//!
//! The file has TFRecord records, so that damage is noticed: a header with the description of the
//! pipeline, the elements as checkpoints have them, and how many there are. A file with another
//! description belongs to another pipeline: it is replaced.
//!
//! Elements are written by tasks of the blocking pool, about a mebibyte at a time; there is one
//! such task at a time, and draws wait when it is slower than they are.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tfrt_async::{AnyRef, AsyncValueRef, Value};
use tfrt_data::{
    Cardinality, Dataset, Draw, ElementTypes, IterationResult, Machine, Outcome, Position, Serial,
    Stage, StageDescription, StateReader, StateWriter, StepResult,
};
use tfrt_host::ExecutionContext;
use tfrt_queue::Task;
use tfrt_support::Error;
use tfrt_support::fnv::Fnv1a;

use crate::files::{Files, OpenFile, Stream, failed_to};
use crate::policy::OnError;
use crate::read_ahead::{self, Element, Format, ReadElements};
use crate::tfrecord::{RecordReader, RecordWriter};

/// The start of the header.
const MAGIC: &[u8] = b"TFRT elements, version 1\n";

/// The first byte of a record.
const ELEMENT: u8 = 0;
const END: u8 = 1;

/// The approximate number of bytes of one write.
const BYTES_PER_WRITE: usize = 1 << 20;

/// Keeps the elements of a dataset in a file after the first complete pass. Later passes read the
/// file, also in other processes. Errors are kept, too. A pass that was cancelled or restored from
/// a checkpoint is not kept.
///
/// The file belongs to the pipeline below: for other stages or parameters, it is replaced. If the
/// file cannot be written, one draw fails, and the elements follow.
///
/// ```
/// use tfrt_data::Dataset;
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// use tfrt_readers::cache::cache_in_file;
/// use tfrt_support::Error;
///
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let path = std::env::temp_dir().join(format!("tfrt-cache-example-{}", std::process::id()));
/// let squares = Dataset::range(0, 4, 1)?.map(|x: i64| x * x)?;
/// let cached = cache_in_file(&squares, path.to_str().expect("a plain name"))?;
/// for _ in 0..2 {
///     let found = cached.elements::<i64, _>(&ctx).collect::<Result<Vec<_>, _>>()?;
///     assert_eq!(found, [0, 1, 4, 9]);
/// }
/// # std::fs::remove_file(path).map_err(Error::other)?;
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// If datasets are nested too deep.
pub fn cache_in_file(input: &Dataset, path: &str) -> Result<Dataset, Error> {
    file_cache("cache", input, path.into())
}

/// Keeps elements as [`cache_in_file`] does, in a file of a folder. The file is named after the
/// pipeline, so that several pipelines can share the folder, which is created if it is missing.
///
/// # Errors
/// If datasets are nested too deep.
pub fn snapshot(input: &Dataset, folder: &str) -> Result<Dataset, Error> {
    // The hash distinguishes pipelines; the header of the file has the whole description.
    let digest = Fnv1a::of(input.description().to_string().as_bytes());
    let path = Path::new(folder).join(format!("{digest:016x}.elements"));
    file_cache("snapshot", input, path)
}

fn file_cache(name: &'static str, input: &Dataset, path: PathBuf) -> Result<Dataset, Error> {
    let description: Arc<str> = input.description().to_string().into();
    let format = KeptElements {
        description: Arc::clone(&description),
    };
    let files = Files::from(&*path.to_string_lossy());
    Dataset::new(FileCache {
        name,
        input: input.clone(),
        kept: read_ahead::dataset(format, &files, OnError::Fail)?,
        path: path.into(),
        description,
    })
}

#[derive(Clone, Debug)]
struct FileCache {
    name: &'static str,
    input: Dataset,
    /// The elements of the file.
    kept: Dataset,
    path: Arc<Path>,
    description: Arc<str>,
}

impl Stage for FileCache {
    fn name(&self) -> &'static str {
        self.name
    }

    fn input_height(&self) -> u32 {
        self.input.height()
    }

    fn cardinality(&self) -> Cardinality {
        self.input.cardinality()
    }

    fn element_types(&self) -> ElementTypes {
        self.input.element_types()
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("path", self.path.display());
        to.input(&self.input);
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(Serial::new(FileCacheMachine {
            stage: self.clone(),
            position,
            pass: Pass::Unknown,
        }))
    }
}

#[derive(Debug)]
struct FileCacheMachine {
    stage: FileCache,
    position: Position,
    pass: Pass,
}

/// The source of the elements.
#[derive(Debug)]
enum Pass {
    /// Not known yet.
    Unknown,
    /// A task checks whether the file exists.
    Looking(AsyncValueRef<Looked>),
    /// The file.
    Kept(Box<dyn Draw>, Option<IterationResult>),
    /// The input.
    First(FirstPass),
}

/// The result of the check for the file.
#[derive(Debug)]
struct Looked {
    is_there: bool,
}

impl Value for Looked {
    const MLIR_TYPE: &'static str = "!tfrt_data.looked";
    const IS_MUTABLE: bool = true;
}

/// A pass over the input.
#[derive(Debug)]
struct FirstPass {
    input: Box<dyn Draw>,
    drawn: Option<IterationResult>,
    /// `None` if the elements are not kept.
    writing: Option<Writing>,
    has_ended: bool,
}

impl Machine for FileCacheMachine {
    fn step(&mut self, _num_outstanding: usize, ctx: &ExecutionContext) -> StepResult {
        loop {
            match &mut self.pass {
                Pass::Unknown => {
                    let (path, description) = (&self.stage.path, &self.stage.description);
                    let (path, description) = (Arc::clone(path), Arc::clone(description));
                    let looked = in_background(ctx, move || Looked {
                        is_there: is_kept(&path, &description),
                    });
                    self.pass = Pass::Looking(looked);
                }
                Pass::Looking(looked) => {
                    if !looked.is_available() {
                        return StepResult::Wait(looked.as_any().clone());
                    }
                    let is_there = looked.try_write().is_ok_and(|looked| looked.is_there);
                    self.pass = match is_there {
                        true => Pass::Kept(self.stage.kept.iterator_below(self.position), None),
                        false => Pass::First(FirstPass {
                            input: self.stage.input.iterator_below(self.position),
                            drawn: None,
                            writing: Some(Writing::new(&self.stage)),
                            has_ended: false,
                        }),
                    };
                }
                Pass::Kept(kept, drawn) => {
                    let result = drawn.take().unwrap_or_else(|| kept.draw(ctx));
                    return match result.into_outcome() {
                        Ok(outcome) => StepResult::Answer(outcome),
                        Err(pending) => {
                            let awaited = pending.as_any().clone();
                            *drawn = Some(IterationResult::Pending(pending));
                            StepResult::Wait(awaited)
                        }
                    };
                }
                Pass::First(first) => return first.step(ctx),
            }
        }
    }

    fn save(&mut self, to: &mut StateWriter<'_>) -> Result<(), Error> {
        match &mut self.pass {
            // Nothing was drawn: the restored pass checks for the file itself.
            Pass::Unknown | Pass::Looking(_) => to.count(0),
            Pass::Kept(kept, drawn) => {
                to.count(1);
                to.results(drawn.iter())?;
                to.input(&mut **kept)?;
            }
            Pass::First(first) => {
                to.count(2);
                to.bool(first.has_ended);
                to.results(first.drawn.iter())?;
                to.input(&mut *first.input)?;
            }
        }
        Ok(())
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), Error> {
        self.pass = match from.at_most(2)? {
            0 => Pass::Unknown,
            1 => {
                let drawn = from.results()?.pop_front();
                let mut kept = self.stage.kept.iterator_below(self.position);
                from.input(&mut *kept)?;
                Pass::Kept(kept, drawn)
            }
            _ => {
                let has_ended = from.bool()?;
                let drawn = from.results()?.pop_front();
                let mut input = self.stage.input.iterator_below(self.position);
                from.input(&mut *input)?;
                Pass::First(FirstPass {
                    input,
                    drawn,
                    // The first elements are missing.
                    writing: None,
                    has_ended,
                })
            }
        };
        Ok(())
    }
}

impl FirstPass {
    fn step(&mut self, ctx: &ExecutionContext) -> StepResult {
        if self.has_ended {
            return StepResult::Answer(Outcome::END);
        }
        if let Some(cancelled) = ctx.request().cancel_value() {
            // The following elements may be errors of the cancellation.
            self.writing = None;
            return StepResult::Answer(Outcome::Error(cancelled.clone()));
        }
        if let Some(writing) = &mut self.writing {
            match writing.go_on(ctx) {
                Ok(None) => {}
                Ok(Some(awaited)) => return StepResult::Wait(awaited),
                Err(error) => {
                    self.writing = None;
                    return StepResult::Answer(Outcome::error(ctx.emit_error(error)));
                }
            }
            if writing.is_finished() {
                self.has_ended = true;
                return StepResult::Answer(Outcome::END);
            }
        }
        let drawn = self.drawn.take();
        let outcome = match drawn.unwrap_or_else(|| self.input.draw(ctx)).into_outcome() {
            Ok(outcome) => outcome,
            Err(pending) => {
                let awaited = pending.as_any().clone();
                self.drawn = Some(IterationResult::Pending(pending));
                return StepResult::Wait(awaited);
            }
        };
        let Some(writing) = &mut self.writing else {
            self.has_ended = outcome.is_end();
            return StepResult::Answer(outcome);
        };
        if let Outcome::Element(values) = &outcome
            && let Some(awaited) = values.iter().find(|value| !value.is_available()).cloned()
        {
            self.drawn = Some(outcome.into());
            return StepResult::Wait(awaited);
        }
        if outcome.is_end() {
            writing.end();
            // The end is delivered when the file is complete.
            return self.step(ctx);
        }
        match writing.add(&outcome, ctx) {
            Ok(()) => StepResult::Answer(outcome),
            Err(error) => {
                // The element follows the error.
                self.writing = None;
                self.drawn = Some(outcome.into());
                StepResult::Answer(Outcome::error(ctx.emit_error(error)))
            }
        }
    }
}

/// An unfinished file and its pending records.
#[derive(Debug)]
struct Writing {
    path: Arc<Path>,
    /// The records that are not written yet.
    records: RecordWriter<Vec<u8>>,
    num_bytes: usize,
    num_elements: u64,
    /// Whether the last record was added.
    has_end: bool,
    file: Background,
}

/// The owner of the file.
#[derive(Debug)]
enum Background {
    /// No write is running; the file may not exist yet.
    Idle(Option<UnfinishedFile>),
    /// A task writes.
    Busy(AsyncValueRef<Written>),
    /// The file is in its place.
    Finished,
}

/// The result of a write. It is taken out once.
#[derive(Debug)]
struct Written(Option<io::Result<Option<UnfinishedFile>>>);

impl Value for Written {
    const MLIR_TYPE: &'static str = "!tfrt_data.written";
    const IS_MUTABLE: bool = true;
}

impl Writing {
    fn new(stage: &FileCache) -> Self {
        let mut writing = Self {
            path: Arc::clone(&stage.path),
            records: RecordWriter::new(Vec::new()),
            num_bytes: 0,
            num_elements: 0,
            has_end: false,
            file: Background::Idle(None),
        };
        writing.record(&header(&stage.description));
        writing
    }

    fn record(&mut self, data: &[u8]) {
        self.num_bytes += data.len();
        // A write to memory cannot fail.
        let _ = self.records.write(data);
    }

    fn add(&mut self, outcome: &Outcome, ctx: &ExecutionContext) -> Result<(), Error> {
        let mut record = vec![ELEMENT];
        let outcome = outcome.to_bytes(ctx).map_err(|error| {
            error.with_note(format_args!(
                ", so `{}` is not written",
                self.path.display()
            ))
        })?;
        record.extend_from_slice(&outcome);
        self.record(&record);
        self.num_elements += 1;
        Ok(())
    }

    fn end(&mut self) {
        let mut record = vec![END];
        record.extend_from_slice(&self.num_elements.to_le_bytes());
        self.record(&record);
        self.has_end = true;
    }

    fn is_finished(&self) -> bool {
        matches!(self.file, Background::Finished)
    }

    /// Starts a write if there are enough records, and returns the value to wait for before more
    /// records are added.
    fn go_on(&mut self, ctx: &ExecutionContext) -> Result<Option<AnyRef>, Error> {
        loop {
            let is_full = self.has_end || self.num_bytes >= BYTES_PER_WRITE;
            match &mut self.file {
                Background::Finished => return Ok(None),
                Background::Idle(_) if !is_full => return Ok(None),
                Background::Idle(file) => {
                    let file = file.take();
                    let records = std::mem::replace(&mut self.records, RecordWriter::new(vec![]));
                    self.num_bytes = 0;
                    let (path, is_last) = (Arc::clone(&self.path), self.has_end);
                    self.file = Background::Busy(in_background(ctx, move || {
                        Written(Some(write(&path, file, records, is_last)))
                    }));
                }
                Background::Busy(written) if !written.is_available() => {
                    return Ok(is_full.then(|| written.as_any().clone()));
                }
                Background::Busy(written) => {
                    let written = written.try_write().map(|mut written| written.0.take());
                    self.file = match written {
                        Ok(Some(Ok(Some(file)))) => Background::Idle(Some(file)),
                        Ok(Some(Ok(None))) => Background::Finished,
                        Ok(Some(Err(error))) => return Err(failed_to_write(&self.path, &error)),
                        // The pool dropped the task.
                        Ok(None) | Err(_) => {
                            let error = io::Error::other("the write was stopped");
                            return Err(failed_to_write(&self.path, &error));
                        }
                    };
                }
            }
        }
    }
}

/// Writes records to a file, which is created first if necessary. After the last records, the file
/// gets its final name.
fn write(
    path: &Path,
    file: Option<UnfinishedFile>,
    records: RecordWriter<Vec<u8>>,
    is_last: bool,
) -> io::Result<Option<UnfinishedFile>> {
    let mut unfinished = match file {
        Some(file) => file,
        None => UnfinishedFile::create(path)?,
    };
    unfinished.file.write_all(&records.finish()?)?;
    if !is_last {
        return Ok(Some(unfinished));
    }
    unfinished.file.sync_all()?;
    fs::rename(&unfinished.path, path)?;
    unfinished.is_in_place = true;
    Ok(None)
}

/// A file that is removed unless it gets its final name.
#[derive(Debug)]
struct UnfinishedFile {
    file: File,
    path: PathBuf,
    is_in_place: bool,
}

impl UnfinishedFile {
    /// Creates the file in the folder of its final name, so that renaming suffices.
    fn create(path: &Path) -> io::Result<Self> {
        /// Several passes of one process may write. Orders nothing: relaxed.
        static NUM_FILES: AtomicU64 = AtomicU64::new(0);
        let number = NUM_FILES.fetch_add(1, Ordering::Relaxed);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}-{number}.unfinished", std::process::id()));
        let unfinished = path.with_file_name(name);
        let file = match (File::create(&unfinished), path.parent()) {
            (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir_all(folder)?;
                File::create(&unfinished)
            }
            (created, _) => created,
        };
        Ok(Self {
            file: file?,
            path: unfinished,
            is_in_place: false,
        })
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        if !self.is_in_place {
            // There is nobody to report an error to.
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cold]
fn failed_to_write(path: &Path, error: &io::Error) -> Error {
    failed_to("write", &path.to_string_lossy(), error)
}

/// Runs `f` on the blocking pool, or on this thread if the pool rejects it.
fn in_background<T: Value>(
    ctx: &ExecutionContext,
    f: impl FnOnce() -> T + Send + 'static,
) -> AsyncValueRef<T> {
    let (promise, value) = AsyncValueRef::unconstructed();
    let task = Task::new(move || promise.emplace(f()));
    let tag = ctx.request().tag();
    if let Err(task) = ctx.queue().add_blocking_task_for(tag, task, true) {
        task.run_and_survive();
    }
    value
}

fn header(description: &str) -> Vec<u8> {
    [MAGIC, description.as_bytes()].concat()
}

/// Returns `true` if the file has the elements of this pipeline.
fn is_kept(path: &Path, description: &str) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let expected = header(description);
    let reader = RecordReader::new(io::BufReader::new(file));
    let mut reader = reader.with_max_record_bytes(expected.len() as u64);
    matches!(reader.next(), Some(Ok(found)) if found == expected)
}

/// The format of the file.
#[derive(Debug)]
struct KeptElements {
    description: Arc<str>,
}

impl Format for KeptElements {
    fn name(&self) -> &'static str {
        "kept_elements"
    }

    fn open(
        &self,
        file: OpenFile,
        _ctx: &ExecutionContext,
    ) -> Result<Box<dyn ReadElements>, Error> {
        let mut records = RecordReader::new(file.open()?);
        match records.next() {
            Some(Ok(found)) if found == header(&self.description) => {}
            Some(Ok(_)) => return Err(file.error("it has the elements of another pipeline")),
            Some(Err(error)) => return Err(file.error(error)),
            None => return Err(file.error("it is empty")),
        }
        Ok(Box::new(KeptReader {
            file,
            records,
            num_read: 0,
            has_ended: false,
        }))
    }

    fn describe(&self, to: &mut StageDescription<'_>) {
        to.attribute("elements_of", &self.description);
    }
}

struct KeptReader {
    file: OpenFile,
    records: RecordReader<Stream>,
    num_read: u64,
    has_ended: bool,
}

impl ReadElements for KeptReader {
    fn read_element(&mut self, ctx: &ExecutionContext) -> Option<Result<Element, Error>> {
        if self.has_ended {
            return None;
        }
        let position = self.records.position();
        let number = self.num_read;
        let record = match self.records.next() {
            Some(Ok(record)) => record,
            Some(Err(error)) => {
                self.num_read += 1;
                return Some(Err(self.file.record_error(number, position, error)));
            }
            None => {
                self.has_ended = true;
                let message = format!("it ends behind {number} elements, before its last record");
                return Some(Err(self.file.error(message)));
            }
        };
        let damaged = |message: &str| Some(Err(self.file.record_error(number, position, message)));
        match record.split_first() {
            Some((&ELEMENT, bytes)) => {
                self.num_read += 1;
                match Outcome::from_bytes(bytes, ctx) {
                    Ok(Outcome::Element(values)) => Some(Ok(Element {
                        values,
                        len_bytes: bytes.len(),
                    })),
                    Ok(Outcome::Error(failed)) => Some(Err(failed
                        .error_if_present()
                        .cloned()
                        .unwrap_or_else(|| Error::new("a failed draw")))),
                    Ok(Outcome::End(_)) => damaged("an end in the place of an element"),
                    Err(error) => damaged(error.message()),
                }
            }
            Some((&END, count)) => {
                self.has_ended = true;
                match count == number.to_le_bytes() {
                    true => None,
                    false => damaged("it has another number of elements than it says"),
                }
            }
            _ => {
                self.num_read += 1;
                damaged("a record of unknown kind")
            }
        }
    }
}
