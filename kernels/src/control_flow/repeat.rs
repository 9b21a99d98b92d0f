//! `tfrt.repeat.i32`: a loop with a known number of iterations.
//!
//! An iteration starts without waiting for the previous one, so iterations overlap as far as their
//! carried values allow. After each block of iterations the loop waits until the first carried
//! value is available, which bounds the amount of unfinished work:
//!
//! ```text
//!  run ──► round ─► round ─► … ─► round ──► last one? ── yes ──► results := carried values
//!   ▲      └──────── a block ──────────┘        │ no
//!   └──── when the first carried value arrives ─┘
//! ```
//!
//! If it is already available, the loop continues in place: nesting does not grow with the number
//! of iterations.
//!
//! Iterations that carry copied payloads and do not have to wait pass them on without creating
//! values ([`FunctionRef::execute_rounds`]).

use tfrt::host::Rounds;
use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::Breach;
use tfrt::prelude::*;

use super::{Carried, Pending};
use crate::op_verifiers::{check_body, check_carried};

/// Runs the region `count` times, with the results of each iteration as the arguments of the next.
/// The results are those of the last iteration, or the arguments if there is none.
///
/// Values that are errors do not end the loop. If the request is cancelled, the loop ends and every
/// result is the error of the request.
///
/// # Errors
/// If the count is negative.
#[tfrt_kernel(
    "tfrt.repeat.i32",
    non_strict,
    forwards,
    loops,
    isolated,
    results(values),
    format = "operands expect($count, \"trip count\") attr-dict-or-keyword (`:` \
              type-list($arguments, $values))? region($body, $arguments)",
    verify = verify
)]
fn repeat(
    count: i32,
    arguments: &[AnyRef],
    #[region] body: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    let num_rounds = u32::try_from(count).map_err(|_| {
        Error::new(format!("repeat count must not be negative, but is {count}"))
            .with_code(ErrorCode::InvalidArgument)
    })?;
    let (results, values) = Pending::new(arguments.len());
    let work = Repeat {
        ctx: ctx.clone(),
        body,
        num_rounds,
        next_round: 0,
        carried: Carried::new(arguments),
        results,
    };
    work.run(0);
    Ok(values)
}

/// The number of iterations that are started before the loop checks the progress of the first one.
const ROUNDS_PER_BLOCK: u32 = 32;

/// After how many waits the loop continues as a task of the work queue, with an empty stack: a
/// waiter that is registered just as the value arrives runs at once, on top of the loop that
/// registered it.
const WAITS_PER_TASK: u32 = 32;

/// A loop under way.
#[derive(Debug)]
struct Repeat {
    ctx: ExecutionContext,
    body: FunctionRef,
    num_rounds: u32,
    next_round: u32,
    carried: Carried,
    results: Pending,
}

impl Repeat {
    fn run(mut self, num_waits: u32) {
        while self.next_round < self.num_rounds {
            if !self.run_block() {
                return self.cancel();
            }
            if let Some(first) = self.carried.values.first()
                && self.next_round < self.num_rounds
                && !first.is_available()
            {
                let first = first.clone();
                return first.and_then(move |_| self.go_on(num_waits));
            }
        }
        self.results.forward_to(self.carried.values);
    }

    fn go_on(self, num_waits: u32) {
        if num_waits < WAITS_PER_TASK {
            self.run(num_waits + 1);
        } else {
            let ctx = self.ctx.clone();
            ctx.enqueue(move || self.run(0));
        }
    }

    /// Runs the next blocks of iterations as long as none has to wait, and one more. Returns
    /// `false` if the request was cancelled before one of them.
    fn run_block(&mut self) -> bool {
        let first_round = self.next_round;
        let most = Rounds::Count(self.num_rounds - first_round);
        let values = &mut self.carried.values;
        let num_in_place = self.body.execute_rounds(&self.ctx, most, values);
        self.next_round += num_in_place;
        let end = match self.carried.values.is_empty() {
            true => self.num_rounds,
            false => {
                let num_blocks = num_in_place.div_ceil(ROUNDS_PER_BLOCK).max(1);
                let end = first_round.saturating_add(num_blocks.saturating_mul(ROUNDS_PER_BLOCK));
                self.num_rounds.min(end)
            }
        };
        while self.next_round < end {
            if self.ctx.request().is_cancelled() {
                return false;
            }
            self.carried.advance(&self.body, &self.ctx);
            self.next_round += 1;
        }
        true
    }

    fn cancel(self) {
        // What was carried goes before anybody sees the results.
        drop(self.carried);
        if let Some(cancelled) = self.ctx.request().cancel_value() {
            self.results.forward_all_to(cancelled);
        }
    }
}

fn verify(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let operands = op.operand_types();
    let carried = operands.get(1..).unwrap_or_default();
    check_carried(carried, &op.result_types(), breaches);
    check_body(op, carried, breaches);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, region, verdict};

    #[test]
    fn carried_values_keep_their_types() {
        let check = |results, returns, expected: &str| {
            let op = SampleOp {
                name: "tfrt.repeat.i32",
                operands: &["i32", "i64"],
                results,
                regions: vec![region(&["i64"], returns)],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify, &op), expected);
        };
        check(&["i64"], Some(&["i64"]), "");
        check(
            &["i64", "i64"],
            Some(&["i64", "i64"]),
            "incorrect number of operands",
        );
        check(&["i32"], Some(&["i32"]), "operand/result type mismatch");
        check(
            &["i64"],
            Some(&["i32"]),
            "return 0: operand types don't match 'tfrt.repeat.i32' result",
        );
        check(&["i64"], None, "expected tfrt.return in body");
    }
}
