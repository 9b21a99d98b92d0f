//! Devices, modes and requests of a thread, and the tasks that inherit them.

use std::sync::{Arc, Mutex};

use tfrt::core::{EagerContext, PlacementRule, TensorHandle};
use tfrt::host::RequestContextBuilder;
use tfrt::host::device::CpuDevice;
use tfrt::prelude::*;

use crate::{device_of, eager, host, message, two_devices};

#[test]
fn a_scope_cancels_calls() -> Result<()> {
    let eager = eager("s");
    let a = eager.tensor([1.0_f32])?;
    let request = RequestContextBuilder::new(Arc::clone(eager.host())).build();
    request.cancel();
    {
        let _scope = eager.with_request(request)?;
        assert_eq!(message(eager.op("tf.Relu")?.call(&[&a])), "Cancelled");
    }
    eager.op("tf.Relu")?.call(&[&a])?;
    Ok(())
}

#[test]
fn request_of_another_host_is_refused() {
    let (eager, other) = (eager("s"), host("s"));
    let request = RequestContextBuilder::new(other).build();
    let refused = message(eager.with_request(request));
    assert_eq!(refused, "the request belongs to another host");
}

#[test]
fn deadline_of_a_scope_cancels_calls() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let request = RequestContextBuilder::new(Arc::clone(eager.host())).deadline(long_ago);
    let _scope = eager.with_request(request.build())?;
    let relu = eager.op("tf.Relu")?.ready()?;
    // A timer cancels the request, on a thread of its own.
    while relu.call(&[&x]).is_ok() {
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn ops_run_where_scopes_say() -> Result<()> {
    let eager = EagerContext::builder(host("s"))
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()?;
    let device = |handle: &TensorHandle| handle.device().map(|device| device.0.name().to_owned());
    let (x, shape) = (eager.tensor([1.0_f32])?, eager.tensor([1_i64])?);
    let add = eager.op("tf.AddV2")?.ready()?;
    let scope = eager.device("/job:w/task:0/device:CPU:1")?;
    let there = add.call(&[&x, &x])?;
    assert_eq!(device(&there).as_deref(), Some("CPU:1"));
    assert_eq!(
        eager.explain("tf.AddV2", &[&x])?.rule,
        PlacementRule::DeviceScope
    );
    drop(scope);
    // Operands that are elsewhere decide.
    assert_eq!(
        device(&add.call(&[&there, &there])?).as_deref(),
        Some("CPU:1")
    );
    assert_eq!(
        eager.explain("tf.AddV2", &[&there])?.rule,
        PlacementRule::LeastCost
    );
    assert_eq!(
        eager.explain("tf.AddV2", &[&shape, &shape])?.rule,
        PlacementRule::SmallIntegers
    );
    let back = eager.copy_to(&there, "CPU:0")?;
    assert_eq!(device(&back).as_deref(), Some("CPU:0"));
    assert_eq!(eager.to_vec::<f32>(&back)?, [2.0]);
    Ok(())
}

#[test]
fn a_scope_that_outlives_the_one_around_it_ends_no_other() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let is_late = || -> Result<bool> {
        let y = eager.op("tfrt_test.async.noop")?.call(&[&x])?;
        Ok(y.to_string().starts_with("future"))
    };
    let outer = eager.async_mode();
    let inner = eager.async_mode();
    drop(outer);
    let first = eager.async_mode();
    let second = eager.sync_mode();
    drop(inner);
    assert!(!is_late()?, "the second scope is in force");
    drop(second);
    assert!(is_late()?, "the first one is");
    drop(first);
    Ok(())
}

#[test]
fn task_inherits_scopes_and_follows_effects_before_it() {
    for queue in ["s", "mstd:2"] {
        let eager = two_devices(queue);
        let x = eager.tensor([1.0_f32]).expect("there is memory");
        let request = RequestContextBuilder::new(Arc::clone(eager.host())).build();
        let found = Arc::new(Mutex::new(None));
        let done = {
            let _device = eager.device("CPU:1").expect("it exists");
            let _request = eager.with_request(Arc::clone(&request)).expect("its host");
            let found = Arc::clone(&found);
            eager.spawn(move |eager| {
                let relu = eager.op("tf.Relu")?.ready()?;
                let device = device_of(&relu.call(&[&x])?).to_owned();
                request.cancel();
                *found.lock().unwrap() = Some((device, message(relu.call(&[&x]))));
                Ok(())
            })
        };
        // What this thread does meanwhile does not change what the task inherited.
        let _device = eager.device("CPU:0").expect("it exists");
        eager.host().await_values(&[done]).expect("no effects");
        let found = found.lock().unwrap().take();
        let expected = ("CPU:1".to_owned(), "Cancelled".to_owned());
        assert_eq!(found, Some(expected), "under {queue}");
    }
}

#[test]
fn chain_of_a_task_is_the_error_of_its_effects() {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32]).expect("there is memory");
    let done = eager.spawn(move |eager| {
        let failed = eager.op("tfrt_test.error.tensor")?.call(&[&x]);
        let failed = TensorHandle::error(failed.unwrap_err());
        let note = eager.op("eager_test.Note")?.results(0).ready()?;
        assert!(note.call_array::<0>(&[&failed]).is_err());
        Err(Error::new("the task gives up"))
    });
    let error = eager.host().await_values(&[done]).unwrap_err();
    assert_eq!(error.message(), "the task gives up");
    let panics = eager.spawn(|_| panic!("as a test"));
    let error = eager.host().await_values(&[panics]).unwrap_err();
    assert!(error.message().contains("panicked: as a test"), "{error}");
}
