//! Every form of kernel, run through its descriptor.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt::attr::{AlignedBytes, AttrEncoder, AttrValue, Scalar};
use tfrt::host::__runtime::{AttributeList, FunctionList};
use tfrt::host::RequestContextBuilder;
use tfrt::kernel::{KernelDescriptor, KernelSet};
use tfrt::ods::{Arity, AttrDefault, AttrKind, Effect, FunctionForm, OpTraits, TypeConstraint};
use tfrt::prelude::*;

/// A counter that kernels change in place.
#[derive(Debug, Value)]
#[value("!test.counter", mutable)]
pub struct Counter(i32);

/// A point.
#[derive(Clone, Debug, PartialEq, Value)]
#[value("!test.point")]
pub struct Point {
    x: i32,
    y: i32,
}

/// Returns the sum
/// of two numbers.
///
/// Wraps around.
#[tfrt_kernel("test.add.{T}", T = [i32, u32 as "ui32"], pure, kernel_set = Add)]
pub fn add<T: Value + Clone + std::ops::Add<Output = T>>(a: T, b: T) -> T {
    a + b
}

#[tfrt_kernel("test.repeat.{T}.{N}", T = [i32, i64], N = [2, 3 as "thrice"])]
fn repeat<T: Value + Clone, const N: usize>(value: &T) -> Vec<T> {
    vec![value.clone(); N]
}

#[tfrt_kernel("test.div", results(quotient, remainder))]
fn div(a: i32, b: i32) -> Result<(i32, i32)> {
    if b == 0 {
        return Err(Error::new("Divide by zero"));
    }
    Ok((a / b, a % b))
}

#[tfrt_kernel("test.partial")]
fn partial() -> (i32, Result<Point>, i32) {
    (1, Err(Error::new("something bad happened")), 3)
}

#[tfrt_kernel("test.attributes")]
fn attributes(
    #[attr("b")] first: i64,
    #[attr] a: &str,
    #[attr(name = "d", default = [])] list: &[i32],
    #[attr(default = -1)] c: i32,
) -> String {
    format!("{a} {first} {c} {list:?}")
}

#[tfrt_kernel("test.increment", alias(counter = value), results(counter))]
fn increment(value: &mut Counter, by: i32, _ctx: &ExecutionContext) -> Counter {
    value.0 += by;
    Counter(value.0)
}

#[tfrt_kernel("test.touch", effect = "touch")]
fn touch(counter: &Counter) -> i32 {
    counter.0
}

#[tfrt_kernel("test.sum_all", side_effecting)]
fn sum_all(first: i32, rest: Operands<'_, i32>) -> i32 {
    rest.iter().fold(first, |sum, operand| sum + operand)
}

#[tfrt_kernel("test.identity")]
fn identity(_chain: Chain, values: &[AnyRef]) -> Vec<AnyRef> {
    values.to_vec()
}

#[tfrt_kernel("test.greet")]
fn greet(name: &str) -> String {
    format!("hello {name}")
}

#[tfrt_kernel("test.ternary", non_strict)]
fn ternary(cond: bool, t: AnyRef, f: &AnyRef) -> AnyRef {
    if cond { t } else { f.clone() }
}

#[tfrt_kernel("test.later", non_strict)]
fn later(value: AsyncValueRef<i32>) -> AsyncValueRef<i32> {
    value
}

#[tfrt_kernel("test.functions", format = "$a $c_list $d region($body)")]
fn functions(
    #[region] body: &FunctionRef,
    #[function("c_list")] list: &[FunctionRef],
    #[function("d")] last: FunctionRef,
    a: FunctionRef,
) -> String {
    let names: Vec<&str> = list.iter().map(FunctionRef::name).collect();
    format!("{} {names:?} {} {}", a.name(), last.name(), body.name())
}

#[tfrt_kernel(
    "test.raw",
    raw,
    non_strict,
    operands(cond: "i1", args: ref variadic any),
    results(outputs: variadic any),
    attrs(parallel_iterations: i64 = 1),
    symbols(b_false_fn, a_true_fn),
    regions(body)
)]
fn raw(frame: &mut KernelFrame<'_>) -> Result<()> {
    let chosen = usize::from(!*frame.value::<bool>(0)?);
    let value = frame.argument(1 + chosen).clone();
    frame.set_result(0, value);
    Ok(())
}

