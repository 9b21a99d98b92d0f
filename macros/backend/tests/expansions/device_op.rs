/// Returns the number of positive elements.
#[tfrt_op("my.CountPositive", reduce(identity = 0, combine = add), function = count_positive)]
fn one_if_positive(x: f32) -> i64 {
    (x > 0.0) as i64
}
