//! `tfrt_test.*`: ops for tests.

use tfrt::attr::{AttrTypeKind, Scalar};
use tfrt::core::CoreRuntime;
use tfrt::prelude::*;
use tfrt::queue::enqueue_blocking_value;
use tfrt_tensor::{I1, Shape, TensorRef, TensorType};

use super::constants::put;
use super::invalid;
use crate::eager::call::GpuCall;
use crate::eager::device::EagerGpu;
use crate::eager::transfer;
use crate::kernels::memory::print as print_text;
use crate::values::DenseGpuTensor;

/// Returns a tensor once all work of the device is done.
#[tfrt_op("tfrt_test.synchronize", raw, device = "gpu", metadata = first_metadata)]
fn synchronize(call: &mut OpCall<'_>) -> Result<()> {
    let tensor = call.argument(0)?.clone();
    let stream = EagerGpu::of(call.device())?.stream().clone();
    let ctx = call.ctx().clone();
    let synchronized = enqueue_blocking_value(&**call.ctx().queue(), move || {
        let waited = stream.synchronize();
        waited.map_err(|error| ctx.emit_error(error.into()))?;
        Ok(Chain)
    });
    let (promise, result) = AnyRef::indirect();
    synchronized.as_any().and_then(move |done| {
        promise.forward_to(if done.is_error() {
            done.clone()
        } else {
            tensor
        });
    });
    call.set_result(0, result);
    Ok(())
}

fn first_metadata(query: &OpQuery<'_>) -> Result<TensorMetadata> {
    query.operand(0).cloned()
}

/// Returns a dense tensor of a shape and values of any type, or of one value everywhere.
///
/// # Errors
/// `tfrt_test.create_dense_tensor unsupported dtype`, `Failed to allocate host buffer`.
#[tfrt_op("tfrt_test.create_dense_tensor", raw, device = "gpu")]
fn create_dense_tensor(call: &mut OpCall<'_>) -> Result<()> {
    let unsupported = || invalid("tfrt_test.create_dense_tensor unsupported dtype");
    let metadata = call.result_metadata(0)?;
    let shape = Shape::new(&metadata.extents)?;
    let allocator = call.ctx().allocator();
    let tensor = DenseHostTensor::zeroed(allocator, metadata.dtype, shape);
    let mut tensor = tensor.map_err(|_| {
        Error::new("Failed to allocate host buffer").with_code(ErrorCode::ResourceExhausted)
    })?;
    let attrs = call.attrs();
    let Some(AttrTypeKind::Array(element)) = attrs.code("values").map(|code| code.kind()) else {
        return Err(unsupported());
    };
    macro_rules! fill {
        ($($ty:ty),*) => {
            if element == Scalar::bool(true).code() {
                let values = attrs.get::<&[bool]>("values").ok_or_else(unsupported)?;
                let values: Vec<I1> = values.iter().map(|&value| I1::from(value)).collect();
                fill(&mut tensor, &values)?;
            } else {
                match metadata.dtype {
                    $(<$ty as Element>::DTYPE => {
                        fill(&mut tensor, attrs.get::<&[$ty]>("values").ok_or_else(unsupported)?)?;
                    })*
                    _ => return Err(unsupported()),
                }
            }
        };
    }
    fill!(u8, u16, u32, u64, i8, i16, i32, i64, half::f16, f32, f64);
    put(call, &tensor)
}

fn fill<T: Element>(tensor: &mut DenseHostTensor, values: &[T]) -> Result<()> {
    let mut elements = tensor.elements_mut::<T>()?;
    match values {
        [value] => elements.fill(*value),
        values if values.len() == elements.len() => elements.copy_from_slice(values),
        _ => {
            return Err(invalid(
                "size of 'values' must either be 1 or match num of elements.",
            ));
        }
    }
    Ok(())
}

/// Copies a tensor from the device to host memory.
#[tfrt_op("tfrt_test.gpu_tensor_to_host_tensor", raw, device = "gpu", metadata = first_metadata)]
fn gpu_tensor_to_host_tensor(call: &mut OpCall<'_>) -> Result<()> {
    transferred(call, TensorType::DENSE_HOST)
}

/// Copies a tensor from host memory to the device.
#[tfrt_op("tfrt_test.dht_to_gpu_tensor", raw, device = "gpu", metadata = first_metadata)]
fn dht_to_gpu_tensor(call: &mut OpCall<'_>) -> Result<()> {
    transferred(call, TensorType::DENSE_GPU)
}

fn transferred(call: &mut OpCall<'_>, to: TensorType) -> Result<()> {
    let (ctx, tensor) = (call.ctx(), call.argument(0)?);
    let host = CoreRuntime::of(ctx.host()).host_device().clone();
    let converted = transfer::convert(ctx, tensor, call.device(), &host, to)?;
    call.set_result(0, converted);
    Ok(())
}

/// Prints a tensor: the elements of a dense one in host memory, with all of their digits; the type,
/// shape and address of one on the device.
#[tfrt_op("tfrt_test.print", raw, device = "gpu", side_effecting)]
fn print(call: &mut OpCall<'_>) -> Result<()> {
    let operand = call.argument(0)?;
    if let Some(tensor) = operand.get::<DenseHostTensor>() {
        return print_text(&dense_text(tensor)?);
    }
    let tensor = TensorRef::read(operand);
    let tensor = tensor.map_err(|error| Error::new(error.to_string()))?;
    print_text(&format!("{}\n", tensor.to_text()?))
}