#[tfrt_kernel("test.add_s", sync)]
fn add_s(a: i32, b: i32) -> i32 {
    a + b
}

#[tfrt_kernel("test.increment_s", sync)]
fn increment_s(counter: &mut Counter, #[attr] by: i32) {
    counter.0 += by;
}

#[tfrt_kernel("test.sum_s", sync)]
fn sum_s(rest: Operands<'_, i32>) -> Result<i32> {
    if rest.is_empty() {
        Err(Error::new("nothing to add"))
    } else {
        Ok(rest.iter().sum())
    }
}

#[tfrt_kernel("test.raw_s", sync, raw, attrs(values: Vec<i64>), results(sum: i64))]
fn raw_s(frame: &mut KernelFrame<'_>) -> Result<()> {
    let sum: i64 = frame.attribute::<[i64]>(0)?.iter().sum();
    frame.set_result(0, AnyRef::available(sum));
    Ok(())
}

#[tfrt_kernel("test.blocking", blocking, side_effecting)]
fn blocking(path: &str, #[attr] suffix: &str) -> std::io::Result<String> {
    Ok(format!("{path}{suffix}"))
}

#[tfrt_kernel("test.add_later")]
async fn add_later(a: i32, b: AsyncValueRef<i32>, host: &HostContext) -> Result<i32> {
    let _ = host;
    let b = b.await?;
    Ok(a + b.get().copied().unwrap_or_default())
}

#[tfrt_kernel("test.one", "test.other")]
fn two_names(#[attr] value: i32) -> i32 {
    value
}

#[tfrt_kernel("test.panic", blocking)]
fn panics() -> i32 {
    panic!("no reason")
}

fn context() -> ExecutionContext {
    ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build())
}

fn kernel(name: &str) -> KernelDescriptor {
    let registry = KernelRegistry::from_link().unwrap();
    *registry
        .get(name)
        .unwrap_or_else(|| panic!("no kernel {name}"))
}

/// Runs a kernel and returns its results.
fn run_in(
    ctx: &ExecutionContext,
    name: &str,
    arguments: &[AnyRef],
    attributes: &[AttrValue],
    results: usize,
) -> Vec<AnyRef> {
    let mut encoder = AttrEncoder::new();
    let offsets: Vec<u32> = attributes
        .iter()
        .map(|attribute| encoder.encode(attribute).unwrap())
        .collect();
    let section = AlignedBytes::from(encoder.as_bytes());
    let kernel = kernel(name);
    let mut slots = vec![None; results];
    let attributes = AttributeList {
        section: &section,
        offsets: &offsets,
    };
    let mut frame = KernelFrame::new(
        ctx,
        kernel.op(),
        arguments,
        attributes,
        FunctionList::default(),
        &mut slots,
    );
    kernel.invoke_checked(&mut frame);
    frame.finish();
    slots.into_iter().flatten().collect()
}

fn run(name: &str, arguments: &[AnyRef], results: usize) -> Vec<AnyRef> {
    run_in(&context(), name, arguments, &[], results)
}

fn message(value: &AnyRef) -> &str {
    value.error_if_present().map_or("no error", Error::message)
}

fn get<T: Value + Immutable + Clone>(value: &AnyRef) -> Option<T> {
    value.get::<T>().cloned()
}

#[test]
fn instances_are_kernels_of_their_own() {
    let sum = run(
        "test.add.i32",
        &[AnyRef::available(40), AnyRef::available(2)],
        1,
    );
    assert_eq!(get::<i32>(&sum[0]), Some(42));
    let sum = run(
        "test.add.ui32",
        &[AnyRef::available(40_u32), AnyRef::available(2_u32)],
        1,
    );
    assert_eq!(get::<u32>(&sum[0]), Some(42));
    let thrice = run("test.repeat.i64.thrice", &[AnyRef::available(7_i64)], 3);
    assert_eq!(thrice.iter().filter_map(get::<i64>).sum::<i64>(), 21);
}

