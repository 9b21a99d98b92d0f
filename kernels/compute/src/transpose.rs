//! Permutation of the axes of a tensor.

use crate::error::{ComputeError, check_len, checked_product};

/// Computes `output[i[permutation[0]], i[permutation[1]], …] = input[i[0], i[1], …]`: axis `a` of
/// the output is axis `permutation[a]` of the input.
///
/// # Shapes
/// `input`: `shape`; `output`: `shape[permutation[0]], shape[permutation[1]], …`.
///
/// # Errors
/// If it is not a permutation of the shape's axes, or the length of a slice does not match the
/// shape.
///
/// ```
/// let mut output = [0; 6];
/// tfrt_compute::transpose::transpose(&[2, 3], &[1, 0], &[1, 2, 3, 4, 5, 6], &mut output)?;
/// assert_eq!(output, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tfrt_compute::ComputeError>(())
/// ```
pub fn transpose<T: Copy>(
    shape: &[usize],
    permutation: &[usize],
    input: &[T],
    output: &mut [T],
) -> Result<(), ComputeError> {
    let mut seen = vec![false; shape.len()];
    let is_permutation = permutation.len() == shape.len()
        && permutation
            .iter()
            .all(|&axis| axis < shape.len() && !std::mem::replace(&mut seen[axis], true));
    if !is_permutation {
        return Err(ComputeError::new(format!(
            "transpose: expected a permutation of {} axes, found {permutation:?}",
            shape.len()
        )));
    }
    let len = checked_product("transpose", shape)?;
    check_len("transpose", "input", len, input.len())?;
    check_len("transpose", "output", len, output.len())?;
    if len == 0 {
        return Ok(());
    }
    let axes = merge_axes(shape, permutation);
    match axes.as_slice() {
        [] => output.copy_from_slice(input),
        [.., last] if last.stride == 1 => {
            for_each_place(&axes[..axes.len() - 1], |at, from| {
                output[at * last.extent..][..last.extent]
                    .copy_from_slice(&input[from..][..last.extent]);
            });
        }
        _ => transpose_squares(&axes, input, output),
    }
    Ok(())
}

/// An axis of the output: its extent, and how far a step along it goes in the input, in elements.
#[derive(Clone, Copy, Debug)]
struct Axis {
    extent: usize,
    stride: usize,
}

/// Returns the axes of the output without extents of 1, neighbours merged that are neighbours in
/// the input.
fn merge_axes(shape: &[usize], permutation: &[usize]) -> Vec<Axis> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    let mut axes: Vec<Axis> = Vec::with_capacity(shape.len());
    for &axis in permutation {
        let (extent, stride) = (shape[axis], strides[axis]);
        match axes.last_mut() {
            _ if extent == 1 => {}
            Some(outer) if outer.stride == extent * stride => {
                *outer = Axis {
                    extent: outer.extent * extent,
                    stride,
                }
            }
            _ => axes.push(Axis { extent, stride }),
        }
    }
    axes
}

/// Visits `(number of the place, where it lies in the input)`.
fn for_each_place(axes: &[Axis], mut visit: impl FnMut(usize, usize)) {
    let mut index = vec![0; axes.len()];
    let mut from = 0;
    for at in 0..axes.iter().map(|axis| axis.extent).product() {
        visit(at, from);
        for (index, axis) in index.iter_mut().zip(axes).rev() {
            *index += 1;
            from += axis.stride;
            if *index < axis.extent {
                break;
            }
            *index = 0;
            from -= axis.stride * axis.extent;
        }
    }
}

/// The side of the squares that a transposition moves: its lines of both sides stay in the
/// first-level cache.
const SQUARE: usize = 32;

/// Moves squares of a matrix: the output has `num_rows` rows, `step` elements apart, along which
/// the input has the stride of `last`.
fn move_squares<T: Copy>(input: &[T], num_rows: usize, last: &Axis, step: usize, output: &mut [T]) {
    for row in (0..num_rows).step_by(SQUARE) {
        for column in (0..last.extent).step_by(SQUARE) {
            let columns = SQUARE.min(last.extent - column);
            for row in row..(row + SQUARE).min(num_rows) {
                let target = &mut output[row * step + column..][..columns];
                let source = &input[row + column * last.stride..];
                let source = source.iter().step_by(last.stride);
                target
                    .iter_mut()
                    .zip(source)
                    .for_each(|(to, &from)| *to = from);
            }
        }
    }
}

/// Interleaves `N` rows of `len` elements, `stride` elements apart, such as the channels of an
/// image.
///
/// A square of so few columns is mostly overhead: with three channels, an image of 224 × 224 takes
/// half of the time that it takes in squares (Sapphire Rapids).
fn interleave<T: Copy, const N: usize>(input: &[T], stride: usize, len: usize, output: &mut [T]) {
    let rows: [&[T]; N] = std::array::from_fn(|row| &input[row * stride..][..len]);
    let (places, _) = output[..N * len].as_chunks_mut::<N>();
    for (index, place) in places.iter_mut().enumerate() {
        *place = rows.map(|row| row[index]);
    }
}

/// The last axis of the output is not the last of the input: squares over both are moved one by
/// one, and a few columns are interleaved.
fn transpose_squares<T: Copy>(axes: &[Axis], input: &[T], output: &mut [T]) {
    let (last, others) = axes.split_last().expect("a tensor that changes has axes");
    // The axis of the output along which the input is contiguous; merging leaves one, as extents of
    // 1 are left out.
    let Some(fast) = others.iter().position(|axis| axis.stride == 1) else {
        for_each_place(axes, |at, from| output[at] = input[from]);
        return;
    };
    // How far a step along `fast` goes in the output.
    let step: usize = axes[fast + 1..].iter().map(|axis| axis.extent).product();
    let mut around: Vec<Axis> = others.to_vec();
    let fast = std::mem::replace(
        &mut around[fast],
        Axis {
            extent: 1,
            stride: 0,
        },
    );
    let mut output_strides = vec![1; axes.len()];
    for axis in (1..axes.len()).rev() {
        output_strides[axis - 1] = output_strides[axis] * axes[axis].extent;
    }
    let mut index = vec![0; around.len()];
    for _ in 0..around.iter().map(|axis| axis.extent).product() {
        let from: usize = index
            .iter()
            .zip(&around)
            .map(|(index, axis)| index * axis.stride)
            .sum();
        let at: usize = index
            .iter()
            .zip(&output_strides)
            .map(|(index, stride)| index * stride)
            .sum();
        let (from, at) = (&input[from..], &mut output[at..]);
        match last.extent {
            2 if step == 2 => interleave::<_, 2>(from, last.stride, fast.extent, at),
            3 if step == 3 => interleave::<_, 3>(from, last.stride, fast.extent, at),
            4 if step == 4 => interleave::<_, 4>(from, last.stride, fast.extent, at),
            _ => move_squares(from, fast.extent, last, step, at),
        }
        for (index, axis) in index.iter_mut().zip(&around).rev() {
            *index += 1;
            if *index < axis.extent {
                break;
            }
            *index = 0;
        }
    }
}
