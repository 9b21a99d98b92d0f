//! Ops that combine elements.

use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor};

use super::{Channels, host_integers, integers, integers_of_attribute, invalid, with_host_operand};
use crate::eager::call::{GpuCall, KernelArgument};
use crate::eager::code::{Class, Code, Number};
use crate::eager::layout::{Layout, dense_strides};
use crate::values::DenseGpuTensor;

/// Begins a loop over `0..count`. Returns the index and the two labels of the loop.
fn begin_loop(code: &mut Code, count: &str) -> (String, String, String) {
    let index = code.register(Class::Bits64);
    code.line(&format!("mov.u64 {index}, 0;"));
    let (start, end) = (code.new_label(), code.new_label());
    code.place(&start);
    let is_over = code.op(Class::Predicate, "setp.ge.u64", &[&index, count]);
    code.line(&format!("@{is_over} bra {end};"));
    (index, start, end)
}

fn end_loop(code: &mut Code, (index, start, end): (String, String, String)) {
    code.line(&format!("add.u64 {index}, {index}, 1;"));
    code.line(&format!("bra {start};"));
    code.place(&end);
}

/// Returns the text of a kernel with a thread for each row. Its parameters are the number of rows,
/// the addresses of the result and of the operand, and the length of a row.
fn softmax_text(number: Number) -> String {
    let (mut code, row) = Code::new();
    let (output, input, len) = (code.parameter(), code.parameter(), code.parameter());
    let start = code.op(Class::Bits64, "mul.lo.u64", &[&row, &len]);
    let greatest = code.register(Class::F64);
    code.line(&format!("mov.f64 {greatest}, 0dFFF0000000000000;"));
    let element = |code: &mut Code, index: &str| {
        let offset = code.op(Class::Bits64, "add.u64", &[&start, index]);
        let x = code.load(number, &input, &offset);
        (offset, code.convert(&x, number, Number::F64))
    };
    let pass = begin_loop(&mut code, &len);
    let (_, x) = element(&mut code, &pass.0);
    let is_greater = code.op(Class::Predicate, "setp.gt.f64", &[&x, &greatest]);
    code.line(&format!("@{is_greater} mov.f64 {greatest}, {x};"));
    end_loop(&mut code, pass);
    let sum = code.register(Class::F64);
    code.line(&format!("mov.f64 {sum}, 0d0000000000000000;"));
    let power = |code: &mut Code, index: &str| {
        let (offset, x) = element(code, index);
        let below = code.op(Class::F64, "sub.rn.f64", &[&x, &greatest]);
        (offset, code.exp(&below))
    };
    let pass = begin_loop(&mut code, &len);
    let (_, x) = power(&mut code, &pass.0);
    code.line(&format!("add.rn.f64 {sum}, {sum}, {x};"));
    end_loop(&mut code, pass);
    let pass = begin_loop(&mut code, &len);
    let (offset, x) = power(&mut code, &pass.0);
    let part = code.op(Class::F64, "div.rn.f64", &[&x, &sum]);
    let part = code.convert(&part, Number::F64, number);
    code.store(number, &output, &offset, &part);
    end_loop(&mut code, pass);
    code.finish("softmax")
}

/// Computes `exp(x) / Σ exp(x)` over the last dimension.
///
/// # Errors
/// `Unsupported 'axis' attribute value A`, `Unsupported data type: D`.
#[tfrt_op("tf.Softmax", raw, device = "gpu", metadata = softmax_metadata)]
fn softmax(call: &mut OpCall<'_>) -> Result<()> {
    let axis = call.attrs().get::<i32>("axis").unwrap_or(-1);
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let rank = x.shape().rank();
    if rank == 0 || axis != -1 && usize::try_from(axis) != Ok(rank - 1) {
        return Err(invalid(format!(
            "Unsupported 'axis' attribute value {axis}"
        )));
    }
    let number = Number::of(x.dtype()).ok_or_else(|| unsupported(x.dtype()))?;
    let y = call.allocate(x.dtype(), x.shape().clone())?;
    if y.num_elements() != 0 {
        let len = x.shape().dims()[rank - 1];
        let function = call
            .gpu()
            .kernel_of_key(("softmax", number as u64), "softmax", || {
                Ok(softmax_text(number))
            })?;
        let arguments = [KernelArgument::from(&y), x.into(), len.into()];
        call.launch_function(&function, y.num_elements() / len, &arguments)?;
    }
    call.set_result(0, y);
    Ok(())
}

