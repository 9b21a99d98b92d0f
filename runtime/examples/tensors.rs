//! Kernels on tensors, and tensors in and out of a program.
//!
//! ```console
//! $ cargo run -p tfrt --example tensors
//! softmax of [1, 2, 3]: [0.09003057, 0.24472848, 0.66524094]
//! ```

use std::error::Error;
use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::tensor::{DenseHostTensor, TensorError};

/// Returns the softmax of a vector.
#[tfrt_kernel("example.softmax")]
fn softmax(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor, TensorError> {
    let elements = x.elements::<f32>()?;
    let largest = elements.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = elements.iter().map(|x| (x - largest).exp()).sum();
    x.map(ctx.allocator(), |x: f32| (x - largest).exp() / sum)
}

const SOURCE: &str = r#"
    func @main(%x: !t.tensor) -> !t.tensor {
      %y = "example.softmax"(%x) : (!t.tensor) -> !t.tensor
      tfrt.return %y : !t.tensor
    }
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let kernels = Arc::new(KernelRegistry::from_link()?);
    let file = tfrt::text::compile(SOURCE, "softmax.mlir", &kernels)?;
    let host = HostContext::builder().registry(kernels).build();
    let main = Program::load(&host, &file)?
        .function("main")
        .ok_or("no function `main`")?;

    // The request may use at most 1 MiB; tensors that kernels allocate count towards it.
    let request = RequestContextBuilder::new(Arc::clone(&host))
        .max_bytes(1 << 20)
        .build();
    let ctx = ExecutionContext::new(request);
    let x = DenseHostTensor::vector(&[1.0_f32, 2.0, 3.0])?;
    let results = main.execute(&ctx, &[AnyRef::available(x)]);
    host.await_values(&results)?;

    let y = results[0].as_result::<DenseHostTensor>()?;
    let elements = y.elements::<f32>()?;
    println!("softmax of [1, 2, 3]: {:?}", &*elements);
    assert!((elements.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    Ok(())
}
