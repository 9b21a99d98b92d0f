//! The thread that moves the data of a member.
//!
//! ```text
//!  commands ──► outgoing messages ──► frames and blocks ──► sockets
//!                                            ▲ a block is free again
//!  events  ◄── incoming message  ◄── frames ─┴──────────◄── sockets
//! ```
//!
//! Messages are sent in the order of the commands. The thread waits in `poll` alone: for commands,
//! for sockets that have something, and for those that take something again.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tfrt_distributed::collective::direct::{LinkEvents, MemberPlace, Message};

use crate::greeting::{self, Card, Greeted, Greeting, Own};
use crate::lending::{MIN_LENT_BYTES, PeerMemory, Word};
use crate::links::{Command, Shared};
use crate::peer::{Peer, Probe, Receiver};
use crate::segment::{BLOCK_BYTES, Segment};
use crate::wire::{Frame, MAX_INLINE_BYTES};

/// Connections of unknown processes at a time, for each member.
const MAX_ARRIVING: usize = 2;

/// What differs between members of programs and members in tests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The size of the smallest elements that are lent.
    pub(crate) min_lent_bytes: usize,
    /// Finds out whether another member may lend to this one.
    pub(crate) probe: Probe,
    /// The time to send what is left, and to wait for the end of loans, when the group is closed.
    pub(crate) closing_time: Duration,
}

impl Settings {
    /// Those of programs: members lend as far as the kernel allows it.
    pub(crate) const USUAL: Self = Self {
        min_lent_bytes: MIN_LENT_BYTES,
        probe: PeerMemory::probe,
        closing_time: Duration::from_secs(5),
    };
}

/// The connections of a member, and what passes through them.
#[derive(Debug)]
pub(crate) struct Progress {
    card: Card,
    events: LinkEvents,
    place: MemberPlace,
    shared: Arc<Shared>,
    woken: UnixStream,
    /// None once it has failed.
    listener: Option<UnixListener>,
    /// Those that have connected, and have not greeted.
    arriving: VecDeque<Greeting>,
    connections: Vec<Connection>,
    segment: Segment,
    settings: Settings,
    /// What others read to find out whether they can.
    probe: Word,
    /// Numbers for seals.
    seals: Seals,
    outgoing: VecDeque<Outgoing>,
    /// Messages of which something waits to be taken by a socket.
    unflushed: Vec<Outgoing>,
    /// Failed operations may have lent their elements.
    takes_back: bool,
    closing_since: Option<Instant>,
}

/// The connection to a member.
#[derive(Debug)]
enum Connection {
    /// Not yet there; with the messages for it.
    Awaited(Vec<Message>),
    /// This member has greeted, and waits for the answer.
    Greeting(Greeting, Vec<Message>),
    Open(Peer),
    Gone,
}

/// Numbers of which none comes twice.
#[derive(Debug)]
struct Seals(u64);

/// A message that is being sent.
#[derive(Debug)]
struct Outgoing {
    to: Vec<usize>,
    message: Message,
    has_begun: bool,
    /// The number of bytes of the elements that were sent.
    num_sent: usize,
}

/// Who has something to read.
enum Source {
    Commands,
    Listener,
    Arriving(usize),
    Member(usize),
}

impl Progress {
    pub(crate) fn new(
        (card, segment, settings): (Card, Segment, Settings),
        events: LinkEvents,
        place: MemberPlace,
        shared: Arc<Shared>,
        woken: UnixStream,
    ) -> io::Result<Self> {
        let mut connections = Vec::new();
        connections.resize_with(place.size, || Connection::Awaited(Vec::new()));
        connections[place.index] = Connection::Gone;
        Ok(Self {
            listener: Some(card.listen()?),
            card,
            events,
            place,
            shared,
            woken,
            arriving: VecDeque::new(),
            connections,
            segment,
            settings,
            probe: Word::new(u64::from_le_bytes(greeting::random()?)),
            seals: Seals(u64::from_le_bytes(greeting::random()?)),
            outgoing: VecDeque::new(),
            unflushed: Vec::new(),
            takes_back: false,
            closing_since: None,
        })
    }

    /// Moves data until the group is closed.
    pub(crate) fn run(mut self) {
        self.exchange();
        // What nobody will send is not kept.
        self.shared.end();
    }

    fn exchange(&mut self) {
        loop {
            let commands = self.shared.take();
            for command in commands.list {
                self.follow(command);
            }
            self.send();
            self.take_back();
            if commands.is_closing {
                let since = *self.closing_since.get_or_insert_with(Instant::now);
                if self.has_ended_all() || since.elapsed() > self.settings.closing_time {
                    return;
                }
            }
            let ready = match self.wait() {
                Ok(ready) => ready,
                Err(error) => return self.lose_all(&error),
            };
            for source in ready {
                self.process(source);
            }
        }
    }

