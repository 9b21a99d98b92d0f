//! The BLAS library of CUDA.
//!
//! Scalars are read from host memory. They are stored in 16 bytes, the size of the largest type,
//! regardless of the type of the call.
#![expect(unsafe_code, reason = "calls the library")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::cublas::sys::{
    cublasComputeType_t, cublasDiagType_t, cublasFillMode_t, cublasGemmAlgo_t, cublasHandle_t,
    cublasOperation_t, cublasSideMode_t, cudaDataType,
};

use super::driver::{CudaDriver, same_context};
use super::library::blas::Functions;
use super::library::{Library, enumeration, library_call};
use super::live::Live;
use super::object::Owned;
use crate::api::blas::{Axpy, Blas, Gemm, Scal, Scalar, TrsmBatched};
use crate::api::handle::{BlasHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

static LIBRARY: Library<Functions> = Library::new(
    "libcublas.so.12",
    Functions::open,
    Status::BLAS_NOT_INITIALIZED,
);

/// cuBLAS.
#[derive(Debug)]
pub struct CudaBlas {
    driver: Arc<CudaDriver>,
    handles: Live<Owned>,
}

impl CudaBlas {
    /// Returns the library, which is opened by the first call.
    #[must_use]
    pub fn new(driver: Arc<CudaDriver>) -> Self {
        Self {
            driver,
            handles: Live::default(),
        }
    }

    fn handle(&self, call: &'static str, handle: BlasHandle) -> GpuResult<Arc<Owned>> {
        self.handles
            .get(handle.0)
            .ok_or_else(|| GpuError::new(call, Status::BLAS_NOT_INITIALIZED))
    }
}

fn destroy(number: u64) -> GpuResult<()> {
    library_call!(
        LIBRARY,
        Status::Blas,
        "cublasDestroy(handle)",
        cublasDestroy_v2(number as cublasHandle_t)
    )
}

/// Returns a scalar, and room for the largest one.
fn scalar(scalar: Scalar) -> [u64; 2] {
    match scalar {
        Scalar::F16(bits) => [bits.into(), 0],
        Scalar::F32(value) => [value.to_bits().into(), 0],
        Scalar::F64(value) => [value.to_bits(), 0],
        Scalar::I32(value) => [u64::from(value as u32), 0],
        Scalar::C32(real, imaginary) => [
            u64::from(imaginary.to_bits()) << 32 | u64::from(real.to_bits()),
            0,
        ],
        Scalar::C64(real, imaginary) => [real.to_bits(), imaginary.to_bits()],
    }
}

fn memory(pointer: DevicePtr) -> *mut c_void {
    pointer.address() as *mut c_void
}

fn data_type(number: i32) -> GpuResult<cudaDataType> {
    enumeration!(
        number,
        "cublas(dataType)",
        Status::BLAS_INVALID_VALUE,
        cudaDataType {
            CUDA_R_16F,
            CUDA_C_16F,
            CUDA_R_16BF,
            CUDA_C_16BF,
            CUDA_R_32F,
            CUDA_C_32F,
            CUDA_R_64F,
            CUDA_C_64F,
            CUDA_R_4I,
            CUDA_C_4I,
            CUDA_R_4U,
            CUDA_C_4U,
            CUDA_R_8I,
            CUDA_C_8I,
            CUDA_R_8U,
            CUDA_C_8U,
            CUDA_R_16I,
            CUDA_C_16I,
            CUDA_R_16U,
            CUDA_C_16U,
            CUDA_R_32I,
            CUDA_C_32I,
            CUDA_R_32U,
            CUDA_C_32U,
            CUDA_R_64I,
            CUDA_C_64I,
            CUDA_R_64U,
            CUDA_C_64U,
        }
    )
}

fn operation(number: i32) -> GpuResult<cublasOperation_t> {
    enumeration!(
        number,
        "cublas(operation)",
        Status::BLAS_INVALID_VALUE,
        cublasOperation_t {
            CUBLAS_OP_N,
            CUBLAS_OP_T,
            CUBLAS_OP_C,
            CUBLAS_OP_CONJG,
        }
    )
}

fn compute_type(number: i32) -> GpuResult<cublasComputeType_t> {
    enumeration!(
        number,
        "cublas(computeType)",
        Status::BLAS_INVALID_VALUE,
        cublasComputeType_t {
            CUBLAS_COMPUTE_16F,
            CUBLAS_COMPUTE_16F_PEDANTIC,
            CUBLAS_COMPUTE_32F,
            CUBLAS_COMPUTE_32F_PEDANTIC,
            CUBLAS_COMPUTE_32F_FAST_16F,
            CUBLAS_COMPUTE_32F_FAST_16BF,
            CUBLAS_COMPUTE_32F_FAST_TF32,
            CUBLAS_COMPUTE_64F,
            CUBLAS_COMPUTE_64F_PEDANTIC,
            CUBLAS_COMPUTE_32I,
            CUBLAS_COMPUTE_32I_PEDANTIC,
        }
    )
}

fn algorithm(number: i32) -> GpuResult<cublasGemmAlgo_t> {
    enumeration!(
        number,
        "cublas(algo)",
        Status::BLAS_INVALID_VALUE,
        cublasGemmAlgo_t {
            CUBLAS_GEMM_DFALT,
            CUBLAS_GEMM_ALGO0,
            CUBLAS_GEMM_ALGO1,
            CUBLAS_GEMM_ALGO2,
            CUBLAS_GEMM_ALGO3,
            CUBLAS_GEMM_ALGO4,
            CUBLAS_GEMM_ALGO5,
            CUBLAS_GEMM_ALGO6,
            CUBLAS_GEMM_ALGO7,
            CUBLAS_GEMM_ALGO8,
            CUBLAS_GEMM_ALGO9,
            CUBLAS_GEMM_ALGO10,
            CUBLAS_GEMM_ALGO11,
            CUBLAS_GEMM_ALGO12,
            CUBLAS_GEMM_ALGO13,
            CUBLAS_GEMM_ALGO14,
            CUBLAS_GEMM_ALGO15,
            CUBLAS_GEMM_ALGO16,
            CUBLAS_GEMM_ALGO17,
            CUBLAS_GEMM_ALGO18,
            CUBLAS_GEMM_ALGO19,
            CUBLAS_GEMM_ALGO20,
            CUBLAS_GEMM_ALGO21,
            CUBLAS_GEMM_ALGO22,
            CUBLAS_GEMM_ALGO23,
            CUBLAS_GEMM_DEFAULT_TENSOR_OP,
            CUBLAS_GEMM_ALGO0_TENSOR_OP,
            CUBLAS_GEMM_ALGO1_TENSOR_OP,
            CUBLAS_GEMM_ALGO2_TENSOR_OP,
            CUBLAS_GEMM_ALGO3_TENSOR_OP,
            CUBLAS_GEMM_ALGO4_TENSOR_OP,
            CUBLAS_GEMM_ALGO5_TENSOR_OP,
            CUBLAS_GEMM_ALGO6_TENSOR_OP,
            CUBLAS_GEMM_ALGO7_TENSOR_OP,
            CUBLAS_GEMM_ALGO8_TENSOR_OP,
            CUBLAS_GEMM_ALGO9_TENSOR_OP,
            CUBLAS_GEMM_ALGO10_TENSOR_OP,
            CUBLAS_GEMM_ALGO11_TENSOR_OP,
            CUBLAS_GEMM_ALGO12_TENSOR_OP,
            CUBLAS_GEMM_ALGO13_TENSOR_OP,
            CUBLAS_GEMM_ALGO14_TENSOR_OP,
            CUBLAS_GEMM_ALGO15_TENSOR_OP,
        }
    )
}

impl Blas for CudaBlas {
    fn create(&self, current: &Current) -> GpuResult<BlasHandle> {
        let context = self.driver.of("cublasCreate(&handle)", current)?;
        let mut handle: cublasHandle_t = ptr::null_mut();
        library_call!(
            LIBRARY,
            Status::Blas,
            "cublasCreate(&handle)",
            cublasCreate_v2(&mut handle)
        )?;
        self.handles.add(
            handle as u64,
            Owned::new(handle as u64, context, &self.driver, destroy),
        );
        Ok(BlasHandle(handle as u64))
    }

    fn destroy(&self, handle: BlasHandle) -> GpuResult<()> {
        let object = self.handles.remove(handle.0);
        let object = object
            .ok_or_else(|| GpuError::new("cublasDestroy(handle)", Status::BLAS_NOT_INITIALIZED))?;
        Arc::into_inner(object).map_or(Ok(()), Owned::end)
    }

    fn set_stream(&self, handle: BlasHandle, stream: StreamHandle) -> GpuResult<()> {
        let handle = self.handle("cublasSetStream(handle, stream)", handle)?;
        let stream = self
            .driver
            .stream("cublasSetStream(handle, stream)", stream)?;
        same_context(
            "cublasSetStream(handle, stream)",
            &handle.context,
            &stream.context,
            Status::BLAS_INVALID_VALUE,
        )?;
        library_call!(
            LIBRARY,
            Status::Blas,
            "cublasSetStream(handle, stream)",
            cublasSetStream_v2(handle.number as cublasHandle_t, stream.number as *mut _)
        )
    }

    fn axpy(&self, _current: &Current, handle: BlasHandle, call: &Axpy) -> GpuResult<()> {
        let handle = self.handle("cublasAxpyEx(handle, n, alpha, x, y)", handle)?;
        let alpha = scalar(call.alpha);
        let (alpha_type, x_type, y_type) = (
            data_type(call.alpha_type)?,
            data_type(call.x_type)?,
            data_type(call.y_type)?,
        );
        let execution_type = data_type(call.execution_type)?;
        library_call!(
            LIBRARY,
            Status::Blas,
            "cublasAxpyEx(handle, n, alpha, x, y)",
            cublasAxpyEx(
                handle.number as cublasHandle_t,
                call.n,
                alpha.as_ptr().cast(),
                alpha_type,
                memory(call.x),
                x_type,
                call.x_stride,
                memory(call.y),
                y_type,
                call.y_stride,
                execution_type,
            )
        )
    }

    fn scal(&self, _current: &Current, handle: BlasHandle, call: &Scal) -> GpuResult<()> {
        let handle = self.handle("cublasScalEx(handle, n, alpha, x)", handle)?;
        let alpha = scalar(call.alpha);
        let (alpha_type, x_type, execution_type) = (
            data_type(call.alpha_type)?,
            data_type(call.x_type)?,
            data_type(call.execution_type)?,
        );
        library_call!(
            LIBRARY,
            Status::Blas,
            "cublasScalEx(handle, n, alpha, x)",
            cublasScalEx(
                handle.number as cublasHandle_t,
                call.n,
                alpha.as_ptr().cast(),
                alpha_type,
                memory(call.x),
                x_type,
                call.x_stride,
                execution_type,
            )
        )
    }

    fn gemm(&self, _current: &Current, handle: BlasHandle, call: &Gemm) -> GpuResult<()> {
        let handle = self.handle("cublasGemmEx(handle, …)", handle)?;
        let raw = handle.number as cublasHandle_t;
        let (alpha, beta) = (scalar(call.alpha), scalar(call.beta));
        let (alpha, beta) = (alpha.as_ptr().cast(), beta.as_ptr().cast());
        let (a_op, b_op) = (operation(call.a_op)?, operation(call.b_op)?);
        let (a_type, b_type, c_type) = (
            data_type(call.a.data_type)?,
            data_type(call.b.data_type)?,
            data_type(call.c.data_type)?,
        );
        let (compute, algorithm) = (compute_type(call.compute_type)?, algorithm(call.algorithm)?);
        let (m, n, k, a, b, c) = (call.m, call.n, call.k, &call.a, &call.b, &call.c);
        match call.batch_count {
            None => library_call!(
                LIBRARY,
                Status::Blas,
                "cublasGemmEx(handle, …)",
                cublasGemmEx(
                    raw,
                    a_op,
                    b_op,
                    m,
                    n,
                    k,
                    alpha,
                    memory(a.pointer),
                    a_type,
                    a.height,
                    memory(b.pointer),
                    b_type,
                    b.height,
                    beta,
                    memory(c.pointer),
                    c_type,
                    c.height,
                    compute,
                    algorithm,
                )
            ),
            Some(batch_count) => library_call!(
                LIBRARY,
                Status::Blas,
                "cublasGemmStridedBatchedEx(handle, …)",
                cublasGemmStridedBatchedEx(
                    raw,
                    a_op,
                    b_op,
                    m,
                    n,
                    k,
                    alpha,
                    memory(a.pointer),
                    a_type,
                    a.height,
                    a.stride,
                    memory(b.pointer),
                    b_type,
                    b.height,
                    b.stride,
                    beta,
                    memory(c.pointer),
                    c_type,
                    c.height,
                    c.stride,
                    batch_count,
                    compute,
                    algorithm,
                )
            ),
        }
    }

    fn trsm_batched(
        &self,
        _current: &Current,
        handle: BlasHandle,
        call: &TrsmBatched,
    ) -> GpuResult<()> {
        let handle = self.handle("cublasStrsmBatched(handle, …)", handle)?;
        let raw = handle.number as cublasHandle_t;
        let side = enumeration!(
            call.side,
            "cublas(side)",
            Status::BLAS_INVALID_VALUE,
            cublasSideMode_t {
                CUBLAS_SIDE_LEFT,
                CUBLAS_SIDE_RIGHT
            }
        )?;
        let fill = enumeration!(
            call.fill,
            "cublas(fill)",
            Status::BLAS_INVALID_VALUE,
            cublasFillMode_t {
                CUBLAS_FILL_MODE_LOWER,
                CUBLAS_FILL_MODE_UPPER,
                CUBLAS_FILL_MODE_FULL,
            }
        )?;
        let diagonal = enumeration!(
            call.diagonal,
            "cublas(diag)",
            Status::BLAS_INVALID_VALUE,
            cublasDiagType_t {
                CUBLAS_DIAG_NON_UNIT,
                CUBLAS_DIAG_UNIT
            }
        )?;
        let operation = operation(call.operation)?;
        let alpha = scalar(call.alpha);
        let alpha = alpha.as_ptr();
        let (m, n, count) = (call.m, call.n, call.batch_count);
        let (a, a_height, b, b_height) = (
            memory(call.a_pointers),
            call.a_height,
            memory(call.b_pointers),
            call.b_height,
        );
        match data_type(call.data_type)? {
            cudaDataType::CUDA_R_32F => library_call!(
                LIBRARY,
                Status::Blas,
                "cublasStrsmBatched(handle, …)",
                cublasStrsmBatched(
                    raw,
                    side,
                    fill,
                    operation,
                    diagonal,
                    m,
                    n,
                    alpha.cast(),
                    a.cast(),
                    a_height,
                    b.cast(),
                    b_height,
                    count,
                )
            ),
            cudaDataType::CUDA_R_64F => library_call!(
                LIBRARY,
                Status::Blas,
                "cublasDtrsmBatched(handle, …)",
                cublasDtrsmBatched(
                    raw,
                    side,
                    fill,
                    operation,
                    diagonal,
                    m,
                    n,
                    alpha.cast(),
                    a.cast(),
                    a_height,
                    b.cast(),
                    b_height,
                    count,
                )
            ),
            cudaDataType::CUDA_C_32F => library_call!(
                LIBRARY,
                Status::Blas,
                "cublasCtrsmBatched(handle, …)",
                cublasCtrsmBatched(
                    raw,
                    side,
                    fill,
                    operation,
                    diagonal,
                    m,
                    n,
                    alpha.cast(),
                    a.cast(),
                    a_height,
                    b.cast(),
                    b_height,
                    count,
                )
            ),
            cudaDataType::CUDA_C_64F => library_call!(
                LIBRARY,
                Status::Blas,
                "cublasZtrsmBatched(handle, …)",
                cublasZtrsmBatched(
                    raw,
                    side,
                    fill,
                    operation,
                    diagonal,
                    m,
                    n,
                    alpha.cast(),
                    a.cast(),
                    a_height,
                    b.cast(),
                    b_height,
                    count,
                )
            ),
            other => Err(GpuError::new(
                "cublasStrsmBatched(handle, …)",
                Status::BLAS_NOT_SUPPORTED,
            )
            .with_details(format!("unsupported data type `{other:?}`"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_the_library_does_not_know_are_errors() {
        assert_eq!(data_type(14), Ok(cudaDataType::CUDA_R_16BF));
        assert_eq!(algorithm(-1), Ok(cublasGemmAlgo_t::CUBLAS_GEMM_DFALT));
        let error = data_type(28).unwrap_err();
        assert_eq!(error.status, Status::BLAS_INVALID_VALUE);
        assert_eq!(error.details, "28 is not a value of `cudaDataType`");
    }

    #[test]
    fn scalars_fill_the_room_of_the_largest() {
        assert_eq!(
            scalar(Scalar::C64(1.0, -1.0)),
            [1.0f64.to_bits(), (-1.0f64).to_bits()]
        );
        assert_eq!(
            scalar(Scalar::C32(1.0, 0.0)),
            [u64::from(1.0f32.to_bits()), 0]
        );
    }
}
