//! The collectives around the ring, on tasks in this process.

mod all_reduce;

mod reduce_scatter;

mod broadcast;

mod all_gather;

mod all_to_all;

mod barrier;

mod failures;

mod lost_payloads;

mod sends;

mod abort;

use std::sync::mpsc::{Receiver, channel};

use half::{bf16, f16};
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

use super::*;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::message::{CollectiveGroupConfiguration, DistributedContextConfiguration};
use crate::testing::{Cluster, wait};

/// Enough elements that a group of up to eight members reduces them around the ring.
const LARGE: usize = 1000;

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

/// Returns the message that every member fails with.
fn failures(cluster: &Cluster, outcomes: Outcomes) -> Vec<String> {
    outcomes
        .iter()
        .map(|outcome| wait(&cluster.host, outcome).unwrap_err())
        .collect()
}

fn open_all(contexts: &[Arc<DistributedContext>]) -> Vec<Arc<dyn GroupMember>> {
    let open = |context: &Arc<DistributedContext>| RingCollectives.open("group1", context);
    contexts
        .iter()
        .map(|context| open(context).unwrap())
        .collect()
}
