//! What the reader reads: the files in their order, and how far it has come.
//!
//! One thread at a time reads: that of the pool while a reader runs, and otherwise that of the
//! iterator.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tfrt_async::Value;
use tfrt_data::Values;
use tfrt_host::{ExecutionContext, log};
use tfrt_support::{Error, ErrorCode};

use super::{Element, Format, ReadElements};
use crate::files::{FileSystems, Files, OpenFile};
use crate::policy::OnError;

/// A reader stops after so many bytes, so that the first element does not wait for all the others.
pub(super) const MAX_BATCH_BYTES: usize = 1 << 20;

/// The files, and what tells their reader to stop.
#[derive(Debug)]
pub(super) struct Source {
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
    /// An error ends the pass once it is handed out. The element that it cut short is in front.
    Failed(Error),
    Ended,
}

/// The place of an element, from which another iterator can go on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bookmark {
    /// Whether there is nothing there.
    pub(super) has_ended: bool,
    /// The number of the file.
    pub(super) file: u64,
    /// How many elements and errors of the file are in front.
    pub(super) num_read: u64,
    /// What the reader says of the place.
    pub(super) position: Option<u64>,
    /// How many errors were skipped in front.
    pub(super) num_skipped: u64,
    /// Whether the error here ends the pass, and the element that it cut short is in front. If the
    /// file changes before it is read again, records of that element may come again: what is here
    /// is then another element, which is delivered as a whole.
    pub(super) is_behind_cut_element: bool,
}

impl Bookmark {
    pub(super) const START: Self = Self {
        has_ended: false,
        file: 0,
        num_read: 0,
        position: None,
        num_skipped: 0,
        is_behind_cut_element: false,
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
        self.place.is_behind_cut_element = false;
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.bookmark().fmt(f)
    }
}

/// An element or an error, and the place of the next one.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) element: Result<Values, Error>,
    /// About how much memory the element takes.
    pub(super) len_bytes: usize,
    pub(super) next: Bookmark,
}

/// Elements and errors in order.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) items: VecDeque<Item>,
    pub(super) has_ended: bool,
}

impl Value for Batch {
    const MLIR_TYPE: &'static str = "!tfrt_data.records";
    const IS_MUTABLE: bool = true;
}

/// What one of several workers reads: every so many files or, where there are fewer files than
/// workers, every so many records of each file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) num_workers: u64,
    pub(super) index: u64,
}

impl Share {
    fn has(self, number: u64) -> bool {
        number % self.num_workers == self.index
    }
}

impl Source {
    pub(super) fn new(
        format: Arc<dyn Format>,
        files: Files,
        on_error: OnError,
        share: Option<Share>,
    ) -> Self {
        Self {
            format,
            files,
            on_error,
            share,
            shared_records: OnceLock::new(),
            paths: OnceLock::new(),
            state: Mutex::new(State::at(Bookmark::START)),
            is_dropped: AtomicBool::new(false),
        }
    }

    /// Goes on at a place in the file of this name, which may be empty.
    pub(super) fn go_to(&self, place: Bookmark, path: &str) {
        *self.hold() = State {
            restored_path: (!path.is_empty()).then(|| path.into()),
            ..State::at(place)
        };
    }

    /// Tells the reader to stop: nobody can draw any more.
    pub(super) fn stop(&self) {
        self.is_dropped.store(true, Ordering::Relaxed);
    }

    fn hold(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a file, counted from 0; empty if there is none, or none has been looked up.
    pub(super) fn path_of(&self, file: u64) -> &str {
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
    pub(super) fn read(&self, max_elements: usize, ctx: &ExecutionContext) -> Batch {
        let mut batch = Batch::default();
        let mut num_bytes = 0;
        let mut state = self.hold();
        while batch.items.len() < max_elements && num_bytes < MAX_BATCH_BYTES {
            if self.is_dropped.load(Ordering::Relaxed) || ctx.request().is_cancelled() {
                return batch;
            }
            let place = state.place;
            let read = match self.advance(&mut state, ctx) {
                Advance::Element(element) => Ok(element),
                Advance::Error(error) => match self.judge(&mut state, place, error, ctx) {
                    Some(read) => read,
                    None => continue,
                },
                Advance::LastError(error) => Err(error),
                Advance::NextFile => continue,
                Advance::End => break,
            };
            let (element, len_bytes) = match read {
                Ok(Element { values, len_bytes }) => (Ok(values), len_bytes),
                Err(error) => (Err(error), 0),
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
                    state.place.is_behind_cut_element = false;
                    state.progress = Progress::Within(reader, rest);
                    match self.shared_records.get() {
                        Some(share) if !share.has(number) => Advance::NextFile,
                        _ => read.map_or_else(Advance::Error, Advance::Element),
                    }
                }
            },
            Progress::Failed(error) => Advance::LastError(error),
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

    /// What is handed on of the error at a place: the error, unless it is skipped. If it ends the
    /// pass, the element that it cut short comes first.
    fn judge(
        &self,
        state: &mut State,
        place: Bookmark,
        error: Error,
        ctx: &ExecutionContext,
    ) -> Option<Result<Element, Error>> {
        let error = match self.on_error {
            OnError::Fail => return Some(Err(error)),
            OnError::Skip { max } if state.place.num_skipped < max => {
                state.place.num_skipped += 1;
                state.first_skipped.get_or_insert(error);
                return None;
            }
            OnError::Skip { max } => {
                error.with_note(format_args!(" (errors skipped before: {max})"))
            }
            OnError::Stop => error,
        };
        let cut_element = match std::mem::replace(&mut state.progress, Progress::Ended) {
            Progress::Within(reader, _) => self.take_cut_element(reader, place, ctx),
            _ => None,
        };
        Some(match cut_element {
            None => Err(error),
            Some(Ok(element)) => {
                state.progress = Progress::Failed(error);
                state.place = Bookmark {
                    is_behind_cut_element: true,
                    ..place
                };
                Ok(element)
            }
            Some(Err(lost)) => Err(error.with_note(format_args!(
                " (the incomplete element in front of it is lost: {})",
                lost.message()
            ))),
        })
    }

    /// Returns the element that the error at a place cut short, unless it was handed out before.
    fn take_cut_element(
        &self,
        mut reader: Box<dyn ReadElements>,
        place: Bookmark,
        ctx: &ExecutionContext,
    ) -> Option<Result<Element, Error>> {
        // Where workers share the records of a file, its records stay in the next element. The
        // worker of that number delivers them; if its pass has ended, they are lost, like all later
        // elements of that worker.
        let is_wanted = !place.is_behind_cut_element && self.shared_records.get().is_none();
        is_wanted.then(|| reader.take_incomplete(ctx)).flatten()
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
    /// It ends the pass, whatever the policy.
    LastError(Error),
    /// There is nothing yet: the next step may find something.
    NextFile,
    End,
}
