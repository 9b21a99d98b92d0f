//! Products and solutions of matrices, by the BLAS library. Matrices are in column-major order.

use tfrt::prelude::*;

use crate::kernels::frame::{FinishWith, FrameReader};

use super::scalar::scalar;
use super::{op_verifiers, product};
use crate::api::DevicePtr;
use crate::api::blas::{Axpy, Gemm, Matrix, Scal, TrsmBatched};
use crate::enums::{
    ComputeType, DataType, DiagonalType, FillMode, GemmAlgorithm, Operation, Platform, SideMode,
};
use crate::values::{BlasHandle, Buffer, GpuContext, LibraryCall, Stream};

/// The algorithm of the library for a product.
#[derive(Clone, Copy, Debug, Value)]
#[value("!tfrt_gpu.blas.gemm.algo")]
pub struct GemmAlgo(GemmAlgorithm);

/// Creates a handle of the BLAS library.
#[tfrt_kernel("tfrt_gpu.blas.create", chain = none, results(handle), format = "operands attr-dict")]
fn blas_create(context: &GpuContext) -> Result<BlasHandle> {
    let current = context.set_current()?;
    Ok(BlasHandle::new(
        context,
        context.gpu().blas.create(&current)?,
    ))
}

/// Makes the handle's context current, and work of the handle go to a stream.
fn enter<'h>(handle: &'h BlasHandle, stream: &Stream) -> Result<LibraryCall<'h>> {
    let current = stream.enter_library(handle.context())?;
    let blas = &handle.context().gpu().blas;
    blas.set_stream(handle.handle(), stream.handle())?;
    Ok(current)
}

/// Returns the bytes of an element of a type of the library.
pub(super) fn element_bytes(data_type: i32) -> Option<usize> {
    Some(match data_type {
        0 | 10 | 12 => 4,
        1 | 4 | 11 | 13 | 24 | 26 => 8,
        5 | 25 | 27 => 16,
        2 | 14 | 20 | 22 => 2,
        6 | 15 | 21 | 23 => 4,
        3 | 8 => 1,
        7 | 9 => 2,
        _ => return None,
    })
}

/// Returns the bytes that a vector spans, or `None` if the sizes make no sense.
fn vector_bytes(n: i32, stride: i32, data_type: i32) -> Option<usize> {
    if n <= 0 {
        return Some(0);
    }
    let elements = (n as usize - 1).checked_mul(stride.unsigned_abs() as usize)?;
    elements
        .checked_add(1)?
        .checked_mul(element_bytes(data_type)?)
}

/// Returns the bytes that matrices of a batch span.
fn matrix_bytes(
    rows: i32,
    columns: i32,
    height: i32,
    stride: i64,
    count: i32,
    data_type: i32,
) -> Option<usize> {
    if rows <= 0 || columns <= 0 || count <= 0 {
        return (rows >= 0 && columns >= 0 && count >= 0).then_some(0);
    }
    let one = product(&[i64::from(height), i64::from(columns) - 1])?.checked_add(rows as usize)?;
    let before = product(&[stride, i64::from(count) - 1])?;
    before
        .checked_add(one)?
        .checked_mul(element_bytes(data_type)?)
}

