#[tfrt_op("my.Bias", metadata = shapes::bias)]
fn bias(x: TensorView<'_, f32, 2>, bias: Option<&[f32]>, #[out] mut y: TensorViewMut<'_, f32, 2>) -> Result<()> {
    todo!()
}
