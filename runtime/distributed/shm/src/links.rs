//! The connections of a member, as its operations see them: a list of commands to the thread that
//! moves the data.

use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use bytes::Bytes;
use tfrt_distributed::collective::direct::{LinkEvents, Links, MemberPlace, Message};
use tfrt_support::Error;

use crate::greeting::Card;
use crate::progress::{Progress, Settings};
use crate::segment::Segment;

/// What the thread is told.
#[derive(Debug)]
pub(crate) enum Command {
    /// The card of a member.
    Introduce(usize, Bytes),
    Send(Vec<usize>, Message),
    /// Nothing is sent to a member any more.
    Lose(usize),
    /// A loan of a member has ended, by its number.
    Return(usize, u32),
    /// What a member lends cannot be read.
    CannotRead(usize),
    /// Failed operations may have lent their elements.
    TakeBack,
}

/// The commands that the thread has not seen yet.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    pub(crate) list: Vec<Command>,
    pub(crate) is_closing: bool,
    /// Whether the thread has ended.
    is_over: bool,
}

/// Shared with the thread.
#[derive(Debug)]
pub(crate) struct Shared {
    commands: Mutex<Commands>,
    /// A byte wakes the thread.
    wake: UnixStream,
}

impl Shared {
    /// Returns this with the end of the socket that wakes the thread.
    pub(crate) fn new() -> io::Result<(Self, UnixStream)> {
        let (wake, woken) = UnixStream::pair()?;
        wake.set_nonblocking(true)?;
        woken.set_nonblocking(true)?;
        let commands = Mutex::default();
        Ok((Self { commands, wake }, woken))
    }

    fn lock(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, change: impl FnOnce(&mut Commands)) {
        let mut commands = self.lock();
        if commands.is_over {
            // What `change` holds is dropped without the lock.
            drop(commands);
            return;
        }
        // Also while the group closes: the other members wait for the end of their loans.
        let is_awake = !commands.list.is_empty();
        change(&mut commands);
        drop(commands);
        if !is_awake {
            // If the socket is full, the thread has enough to wake up for.
            let _ = (&self.wake).write(&[0]);
        }
    }

    /// Takes the commands.
    pub(crate) fn take(&self) -> Commands {
        let mut commands = self.lock();
        Commands {
            list: std::mem::take(&mut commands.list),
            ..*commands
        }
    }

    /// Drops the commands, and all later ones: the thread ends.
    pub(crate) fn end(&self) {
        let mut commands = self.lock();
        commands.is_over = true;
        let left = std::mem::take(&mut commands.list);
        drop(commands);
        // Without the lock: its messages may be the last to hold their elements.
        drop(left);
    }
}

/// The connections of a member.
#[derive(Debug)]
pub(crate) struct ShmLinks {
    shared: Arc<Shared>,
    card: Bytes,
}

impl ShmLinks {
    /// Starts the thread of a member.
    pub(crate) fn start(events: LinkEvents, place: MemberPlace) -> Result<Self, Error> {
        Segment::new()
            .and_then(|segment| Self::try_start(events, place, segment, Settings::USUAL))
            .map_err(|error| Error::new(format!("cannot share memory with other tasks: {error}")))
    }

    fn try_start(
        events: LinkEvents,
        place: MemberPlace,
        segment: Segment,
        settings: Settings,
    ) -> io::Result<Self> {
        let (shared, woken) = Shared::new()?;
        let shared = Arc::new(shared);
        let card = Card::random()?;
        let own = (card, segment, settings);
        let progress = Progress::new(own, events, place, Arc::clone(&shared), woken)?;
        thread::Builder::new()
            .name("tfrt-shm".to_owned())
            .spawn(move || progress.run())?;
        Ok(Self {
            shared,
            card: card.to_bytes(),
        })
    }
}

impl Links for ShmLinks {
    fn card(&self) -> Bytes {
        self.card.clone()
    }

    fn introduce(&self, member: usize, card: &[u8]) {
        let command = Command::Introduce(member, Bytes::copy_from_slice(card));
        self.shared
            .tell(move |commands| commands.list.push(command));
    }

    fn send(&self, to: &[usize], message: &Message) {
        let command = Command::Send(to.to_vec(), message.clone());
        self.shared
            .tell(move |commands| commands.list.push(command));
    }

    fn lose(&self, member: usize) {
        self.shared
            .tell(|commands| commands.list.push(Command::Lose(member)));
    }

