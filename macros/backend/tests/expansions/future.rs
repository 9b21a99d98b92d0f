#[tfrt_kernel("my.wait", side_effecting)]
async fn wait(a: i32, later: AsyncValueRef<i32>) -> (i32, Result<i32>) {
    (a, later.await)
}
