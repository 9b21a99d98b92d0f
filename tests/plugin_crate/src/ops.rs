//! Ops of the library, which nodes of ONNX models call.

use tfrt::prelude::*;
use tfrt_import::ImportError;
use tfrt_import::program;
use tfrt_onnx::{OnnxCall, onnx_op};

/// Returns a multiple of the elements.
#[onnx_op(domain = "com.example", name = "Frob", since = 1)]
#[tfrt_op("plugin.Frob", metadata = same)]
fn frob(x: &[f32], #[attr(default = 2.0)] alpha: f32, #[out] y: &mut [f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = alpha * x;
    }
}

fn same(x: &TensorMetadata, alpha: f32) -> TensorMetadata {
    assert!(alpha < 100.0, "at the metadata of the library");
    x.clone()
}

/// Returns its operand, or panics.
#[tfrt_op("plugin.Call", raw)]
#[onnx_op(domain = "com.example", name = "Call", since = 1)]
fn call(call: &mut OpCall<'_>) -> Result<()> {
    let operand = call.argument(0)?.clone();
    assert!(call.attrs().get::<i64>("panics").is_none(), "at the op of the library");
    call.set_result(0, operand);
    Ok(())
}

/// Imports a node.
#[onnx_op(domain = "com.example", name = "Twist", since = 1)]
fn import_twist(call: &mut OnnxCall<'_>) -> Result<Vec<program::Value>, ImportError> {
    Ok(vec![call.operand(0)?])
}
