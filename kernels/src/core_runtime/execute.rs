//! Running ops.

use tfrt::core::{CoreRuntimeOp, OpAttrs, OpHandlerRef, OpInvocation, TensorHandle};
use tfrt::kernel::KernelSet;
use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::Breach;
use tfrt::ods::{AttrPath, Fold};
use tfrt::prelude::*;

use super::{read_handle, take_handle, value_of};

/// Runs an op of a handler, by name. Each result becomes available when its tensor is.
///
/// # Errors
/// If neither the handler nor its fallbacks know the op; the errors of the op.
#[tfrt_kernel(
    "corert.executeop",
    raw,
    pure,
    operands(op_handler: OpHandlerRef, arguments: variadic TensorHandle),
    attrs(op_attrs: AggregateView<'static>, op_func_attrs: AggregateView<'static>, op_name: str),
    results(results: variadic TensorHandle),
    format = "`(` $op_handler `)` $op_name `(` $arguments `)` pairs($op_attrs) \
              pairs($op_func_attrs) (`:` result-count($results))?",
    verify = verify_execute,
    fold = fold_const
)]
fn execute_op(frame: &mut KernelFrame<'_>) -> Result<()> {
    let op = make_op(frame)?;
    let attrs = attrs(frame)?;
    run(frame, &op, &attrs, 1, None)
}

/// Runs an op of a handler, by name, after a chain. The chain that it returns is ready when the op
/// is done.
///
/// # Errors
/// If neither the handler nor its fallbacks know the op; the errors of the op.
#[tfrt_kernel(
    "corert.executeop.seq",
    raw,
    effect = "io",
    chain = none,
    named_results,
    operands(op_handler: OpHandlerRef, in_op_chain: Chain, arguments: variadic TensorHandle),
    attrs(op_attrs: AggregateView<'static>, op_func_attrs: AggregateView<'static>, op_name: str),
    results(out_op_chain: Chain, results: variadic TensorHandle),
    format = "`(` operands($op_handler, $in_op_chain) `)` $op_name `(` $arguments `)` \
              pairs($op_attrs) pairs($op_func_attrs) (`:` result-count($results))?",
    verify = verify_execute
)]
fn execute_op_seq(frame: &mut KernelFrame<'_>) -> Result<()> {
    let op = make_op(frame)?;
    let attrs = attrs(frame)?;
    let chain = frame.argument(1).clone();
    run(frame, &op, &attrs, 2, Some(chain))
}

/// Runs an op that was created before.
///
/// # Errors
/// The errors of the op.
#[tfrt_kernel(
    "corert.execute_crt_op",
    raw,
    operands(op: CoreRuntimeOp, arguments: variadic TensorHandle),
    attrs(op_attrs: AggregateView<'static>, op_func_attrs: AggregateView<'static>),
    results(results: variadic TensorHandle),
    verify = verify_execute
)]
fn execute_crt_op(frame: &mut KernelFrame<'_>) -> Result<()> {
    let op = frame.value::<CoreRuntimeOp>(0)?.clone();
    let attrs = attrs(frame)?;
    run(frame, &op, &attrs, 1, None)
}

/// Runs an op of a handler, by name. The results may not be available yet.
///
/// # Errors
/// If neither the handler nor its fallbacks know the op.
#[tfrt_kernel(
    "corert_sync.executeop",
    raw,
    sync,
    effect = "io",
    operands(op_handler: OpHandlerRef, arguments: variadic TensorHandle),
    attrs(op_attrs: AggregateView<'static>, op_name: str),
    results(results: variadic TensorHandle),
    format = "`(` $op_handler `)` $op_name `(` $arguments `)` pairs($op_attrs) (`:` \
              result-count($results))?",
    verify = verify_execute
)]
fn execute_op_sync(frame: &mut KernelFrame<'_>) -> Result<()> {
    let op = frame
        .value::<OpHandlerRef>(0)?
        .make_op(frame.attribute::<str>(1)?)?;
    let attrs = OpAttrs::of_pairs(
        frame.function_table(),
        frame.attribute::<AggregateView<'static>>(0)?,
        None,
    )?;
    let mut arguments = frame.arguments()[1..]
        .iter()
        .map(read_handle)
        .collect::<Result<Vec<_>>>()?;
    let mut results = vec![TensorHandle::INVALID; frame.num_results()];
    op.run(&mut OpInvocation {
        ctx: frame.exec_ctx(),
        arguments: &mut arguments,
        attrs: &attrs,
        results: &mut results,
        chain: None,
    });
    for (index, handle) in results.into_iter().enumerate() {
        frame.set_result(index, AnyRef::available(handle));
    }
    Ok(())
}

