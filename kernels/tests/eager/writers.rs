//! Ops that write to tensors, between ops that read the same tensors.

use std::sync::Arc;
use std::time::Duration;

use tfrt::async_value::LiveScope;
use tfrt::core::{EagerContext, HandlePromise, TensorHandle};
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::random::{Random, num_runs};
use crate::{block_on, eager, handle, message, two_devices};

/// Doubles each element and adds a number, in place.
#[tfrt_op("writer_test.Change")]
fn change(x: &mut DenseHostTensor, #[attr] by: f32) -> Result<()> {
    x.elements_mut::<f32>()?
        .iter_mut()
        .for_each(|x| *x = 2.0 * *x + by);
    Ok(())
}

/// Adds another tensor to a tensor, in place.
#[tfrt_op("writer_test.AddTo")]
fn add_to(x: &mut DenseHostTensor, y: &DenseHostTensor) -> Result<()> {
    let y = y.elements::<f32>()?.to_vec();
    x.elements_mut::<f32>()?
        .iter_mut()
        .zip(y)
        .for_each(|(x, y)| *x += y);
    Ok(())
}

/// Returns a tensor with the same elements.
#[tfrt_op("writer_test.Same")]
fn same(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

/// Returns the first tensor, with the same elements.
#[tfrt_op("writer_test.First")]
fn first(x: &DenseHostTensor, _y: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn change_by(eager: &Arc<EagerContext>, x: &TensorHandle, by: f32) -> Result<()> {
    let change = eager.op("writer_test.Change")?.attr("by", by)?;
    let [] = change.results(0).ready()?.call_array(&[x])?;
    Ok(())
}

fn call(eager: &Arc<EagerContext>, op: &str, operands: &[&TensorHandle]) -> Result<TensorHandle> {
    eager.op(op)?.call(operands)
}

#[test]
fn a_writer_waits_for_earlier_readers() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let (promise, late) = HandlePromise::new();
    let sum = call(&eager, "tf.AddV2", &[&x, &late])?;
    change_by(&eager, &x, 0.5)?;
    assert_eq!(
        x.to_string(),
        "DenseHostTensor dtype = f32, shape = [1], values = [1.000000e+00]",
        "the sum has not read it"
    );
    promise.forward_to(&eager.tensor([10.0_f32])?);
    assert_eq!(eager.to_vec::<f32>(&sum)?, [11.0]);
    assert_eq!(eager.to_vec::<f32>(&x)?, [2.5]);
    Ok(())
}

/// Begins to write to a tensor once an effect before it is done.
fn change_later(eager: &Arc<EagerContext>, x: &TensorHandle) -> Result<HandlePromise> {
    let (promise, late) = HandlePromise::new();
    let zero = eager.tensor([0.0_f32])?;
    let add_to = eager.op("writer_test.AddTo")?.results(0).ready()?;
    let [] = add_to.call_array(&[&zero, &late])?;
    change_by(eager, x, 0.5)?;
    Ok(promise)
}

#[test]
fn readers_wait_for_earlier_writers() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let before = call(&eager, "tf.Relu", &[&x])?;
    let promise = change_later(&eager, &x)?;
    let relu = eager.op("tf.Relu")?.ready()?;
    let kept = relu.call(&[&x])?;
    let owned = relu.call_owned([x.clone()])?;
    let [array] = relu.call_array(&[&x])?;
    let copy = eager.copy_to(&x, "CPU:0")?;
    let unrelated = call(&eager, "tf.Relu", &[&eager.tensor([7.0_f32])?])?;
    assert_eq!(eager.to_vec::<f32>(&unrelated)?, [7.0]);
    for pending in [&kept, &owned, &array, &copy] {
        let text = pending.to_string();
        assert!(text.starts_with("future TensorHandle"), "{text}");
    }
    promise.forward_to(&eager.tensor([1.0_f32])?);
    for after in [&x, &kept, &owned, &array, &copy] {
        assert_eq!(eager.to_vec::<f32>(after)?, [2.5]);
    }
    assert_eq!(eager.to_vec::<f32>(&before)?, [1.0]);
    Ok(())
}

#[test]
fn elements_are_read_after_earlier_writers() -> Result<()> {
    // A task of this queue runs while this thread waits.
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let promise = change_later(&eager, &x)?;
    let one = eager.tensor([1.0_f32])?;
    let given = eager.spawn(move |_| {
        promise.forward_to(&one);
        Ok(())
    });
    assert!(!given.is_available());
    assert_eq!(eager.to_vec::<f32>(&x)?, [2.5]);
    Ok(())
}

