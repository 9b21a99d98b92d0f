use std::sync::mpsc::{Receiver, channel};

use half::{bf16, f16};
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

use super::*;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::message::{CollectiveGroupConfiguration, DistributedContextConfiguration};
use crate::testing::{Cluster, wait};

type Outcomes = Vec<Receiver<Result<(), String>>>;

fn tell(sender: std::sync::mpsc::Sender<Result<(), String>>) -> impl FnOnce(Result<(), Error>) {
    move |outcome| {
        let _ = sender.send(outcome.map_err(|error| error.message().to_owned()));
    }
}

fn collective(context: &Arc<DistributedContext>, key: &str) -> Collective {
    Collective {
        context: Arc::clone(context),
        group: "group1".to_owned(),
        key: key.to_owned(),
    }
}

fn tensor<T: Element>(
    context: &DistributedContext,
    dims: &[usize],
    elements: &[T],
) -> DenseHostTensor {
    let shape = Shape::new(dims).unwrap();
    DenseHostTensor::from_elements(context.host().allocator(), shape, elements).unwrap()
}

/// What member `member` has at `index`: small numbers, so that floats of half width are exact
/// enough to differ by order.
fn element(member: usize, index: usize) -> i64 {
    let mixed = (member * 31 + index * 17 + member * index) % 23;
    mixed as i64 - 11
}

/// Returns the formula of the order, one element after the other.
fn oracle<T: Reducible>(reduction: Reduction, inputs: &[Vec<T>], index: usize) -> T {
    let (size, len) = (inputs.len(), inputs[0].len());
    let owner = (0..size)
        .find(|owner| split::chunk(len, size, *owner).contains(&index))
        .unwrap();
    let combined = (1..size).fold(inputs[owner][index], |so_far, distance| {
        reduction.combine(so_far, inputs[(owner + distance) % size][index])
    });
    reduction.finish(combined, size)
}

fn check_all_reduce<T: Reducible>(
    cluster: &Cluster,
    contexts: &[Arc<DistributedContext>],
    reduction: Reduction,
    len: usize,
    from: fn(i64) -> T,
) {
    let inputs: Vec<Vec<T>> = (0..contexts.len())
        .map(|member| (0..len).map(|index| from(element(member, index))).collect())
        .collect();
    let key = format!("{}-{:?}-{len}", reduction.name(), T::DTYPE);
    let mut outcomes: Outcomes = Vec::new();
    let mut outputs = Vec::new();
    for (member, context) in contexts.iter().enumerate() {
        let input = tensor(context, &[len], &inputs[member]);
        // In place on every other member.
        let output = match member % 2 {
            0 => input.clone(),
            _ => tensor(context, &[len], &vec![T::ZERO; len]),
        };
        let (sender, outcome) = channel();
        all_reduce(
            collective(context, &key),
            reduction,
            input.clone(),
            output.clone(),
            tell(sender),
        );
        outcomes.push(outcome);
        outputs.extend([input, output]);
    }
    for outcome in outcomes {
        assert_eq!(wait(&cluster.host, &outcome), Ok(()), "{key}");
    }
    for output in outputs {
        let output = output.elements::<T>().unwrap();
        for index in 0..len {
            let expected = oracle(reduction, &inputs, index);
            let bits = |element: T| element.to_bytes();
            assert_eq!(bits(output[index]), bits(expected), "{key} at {index}");
        }
    }
    assert!(
        contexts
            .iter()
            .all(|context| context.rendezvous().is_empty())
    );
}

#[test]
fn every_reduction_has_the_bits_of_its_formula() {
    use Reduction::{Max, Mean, Min, Prod, Sum};
    for size in 1..=8 {
        let cluster = Cluster::new("mstd:2", size);
        let contexts = cluster.contexts();
        for len in [0, 1, size - 1, size, size + 1, 100] {
            for reduction in [Sum, Prod, Min, Max, Mean] {
                check_all_reduce(&cluster, &contexts, reduction, len, |number| number as i32);
                check_all_reduce(&cluster, &contexts, reduction, len, |number| {
                    number as f32 / 7.0
                });
            }
        }
        check_all_reduce(&cluster, &contexts, Sum, 9, |number| number as i8);
        check_all_reduce(&cluster, &contexts, Mean, 9, |number| number as i16);
        check_all_reduce(&cluster, &contexts, Prod, 9, |number| number);
        check_all_reduce(&cluster, &contexts, Max, 9, |number| number as u8);
        check_all_reduce(&cluster, &contexts, Min, 9, |number| number as u16);
        check_all_reduce(&cluster, &contexts, Mean, 9, |number| number as u32);
        check_all_reduce(&cluster, &contexts, Sum, 9, |number| number as u64);
        check_all_reduce(&cluster, &contexts, Sum, 9, |number| {
            f16::from_f64(number as f64)
        });
        check_all_reduce(&cluster, &contexts, Mean, 9, |number| {
            bf16::from_f64(number as f64 / 3.0)
        });
        check_all_reduce(&cluster, &contexts, Sum, 9, |number| number as f64 / 3.0);
    }
}