#[test]
fn the_declaration_comes_from_the_function() {
    let op = kernel("test.add.ui32").op();
    assert_eq!(
        (op.summary, op.description),
        ("Returns the sum of two numbers.", "Wraps around.")
    );
    assert_eq!(
        op.operands
            .iter()
            .map(|operand| operand.name)
            .collect::<Vec<_>>(),
        ["a", "b"]
    );
    assert_eq!(op.operands[1].ty, TypeConstraint::Exact("ui32"));
    assert_eq!(op.results[0].ty, TypeConstraint::Exact("ui32"));
    assert!(op.traits.contains(OpTraits::PURE | OpTraits::EXTRA_CHAIN));
    assert!(op.place.file.ends_with("kernels.rs") && op.place.line > 0);

    let op = kernel("test.div").op();
    assert_eq!(
        op.results
            .iter()
            .map(|result| result.name)
            .collect::<Vec<_>>(),
        ["quotient", "remainder"]
    );
}

#[test]
fn an_error_becomes_every_result() {
    let results = run("test.div", &[AnyRef::available(1), AnyRef::available(0)], 2);
    assert_eq!(
        results.iter().map(message).collect::<Vec<_>>(),
        ["Divide by zero"; 2]
    );
    assert_eq!(
        results[0].error_if_present().and_then(Error::kernel),
        Some("test.div")
    );
}

#[test]
fn an_error_inside_a_tuple_is_one_result() {
    let results = run("test.partial", &[], 3);
    assert_eq!([get(&results[0]), get(&results[2])], [Some(1), Some(3)]);
    assert_eq!(message(&results[1]), "something bad happened");
}

