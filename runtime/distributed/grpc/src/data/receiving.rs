//! The server's end of data connections: calls, and payloads that are not taken at once, become
//! tasks of the work queue. Their answers are sent as they come.

use std::pin::pin;
use std::sync::Arc;

use prost::Message;
use prost::bytes::{BufMut, Bytes};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, BufReader};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tonic::Status;

use super::answering::{AnswerFrame, Answerer, WeakAnswerer, way_back};
use super::arrival::{Arrival, malformed};
use super::frames::Frames;
use super::{
    FRAME_BYTES, Header, Heard, Io, Kind, MAX_BEGIN_BYTES, MAX_CALL_BYTES, PREFACE, call,
    unexpected,
};
use crate::accepting::Opening;
use crate::answers::Answer;
use crate::service::Endpoint;
use crate::tls::Caller;
use crate::wire::DataChunk;

/// The buffer for the starts of frames: their bytes are read past it.
const BUFFER_BYTES: usize = 8 << 10;

/// The most bytes of a token.
const MAX_TOKEN_BYTES: usize = 64 << 10;

/// Serves a connection until it ends, or until `stopping` and nothing has arrived that is not
/// answered. One that does not say what it should within the time of its opening is closed.
pub(crate) async fn serve(
    io: impl Io + 'static,
    caller: Option<Caller>,
    opening: Opening,
    endpoint: Arc<Endpoint>,
    stopping: watch::Receiver<bool>,
) {
    let options = endpoint.options();
    let (reader, writer) = tokio::io::split(io);
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let mut frames = Frames::new(writer);
    let accepted = tokio::select! {
        biased;
        () = opening => return,
        accepted = accept(&mut reader, &mut frames, &endpoint) => accepted,
    };
    if accepted.is_err() {
        // The connection is the client's to report.
        return;
    }
    let heard = Heard::new(options);
    let (answerer, waiting) = way_back(frames);
    let connection = Receiving {
        reader,
        caller,
        endpoint: Arc::clone(&endpoint),
        heard: &heard,
        answerer,
        room: Arc::new(Semaphore::new(options.max_inflight_requests as usize)),
    };
    let mut sending = pin!(waiting.send(&heard));
    let mut silence = pin!(heard.silence());
    let received = tokio::select! {
        received = connection.receive(stopping) => received,
        () = &mut sending => return,
        _ = &mut silence => return,
    };
    if let Ok(connection) = received {
        // The last answers.
        tokio::select! {
            () = sending => {}
            _ = connection.refuse() => {}
            _ = silence => {}
        }
    }
}

/// Takes what the client says first, and says that it is accepted.
async fn accept(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    frames: &mut Frames<impl AsyncWrite + Unpin>,
    endpoint: &Endpoint,
) -> Result<(), Status> {
    let broken = |error: std::io::Error| Status::from_error(error.into());
    let mut preface = [0; PREFACE.len()];
    reader.read_exact(&mut preface).await.map_err(broken)?;
    if preface != *PREFACE {
        return Err(unexpected("preface"));
    }
    let len = reader.read_u32_le().await.map_err(broken)? as usize;
    if len > MAX_TOKEN_BYTES {
        return Err(unexpected(&format!("token of {len} bytes")));
    }
    let mut secret = vec![0; len];
    reader.read_exact(&mut secret).await.map_err(broken)?;
    let token = endpoint.options().token.as_ref();
    let checked = token.map_or(Ok(()), |token| token.check_secret(&secret, len > 0));
    let answer = match &checked {
        Ok(()) => Ok(Bytes::new()),
        Err(refused) => Err(refused.clone()),
    };
    AnswerFrame::new(0, &answer).push_to(frames);
    frames.flush().await.map_err(broken)?;
    checked
}

/// A connection from which payloads and calls are received.
struct Receiving<'heard, R, W> {
    reader: BufReader<R>,
    caller: Option<Caller>,
    endpoint: Arc<Endpoint>,
    heard: &'heard Heard,
    answerer: Answerer<W>,
    /// Room for payloads without an answer. Calls take none: they may wait for each other.
    room: Arc<Semaphore>,
}

