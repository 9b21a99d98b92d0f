//! Functions on other tasks, and the order of their effects.

use tfrt::attr::{AttrRef, AttrTypeCode};
use tfrt::core::{OpHandlerRef, TensorHandle};
use tfrt::distributed::{
    DistContext, RemoteChains, RemoteError, RemoteErrors, RemoteExecuteSpec, RemoteObjectId,
    RemoteOpHandler, RemoteTensor, TaskHandle,
};
use tfrt::distributed::{Outputs, RemoteExecution, RemoteResults, register_function};
use tfrt::host::device::DeviceRef;
use tfrt::host::log;
use tfrt::prelude::*;

use crate::op_verifiers::{verify_preallocated, verify_remote_execute, verify_spec};
use crate::{failed, failed_plainly};

/// Lists the devices of the results of a remote function.
///
/// # Errors
/// `Can't find device: D`
#[tfrt_kernel(
    "tfrt_dist.create_remote_execute_spec",
    chain = none,
    results(spec),
    format = "operands attr-dict",
    verify = verify_spec
)]
fn create_remote_execute_spec(
    dist_context: &DistContext,
    #[attr] output_devices: AggregateView<'_>,
) -> Result<AsyncValueRef<RemoteExecuteSpec>> {
    let devices: Vec<String> = output_devices.iter().map(text).collect::<Result<_>>()?;
    Ok(
        match RemoteExecuteSpec::new(dist_context.context(), devices) {
            Ok(spec) => AsyncValueRef::available(spec),
            Err(error) => {
                log::error!("{}", error.message);
                failed_plainly(error)
            }
        },
    )
}

fn text(value: AttrRef<'_>) -> Result<String> {
    Ok(match value.code() {
        AttrTypeCode::STRING => String::from_utf8_lossy(value.read::<&[u8]>()?).into_owned(),
        _ => value.read::<&str>()?.to_owned(),
    })
}

/// Sends a program, as text, to a task. Its entry function has the name of the program.
///
/// # Errors
/// The errors that the task finds in the program.
#[tfrt_kernel(
    "tfrt_dist.register_tfrt_function",
    results(out_op_chain),
    format = "`(` operands `)` $program_name $program attr-dict"
)]
fn register_tfrt_function(
    in_op_chain: Chain,
    dist_context: &DistContext,
    task_handle: TaskHandle,
    #[attr] program: &str,
    #[attr] program_name: &str,
    ctx: &ExecutionContext,
) -> AsyncValueRef<Chain> {
    let _ = in_op_chain;
    let (promise, chain) = AsyncValueRef::unconstructed();
    let context = dist_context.context();
    let host = context.host().clone();
    let program = (program_name, program, false);
    register_function(
        ctx,
        context,
        task_handle,
        program,
        move |answer| match answer {
            Ok(_) => promise.emplace(Chain),
            Err(errors) => promise.set_error(errors.to_value(&host)),
        },
    );
    chain
}

/// Sends a program, as text, to a task, which compiles it. Returns the devices of its results.
///
/// # Errors
/// The errors that the task finds in the program.
#[tfrt_kernel(
    "tfrt_dist.register_tf_function",
    results(spec),
    format = "`(` operands `)` $program_name $program attr-dict"
)]
fn register_tf_function(
    in_op_chain: Chain,
    dist_context: &DistContext,
    task_handle: TaskHandle,
    #[attr] program: &str,
    #[attr] program_name: &str,
    ctx: &ExecutionContext,
) -> AsyncValueRef<RemoteExecuteSpec> {
    let _ = in_op_chain;
    let (promise, spec) = AsyncValueRef::unconstructed();
    let (context, task) = (dist_context.context(), task_handle);
    let own_context = context.clone();
    let program = (program_name, program, true);
    register_function(ctx, context, task, program, move |answer| {
        let spec = answer.and_then(|response| {
            let spec = RemoteExecuteSpec::new(&own_context, response.output_device);
            spec.map_err(RemoteErrors::from)
        });
        match spec {
            Ok(spec) => promise.emplace(spec),
            Err(errors) => promise.set_error(errors.to_value(own_context.host())),
        }
    });
    spec
}

/// Executes a program of a task. Its arguments and results are objects there.
///
/// # Errors
/// `Mismatch output devices size in RemoteExecuteSpec: A expected: B`, and failures on the other
/// task.
#[tfrt_kernel(
    "tfrt_dist.remote_execute",
    raw,
    effect = "io",
    chain = none,
    named_results,
    operands(in_op_chain: Chain, dist_context: DistContext, remote_task: TaskHandle, remote_execute_spec: RemoteExecuteSpec,
             arguments: variadic any),
    attrs(program_name: str),
    results(out_op_chain: Chain, results: variadic any),
    format = "`[` operands($in_op_chain, $dist_context, $remote_task, $remote_execute_spec) `]` \
              $program_name `(` $arguments `)` attr-dict `:` functional-type($arguments, \
              $results)",
    verify = verify_remote_execute
)]
fn remote_execute(frame: &mut KernelFrame<'_>) -> Result<()> {
    let program_name = frame.attribute::<str>(0)?;
    execute(frame, program_name, 0, None)
}

