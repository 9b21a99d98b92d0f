//! Kinds of tensors, by name.

use std::io;

use tfrt::prelude::*;
use tfrt_tensor::TensorType;

use crate::text::print_line;

/// Returns the kind of tensor that its attribute names. The attribute may have any name.
///
/// # Errors
/// `tensor type NAME is not registered`.
#[tfrt_kernel(
    "tfrt_test.get_static_tensor_type",
    raw,
    attrs(name: str),
    results(tensor_type: TensorType),
    attribute_names = free
)]
fn get_static_tensor_type(frame: &mut KernelFrame<'_>) -> Result<()> {
    let name = frame.attribute::<str>(0)?;
    let unknown = || {
        Error::new(format!("tensor type {name} is not registered")).with_code(ErrorCode::NotFound)
    };
    let tensor_type = TensorType::from_name(name).ok_or_else(unknown)?;
    frame.set_result(0, AnyRef::available(tensor_type));
    Ok(())
}

/// Prints `tensor_type = NAME`.
#[tfrt_kernel("tfrt_test.print_tensor_type", side_effecting)]
fn print_tensor_type(tensor_type: TensorType) -> io::Result<()> {
    print_line(format_args!("tensor_type = {}", tensor_type.name()))
}
