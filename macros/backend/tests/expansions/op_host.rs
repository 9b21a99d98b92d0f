#[tfrt_op("my.Pad", metadata = padded)]
fn pad(x: &[f32], #[host] sizes: &[i64], #[host] rest: Operands<'_, DenseHostTensor>) -> Result<DenseHostTensor> {
    todo!()
}