/// Adds a multiple of a vector to another one: y += alpha · x.
#[tfrt_kernel(
    "tfrt_gpu.blas.axpy",
    raw,
    operands(handle: BlasHandle, stream: Stream, n: i32, alpha: any, x: Buffer, strideX: i32, y: Buffer, strideY: i32, in_chain: Chain),
    attrs(executionType: DataType, typeAlpha: DataType, typeX: DataType, typeY: DataType),
    results(out_chain: Chain),
    verify = op_verifiers::verify_axpy,
    format = "$handle `,` $stream `,` $n `,` $alpha `,` $typeAlpha `,` $x `,` $typeX `,` $strideX \
              `,` $y `,` $typeY `,` $strideY `,` $executionType `,` $in_chain \
              known($alpha by $typeAlpha) attr-dict"
)]
#[expect(non_snake_case, reason = "the names of the op")]
fn blas_axpy(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &BlasHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let n: i32 = *reader.operand()?;
    let alpha = reader.any()?;
    let x: &Buffer = reader.operand()?;
    let strideX: i32 = *reader.operand()?;
    let y: &Buffer = reader.operand()?;
    let strideY: i32 = *reader.operand()?;
    let executionType = reader.attribute::<DataType>()?;
    let typeAlpha = reader.attribute::<DataType>()?;
    let typeX = reader.attribute::<DataType>()?;
    let typeY = reader.attribute::<DataType>()?;
    let call = Axpy {
        n,
        alpha: scalar::<DataType>(alpha, typeAlpha.keyword())?,
        alpha_type: typeAlpha.cuda()?,
        x: x.with_room("x", vector_bytes(n, strideX, typeX.cuda()?))?,
        x_type: typeX.cuda()?,
        x_stride: strideX,
        y: y.with_room("y", vector_bytes(n, strideY, typeY.cuda()?))?,
        y_type: typeY.cuda()?,
        y_stride: strideY,
        execution_type: executionType.cuda()?,
    };
    let current = enter(handle, stream)?;
    let blas = &handle.context().gpu().blas;
    blas.axpy(&current, handle.handle(), &call)?;
    frame.finish_with(Chain)
}

/// Scales a vector: x = alpha · x.
#[tfrt_kernel(
    "tfrt_gpu.blas.scal",
    results(out_chain),
    verify = op_verifiers::verify_scal,
    format = "$handle `,` $stream `,` $n `,` $alpha `,` $typeAlpha `,` $x `,` $typeX `,` $strideX \
              `,` $executionType `,` $in_chain known($alpha by $typeAlpha) attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
#[expect(non_snake_case, reason = "the names of the op")]
fn blas_scal(
    handle: &BlasHandle,
    stream: &Stream,
    n: i32,
    alpha: &AnyRef,
    x: &Buffer,
    strideX: i32,
    in_chain: Chain,
    #[attr] executionType: DataType,
    #[attr] typeAlpha: DataType,
    #[attr] typeX: DataType,
) -> Result<Chain> {
    let call = Scal {
        n,
        alpha: scalar::<DataType>(alpha, typeAlpha.keyword())?,
        alpha_type: typeAlpha.cuda()?,
        x: x.with_room("x", vector_bytes(n, strideX, typeX.cuda()?))?,
        x_type: typeX.cuda()?,
        x_stride: strideX,
        execution_type: executionType.cuda()?,
    };
    let current = enter(handle, stream)?;
    let blas = &handle.context().gpu().blas;
    blas.scal(&current, handle.handle(), &call)?;
    Ok(in_chain)
}

/// Returns an algorithm for products.
#[tfrt_kernel(
    "tfrt_gpu.blas.gemm.algo",
    pure,
    chain = none,
    results(algorithm),
    format = "$algo attr-dict",
)]
fn blas_gemm_algo(#[attr] algo: GemmAlgorithm) -> GemmAlgo {
    GemmAlgo(algo)
}

