#[tfrt_op("my.Concat", metadata_only)]
fn concat(first: &TensorMetadata, rest: &[TensorMetadata], #[attr] axis: i64) -> Result<TensorMetadata> {
    todo!()
}