fn check_reduce_scatter<T: Reducible>(
    cluster: &Cluster,
    contexts: &[Arc<DistributedContext>],
    reduction: Reduction,
    len: usize,
    from: fn(i64) -> T,
) {
    let size = contexts.len();
    let inputs: Vec<Vec<T>> = (0..size)
        .map(|member| (0..len).map(|index| from(element(member, index))).collect())
        .collect();
    let key = format!("scatter-{}-{:?}-{len}", reduction.name(), T::DTYPE);
    let mut outcomes: Outcomes = Vec::new();
    let mut outputs = Vec::new();
    for (member, context) in contexts.iter().enumerate() {
        let input = tensor(context, &[len], &inputs[member]);
        let own = split::chunk(len, size, member);
        let output = tensor(context, &[own.len()], &vec![T::ZERO; own.len()]);
        let (sender, outcome) = channel();
        let start = collective(context, &key);
        reduce_scatter(start, reduction, input, output.clone(), tell(sender));
        outcomes.push(outcome);
        outputs.push((own, output));
    }
    for outcome in outcomes {
        assert_eq!(wait(&cluster.host, &outcome), Ok(()), "{key}");
    }
    for (own, output) in outputs {
        let output = output.elements::<T>().unwrap();
        for (index, found) in own.zip(output.iter()) {
            let expected = oracle(reduction, &inputs, index);
            assert_eq!(found.to_bytes(), expected.to_bytes(), "{key} at {index}");
        }
    }
    let is_empty = |context: &Arc<DistributedContext>| context.rendezvous().is_empty();
    assert!(contexts.iter().all(is_empty));
}

#[test]
fn a_scattered_reduction_has_the_bits_of_its_formula() {
    use Reduction::{Max, Mean, Min, Prod, Sum};
    for size in 1..=8 {
        let cluster = Cluster::new("mstd:2", size);
        let contexts = cluster.contexts();
        let (cluster, contexts) = (&cluster, &contexts[..]);
        for len in [0, 1, size - 1, size, size + 1, 100] {
            for reduction in [Sum, Prod, Min, Max, Mean] {
                check_reduce_scatter(cluster, contexts, reduction, len, |number| number as i32);
                check_reduce_scatter(cluster, contexts, reduction, len, |number| {
                    number as f32 / 7.0
                });
            }
        }
        check_reduce_scatter(cluster, contexts, Mean, 9, |number| {
            bf16::from_f64(number as f64 / 3.0)
        });
        check_reduce_scatter(cluster, contexts, Sum, 9, |number| {
            f16::from_f64(number as f64)
        });
        check_reduce_scatter(cluster, contexts, Sum, 9, |number| number as f64 / 3.0);
        check_reduce_scatter(cluster, contexts, Prod, 9, |number| number as u64);
    }
}

#[test]
fn many_large_collectives_run_at_a_time() {
    const COUNT: usize = 32;
    const LEN: usize = 1000;
    let cluster = Cluster::new("mstd:2", 4);
    let contexts = cluster.contexts();
    let mut started = Vec::new();
    for index in 0..COUNT {
        // Members start in different orders.
        for turn in 0..contexts.len() {
            let member = (turn + index) % contexts.len();
            let context = &contexts[member];
            let elements: Vec<i64> = (0..LEN).map(|at| element(member, at + index)).collect();
            let tensor = tensor(context, &[LEN], &elements);
            let (sender, outcome) = channel();
            let start = collective(context, &format!("many{index}"));
            let (input, output) = (tensor.clone(), tensor.clone());
            all_reduce(start, Reduction::Sum, input, output, tell(sender));
            started.push((index, tensor, outcome));
        }
    }
    for (index, tensor, outcome) in started {
        assert_eq!(wait(&cluster.host, &outcome), Ok(()));
        for (at, found) in tensor.elements::<i64>().unwrap().iter().enumerate() {
            let expected: i64 = (0..4).map(|member| element(member, at + index)).sum();
            assert_eq!(*found, expected, "collective {index} at {at}");
        }
    }
}

