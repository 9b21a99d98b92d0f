//! Matrix products.

use tfrt::core::metadata::broadcast;
use tfrt::prelude::*;
use tfrt::support::complex::Complex;
use tfrt_compute::Activation;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::matmul::{
    Matmul, MatmulElement, MatmulOperands, MatmulShape, multiply_small, naive,
};
use tfrt_compute::unary;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

use super::metadata::{self, product_extents};
use super::{allocate, computed, invalid, unsupported, unsupported_dtype, with_dtype};
use crate::numeric::{after, product_shape, run, start, width};
use crate::tf_sync::products::parse_fusion;

/// Computes `a · b`, where either matrix may be passed transposed.
///
/// # Errors
/// If the shapes do not match; `Unsupported input dtype: D`.
#[tfrt_op(
    "tf.MatMul",
    metadata = metadata::matmul,
    partial = metadata::partial_matmul,
    function = matmul
)]
pub fn compute_matmul(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    #[attr] transpose_a: Option<bool>,
    #[attr] transpose_b: Option<bool>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let (shape, dims) = shapes(a, b, transpose_a, transpose_b)?;
    with_dtype!(
        a.dtype(),
        T in [f32, f64] => multiply_real::<T>(shape, a, b, dims, ctx),
        else with_dtype!(
            a.dtype(),
            T in [i32, i64, u32, u64, Complex<f32>, Complex<f64>] => {
                let mut c = allocate(a.dtype(), dims, ctx)?;
                let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
                let (one, zero) = (<T as tfrt_compute::element::Arithmetic>::ONE, T::default());
                naive::matmul(&shape, one, &a, &b, zero, &mut c.elements_mut::<T>()?)?;
                Ok(AnyRef::available(c))
            },
            else Err(unsupported(format!("Unsupported input dtype: {}", a.dtype())))
        )
    )
}

