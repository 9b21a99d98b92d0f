//! Collectives on tensors in host memory.

use tfrt::distributed::collective::{self, Collective, Reduction};
use tfrt::distributed::{DistContext, TaskHandle};
use tfrt::prelude::*;
use tfrt_tensor::TensorError;
use tfrt_tensor::half::{bf16, f16};

/// The error for a tensor whose elements do not match the name of the kernel.
fn check<T: Element>(tensor: &DenseHostTensor) -> Result<()> {
    if tensor.dtype() == T::DTYPE {
        return Ok(());
    }
    Err(TensorError::WrongDType {
        expected: T::DTYPE,
        found: tensor.dtype(),
    }
    .into())
}

/// The callback of a collective.
type Done = Box<dyn FnOnce(Result<()>) + Send>;

/// Starts a collective with a parameter that was checked. If it was refused, tells the other
/// members, which would wait. The chain is ready once the collective has ended.
fn run<P>(
    (context, group, key): (&DistContext, &str, &str),
    checked: Result<P>,
    start: impl FnOnce(Collective, P, Done),
) -> AsyncValueRef<Chain> {
    let collective = collective_of(context, group, key);
    match checked {
        Ok(parameter) => {
            let (promise, chain) = AsyncValueRef::unconstructed();
            let done = Box::new(|outcome| match outcome {
                Ok(()) => promise.emplace(Chain),
                Err(error) => promise.set_error(error),
            });
            start(collective, parameter, done);
            chain
        }
        Err(error) => {
            let abandoned = collective::abandon(&collective, &error);
            AsyncValueRef::error(abandoned.err().unwrap_or(error))
        }
    }
}

/// Starts a collective that has a result. The chain is ready together with it.
fn with_result<T: Value>(
    start: impl FnOnce(Box<dyn FnOnce(Result<T>) + Send>),
) -> (AsyncValueRef<Chain>, AsyncValueRef<T>) {
    let (chain_promise, chain) = AsyncValueRef::unconstructed();
    let (promise, value) = AsyncValueRef::unconstructed();
    start(Box::new(|outcome| match outcome {
        Ok(result) => {
            promise.emplace(result);
            chain_promise.emplace(Chain);
        }
        Err(error) => {
            promise.set_error(error.clone());
            chain_promise.set_error(error);
        }
    }));
    (chain, value)
}

fn collective_of(context: &DistContext, group: &str, key: &str) -> Collective {
    Collective {
        context: context.context().clone(),
        group: group.to_owned(),
        key: key.to_owned(),
    }
}

/// Combines the tensors of all members of a group, element by element, by `sum`, `prod`, `min`,
/// `max` or `mean`. All members get the same bits, in both `output` and `input`, or only in
/// `output` if the host says so (`AllReduceKeepsInput`).
///
/// # Errors
/// `unexpected reduction_name in AllReduce`,
/// `The current task T is not part of the collective group G`, tensors that differ, and failures
/// between tasks.
#[tfrt_kernel(
    "tfrt_dist.cpu.allreduce.{T}",
    T = [i8, i16, i32, i64, u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", f16, bf16, f32, f64],
    results(out_chain),
    format = "operands attr-dict"
)]
fn all_reduce<T: Element>(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    in_chain: Chain,
    #[attr] reduction_fn: &str,
) -> AsyncValueRef<Chain> {
    let _ = in_chain;
    let names = (dist_context, collective_group, instance_key);
    let reduction = check::<T>(input).and_then(|()| Reduction::from_name(reduction_fn));
    let (input, output) = (input.clone(), output.clone());
    run(names, reduction, |collective, reduction, done| {
        collective::all_reduce(collective, reduction, input, output, done);
    })
}

/// Combines the tensors of all members of a group and writes a chunk of the result into `output`:
/// the elements are divided into as many chunks as there are members. If the division has a
/// remainder, the first chunks have one more element.
///
/// # Errors
/// Those of an all-reduce, and an output whose size differs from that of the member's chunk.
#[tfrt_kernel(
    "tfrt_dist.cpu.reduce_scatter.{T}",
    T = [i8, i16, i32, i64, u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", f16, bf16, f32, f64],
    results(out_chain),
    format = "operands attr-dict"
)]
fn reduce_scatter<T: Element>(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    in_chain: Chain,
    #[attr] reduction_fn: &str,
) -> AsyncValueRef<Chain> {
    let _ = in_chain;
    let names = (dist_context, collective_group, instance_key);
    let reduction = check::<T>(input).and_then(|()| Reduction::from_name(reduction_fn));
    let (input, output) = (input.clone(), output.clone());
    run(names, reduction, |collective, reduction, done| {
        collective::reduce_scatter(collective, reduction, input, output, done);
    })
}

/// Copies the tensor of one member of a group into the tensors of the others.
///
/// # Errors
/// `The current task T is not part of the collective group G`,
/// `The sender S is not part of the collective group G`, tensors that differ, and failures between
/// tasks.
#[tfrt_kernel(
    "tfrt_dist.cpu.broadcast.{T}",
    T = [i8, i16, i32, i64, u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", f16, bf16, f32, f64],
    results(out_chain),
    format = "operands attr-dict"
)]
fn broadcast<T: Element>(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    tensor: &DenseHostTensor,
    sender: TaskHandle,
    in_chain: Chain,
) -> AsyncValueRef<Chain> {
    let _ = in_chain;
    let names = (dist_context, collective_group, instance_key);
    let own = tensor.clone();
    run(names, check::<T>(tensor), |collective, (), done| {
        collective::broadcast(collective, own, sender, done);
    })
}

