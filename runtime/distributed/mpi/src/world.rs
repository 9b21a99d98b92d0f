//! The thread of MPI: sends and receives for all groups of the process.
//!
//! A message is a *head*, sent with one tag, and the parts of its elements, which follow with
//! another tag. MPI keeps the order of messages with a tag between two ranks; parts are received in
//! the order of their heads.
//!
//! ```text
//!  0                    8                   16             24
//!  │ links of receiver │ position of sender │ elements: u64 │ head of the message
//! ```

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tfrt_distributed::collective::direct::{LinkEvents, MAX_HEAD_BYTES, Message};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::HostBuffer;

use crate::library::{MAX_TRANSFER_BYTES, Mpi, Transfer};

/// The tags, which other uses of `MPI_COMM_WORLD` in the process must not have.
const HEAD_TAG: i32 = 21_591;
const PART_TAG: i32 = 21_592;

const ENVELOPE_BYTES: usize = 24;

/// The time that the other ranks may take to start MPI, or to end it.
const LIMIT: Duration = Duration::from_secs(60);

/// The time that the end of MPI may take by default once a rank is lost.
const LIMIT_WITH_LOSS: Duration = Duration::from_secs(2);

/// The pauses between two looks at MPI while nothing moves: from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const MAX_PAUSE: Duration = Duration::from_millis(1);

/// The number of looks without a pause after something has moved.
const EAGER_LOOKS: u32 = 20;

/// MPI, as the threads of the process see it.
#[derive(Debug)]
pub(crate) struct World {
    rank: usize,
    size: usize,
    commands: Mutex<Commands>,
    /// Wakes the thread.
    has_commands: Condvar,
}

#[derive(Debug, Default)]
struct Commands {
    list: Vec<Command>,
    next_links: u64,
    is_ending: bool,
    /// Whether a rank was lost: MPI may never end.
    has_lost: bool,
    /// Whether nobody follows commands any more.
    is_over: bool,
    /// The outcome of the end.
    ended: Option<Result<(), Error>>,
}

#[derive(Debug)]
enum Command {
    Open(u64, LinkEvents),
    Close(u64),
    /// A member of the group of these links is lost.
    Lose(u64, usize),
    Send {
        from: Place,
        to: Remote,
        message: Message,
    },
}

/// The own links, and the position in their group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) links: u64,
    pub(crate) index: usize,
}

/// The links of another member.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Remote {
    pub(crate) links: u64,
    pub(crate) rank: usize,
    /// The position of the member.
    pub(crate) index: usize,
}

static WORLD: OnceLock<World> = OnceLock::new();

/// Held while MPI is being started.
static STARTING: Mutex<Option<Error>> = Mutex::new(None);

/// Ends MPI, once nothing uses it any more. Waits for the other ranks, for up to a minute, but no
/// longer than two seconds once a rank is lost. Does nothing if MPI was not started by this crate.
///
/// # Errors
/// If MPI reports one, or the other ranks do not end.
pub fn finalize() -> Result<(), Error> {
    finalize_within(LIMIT_WITH_LOSS)
}

/// As [`finalize`], with another limit for the time after the loss of a rank: its transfers may
/// never end, and those of the others may still be under way.
///
/// # Errors
/// Those of [`finalize`].
pub fn finalize_within(limit_with_loss: Duration) -> Result<(), Error> {
    let Some(world) = WORLD.get() else {
        return Ok(());
    };
    let mut commands = world.lock();
    commands.is_ending = true;
    world.has_commands.notify_all();
    let (start, mut loss) = (Instant::now(), None);
    loop {
        if let Some(outcome) = &commands.ended {
            return outcome.clone();
        }
        if commands.has_lost {
            loss.get_or_insert_with(Instant::now);
        }
        let (since, limit) = loss.map_or((start, LIMIT), |loss| (loss, limit_with_loss));
        let left = limit.saturating_sub(since.elapsed());
        if left.is_zero() {
            let message = format!("the other ranks have not ended MPI within {limit:?}");
            return Err(Error::new(message).with_code(ErrorCode::DeadlineExceeded));
        }
        let waited = world.has_commands.wait_timeout(commands, left);
        (commands, _) = waited.unwrap_or_else(PoisonError::into_inner);
    }
}