#[test]
fn a_tensor_of_a_million_elements_is_reduced() {
    const LEN: usize = (1 << 20) + 3;
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    check_all_reduce(&cluster, &contexts, Reduction::Sum, LEN, |number| {
        number as f32 / 7.0
    });
}

#[test]
fn members_that_do_different_things_are_told_so() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let check = |key: &str, expected: [&str; 2]| {
        let mut outcomes: Outcomes = Vec::new();
        for (member, context) in contexts.iter().enumerate() {
            let input = tensor(context, &[2, 2], &[1_i32, 2, 3, 4]);
            let output = tensor(context, &[4, 2], &[0_i32; 8]);
            let (sender, outcome) = channel();
            let (start, tell) = (collective(context, key), tell(sender));
            match (key, member) {
                ("axes", 0) => all_gather_fixed_shape(start, input, output, 0, tell),
                ("axes", _) => {
                    let output = tensor(context, &[2, 4], &[0_i32; 8]);
                    all_gather_fixed_shape(start, input, output, 1, tell);
                }
                ("kinds", 0) => all_gather_fixed_shape(start, input, output, 0, tell),
                ("kinds", _) => {
                    let sender = context.cluster().find("/job:worker/task:0").unwrap();
                    broadcast(start, input, sender, tell);
                }
                ("scatter", 0) => {
                    all_reduce(start, Reduction::Sum, input.clone(), input, tell);
                }
                _ => {
                    let output = tensor(context, &[2], &[0_i32; 2]);
                    reduce_scatter(start, Reduction::Sum, input, output, tell);
                }
            }
            outcomes.push(outcome);
        }
        for outcome in &outcomes {
            let failure = wait(&cluster.host, outcome).unwrap_err();
            for expected in expected {
                assert!(failure.contains(expected), "{key}: {failure}");
            }
        }
    };
    check(
        "axes",
        ["an allgather along axis 0", "an allgather along axis 1"],
    );
    check(
        "kinds",
        ["an allgather along axis 0", "a broadcast of member 0"],
    );
    check("scatter", ["an allreduce", "a reducescatter"]);
}

#[test]
fn a_scattered_reduction_needs_room_for_its_chunk() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let mut outcomes: Outcomes = Vec::new();
    for context in &contexts {
        let input = tensor(context, &[3], &[1_i32, 2, 3]);
        let output = tensor(context, &[2], &[0_i32; 2]);
        let (sender, outcome) = channel();
        let start = collective(context, "k");
        reduce_scatter(start, Reduction::Sum, input, output, tell(sender));
        outcomes.push(outcome);
    }
    // The first member has room, and is told by the second one.
    let expected = "expected an output of the 1 elements of chunk 1, found 2";
    assert_eq!(failures(&cluster, outcomes), [expected; 2]);
}

#[test]
fn messages_that_overtake_each_other_change_nothing() {
    for seed in 0..20 {
        let network = InProcessNetwork::with_faults(Faults {
            seed,
            max_delay: std::time::Duration::from_micros(300),
            ..Faults::default()
        });
        let cluster = Cluster::on("mstd:2", network, 4);
        let contexts = cluster.contexts();
        check_all_reduce(&cluster, &contexts, Reduction::Sum, 33, |number| {
            number as f32 / 3.0
        });
    }
}