fn softmax_metadata(query: &OpQuery<'_>) -> Result<TensorMetadata> {
    query.operand(0).cloned()
}

#[cold]
fn unsupported(dtype: DType) -> Error {
    invalid(format!("Unsupported data type: {dtype}"))
}

/// Returns the text of a kernel with a thread for each mean. Its parameters are the number of
/// means, the addresses of the result and of the operand, the number of elements of each mean, the
/// extents and strides of the dimensions that are kept, and those of the others.
fn mean_text(number: Number, kept: usize, reduced: usize) -> String {
    let (mut code, index) = Code::new();
    let (output, input, count) = (code.parameter(), code.parameter(), code.parameter());
    let (dims, strides) = (code.parameters(kept), code.parameters(kept));
    let coordinates = code.coordinates(&index, &dims);
    let start = code.offset(&coordinates, &strides);
    let (dims, strides) = (code.parameters(reduced), code.parameters(reduced));
    let (class, ty) = (number.class(), number.computed());
    let sum = code.register(class);
    code.line(&format!("mov.{ty} {sum}, {};", number.constant(0.0)));
    let pass = begin_loop(&mut code, &count);
    let coordinates = code.coordinates(&pass.0, &dims);
    let offset = code.offset(&coordinates, &strides);
    let offset = code.op(Class::Bits64, "add.u64", &[&start, &offset]);
    let x = code.load(number, &input, &offset);
    code.line(&format!("add.rn.{ty} {sum}, {sum}, {x};"));
    end_loop(&mut code, pass);
    let count = code.op(class, &format!("cvt.rn.{ty}.u64"), &[&count]);
    let mean = code.op(class, &format!("div.rn.{ty}"), &[&sum, &count]);
    code.store(number, &output, &index, &mean);
    code.finish("mean")
}

/// Returns the means over some dimensions, which stay as dimensions of one element if `keeps_dims`.
fn mean(
    call: &GpuCall<'_, '_>,
    x: &DenseGpuTensor,
    axes: &[usize],
    keeps_dims: bool,
) -> Result<DenseGpuTensor> {
    let number = Number::of(x.dtype()).filter(|number| *number != Number::F64);
    let number = number.ok_or_else(|| unsupported(x.dtype()))?;
    let (extents, strides) = (x.shape().dims(), dense_strides(x.shape().dims()));
    let is_reduced = |dimension: usize| axes.contains(&dimension);
    let part = |reduced: bool| {
        let dims = (0..extents.len()).filter(|&dimension| is_reduced(dimension) == reduced);
        let (dims, strides): (Vec<usize>, Vec<usize>) = dims
            .map(|dimension| (extents[dimension], strides[dimension]))
            .unzip();
        (Layout::merged(&dims, [&strides]), dims)
    };
    let ((kept, kept_dims), (reduced, reduced_dims)) = (part(false), part(true));
    let dims: Vec<usize> = if keeps_dims {
        let kept = extents.iter().enumerate();
        kept.map(|(dimension, &extent)| if is_reduced(dimension) { 1 } else { extent })
            .collect()
    } else {
        kept_dims
    };
    let y = call.allocate(x.dtype(), Shape::new(&dims)?)?;
    let count: usize = reduced_dims.iter().product();
    let (num_kept, num_reduced) = (kept.dims.len(), reduced.dims.len());
    let variant = (number as u64) << 16 | (num_kept as u64) << 8 | num_reduced as u64;
    let function = call.gpu().kernel_of_key(("mean", variant), "mean", || {
        Ok(mean_text(number, num_kept, num_reduced))
    })?;
    let mut arguments = vec![KernelArgument::from(&y), x.into(), count.into()];
    for layout in [kept, reduced] {
        let numbers = layout.dims.iter().chain(&layout.strides[0]);
        arguments.extend(numbers.map(|&number| KernelArgument::from(number)));
    }
    call.launch_function(&function, y.num_elements(), &arguments)?;
    Ok(y)
}