impl World {
    /// Returns MPI, and starts it first if necessary.
    pub(crate) fn get() -> Result<&'static Self, Error> {
        let mut failure = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = WORLD.get() {
            return match world.lock().is_ending {
                true => Err(has_ended()),
                false => Ok(world),
            };
        }
        if let Some(error) = &*failure {
            // MPI starts once in a process.
            return Err(error.clone());
        }
        let (sender, started) = channel();
        let begin = move || {
            let mpi = match Mpi::load() {
                Ok(mpi) => mpi,
                Err(error) => {
                    // Nobody waits any more if it took too long.
                    let _ = sender.send(Err(error));
                    return;
                }
            };
            let world = WORLD.get_or_init(|| Self {
                rank: usize::try_from(mpi.rank).unwrap_or(0),
                size: usize::try_from(mpi.size).unwrap_or(0),
                commands: Mutex::default(),
                has_commands: Condvar::new(),
            });
            // As above.
            let _ = sender.send(Ok(()));
            let outcome = Exchange::new(mpi, world).run();
            world.lock().ended = Some(outcome);
            world.has_commands.notify_all();
        };
        let spawned = thread::Builder::new()
            .name("tfrt-mpi".to_owned())
            .spawn(begin);
        let outcome = spawned.map_err(Error::other).and_then(|_| {
            started.recv_timeout(LIMIT).unwrap_or_else(|error| {
                Err(match error {
                    RecvTimeoutError::Timeout => {
                        let message = format!("MPI has not started within {LIMIT:?}");
                        Error::new(message).with_code(ErrorCode::DeadlineExceeded)
                    }
                    RecvTimeoutError::Disconnected => Error::new("MPI cannot be started"),
                })
            })
        });
        let world = WORLD.get().ok_or_else(|| Error::new("MPI has not started"));
        match outcome {
            Ok(()) => world,
            Err(error) => {
                *failure = Some(error.clone());
                Err(error)
            }
        }
    }

    pub(crate) fn rank(&self) -> (usize, usize) {
        (self.rank, self.size)
    }

    fn lock(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, command: Command) {
        let mut commands = self.lock();
        if commands.is_over {
            // Without the lock: its message may be the last to hold its elements.
            drop(commands);
            drop(command);
            return;
        }
        commands.list.push(command);
        drop(commands);
        self.has_commands.notify_all();
    }

    /// Returns a number for links whose events are these.
    ///
    /// # Errors
    /// If MPI has ended, or is about to.
    pub(crate) fn open(&self, events: LinkEvents) -> Result<u64, Error> {
        let mut commands = self.lock();
        if commands.is_ending {
            return Err(has_ended());
        }
        let number = commands.next_links;
        commands.next_links += 1;
        commands.list.push(Command::Open(number, events));
        Ok(number)
    }

    pub(crate) fn send(&self, from: Place, to: Remote, message: Message) {
        self.tell(Command::Send { from, to, message });
    }

    pub(crate) fn lose(&self, links: u64, member: usize) {
        self.lock().has_lost = true;
        self.tell(Command::Lose(links, member));
    }

    pub(crate) fn close(&self, links: u64) {
        self.tell(Command::Close(links));
    }
}

#[cold]
fn has_ended() -> Error {
    Error::new("MPI has ended")
}

/// What is being sent and received.
struct Exchange {
    mpi: Mpi,
    world: &'static World,
    links: HashMap<u64, LinkEvents>,
    sending: Vec<Sending>,
    /// By rank.
    arriving: HashMap<i32, Arriving>,
}

/// A message that is being sent.
struct Sending {
    place: Place,
    to: Remote,
    transfers: VecDeque<Transfer>,
    /// Dropped once it is sent.
    message: Message,
}

/// What arrives from a rank.
#[derive(Default)]
struct Arriving {
    /// The heads of messages, oldest first. All are received as they come: one that MPI keeps would
    /// hide those of other ranks.
    heads: VecDeque<Transfer>,
    /// A part of the message whose elements are arriving. Later heads wait for its end.
    part: Option<(Incoming, Transfer)>,
}

/// A message whose elements are arriving.
struct Incoming {
    links: u64,
    from: usize,
    head: Vec<u8>,
    /// None if nobody takes it.
    elements: Option<HostBuffer>,
    len: u64,
    num_arrived: u64,
}

impl Exchange {
    fn new(mpi: Mpi, world: &'static World) -> Self {
        Self {
            mpi,
            world,
            links: HashMap::new(),
            sending: Vec::new(),
            arriving: HashMap::new(),
        }
    }

    /// Sends and receives until MPI is ended.
    fn run(mut self) -> Result<(), Error> {
        let outcome = self.exchange();
        let cause = outcome.as_ref().err().cloned().unwrap_or_else(has_ended);
        let mut commands = self.world.lock();
        commands.is_ending = true;
        commands.is_over = true;
        let left = std::mem::take(&mut commands.list);
        drop(commands);
        for command in left {
            match command {
                Command::Open(number, events) => {
                    self.links.insert(number, events);
                }
                Command::Close(number) => {
                    self.links.remove(&number);
                }
                Command::Lose(..) | Command::Send { .. } => {}
            }
        }
        for events in self.links.values() {
            events.failed(cause.message());
        }
        self.give_up(|_, _| true);
        outcome.and_then(|()| self.mpi.finalize())
    }