    fn follow(&mut self, command: Command) {
        match command {
            Command::Introduce(member, card) => self.introduce(member, &card),
            Command::Lose(member) => {
                self.end(member);
            }
            Command::Return(member, number) => {
                if let Some(Connection::Open(peer)) = self.connections.get_mut(member) {
                    peer.push(Frame::Return { number });
                }
            }
            Command::CannotRead(member) => {
                if let Some(Connection::Open(peer)) = self.connections.get_mut(member) {
                    peer.refuse_loans();
                }
            }
            Command::TakeBack => self.takes_back = true,
            Command::Send(mut to, message) => {
                to.retain(|member| match &mut self.connections[*member] {
                    Connection::Awaited(early) | Connection::Greeting(_, early) => {
                        early.push(message.clone());
                        false
                    }
                    Connection::Open(_) => true,
                    Connection::Gone => false,
                });
                self.outgoing.push_back(Outgoing::new(to, message));
            }
        }
    }

    /// Ends the loans of failed operations. The messages that say why they failed were sent before,
    /// as far as sockets take them: a receiver that finds a seal broken should know the cause.
    fn take_back(&mut self) {
        if std::mem::take(&mut self.takes_back) {
            for connection in &mut self.connections {
                if let Connection::Open(peer) = connection {
                    peer.take_back();
                }
            }
        }
    }

    /// Connects to a member, if that is the part of this one.
    fn introduce(&mut self, member: usize, card: &[u8]) {
        let Some(Connection::Awaited(early)) = self.connections.get_mut(member) else {
            return;
        };
        if member > self.place.index {
            return;
        }
        let early = std::mem::take(early);
        let greeted = Card::parse(card).and_then(|card| {
            let stream = card.connect()?;
            greeting::require_same_user(&stream)?;
            greeting::send(&stream, card.secret, self.card.secret, self.own())?;
            Ok(Greeting::new(stream))
        });
        match greeted {
            Ok(greeting) => self.connections[member] = Connection::Greeting(greeting, early),
            Err(error) => self.lose(member, &error),
        }
    }

