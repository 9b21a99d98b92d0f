//! Collectives of the host device, at which the streams of all ranks meet.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::driver::Shared;
use super::fault::Fault;
use super::{HostDevice, read_bytes};
use crate::api::ccl::Ccl;
use crate::api::ccl::{Collective, UniqueId};
use crate::api::handle::{CommHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};
use crate::values::lock;

/// The time after which waiting for other ranks counts as a failure.
const PATIENCE: Duration = Duration::from_secs(30);

/// The groups of ranks, by their shared id.
#[derive(Debug, Default)]
pub(super) struct Groups(Mutex<HashMap<UniqueId, Arc<Group>>>);

/// Ranks that belong together.
#[derive(Debug)]
struct Group {
    num_ranks: usize,
    state: Mutex<Meetings>,
    has_changed: Condvar,
}

#[derive(Debug, Default)]
struct Meetings {
    /// The present ranks.
    joined: Vec<bool>,
    /// `true` once two members claimed one rank: another rank will never come.
    has_duplicate: bool,
    /// The contributions of the ranks, by number of the meeting.
    open: HashMap<u64, Meeting>,
}

#[derive(Debug)]
struct Meeting {
    brought: Vec<Option<Arc<Vec<Brought>>>>,
    num_gone: usize,
}

/// An operation with the bytes that the rank contributes.
#[derive(Debug)]
struct Brought {
    operation: Collective,
    bytes: Vec<u8>,
}

/// A communicator: one rank of a group.
#[derive(Debug)]
pub(super) struct Comm {
    group: Arc<Group>,
    rank: usize,
    /// The number of the next meeting.
    next: AtomicU64,
    /// Set under the lock of the group's state.
    is_aborted: AtomicBool,
}

/// The end of a meeting for a rank.
enum Met {
    All(Vec<Arc<Vec<Brought>>>),
    /// The rank was aborted meanwhile.
    Aborted,
}

impl Group {
    /// Waits until `is_done` returns a value for the state.
    fn wait_until<T>(&self, mut is_done: impl FnMut(&mut Meetings) -> Option<T>) -> Option<T> {
        let mut state = lock(&self.state);
        loop {
            if let Some(value) = is_done(&mut state) {
                return Some(value);
            }
            let waited = self.has_changed.wait_timeout(state, PATIENCE);
            let (next, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
            state = next;
            if timeout.timed_out() {
                return None;
            }
        }
    }

    /// Contributes data to a meeting, and returns the contributions of all ranks.
    fn meet(&self, number: u64, comm: &Comm, brought: Vec<Brought>) -> Option<Met> {
        {
            let mut state = lock(&self.state);
            let meeting = state.open.entry(number).or_insert_with(|| Meeting {
                brought: vec![None; self.num_ranks],
                num_gone: 0,
            });
            meeting.brought[comm.rank] = Some(Arc::new(brought));
        }
        self.has_changed.notify_all();
        self.wait_until(|state| {
            // ordering: the lock orders it.
            if comm.is_aborted.load(Ordering::Relaxed) {
                return Some(Met::Aborted);
            }
            let meeting = state.open.get_mut(&number)?;
            let all: Option<Vec<_>> = meeting.brought.iter().cloned().collect();
            let all = all?;
            meeting.num_gone += 1;
            if meeting.num_gone == self.num_ranks {
                state.open.remove(&number);
            }
            Some(Met::All(all))
        })
    }
}

fn error(call: &'static str, status: Status) -> GpuError {
    GpuError::new(call, status)
}

/// Returns the bytes of an element of an `ncclDataType_t`.
fn width(data_type: i32) -> usize {
    match data_type {
        0 | 1 => 1,
        6 | 9 => 2,
        2 | 3 | 7 => 4,
        _ => 8,
    }
}

impl Ccl for Shared {
    fn unique_id(&self) -> GpuResult<UniqueId> {
        const CALL: &str = "ncclGetUniqueId(&id)";
        self.0.enter_library("ncclGetUniqueId", CALL, Status::Ccl)?;
        let mut id = [0; 128];
        id[..8].copy_from_slice(&self.0.new_handle().to_le_bytes());
        id[8..16].copy_from_slice(&(self.0.identity as u64).to_le_bytes());
        id[16..20].copy_from_slice(&std::process::id().to_le_bytes());
        Ok(id)
    }

