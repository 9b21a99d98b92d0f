//! A member over connections inside the process, which deliver on threads of their own.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;

use tfrt_async::{AsyncValueRef, Chain};
use tfrt_tensor::DenseHostTensor;

use super::super::header::Operation;
use super::*;
use crate::collective::conformance::tests::check;
use crate::collective::{AUTO, Collectives, Reduction, UserReduction};
use crate::error::Gather;
use crate::fabric::in_process::{InProcessNetwork, PayloadLoss};
use crate::message::DistributedContextConfiguration;
use crate::server::{Server, ServerConfig};
use crate::testing::{self, Cluster, wait};

/// The members that are connected, by their cards.
type Directory = Arc<Mutex<HashMap<u64, Sender<(usize, Message)>>>>;

/// A back end whose connections are channels.
#[derive(Debug, Default)]
struct Channels {
    directory: Directory,
    max_delay: Duration,
    /// Whether elements are lent.
    lends: bool,
}

/// A message whose elements are lent.
#[derive(Debug)]
struct LentMessage(Message);

impl LentElements for LentMessage {
    fn len_bytes(&self) -> usize {
        self.0.elements.len()
    }

    fn read(&self, start: usize, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0.elements[start..][..out.len()]);
        Ok(())
    }
}

#[derive(Debug)]
struct ChannelLinks {
    directory: Directory,
    place: MemberPlace,
    card: u64,
    peers: Mutex<Peers>,
}

#[derive(Debug, Default)]
struct Peers {
    known: HashMap<usize, Sender<(usize, Message)>>,
    early: HashMap<usize, Vec<Message>>,
}

impl Collectives for Channels {
    fn name(&self) -> &'static str {
        "channels"
    }

    fn open(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<dyn GroupMember>, Error> {
        Ok(self.open_direct(group, exchange)?)
    }
}

impl Channels {
    fn open_direct(
        &self,
        group: &str,
        exchange: &Arc<DistributedContext>,
    ) -> Result<Arc<DirectMember>, Error> {
        let connect = |events: LinkEvents, place| {
            let (sender, messages) = channel::<(usize, Message)>();
            let card = crate::random::non_zero();
            self.directory.lock().unwrap().insert(card, sender);
            let max_delay = self.max_delay.as_micros() as u64;
            let lends = self.lends;
            thread::spawn(move || {
                let mut state = card;
                for (from, message) in messages {
                    // A delay of its own for each message.
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    if let Some(micros) = (state >> 33).checked_rem(max_delay) {
                        thread::sleep(Duration::from_micros(micros));
                    }
                    let len = message.elements.len() as u64;
                    if lends && message.may_be_lent() {
                        let head = message.head.clone();
                        let lent = Box::new(LentMessage(message));
                        if let Err(error) = events.lent(from, &head, lent) {
                            events.broken(from, error.message());
                        }
                        continue;
                    }
                    match events.announced(from, &message.head, len) {
                        Ok(mut elements) => {
                            elements.write().unwrap().copy_from_slice(&message.elements);
                            // As elsewhere: a message that has arrived is not borrowed any more.
                            let head = message.head.clone();
                            drop(message);
                            events.received(from, &head, elements);
                        }
                        Err(error) => events.broken(from, error.message()),
                    }
                }
            });
            Ok(Arc::new(ChannelLinks {
                directory: Arc::clone(&self.directory),
                place,
                card,
                peers: Mutex::default(),
            }) as Arc<dyn Links>)
        };
        DirectMember::open(group, exchange, Box::new(connect))
    }
}

impl Links for ChannelLinks {
    fn card(&self) -> Bytes {
        Bytes::copy_from_slice(&self.card.to_le_bytes())
    }

    fn introduce(&self, member: usize, card: &[u8]) {
        let card = u64::from_le_bytes(card.try_into().unwrap());
        let sender = self.directory.lock().unwrap().get(&card).cloned();
        let mut peers = self.peers.lock().unwrap();
        let early = peers.early.remove(&member).unwrap_or_default();
        if let Some(sender) = sender {
            for message in early {
                // The member may have left.
                let _ = sender.send((self.place.index, message));
            }
            peers.known.insert(member, sender);
        }
    }

