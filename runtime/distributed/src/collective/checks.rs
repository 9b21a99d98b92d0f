//! What a member checks of its own tensors before it takes part in a collective.

use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Shape, TensorError};

use super::Reduction;
use super::all_gather::{
    Layout, WRONG_INPUT, WRONG_OUTPUT, WRONG_RANK, along_axis, check_axis, invalid,
};
use super::direct::MemberPlace;
use super::split::chunk;

fn same_dtype(input: &DenseHostTensor, output: &DenseHostTensor) -> Result<(), Error> {
    match input.dtype() == output.dtype() {
        true => Ok(()),
        false => Err(TensorError::WrongDType {
            expected: input.dtype(),
            found: output.dtype(),
        }
        .into()),
    }
}

fn reduction(
    reduction: Reduction,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
) -> Result<(), Error> {
    let dtype = input.dtype();
    let is_number = matches!(
        dtype,
        DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::Ui8
            | DType::Ui16
            | DType::Ui32
            | DType::Ui64
            | DType::F16
            | DType::Bf16
            | DType::F32
            | DType::F64
    );
    if !is_number {
        return Err(cannot_be_reduced(dtype));
    }
    reduction.check(dtype)?;
    same_dtype(input, output)
}

#[cold]
pub(super) fn cannot_be_reduced(dtype: DType) -> Error {
    invalid(format!("elements of type {dtype} cannot be reduced"))
}

pub(super) fn all_reduce(
    function: Reduction,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
) -> Result<(), Error> {
    reduction(function, input, output)?;
    Ok(output.expect_shape(input.shape())?)
}

pub(super) fn reduce_scatter(
    MemberPlace { index, size }: MemberPlace,
    function: Reduction,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
) -> Result<(), Error> {
    reduction(function, input, output)?;
    let expected = chunk(input.num_elements(), size, index).len();
    let found = output.num_elements();
    match found == expected {
        true => Ok(()),
        false => Err(invalid(format!(
            "expected an output of the {expected} elements of chunk {index}, found {found}"
        ))),
    }
}

/// Returns the positions of the elements of all members in the output.
pub(super) fn all_gather(
    place: MemberPlace,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    axis: u64,
) -> Result<Layout, Error> {
    let axis = check_axis(axis, input)?;
    same_dtype(input, output)?;
    if output.shape().dims() != along_axis(input.shape(), axis, place.size) {
        return Err(invalid(WRONG_OUTPUT));
    }
    Layout::new(&vec![input.shape().clone(); place.size], axis)
}

/// Checks the shape of another member's tensor, which may differ from the own one along the axis.
pub(super) fn shape_to_gather(own: &Shape, axis: usize, dims: &[usize]) -> Result<Shape, Error> {
    if dims.len() != own.rank() {
        return Err(invalid(WRONG_RANK));
    }
    let mut pairs = own.dims().iter().zip(dims).enumerate();
    if !pairs.all(|(position, (own, other))| position == axis || own == other) {
        return Err(invalid(WRONG_INPUT));
    }
    Ok(Shape::new(dims)?)
}

/// Returns the number of elements in a chunk for this member.
pub(super) fn all_to_all(
    MemberPlace { index, size }: MemberPlace,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
) -> Result<usize, Error> {
    same_dtype(input, output)?;
    let chunk_len = chunk(input.num_elements(), size, index).len();
    let (expected, found) = (size * chunk_len, output.num_elements());
    match found == expected {
        true => Ok(chunk_len),
        false => Err(invalid(format!(
            "expected an output of {size} chunks of {chunk_len} elements, found {found} elements"
        ))),
    }
}