#[test]
fn a_writer_that_fails_delays_nothing() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let promise = change_later(&eager, &x)?;
    let after = call(&eager, "tf.Relu", &[&x])?;
    promise.fail(&Error::new("not today"));
    assert_eq!(eager.to_vec::<f32>(&after)?, [1.0], "nothing was written");
    let error = block_on(&eager, std::pin::pin!(eager.synchronize()));
    assert_eq!(message(error), "not today");
    change_by(&eager, &x, 0.5)?;
    assert_eq!(eager.to_vec::<f32>(&x)?, [2.5]);
    Ok(())
}

#[test]
fn an_operand_may_be_written_and_read_by_one_call() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let add_to = eager.op("writer_test.AddTo")?.results(0).ready()?;
    let [] = add_to.call_array(&[&x, &x])?;
    assert_eq!(eager.to_vec::<f32>(&x)?, [2.0]);
    Ok(())
}

#[test]
fn copies_on_other_devices_are_made_after_earlier_writers() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32])?;
    let promise = {
        let _scope = eager.device("CPU:0")?;
        change_later(&eager, &x)?
    };
    let _scope = eager.device("CPU:1")?;
    let there = call(&eager, "tf.Relu", &[&x])?;
    promise.forward_to(&eager.tensor([1.0_f32])?);
    assert_eq!(eager.to_vec::<f32>(&there)?, [2.5]);
    Ok(())
}

/// Runs a random program of readers and writers, and returns all of its tensors.
fn run(eager: &Arc<EagerContext>, seed: u64) -> Result<Vec<Vec<f32>>> {
    let mut random = Random::new(seed);
    let mut values = (0..3)
        .map(|number| eager.tensor([number as f32, 1.0]))
        .collect::<Result<Vec<_>>>()?;
    for step in 0..40 {
        let (first, second) = (random.below(values.len()), random.below(values.len()));
        let (x, y) = (&values[first], &values[second]);
        match random.below(8) {
            0 | 1 => change_by(eager, x, step as f32 / 64.0)?,
            2 => {
                let scaled = call(eager, "tf.Sigmoid", &[y])?;
                let add_to = eager.op("writer_test.AddTo")?.results(0).ready()?;
                let [] = add_to.call_array(&[x, &scaled])?;
            }
            3 => values.push(call(eager, "tfrt_test.async.noop", &[x])?),
            4 => values.push(call(eager, "tfrt_test.async.noop_no_md", &[x])?),
            5 => values.push(call(eager, "writer_test.Same", &[x])?),
            6 => values.push(call(eager, "writer_test.First", &[x, y])?),
            _ => values.push(call(eager, "tf.Sigmoid", &[x])?),
        }
    }
    values.iter().map(|value| eager.to_vec(value)).collect()
}

#[test]
fn random_programs_of_readers_and_writers_compute_the_same_as_one_after_the_other() -> Result<()> {
    let bits = |values: Vec<Vec<f32>>| -> Vec<Vec<u32>> {
        let values = values.into_iter();
        values
            .map(|elements| elements.into_iter().map(f32::to_bits).collect())
            .collect()
    };
    let one_by_one = eager("s");
    let _sync = one_by_one.sync_mode();
    let count = num_runs(100);
    for (queue, seeds) in [("s", 0..count), ("mstd:4", count..3 * count)] {
        let eager = eager(queue);
        let scope = LiveScope::new();
        for seed in seeds {
            let expected = bits(run(&one_by_one, seed)?);
            let found = scope.run(|| run(&eager, seed))?;
            assert_eq!(bits(found), expected, "seed {seed} under {queue}");
        }
        // The context keeps the chain of the last effect.
        drop(eager);
        assert!(scope.wait_until_empty(Duration::from_secs(60)).is_empty());
    }
    Ok(())
}

#[test]
fn many_pending_writers_of_one_tensor_run_in_order() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([0.0_f32])?;
    let promise = change_later(&eager, &x)?;
    let one = eager.tensor([1.0_f32])?;
    let add_to = eager.op("writer_test.AddTo")?.results(0).ready()?;
    for _ in 0..2_000 {
        let [] = add_to.call_array(&[&x, &one])?;
    }
    let sum = handle(call(&eager, "tf.Relu", &[&x]));
    promise.forward_to(&one);
    assert_eq!(eager.to_vec::<f32>(&sum)?, [2_000.5]);
    Ok(())
}