/// Returns the shape of a product, as a plan has it and as its result does.
#[inline]
fn shapes(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<(MatmulShape, Shape)> {
    let [m, k, n] = metadata::product(
        (a.dtype(), a.shape().dims()),
        (b.dtype(), b.shape().dims()),
        transpose_a,
        transpose_b,
    )?;
    let [transpose_a, transpose_b] = [transpose_a, transpose_b].map(Option::unwrap_or_default);
    let shape = MatmulShape::new(m, n, k).transposed(transpose_a, transpose_b);
    Ok((shape, Shape::new(&[m, n])?))
}

/// Returns a product on the workers of the queue.
fn multiply_real<T: Element + MatmulElement>(
    shape: MatmulShape,
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    dims: Shape,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    if width(ctx) == 1 {
        let (a, b) = (a.elements()?, b.elements()?);
        let operands = MatmulOperands::new(&a, &b);
        let multiply = |c: &mut [T]| -> Result<()> {
            if shape.k == 0 {
                c.fill(T::default());
            } else if !multiply_small(&shape, operands, c)? {
                run(ctx, &Matmul::<T>::new(shape, 1)?, operands, c)?;
            }
            Ok(())
        };
        let (c, outcome) = computed(ctx, dims, multiply)?;
        outcome?;
        return Ok(AnyRef::available(c));
    }
    let mut c = allocate(T::DTYPE, dims, ctx)?;
    let plan = Matmul::<T>::new(shape, width(ctx))?;
    let (a, b) = (a.elements_owned()?, b.elements_owned()?);
    let output = c.elements_mut_owned()?;
    let done = start(ctx, plan, output, move |job, block, workspace| {
        job.run_block(block, MatmulOperands::new(&a, &b), workspace)
    })?;
    Ok(after(done, c))
}

/// Computes `act(a · b + bias)`, where either matrix may be passed transposed. The list of fused
/// ops begins with `BiasAdd`, which `Relu`, `Relu6` or `Elu` may follow.
///
/// # Errors
/// Those of `tf.MatMul`, `FusedMatMul must specify fused operations`, `Bias tensor must a vector`,
/// `The number of bias elements N doesn't match output inner dimension M`,
/// `Unsupported fusion type`.
#[tfrt_op("tf._FusedMatMul", metadata = fused_metadata)]
fn fused_mat_mul(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    fusion_inputs: Operands<'_, DenseHostTensor>,
    #[attr] fused_ops: AggregateView<'_>,
    #[attr] transpose_a: Option<bool>,
    #[attr] transpose_b: Option<bool>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let (shape, dims) = shapes(a, b, transpose_a, transpose_b)?;
    let mut c = allocate(a.dtype(), dims, ctx)?;
    let activation = parse_fusion(fused_ops)?;
    let bias = fusion_inputs.get(0).filter(|bias| bias.shape().rank() == 1);
    let bias = bias.ok_or_else(|| unsupported("Bias tensor must a vector"))?;
    if bias.num_elements() != shape.n {
        return Err(unsupported(format!(
            "The number of bias elements {} doesn't match output inner dimension {}",
            bias.num_elements(),
            shape.n
        )));
    }
    with_dtype!(
        a.dtype(),
        T in [f32] => {
            let (a, b, bias) = (a.elements::<T>()?, b.elements()?, bias.elements()?);
            let operands = MatmulOperands::new(&a, &b).shift(&bias).activation(activation);
            let plan = Matmul::<T>::new(shape, 1)?;
            run(ctx, &plan, operands, &mut c.elements_mut()?)?;
            Ok(c)
        },
        else with_dtype!(
            a.dtype(),
            T in [i32] => {
                let (a, b, bias) = (a.elements::<T>()?, b.elements()?, bias.elements::<T>()?);
                let mut product = c.elements_mut::<T>()?;
                naive::matmul(&shape, 1, &a, &b, 0, &mut product)?;
                for row in product.chunks_exact_mut(shape.n.max(1)) {
                    binary::apply_in_place(Binary::Add, row, &bias);
                }
                match activation {
                    Activation::None => {}
                    Activation::Relu => unary::relu_in_place(&mut product),
                    Activation::Relu6 => {
                        product.iter_mut().for_each(|number| *number = (*number).clamp(0, 6));
                    }
                    _ => return Err(unsupported("Unsupported fusion type")),
                }
                drop(product);
                Ok(c)
            },
            else Err(unsupported(format!("Unsupported input dtype: {}", a.dtype())))
        )
    )
}

fn fused_metadata(
    a: &TensorMetadata,
    b: &TensorMetadata,
    _fusion_inputs: &[TensorMetadata],
    _fused_ops: AggregateView<'_>,
    transpose_a: Option<bool>,
    transpose_b: Option<bool>,
) -> Result<TensorMetadata> {
    metadata::matmul(a, b, transpose_a, transpose_b)
}

/// Computes `a · b`, for tests.
///
/// # Errors
/// `incompatible dtypes for MatMul`, `argument 0 of matmul op is not a rank-2 tensor`,
/// `matmul arguments have incompatible shapes`, `unsupported dtype for matmul`.
#[tfrt_op("tfrt_test.matmul", metadata = test_metadata)]
fn test_mat_mul(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    #[attr(default = false)] transpose_a: bool,
    #[attr(default = false)] transpose_b: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let transposed = [transpose_a, transpose_b];
    let metadata = test_metadata(&a.metadata(), &b.metadata(), transpose_a, transpose_b)?;
    let mut c = allocate(a.dtype(), Shape::new(&metadata.extents)?, ctx)?;
    let shape = product_shape(a, b, &c, transposed)?;
    if transposed != [false, false] && a.dtype() != DType::F32 {
        return Err(unsupported("unsupported dtype for matmul"));
    }
    with_dtype!(
        a.dtype(),
        T in [f32, f64, i32, i64] => {
            let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
            let (one, zero) = (<T as tfrt_compute::element::Arithmetic>::ONE, T::default());
            naive::matmul(&shape, one, &a, &b, zero, &mut c.elements_mut::<T>()?)?;
            Ok(c)
        },
        else Err(unsupported("unsupported dtype for matmul"))
    )
}

fn test_metadata(
    a: &TensorMetadata,
    b: &TensorMetadata,
    transpose_a: bool,
    transpose_b: bool,
) -> Result<TensorMetadata> {
    if a.dtype != b.dtype {
        return Err(invalid("incompatible dtypes for MatMul"));
    }
    for (index, operand) in [a, b].into_iter().enumerate() {
        if operand.extents.len() != 2 {
            return Err(invalid(format!(
                "argument {index} of matmul op is not a rank-2 tensor"
            )));
        }
    }
    let extents = product_extents(&a.extents, &b.extents, [transpose_a, transpose_b]);
    let [rows, _, columns] =
        extents.ok_or_else(|| invalid("matmul arguments have incompatible shapes"))?;
    Ok(TensorMetadata::new(a.dtype, [rows, columns]))
}

/// Computes `a · b` for each matrix of the last two dimensions, where either may be passed
/// transposed; the dimensions before them are broadcast to one shape.
///
/// # Errors
/// If an operand does not consist of matrices, or shapes or types do not match.
#[tfrt_op("tf.BatchMatMulV2", metadata = batch_metadata, function = batch_matmul)]
pub fn compute_batch_matmul(
    a: &DenseHostTensor,
    b: &DenseHostTensor,
    #[attr(default = false)] adj_x: bool,
    #[attr(default = false)] adj_y: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let metadata = batch_metadata(&a.metadata(), &b.metadata(), adj_x, adj_y)?;
    let dims = &metadata.extents[..];
    let mut c = allocate(a.dtype(), Shape::new(dims)?, ctx)?;
    if c.num_elements() == 0 {
        return Ok(c);
    }
    let (batch, &[m, n]) = dims
        .split_last_chunk()
        .expect("metadata is that of matrices");
    let (a_batch, &a_matrix) = a
        .shape()
        .dims()
        .split_last_chunk::<2>()
        .expect("metadata was told of `a`");
    let (b_batch, &b_matrix) = b
        .shape()
        .dims()
        .split_last_chunk::<2>()
        .expect("metadata was told of `b`");
    let k = if adj_x { a_matrix[0] } else { a_matrix[1] };
    let shape = MatmulShape::new(m, n, k).transposed(adj_x, adj_y);
    let (a_len, b_len) = (a_matrix.iter().product(), b_matrix.iter().product());
    let places = |own: &[usize], len: usize| -> Vec<usize> {
        (0..batch.iter().product())
            .map(|index| len * stretched_index(index, batch, own))
            .collect()
    };
    let (a_places, b_places) = (places(a_batch, a_len), places(b_batch, b_len));
    with_dtype!(
        a.dtype(),
        T in [f32, f64] => {
            let plan = Matmul::<T>::new(shape, 1)?;
            let (a, b) = (a.elements::<T>()?, b.elements::<T>()?);
            let mut elements = c.elements_mut::<T>()?;
            for (index, c) in elements.chunks_exact_mut((m * n).max(1)).enumerate() {
                let operands = MatmulOperands::new(&a[a_places[index]..][..a_len], &b[b_places[index]..][..b_len]);
                run(ctx, &plan, operands, c)?;
            }
        },
        else return Err(unsupported_dtype("tf.BatchMatMulV2", a.dtype()))
    );
    Ok(c)
}

/// Returns the place of an element in a tensor of extents `own`, from its place in the tensor that
/// this one is stretched to.
fn stretched_index(mut index: usize, extents: &[usize], own: &[usize]) -> usize {
    let (mut place, mut stride) = (0, 1);
    for (axis, &extent) in extents.iter().enumerate().rev() {
        let (at, missing) = (index % extent.max(1), extents.len() - own.len());
        index /= extent.max(1);
        let own_extent = axis.checked_sub(missing).map_or(1, |axis| own[axis]);
        if own_extent > 1 {
            place += at * stride;
        }
        stride *= own_extent;
    }
    place
}

fn batch_metadata(
    a: &TensorMetadata,
    b: &TensorMetadata,
    adj_x: bool,
    adj_y: bool,
) -> Result<TensorMetadata> {
    let refused = || invalid(format!("`tf.BatchMatMulV2`: {a} and {b} are incompatible"));
    let split = |side: &TensorMetadata| {
        let (batch, &matrix) = side.extents.split_last_chunk::<2>()?;
        Some((TensorMetadata::new(side.dtype, batch), matrix))
    };
    let ((a_batch, a_matrix), (b_batch, b_matrix)) = split(a).zip(split(b)).ok_or_else(refused)?;
    let matrix = product_extents(&a_matrix, &b_matrix, [adj_x, adj_y]);
    let [rows, _, columns] = matrix.ok_or_else(refused)?;
    let batch = broadcast(&a_batch, &b_batch).map_err(|_| refused())?;
    Ok(TensorMetadata::new(
        a.dtype,
        &[&batch.extents[..], &[rows, columns]].concat()[..],
    ))
}
