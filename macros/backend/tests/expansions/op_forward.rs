#[tfrt_op("my.Relu", T = [f32, i32], metadata = same, forward = x)]
fn relu<T: Number>(x: Forwarded<'_, T>, #[out] y: &mut [T]) {
    todo!()
}
