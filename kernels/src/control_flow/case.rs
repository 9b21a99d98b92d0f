//! `tfrt.case`: one of many functions, by number.

use tfrt::ods::instance::{AttrInstance, OpInstance};
use tfrt::ods::verify::{Breach, callee};
use tfrt::prelude::*;

/// Calls the function at this position of a list, with a chain and the arguments. The first
/// argument and the first result of each function are chains.
///
/// # Errors
/// `branch_index invalid. branch index: I # branches: N`, with code `InvalidArgument`, if the list
/// has no such position.
#[tfrt_kernel(
    "tfrt.case",
    raw,
    non_strict,
    forwards,
    named_results,
    operands(branch_index: "i32", in_op_chain: ref "!tfrt.chain", branch_operands: ref variadic any),
    results(out_op_chain: "!tfrt.chain", branch_outputs: variadic any),
    symbol_list(branches),
    format = "$branch_index $branches `(` operands($in_op_chain, $branch_operands) `)` attr-dict \
              `:` signature($branch_operands, $branch_outputs)",
    verify = verify
)]
fn case(frame: &mut KernelFrame<'_>) {
    match branch(frame) {
        Ok(branch) => {
            branch.execute_into(frame.exec_ctx(), &frame.arguments()[1..], frame.results())
        }
        Err(error) => frame.report_error(error),
    }
}

fn branch(frame: &KernelFrame<'_>) -> Result<FunctionRef> {
    let (index, num_branches) = (*frame.value::<i32>(0)?, frame.num_functions());
    match usize::try_from(index) {
        Ok(position) if position < num_branches => frame.function(position),
        _ => {
            let text =
                format!("branch_index invalid. branch index: {index} # branches: {num_branches}");
            Err(Error::new(text).with_code(ErrorCode::InvalidArgument))
        }
    }
}

/// Functions that do not exist are reported when the program is converted.
fn verify(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let Some(AttrInstance::Array(branches)) = op.attribute("branches") else {
        return;
    };
    if branches.is_empty() {
        breaches.push(Breach::op("requires one branch at least"));
    }
    let (operands, results) = (op.operand_types(), op.result_types());
    for (index, branch) in branches.iter().enumerate() {
        if let AttrInstance::Symbol(symbol, false) = branch
            && let Some(function) = op.resolve(symbol)
        {
            let what = format!("branch {index}");
            callee::matches(
                &function,
                operands.get(1..).unwrap_or_default(),
                &results,
                &what,
                breaches,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, signature, symbol, verdict};

    #[test]
    fn every_branch_takes_the_chain_and_the_arguments() {
        let check = |branches: &[&'static str], expected: &str| {
            let op = SampleOp {
                operands: &["i32", "!tfrt.chain", "i32"],
                results: &["!tfrt.chain", "i32"],
                attributes: vec![(
                    "branches",
                    AttrInstance::Array(branches.iter().copied().map(symbol).collect()),
                )],
                functions: vec![
                    (
                        "good",
                        signature(&["!tfrt.chain", "i32"], &["!tfrt.chain", "i32"]),
                    ),
                    ("chainless", signature(&["i32"], &["!tfrt.chain", "i32"])),
                ],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify, &op), expected);
        };
        check(&["good", "good", "declared elsewhere"], "");
        check(
            &["good", "chainless"],
            "incorrect number of operands for branch 1",
        );
        check(&[], "requires one branch at least");
    }
}
