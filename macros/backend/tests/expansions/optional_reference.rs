#[tfrt_kernel("my.scale", chain = none)]
fn scale(a: i32, b: Option<&Point>) -> i32 {
    a
}
