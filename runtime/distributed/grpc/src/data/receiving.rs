//! The server's end of data connections: payloads become tasks of the work queue, and their answers
//! are sent as they come.

use std::pin::pin;
use std::sync::Arc;

use prost::Message;
use prost::bytes::{BufMut, Bytes};
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, ReadHalf, WriteHalf,
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tonic::Status;

use super::arrival::{Arrival, malformed, total_bytes};
use super::{FRAME_BYTES, Header, Heard, Io, Kind, MAX_BEGIN_BYTES, PREFACE, unexpected};
use crate::answers::Answer;
use crate::service::Endpoint;
use crate::status;
use crate::tls::Caller;
use crate::wire::DataChunk;

/// The buffer for the starts of frames: their bytes are read past it.
const BUFFER_BYTES: usize = 8 << 10;

/// The most bytes of a token.
const MAX_TOKEN_BYTES: usize = 64 << 10;

/// An answer to a payload, and the room that the payload has taken until it is sent.
type Answered = (u64, Answer, Option<OwnedSemaphorePermit>);

/// Serves a connection until it ends, or until `stopping` and nothing has arrived that is not
/// answered.
pub(crate) async fn serve(
    io: impl Io,
    caller: Option<Caller>,
    endpoint: Arc<Endpoint>,
    stopping: watch::Receiver<bool>,
) {
    let options = endpoint.options();
    let (reader, mut writer) = tokio::io::split(io);
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let accepted = accept(&mut reader, &mut writer, &endpoint);
    match tokio::time::timeout(options.connect_timeout, accepted).await {
        Ok(Ok(())) => {}
        // The connection is the client's to report.
        Ok(Err(_)) | Err(_) => return,
    }
    let heard = Heard::new(options);
    let (sender, answers) = mpsc::unbounded_channel();
    let connection = Receiving {
        reader,
        caller,
        endpoint: Arc::clone(&endpoint),
        heard: &heard,
        answers: sender,
        room: Arc::new(Semaphore::new(options.max_inflight_requests as usize)),
    };
    let mut sending = pin!(send_answers(writer, answers, &heard));
    let mut silence = pin!(heard.silence());
    let outcome = tokio::select! {
        outcome = connection.receive(stopping) => outcome,
        () = &mut sending => return,
        _ = &mut silence => return,
    };
    if outcome.is_ok() {
        // The last answers. Nothing is read any more.
        heard.pause();
        sending.await;
    }
}

/// Takes what the client says first, and says that it is accepted.
async fn accept<IO: Io>(
    reader: &mut BufReader<ReadHalf<IO>>,
    writer: &mut WriteHalf<IO>,
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
    let mut frames = Vec::new();
    push_answer(&mut frames, 0, &answer);
    writer.write_all(&frames).await.map_err(broken)?;
    writer.flush().await.map_err(broken)?;
    checked
}

fn push_answer(frames: &mut Vec<u8>, number: u64, answer: &Answer) {
    let failure;
    let (kind, body) = match answer {
        Ok(response) => (Kind::Answer, &response[..]),
        Err(status) => {
            failure = status::to_bytes(status);
            (Kind::Failure, &failure[..])
        }
    };
    frames.extend(Header::new(kind, body.len(), number).to_bytes());
    frames.extend_from_slice(body);
}

/// Sends answers, and pings while there are none, until nobody can answer any more.
async fn send_answers(
    mut writer: WriteHalf<impl Io>,
    mut answers: mpsc::UnboundedReceiver<Answered>,
    heard: &Heard,
) {
    let mut frames = Vec::new();
    loop {
        frames.clear();
        // Those payloads are on their way until their answers are sent.
        let mut rooms = Vec::new();
        match tokio::time::timeout(heard.interval, answers.recv()).await {
            Ok(None) => {
                // The connection ends, whatever comes of this.
                let _ = writer.shutdown().await;
                return;
            }
            Err(_) => frames.extend(Header::new(Kind::Ping, 0, 0).to_bytes()),
            Ok(Some((number, answer, room))) => {
                push_answer(&mut frames, number, &answer);
                rooms.push(room);
                while let Ok((number, answer, room)) = answers.try_recv() {
                    push_answer(&mut frames, number, &answer);
                    rooms.push(room);
                }
            }
        }
        if writer.write_all(&frames).await.is_err() || writer.flush().await.is_err() {
            return;
        }
    }
}

