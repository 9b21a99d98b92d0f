//! Cholesky factors, by the solver library. Matrices are in column-major order.

use tfrt::prelude::*;

use super::blas::{PointerArrays, element_bytes, matrix_type};
use super::product;
use crate::api::solver::Potrf;
use crate::enums::{DataType, FillMode};
use crate::values::{Buffer, GpuContext, LibraryCall, SolverHandle, Stream};

/// Creates a handle of the solver library.
#[tfrt_kernel(
    "tfrt_gpu.solver.create",
    chain = none,
    results(handle),
    format = "operands attr-dict",
)]
fn solver_create(context: &GpuContext) -> Result<SolverHandle> {
    let current = context.set_current()?;
    let handle = context.gpu().solver.create(&current)?;
    Ok(SolverHandle::new(context, handle))
}

fn enter<'h>(handle: &'h SolverHandle, stream: &Stream) -> Result<LibraryCall<'h>> {
    let current = stream.enter_library(handle.context())?;
    let solver = &handle.context().gpu().solver;
    solver.set_stream(handle.handle(), stream.handle())?;
    Ok(current)
}

/// The message of two kernels for an unknown type.
const UNSUPPORTED: &str = "Unsupported data type ";

/// Returns the type of the elements of a matrix, and their size. `refusal` is the message for other
/// types.
fn data_type(of: DataType, refusal: &str) -> Result<(i32, usize)> {
    let data_type = matrix_type(of, refusal)?;
    Ok((data_type, element_bytes(data_type).unwrap_or(0)))
}

/// Returns the number of elements of workspace that a factorization needs.
///
/// # Errors
/// `Unsupported data type D`, `Unsupported platform ROCm`.
#[tfrt_kernel(
    "tfrt_gpu.solver.potrf.buffer_size",
    pure,
    results(buffer_size),
    format = "$handle `,` $stream `,` $fillMode `,` $n `,` $dataType `,` $stride `,` $in_chain attr-dict"
)]
#[expect(non_snake_case, reason = "the names of the op")]
fn potrf_buffer_size(
    handle: &SolverHandle,
    stream: &Stream,
    n: i32,
    stride: i32,
    _in_chain: Chain,
    #[attr] dataType: DataType,
    #[attr] fillMode: FillMode,
) -> Result<i64> {
    let (data_type, _) = data_type(dataType, UNSUPPORTED)?;
    let call = Potrf {
        data_type,
        fill: fillMode.cuda()?,
        n,
        a: crate::api::DevicePtr::NULL,
        height: stride,
    };
    let current = enter(handle, stream)?;
    let solver = &handle.context().gpu().solver;
    Ok(solver
        .potrf_buffer_size(&current, handle.handle(), &call)?
        .into())
}

/// Returns the bytes of the matrix of a factorization.
fn matrix_bytes(n: i32, stride: i32, width: usize) -> Option<usize> {
    if n <= 0 {
        return (n == 0).then_some(0);
    }
    let before = product(&[i64::from(stride), i64::from(n) - 1])?;
    before.checked_add(n as usize)?.checked_mul(width)
}

/// Computes the Cholesky factor of a matrix in its place.
///
/// The size of the workspace was meant in elements and is used in bytes by programs. If the buffer
/// is too small, the kernel takes memory of its own.
///
/// # Errors
/// `Unsupported type: D`, `Unsupported platform ROCm`.
#[tfrt_kernel(
    "tfrt_gpu.solver.potrf",
    results(out_chain),
    format = "$handle `,` $stream `,` $fillMode `,` $n `,` $dataType `,` $buffer `,` $stride `,` $workspace `,` $devInfo `,` \
              $in_chain attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
#[expect(non_snake_case, reason = "the names of the op")]
fn potrf(
    handle: &SolverHandle,
    stream: &Stream,
    n: i32,
    buffer: &Buffer,
    stride: i32,
    workspace: &Buffer,
    devInfo: &Buffer,
    in_chain: Chain,
    #[attr] dataType: DataType,
    #[attr] fillMode: FillMode,
) -> Result<Chain> {
    let (data_type, width) = data_type(dataType, "Unsupported type: ")?;
    let call = Potrf {
        data_type,
        fill: fillMode.cuda()?,
        n,
        a: buffer.with_room("buffer", matrix_bytes(n, stride, width))?,
        height: stride,
    };
    let info = devInfo.with_room("devInfo", Some(4))?;
    let current = enter(handle, stream)?;
    let (driver, solver) = {
        let gpu = handle.context().gpu();
        (&gpu.driver, &gpu.solver)
    };
    let needed = solver.potrf_buffer_size(&current, handle.handle(), &call)?;
    let needed_len = usize::try_from(needed).unwrap_or(0);
    if workspace.num_bytes() / width >= needed_len {
        let pointer = workspace.pointer();
        solver.potrf(&current, handle.handle(), &call, pointer, needed, info)?;
        return Ok(in_chain);
    }
    let own = crate::values::Allocator::new(handle.context())
        .allocate(needed_len.saturating_mul(width), stream)?;
    solver.potrf(
        &current,
        handle.handle(),
        &call,
        own.pointer(),
        needed,
        info,
    )?;
    driver.keep_until_passed(stream.handle(), Box::new(own))?;
    Ok(in_chain)
}

/// Computes the Cholesky factors of matrices that follow each other, in their places.
///
/// # Errors
/// `Unsupported data type D`, `Unsupported platform ROCm`.
#[tfrt_kernel(
    "tfrt_gpu.solver.potrf.batch",
    results(out_chain),
    format = "$handle `,` $stream `,` $fillMode `,` $n `,` $dataType `,` $buffer `,` $stride `,` $devInfo `,` $batch_size `,` \
              $in_chain attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
#[expect(non_snake_case, reason = "the names of the op")]
fn potrf_batch(
    handle: &SolverHandle,
    stream: &Stream,
    n: i32,
    buffer: &Buffer,
    stride: i32,
    devInfo: &Buffer,
    batch_size: i32,
    in_chain: Chain,
    #[attr] dataType: DataType,
    #[attr] fillMode: FillMode,
) -> Result<Chain> {
    let (data_type, width) = data_type(dataType, UNSUPPORTED)?;
    let n_wide = i64::from(n);
    let count = usize::try_from(batch_size).unwrap_or(0);
    let matrix_len = product(&[n_wide, n_wide]);
    let wanted = matrix_len.and_then(|len| {
        let before = len
            .checked_mul(count.saturating_sub(1))?
            .checked_mul(width)?;
        before.checked_add(matrix_bytes(n, stride, width)?)
    });
    let start = buffer.with_room("buffer", wanted)?;
    let infos = devInfo.with_room("devInfo", product(&[batch_size.into(), 4]))?;
    if count == 0 || n == 0 {
        return Ok(in_chain);
    }
    let current = enter(handle, stream)?;
    let context = handle.context();
    let distance = matrix_len.unwrap_or(0).saturating_mul(width) as u64;
    let pointers = PointerArrays::new(context, batch_size, &[(start, distance)])?;
    let call = Potrf {
        data_type,
        fill: fillMode.cuda()?,
        n,
        a: pointers.array(0),
        height: stride,
    };
    let solver = &context.gpu().solver;
    solver.potrf_batched(&current, handle.handle(), &call, infos, batch_size)?;
    pointers.keep_until_passed(stream)?;
    Ok(in_chain)
}
