//! The client's end of data connections: payloads, calls and their answers.
//!
//! ```text
//!  payload ──► writer, which one has at a time ──► socket
//!  call ──► queue ──► socket: by the next one who has the writer, or the task of the connection
//! ```

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prost::Message;
use prost::bytes::{BufMut, Bytes, BytesMut};
use tfrt_distributed::message::SendDataRequest;
use tokio::io::{AsyncReadExt, BufReader, ReadHalf, WriteHalf};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tonic::Status;

use super::frames::{Frames, MAX_PARTS};
use super::{
    CallFrame, FRAME_BYTES, Header, Heard, Io, Kind, MAX_ANSWER_BYTES, MAX_BEGIN_BYTES,
    MAX_ELEMENTS, PREFACE, unexpected,
};
use crate::options::GrpcOptions;
use crate::status;
use crate::wire::DataChunk;

/// The buffer for answers.
const BUFFER_BYTES: usize = 4 << 10;

/// Returns `true` if a payload may go on a data connection.
pub(crate) fn fits(request: &SendDataRequest) -> bool {
    // A size takes ten bytes at most.
    let num_elements = request.payload.len();
    num_elements <= MAX_ELEMENTS
        && request.instance_key.len() + 10 * num_elements + 64 <= MAX_BEGIN_BYTES
}

/// The connection of payloads of about the same size to one task: opened when it is used, and again
/// once it has ended.
#[derive(Debug, Default)]
pub(crate) struct Lane(tokio::sync::Mutex<Option<Connection>>);

impl Lane {
    /// Sends a payload, and returns the response.
    pub(crate) async fn send(
        &self,
        options: &GrpcOptions,
        open: impl Future<Output = io::Result<Opened>>,
        request: &SendDataRequest,
    ) -> Result<Bytes, Status> {
        let shared = self.connect(options, open).await?;
        shared.send(request).await
    }

    /// Returns `true` if there is a connection, and nobody is opening another one.
    pub(crate) fn is_open(&self) -> bool {
        let slot = self.0.try_lock();
        slot.is_ok_and(|slot| slot.as_ref().is_some_and(|open| !open.has_ended()))
    }

    /// Sends a call, and returns the response.
    pub(crate) async fn call(
        &self,
        options: &GrpcOptions,
        open: impl Future<Output = io::Result<Opened>>,
        call: CallFrame,
    ) -> Result<Bytes, Status> {
        let shared = self.connect(options, open).await?;
        shared.call(call).await
    }

    /// Returns the connection.
    async fn connect(
        &self,
        options: &GrpcOptions,
        open: impl Future<Output = io::Result<Opened>>,
    ) -> Result<Arc<Shared>, Status> {
        // Whoever comes meanwhile uses the same connection.
        let mut slot = self.0.lock().await;
        if let Some(connection) = &*slot
            && !connection.has_ended()
        {
            return Ok(Arc::clone(&connection.shared));
        }
        let opened = tokio::time::timeout(options.connect_timeout, async {
            let opened = open
                .await
                .map_err(|error| Status::from_error(error.into()))?;
            Connection::begin(opened, options).await
        });
        let connection = opened
            .await
            .unwrap_or_else(|_| Err(Status::unavailable("connecting took too long")))?;
        Ok(Arc::clone(&slot.insert(connection).shared))
    }
}

/// A connection that has just been opened.
pub(crate) struct Opened {
    pub(crate) io: Box<dyn Io>,
    /// Whether the bytes get a checksum, because nothing else protects them on their way.
    pub(crate) is_summed: bool,
}

impl Opened {
    /// Of a connection on which bytes do not change: a Unix socket, or one with TLS.
    pub(crate) fn protected(io: impl Io + 'static) -> Self {
        Self {
            io: Box::new(io),
            is_summed: false,
        }
    }

    /// Of a connection without TLS. Bytes to a loopback address do not leave the machine.
    pub(crate) fn to_address(address: IpAddr, io: impl Io + 'static) -> Self {
        Self {
            io: Box::new(io),
            is_summed: !address.to_canonical().is_loopback(),
        }
    }
}

/// A connection, which ends when this is dropped. One on which nothing can be sent any more ends by
/// itself.
#[derive(Debug)]
struct Connection {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.has_ended() {
            self.task.abort();
        }
    }
}

