//! Parsing the rows of one file on several threads.
//!
//! ```text
//!  stream ──► chunks, cut between rows ──► parsed by a task of the work queue ──┐
//!                                          or by the reader, if it comes first ─┴─► rows in order
//! ```
//!
//! Only chunks without a quote are parsed in parallel: every line break in them ends a row, and the
//! columns are filled one after the other. From the first quote on, the file is read row by row. So
//! is a chunk in which a row is wrong, to find the errors in their order.
//!
//! Whoever takes a chunk first parses it. The reader therefore waits only for a chunk that another
//! thread has taken and is parsing, never for a thread. A task does not keep its chunk: the memory
//! of the chunk is free once the reader is done with it, however late the task runs.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use tfrt_host::ExecutionContext;

use super::CsvOptions;
use super::fields::{Fields, is_break};
use super::filling::{Filling, row_bytes};
use super::input::{Input, Place, open_part, open_stream};
use crate::files::Stream;
use crate::schema::Column;

/// About how many bytes a chunk has. It takes some tenths of a millisecond to parse, and fits the
/// cache of a core.
const CHUNK_BYTES: usize = 1 << 18;

/// What a file in UTF-8 may begin with.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The largest number of chunks that are held at a time.
const MAX_CHUNKS: usize = 16;

/// How the rows of a file are parsed.
#[derive(Debug)]
pub(super) struct Plan {
    options: CsvOptions,
    /// The columns, and which fields of a row they are.
    columns: Vec<(Column, usize)>,
    /// The number of fields in each row.
    num_fields: usize,
}

impl Plan {
    pub(super) fn new(
        options: &CsvOptions,
        columns: Vec<(Column, usize)>,
        num_fields: usize,
    ) -> Self {
        let options = CsvOptions {
            // The first row of a part is an ordinary one.
            has_header: false,
            ..options.clone()
        };
        Self {
            options,
            columns,
            num_fields,
        }
    }

    pub(super) fn fillings(&self) -> Vec<Filling> {
        let columns = self.columns.iter();
        let filling = |(column, position): &(Column, usize)| Filling::new(column, *position);
        columns.map(filling).collect()
    }
}

/// The first bytes of a file, which tell whether it is worth several threads.
pub(super) struct Beginning {
    bytes: Arc<[u8]>,
    /// What follows. Nothing follows an error.
    rest: Result<Stream, io::Error>,
    /// Whether the file has more than one chunk, the first one has no quote, and line breaks end
    /// rows.
    is_suitable: bool,
}

impl Beginning {
    pub(super) fn read(mut stream: Stream, options: &CsvOptions) -> Self {
        let mut bytes = Vec::new();
        let read = read_chunk(&mut stream, &mut bytes);
        Self {
            is_suitable: matches!(read, Ok(true))
                && !has_quote(&bytes, options)
                && !is_break(options.delimiter),
            bytes: bytes.into(),
            rest: read.map(|_| stream),
        }
    }

    /// Returns `true` if the file can be parsed in [`Chunks`].
    pub(super) fn is_suitable(&self) -> bool {
        self.is_suitable
    }

    /// Returns the rows of the first chunk. A row that the chunk may cut off is left out.
    pub(super) fn first_rows(&self, options: &CsvOptions) -> Input {
        let end = last_end_of_row(&self.bytes).unwrap_or(0);
        let rows = Cursor::new(Arc::clone(&self.bytes)).take(end as u64);
        open_stream(Box::new(rows), options)
    }

    /// Returns the whole file.
    pub(super) fn into_stream(self) -> Stream {
        chain(Cursor::new(self.bytes), self.rest)
    }
}

/// Returns bytes, and what follows.
fn chain(bytes: impl Read + Send + 'static, rest: Result<Stream, io::Error>) -> Stream {
    match rest {
        Ok(rest) => Box::new(bytes.chain(rest)),
        Err(error) => Box::new(bytes.chain(Failing(Some(error)))),
    }
}

/// A stream that fails once.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Reads until there are enough bytes for a chunk. Returns `false` at the end of the stream.
fn read_chunk(stream: &mut Stream, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let missing = CHUNK_BYTES.saturating_sub(bytes.len());
    bytes.reserve(missing);
    stream.by_ref().take(missing as u64).read_to_end(bytes)?;
    Ok(bytes.len() >= CHUNK_BYTES)
}

fn has_quote(bytes: &[u8], options: &CsvOptions) -> bool {
    options.quote.is_some_and(|quote| bytes.contains(&quote))
}

