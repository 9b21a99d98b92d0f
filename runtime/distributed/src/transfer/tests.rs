use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt_core::TensorHandle;
use tfrt_tensor::{ScalarHostTensor, Shape};

use super::*;
use crate::fabric::in_process::InProcessNetwork;
use crate::health::lost_error;
use crate::testing::{Cluster, finish};

fn execution(context: &DistributedContext) -> ExecutionContext {
    let host = Arc::clone(context.host());
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// The first device of a task, as the first task knows it.
fn device(context: &DistributedContext, task: usize) -> DeviceRef {
    let name = format!("/job:worker/task:{task}/device:CPU:0");
    context.devices().get_ref(&name).unwrap()
}

fn host_device(context: &DistributedContext) -> DeviceRef {
    CoreRuntime::of(context.host()).host_device().clone()
}

/// Waits for the tensor of a handle: its text, or its error.
fn text(cluster: &Cluster, handle: &TensorHandle) -> String {
    let tensor = handle.tensor().unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while !tensor.is_available() {
        assert!(Instant::now() < end, "the tensor does not arrive");
        cluster.host.quiesce().unwrap();
    }
    match tensor.error_if_present() {
        Some(error) => error.message().to_owned(),
        None => TensorRef::read(tensor).unwrap().to_string(),
    }
}

/// Waits until so many objects are on a task.
fn has_objects(cluster: &Cluster, context: &DistributedContext, count: usize) {
    let end = Instant::now() + Duration::from_secs(60);
    while context.objects().len() != count {
        let found = context.objects().len();
        assert!(
            Instant::now() < end,
            "expected {count} objects, found {found}"
        );
        cluster.host.quiesce().unwrap();
    }
}

#[test]
fn a_tensor_goes_from_task_to_task_and_comes_back() {
    for queue in ["s", "mstd:2"] {
        let cluster = Cluster::new(queue, 3);
        let contexts = cluster.contexts();
        let (own, ctx) = (&contexts[0], execution(&contexts[0]));
        let tensor = DenseHostTensor::vector(&[1_i32, 2, 3]).unwrap();
        let shown = tensor.to_string();
        let handle = TensorHandle::of_tensor(host_device(own), tensor);
        let before: Vec<usize> = contexts
            .iter()
            .map(|context| context.objects().len())
            .collect();
        let there = handle.transfer_to_inferred(&ctx, &device(own, 1));
        let further = there.transfer_to_inferred(&ctx, &device(own, 2));
        let back = further.transfer_to_inferred(&ctx, &host_device(own));
        assert_eq!(text(&cluster, &back), shown);
        // The payloads did not go through the first task.
        let [first, second, third] = [0, 1, 2].map(|task| &contexts[task]);
        has_objects(&cluster, second, before[1] + 1);
        has_objects(&cluster, third, before[2] + 1);
        has_objects(&cluster, first, before[0]);
        assert!(text(&cluster, &there).starts_with("RemoteTensor : "));
        assert!(
            contexts
                .iter()
                .all(|context| context.rendezvous().is_empty())
        );
        // Each object is deleted with the last handle.
        drop(there);
        has_objects(&cluster, second, before[1]);
        drop(further);
        has_objects(&cluster, third, before[2]);
        assert_eq!(text(&cluster, &back), shown);
    }
}

#[test]
fn scalars_and_objects_of_the_own_task_are_moved_alike() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let (own, ctx) = (&contexts[0], execution(&contexts[0]));
    let scalar = ScalarHostTensor::new(Shape::new(&[2]).unwrap(), 7_i64);
    let handle = TensorHandle::of_tensor(host_device(own), scalar);
    for task in [0, 1] {
        let there = handle.transfer_to_inferred(&ctx, &device(own, task));
        let back = there.transfer_to_inferred(&ctx, &host_device(own));
        assert_eq!(
            text(&cluster, &back),
            "DenseHostTensor dtype = i64, shape = [2], values = [7, 7]"
        );
    }
}