    fn exchange(&mut self) -> Result<(), Error> {
        let mut num_idle = 0_u32;
        let mut ending_since = None;
        let mut lost = HashSet::new();
        loop {
            let (commands, is_ending) = self.wait(num_idle);
            let mut has_moved = !commands.is_empty();
            for command in commands {
                if let Command::Lose(number, member) = command {
                    lost.insert((number, member));
                }
                self.follow(command);
            }
            has_moved |= self.check_sent();
            has_moved |= self.receive()?;
            num_idle = if has_moved {
                0
            } else {
                num_idle.saturating_add(1)
            };
            if is_ending {
                let since = *ending_since.get_or_insert_with(Instant::now);
                // Messages of others to groups that are closed may still be under way.
                // What is sent to a lost member may never arrive.
                let is_lost = |one: &Sending| lost.contains(&(one.place.links, one.to.index));
                let is_quiet = self.sending.iter().all(is_lost) && num_idle > EAGER_LOOKS;
                if is_quiet || since.elapsed() > LIMIT {
                    return Ok(());
                }
            }
        }
    }

    /// Waits for commands, but not longer than MPI may be left alone.
    fn wait(&self, num_idle: u32) -> (Vec<Command>, bool) {
        let mut commands = self.world.lock();
        if num_idle > EAGER_LOOKS && commands.list.is_empty() {
            let doublings = (num_idle - EAGER_LOOKS).min(10);
            let pause = (FIRST_PAUSE * (1 << doublings)).min(MAX_PAUSE);
            let is_empty = |commands: &mut Commands| commands.list.is_empty();
            let waited = self
                .world
                .has_commands
                .wait_timeout_while(commands, pause, is_empty);
            (commands, _) = waited.unwrap_or_else(PoisonError::into_inner);
        } else if commands.list.is_empty() {
            drop(commands);
            thread::yield_now();
            commands = self.world.lock();
        }
        (std::mem::take(&mut commands.list), commands.is_ending)
    }

    fn follow(&mut self, command: Command) {
        match command {
            Command::Open(number, events) => {
                self.links.insert(number, events);
            }
            Command::Close(number) => {
                self.links.remove(&number);
                self.give_up(|place, _| place.links == number);
            }
            Command::Lose(number, member) => {
                self.give_up(|place, to| place.links == number && to.index == member);
            }
            Command::Send { from, to, message } => {
                let mut envelope = Vec::with_capacity(ENVELOPE_BYTES + message.head.len());
                envelope.extend_from_slice(&to.links.to_le_bytes());
                envelope.extend_from_slice(&(from.index as u64).to_le_bytes());
                envelope.extend_from_slice(&(message.elements.len() as u64).to_le_bytes());
                envelope.extend_from_slice(&message.head);
                match self.begin(envelope.into(), message.elements.clone(), to.rank) {
                    Ok(transfers) => self.sending.push(Sending {
                        place: from,
                        to,
                        transfers,
                        message,
                    }),
                    Err(error) => self.lose(from.links, to.index, &error),
                }
            }
        }
    }

    /// Begins all transfers of a message.
    fn begin(
        &self,
        head: Bytes,
        mut elements: Bytes,
        rank: usize,
    ) -> Result<VecDeque<Transfer>, Error> {
        let rank = i32::try_from(rank).map_err(Error::other)?;
        let mut transfers = VecDeque::from([self.mpi.send(head, rank, HEAD_TAG)?]);
        while !elements.is_empty() {
            let part = elements.split_to(elements.len().min(MAX_TRANSFER_BYTES));
            transfers.push_back(self.mpi.send(part, rank, PART_TAG)?);
        }
        Ok(transfers)
    }

    /// Fails the operations whose messages are being sent, and may never be. Their memory stays
    /// with MPI until they are.
    fn give_up(&self, is_lost: impl Fn(Place, Remote) -> bool) {
        for sending in &self.sending {
            if is_lost(sending.place, sending.to) {
                sending.message.give_up(sending.to.index);
            }
        }
    }

    /// Reports that a member cannot be reached.
    fn lose(&self, links: u64, member: usize, error: &Error) {
        if let Some(events) = self.links.get(&links) {
            events.broken(member, error.message());
        }
    }