    fn send(&self, to: &[usize], message: &Message) {
        let mut peers = self.peers.lock().unwrap();
        for member in to {
            match peers.known.get(member) {
                Some(sender) => {
                    // The member may have left.
                    let _ = sender.send((self.place.index, message.clone()));
                }
                None => peers
                    .early
                    .entry(*member)
                    .or_default()
                    .push(message.clone()),
            }
        }
    }

    fn lose(&self, member: usize) {
        let mut peers = self.peers.lock().unwrap();
        peers.known.remove(&member);
        peers.early.remove(&member);
    }

    fn close(&self) {
        self.directory.lock().unwrap().remove(&self.card);
        *self.peers.lock().unwrap() = Peers::default();
    }
}

#[test]
fn direct_exchanges_conform() {
    for size in 1..=8 {
        check(&Channels::default(), &Cluster::new("mstd:2", size));
    }
}

#[test]
fn direct_exchanges_conform_if_messages_are_slow() {
    let slow = Channels {
        max_delay: Duration::from_micros(200),
        ..Channels::default()
    };
    check(&slow, &Cluster::new("mstd:2", 3));
}

#[test]
fn direct_exchanges_conform_if_elements_are_lent() {
    let lending = Channels {
        lends: true,
        ..Channels::default()
    };
    for size in 1..=4 {
        check(&lending, &Cluster::new("mstd:2", size));
    }
}

fn open_all(cluster: &Cluster) -> (Vec<Arc<DistributedContext>>, Vec<Arc<dyn GroupMember>>) {
    let contexts = cluster.contexts();
    let channels = Channels::default();
    let members = contexts
        .iter()
        .map(|context| channels.open("group1", context).unwrap());
    let members = members.collect();
    (contexts, members)
}

/// Waits until a chain is ready, and returns the message of its error.
fn outcome(cluster: &Cluster, chain: &AsyncValueRef<Chain>) -> Result<(), String> {
    let (sender, receiver) = channel();
    let value = chain.clone();
    chain.and_then(move |_| {
        let outcome = value.as_result().map(|_| ());
        // A test that failed does not wait any more.
        let _ = sender.send(outcome.map_err(|error| error.message().to_owned()));
    });
    wait(&cluster.host, &receiver)
}

fn numbers(len: usize) -> DenseHostTensor {
    DenseHostTensor::vector(&vec![1.0_f32; len]).unwrap()
}

fn sum(member: &Arc<dyn GroupMember>, key: &str, len: usize) -> AsyncValueRef<Chain> {
    let tensor = numbers(len);
    member.all_reduce(key, Reduction::Sum, tensor.clone(), tensor)
}

#[test]
fn the_memory_of_messages_is_kept_for_the_next_operation() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let channels = Channels::default();
    let opened = contexts
        .iter()
        .map(|context| channels.open_direct("group1", context).unwrap());
    let direct: Vec<_> = opened.collect();
    let members: Vec<Arc<dyn GroupMember>> =
        direct.iter().map(|one| Arc::clone(one) as _).collect();
    let mut num_allocations = [0; 2];
    for round in 0..20 {
        let chains: Vec<_> = members.iter().map(|one| sum(one, "k", 40_000)).collect();
        for chain in &chains {
            assert_eq!(outcome(&cluster, chain), Ok(()));
        }
        for (member, found) in direct.iter().zip(&mut num_allocations) {
            let statistics = member.memory_statistics();
            assert!(statistics.num_chunks > 0, "messages lie in it");
            // A chunk for each of two phases: the other member may be one phase ahead.
            assert!(statistics.num_chunks <= 4, "round {round}: {statistics:?}");
            *found = statistics.num_allocations;
        }
    }
    assert_eq!(num_allocations, [40; 2], "two messages in each round");
}

