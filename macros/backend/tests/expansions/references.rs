#[tfrt_kernel("my.pick", non_strict)]
fn pick(cond: bool, a: AsyncValueRef<i32>, b: &AnyRef, rest: &[AnyRef]) -> AnyRef {
    b.clone()
}
