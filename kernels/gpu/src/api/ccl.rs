//! The library of collectives.

use std::fmt::Debug;

use super::current::Current;
use super::error::GpuResult;
use super::handle::{CommHandle, DevicePtr, StreamHandle};

/// The id that the ranks of a communicator share.
pub type UniqueId = [u8; 128];

/// Communication between devices.
pub trait Ccl: Debug + Send + Sync {
    /// Implements `ncclGetUniqueId`.
    fn unique_id(&self) -> GpuResult<UniqueId>;

    /// Implements `ncclCommInitRank`: waits for all ranks.
    fn init_rank(
        &self,
        current: &Current,
        rank: i32,
        count: i32,
        id: &UniqueId,
    ) -> GpuResult<CommHandle>;

    /// Implements `ncclCommInitRankConfig` for a communicator whose calls do not block: the ranks
    /// may come later. [`progress`](Self::progress) says whether they have.
    fn begin_init_rank(
        &self,
        current: &Current,
        rank: i32,
        count: i32,
        id: &UniqueId,
    ) -> GpuResult<CommHandle>;

    /// Implements `ncclCommGetAsyncError`: whether the calls of a communicator that does not block
    /// have taken effect. Fails if one of them has failed, or another rank.
    fn progress(&self, comm: CommHandle) -> GpuResult<bool>;

    /// Implements `ncclCommAbort`: destroys a communicator without waiting for other ranks. Work
    /// that waits for them ends; its results are undefined.
    fn abort(&self, comm: CommHandle) -> GpuResult<()>;

    /// Implements `ncclCommDestroy`.
    fn destroy(&self, comm: CommHandle) -> GpuResult<()>;

    /// Implements `ncclCommCount`: the number of ranks.
    fn count(&self, comm: CommHandle) -> GpuResult<i32>;

    /// Calls `ncclGroupStart`, then each operation in order, then `ncclGroupEnd`, which is called
    /// even after a failure. The work is enqueued on `stream`.
    fn group(
        &self,
        current: &Current,
        comm: CommHandle,
        operations: &[Collective],
        stream: StreamHandle,
    ) -> GpuResult<()>;
}

/// One operation of a group; `count` is in elements.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the names are those of the library")]
pub enum Collective {
    /// `ncclAllGather`.
    AllGather {
        input: DevicePtr,
        output: DevicePtr,
        count: usize,
        data_type: i32,
    },
    /// `ncclAllReduce`.
    AllReduce {
        input: DevicePtr,
        output: DevicePtr,
        count: usize,
        data_type: i32,
        reduction: i32,
    },
    /// `ncclReduceScatter`; `count` is that of the output.
    ReduceScatter {
        input: DevicePtr,
        output: DevicePtr,
        count: usize,
        data_type: i32,
        reduction: i32,
    },
    /// `ncclSend`.
    Send {
        buffer: DevicePtr,
        count: usize,
        data_type: i32,
        peer: i32,
    },
    /// `ncclRecv`.
    Receive {
        buffer: DevicePtr,
        count: usize,
        data_type: i32,
        peer: i32,
    },
}
