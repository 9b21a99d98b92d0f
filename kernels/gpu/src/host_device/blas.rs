//! The BLAS library of the host device.

use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulElement, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;

use super::driver::Shared;
use super::fault::Fault;
use super::memory::DeviceMemory;
use super::numbers::{
    Columns, Number, Stored, ZERO, conjugate, minus, of_scalar, over, plus, times,
};
use crate::api::blas::Blas;
use crate::api::blas::{Axpy, Gemm, Matrix, Scal, TrsmBatched};
use crate::api::handle::{BlasHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

const UNKNOWN: Status = Status::BLAS_NOT_INITIALIZED;

fn stored(call: &'static str, data_type: i32) -> GpuResult<Stored> {
    Stored::of(data_type).ok_or_else(|| GpuError::new(call, Status::BLAS_NOT_SUPPORTED))
}

fn invalid(call: &'static str, is_valid: bool) -> GpuResult<()> {
    if is_valid {
        return Ok(());
    }
    Err(GpuError::new(call, Status::BLAS_INVALID_VALUE))
}

/// Returns the place of element `index` of a vector: backwards, if the stride is negative.
fn place(index: usize, n: usize, stride: i32) -> usize {
    let distance = stride.unsigned_abs() as usize;
    if stride < 0 {
        (n - 1 - index) * distance
    } else {
        index * distance
    }
}

/// Elements of a vector with what lies between them.
fn span(n: usize, stride: i32) -> usize {
    n.checked_sub(1)
        .map_or(0, |last| last * stride.unsigned_abs() as usize + 1)
}

impl Blas for Shared {
    fn create(&self, current: &Current) -> GpuResult<BlasHandle> {
        const CALL: &str = "cublasCreate(&handle)";
        self.0.enter_library("cublasCreate", CALL, Status::Blas)?;
        self.0.check_context(CALL, current.context())?;
        Ok(BlasHandle(self.0.create_library_handle(current)))
    }

    fn destroy(&self, handle: BlasHandle) -> GpuResult<()> {
        const CALL: &str = "cublasDestroy(handle)";
        self.0.enter_library("cublasDestroy", CALL, Status::Blas)?;
        self.0.destroy_library_handle(CALL, handle.0, UNKNOWN)
    }

    fn set_stream(&self, handle: BlasHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cublasSetStream(handle, stream)";
        self.0
            .enter_library("cublasSetStream", CALL, Status::Blas)?;
        self.0
            .set_library_stream(CALL, handle.0, stream, UNKNOWN, Status::BLAS_INVALID_VALUE)
    }

    fn axpy(&self, _current: &Current, handle: BlasHandle, call: &Axpy) -> GpuResult<()> {
        const CALL: &str = "cublasAxpyEx(handle, n, alpha, x, y)";
        self.0.enter_library("cublasAxpyEx", CALL, Status::Blas)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let (x_type, y_type) = (stored(CALL, call.x_type)?, stored(CALL, call.y_type)?);
        let call = *call;
        let Ok(n @ 1..) = usize::try_from(call.n) else {
            return Ok(());
        };
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let alpha = of_scalar(call.alpha);
            let x = x_type.read(&memory, call.x, span(n, call.x_stride))?;
            let mut y = y_type.read(&memory, call.y, span(n, call.y_stride))?;
            for index in 0..n {
                let target = &mut y[place(index, n, call.y_stride)];
                *target = plus(*target, times(alpha, x[place(index, n, call.x_stride)]));
            }
            y_type.write(&mut memory, call.y, &y)
        })
    }

    fn scal(&self, _current: &Current, handle: BlasHandle, call: &Scal) -> GpuResult<()> {
        const CALL: &str = "cublasScalEx(handle, n, alpha, x)";
        self.0.enter_library("cublasScalEx", CALL, Status::Blas)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let x_type = stored(CALL, call.x_type)?;
        let call = *call;
        let Ok(n @ 1..) = usize::try_from(call.n) else {
            return Ok(());
        };
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            let alpha = of_scalar(call.alpha);
            let mut x = x_type.read(&memory, call.x, span(n, call.x_stride))?;
            for index in 0..n {
                let target = &mut x[place(index, n, call.x_stride)];
                *target = times(alpha, *target);
            }
            x_type.write(&mut memory, call.x, &x)
        })
    }

    fn gemm(&self, _current: &Current, handle: BlasHandle, call: &Gemm) -> GpuResult<()> {
        const CALL: &str = "cublasGemmEx(handle, m, n, k, A, B, C)";
        const BATCHED: &str = "cublasGemmStridedBatchedEx(handle, m, n, k, A, B, C, batch)";
        let (name, text) = match call.batch_count {
            None => ("cublasGemmEx", CALL),
            Some(_) => ("cublasGemmStridedBatchedEx", BATCHED),
        };
        self.0.enter_library(name, text, Status::Blas)?;
        let queue = self.0.library_queue(text, handle.0, UNKNOWN)?;
        let sizes = [call.m, call.n, call.k].map(usize::try_from);
        let [Ok(m), Ok(n), Ok(k)] = sizes else {
            return Err(GpuError::new(text, Status::BLAS_INVALID_VALUE));
        };
        let rows = |operation: i32, rows: usize, columns: usize| match operation {
            1 | 2 => columns,
            _ => rows,
        };
        let is_high_enough = |matrix: &Matrix, rows: usize| {
            usize::try_from(matrix.height).is_ok_and(|height| height >= rows.max(1))
        };
        invalid(
            text,
            is_high_enough(&call.a, rows(call.a_op, m, k))
                && is_high_enough(&call.b, rows(call.b_op, k, n))
                && is_high_enough(&call.c, m)
                && call.batch_count.unwrap_or(0) >= 0,
        )?;
        let types = [call.a.data_type, call.b.data_type, call.c.data_type];
        for data_type in types {
            stored(text, data_type)?;
        }
        if !computes(call.compute_type, types) {
            let details = format!(
                "no product of the types {types:?} in the computation type {}",
                call.compute_type
            );
            return Err(GpuError::new(text, Status::BLAS_NOT_SUPPORTED).with_details(details));
        }
        let count = usize::try_from(call.batch_count.unwrap_or(1)).unwrap_or(0);
        self.0
            .check_work(text, [m, n, k.max(1), count], Status::BLAS_NOT_SUPPORTED)?;
        let call = *call;
        self.push(text, &queue, move |device| {
            let mut memory = lock(&device.memory);
            for index in 0..call.batch_count.unwrap_or(1) {
                let at = |matrix: Matrix| -> Result<DevicePtr, Fault> {
                    let width = Stored::of(matrix.data_type).map_or(0, Stored::width) as i64;
                    let bytes = matrix
                        .stride
                        .checked_mul(width * i64::from(index))
                        .ok_or_else(|| Fault::illegal_address("a stride is too large"))?;
                    Ok(matrix.pointer.offset(bytes.cast_unsigned()))
                };
                let pointers = [at(call.a)?, at(call.b)?, at(call.c)?];
                multiply(&mut memory, &call, [m, n, k], pointers)?;
            }
            Ok(())
        })
    }

    fn trsm_batched(
        &self,
        _current: &Current,
        handle: BlasHandle,
        call: &TrsmBatched,
    ) -> GpuResult<()> {
        const CALL: &str = "cublasStrsmBatched(handle, m, n, alpha, A, B, batch)";
        self.0
            .enter_library("cublasStrsmBatched", CALL, Status::Blas)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let data_type = stored(CALL, call.data_type)?;
        let sizes = [
            call.m,
            call.n,
            call.a_height,
            call.b_height,
            call.batch_count,
        ];
        let [Ok(m), Ok(n), Ok(a_height), Ok(b_height), Ok(count)] = sizes.map(usize::try_from)
        else {
            return Err(GpuError::new(CALL, Status::BLAS_INVALID_VALUE));
        };
        let order = if call.side == 0 { m } else { n };
        invalid(CALL, a_height >= order.max(1) && b_height >= m.max(1))?;
        let call = *call;
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            for index in 0..count {
                let a = pointer(&memory, call.a_pointers, index)?;
                let b = pointer(&memory, call.b_pointers, index)?;
                let a = Columns::read(data_type, &memory, a, order, order, a_height)?;
                let mut x = Columns::read(data_type, &memory, b, m, n, b_height)?;
                solve(&call, &a, &mut x, m, n);
                x.write(data_type, &mut memory, b, m)?;
            }
            Ok(())
        })
    }
}

