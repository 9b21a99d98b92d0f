//! Collectives. Kernels queue operations on a handle; one kernel then runs them as a group.

use std::fmt;
use std::sync::{Arc, Mutex};

use tfrt::prelude::*;
use tfrt::queue::run_blocking_value;

use crate::api::ccl::{Collective, UniqueId};
use crate::api::handle::CommHandle;
use crate::enums::{CclDataType, CclReduction, Platform};
use crate::platform::Gpu;
use crate::values::memory::Part;
use crate::values::{Buffer, GpuContext, Stream, lock, log_failure};

/// The id that the ranks of a communicator share.
#[derive(Clone, Value)]
#[value("!tfrt_gpu.ccl.id")]
pub struct CclId(UniqueId);

impl fmt::Debug for CclId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CclId({:02x?}…)", &self.0[..8])
    }
}

/// A communicator, with the operations that are queued on it.
#[derive(Clone, Debug, Value)]
#[value("!tfrt_gpu.ccl.handle")]
pub struct CclHandle(Arc<OwnedComm>);

#[derive(Debug)]
struct OwnedComm {
    handle: CommHandle,
    count: i32,
    queue: Mutex<Vec<Queued>>,
    context: GpuContext,
}

/// An operation, and the memory that it uses.
#[derive(Debug)]
struct Queued {
    operation: Collective,
    parts: Vec<Part>,
}

impl Drop for OwnedComm {
    fn drop(&mut self) {
        let destroyed = self
            .context
            .set_current()
            .and_then(|_current| self.context.gpu().ccl.destroy(self.handle));
        log_failure(destroyed);
    }
}

impl CclHandle {
    fn push(&self, operation: Collective, buffers: &[&Buffer]) {
        let parts = buffers.iter().filter_map(|buffer| buffer.part()).collect();
        lock(&self.0.queue).push(Queued { operation, parts });
    }

    /// Returns the number of ranks.
    fn count(&self) -> usize {
        usize::try_from(self.0.count).unwrap_or(1).max(1)
    }
}

/// Returns a new unique id, which the ranks of a communicator share.
#[tfrt_kernel("tfrt_gpu.ccl.unique_id", chain = none, results(id), format = "$platform attr-dict")]
fn ccl_unique_id(#[attr] platform: Platform, ctx: &ExecutionContext) -> Result<CclId> {
    platform.expect_cuda()?;
    Ok(CclId(Gpu::of_host(ctx.host())?.ccl.unique_id()?))
}

/// Makes the communicator of a rank. It waits for all ranks, on a thread of its own.
///
/// # Errors
/// `Failed to run blocking work.` if the work queue has no threads for blocking work.
#[tfrt_kernel("tfrt_gpu.ccl.create", chain = none, results(handle), format = "operands attr-dict")]
fn ccl_create(
    context: &GpuContext,
    rank: i32,
    count: i32,
    id: &CclId,
    ctx: ExecutionContext,
) -> Result<AsyncValueRef<CclHandle>> {
    let (context, id) = (context.clone(), id.clone());
    run_blocking(ctx, move || {
        let current = context.set_current()?;
        let ccl = &context.gpu().ccl;
        let handle = ccl.init_rank(&current, rank, count, &id.0)?;
        let count = ccl.count(handle)?;
        Ok(CclHandle(Arc::new(OwnedComm {
            handle,
            count,
            queue: Mutex::default(),
            context,
        })))
    })
}

/// Queues a gather: every rank gets the input of all ranks, by rank.
#[tfrt_kernel(
    "tfrt_gpu.ccl.all_gather",
    results(out_chain),
    format = "$handle `,` $input `,` $output `,` $data_type `,` $in_chain attr-dict"
)]
fn ccl_all_gather(
    handle: &CclHandle,
    input: &Buffer,
    output: &Buffer,
    in_chain: Chain,
    #[attr] data_type: CclDataType,
) -> Result<Chain> {
    let count = input.num_bytes() / data_type.width();
    let wanted = (count * data_type.width()).checked_mul(handle.count());
    let operation = Collective::AllGather {
        input: input.pointer(),
        output: output.with_room("output", wanted)?,
        count,
        data_type: data_type.value(),
    };
    handle.push(operation, &[input, output]);
    Ok(in_chain)
}

