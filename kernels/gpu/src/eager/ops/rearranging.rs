//! Ops that move elements: padding, transposing, and windows.

use tfrt::core::OperandSet;
use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor};

use super::{
    Channels, host_integers, integers, integers_of_attribute, invalid, with_host_operand,
    with_host_operands,
};
use crate::eager::call::{GpuCall, KernelArgument};
use crate::eager::code::{Class, Code};
use crate::eager::layout::dense_strides;
use crate::values::DenseGpuTensor;

/// The most dimensions.
const MAX_RANK: usize = 8;

/// Where the element of a result comes from, for each dimension of the result.
struct Source {
    /// The distance between neighbours in the operand, in elements.
    stride: usize,
    /// The number of elements of the operand.
    extent: usize,
    /// The coordinate of the first of them in the result.
    before: usize,
}

/// Returns the text of a kernel. Its parameters are the number of elements, the addresses of the
/// result and of the operand, and for each dimension the extent of the result, and the stride, the
/// extent and the start of the operand.
fn text(shift: u32, rank: usize) -> String {
    let (mut code, index) = Code::new();
    let (output, input) = (code.parameter(), code.parameter());
    let dims = code.parameters(rank);
    let coordinates = code.coordinates(&index, &dims);
    let (class, ty) = match shift {
        3 => (Class::Bits64, "b64"),
        2 => (Class::Bits32, "b32"),
        _ => (Class::Bits16, "b16"),
    };
    let value = code.register(class);
    code.line(&format!("mov.{ty} {value}, 0;"));
    let mut offset = code.op(Class::Bits64, "mov.u64", &["0"]);
    let done = code.new_label();
    for coordinate in &coordinates {
        let (stride, extent, before) = (code.parameter(), code.parameter(), code.parameter());
        // A coordinate before the first element becomes greater than any extent.
        let inside = code.op(Class::Bits64, "sub.u64", &[coordinate, &before]);
        let is_outside = code.op(Class::Predicate, "setp.ge.u64", &[&inside, &extent]);
        code.line(&format!("@{is_outside} bra {done};"));
        offset = code.op(Class::Bits64, "mad.lo.u64", &[&inside, &stride, &offset]);
    }
    let from = code.address(&input, &offset, shift);
    code.line(&format!("ld.global.{ty} {value}, [{from}];"));
    code.place(&done);
    let to = code.address(&output, &index, shift);
    code.line(&format!("st.global.{ty} [{to}], {value};"));
    code.finish("rearrange")
}

/// Returns the elements of a tensor in another order, with zeros between.
fn rearranged(
    call: &GpuCall<'_, '_>,
    x: &DenseGpuTensor,
    dims: &[usize],
    sources: &[Source],
) -> Result<DenseGpuTensor> {
    let y = call.allocate(x.dtype(), Shape::new(dims)?)?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    let shift = match x.dtype().size_bytes() {
        Some(2) => 1,
        Some(4) => 2,
        Some(8) => 3,
        _ => return Err(invalid(format!("unsupported element type {}", x.dtype()))),
    };
    // A scalar has one coordinate, which is 0.
    let rank = dims.len().max(1);
    let variant = u64::from(shift) << 8 | rank as u64;
    let function = call
        .gpu()
        .kernel_of_key(("rearrange", variant), "rearrange", || {
            Ok(text(shift, rank))
        })?;
    let mut arguments = vec![KernelArgument::from(&y), KernelArgument::from(x)];
    if dims.is_empty() {
        let numbers = [1, 1, 1, 0];
        arguments.extend(numbers.map(|number: usize| KernelArgument::from(number)));
    }
    arguments.extend(dims.iter().map(|&extent| KernelArgument::from(extent)));
    for source in sources {
        let numbers = [source.stride, source.extent, source.before];
        arguments.extend(numbers.map(KernelArgument::from));
    }
    call.launch_function(&function, y.num_elements(), &arguments)?;
    Ok(y)
}

/// Returns a tensor whose dimension `i` is the dimension `permutation[i]` of another.
pub(super) fn transposed(
    call: &GpuCall<'_, '_>,
    x: &DenseGpuTensor,
    permutation: &[usize],
) -> Result<DenseGpuTensor> {
    let extents = x.shape().dims();
    let strides = dense_strides(extents);
    let dims: Vec<usize> = permutation.iter().map(|&from| extents[from]).collect();
    let sources = permutation.iter().map(|&from| Source {
        stride: strides[from],
        extent: extents[from],
        before: 0,
    });
    rearranged(call, x, &dims, &sources.collect::<Vec<_>>())
}

