//! The algorithms that follow a schedule, when something is special or goes wrong. The conformance
//! suite has their results.

use std::sync::Arc;

use tfrt_async::{AsyncValueRef, Chain};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

use crate::collective::{
    Collectives, GroupMember, RecursiveDoublingCollectives, Reduction, TreeCollectives,
    UserReduction,
};
use crate::context::DistributedContext;
use crate::error::RemoteError;
use crate::message::ANY_ORDER;
use crate::testing::Cluster;

const BACK_ENDS: [&dyn Collectives; 2] = [&TreeCollectives, &RecursiveDoublingCollectives];

/// A cluster whose group allows any order, and its members.
struct Group {
    cluster: Cluster,
    contexts: Vec<Arc<DistributedContext>>,
    members: Vec<Arc<dyn GroupMember>>,
}

impl Group {
    fn open(back_end: &dyn Collectives, size: usize) -> Self {
        let mut cluster = Cluster::new("mstd:2", size);
        for config in &mut cluster.configs {
            config.collective_groups[0].order = ANY_ORDER.to_owned();
        }
        let contexts = cluster.contexts();
        let open = |context| back_end.open("group1", context).unwrap();
        Self {
            members: contexts.iter().map(open).collect(),
            contexts,
            cluster,
        }
    }

    /// Starts an all-reduce of each member's numbers.
    fn start(&self, reduction: Reduction, inputs: &[&[f32]]) -> Vec<Started> {
        let members = self.members.iter().zip(inputs);
        let start = |(member, input): (&Arc<dyn GroupMember>, &&[f32])| {
            let tensor = DenseHostTensor::vector(input).unwrap();
            let done = member.all_reduce("k", reduction, tensor.clone(), tensor.clone());
            Started { tensor, done }
        };
        members.map(start).collect()
    }

    fn failures(&self, started: Vec<Started>) -> Vec<String> {
        let values: Vec<_> = started.into_iter().map(|one| one.done.into()).collect();
        self.cluster.host.await_available(&values).unwrap();
        let messages = values.iter().map(|value: &tfrt_async::AnyRef| {
            let error = value.error_if_present().map(Error::message);
            error.unwrap_or("no error").to_owned()
        });
        messages.collect()
    }

    fn is_tidy(&self) -> bool {
        // What members listen to as long as the group is open does not count.
        let mut contexts = self.contexts.iter();
        contexts.all(|context| context.leftovers().is_empty())
    }
}

struct Started {
    tensor: DenseHostTensor,
    done: AsyncValueRef<Chain>,
}

#[test]
fn a_group_with_the_order_of_the_ring_refuses_other_orders() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    for (back_end, name) in BACK_ENDS.into_iter().zip(["tree", "recursive_doubling"]) {
        assert_eq!(back_end.name(), name);
        let error = back_end.open("group1", &contexts[0]).unwrap_err();
        assert_eq!(
            error.message(),
            format!(
                "the collectives `{name}` combine elements in an order of their own, but group \
                 group1 has the order of the ring: set its order to `any`"
            )
        );
        assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    }
}

#[test]
fn all_members_have_equal_bits() {
    // Where the order of two elements shows: zeros with signs, and what is not a number.
    let special = [
        0.0,
        -0.0,
        f32::NAN,
        1.0e30,
        1.0,
        -1.0e30,
        3.0e-5,
        f32::INFINITY,
    ];
    for back_end in BACK_ENDS {
        for size in 2..=8 {
            let group = Group::open(back_end, size);
            for reduction in [
                Reduction::Sum,
                Reduction::Max,
                Reduction::Min,
                Reduction::Mean,
            ] {
                let inputs: Vec<Vec<f32>> = (0..size)
                    .map(|member| (0..8).map(|at| special[(at * 3 + member) % 8]).collect())
                    .collect();
                let inputs: Vec<&[f32]> = inputs.iter().map(Vec::as_slice).collect();
                let started = group.start(reduction, &inputs);
                let values: Vec<_> = started.iter().map(|one| one.done.clone().into()).collect();
                group.cluster.host.await_values(&values).unwrap();
                let bits = |one: &Started| -> Vec<u32> {
                    let elements = one.tensor.elements::<f32>().unwrap();
                    elements.iter().map(|element| element.to_bits()).collect()
                };
                let first = bits(&started[0]);
                assert!(
                    started.iter().all(|one| bits(one) == first),
                    "{back_end:?} {reduction:?} of {size}"
                );
            }
        }
    }
}

