//! Ops with the semantics of XLA, for StableHLO programs. The import uses other ops where they
//! compute the same.
//!
//! | module | contents |
//! |---|---|
//! | [`element_wise`] | element-wise programs, bitcasts, iota |
//! | [`moves`] | data movement: broadcasts, slices, padding |
//! | [`windows`] | reductions of whole tensors and of windows |
//! | [`places`] | gathers, scatters, sorting |
//! | [`products`] | general dot products, convolutions |
//! | [`linear`] | Cholesky decomposition, triangular systems |
//! | [`fourier`] | Fourier transforms |
//! | [`dynamic`] | ops whose shapes are operands, checks of shapes |
//! | [`random`] | random bits |
//! | `element` | a common representation of elements of every type |
//! | `function` | scalar functions in this representation |
//! | `special` | special functions: gamma, error, zeta, Bessel functions |
//! | `complex` | functions of complex numbers |
//! | `program` | scalar programs as the text of an attribute |
//!
//! Integers wrap around. Division by zero returns -1, and the remainder by zero is the dividend. A
//! shift by at least the bit width returns 0, or the sign. Half- and single-precision numbers are
//! computed in double precision, and rounded once.
//!
//! Reductions, scatters and sorts apply a small program to elements. It is the text of an
//! attribute: see `program`. To a program, a complex number is two numbers: its real and its
//! imaginary part.

mod element;

mod complex;

mod special;

mod function;

mod program;

pub mod element_wise;

pub mod moves;

pub mod windows;

pub mod places;

pub mod products;

pub mod linear;

pub mod fourier;

pub mod dynamic;

pub mod random;

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{allocate, invalid, room};

/// Copies elements to a new vector.
fn copied<T: Copy>(op: &'static str, elements: &[T]) -> Result<Vec<T>> {
    let mut copy = room(op, elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Returns the elements of a tensor, in the representation of `element`.
fn load(op: &'static str, tensor: &DenseHostTensor) -> Result<Vec<u64>> {
    let ty = element::Type::of(op, tensor.dtype())?;
    let bytes = tensor.buffer().read()?;
    let mut elements = room(op, tensor.num_elements())?;
    elements.extend(ty.elements(&bytes));
    Ok(elements)
}

/// Returns the parts of the elements of a tensor, with their type: of complex numbers, first all
/// real parts, then all imaginary parts.
fn planes(op: &'static str, tensor: &DenseHostTensor) -> Result<(element::Type, Vec<Vec<u64>>)> {
    let (ty, count) = element::Type::parts(op, tensor.dtype())?;
    if count == 1 {
        return Ok((ty, vec![load(op, tensor)?]));
    }
    let bytes = tensor.buffer().read()?;
    let mut planes = Vec::with_capacity(count);
    for part in 0..count {
        let mut elements = room(op, tensor.num_elements())?;
        elements.extend(ty.elements(&bytes).skip(part).step_by(count));
        planes.push(elements);
    }
    Ok((ty, planes))
}

/// Creates a tensor from the parts of its elements.
fn store_planes(
    op: &'static str,
    ctx: &ExecutionContext,
    dtype: DType,
    dims: &[usize],
    planes: &[Vec<u64>],
) -> Result<DenseHostTensor> {
    if let [elements] = planes {
        return store(op, ctx, dtype, dims, elements);
    }
    let (ty, count) = element::Type::parts(op, dtype)?;
    let mut result = allocate(ctx, dtype, dims)?;
    let is_whole = planes
        .iter()
        .all(|plane| plane.len() == result.num_elements());
    if planes.len() != count || !is_whole {
        return Err(invalid(format!(
            "`{op}` needs {count} parts for a tensor of {dims:?}, found {}",
            planes.len()
        )));
    }
    let mut elements = room(op, count.saturating_mul(result.num_elements()))?;
    for at in 0..result.num_elements() {
        elements.extend(planes.iter().map(|plane| plane[at]));
    }
    ty.store(&elements, &mut result.buffer_mut().write()?);
    Ok(result)
}

/// Creates a tensor from elements.
fn store(
    op: &'static str,
    ctx: &ExecutionContext,
    dtype: DType,
    dims: &[usize],
    elements: &[u64],
) -> Result<DenseHostTensor> {
    let mut result = allocate(ctx, dtype, dims)?;
    let ty = element::Type::of(op, dtype)?;
    if result.num_elements() != elements.len() {
        return Err(invalid(format!(
            "`{op}` needs elements for a tensor of {dims:?}, found {}",
            elements.len()
        )));
    }
    ty.store(elements, &mut result.buffer_mut().write()?);
    Ok(result)
}

/// Returns the `count` numbers of an attribute. If it is absent, each number is `missing`.
fn numbers(
    op: &str,
    name: &str,
    given: Option<&[i64]>,
    count: usize,
    missing: i64,
) -> Result<Vec<i64>> {
    let given = given.map_or_else(|| vec![missing; count], <[i64]>::to_vec);
    if given.len() == count {
        return Ok(given);
    }
    Err(invalid(format!(
        "`{op}` needs {count} numbers in `{name}`, found {}",
        given.len()
    )))
}

/// Returns the axes that an attribute lists. Each must be distinct and below `rank`.
fn axes(op: &str, given: Option<&[i64]>, rank: usize) -> Result<Vec<usize>> {
    let given = given.unwrap_or_default();
    if let Some(negative) = given.iter().find(|&&axis| axis < 0) {
        return Err(invalid(format!(
            "`{op}` needs non-negative axes, found {negative}"
        )));
    }
    crate::axes_of(op, given, rank)
}

/// Returns the axes below `rank` that are not in `axes`.
fn other_axes(rank: usize, axes: &[usize]) -> Vec<usize> {
    (0..rank).filter(|axis| !axes.contains(axis)).collect()
}

/// Returns the extents of these axes.
fn pick(dims: &[usize], axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|&axis| dims[axis]).collect()
}

/// Converts the linear position of an element to an index.
fn index_of(mut place: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for axis in (0..dims.len()).rev() {
        index[axis] = place % dims[axis].max(1);
        place /= dims[axis].max(1);
    }
    index
}