/// Multiplies matrices: C = alpha · op(A) · op(B) + beta · C.
#[tfrt_kernel(
    "tfrt_gpu.blas.gemm",
    raw,
    operands(handle: BlasHandle, stream: Stream, m: i32, n: i32, k: i32, alpha: any, A: Buffer, heightA: i32, B: Buffer, heightB: i32, beta: any, C: Buffer, heightC: i32, algo: GemmAlgo, in_chain: Chain),
    attrs(computeType: ComputeType, transA: Operation, transB: Operation, typeA: DataType, typeB: DataType, typeC: DataType),
    results(out_chain: Chain),
    verify = op_verifiers::verify_gemm,
    format = "$handle `,` $stream `,` $transA `,` $transB `,` $m `,` $n `,` $k `,` $alpha `,` $A \
              `,` $typeA `,` $heightA `,` $B `,` $typeB `,` $heightB `,` $beta `,` $C `,` $typeC \
              `,` $heightC `,` $computeType `,` $algo `,` $in_chain \
              known($alpha, $beta by $computeType) attr-dict"
)]
#[expect(non_snake_case, reason = "the names of the op")]
fn blas_gemm(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &BlasHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let m: i32 = *reader.operand()?;
    let n: i32 = *reader.operand()?;
    let k: i32 = *reader.operand()?;
    let alpha = reader.any()?;
    let A: &Buffer = reader.operand()?;
    let heightA: i32 = *reader.operand()?;
    let B: &Buffer = reader.operand()?;
    let heightB: i32 = *reader.operand()?;
    let beta = reader.any()?;
    let C: &Buffer = reader.operand()?;
    let heightC: i32 = *reader.operand()?;
    let algo: GemmAlgo = *reader.operand()?;
    let computeType = reader.attribute::<ComputeType>()?;
    let transA = reader.attribute::<Operation>()?;
    let transB = reader.attribute::<Operation>()?;
    let typeA = reader.attribute::<DataType>()?;
    let typeB = reader.attribute::<DataType>()?;
    let typeC = reader.attribute::<DataType>()?;
    let call = Product {
        sizes: [m, n, k],
        operations: [transA, transB],
        scalars: [alpha, beta],
        matrices: [
            (A, typeA, heightA, 0),
            (B, typeB, heightB, 0),
            (C, typeC, heightC, 0),
        ],
        batch_count: None,
        compute_type: computeType,
        algo,
    };
    multiply(handle, stream, &call)?;
    frame.finish_with(Chain)
}

/// Multiplies the matrices of a batch, which are at fixed distances.
#[tfrt_kernel(
    "tfrt_gpu.blas.gemm.batch",
    raw,
    operands(handle: BlasHandle, stream: Stream, m: i32, n: i32, k: i32, alpha: any, A: Buffer, heightA: i32, strideA: i64, B: Buffer, heightB: i32, strideB: i64, beta: any, C: Buffer, heightC: i32, strideC: i64, batchCount: i32, algo: GemmAlgo, in_chain: Chain),
    attrs(computeType: ComputeType, transA: Operation, transB: Operation, typeA: DataType, typeB: DataType, typeC: DataType),
    results(out_chain: Chain),
    verify = op_verifiers::verify_gemm,
    format = "$handle `,` $stream `,` $transA `,` $transB `,` $m `,` $n `,` $k `,` $alpha `,` $A \
              `,` $typeA `,` $heightA `,` $strideA `,` $B `,` $typeB `,` $heightB `,` $strideB \
              `,` $beta `,` $C `,` $typeC `,` $heightC `,` $strideC `,` $batchCount `,` \
              $computeType `,` $algo `,` $in_chain known($alpha, $beta by $computeType) attr-dict"
)]
#[expect(non_snake_case, reason = "the names of the op")]
fn blas_gemm_batch(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &BlasHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let m: i32 = *reader.operand()?;
    let n: i32 = *reader.operand()?;
    let k: i32 = *reader.operand()?;
    let alpha = reader.any()?;
    let A: &Buffer = reader.operand()?;
    let heightA: i32 = *reader.operand()?;
    let strideA: i64 = *reader.operand()?;
    let B: &Buffer = reader.operand()?;
    let heightB: i32 = *reader.operand()?;
    let strideB: i64 = *reader.operand()?;
    let beta = reader.any()?;
    let C: &Buffer = reader.operand()?;
    let heightC: i32 = *reader.operand()?;
    let strideC: i64 = *reader.operand()?;
    let batchCount: i32 = *reader.operand()?;
    let algo: GemmAlgo = *reader.operand()?;
    let computeType = reader.attribute::<ComputeType>()?;
    let transA = reader.attribute::<Operation>()?;
    let transB = reader.attribute::<Operation>()?;
    let typeA = reader.attribute::<DataType>()?;
    let typeB = reader.attribute::<DataType>()?;
    let typeC = reader.attribute::<DataType>()?;
    let call = Product {
        sizes: [m, n, k],
        operations: [transA, transB],
        scalars: [alpha, beta],
        matrices: [
            (A, typeA, heightA, strideA),
            (B, typeB, heightB, strideB),
            (C, typeC, heightC, strideC),
        ],
        batch_count: Some(batchCount),
        compute_type: computeType,
        algo,
    };
    multiply(handle, stream, &call)?;
    frame.finish_with(Chain)
}

