#[tfrt_kernel("my.scale")]
fn scale(a: i32, b: Option<i32>) -> i32 {
    a
}
