//! Broadcast.

use super::*;

#[test]
fn a_broadcast_copies_the_tensor_of_the_sender() {
    for size in 1..=5 {
        let cluster = Cluster::new("s", size);
        let contexts = cluster.contexts();
        for sender in 0..size {
            // The last one has several segments.
            for len in [0, 1, size, 2 * size + 1, 1000] {
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
