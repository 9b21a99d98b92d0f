/// Joins tensors.
#[tfrt_op("my.Concat", function = concat)]
pub fn joined<'a>(first: &DenseHostTensor, last: Option<&DenseHostTensor>, #[attr] axis: i64, #[attr("shape")] dims: Option<&'a [i64]>) -> (DenseHostTensor, DenseHostTensor) {
    todo!()
}