/// Executes a program of a task, and returns handles of its last results, which are tensors.
///
/// # Errors
/// `Mismatch output devices size in RemoteExecuteSpec: A expected: B`, and failures on the other
/// task.
#[tfrt_kernel(
    "tfrt_dist.remote_execute_th",
    raw,
    effect = "io",
    chain = none,
    named_results,
    operands(in_op_chain: Chain, dist_context: DistContext, remote_task: TaskHandle, remote_execute_spec: RemoteExecuteSpec,
             arguments: variadic any),
    attrs(num_tensorhandle_output: i32, program_name: str),
    results(out_op_chain: Chain, results: variadic any),
    format = "`[` $in_op_chain `,` $dist_context `,` $remote_task `,` $remote_execute_spec `,` \
              $num_tensorhandle_output `]` $program_name `(` $arguments `)` attr-dict `:` \
              functional-type($arguments, $results)",
    verify = verify_remote_execute
)]
fn remote_execute_th(frame: &mut KernelFrame<'_>) -> Result<()> {
    let (num_handles, program_name) = (frame.attribute::<i32>(0)?, frame.attribute::<str>(1)?);
    execute(frame, program_name, num_handles, None)
}

/// Executes a program of a task whose results become objects with given ids, which are the operands
/// after the arguments.
///
/// # Errors
/// `Mismatch output devices size in RemoteExecuteSpec: A expected: B`, and failures on the other
/// task.
#[tfrt_kernel(
    "tfrt_dist.remote_execute_th_preallocated",
    raw,
    effect = "io",
    chain = none,
    named_results,
    operands(in_op_chain: Chain, dist_context: DistContext, remote_task: TaskHandle, remote_execute_spec: RemoteExecuteSpec,
             arguments: variadic any),
    attrs(num_input: i32, num_tensorhandle_output: i32, program_name: str),
    results(out_op_chain: Chain, results: variadic any),
    format = "`[` $in_op_chain `,` $dist_context `,` $remote_task `,` $remote_execute_spec `,` \
              $num_input `,` $num_tensorhandle_output `]` $program_name `(` $arguments `)` \
              attr-dict `:` functional-type($arguments, $results)",
    verify = verify_preallocated
)]
fn remote_execute_th_preallocated(frame: &mut KernelFrame<'_>) -> Result<()> {
    let num_input = frame.attribute::<i32>(0)?;
    let (num_handles, program_name) = (frame.attribute::<i32>(1)?, frame.attribute::<str>(2)?);
    execute(frame, program_name, num_handles, Some(num_input))
}

/// The operands in front of the ids.
const NUM_FIXED: usize = 4;

/// Starts an execution. With `num_input`, ids behind so many are those of the results.
fn execute(
    frame: &mut KernelFrame<'_>,
    program_name: &str,
    num_handles: i32,
    num_input: Option<i32>,
) -> Result<()> {
    let ctx = frame.exec_ctx();
    let dist_context = frame.value::<DistContext>(1)?;
    let (context, invocation) = (dist_context.context(), dist_context.invocation());
    let task = *frame.value::<TaskHandle>(2)?;
    let spec = frame.value::<RemoteExecuteSpec>(3)?;
    let mut inputs = (NUM_FIXED..frame.num_arguments())
        .map(|index| frame.value::<RemoteObjectId>(index).cloned())
        .collect::<Result<Vec<_>>>()?;
    let count = |number: i32| {
        usize::try_from(number).map_err(|_| {
            Error::new(format!("expected a count, found {number}"))
                .with_code(ErrorCode::InvalidArgument)
        })
    };
    let num_handles = count(num_handles)?;
    let preallocated = match num_input.map(count).transpose()? {
        Some(num_input) if inputs.len() > num_input => Some(inputs.split_off(num_input)),
        _ => None,
    };
    let num_devices = spec.devices().len();
    let num_outputs = frame.num_results() - 1;
    let (is_fitting, expected) = match &preallocated {
        Some(ids) => (
            num_outputs == num_handles && num_devices >= ids.len(),
            match num_outputs == num_handles {
                true => ids.len(),
                false => num_outputs,
            },
        ),
        None => (num_outputs == num_devices + num_handles, num_outputs),
    };
    let outputs = match preallocated {
        Some(ids) => Outputs::Preallocated(ids),
        None => Outputs::New(spec.clone()),
    };
    let started = if is_fitting {
        let execution = RemoteExecution {
            context: context.clone(),
            task,
            invocation,
            program_name: program_name.to_owned(),
            inputs,
            outputs: outputs.clone(),
            num_handles,
        };
        execution.start(ctx)
    } else {
        let message = format!(
            "Mismatch output devices size in RemoteExecuteSpec: {num_devices} expected: {expected}"
        );
        Err(RemoteError::new(ErrorCode::InvalidArgument, message))
    };
    let RemoteResults {
        chain,
        ids,
        handles,
    } = match started {
        Ok(results) => results,
        Err(error) => {
            let error = AnyRef::error(RemoteErrors::from(error).to_value(ctx.host()));
            frame.results().fill(Some(error));
            return Ok(());
        }
    };
    let ids = match outputs {
        Outputs::New(_) => ids,
        Outputs::Preallocated(_) => Vec::new(),
    };
    let ids = ids.into_iter().map(AnyRef::available);
    let handles = handles.into_iter().map(AnyRef::available);
    let values = std::iter::once(chain.into_any()).chain(ids).chain(handles);
    for (slot, value) in frame.results().iter_mut().zip(values) {
        *slot = Some(value);
    }
    Ok(())
}