/// Returns the text of a tensor: at most 32 elements.
fn dense_text(tensor: &DenseHostTensor) -> Result<String> {
    const MAX_ELEMENTS: usize = 32;
    let elements: Vec<String> = match tensor.dtype() {
        DType::F16 => texts(tensor, |x: half::f16| general(x.to_f64(), 9))?,
        DType::F32 => texts(tensor, |x: f32| general(x.into(), 9))?,
        DType::F64 => texts(tensor, |x: f64| general(x, 17))?,
        DType::Ui8 => texts(tensor, |x: u8| x.to_string())?,
        DType::Ui16 => texts(tensor, |x: u16| x.to_string())?,
        DType::Ui32 => texts(tensor, |x: u32| x.to_string())?,
        DType::Ui64 => texts(tensor, |x: u64| x.to_string())?,
        DType::I8 => texts(tensor, |x: i8| x.to_string())?,
        DType::I16 => texts(tensor, |x: i16| x.to_string())?,
        DType::I32 => texts(tensor, |x: i32| x.to_string())?,
        DType::I64 => texts(tensor, |x: i64| x.to_string())?,
        _ => return Ok(format!("{}\n", tensor.to_text()?)),
    };
    let shown = &elements[..elements.len().min(MAX_ELEMENTS)];
    let rest = if shown.len() < elements.len() {
        ", ... "
    } else {
        ""
    };
    Ok(format!(
        "DenseHostTensor dtype = {}, shape = {}, values = [{}{rest}]\n",
        tensor.dtype(),
        tensor.shape(),
        shown.join(", ")
    ))
}

fn texts<T: Element>(tensor: &DenseHostTensor, text: impl Fn(T) -> String) -> Result<Vec<String>> {
    Ok(tensor.elements::<T>()?.iter().map(|&x| text(x)).collect())
}

/// Returns a number as the conversion `%.Ng` of C prints it.
fn general(x: f64, num_digits: usize) -> String {
    if !x.is_finite() {
        let sign = if x.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if x.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{x:.*e}", num_digits - 1);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match usize::try_from(num_digits as i32 - 1 - exponent) {
        Ok(num_decimals) if exponent >= -4 => without_zeros(&format!("{x:.num_decimals$}")),
        _ => {
            let sign = if exponent < 0 { '-' } else { '+' };
            format!("{}e{sign}{:02}", without_zeros(digits), exponent.abs())
        }
    }
}

/// Returns the second operand if there is one, else the first.
#[tfrt_op("tfrt_test.test_optional_arg", raw, device = "gpu")]
fn test_optional_arg(call: &mut OpCall<'_>) -> Result<()> {
    second_or_first(call)
}

/// Returns the second operand if there is one, else the first.
#[tfrt_op("tfrt_test.test_variadic_arg", raw, device = "gpu")]
fn test_variadic_arg(call: &mut OpCall<'_>) -> Result<()> {
    second_or_first(call)
}

fn second_or_first(call: &mut OpCall<'_>) -> Result<()> {
    let index = usize::from(call.arguments().len() > 1);
    let tensor = call.argument(index)?.clone();
    call.set_result(0, tensor);
    Ok(())
}

/// Returns two tensors of one element, 1 and 2.
#[tfrt_op("tfrt_test.return_multiple_results", raw, device = "gpu")]
fn return_multiple_results(call: &mut OpCall<'_>) -> Result<()> {
    for index in 0..call.num_results() {
        let number = index as f32 + 1.0;
        let tensor = one_number(call, number)?;
        call.set_result(index, AnyRef::available(tensor));
    }
    Ok(())
}

fn one_number(call: &mut OpCall<'_>, number: f32) -> Result<DenseGpuTensor> {
    let allocator = call.ctx().allocator();
    let source = DenseHostTensor::filled(allocator, Shape::scalar(), number)?;
    let call = GpuCall::new(call)?;
    let target = call.allocate(DType::F32, Shape::scalar())?;
    transfer::upload_directly(call.gpu(), &source, &target)?;
    Ok(target)
}

/// Fails.
///
/// # Errors
/// `error from ReturnMultipleResultsWithError op`.
#[tfrt_op("tfrt_test.return_multiple_results_with_error", raw, device = "gpu")]
fn return_multiple_results_with_error(call: &mut OpCall<'_>) -> Result<()> {
    let _ = call;
    Err(Error::new("error from ReturnMultipleResultsWithError op"))
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_are_printed_as_c_prints_them() {
        let single = |x: f32| general(x.into(), 9);
        assert_eq!(single(0.1), "0.100000001");
        assert_eq!(single(1.0), "1");
        assert_eq!(single(-1e-5), "-9.99999975e-06");
        assert_eq!(single(1e-4), "9.99999975e-05");
        assert_eq!(single(123_456_792.0), "123456792");
        assert_eq!(single(1e9), "1e+09");
        assert_eq!(single(-0.0), "-0");
        assert_eq!(single(f32::NEG_INFINITY), "-inf");
        assert_eq!(single(f32::NAN), "nan");
        assert_eq!(general(0.1, 17), "0.10000000000000001");
        assert_eq!(general(1e17, 17), "1e+17");
        assert_eq!(general(1.5e-300, 17), "1.5000000000000001e-300");
    }
}