#[test]
fn attributes_bind_in_byte_order_of_their_names() {
    let op = kernel("test.attributes").op();
    assert_eq!(
        op.attributes
            .iter()
            .map(|attribute| attribute.name)
            .collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
    assert_eq!(op.attributes[1].kind, AttrKind::I64);
    assert_eq!(op.attributes[2].default, Some(AttrDefault::Int(-1)));
    assert_eq!(op.attributes[3].default, Some(AttrDefault::EmptyArray));
    let values = [
        AttrValue::String(b"x".to_vec()),
        Scalar::i64(5).into(),
        Scalar::i32(-1).into(),
        AttrValue::Array(vec![Scalar::i32(1).into(), Scalar::i32(2).into()]),
    ];
    let results = run_in(&context(), "test.attributes", &[], &values, 1);
    assert_eq!(
        get::<ByteString>(&results[0]),
        Some(ByteString::from("x 5 -1 [1, 2]"))
    );
    let results = run_in(&context(), "test.attributes", &[], &values[..1], 1);
    assert_eq!(
        message(&results[0]),
        "attribute `b` of `test.attributes` is missing"
    );
}

#[test]
fn a_mutated_operand_adds_a_chain_that_programs_may_leave_out() {
    let op = kernel("test.increment").op();
    assert!(op.operands[0].is_mutated && op.operands.len() == 3 && op.results.len() == 2);
    assert_eq!(
        (op.operands[2].name, op.results[1].name),
        ("in_chain", "out_chain")
    );
    assert_eq!(op.results[0].alias_of, Some("value"));
    assert!(
        op.traits.contains(OpTraits::OPTIONAL_CHAIN) && !op.traits.contains(OpTraits::EXTRA_CHAIN)
    );

    let counter = AnyRef::available(Counter(1));
    let results = run(
        "test.increment",
        &[counter.clone(), AnyRef::available(2)],
        1,
    );
    assert_eq!(
        results[0].try_read::<Counter>().map(|counter| counter.0),
        Ok(3)
    );
    let results = run(
        "test.increment",
        &[counter.clone(), AnyRef::available(2), AnyRef::ready_chain()],
        2,
    );
    assert!(results[1].is::<Chain>());
    assert_eq!(
        counter.try_read::<Counter>().map(|counter| counter.0),
        Ok(5)
    );
}

#[test]
fn a_borrow_that_conflicts_is_an_error() {
    let counter = AnyRef::available(Counter(1));
    let reader = counter.try_read::<Counter>();
    let results = run(
        "test.increment",
        &[counter.clone(), AnyRef::available(2)],
        1,
    );
    assert_eq!(
        message(&results[0]),
        "`test.increment` cannot write operand `value`: the value is being read by another kernel"
    );
    drop(reader);
    let writer = counter.try_write::<Counter>();
    let results = run("test.touch", std::slice::from_ref(&counter), 1);
    assert!(message(&results[0]).starts_with("`test.touch` cannot read operand `counter`"));
    drop(writer);
    let results = run("test.touch", &[counter], 2);
    assert_eq!(get::<i32>(&results[0]), Some(1));
    assert!(results[1].is::<Chain>());
    assert_eq!(kernel("test.touch").op().effect, Effect::Ordered("touch"));
}

#[test]
fn a_chain_behind_a_variadic_operand_is_not_part_of_it() {
    let op = kernel("test.sum_all").op();
    assert_eq!(
        op.operands
            .iter()
            .map(|operand| operand.arity)
            .collect::<Vec<_>>(),
        [Arity::One, Arity::Variadic, Arity::One]
    );
    let numbers = [1, 2, 3].map(AnyRef::available);
    let results = run("test.sum_all", &numbers, 1);
    assert_eq!(get::<i32>(&results[0]), Some(6));
    let with_chain = [&numbers[..], &[AnyRef::ready_chain()]].concat();
    let results = run("test.sum_all", &with_chain, 2);
    assert_eq!(get::<i32>(&results[0]), Some(6));
    assert!(results[1].is::<Chain>());
}

#[test]
fn references_pass_through() {
    let values = [
        AnyRef::ready_chain(),
        AnyRef::available(1),
        AnyRef::available(ByteString::from("text")),
    ];
    let results = run("test.identity", &values, 2);
    assert!(results[0].ptr_eq(&values[1]) && results[1].ptr_eq(&values[2]));
    let results = run("test.identity", &values, 3);
    assert_eq!(
        message(&results[0]),
        "`test.identity` returned 2 results, but the program expects 3 results"
    );
}

#[test]
fn an_extra_chain_is_tolerated_and_nothing_else() {
    let name = AnyRef::available(ByteString::from("you"));
    let results = run("test.greet", &[name.clone(), AnyRef::ready_chain()], 1);
    assert_eq!(
        get::<ByteString>(&results[0]),
        Some(ByteString::from("hello you"))
    );
    let results = run("test.greet", &[name.clone(), name.clone()], 1);
    assert_eq!(
        message(&results[0]),
        "operand 1 of `test.greet`: expected `!tfrt.chain`, found `!tfrt.string`"
    );
    let results = run("test.greet", &[], 1);
    assert_eq!(
        message(&results[0]),
        "`test.greet`: expected 1 or 2 operands, found 0"
    );
    let results = run("test.greet", &[AnyRef::available(1)], 1);
    assert_eq!(
        message(&results[0]),
        "operand 0 of `test.greet`: expected `!tfrt.string`, found `i32`"
    );
}

#[test]
fn references_may_be_late() {
    let (promise, late) = AnyRef::indirect();
    let results = run(
        "test.ternary",
        &[AnyRef::available(true), late.clone(), AnyRef::available(2)],
        1,
    );
    assert!(results[0].ptr_eq(&late));
    let results = run("test.later", &[late], 1);
    assert!(!results[0].is_available());
    promise.forward_to(AnyRef::available(7));
    assert_eq!(get::<i32>(&results[0]), Some(7));
    let results = run("test.later", &[AnyRef::available(1.5_f32)], 1);
    assert_eq!(
        message(&results[0]),
        "operand 0 of `test.later`: expected `i32`, found `f32`"
    );
}

#[test]
fn functions_are_declared_symbols_first() {
    let op = kernel("test.functions").op();
    let functions: Vec<_> = op
        .functions
        .iter()
        .map(|function| (function.name, function.form))
        .collect();
    assert_eq!(
        functions,
        [
            ("a", FunctionForm::Symbol),
            ("c_list", FunctionForm::SymbolList),
            ("d", FunctionForm::Symbol),
            ("body", FunctionForm::Region)
        ]
    );
    assert_eq!(op.assembly_format, Some("$a $c_list $d region($body)"));
    let results = run("test.functions", &[], 1);
    assert_eq!(
        message(&results[0]),
        "function `body` of `test.functions` is missing"
    );
}

#[test]
fn a_raw_kernel_is_declared_by_its_options() {
    let op = kernel("test.raw").op();
    assert!(op.operands[1].is_reference && op.operands[1].arity == Arity::Variadic);
    assert_eq!(op.attributes[0].default, Some(AttrDefault::Int(1)));
    assert_eq!(
        op.functions
            .iter()
            .map(|function| function.name)
            .collect::<Vec<_>>(),
        ["a_true_fn", "b_false_fn", "body"]
    );
    let results = run(
        "test.raw",
        &[
            AnyRef::available(false),
            AnyRef::available(1),
            AnyRef::available(2),
        ],
        1,
    );
    assert_eq!(get::<i32>(&results[0]), Some(2));
    let results = run(
        "test.raw",
        &[AnyRef::available(1.0_f64), AnyRef::available(1)],
        1,
    );
    assert_eq!(
        message(&results[0]),
        "operand 0 of `test.raw`: expected `i1`, found `f64`"
    );
}

#[test]
fn a_slot_left_empty_is_an_error() {
    let results = run(
        "test.raw",
        &[AnyRef::available(true), AnyRef::available(1)],
        2,
    );
    assert_eq!(
        message(&results[1]),
        "kernel 'test.raw' did not set result 1"
    );
    assert_eq!(
        results[1].error_if_present().map(Error::code),
        Some(ErrorCode::Internal)
    );
}

/// Runs a synchronous kernel as a synchronous function would.
fn run_sync(name: &str, arguments: &[AnyRef], attributes: &[AttrValue]) -> Result<Option<AnyRef>> {
    let mut encoder = AttrEncoder::new();
    let offsets: Vec<u32> = attributes
        .iter()
        .map(|attribute| encoder.encode(attribute).unwrap())
        .collect();
    let section = AlignedBytes::from(encoder.as_bytes());
    let attributes = AttributeList {
        section: &section,
        offsets: &offsets,
    };
    let kernel = kernel(name);
    let ctx = context();
    let mut results = vec![None; kernel.op().results.len()];
    let mut failure = None;
    let mut frame = KernelFrame::new(
        &ctx,
        kernel.op(),
        arguments,
        attributes,
        FunctionList::default(),
        &mut results,
    )
    .failing_into(&mut failure);
    kernel.invoke_checked(&mut frame);
    match failure {
        Some(error) => Err(error),
        None => Ok(results.pop().flatten()),
    }
}

#[test]
fn synchronous_kernels_run_through_the_same_frame() {
    let number = |result: Result<Option<AnyRef>>| {
        let result = result.unwrap_or_else(|error| panic!("{error}"));
        result.as_ref().and_then(AnyRef::get::<i32>).copied()
    };
    let numbers = [40, 2].map(AnyRef::available);
    assert_eq!(number(run_sync("test.add_s", &numbers, &[])), Some(42));
    let numbers = [40, 40, 2].map(AnyRef::available);
    assert_eq!(number(run_sync("test.sum_s", &numbers, &[])), Some(82));

    let counter = AnyRef::available(Counter(1));
    let operands = [counter.clone()];
    assert!(run_sync("test.increment_s", &operands, &[Scalar::i32(4).into()]).is_ok());
    let count = counter.try_read::<Counter>().map(|counter| counter.0);
    assert_eq!(count, Ok(5));

    let list = AttrValue::Array(vec![Scalar::i64(1).into(), Scalar::i64(2).into()]);
    let sum = run_sync("test.raw_s", &[], &[list]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sum.as_ref().and_then(AnyRef::get::<i64>), Some(&3));
}

#[test]
fn synchronous_kernels_check_counts_and_types() {
    let fail = |name: &str, arguments: &[AnyRef]| {
        let result = run_sync(name, arguments, &[]);
        result.err().map(|error| error.message().to_owned())
    };
    let mixed = [AnyRef::available(1), AnyRef::available(1.0_f32)];
    assert_eq!(
        fail("test.add_s", &mixed).as_deref(),
        Some("operand 1 of `test.add_s`: expected `i32`, found `f32`")
    );
    assert_eq!(
        fail("test.add_s", &mixed[..1]).as_deref(),
        Some("`test.add_s`: expected 2 operands, found 1")
    );
    assert_eq!(fail("test.sum_s", &[]).as_deref(), Some("nothing to add"));
}

#[test]
fn a_blocking_kernel_finishes_later() {
    let ctx = context();
    let arguments = [AnyRef::available(ByteString::from("a/"))];
    let results = run_in(
        &ctx,
        "test.blocking",
        &arguments,
        &[AttrValue::String(b"b".to_vec())],
        2,
    );
    assert!(!results[0].is_available() && !results[1].is_available());
    ctx.queue().quiesce().unwrap();
    assert_eq!(
        get::<ByteString>(&results[0]),
        Some(ByteString::from("a/b"))
    );
    assert!(results[1].is::<Chain>());
}

#[test]
fn a_cancelled_request_skips_deferred_work() {
    let ctx = context();
    let results = run_in(&ctx, "test.panic", &[], &[], 1);
    ctx.request().cancel();
    ctx.queue().quiesce().unwrap();
    assert_eq!(message(&results[0]), "Cancelled");
}

#[test]
fn a_panic_on_the_blocking_pool_is_an_error() {
    let ctx = context();
    let results = run_in(&ctx, "test.panic", &[], &[], 1);
    ctx.queue().quiesce().unwrap();
    assert_eq!(
        message(&results[0]),
        "kernel 'test.panic' panicked: no reason"
    );
}

#[test]
fn a_future_is_polled_at_once_and_then_on_the_queue() {
    let ctx = context();
    let results = run_in(
        &ctx,
        "test.add_later",
        &[AnyRef::available(1), AnyRef::available(2)],
        &[],
        1,
    );
    assert_eq!(get::<i32>(&results[0]), Some(3));

    let (promise, late) = AnyRef::indirect();
    let results = run_in(
        &ctx,
        "test.add_later",
        &[AnyRef::available(1), late],
        &[],
        1,
    );
    assert!(!results[0].is_available());
    promise.forward_to(AnyRef::available(5));
    ctx.queue().quiesce().unwrap();
    assert_eq!(get::<i32>(&results[0]), Some(6));

    let failed = run_in(
        &ctx,
        "test.add_later",
        &[AnyRef::available(1), AnyRef::error(Error::new("late"))],
        &[],
        1,
    );
    assert_eq!(message(&failed[0]), "late");
}

#[test]
fn a_function_can_have_two_names() {
    for name in ["test.one", "test.other"] {
        let results = run_in(&context(), name, &[], &[Scalar::i32(9).into()], 1);
        assert_eq!(get::<i32>(&results[0]), Some(9), "{name}");
    }
}

#[test]
fn a_kernel_can_be_registered_by_hand() {
    let mut registry = KernelRegistry::new();
    registry.add_all::<Add>().unwrap();
    let names: Vec<_> = registry.kernels().map(KernelDescriptor::name).collect();
    assert_eq!(names, ["test.add.i32", "test.add.ui32"]);
    let error = registry.add_all::<Add>().unwrap_err().to_string();
    assert!(
        error.starts_with("`test.add.i32` is registered twice: at "),
        "{error}"
    );
    assert_eq!(<Add as KernelSet>::KERNELS.len(), 2);
}

#[test]
fn types_are_those_that_are_read_and_given() {
    let types = kernel("test.increment").types();
    let index_of = |value: AnyRef| Some(value.type_id());
    assert_eq!(
        types.operands.get(0, 3),
        index_of(AnyRef::available(Counter(0)))
    );
    assert_eq!(types.operands.get(2, 3), index_of(AnyRef::ready_chain()));
    assert_eq!(types.results.get(1, 2), index_of(AnyRef::ready_chain()));
    let types = kernel("test.sum_all").types();
    assert_eq!(types.operands.get(5, 7), index_of(AnyRef::available(0)));
    assert!(types.operands.admits(6, 7, index_of(AnyRef::available(0))));
    assert!(types.operands.admits(6, 7, index_of(AnyRef::ready_chain())));
    assert!(!types.operands.admits(5, 7, index_of(AnyRef::ready_chain())));
    assert!(
        !types
            .operands
            .admits(6, 7, index_of(AnyRef::available(0_i64)))
    );
    assert_eq!(types.results.get(1, 2), index_of(AnyRef::ready_chain()));
    assert_eq!(kernel("test.identity").types().operands.get(1, 2), None);
}

#[test]
fn an_error_is_reported_once() {
    static REPORTS: AtomicUsize = AtomicUsize::new(0);
    let host = HostContext::builder()
        .diagnostic_handler(|_| {
            REPORTS.fetch_add(1, Ordering::Relaxed);
        })
        .build();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    run_in(
        &ctx,
        "test.div",
        &[AnyRef::available(1), AnyRef::available(0)],
        &[],
        2,
    );
    assert_eq!(REPORTS.load(Ordering::Relaxed), 1);
}
