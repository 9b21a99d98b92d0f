//! Conditions and loops whose conditions are tensors.

use std::borrow::Cow;

use tfrt::async_value::run_when_ready;
use tfrt::core::{CoreRuntime, TensorHandle};
use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::{Breach, callee};
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, StringHostTensor, TensorRef, TensorType};

use super::read_handle;
use crate::control_flow::{Carried, Pending};

/// The spellings of handles and chains in programs.
const HANDLE: &str = TensorHandle::MLIR_TYPE;
const CHAIN: &str = Chain::MLIR_TYPE;

/// Calls one of two functions, chosen by the truth value of a tensor, with the chain and the
/// arguments. A tensor is true if its only element is not zero.
///
/// # Errors
/// If the tensor cannot be converted to a dense one, or has no truth value:
/// `tensor predicate does not support type NAME`.
#[tfrt_kernel(
    "corert.cond",
    raw,
    named_results,
    operands(condition: TensorHandle, in_op_chain: Chain, arguments: variadic any),
    symbols(a_true_fn, b_false_fn),
    results(out_op_chain: Chain, fn_outputs: variadic any),
    format = "$condition $a_true_fn $b_false_fn `(` operands($in_op_chain, $arguments) `)` \
              attr-dict `:` signature($arguments, $fn_outputs)",
    verify = verify_cond
)]
fn cond(frame: &mut KernelFrame<'_>) -> Result<()> {
    let condition = read_handle(frame.argument(0))?;
    let (if_true, if_false) = (frame.function(0)?, frame.function(1)?);
    let arguments = frame.arguments()[1..].to_vec();
    let (results, values) = Pending::new(frame.num_results());
    for (index, value) in values.into_iter().enumerate() {
        frame.set_result(index, value);
    }
    let ctx = frame.exec_ctx().clone();
    when_known(&condition, frame.exec_ctx(), move |truth| match truth {
        Ok(truth) => {
            let chosen = if truth { if_true } else { if_false };
            results.forward_to(chosen.execute(&ctx, &arguments));
        }
        Err(error) => results.forward_all_to(&AnyRef::error(error)),
    });
    Ok(())
}

/// Calls a function as long as the condition function returns true. Both take the chain and the
/// arguments; the condition returns a chain and a tensor, and the body returns the chain and the
/// arguments of the next iteration. The results are the last carried values.
///
/// Each iteration is a task of the work queue. A condition that is an error ends the loop, as does
/// the cancellation of the request.
#[tfrt_kernel(
    "corert.while",
    raw,
    named_results,
    operands(in_op_chain: Chain, arguments: variadic any),
    symbols(a_cond_fn, b_body_fn),
    results(out_op_chain: Chain, fn_outputs: variadic any),
    format = "$a_cond_fn $b_body_fn `(` operands($in_op_chain, $arguments) `)` attr-dict \
              `:` signature($arguments, $fn_outputs)",
    verify = verify_while
)]
fn while_loop(frame: &mut KernelFrame<'_>) -> Result<()> {
    let (condition, body) = (frame.function(0)?, frame.function(1)?);
    let carried = Carried::new(frame.arguments());
    let (results, values) = Pending::new(frame.num_results());
    for (index, value) in values.into_iter().enumerate() {
        frame.set_result(index, value);
    }
    let ctx = frame.exec_ctx().clone();
    While {
        ctx,
        condition,
        body,
        carried,
        results,
    }
    .round();
    Ok(())
}

/// A loop under way.
struct While {
    ctx: ExecutionContext,
    condition: FunctionRef,
    body: FunctionRef,
    /// The chain and the arguments.
    carried: Carried,
    results: Pending,
}

impl While {
    /// Evaluates the condition of the next iteration.
    fn round(self) {
        if let Some(cancelled) = self.ctx.request().cancel_value() {
            let cancelled = cancelled.clone();
            return self.end_with(cancelled);
        }
        let asked = self.condition.execute(&self.ctx, &self.carried.values);
        let awaited = asked.clone();
        run_when_ready(&awaited, move || {
            if let Some(error) = asked.iter().find_map(AnyRef::error_if_present) {
                return self.fail(error.clone());
            }
            let handle = match asked.get(1).map(read_handle) {
                Some(Ok(handle)) => handle,
                Some(Err(error)) => return self.fail_anew(error),
                None => {
                    let error = Error::new("the condition of a loop did not return a tensor");
                    return self.fail_anew(error);
                }
            };
            drop(asked);
            let ctx = self.ctx.clone();
            when_known(&handle, &ctx, move |truth| match truth {
                Ok(true) => self.go_on(),
                Ok(false) => self.results.forward_to(self.carried.values),
                Err(error) => self.fail(error),
            });
        });
    }

    /// Runs the body, and evaluates the condition again in a separate task: iterations never nest.
    fn go_on(mut self) {
        self.carried.advance(&self.body, &self.ctx);
        let ctx = self.ctx.clone();
        ctx.enqueue(move || self.round());
    }

    fn fail_anew(self, error: Error) {
        let error = self.ctx.emit_error(error);
        self.fail(error);
    }

    /// Ends the loop with an error. The first result waits until the last iteration has finished.
    fn fail(self, error: Error) {
        self.end_with(AnyRef::error(error));
    }

