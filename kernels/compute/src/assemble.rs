//! Tensors assembled from pieces of others: concatenation, windows, padding, repetition, selected
//! rows.
//!
//! Elements are only copied, in runs as long as possible, so any `Copy` type is supported.

use crate::error::{ComputeError, check_len, checked_product};
use crate::reduction::resolve_axis;

/// Concatenates tensors along an axis.
///
/// # Shapes
/// `inputs`: shapes that differ in extent `axis` only, with their elements; `output`: the same with
/// the sum of these extents.
///
/// # Errors
/// If shapes do not match, or the length of a slice does not match its shape.
///
/// ```
/// let mut output = [0; 6];
/// let inputs: [(&[usize], &[i32]); 2] = [(&[2, 1], &[1, 4]), (&[2, 2], &[2, 3, 5, 6])];
/// tfrt_compute::assemble::concat(-1, &inputs, &mut output)?;
/// assert_eq!(output, [1, 2, 3, 4, 5, 6]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn concat<T: Copy>(
    axis: isize,
    inputs: &[(&[usize], &[T])],
    output: &mut [T],
) -> Result<(), ComputeError> {
    let Some(&(first, _)) = inputs.first() else {
        return check_len("concat", "output", 0, output.len());
    };
    let axis = resolve_axis("concat", axis, first.len())?;
    let mut total = 0_usize;
    for &(shape, elements) in inputs {
        let fits = shape.len() == first.len()
            && (0..shape.len()).all(|other| other == axis || shape[other] == first[other]);
        if !fits {
            return Err(ComputeError::new(format!(
                "concat: expected shapes that differ only along axis {axis}, found {first:?} and \
                 {shape:?}"
            )));
        }
        check_len(
            "concat",
            "an input",
            checked_product("concat", shape)?,
            elements.len(),
        )?;
        total = total.saturating_add(shape[axis]);
    }
    let outer = checked_product("concat", &first[..axis])?;
    let inner = checked_product("concat", &first[axis + 1..])?;
    check_len(
        "concat",
        "output",
        checked_product("concat", &[outer, total, inner])?,
        output.len(),
    )?;
    if output.is_empty() {
        return Ok(());
    }
    let mut start = 0;
    for &(shape, elements) in inputs {
        let run = shape[axis] * inner;
        if run > 0 {
            for (row, elements) in output
                .chunks_exact_mut(total * inner)
                .zip(elements.chunks_exact(run))
            {
                row[start..][..run].copy_from_slice(elements);
            }
        }
        start += run;
    }
    Ok(())
}

/// Cuts a window out of a tensor.
///
/// # Shapes
/// `input`: `shape`; `output`: `extents`, from `begin` on along each axis.
///
/// # Errors
/// If the window is not within the tensor, or the length of a slice does not match its shape.
///
/// ```
/// let mut output = [0; 2];
/// tfrt_compute::assemble::slice(&[2, 3], &[0, 1], &[2, 1], &[1, 2, 3, 4, 5, 6], &mut output)?;
/// assert_eq!(output, [2, 5]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn slice<T: Copy>(
    shape: &[usize],
    begin: &[usize],
    extents: &[usize],
    input: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    let is_within = begin.len() == shape.len()
        && extents.len() == shape.len()
        && (0..shape.len())
            .all(|axis| begin[axis] <= shape[axis] && extents[axis] <= shape[axis] - begin[axis]);
    if !is_within {
        return Err(ComputeError::new(format!(
            "slice: expected a window within {shape:?}, found {extents:?} at {begin:?}"
        )));
    }
    check_len(
        "slice",
        "input",
        checked_product("slice", shape)?,
        input.len(),
    )?;
    check_len(
        "slice",
        "output",
        checked_product("slice", extents)?,
        output.len(),
    )?;
    let zeros = vec![0; shape.len()];
    copy_window(extents, (input, shape, begin), (output, extents, &zeros));
    Ok(())
}

