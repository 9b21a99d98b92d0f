//! `tfrt_test.*`: small ops for tests.

use std::io;

use half::f16;
use tfrt::attr::{AttrValue, Scalar};
use tfrt::core::metadata::{partial, same_as};
use tfrt::core::{OpAttrs, OpCall, OpQuery};
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::cast;
use tfrt_compute::reduction::{self, Reduction};
use tfrt_tensor::{
    CooHostTensor, DenseHostTensor, Element, I1, ScalarHostTensor, Shape, StringHostTensor, Tensor,
    TensorRef,
};

use super::reductions::reduce;
use super::{allocate, dense, invalid, mismatched, unsupported, with_dtype};
use crate::text::{print_bytes, print_line};

/// Returns the odd elements of a vector.
///
/// # Errors
/// `expected a 1D tensor input`, `expected a i32 element type`, `cannot allocate tensor`.
#[tfrt_op("tfrt_test.odd_collector")]
fn odd_collector(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    if x.shape().rank() != 1 {
        return Err(unsupported("expected a 1D tensor input"));
    }
    if x.dtype() != DType::I32 {
        return Err(unsupported("expected a i32 element type"));
    }
    let odd: Vec<i32> = x
        .elements::<i32>()?
        .iter()
        .copied()
        .filter(|number| number % 2 != 0)
        .collect();
    DenseHostTensor::from_elements(ctx.allocator(), Shape::new(&[odd.len()])?, &odd)
        .map_err(|_| unsupported("cannot allocate tensor"))
}

/// Element types that attributes hold as numbers.
macro_rules! with_written {
    ($code:expr, $T:ident => $work:expr, else $otherwise:expr) => {
        match $code.kind() {
            tfrt::attr::AttrTypeKind::Scalar(dtype) => super::with_dtype!(
                dtype,
                $T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64] => $work,
                else $otherwise
            ),
            _ => $otherwise,
        }
    };
}

/// Returns a scalar tensor of a shape and a value, which may be a number of any type.
#[tfrt_op("tfrt_test.create_from_scalar", raw, metadata = create_from_scalar_metadata)]
fn create_from_scalar(call: &mut OpCall<'_>) -> Result<()> {
    let shape = Shape::new(&call.result_metadata(0)?.extents)?;
    let attrs = call.attrs();
    let code = attrs.code("value").ok_or_else(unsupported_scalar)?;
    let tensor = if code == Scalar::bool(true).code() {
        let value = attrs.get::<bool>("value").ok_or_else(unsupported_scalar)?;
        ScalarHostTensor::new(shape, I1::from(value))
    } else {
        with_written!(
            code,
            T => ScalarHostTensor::new(shape, attrs.get::<T>("value").ok_or_else(unsupported_scalar)?),
            else return Err(unsupported_scalar())
        )
    };
    call.set_result(0, AnyRef::available(tensor));
    Ok(())
}

#[cold]
fn unsupported_scalar() -> Error {
    invalid("tfrt_test.create_from_scalar unsupported dtype")
}

fn create_from_scalar_metadata(query: &OpQuery<'_>) -> Result<TensorMetadata> {
    let missing = |name| {
        invalid(format!(
            "tfrt_test.create_from_scalar must have '{name}' attribute"
        ))
    };
    let shape = query
        .attrs
        .get::<&[i64]>("shape")
        .ok_or_else(|| missing("shape"))?;
    let code = query.attrs.code("value").ok_or_else(|| missing("value"))?;
    match code.kind() {
        tfrt::attr::AttrTypeKind::Scalar(dtype) => Ok(TensorMetadata::new(
            dtype,
            Shape::from_signed(shape)?.dims(),
        )),
        _ => Err(unsupported_scalar()),
    }
}

