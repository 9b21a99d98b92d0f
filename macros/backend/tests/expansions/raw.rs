#[tfrt_kernel(
    "my.cond",
    raw,
    non_strict,
    operands(cond: bool, args: ref variadic any),
    results(outputs: variadic any),
    symbols(b_false_fn, a_true_fn),
    attrs(limit: i64 = 3),
    verify = verify_cond
)]
fn cond(frame: &mut KernelFrame<'_>) -> Result<()> {
    run(frame)
}
