//! Setting of elements.

use half::{bf16, f16};
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_tensor::{DenseHostTensor, Element};

use crate::scalar::{Constant, Constants, Scalar};

/// Sets all elements to one value.
#[tfrt_kernel(
    "tfrt_dht.fill_tensor_with_constant.{T}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    format = "operands typed($value)"
)]
fn fill<T: Scalar>(tensor: &mut DenseHostTensor, #[attr] value: Constant<T>) -> Result<()> {
    fill_with(tensor, value.0)
}

/// Sets all elements to one value.
#[tfrt_kernel("tfrt_dht.fill_tensor_with_constant.{T}", T = [i8, f16, f64], attribute_names = free)]
fn fill_generic_form<T: Scalar>(
    tensor: &mut DenseHostTensor,
    #[attr] value: Constant<T>,
) -> Result<()> {
    fill_with(tensor, value.0)
}

fn fill_with<E: Element>(tensor: &mut DenseHostTensor, value: E) -> Result<()> {
    tensor.elements_mut()?.fill(value);
    Ok(())
}

/// Sets each element to its value.
///
/// # Errors
/// `Incorrect number of values for the tensor: N, but expected M`.
#[tfrt_kernel(
    "tfrt_dht.set_tensor_with_constant_values.{T}",
    T = [u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", i32, f32, i64, bool,
         Complex<f32> as "complex64", Complex<f64> as "complex128"],
    format = "operands typed($values)"
)]
fn set_constants<T: Scalar>(
    tensor: &mut DenseHostTensor,
    #[attr] values: Constants<'_, T>,
) -> Result<()> {
    set(tensor, &values.0)
}

/// Sets each element to its value.
///
/// # Errors
/// `Incorrect number of values for the tensor: N, but expected M`.
#[tfrt_kernel(
    "tfrt_dht.set_tensor_with_constant_values.{T}",
    T = [i8, i16, f16, bf16, f64],
    attribute_names = free,
)]
fn set_constants_generic_form<T: Scalar>(
    tensor: &mut DenseHostTensor,
    #[attr] values: Constants<'_, T>,
) -> Result<()> {
    set(tensor, &values.0)
}

/// Sets each element to its value.
///
/// # Errors
/// `Incorrect number of values for the tensor: N, but expected M`.
#[tfrt_kernel(
    "tfrt_dht_sync.set_tensor_with_constant_values.{T}",
    T = [u8 as "ui8", u32 as "ui32", i32, f32, i64, bool, Complex<f32> as "complex64", Complex<f64> as "complex128"],
    sync,
    format = "operands typed($values) attr-dict"
)]
fn set_constants_sync<T: Scalar>(
    tensor: &mut DenseHostTensor,
    #[attr] values: Constants<'_, T>,
) -> Result<()> {
    set(tensor, &values.0)
}

/// Sets each element to its value.
///
/// # Errors
/// `Incorrect number of values for the tensor: N, but expected M`.
#[tfrt_kernel(
    "tfrt_dht_sync.set_tensor_with_constant_values.{T}",
    T = [i8, f16, f64],
    sync,
    attribute_names = free,
)]
fn set_constants_sync_generic_form<T: Scalar>(
    tensor: &mut DenseHostTensor,
    #[attr] values: Constants<'_, T>,
) -> Result<()> {
    set(tensor, &values.0)
}

/// Sets each element to the value of an operand.
///
/// # Errors
/// `Incorrect number of values for the tensor: N, but expected M`.
#[tfrt_kernel(
    "tfrt_dht.set_tensor_with_values.{T}",
    T = [u8 as "ui8", u32 as "ui32", f32, f64, i8, i32, i64, bool, Complex<f32> as "complex64",
         Complex<f64> as "complex128", f16],
    results(out_chain)
)]
fn set_values<T: Scalar>(
    tensor: &mut DenseHostTensor,
    in_chain: Chain,
    values: Operands<'_, T>,
) -> Result<Chain> {
    let values: Vec<T::Element> = values.iter().map(Scalar::to_element).collect();
    set(tensor, &values)?;
    Ok(in_chain)
}

fn set<E: Element>(tensor: &mut DenseHostTensor, values: &[E]) -> Result<()> {
    if values.len() != tensor.num_elements() {
        return Err(wrong_number(values.len(), tensor.num_elements()));
    }
    tensor.elements_mut()?.copy_from_slice(values);
    Ok(())
}

#[cold]
pub(super) fn wrong_number(found: usize, expected: usize) -> Error {
    Error::new(format!(
        "Incorrect number of values for the tensor: {found}, but expected {expected}"
    ))
}