/// What the calls and the task of a connection share.
struct Shared {
    writer: tokio::sync::Mutex<Writer>,
    state: Mutex<State>,
    /// Tells the task that something is left for it to send: the end of a payload within which its
    /// call ended, or calls.
    left_over: Notify,
}

#[derive(Default)]
struct State {
    num_sent: u64,
    /// The payloads and calls in progress, by their numbers.
    waiting: HashMap<u64, oneshot::Sender<Result<Bytes, Status>>>,
    /// The frames of calls that wait for their turn.
    queued: BTreeMap<u64, Bytes>,
    /// Why the connection has ended, or nothing more can be sent on it.
    ended: Option<Status>,
}

impl Connection {
    /// Introduces this task, and waits until the other one accepts that.
    async fn begin(opened: Opened, options: &GrpcOptions) -> Result<Self, Status> {
        use tokio::io::AsyncWriteExt;

        let Opened { mut io, is_summed } = opened;
        let token = options
            .token
            .as_ref()
            .map_or(&[][..], |token| token.secret());
        let mut first = BytesMut::from(&PREFACE[..]);
        // As long as a header of HTTP at most.
        first.put_u32_le(u32::try_from(token.len()).unwrap_or(u32::MAX));
        first.extend_from_slice(token);
        let of_io = |error: io::Error| Status::from_error(error.into());
        io.write_all(&first).await.map_err(of_io)?;
        io.flush().await.map_err(of_io)?;
        let (reader, io) = tokio::io::split(io);
        let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
        let (_, accepted) = read_answer(&mut reader, None, 0).await?;
        accepted?;
        let shared = Arc::new(Shared {
            writer: tokio::sync::Mutex::new(Writer {
                frames: Frames::new(io),
                is_summed,
                is_within: false,
            }),
            state: Mutex::default(),
            left_over: Notify::new(),
        });
        let heard = Heard::new(options);
        let max_bytes = options.max_message_bytes;
        let kept = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let why = tokio::select! {
                why = kept.take_answers(reader, &heard, max_bytes) => why,
                why = kept.send_until_broken(&heard) => why,
                why = heard.silence() => why,
            };
            kept.end(&why);
        });
        Ok(Self { shared, task })
    }

    fn has_ended(&self) -> bool {
        self.shared.lock().ended.is_some()
    }
}

/// Reads the next answer. A response of more than `max_bytes` is dropped, and its call gets an
/// error.
async fn read_answer(
    reader: &mut BufReader<ReadHalf<Box<dyn Io>>>,
    heard: Option<&Heard>,
    max_bytes: usize,
) -> Result<(u64, Result<Bytes, Status>), Status> {
    loop {
        let mut header = [0; Header::BYTES];
        reader.read_exact(&mut header).await.map_err(broken)?;
        if let Some(heard) = heard {
            heard.note();
        }
        let header = Header::parse(header)?;
        let len = header.len as usize;
        let most = match header.kind {
            Kind::Answer => max_bytes,
            _ => MAX_ANSWER_BYTES,
        };
        if len > most {
            if header.kind != Kind::Answer {
                return Err(unexpected(&format!("answer of {len} bytes")));
            }
            skip_bytes(reader, heard, len).await?;
            let message = format!("a response of {len} bytes exceeds the limit of {most} bytes");
            return Ok((header.value, Err(Status::out_of_range(message))));
        }
        let body = read_bytes(reader, heard, len).await?;
        match header.kind {
            Kind::Ping => {}
            Kind::Answer => return Ok((header.value, Ok(body.into()))),
            Kind::Failure => return Ok((header.value, Err(status::from_bytes(&body)))),
            Kind::Begin | Kind::Bytes | Kind::Plain | Kind::Abort | Kind::Call => {
                return Err(unexpected("frame from a server"));
            }
        }
    }
}

fn broken(error: io::Error) -> Status {
    Status::from_error(error.into())
}