    fn end_with(self, error: AnyRef) {
        let (first, others) = self.results.split_first();
        others.forward_all_to(&error);
        run_when_ready(&self.carried.values, move || first.forward_all_to(&error));
    }
}

/// Continues with the truth value of a tensor once it is available: it is converted to a dense one
/// in host memory.
fn when_known(
    handle: &TensorHandle,
    ctx: &ExecutionContext,
    f: impl FnOnce(Result<bool>) + Send + 'static,
) {
    let runtime = CoreRuntime::of(ctx.host());
    let dense = handle.transfer_to(ctx, runtime.host_device(), TensorType::DENSE_HOST);
    let Some(tensor) = dense.tensor().cloned() else {
        return f(Err(
            ctx.emit_error(Error::new("the tensor handle is invalid"))
        ));
    };
    let ctx = ctx.clone();
    let settle = move |tensor: &AnyRef| match tensor.error_if_present() {
        Some(error) => f(Err(error.clone())),
        None => f(truth(tensor).map_err(|error| ctx.emit_error(error))),
    };
    if tensor.is_available() {
        settle(&tensor);
    } else {
        tensor.and_then(settle);
    }
}

/// Returns the truth value of a tensor.
fn truth(tensor: &AnyRef) -> Result<bool> {
    if let Ok(strings) = tensor.try_read::<StringHostTensor>() {
        return Ok(strings
            .strings()
            .first()
            .is_some_and(|first| !first.is_empty()));
    }
    let Ok(dense) = tensor.try_read::<DenseHostTensor>() else {
        let kind = TensorRef::read(tensor).map(|tensor| tensor.tensor_type());
        let name = kind.map_or("unknown", TensorType::name);
        return Err(not_supported(name));
    };
    let dtype = dense.dtype();
    let is_integer = matches!(
        dtype,
        DType::I1
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::Ui8
            | DType::Ui16
            | DType::Ui32
            | DType::Ui64
    );
    if !is_integer {
        return Err(not_supported(&dtype.to_string()));
    }
    if dense.num_elements() != 1 {
        let message = format!(
            "expected a tensor predicate with one element, found {}",
            dense.num_elements()
        );
        return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
    }
    // Whatever the width: zero has no bit that is set.
    Ok(dense.buffer().read()?.iter().any(|&byte| byte != 0))
}

fn not_supported(name: &str) -> Error {
    Error::new(format!("tensor predicate does not support type {name}"))
}

/// Both functions take the chain and the arguments, and return the results.
fn verify_cond(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    let taken = operands.get(1..).unwrap_or_default();
    for attribute in ["a_true_fn", "b_false_fn"] {
        check_function(op, attribute, taken, &results, breaches);
    }
}

/// The condition returns a chain and a tensor, the body what it takes.
fn verify_while(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    let asked = [CHAIN.into(), HANDLE.into()];
    check_function(op, "a_cond_fn", &operands, &asked, breaches);
    check_function(op, "b_body_fn", &operands, &results, breaches);
}

fn check_function(
    op: &dyn OpInstance,
    attribute: &str,
    operands: &[Cow<'_, str>],
    results: &[Cow<'_, str>],
    breaches: &mut Vec<Breach>,
) {
    let Some(function) = callee::resolve(op, attribute, breaches) else {
        return;
    };
    let name = match op.attribute(attribute) {
        Some(AttrInstance::Symbol(name, _)) => name.into_owned(),
        _ => String::new(),
    };
    if function.arguments != operands {
        breaches.push(Breach::op(format!(
            "'{name}' has mismatching operand types"
        )));
    }
    if function.results != results {
        breaches.push(Breach::op(format!("'{name}' has mismatching result types")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, signature, symbol, verdict};

    #[test]
    fn functions_of_cond_take_the_chain_and_the_arguments() {
        let op = SampleOp {
            operands: &[HANDLE, CHAIN, HANDLE],
            results: &[CHAIN, HANDLE],
            attributes: vec![("a_true_fn", symbol("good")), ("b_false_fn", symbol("bad"))],
            functions: vec![
                ("good", signature(&[CHAIN, HANDLE], &[CHAIN, HANDLE])),
                ("bad", signature(&[CHAIN], &[CHAIN, HANDLE])),
            ],
            ..SampleOp::default()
        };
        assert_eq!(
            verdict(verify_cond, &op),
            "'bad' has mismatching operand types"
        );
    }

    #[test]
    fn a_tensor_is_true_if_its_only_element_is_not_zero() {
        let truth_of = |tensor: AnyRef| truth(&tensor).map_err(|error| error.message().to_owned());
        let dense = |tensor: Result<DenseHostTensor, _>| AnyRef::available(tensor.unwrap());
        assert_eq!(
            truth_of(dense(DenseHostTensor::vector(&[0_i64]))),
            Ok(false)
        );
        assert_eq!(
            truth_of(dense(DenseHostTensor::vector(&[1_i64 << 40]))),
            Ok(true)
        );
        assert_eq!(
            truth_of(dense(DenseHostTensor::vector(&[255_u8]))),
            Ok(true)
        );
        assert_eq!(
            truth_of(dense(DenseHostTensor::vector(&[1.0_f32]))),
            Err("tensor predicate does not support type f32".to_owned())
        );
        assert_eq!(
            truth_of(dense(DenseHostTensor::vector(&[1_i32, 1]))),
            Err("expected a tensor predicate with one element, found 2".to_owned())
        );
    }
}
