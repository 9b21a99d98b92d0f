//! Kernels that run a function repeatedly and report its times.
//!
//! Runs never overlap. The first ones warm up and are not recorded. The loop ends when it has
//! recorded the requested number of runs, or when the recorded runs took the requested time.
//!
//! Work between two runs is not measured, but it adds to the total time and evicts the function's
//! data from the caches. So there is little of it: no task unless one is needed, and no memory for
//! a short run.

mod report;

use std::io;

use tfrt::async_value::Promise;
use tfrt::host::FunctionKind;
use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::{Breach, callee, region};
use tfrt::prelude::*;

use crate::text::print_line;
use report::{Recorder, Stopwatch};

/// When a benchmark ends.
#[derive(Clone, Copy, Debug)]
struct Plan {
    duration_ns: u64,
    num_warmup_runs: usize,
    max_count: usize,
}

impl Plan {
    /// Negative numbers count as zero.
    fn new(duration_secs: i32, max_count: i32, num_warmup_runs: i32) -> Self {
        Self {
            duration_ns: u64::try_from(duration_secs).unwrap_or(0) * 1_000_000_000,
            num_warmup_runs: usize::try_from(num_warmup_runs).unwrap_or(0),
            max_count: usize::try_from(max_count).unwrap_or(0),
        }
    }
}

/// Runs a region repeatedly and reports its times. Each run is a task of the work queue and ends
/// when the one value that the region returns is available. The chain is ready after the report.
///
/// A failed run or the cancellation of the request ends the benchmark; the error becomes the
/// result.
///
/// # Errors
/// `Benchmark op requires the input function have exactly one return value`.
#[tfrt_kernel(
    "tfrt_test.benchmark",
    isolated,
    effect = "io",
    chain = none,
    results(done),
    format = "$name `(` typed-operands($arguments) `)` key-values($duration_secs, $max_count, \
              $num_warmup_runs) region($body, $arguments)",
    verify = verify_benchmark
)]
fn benchmark(
    arguments: &[AnyRef],
    #[attr] duration_secs: i32,
    #[attr] max_count: i32,
    #[attr] name: &str,
    #[attr(default = 1)] num_warmup_runs: i32,
    #[region] body: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    if body.num_results() != 1 {
        return Err(Error::new(
            "Benchmark op requires the input function have exactly one return value",
        ));
    }
    let plan = Plan::new(duration_secs, max_count, num_warmup_runs);
    let (promise, done) = AsyncValueRef::unconstructed();
    let work = Box::new(Benchmark {
        ctx: ctx.clone(),
        body,
        arguments: arguments.to_vec(),
        recorder: Recorder::new(plan),
        name: name.to_owned(),
        promise,
    });
    work.enqueue_next();
    Ok(done)
}

/// After this many runs a task yields to other tasks, and continues as a new one.
const RUNS_PER_TURN: usize = 64;

/// A benchmark under way. It is moved from task to task in a box, so only the function is measured.
struct Benchmark {
    ctx: ExecutionContext,
    body: FunctionRef,
    arguments: Vec<AnyRef>,
    recorder: Recorder,
    name: String,
    promise: Promise<Chain>,
}

impl Benchmark {
    /// Enqueues the next run, or ends if there is none. A cancelled request has no next run and no
    /// report.
    fn enqueue_next(self: Box<Self>) {
        if let Some(cancelled) = cancellation(&self.ctx) {
            self.promise.set_error(cancelled);
        } else if self.recorder.is_done() {
            self.finish();
        } else {
            let ctx = self.ctx.clone();
            ctx.enqueue(move || self.take_turn());
        }
    }

    /// Performs a run, and further ones as long as each result is available when the run returns.
    fn take_turn(mut self: Box<Self>) {
        for _ in 0..RUNS_PER_TURN {
            let stopwatch = Stopwatch::start();
            let mut result = [None];
            self.body
                .execute_into(&self.ctx, &self.arguments, &mut result);
            let [result] = result;
            let result = result.unwrap_or_else(AnyRef::ready_chain);
            if !result.is_available() {
                return result.and_then(move |result| match result.error_if_present() {
                    Some(error) => self.promise.set_error(error.clone()),
                    None => {
                        self.recorder.record(stopwatch.elapsed());
                        self.enqueue_next();
                    }
                });
            }
            if let Some(error) = result.error_if_present() {
                return self.promise.set_error(error.clone());
            }
            self.recorder.record(stopwatch.elapsed());
            if self.recorder.is_done() || self.is_cancelled() || !self.is_next_task() {
                break;
            }
        }
        self.enqueue_next();
    }

    fn is_cancelled(&self) -> bool {
        self.ctx.request().cancel_value().is_some()
    }