/// Reads so many bytes into memory that grows with what has arrived.
async fn read_bytes(
    reader: &mut BufReader<ReadHalf<Box<dyn Io>>>,
    heard: Option<&Heard>,
    len: usize,
) -> Result<Vec<u8>, Status> {
    let mut bytes = Vec::with_capacity(len.min(MAX_ANSWER_BYTES));
    while bytes.len() < len {
        let room = len - bytes.len();
        let mut room = (&mut bytes).limit(room);
        if reader.read_buf(&mut room).await.map_err(broken)? == 0 {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        if let Some(heard) = heard {
            heard.note();
        }
    }
    Ok(bytes)
}

/// Drops so many bytes.
async fn skip_bytes(
    reader: &mut BufReader<ReadHalf<Box<dyn Io>>>,
    heard: Option<&Heard>,
    mut num_left: usize,
) -> Result<(), Status> {
    while num_left > 0 {
        let part = num_left.min(MAX_ANSWER_BYTES);
        read_bytes(reader, heard, part).await?;
        num_left -= part;
    }
    Ok(())
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Numbers a payload or a call, and queues the call.
    ///
    /// # Errors
    /// If the connection has ended.
    fn begin(&self, call: Option<CallFrame>) -> Result<InProgress<'_>, Status> {
        let (sender, answer) = oneshot::channel();
        let mut state = self.lock();
        if let Some(why) = &state.ended {
            return Err(why.clone());
        }
        state.num_sent += 1;
        let number = state.num_sent;
        state.waiting.insert(number, sender);
        if let Some(call) = call {
            state.queued.insert(number, call.numbered(number));
        }
        Ok(InProgress {
            shared: self,
            number,
            answer,
            is_sending: false,
        })
    }

    /// Sends a payload, and returns the response. The call may end at any time.
    async fn send(&self, request: &SendDataRequest) -> Result<Bytes, Status> {
        let mut begun = self.begin(None)?;
        begun.is_sending = true;
        let number = begun.number;
        let write = async {
            let mut writer = self.writer.lock().await;
            self.take_calls(&mut writer);
            writer.send(number, request).await
        };
        tokio::select! {
            biased;
            sent = write => if let Err(error) = sent {
                self.stop_sending(&broken(error));
            },
            // Refused before it has arrived; or the connection has ended.
            answer = begun.answer() => return answer,
        }
        begun.is_sending = false;
        begun.answer().await
    }

    /// Sends a call at its turn, and returns the response. The call may end at any time.
    async fn call(&self, call: CallFrame) -> Result<Bytes, Status> {
        let mut begun = self.begin(Some(call))?;
        self.left_over.notify_one();
        begun.answer().await
    }

    /// Adds the calls that wait to the frames of a writer, after the end of the last payload.
    fn take_calls(&self, writer: &mut Writer) {
        writer.end_payload();
        let calls = std::mem::take(&mut self.lock().queued);
        for call in calls.into_values() {
            writer.frames.push_whole(call);
        }
    }

    /// Takes answers until the connection ends, and returns why.
    async fn take_answers(
        &self,
        mut reader: BufReader<ReadHalf<Box<dyn Io>>>,
        heard: &Heard,
        max_bytes: usize,
    ) -> Status {
        loop {
            let (number, answer) = match read_answer(&mut reader, Some(heard), max_bytes).await {
                Ok(answer) => answer,
                Err(why) => return why,
            };
            let waiting = self.lock().waiting.remove(&number);
            if let Some(waiting) = waiting {
                // The call may have ended.
                let _ = waiting.send(answer);
            }
        }
    }

    /// Sends pings, and what is left to send, until that fails. Returns why, after the time in
    /// which answers that were sent before can be taken.
    async fn send_until_broken(&self, heard: &Heard) -> Status {
        let why = self.keep_alive(heard.interval).await;
        self.stop_sending(&why);
        tokio::time::sleep(heard.limit).await;
        why
    }

    /// Sends pings, and what is left to send, until nothing can be sent. Returns why.
    async fn keep_alive(&self, interval: Duration) -> Status {
        loop {
            let is_left = tokio::time::timeout(interval, self.left_over.notified()).await;
            if let Some(why) = &self.lock().ended {
                return why.clone();
            }
            // Nothing else is sent as long as a payload is being sent.
            let mut writer = self.writer.lock().await;
            self.take_calls(&mut writer);
            if is_left.is_err() {
                writer.frames.push(Kind::Ping, 0, Bytes::new());
            }
            if let Err(error) = writer.frames.flush().await {
                return broken(error);
            }
        }
    }

    /// Sends nothing more, and ends the calls that were not sent. Others may still have answers:
    /// the other side may have answered, and then closed the connection.
    fn stop_sending(&self, why: &Status) {
        let unsent: Vec<_> = {
            let mut state = self.lock();
            state.ended.get_or_insert_with(|| why.clone());
            let State {
                waiting, queued, ..
            } = &mut *state;
            let numbers = std::mem::take(queued).into_keys();
            numbers
                .filter_map(|number| waiting.remove(&number))
                .collect()
        };
        for unsent in unsent {
            // The call may have ended.
            let _ = unsent.send(Err(why.clone()));
        }
        self.left_over.notify_one();
    }

    /// Ends all calls.
    fn end(&self, why: &Status) {
        let (waiting, why) = {
            let mut state = self.lock();
            let why = state.ended.get_or_insert_with(|| why.clone()).clone();
            state.queued.clear();
            (std::mem::take(&mut state.waiting), why)
        };
        for waiting in waiting.into_values() {
            // The call may have ended.
            let _ = waiting.send(Err(why.clone()));
        }
    }
}

