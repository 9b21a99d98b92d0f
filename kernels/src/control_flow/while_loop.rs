//! `tfrt.while`: a loop whose body determines its end.
//!
//! The body takes the carried values, and returns those of the next iteration and whether there is
//! one. If the condition is not available when the body returns, the loop continues as a task of
//! the work queue once it is: nesting does not grow with the number of iterations.

use tfrt::async_value::run_when_ready;
use tfrt::host::Rounds;
use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::{Breach, callee};
use tfrt::prelude::*;

use super::{Carried, Pending};
use crate::op_verifiers::{check_carried, function_if_defined};

/// Calls the function as long as the condition is true. It returns the carried values and the next
/// condition; the results are the last carried values.
///
/// Carried values that are errors do not end the loop; a condition that is an error does, and
/// becomes every result once all carried values are available. A cancelled request ends it too.
#[tfrt_kernel(
    "tfrt.while",
    non_strict,
    forwards,
    loops,
    results(values),
    format = "$condition $body_fn `(` $arguments `)` attr-dict `parallel_iterations` `(` \
              $parallel_iterations `)` `:` signature($arguments, $values)",
    verify = verify
)]
fn while_loop(
    condition: bool,
    arguments: &[AnyRef],
    #[function] body_fn: FunctionRef,
    #[attr] _parallel_iterations: i64,
    ctx: &ExecutionContext,
) -> Vec<AnyRef> {
    let (results, values) = Pending::new(arguments.len());
    let work = While {
        ctx: ctx.clone(),
        body: body_fn,
        carried: Carried::new(arguments),
        results,
    };
    work.run(condition);
    values
}

/// A loop under way.
#[derive(Debug)]
struct While {
    ctx: ExecutionContext,
    body: FunctionRef,
    carried: Carried,
    results: Pending,
}

impl While {
    fn run(mut self, mut condition: bool) {
        while condition {
            let values = &mut self.carried.values;
            // Rounds that need not wait run in place; the loop goes on from where they end.
            if self
                .body
                .execute_rounds(&self.ctx, Rounds::WhileTrue, values)
                == 0
            {
                if let Some(cancelled) = self.ctx.request().cancel_value() {
                    return self.results.forward_all_to(cancelled);
                }
                self.carried.advance(&self.body, &self.ctx);
            }
            let Some(next) = self.carried.values.pop() else {
                let error = Error::new("the body of a while loop did not return a condition");
                return self
                    .results
                    .forward_all_to(&AnyRef::error(self.ctx.emit_error(error)));
            };
            if !next.is_available() {
                return next.and_then(move |next| {
                    let (next, ctx) = (next.clone(), self.ctx.clone());
                    ctx.enqueue(move || self.go_on(&next));
                });
            }
            match self.known(&next) {
                Some(next) => condition = next,
                None => return self.fail(next),
            }
        }
        self.results.forward_to(self.carried.values);
    }

    /// Continues when the condition is available.
    fn go_on(self, condition: &AnyRef) {
        match self.known(condition) {
            Some(condition) => self.run(condition),
            None => self.fail(condition.clone()),
        }
    }

    /// Returns the truth value of an available condition, or `None` if it is an error.
    fn known(&self, condition: &AnyRef) -> Option<bool> {
        condition.get().copied()
    }

    /// Ends the loop with the error in the condition, once the last iteration has finished.
    fn fail(self, condition: AnyRef) {
        let error = if condition.is_error() {
            condition
        } else {
            let found = condition.mlir_type().unwrap_or("nothing");
            let error = Error::new(format!(
                "the condition of a while loop must be `i1`, but is `{found}`"
            ));
            AnyRef::error(
                self.ctx
                    .emit_error(error.with_code(ErrorCode::InvalidArgument)),
            )
        };
        let results = self.results;
        run_when_ready(&self.carried.values, move || results.forward_all_to(&error));
    }
}

/// A function that does not exist is reported when the program is converted.
fn verify(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let (operands, results) = (op.operand_types(), op.result_types());
    let carried = operands.get(1..).unwrap_or_default();
    check_carried(carried, &results, breaches);
    if let Some(body) = function_if_defined(op, "body_fn") {
        let mut returned = results;
        returned.push("i1".into());
        callee::matches(&body, carried, &returned, "body function", breaches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, signature, symbol, verdict};

    #[test]
    fn the_body_returns_what_it_takes_and_a_condition() {
        let check = |body, results, expected: &str| {
            let op = SampleOp {
                operands: &["i1", "i32"],
                results,
                attributes: vec![("body_fn", symbol("body"))],
                functions: vec![("body", body)],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify, &op), expected);
        };
        check(signature(&["i32"], &["i32", "i1"]), &["i32"], "");
        check(
            signature(&["i32"], &["i32"]),
            &["i32"],
            "incorrect number of results for body function",
        );
        check(
            signature(&["i64"], &["i32", "i1"]),
            &["i32"],
            "operand type mismatch for body function",
        );
        check(
            signature(&["i32"], &["i32", "i32"]),
            &["i32"],
            "result type mismatch for body function",
        );
    }
}
