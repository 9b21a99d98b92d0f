#[tfrt_kernel("my.sort", workspace = scratch_len)]
fn sort(x: &mut Tensor, #[workspace] scratch: &mut [u8]) {}
