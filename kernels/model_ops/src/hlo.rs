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
//! | [`random`] | random bits |
//! | `element` | a common representation of elements of every type |
//! | `function` | scalar functions in this representation |
//! | `program` | scalar programs as the text of an attribute |
//!
//! Integers wrap around. Division by zero returns -1, and the remainder by zero is the dividend. A
//! shift by at least the bit width returns 0, or the sign. Half- and single-precision numbers are
//! computed in double precision, and rounded once.
//!
//! Reductions, scatters and sorts apply a small program to elements. It is the text of an
//! attribute: see `program`.

mod element;

mod function;

mod program;

pub mod element_wise;

pub mod moves;

pub mod windows;

pub mod places;

pub mod products;

pub mod linear;

pub mod random;

use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{allocate, invalid};

/// Allocates a vector for `count` elements, or returns an error: the count may come from a file.
fn room<T>(op: &'static str, count: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(count);
    reserved.map_err(|_| invalid(format!("`{op}` failed to allocate {count} elements")))?;
    Ok(elements)
}

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