    fn init_rank(
        &self,
        current: &Current,
        rank: i32,
        count: i32,
        id: &UniqueId,
    ) -> GpuResult<CommHandle> {
        const CALL: &str = "ncclCommInitRank(&comm, count, id, rank)";
        self.0
            .enter_library("ncclCommInitRank", CALL, Status::Ccl)?;
        self.0.check_context(CALL, current.context())?;
        let (group, rank) = self.join(CALL, (rank, count), id)?;
        let all = group.wait_until(|state| {
            let is_over = state.has_duplicate || state.all_have_joined();
            is_over.then_some(state.has_duplicate)
        });
        if all == Some(true) {
            let details = "two members of the group have the same rank";
            return Err(error(CALL, Status::CCL_INVALID_USAGE).with_details(details));
        }
        if all.is_none() {
            lock(&self.0.groups.0).remove(id);
            let details = "some ranks did not join";
            return Err(error(CALL, Status::CCL_INTERNAL).with_details(details));
        }
        Ok(self.add_comm(group, rank))
    }

    fn begin_init_rank(
        &self,
        current: &Current,
        rank: i32,
        count: i32,
        id: &UniqueId,
    ) -> GpuResult<CommHandle> {
        const CALL: &str = "ncclCommInitRankConfig(&comm, count, id, rank, &config)";
        self.0
            .enter_library("ncclCommInitRankConfig", CALL, Status::Ccl)?;
        self.0.check_context(CALL, current.context())?;
        if id[16..20] != std::process::id().to_le_bytes() {
            let details = "the ranks of the host device are in one process";
            return Err(error(CALL, Status::CCL_INVALID_USAGE).with_details(details));
        }
        let (group, rank) = self.join(CALL, (rank, count), id)?;
        Ok(self.add_comm(group, rank))
    }

    fn progress(&self, comm: CommHandle) -> GpuResult<bool> {
        const CALL: &str = "ncclCommGetAsyncError(comm, &error)";
        self.0
            .enter_library("ncclCommGetAsyncError", CALL, Status::Ccl)?;
        let comm = self.comm(CALL, comm)?;
        let have_joined = lock(&comm.group.state).all_have_joined();
        Ok(have_joined)
    }

    fn abort(&self, comm: CommHandle) -> GpuResult<()> {
        const CALL: &str = "ncclCommAbort(comm)";
        self.0.enter_library("ncclCommAbort", CALL, Status::Ccl)?;
        let comm = lock(&self.0.libraries).comms.remove(&comm.0);
        let comm = comm.ok_or_else(|| error(CALL, Status::CCL_INVALID_ARGUMENT))?;
        let state = lock(&comm.group.state);
        // ordering: the lock orders it.
        comm.is_aborted.store(true, Ordering::Relaxed);
        drop(state);
        comm.group.has_changed.notify_all();
        Ok(())
    }

    fn destroy(&self, comm: CommHandle) -> GpuResult<()> {
        const CALL: &str = "ncclCommDestroy(comm)";
        self.0.enter_library("ncclCommDestroy", CALL, Status::Ccl)?;
        match lock(&self.0.libraries).comms.remove(&comm.0) {
            Some(_) => Ok(()),
            None => Err(error(CALL, Status::CCL_INVALID_ARGUMENT)),
        }
    }

    fn count(&self, comm: CommHandle) -> GpuResult<i32> {
        const CALL: &str = "ncclCommCount(comm, &count)";
        self.0.enter_library("ncclCommCount", CALL, Status::Ccl)?;
        let comm = self.comm(CALL, comm)?;
        Ok(i32::try_from(comm.group.num_ranks).unwrap_or(i32::MAX))
    }