/// Queues a reduction: every rank gets the elements of all ranks combined.
#[tfrt_kernel(
    "tfrt_gpu.ccl.all_reduce",
    results(out_chain),
    format = "$handle `,` $input `,` $output `,` $data_type `,` $reduction_op `,` $in_chain \
              attr-dict"
)]
fn ccl_all_reduce(
    handle: &CclHandle,
    input: &Buffer,
    output: &Buffer,
    in_chain: Chain,
    #[attr] data_type: CclDataType,
    #[attr] reduction_op: CclReduction,
) -> Result<Chain> {
    let count = input.num_bytes() / data_type.width();
    let operation = Collective::AllReduce {
        input: input.pointer(),
        output: output.with_room("output", Some(count * data_type.width()))?,
        count,
        data_type: data_type.value(),
        reduction: reduction_op.value(),
    };
    handle.push(operation, &[input, output]);
    Ok(in_chain)
}

/// Queues a reduction whose result is divided among the ranks.
///
/// # Errors
/// `Input size must be output size times ranks.`
#[tfrt_kernel(
    "tfrt_gpu.ccl.reduce_scatter",
    results(out_chain),
    format = "$handle `,` $input `,` $output `,` $data_type `,` $reduction_op `,` $in_chain \
              attr-dict"
)]
fn ccl_reduce_scatter(
    handle: &CclHandle,
    input: &Buffer,
    output: &Buffer,
    in_chain: Chain,
    #[attr] data_type: CclDataType,
    #[attr] reduction_op: CclReduction,
) -> Chain {
    // Whether the sizes agree is found when the group runs, as in the reference.
    let operation = Collective::ReduceScatter {
        input: input.pointer(),
        output: output.pointer(),
        count: output.num_bytes() / data_type.width(),
        data_type: data_type.value(),
        reduction: reduction_op.value(),
    };
    handle.push(operation, &[input, output]);
    in_chain
}

/// Queues that a buffer is sent to a rank.
#[tfrt_kernel(
    "tfrt_gpu.ccl.send",
    results(out_chain),
    format = "$handle `,` $buffer `,` $peer `,` $data_type `,` $in_chain attr-dict"
)]
fn ccl_send(
    handle: &CclHandle,
    buffer: &Buffer,
    peer: i32,
    in_chain: Chain,
    #[attr] data_type: CclDataType,
) -> Chain {
    let operation = Collective::Send {
        buffer: buffer.pointer(),
        count: buffer.num_bytes() / data_type.width(),
        data_type: data_type.value(),
        peer,
    };
    handle.push(operation, &[buffer]);
    in_chain
}

/// Queues that a buffer is received from a rank.
#[tfrt_kernel(
    "tfrt_gpu.ccl.recv",
    results(out_chain),
    format = "$handle `,` $buffer `,` $peer `,` $data_type `,` $in_chain attr-dict"
)]
fn ccl_recv(
    handle: &CclHandle,
    buffer: &Buffer,
    peer: i32,
    in_chain: Chain,
    #[attr] data_type: CclDataType,
) -> Chain {
    let operation = Collective::Receive {
        buffer: buffer.pointer(),
        count: buffer.num_bytes() / data_type.width(),
        data_type: data_type.value(),
        peer,
    };
    handle.push(operation, &[buffer]);
    in_chain
}

