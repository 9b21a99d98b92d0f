#[tfrt_kernel("my.div_s", sync, crate = renamed::tfrt)]
fn div_s(a: i32, b: i32) -> Result<(i32, i32)> {
    divide(a, b)
}
