//! The solver library. Matrices are in column-major order.

use std::fmt::Debug;

use super::current::Current;
use super::error::GpuResult;
use super::handle::{DevicePtr, SolverHandle, StreamHandle};

/// Dense factorizations.
pub trait Solver: Debug + Send + Sync {
    /// Implements `cusolverDnCreate`.
    fn create(&self, current: &Current) -> GpuResult<SolverHandle>;

    /// Implements `cusolverDnDestroy`.
    fn destroy(&self, handle: SolverHandle) -> GpuResult<()>;

    /// Implements `cusolverDnSetStream`.
    fn set_stream(&self, handle: SolverHandle, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cusolverDn{S,D,C,Z}potrf_bufferSize`: the elements of workspace that
    /// [`potrf`](Self::potrf) needs.
    fn potrf_buffer_size(
        &self,
        current: &Current,
        handle: SolverHandle,
        call: &Potrf,
    ) -> GpuResult<i32>;

    /// Implements `cusolverDn{S,D,C,Z}potrf`: the Cholesky factor of a matrix, in its place. `info`
    /// is the order of the minor that is not positive definite, or 0.
    fn potrf(
        &self,
        current: &Current,
        handle: SolverHandle,
        call: &Potrf,
        workspace: DevicePtr,
        workspace_len: i32,
        info: DevicePtr,
    ) -> GpuResult<()>;

    /// Implements `cusolverDn{S,D,C,Z}potrfBatched`: the same of several matrices. `call.a` holds
    /// their addresses.
    fn potrf_batched(
        &self,
        current: &Current,
        handle: SolverHandle,
        call: &Potrf,
        infos: DevicePtr,
        batch_count: i32,
    ) -> GpuResult<()>;
}

/// A Hermitian matrix to factorize.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub struct Potrf {
    pub data_type: i32,
    pub fill: i32,
    pub n: i32,
    pub a: DevicePtr,
    pub height: i32,
}
