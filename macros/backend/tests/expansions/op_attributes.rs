/// Says what it does.
#[tfrt_op("my.Scale", accepts(scalar), metadata = shapes::same)]
fn scale(x: &AnyRef, #[attr(default = 1.0)] factor: f32, #[attr] axes: Option<&[i64]>) -> Result<DenseHostTensor> {
    todo!()
}
