//! `libcublas`. Scalars are in memory of the host.

use std::ffi::{c_int, c_longlong};

use tfrt_gpu::api::BlasHandle;
use tfrt_gpu::api::blas::{Axpy, Gemm, Matrix, Scal, Scalar, TrsmBatched};
use tfrt_gpu::api::{GpuError, GpuResult, Status, StreamHandle};

use crate::abi::{In, Out, device, exports};

/// Values of `cudaDataType`.
const R_32F: c_int = 0;
const R_64F: c_int = 1;
const R_16F: c_int = 2;
const C_32F: c_int = 4;
const C_64F: c_int = 5;
const R_32I: c_int = 10;

/// Reads a scalar of a data type.
fn scalar(call: &'static str, data_type: c_int, pointer: In<u8>) -> GpuResult<Scalar> {
    let f32_at = |index| pointer.cast::<f32>().get(call, index);
    let f64_at = |index| pointer.cast::<f64>().get(call, index);
    match data_type {
        R_16F => Ok(Scalar::F16(pointer.cast().get(call, 0)?)),
        R_32F => Ok(Scalar::F32(f32_at(0)?)),
        R_64F => Ok(Scalar::F64(f64_at(0)?)),
        R_32I => Ok(Scalar::I32(pointer.cast().get(call, 0)?)),
        C_32F => Ok(Scalar::C32(f32_at(0)?, f32_at(1)?)),
        C_64F => Ok(Scalar::C64(f64_at(0)?, f64_at(1)?)),
        _ => Err(GpuError::new(call, Status::BLAS_NOT_SUPPORTED)),
    }
}

/// Returns the type of the scalars of a product: by the type that it computes in, and whether the
/// result is complex.
fn scalar_type(call: &'static str, compute_type: c_int, c_type: c_int) -> GpuResult<c_int> {
    let is_complex = matches!(c_type, C_32F | C_64F);
    match compute_type {
        64 | 65 => Ok(R_16F),
        68 | 69 | 74 | 75 | 77 if is_complex => Ok(C_32F),
        68 | 69 | 74 | 75 | 77 => Ok(R_32F),
        70 | 71 if is_complex => Ok(C_64F),
        70 | 71 => Ok(R_64F),
        72 | 73 => Ok(R_32I),
        _ => Err(GpuError::new(call, Status::BLAS_NOT_SUPPORTED)),
    }
}

