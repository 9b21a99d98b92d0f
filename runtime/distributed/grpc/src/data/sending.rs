//! The client's end of data connections: payloads and their answers.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice};
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prost::Message;
use prost::bytes::{Buf, BufMut, Bytes, BytesMut};
use tfrt_distributed::message::SendDataRequest;
use tokio::io::{AsyncReadExt, AsyncWrite, BufReader, ReadHalf, WriteHalf};
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tonic::Status;

use super::{
    FRAME_BYTES, Header, Heard, Io, Kind, MAX_ANSWER_BYTES, MAX_BEGIN_BYTES, MAX_ELEMENTS, PREFACE,
    unexpected,
};
use crate::options::GrpcOptions;
use crate::status;
use crate::wire::DataChunk;

/// The most parts that are handed to the system together.
const MAX_PARTS: usize = 16;

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
        let shared = {
            // Whoever comes meanwhile uses the same connection.
            let mut slot = self.0.lock().await;
            match &*slot {
                Some(connection) if !connection.has_ended() => Arc::clone(&connection.shared),
                _ => {
                    let opened = tokio::time::timeout(options.connect_timeout, async {
                        let opened = open
                            .await
                            .map_err(|error| Status::from_error(error.into()))?;
                        Connection::begin(opened, options).await
                    });
                    let connection = opened
                        .await
                        .unwrap_or_else(|_| Err(Status::unavailable("connecting took too long")))?;
                    Arc::clone(&slot.insert(connection).shared)
                }
            }
        };
        shared.send(request).await
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