#[test]
fn different_operations_fail_on_all_members() {
    let cluster = Cluster::new("mstd:2", 3);
    let (_contexts, members) = open_all(&cluster);
    let lens = [7, 7, 8];
    let chains: Vec<_> = (0..3).map(|i| sum(&members[i], "k", lens[i])).collect();
    for (index, chain) in chains.iter().enumerate() {
        let error = outcome(&cluster, chain).unwrap_err();
        assert!(error.contains("member 2 has f32[8]"), "{index}: {error}");
        assert!(
            error.starts_with("allreduce key k of group group1: member "),
            "{error}"
        );
    }
    // Nothing of the failed operations is left: the key can be used again.
    for _ in 0..3 {
        let chains: Vec<_> = members.iter().map(|member| sum(member, "k", 7)).collect();
        for chain in &chains {
            assert_eq!(outcome(&cluster, chain), Ok(()));
        }
    }
    let barrier = members[0].barrier("k");
    let sums = [sum(&members[1], "k", 7), sum(&members[2], "k", 7)];
    let error = outcome(&cluster, &barrier).unwrap_err();
    assert!(
        error.contains("an allreduce") && error.contains("a barrier"),
        "{error}"
    );
    for chain in &sums {
        assert!(outcome(&cluster, chain).is_err());
    }
    let chains: Vec<_> = members.iter().map(|member| member.barrier("k")).collect();
    for chain in &chains {
        assert_eq!(outcome(&cluster, chain), Ok(()));
    }
}

#[test]
fn an_operation_that_cannot_start_fails_on_all_members() {
    let cluster = Cluster::new("mstd:2", 3);
    let (_contexts, members) = open_all(&cluster);
    let wrong = members[1].all_reduce("k", Reduction::Sum, numbers(7), numbers(6));
    let expected = outcome(&cluster, &wrong).unwrap_err();
    for member in [0, 2] {
        let chain = sum(&members[member], "k", 7);
        assert_eq!(outcome(&cluster, &chain).unwrap_err(), expected);
    }
    let again: Vec<_> = members.iter().map(|member| sum(member, "k", 7)).collect();
    for chain in &again {
        assert_eq!(outcome(&cluster, chain), Ok(()));
    }
}

#[test]
fn a_key_in_use_is_refused() {
    let cluster = Cluster::new("mstd:2", 2);
    let (_contexts, members) = open_all(&cluster);
    let first = sum(&members[0], "k", 3);
    let second = sum(&members[0], "k", 3);
    assert_eq!(
        outcome(&cluster, &second).unwrap_err(),
        "allreduce key k of group group1 is in use"
    );
    let why = Error::new("no");
    let abandoned = members[0].abandon("k", &why).unwrap_err();
    assert_eq!(
        abandoned.message(),
        "cannot abandon key k of group group1: it is in use"
    );
    let other = sum(&members[1], "k", 3);
    assert_eq!(outcome(&cluster, &first), Ok(()));
    assert_eq!(outcome(&cluster, &other), Ok(()));
    members[0].abandon("k", &why).unwrap();
    let told = sum(&members[1], "k", 3);
    assert_eq!(outcome(&cluster, &told).unwrap_err(), "no");
}

#[test]
fn an_abort_ends_all_members_and_the_group_can_be_opened_again() {
    let cluster = Cluster::new("mstd:2", 3);
    let (contexts, members) = open_all(&cluster);
    let pending = [sum(&members[0], "k", 3), sum(&members[1], "k", 3)];
    let never = members[1].recv("t", 0);
    members[2].abort(&Error::new("enough"));
    for chain in &pending {
        assert_eq!(outcome(&cluster, chain).unwrap_err(), "enough");
    }
    let error = cluster.host.await_values(&[never.into()]).unwrap_err();
    assert_eq!(error.message(), "enough");
    assert_eq!(
        outcome(&cluster, &sum(&members[0], "l", 3)).unwrap_err(),
        "enough"
    );
    drop(members);
    let channels = Channels::default();
    let members: Vec<_> = contexts
        .iter()
        .map(|context| channels.open("group1", context).unwrap())
        .collect();
    let chains: Vec<_> = members.iter().map(|member| sum(member, "k", 5)).collect();
    for chain in &chains {
        assert_eq!(outcome(&cluster, chain), Ok(()));
    }
}

