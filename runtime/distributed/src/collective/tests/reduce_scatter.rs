//! Reduce-scatter.

use super::*;

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
        for len in [0, 1, size - 1, size, size + 1, 100, LARGE + 1] {
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
fn a_failure_in_one_chunk_fails_all_members_and_leaves_the_key_to_others() {
    for (seed, size) in (0..20).zip([3, 4, 8].into_iter().cycle()) {
        let network = InProcessNetwork::with_faults(Faults {
            seed,
            max_delay: std::time::Duration::from_micros(300),
            ..Faults::default()
        });
        let cluster = Cluster::on("mstd:2", network, size);
        let contexts = cluster.contexts();
        let start = |largest: f32| {
            let start = |(member, context): (usize, &Arc<DistributedContext>)| {
                let mut elements = vec![1.0_f32; 2 * size];
                if member == 1 {
                    elements[0] = largest;
                }
                let output = tensor(context, &[2], &[0.0_f32; 2]);
                let (sender, outcome) = channel();
                let reduction = Reduction::User(&super::all_reduce::PICKY);
                reduce_scatter(
                    collective(context, "k"),
                    reduction,
                    tensor(context, &[2 * size], &elements),
                    output.clone(),
                    tell(sender),
                );
                (output, outcome)
            };
            let started: Vec<_> = contexts.iter().enumerate().map(start).collect();
            started
        };
        for (output, outcome) in start(100.0) {
            let failure = wait(&cluster.host, &outcome).unwrap_err();
            assert_eq!(failure, "reduction picky_segment panicked");
            assert_eq!(*output.elements::<f32>().unwrap(), [0.0; 2]);
        }
        for (output, outcome) in start(1.0) {
            assert_eq!(wait(&cluster.host, &outcome), Ok(()));
            assert_eq!(*output.elements::<f32>().unwrap(), [size as f32; 2]);
        }
        let is_tidy = |context: &Arc<DistributedContext>| context.rendezvous().is_empty();
        assert!(contexts.iter().all(is_tidy));
    }
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
