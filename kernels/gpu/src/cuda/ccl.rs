//! The library of collectives of CUDA.
#![expect(unsafe_code, reason = "calls the library")]

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use cudarc::nccl::sys::{ncclComm_t, ncclDataType_t, ncclRedOp_t, ncclUniqueId};

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
            .try_for_each(|operation| enqueue(&comm, &stream, operation));
        let ended = library_call!(LIBRARY, Status::Ccl, "ncclGroupEnd()", ncclGroupEnd());
        enqueued.and(ended)
    }
}