#[test]
fn a_closed_context_ends_the_operations_of_its_members() {
    let cluster = Cluster::new("mstd:2", 2);
    let (contexts, members) = open_all(&cluster);
    let pending = sum(&members[0], "k", 3);
    contexts[0].close();
    let error = outcome(&cluster, &pending).unwrap_err();
    assert!(error.contains("context 1 is closed"), "{error}");
}

#[test]
fn an_operation_needs_no_handle_of_its_member() {
    let cluster = Cluster::new("mstd:2", 2);
    let (_contexts, mut members) = open_all(&cluster);
    let first = sum(&members[0], "k", 3);
    drop(members.remove(0));
    let second = sum(&members[0], "k", 3);
    drop(members);
    for chain in [first, second] {
        assert_eq!(outcome(&cluster, &chain), Ok(()));
    }
}

#[test]
fn a_member_is_told_that_another_one_cannot_connect() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let events = Mutex::new(None);
    let connect = |own: LinkEvents, place| {
        *events.lock().unwrap() = Some(own.clone());
        silent(own, place)
    };
    let first = DirectMember::open("group1", &contexts[0], Box::new(connect)).unwrap();
    let second = DirectMember::open("group1", &contexts[1], Box::new(silent)).unwrap();
    let pending = second.barrier("k");
    while first.lock().cards.is_empty() {
        thread::sleep(Duration::from_millis(1));
    }
    let events = events.into_inner().unwrap().unwrap();
    events.unreachable(1, "no descriptors are left");
    assert_eq!(
        outcome(&cluster, &pending).unwrap_err(),
        "the connection to task /job:worker/task:0 has ended: no descriptors are left"
    );
    drop((first, second, pending));
    cluster.host.quiesce().unwrap();
    for context in contexts {
        assert!(
            context.rendezvous().is_empty(),
            "{:?}",
            context.rendezvous()
        );
    }
}

#[test]
fn the_loss_of_a_card_fails_operations_on_all_members() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    let address = |member: usize| contexts[member].config().own_address().unwrap();
    let loss = PayloadLoss {
        count: 1,
        ..PayloadLoss::default()
    };
    cluster.network.lose_payloads(address(0), address(1), loss);
    let channels = Channels::default();
    let members = contexts
        .iter()
        .map(|context| channels.open_direct("group1", context).unwrap());
    let members: Vec<_> = members.collect();
    // These connections need no cards: an operation could be over before the loss is noticed.
    cluster.host.quiesce().unwrap();
    let started: Vec<_> = members.iter().map(|member| member.barrier("k")).collect();
    for pending in &started {
        let error = outcome(&cluster, pending).unwrap_err();
        assert!(error.contains("the request was lost"), "{error}");
    }
}

/// Connections that never let go of a message.
#[derive(Debug, Default)]
struct Stuck(Mutex<Vec<Message>>);

impl Links for Stuck {
    fn card(&self) -> Bytes {
        Bytes::new()
    }

    fn introduce(&self, _: usize, _: &[u8]) {}

    fn send(&self, _: &[usize], message: &Message) {
        self.0.lock().unwrap().push(message.clone());
    }

    fn lose(&self, member: usize) {
        for message in &*self.0.lock().unwrap() {
            message.give_up(member);
        }
    }

    fn close(&self) {
        self.lose(1);
    }
}

