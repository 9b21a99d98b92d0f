//! Arithmetic op by op, on two devices: `cargo run -p tfrt-kernels --example eager`.

use std::sync::Arc;

use tfrt::core::EagerContext;
use tfrt::host::device::CpuDevice;
use tfrt::prelude::*;

// The ops of the standard library.
tfrt::link!(tfrt_kernels);

/// Returns the tensor scaled and shifted: an op of this program, which runs like those of the
/// library.
#[tfrt_op("example.Affine", T = [f32, f64], metadata = same)]
fn affine<T: Copy + From<f32> + std::ops::Mul<Output = T> + std::ops::Add<Output = T>>(
    x: &[T],
    #[attr] scale: f32,
    #[attr(default = 0.0)] shift: f32,
    #[out] y: &mut [T],
) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = *x * T::from(scale) + T::from(shift);
    }
}

fn same(x: &TensorMetadata, _scale: f32, _shift: f32) -> TensorMetadata {
    x.clone()
}

fn main() -> Result<()> {
    let host = HostContext::builder()
        .registry(Arc::new(KernelRegistry::from_link().map_err(Error::other)?))
        .build();
    let eager = EagerContext::builder(host)
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()?;

    let a = eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]])?;
    let b = eager.tensor([10.0_f32, 20.0])?;
    let sum = eager.op("tf.AddV2")?.call(&[&a, &b])?;
    println!("a + b  = {sum}");

    let affine = eager
        .op("example.Affine")?
        .attr("scale", 0.5_f32)?
        .ready()?;
    {
        let _scope = eager.device("CPU:1")?;
        println!("{}", eager.explain("example.Affine", &[&sum])?);
        let half = affine.call(&[&sum])?;
        println!("half   = {half}");
    }

    // What is wrong is known at the call, with its place.
    let wrong = eager.tensor([1.0_f32, 2.0, 3.0])?;
    if let Err(error) = eager.op("tf.AddV2")?.call(&[&a, &wrong]) {
        println!("{}: {error}", error.place());
    }
    Ok(())
}
