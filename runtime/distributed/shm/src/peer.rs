//! The connection to one member: bytes that wait to be sent, and the message that is arriving.

use std::collections::HashMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use rustix::net::{RecvFlags, SendFlags, recv, send};
use tfrt_distributed::collective::direct::{LinkEvents, Message};
use tfrt_tensor::HostBuffer;

use crate::greeting::Greeted;
use crate::lending::{Lent, Loan, PeerMemory};
use crate::links::Shared;
use crate::segment::{PeerSegment, Segment};
use crate::wire::{Frame, LoanPlace, WordPlace, malformed};

/// The number of bytes that are read at a time.
const READ_BYTES: usize = 1 << 16;

/// Beyond this number of bytes that wait to be sent, no further messages are begun.
const MAX_OUTBOX_BYTES: usize = 1 << 20;

/// Finds the memory of the process at the other end of a connection, if it can be read.
pub(crate) type Probe = fn(&UnixStream, WordPlace) -> Option<PeerMemory>;

/// A connected member.
#[derive(Debug)]
pub(crate) struct Peer {
    stream: UnixStream,
    segment: PeerSegment,
    /// The memory of the other process, if it could be read when the members met.
    memory: Option<PeerMemory>,
    /// Whether the other member was told since that its memory cannot be read any more.
    is_refused: bool,
    /// Whether the other process can read the memory of this one.
    may_lend: bool,
    /// What is lent to the member, by number.
    lent: HashMap<u32, Lent>,
    num_lent: u32,
    /// What is to be sent, of which the first `num_sent` bytes were.
    outbox: Vec<u8>,
    num_sent: usize,
    /// Memory for frames. Its first `num_received` bytes are the start of a frame whose rest has
    /// not arrived.
    inbox: Vec<u8>,
    num_received: usize,
    incoming: Option<Incoming>,
    /// The connection does not take anything any more, but may have left something to read.
    is_closed_for_sending: bool,
}

/// A message whose elements are arriving.
#[derive(Debug)]
struct Incoming {
    head: Vec<u8>,
    /// None if nobody takes it.
    elements: Option<HostBuffer>,
    len_bytes: u64,
    num_arrived: u64,
}

/// Those for whom a connection receives.
#[derive(Debug)]
pub(crate) struct Receiver<'a> {
    /// The position of the member that sends.
    pub(crate) from: usize,
    pub(crate) events: &'a LinkEvents,
    /// The segment of this member.
    pub(crate) segment: &'a mut Segment,
    /// The commands of this member.
    pub(crate) shared: &'a Arc<Shared>,
    /// Whether this member takes no more messages.
    pub(crate) is_closing: bool,
}

impl Peer {
    /// Begins a connection, over which the other member lends elements if its memory can be read.
    pub(crate) fn new(greeted: Greeted, probe: Probe) -> Self {
        let memory = probe(&greeted.stream, greeted.probe);
        let mut outbox = Vec::new();
        if memory.is_some() {
            Frame::MayLend.write(&mut outbox);
        }
        Self {
            stream: greeted.stream,
            segment: greeted.segment,
            memory,
            is_refused: false,
            may_lend: false,
            lent: HashMap::new(),
            num_lent: 0,
            outbox,
            num_sent: 0,
            inbox: Vec::new(),
            num_received: 0,
            incoming: None,
            is_closed_for_sending: false,
        }
    }

    pub(crate) fn stream(&self) -> &UnixStream {
        &self.stream
    }

    /// Adds a frame to what is sent.
    pub(crate) fn push(&mut self, frame: Frame<'_>) {
        if !self.is_closed_for_sending {
            frame.write(&mut self.outbox);
        }
    }

    /// Returns `true` if the other member can read the memory of this one.
    pub(crate) fn may_lend(&self) -> bool {
        self.may_lend
    }

    /// Lends the elements of a message. No other loan has the number of the seal.
    pub(crate) fn lend(&mut self, message: &Message, seal: u64) {
        let number = self.num_lent;
        // A member does not hold as many loans.
        self.num_lent = self.num_lent.wrapping_add(1);
        let lent = Lent::new(message.clone(), seal);
        let (place, head) = (lent.place(), &message.head[..]);
        self.push(Frame::Lent {
            number,
            place,
            head,
        });
        // The operation may have failed while the message waited. Then the seal breaks here. The
        // operation of the receiver fails as well.
        if !message.has_failed() && !self.is_closed_for_sending {
            self.lent.insert(number, lent);
        }
    }

    /// Has the other member lend nothing more, because its memory cannot be read.
    pub(crate) fn refuse_loans(&mut self) {
        if self.memory.is_some() && !self.is_refused {
            self.is_refused = true;
            self.push(Frame::MayNotLend);
        }
    }

    /// Returns `true` if an operation that has not failed waits for the end of a loan.
    pub(crate) fn has_lent(&self) -> bool {
        self.lent.values().any(|lent| !lent.message().has_failed())
    }

    /// Ends the loans of operations that have failed.
    pub(crate) fn take_back(&mut self) {
        self.lent.retain(|_, lent| !lent.message().has_failed());
    }

    /// Returns `true` if something waits to be sent.
    pub(crate) fn has_unsent(&self) -> bool {
        self.num_sent < self.outbox.len()
    }