    /// Drops what was sent. Returns `true` if there was something.
    fn check_sent(&mut self) -> bool {
        let before = self.sending.len();
        let mut failures = Vec::new();
        let mpi = &self.mpi;
        self.sending.retain_mut(|sending| {
            while let Some(transfer) = sending.transfers.front_mut() {
                match mpi.is_done(transfer) {
                    Ok(true) => {
                        sending.transfers.pop_front();
                    }
                    Ok(false) => return true,
                    Err(error) => {
                        failures.push((sending.place.links, sending.to.index, error));
                        return false;
                    }
                }
            }
            false
        });
        for (links, member, error) in failures {
            self.lose(links, member, &error);
        }
        self.sending.len() < before
    }

    /// Receives what has arrived. Returns `true` if something has moved.
    fn receive(&mut self) -> Result<bool, Error> {
        let mut has_moved = false;
        if let Some((source, len)) = self.mpi.probe(HEAD_TAG)? {
            let transfer = self.mpi.receive(vec![0; len], source, HEAD_TAG)?;
            let arriving = self.arriving.entry(source).or_default();
            arriving.heads.push_back(transfer);
            has_moved = true;
        }
        let sources: Vec<i32> = self.arriving.keys().copied().collect();
        for source in sources {
            let Some(mut arriving) = self.arriving.remove(&source) else {
                continue;
            };
            has_moved |= self.advance(source, &mut arriving)?;
            if arriving.part.is_some() || !arriving.heads.is_empty() {
                self.arriving.insert(source, arriving);
            }
        }
        Ok(has_moved)
    }

    /// Goes on with what arrives from a rank. Returns `true` if something has moved.
    fn advance(&self, source: i32, arriving: &mut Arriving) -> Result<bool, Error> {
        let mut incoming = if let Some((mut incoming, mut transfer)) = arriving.part.take() {
            if !self.mpi.is_done(&mut transfer)? {
                arriving.part = Some((incoming, transfer));
                return Ok(false);
            }
            incoming.num_arrived += incoming.next_part().len() as u64;
            // The borrow of the elements ends.
            drop(transfer.into_elements());
            incoming
        } else {
            let Some(head) = arriving.heads.front_mut() else {
                return Ok(false);
            };
            if !self.mpi.is_done(head)? {
                return Ok(false);
            }
            let head = arriving.heads.pop_front();
            let head = head.and_then(Transfer::into_received).unwrap_or_default();
            let Some(incoming) = self.announce(&head) else {
                // Not from this crate, or a broken peer.
                return Ok(true);
            };
            incoming
        };
        if incoming.num_arrived < incoming.len {
            let range = incoming.next_part();
            let transfer = match &mut incoming.elements {
                Some(elements) => {
                    let elements = elements.elements_mut_owned::<u8>()?;
                    self.mpi
                        .receive_elements(elements, range, source, PART_TAG)?
                }
                None => self.mpi.receive(vec![0; range.len()], source, PART_TAG)?,
            };
            arriving.part = Some((incoming, transfer));
            return Ok(true);
        }
        if let (Some(elements), Some(events)) = (incoming.elements, self.links.get(&incoming.links))
        {
            events.received(incoming.from, &incoming.head, elements);
        }
        Ok(true)
    }

    /// Prepares for the elements of a message.
    fn announce(&self, head: &[u8]) -> Option<Incoming> {
        if head.len() > ENVELOPE_BYTES + MAX_HEAD_BYTES {
            return None;
        }
        let (links, rest) = head.split_first_chunk::<8>()?;
        let (from, rest) = rest.split_first_chunk::<8>()?;
        let (len, head) = rest.split_first_chunk::<8>()?;
        let (links, len) = (u64::from_le_bytes(*links), u64::from_le_bytes(*len));
        let from = usize::try_from(u64::from_le_bytes(*from)).ok()?;
        let elements =
            self.links
                .get(&links)
                .and_then(|events| match events.announced(from, head, len) {
                    Ok(elements) => Some(elements),
                    Err(error) => {
                        events.broken(from, error.message());
                        None
                    }
                });
        Some(Incoming {
            links,
            from,
            head: head.to_vec(),
            elements,
            len,
            num_arrived: 0,
        })
    }
}

impl Incoming {
    /// Returns where the next part of the elements lies.
    fn next_part(&self) -> std::ops::Range<usize> {
        // The elements are in memory.
        let start = usize::try_from(self.num_arrived).unwrap_or(usize::MAX);
        let left = usize::try_from(self.len - self.num_arrived).unwrap_or(usize::MAX);
        start..start.saturating_add(left.min(MAX_TRANSFER_BYTES))
    }
}
