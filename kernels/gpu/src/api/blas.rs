//! The BLAS library. Matrices are in column-major order; scalars are in host memory.

use std::fmt::Debug;

use super::current::Current;
use super::error::GpuResult;
use super::handle::{BlasHandle, DevicePtr, StreamHandle};

/// Basic linear algebra.
///
/// Enumerations are the numbers of the library, checked against its list before.
pub trait Blas: Debug + Send + Sync {
    /// Implements `cublasCreate`.
    fn create(&self, current: &Current) -> GpuResult<BlasHandle>;

    /// Implements `cublasDestroy`.
    fn destroy(&self, handle: BlasHandle) -> GpuResult<()>;

    /// Implements `cublasSetStream`.
    fn set_stream(&self, handle: BlasHandle, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cublasAxpyEx`: y += alpha · x.
    fn axpy(&self, current: &Current, handle: BlasHandle, call: &Axpy) -> GpuResult<()>;

    /// Implements `cublasScalEx`: x = alpha · x.
    fn scal(&self, current: &Current, handle: BlasHandle, call: &Scal) -> GpuResult<()>;

    /// Implements `cublasGemmEx`, or `cublasGemmStridedBatchedEx` if there is a batch: C = alpha ·
    /// op(A) · op(B) + beta · C.
    fn gemm(&self, current: &Current, handle: BlasHandle, call: &Gemm) -> GpuResult<()>;

    /// Implements `cublas{S,D,C,Z}trsmBatched`: solves op(A) · X = alpha · B, or X · op(A) = alpha
    /// · B, for X, in place of B.
    fn trsm_batched(
        &self,
        current: &Current,
        handle: BlasHandle,
        call: &TrsmBatched,
    ) -> GpuResult<()>;
}

/// A number in host memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `f16`, by its bits.
    F16(u16),
    /// `f32`.
    F32(f32),
    /// `f64`.
    F64(f64),
    /// `i32`.
    I32(i32),
    /// `complex<f32>`: real and imaginary part.
    C32(f32, f32),
    /// `complex<f64>`: real and imaginary part.
    C64(f64, f64),
}

/// The parameters of [`Blas::axpy`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct Axpy {
    pub n: i32,
    pub alpha: Scalar,
    pub alpha_type: i32,
    pub x: DevicePtr,
    pub x_type: i32,
    pub x_stride: i32,
    pub y: DevicePtr,
    pub y_type: i32,
    pub y_stride: i32,
    pub execution_type: i32,
}

/// The parameters of [`Blas::scal`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct Scal {
    pub n: i32,
    pub alpha: Scalar,
    pub alpha_type: i32,
    pub x: DevicePtr,
    pub x_type: i32,
    pub x_stride: i32,
    pub execution_type: i32,
}

/// A matrix operand: its address, the type of its elements, its leading dimension, and the distance
/// to the matrix of the next product in a batch.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct Matrix {
    pub pointer: DevicePtr,
    pub data_type: i32,
    pub height: i32,
    pub stride: i64,
}

/// The parameters of [`Blas::gemm`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct Gemm {
    pub a_op: i32,
    pub b_op: i32,
    pub m: i32,
    pub n: i32,
    pub k: i32,
    pub alpha: Scalar,
    pub a: Matrix,
    pub b: Matrix,
    pub beta: Scalar,
    pub c: Matrix,
    /// The number of products; without it the call is not batched.
    pub batch_count: Option<i32>,
    pub compute_type: i32,
    pub algorithm: i32,
}

/// The parameters of [`Blas::trsm_batched`].
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct TrsmBatched {
    pub side: i32,
    pub fill: i32,
    pub operation: i32,
    pub diagonal: i32,
    pub m: i32,
    pub n: i32,
    pub data_type: i32,
    pub alpha: Scalar,
    /// `batch_count` addresses of matrices, in memory that the device reads.
    pub a_pointers: DevicePtr,
    pub a_height: i32,
    /// The same.
    pub b_pointers: DevicePtr,
    pub b_height: i32,
    pub batch_count: i32,
}