    fn group(
        &self,
        _current: &Current,
        comm: CommHandle,
        operations: &[Collective],
        stream: StreamHandle,
    ) -> GpuResult<()> {
        const CALL: &str = "ncclGroupEnd()";
        self.0.enter_library("ncclGroupEnd", CALL, Status::Ccl)?;
        let comm = self.comm(CALL, comm)?;
        let queue = self.0.queue(CALL, stream)?;
        for operation in operations {
            if let Collective::Send { peer, .. } | Collective::Receive { peer, .. } = operation
                && usize::try_from(*peer).is_ok_and(|peer| peer >= comm.group.num_ranks)
                    | peer.is_negative()
            {
                return Err(error(CALL, Status::CCL_INVALID_ARGUMENT));
            }
            // The last keyword is the number of the others.
            if let Collective::AllReduce { reduction, .. }
            | Collective::ReduceScatter { reduction, .. } = operation
                && !(0..4).contains(reduction)
            {
                return Err(error(CALL, Status::CCL_INVALID_ARGUMENT));
            }
        }
        // ordering: only distinctness counts; one thread at a time uses a communicator.
        let number = comm.next.fetch_add(1, Ordering::Relaxed);
        let operations = operations.to_vec();
        self.push(CALL, &queue, move |device| {
            run(device, &comm, number, &operations)
        })
    }
}

impl Meetings {
    fn all_have_joined(&self) -> bool {
        self.joined.iter().all(|is_there| *is_there)
    }
}

impl Shared {
    /// Joins the ranks that share an id. Returns them, and the rank.
    fn join(
        &self,
        call: &'static str,
        (rank, count): (i32, i32),
        id: &UniqueId,
    ) -> GpuResult<(Arc<Group>, usize)> {
        let invalid = || error(call, Status::CCL_INVALID_ARGUMENT);
        let count = usize::try_from(count).map_err(|_| invalid())?;
        let rank = usize::try_from(rank).ok().filter(|rank| *rank < count);
        let rank = rank.ok_or_else(invalid)?;
        if count > 1 << 10 {
            return Err(invalid());
        }
        let mut groups = lock(&self.0.groups.0);
        let group = groups.entry(*id).or_insert_with(|| {
            Arc::new(Group {
                num_ranks: count,
                state: Mutex::new(Meetings {
                    joined: vec![false; count],
                    has_duplicate: false,
                    open: HashMap::new(),
                }),
                has_changed: Condvar::new(),
            })
        });
        let group = Arc::clone(group);
        if group.num_ranks != count {
            return Err(invalid());
        }
        let mut state = lock(&group.state);
        if std::mem::replace(&mut state.joined[rank], true) {
            state.has_duplicate = true;
            groups.remove(id);
            drop(state);
            group.has_changed.notify_all();
            return Err(error(call, Status::CCL_INVALID_USAGE));
        }
        if state.all_have_joined() {
            groups.remove(id);
        }
        drop(state);
        drop(groups);
        group.has_changed.notify_all();
        Ok((group, rank))
    }

    fn add_comm(&self, group: Arc<Group>, rank: usize) -> CommHandle {
        let handle = self.0.new_handle();
        let comm = Arc::new(Comm {
            group,
            rank,
            next: AtomicU64::new(0),
            is_aborted: AtomicBool::new(false),
        });
        lock(&self.0.libraries).comms.insert(handle, comm);
        CommHandle(handle)
    }

