#[tfrt_kernel("my.join")]
fn join(a: &Point, b: &str) {}
