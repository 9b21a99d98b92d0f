//! Ops with the semantics of XLA: what programs of StableHLO are made of, where no op with other
//! semantics does the same.
//!
//! | module | contents |
//! |---|---|
//! | [`element_wise`] | functions of elements, types, counting |
//! | [`moves`] | elements to other places: broadcasts, slices, padding |
//! | [`windows`] | reductions, as a whole and by windows |
//! | [`places`] | gathers, scatters, sorting |
//! | [`products`] | products of any dimensions, convolutions |
//! | [`linear`] | factors of matrices, triangular equations |
//! | [`random`] | random bits |
//! | `element` | one form for elements of every type |
//! | `function` | functions of elements in this form |
//! | `program` | functions that an attribute has as text |
//!
//! Integers wrap around. A division by zero gives -1, and the remainder by zero the dividend. A
//! shift by more than there are bits gives 0, or the sign. Half- and single-precision numbers are
//! computed in double precision, and rounded once.
//!
//! What a reduction, a scatter or a sort does with elements is a small program, in an attribute:
//! see `program`.

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

/// Room for elements, of which there are as many as a file says: an error where there is none.
fn room<T>(op: &'static str, count: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(count);
    reserved.map_err(|_| invalid(format!("`{op}` has no memory for {count} elements")))?;
    Ok(elements)
}

/// A copy of elements.
fn copied<T: Copy>(op: &'static str, elements: &[T]) -> Result<Vec<T>> {
    let mut copy = room(op, elements.len())?;
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// The elements of a tensor, in the form of `element`.
fn load(op: &'static str, tensor: &DenseHostTensor) -> Result<Vec<u64>> {
    let ty = element::Type::of(op, tensor.dtype())?;
    let bytes = tensor.buffer().read()?;
    let mut elements = room(op, tensor.num_elements())?;
    elements.extend(ty.elements(&bytes));
    Ok(elements)
}

/// A tensor of these elements.
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
            "`{op}` makes {} elements, which are no tensor of {dims:?}",
            elements.len()
        )));
    }
    ty.store(elements, &mut result.buffer_mut().write()?);
    Ok(result)
}

/// Numbers of an attribute, of which there are `count`; without the attribute, all are `missing`.
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

/// The axes that an attribute lists, each once and each below `rank`.
fn axes(op: &str, given: Option<&[i64]>, rank: usize) -> Result<Vec<usize>> {
    let given = given.unwrap_or_default();
    if let Some(negative) = given.iter().find(|&&axis| axis < 0) {
        return Err(invalid(format!("`{op}`: there is no axis {negative}")));
    }
    crate::axes_of(op, given, rank)
}

/// The axes that others leave.
fn other_axes(rank: usize, axes: &[usize]) -> Vec<usize> {
    (0..rank).filter(|axis| !axes.contains(axis)).collect()
}

/// The extents of some axes.
fn pick(dims: &[usize], axes: &[usize]) -> Vec<usize> {
    axes.iter().map(|&axis| dims[axis]).collect()
}

/// The index of the place of an element.
fn index_of(mut place: usize, dims: &[usize]) -> Vec<usize> {
    let mut index = vec![0; dims.len()];
    for axis in (0..dims.len()).rev() {
        index[axis] = place % dims[axis].max(1);
        place /= dims[axis].max(1);
    }
    index
}
