//! `corert.*` and `corert_sync.*`: ops that run other ops, by name, on tensor handles.

use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::{Breach, callee};
use tfrt::ods::{
    AttrDef, AttrKind, AttrPath, Effect, Fold, FunctionDef, FunctionForm, OpDef, OpTraits,
    OperandDef, ResultDef, TypeConstraint,
};

use super::{CHAIN, PLAIN, SIZES, attribute, operand, result};

const HANDLER: &str = "!corert.ophandler";
const TENSOR_HANDLE: &str = "!corert.tensorhandle";

const fn tensor_handles(name: &'static str) -> OperandDef {
    OperandDef::variadic(name, TypeConstraint::Exact(TENSOR_HANDLE))
}

const fn resulting_handles(name: &'static str) -> ResultDef {
    ResultDef::variadic(name, TypeConstraint::Exact(TENSOR_HANDLE))
}

/// `[["name", value], …]`
const fn pairs(name: &'static str) -> AttrDef {
    attribute(name, AttrKind::Aggregate)
}

tfrt::declare_op! {
    /// Runs an op of a handler, by name.
    static EXECUTE: OpDef = OpDef {
        operands: &[operand("op_handler", HANDLER), tensor_handles("arguments")],
        attributes: &[
            pairs("op_attrs"),
            pairs("op_func_attrs"),
            attribute("op_name", AttrKind::String),
        ],
        results: &[resulting_handles("results")],
        traits: OpTraits::PURE,
        assembly_format: Some(
            "`(` $op_handler `)` $op_name `(` $arguments `)` pairs($op_attrs) pairs($op_func_attrs) \
             (`:` result-count($results))?",
        ),
        verifier: Some(verify_execute),
        folder: Some(fold_const),
        ..OpDef::new("corert.executeop")
    };
}

tfrt::declare_op! {
    /// Runs an op of a handler, by name, after a chain.
    static EXECUTE_IN_ORDER: OpDef = OpDef {
        operands: &[
            operand("op_handler", HANDLER),
            operand("in_op_chain", CHAIN),
            tensor_handles("arguments"),
        ],
        attributes: &[
            pairs("op_attrs"),
            pairs("op_func_attrs"),
            attribute("op_name", AttrKind::String),
        ],
        results: &[result("out_op_chain", CHAIN), resulting_handles("results")],
        traits: OpTraits::NAMED_RESULTS,
        effect: Effect::IO,
        assembly_format: Some(
            "`(` operands($op_handler, $in_op_chain) `)` $op_name `(` $arguments `)` pairs($op_attrs) pairs($op_func_attrs) \
             (`:` result-count($results))?",
        ),
        verifier: Some(verify_execute),
        ..OpDef::new("corert.executeop.seq")
    };
}

tfrt::declare_op! {
    /// Runs an op of a handler, by name.
    static SYNC_EXECUTE: OpDef = OpDef {
        operands: &[operand("op_handler", HANDLER), tensor_handles("arguments")],
        attributes: &[pairs("op_attrs"), attribute("op_name", AttrKind::String)],
        results: &[resulting_handles("results")],
        traits: OpTraits::SYNC,
        effect: Effect::IO,
        assembly_format: Some(
            "`(` $op_handler `)` $op_name `(` $arguments `)` pairs($op_attrs) (`:` result-count($results))?",
        ),
        verifier: Some(verify_execute),
        ..OpDef::new("corert_sync.executeop")
    };
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

/// The op `tf.Const` gives its attribute `value`, whatever the handler.
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
        constant: &CONST_DENSE_TENSOR,
        value: AttrPath {
            attribute: "op_attrs",
            indices: vec![position, 1],
        },
    })
}

tfrt::declare_op! {
    /// Gives the handler of this name.
    static GET_HANDLER: OpDef = OpDef {
        operands: &[operand("in_chain", CHAIN)],
        attributes: &[attribute("op_handler_name", AttrKind::String)],
        results: &[result("op_handler", HANDLER)],
        traits: OpTraits::PURE,
        assembly_format: Some("$in_chain $op_handler_name attr-dict"),
        ..OpDef::new("corert.get_op_handler")
    };
}

