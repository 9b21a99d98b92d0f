//! The library of collectives of CUDA.
#![expect(unsafe_code, reason = "calls the library")]

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Arc;

use cudarc::nccl::sys::{
    ncclComm_t, ncclConfig_t, ncclDataType_t, ncclRedOp_t, ncclResult_t, ncclUniqueId,
};

use super::driver::CudaDriver;
use super::library::ccl::Functions;
use super::library::{Library, enumeration, library_call};
use super::live::Live;
use super::object::{Object, Owned};
use crate::api::ccl::{Ccl, Collective, UniqueId};
use crate::api::handle::{CommHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

static LIBRARY: Library<Functions> =
    Library::new("libnccl.so", Functions::open, Status::CCL_INTERNAL);

/// NCCL.
#[derive(Debug)]
pub struct CudaCcl {
    driver: Arc<CudaDriver>,
    comms: Live<Owned>,
}

impl CudaCcl {
    /// Returns the library, which is opened by the first call.
    #[must_use]
    pub fn new(driver: Arc<CudaDriver>) -> Self {
        Self {
            driver,
            comms: Live::default(),
        }
    }

    fn comm(&self, call: &'static str, comm: CommHandle) -> GpuResult<Arc<Owned>> {
        self.comms
            .get(comm.0)
            .ok_or_else(|| GpuError::new(call, Status::CCL_INVALID_ARGUMENT))
    }
}

fn destroy(number: u64) -> GpuResult<()> {
    library_call!(
        LIBRARY,
        Status::Ccl,
        "ncclCommDestroy(comm)",
        ncclCommDestroy(number as ncclComm_t)
    )
}

fn abort(number: u64) -> GpuResult<()> {
    library_call!(
        LIBRARY,
        Status::Ccl,
        "ncclCommAbort(comm)",
        ncclCommAbort(number as ncclComm_t)
    )
}

/// The status of a call on a communicator that does not block, as long as it has no effect yet.
const IN_PROGRESS: u32 = 7;

/// Returns the outcome of a call that may take effect later.
fn accepted(result: GpuResult<()>) -> GpuResult<()> {
    match result {
        Err(error) if error.status == Status::Ccl(IN_PROGRESS) => Ok(()),
        result => result,
    }
}

/// Returns the configuration of a communicator that does not block. Everything else is undefined,
/// as the initializer of the library's header has it: the library decides.
fn non_blocking() -> ncclConfig_t {
    const UNDEFINED: c_int = c_int::MIN;
    ncclConfig_t {
        size: size_of::<ncclConfig_t>(),
        magic: 0xcafe_beef,
        // The version that the type is of: 10000 · major + 100 · minor + patch.
        version: 23_000,
        blocking: 0,
        cgaClusterSize: UNDEFINED,
        minCTAs: UNDEFINED,
        maxCTAs: UNDEFINED,
        netName: ptr::null(),
        splitShare: UNDEFINED,
        trafficClass: UNDEFINED,
        commName: ptr::null(),
        collnetEnable: UNDEFINED,
        CTAPolicy: UNDEFINED,
        shrinkShare: UNDEFINED,
        nvlsCTAs: UNDEFINED,
        nChannelsPerNetPeer: UNDEFINED,
        nvlinkCentricSched: UNDEFINED,
        graphUsageMode: UNDEFINED,
        numRmaCtx: UNDEFINED,
        maxP2pPeers: UNDEFINED,
    }
}

fn memory(pointer: DevicePtr) -> *mut c_void {
    pointer.address() as *mut c_void
}

fn data_type(number: i32) -> GpuResult<ncclDataType_t> {
    enumeration!(
        number,
        "nccl(datatype)",
        Status::CCL_INVALID_ARGUMENT,
        ncclDataType_t {
            ncclInt8,
            ncclUint8,
            ncclInt32,
            ncclUint32,
            ncclInt64,
            ncclUint64,
            ncclFloat16,
            ncclFloat32,
            ncclFloat64,
            ncclBfloat16,
        }
    )
}

fn reduction(number: i32) -> GpuResult<ncclRedOp_t> {
    enumeration!(
        number,
        "nccl(op)",
        Status::CCL_INVALID_ARGUMENT,
        ncclRedOp_t {
            ncclSum,
            ncclProd,
            ncclMax,
            ncclMin
        }
    )
}

/// Returns one operation, between the start and the end of a group.
fn enqueue(comm: &Owned, stream: &Object, operation: &Collective) -> GpuResult<()> {
    let (raw, stream) = (comm.number as ncclComm_t, stream.number as *mut _);
    match *operation {
        Collective::AllGather {
            input,
            output,
            count,
            data_type: ty,
        } => {
            let ty = data_type(ty)?;
            library_call!(
                LIBRARY,
                Status::Ccl,
                "ncclAllGather(send, recv, count, type, comm, stream)",
                ncclAllGather(memory(input), memory(output), count, ty, raw, stream,)
            )
        }
        Collective::AllReduce {
            input,
            output,
            count,
            data_type: ty,
            reduction: op,
        } => {
            let (ty, op) = (data_type(ty)?, reduction(op)?);
            library_call!(
                LIBRARY,
                Status::Ccl,
                "ncclAllReduce(send, recv, count, type, op, comm, stream)",
                ncclAllReduce(memory(input), memory(output), count, ty, op, raw, stream,)
            )
        }
        Collective::ReduceScatter {
            input,
            output,
            count,
            data_type: ty,
            reduction: op,
        } => {
            let (ty, op) = (data_type(ty)?, reduction(op)?);
            library_call!(
                LIBRARY,
                Status::Ccl,
                "ncclReduceScatter(send, recv, count, type, op, comm, stream)",
                ncclReduceScatter(memory(input), memory(output), count, ty, op, raw, stream,)
            )
        }
        Collective::Send {
            buffer,
            count,
            data_type: ty,
            peer,
        } => {
            let ty = data_type(ty)?;
            library_call!(
                LIBRARY,
                Status::Ccl,
                "ncclSend(send, count, type, peer, comm, stream)",
                ncclSend(memory(buffer), count, ty, peer, raw, stream,)
            )
        }
        Collective::Receive {
            buffer,
            count,
            data_type: ty,
            peer,
        } => {
            let ty = data_type(ty)?;
            library_call!(
                LIBRARY,
                Status::Ccl,
                "ncclRecv(recv, count, type, peer, comm, stream)",
                ncclRecv(memory(buffer), count, ty, peer, raw, stream,)
            )
        }
    }
}

impl Ccl for CudaCcl {
    fn unique_id(&self) -> GpuResult<UniqueId> {
        let mut id = ncclUniqueId { internal: [0; 128] };
        library_call!(
            LIBRARY,
            Status::Ccl,
            "ncclGetUniqueId(&id)",
            ncclGetUniqueId(&mut id)
        )?;
        Ok(id.internal.map(|byte| byte as u8))
    }

    fn init_rank(
        &self,
        current: &Current,
        rank: i32,
        count: i32,
        id: &UniqueId,
    ) -> GpuResult<CommHandle> {
        let context = self
            .driver
            .of("ncclCommInitRank(&comm, count, id, rank)", current)?;
        let id = ncclUniqueId {
            internal: id.map(|byte| byte as std::ffi::c_char),
        };
        let mut comm: ncclComm_t = ptr::null_mut();
        library_call!(
            LIBRARY,
            Status::Ccl,
            "ncclCommInitRank(&comm, count, id, rank)",
            ncclCommInitRank(&mut comm, count, id, rank)
        )?;
        self.comms.add(
            comm as u64,
            Owned::new(comm as u64, context, &self.driver, destroy),
        );
        Ok(CommHandle(comm as u64))
    }

    fn begin_init_rank(
        &self,
        current: &Current,
        rank: i32,
        count: i32,
        id: &UniqueId,
    ) -> GpuResult<CommHandle> {
        const CALL: &str = "ncclCommInitRankConfig(&comm, count, id, rank, &config)";
        let context = self.driver.of(CALL, current)?;
        let id = ncclUniqueId {
            internal: id.map(|byte| byte as std::ffi::c_char),
        };
        let mut comm: ncclComm_t = ptr::null_mut();
        let mut config = non_blocking();
        accepted(library_call!(
            LIBRARY,
            Status::Ccl,
            "ncclCommInitRankConfig(&comm, count, id, rank, &config)",
            ncclCommInitRankConfig(&mut comm, count, id, rank, &mut config)
        ))?;
        self.comms.add(
            comm as u64,
            Owned::new(comm as u64, context, &self.driver, destroy),
        );
        Ok(CommHandle(comm as u64))
    }

    fn progress(&self, comm: CommHandle) -> GpuResult<bool> {
        const CALL: &str = "ncclCommGetAsyncError(comm, &error)";
        let comm = self.comm(CALL, comm)?;
        // A number: the enumeration lacks the codes of newer libraries.
        let mut code = 0_u32;
        library_call!(
            LIBRARY,
            Status::Ccl,
            "ncclCommGetAsyncError(comm, &error)",
            ncclCommGetAsyncError(
                comm.number as ncclComm_t,
                (&raw mut code).cast::<ncclResult_t>()
            )
        )?;
        match code {
            0 => Ok(true),
            IN_PROGRESS => Ok(false),
            code => Err(GpuError::new(CALL, Status::Ccl(code))),
        }
    }

    fn abort(&self, comm: CommHandle) -> GpuResult<()> {
        let object = self.comms.remove(comm.0);
        let object = object
            .ok_or_else(|| GpuError::new("ncclCommAbort(comm)", Status::CCL_INVALID_ARGUMENT))?;
        Arc::into_inner(object).map_or(Ok(()), |object| object.end_by(abort))
    }

    fn destroy(&self, comm: CommHandle) -> GpuResult<()> {
        let object = self.comms.remove(comm.0);
        let object = object
            .ok_or_else(|| GpuError::new("ncclCommDestroy(comm)", Status::CCL_INVALID_ARGUMENT))?;
        Arc::into_inner(object).map_or(Ok(()), Owned::end)
    }

    fn count(&self, comm: CommHandle) -> GpuResult<i32> {
        let comm = self.comm("ncclCommCount(comm, &count)", comm)?;
        let mut count = 0;
        library_call!(
            LIBRARY,
            Status::Ccl,
            "ncclCommCount(comm, &count)",
            ncclCommCount(comm.number as ncclComm_t, &mut count)
        )?;
        Ok(count)
    }

    fn group(
        &self,
        _current: &Current,
        comm: CommHandle,
        operations: &[Collective],
        stream: StreamHandle,
    ) -> GpuResult<()> {
        let comm = self.comm("ncclGroupStart()", comm)?;
        let stream = self.driver.stream("ncclGroupStart()", stream)?;
        library_call!(LIBRARY, Status::Ccl, "ncclGroupStart()", ncclGroupStart())?;
        let enqueued = operations
            .iter()
            .try_for_each(|operation| accepted(enqueue(&comm, &stream, operation)));
        let ended = library_call!(LIBRARY, Status::Ccl, "ncclGroupEnd()", ncclGroupEnd());
        enqueued.and(accepted(ended))
    }
}