    /// Returns `true` if a task that this one adds would run next, so its work can be done in
    /// place. If tasks run in parallel, there is no order to keep.
    fn is_next_task(&self) -> bool {
        let queue = self.ctx.queue();
        queue.parallelism_level() > 1 || queue.num_pending_tasks() == Some(0)
    }

    fn finish(self: Box<Self>) {
        match print_report(self.recorder, &self.name) {
            Ok(()) => self.promise.emplace(Chain),
            Err(error) => self.promise.set_error(self.ctx.emit_error(error.into())),
        }
    }
}

/// Returns the error of a cancelled request.
fn cancellation(ctx: &ExecutionContext) -> Option<Error> {
    ctx.request().cancel_value()?.error_if_present().cloned()
}

fn print_report(recorder: Recorder, name: &str) -> io::Result<()> {
    recorder.report().lines(name).try_for_each(print_line)
}

fn verify_benchmark(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    region::takes(op, 0, &op.operand_types(), "body", breaches);
    match op
        .regions()
        .first()
        .map(|body| body.returns.as_ref().map(Vec::len))
    {
        Some(None) => breaches.push(Breach::op("missing return statement")),
        Some(Some(1)) | None => {}
        Some(Some(_)) => breaches.push(Breach::op(
            "incorrect number of return values. One return value is expected",
        )),
    }
}

/// Runs a synchronous function repeatedly and reports its times.
///
/// # Errors
/// `SyncBenchmark op requires the input function be a sync function`,
/// `SyncBenchmark op requires the input function have zero return value`,
/// `Incorrect number of arguments for the target function for the SyncBenchmark op`, and those of
/// the function.
#[tfrt_kernel(
    "tfrt_test.sync_benchmark",
    raw,
    sync,
    operands(arguments: variadic any),
    attrs(duration_secs: i32, max_count: i32, num_warmup_runs: i32 = 1),
    symbols(target_fn),
    format = "$target_fn `(` typed-operands($arguments) `)` key-values($duration_secs, \
              $max_count, $num_warmup_runs)",
    verify = verify_sync_benchmark
)]
fn sync_benchmark(frame: &mut KernelFrame<'_>) -> Result<()> {
    let target = frame.function(0)?;
    if target.kind() != FunctionKind::Sync {
        return Err(Error::new(
            "SyncBenchmark op requires the input function be a sync function",
        ));
    }
    if target.num_results() != 0 {
        return Err(Error::new(
            "SyncBenchmark op requires the input function have zero return value",
        ));
    }
    if target.num_arguments() != frame.num_arguments() {
        return Err(Error::new(
            "Incorrect number of arguments for the target function for the SyncBenchmark op",
        ));
    }
    let plan = Plan::new(
        frame.attribute::<i32>(0)?,
        frame.attribute::<i32>(1)?,
        frame.attribute::<i32>(2)?,
    );
    let mut recorder = Recorder::new(plan);
    let mut interpreter = target.interpreter(frame.exec_ctx(), frame.arguments().to_vec())?;
    while !recorder.is_done() {
        // No kernel of the target looks at the request.
        if let Some(cancelled) = cancellation(frame.exec_ctx()) {
            return Err(cancelled);
        }
        let stopwatch = Stopwatch::start();
        interpreter.run(&mut [])?;
        recorder.record(stopwatch.elapsed());
    }
    Ok(print_report(recorder, target.name())?)
}

fn verify_sync_benchmark(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    if let Some(target) = callee::resolve(op, "target_fn", breaches) {
        // Results are counted below, in words of this op.
        callee::matches(
            &target,
            &op.operand_types(),
            &target.results,
            "callee",
            breaches,
        );
        if !target.results.is_empty() {
            breaches.push(Breach::op(
                "Target benchmark function must return zero value.",
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, region, signature, symbol, verdict};

    #[test]
    fn a_region_returns_one_value() {
        let check = |returns, expected: &str| {
            let op = SampleOp {
                operands: &["i32"],
                regions: vec![region(&["i32"], returns)],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify_benchmark, &op), expected);
        };
        check(Some(&["i32"]), "");
        check(
            Some(&[]),
            "incorrect number of return values. One return value is expected",
        );
        check(None, "missing return statement");
    }

    #[test]
    fn a_target_takes_the_operands_and_returns_nothing() {
        let check = |target, expected: &str| {
            let op = SampleOp {
                operands: &["i32"],
                attributes: vec![("target_fn", symbol("f"))],
                functions: vec![("f", target)],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify_sync_benchmark, &op), expected);
        };
        check(signature(&["i32"], &[]), "");
        check(
            signature(&[], &[]),
            "incorrect number of operands for callee",
        );
        check(
            signature(&["i32"], &["i32"]),
            "Target benchmark function must return zero value.",
        );
    }
}