/// The rows of a file, in chunks.
pub(super) struct Chunks {
    plan: Arc<Plan>,
    /// What is read next. It is gone once the rest of the file is read row by row.
    stream: Option<Result<Stream, io::Error>>,
    /// The bytes behind the last chunk.
    behind: Vec<u8>,
    /// The place of these bytes.
    place: Place,
    /// Oldest first.
    chunks: VecDeque<Arc<Chunk>>,
    /// What follows the chunks.
    last: Option<(Input, Place)>,
}

/// What comes next of a file.
pub(super) enum Next {
    Parsed(Parsed),
    /// Rows that are read one by one, and their place.
    Rows(Input, Place),
    End,
}

impl Chunks {
    /// Creates the rows of a file behind a place at its beginning.
    pub(super) fn new(plan: Plan, beginning: Beginning, place: Place) -> Self {
        let start = usize::try_from(place.byte).unwrap_or(usize::MAX);
        Self {
            plan: Arc::new(plan),
            behind: beginning.bytes.get(start..).unwrap_or_default().to_vec(),
            stream: Some(beginning.rest),
            place,
            chunks: VecDeque::new(),
            last: None,
        }
    }

    /// Returns what comes next.
    pub(super) fn next(&mut self, ctx: &ExecutionContext) -> Next {
        let num_chunks = ctx.queue().parallelism_level().min(MAX_CHUNKS);
        while self.chunks.len() < num_chunks && self.stream.is_some() {
            let Some(chunk) = self.cut() else { continue };
            // Threads that are busy with other work leave tasks behind. More tasks would not run
            // sooner, and the reader parses the chunk itself.
            if self.num_tasks() < num_chunks {
                let (chunk, plan) = (Arc::downgrade(&chunk), Arc::clone(&self.plan));
                ctx.enqueue(move || parse_unless_gone(&chunk, &plan));
            }
            self.chunks.push_back(chunk);
        }
        let Some(chunk) = self.chunks.pop_front() else {
            let last = self.last.take();
            return last.map_or(Next::End, |(input, place)| Next::Rows(input, place));
        };
        chunk.parse_unless_taken(&self.plan);
        match chunk.wait() {
            Some(parsed) => Next::Parsed(parsed),
            None => {
                let place = chunk.place;
                let text = Cursor::new(Text(chunk));
                Next::Rows(self.one_by_one(Box::new(text), place), place)
            }
        }
    }

    /// Returns the number of tasks that have not ended, each of which holds the plan.
    fn num_tasks(&self) -> usize {
        Arc::strong_count(&self.plan) - 1
    }

    /// Returns the next chunk. If there is none, the rest of the file follows row by row.
    fn cut(&mut self) -> Option<Arc<Chunk>> {
        let read = match self.stream.take()? {
            Ok(mut stream) => match read_chunk(&mut stream, &mut self.behind) {
                Ok(is_whole) => Ok((stream, is_whole)),
                Err(error) => Err(error),
            },
            Err(error) => Err(error),
        };
        let is_whole = matches!(read, Ok((_, true)));
        let stream = read.map(|(stream, _)| stream);
        let end = match is_whole && !has_quote(&self.behind, &self.plan.options) {
            true => last_end_of_row(&self.behind),
            false => None,
        };
        let Some(end) = end else {
            let behind = Cursor::new(std::mem::take(&mut self.behind));
            let input = self.one_by_one(chain(behind, stream), self.place);
            self.last = Some((input, self.place));
            return None;
        };
        self.stream = Some(stream);
        let behind = self.behind.split_off(end);
        let text = std::mem::replace(&mut self.behind, behind);
        let place = self.place;
        self.place.byte += text.len() as u64;
        self.place.num_lines += num_line_feeds(&text);
        Some(Arc::new(Chunk {
            text,
            place,
            state: Mutex::new(State::Waiting),
            has_changed: Condvar::new(),
        }))
    }

    /// Returns the rows of a part of the file at a place.
    fn one_by_one(&self, stream: Stream, place: Place) -> Input {
        let options = &self.plan.options;
        let rows = match place.is_start() {
            true => open_stream(stream, options),
            false => open_part(stream, options),
        };
        rows.with_num_fields(self.plan.num_fields)
    }
}

/// Returns the number of line feeds.
fn num_line_feeds(text: &[u8]) -> u64 {
    // Counts of so few bytes fit a byte, and vector instructions add up many of them.
    let in_part = |part: &[u8]| part.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    text.chunks(128).map(in_part).map(u64::from).sum()
}

