#[tfrt_kernel("my.fill.{T}.{RANK}", T = [i32, u32 as "ui32"], RANK = [0, 1])]
fn fill<T: Value, const RANK: usize>(shape: &Shape<RANK>, value: T) {}
