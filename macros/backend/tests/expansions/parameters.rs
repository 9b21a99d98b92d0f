#[cfg(unix)]
#[tfrt_kernel("my.everything", effect = "files", results(same, others), alias(same = buffer), format = "operands $callee $branches attr-dict `:` type-list($any, $others) region($body)")]
fn everything(
    buffer: &mut Buffer,
    text: &str,
    any: AnyRef,
    later: AsyncValueRef<i32>,
    #[attr("b")] first: i64,
    #[attr(name = "a", default = -1)] second: i32,
    callee: &FunctionRef,
    #[region] body: FunctionRef,
    branches: &[FunctionRef],
    ctx: &ExecutionContext,
    rest: Operands<'_, f32>,
) -> io::Result<(Buffer, Vec<AnyRef>)> {
    todo()
}