/// A connection from which payloads are received.
struct Receiving<'heard, R> {
    reader: BufReader<R>,
    caller: Option<Caller>,
    endpoint: Arc<Endpoint>,
    heard: &'heard Heard,
    answers: mpsc::UnboundedSender<Answered>,
    /// Room for payloads without an answer.
    room: Arc<Semaphore>,
}

impl<R: AsyncRead + Unpin> Receiving<'_, R> {
    /// Receives payloads until `stopping` and none has arrived. An error if the connection ends.
    async fn receive(mut self, mut stopping: watch::Receiver<bool>) -> Result<(), Status> {
        loop {
            self.heard.pause();
            let room = Arc::clone(&self.room).acquire_owned().await.ok();
            self.heard.note();
            tokio::select! {
                biased;
                arrived = self.reader.fill_buf() => {
                    if arrived.map_or(true, <[u8]>::is_empty) {
                        return Err(Status::unavailable("the client has gone"));
                    }
                }
                _ = stopping.wait_for(|is_stopping| *is_stopping) => return Ok(()),
            }
            let header = self.header().await?;
            match header.kind {
                Kind::Begin => self.receive_payload(header, room).await?,
                // The call ended when its payload was whole.
                Kind::Abort | Kind::Ping => {}
                Kind::Bytes | Kind::Plain | Kind::Answer | Kind::Failure => {
                    return Err(unexpected("frame from a client"));
                }
            }
        }
    }

    async fn header(&mut self) -> Result<Header, Status> {
        let mut header = [0; Header::BYTES];
        read_all(&mut self.reader, &mut header, self.heard).await?;
        Header::parse(header)
    }

    async fn receive_payload(
        &mut self,
        header: Header,
        room: Option<OwnedSemaphorePermit>,
    ) -> Result<(), Status> {
        let (number, len) = (header.value, header.len as usize);
        if len > MAX_BEGIN_BYTES {
            return Err(unexpected(&format!("description of {len} bytes")));
        }
        let mut head = vec![0; len];
        read_all(&mut self.reader, &mut head, self.heard).await?;
        let head = DataChunk::decode(&head[..])
            .map_err(|error| malformed(&format!("its description: {error}")))?;
        let total = total_bytes(&head);
        let options = self.endpoint.options();
        let begun = self
            .endpoint
            .memory()
            .and_then(|memory| Arrival::begin(head, options.max_payload_bytes, memory));
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
        self.answer(number, Err(status), room);
        self.skip(total.saturating_sub(num_received)).await
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
            let mut room = match arrival.room(len) {
                Ok(room) => room,
                Err(status) => {
                    self.skip_bytes(len).await?;
                    num_received += len as u64;
                    return Ok(Outcome::Refused {
                        status,
                        num_received,
                    });
                }
            };
            while room.has_remaining_mut() {
                let start = room.get_ref().len_bytes();
                read_some(&mut self.reader, &mut room, self.heard).await?;
                if let Some(crc32c) = &mut crc32c {
                    // While the bytes are in the cache.
                    let part = &room.get_ref().as_bytes()[start..];
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
                    self.skip_bytes(header.len as usize).await?;
                    num_left -= u64::from(header.len);
                }
                _ => return Err(unexpected("frame within a payload")),
            }
        }
        Ok(())
    }

    async fn skip_bytes(&mut self, mut num_left: usize) -> Result<(), Status> {
        let mut dropped = [0; BUFFER_BYTES];
        while num_left > 0 {
            let part = &mut dropped[..num_left.min(BUFFER_BYTES)];
            num_left -= part.len();
            read_all(&mut self.reader, part, self.heard).await?;
        }
        Ok(())
    }

    fn hand_over(&self, number: u64, arrival: Arrival, room: Option<OwnedSemaphorePermit>) {
        let answers = self.answers.clone();
        self.endpoint
            .take(self.caller.clone(), arrival.finish(), move |answer| {
                // The connection may have ended.
                let _ = answers.send((number, answer, room));
            });
    }

    fn answer(&self, number: u64, answer: Answer, room: Option<OwnedSemaphorePermit>) {
        // The connection may have ended.
        let _ = self.answers.send((number, answer, room));
    }
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
