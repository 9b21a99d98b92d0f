//! The ops of imported models that the standard kernel library does not have.
//!
//! Attributes are canonical: an op has one form, regardless of the versions of a file format. Each
//! is an ordinary op, written as one function, that runs alone or as a kernel of a graph.
//!
//! | module | ops |
//! |---|---|
//! | [`element_wise`] | functions of elements |
//! | [`pairs`] | functions of two tensors, broadcast to one shape |
//! | [`chains`] | several of them in one pass |
//! | [`shapes`] | other shapes of the same elements, and tensors made from shapes |
//! | [`pieces`] | concatenation, slices, padding |
//! | [`places`] | elements by index: gathers, scatters |
//! | [`top_k`] | the greatest or least elements |
//! | [`reductions`] | sums, means, extremes along axes |
//! | [`products`] | matrix products |
//! | [`windows`] | convolutions and pooling |
//! | [`normalization`] | softmax and normalizations |
//! | [`row_norms`] | normalizations of rows that are sums |
//! | [`images`] | resizing, depth and space |
//! | [`dot_product_attention`] | attention as products, softmax and products, tile by tile |
//! | [`attention`] | attention, rotary embedding, non-maximum suppression |
//! | [`recurrent`] | recurrent layers |
//! | [`quantized`] | quantised numbers |
//! | [`sampling`] | interpolation between pixels, and images assembled from windows |
//! | [`signal`] | Fourier transforms, windows, mel filters |
//! | [`einsum`] | Einstein summation |
//! | [`losses`] | losses of classifiers |
//! | [`random`] | random numbers |
//! | [`lists`] | lists of tensors, optional values, and conditions of loops |
//! | [`hlo`] | ops with the semantics of XLA |
//!
//! # Omitted operands
//! An op with optional operands takes the operands that are present, in order; the attribute
//! `slots` identifies them. Without the attribute, they are the first ones.
//!
//! # Numbers
//! Half-precision numbers are computed in at least single precision and rounded once; integers wrap
//! around. Reductions sum in double precision.
#![forbid(unsafe_code)]

mod number;

mod epilogue;

pub mod element_wise;

pub mod pairs;

pub mod shapes;

pub mod chains;

pub mod pieces;

pub mod places;

pub mod top_k;

pub mod reductions;

pub mod products;

pub mod windows;

pub mod normalization;

pub mod row_norms;

pub mod images;

pub mod dot_product_attention;

pub mod attention;

pub mod recurrent;

pub mod quantized;

pub mod sampling;

pub mod signal;

pub mod einsum;

pub mod losses;

pub mod random;

pub mod lists;

pub mod hlo;

pub use tfrt_compute::packed_layout;

use tfrt::ods::DialectDef;
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Element, OwnedElementsMut, Shape};

const DIALECTS: &[DialectDef] = &[
    DialectDef {
        summary: "The ops of imported models.",
        ..DialectDef::new("nn")
    },
    DialectDef {
        summary: "Ops with the semantics of XLA.",
        ..DialectDef::new("hlo")
    },
];

tfrt::declare_dialects!(DIALECTS);

/// Returns an operand as a dense tensor.
fn dense(operand: &AnyRef) -> Result<DenseHostTensor> {
    let tensor = operand.try_read::<DenseHostTensor>();
    let tensor = tensor.map_err(|error| invalid(error.to_string()))?.clone();
    // The kernels make shapes of their own, and so do kernels of other crates.
    check_empty(tensor.shape().dims())?;
    Ok(tensor)
}

/// The maximum product of an empty tensor's other extents, which is that of a file's tensors.
const MAX_EMPTY_STEPS: u128 = 1 << 31;

/// Checks the extents of a tensor without elements: they are steps of loops all the same.
fn check_empty(dims: &[usize]) -> Result<()> {
    if !dims.contains(&0) {
        return Ok(());
    }
    let extents = dims.iter().map(|&extent| extent.max(1) as u128);
    if extents.fold(1, u128::saturating_mul) <= MAX_EMPTY_STEPS {
        return Ok(());
    }
    Err(invalid(format!(
        "a tensor of shape {dims:?} is empty, but its other dimensions are too large"
    )))
}

/// Operands, some of which may have been omitted.
#[derive(Clone, Copy)]
struct Slots<'a> {
    op: &'static str,
    operands: &'a [AnyRef],
    slots: Option<&'a [i64]>,
}

