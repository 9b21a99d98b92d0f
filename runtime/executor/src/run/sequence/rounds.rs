//! Rounds of a function: runs of its schedule, each with the results of the one before as its
//! arguments.
//!
//! ```text
//!   values ─► frame ─► kernels ─► results ─┐
//!               ▲                          │ the next round, in the other frame: cell to cell
//!               └──────────────────────────┘
//! ```
//!
//! Two frames alternate, so that a result may be copied to an argument whose old value another
//! result still has. Only what a loop carries in cells is passed in this way: payloads that are
//! copied, which nobody can tell from the values that they would have been.

use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_async::dropping::report_to;
use tfrt_bef::FunctionId;
use tfrt_host::__runtime::DirectCall;
use tfrt_host::{ExecutionContext, Rounds};

use super::transfer::{Outcome, Transfer, Values, take_results};
use super::{follow_in, is_followed, leaf};
use crate::lower::code::Schedule;
use crate::run::body::Body;
use crate::run::frame::Frame;
use crate::run::links::Carrying;
use crate::run::nesting::Nesting;
use crate::run::program::{FunctionBody, Program};

/// Runs rounds of function `id`; see
/// [`FunctionTable::execute_rounds`](tfrt_host::__runtime::FunctionTable::execute_rounds).
pub(crate) fn run(
    program: &Arc<Program>,
    id: FunctionId,
    ctx: &ExecutionContext,
    rounds: Rounds,
    values: &mut Vec<AnyRef>,
) -> u32 {
    let Ok(FunctionBody::Async(body)) = program.body(id) else {
        return 0;
    };
    let function = program.entry(id);
    let carrying = || Carrying::of(&body.code, &function.fixed_arguments);
    let Some(carrying) = body.carrying.get_or_init(carrying) else {
        return 0;
    };
    let max_rounds = match (rounds, carrying.condition) {
        (Rounds::Count(count), None) => count,
        (Rounds::WhileTrue, Some(_)) => u32::MAX,
        _ => return 0,
    };
    // Several streams may be shared between threads, which is decided anew for each run.
    let is_suited = max_rounds > 0
        && matches!(body.code.schedule, Some(Schedule::Exact))
        && is_followed(body, ctx)
        && ctx.call_depth() < ctx.host().limits().max_call_depth
        && values.len() == function.argument_types.len()
        && function.check_types(values).is_ok();
    if !is_suited {
        return 0;
    }
    Frame::with(&body.code, |first| {
        Frame::with(&body.code, |second| {
            let mut series = Series {
                carrying,
                values,
                previous: None,
                has_left: false,
            };
            let frames = [first, second];
            let run_all = || run_all(program, body, ctx, frames, max_rounds, &mut series);
            report_to(ctx, run_all)
        })
    })
}

fn run_all<'f>(
    program: &Arc<Program>,
    body: &Body,
    ctx: &ExecutionContext,
    [mut frame, mut other]: [Frame<'f>; 2],
    max_rounds: u32,
    series: &mut Series<'_, 'f>,
) -> u32 {
    // The rounds follow one another, so all of them count as one function: the last one is the only
    // one that may leave its schedule.
    let Some(nesting) = Nesting::enter_run(ctx.host()) else {
        return 0;
    };
    let mut num_rounds = 0;
    let (request, idle) = (&**ctx.request(), DirectCall::idle(ctx));
    while num_rounds < max_rounds && request.cancel_value().is_none() {
        let outcome = if leaf::is_leaf(body) {
            // Rounds leave constants in place, so each frame is given them once, in the first two
            // rounds.
            if num_rounds < 2 {
                body.constants.put_made(frame);
            }
            leaf::follow_in(program, body, &idle, frame, &nesting, series)
        } else {
            follow_in(program, body, ctx, frame, &nesting, None, series)
        };
        if outcome == Outcome::Refused {
            break;
        }
        num_rounds += 1;
        if series.has_left {
            return num_rounds;
        }
        series.previous = Some(frame);
        let condition = series.carrying.condition;
        if condition.is_some_and(|condition| !frame.is_true(condition)) {
            break;
        }
        std::mem::swap(&mut frame, &mut other);
    }
    if let Some(last) = series.previous {
        let mut results = vec![None; body.code.results.len()];
        take_results(last, &mut results, true);
        series.replace_values(results);
    }
    num_rounds
}

/// Rounds of one function.
struct Series<'a, 'f> {
    carrying: &'a Carrying,
    /// The arguments of the first round, or the results of a round that has left its schedule.
    values: &'a mut Vec<AnyRef>,
    /// The frame of the round before, with its results.
    previous: Option<Frame<'f>>,
    /// Whether a round has left its schedule.
    has_left: bool,
}

impl Series<'_, '_> {
    #[cold]
    fn put_first_arguments(&self, callee: Frame<'_>) -> bool {
        let (arguments, results) = (&*self.values, &mut []);
        Values { arguments, results }.put_arguments(callee)
    }

    fn replace_values(&mut self, results: Vec<Option<AnyRef>>) {
        self.values.clear();
        self.values.extend(results.into_iter().flatten());
    }
}

impl Transfer for Series<'_, '_> {
    #[inline]
    fn put_arguments(&mut self, callee: Frame<'_>) -> bool {
        let Some(previous) = self.previous else {
            return self.put_first_arguments(callee);
        };
        callee.copy_cells(&self.carrying.copies, previous);
        true
    }

    /// The results stay where they are, for the next round.
    #[inline]
    fn take_results(&mut self, _callee: Frame<'_>) {}

    fn take_list(&mut self, num_results: usize, fill: impl FnOnce(&mut [Option<AnyRef>])) {
        let mut results = vec![None; num_results];
        fill(&mut results);
        self.replace_values(results);
        self.has_left = true;
    }
}