exports! { Blas:
    fn cublasGetProperty(property: c_int, value: Out<c_int>) |_emulator, CALL| {
        // The version of the bindings.
        match property {
            0 => value.set(CALL, 12),
            1 => value.set(CALL, 8),
            2 => value.set(CALL, 0),
            _ => Err(GpuError::new(CALL, Status::BLAS_INVALID_VALUE)),
        }
    }

    fn cublasCreate_v2(handle: Out<u64>) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        handle.set(CALL, emulator.gpu.blas.create(&current)?.0)
    }

    fn cublasDestroy_v2(handle: u64) |emulator, CALL| {
        emulator.gpu.blas.destroy(BlasHandle(handle))
    }

    fn cublasSetStream_v2(handle: u64, stream: u64) |emulator, CALL| {
        emulator.gpu.blas.set_stream(BlasHandle(handle), StreamHandle(stream))
    }

    fn cublasAxpyEx(
        handle: u64, n: c_int, alpha: In<u8>, alpha_type: c_int, x: u64, x_type: c_int, x_stride: c_int, y: u64, y_type: c_int,
        y_stride: c_int, execution_type: c_int,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let call = Axpy {
            n,
            alpha: scalar(CALL, alpha_type, alpha)?,
            alpha_type,
            x: device(x),
            x_type,
            x_stride,
            y: device(y),
            y_type,
            y_stride,
            execution_type,
        };
        emulator.gpu.blas.axpy(&current, BlasHandle(handle), &call)
    }

    fn cublasScalEx(
        handle: u64, n: c_int, alpha: In<u8>, alpha_type: c_int, x: u64, x_type: c_int, x_stride: c_int, execution_type: c_int,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let call = Scal {
            n,
            alpha: scalar(CALL, alpha_type, alpha)?,
            alpha_type,
            x: device(x),
            x_type,
            x_stride,
            execution_type,
        };
        emulator.gpu.blas.scal(&current, BlasHandle(handle), &call)
    }

    fn cublasGemmEx(
        handle: u64, a_op: c_int, b_op: c_int, m: c_int, n: c_int, k: c_int, alpha: In<u8>, a: u64, a_type: c_int, a_height: c_int,
        b: u64, b_type: c_int, b_height: c_int, beta: In<u8>, c: u64, c_type: c_int, c_height: c_int, compute_type: c_int,
        algorithm: c_int,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let scalar_type = scalar_type(CALL, compute_type, c_type)?;
        let matrix = |pointer, data_type, height| Matrix {
            pointer: device(pointer),
            data_type,
            height,
            stride: 0,
        };
        let call = Gemm {
            a_op,
            b_op,
            m,
            n,
            k,
            alpha: scalar(CALL, scalar_type, alpha)?,
            a: matrix(a, a_type, a_height),
            b: matrix(b, b_type, b_height),
            beta: scalar(CALL, scalar_type, beta)?,
            c: matrix(c, c_type, c_height),
            batch_count: None,
            compute_type,
            algorithm,
        };
        emulator.gpu.blas.gemm(&current, BlasHandle(handle), &call)
    }

    fn cublasGemmStridedBatchedEx(
        handle: u64, a_op: c_int, b_op: c_int, m: c_int, n: c_int, k: c_int, alpha: In<u8>, a: u64, a_type: c_int, a_height: c_int,
        a_stride: c_longlong, b: u64, b_type: c_int, b_height: c_int, b_stride: c_longlong, beta: In<u8>, c: u64, c_type: c_int,
        c_height: c_int, c_stride: c_longlong, batch_count: c_int, compute_type: c_int, algorithm: c_int,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let scalar_type = scalar_type(CALL, compute_type, c_type)?;
        let matrix = |pointer, data_type, height, stride| Matrix {
            pointer: device(pointer),
            data_type,
            height,
            stride,
        };
        let call = Gemm {
            a_op,
            b_op,
            m,
            n,
            k,
            alpha: scalar(CALL, scalar_type, alpha)?,
            a: matrix(a, a_type, a_height, a_stride),
            b: matrix(b, b_type, b_height, b_stride),
            beta: scalar(CALL, scalar_type, beta)?,
            c: matrix(c, c_type, c_height, c_stride),
            batch_count: Some(batch_count),
            compute_type,
            algorithm,
        };
        emulator.gpu.blas.gemm(&current, BlasHandle(handle), &call)
    }
}

/// Exports the triangular solvers, by the types of their elements.
macro_rules! trsm {
    ($($name:ident of $data_type:ident)*) => {
        exports! { Blas: $(
            fn $name(
                handle: u64, side: c_int, fill: c_int, operation: c_int, diagonal: c_int, m: c_int, n: c_int, alpha: In<u8>,
                a_pointers: u64, a_height: c_int, b_pointers: u64, b_height: c_int, batch_count: c_int,
            ) |emulator, CALL| {
                let current = emulator.current(CALL)?;
                let call = TrsmBatched {
                    side,
                    fill,
                    operation,
                    diagonal,
                    m,
                    n,
                    data_type: $data_type,
                    alpha: scalar(CALL, $data_type, alpha)?,
                    a_pointers: device(a_pointers),
                    a_height,
                    b_pointers: device(b_pointers),
                    b_height,
                    batch_count,
                };
                emulator.gpu.blas.trsm_batched(&current, BlasHandle(handle), &call)
            }
        )* }
    };
}

trsm! {
    cublasStrsmBatched of R_32F
    cublasDtrsmBatched of R_64F
    cublasCtrsmBatched of C_32F
    cublasZtrsmBatched of C_64F
}