impl<'a> Slots<'a> {
    fn new(op: &'static str, operands: &'a [AnyRef], slots: Option<&'a [i64]>) -> Self {
        Self {
            op,
            operands,
            slots,
        }
    }

    /// Returns the operand of a slot, if it is present.
    fn get(&self, slot: usize) -> Result<Option<DenseHostTensor>> {
        self.operand(slot).map(dense).transpose()
    }

    /// Returns the operand of a slot as it is, if it is present.
    fn operand(&self, slot: usize) -> Option<&'a AnyRef> {
        let position = match self.slots {
            Some(slots) => slots.iter().position(|&found| found == slot as i64),
            None => Some(slot),
        };
        self.operands.get(position?)
    }

    /// Returns the operand of a slot.
    fn need(&self, slot: usize, name: &str) -> Result<DenseHostTensor> {
        self.get(slot)?.ok_or_else(|| {
            invalid(format!(
                "`{}`: expected the operand `{name}`, found none",
                self.op
            ))
        })
    }
}

/// The most dimensions of a tensor that an op makes.
const MAX_RANK: usize = 32;

/// Returns the shape of a result.
///
/// # Errors
/// If it has too many dimensions, or too many elements.
fn shape_of(dims: &[usize]) -> Result<Shape> {
    check_rank(dims.len())?;
    check_empty(dims)?;
    Ok(Shape::new(dims)?)
}

fn check_rank(rank: usize) -> Result<()> {
    if rank > MAX_RANK {
        return Err(invalid(format!(
            "expected a tensor of at most {MAX_RANK} dimensions, found {rank}"
        )));
    }
    Ok(())
}

/// Returns a tensor for a result. Its elements are zero.
fn allocate(ctx: &ExecutionContext, dtype: DType, dims: &[usize]) -> Result<DenseHostTensor> {
    Ok(DenseHostTensor::zeroed(
        ctx.allocator(),
        dtype,
        shape_of(dims)?,
    )?)
}

/// Returns a tensor for a result, all elements of which the caller writes: they may be those of an
/// earlier tensor.
fn unspecified(ctx: &ExecutionContext, dtype: DType, dims: &[usize]) -> Result<DenseHostTensor> {
    Ok(DenseHostTensor::unspecified(
        ctx.allocator(),
        dtype,
        shape_of(dims)?,
    )?)
}

/// Returns intermediate results in memory of the request, which counts towards its limit. They are
/// zero at first.
///
/// What a kernel keeps besides its result belongs here if its length depends on shapes: a `Vec`
/// without room ends the process.
fn scratch<T: Element>(ctx: &ExecutionContext, len: usize) -> Result<OwnedElementsMut<T>> {
    let shape = Shape::new(&[len])?;
    let mut memory = DenseHostTensor::zeroed(ctx.allocator(), T::DTYPE, shape)?;
    Ok(memory.elements_mut_owned()?)
}

/// Checks that a request may have this many more bytes now, for what lies elsewhere.
fn ask(ctx: &ExecutionContext, num_bytes: usize) -> Result<()> {
    let shape = Shape::new(&[num_bytes])?;
    DenseHostTensor::unspecified(ctx.allocator(), DType::Ui8, shape)?;
    Ok(())
}

/// Returns a tensor of elements that are made from their positions.
fn made<T: Element>(
    ctx: &ExecutionContext,
    dims: &[usize],
    element: impl FnMut(usize) -> T,
) -> Result<DenseHostTensor> {
    Ok(DenseHostTensor::from_fn(
        ctx.allocator(),
        shape_of(dims)?,
        element,
    )?)
}

/// Allocates a vector for `count` elements, or returns an error: the count may come from a file.
fn room<T>(op: &'static str, count: usize) -> Result<Vec<T>> {
    let mut elements = Vec::new();
    let reserved = elements.try_reserve_exact(count);
    reserved.map_err(|_| invalid(format!("`{op}` failed to allocate {count} elements")))?;
    Ok(elements)
}

/// Returns an integer as a number that is larger than every extent if it does not fit.
fn whole_number<T: TryInto<i64>>(element: T) -> i64 {
    element.try_into().unwrap_or(i64::MAX)
}

/// Returns the integers of an operand, of any integer type.
fn whole_numbers(op: &'static str, tensor: &DenseHostTensor) -> Result<Vec<i64>> {
    number::with_integer!(op, tensor.dtype(), T => {
        let elements = tensor.elements::<T>()?;
        let mut numbers = room(op, elements.len())?;
        numbers.extend(elements.iter().map(|&number| whole_number(number)));
        Ok(numbers)
    })
}