#[test]
fn what_cannot_be_sent_to_a_lost_member_fails() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let start = |context: &Arc<DistributedContext>| {
        let stuck = |_, _| Ok(Arc::new(Stuck::default()) as Arc<dyn Links>);
        let member = DirectMember::open("group1", context, Box::new(stuck)).unwrap();
        let sent = GroupMember::send(&*member, "t", 1, &numbers(8));
        let output = numbers(16);
        let gathered = member.all_gather("g", numbers(8), output.clone(), 0);
        // All that it waits for has arrived: it still sends.
        let part = operations::part_of(operations::gather_along(0), &numbers(8));
        let content = (Bytes::from_static(&[0; 32]), Gather::new(|_| ()));
        let message = Message::elements(part, 1, "g", true, &[8], content);
        let mut elements = member.announced(1, &message.head, 32).unwrap();
        elements.write().unwrap().fill(0);
        member.received(1, &message.head, elements);
        let ended = || member.lock().exchanges.is_empty();
        while !ended() {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(!sent.is_available() && !gathered.is_available());
        (member, [sent, gathered], output)
    };
    let (member, chains, mut output) = start(&contexts[0]);
    member.broken(1, &Error::new("it is dead"));
    for chain in &chains {
        assert_eq!(outcome(&cluster, chain).unwrap_err(), "it is dead");
    }
    // Nothing borrows the result any more.
    assert!(output.elements_mut::<f32>().is_ok());
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let (member, chains, _) = start(&contexts[0]);
    member.fail_all(&Error::new("over"));
    for chain in &chains {
        assert_eq!(outcome(&cluster, chain).unwrap_err(), "over");
    }
}

/// Connects nobody.
fn silent(_: LinkEvents, place: MemberPlace) -> Result<Arc<dyn Links>, Error> {
    Ok(Arc::new(ChannelLinks {
        directory: Directory::default(),
        place,
        card: 1,
        peers: Mutex::default(),
    }))
}

#[test]
fn what_nobody_claims_is_limited() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let member = DirectMember::open("group1", &contexts[0], Box::new(silent)).unwrap();
    let limit = contexts[0].rendezvous().max_bytes() as u64;
    let part = operations::part_of(Operation::AllToAll, &numbers(8));
    let message = Message::elements(part, 1, "k", true, &[], (Bytes::new(), Gather::new(|_| ())));
    let announce = |len_bytes| member.announced(1, &message.head, len_bytes).map(|_| ());
    assert!(announce(100).is_ok());
    let error = announce(limit).unwrap_err();
    assert_eq!(
        error.message(),
        "receive buffer of /job:worker/task:0 is full"
    );
    let error = member.announced(1, &message.head[..20], 0).unwrap_err();
    assert_eq!(error.message(), "malformed message of a collective");
    // An operation gets what it expects in any case.
    member.lock().unclaimed_bytes = limit as usize;
    assert!(announce(16).is_err());
    let started = member.all_to_all("k", numbers(8), numbers(8));
    assert!(announce(16).is_ok());
    assert!(announce(33).is_err());
    let part = operations::gather_any_along(0, &numbers(8));
    let message = Message::elements(part, 1, "g", true, &[], (Bytes::new(), Gather::new(|_| ())));
    assert!(member.announced(1, &message.head, 16).is_err());
    let gathered = member.all_gather_any("g", numbers(8), 0);
    assert!(member.announced(1, &message.head, 16).is_ok());
    let work = (Bytes::new(), Gather::new(|_| ()));
    let message = Message::tensor(1, "t", &numbers(8), work).unwrap();
    assert!(member.announced(1, &message.head, 32).is_err());
    let received = member.recv("t", 1);
    assert!(member.announced(1, &message.head, 32).is_ok());
    member.fail_all(&Error::new("over"));
    for value in [gathered, received] {
        assert!(cluster.host.await_values(&[value.into()]).is_err());
    }
    assert_eq!(outcome(&cluster, &started).unwrap_err(), "over");
}

