#[tfrt_kernel("my.matmul", metadata = shapes::matmul, workspace = shapes::scratch)]
fn matmul(alpha: f32, a: &Tensor, b: &Tensor, #[attr] transpose: bool, #[workspace] scratch: &mut [f32], #[out] c: &mut Tensor) -> Result<()> {
    Ok(())
}