/// Returns the numbers of an operand, of any type, in double precision, in memory of the request.
fn real_numbers(
    op: &'static str,
    tensor: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<OwnedElementsMut<f64>> {
    Ok(real_tensor(op, tensor, ctx)?.elements_mut_owned()?)
}

/// Returns an operand of any type as a tensor of double precision, in memory of the request.
fn real_tensor(
    op: &'static str,
    tensor: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    number::with_number!(op, tensor.dtype(), T => {
        let elements = tensor.elements::<T>()?;
        made(ctx, tensor.shape().dims(), |at| number::Number::to_f64(elements[at]))
    })
}

/// Returns the one number of an operand.
fn one_number(op: &'static str, name: &str, tensor: &DenseHostTensor) -> Result<f64> {
    number::with_number!(op, tensor.dtype(), T => match tensor.elements::<T>()?[..] {
        [number] => Ok(number::Number::to_f64(number)),
        ref numbers => Err(invalid(format!(
            "`{op}`: expected `{name}` with a single element, found {}",
            numbers.len()
        ))),
    })
}

/// Returns the axis that a number means; negative ones count from the end.
fn axis_of(op: &str, axis: i64, rank: usize) -> Result<usize> {
    let from_start = if axis < 0 {
        axis.checked_add(rank as i64)
    } else {
        Some(axis)
    };
    let from_start = from_start.and_then(|axis| usize::try_from(axis).ok());
    from_start.filter(|&axis| axis < rank).ok_or_else(|| {
        invalid(format!(
            "`{op}`: axis {axis} is out of range for a tensor of rank {rank}"
        ))
    })
}

/// Returns the axes that numbers mean, each once.
fn axes_of(op: &str, axes: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut is_given = vec![false; rank];
    let axes = axes.iter().map(|&axis| {
        let axis = axis_of(op, axis, rank)?;
        if std::mem::replace(&mut is_given[axis], true) {
            return Err(invalid(format!("`{op}`: axis {axis} is given twice")));
        }
        Ok(axis)
    });
    axes.collect()
}

/// Returns the numbers of an operand that is a list, or a scalar, with one for each dimension of a
/// tensor.
///
/// # Errors
/// If it has another shape, or more numbers than a tensor can have dimensions.
fn dimension_numbers(op: &'static str, name: &str, list: &DenseHostTensor) -> Result<Vec<i64>> {
    if list.shape().rank() > 1 {
        return Err(invalid(format!(
            "`{op}`: expected `{name}` to be a list, found {}",
            list.shape()
        )));
    }
    check_rank(list.num_elements())
        .map_err(|error| invalid(format!("`{op}`: {}", error.message())))?;
    whole_numbers(op, list)
}

/// Returns the one integer of an operand.
fn one_integer(op: &'static str, name: &str, tensor: &DenseHostTensor) -> Result<i64> {
    match whole_numbers(op, tensor)?[..] {
        [number] => Ok(number),
        ref numbers => Err(invalid(format!(
            "`{op}`: expected `{name}` with a single element, found {}",
            numbers.len()
        ))),
    }
}

/// Extents from numbers.
fn extents(op: &str, numbers: &[i64]) -> Result<Vec<usize>> {
    let extents = numbers.iter().map(|&number| {
        usize::try_from(number).map_err(|_| {
            invalid(format!(
                "`{op}`: expected a valid dimension, found {number}"
            ))
        })
    });
    extents.collect()
}

/// Returns how far a step along each axis goes, in elements.
fn strides(dims: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(dims[axis]);
    }
    strides
}

/// Moves an index to the next place of a shape, in row-major order.
fn advance(index: &mut [usize], dims: &[usize]) {
    for (index, &extent) in index.iter_mut().zip(dims).rev() {
        *index += 1;
        if *index < extent {
            return;
        }
        *index = 0;
    }
}

/// Returns the number of elements of dimensions that a tensor has, so that it fits.
fn product(dims: &[usize]) -> usize {
    dims.iter().product()
}

#[cold]
fn unsupported(op: &str, dtype: DType) -> Error {
    invalid(format!("`{op}` does not support {dtype}"))
}

#[cold]
fn invalid(message: impl AsRef<str>) -> Error {
    Error::new(message.as_ref()).with_code(ErrorCode::InvalidArgument)
}