/// Returns a tensor with zeros before and after each dimension.
pub(super) fn padded(
    call: &GpuCall<'_, '_>,
    x: &DenseGpuTensor,
    paddings: &[(usize, usize)],
) -> Result<DenseGpuTensor> {
    let extents = x.shape().dims();
    let sizes = extents.iter().zip(paddings);
    let dims = sizes.map(|(extent, (before, after))| {
        let grown = extent.checked_add(*before)?.checked_add(*after);
        grown.filter(|&extent| i64::try_from(extent).is_ok())
    });
    let dims: Option<Vec<usize>> = dims.collect();
    let dims = dims.ok_or_else(|| invalid("tf.Pad paddings are out of range"))?;
    let strides = dense_strides(extents);
    let sources = strides.iter().zip(extents).zip(paddings);
    let sources = sources.map(|((&stride, &extent), &(before, _))| Source {
        stride,
        extent,
        before,
    });
    rearranged(call, x, &dims, &sources.collect::<Vec<_>>())
}

/// Returns the window that starts at `begin` and has the extents `size`, both in host memory; -1 in
/// `size` extends to the end.
///
/// # Errors
/// If the window does not lie within the tensor.
fn slice(call: &mut OpCall<'_>) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let (begin, size) = (
        host_integers(&call, 1, "begin")?,
        host_integers(&call, 2, "size")?,
    );
    let extents = x.shape().dims();
    let refused = || {
        invalid(format!(
            "`tf.Slice`: a window of {size:?} at {begin:?} exceeds {}",
            x.shape()
        ))
    };
    if begin.len() != extents.len() || size.len() != extents.len() {
        return Err(refused());
    }
    let (mut dims, mut sources) = (Vec::new(), Vec::new());
    for (dimension, stride) in dense_strides(extents).into_iter().enumerate() {
        let extent = extents[dimension];
        let start = usize::try_from(begin[dimension]).ok();
        let left = start.and_then(|start| extent.checked_sub(start));
        let (Some(start), Some(left)) = (start, left) else {
            return Err(refused());
        };
        let size = match size[dimension] {
            -1 => left,
            size => usize::try_from(size).map_err(|_| refused())?,
        };
        if size > left {
            return Err(refused());
        }
        dims.push(size);
        // In the result, the operand starts before the first element.
        sources.push(Source {
            stride,
            extent,
            before: start.wrapping_neg(),
        });
    }
    let y = rearranged(&call, x, &dims, &sources)?;
    call.set_result(0, y);
    Ok(())
}

inventory::submit! {
    with_host_operands("tf.Slice", slice, OperandSet::NONE.with(1).with(2))
}

/// Reads pairs of paddings.
fn pairs(numbers: &[i64], rank: usize) -> Result<Vec<(usize, usize)>> {
    let extent = |number: i64| {
        usize::try_from(number)
            .map_err(|_| invalid(format!("expected a non-negative padding, found {number}")))
    };
    if numbers.len() != 2 * rank {
        return Err(invalid(format!(
            "expected two paddings for each of {rank} dimensions, found {}",
            numbers.len()
        )));
    }
    let pairs = numbers.chunks_exact(2);
    pairs
        .map(|pair| Ok((extent(pair[0])?, extent(pair[1])?)))
        .collect()
}

fn check_paddable(call: &GpuCall<'_, '_>, x: &DenseGpuTensor) -> Result<()> {
    let supported = [DType::I32, DType::I64, DType::F16, DType::F32, DType::F64];
    call.expect_dtype(x, &supported)?;
    if x.shape().rank() > MAX_RANK {
        return Err(invalid(format!(
            "tf.Pad input rank over {MAX_RANK} is not supported. Given value: {}",
            x.shape().rank()
        )));
    }
    Ok(())
}

/// Adds zeros before and after each dimension. Paddings in host memory are read. Those on the
/// device are ignored, as the reference does: images are padded by 3 elements on each side.
///
/// # Errors
/// `Could not guess channel order.`; paddings that do not fit.
fn pad(call: &mut OpCall<'_>) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    check_paddable(&call, x)?;
    let dims = x.shape().dims();
    let paddings = match call.host_tensor(1)? {
        Some(paddings) => pairs(&integers(paddings)?, dims.len())?,
        None => {
            let channels = Channels::guessed(dims);
            let channels = channels.ok_or_else(|| invalid("Could not guess channel order."))?;
            let mut paddings = vec![(0, 0); 4];
            let first = channels.first_spatial();
            paddings[first..first + 2].fill((3, 3));
            paddings
        }
    };
    let y = padded(&call, x, &paddings)?;
    call.set_result(0, y);
    Ok(())
}