tfrt::declare_op! {
    static SYNC_GET_HANDLER: OpDef = OpDef {
        operands: &[],
        traits: OpTraits::SYNC,
        assembly_format: Some("$op_handler_name attr-dict"),
        name: "corert_sync.get_op_handler",
        ..GET_HANDLER
    };
}

tfrt::declare_op! {
    /// Gives a handler a name.
    static REGISTER_HANDLER: OpDef = OpDef {
        operands: &[operand("op_handler", HANDLER)],
        attributes: &[attribute("op_handler_name", AttrKind::String)],
        results: &[result("out_chain", CHAIN)],
        effect: Effect::IO,
        assembly_format: Some("$op_handler $op_handler_name attr-dict"),
        ..OpDef::new("corert.register_op_handler")
    };
}

tfrt::declare_op! {
    /// Gives a tensor that is written in the program.
    static CONST_DENSE_TENSOR: OpDef = OpDef {
        attributes: &[attribute("value", AttrKind::Dense)],
        results: &[result("tensor", TENSOR_HANDLE)],
        traits: OpTraits::PURE.with(OpTraits::CONSTANT),
        assembly_format: Some("typed($value) attr-dict"),
        ..OpDef::new("corert.const_dense_tensor")
    };
}

tfrt::declare_op! {
    static SYNC_CONST_DENSE_TENSOR: OpDef = OpDef {
        traits: OpTraits::SYNC,
        name: "corert_sync.const_dense_tensor",
        ..CONST_DENSE_TENSOR
    };
}

tfrt::declare_op! {
    /// Gives a tensor of texts that are written in the program: one for each element, or one for all.
    static CONST_STRING_TENSOR: OpDef = OpDef {
        attributes: &[
            attribute("shape", SIZES),
            attribute("value", AttrKind::Aggregate),
        ],
        results: &[result("tensor", TENSOR_HANDLE)],
        traits: OpTraits::PURE,
        assembly_format: Some("attr-dict"),
        ..OpDef::new("corert.const_string_tensor")
    };
}

macro_rules! declare_create_dense_tensor {
    ($($element:literal)+) => {
        tfrt::declare_op! {
            /// Gives a tensor of the elements that are written in the program.
            #[names($(concat!("corert.create_dense_tensor.", $element)),+)]
            const CREATE_DENSE_TENSOR: OpDef = OpDef {
                attributes: &[
                    attribute("shape", SIZES),
                    attribute("value", AttrKind::Array(&AttrKind::Any)),
                ],
                results: &[result("tensor", TENSOR_HANDLE)],
                traits: OpTraits::PURE,
                assembly_format: Some("attr-dict"),
                ..OpDef::new("")
            };

            #[names($(concat!("corert_sync.create_dense_tensor.", $element)),+)]
            const SYNC_CREATE_DENSE_TENSOR: OpDef = OpDef {
                traits: OpTraits::SYNC,
                ..CREATE_DENSE_TENSOR
            };
        }
    };
}

declare_create_dense_tensor!("ui8" "ui16" "ui32" "ui64" "i1" "i8" "i16" "i32" "i64" "f16" "bf16" "f32" "f64");

tfrt::declare_op! {
    /// Calls one of two functions, by the truth of a tensor.
    static COND: OpDef = OpDef {
        operands: &[
            operand("condition", TENSOR_HANDLE),
            operand("in_op_chain", CHAIN),
            OperandDef::variadic("arguments", TypeConstraint::Any),
        ],
        functions: &[
            FunctionDef {
                name: "a_true_fn",
                form: FunctionForm::Symbol,
            },
            FunctionDef {
                name: "b_false_fn",
                form: FunctionForm::Symbol,
            },
        ],
        results: &[
            result("out_op_chain", CHAIN),
            ResultDef::variadic("fn_outputs", TypeConstraint::Any),
        ],
        traits: OpTraits::NAMED_RESULTS,
        assembly_format: Some(
            "$condition $a_true_fn $b_false_fn `(` operands($in_op_chain, $arguments) `)` attr-dict \
             `:` signature($arguments, $fn_outputs)",
        ),
        verifier: Some(verify_cond),
        ..OpDef::new("corert.cond")
    };
}

