#[tfrt_kernel("my.partial")]
fn partial() -> (i32, Result<Point>, AsyncValueRef<f32>, Vec<AnyRef>) {
    todo()
}