/// The common parameters of both kinds of products.
struct Product<'a> {
    /// m, n and k.
    sizes: [i32; 3],
    operations: [Operation; 2],
    /// alpha and beta.
    scalars: [&'a AnyRef; 2],
    /// A, B and C: buffer, type of the elements, leading dimension, distance to the next one.
    matrices: [(&'a Buffer, DataType, i32, i64); 3],
    batch_count: Option<i32>,
    compute_type: ComputeType,
    algo: GemmAlgo,
}

fn multiply(handle: &BlasHandle, stream: &Stream, call: &Product<'_>) -> Result<()> {
    let [m, n, k] = call.sizes;
    let [a_op, b_op] = [call.operations[0].cuda()?, call.operations[1].cuda()?];
    let is_transposed = |operation: i32| matches!(operation, 1 | 2);
    let a_shape = if is_transposed(a_op) { (k, m) } else { (m, k) };
    let b_shape = if is_transposed(b_op) { (n, k) } else { (k, n) };
    let matrix = |index: usize, name: &str, (rows, columns): (i32, i32)| -> Result<Matrix> {
        let (buffer, data_type, height, stride) = call.matrices[index];
        let data_type = data_type.cuda()?;
        let count = call.batch_count.unwrap_or(1);
        let wanted = matrix_bytes(rows, columns, height, stride, count, data_type);
        Ok(Matrix {
            pointer: buffer.with_room(name, wanted)?,
            data_type,
            height,
            stride,
        })
    };
    let keyword = call.compute_type.keyword();
    let call = Gemm {
        a_op,
        b_op,
        m,
        n,
        k,
        alpha: scalar::<ComputeType>(call.scalars[0], keyword)?,
        a: matrix(0, "A", a_shape)?,
        b: matrix(1, "B", b_shape)?,
        beta: scalar::<ComputeType>(call.scalars[1], keyword)?,
        c: matrix(2, "C", (m, n))?,
        batch_count: call.batch_count,
        compute_type: call.compute_type.cuda()?,
        algorithm: call.algo.0.cuda()?,
    };
    let current = enter(handle, stream)?;
    let blas = &handle.context().gpu().blas;
    Ok(blas.gemm(&current, handle.handle(), &call)?)
}

/// Solves op(A) · X = alpha · B or X · op(A) = alpha · B for triangular matrices A, in place of B.
/// The matrices of a batch follow each other.
///
/// # Errors
/// `Unsupported data type: D`, `Unsupported platform ROCm`.
#[tfrt_kernel(
    "tfrt_gpu.blas.trsm.batch",
    raw,
    operands(handle: BlasHandle, stream: Stream, m: i32, n: i32, alpha: any, A: Buffer, heightA: i32, B: Buffer, heightB: i32, batchCount: i32, in_chain: Chain),
    attrs(dataType: DataType, diagType: DiagonalType, fillMode: FillMode, sideMode: SideMode, trans: Operation),
    results(out_chain: Chain),
    verify = op_verifiers::verify_trsm,
    format = "$handle `,` $stream `,` $sideMode `,` $fillMode `,` $trans `,` $diagType `,` $m `,` \
              $n `,` $dataType `,` $alpha `,` $A `,` $heightA `,` $B `,` $heightB `,` $batchCount \
              `,` $in_chain known($alpha by $dataType) attr-dict"
)]
#[expect(non_snake_case, reason = "the names of the op")]
fn blas_trsm_batch(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &BlasHandle = reader.operand()?;
    let stream: &Stream = reader.operand()?;
    let m: i32 = *reader.operand()?;
    let n: i32 = *reader.operand()?;
    let alpha = reader.any()?;
    let A: &Buffer = reader.operand()?;
    let heightA: i32 = *reader.operand()?;
    let B: &Buffer = reader.operand()?;
    let heightB: i32 = *reader.operand()?;
    let batchCount: i32 = *reader.operand()?;
    let dataType = reader.attribute::<DataType>()?;
    let diagType = reader.attribute::<DiagonalType>()?;
    let fillMode = reader.attribute::<FillMode>()?;
    let sideMode = reader.attribute::<SideMode>()?;
    let trans = reader.attribute::<Operation>()?;
    let data_type = matrix_type(dataType, "Unsupported data type: ")?;
    let side = sideMode.cuda()?;
    let order = if side == 0 { m } else { n };
    let (a_len, b_len) = (
        i64::from(order) * i64::from(order),
        i64::from(m) * i64::from(n),
    );
    let wanted_a = matrix_bytes(order, order, heightA, a_len, batchCount, data_type);
    let wanted_b = matrix_bytes(m, n, heightB, b_len, batchCount, data_type);
    let (a, b) = (A.with_room("A", wanted_a)?, B.with_room("B", wanted_b)?);
    if batchCount <= 0 || m == 0 || n == 0 {
        return frame.finish_with(Chain);
    }
    let width = element_bytes(data_type).unwrap_or(0) as u64;
    let context = handle.context();
    let current = enter(handle, stream)?;
    let pointers = PointerArrays::new(
        context,
        batchCount,
        &[(b, b_len as u64 * width), (a, a_len as u64 * width)],
    )?;
    let call = TrsmBatched {
        side,
        fill: fillMode.cuda()?,
        operation: trans.cuda()?,
        diagonal: diagType.cuda()?,
        m,
        n,
        data_type,
        alpha: scalar::<DataType>(alpha, dataType.keyword())?,
        a_pointers: pointers.array(1),
        a_height: heightA,
        b_pointers: pointers.array(0),
        b_height: heightB,
        batch_count: batchCount,
    };
    context
        .gpu()
        .blas
        .trsm_batched(&current, handle.handle(), &call)?;
    pointers.keep_until_passed(stream)?;
    frame.finish_with(Chain)
}