/// Surrounds a tensor with a value.
///
/// # Shapes
/// `input`: `shape`; `output`: `before[i] + shape[i] + after[i]`, with
/// `padding[i] = (before[i], after[i])`.
///
/// # Errors
/// If there is not one pair for each axis, or the length of a slice does not match its shape.
///
/// ```
/// let mut output = [0; 5];
/// tfrt_compute::assemble::pad(&[2], &[(1, 2)], 9, &[3, 4], &mut output)?;
/// assert_eq!(output, [9, 3, 4, 9, 9]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn pad<T: Copy>(
    shape: &[usize],
    padding: &[(usize, usize)],
    value: T,
    input: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    if padding.len() != shape.len() {
        return Err(ComputeError::new(format!(
            "pad: expected {} pairs, found {}",
            shape.len(),
            padding.len()
        )));
    }
    let padded: Vec<usize> = shape
        .iter()
        .zip(padding)
        .map(|(&extent, &(before, after))| extent.saturating_add(before).saturating_add(after))
        .collect();
    check_len("pad", "input", checked_product("pad", shape)?, input.len())?;
    check_len(
        "pad",
        "output",
        checked_product("pad", &padded)?,
        output.len(),
    )?;
    output.fill(value);
    let (zeros, before) = (
        vec![0; shape.len()],
        padding
            .iter()
            .map(|&(before, _)| before)
            .collect::<Vec<_>>(),
    );
    copy_window(shape, (input, shape, &zeros), (output, &padded, &before));
    Ok(())
}

/// A tensor, its shape, and where in it a window begins.
type Place<'a, T> = (T, &'a [usize], &'a [usize]);

/// Copies a window from one tensor to another; it lies within both.
fn copy_window<T: Copy>(extents: &[usize], from: Place<'_, &[T]>, to: Place<'_, &mut [T]>) {
    let ((input, input_shape, input_begin), (output, output_shape, output_begin)) = (from, to);
    let Some((&run, outer)) = extents.split_last() else {
        output.copy_from_slice(input);
        return;
    };
    if extents.contains(&0) {
        return;
    }
    let place = |shape: &[usize], begin: &[usize], index: &[usize]| {
        (0..shape.len()).fold(0, |at, axis| {
            at * shape[axis] + begin[axis] + index.get(axis).copied().unwrap_or(0)
        })
    };
    let mut index = vec![0; outer.len()];
    for _ in 0..outer.iter().product() {
        let source = &input[place(input_shape, input_begin, &index)..][..run];
        output[place(output_shape, output_begin, &index)..][..run].copy_from_slice(source);
        for (index, &extent) in index.iter_mut().zip(outer).rev() {
            *index += 1;
            if *index < extent {
                break;
            }
            *index = 0;
        }
    }
}

/// Repeats a tensor along each axis.
///
/// # Shapes
/// `input`: `shape`; `output`: `shape[i] · multiples[i]`.
///
/// # Errors
/// If there is not one multiple for each axis, or the length of a slice does not match its shape.
///
/// ```
/// let mut output = [0; 8];
/// tfrt_compute::assemble::repeat(&[1, 2], &[2, 2], &[1, 2], &mut output)?;
/// assert_eq!(output, [1, 2, 1, 2, 1, 2, 1, 2]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn repeat<T: Clone>(
    shape: &[usize],
    multiples: &[usize],
    input: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    if multiples.len() != shape.len() {
        return Err(ComputeError::new(format!(
            "repeat: expected {} multiples, found {}",
            shape.len(),
            multiples.len()
        )));
    }
    let repeated: Vec<usize> = shape
        .iter()
        .zip(multiples)
        .map(|(&e, &m)| e.saturating_mul(m))
        .collect();
    check_len(
        "repeat",
        "input",
        checked_product("repeat", shape)?,
        input.len(),
    )?;
    check_len(
        "repeat",
        "output",
        checked_product("repeat", &repeated)?,
        output.len(),
    )?;
    if !output.is_empty() {
        repeat_axes(shape, multiples, input, output);
    }
    Ok(())
}

