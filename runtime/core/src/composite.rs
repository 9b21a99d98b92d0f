//! Functions as ops.
//!
//! A *composite* op is a function of a chain and tensor handles to a chain and tensor handles. A
//! *native composite* op is a function of a chain and tensors: the tensors of the handles, without
//! the handles.

use std::fmt;

use tfrt_async::{AnyRef, Value};
use tfrt_host::FunctionRef;
use tfrt_support::{Error, ErrorCode};

use crate::core_op::{CoreRuntimeOp, OpInvocation, RunOp};
use crate::handle::{TensorHandle, metadata_of};
use crate::runtime::CoreRuntime;

impl CoreRuntimeOp {
    /// Returns the op that a function is, from a chain and tensor handles to a chain and tensor
    /// handles.
    ///
    /// # Errors
    /// If an argument or a result beside the chain is not a tensor handle.
    pub fn composite(function: FunctionRef) -> Result<Self, Error> {
        check_signature(&function)?;
        Ok(Self::new(Composite { function }))
    }

    /// Makes an op of a function from a chain and tensors to a chain and tensors. Unless the chain
    /// is available when the function returns, a call waits for all results.
    #[must_use]
    pub fn native_composite(function: FunctionRef) -> Self {
        Self::new(NativeComposite { function })
    }
}

fn check_signature(function: &FunctionRef) -> Result<(), Error> {
    const HANDLE: &str = TensorHandle::MLIR_TYPE;
    const CHAIN: &str = "!tfrt.chain";
    let (arguments, results) = (function.argument_types(), function.result_types());
    if arguments.first() != Some(&CHAIN) || results.first() != Some(&CHAIN) {
        return Err(Error::new(
            "The function should take and return a chain first.",
        ));
    }
    let other = |types: &[&str]| {
        let mut types = types[1..].iter().enumerate();
        types
            .find(|(_, ty)| **ty != HANDLE)
            .map(|(index, ty)| (index, (*ty).to_owned()))
    };
    if let Some((index, ty)) = other(&arguments) {
        return Err(Error::new(format!(
            "The function should only takes type [{HANDLE}] as input. But the {index}-th argument is type [{ty}]."
        )));
    }
    if let Some((index, ty)) = other(&results) {
        return Err(Error::new(format!(
            "The function should only returns type [{HANDLE}]. But the {index}-th results is type [{ty}]."
        )));
    }
    Ok(())
}

/// Returns an error unless the numbers of arguments and results, without the chain, match the
/// function.
fn check_counts(function: &FunctionRef, invocation: &OpInvocation<'_>) -> Result<(), Error> {
    let found = (invocation.arguments.len() + 1, invocation.results.len() + 1);
    let expected = (function.num_arguments(), function.num_results());
    if found == expected {
        return Ok(());
    }
    let counted = |count: usize, what: &str| {
        // The chain does not count.
        let count = count.saturating_sub(1);
        let s = if count == 1 { "" } else { "s" };
        format!("{count} {what}{s}")
    };
    let both = |(arguments, results)| {
        let results = counted(results, "result");
        format!("{} and {results}", counted(arguments, "argument"))
    };
    let message = format!(
        "function '{}' has {}, but the call has {}",
        function.name(),
        both(expected),
        both(found),
    );
    Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
}

/// A function of handles.
struct Composite {
    function: FunctionRef,
}

impl fmt::Debug for Composite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Composite({:?})", self.function)
    }
}

impl RunOp for Composite {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        let ctx = invocation.ctx;
        if let Err(error) = check_counts(&self.function, invocation) {
            return invocation.fail(&ctx.emit_error(error));
        }
        let chain = invocation.chain.as_deref().cloned();
        let mut arguments = Vec::with_capacity(invocation.arguments.len() + 1);
        arguments.push(chain.unwrap_or_else(AnyRef::ready_chain));
        // The values have the only references to the handles, so ops of the function may reuse
        // their memory.
        for argument in &mut *invocation.arguments {
            let handle = std::mem::take(argument);
            arguments.push(AnyRef::available(handle));
        }
        let mut results = self.function.execute(ctx, &arguments).into_iter();
        drop(arguments);
        if let (Some(chain), Some(slot)) = (results.next(), &mut invocation.chain) {
            **slot = chain;
        }
        for (slot, result) in invocation.results.iter_mut().zip(results) {
            *slot = TensorHandle::from_value(&result);
        }
    }
}

/// A function of tensors.
struct NativeComposite {
    function: FunctionRef,
}

impl fmt::Debug for NativeComposite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NativeComposite({:?})", self.function)
    }
}

impl RunOp for NativeComposite {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        let ctx = invocation.ctx;
        if let Err(error) = check_counts(&self.function, invocation) {
            return invocation.fail(&ctx.emit_error(error));
        }
        let chain = invocation.chain.as_deref().cloned();
        let mut arguments = vec![chain.unwrap_or_else(AnyRef::ready_chain)];
        let invalid = || AnyRef::error(Error::new("an argument is not a valid tensor handle"));
        let tensors = invocation.arguments.iter_mut();
        arguments.extend(tensors.map(|handle| handle.release_tensor().unwrap_or_else(invalid)));
        let results = self.function.execute(ctx, &arguments);
        drop(arguments);
        if results.first().is_some_and(|chain| !chain.is_available())
            && let Err(error) = ctx.host().await_helping(&results)
        {
            return invocation.fail(&ctx.emit_error(Error::new(error.to_string())));
        }
        let device = CoreRuntime::of(ctx.host()).host_device().clone();
        let mut results = results.into_iter();
        if let (Some(chain), Some(slot)) = (results.next(), &mut invocation.chain) {
            **slot = chain;
        }
        for (slot, tensor) in invocation.results.iter_mut().zip(results) {
            let metadata = metadata_of(&tensor);
            *slot = TensorHandle::new(device.clone(), metadata, tensor);
        }
    }
}
