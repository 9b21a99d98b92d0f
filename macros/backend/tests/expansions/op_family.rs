#[tfrt_op("my.Relu", T = [f32, i32], unsupported = "no relu of {dtype}", metadata = same)]
fn relu<T: Number>(x: &[T], #[attr] bound: i64, #[out] y: &mut [T]) {
    todo!()
}
