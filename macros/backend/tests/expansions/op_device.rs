#[cfg(feature = "gpu")]
#[tfrt_op("my.Add", "my.Plus", device = "gpu", crate = facade::tfrt)]
fn add(a: &DenseHostTensor, b: &DenseHostTensor) -> DenseHostTensor {
    todo!()
}