/// Returns a dense tensor of a shape and values of any type, or of one value everywhere.
#[tfrt_op("tfrt_test.create_dense_tensor", raw, metadata = create_dense_metadata)]
fn create_dense_tensor(call: &mut OpCall<'_>) -> Result<()> {
    let metadata = call.result_metadata(0)?;
    let shape = Shape::new(&metadata.extents)?;
    let mut tensor = allocate(metadata.dtype, shape, call.ctx())?;
    let attrs = call.attrs();
    let code = attrs.code("values").ok_or_else(unsupported_dense)?;
    let tfrt::attr::AttrTypeKind::Array(element) = code.kind() else {
        return Err(unsupported_dense());
    };
    if element == Scalar::bool(true).code() {
        let values = attrs
            .get::<&[bool]>("values")
            .ok_or_else(unsupported_dense)?;
        let values: Vec<I1> = values.iter().map(|&value| I1::from(value)).collect();
        fill(&mut tensor, &values)?;
    } else {
        with_written!(
            element,
            T => fill(&mut tensor, attrs.get::<&[T]>("values").ok_or_else(unsupported_dense)?)?,
            else return Err(unsupported_dense())
        );
    }
    call.set_result(0, AnyRef::available(tensor));
    Ok(())
}

fn fill<T: Element>(tensor: &mut DenseHostTensor, values: &[T]) -> Result<()> {
    let mut elements = tensor.elements_mut::<T>()?;
    match values {
        [value] => elements.fill(*value),
        values if values.len() == elements.len() => elements.copy_from_slice(values),
        _ => return Err(wrong_number()),
    }
    Ok(())
}

#[cold]
fn unsupported_dense() -> Error {
    invalid("tfrt_test.create_dense_tensor unsupported dtype")
}

#[cold]
fn wrong_number() -> Error {
    invalid("size of 'values' must either be 1 or match num of elements.")
}

fn create_dense_metadata(query: &OpQuery<'_>) -> Result<TensorMetadata> {
    let attrs = query.attrs;
    let shape = attrs
        .get::<&[i64]>("shape")
        .ok_or_else(|| invalid("missing 'shape' attribute"))?;
    let code = attrs
        .code("values")
        .ok_or_else(|| invalid("missing 'values' attribute"))?;
    let (tfrt::attr::AttrTypeKind::Array(element), Some(AttrValue::Array(values))) =
        (code.kind(), attrs.value("values"))
    else {
        return Err(invalid("'values' attribute should be an array of values"));
    };
    let tfrt::attr::AttrTypeKind::Scalar(dtype) = element.kind() else {
        return Err(unsupported_dense());
    };
    let shape = Shape::from_signed(shape)?;
    if values.len() != 1 && values.len() != shape.num_elements() {
        return Err(wrong_number());
    }
    Ok(TensorMetadata::new(dtype, shape.dims()))
}

/// Returns a sparse tensor: a matrix of indices, and a vector of values.
///
/// # Errors
/// `tfrt_test.create_coo_tensor indices input must be rank 2`, `… values input must be rank 1`,
/// `… must have 'shape' attribute`,
/// `each test.create_coo_tensor index must have the same size as shape attribute`.
#[tfrt_op("tfrt_test.create_coo_tensor", metadata = create_coo_metadata)]
fn create_coo_tensor(
    indices: &DenseHostTensor,
    values: &DenseHostTensor,
    #[attr] shape: Option<&[i64]>,
) -> Result<CooHostTensor> {
    let metadata = create_coo_metadata(&indices.metadata(), &values.metadata(), shape)?;
    let shape = Shape::new(&metadata.extents)?;
    Ok(CooHostTensor::new(shape, indices.clone(), values.clone())?)
}

fn create_coo_metadata(
    indices: &TensorMetadata,
    values: &TensorMetadata,
    shape: Option<&[i64]>,
) -> Result<TensorMetadata> {
    const OP: &str = "tfrt_test.create_coo_tensor";
    let &[_, rank] = &indices.extents[..] else {
        return Err(invalid(format!("{OP} indices input must be rank 2")));
    };
    if values.extents.len() != 1 {
        return Err(invalid(format!("{OP} values input must be rank 1")));
    }
    let shape = shape.ok_or_else(|| invalid(format!("{OP} must have 'shape' attribute")))?;
    if shape.len() != rank {
        return Err(invalid(
            "each test.create_coo_tensor index must have the same size as shape attribute",
        ));
    }
    Ok(TensorMetadata::new(
        values.dtype,
        Shape::from_signed(shape)?.dims(),
    ))
}

