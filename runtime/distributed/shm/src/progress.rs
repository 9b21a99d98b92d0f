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

use crate::greeting::{self, Card, Greeted, Greeting};
use crate::links::{Command, Shared};
use crate::peer::{Peer, Receiver};
use crate::segment::{BLOCK_BYTES, Segment};
use crate::wire::{Frame, MAX_INLINE_BYTES};

/// The time to send what is left when the group is closed.
const CLOSING_TIME: Duration = Duration::from_secs(5);

/// Connections of unknown processes at a time, for each member.
const MAX_ARRIVING: usize = 2;

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
    outgoing: VecDeque<Outgoing>,
    /// Messages of which something waits to be taken by a socket.
    unflushed: Vec<Outgoing>,
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
        (card, segment): (Card, Segment),
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
            outgoing: VecDeque::new(),
            unflushed: Vec::new(),
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
            if commands.is_closing {
                let since = *self.closing_since.get_or_insert_with(Instant::now);
                if self.has_sent_all() || since.elapsed() > CLOSING_TIME {
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
            let (own, index) = (self.card.secret, self.place.index);
            greeting::send(&stream, card.secret, own, index, &self.segment)?;
            Ok(Greeting::new(stream))
        });
        match greeted {
            Ok(greeting) => self.connections[member] = Connection::Greeting(greeting, early),
            Err(error) => self.lose(member, &error),
        }
    }

    /// Sends as much as there are free blocks and room in sockets.
    fn send(&mut self) {
        while let Some(outgoing) = self.outgoing.front_mut() {
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
        for connection in &mut self.connections {
            if let Connection::Open(peer) = connection {
                peer.flush();
            }
        }
        let has_unsent = |member: &usize| match &self.connections[*member] {
            Connection::Open(peer) => peer.has_unsent(),
            _ => false,
        };
        self.unflushed
            .retain(|message| message.to.iter().any(has_unsent));
    }

    fn has_sent_all(&self) -> bool {
        let is_done = |connection: &Connection| match connection {
            Connection::Awaited(early) | Connection::Greeting(_, early) => early.is_empty(),
            Connection::Open(peer) => !peer.has_unsent(),
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
            let left = CLOSING_TIME.saturating_sub(since.elapsed());
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
        let (secret, own, index) = (greeted.secret, self.card.secret, self.place.index);
        match greeting::send(&greeted.stream, secret, own, index, &self.segment) {
            Ok(()) => self.open(member, greeted),
            Err(error) => self.lose(member, &error),
        }
    }

    /// Begins to use the connection to a member.
    fn open(&mut self, member: usize, greeted: Greeted) {
        let open = Connection::Open(Peer::new(greeted));
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

impl Outgoing {
    fn new(to: Vec<usize>, message: Message) -> Self {
        Self {
            to,
            message,
            has_begun: false,
            num_sent: 0,
        }
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
                Frame::Head { .. } | Frame::Read { .. } => 0,
            };
        }
        Ok(true)
    }
}
