#[tfrt_kernel("my.add", "your.add")]
fn add(a: i32) -> i32 {
    a
}
