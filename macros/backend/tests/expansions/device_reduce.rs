/// Returns the number of the largest size.
#[tfrt_kernel("my.extreme", reduce(identity = -0.0, combine = sizes::larger))]
fn itself(x: f64) -> f64 {
    x
}
