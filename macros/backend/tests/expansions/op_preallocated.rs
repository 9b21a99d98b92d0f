#[tfrt_op("my.Assign", effect = "variables", metadata = assigned)]
fn assign(variable: &mut DenseHostTensor, values: &dyn Tensor, rest: &[AnyRef], #[out] old: &mut DenseHostTensor) {
    todo!()
}