    fn comm(&self, call: &'static str, comm: CommHandle) -> GpuResult<Arc<Comm>> {
        let found = lock(&self.0.libraries).comms.get(&comm.0).cloned();
        found.ok_or_else(|| error(call, Status::CCL_INVALID_ARGUMENT))
    }
}

/// Returns the address and the size of a rank's contribution to an operation.
fn given(operation: &Collective, num_ranks: usize) -> Option<(DevicePtr, usize)> {
    let (pointer, count, data_type) = match *operation {
        Collective::AllGather {
            input,
            count,
            data_type,
            ..
        }
        | Collective::AllReduce {
            input,
            count,
            data_type,
            ..
        } => (input, count, data_type),
        Collective::ReduceScatter {
            input,
            count,
            data_type,
            ..
        } => (input, count.checked_mul(num_ranks)?, data_type),
        Collective::Send {
            buffer,
            count,
            data_type,
            ..
        } => (buffer, count, data_type),
        Collective::Receive { .. } => return None,
    };
    Some((pointer, count.checked_mul(width(data_type))?))
}

fn run(
    device: &HostDevice,
    comm: &Comm,
    number: u64,
    operations: &[Collective],
) -> Result<(), Fault> {
    let num_ranks = comm.group.num_ranks;
    let mut brought = Vec::with_capacity(operations.len());
    for operation in operations {
        let bytes = match given(operation, num_ranks) {
            Some((pointer, len)) => read_bytes(&lock(&device.memory), pointer, len)?,
            None => Vec::new(),
        };
        brought.push(Brought {
            operation: *operation,
            bytes,
        });
    }
    let met = comm.group.meet(number, comm, brought);
    let met = met.ok_or_else(|| Fault::failed("a rank did not join the collective operation"))?;
    let all = match met {
        Met::All(all) => all,
        // The results are undefined.
        Met::Aborted => return Ok(()),
    };
    // How many messages were received from each rank.
    let mut num_received = vec![0; num_ranks];
    for (index, operation) in operations.iter().enumerate() {
        let of_rank = |rank: usize| -> Result<&Brought, Fault> {
            let other = all[rank].get(index);
            let is_same = |other: &&Brought| {
                std::mem::discriminant(&other.operation) == std::mem::discriminant(operation)
            };
            other.filter(is_same).ok_or_else(|| {
                Fault::failed(format!(
                    "rank {rank} joined a different collective operation"
                ))
            })
        };
        let (target, bytes) = match *operation {
            Collective::AllGather { output, .. } => {
                let parts = (0..num_ranks).map(of_rank).collect::<Result<Vec<_>, _>>()?;
                (
                    output,
                    parts.iter().flat_map(|part| part.bytes.clone()).collect(),
                )
            }
            Collective::AllReduce {
                output,
                data_type,
                reduction,
                ..
            } => {
                let parts = (0..num_ranks).map(of_rank).collect::<Result<Vec<_>, _>>()?;
                (output, reduce(&parts, data_type, reduction)?)
            }
            Collective::ReduceScatter {
                output,
                count,
                data_type,
                reduction,
                ..
            } => {
                let parts = (0..num_ranks).map(of_rank).collect::<Result<Vec<_>, _>>()?;
                let reduced = reduce(&parts, data_type, reduction)?;
                let len = count * width(data_type);
                (
                    output,
                    reduced[comm.rank * len..(comm.rank + 1) * len].to_vec(),
                )
            }
            Collective::Receive {
                buffer,
                count,
                data_type,
                peer,
            } => {
                let peer = usize::try_from(peer).unwrap_or(0);
                let is_for_us = |brought: &&Brought| {
                    matches!(brought.operation, Collective::Send { peer, .. }
                        if usize::try_from(peer) == Ok(comm.rank))
                };
                let mut messages = all[peer].iter().filter(is_for_us);
                let message = messages.nth(num_received[peer]);
                num_received[peer] += 1;
                let message =
                    message.filter(|message| message.bytes.len() == count * width(data_type));
                let message = message.ok_or_else(|| {
                    Fault::failed(format!("rank {peer} sent no message of the expected size"))
                })?;
                (buffer, message.bytes.clone())
            }
            Collective::Send { .. } => continue,
        };
        lock(&device.memory).write(target.address(), &bytes)?;
    }
    Ok(())
}

/// Combines the elements of all ranks.
fn reduce(parts: &[&Brought], data_type: i32, reduction: i32) -> Result<Vec<u8>, Fault> {
    let [first, others @ ..] = parts else {
        return Ok(Vec::new());
    };
    let mut result = first.bytes.clone();
    for part in others {
        if part.bytes.len() != result.len() {
            return Err(Fault::failed("ranks reduce different numbers of elements"));
        }
        let width = width(data_type);
        for (target, other) in result
            .chunks_exact_mut(width)
            .zip(part.bytes.chunks_exact(width))
        {
            combine(target, other, data_type, reduction);
        }
    }
    Ok(result)
}

macro_rules! combined {
    ($target:ident, $other:ident, $reduction:ident, $ty:ty, $add:expr, $multiply:expr) => {{
        let mut bytes = [0; size_of::<$ty>()];
        bytes.copy_from_slice($target);
        let one = <$ty>::from_le_bytes(bytes);
        bytes.copy_from_slice($other);
        let other = <$ty>::from_le_bytes(bytes);
        let result: $ty = match $reduction {
            0 => $add(one, other),
            1 => $multiply(one, other),
            2 => one.max(other),
            _ => one.min(other),
        };
        $target.copy_from_slice(&result.to_le_bytes());
    }};
}

fn combine(target: &mut [u8], other: &[u8], data_type: i32, reduction: i32) {
    use half::{bf16, f16};
    match data_type {
        0 => combined!(
            target,
            other,
            reduction,
            i8,
            i8::wrapping_add,
            i8::wrapping_mul
        ),
        1 => combined!(
            target,
            other,
            reduction,
            u8,
            u8::wrapping_add,
            u8::wrapping_mul
        ),
        2 => combined!(
            target,
            other,
            reduction,
            i32,
            i32::wrapping_add,
            i32::wrapping_mul
        ),
        3 => combined!(
            target,
            other,
            reduction,
            u32,
            u32::wrapping_add,
            u32::wrapping_mul
        ),
        4 => combined!(
            target,
            other,
            reduction,
            i64,
            i64::wrapping_add,
            i64::wrapping_mul
        ),
        5 => combined!(
            target,
            other,
            reduction,
            u64,
            u64::wrapping_add,
            u64::wrapping_mul
        ),
        6 => combined!(
            target,
            other,
            reduction,
            f16,
            |a: f16, b| a + b,
            |a: f16, b| a * b
        ),
        9 => combined!(
            target,
            other,
            reduction,
            bf16,
            |a: bf16, b| a + b,
            |a: bf16, b| a * b
        ),
        7 => combined!(
            target,
            other,
            reduction,
            f32,
            |a: f32, b| a + b,
            |a: f32, b| a * b
        ),
        _ => combined!(
            target,
            other,
            reduction,
            f64,
            |a: f64, b| a + b,
            |a: f64, b| a * b
        ),
    }
}