#[test]
fn tensors_that_differ_are_named_on_all_members_and_leave_nothing() {
    for back_end in BACK_ENDS {
        for size in [2, 3, 6, 8] {
            for odd in 0..size {
                let group = Group::open(back_end, size);
                let mut inputs: Vec<&[f32]> = vec![&[1.0; 7]; size];
                inputs[odd] = &[1.0; 8];
                let failures = group.failures(group.start(Reduction::Sum, &inputs));
                for failure in failures {
                    let names_both = failure.contains(&format!("member {odd} has f32[8]"))
                        && failure.contains("has f32[7]");
                    assert!(names_both, "{back_end:?}, {odd} of {size}: {failure}");
                }
                group.cluster.host.quiesce().unwrap();
                assert!(group.is_tidy(), "{back_end:?}, {odd} of {size}");
                // The key is free again.
                let again = group.start(Reduction::Sum, &vec![&[1.0_f32][..]; size]);
                let values: Vec<_> = again.iter().map(|one| one.done.clone().into()).collect();
                group.cluster.host.await_values(&values).unwrap();
                let sum = again[0].tensor.elements::<f32>().unwrap();
                assert_eq!(*sum, [size as f32]);
            }
        }
    }
}

/// A function that panics where the elements of the last member are combined.
const PICKY: UserReduction = UserReduction::new("picky").with_f32(picky);

inventory::submit!(PICKY);

fn picky(so_far: f32, own: f32) -> f32 {
    assert!(own < 100.0 && so_far < 100.0, "too large");
    so_far + own
}

#[test]
fn a_function_that_panics_on_one_member_fails_all() {
    for back_end in BACK_ENDS {
        for size in [2, 5, 8] {
            let group = Group::open(back_end, size);
            let mut inputs: Vec<&[f32]> = vec![&[1.0]; size];
            inputs[size - 1] = &[100.0];
            let failures = group.failures(group.start(Reduction::User(&PICKY), &inputs));
            for failure in failures {
                assert_eq!(failure, "reduction picky panicked", "{back_end:?}");
            }
        }
    }
}

#[test]
fn other_operations_under_the_key_are_errors() {
    for back_end in BACK_ENDS {
        let group = Group::open(back_end, 3);
        let number = DenseHostTensor::vector(&[1.0_f32]).unwrap();
        let reduced = |member: usize| {
            let member = &group.members[member];
            member.all_reduce("k", Reduction::Sum, number.clone(), number.clone())
        };
        let started = [reduced(0), group.members[1].barrier("k"), reduced(2)];
        let started = started.map(|done| Started {
            tensor: number.clone(),
            done,
        });
        for failure in group.failures(started.into()) {
            assert!(
                failure.contains("a barrier") && failure.contains("an allreduce"),
                "{failure}"
            );
        }
    }
}

#[test]
fn a_lost_member_ends_the_operation() {
    for back_end in BACK_ENDS {
        let group = Group::open(back_end, 4);
        // The last one does not take part.
        let mut started = group.start(Reduction::Sum, &[&[1.0], &[1.0], &[1.0]]);
        for context in &group.contexts[..3] {
            let lost = context.cluster().find("/job:worker/task:3").unwrap();
            let error = RemoteError::new(ErrorCode::Unavailable, "task 3 is lost");
            for callback in context.health().mark_lost(lost, error) {
                callback();
            }
        }
        started.truncate(3);
        for failure in group.failures(started) {
            assert!(failure.contains("task 3 is lost"), "{failure}");
        }
    }
}