/// Creates an op from a function that takes and returns a chain and handles.
///
/// # Errors
/// `The function should only takes type [!corert.tensorhandle] as input. But the I-th argument is type [T].`,
/// `The function should only returns type [!corert.tensorhandle]. But the I-th results is type [T].`
#[tfrt_kernel("corert.make_composite_op", results(op), attribute_names = free)]
fn make_composite_op(#[function] callee: FunctionRef) -> Result<CoreRuntimeOp> {
    CoreRuntimeOp::composite(callee)
}

/// Returns the op that the handler makes: the first operand, and the last attribute.
fn make_op(frame: &KernelFrame<'_>) -> Result<CoreRuntimeOp> {
    frame
        .value::<OpHandlerRef>(0)?
        .make_op(frame.attribute::<str>(2)?)
}

/// Returns the attributes of the op that is run, which are the first two of the kernel.
fn attrs(frame: &KernelFrame<'_>) -> Result<OpAttrs> {
    OpAttrs::of_pairs(
        frame.function_table(),
        frame.attribute::<AggregateView<'static>>(0)?,
        Some(frame.attribute::<AggregateView<'static>>(1)?),
    )
}

/// Runs an op on the handles after the first operands. With a chain, its first result is one.
fn run(
    frame: &mut KernelFrame<'_>,
    op: &CoreRuntimeOp,
    attrs: &OpAttrs,
    num_other_operands: usize,
    mut chain: Option<AnyRef>,
) -> Result<()> {
    /// Most ops have no more operands or results.
    const NUM_IN_PLACE: usize = 4;
    type Handles = smallvec::SmallVec<[TensorHandle; NUM_IN_PLACE]>;
    let has_chain = chain.is_some();
    let mut arguments = frame.arguments()[num_other_operands..]
        .iter()
        .map(take_handle)
        .collect::<Result<Handles>>()?;
    let mut results = Handles::new();
    results.resize_with(frame.num_results() - usize::from(has_chain), || {
        TensorHandle::INVALID
    });
    op.run(&mut OpInvocation {
        ctx: frame.exec_ctx(),
        arguments: &mut arguments,
        attrs,
        results: &mut results,
        chain: chain.as_mut(),
    });
    if let Some(chain) = chain {
        frame.set_result(0, chain);
    }
    for (index, handle) in results.into_iter().enumerate() {
        frame.set_result(index + usize::from(has_chain), value_of(handle));
    }
    Ok(())
}

/// The attributes of the op that is run are pairs of a name and a value.
fn verify_execute(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    for name in ["op_attrs", "op_func_attrs"] {
        let Some(AttrInstance::Array(pairs)) = op.attribute(name) else {
            continue;
        };
        let is_pair = |pair: &AttrInstance<'_>| matches!(pair, AttrInstance::Array(pair) if matches!(pair[..], [AttrInstance::String(_), _]));
        if !pairs.iter().all(is_pair) {
            breaches.push(Breach::op(
                "each op_attr should be a key-value pair, where the key is a string",
            ));
        }
    }
}

/// Whatever the handler, `tf.Const` returns its attribute `value`. A handler that is not known yet
/// is nothing to wait for: looking it up has no effect, and chains order ops with effects.
fn fold_const(op: &dyn OpInstance) -> Option<Fold> {
    if op.attribute("op_name") != Some(AttrInstance::String("tf.Const".into())) {
        return None;
    }
    let Some(AttrInstance::Array(pairs)) = op.attribute("op_attrs") else {
        return None;
    };
    // Texts have no form as a dense tensor of the program: their type is one of a dialect.
    let is_value = |pair: &AttrInstance<'_>| {
        matches!(pair, AttrInstance::Array(pair) if matches!(&pair[..],
            [AttrInstance::String(name), AttrInstance::Dense(ty)] if name == "value" && !ty.contains('!')))
    };
    let position = pairs.iter().position(is_value)?;
    Some(Fold {
        constant: super::constants::ConstDenseTensor::KERNELS[0].op(),
        value: AttrPath {
            attribute: "op_attrs",
            indices: vec![position, 1],
        },
        is_ordered: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, verdict};

    #[test]
    fn attributes_of_an_op_are_pairs() {
        let check = |pair: AttrInstance<'static>, expected: &str| {
            let op = SampleOp {
                attributes: vec![("op_attrs", AttrInstance::Array(vec![pair]))],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify_execute, &op), expected);
        };
        let text = || AttrInstance::String("key".into());
        check(
            AttrInstance::Array(vec![text(), AttrInstance::Bool(true)]),
            "",
        );
        let message = "each op_attr should be a key-value pair, where the key is a string";
        check(text(), message);
        check(
            AttrInstance::Array(vec![AttrInstance::Bool(true), text()]),
            message,
        );
    }
}