#[test]
fn a_broadcast_copies_the_tensor_of_the_sender() {
    for size in 1..=5 {
        let cluster = Cluster::new("s", size);
        let contexts = cluster.contexts();
        for sender in 0..size {
            for len in [0, 1, size, 2 * size + 1] {
                let key = format!("{sender}-{len}");
                let tensors: Vec<DenseHostTensor> = (0..size)
                    .map(|member| {
                        let elements: Vec<i64> =
                            (0..len).map(|index| element(member, index)).collect();
                        tensor(&contexts[member], &[len], &elements)
                    })
                    .collect();
                let mut outcomes: Outcomes = Vec::new();
                for (context, tensor) in contexts.iter().zip(&tensors) {
                    let (tx, outcome) = channel();
                    let task = context
                        .cluster()
                        .find(&format!("/job:worker/task:{sender}"))
                        .unwrap();
                    broadcast(collective(context, &key), tensor.clone(), task, tell(tx));
                    outcomes.push(outcome);
                }
                for outcome in outcomes {
                    assert_eq!(wait(&cluster.host, &outcome), Ok(()));
                }
                let expected: Vec<i64> = (0..len).map(|index| element(sender, index)).collect();
                for tensor in &tensors {
                    assert_eq!(*tensor.elements::<i64>().unwrap(), expected[..]);
                }
            }
        }
        assert!(
            contexts
                .iter()
                .all(|context| context.rendezvous().is_empty())
        );
    }
}

#[test]
fn gathered_tensors_lie_along_the_axis() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    for axis in 0..2_u64 {
        let mut outcomes = Vec::new();
        for (member, context) in contexts.iter().enumerate() {
            let mut dims = [2, 2];
            dims[axis as usize] = member;
            let elements: Vec<i64> = (0..2 * member)
                .map(|index| (10 * member + index) as i64)
                .collect();
            let input = tensor(context, &dims, &elements);
            let (sender, outcome) = channel();
            let key = format!("axis{axis}");
            all_gather_any_shape(collective(context, &key), input, axis, move |gathered| {
                let _ = sender.send(gathered.map(|tensor| tensor.to_string()));
            });
            outcomes.push(outcome);
        }
        let expected = match axis {
            0 => "shape = [3, 2], values = [10, 11, 20, 21, 22, 23]",
            _ => "shape = [2, 3], values = [10, 20, 21, 11, 22, 23]",
        };
        for outcome in outcomes {
            let found = wait(&cluster.host, &outcome).unwrap();
            assert_eq!(found, format!("DenseHostTensor dtype = i64, {expected}"));
        }
    }
}

/// Returns the message that every member fails with.
fn failures(cluster: &Cluster, outcomes: Outcomes) -> Vec<String> {
    outcomes
        .iter()
        .map(|outcome| wait(&cluster.host, outcome).unwrap_err())
        .collect()
}

#[test]
fn tensors_that_differ_are_named_on_all_members() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let mut outcomes: Outcomes = Vec::new();
    for (member, context) in contexts.iter().enumerate() {
        let len = if member == 2 { 8 } else { 7 };
        let tensor = tensor(context, &[len], &vec![0.0_f32; len]);
        let (sender, outcome) = channel();
        let collective = collective(context, "k");
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor,
            tell(sender),
        );
        outcomes.push(outcome);
    }
    for failure in failures(&cluster, outcomes) {
        let (start, members) = failure.split_once(": ").unwrap();
        assert_eq!(start, "allreduce key k of group group1");
        assert!(
            members.contains("member 2 uses f32[8]") && members.contains("uses f32[7]"),
            "{failure}"
        );
    }
    assert!(
        contexts
            .iter()
            .all(|context| context.rendezvous().num_payloads() <= 2)
    );
}

#[test]
fn a_member_that_cannot_start_ends_the_collective_of_the_others() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    // The second member starts first, in the middle, and last.
    for (round, order) in [[1, 0, 2], [0, 1, 2], [2, 0, 1]].into_iter().enumerate() {
        let mut outcomes: Outcomes = Vec::new();
        for member in order {
            let context = &contexts[member];
            let input = tensor(context, &[7], &[0.0_f32; 7]);
            let len = if member == 1 { 6 } else { 7 };
            let output = tensor(context, &[len], &vec![0.0_f32; len]);
            let (sender, outcome) = channel();
            let collective = collective(context, &format!("k{round}"));
            all_reduce(collective, Reduction::Sum, input, output, tell(sender));
            outcomes.push(outcome);
        }
        let failures = failures(&cluster, outcomes);
        assert!(
            failures.iter().all(|failure| *failure == failures[0]),
            "{failures:?}"
        );
        assert!(
            failures[0].contains('6') && failures[0].contains('7'),
            "{failures:?}"
        );
    }
}