fn add_metadata(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata> {
    if a.dtype != b.dtype {
        return Err(invalid("incompatible dtypes for test.add"));
    }
    if a.extents != b.extents {
        return Err(invalid("arguments of test.add must have same shape"));
    }
    Ok(a.clone())
}

/// Returns the sum of two dense tensors.
fn sum(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    add_metadata(&a.metadata(), &b.metadata())?;
    let mut result = allocate(a.dtype(), a.shape().clone(), ctx)?;
    with_dtype!(
        a.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64, Complex<f32>, Complex<f64>] => {
            let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
            binary::apply(Binary::Add, &a, &b, &mut result.elements_mut::<T>()?);
            Ok(result)
        },
        else Err(unsupported("unsupported dtype for test.add"))
    )
}

/// Computes `a + b`; scalar tensors stay scalar.
///
/// # Errors
/// `incompatible dtypes for test.add`, `arguments of test.add must have same shape`.
#[tfrt_op("tfrt_test.add", accepts(scalar), metadata = add_metadata)]
fn add(a: &AnyRef, b: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    let (a, b) = (
        TensorRef::read(a).map_err(mismatched)?,
        TensorRef::read(b).map_err(mismatched)?,
    );
    add_metadata(&Tensor::metadata(&*a), &Tensor::metadata(&*b))?;
    if let (TensorRef::Scalar(a), TensorRef::Scalar(b)) = (&a, &b) {
        let shape = a.shape().clone();
        return with_dtype!(
            a.dtype(),
            T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64, Complex<f32>, Complex<f64>] => {
                let mut value = [T::default()];
                binary::apply(Binary::Add, &[a.value()?], &[b.value()?], &mut value);
                let [value] = value;
                Ok(AnyRef::available(ScalarHostTensor::new(shape, value)))
            },
            else Err(unsupported("unsupported dtype for test.add"))
        );
    }
    let expanded = |side: &TensorRef<'_>| match side {
        TensorRef::Dense(tensor) => Ok((**tensor).clone()),
        TensorRef::Scalar(tensor) => Ok(tensor.to_dense(ctx.allocator())?),
        other => Err(unsupported(format!(
            "test.add does not take tensors of type {}",
            other.tensor_type().name()
        ))),
    };
    Ok(AnyRef::available(sum(&expanded(&a)?, &expanded(&b)?, ctx)?))
}

/// Computes `a + b` of dense tensors.
///
/// # Errors
/// Those of `tfrt_test.add`.
#[tfrt_op("tfrt_test.add.denseonly", metadata = add_metadata)]
fn add_dense_only(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    sum(a, b, ctx)
}

/// Computes `a + b` of dense tensors, as a value that is available immediately.
///
/// # Errors
/// Those of `tfrt_test.add`.
#[tfrt_op("tfrt_test.add.denseonly2", metadata = add_metadata)]
fn add_dense_only_2(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<DenseHostTensor>> {
    Ok(AsyncValueRef::available(sum(a, b, ctx)?))
}

/// Computes `a + b` of dense tensors, on the workers of the queue.
///
/// # Errors
/// Those of `tfrt_test.add`.
#[tfrt_op("tfrt_test.add.denseonly3", metadata = add_metadata)]
fn add_dense_only_3(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    add_metadata(&a.metadata(), &b.metadata())?;
    let mut result = allocate(a.dtype(), a.shape().clone(), ctx)?;
    with_dtype!(
        a.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64, Complex<f32>, Complex<f64>] => {
            let (a, b) = (a.elements_owned::<T>()?, b.elements_owned::<T>()?);
            let to = result.elements_mut_owned::<T>()?;
            let done = crate::numeric::start_elements(ctx, to, move |range, part| {
                binary::apply(Binary::Add, &a[range.clone()], &b[range], part);
            })?;
            Ok(crate::numeric::after(done, result))
        },
        else Err(unsupported("unsupported dtype for test.add"))
    )
}