/// Returns the type of matrices that kernels solve for or factorize. `refusal` is the message for
/// other types, which follow it.
///
/// # Errors
/// `Unsupported platform ROCm`, or the refusal.
pub(super) fn matrix_type(of: DataType, refusal: &str) -> Result<i32> {
    let problem = match of.cuda() {
        Ok(data_type) if matches!(data_type, 0 | 1 | 4 | 5) => return Ok(data_type),
        Ok(_) => format!("{refusal}{}", of.keyword()),
        Err(_) => format!("Unsupported platform {}", Platform::Rocm.name()),
    };
    Err(Error::new(problem).with_code(ErrorCode::InvalidArgument))
}

/// Arrays of the addresses of the matrices of batches, in pinned memory, which the device reads.
pub(super) struct PointerArrays {
    buffer: Buffer,
    array_bytes: u64,
    context: GpuContext,
}

impl PointerArrays {
    /// Returns one array for each start and distance.
    pub(super) fn new(
        context: &GpuContext,
        count: i32,
        starts: &[(DevicePtr, u64)],
    ) -> Result<Self> {
        let count = usize::try_from(count).unwrap_or(0);
        let array_bytes = count * size_of::<u64>();
        let buffer = Buffer::pinned(context, array_bytes * starts.len())?;
        let mut bytes = Vec::with_capacity(array_bytes * starts.len());
        for (start, distance) in starts {
            for index in 0..count as u64 {
                let address = start.offset(index.wrapping_mul(*distance)).address();
                bytes.extend_from_slice(&address.to_le_bytes());
            }
        }
        context
            .gpu()
            .driver
            .host_memory_write(buffer.pointer(), &bytes)?;
        Ok(Self {
            buffer,
            array_bytes: array_bytes as u64,
            context: context.clone(),
        })
    }

    /// Returns the address of an array.
    pub(super) fn array(&self, index: u64) -> DevicePtr {
        self.buffer.pointer().offset(index * self.array_bytes)
    }

    /// Keeps the arrays until the stream has read them.
    pub(super) fn keep_until_passed(self, stream: &Stream) -> Result<()> {
        let driver = &self.context.gpu().driver;
        Ok(driver.keep_until_passed(stream.handle(), Box::new(self.buffer))?)
    }
}
