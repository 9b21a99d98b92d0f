//! Arrays of the crate `ndarray` as tensors, and tensors as its views.

use ndarray::{Array, Array2, Array3, array, s};
use tfrt::core::{EagerContext, TensorHandle};
use tfrt::prelude::*;

use crate::{host, message};

#[test]
fn arrays_of_any_layout_are_row_major_tensors() -> Result<()> {
    let eager = EagerContext::builder(host("s")).build()?;
    let cube = Array::from_iter(0..24_i64);
    let cube = Array3::from_shape_vec((2, 3, 4), cube.to_vec()).map_err(Error::other)?;
    let views = [
        cube.view(),
        cube.t(),
        cube.slice(s![.., ..;2, 1..3]),
        cube.slice(s![..;-1, .., ..]),
        cube.slice(s![.., 1..1, ..]),
    ];
    for view in views {
        let handle = eager.tensor(view)?;
        let shape = handle.shape().map(|shape| shape.to_vec());
        assert_eq!(shape.as_deref(), Some(view.shape()));
        let elements: Vec<i64> = view.iter().copied().collect();
        assert_eq!(eager.to_vec::<i64>(&handle)?, elements);
        let is_same = eager.with_array::<i64, _>(&handle, |found| found == view.into_dyn())?;
        assert!(is_same, "{view}");
    }
    Ok(())
}

#[test]
fn a_view_reads_the_result_of_an_op_in_place() -> Result<()> {
    let eager = EagerContext::builder(host("mstd")).build()?;
    let (a, b): (Array2<f32>, _) = (array![[1.0, 2.0], [3.0, 4.0]], array![[0.5_f32], [2.0]]);
    let product = eager
        .op("tf.MatMul")?
        .attr("transpose_a", false)?
        .attr("transpose_b", false)?
        .call(&[&eager.tensor(&a)?, &eager.tensor(&b)?])?;
    let expected = a.dot(&b).into_dyn();
    let address = eager.with_array::<f32, _>(&product, |view| {
        assert_eq!(view, expected);
        view.as_ptr().addr()
    })?;
    let elements = eager.with_elements::<f32, _>(&product, |x| x.as_ptr().addr())?;
    assert_eq!(address, elements, "the elements are not copied");
    let wrong = eager.with_array::<f64, _>(&product, |_| ());
    assert_eq!(message(wrong), "expected elements of type f64, found f32");
    Ok(())
}

#[test]
fn a_handle_that_lies_about_its_shape_is_an_error() -> Result<()> {
    let eager = EagerContext::builder(host("s")).build()?;
    let three = eager.tensor([1.0_f32; 3])?;
    let device = eager.devices().next().cloned().unwrap();
    for dims in [2, 4] {
        let metadata = TensorMetadata::new(DType::F32, [dims]);
        let tensor = three.tensor().cloned().unwrap();
        let lies = TensorHandle::new(device.clone(), metadata, tensor);
        let outcome = eager.with_array::<f32, _>(&lies, |_| ());
        assert_eq!(
            message(outcome),
            format!("expected a tensor of the shape [{dims}] of its handle, found 3 elements")
        );
    }
    Ok(())
}
