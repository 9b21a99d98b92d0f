//! Ops that call functions of the program by name.
//!
//! A function takes and returns tensor handles. If it orders its effects, its first argument and
//! first result are chains. If the calling function is itself an op, such a call is replaced with
//! the body of the called function.

use tfrt::core::{OpCall, TensorHandle};
use tfrt::host::device::DeviceRef;
use tfrt::prelude::*;

use super::invalid;

/// Calls the function that the function attribute `f` names. If the function takes a chain, it gets
/// a ready one. The chain that it returns does not order anything, but if it is an error, so is
/// each result.
///
/// # Errors
/// If there is no such function, or it takes or returns anything except tensor handles and a
/// leading chain. Errors of the function are those of its results.
#[tfrt_op("tf.PartitionedCall", raw, accepts(scalar, string, sparse))]
fn partitioned_call(call: &mut OpCall<'_>) -> Result<()> {
    call_function(call, Seen::Results).map(drop)
}

/// Calls the function that the function attribute `f` names, after a chain. The chain that the
/// function returns is that of the call.
///
/// # Errors
/// Those of `tf.PartitionedCall`.
#[tfrt_op(
    "tf.StatefulPartitionedCall",
    raw,
    side_effecting,
    accepts(scalar, string, sparse)
)]
fn stateful_partitioned_call(call: &mut OpCall<'_>) -> Result<()> {
    if let Some(chain) = call_function(call, Seen::ResultsAndChain)? {
        call.set_chain(chain);
    }
    Ok(())
}

/// The results of a function that its caller sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Results,
    ResultsAndChain,
}

/// Calls the function on the tensors, sets the results, and returns the chain that it returns, if
/// it returns one.
fn call_function(call: &mut OpCall<'_>, seen: Seen) -> Result<Option<AnyRef>> {
    let function = call.attrs().called_function("f")?;
    let has_chain = check_signature(&function)?;
    let num_others = usize::from(has_chain);
    let found = (call.arguments().len(), call.num_results());
    let expected = (
        function.num_arguments() - num_others,
        function.num_results() - num_others,
    );
    if found != expected {
        return Err(invalid(format!(
            "function `{}` has {} arguments and {} results, but the call has {} and {}",
            function.name(),
            expected.0,
            expected.1,
            found.0,
            found.1,
        )));
    }
    let device = call.device();
    let handles = call
        .arguments()
        .iter()
        .map(|tensor| AnyRef::available(TensorHandle::of_value(device.clone(), tensor.clone())));
    let chain = has_chain.then(AnyRef::ready_chain);
    let arguments: Vec<AnyRef> = chain.into_iter().chain(handles).collect();
    let mut results = function.execute(call.ctx(), &arguments).into_iter();
    drop(arguments);
    let chain = if has_chain { results.next() } else { None };
    let (ctx, device) = (call.ctx().clone(), call.device().clone());
    for (index, result) in results.enumerate() {
        let tensor = tensor_on(&device, &ctx, &result);
        let tensor = match &chain {
            Some(chain) if seen == Seen::Results => unless_failed(chain, tensor),
            _ => tensor,
        };
        call.set_result(index, tensor);
    }
    Ok(chain)
}

/// Returns whether the function takes and returns a chain in addition to handles.
fn check_signature(function: &FunctionRef) -> Result<bool> {
    const HANDLE: &str = TensorHandle::MLIR_TYPE;
    const CHAIN: &str = Chain::MLIR_TYPE;
    let (arguments, results) = (function.argument_types(), function.result_types());
    let takes_chain = arguments.first() == Some(&CHAIN);
    if takes_chain != (results.first() == Some(&CHAIN)) {
        return Err(invalid(format!(
            "function `{}` is called as an op: expected it to take and return a chain, or neither",
            function.name()
        )));
    }
    let skipped = usize::from(takes_chain);
    let mut others = arguments[skipped..].iter().chain(&results[skipped..]);
    match others.find(|ty| **ty != HANDLE) {
        None => Ok(takes_chain),
        Some(ty) => Err(invalid(format!(
            "function `{}` is called as an op: expected tensor handles as arguments and results, \
             found `{ty}`",
            function.name()
        ))),
    }
}

/// Returns the tensor, or the error that a chain is or becomes.
fn unless_failed(chain: &AnyRef, tensor: AnyRef) -> AnyRef {
    if chain.is_error() {
        return chain.clone();
    }
    if chain.is_available() {
        return tensor;
    }
    let (promise, settled) = AnyRef::indirect();
    chain.and_then(move |chain| {
        promise.forward_to(if chain.is_error() {
            chain.clone()
        } else {
            tensor
        });
    });
    settled
}

/// Returns the tensor of the handle that a value holds, or will hold, on a device.
fn tensor_on(device: &DeviceRef, ctx: &ExecutionContext, value: &AnyRef) -> AnyRef {
    let mut there = TensorHandle::from_value(value).transfer_to_inferred(ctx, device);
    there.release_tensor().unwrap_or_else(|| {
        AnyRef::error(Error::new("a function returned an invalid tensor handle"))
    })
}