/// Reads the dimensions that are reduced. Negative ones count from the end.
fn axes(numbers: &[i64], rank: usize) -> Result<Vec<usize>> {
    let axes = numbers.iter().map(|&number| {
        let from = if number < 0 {
            number.checked_add_unsigned(rank as u64)
        } else {
            Some(number)
        };
        let axis = from.and_then(|axis| usize::try_from(axis).ok());
        axis.filter(|&axis| axis < rank).ok_or_else(|| {
            let out_rank = rank.saturating_sub(numbers.len());
            invalid(format!(
                "Invalid reduction requested: in_rank={rank} out_rank={out_rank}"
            ))
        })
    });
    axes.collect()
}

/// Computes means. Indices in host memory are read. Those on the device are ignored, as the
/// reference does: the means are those over the pixels of images.
///
/// # Errors
/// `Unsupported data type: D`, `Invalid reduction requested: in_rank=R out_rank=Q`.
fn mean_op(call: &mut OpCall<'_>) -> Result<()> {
    let keeps_dims = call.attrs().get::<bool>("keep_dims").unwrap_or(false);
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let dims = x.shape().dims();
    let axes = match call.host_tensor(1)? {
        Some(indices) => axes(&integers(indices)?, dims.len())?,
        None => {
            let channels = Channels::guessed(dims).ok_or_else(|| {
                invalid(format!(
                    "Invalid reduction requested: in_rank={} out_rank={}",
                    dims.len(),
                    dims.len().saturating_sub(2)
                ))
            })?;
            let first = channels.first_spatial();
            vec![first, first + 1]
        }
    };
    let y = mean(&call, x, &axes, keeps_dims)?;
    call.set_result(0, y);
    Ok(())
}

inventory::submit! { with_host_operand("tf.Mean", mean_op) }

/// Computes means over the dimensions in the attribute `reduction_indices`.
///
/// # Errors
/// ``tf.Mean needs a `reduction_indices` dense attribute``; those of `tf.Mean`.
#[tfrt_op("_tf.Mean", raw, device = "gpu")]
fn mean_by_attribute(call: &mut OpCall<'_>) -> Result<()> {
    let attrs = call.attrs();
    let keeps_dims = attrs.get::<bool>("keep_dims").unwrap_or(false);
    let indices = attrs.get::<DenseView<'_>>("reduction_indices");
    let indices = indices.and_then(integers_of_attribute);
    let indices =
        indices.ok_or_else(|| invalid("tf.Mean needs a `reduction_indices` dense attribute"))?;
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let y = mean(&call, x, &axes(&indices, x.shape().rank())?, keeps_dims)?;
    call.set_result(0, y);
    Ok(())
}