/// Returns `true` if the library multiplies matrices of these types of A, B and C with this type of
/// computation. Types are the library's numbers.
fn computes(compute_type: i32, types: [i32; 3]) -> bool {
    const R_32F: i32 = 0;
    const R_64F: i32 = 1;
    const R_16F: i32 = 2;
    const R_8I: i32 = 3;
    const C_32F: i32 = 4;
    const C_64F: i32 = 5;
    const C_8I: i32 = 7;
    const R_32I: i32 = 10;
    const R_16BF: i32 = 14;
    match compute_type {
        64 | 65 => types == [R_16F; 3],
        68 | 69 => matches!(
            types,
            [R_32F, R_32F, R_32F]
                | [C_32F, C_32F, C_32F]
                | [R_16F, R_16F, R_16F | R_32F]
                | [R_16BF, R_16BF, R_16BF | R_32F]
                | [R_8I, R_8I, R_32F]
                | [C_8I, C_8I, C_32F]
        ),
        // The inputs are rounded, which this device does not do.
        74 | 75 | 77 => matches!(types, [R_32F, R_32F, R_32F] | [C_32F, C_32F, C_32F]),
        70 | 71 => matches!(types, [R_64F, R_64F, R_64F] | [C_64F, C_64F, C_64F]),
        72 | 73 => types == [R_8I, R_8I, R_32I],
        _ => false,
    }
}

