//! Declarations of the ops of the golden programs, written by hand: as many of each kind as the
//! texts need.

use std::sync::Arc;

use tfrt_ir::Registry;
use tfrt_ods::instance::{AttrInstance, OpInstance};
use tfrt_ods::verify::{Breach, callee, region};
use tfrt_ods::{
    AttrDef, AttrDefault, AttrKind, DialectDef, Effect, FunctionDef, FunctionForm, OpDef, OpTraits,
    OperandDef, ResultDef, TypeConstraint, UnknownTypes,
};

const CHAIN: TypeConstraint = TypeConstraint::Exact("!tfrt.chain");
const I1: TypeConstraint = TypeConstraint::Exact("i1");
const I32: TypeConstraint = TypeConstraint::Exact("i32");
const I64: TypeConstraint = TypeConstraint::Exact("i64");
const ANY: TypeConstraint = TypeConstraint::Any;
const TENSOR: TypeConstraint = TypeConstraint::Exact("!t.tensor");
const STRING: TypeConstraint = TypeConstraint::Exact("!tfrt.string");
const SHAPE: TypeConstraint = TypeConstraint::Exact("!ts.shape");
const PARTIAL_SHAPE: TypeConstraint = TypeConstraint::Exact("!ts.partial_shape");
const BUFFER: TypeConstraint = TypeConstraint::Exact("!ht.host_buffer");
const HANDLE: TypeConstraint = TypeConstraint::Exact("!corert.tensorhandle");
const HANDLER: TypeConstraint = TypeConstraint::Exact("!corert.ophandler");
const EXAMPLE: TypeConstraint = TypeConstraint::Exact("!proto.example");

const fn symbol(name: &'static str) -> FunctionDef {
    FunctionDef {
        name,
        form: FunctionForm::Symbol,
    }
}

const fn body(name: &'static str) -> FunctionDef {
    FunctionDef {
        name,
        form: FunctionForm::Region,
    }
}

fn leak<T>(items: Vec<T>) -> &'static [T] {
    Vec::leak(items)
}

/// An op of operands and results without names that matter, and a custom form that shows the
/// operands.
fn plain(name: &'static str, operands: &[TypeConstraint], results: &[TypeConstraint]) -> OpDef {
    const NAMES: [&str; 4] = ["a", "b", "c", "d"];
    OpDef {
        operands: leak(
            operands
                .iter()
                .zip(NAMES)
                .map(|(ty, name)| OperandDef::new(name, *ty))
                .collect(),
        ),
        results: leak(
            results
                .iter()
                .zip(NAMES)
                .map(|(ty, name)| ResultDef::new(name, *ty))
                .collect(),
        ),
        assembly_format: Some("operands attr-dict"),
        ..OpDef::new(name)
    }
}

fn constant(name: &'static str, kind: AttrKind, ty: &'static str) -> OpDef {
    OpDef {
        attributes: leak(vec![AttrDef::new("value", kind)]),
        assembly_format: Some("$value attr-dict"),
        ..plain(name, &[], &[TypeConstraint::Exact(ty)])
    }
}