/// Returns the id of the object that a handle's tensor is.
///
/// # Errors
/// `TensorHandle does not hold a RemoteTensor.`, and that of the tensor.
#[tfrt_kernel(
    "tfrt_dist.get_remote_object_id_from_th",
    chain = none,
    results(id),
    format = "operands attr-dict"
)]
fn get_remote_object_id_from_th(
    handle: AsyncValueRef<TensorHandle>,
) -> Result<AsyncValueRef<RemoteObjectId>> {
    let other = || {
        Error::new("TensorHandle does not hold a RemoteTensor.")
            .with_code(ErrorCode::InvalidArgument)
    };
    let tensor = {
        let handle = handle.try_read()?;
        handle.tensor().cloned().ok_or_else(other)?
    };
    let (promise, id) = AsyncValueRef::unconstructed();
    tensor.and_then(move |tensor| {
        match (tensor.error_if_present(), tensor.get::<RemoteTensor>()) {
            (Some(error), _) => promise.set_error(error.clone()),
            (None, Some(tensor)) => promise.emplace(tensor.id().clone()),
            (None, None) => promise.set_error(other()),
        }
    });
    Ok(id)
}

/// Creates an op handler that runs the ops of a device of the cluster on the task that has it.
///
/// # Errors
/// `Can't find device: D`
#[tfrt_kernel("tfrt_dist.create_remote_op_handler", results(op_handler))]
fn create_remote_op_handler(
    dist_context: &DistContext,
    chain_manager: &RemoteChains,
    device: &DeviceRef,
    host: &HostContext,
) -> AsyncValueRef<OpHandlerRef> {
    match RemoteOpHandler::new(dist_context, chain_manager.clone(), device) {
        Ok(handler) => AsyncValueRef::available(OpHandlerRef::new(handler)),
        Err(error) => failed(error, host),
    }
}

/// Returns an id that no object has.
#[tfrt_kernel(
    "tfrt_dist.get_dummy_remote_chain",
    chain = none,
    results(id),
    format = "attr-dict"
)]
fn get_dummy_remote_chain() -> RemoteObjectId {
    RemoteObjectId::none()
}

/// Returns the chain after all requests sent to a task so far.
///
/// # Errors
/// `No remote chain for task T.`
#[tfrt_kernel(
    "tfrt_dist.get_chain_for_task_handle",
    results(remote_chain),
    format = "operands attr-dict"
)]
fn get_chain_for_task_handle(
    in_op_chain: Chain,
    chain_manager: &RemoteChains,
    task_handle: TaskHandle,
    host: &HostContext,
) -> AsyncValueRef<RemoteObjectId> {
    let _ = in_op_chain;
    match chain_manager.get(task_handle) {
        Ok(chain) => AsyncValueRef::available(chain),
        Err(error) => failed(error, host),
    }
}

/// Sets the chain after all requests sent to a task so far.
#[tfrt_kernel(
    "tfrt_dist.set_chain_for_task_handle",
    results(out_op_chain),
    format = "operands attr-dict"
)]
fn set_chain_for_task_handle(
    in_op_chain: Chain,
    chain_manager: &RemoteChains,
    task_handle: TaskHandle,
    remote_chain: &RemoteObjectId,
) -> Chain {
    chain_manager.set(task_handle, remote_chain.clone());
    in_op_chain
}

tfrt::declare_op! {
    /// Executes a function of the program on another task. A pass replaces it with ops that send
    /// the function there.
    "tfrt_dist.remote_execute_func",
    named_results,
    operands(in_op_chain: Chain, dist_context: DistContext, remote_task: TaskHandle, arguments: variadic any),
    symbols(callee),
    results(out_op_chain: Chain, results: variadic any),
    format = "`[` operands($in_op_chain, $dist_context, $remote_task) `]` $callee `(` $arguments \
              `)` attr-dict `:` functional-type($arguments, $results)"
}