    /// Returns what this member says of itself.
    fn own(&self) -> Own<'_> {
        Own {
            index: self.place.index,
            segment: &self.segment,
            probe: self.probe.place(),
        }
    }

    /// Sends as much as there are free blocks and room in sockets.
    fn send(&mut self) {
        loop {
            let before = self.position();
            self.fill_outboxes();
            let has_progressed = self.position() != before;
            self.flush();
            // If an outbox was full, and its socket has taken all of it, no event says that there
            // is room again.
            let first = self.outgoing.front();
            let is_stalled = has_progressed
                && first.is_some_and(|outgoing| !outgoing.has_unsent(&self.connections));
            if !is_stalled {
                return;
            }
        }
    }

    /// Returns how much is left to send: the number of messages, and the state of the first one.
    fn position(&self) -> (usize, Option<(bool, usize)>) {
        let first = self.outgoing.front();
        let first = first.map(|outgoing| (outgoing.has_begun, outgoing.num_sent));
        (self.outgoing.len(), first)
    }

    /// Begins the messages and parts of messages for which there is room.
    fn fill_outboxes(&mut self) {
        let min_bytes = self.settings.min_lent_bytes;
        while let Some(outgoing) = self.outgoing.front_mut() {
            outgoing.lend(&mut self.connections, min_bytes, &mut self.seals);
            match outgoing.advance(&mut self.connections, &mut self.segment) {
                Ok(true) => self.unflushed.extend(self.outgoing.pop_front()),
                Ok(false) => break,
                Err(error) => {
                    // The own segment cannot be written.
                    self.lose_all(&error);
                    break;
                }
            }
        }
    }

    fn flush(&mut self) {
        for connection in &mut self.connections {
            if let Connection::Open(peer) = connection {
                peer.flush();
            }
        }
        let connections = &self.connections;
        self.unflushed
            .retain(|message| message.has_unsent(connections));
    }

    /// Returns `true` if nothing is left to send, and no member reads what this one has lent to it.
    fn has_ended_all(&self) -> bool {
        let is_done = |connection: &Connection| match connection {
            Connection::Awaited(early) | Connection::Greeting(_, early) => early.is_empty(),
            Connection::Open(peer) => !peer.has_unsent() && !peer.has_lent(),
            Connection::Gone => true,
        };
        self.outgoing.is_empty() && self.connections.iter().all(is_done)
    }

    /// Waits until something can be done.
    fn wait(&self) -> io::Result<Vec<Source>> {
        let mut sources = vec![Source::Commands];
        let mut fds = vec![poll_fd(self.woken.as_fd(), false)];
        if let Some(listener) = &self.listener {
            sources.push(Source::Listener);
            fds.push(poll_fd(listener.as_fd(), false));
        }
        for (number, greeting) in self.arriving.iter().enumerate() {
            sources.push(Source::Arriving(number));
            fds.push(poll_fd(greeting.stream().as_fd(), false));
        }
        for (member, connection) in self.connections.iter().enumerate() {
            let (stream, has_unsent) = match connection {
                Connection::Greeting(greeting, _) => (greeting.stream(), false),
                Connection::Open(peer) => (peer.stream(), peer.has_unsent()),
                Connection::Awaited(_) | Connection::Gone => continue,
            };
            sources.push(Source::Member(member));
            fds.push(poll_fd(stream.as_fd(), has_unsent));
        }
        let timeout = self.closing_since.map(|since| {
            let left = self.settings.closing_time.saturating_sub(since.elapsed());
            // Just after the end rather than just before it.
            let left = left.saturating_add(Duration::from_nanos(1));
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            }
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = Vec::new();
        for (source, fd) in sources.into_iter().zip(&fds) {
            // All but "takes something again": an end is found by reading.
            if !(fd.revents() - PollFlags::OUT).is_empty() {
                ready.push(source);
            }
        }
        // Those that arrived later come first, so that the numbers of the others stay.
        ready.reverse();
        Ok(ready)
    }

    fn process(&mut self, source: Source) {
        match source {
            Source::Commands => {
                let mut bytes = [0; 64];
                // Each byte says the same.
                while matches!((&self.woken).read(&mut bytes), Ok(len) if len == bytes.len()) {}
            }
            Source::Listener => self.accept(),
            Source::Arriving(number) => {
                if let Some(greeting) = self.arriving.remove(number) {
                    match greeting.advance(&self.card) {
                        Ok(greeting::Progress::Waits(greeting)) => {
                            self.arriving.insert(number, greeting);
                        }
                        Ok(greeting::Progress::Done(greeted)) => self.welcome(greeted),
                        // It was not a member. A member that ends here is lost in another way.
                        Err(_) => {}
                    }
                }
            }
            Source::Member(member) => self.read_from(member),
        }
    }

    fn accept(&mut self) {
        let limit = MAX_ARRIVING * self.place.size;
        for _ in 0..limit {
            let Some(listener) = &self.listener else {
                return;
            };
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if is_passing(&error) => continue,
                Err(error) => return self.stop_listening(&error),
            };
            let is_right = stream.set_nonblocking(true).is_ok()
                && greeting::require_same_user(&stream).is_ok();
            if !is_right {
                continue;
            }
            if self.arriving.len() == limit {
                self.arriving.pop_front();
            }
            self.arriving.push_back(Greeting::new(stream));
        }
    }

    /// Loses the members that would still connect. Their connections that wait end with the
    /// listener.
    fn stop_listening(&mut self, error: &io::Error) {
        self.listener = None;
        for member in self.place.index + 1..self.place.size {
            if matches!(self.connections[member], Connection::Awaited(_)) {
                self.lose(member, error);
            }
        }
    }

    /// Answers the greeting of a member.
    fn welcome(&mut self, greeted: Greeted) {
        let member = greeted.index;
        let is_awaited = member > self.place.index
            && matches!(self.connections.get(member), Some(Connection::Awaited(_)));
        if !is_awaited {
            return;
        }
        let (secret, own) = (greeted.secret, self.card.secret);
        match greeting::send(&greeted.stream, secret, own, self.own()) {
            Ok(()) => self.open(member, greeted),
            Err(error) => self.lose(member, &error),
        }
    }

    /// Begins to use the connection to a member.
    fn open(&mut self, member: usize, greeted: Greeted) {
        let open = Connection::Open(Peer::new(greeted, self.settings.probe));
        let before = std::mem::replace(&mut self.connections[member], open);
        if let Connection::Awaited(early) | Connection::Greeting(_, early) = before {
            for message in early {
                self.outgoing
                    .push_back(Outgoing::new(vec![member], message));
            }
        }
    }

    fn read_from(&mut self, member: usize) {
        match &mut self.connections[member] {
            Connection::Open(peer) => {
                let receiver = Receiver {
                    from: member,
                    events: &self.events,
                    segment: &mut self.segment,
                    shared: &self.shared,
                    is_closing: self.closing_since.is_some(),
                };
                if let Err(error) = peer.receive(receiver) {
                    self.lose(member, &error);
                }
            }
            Connection::Greeting(..) => {
                let connection = &mut self.connections[member];
                let before = std::mem::replace(connection, Connection::Gone);
                let Connection::Greeting(greeting, early) = before else {
                    return;
                };
                match greeting.advance(&self.card) {
                    Ok(greeting::Progress::Waits(greeting)) => {
                        self.connections[member] = Connection::Greeting(greeting, early);
                    }
                    Ok(greeting::Progress::Done(greeted)) if greeted.index == member => {
                        self.connections[member] = Connection::Awaited(early);
                        self.open(member, greeted);
                    }
                    Ok(greeting::Progress::Done(_)) => {
                        let error = io::Error::other("another member has answered");
                        self.lose(member, &error);
                    }
                    Err(error) => self.lose(member, &error),
                }
            }
            Connection::Awaited(_) | Connection::Gone => {}
        }
    }

    /// Ends the connection to a member. It may be alive, and still read blocks. Returns `true` if
    /// it was connected.
    fn end(&mut self, member: usize) -> bool {
        let Some(connection) = self.connections.get_mut(member) else {
            return false;
        };
        let before = std::mem::replace(connection, Connection::Gone);
        self.segment.retire_reader(member);
        matches!(before, Connection::Open(_))
    }

    /// Ends the connection to a member, and says so.
    fn lose(&mut self, member: usize, error: &io::Error) {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            // The member has closed the connection: it reads no more blocks.
            self.segment.forget_reader(member);
        }
        match self.end(member) {
            true => self.events.broken(member, &error.to_string()),
            // The other member may still wait for the connection.
            false => self.events.unreachable(member, &error.to_string()),
        }
    }

    fn lose_all(&mut self, error: &io::Error) {
        for member in 0..self.place.size {
            if member != self.place.index {
                self.lose(member, error);
            }
        }
    }
}

