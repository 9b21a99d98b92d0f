#[tfrt_op("my.Const", raw, metadata = constant, accepts(string))]
fn constant(call: &mut OpCall<'_>) -> Result<()> {
    todo!()
}