/// Computes `max(x, 0)` for each element, in the operand's memory if it has no other references.
#[tfrt_op("tfrt_test.relu", metadata = same_as, partial = partial::same_as)]
fn relu(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    super::element_wise::compute_relu(x, ctx)
}

fn alike(a: &TensorMetadata, b: &TensorMetadata) -> Result<TensorMetadata> {
    if a.dtype != b.dtype {
        return Err(invalid("incompatible dtypes for element-wise op"));
    }
    if a.extents != b.extents {
        return Err(invalid(
            "arguments to element-wise op must have identical shapes",
        ));
    }
    Ok(a.clone())
}

/// Returns whether elements are equal, as ones and zeros of their type.
///
/// # Errors
/// `incompatible dtypes for element-wise op`,
/// `arguments to element-wise op must have identical shapes`, `unsupported dtype for equal`.
#[tfrt_op("tfrt_test.equal", metadata = alike)]
fn equal(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    alike(&a.metadata(), &b.metadata())?;
    let mut result = allocate(a.dtype(), a.shape().clone(), ctx)?;
    with_dtype!(
        a.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64] => {
            let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
            binary::equal(&a, &b, &mut result.elements_mut::<T>()?);
            Ok(result)
        },
        else Err(unsupported("unsupported dtype for equal"))
    )
}

fn cast_metadata(x: &TensorMetadata, r#type: Option<&str>) -> Result<TensorMetadata> {
    let dtype = match r#type {
        None => return Err(invalid("missing 'type' attribute")),
        Some("f32") => DType::F32,
        Some("f16") => DType::F16,
        Some(_) => return Err(invalid("only casting to f32/f16 is supported")),
    };
    Ok(TensorMetadata { dtype, ..x.clone() })
}

/// Converts elements to f32 or f16.
///
/// # Errors
/// `missing 'type' attribute`, `only casting to f32/f16 is supported`,
/// `unsupported dtype for cast`.
#[tfrt_op("tfrt_test.cast", metadata = cast_metadata)]
fn cast_elements(
    x: &DenseHostTensor,
    #[attr("type")] target: Option<&str>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let metadata = cast_metadata(&x.metadata(), target)?;
    let mut result = allocate(metadata.dtype, x.shape().clone(), ctx)?;
    with_dtype!(
        x.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64] => {
            let x = x.elements::<T>()?;
            if metadata.dtype == DType::F32 {
                cast::cast(&x, &mut result.elements_mut::<f32>()?);
            } else {
                cast::cast(&x, &mut result.elements_mut::<f16>()?);
            }
            Ok(result)
        },
        else Err(unsupported("unsupported dtype for cast"))
    )
}

fn broadcast_metadata(x: &TensorMetadata, shape: Option<&[i64]>) -> Result<TensorMetadata> {
    let shape = shape.ok_or_else(|| invalid("missing 'shape' attribute"))?;
    if shape.len() != 2 {
        return Err(invalid("result shape must be 2 dimensional (for now)"));
    }
    let shape = Shape::from_signed(shape)?;
    if x.extents[..] != shape.dims()[1..] {
        return Err(invalid("input dimension and target shape mismatch"));
    }
    Ok(TensorMetadata::new(x.dtype, shape.dims()))
}

/// Repeats a vector as the rows of a matrix.
///
/// # Errors
/// `missing 'shape' attribute`, `result shape must be 2 dimensional (for now)`,
/// `input dimension and target shape mismatch`.
#[tfrt_op("tfrt_test.broadcast", metadata = broadcast_metadata)]
fn broadcast(
    x: &DenseHostTensor,
    #[attr] shape: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let metadata = broadcast_metadata(&x.metadata(), shape)?;
    let mut result = allocate(x.dtype(), Shape::new(&metadata.extents)?, ctx)?;
    let row = x.buffer().read()?;
    let mut rows = result.buffer_mut().write()?;
    rows.chunks_exact_mut(row.len().max(1))
        .for_each(|to| to.copy_from_slice(&row));
    drop(rows);
    Ok(result)
}