/// A connection, which ends when this is dropped, unless calls are in progress.
#[derive(Debug)]
struct Connection {
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What the calls and the task of a connection share.
struct Shared {
    writer: tokio::sync::Mutex<Writer>,
    state: Mutex<State>,
    /// Tells the task that a call ended within its payload.
    left_over: Notify,
}

#[derive(Default)]
struct State {
    num_payloads: u64,
    /// The calls in progress, by the number of their payload.
    waiting: HashMap<u64, oneshot::Sender<Result<Bytes, Status>>>,
    /// Why the connection has ended.
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
        let (_, accepted) = read_answer(&mut reader, None).await?;
        accepted?;
        let shared = Arc::new(Shared {
            writer: tokio::sync::Mutex::new(Writer {
                io,
                is_summed,
                frames: VecDeque::new(),
                is_within: false,
            }),
            state: Mutex::default(),
            left_over: Notify::new(),
        });
        let heard = Heard::new(options);
        let kept = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            let why = tokio::select! {
                why = kept.take_answers(reader, &heard) => why,
                why = kept.keep_alive(heard.interval) => why,
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

/// Reads the next answer.
async fn read_answer(
    reader: &mut BufReader<ReadHalf<Box<dyn Io>>>,
    heard: Option<&Heard>,
) -> Result<(u64, Result<Bytes, Status>), Status> {
    let broken = |error: io::Error| Status::from_error(error.into());
    loop {
        let mut header = [0; Header::BYTES];
        reader.read_exact(&mut header).await.map_err(broken)?;
        if let Some(heard) = heard {
            heard.note();
        }
        let header = Header::parse(header)?;
        let len = header.len as usize;
        if len > MAX_ANSWER_BYTES {
            return Err(unexpected(&format!("answer of {len} bytes")));
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body).await.map_err(broken)?;
        match header.kind {
            Kind::Ping => {}
            Kind::Answer => return Ok((header.value, Ok(body.into()))),
            Kind::Failure => return Ok((header.value, Err(status::from_bytes(&body)))),
            Kind::Begin | Kind::Bytes | Kind::Plain | Kind::Abort => {
                return Err(unexpected("frame from a server"));
            }
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a payload, and returns the response. The call may end at any time.
    async fn send(&self, request: &SendDataRequest) -> Result<Bytes, Status> {
        let (sender, mut answer) = oneshot::channel();
        let number = {
            let mut state = self.lock();
            if let Some(why) = &state.ended {
                return Err(why.clone());
            }
            state.num_payloads += 1;
            let number = state.num_payloads;
            state.waiting.insert(number, sender);
            number
        };
        let _waiting = InProgress {
            shared: self,
            number,
        };
        let write = async {
            let mut writer = self.writer.lock().await;
            writer.send(number, request).await
        };
        tokio::select! {
            biased;
            sent = write => if let Err(error) = sent {
                self.end(&Status::from_error(error.into()));
            },
            // Refused before it has arrived; or the connection has ended.
            answer = &mut answer => {
                self.left_over.notify_one();
                return answer.unwrap_or_else(|_| Err(dropped()));
            }
        }
        answer.await.unwrap_or_else(|_| Err(dropped()))
    }

    /// Takes answers until the connection ends, and returns why.
    async fn take_answers(
        &self,
        mut reader: BufReader<ReadHalf<Box<dyn Io>>>,
        heard: &Heard,
    ) -> Status {
        loop {
            let (number, answer) = match read_answer(&mut reader, Some(heard)).await {
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

    /// Sends pings, and the ends of payloads that calls have left, until the connection ends.
    /// Returns why.
    async fn keep_alive(&self, interval: Duration) -> Status {
        loop {
            let is_left = tokio::select! {
                () = self.left_over.notified() => true,
                () = tokio::time::sleep(interval) => false,
            };
            // Nothing else is sent for so long if a payload is being sent.
            let kept = tokio::time::timeout(interval, async {
                let mut writer = self.writer.lock().await;
                match is_left {
                    true => writer.end_former().await,
                    false => writer.ping().await,
                }
            });
            if let Ok(Err(error)) = kept.await {
                return Status::from_error(error.into());
            }
        }
    }

    /// Ends all calls.
    fn end(&self, why: &Status) {
        let waiting = {
            let mut state = self.lock();
            state.ended.get_or_insert_with(|| why.clone());
            std::mem::take(&mut state.waiting)
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

/// A call in progress.
struct InProgress<'shared> {
    shared: &'shared Shared,
    number: u64,
}

impl Drop for InProgress<'_> {
    fn drop(&mut self) {
        if self.shared.lock().waiting.remove(&self.number).is_some() {
            // Its payload may be under way.
            self.shared.left_over.notify_one();
        }
    }
}

/// Sends frames. Whoever stops waiting for it leaves frames that the next one sends first.
struct Writer {
    io: WriteHalf<Box<dyn Io>>,
    is_summed: bool,
    /// What is to be sent of the frames that have begun.
    frames: VecDeque<Bytes>,
    /// Whether a payload has begun and not ended.
    is_within: bool,
}

impl Writer {
    async fn send(&mut self, number: u64, request: &SendDataRequest) -> io::Result<()> {
        self.end_former().await?;
        let sizes = request.payload.iter().map(|bytes| bytes.len() as u64);
        let head = DataChunk {
            context_id: request.context_id,
            instance_key: request.instance_key.clone(),
            element_bytes: sizes.collect(),
            ..DataChunk::default()
        };
        self.push(Kind::Begin, number, head.encode_to_vec().into());
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
                    self.push(Kind::Bytes, crc32c.into(), bytes);
                } else {
                    self.push(Kind::Plain, 0, bytes);
                }
                // Small ones go together.
                if num_queued >= FRAME_BYTES || self.frames.len() >= MAX_PARTS {
                    self.write_frames().await?;
                    num_queued = 0;
                }
            }
        }
        self.flush().await?;
        self.is_within = false;
        Ok(())
    }

    /// Completes what a call has left that ended within its payload.
    async fn end_former(&mut self) -> io::Result<()> {
        if self.is_within {
            self.is_within = false;
            self.push(Kind::Abort, 0, Bytes::new());
        }
        match self.frames.is_empty() {
            true => Ok(()),
            false => self.flush().await,
        }
    }

    async fn ping(&mut self) -> io::Result<()> {
        self.end_former().await?;
        self.push(Kind::Ping, 0, Bytes::new());
        self.flush().await
    }

    fn push(&mut self, kind: Kind, value: u64, bytes: Bytes) {
        let header = Header::new(kind, bytes.len(), value);
        self.frames
            .push_back(Bytes::copy_from_slice(&header.to_bytes()));
        if !bytes.is_empty() {
            self.frames.push_back(bytes);
        }
    }

    /// Sends the frames. Stopped at any time, what is left stays.
    async fn write_frames(&mut self) -> io::Result<()> {
        while !self.frames.is_empty() {
            let Self { io, frames, .. } = self;
            let mut parts = [IoSlice::new(&[]); MAX_PARTS];
            let num_parts = frames.len().min(MAX_PARTS);
            for (part, bytes) in parts.iter_mut().zip(&*frames) {
                *part = IoSlice::new(bytes);
            }
            let parts = &parts[..num_parts];
            let written = poll_fn(|context| Pin::new(&mut *io).poll_write_vectored(context, parts));
            let mut num_written = written.await?;
            if num_written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            while let Some(front) = frames.front_mut() {
                let len = front.len().min(num_written);
                front.advance(len);
                num_written -= len;
                if !front.is_empty() {
                    break;
                }
                frames.pop_front();
            }
        }
        Ok(())
    }

    async fn flush(&mut self) -> io::Result<()> {
        self.write_frames().await?;
        poll_fn(|context| Pin::new(&mut self.io).poll_flush(context)).await
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}
