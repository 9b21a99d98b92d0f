#[tfrt_kernel("my.sum_all", side_effecting)]
fn sum_all(first: i32, rest: Operands<'_, i32>) -> i32 {
    first
}