#[test]
fn a_member_that_cannot_start_tells_so_even_if_the_buffer_of_another_is_full() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("s");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let servers = addresses.each_ref().map(|address| {
        let mut config = crate::ServerConfig::new("test", address);
        if *address == addresses[1] {
            config.max_unclaimed_bytes = 1000;
        }
        crate::Server::on_network(&host, config, |handler| {
            network.listen(&host, address, handler)
        })
        .unwrap()
    });
    let first = crate::testing::finish(&host, |done| {
        servers[0].initialize_single_client(Some(1), &configs[0], done);
    });
    let (first, second) = (first.unwrap(), servers[1].context(1).unwrap());
    let to = first.group("group1").unwrap()[1];
    let filled = crate::testing::finish(&host, |done| {
        first.send_data(to, "unclaimed", vec![Bytes::from(vec![0; 300])], done);
    });
    filled.unwrap();
    let start = |context: &Arc<DistributedContext>, output: usize| {
        let input = tensor(context, &[7], &[0.0_f32; 7]);
        let output = tensor(context, &[output], &vec![0.0_f32; output]);
        let (sender, outcome) = channel();
        let collective = collective(context, "k");
        all_reduce(collective, Reduction::Sum, input, output, tell(sender));
        outcome
    };
    let failure = wait(&host, &start(&first, 6)).unwrap_err();
    // The first attempt to tell the other member has failed.
    host.quiesce().unwrap();
    assert_eq!(second.rendezvous().num_payloads(), 1);
    assert_eq!(wait(&host, &start(&second, 7)), Err(failure));
}

#[test]
fn a_key_is_used_by_one_collective_at_a_time() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let start = |member: usize| {
        let tensor = tensor(&contexts[member], &[2], &[1_i32, 2]);
        let (sender, outcome) = channel();
        let collective = collective(&contexts[member], "k");
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor,
            tell(sender),
        );
        outcome
    };
    for _ in 0..3 {
        let first = start(0);
        let second = wait(&cluster.host, &start(0)).unwrap_err();
        assert_eq!(second, "allreduce key k of group group1 is in use");
        let other = start(1);
        // The one that was refused does not end the others.
        assert_eq!(wait(&cluster.host, &first), Ok(()));
        assert_eq!(wait(&cluster.host, &other), Ok(()));
    }
}

#[test]
fn tensors_of_several_ranks_or_widths_are_not_gathered() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let gather = |key: &str, dims: [&[usize]; 2]| {
        let mut outcomes: Outcomes = Vec::new();
        for (context, dims) in contexts.iter().zip(dims) {
            let len = dims.iter().product();
            let tensor = tensor(context, dims, &vec![0_i32; len]);
            let (sender, outcome) = channel();
            let tell = tell(sender);
            all_gather_any_shape(collective(context, key), tensor, 0, |gathered| {
                tell(gathered.map(drop));
            });
            outcomes.push(outcome);
        }
        failures(&cluster, outcomes)
    };
    let ranks = gather("ranks", [&[2], &[2, 2]]);
    assert_eq!(
        ranks,
        ["All workers must have tensors of the same rank."; 2]
    );
    let widths = gather("widths", [&[2, 2], &[2, 3]]);
    let expected = "All dimensions in the input must be equal except the axis";
    assert_eq!(widths, [expected; 2]);
}

#[test]
fn elements_of_other_types_are_told_with_the_sizes_of_the_tensors() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let mut outcomes: Outcomes = Vec::new();
    for (member, context) in contexts.iter().enumerate() {
        let tensor = match member {
            0 => tensor(context, &[3], &[0_i32; 3]),
            _ => tensor(context, &[3], &[0.0_f32; 3]),
        };
        let (sender, outcome) = channel();
        let tell = tell(sender);
        all_gather_any_shape(collective(context, "k"), tensor, 0, |gathered| {
            tell(gathered.map(drop));
        });
        outcomes.push(outcome);
    }
    for failure in failures(&cluster, outcomes) {
        assert!(
            failure.contains("uses i32[3]") && failure.contains("uses f32[3]"),
            "{failure}"
        );
    }
}