impl<R, W> Receiving<'_, R, W>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    /// Receives until `stopping` and nothing has arrived.
    ///
    /// # Errors
    /// If the connection ends.
    async fn receive(mut self, mut stopping: watch::Receiver<bool>) -> Result<Self, Status> {
        loop {
            self.answerer.has_room().await;
            tokio::select! {
                biased;
                arrived = self.reader.fill_buf() => {
                    if arrived.map_or(true, <[u8]>::is_empty) {
                        return Err(Status::unavailable("the client has gone"));
                    }
                }
                _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(self),
            }
            let header = self.header().await?;
            match header.kind {
                Kind::Begin => self.receive_payload(header).await?,
                Kind::Call => self.receive_call(header).await?,
                // The call ended when its payload was whole.
                Kind::Abort | Kind::Ping => {}
                Kind::Bytes | Kind::Plain | Kind::Answer | Kind::Failure => {
                    return Err(unexpected("frame from a client"));
                }
            }
        }
    }

    /// Refuses what still arrives, until the connection ends. Returns why. Once nobody else can
    /// answer, that is dropped instead, so that the last answers are the end.
    async fn refuse(self) -> Status {
        let Self {
            mut reader,
            heard,
            answerer,
            ..
        } = self;
        let answerer = answerer.downgrade();
        loop {
            match refuse_one(&mut reader, heard, &answerer).await {
                Ok(()) => {}
                Err(why) => return why,
            }
        }
    }

    async fn receive_call(&mut self, header: Header) -> Result<(), Status> {
        let (number, len) = (header.value, header.len as usize);
        if len > MAX_CALL_BYTES {
            return Err(unexpected(&format!("call of {len} bytes")));
        }
        let mut bytes = vec![0; len];
        read_all(&mut self.reader, &mut bytes, self.heard).await?;
        // Frames have no more bytes.
        let max_bytes = self.endpoint.options().max_message_bytes;
        let max_bytes = max_bytes.min(u32::MAX as usize);
        let called = call::parse(bytes.into()).and_then(|(method, request)| {
            check_size("a request", request.len(), max_bytes)?;
            Ok((method, request))
        });
        let (method, request) = match called {
            Ok(called) => called,
            Err(status) => {
                self.answerer.answer(number, &Err(status), None);
                return Ok(());
            }
        };
        let answerer = self.answerer.clone();
        let done = move |answer: Answer| {
            let answer = answer.and_then(|response| {
                check_size("a response", response.len(), max_bytes)?;
                Ok(response)
            });
            answerer.answer(number, &answer, None);
        };
        let caller = self.caller.clone();
        self.endpoint.answer(caller, method, request, done);
        Ok(())
    }

    async fn header(&mut self) -> Result<Header, Status> {
        read_header(&mut self.reader, self.heard).await
    }

    async fn receive_payload(&mut self, header: Header) -> Result<(), Status> {
        self.heard.pause();
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        self.heard.note();
        let (number, len) = (header.value, header.len as usize);
        if len > MAX_BEGIN_BYTES {
            return Err(unexpected(&format!("description of {len} bytes")));
        }
        let mut head = vec![0; len];
        read_all(&mut self.reader, &mut head, self.heard).await?;
        let head = DataChunk::decode(&head[..])
            .map_err(|error| malformed(&format!("its description: {error}")))?;
        let total = head.total_bytes();
        let begun = self.begin_payload(head);
        let refused = match begun {
            Ok(mut arrival) => match self.receive_bytes(&mut arrival).await? {
                Outcome::Aborted => return Ok(()),
                Outcome::Whole => {
                    self.hand_over(number, arrival, room);
                    return Ok(());
                }
                Outcome::Refused {
                    status,
                    num_received,
                } => (status, num_received),
            },
            Err(status) => (status, 0),
        };
        let (status, num_received) = refused;
        self.answerer.answer(number, &Err(status), room);
        self.skip(total.saturating_sub(num_received)).await
    }

    /// Begins a payload, unless its task refuses it before it arrives.
    fn begin_payload(&self, head: DataChunk) -> Result<Arrival, Status> {
        let endpoint = &self.endpoint;
        let room = endpoint.expect(self.caller.as_ref(), &head)?;
        let max_bytes = endpoint.options().max_payload_bytes;
        Arrival::begin(head, max_bytes, endpoint.memory()?, room)
    }

    /// Receives the bytes of a payload.
    async fn receive_bytes(&mut self, arrival: &mut Arrival) -> Result<Outcome, Status> {
        let mut num_received = 0;
        while !arrival.is_whole() {
            let header = self.header().await?;
            let len = header.len as usize;
            match header.kind {
                Kind::Ping => continue,
                Kind::Abort => return Ok(Outcome::Aborted),
                Kind::Bytes | Kind::Plain if len <= FRAME_BYTES => {}
                _ => return Err(unexpected("frame within a payload")),
            }
            let mut crc32c = match header.kind {
                Kind::Bytes => Some(arrival.crc32c()),
                _ => None,
            };
            let mut memory = match arrival.memory(len) {
                Ok(memory) => memory,
                Err(status) => {
                    skip_bytes(&mut self.reader, len, self.heard).await?;
                    num_received += len as u64;
                    return Ok(Outcome::Refused {
                        status,
                        num_received,
                    });
                }
            };
            while memory.has_remaining_mut() {
                let start = memory.get_ref().len_bytes();
                read_some(&mut self.reader, &mut memory, self.heard).await?;
                if let Some(crc32c) = &mut crc32c {
                    // While the bytes are in the cache.
                    let part = &memory.get_ref().as_bytes()[start..];
                    *crc32c = crc32c::crc32c_append(*crc32c, part);
                }
            }
            num_received += len as u64;
            let sums = crc32c.map(|summed| (summed, header.value));
            if let Err(status) = arrival.filled(sums) {
                return Ok(Outcome::Refused {
                    status,
                    num_received,
                });
            }
        }
        Ok(Outcome::Whole)
    }

    /// Drops so many bytes of a payload that was refused.
    async fn skip(&mut self, mut num_left: u64) -> Result<(), Status> {
        while num_left > 0 {
            let header = self.header().await?;
            match header.kind {
                Kind::Ping => {}
                Kind::Abort => return Ok(()),
                Kind::Bytes | Kind::Plain if u64::from(header.len) <= num_left => {
                    skip_bytes(&mut self.reader, header.len as usize, self.heard).await?;
                    num_left -= u64::from(header.len);
                }
                _ => return Err(unexpected("frame within a payload")),
            }
        }
        Ok(())
    }

    fn hand_over(&self, number: u64, arrival: Arrival, room: Option<OwnedSemaphorePermit>) {
        let answerer = self.answerer.clone();
        // The next payload, which has arrived, is usually answered soon, too.
        let is_followed = !self.reader.buffer().is_empty();
        let done = move |answer: Answer| match is_followed {
            true => answerer.answer_with_others(number, &answer, room),
            false => answerer.answer(number, &answer, room),
        };
        self.endpoint
            .take(self.caller.clone(), arrival.finish(), done);
    }
}