    /// Returns `true` if no further message should be begun.
    pub(crate) fn is_full(&self) -> bool {
        self.outbox.len() - self.num_sent > MAX_OUTBOX_BYTES
    }

    /// Sends as much as the socket takes.
    pub(crate) fn flush(&mut self) {
        while self.has_unsent() {
            let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
            match send(&self.stream, &self.outbox[self.num_sent..], flags) {
                Ok(sent) => self.num_sent += sent,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return,
                Err(_) => {
                    // Reading tells why, after what the member sent before.
                    self.is_closed_for_sending = true;
                    break;
                }
            }
        }
        self.outbox.clear();
        self.num_sent = 0;
    }

    /// Processes what has arrived.
    ///
    /// # Errors
    /// If nothing arrives any more.
    pub(crate) fn receive(&mut self, mut receiver: Receiver<'_>) -> io::Result<()> {
        let start = self.num_received;
        if self.inbox.len() < start + READ_BYTES {
            self.inbox.resize(start + READ_BYTES, 0);
        }
        let free = &mut self.inbox[start..];
        let num_read = match recv(&self.stream, free, RecvFlags::DONTWAIT) {
            Ok((_, num_read)) => num_read,
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => return Ok(()),
            Err(rustix::io::Errno::CONNRESET) => 0,
            Err(error) => return Err(error.into()),
        };
        if num_read == 0 {
            let message = "the member has closed it";
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, message));
        }
        let mut inbox = std::mem::take(&mut self.inbox);
        let num_received = start + num_read;
        let mut num_processed = 0;
        while let Some((frame, len)) = Frame::read(&inbox[num_processed..num_received])? {
            self.process(frame, &mut receiver)?;
            num_processed += len;
        }
        inbox.copy_within(num_processed..num_received, 0);
        self.num_received = num_received - num_processed;
        self.inbox = inbox;
        Ok(())
    }

    fn process(&mut self, frame: Frame<'_>, receiver: &mut Receiver<'_>) -> io::Result<()> {
        match frame {
            Frame::Read { number } => receiver.segment.was_read(number, receiver.from),
            Frame::MayLend => {
                self.may_lend = true;
                Ok(())
            }
            Frame::MayNotLend => {
                self.may_lend = false;
                Ok(())
            }
            Frame::Lent {
                number,
                place,
                head,
            } => self.borrow((number, place), head, receiver),
            Frame::Return { number } => {
                // Unless it was taken back.
                drop(self.lent.remove(&number));
                Ok(())
            }
            Frame::Head { len_bytes, head } => {
                if self.incoming.is_some() {
                    return Err(malformed());
                }
                let announced = receiver.events.announced(receiver.from, head, len_bytes);
                let elements = match announced {
                    Ok(elements) => Some(elements),
                    Err(_) if receiver.is_closing => None,
                    Err(error) => return Err(io::Error::other(error)),
                };
                self.incoming = Some(Incoming {
                    head: head.to_vec(),
                    elements,
                    len_bytes,
                    num_arrived: 0,
                });
                self.finish(receiver);
                Ok(())
            }
            Frame::Inline(elements) => {
                let incoming = self.incoming.as_mut().ok_or_else(malformed)?;
                incoming.fill(elements.len(), |place| {
                    place.copy_from_slice(elements);
                    Ok(())
                })?;
                self.finish(receiver);
                Ok(())
            }
            Frame::Block { number, len_bytes } => {
                let incoming = self.incoming.as_mut().ok_or_else(malformed)?;
                let segment = &self.segment;
                incoming.fill(len_bytes as usize, |place| segment.read(number, place))?;
                self.push(Frame::Read { number });
                self.finish(receiver);
                Ok(())
            }
        }
    }

    /// Passes on a message whose elements are lent.
    fn borrow(
        &mut self,
        (number, place): (u32, LoanPlace),
        head: &[u8],
        receiver: &Receiver<'_>,
    ) -> io::Result<()> {
        // Nobody lends without having been told that this member can read.
        let memory = self.memory.filter(|_| self.incoming.is_none());
        let loan = Loan {
            memory: memory.ok_or_else(malformed)?,
            place,
            from: receiver.from,
            number,
            shared: Arc::clone(receiver.shared),
        };
        match receiver.events.lent(receiver.from, head, Box::new(loan)) {
            Err(error) if !receiver.is_closing => Err(io::Error::other(error)),
            _ => Ok(()),
        }
    }

    /// Passes the message on if all of it is there.
    fn finish(&mut self, receiver: &Receiver<'_>) {
        let is_whole = |incoming: &mut Incoming| incoming.num_arrived == incoming.len_bytes;
        if let Some(incoming) = self.incoming.take_if(is_whole)
            && let Some(elements) = incoming.elements
        {
            receiver
                .events
                .received(receiver.from, &incoming.head, elements);
        }
    }
}

impl Incoming {
    /// Fills the next bytes of the elements.
    fn fill(
        &mut self,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let left = self.len_bytes - self.num_arrived;
        if len == 0 || len as u64 > left {
            return Err(malformed());
        }
        if let Some(elements) = &mut self.elements {
            let mut elements = elements.write().map_err(io::Error::other)?;
            // The elements are in memory.
            let start = usize::try_from(self.num_arrived).map_err(io::Error::other)?;
            fill(&mut elements[start..start + len])?;
        }
        self.num_arrived += len as u64;
        Ok(())
    }
}
