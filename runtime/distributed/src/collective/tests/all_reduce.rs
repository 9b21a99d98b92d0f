//! All-reduce.

use super::*;

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
fn chunks_of_several_segments_have_the_bits_of_the_formula() {
    for size in [2, 3, 5] {
        let cluster = Cluster::new("mstd:2", size);
        let contexts = cluster.contexts();
        for len in [LARGE, 3001] {
            assert!(split::num_segments(len, size, 4) > 1 || len == LARGE);
            check_all_reduce(&cluster, &contexts, Reduction::Mean, len, |x| {
                x as f32 / 3.0
            });
            check_all_reduce(&cluster, &contexts, Reduction::Max, len, |x| x as f64);
        }
    }
}

#[test]
fn a_failure_in_one_chunk_of_the_rounds_fails_all_members_and_leaves_their_tensors() {
    for size in [3, 4, 8] {
        let cluster = Cluster::new("mstd:2", size);
        let contexts = cluster.contexts();
        for (key, picky_member) in [("first", 0), ("last", size - 1)] {
            let mut outcomes: Outcomes = Vec::new();
            let mut tensors = Vec::new();
            for (member, context) in contexts.iter().enumerate() {
                let mut elements = vec![1.0_f32; 50];
                if member == picky_member {
                    elements[20] = 100.0;
                }
                let tensor = tensor(context, &[50], &elements);
                let (sender, outcome) = channel();
                let (key, reduction) = (collective(context, key), Reduction::User(&PICKY));
                all_reduce(key, reduction, tensor.clone(), tensor.clone(), tell(sender));
                outcomes.push(outcome);
                tensors.push((tensor, elements));
            }
            for failure in failures(&cluster, outcomes) {
                assert_eq!(failure, "reduction picky_segment panicked");
            }
            for (tensor, before) in tensors {
                assert!(*tensor.elements::<f32>().unwrap() == before[..]);
            }
        }
        let is_tidy = |context: &Arc<DistributedContext>| context.rendezvous().is_empty();
        assert!(contexts.iter().all(is_tidy));
    }
}

#[test]
fn a_failure_in_one_segment_fails_all_members_and_leaves_their_tensors() {
    for size in [2, 3, 5] {
        let cluster = Cluster::new("mstd:2", size);
        let contexts = cluster.contexts();
        let mut outcomes: Outcomes = Vec::new();
        let mut tensors = Vec::new();
        for (member, context) in contexts.iter().enumerate() {
            let mut elements = vec![1.0_f32; 4000];
            if member == size - 1 {
                // In the last segment of a chunk in the middle.
                elements[3990] = 100.0;
            }
            let tensor = tensor(context, &[4000], &elements);
            let (sender, outcome) = channel();
            let (key, reduction) = (collective(context, "k"), Reduction::User(&PICKY));
            all_reduce(key, reduction, tensor.clone(), tensor.clone(), tell(sender));
            outcomes.push(outcome);
            tensors.push((tensor, elements));
        }
        for failure in failures(&cluster, outcomes) {
            assert_eq!(failure, "reduction picky_segment panicked");
        }
        for (tensor, before) in tensors {
            assert!(*tensor.elements::<f32>().unwrap() == before[..]);
        }
    }
}

/// A function that panics at a large element.
pub(super) const PICKY: UserReduction = UserReduction::new("picky_segment").with_f32(picky);

inventory::submit!(PICKY);

fn picky(so_far: f32, own: f32) -> f32 {
    assert!(own < 100.0 && so_far < 100.0, "too large");
    so_far + own
}

#[test]
fn every_reduction_has_the_bits_of_its_formula() {
    use Reduction::{Max, Mean, Min, Prod, Sum};
    for size in 1..=8 {
        let cluster = Cluster::new("mstd:2", size);
        let contexts = cluster.contexts();
        for len in [0, 1, size - 1, size, size + 1, 100, LARGE + 1] {
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

#[test]
fn many_large_collectives_run_at_a_time() {
    const COUNT: usize = 32;
    const LEN: usize = LARGE;
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
fn messages_that_overtake_each_other_change_nothing() {
    for seed in 0..20 {
        let network = InProcessNetwork::with_faults(Faults {
            seed,
            max_delay: std::time::Duration::from_micros(300),
            ..Faults::default()
        });
        let cluster = Cluster::on("mstd:2", network, 4);
        let contexts = cluster.contexts();
        for len in [33, LARGE] {
            check_all_reduce(&cluster, &contexts, Reduction::Sum, len, |number| {
                number as f32 / 3.0
            });
        }
    }
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