#[test]
fn a_tensor_moves_to_a_device_of_another_context() {
    for queue in ["s", "mstd:2"] {
        let cluster = Cluster::new(queue, 3);
        let contexts = cluster.contexts();
        let own = &contexts[0];
        let other = finish(&cluster.host, |done| {
            cluster.servers[0].initialize_single_client(Some(2), &cluster.configs[0], done);
        });
        let other = other.unwrap_or_else(|errors| panic!("{errors}"));
        let ctx = execution(own);
        let tensor = DenseHostTensor::vector(&[1_i32, 2, 3]).unwrap();
        let shown = tensor.to_string();
        let handle = TensorHandle::of_tensor(host_device(own), tensor);
        let there = handle.transfer_to_inferred(&ctx, &device(own, 1));
        let further = there.transfer_to_inferred(&ctx, &device(&other, 2));
        let back = further.transfer_to_inferred(&ctx, &host_device(own));
        assert_eq!(text(&cluster, &back), shown);
        // The object belongs to the other context, whose end is that of later moves.
        cluster.servers[0].close_context(1).unwrap();
        let back = further.transfer_to_inferred(&ctx, &host_device(own));
        assert_eq!(text(&cluster, &back), shown);
        let too_late = there.transfer_to_inferred(&ctx, &device(&other, 2));
        let found = text(&cluster, &too_late);
        assert!(found.contains("context 1 is closed"), "{found}");
    }
}

#[test]
fn what_is_no_tensor_is_an_error_wherever_it_goes() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let (own, ctx) = (&contexts[0], execution(&contexts[0]));
    let on_second = device(own, 1);
    for (value, expected) in [
        (AnyRef::available(5_i32), "i32"),
        (
            AnyRef::error(Error::new("no such tensor")),
            "no such tensor",
        ),
    ] {
        let id = own.new_object(on_second.0.name());
        contexts[1].objects().set(&id, value).unwrap();
        let remote = RemoteTensor::new(tfrt_support::DType::I32, Shape::new(&[1]).unwrap(), id);
        let handle = TensorHandle::of_tensor(on_second.clone(), remote);
        let fetched = handle.transfer_to_inferred(&ctx, &host_device(own));
        let found = text(&cluster, &fetched);
        assert!(found.contains(expected), "{found}");
        let moved = handle.transfer_to_inferred(&ctx, &device(own, 2));
        let found = text(&cluster, &moved);
        assert!(found.contains(expected), "{found}");
        assert!(
            contexts
                .iter()
                .all(|context| context.rendezvous().is_empty())
        );
    }
}

#[test]
fn a_transfer_ends_with_a_task_that_is_lost() {
    let network = InProcessNetwork::default();
    let cluster = Cluster::on("mstd:2", network, 3);
    let contexts = cluster.contexts();
    let (own, ctx) = (&contexts[0], execution(&contexts[0]));
    let on_second = device(own, 1);
    // Nobody ever sets the object.
    let id = own.new_object(on_second.0.name());
    let remote = RemoteTensor::new(tfrt_support::DType::I32, Shape::new(&[1]).unwrap(), id);
    let handle = TensorHandle::of_tensor(on_second.clone(), remote);
    let fetched = handle.transfer_to_inferred(&ctx, &host_device(own));
    let moved = handle.transfer_to_inferred(&ctx, &device(own, 2));
    cluster.host.quiesce().unwrap();
    assert!(
        [&fetched, &moved]
            .iter()
            .all(|handle| !handle.tensor().unwrap().is_available())
    );
    let lost = "/job:worker/task:1";
    for context in [own, &contexts[2]] {
        let task = context.cluster().find(lost).unwrap();
        for callback in context.health().mark_lost(task, lost_error(lost, "tested")) {
            callback();
        }
    }
    for handle in [fetched, moved] {
        let found = text(&cluster, &handle);
        assert!(
            found.contains("task /job:worker/task:1 is lost: tested"),
            "{found}"
        );
    }
}
