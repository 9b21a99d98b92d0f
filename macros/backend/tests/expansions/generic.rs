#[tfrt_kernel("my.make.{T}.{R}", T = [i32, u32 as "ui32"], R = [0, 1])]
fn make<T: Value, const R: usize>(#[attr] value: T) -> Result<Tensor<T, R>> {
    Tensor::make(value)
}