#[test]
fn a_message_may_arrive_after_an_abort() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let member = DirectMember::open("group1", &contexts[0], Box::new(silent)).unwrap();
    let part = operations::part_of(Operation::AllToAll, &numbers(8));
    let work = || (Bytes::new(), Gather::new(|_| ()));
    let phase = Message::elements(part, 1, "k", true, &[], work());
    let tensor = Message::tensor(1, "t", &numbers(8), work()).unwrap();
    let waits = member.announced(1, &phase.head, 16).unwrap();
    member.received(1, &phase.head, waits);
    let announced = [&phase, &tensor].map(|message| {
        let elements = member.announced(1, &message.head, 16);
        (&message.head, elements.unwrap())
    });
    member.fail_all(&Error::new("over"));
    for (head, elements) in announced {
        member.received(1, head, elements);
    }
    let sent = GroupMember::send(&*member, "t", 1, &numbers(8));
    assert_eq!(outcome(&cluster, &sent).unwrap_err(), "over");
}

#[test]
fn a_context_that_is_closing_has_no_groups() {
    let (host, network) = (testing::host("mstd:2"), InProcessNetwork::default());
    let address = network.free_address();
    let config = ServerConfig {
        collectives: AUTO.to_owned(),
        ..ServerConfig::new("test", &address)
    };
    let server = Server::on_network(&host, config, |handler| {
        network.listen(&host, &address, handler)
    });
    let server = server.unwrap();
    let configs = DistributedContextConfiguration::local_cluster(&[address]);
    let context = testing::finish(&host, |done| {
        server.initialize_single_client(Some(1), &configs[0], done);
    });
    let context = context.unwrap_or_else(|errors| panic!("{errors}"));
    let (sender, asked) = channel();
    let asking = Arc::clone(&context);
    let receiver = move |_| sender.send(asking.group_member("group1")).unwrap();
    context.rendezvous().receive("k", Box::new(receiver));
    thread::spawn(move || context.close());
    let error = asked.recv_timeout(Duration::from_secs(60)).unwrap();
    let error = error.unwrap_err();
    assert!(error.message().contains("context 1 is closed"), "{error}");
}

#[test]
fn functions_of_programs_are_checked_before_they_run() {
    fn panics(_: i32, _: i32) -> i32 {
        panic!("a function of the program")
    }
    const PANICS: UserReduction = UserReduction::new("panics").with_i32(panics);
    inventory::submit!(PANICS);
    let cluster = Cluster::new("mstd:2", 2);
    let (_contexts, members) = open_all(&cluster);
    let reduction = Reduction::from_name("panics").unwrap();
    let start = |member: &Arc<dyn GroupMember>, tensor: DenseHostTensor| {
        member.all_reduce("k", reduction, tensor.clone(), tensor)
    };
    let floats: Vec<_> = members
        .iter()
        .map(|member| start(member, numbers(3)))
        .collect();
    for chain in &floats {
        assert_eq!(
            outcome(&cluster, chain).unwrap_err(),
            "reduction panics has no function for elements of type f32"
        );
    }
    let integers = || DenseHostTensor::vector(&[1_i32, 2, 3]).unwrap();
    let chains: Vec<_> = members
        .iter()
        .map(|member| start(member, integers()))
        .collect();
    for chain in &chains {
        assert_eq!(
            outcome(&cluster, chain).unwrap_err(),
            "reduction panics panicked"
        );
    }
}

#[test]
fn a_send_that_races_with_an_abort_ends() {
    for _ in 0..20 {
        let cluster = Cluster::new("mstd:2", 2);
        let (_contexts, members) = open_all(&cluster);
        let sent: Vec<AsyncValueRef<Chain>> = thread::scope(|scope| {
            let sending = scope.spawn(|| {
                let send = |number: i32| members[0].send(&format!("k{number}"), 1, &numbers(3));
                (0..200).map(send).collect()
            });
            scope.spawn(|| members[0].abort(&Error::new("enough")));
            sending.join().unwrap()
        });
        // Each was sent, or is the error of the abort; none waits for ever.
        for chain in &sent {
            if let Err(error) = outcome(&cluster, chain) {
                assert_eq!(error, "enough");
            }
        }
        let late = members[0].send("late", 1, &numbers(3));
        assert_eq!(outcome(&cluster, &late), Err("enough".to_owned()));
    }
}