/// Returns where the last whole row of a text ends. A line break of two characters is cut, as the
/// parser counts the second one to the next row.
fn last_end_of_row(text: &[u8]) -> Option<usize> {
    let last = text.iter().rposition(|&byte| byte == b'\n')?;
    let end = match text[..last].last() {
        Some(b'\r') => last,
        _ => last + 1,
    };
    (end > 0).then_some(end)
}

/// Whole rows without quotes.
struct Chunk {
    text: Vec<u8>,
    place: Place,
    state: Mutex<State>,
    has_changed: Condvar,
}

enum State {
    /// Nobody parses the chunk.
    Waiting,
    /// A thread parses it.
    Taken,
    /// The rows; none if one of them is wrong.
    Parsed(Option<Parsed>),
}

impl Chunk {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if the caller is the first one.
    fn take(&self) -> bool {
        let mut state = self.lock();
        let is_first = matches!(*state, State::Waiting);
        if is_first {
            *state = State::Taken;
        }
        is_first
    }

    fn parse_unless_taken(&self, plan: &Plan) {
        if self.take() {
            // Publishes even if the parser panics: the reader waits.
            let mut publication = Publication(self, None);
            // A byte-order mark that is not at the beginning of the file belongs to its row.
            let text = match self.place.is_start() {
                true => self.text.strip_prefix(BYTE_ORDER_MARK),
                false => None,
            };
            publication.1 = Parsed::parse(text.unwrap_or(&self.text), plan);
        }
    }

    /// Waits for the rows of a chunk that was taken.
    fn wait(&self) -> Option<Parsed> {
        let mut state = self.lock();
        loop {
            if let State::Parsed(parsed) = &mut *state {
                return parsed.take();
            }
            state = self
                .has_changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Parses a chunk that its reader still needs, unless another thread does.
fn parse_unless_gone(chunk: &Weak<Chunk>, plan: &Plan) {
    if let Some(chunk) = chunk.upgrade() {
        chunk.parse_unless_taken(plan);
    }
}

/// Hands the rows of a chunk to its reader when it is dropped.
struct Publication<'a>(&'a Chunk, Option<Parsed>);

impl Drop for Publication<'_> {
    fn drop(&mut self) {
        *self.0.lock() = State::Parsed(self.1.take());
        self.0.has_changed.notify_all();
    }
}

/// The text of a chunk.
struct Text(Arc<Chunk>);

impl AsRef<[u8]> for Text {
    fn as_ref(&self) -> &[u8] {
        &self.0.text
    }
}

/// The values of rows.
pub(super) struct Parsed {
    columns: Vec<Filling>,
    /// About how much memory each row takes.
    row_bytes: Vec<usize>,
    /// The number of rows that were handed out.
    num_moved: usize,
}

impl Parsed {
    /// Returns the rows of a text without quotes, or `None` if one of them is wrong.
    fn parse(text: &[u8], plan: &Plan) -> Option<Self> {
        let CsvOptions {
            delimiter,
            comment,
            is_lossy,
            ..
        } = plan.options;
        let fields = Fields::find(text, plan.num_fields, delimiter, comment)?;
        let mut columns = plan.fillings();
        for column in &mut columns {
            column.add_rows(text, &fields, is_lossy).ok()?;
        }
        let num_columns = columns.len();
        let sizes = fields
            .row_bytes()
            .map(|field_bytes| row_bytes(field_bytes, num_columns));
        Some(Self {
            row_bytes: sizes.collect(),
            columns,
            num_moved: 0,
        })
    }

    /// Moves rows to columns, as long as `wants_row` says so; it is asked with the number of rows
    /// so far, and with the bytes that they take. Returns both.
    pub(super) fn move_rows(
        &mut self,
        to: &mut [Filling],
        wants_row: impl Fn(usize, usize) -> bool,
    ) -> (usize, usize) {
        let (mut num_rows, mut num_bytes) = (0, 0);
        for row_bytes in &self.row_bytes[self.num_moved..] {
            if !wants_row(num_rows, num_bytes) {
                break;
            }
            num_bytes += row_bytes;
            num_rows += 1;
        }
        let rows = self.num_moved..self.num_moved + num_rows;
        for (from, to) in self.columns.iter_mut().zip(to) {
            to.rows.move_from(&mut from.rows, rows.clone());
        }
        self.num_moved = rows.end;
        (num_rows, num_bytes)
    }