/// Returns an entry of an array of addresses.
pub(super) fn pointer(
    memory: &DeviceMemory,
    array: DevicePtr,
    index: usize,
) -> Result<DevicePtr, Fault> {
    let mut bytes = [0; 8];
    memory.read(array.offset(index as u64 * 8).address(), &mut bytes)?;
    Ok(DevicePtr::new(u64::from_le_bytes(bytes)))
}

/// Solves a triangular system by substitution.
fn solve(call: &TrsmBatched, a: &Columns, x: &mut Columns, m: usize, n: usize) {
    let alpha = of_scalar(call.alpha);
    let is_left = call.side == 0;
    let order = if is_left { m } else { n };
    // op(A), by rows; and which of its triangles counts.
    let is_transposed = matches!(call.operation, 1 | 2);
    let is_lower = (call.fill == 0) != is_transposed;
    let entry = |row: usize, column: usize| -> Number {
        if row == column && call.diagonal == 1 {
            return Number { re: 1.0, im: 0.0 };
        }
        match call.operation {
            1 => a.get(column, row),
            2 => conjugate(a.get(column, row)),
            _ => a.get(row, column),
        }
    };
    let (lines, count) = if is_left { (n, m) } else { (m, n) };
    for line in 0..lines {
        // X · op(A) = B is, by rows of X, the transposed system.
        let is_forward = is_lower == is_left;
        for step in 0..count {
            let at = if is_forward { step } else { order - 1 - step };
            let (row, column) = if is_left { (at, line) } else { (line, at) };
            let mut sum = times(alpha, x.get(row, column));
            for before in 0..step {
                let known = if is_forward {
                    before
                } else {
                    order - 1 - before
                };
                let (factor, value) = if is_left {
                    (entry(at, known), x.get(known, line))
                } else {
                    (entry(known, at), x.get(line, known))
                };
                sum = minus(sum, times(factor, value));
            }
            x.set(row, column, over(sum, entry(at, at)));
        }
    }
}