    fn take_back(&self) {
        self.shared
            .tell(|commands| commands.list.push(Command::TakeBack));
    }

    fn close(&self) {
        self.shared.tell(|commands| commands.is_closing = true);
    }
}

impl Drop for ShmLinks {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};

    use tfrt_async::{AnyRef, AsyncValueRef, Chain};
    use tfrt_distributed::collective::conformance::{self, Extent};
    use tfrt_distributed::collective::{GroupMember, Reduction, direct};
    use tfrt_distributed::fabric::CommunicatorType;
    use tfrt_distributed::message::DistributedContextConfiguration;
    use tfrt_distributed::{Server, ServerConfig};
    use tfrt_host::HostContext;
    use tfrt_queue::Task;
    use tfrt_tensor::DenseHostTensor;

    use super::*;
    use crate::lending::PeerMemory;
    use crate::lending::tests::{can_read, unreadable};
    use crate::segment::NUM_BLOCKS;

    #[test]
    fn commands_do_not_stay_after_the_end_of_the_thread() {
        let (shared, _woken) = Shared::new().unwrap();
        let kept = Arc::new(());
        let tell = |card: Arc<()>| {
            let card = Bytes::from_owner(Card(card));
            shared.tell(move |commands| commands.list.push(Command::Introduce(1, card)));
        };
        tell(Arc::clone(&kept));
        assert_eq!(Arc::strong_count(&kept), 2);
        shared.end();
        tell(Arc::clone(&kept));
        assert_eq!(Arc::strong_count(&kept), 1);
        assert!(shared.take().list.is_empty());

        struct Card(#[expect(dead_code, reason = "only its end counts")] Arc<()>);

        impl AsRef<[u8]> for Card {
            fn as_ref(&self) -> &[u8] {
                &[]
            }
        }
    }

    /// Returns a segment all of whose blocks a member may still read that was cut off.
    fn used_up() -> io::Result<Segment> {
        let mut segment = Segment::new()?;
        for _ in 0..NUM_BLOCKS {
            segment.write(&[0], &[7])?;
        }
        segment.retire_reader(7);
        assert!(segment.is_used_up());
        Ok(segment)
    }

    /// Sends elements through segments or sockets alone.
    const NEVER: Settings = Settings {
        min_lent_bytes: 1,
        probe: |_, _| None,
        ..Settings::USUAL
    };

    /// Lends whatever may be lent.
    const ALWAYS: Settings = Settings {
        min_lent_bytes: 1,
        probe: PeerMemory::probe,
        // Members wait for each other, however slow the machine is.
        closing_time: Duration::from_secs(3600),
    };

    /// Finds out in the middle of an operation that it cannot read what others lend.
    const REFUSED: Settings = Settings {
        probe: |_, _| Some(unreadable()),
        ..ALWAYS
    };

    /// Members in one process.
    struct Group {
        host: Arc<HostContext>,
        _servers: Vec<Arc<Server>>,
        members: Vec<Arc<dyn GroupMember>>,
        links: Vec<Arc<ShmLinks>>,
    }

    fn new_host(queue: &str) -> Arc<HostContext> {
        let queue = tfrt_queue::create_queue(queue).unwrap();
        HostContext::builder().queue(queue).build()
    }

    impl Group {
        fn open(segment: fn() -> io::Result<Segment>, settings: Settings) -> Self {
            let host = new_host("mstd:2");
            Self::open_on(&[0; 3].map(|_| Arc::clone(&host)), segment, settings)
        }

        /// Opens the group with a host for each member.
        fn open_on(
            hosts: &[Arc<HostContext>; 3],
            segment: fn() -> io::Result<Segment>,
            settings: Settings,
        ) -> Self {
            let in_process = CommunicatorType::find("in_process").unwrap();
            let addresses = [(); 3].map(|()| (in_process.free_address)().unwrap());
            let configs = DistributedContextConfiguration::local_cluster(&addresses);
            let start = |(host, address): (&Arc<HostContext>, &String)| {
                Server::new(host, ServerConfig::new("in_process", address)).unwrap()
            };
            let servers = hosts.iter().zip(&addresses).map(start);
            let servers: Vec<Arc<Server>> = servers.collect();
            let (sender, done) = channel();
            servers[0].initialize_single_client(Some(1), &configs[0], move |outcome| {
                sender.send(outcome).unwrap();
            });
            let first = done.recv().unwrap().unwrap();
            let contexts = [
                first,
                servers[1].context(1).unwrap(),
                servers[2].context(1).unwrap(),
            ];
            let mut all_links = Vec::new();
            let open = |context| {
                let connect = |events, place| {
                    let segment = segment().map_err(Error::other)?;
                    let links = ShmLinks::try_start(events, place, segment, settings);
                    let links = Arc::new(links.map_err(Error::other)?);
                    all_links.push(Arc::clone(&links));
                    Ok(links as Arc<dyn Links>)
                };
                direct::open("group1", context, Box::new(connect)).unwrap()
            };
            let members = contexts.iter().map(open).collect();
            Self {
                host: Arc::clone(&hosts[0]),
                _servers: servers,
                members,
                links: all_links,
            }
        }

        /// Performs an operation of all members. Then they know what they may lend.
        fn meet(&self) {
            let met = self.members.iter();
            let met = met.map(|member| member.barrier("met").into());
            self.host.await_values(&met.collect::<Vec<_>>()).unwrap();
        }

        /// Sends something to another member and back: what was sent before has arrived there.
        fn ping(&self, from: usize, to: usize) {
            let tensor = DenseHostTensor::vector(&[1_u8]).unwrap();
            for (from, to) in [(from, to), (to, from)] {
                let sent = self.members[from].send("ping", to, &tensor);
                let received = self.members[to].recv("ping", from);
                let both = [sent.into(), received.into()];
                self.host.await_values(&both).unwrap();
            }
        }

        fn conform(&self) {
            thread::scope(|scope| {
                for member in &self.members {
                    let (host, extent) = (&self.host, Extent::Short);
                    scope.spawn(move || conformance::run(host, &**member, extent).unwrap());
                }
            });
            // More than a frame, and more than an outbox.
            let tensors = self.members.iter().map(|member| {
                let elements = vec![u8::from(member.index() == 0); (3 << 20) + 1];
                DenseHostTensor::vector(&elements).unwrap()
            });
            let tensors: Vec<DenseHostTensor> = tensors.collect();
            let sent = self.members.iter().zip(&tensors);
            let sent =
                sent.map(|(member, tensor)| member.broadcast("large", tensor.clone(), 0).into());
            self.host.await_values(&sent.collect::<Vec<_>>()).unwrap();
            for tensor in tensors {
                let elements = tensor.elements::<u8>().unwrap();
                assert!(elements.iter().all(|element| *element == 1));
            }
        }
    }

    #[test]
    fn members_without_blocks_send_elements_through_their_sockets() {
        Group::open(used_up, NEVER).conform();
    }

    #[test]
    fn members_that_cannot_read_each_other_share_segments() {
        Group::open(Segment::new, NEVER).conform();
    }

    #[test]
    fn members_that_read_each_other_conform() {
        if !can_read() {
            return;
        }
        let group = Group::open(used_up, ALWAYS);
        group.meet();
        group.conform();
    }

    fn is_writable(tensor: &DenseHostTensor) -> bool {
        tensor.clone().buffer_mut().write().is_ok()
    }

    /// Starts an all-reduce in place.
    fn start(group: &Group, index: usize, tensor: &DenseHostTensor) -> AsyncValueRef<Chain> {
        let (input, output) = (tensor.clone(), tensor.clone());
        group.members[index].all_reduce("k", Reduction::Sum, input, output)
    }

    #[test]
    fn elements_are_lent_until_the_other_members_have_read_them() {
        for (settings, is_lent) in [(ALWAYS, can_read()), (NEVER, false)] {
            let group = Group::open(Segment::new, settings);
            group.meet();
            // A chunk is combined in several parts.
            let tensors = [1, 2, 3].map(|number| {
                let elements = (0..300_000).map(|index| number * (index % 1009));
                DenseHostTensor::vector(&elements.collect::<Vec<i32>>()).unwrap()
            });
            let first = start(&group, 0, &tensors[0]);
            group.ping(0, 1);
            group.ping(0, 2);
            assert_eq!(is_writable(&tensors[0]), !is_lent, "{settings:?}");
            let others = [1, 2].map(|index| start(&group, index, &tensors[index]).into());
            group.host.await_values(&[first.into()]).unwrap();
            group.host.await_values(&others).unwrap();
            for tensor in tensors {
                let sums = tensor.elements::<i32>().unwrap();
                let expected = (0..300_000).map(|index| 6 * (index % 1009));
                assert!(sums.iter().copied().eq(expected));
            }
        }
    }

    #[test]
    fn what_a_failed_operation_has_lent_comes_back() {
        if !can_read() {
            return;
        }
        let mut group = Group::open(Segment::new, ALWAYS);
        group.meet();
        let tensor = DenseHostTensor::vector(&vec![1_i32; 300_000]).unwrap();
        let first = start(&group, 0, &tensor);
        group.ping(0, 1);
        assert!(!is_writable(&tensor));
        // The last member leaves, and the one in the middle does not begin.
        drop(group.members.pop());
        let error = group.host.await_values(&[first.into()]).unwrap_err();
        assert!(error.message().contains("/job:worker/task:2"), "{error}");
        let end = Instant::now() + Duration::from_secs(60);
        while !is_writable(&tensor) {
            assert!(Instant::now() < end, "the elements are still lent");
            thread::yield_now();
        }
        let second = start(&group, 1, &tensor);
        assert!(group.host.await_values(&[second.into()]).is_err());
    }

    #[test]
    fn a_member_that_closes_waits_for_the_readers_of_its_elements() {
        if !can_read() {
            return;
        }
        let [usual, slow] = ["mstd:2", "mstd:1"].map(new_host);
        let hosts = [Arc::clone(&usual), Arc::clone(&slow), usual];
        let group = Group::open_on(&hosts, Segment::new, ALWAYS);
        group.meet();
        // The only thread of the second host is busy until the sender is dropped.
        let (busy, is_free) = channel::<()>();
        slow.queue().add_task(Task::new(move || {
            let _ = is_free.recv();
        }));
        let elements = |number| DenseHostTensor::vector(&vec![number; 300_000]).unwrap();
        let tensors = [7, 0, 0].map(elements);
        let members = group.members.iter().zip(&tensors);
        let chains = members.map(|(member, tensor)| member.broadcast("k", tensor.clone(), 0));
        let chains: Vec<AsyncValueRef<Chain>> = chains.collect();
        // What the others have sent to the first member has arrived, so its exchange has ended.
        for from in [1, 2] {
            // Its end would be told by the second host.
            drop(group.members[from].send("here", 0, &elements(1)));
            let received = group.members[0].recv("here", from);
            group.host.await_values(&[received.into()]).unwrap();
        }
        group.host.quiesce().unwrap();
        group
            .host
            .await_values(&[chains[2].clone().into()])
            .unwrap();
        group.links[0].close();
        // Its thread goes on: it sends the first of these after the close, and then another one.
        for key in ["first", "second"] {
            drop(group.members[0].send(key, 2, &elements(1)));
            let received = group.members[2].recv(key, 0);
            group.host.await_values(&[received.into()]).unwrap();
        }
        drop(busy);
        let chains: Vec<AnyRef> = chains.into_iter().map(Into::into).collect();
        group.host.await_values(&chains).unwrap();
        for tensor in tensors {
            assert!(
                tensor
                    .elements::<i32>()
                    .unwrap()
                    .iter()
                    .all(|element| *element == 7)
            );
        }
        // Then it ends.
        let late = group.members[2].recv("late", 0);
        let error = group.host.await_values(&[late.into()]).unwrap_err();
        assert!(error.message().contains("/job:worker/task:0"), "{error}");
    }

    #[test]
    fn members_that_cannot_read_any_more_share_segments() {
        let group = Group::open(Segment::new, REFUSED);
        group.meet();
        let mut num_failed = 0;
        loop {
            let tensors =
                [1, 2, 3].map(|number| DenseHostTensor::vector(&vec![number; 300_000]).unwrap());
            let reduced = (0..3).map(|index| start(&group, index, &tensors[index]).into());
            let reduced: Vec<AnyRef> = reduced.collect();
            let _ = group.host.await_available(&reduced);
            let Some(error) = reduced.iter().find_map(|chain| chain.error_if_present()) else {
                for tensor in tensors {
                    assert!(
                        tensor
                            .elements::<i32>()
                            .unwrap()
                            .iter()
                            .all(|sum| *sum == 6)
                    );
                }
                break;
            };
            assert!(error.message().contains("cannot be read"), "{error}");
            // Each failure ends the loans of at least one member to another one.
            num_failed += 1;
            assert!(num_failed <= 6, "{error}");
            group.meet();
        }
        assert!(num_failed > 0, "nothing was lent");
        group.conform();
    }
}
