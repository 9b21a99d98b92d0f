//! Collectives whose messages are lost between members that live on: all members end, nothing is
//! left, and the key works again at once. `TFRT_LONG_TESTS` runs many more seeds.

use std::time::{Duration, Instant};

use tfrt_async::{AnyRef, AsyncValueRef, Chain};

use super::*;
use crate::collective::{RecursiveDoublingCollectives, TreeCollectives};
use crate::fabric::in_process::PayloadLoss;
use crate::message::ANY_ORDER;
use crate::tests::seeds::Numbers;

const BACK_ENDS: [&dyn Collectives; 3] = [
    &RingCollectives,
    &TreeCollectives,
    &RecursiveDoublingCollectives,
];

#[derive(Clone, Copy, Debug)]
enum Operation {
    AllReduce,
    ReduceScatter,
    Broadcast(usize),
    AllGather,
    AllGatherAny,
    AllToAll,
    Barrier,
    /// Each member sends to the next one. Either the sends or the receives start first.
    SendAround(bool),
}

/// The part of a member in a collective.
struct Part {
    ended: AnyRef,
    /// Returns what the collective has computed.
    result: Box<dyn Fn() -> Vec<i32>>,
    expected: Vec<i32>,
}

fn input(member: usize, len: usize) -> Vec<i32> {
    (0..len as i32)
        .map(|at| 1000 * (member as i32 + 1) + at)
        .collect()
}

/// Sends a tensor of each member to the next one.
fn send_around(
    members: &[Arc<dyn GroupMember>],
    inputs: &[Vec<i32>],
    key: &str,
    sends_first: bool,
) -> Vec<Part> {
    let size = members.len();
    let send = |index: usize| {
        let own = DenseHostTensor::vector(&inputs[index]).unwrap();
        Part {
            ended: members[index].send(key, (index + 1) % size, &own).into(),
            result: Box::new(Vec::new),
            expected: Vec::new(),
        }
    };
    let receive = |index: usize| {
        let from = (index + size - 1) % size;
        let received = members[index].recv(key, from);
        let tensor = received.clone();
        Part {
            ended: received.into(),
            result: Box::new(move || {
                tensor
                    .as_result()
                    .unwrap()
                    .elements::<i32>()
                    .unwrap()
                    .to_vec()
            }),
            expected: inputs[from].clone(),
        }
    };
    match sends_first {
        true => (0..size).map(send).chain((0..size).map(receive)).collect(),
        false => (0..size).map(receive).chain((0..size).map(send)).collect(),
    }
}

/// Starts an operation on all members. Each has `chunk_len` elements for every member.
fn start(
    members: &[Arc<dyn GroupMember>],
    operation: Operation,
    key: &str,
    chunk_len: usize,
) -> Vec<Part> {
    let size = members.len();
    let len = size * chunk_len;
    let inputs: Vec<Vec<i32>> = (0..size).map(|member| input(member, len)).collect();
    let sums: Vec<i32> = (0..len)
        .map(|at| inputs.iter().map(|input| input[at]).sum())
        .collect();
    if let Operation::SendAround(sends_first) = operation {
        return send_around(members, &inputs, key, sends_first);
    }
    let part = |(index, member): (usize, &Arc<dyn GroupMember>)| {
        let own = DenseHostTensor::vector(&inputs[index]).unwrap();
        let chunk = index * chunk_len..(index + 1) * chunk_len;
        let zeros = |len: usize| DenseHostTensor::vector(&vec![0_i32; len]).unwrap();
        let written = |ended: AsyncValueRef<Chain>, output: DenseHostTensor, expected| Part {
            ended: ended.into(),
            result: Box::new(move || output.elements::<i32>().unwrap().to_vec()),
            expected,
        };
        match operation {
            Operation::AllReduce => {
                let output = zeros(len);
                let ended = member.all_reduce(key, Reduction::Sum, own, output.clone());
                written(ended, output, sums.clone())
            }
            Operation::ReduceScatter => {
                let output = zeros(chunk_len);
                let ended = member.reduce_scatter(key, Reduction::Sum, own, output.clone());
                written(ended, output, sums[chunk].to_vec())
            }
            Operation::Broadcast(sender) => {
                let ended = member.broadcast(key, own.clone(), sender);
                written(ended, own, inputs[sender].clone())
            }
            Operation::AllGather => {
                let output = zeros(size * len);
                let ended = member.all_gather(key, own, output.clone(), 0);
                written(ended, output, inputs.concat())
            }
            Operation::AllGatherAny => {
                let gathered = member.all_gather_any(key, own, 0);
                let result = gathered.clone();
                Part {
                    ended: gathered.into(),
                    result: Box::new(move || {
                        let result = result.as_result().unwrap();
                        result.elements::<i32>().unwrap().to_vec()
                    }),
                    expected: inputs.concat(),
                }
            }
            Operation::AllToAll => {
                let output = zeros(len);
                let ended = member.all_to_all(key, own, output.clone());
                let from_all = inputs.iter().map(|input| &input[chunk.clone()]);
                written(ended, output, from_all.collect::<Vec<_>>().concat())
            }
            Operation::Barrier => written(member.barrier(key), zeros(0), Vec::new()),
            Operation::SendAround(_) => unreachable!("its parts are others"),
        }
    };
    members.iter().enumerate().map(part).collect()
}