fn multiply(
    memory: &mut DeviceMemory,
    call: &Gemm,
    [m, n, k]: [usize; 3],
    [a, b, c]: [DevicePtr; 3],
) -> Result<(), Fault> {
    let unknown = || Fault::failed("the element type is not supported");
    let [a_type, b_type, c_type] = [call.a, call.b, call.c].map(|one| Stored::of(one.data_type));
    let (Some(a_type), Some(b_type), Some(c_type)) = (a_type, b_type, c_type) else {
        return Err(unknown());
    };
    let height = |matrix: Matrix| usize::try_from(matrix.height).unwrap_or(0);
    // The elements of op(matrix), row by row.
    let operand = |memory: &DeviceMemory,
                   stored: Stored,
                   pointer: DevicePtr,
                   matrix: Matrix,
                   operation: i32,
                   rows: usize,
                   columns: usize|
     -> Result<Vec<Number>, Fault> {
        let is_transposed = matches!(operation, 1 | 2);
        let (from_rows, from_columns) = if is_transposed {
            (columns, rows)
        } else {
            (rows, columns)
        };
        if rows == 0 || columns == 0 {
            return Ok(Vec::new());
        }
        let from = Columns::read(
            stored,
            memory,
            pointer,
            from_rows,
            from_columns,
            height(matrix),
        )?;
        let mut out = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                out.push(match operation {
                    1 => from.get(column, row),
                    2 => conjugate(from.get(column, row)),
                    3 => conjugate(from.get(row, column)),
                    _ => from.get(row, column),
                });
            }
        }
        Ok(out)
    };
    if m == 0 || n == 0 {
        return Ok(());
    }
    let a = operand(memory, a_type, a, call.a, call.a_op, m, k)?;
    let b = operand(memory, b_type, b, call.b, call.b_op, k, n)?;
    let mut target = Columns::read(c_type, memory, c, m, n, height(call.c))?;
    let (alpha, beta) = (of_scalar(call.alpha), of_scalar(call.beta));
    let is_real = ![a_type, b_type, c_type]
        .iter()
        .any(|stored| matches!(stored, Stored::C32 | Stored::C64));
    let product = if is_real && c_type == Stored::F32 {
        real_product::<f32>(&a, &b, [m, n, k], |re| re as f32, f64::from)?
    } else if is_real {
        real_product::<f64>(&a, &b, [m, n, k], |re| re, |re| re)?
    } else {
        complex_product(&a, &b, [m, n, k])
    };
    for column in 0..n {
        for row in 0..m {
            let mut sum = times(alpha, product[row * n + column]);
            // With a beta of 0 the old elements do not count, whatever they are.
            if beta != ZERO {
                sum = plus(sum, times(beta, target.get(row, column)));
            }
            target.set(row, column, sum);
        }
    }
    target.write(c_type, memory, c, m)
}

/// Returns a product of real matrices, row by row.
fn real_product<T: MatmulElement + Default>(
    a: &[Number],
    b: &[Number],
    [m, n, k]: [usize; 3],
    from: impl Fn(f64) -> T,
    to: impl Fn(T) -> f64,
) -> Result<Vec<Number>, Fault> {
    let failed = |error: tfrt_compute::ComputeError| Fault::failed(error.to_string());
    let plan = Matmul::<T>::new(MatmulShape::new(m, n, k), 1).map_err(failed)?;
    let real = |numbers: &[Number]| numbers.iter().map(|number| from(number.re)).collect();
    let (a, b): (Vec<T>, Vec<T>) = (real(a), real(b));
    let mut product = vec![T::default(); m * n];
    let mut workspace = vec![T::default(); plan.workspace_len() * plan.blocks()];
    let operands = MatmulOperands::new(&a, &b);
    plan.run(&Serial, operands, &mut product, &mut workspace)
        .map_err(failed)?;
    let numbers = product.into_iter().map(|re| Number {
        re: to(re),
        im: 0.0,
    });
    Ok(numbers.collect())
}

/// Returns a product of complex matrices, row by row.
fn complex_product(a: &[Number], b: &[Number], [m, n, k]: [usize; 3]) -> Vec<Number> {
    let mut product = vec![ZERO; m * n];
    for row in 0..m {
        for column in 0..n {
            let sum = (0..k).fold(ZERO, |sum, index| {
                plus(sum, times(a[row * k + index], b[index * n + column]))
            });
            product[row * n + column] = sum;
        }
    }
    product
}
