//! The solver library of CUDA.
#![expect(unsafe_code, reason = "calls the library")]

use std::ptr;
use std::sync::Arc;

use cudarc::cusolver::sys::{cublasFillMode_t, cusolverDnHandle_t};

use super::driver::{CudaDriver, same_context};
use super::library::solver::Functions;
use super::library::{Library, enumeration, library_call};
use super::live::Live;
use super::object::Owned;
use crate::api::handle::{SolverHandle, StreamHandle};
use crate::api::solver::{Potrf, Solver};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

static LIBRARY: Library<Functions> = Library::new(
    "libcusolver.so.11",
    Functions::open,
    Status::SOLVER_NOT_INITIALIZED,
);

/// cuSOLVER.
#[derive(Debug)]
pub struct CudaSolver {
    driver: Arc<CudaDriver>,
    handles: Live<Owned>,
}

impl CudaSolver {
    /// Returns the library, which is opened by the first call.
    #[must_use]
    pub fn new(driver: Arc<CudaDriver>) -> Self {
        Self {
            driver,
            handles: Live::default(),
        }
    }

    fn handle(&self, call: &'static str, handle: SolverHandle) -> GpuResult<Arc<Owned>> {
        self.handles
            .get(handle.0)
            .ok_or_else(|| GpuError::new(call, Status::SOLVER_NOT_INITIALIZED))
    }
}

fn destroy(number: u64) -> GpuResult<()> {
    library_call!(
        LIBRARY,
        Status::Solver,
        "cusolverDnDestroy(handle)",
        cusolverDnDestroy(number as cusolverDnHandle_t)
    )
}

fn fill(call: &Potrf) -> GpuResult<cublasFillMode_t> {
    enumeration!(
        call.fill,
        "cusolver(uplo)",
        Status::SOLVER_INVALID_VALUE,
        cublasFillMode_t {
            CUBLAS_FILL_MODE_LOWER,
            CUBLAS_FILL_MODE_UPPER,
            CUBLAS_FILL_MODE_FULL,
        }
    )
}

fn memory<T>(pointer: DevicePtr) -> *mut T {
    pointer.address() as *mut T
}

/// The type of elements, by the number of its `cudaDataType`.
#[derive(Clone, Copy)]
enum Elements {
    F32,
    F64,
    C32,
    C64,
}

fn elements(call: &'static str, potrf: &Potrf) -> GpuResult<Elements> {
    match potrf.data_type {
        0 => Ok(Elements::F32),
        1 => Ok(Elements::F64),
        4 => Ok(Elements::C32),
        5 => Ok(Elements::C64),
        other => Err(GpuError::new(call, Status::Solver(9))
            .with_details(format!("no factorization for data type {other}"))),
    }
}

/// Calls the function of the matrix's type: the names of the four, then arguments.
macro_rules! by_type {
    ($elements:expr, $text:literal, [$s:ident, $d:ident, $c:ident, $z:ident] $arguments:tt) => {
        match $elements {
            Elements::F32 => library_call!(LIBRARY, Status::Solver, $text, $s $arguments),
            Elements::F64 => library_call!(LIBRARY, Status::Solver, $text, $d $arguments),
            Elements::C32 => library_call!(LIBRARY, Status::Solver, $text, $c $arguments),
            Elements::C64 => library_call!(LIBRARY, Status::Solver, $text, $z $arguments),
        }
    };
}

impl Solver for CudaSolver {
    fn create(&self, current: &Current) -> GpuResult<SolverHandle> {
        let context = self.driver.of("cusolverDnCreate(&handle)", current)?;
        let mut handle: cusolverDnHandle_t = ptr::null_mut();
        library_call!(
            LIBRARY,
            Status::Solver,
            "cusolverDnCreate(&handle)",
            cusolverDnCreate(&mut handle)
        )?;
        self.handles.add(
            handle as u64,
            Owned::new(handle as u64, context, &self.driver, destroy),
        );
        Ok(SolverHandle(handle as u64))
    }

    fn destroy(&self, handle: SolverHandle) -> GpuResult<()> {
        let object = self.handles.remove(handle.0);
        let object = object.ok_or_else(|| {
            GpuError::new("cusolverDnDestroy(handle)", Status::SOLVER_NOT_INITIALIZED)
        })?;
        Arc::into_inner(object).map_or(Ok(()), Owned::end)
    }

    fn set_stream(&self, handle: SolverHandle, stream: StreamHandle) -> GpuResult<()> {
        let handle = self.handle("cusolverDnSetStream(handle, stream)", handle)?;
        let stream = self
            .driver
            .stream("cusolverDnSetStream(handle, stream)", stream)?;
        same_context(
            "cusolverDnSetStream(handle, stream)",
            &handle.context,
            &stream.context,
            Status::SOLVER_INVALID_VALUE,
        )?;
        library_call!(
            LIBRARY,
            Status::Solver,
            "cusolverDnSetStream(handle, stream)",
            cusolverDnSetStream(handle.number as cusolverDnHandle_t, stream.number as *mut _)
        )
    }

    fn potrf_buffer_size(
        &self,
        _current: &Current,
        handle: SolverHandle,
        call: &Potrf,
    ) -> GpuResult<i32> {
        const CALL: &str = "cusolverDnPotrf_bufferSize(handle, uplo, n, a, lda, &size)";
        let handle = self.handle(CALL, handle)?;
        let (raw, fill) = (handle.number as cusolverDnHandle_t, fill(call)?);
        let mut len = 0;
        by_type!(
            elements(CALL, call)?,
            "cusolverDnPotrf_bufferSize(handle, uplo, n, a, lda, &size)",
            [
                cusolverDnSpotrf_bufferSize,
                cusolverDnDpotrf_bufferSize,
                cusolverDnCpotrf_bufferSize,
                cusolverDnZpotrf_bufferSize
            ](raw, fill, call.n, memory(call.a), call.height, &mut len)
        )?;
        Ok(len)
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
        const CALL: &str = "cusolverDnPotrf(handle, uplo, n, a, lda, workspace, len, info)";
        let handle = self.handle(CALL, handle)?;
        let (raw, fill) = (handle.number as cusolverDnHandle_t, fill(call)?);
        by_type!(
            elements(CALL, call)?,
            "cusolverDnPotrf(handle, uplo, n, a, lda, workspace, len, info)",
            [
                cusolverDnSpotrf,
                cusolverDnDpotrf,
                cusolverDnCpotrf,
                cusolverDnZpotrf
            ](
                raw,
                fill,
                call.n,
                memory(call.a),
                call.height,
                memory(workspace),
                workspace_len,
                memory(info)
            )
        )
    }

    fn potrf_batched(
        &self,
        _current: &Current,
        handle: SolverHandle,
        call: &Potrf,
        infos: DevicePtr,
        batch_count: i32,
    ) -> GpuResult<()> {
        const CALL: &str = "cusolverDnPotrfBatched(handle, uplo, n, a, lda, infos, count)";
        let handle = self.handle(CALL, handle)?;
        let (raw, fill) = (handle.number as cusolverDnHandle_t, fill(call)?);
        by_type!(
            elements(CALL, call)?,
            "cusolverDnPotrfBatched(handle, uplo, n, a, lda, infos, count)",
            [
                cusolverDnSpotrfBatched,
                cusolverDnDpotrfBatched,
                cusolverDnCpotrfBatched,
                cusolverDnZpotrfBatched
            ](
                raw,
                fill,
                call.n,
                memory(call.a),
                call.height,
                memory(infos),
                batch_count
            )
        )
    }
}
