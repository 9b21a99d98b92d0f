#[tfrt_kernel("my.rank", results(rank))]
fn rank(tensor: &dyn Tensor) -> i64 {
    todo!()
}
