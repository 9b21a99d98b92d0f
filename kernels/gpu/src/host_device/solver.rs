//! The solver library of the host device.

use super::blas::pointer;
use super::driver::Shared;
use super::fault::Fault;
use super::memory::DeviceMemory;
use super::numbers::{Columns, Number, Stored, conjugate, minus, over, times};
use crate::api::handle::{SolverHandle, StreamHandle};
use crate::api::solver::Potrf;
use crate::api::solver::Solver;
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

const UNKNOWN: Status = Status::SOLVER_NOT_INITIALIZED;

/// Returns a factorization, checked: the type of the elements, the order and the leading dimension.
fn checked(call: &'static str, potrf: &Potrf) -> GpuResult<(Stored, usize, usize)> {
    let invalid = || GpuError::new(call, Status::SOLVER_INVALID_VALUE);
    let stored = Stored::of(potrf.data_type).ok_or_else(invalid)?;
    let n = usize::try_from(potrf.n).map_err(|_| invalid())?;
    let height = usize::try_from(potrf.height).map_err(|_| invalid())?;
    if height < n.max(1) {
        return Err(invalid());
    }
    Ok((stored, n, height))
}

/// Factorizes a matrix in its place, and returns the order of the first minor that is not positive
/// definite, or 0.
fn factorize(
    memory: &mut DeviceMemory,
    call: &Potrf,
    (stored, n, height): (Stored, usize, usize),
    at: DevicePtr,
) -> Result<i32, Fault> {
    let mut a = Columns::read(stored, memory, at, n, n, height)?;
    // The upper factor is the conjugate transpose of the lower one.
    let is_lower = call.fill == 0;
    let get = |a: &Columns, row: usize, column: usize| {
        if is_lower {
            a.get(row, column)
        } else {
            conjugate(a.get(column, row))
        }
    };
    let mut info = 0;
    'columns: for column in 0..n {
        for row in column..n {
            let mut sum = get(&a, row, column);
            for before in 0..column {
                let product = times(get(&a, row, before), conjugate(get(&a, column, before)));
                sum = minus(sum, product);
            }
            let entry = if row == column {
                if sum.re.is_nan() || sum.re <= 0.0 {
                    info = i32::try_from(column + 1).unwrap_or(i32::MAX);
                    break 'columns;
                }
                Number {
                    re: sum.re.sqrt(),
                    im: 0.0,
                }
            } else {
                over(sum, get(&a, column, column))
            };
            if is_lower {
                a.set(row, column, entry);
            } else {
                a.set(column, row, conjugate(entry));
            }
        }
    }
    a.write(stored, memory, at, n)?;
    Ok(info)
}

impl Solver for Shared {
    fn create(&self, current: &Current) -> GpuResult<SolverHandle> {
        const CALL: &str = "cusolverDnCreate(&handle)";
        self.0
            .enter_library("cusolverDnCreate", CALL, Status::Solver)?;
        self.0.check_context(CALL, current.context())?;
        Ok(SolverHandle(self.0.create_library_handle(current)))
    }

    fn destroy(&self, handle: SolverHandle) -> GpuResult<()> {
        const CALL: &str = "cusolverDnDestroy(handle)";
        self.0
            .enter_library("cusolverDnDestroy", CALL, Status::Solver)?;
        self.0.destroy_library_handle(CALL, handle.0, UNKNOWN)
    }

    fn set_stream(&self, handle: SolverHandle, stream: StreamHandle) -> GpuResult<()> {
        const CALL: &str = "cusolverDnSetStream(handle, stream)";
        self.0
            .enter_library("cusolverDnSetStream", CALL, Status::Solver)?;
        self.0.set_library_stream(
            CALL,
            handle.0,
            stream,
            UNKNOWN,
            Status::SOLVER_INVALID_VALUE,
        )
    }

    fn potrf_buffer_size(
        &self,
        _current: &Current,
        handle: SolverHandle,
        call: &Potrf,
    ) -> GpuResult<i32> {
        const CALL: &str = "cusolverDnSpotrf_bufferSize(handle, fill, n, A, lda, &size)";
        self.0
            .enter_library("cusolverDnSpotrf_bufferSize", CALL, Status::Solver)?;
        self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let (_, n, _) = checked(CALL, call)?;
        // As much as a row: some, so that a workspace that is too small is found.
        Ok(i32::try_from(n.max(1)).unwrap_or(i32::MAX))
    }

    fn potrf(
        &self,
        _current: &Current,
        handle: SolverHandle,
        call: &Potrf,
        workspace: DevicePtr,
        workspace_len: i32,
        info: DevicePtr,
    ) -> GpuResult<()> {
        const CALL: &str = "cusolverDnSpotrf(handle, fill, n, A, lda, workspace, size, info)";
        self.0
            .enter_library("cusolverDnSpotrf", CALL, Status::Solver)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let checked = checked(CALL, call)?;
        let len = usize::try_from(workspace_len).unwrap_or(0);
        if len < checked.1 {
            return Err(GpuError::new(CALL, Status::SOLVER_INVALID_VALUE));
        }
        let call = *call;
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            // The library would write there.
            checked.0.read(&memory, workspace, len)?;
            let found = factorize(&mut memory, &call, checked, call.a)?;
            memory.write(info.address(), &found.to_le_bytes())
        })
    }

    fn potrf_batched(
        &self,
        _current: &Current,
        handle: SolverHandle,
        call: &Potrf,
        infos: DevicePtr,
        batch_count: i32,
    ) -> GpuResult<()> {
        const CALL: &str = "cusolverDnSpotrfBatched(handle, fill, n, A, lda, infos, batch)";
        self.0
            .enter_library("cusolverDnSpotrfBatched", CALL, Status::Solver)?;
        let queue = self.0.library_queue(CALL, handle.0, UNKNOWN)?;
        let checked = checked(CALL, call)?;
        let call = *call;
        self.push(CALL, &queue, move |device| {
            let mut memory = lock(&device.memory);
            for index in 0..usize::try_from(batch_count).unwrap_or(0) {
                let at = pointer(&memory, call.a, index)?;
                let found = factorize(&mut memory, &call, checked, at)?;
                let info = infos.offset(index as u64 * 4);
                memory.write(info.address(), &found.to_le_bytes())?;
            }
            Ok(())
        })
    }
}