fn without_axis(x: &TensorMetadata, axis: Option<i32>) -> Result<TensorMetadata> {
    let axis = axis.ok_or_else(|| invalid("missing 'axis' attribute"))?;
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis < x.extents.len());
    let axis = axis.ok_or_else(|| invalid("axis must less than input rank"))?;
    let kept = x
        .extents
        .iter()
        .enumerate()
        .filter(|(index, _)| *index != axis);
    let kept: Vec<usize> = kept.map(|(_, &extent)| extent).collect();
    Ok(TensorMetadata::new(x.dtype, &kept[..]))
}

fn argmax_metadata(x: &TensorMetadata, axis: Option<i32>) -> Result<TensorMetadata> {
    Ok(TensorMetadata {
        dtype: DType::I32,
        ..without_axis(x, axis)?
    })
}

/// Returns the positions of the greatest elements along a dimension.
///
/// # Errors
/// `missing 'axis' attribute`, `axis must less than input rank`, `unsupported dtype for argmax`.
#[tfrt_op("tfrt_test.argmax", metadata = argmax_metadata)]
fn argmax(
    x: &DenseHostTensor,
    #[attr] axis: Option<i32>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let metadata = argmax_metadata(&x.metadata(), axis)?;
    let mut result = allocate(DType::I32, Shape::new(&metadata.extents)?, ctx)?;
    let axis = axis.unwrap_or_default() as isize;
    with_dtype!(
        x.dtype(),
        T in [u8, u16, u32, u64, i8, i16, i32, i64, f16, f32, f64] => {
            let (dims, x) = (x.shape().dims(), x.elements::<T>()?);
            reduction::argmax(dims, axis, &x, &mut result.elements_mut::<i32>()?)?;
            Ok(result)
        },
        else Err(unsupported("unsupported dtype for argmax"))
    )
}

/// Computes means along a dimension.
///
/// # Errors
/// `missing 'axis' attribute`, `axis must less than input rank`,
/// `unsupported dtype for reduce_mean`.
#[tfrt_op("tfrt_test.reduce_mean", metadata = without_axis)]
fn reduce_mean(
    x: &DenseHostTensor,
    #[attr] axis: Option<i32>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    without_axis(&x.metadata(), axis)?;
    let axis = axis.unwrap_or_default() as isize;
    reduce(
        Reduction::Mean,
        x,
        &[axis],
        false,
        "unsupported dtype for reduce_mean",
        ctx,
    )
}

/// Prints a tensor.
#[tfrt_op("tfrt_test.print", accepts(scalar, string, sparse), side_effecting)]
fn print(x: &dyn Tensor) -> Result<()> {
    print_bytes(&[&x.to_bytes()?])?;
    Ok(())
}

/// Prints the address of the elements of a dense tensor.
#[tfrt_op("tfrt_test.print_address", accepts(scalar, sparse), side_effecting)]
fn print_address(x: &AnyRef) -> io::Result<()> {
    match x.try_read::<DenseHostTensor>() {
        Ok(tensor) => {
            let address = tensor.buffer().read().map_err(io::Error::other)?.as_ptr();
            print_line(format_args!("DenseHostTensor: buffer={address:p}"))
        }
        Err(_) => print_line("Unsupported tensor type"),
    }
}

/// Returns a tensor that shares the memory of the operand. A kernel of this name does the same for
/// values of any type.
#[tfrt_op("tfrt_test.identity", raw)]
fn identity(call: &mut OpCall<'_>) -> Result<()> {
    let tensor = call.argument(0)?.clone();
    call.set_result(0, tensor);
    Ok(())
}

