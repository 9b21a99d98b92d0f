//! `libnccl`. Operations between the start and the end of a group begin together at its end.

use std::cell::RefCell;
use std::ffi::{c_int, c_uint};

use tfrt_gpu::api::CommHandle;
use tfrt_gpu::api::ccl::{self, Collective};
use tfrt_gpu::api::{GpuError, GpuResult, Status, StreamHandle};

use crate::abi::{In, Out, device, exports};
use crate::emulator::Emulator;

thread_local! {
    /// The operations of the group that is open on this thread, with communicators and streams.
    static GROUP: RefCell<Option<Vec<(u64, u64, Collective)>>> = const { RefCell::new(None) };
}

/// The id of a communicator, which C passes by value.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct UniqueId {
    bytes: ccl::UniqueId,
}

/// The first fields of the configuration of a communicator.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ConfigStart {
    _size: usize,
    magic: c_uint,
    _version: c_uint,
    blocking: c_int,
}

/// Marks a configuration that the initializer of the library's header has made.
const MAGIC: c_uint = 0xcafe_beef;

/// The status of calls that take effect later.
const IN_PROGRESS: c_uint = 7;

/// Adds an operation to the open group, or runs it by itself.
fn add(
    emulator: &Emulator,
    call: &'static str,
    comm: u64,
    stream: u64,
    operation: Collective,
) -> GpuResult<()> {
    let is_added = GROUP.with_borrow_mut(|group| match group {
        Some(operations) => {
            operations.push((comm, stream, operation));
            true
        }
        None => false,
    });
    match is_added {
        true => Ok(()),
        false => run(emulator, call, &[(comm, stream, operation)]),
    }
}

/// Runs operations, those of one communicator and stream together.
fn run(
    emulator: &Emulator,
    call: &'static str,
    operations: &[(u64, u64, Collective)],
) -> GpuResult<()> {
    let same = |one: &(u64, u64, Collective), other: &(u64, u64, Collective)| {
        (one.0, one.1) == (other.0, other.1)
    };
    for part in operations.chunk_by(same) {
        let current = emulator.current(call)?;
        let (comm, stream, _) = part[0];
        let collectives: Vec<Collective> = part.iter().map(|(_, _, one)| *one).collect();
        let ccl = &emulator.gpu.ccl;
        ccl.group(
            &current,
            CommHandle(comm),
            &collectives,
            StreamHandle(stream),
        )?;
    }
    Ok(())
}

exports! { Ccl:
    fn ncclGetVersion(version: Out<c_int>) |_emulator, CALL| {
        version.set(CALL, 22602)
    }

    fn ncclGetUniqueId(id: Out<UniqueId>) |emulator, CALL| {
        // Alone among the functions, it needs no `cuInit`.
        emulator.gpu.driver.init()?;
        let bytes = emulator.gpu.ccl.unique_id()?;
        id.set(CALL, UniqueId { bytes })
    }

    fn ncclCommInitRank(comm: Out<u64>, count: c_int, id: UniqueId, rank: c_int) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let handle = emulator.gpu.ccl.init_rank(&current, rank, count, &id.bytes)?;
        comm.set(CALL, handle.0)
    }

    fn ncclCommInitRankConfig(
        comm: Out<u64>, count: c_int, id: UniqueId, rank: c_int, config: In<ConfigStart>,
    ) |emulator, CALL| {
        let config = config.get(CALL, 0)?;
        if config.magic != MAGIC || config.blocking != 0 {
            return Err(GpuError::new(CALL, Status::CCL_INVALID_ARGUMENT)
                .with_details("the emulator supports configurations that do not block"));
        }
        let current = emulator.current(CALL)?;
        let handle = emulator.gpu.ccl.begin_init_rank(&current, rank, count, &id.bytes)?;
        comm.set(CALL, handle.0)
    }

    fn ncclCommGetAsyncError(comm: u64, error: Out<c_uint>) |emulator, CALL| {
        let is_done = emulator.gpu.ccl.progress(CommHandle(comm))?;
        error.set(CALL, if is_done { 0 } else { IN_PROGRESS })
    }

    fn ncclCommAbort(comm: u64) |emulator, CALL| {
        emulator.gpu.ccl.abort(CommHandle(comm))
    }

    fn ncclCommDestroy(comm: u64) |emulator, CALL| {
        emulator.gpu.ccl.destroy(CommHandle(comm))
    }

    fn ncclCommCount(comm: u64, count: Out<c_int>) |emulator, CALL| {
        count.set(CALL, emulator.gpu.ccl.count(CommHandle(comm))?)
    }

    fn ncclGroupStart() |_emulator, CALL| {
        GROUP.with_borrow_mut(|group| match group {
            None => {
                *group = Some(Vec::new());
                Ok(())
            }
            Some(_) => Err(GpuError::new(CALL, Status::CCL_INVALID_USAGE)
                .with_details("the emulator does not support nested groups")),
        })
    }

    fn ncclGroupEnd() |emulator, CALL| {
        let operations = GROUP.take();
        let operations =
            operations.ok_or_else(|| GpuError::new(CALL, Status::CCL_INVALID_USAGE))?;
        run(emulator, CALL, &operations)
    }

    fn ncclAllGather(
        input: u64, output: u64, count: usize, data_type: c_int, comm: u64, stream: u64,
    ) |emulator, CALL| {
        let (input, output) = (device(input), device(output));
        let operation = Collective::AllGather { input, output, count, data_type };
        add(emulator, CALL, comm, stream, operation)
    }

    fn ncclAllReduce(
        input: u64, output: u64, count: usize, data_type: c_int, reduction: c_int, comm: u64, stream: u64,
    ) |emulator, CALL| {
        let (input, output) = (device(input), device(output));
        let operation = Collective::AllReduce { input, output, count, data_type, reduction };
        add(emulator, CALL, comm, stream, operation)
    }

    fn ncclReduceScatter(
        input: u64, output: u64, count: usize, data_type: c_int, reduction: c_int, comm: u64, stream: u64,
    ) |emulator, CALL| {
        let (input, output) = (device(input), device(output));
        let operation = Collective::ReduceScatter { input, output, count, data_type, reduction };
        add(emulator, CALL, comm, stream, operation)
    }

    fn ncclSend(
        buffer: u64, count: usize, data_type: c_int, peer: c_int, comm: u64, stream: u64,
    ) |emulator, CALL| {
        let buffer = device(buffer);
        add(emulator, CALL, comm, stream, Collective::Send { buffer, count, data_type, peer })
    }

    fn ncclRecv(
        buffer: u64, count: usize, data_type: c_int, peer: c_int, comm: u64, stream: u64,
    ) |emulator, CALL| {
        let buffer = device(buffer);
        add(emulator, CALL, comm, stream, Collective::Receive { buffer, count, data_type, peer })
    }
}
