//! What a call returns: values, metadata, and in whose memory results are.

use tfrt::core::TensorHandle;
use tfrt::prelude::*;

use crate::{block_on, eager, message};

#[test]
fn ops_compute_and_tell_metadata_at_once() -> Result<()> {
    let eager = eager("s");
    let a = eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]])?;
    let b = eager.tensor([10.0_f32, 20.0])?;
    let sum = eager.op("tf.AddV2")?.call(&[&a, &b])?;
    assert_eq!(eager.to_vec::<f32>(&sum)?, [11.0, 22.0, 13.0, 24.0]);
    let product = eager
        .op("tf.MatMul")?
        .attr("transpose_a", false)?
        .attr("transpose_b", true)?;
    let product = product.call(&[&a, &sum])?;
    assert_eq!(eager.to_vec::<f32>(&product)?, [55.0, 61.0, 121.0, 135.0]);
    let later = eager.op("tfrt_test.async.noop")?.call(&[&sum])?;
    assert_eq!(
        later.to_string(),
        "future TensorHandle with metadata f32 [2, 2]"
    );
    assert_eq!(eager.to_vec::<f32>(&later)?, [11.0, 22.0, 13.0, 24.0]);
    Ok(())
}

#[test]
fn the_last_holder_gives_its_memory() -> Result<()> {
    let eager = eager("s");
    let relu = eager.op("tf.Relu")?.ready()?;
    let address = |handle: &TensorHandle| {
        eager.with_elements(handle, |elements: &tfrt_tensor::Elements<'_, f32>| {
            elements.as_ptr()
        })
    };
    let x = eager.tensor([-1.0_f32, 2.0])?;
    let before = address(&x)?;
    let shared = relu.call(&[&x])?;
    assert_ne!(address(&shared)?, before);
    let own = relu.call_owned([x])?;
    assert_eq!(address(&own)?, before);
    assert_eq!(eager.to_vec::<f32>(&own)?, [0.0, 2.0]);
    Ok(())
}

#[test]
fn an_op_of_two_tensors_takes_the_memory_of_the_first_that_fits() -> Result<()> {
    let eager = eager("s");
    let sub = eager.op("tf.Sub")?.ready()?;
    let address = |handle: &TensorHandle| {
        eager.with_elements(handle, |elements: &tfrt_tensor::Elements<'_, f32>| {
            elements.as_ptr()
        })
    };
    let matrix = || eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]]);
    let row = || eager.tensor([10.0_f32, 20.0]);
    let differences = [-9.0, -18.0, -7.0, -16.0];
    // Both fit; the second one is too small; the first one is.
    let (a, b) = (matrix()?, matrix()?);
    let before = address(&a)?;
    let zeros = sub.call_owned([a, b])?;
    assert_eq!(address(&zeros)?, before);
    assert_eq!(eager.to_vec::<f32>(&zeros)?, [0.0; 4]);
    let a = matrix()?;
    let before = address(&a)?;
    let found = sub.call_owned([a, row()?])?;
    assert_eq!(address(&found)?, before);
    assert_eq!(eager.to_vec::<f32>(&found)?, differences);
    let b = matrix()?;
    let before = address(&b)?;
    let found = sub.call_owned([row()?, b])?;
    assert_eq!(address(&found)?, before);
    assert_eq!(
        eager.to_vec::<f32>(&found)?,
        differences.map(|difference| -difference)
    );
    // Somebody else sees the first one, and a tensor is not stretched in its place.
    let (a, b) = (matrix()?, matrix()?);
    let before = address(&b)?;
    let found = sub.call_owned([a.clone(), b])?;
    assert_eq!(address(&found)?, before);
    assert_eq!(eager.to_vec::<f32>(&a)?, [1.0, 2.0, 3.0, 4.0]);
    let found = sub.call(&[&a, &a])?;
    assert_ne!(address(&found)?, address(&a)?);
    let (column, row) = (eager.tensor([[1.0_f32], [2.0]])?, row()?);
    let found = sub.call_owned([column, row])?;
    assert_eq!(eager.to_vec::<f32>(&found)?, [-9.0, -19.0, -8.0, -18.0]);
    Ok(())
}

#[test]
fn futures_of_a_handle_are_its_value_and_its_metadata() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32, 2.0])?;
    let later = eager.op("tfrt_test.async.noop_no_md")?.call(&[&x])?;
    let metadata = block_on(&eager, std::pin::pin!(later.metadata_later()))?;
    assert_eq!(metadata.to_string(), "f32 [2]");
    assert!(block_on(&eager, std::pin::pin!(later.value()))?.is_available());
    let failed = TensorHandle::error(Error::new("broken"));
    let told = block_on(&eager, std::pin::pin!(failed.metadata_later()));
    assert_eq!(message(told), "broken");
    let told = block_on(&eager, std::pin::pin!(failed.value()));
    assert_eq!(message(told), "broken");
    let invalid = TensorHandle::default();
    let told = block_on(&eager, std::pin::pin!(invalid.value()));
    assert_eq!(message(told), "the tensor handle is invalid");
    Ok(())
}