/// Fills `output` with the repetitions along all axes.
fn repeat_axes<T: Clone>(shape: &[usize], multiples: &[usize], input: &[T], output: &mut [T]) {
    let (Some((&extent, shape)), Some((&multiple, multiples))) =
        (shape.split_first(), multiples.split_first())
    else {
        output.clone_from_slice(input);
        return;
    };
    let once = output.len() / multiple;
    let (first, others) = output.split_at_mut(once);
    for (input, output) in input
        .chunks_exact(input.len() / extent)
        .zip(first.chunks_exact_mut(once / extent))
    {
        repeat_axes(shape, multiples, input, output);
    }
    others
        .chunks_exact_mut(once)
        .for_each(|copy| copy.clone_from_slice(first));
}

/// Repeats a row: `output` becomes copies of `row`, one after another.
///
/// # Errors
/// If the output does not consist of whole rows.
pub fn repeat_row<T: Copy>(row: &[T], output: &mut [T]) -> Result<(), ComputeError> {
    let is_filled = if row.is_empty() {
        output.is_empty()
    } else {
        output.len().is_multiple_of(row.len())
    };
    if !is_filled {
        let (expected, found) = (row.len(), output.len());
        return Err(ComputeError::new(format!(
            "repeat_row: expected rows of {expected} elements, found {found} elements"
        )));
    }
    output
        .chunks_exact_mut(row.len().max(1))
        .for_each(|copy| copy.copy_from_slice(row));
    Ok(())
}

/// Gathers rows by their indices.
///
/// # Shapes
/// `input`: `[rows, row_len]`; `output`: `[indices.len(), row_len]`.
///
/// # Errors
/// If an index is out of range, or the length of a slice does not match its shape; the output is
/// then unchanged.
///
/// ```
/// let mut output = [0; 4];
/// tfrt_compute::assemble::gather(2, &[1, 2, 3, 4, 5, 6], &[2_i64, 0], &mut output)?;
/// assert_eq!(output, [5, 6, 1, 2]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn gather<T: Copy, I: Copy + TryInto<usize>>(
    row_len: usize,
    input: &[T],
    indices: &[I],
    output: &mut [T],
) -> Result<(), ComputeError> {
    let rows = input.len().checked_div(row_len).unwrap_or(usize::MAX);
    check_len("gather", "input", rows.saturating_mul(row_len), input.len())?;
    check_len(
        "gather",
        "output",
        checked_product("gather", &[indices.len(), row_len])?,
        output.len(),
    )?;
    for (position, &index) in indices.iter().enumerate() {
        if index.try_into().ok().is_none_or(|index| index >= rows) {
            return Err(ComputeError::new(format!(
                "gather: expected an index below {rows}, found {position}"
            )));
        }
    }
    for (row, &index) in output.chunks_exact_mut(row_len.max(1)).zip(indices) {
        let index: usize = index.try_into().ok().expect("checked above");
        row.copy_from_slice(&input[index * row_len..][..row_len]);
    }
    Ok(())
}

/// Converts numbers to rows that are `on` at that index and `off` elsewhere; a number out of range
/// yields a row of `off`.
///
/// # Shapes
/// `output`: `[indices.len(), depth]`.
///
/// # Errors
/// If the length of the output does not match its shape.
///
/// ```
/// let mut output = [0; 6];
/// tfrt_compute::assemble::one_hot(3, &[2, -1], 1, 0, &mut output)?;
/// assert_eq!(output, [0, 0, 1, 0, 0, 0]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn one_hot<T: Copy, I: Copy + TryInto<usize>>(
    depth: usize,
    indices: &[I],
    on: T,
    off: T,
    output: &mut [T],
) -> Result<(), ComputeError> {
    check_len(
        "one_hot",
        "output",
        checked_product("one_hot", &[indices.len(), depth])?,
        output.len(),
    )?;
    output.fill(off);
    for (row, &index) in output.chunks_exact_mut(depth.max(1)).zip(indices) {
        if let Some(element) = index.try_into().ok().and_then(|index| row.get_mut(index)) {
            *element = on;
        }
    }
    Ok(())
}