#[test]
fn a_neighbour_that_is_gone_ends_the_collective() {
    let cluster = Cluster::new("mstd:2", 3);
    let contexts = cluster.contexts();
    cluster
        .network
        .cut(contexts[2].config().own_address().unwrap());
    let mut outcomes: Outcomes = Vec::new();
    for context in &contexts[..2] {
        let tensor = tensor(context, &[3], &[1_i32, 2, 3]);
        let (sender, outcome) = channel();
        let collective = collective(context, "k");
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor,
            tell(sender),
        );
        outcomes.push(outcome);
    }
    // The left neighbour of the one that is gone finds out by itself. The right one waits until the
    // context is closed.
    let second = wait(&cluster.host, &outcomes[1]).unwrap_err();
    let expected = "RpcUnavailable: SendData to in-process:2: no task listens at this address \
                    (from task: /job:worker/task:2)";
    assert!(second.contains(expected), "{second}");
    cluster.servers[0].close_context(1).unwrap();
    let first = wait(&cluster.host, &outcomes[0]).unwrap_err();
    assert_eq!(first, "Cancelled: context 1 is closed");
}

#[test]
fn errors_of_all_sends_are_told() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let gone = contexts[1].config().own_address().unwrap();
    cluster.network.cut(gone);
    let tensor = tensor(&contexts[0], &[3], &[1_i32, 2, 3]);
    let sender = contexts[0].cluster().own_task();
    let (tx, outcome) = channel();
    broadcast(collective(&contexts[0], "k"), tensor, sender, tell(tx));
    let error = wait(&cluster.host, &outcome).unwrap_err();
    let line = format!(
        "RpcUnavailable: SendData to {gone}: no task listens at this address (from task: \
         /job:worker/task:1)"
    );
    let expected = format!("Found 3 errors:\n  (1) {line}\n  (2) {line}\n  (3) {line}");
    assert_eq!(error, expected);
}

#[test]
fn a_task_outside_the_group_is_refused() {
    let mut cluster = Cluster::new("s", 2);
    for config in &mut cluster.configs {
        config.collective_groups[0].members.truncate(1);
    }
    let contexts = cluster.contexts();
    let outsider = &contexts[1];
    let one = tensor(outsider, &[1], &[1_i32]);
    let (sender, outcome) = channel();
    let start = collective(outsider, "k");
    all_reduce(
        start,
        Reduction::Sum,
        one.clone(),
        one.clone(),
        tell(sender),
    );
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "The current task /job:worker/task:1 is not part of the collective group group1"
    );
    let (sender, outcome) = channel();
    let start = collective(outsider, "k");
    all_gather_fixed_shape(start, one.clone(), one.clone(), 0, tell(sender));
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "This worker is not part of the collective group "
    );
    let member = &contexts[0];
    let other = member.cluster().find("/job:worker/task:1").unwrap();
    let (sender, outcome) = channel();
    broadcast(collective(member, "k"), one.clone(), other, tell(sender));
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "The sender /job:worker/task:1 is not part of the collective group group1"
    );
    let (sender, outcome) = channel();
    let group = Collective {
        group: "g".to_owned(),
        ..collective(member, "k")
    };
    broadcast(group, one, other, tell(sender));
    assert_eq!(
        wait(&cluster.host, &outcome).unwrap_err(),
        "No collective group with name g."
    );
}

fn open_all(contexts: &[Arc<DistributedContext>]) -> Vec<Arc<dyn GroupMember>> {
    let open = |context: &Arc<DistributedContext>| RingCollectives.open("group1", context);
    contexts
        .iter()
        .map(|context| open(context).unwrap())
        .collect()
}

#[test]
fn a_barrier_ends_when_all_members_are_there() {
    let cluster = Cluster::new("s", 4);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    for last in 0..members.len() {
        let key = format!("k{last}");
        let early = members.iter().filter(|member| member.index() != last);
        let early: Vec<_> = early.map(|member| member.barrier(&key)).collect();
        cluster.host.quiesce().unwrap();
        assert!(early.iter().all(|met| !met.is_available()));
        let met = members[last].barrier(&key);
        cluster.host.quiesce().unwrap();
        assert!(
            early
                .iter()
                .chain([&met])
                .all(|met| met.as_result().is_ok())
        );
    }
}

