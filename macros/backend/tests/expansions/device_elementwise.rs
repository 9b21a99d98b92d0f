/// Returns `a * x + y`.
#[tfrt_kernel("my.axpy", elementwise)]
fn axpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}
