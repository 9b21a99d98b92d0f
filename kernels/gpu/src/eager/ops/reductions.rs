//! Ops that combine elements.

use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor};

use super::{Channels, integers, integers_of_attribute, invalid, with_host_operand};
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
