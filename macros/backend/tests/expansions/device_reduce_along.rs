/// Returns the sums of the squares of the rows.
#[tfrt_kernel("my.squares", reduce(identity = 0.0, combine = add, axes = [-1], keep_dims = true))]
fn squares(x: f32) -> f32 {
    x * x
}