#[test]
fn an_all_to_all_needs_room_and_inputs_of_one_size() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let start = |key: &str, index: usize, sizes: [usize; 2]| {
        let [input, output] = sizes.map(|len| tensor(&contexts[index], &[len], &vec![0_u8; len]));
        members[index].all_to_all(key, input, output)
    };
    let check = |key: &str, sizes: [[usize; 2]; 2], expected: &str| {
        let ended = [start(key, 0, sizes[0]), start(key, 1, sizes[1])];
        cluster.host.quiesce().unwrap();
        for ended in ended {
            let failure = ended.as_result().unwrap_err().message().to_owned();
            assert!(failure.contains(expected), "{failure}");
        }
    };
    let expected = "expected an output of 2 chunks of 1 elements, found 3 elements";
    check("room", [[3, 4], [3, 3]], expected);
    check(
        "inputs",
        [[4, 4], [2, 2]],
        "alltoall key inputs of group group1: member ",
    );
}

#[test]
fn an_abort_ends_everything_on_all_members() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let again = RingCollectives.open("group1", &contexts[0]).unwrap_err();
    assert_eq!(again.message(), "group group1 is open already");
    let number = || tensor(&contexts[0], &[3], &[1_i32, 2, 3]);
    let waiting = [
        members[0].barrier("b"),
        members[1].all_reduce("r", Reduction::Sum, number(), number()),
    ];
    let received = members[1].recv("p", 2);
    let gathered = members[0].all_gather_any("g", number(), 0);
    cluster.host.quiesce().unwrap();
    members[2].abort(&Error::new("the third member gives up"));
    cluster.host.quiesce().unwrap();
    let check = |failure: Error| assert_eq!(failure.message(), "the third member gives up");
    for ended in &waiting {
        check(ended.as_result().unwrap_err());
    }
    check(received.as_result().unwrap_err());
    check(gathered.as_result().unwrap_err());
    check(members[1].barrier("later").as_result().unwrap_err());
    check(members[2].recv("later", 0).as_result().unwrap_err());
    // Opened again by all, the group works.
    drop(members);
    let members = open_all(&contexts);
    let met: Vec<_> = members.iter().map(|member| member.barrier("new")).collect();
    cluster.host.quiesce().unwrap();
    assert!(met.iter().all(|met| met.as_result().is_ok()));
}

/// Lets all members drop the group, and opens it again.
fn reopen(
    contexts: &[Arc<DistributedContext>],
    members: Vec<Arc<dyn GroupMember>>,
) -> Vec<Arc<dyn GroupMember>> {
    drop(members);
    open_all(contexts)
}

#[test]
fn several_aborts_at_a_time_count_as_one() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let mut members = open_all(&contexts);
    for round in 0..3 {
        members[0].abort(&Error::new("the first member gives up"));
        members[1].abort(&Error::new("the second member gives up"));
        cluster.host.quiesce().unwrap();
        members = reopen(&contexts, members);
        let key = format!("k{round}");
        let met: Vec<_> = members.iter().map(|member| member.barrier(&key)).collect();
        cluster.host.quiesce().unwrap();
        for met in &met {
            assert!(met.is_available(), "a member waits for ever");
            assert!(met.as_result().is_ok(), "{:?}", met.as_result().err());
        }
    }
    drop(members);
    for context in &contexts {
        let rendezvous = context.rendezvous();
        assert!(rendezvous.is_empty(), "{rendezvous:?}");
    }
}

#[test]
fn messages_of_aborted_operations_are_not_those_of_later_ones() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    let number = |number: i32| tensor(&contexts[0], &[2], &[number; 2]);
    // Chunks and a payload of the first member wait at the second one, which never starts.
    let aborted = [
        members[0].all_reduce("step 7", Reduction::Sum, number(1), number(1)),
        members[0].all_to_all("all", number(1), number(1)),
    ];
    let sent = members[0].send("payload", 1, &number(1));
    cluster.host.quiesce().unwrap();
    assert!(sent.as_result().is_ok());
    assert!(contexts[1].rendezvous().num_payloads() >= 3);
    members[1].abort(&Error::new("the second member gives up"));
    cluster.host.quiesce().unwrap();
    for aborted in &aborted {
        let failure = aborted.as_result().unwrap_err();
        assert_eq!(failure.message(), "the second member gives up");
    }
    assert_eq!(contexts[1].rendezvous().num_payloads(), 0);
    // The same keys again, with other elements.
    let members = reopen(&contexts, members);
    let sums: Vec<_> = (0..2).map(|index| number(10 + 90 * index)).collect();
    let swapped: Vec<_> = (0..2).map(|index| number(10 + 90 * index)).collect();
    let mut done = Vec::new();
    for (member, (sum, swapped)) in members.iter().zip(sums.iter().zip(&swapped)) {
        done.push(member.all_reduce("step 7", Reduction::Sum, sum.clone(), sum.clone()));
        done.push(member.all_to_all("all", swapped.clone(), swapped.clone()));
    }
    done.push(members[0].send("payload", 1, &number(10)));
    let received = members[1].recv("payload", 0);
    cluster.host.quiesce().unwrap();
    for done in &done {
        assert!(done.as_result().is_ok(), "{:?}", done.as_result().err());
    }
    for (sum, swapped) in sums.iter().zip(&swapped) {
        assert_eq!(*sum.elements::<i32>().unwrap(), [110, 110]);
        assert_eq!(*swapped.elements::<i32>().unwrap(), [10, 100]);
    }
    let received = received.as_result().unwrap();
    assert_eq!(*received.elements::<i32>().unwrap(), [10, 10]);
}