inventory::submit! { with_host_operand("tf.Pad", pad) }

/// Adds zeros before and after each dimension, as the attribute `paddings` says.
///
/// # Errors
/// ``_tf.Pad needs a `paddings` dense attribute``; paddings that do not fit.
#[tfrt_op("_tf.Pad", raw, device = "gpu")]
fn pad_by_attribute(call: &mut OpCall<'_>) -> Result<()> {
    let paddings = call.attrs().get::<DenseView<'_>>("paddings");
    let paddings = paddings.and_then(integers_of_attribute);
    let paddings = paddings.ok_or_else(|| invalid("_tf.Pad needs a `paddings` dense attribute"))?;
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    check_paddable(&call, x)?;
    let y = padded(&call, x, &pairs(&paddings, x.shape().rank())?)?;
    call.set_result(0, y);
    Ok(())
}

/// Reads a permutation of dimensions.
fn permutation(numbers: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut permutation = Vec::new();
    for &number in numbers {
        let from = usize::try_from(number).ok().filter(|&from| from < rank);
        match from.filter(|from| !permutation.contains(from)) {
            Some(from) => permutation.push(from),
            None => return Err(invalid("Unsupported tf.Transpose permutation")),
        }
    }
    if permutation.len() != rank {
        return Err(invalid("Unsupported tf.Transpose permutation"));
    }
    Ok(permutation)
}

/// Refuses what the reference does not transpose: after neighbours that stay neighbours are merged,
/// two dimensions change places, the last two if there are three.
fn check_permutation(permutation: &[usize]) -> Result<()> {
    let starts = |index: usize| index == 0 || permutation[index] != permutation[index - 1] + 1;
    let merged: Vec<usize> = (0..permutation.len())
        .filter(|&index| starts(index))
        .map(|index| permutation[index])
        .collect();
    // Each entry is the first dimension of a merged run.
    let is_supported = match merged[..] {
        [] | [_] => true,
        [first, second] => first > second,
        [first, second, third] => first == 0 && second > third,
        _ => false,
    };
    if is_supported {
        return Ok(());
    }
    Err(invalid("Unsupported tf.Transpose permutation"))
}

fn check_transposable(call: &GpuCall<'_, '_>, x: &DenseGpuTensor) -> Result<()> {
    call.expect_dtype(x, &[DType::F16, DType::F32, DType::I64])?;
    if x.shape().rank() > MAX_RANK {
        return Err(invalid("Unsupported tf.Transpose permutation"));
    }
    Ok(())
}

/// Makes the channels of images come first: `[0, 3, 1, 2]`, whatever permutation is on the device.
/// A permutation in host memory must be this one.
///
/// # Errors
/// `Unsupported tf.Transpose permutation`.
fn transpose(call: &mut OpCall<'_>) -> Result<()> {
    const ASSUMED: [i64; 4] = [0, 3, 1, 2];
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    check_transposable(&call, x)?;
    if let Some(asked) = call.host_tensor(1)?
        && integers(asked)? != ASSUMED
    {
        return Err(invalid("Unsupported tf.Transpose permutation"));
    }
    let y = transposed(&call, x, &permutation(&ASSUMED, x.shape().rank())?)?;
    call.set_result(0, y);
    Ok(())
}

inventory::submit! { with_host_operand("tf.Transpose", transpose) }

/// Permutes the dimensions as the attribute `perm` says.
///
/// # Errors
/// ``tf.Transpose needs a `perm` dense attribute``, `Unsupported tf.Transpose permutation`.
#[tfrt_op("_tf.Transpose", raw, device = "gpu")]
fn transpose_by_attribute(call: &mut OpCall<'_>) -> Result<()> {
    let perm = call.attrs().get::<DenseView<'_>>("perm");
    let perm = perm.and_then(integers_of_attribute);
    let perm = perm.ok_or_else(|| invalid("tf.Transpose needs a `perm` dense attribute"))?;
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    check_transposable(&call, x)?;
    let permutation = permutation(&perm, x.shape().rank())?;
    check_permutation(&permutation)?;
    let y = transposed(&call, x, &permutation)?;
    call.set_result(0, y);
    Ok(())
}
