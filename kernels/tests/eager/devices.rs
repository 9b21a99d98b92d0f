//! Operands on several devices.

use std::sync::Arc;

use tfrt::core::{EagerContext, HandlePromise, PlacementRule, TensorHandle};
use tfrt::host::allocator::FixedSizeAllocator;
use tfrt::host::device::{CpuDevice, DeviceRef};
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{address, block_on, device_of, two_devices};

#[test]
fn operand_whose_device_is_pending_is_copied_when_it_is_known() -> Result<()> {
    let eager = two_devices("s");
    let _scope = eager.device("CPU:1")?;
    for (device, is_copied) in [("CPU:0", true), ("CPU:1", false)] {
        let x = eager.copy_to(&eager.tensor([1.0_f32, -1.0])?, device)?;
        let (promise, later) = HandlePromise::new();
        let same = eager.op("eager_test.Same")?.call(&[&later])?;
        promise.forward_to(&x);
        assert_eq!(device_of(&same), "CPU:1");
        assert_eq!(address(&eager, &same) != address(&eager, &x), is_copied);
    }
    Ok(())
}

/// Returns its operand.
#[tfrt_op("eager_test.Same")]
fn same_tensor(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[test]
fn device_object_of_a_user_is_the_device_of_its_name() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32])?;
    let own = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
    let mine = TensorHandle::of_value(own, x.tensor().expect("a tensor").clone());
    let there = eager.copy_to(&mine, "CPU:0")?;
    assert_eq!(address(&eager, &there), address(&eager, &x));
    Ok(())
}

/// Adds one to each element, in place.
#[tfrt_op("eager_test.Increment")]
fn increment(x: &mut DenseHostTensor) -> Result<()> {
    x.elements_mut::<f32>()?.iter_mut().for_each(|x| *x += 1.0);
    Ok(())
}

/// Returns how many copies are kept, and how many bytes they take.
fn kept(eager: &EagerContext) -> (usize, usize) {
    let kept = eager.kept_copies();
    (kept.copies, kept.bytes)
}

/// Returns the operand, as an op on the second device returns it.
fn same_on_second(eager: &Arc<EagerContext>, x: &TensorHandle) -> Result<TensorHandle> {
    let _scope = eager.device("CPU:1")?;
    eager.op("eager_test.Same")?.call(&[x])
}

#[test]
fn copy_of_an_operand_is_made_once_and_kept_with_its_handle() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32, -1.0])?;
    let first = same_on_second(&eager, &x)?;
    assert_ne!(address(&eager, &first), address(&eager, &x));
    let clone = x.clone();
    for handle in [&x, &clone] {
        let again = same_on_second(&eager, handle)?;
        assert_eq!(address(&eager, &again), address(&eager, &first));
    }
    assert_eq!(kept(&eager), (1, 8));
    drop(x);
    assert_eq!(kept(&eager), (1, 8), "a clone of its handle is left");
    drop(clone);
    assert_eq!(kept(&eager), (0, 0));
    Ok(())
}

#[test]
fn copy_of_a_pending_operand_is_kept_when_it_is_there() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32, -1.0])?;
    let later = {
        let _scope = eager.device("CPU:0")?;
        eager.op("tfrt_test.async.noop")?.call(&[&x])?
    };
    let first = same_on_second(&eager, &later)?;
    assert_eq!(kept(&eager), (0, 0));
    eager.wait(&first)?;
    let second = same_on_second(&eager, &later)?;
    assert_eq!(address(&eager, &second), address(&eager, &first));
    assert_eq!(kept(&eager), (1, 8));
    Ok(())
}

