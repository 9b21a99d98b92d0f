#[tfrt_kernel("my.split", metadata = split_shape, side_effecting)]
async fn split(x: &Tensor, #[out] head: &mut Tensor, #[out] tail: &mut Tensor) {}