/// Waits for all members. Returns the errors of those that have failed; the others have the right
/// result.
fn end(host: &HostContext, parts: Vec<Part>, what: &str) -> Vec<String> {
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut errors = Vec::new();
    for part in parts {
        while !part.ended.is_available() {
            assert!(Instant::now() < deadline, "{what}: a member waits for ever");
            host.quiesce().unwrap();
            std::thread::yield_now();
        }
        match part.ended.error_if_present() {
            Some(error) => errors.push(error.message().to_owned()),
            None => assert_eq!((part.result)(), part.expected, "{what}"),
        }
    }
    errors
}

fn wait_until_tidy(cluster: &Cluster, contexts: &[Arc<DistributedContext>], what: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let is_tidy = |context: &Arc<DistributedContext>| {
        context.leftovers().is_empty() && context.rendezvous().num_payloads() == 0
    };
    while !contexts.iter().all(is_tidy) {
        let left: Vec<_> = contexts
            .iter()
            .map(|context| context.rendezvous())
            .collect();
        assert!(Instant::now() < deadline, "{what}: {left:?}");
        cluster.host.quiesce().unwrap();
        std::thread::yield_now();
    }
}

/// Runs a seed. Returns the number of collectives that have failed.
fn run(seed: u64) -> usize {
    let mut numbers = Numbers(seed);
    // The first ones are alike.
    numbers.below(2);
    let network = InProcessNetwork::with_faults(Faults {
        seed,
        max_delay: Duration::from_micros([0, 20, 500][numbers.below(3) as usize]),
        ..Faults::default()
    });
    let size = 2 + numbers.below(3) as usize;
    let mut cluster = Cluster::on("mstd:2", network, size);
    for config in &mut cluster.configs {
        config.collective_groups[0].order = ANY_ORDER.to_owned();
    }
    let contexts = cluster.contexts();
    let back_end = BACK_ENDS[numbers.below(3) as usize];
    let members: Vec<_> = contexts
        .iter()
        .map(|context| back_end.open("group1", context).unwrap())
        .collect();
    let mut num_failed = 0;
    for round in 0..8 {
        let member = |numbers: &mut Numbers| numbers.below(size as u64) as usize;
        let from = member(&mut numbers);
        let to = (from + 1 + numbers.below(size as u64 - 1) as usize) % size;
        let loss = PayloadLoss {
            num_before: numbers.below(4),
            // The abandonment may be lost with the elements.
            count: 1 + numbers.below(3),
            answers: numbers.below(3) == 0,
        };
        let operation = match numbers.below(9) {
            0 => Operation::AllReduce,
            1 => Operation::ReduceScatter,
            2 => Operation::Broadcast(member(&mut numbers)),
            3 => Operation::AllGather,
            4 => Operation::AllGatherAny,
            5 => Operation::AllToAll,
            6 | 7 => Operation::SendAround(numbers.below(2) == 0),
            _ => Operation::Barrier,
        };
        // In rounds, around the ring, and in several segments.
        let chunk_len = [2, 100, 700][numbers.below(3) as usize];
        let key = ["k", "k:1"][numbers.below(2) as usize];
        let what = format!(
            "seed {seed}, round {round}: {operation:?} of {chunk_len} for each of {size}, \
             {loss:?} from {from} to {to}, {}",
            back_end.name()
        );
        let address = |member: usize| contexts[member].config().own_address().unwrap();
        cluster
            .network
            .lose_payloads(address(from), address(to), loss);
        let parts = start(&members, operation, key, chunk_len);
        let errors = end(&cluster.host, parts, &what);
        num_failed += usize::from(!errors.is_empty());
        let no_loss = PayloadLoss::default();
        cluster
            .network
            .lose_payloads(address(from), address(to), no_loss);
        if numbers.below(2) == 0 {
            wait_until_tidy(&cluster, &contexts, &what);
        }
        let parts = start(&members, operation, key, chunk_len);
        let errors = end(&cluster.host, parts, &what);
        assert!(errors.is_empty(), "{what}, again: {errors:?}");
    }
    wait_until_tidy(&cluster, &contexts, &format!("seed {seed}"));
    num_failed
}

#[test]
fn all_members_end_whichever_payload_is_lost_and_the_key_works_again() {
    let num_seeds = match std::env::var_os("TFRT_LONG_TESTS") {
        Some(_) => 10_000,
        None => 100,
    };
    let num_failed: usize = (0..num_seeds).map(run).sum();
    assert!(num_failed > 0, "nothing was lost");
}