/// Returns `true` for an error of `accept` that only means the connection that was accepted.
fn is_passing(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, Interrupted};
    matches!(error.kind(), ConnectionAborted | Interrupted)
}

fn poll_fd(fd: BorrowedFd<'_>, has_unsent: bool) -> PollFd<'_> {
    let mut flags = PollFlags::IN;
    flags.set(PollFlags::OUT, has_unsent);
    PollFd::from_borrowed_fd(fd, flags)
}

impl Seals {
    fn next(&mut self) -> u64 {
        // One after the other, from a random one on.
        self.0 = self.0.wrapping_add(1);
        self.0
    }
}

impl Outgoing {
    fn new(to: Vec<usize>, message: Message) -> Self {
        Self {
            to,
            message,
            has_begun: false,
            num_sent: 0,
        }
    }

    /// Lends large elements to the members that can read them. Nothing more is sent to these.
    fn lend(&mut self, connections: &mut [Connection], min_bytes: usize, seals: &mut Seals) {
        let is_large = self.message.elements.len() >= min_bytes.max(1);
        if self.has_begun || !is_large || !self.message.may_be_lent() {
            return;
        }
        self.to.retain(|member| match &mut connections[*member] {
            Connection::Open(peer) if peer.may_lend() => {
                peer.lend(&self.message, seals.next());
                false
            }
            _ => true,
        });
    }

    /// Returns `true` if something waits in the outbox of a receiver.
    fn has_unsent(&self, connections: &[Connection]) -> bool {
        self.to.iter().any(|member| match &connections[*member] {
            Connection::Open(peer) => peer.has_unsent(),
            _ => false,
        })
    }

    /// Sends what can be sent. Returns `true` once that is all.
    fn advance(
        &mut self,
        connections: &mut [Connection],
        segment: &mut Segment,
    ) -> io::Result<bool> {
        let elements = &self.message.elements;
        self.to
            .retain(|member| matches!(connections[*member], Connection::Open(_)));
        let mut push = |to: &[usize], frame: Frame<'_>| {
            let mut is_full = false;
            for member in to {
                if let Connection::Open(peer) = &mut connections[*member] {
                    peer.push(frame);
                    is_full |= peer.is_full();
                }
            }
            is_full
        };
        if self.to.is_empty() {
            return Ok(true);
        }
        let mut is_full = false;
        if !self.has_begun {
            let (len_bytes, head) = (elements.len() as u64, &self.message.head[..]);
            is_full = push(&self.to, Frame::Head { len_bytes, head });
            self.has_begun = true;
        }
        while self.num_sent < elements.len() {
            if is_full {
                return Ok(false);
            }
            let rest = &elements[self.num_sent..];
            let is_inline = elements.len() <= MAX_INLINE_BYTES || segment.is_used_up();
            let frame = if is_inline {
                Frame::Inline(&rest[..rest.len().min(MAX_INLINE_BYTES)])
            } else {
                let part = &rest[..rest.len().min(BLOCK_BYTES)];
                let Some(number) = segment.write(part, &self.to)? else {
                    return Ok(false);
                };
                // Blocks are small.
                let len_bytes = u32::try_from(part.len()).unwrap_or(u32::MAX);
                Frame::Block { number, len_bytes }
            };
            is_full = push(&self.to, frame);
            self.num_sent += match frame {
                Frame::Block { len_bytes, .. } => len_bytes as usize,
                Frame::Inline(part) => part.len(),
                // No others are made here.
                _ => 0,
            };
        }
        Ok(true)
    }
}