    /// Returns `true` if all rows were moved.
    pub(super) fn is_empty(&self) -> bool {
        self.num_moved == self.row_bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tfrt_host::{HostContext, RequestContextBuilder};
    use tfrt_queue::create_queue;

    use super::*;
    use crate::schema::Schema;

    fn context() -> ExecutionContext {
        let queue = create_queue("mstd:2").unwrap();
        let host = HostContext::builder().queue(queue).build();
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    /// The chunks of a file of two columns.
    fn chunks_of(text: String) -> Chunks {
        let options = CsvOptions::default();
        let beginning = Beginning::read(Box::new(Cursor::new(text.into_bytes())), &options);
        assert!(beginning.is_suitable());
        let schema: Schema = "a: i64, b: f32".parse().unwrap();
        let columns = schema.columns().iter().cloned().zip(0..).collect();
        let plan = Plan::new(&options, columns, 2);
        Chunks::new(plan, beginning, Place::default())
    }

    /// How many parts of a file of two columns are parsed at once, how many row by row, and the
    /// number of rows of the former.
    fn parts_of(text: String) -> (usize, usize, usize) {
        let ctx = context();
        let mut chunks = chunks_of(text);
        let (mut num_parsed, mut num_others, mut num_rows) = (0, 0, 0);
        loop {
            match chunks.next(&ctx) {
                Next::Parsed(parsed) => {
                    num_parsed += 1;
                    num_rows += parsed.row_bytes.len();
                }
                Next::Rows(..) => num_others += 1,
                Next::End => return (num_parsed, num_others, num_rows),
            }
        }
    }

    #[test]
    fn chunks_without_quotes_and_errors_are_parsed_at_once() {
        let row = "123456,0.25\n";
        let num_rows = 7 * CHUNK_BYTES / 2 / row.len();
        let text = row.repeat(num_rows);
        let in_chunk = CHUNK_BYTES / row.len();
        // The rest is less than a chunk.
        let (num_parsed, num_others, found) = parts_of(text.clone());
        assert_eq!((num_parsed, num_others), (3, 1));
        assert!(
            (3 * in_chunk - 3..=3 * in_chunk).contains(&found),
            "{found}"
        );

        let at = |chunk: usize, row: &str| {
            let mut text = text.clone();
            text.insert_str((chunk * in_chunk + 100) * 12, row);
            parts_of(text)
        };
        let (num_parsed, num_others, _) = at(1, "x,1\n");
        assert_eq!((num_parsed, num_others), (2, 2));
        let (num_parsed, num_others, _) = at(1, "1,2,3\n");
        assert_eq!((num_parsed, num_others), (2, 2));
        // Everything behind a quote is read row by row.
        let (num_parsed, num_others, _) = at(2, "\"1\",2\n");
        assert_eq!((num_parsed, num_others), (2, 1));
    }

    #[test]
    fn threads_that_are_busy_keep_no_chunks() {
        let ctx = context();
        let num_threads = ctx.queue().parallelism_level();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begin, begun) = mpsc::channel();
        for _ in 0..num_threads {
            let (begin, released) = (begin.clone(), Arc::clone(&released));
            ctx.enqueue(move || {
                begin.send(()).unwrap();
                // Ends when the sender is gone.
                let released = released.lock().unwrap_or_else(PoisonError::into_inner);
                let _ = released.recv();
            });
        }
        for _ in 0..num_threads {
            begun.recv().unwrap();
        }

        let mut chunks = chunks_of("123456,0.25\n".repeat(17 * CHUNK_BYTES / 24));
        let mut num_parsed = 0;
        loop {
            let first = chunks.chunks.front().map(Arc::downgrade);
            match chunks.next(&ctx) {
                Next::Parsed(_) => num_parsed += 1,
                Next::Rows(..) => {}
                Next::End => break,
            }
            if let Some(first) = first {
                assert!(first.upgrade().is_none());
            }
            assert!(chunks.num_tasks() <= num_threads);
        }
        assert_eq!(num_parsed, 8);
        drop(release);
        ctx.host().quiesce().unwrap();
        assert_eq!(chunks.num_tasks(), 0);
    }

    #[test]
    fn texts_are_cut_behind_their_last_row() {
        for (text, expected) in [
            ("", None),
            ("1,2", None),
            ("\n", Some(1)),
            ("1\n", Some(2)),
            ("1\n2", Some(2)),
            ("1\n2\n\n3", Some(5)),
            ("1\r\n2", Some(2)),
            ("1\r\n\r\n2", Some(4)),
            ("\r\n", Some(1)),
            ("1\r2", None),
        ] {
            assert_eq!(last_end_of_row(text.as_bytes()), expected, "{text:?}");
        }
    }
}