/// Returns a dense tensor that shares the memory of the operand.
#[tfrt_op("tfrt_test.identity_dense_only")]
fn identity_dense_only(x: &AnyRef) -> Result<DenseHostTensor> {
    dense(x)
}

/// Returns a copy of a tensor, which becomes available in a task of the work queue.
fn copied_later(x: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    let copy = match TensorRef::read(x).map_err(mismatched)? {
        TensorRef::Dense(tensor) => AnyRef::available(tensor.copied(ctx.allocator())?),
        TensorRef::Scalar(tensor) => AnyRef::available((*tensor).clone()),
        TensorRef::String(tensor) => {
            let (shape, strings) = (tensor.shape().clone(), tensor.strings().to_vec());
            AnyRef::available(StringHostTensor::new(shape, strings)?)
        }
        TensorRef::Coo(tensor) => AnyRef::available((*tensor).clone()),
        TensorRef::List(tensor) => AnyRef::available((*tensor).clone()),
        TensorRef::Resource(tensor) => AnyRef::available((*tensor).clone()),
        // In the memory of a device, where nobody writes to it.
        TensorRef::Other(_) => x.clone(),
    };
    let (promise, result) = AnyRef::indirect();
    ctx.enqueue(move || promise.forward_to(copy));
    Ok(result)
}

/// Returns a copy, which becomes available in a task of the work queue.
#[tfrt_op("tfrt_test.async.noop", accepts(scalar), metadata = same_as, partial = partial::same_as)]
fn async_noop(x: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    copied_later(x, ctx)
}

/// Returns a copy, which becomes available in a task of the work queue, and whose metadata is not
/// known before.
#[tfrt_op("tfrt_test.async.noop_no_md", accepts(scalar))]
fn async_noop_no_md(x: &AnyRef, ctx: &ExecutionContext) -> Result<AnyRef> {
    copied_later(x, ctx)
}

/// Fails, with valid metadata.
///
/// # Errors
/// `error from test.error.tensor implementation`.
#[tfrt_op("tfrt_test.error.tensor", accepts(scalar), metadata = same_as, partial = partial::same_as)]
fn error_tensor(x: &AnyRef) -> Result<DenseHostTensor> {
    let _ = x;
    Err(unsupported("error from test.error.tensor implementation"))
}

/// Returns the metadata of the second operand if there is one, else of the first.
#[tfrt_op("tfrt_test.test_optional_arg", metadata_only)]
fn optional_arg(first: &TensorMetadata, second: Option<&TensorMetadata>) -> TensorMetadata {
    second.unwrap_or(first).clone()
}

/// Returns the metadata of the second operand if there is one, otherwise of the first.
#[tfrt_op("tfrt_test.test_variadic_arg", metadata_only)]
fn variadic_arg(first: &TensorMetadata, others: &[TensorMetadata]) -> TensorMetadata {
    others.first().unwrap_or(first).clone()
}

/// Prints a set of op attributes.
#[tfrt_kernel("tfrt_test.corert.op_attrs_print", side_effecting)]
fn op_attrs_print(attrs: &OpAttrs) -> io::Result<()> {
    print_attrs(attrs)
}

/// Returns an immutable copy of a set of op attributes.
#[tfrt_kernel("tfrt_test.corert.op_attrs_freeze", results(frozen, out_chain))]
fn op_attrs_freeze(attrs: &OpAttrs) -> (tfrt::core::OpAttrsRef, Chain) {
    (attrs.to_frozen(), Chain)
}

/// Prints an immutable set of op attributes.
#[tfrt_kernel("tfrt_test.corert.op_attrs_ref_print", side_effecting)]
fn op_attrs_ref_print(attrs: &tfrt::core::OpAttrsRef) -> io::Result<()> {
    print_attrs(attrs)
}

fn print_attrs(attrs: &OpAttrs) -> io::Result<()> {
    use std::io::Write;

    let mut output = io::stdout().lock();
    output.write_all(&attrs.to_bytes())?;
    output.flush()
}
