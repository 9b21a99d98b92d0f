//! Products of matrices, by the BLAS library.

use tfrt::core::metadata;
use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor};

use super::invalid;
use crate::api::DevicePtr;
use crate::api::blas::{Gemm, Matrix, Scalar};
use crate::eager::call::GpuCall;
use crate::values::DenseGpuTensor;

/// The library's number for a matrix as it is, and for its transpose.
const OPERATIONS: [i32; 2] = [0, 1];

/// The library's number for the algorithm that it chooses.
const DEFAULT_ALGORITHM: i32 = -1;

/// The library's numbers for a type of elements: its data type and the type of computations; and
/// the factors of a plain product.
pub(super) fn types(dtype: DType) -> Option<(i32, i32, [Scalar; 2])> {
    let single = [Scalar::F32(1.0), Scalar::F32(0.0)];
    match dtype {
        DType::F16 => Some((2, 68, single)),
        DType::F32 => Some((0, 68, single)),
        DType::F64 => Some((1, 70, [Scalar::F64(1.0), Scalar::F64(0.0)])),
        _ => None,
    }
}

/// The sizes of a product of matrices in row-major order.
pub(super) struct Product {
    pub(super) rows: usize,
    pub(super) inner: usize,
    pub(super) columns: usize,
    /// Whether the first matrix is stored as its transpose, and the second.
    pub(super) transposes: [bool; 2],
}

/// Multiplies matrices of at least one element.
///
/// The library has matrices in column-major order. A row-major matrix is the transpose of a
/// column-major one, and `(A · B)ᵀ = Bᵀ · Aᵀ`: so the operands are swapped.
pub(super) fn multiply(
    call: &GpuCall<'_, '_>,
    product: &Product,
    dtype: DType,
    [a, b, c]: [DevicePtr; 3],
) -> Result<()> {
    let unsupported = || invalid(format!("Type {dtype} is not supported by cuBLASS gemm"));
    let (data_type, compute_type, [alpha, beta]) = types(dtype).ok_or_else(unsupported)?;
    let size = |number: usize| {
        i32::try_from(number)
            .map_err(|_| invalid(format!("a matrix has too many rows or columns: {number}")))
    };
    let (rows, inner) = (size(product.rows)?, size(product.inner)?);
    let columns = size(product.columns)?;
    let [transposes_a, transposes_b] = product.transposes;
    let matrix = |pointer, height: i32| Matrix {
        pointer,
        data_type,
        height,
        stride: 0,
    };
    let gemm = Gemm {
        a_op: OPERATIONS[usize::from(transposes_b)],
        b_op: OPERATIONS[usize::from(transposes_a)],
        m: columns,
        n: rows,
        k: inner,
        alpha,
        a: matrix(b, if transposes_b { inner } else { columns }),
        b: matrix(a, if transposes_a { rows } else { inner }),
        beta,
        c: matrix(c, columns),
        batch_count: None,
        compute_type,
        algorithm: DEFAULT_ALGORITHM,
    };
    let gpu = call.gpu();
    let handle = gpu.blas()?;
    let turn = gpu.stream().enter_library(gpu.context())?;
    Ok(gpu
        .context()
        .gpu()
        .blas
        .gemm(&turn, handle.handle(), &gemm)?)
}

/// Sets all bytes of a tensor to zero.
fn clear(call: &GpuCall<'_, '_>, tensor: &DenseGpuTensor) -> Result<()> {
    let gpu = call.gpu();
    let driver = &gpu.context().gpu().driver;
    // Blocks of memory are larger than their tensors, by less than one word.
    let num_words = tensor.num_bytes().div_ceil(4);
    let stream = gpu.stream().handle();
    Ok(driver.set_u32_async(call.current(), tensor.pointer(), 0, num_words, stream)?)
}

/// Computes the product of two matrices.
///
/// # Errors
/// `Type D is not supported by cuBLASS gemm`; shapes that do not fit.
#[tfrt_op("tf.MatMul", raw, device = "gpu")]
fn matmul(call: &mut OpCall<'_>) -> Result<()> {
    let attrs = call.attrs();
    let transposes =
        ["transpose_a", "transpose_b"].map(|name| attrs.get::<bool>(name).unwrap_or(false));
    let mut call = GpuCall::new(call)?;
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let told = metadata::matmul(
        &Tensor::metadata(a),
        &Tensor::metadata(b),
        transposes[0],
        transposes[1],
    )?;
    if types(told.dtype).is_none() {
        let message = format!("Type {} is not supported by cuBLASS gemm", told.dtype);
        return Err(invalid(message));
    }
    let c = call.allocate(told.dtype, Shape::new(&told.extents)?)?;
    let product = Product {
        rows: told.extents[0],
        inner: a.shape().dims()[usize::from(!transposes[0])],
        columns: told.extents[1],
        transposes,
    };
    if c.num_elements() != 0 && product.inner == 0 {
        clear(&call, &c)?;
    } else if c.num_elements() != 0 {
        let pointers = [a.pointer(), b.pointer(), c.pointer()];
        multiply(&call, &product, told.dtype, pointers)?;
    }
    call.set_result(0, c);
    Ok(())
}