#[test]
fn an_all_reduce_keeps_its_input_if_the_host_says_so() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let members = open_all(&contexts);
    for keeps_input in [false, true] {
        AllReduceKeepsInput::set(&cluster.host, keeps_input);
        let input = tensor(&contexts[0], &[2], &[1, 10]);
        let output = tensor(&contexts[0], &[2], &[0, 0]);
        let other = tensor(&contexts[1], &[2], &[2, 20]);
        let pairs = [(input.clone(), output.clone()), (other.clone(), other)];
        let started = members
            .iter()
            .zip(pairs)
            .map(|(member, (input, output))| member.all_reduce("k", Reduction::Sum, input, output));
        let started: Vec<_> = started.collect();
        cluster.host.quiesce().unwrap();
        assert!(started.iter().all(|done| done.as_result().is_ok()));
        assert_eq!(*output.elements::<i32>().unwrap(), [3, 30]);
        let expected = if keeps_input { [1, 10] } else { [3, 30] };
        assert_eq!(*input.elements::<i32>().unwrap(), expected);
    }
}

#[test]
fn an_operation_that_starts_with_the_abort_ends() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let member = RingCollectives.open("group1", &contexts[0]).unwrap();
    member.abort(&Error::new("the member gives up"));
    // As one that was entered before the abort, and joins the ring after it.
    let late = Collective {
        group: epoch::epoch_name("group1", 0),
        ..collective(&contexts[0], "late")
    };
    let (sender, outcome) = channel();
    barrier(late, tell(sender));
    let failure = wait(&cluster.host, &outcome).unwrap_err();
    assert_eq!(failure, "the member gives up");
}

#[test]
fn groups_may_have_names_of_protocol_keys() {
    let mut cluster = Cluster::new("mstd:2", 2);
    for config in &mut cluster.configs {
        for name in ["sent", "aborted", "card", "abandoned"] {
            let group = CollectiveGroupConfiguration {
                name: name.to_owned(),
                ..config.collective_groups[0].clone()
            };
            config.collective_groups.push(group);
        }
    }
    let contexts = cluster.contexts();
    let members: Vec<_> = contexts
        .iter()
        .map(|context| RingCollectives.open("group1", context).unwrap())
        .collect();
    for name in ["sent", "aborted", "card", "abandoned"] {
        // Messages of member 0 wait or arrive, under keys that end like those of the group that is
        // aborted.
        let start = |member: usize, tensor: DenseHostTensor| {
            let (sender, outcome) = channel();
            let collective = Collective {
                context: Arc::clone(&contexts[member]),
                group: name.to_owned(),
                key: "group1~epoch0".to_owned(),
            };
            let sum = tensor.clone();
            all_reduce(collective, Reduction::Sum, tensor, sum, tell(sender));
            outcome
        };
        let tensors = [1, 2].map(|number| tensor(&contexts[0], &[2], &[number, 10 * number]));
        let first = start(0, tensors[0].clone());
        members[1].abort(&Error::new("enough"));
        let second = start(1, tensors[1].clone());
        for outcome in [first, second] {
            assert_eq!(wait(&cluster.host, &outcome), Ok(()), "{name}");
        }
        for tensor in tensors {
            assert_eq!(*tensor.elements::<i32>().unwrap(), [3, 30], "{name}");
        }
    }
}
