#[tfrt_op("my.AssignAdd", effect = "variables")]
fn assign_add(#[resource] variable: &Variable, value: &DenseHostTensor) -> Result<()> {
    todo!()
}