/// Queues an exchange: block p of the input is sent to rank p, and block p of the output is
/// received from it.
///
/// # Errors
/// `Input size must equal output size.`, `Total element count must be exact multiple of comm count.`
#[tfrt_kernel(
    "tfrt_gpu.ccl.all_to_all",
    results(out_chain),
    format = "$handle `,` $input `,` $output `,` $data_type `,` $in_chain attr-dict"
)]
fn ccl_all_to_all(
    handle: &CclHandle,
    input: &Buffer,
    output: &Buffer,
    in_chain: Chain,
    #[attr] data_type: CclDataType,
) -> Result<Chain> {
    let invalid = |text: &str| Error::new(text).with_code(ErrorCode::InvalidArgument);
    if input.num_bytes() != output.num_bytes() {
        return Err(invalid("Input size must equal output size."));
    }
    let total = input.num_bytes() / data_type.width();
    if !total.is_multiple_of(handle.count()) {
        return Err(invalid(
            "Total element count must be exact multiple of comm count.",
        ));
    }
    let count = total / handle.count();
    let block_bytes = (count * data_type.width()) as u64;
    for peer in 0..handle.0.count {
        let offset = u64::from(peer.unsigned_abs()) * block_bytes;
        let send = Collective::Send {
            buffer: input.pointer().offset(offset),
            count,
            data_type: data_type.value(),
            peer,
        };
        handle.push(send, &[input]);
        let receive = Collective::Receive {
            buffer: output.pointer().offset(offset),
            count,
            data_type: data_type.value(),
            peer,
        };
        handle.push(receive, &[output]);
    }
    Ok(in_chain)
}

/// Runs the queued operations as one group, on a separate thread, and empties the queue, even if
/// the group fails.
///
/// # Errors
/// `Failed to run blocking work.` if the work queue has no threads for blocking work.
#[tfrt_kernel(
    "tfrt_gpu.ccl.execute",
    results(out_chain),
    format = "operands attr-dict"
)]
fn ccl_execute(
    stream: &Stream,
    handle: &CclHandle,
    _in_chain: Chain,
    ctx: ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    let (stream, handle) = (stream.clone(), handle.clone());
    run_blocking(ctx, move || {
        let queued = std::mem::take(&mut *lock(&handle.0.queue));
        for one in &queued {
            check(one, handle.count())?;
        }
        let current = stream.enter(&handle.0.context)?;
        let gpu = handle.0.context.gpu();
        let operations: Vec<_> = queued.iter().map(|one| one.operation).collect();
        gpu.ccl
            .group(&current, handle.0.handle, &operations, stream.handle())?;
        let parts: Vec<Part> = queued.into_iter().flat_map(|one| one.parts).collect();
        gpu.driver
            .keep_until_passed(stream.handle(), Box::new(parts))?;
        Ok(Chain)
    })
}

/// Runs a part of a kernel on a thread of its own. Its error is reported at the kernel.
fn run_blocking<T: Value>(
    ctx: ExecutionContext,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<AsyncValueRef<T>> {
    let queue = std::sync::Arc::clone(ctx.queue());
    let value = run_blocking_value(&*queue, move || {
        work().map_err(|error| ctx.emit_error(error))
    });
    // That is so if there is no thread, or if the work was very quick, and its error reported.
    match value.error_if_present() {
        Some(error) if !is_located(error) => Err(error.clone()),
        _ => Ok(value),
    }
}

/// Returns `true` if an error was reported at a kernel.
fn is_located(error: &Error) -> bool {
    !matches!(error.place(), tfrt::support::Place::Unknown)
}

/// Checks sizes that the reference checks when the group runs.
fn check(queued: &Queued, num_ranks: usize) -> Result<()> {
    let Collective::ReduceScatter { .. } = queued.operation else {
        return Ok(());
    };
    match &queued.parts[..] {
        [input, output] if Some(input.num_bytes) == output.num_bytes.checked_mul(num_ranks) => {
            Ok(())
        }
        _ => Err(Error::new("Input size must be output size times ranks.")
            .with_code(ErrorCode::InvalidArgument)),
    }
}