/// Returns the text of a kernel with a thread for each position of a greatest element. Its
/// parameters are the number of positions, the addresses of the result and of the operand, the
/// extent of the dimension, and the distance of neighbours along it. `None` if kernels do not
/// compare such elements.
fn argmax_text(dtype: DType, is_narrow: bool) -> Option<String> {
    let (class, ty, bits, lowest, shift) = match dtype {
        DType::F32 => (Class::F32, "f32", "f32", "0fFF800000", 2),
        DType::F64 => (Class::F64, "f64", "f64", "0dFFF0000000000000", 3),
        DType::I32 => (Class::Bits32, "s32", "b32", "0x80000000", 2),
        DType::I64 => (Class::Bits64, "s64", "b64", "0x8000000000000000", 3),
        _ => return None,
    };
    let (mut code, index) = Code::new();
    let (output, input) = (code.parameter(), code.parameter());
    let (extent, stride) = (code.parameter(), code.parameter());
    let outer = code.op(Class::Bits64, "div.u64", &[&index, &stride]);
    let column = code.op(Class::Bits64, "rem.u64", &[&index, &stride]);
    let row = code.op(Class::Bits64, "mul.lo.u64", &[&outer, &extent]);
    let start = code.op(Class::Bits64, "mad.lo.u64", &[&row, &stride, &column]);
    let (greatest, place) = (code.register(class), code.register(Class::Bits64));
    code.line(&format!("mov.{bits} {greatest}, {lowest};"));
    code.line(&format!("mov.u64 {place}, 0;"));
    let pass = begin_loop(&mut code, &extent);
    let offset = code.op(Class::Bits64, "mad.lo.u64", &[&pass.0, &stride, &start]);
    let from = format!("[{}]", code.address(&input, &offset, shift));
    let x = code.op(class, &format!("ld.global.{bits}"), &[&from]);
    let is_greater = code.op(Class::Predicate, &format!("setp.gt.{ty}"), &[&x, &greatest]);
    code.line(&format!("@{is_greater} mov.{bits} {greatest}, {x};"));
    code.line(&format!("@{is_greater} mov.u64 {place}, {};", pass.0));
    end_loop(&mut code, pass);
    if is_narrow {
        let narrow = code.op(Class::Bits32, "cvt.u32.u64", &[&place]);
        let to = code.address(&output, &index, 2);
        code.line(&format!("st.global.u32 [{to}], {narrow};"));
    } else {
        let to = code.address(&output, &index, 3);
        code.line(&format!("st.global.u64 [{to}], {place};"));
    }
    Some(code.finish("argmax"))
}

/// Returns the positions of the greatest elements along a dimension, whose number is in host
/// memory, as i64 or, depending on `output_type`, i32. Of equal elements, it is the first.
///
/// # Errors
/// If the dimension does not exist or is empty; for other types of elements and of results.
fn argmax(call: &mut OpCall<'_>) -> Result<()> {
    const OP: &str = "tf.ArgMax";
    let output_type = call.attrs().get::<DType>("output_type");
    let output_type = output_type.unwrap_or(DType::I64);
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let numbers = host_integers(&call, 1, "dimension")?;
    let [number] = numbers[..] else {
        return Err(invalid(format!(
            "`{OP}`: expected `dimension` with a single element, found {}",
            numbers.len()
        )));
    };
    let (dims, rank) = (x.shape().dims(), x.shape().rank());
    let from_first = match number < 0 {
        true => number.saturating_add(rank as i64),
        false => number,
    };
    let axis = usize::try_from(from_first).ok();
    let axis = axis.filter(|&axis| axis < rank).ok_or_else(|| {
        invalid(format!(
            "`{OP}`: axis {number} is out of range for a tensor of rank {rank}"
        ))
    })?;
    if !matches!(output_type, DType::I32 | DType::I64) {
        return Err(invalid(format!(
            "`{OP}`: expected a result type i32 or i64, found {output_type}"
        )));
    }
    let shape = Shape::new(&[&dims[..axis], &dims[axis + 1..]].concat())?;
    let y = call.allocate(output_type, shape)?;
    if y.num_elements() != 0 {
        if dims[axis] == 0 {
            return Err(invalid(format!(
                "argmax: expected elements along axis {axis}, found the shape {dims:?}"
            )));
        }
        let is_narrow = output_type == DType::I32;
        let variant = (x.dtype() as u64) << 1 | u64::from(is_narrow);
        let function = call
            .gpu()
            .kernel_of_key(("argmax", variant), "argmax", || {
                argmax_text(x.dtype(), is_narrow).ok_or_else(|| {
                    invalid(format!(
                        "`{OP}` on a GPU: expected f32, f64, i32 or i64, found {}",
                        x.dtype()
                    ))
                })
            })?;
        let stride: usize = dims[axis + 1..].iter().product();
        let arguments = [
            KernelArgument::from(&y),
            x.into(),
            dims[axis].into(),
            stride.into(),
        ];
        call.launch_function(&function, y.num_elements(), &arguments)?;
    }
    call.set_result(0, y);
    Ok(())
}

inventory::submit! { with_host_operand("tf.ArgMax", argmax) }