#[cold]
fn dropped() -> Status {
    Status::unavailable("the data connection was closed")
}

/// A payload or a call in progress.
struct InProgress<'shared> {
    shared: &'shared Shared,
    number: u64,
    answer: oneshot::Receiver<Result<Bytes, Status>>,
    /// Whether its payload is being sent, or waits for that.
    is_sending: bool,
}

impl InProgress<'_> {
    /// Returns the response, once.
    async fn answer(&mut self) -> Result<Bytes, Status> {
        let answer = (&mut self.answer).await;
        answer.unwrap_or_else(|_| Err(dropped()))
    }
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        {
            let mut state = self.shared.lock();
            state.waiting.remove(&self.number);
            state.queued.remove(&self.number);
        }
        if self.is_sending {
            // Frames of the payload, and calls that were to follow, may be left.
            self.shared.left_over.notify_one();
        }
    }
}

/// Sends payloads, one at a time, and calls between them.
struct Writer {
    frames: Frames<WriteHalf<Box<dyn Io>>>,
    is_summed: bool,
    /// Whether a payload has begun and not ended.
    is_within: bool,
}

impl Writer {
    /// Sends a payload after the frames that are there. Stopped at any time, it does not use the
    /// memory of the payload any more.
    async fn send(&mut self, number: u64, request: &SendDataRequest) -> io::Result<()> {
        let sending = Sending(self);
        sending.0.send_payload(number, request).await
    }

    async fn send_payload(&mut self, number: u64, request: &SendDataRequest) -> io::Result<()> {
        let sizes = request.payload.iter().map(|bytes| bytes.len() as u64);
        let head = DataChunk {
            context_id: request.context_id,
            instance_key: request.instance_key.clone(),
            element_bytes: sizes.collect(),
            ..DataChunk::default()
        };
        let head = head.encode_to_vec().into();
        self.frames.push(Kind::Begin, number, head);
        self.is_within = true;
        let mut num_queued = 0;
        for element in &request.payload {
            let (mut rest, mut crc32c) = (element.clone(), 0);
            // Elements without bytes have no frames.
            while !rest.is_empty() {
                let bytes = rest.split_to(rest.len().min(FRAME_BYTES));
                num_queued += bytes.len();
                if self.is_summed {
                    crc32c = crc32c::crc32c_append(crc32c, &bytes);
                    self.frames.push(Kind::Bytes, crc32c.into(), bytes);
                } else {
                    self.frames.push(Kind::Plain, 0, bytes);
                }
                // Small ones go together.
                if num_queued >= FRAME_BYTES || self.frames.num_left() >= MAX_PARTS {
                    self.frames.write().await?;
                    num_queued = 0;
                }
            }
        }
        self.frames.flush().await?;
        self.is_within = false;
        Ok(())
    }

    /// Ends the payload that a call has left which ended within it.
    fn end_payload(&mut self) {
        if self.is_within {
            self.is_within = false;
            self.frames.push(Kind::Abort, 0, Bytes::new());
        }
    }
}

/// A payload that is being sent. Its memory may be lent.
struct Sending<'writer>(&'writer mut Writer);

impl Drop for Sending<'_> {
    fn drop(&mut self) {
        if self.0.is_within {
            self.0.frames.copy_left();
        }
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