fn with_attributes(
    attributes: &[(&'static str, AttrKind)],
    format: &'static str,
    def: OpDef,
) -> OpDef {
    let attributes = attributes
        .iter()
        .map(|(name, kind)| AttrDef::new(name, *kind))
        .collect();
    OpDef {
        attributes: leak(attributes),
        assembly_format: Some(format),
        ..def
    }
}

const CALL_LIKE: OpDef = OpDef {
    operands: &[OperandDef::variadic("args", ANY)],
    results: &[ResultDef::variadic("results", ANY)],
    ..OpDef::new("")
};

const COND_LIKE: OpDef = OpDef {
    operands: &[
        OperandDef::new("cond", I1),
        OperandDef::variadic("args", ANY),
    ],
    ..CALL_LIKE
};

const CONTROL_FLOW: &[OpDef] = &[
    OpDef {
        functions: &[symbol("callee")],
        assembly_format: Some(
            "$callee `(` operands `)` attr-dict `:` functional-type(operands, results)",
        ),
        verifier: Some(callee::call),
        name: "tfrt.call",
        ..CALL_LIKE
    },
    OpDef {
        functions: &[symbol("a_true_fn"), symbol("b_false_fn")],
        assembly_format: Some(
            "$cond $a_true_fn $b_false_fn `(` $args `)` attr-dict `:` signature($args, results)",
        ),
        verifier: Some(callee::condition),
        name: "tfrt.cond",
        ..COND_LIKE
    },
    OpDef {
        operands: &[
            OperandDef::new("branch_index", I32),
            OperandDef::new("in_op_chain", CHAIN),
            OperandDef::variadic("branch_operands", ANY),
        ],
        results: &[
            ResultDef::new("out_op_chain", CHAIN),
            ResultDef::variadic("branch_outputs", ANY),
        ],
        functions: &[FunctionDef {
            name: "branches",
            form: FunctionForm::SymbolList,
        }],
        traits: OpTraits::NAMED_RESULTS,
        assembly_format: Some(
            "$branch_index $branches `(` operands($in_op_chain, $branch_operands) `)` attr-dict \
             `:` signature($branch_operands, $branch_outputs)",
        ),
        ..OpDef::new("tfrt.case")
    },
    OpDef {
        attributes: &[AttrDef::new("parallel_iterations", AttrKind::I64)],
        functions: &[symbol("body_fn")],
        assembly_format: Some(
            "$cond $body_fn `(` $args `)` attr-dict `parallel_iterations` `(` \
             $parallel_iterations `)` `:` signature($args, results)",
        ),
        name: "tfrt.while",
        ..COND_LIKE
    },
    OpDef {
        functions: &[symbol("function")],
        assembly_format: Some(
            "$function `(` operands `)` attr-dict `:` signature(operands, results)",
        ),
        name: "tfrt.once",
        ..CALL_LIKE
    },
    OpDef {
        functions: &[body("then"), body("else")],
        assembly_format: Some(
            "operands attr-dict-or-keyword `:` signature($args, results) expect($cond, \
             \"condition\") region($then, $args) (`else` region($else, $args) | \
             empty-region($else, $args, \"tfrt.return\"))",
        ),
        verifier: Some(verify_if),
        name: "tfrt.if",
        ..COND_LIKE
    },
    OpDef {
        operands: &[
            OperandDef::new("count", I32),
            OperandDef::variadic("args", ANY),
        ],
        results: &[ResultDef::variadic("results", ANY)],
        functions: &[body("body")],
        assembly_format: Some(
            "operands attr-dict-or-keyword (`:` type-list($args, $results))? expect($count, \
             \"trip count\") region($body, $args)",
        ),
        verifier: Some(verify_repeat),
        ..OpDef::new("tfrt.repeat.i32")
    },
    OpDef {
        operands: &[
            OperandDef::new("start", I32),
            OperandDef::new("end", I32),
            OperandDef::new("block_size", I32),
            OperandDef::variadic("args", ANY),
        ],
        results: &[ResultDef::new("done", CHAIN)],
        functions: &[body("body")],
        assembly_format: Some(
            "$start `to` $end `fixed` $block_size (`,` $args)? (`:` type-list($args))? \
             region($body, $start, $end, $args)",
        ),
        verifier: Some(verify_parallel_for),
        ..OpDef::new("tfrt.parallel_for.i32")
    },
    OpDef {
        operands: &[
            OperandDef::new("start", I32),
            OperandDef::new("end", I32),
            OperandDef::new("block_size", I32),
            OperandDef::variadic("args", ANY),
        ],
        results: &[ResultDef::new("done", CHAIN)],
        functions: &[symbol("callee")],
        assembly_format: Some(
            "$start `to` $end `fixed` $block_size $callee `(` $args `)` (`:` type-list($args))?",
        ),
        verifier: Some(callee::parallel_call),
        ..OpDef::new("tfrt.parallel_call.i32")
    },
    OpDef {
        operands: &[OperandDef::variadic("values", ANY)],
        traits: OpTraits::TERMINATOR,
        assembly_format: Some("(operands `:` type-list(operands))?"),
        verifier: Some(region::function_return),
        ..OpDef::new("tfrt.return")
    },
    OpDef {
        operands: &[OperandDef::variadic("chains", ANY)],
        results: &[ResultDef::new("chain", CHAIN)],
        assembly_format: Some("operands attr-dict `:` type-list(operands)"),
        ..OpDef::new("tfrt.merge.chains")
    },
];

fn verify_if(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let operands = op.operand_types();
    for (index, block) in ["then", "else"].into_iter().enumerate() {
        region::takes(op, index, &operands[1..], block, breaches);
        if breaches.is_empty() {
            region::returns(op, index, &op.result_types(), "tfrt.return", breaches);
        }
    }
}

fn verify_repeat(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    if operands.len() != results.len() + 1 {
        return breaches.push(Breach::op("incorrect number of operands"));
    }
    if operands[1..] != results[..] {
        breaches.push(Breach::op("operand/result type mismatch"));
    }
    region::returns(op, 0, &results, "tfrt.return", breaches);
}

fn verify_parallel_for(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let is_synchronous = op.regions()[0].returns.as_ref().is_some_and(Vec::is_empty);
    if !is_synchronous {
        region::returns(op, 0, &op.result_types(), "tfrt.return", breaches);
    }
}

fn verify_do_async(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    region::returns(op, 0, &op.result_types(), "tfrt.return", breaches);
}

fn verify_benchmark(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    match op.regions()[0].returns.as_deref() {
        None => breaches.push(Breach::op("missing return statement")),
        Some([_]) => {}
        Some(_) => breaches.push(Breach::op(
            "incorrect number of return values. One return value is expected",
        )),
    }
}

fn verify_sync_benchmark(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    if let Some(signature) = callee::resolve(op, "target_fn", breaches)
        && !signature.results.is_empty()
    {
        breaches.push(Breach::op(
            "Target benchmark function must return zero value.",
        ));
    }
}

fn verify_cost(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    match op.attribute("_tfrt_cost") {
        Some(AttrInstance::Int(cost, _)) if cost > 0 => {}
        Some(_) => breaches.push(Breach::op("cost value must be larger than 0")),
        None => breaches.push(Breach::op("cost attribute not found")),
    }
}

fn verify_executeop(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    if let Some(AttrInstance::Array(pairs)) = op.attribute("op_attrs") {
        let is_pair = |pair: &AttrInstance<'_>| matches!(pair, AttrInstance::Array(pair) if matches!(pair[..], [AttrInstance::String(_), _]));
        if !pairs.iter().all(is_pair) {
            breaches.push(Breach::op(
                "each op_attr should be a key-value pair, where the key is a string",
            ));
        }
    }
}

const TIMING: &[AttrDef] = &[
    AttrDef::new("duration_secs", AttrKind::I32),
    AttrDef::new("max_count", AttrKind::I32),
    AttrDef::new("name", AttrKind::String),
    AttrDef {
        default: Some(AttrDefault::Int(1)),
        ..AttrDef::new("num_warmup_runs", AttrKind::I32)
    },
];

const SYNC_TIMING: &[AttrDef] = &[TIMING[0], TIMING[1], TIMING[3]];

const TESTS: &[OpDef] = &[
    OpDef {
        functions: &[body("body")],
        assembly_format: Some(
            "operands attr-dict-with-keyword `:` signature(operands, results) region($body, $args)",
        ),
        verifier: Some(verify_do_async),
        name: "tfrt_test.do.async",
        ..CALL_LIKE
    },
    OpDef {
        operands: &[OperandDef::variadic("args", ANY)],
        attributes: TIMING,
        results: &[ResultDef::new("done", CHAIN)],
        functions: &[body("body")],
        assembly_format: Some(
            "$name `(` typed-operands($args) `)` key-values($duration_secs, $max_count, \
             $num_warmup_runs) region($body, $args)",
        ),
        verifier: Some(verify_benchmark),
        ..OpDef::new("tfrt_test.benchmark")
    },
    OpDef {
        operands: &[OperandDef::variadic("args", ANY)],
        attributes: SYNC_TIMING,
        functions: &[symbol("target_fn")],
        assembly_format: Some(
            "$target_fn `(` typed-operands($args) `)` key-values($duration_secs, $max_count, \
             $num_warmup_runs)",
        ),
        verifier: Some(verify_sync_benchmark),
        ..OpDef::new("tfrt_test.sync_benchmark")
    },
    OpDef {
        operands: &[OperandDef::variadic("args", ANY)],
        results: &[ResultDef::new("result", I32)],
        attributes: &[AttrDef::new("id", AttrKind::I64)],
        assembly_format: Some("operands attr-dict `:` type-list(operands)"),
        verifier: Some(verify_cost),
        traits: OpTraits::COST_ATTRIBUTE,
        ..OpDef::new("tfrt_test.test_cost")
    },
    OpDef {
        operands: &[OperandDef::new("chain", CHAIN)],
        results: &[ResultDef::new("chain", CHAIN)],
        effect: Effect::IO,
        ..OpDef::new("tfrt_test.print_hello")
    },
];

fn tests() -> Vec<OpDef> {
    let mut ops = TESTS.to_vec();
    ops.extend([
        plain("tfrt_test.count3.i32", &[I32], &[I32, I32, I32]),
        plain("tfrt_test.count3.i64", &[I64], &[I64, I64, I64]),
        plain("tfrt_test.decode_jpeg", &[STRING], &[TENSOR]),
        plain("tfrt_test.resize_bilinear", &[TENSOR, I64, I64], &[TENSOR]),
        plain("tfrt_test.parse_example_from_bytes", &[STRING], &[EXAMPLE]),
        plain(
            "tfrt_test.get_bytes_field_from_example",
            &[EXAMPLE, STRING],
            &[STRING],
        ),
        plain(
            "tfrt_test.get_int64_field_from_example",
            &[EXAMPLE, STRING],
            &[I64],
        ),
    ]);
    for name in ["tfrt_test.get_string", "tfrt_test.get_string_sync"] {
        ops.push(with_attributes(
            &[("value", AttrKind::String)],
            "attr-dict",
            plain(name, &[], &[STRING]),
        ));
    }
    ops
}

fn tensors() -> Vec<OpDef> {
    let dims = [("value", AttrKind::Array(&AttrKind::I64))];
    vec![
        with_attributes(
            &dims,
            "$value attr-dict",
            plain("ts.build_shape", &[], &[SHAPE]),
        ),
        with_attributes(
            &dims,
            "$value attr-dict",
            plain("ts.build_partial_shape", &[], &[PARTIAL_SHAPE]),
        ),
        plain("ts.build_unranked_partial_shape", &[], &[PARTIAL_SHAPE]),
        plain("ts.equal_shape", &[SHAPE, SHAPE], &[I1]),
        plain("ts.get_dimension", &[SHAPE, I32], &[I64]),
        plain("ts.get_num_elements", &[SHAPE], &[I64]),
        plain("ts.print_shape", &[SHAPE, CHAIN], &[CHAIN]),
        plain("ts.print_partial_shape", &[PARTIAL_SHAPE, CHAIN], &[CHAIN]),
        plain("ts.to_shape", &[PARTIAL_SHAPE], &[SHAPE]),
        plain("ts.to_partial_shape", &[SHAPE], &[PARTIAL_SHAPE]),
        with_attributes(
            &[("shape", AttrKind::Array(&AttrKind::I64))],
            "$shape",
            plain("tfrt_dht.create_uninitialized_tensor.f32.2", &[], &[TENSOR]),
        ),
        with_attributes(
            &[("value", AttrKind::F32)],
            "$a `,` $b typed($value)",
            plain(
                "tfrt_dht.fill_tensor_with_constant.f32",
                &[TENSOR, CHAIN],
                &[CHAIN],
            ),
        ),
        with_attributes(
            &[("value", AttrKind::I32)],
            "operands typed($value)",
            plain(
                "tfrt_dht.fill_tensor_with_constant.i32",
                &[TENSOR, CHAIN],
                &[CHAIN],
            ),
        ),
        with_attributes(
            &[("values", AttrKind::Array(&AttrKind::I32))],
            "operands $values",
            plain(
                "tfrt_dht.set_tensor_with_constant_values.i32",
                &[TENSOR, CHAIN],
                &[CHAIN],
            ),
        ),
        plain(
            "tfrt_dht.make_tensor.f32",
            &[BUFFER, SHAPE, CHAIN],
            &[TENSOR, CHAIN],
        ),
        plain(
            "tfrt_dht.tensor_equal.f32",
            &[TENSOR, TENSOR, CHAIN],
            &[I1, CHAIN],
        ),
        plain("tfrt_dht.print_tensor", &[TENSOR, CHAIN], &[CHAIN]),
        plain("tfrt_dht.allocate_buffer", &[I64, I64], &[BUFFER]),
        plain("tfrt_dht.get_buffer", &[TENSOR, CHAIN], &[BUFFER, CHAIN]),
        plain("tfrt_dht.get_buffer_slice", &[BUFFER, I64, I64], &[BUFFER]),
        plain("tfrt_dht.print_buffer", &[BUFFER, CHAIN], &[CHAIN]),
        plain("tfrt_dht.get_tensor_shape", &[TENSOR], &[SHAPE]),
    ]
}

const EXECUTE: OpDef = OpDef {
    operands: &[
        OperandDef::new("op_handler", HANDLER),
        OperandDef::variadic("arguments", HANDLE),
    ],
    results: &[ResultDef::variadic("results", HANDLE)],
    verifier: Some(verify_executeop),
    ..OpDef::new("corert.executeop")
};
const EXECUTE_SEQ: OpDef = OpDef {
    operands: &[
        OperandDef::new("op_handler", HANDLER),
        OperandDef::new("in_op_chain", CHAIN),
        OperandDef::variadic("arguments", HANDLE),
    ],
    results: &[
        ResultDef::new("out_op_chain", CHAIN),
        ResultDef::variadic("results", HANDLE),
    ],
    traits: OpTraits::NAMED_RESULTS,
    verifier: Some(verify_executeop),
    ..OpDef::new("corert.executeop.seq")
};

fn core_runtime() -> Vec<OpDef> {
    let op_attributes: &[(&str, AttrKind)] = &[
        ("op_attrs", AttrKind::Aggregate),
        ("op_func_attrs", AttrKind::Aggregate),
        ("op_name", AttrKind::String),
    ];
    vec![
        with_attributes(
            op_attributes,
            "`(` $op_handler `)` $op_name `(` $arguments `)` pairs($op_attrs) \
             pairs($op_func_attrs) (`:` result-count($results))?",
            EXECUTE,
        ),
        with_attributes(
            op_attributes,
            "`(` operands($op_handler, $in_op_chain) `)` $op_name `(` $arguments `)` \
             pairs($op_attrs) pairs($op_func_attrs) (`:` result-count($results))?",
            EXECUTE_SEQ,
        ),
        with_attributes(
            &[("op_handler_name", AttrKind::String)],
            "$a $op_handler_name attr-dict",
            plain("corert.get_op_handler", &[CHAIN], &[HANDLER]),
        ),
        with_attributes(
            &[("op_handler_name", AttrKind::String)],
            "$a $op_handler_name attr-dict",
            plain("corert.register_op_handler", &[HANDLER], &[CHAIN]),
        ),
        with_attributes(
            &[("value", AttrKind::Dense)],
            "$value attr-dict",
            plain("corert.const_dense_tensor", &[], &[HANDLE]),
        ),
        with_attributes(
            &[
                ("shape", AttrKind::Array(&AttrKind::I64)),
                ("value", AttrKind::Array(&AttrKind::I32)),
            ],
            "attr-dict",
            plain("corert.create_dense_tensor.i32", &[], &[HANDLE]),
        ),
        with_attributes(
            &[
                ("shape", AttrKind::Array(&AttrKind::I64)),
                ("value", AttrKind::Aggregate),
            ],
            "attr-dict",
            plain("corert.const_string_tensor", &[], &[HANDLE]),
        ),
    ]
}

fn arithmetic() -> Vec<OpDef> {
    let ui = |width| AttrKind::Int {
        width,
        is_unsigned: true,
    };
    let f16 = AttrKind::Float(tfrt_ods::FloatKind::F16);
    let mut ops = vec![
        constant("tfrt.constant.i1", AttrKind::BOOL, "i1"),
        constant("tfrt.constant.i32", AttrKind::I32, "i32"),
        constant("tfrt.constant.i64", AttrKind::I64, "i64"),
        constant("tfrt.constant.ui32", ui(32), "ui32"),
        constant("tfrt.constant.ui64", ui(64), "ui64"),
        constant("tfrt.constant.f16", f16, "f16"),
        constant("tfrt.constant.f32", AttrKind::F32, "f32"),
        constant("tfrt.constant.f64", AttrKind::F64, "f64"),
        constant("tfrt.constant_s.i64", AttrKind::I64, "i64"),
        constant("tfrt.constant_s.f16", f16, "f16"),
        constant("tfrt.constant_s.f32", AttrKind::F32, "f32"),
        constant("tfrt.constant_s.f64", AttrKind::F64, "f64"),
        OpDef {
            assembly_format: None,
            ..constant("tfrt.constant_s.i32", AttrKind::I32, "i32")
        },
        plain("tfrt.new.chain", &[], &[CHAIN]),
        with_attributes(
            &[("device_name", AttrKind::String)],
            "operands attr-dict",
            plain(
                "tfrt.get_device",
                &[CHAIN],
                &[TypeConstraint::Exact("!tfrt.device")],
            ),
        ),
    ];
    for (name, kind, ty) in [
        ("tfrt.constant.complex64", AttrKind::F32, "complex<f32>"),
        ("tfrt.constant.complex128", AttrKind::F64, "complex<f64>"),
    ] {
        let attributes = [("imaginary", kind), ("real", kind)];
        let def = plain(name, &[], &[TypeConstraint::Exact(ty)]);
        ops.push(with_attributes(
            &attributes,
            "$real `,` $imaginary attr-dict",
            def,
        ));
    }
    for (ty, suffixes) in [
        ("i32", &["add", "mul", "mul_s", "equal", "div", "print"][..]),
        ("i64", &["add", "mul", "mul_s", "equal", "div", "print"]),
        ("f32", &["add", "print"]),
        ("f64", &["add", "print"]),
        ("i1", &["and", "print"]),
    ] {
        let exact = TypeConstraint::Exact(ty);
        for kind in suffixes {
            let name = String::leak(format!("tfrt.{kind}.{ty}"));
            ops.push(match *kind {
                "equal" => plain(name, &[exact, exact], &[I1]),
                "div" => plain(name, &[exact, exact], &[exact, exact]),
                "print" => OpDef {
                    effect: Effect::IO,
                    ..plain(name, &[exact, CHAIN], &[CHAIN])
                },
                _ => plain(name, &[exact, exact], &[exact]),
            });
        }
    }
    ops
}

/// The dialects that the reference's tools know.
fn dialects() -> Vec<DialectDef> {
    let mut dialects: Vec<DialectDef> = [
        "coo",
        "corert_sync",
        "tfrt",
        "tfrt_data",
        "tfrt_dht",
        "tfrt_dht_sync",
        "tfrt_dist",
        "tfrt_test",
    ]
    .into_iter()
    .map(DialectDef::new)
    .collect();
    dialects.push(DialectDef {
        shape_attribute: Some("shape"),
        ..DialectDef::new("corert")
    });
    for (name, types, text) in [
        ("t", &["tensor"][..], "unknown tensor type: "),
        ("ht", &["host_buffer"], "unknown type: "),
        ("ts", &["shape", "partial_shape"], "unknown shape type: "),
    ] {
        dialects.push(DialectDef {
            types,
            unknown_types: UnknownTypes::Rejected(text),
            allows_unknown_ops: false,
            ..DialectDef::new(name)
        });
    }
    dialects
}

/// All of them.
pub fn registry() -> Arc<Registry> {
    let mut ops = CONTROL_FLOW.to_vec();
    ops.extend(tests());
    ops.extend(tensors());
    ops.extend(core_runtime());
    ops.extend(arithmetic());
    let ops: &'static [OpDef] = Vec::leak(ops);
    Arc::new(Registry::new(ops, dialects()).expect("the declarations fit together"))
}
