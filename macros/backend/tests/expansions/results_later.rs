#[tfrt_kernel("my.later")]
fn later() -> Vec<AsyncValueRef<i32>> {
    Vec::new()
}