/// Refuses messages over the limit.
fn check_size(what: &str, num_bytes: usize, max_bytes: usize) -> Result<(), Status> {
    if num_bytes <= max_bytes {
        return Ok(());
    }
    Err(Status::out_of_range(format!(
        "{what} of {num_bytes} bytes exceeds the limit of {max_bytes} bytes"
    )))
}

/// What has become of the bytes of a payload.
enum Outcome {
    Whole,
    Aborted,
    /// The rest of it is not wanted.
    Refused {
        status: Status,
        num_received: u64,
    },
}

/// Refuses a payload or a call, and drops the bytes of a frame of any other kind.
async fn refuse_one<W: AsyncWrite + Unpin>(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    heard: &Heard,
    answerer: &WeakAnswerer<W>,
) -> Result<(), Status> {
    let header = read_header(reader, heard).await?;
    if matches!(header.kind, Kind::Answer | Kind::Failure) {
        return Err(unexpected("frame from a client"));
    }
    skip_bytes(reader, header.len as usize, heard).await?;
    if matches!(header.kind, Kind::Begin | Kind::Call)
        && let Some(answerer) = answerer.upgrade()
    {
        let refused = Err(Status::unavailable("the task ends"));
        answerer.answer(header.value, &refused, None);
        answerer.has_room().await;
    }
    Ok(())
}

async fn read_header(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    heard: &Heard,
) -> Result<Header, Status> {
    let mut header = [0; Header::BYTES];
    read_all(reader, &mut header, heard).await?;
    Header::parse(header)
}

/// Drops so many bytes.
async fn skip_bytes(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    mut num_left: usize,
    heard: &Heard,
) -> Result<(), Status> {
    let mut dropped = [0; BUFFER_BYTES];
    while num_left > 0 {
        let part = &mut dropped[..num_left.min(BUFFER_BYTES)];
        num_left -= part.len();
        read_all(reader, part, heard).await?;
    }
    Ok(())
}

/// Fills memory with what arrives.
async fn read_all(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    mut memory: &mut [u8],
    heard: &Heard,
) -> Result<(), Status> {
    while !memory.is_empty() {
        read_some(reader, &mut memory, heard).await?;
    }
    Ok(())
}

/// Puts what arrives into memory, as far as there is room.
async fn read_some(
    reader: &mut BufReader<impl AsyncRead + Unpin>,
    memory: &mut impl BufMut,
    heard: &Heard,
) -> Result<(), Status> {
    let read = reader.read_buf(memory).await;
    match read.map_err(|error| Status::from_error(error.into()))? {
        0 => Err(Status::unavailable("the client has gone")),
        _ => {
            heard.note();
            Ok(())
        }
    }
}
