//! `tfrt.if` and `tfrt.cond`: one of two functions, by a Boolean; `tfrt.select`: one of two values.

use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::{Breach, region};
use tfrt::prelude::*;

use crate::op_verifiers::RETURN;

/// Runs one of two regions: the first if the condition is true, the second otherwise. The results
/// are those of the region.
///
/// Without results, the second region may be omitted.
#[tfrt_kernel(
    "tfrt.if",
    raw,
    non_strict,
    forwards,
    chooses,
    isolated,
    operands(condition: "i1", arguments: ref variadic any),
    results(values: variadic any),
    regions(then, otherwise),
    format = "operands attr-dict-or-keyword `:` signature($arguments, $values) expect($condition, \
              \"condition\") region($then, $arguments) (`else` region($otherwise, $arguments) | \
              empty-region($otherwise, $arguments, \"tfrt.return\"))",
    verify = verify_regions
)]
fn if_then_else(frame: &mut KernelFrame<'_>) {
    choose(frame);
}

/// Calls one of two functions: the first if the condition is true, the second otherwise. The
/// results are those of the function.
#[tfrt_kernel(
    "tfrt.cond",
    raw,
    non_strict,
    forwards,
    chooses,
    operands(condition: "i1", arguments: ref variadic any),
    results(values: variadic any),
    symbols(a_true_fn, b_false_fn),
    format = "$condition $a_true_fn $b_false_fn `(` $arguments `)` attr-dict `:` \
              signature($arguments, $values)",
    verify = tfrt::ods::verify::callee::condition
)]
fn cond(frame: &mut KernelFrame<'_>) {
    choose(frame);
}

/// Runs the first or the second function, depending on the first operand.
fn choose(frame: &mut KernelFrame<'_>) {
    let chosen = frame
        .value::<bool>(0)
        .and_then(|condition| frame.function(usize::from(!*condition)));
    match chosen {
        Ok(function) => {
            function.execute_into(frame.exec_ctx(), &frame.arguments()[1..], frame.results())
        }
        Err(error) => frame.report_error(error),
    }
}

/// Returns the second operand if the first is true, and the third otherwise, without waiting for
/// the other one.
#[tfrt_kernel(
    "tfrt.select",
    raw,
    non_strict,
    operands(condition: "i1", if_true: ref any, if_false: ref same_as(if_true)),
    results(chosen: same_as(if_true))
)]
fn select(frame: &mut KernelFrame<'_>) {
    match frame.value::<bool>(0) {
        Ok(condition) => {
            let chosen = frame.argument(if *condition { 1 } else { 2 }).clone();
            frame.set_result(0, chosen);
        }
        Err(error) => frame.report_error(error),
    }
}

fn verify_regions(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    let arguments = operands.get(1..).unwrap_or_default();
    region::takes(op, 0, arguments, "then", breaches);
    region::takes(op, 1, arguments, "else", breaches);
    region::returns(op, 0, &results, RETURN, breaches);
    region::returns(op, 1, &results, RETURN, breaches);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, region, verdict};

    /// Arguments, and what is returned.
    type Region = (&'static [&'static str], Option<&'static [&'static str]>);

    #[test]
    fn regions_take_the_operands_and_return_the_results() {
        let check = |then: Region, otherwise: Region, expected: &str| {
            let op = SampleOp {
                name: "tfrt.if",
                operands: &["i1", "i32"],
                results: &["i64"],
                regions: vec![region(then.0, then.1), region(otherwise.0, otherwise.1)],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify_regions, &op), expected);
        };
        let good: Region = (&["i32"], Some(&["i64"]));
        check(good, good, "");
        check(
            (&[], Some(&["i64"])),
            good,
            "incorrect number of arguments to 'then' block",
        );
        check(
            good,
            (&[], Some(&["i64"])),
            "incorrect number of arguments to 'else' block",
        );
        check(
            (&["i64"], Some(&["i64"])),
            good,
            "operand/argument type mismatch",
        );
        check((&["i32"], None), good, "expected tfrt.return in body");
        check(
            good,
            (&["i32"], Some(&["i32"])),
            "return 1: operand types don't match 'tfrt.if' result",
        );
    }
}