tfrt::declare_op! {
    /// Calls a function as long as another one gives a tensor that is true.
    static WHILE: OpDef = OpDef {
        operands: &[
            operand("in_op_chain", CHAIN),
            OperandDef::variadic("arguments", TypeConstraint::Any),
        ],
        functions: &[
            FunctionDef {
                name: "a_cond_fn",
                form: FunctionForm::Symbol,
            },
            FunctionDef {
                name: "b_body_fn",
                form: FunctionForm::Symbol,
            },
        ],
        results: &[
            result("out_op_chain", CHAIN),
            ResultDef::variadic("fn_outputs", TypeConstraint::Any),
        ],
        traits: OpTraits::NAMED_RESULTS,
        assembly_format: Some(
            "$a_cond_fn $b_body_fn `(` operands($in_op_chain, $arguments) `)` attr-dict \
             `:` signature($arguments, $fn_outputs)",
        ),
        verifier: Some(verify_while),
        ..OpDef::new("corert.while")
    };
}

/// Both functions take the chain and the arguments, and give the results.
fn verify_cond(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    let taken = operands.get(1..).unwrap_or_default();
    for attribute in ["a_true_fn", "b_false_fn"] {
        check_function(op, attribute, taken, &results, breaches);
    }
}

/// The condition gives a chain and a tensor, the body what it takes.
fn verify_while(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    check_function(
        op,
        "a_cond_fn",
        &operands,
        &[CHAIN.into(), TENSOR_HANDLE.into()],
        breaches,
    );
    check_function(op, "b_body_fn", &operands, &results, breaches);
}

fn check_function(
    op: &dyn OpInstance,
    attribute: &str,
    operands: &[std::borrow::Cow<'_, str>],
    results: &[std::borrow::Cow<'_, str>],
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

tfrt::declare_op! {
    /// Gives a tensor on another device, as a kind of tensor.
    static TRANSFER: OpDef = OpDef {
        operands: &[
            operand("tensor", TENSOR_HANDLE),
            operand("device", "!tfrt.device"),
            operand("tensor_type", "!tfrt.tensor_type"),
        ],
        results: &[result("transferred", TENSOR_HANDLE)],
        assembly_format: PLAIN,
        ..OpDef::new("corert.transfer")
    };
}

tfrt::declare_op! {
    /// Gives a tensor on another device, as the kind of tensor that is usual there.
    static TRANSFER_INFERRED: OpDef = OpDef {
        operands: &[
            operand("tensor", TENSOR_HANDLE),
            operand("device", "!tfrt.device"),
        ],
        results: &[result("transferred", TENSOR_HANDLE)],
        assembly_format: PLAIN,
        ..OpDef::new("corert.transfer_inferred_tensortype")
    };
}

tfrt::declare_op! {
    /// Gives the kind of tensor that is usual on a device.
    static GET_DESTINATION_TYPE: OpDef = OpDef {
        operands: &[
            operand("tensor", TENSOR_HANDLE),
            operand("device", "!tfrt.device"),
        ],
        results: &[result("tensor_type", "!tfrt.tensor_type")],
        assembly_format: PLAIN,
        ..OpDef::new("corert.get_dst_tensor_type")
    };
}

tfrt::declare_op! {
    /// Gives the only element of a tensor.
    static TO_INT32: OpDef = OpDef {
        operands: &[operand("tensor", TENSOR_HANDLE)],
        results: &[result("number", "i32")],
        assembly_format: PLAIN,
        ..OpDef::new("corert.tensorhandle_to_int32")
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::tests::{SampleOp, signature, symbol, verdict};

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

    #[test]
    fn functions_of_cond_take_the_chain_and_the_arguments() {
        let op = SampleOp {
            operands: &[TENSOR_HANDLE, CHAIN, TENSOR_HANDLE],
            results: &[CHAIN, TENSOR_HANDLE],
            attributes: vec![("a_true_fn", symbol("good")), ("b_false_fn", symbol("bad"))],
            functions: vec![
                (
                    "good",
                    signature(&[CHAIN, TENSOR_HANDLE], &[CHAIN, TENSOR_HANDLE]),
                ),
                ("bad", signature(&[CHAIN], &[CHAIN, TENSOR_HANDLE])),
            ],
            ..SampleOp::default()
        };
        assert_eq!(
            verdict(verify_cond, &op),
            "'bad' has mismatching operand types"
        );
    }
}