#[test]
fn older_copies_go_when_their_bytes_are_needed() -> Result<()> {
    let with_budget = |max_bytes| {
        let eager = EagerContext::builder(crate::host("s"));
        let eager = eager.device(Arc::new(CpuDevice::new("CPU:1")));
        eager.max_copied_bytes(max_bytes).build()
    };
    let eager = with_budget(16)?;
    let [a, b, c] = [1.0_f32, 2.0, 3.0].map(|x| eager.tensor([x, x]));
    let (a, b, c) = (a?, b?, c?);
    let keeps = |x: &TensorHandle| -> Result<bool> {
        let (one, other) = (same_on_second(&eager, x)?, same_on_second(&eager, x)?);
        Ok(address(&eager, &one) == address(&eager, &other))
    };
    for x in [&a, &b, &c] {
        assert!(keeps(x)?);
    }
    assert_eq!(kept(&eager), (2, 16));
    let before = same_on_second(&eager, &c)?;
    let _a_again = same_on_second(&eager, &a)?;
    let after = same_on_second(&eager, &c)?;
    assert_eq!(
        address(&eager, &before),
        address(&eager, &after),
        "`b` went"
    );
    let large = eager.tensor([0.0_f32; 5])?;
    assert!(!keeps(&large)?, "it is larger than the budget");
    eager.give_up_copies();
    assert_eq!(kept(&eager), (0, 0));
    let none = with_budget(0)?;
    let x = none.tensor([1.0_f32])?;
    same_on_second(&none, &x)?;
    assert_eq!(kept(&none), (0, 0));
    Ok(())
}

#[test]
fn copies_follow_what_ops_write() -> Result<()> {
    for queue in ["s", "mstd:2"] {
        let eager = two_devices(queue);
        let x = eager.tensor([1.0_f32])?;
        let increment = eager.op("eager_test.Increment")?.results(0).ready()?;
        let same = same_on_second(&eager, &x)?;
        assert_eq!(eager.to_vec::<f32>(&same)?, [1.0]);
        drop(same);
        {
            let _scope = eager.device("CPU:0")?;
            let [] = increment.call_array(&[&x])?;
        }
        block_on(&eager, std::pin::pin!(eager.synchronize()))?;
        let same = same_on_second(&eager, &x)?;
        assert_eq!(eager.to_vec::<f32>(&same)?, [2.0], "under {queue}");
        drop(same);
        // What is written on the other device is a copy of its own.
        {
            let _scope = eager.device("CPU:1")?;
            let [] = increment.call_array(&[&x])?;
        }
        block_on(&eager, std::pin::pin!(eager.synchronize()))?;
        let same = same_on_second(&eager, &x)?;
        assert_eq!(eager.to_vec::<f32>(&same)?, [2.0], "under {queue}");
    }
    Ok(())
}

#[test]
fn copies_are_given_up_before_a_call_runs_out_of_memory() -> Result<()> {
    // Two tensors and one copy have room.
    const NUM_ELEMENTS: usize = 1 << 18;
    let memory = Arc::new(FixedSizeAllocator::new(
        7 * NUM_ELEMENTS * size_of::<f32>() / 2,
    ));
    let host = HostContext::builder()
        .registry(Arc::new(KernelRegistry::from_link().map_err(Error::other)?))
        .allocator(memory)
        .build();
    let eager = EagerContext::builder(host)
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()?;
    let [a, b] = [1.0_f32, 2.0].map(|x| eager.tensor(vec![x; NUM_ELEMENTS]));
    let (a, b) = (a?, b?);
    for x in [&a, &b, &a] {
        let same = same_on_second(&eager, x)?;
        assert_eq!(device_of(&same), "CPU:1");
        assert_eq!(eager.kept_copies().copies, 1);
    }
    Ok(())
}

#[test]
fn how_large_small_integers_are_is_a_setting() -> Result<()> {
    for (max_elements, rule) in [
        (2, PlacementRule::SmallIntegers),
        (1, PlacementRule::LeastCost),
    ] {
        let eager = EagerContext::builder(crate::host("s"));
        let eager = eager.device(Arc::new(CpuDevice::new("CPU:1")));
        let eager = eager.max_small_elements(max_elements).build()?;
        let shape = eager.tensor([1_i64, 2])?;
        let found = eager.explain("tf.AddV2", &[&shape, &shape])?.rule;
        assert_eq!(found, rule, "up to {max_elements} elements");
    }
    Ok(())
}
