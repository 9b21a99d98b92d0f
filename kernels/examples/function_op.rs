//! A function of a program, called like an op: `cargo run -p tfrt-kernels --example function_op`.

use std::sync::Arc;

use tfrt::core::EagerContext;
use tfrt::function_ops::{FunctionOps, FunctionProgram};
use tfrt::host::device::CpuDevice;
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

/// A layer whose product is made on one device, and the rest on the other.
const LAYER: &str = r#"
    func @layer(%x: !corert.tensorhandle, %weights: !corert.tensorhandle, %bias: !corert.tensorhandle) -> !corert.tensorhandle {
      %c = tfrt.new.chain
      %cpu = corert.get_op_handler %c "cpu"
      %product = "corert.executeop"(%cpu, %x, %weights) {
        corert.device = "CPU:1", op_attrs = [["transpose_a", false], ["transpose_b", false]], op_func_attrs = [], op_name = "tf.MatMul"
      } : (!corert.ophandler, !corert.tensorhandle, !corert.tensorhandle) -> !corert.tensorhandle
      %sum = corert.executeop(%cpu) "tf.BiasAdd"(%product, %bias) : 1
      %y = corert.executeop(%cpu) "tf.Relu"(%sum) : 1
      tfrt.return %y : !corert.tensorhandle
    }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let program = FunctionProgram::from_text(LAYER, "layer.mlir", &kernels)?;
    let host = HostContext::builder().registry(kernels).build();
    let second = Arc::new(CpuDevice::new("CPU:1"));
    let eager = EagerContext::builder(host).device(second).build()?;
    let layer = eager.function_op(&program, "layer")?;
    let weights = eager.tensor([[1.0_f32, -1.0], [0.5, 2.0]])?;
    let bias = eager.tensor([0.25_f32, 0.0])?;
    for (x, expected) in [([1.0_f32, 2.0], [2.25, 3.0]), ([3.0, -1.0], [2.75, 0.0])] {
        let y = layer.call(&[&eager.tensor([x])?, &weights, &bias])?;
        let y = eager.to_vec::<f32>(&y)?;
        println!("{x:?} -> {y:?}");
        assert_eq!(y, expected);
    }
    Ok(())
}