/// Concatenates the tensors of all members of a group, which have the same shape, along an axis.
///
/// # Errors
/// `Incorrect output dimension. All dimensions in the output must be equal except the axis.`,
/// `This worker is not part of the collective group `, tensors that differ, and failures between
/// tasks.
#[tfrt_kernel(
    "tfrt_dist.cpu.allgather_fixed_shape.{T}",
    T = [i8, i16, i32, i64, u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", f16, bf16, f32, f64],
    results(out_chain),
    format = "operands attr-dict"
)]
fn all_gather_fixed_shape<T: Element>(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    axis: u64,
    in_chain: Chain,
) -> AsyncValueRef<Chain> {
    let _ = in_chain;
    let names = (dist_context, collective_group, instance_key);
    let checked = check::<T>(input);
    let (input, output) = (input.clone(), output.clone());
    run(names, checked, |collective, (), done| {
        collective::all_gather_fixed_shape(collective, input, output, axis, done);
    })
}

/// Concatenates the tensors of all members of a group along an axis, in which their shapes may
/// differ.
///
/// # Errors
/// `All workers must have tensors of the same rank.`,
/// `All dimensions in the input must be equal except the axis`,
/// `This worker is not part of the collective group `, and failures between tasks.
#[tfrt_kernel(
    "tfrt_dist.cpu.allgather_any_shape.{T}",
    T = [i8, i16, i32, i64, u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", f16, bf16, f32, f64],
    results(out_chain, output),
    format = "operands attr-dict"
)]
fn all_gather_any_shape<T: Element>(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    input: &DenseHostTensor,
    axis: u64,
    in_chain: Chain,
) -> (AsyncValueRef<Chain>, AsyncValueRef<DenseHostTensor>) {
    let _ = in_chain;
    let collective = collective_of(dist_context, collective_group, instance_key);
    if let Err(error) = check::<T>(input) {
        let abandoned = collective::abandon_all_gather_any_shape(&collective, &error);
        let error = abandoned.err().unwrap_or(error);
        return (
            AsyncValueRef::error(error.clone()),
            AsyncValueRef::error(error),
        );
    }
    let input = input.clone();
    with_result(|done| collective::all_gather_any_shape(collective, input, axis, done))
}

/// Sends a chunk of the tensor of each member to every member of a group: chunk j of `input` goes
/// to member j, and `output` gets the chunks for this member, in the order of the members. The
/// elements are divided into as many chunks as there are members. If the division has a remainder,
/// the first chunks have one more element.
///
/// # Errors
/// `The current task T is not part of the collective group G`, tensors that differ, an output whose
/// size differs from that of the chunks, and failures between tasks.
#[tfrt_kernel(
    "tfrt_dist.cpu.alltoall.{T}",
    T = [i8, i16, i32, i64, u8 as "ui8", u16 as "ui16", u32 as "ui32", u64 as "ui64", f16, bf16, f32, f64],
    results(out_chain),
    format = "operands attr-dict"
)]
fn all_to_all<T: Element>(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    input: &DenseHostTensor,
    output: &DenseHostTensor,
    in_chain: Chain,
) -> AsyncValueRef<Chain> {
    let _ = in_chain;
    let names = (dist_context, collective_group, instance_key);
    let checked = check::<T>(input);
    let (input, output) = (input.clone(), output.clone());
    run(names, checked, |collective, (), done| {
        collective::all_to_all(collective, input, output, done);
    })
}

/// Waits until all members of a group have called this.
///
/// # Errors
/// `The current task T is not part of the collective group G`, and failures between tasks.
#[tfrt_kernel("tfrt_dist.barrier", results(out_chain), format = "operands attr-dict")]
fn barrier(
    dist_context: &DistContext,
    collective_group: &str,
    instance_key: &str,
    in_chain: Chain,
) -> AsyncValueRef<Chain> {
    let _ = in_chain;
    let names = (dist_context, collective_group, instance_key);
    run(names, Ok(()), |collective, (), done| {
        collective::barrier(collective, done);
    })
}

/// Waits until all members of a group that are not lost have called this. Returns the name of the
/// group of these survivors, whose collectives work. Without a lost member, that is the group
/// itself.
///
/// # Errors
/// `The current task T is not part of the collective group G`, a task that is lost to the others,
/// and failures between tasks.
#[tfrt_kernel(
    "tfrt_dist.regroup",
    results(out_chain, group),
    format = "operands attr-dict"
)]
fn regroup(
    dist_context: &DistContext,
    collective_group: &str,
    in_chain: Chain,
) -> (AsyncValueRef<Chain>, AsyncValueRef<ByteString>) {
    let _ = in_chain;
    with_result(|done| {
        let named = |met: Result<String>| done(met.map(ByteString::from));
        collective::regroup(dist_context.context(), collective_group, named);
    })
}
