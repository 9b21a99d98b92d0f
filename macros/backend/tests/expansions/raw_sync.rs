#[tfrt_kernel("my.raw", raw, sync, operands(a: i32, b: optional any), results(c: same_as(a)))]
fn raw(frame: &mut KernelFrame<'_>) {}
