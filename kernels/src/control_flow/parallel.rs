//! `tfrt.parallel_for.i32` and `tfrt.parallel_call.i32`: a body for every block of a range, on all
//! workers.
//!
//! A body without results does all its work before it returns. A body that returns a chain may
//! continue after that; the loop is done when all chains are ready. The function of a parallel call
//! may be synchronous, which is by far the cheapest form: a block is then neither a task nor an
//! invocation, and its indices are not separate values.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use tfrt::async_value::Promise;
use tfrt::host::parallel::{BlockSize, FailedBlock, parallel_for_with};
use tfrt::host::{FunctionKind, Interpreter};
use tfrt::ods::instance::OpInstance;
use tfrt::ods::verify::{Breach, region};
use tfrt::prelude::*;

use crate::op_verifiers::RETURN;

/// Runs the region for every block of `start..end`, each of the given size, with the first and the
/// end index of the block and the arguments. The chain is ready when all blocks are done.
///
/// The region returns nothing, or a chain. If chains are errors, the result is the error of the
/// lowest block. If the request is cancelled, blocks that have not started are skipped, and the
/// result is the error of the request.
///
/// # Errors
/// `Invalid parallel body function result types`; a range that ends before it starts; a block size
/// below one.
#[tfrt_kernel(
    "tfrt.parallel_for.i32",
    isolated,
    parallel,
    results(done),
    format = "$start `to` $end `fixed` operands($block_size, $arguments) (`:` type($arguments))? \
              region($body, $start, $end, $arguments)",
    verify = verify_region
)]
fn parallel_for_region(
    start: i32,
    end: i32,
    block_size: i32,
    arguments: &[AnyRef],
    #[region] body: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    run(start..end, block_size, arguments, body, ctx)
}

/// Calls the function for every block of `start..end`, each of the given size, with the first and
/// the end index of the block and the arguments. The chain is ready when all blocks are done.
///
/// The function returns nothing, or a chain. If chains are errors, the result is the error of the
/// lowest block. If the request is cancelled, blocks that have not started are skipped, and the
/// result is the error of the request.
///
/// # Errors
/// `Invalid parallel body function result types`; a range that ends before it starts; a block size
/// below one.
#[tfrt_kernel(
    "tfrt.parallel_call.i32",
    parallel,
    results(done),
    format = "$start `to` $end `fixed` $block_size $callee `(` $arguments `)` (`:` \
              type($arguments))?",
    verify = tfrt::ods::verify::callee::parallel_call
)]
fn parallel_call(
    start: i32,
    end: i32,
    block_size: i32,
    arguments: &[AnyRef],
    #[function] callee: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    run(start..end, block_size, arguments, callee, ctx)
}

fn run(
    range: Range<i32>,
    block_size: i32,
    arguments: &[AnyRef],
    body: FunctionRef,
    ctx: &ExecutionContext,
) -> Result<AsyncValueRef<Chain>> {
    if body.num_results() > 1 {
        return Err(Error::new("Invalid parallel body function result types"));
    }
    let (total, block_size) = extent(&range, block_size)?;
    let (promise, done) = AsyncValueRef::unconstructed();
    let completion = Arc::new(Completion {
        promise: Some(promise),
        first_error: Mutex::new(None),
    });
    let body = Arc::new(Body {
        num_results: body.num_results(),
        function: body,
        ctx: ctx.clone(),
        arguments: arguments.to_vec(),
        first_index: range.start,
    });
    let (in_make, in_block) = (Arc::clone(&body), Arc::clone(&completion));
    let run_block = move |inputs: &mut Inputs, block: Range<usize>| {
        let start = block.start;
        if let Some(chain) = body.run(inputs, block)? {
            let completion = Arc::clone(&in_block);
            chain.and_then(move |chain| completion.note_chain(start, chain));
        }
        Ok(())
    };
    let on_done = move |outcome: std::result::Result<(), FailedBlock>| {
        if let Err(FailedBlock { start, error }) = outcome {
            completion.note(start, error);
        }
    };
    parallel_for_with(
        ctx,
        total,
        BlockSize::Fixed(block_size),
        move || in_make.inputs(),
        run_block,
        on_done,
    );
    Ok(done)
}

/// The body of a loop, and the data shared by all its blocks.
struct Body {
    function: FunctionRef,
    num_results: usize,
    ctx: ExecutionContext,
    arguments: Vec<AnyRef>,
    first_index: i32,
}

/// The first and the end index of a block, then the arguments. Blocks that run one after another
/// change the indices only.
enum Inputs {
    /// For a synchronous function: its interpreter, or the reason why it cannot run.
    Sync(Result<Interpreter>),
    /// For any other function.
    Values(Vec<AnyRef>),
}

impl Body {
    /// Returns the inputs, whose indices change with each block.
    fn inputs(&self) -> Inputs {
        let indices = [0, 0].map(AnyRef::available).into_iter();
        let values = indices.chain(self.arguments.iter().cloned()).collect();
        match self.function.kind() {
            FunctionKind::Sync => Inputs::Sync(self.function.interpreter(&self.ctx, values)),
            FunctionKind::Async | FunctionKind::Native => Inputs::Values(values),
        }
    }

    /// Runs the body for a block. Returns its chain if it has not finished.
    #[inline]
    fn run(&self, inputs: &mut Inputs, block: Range<usize>) -> Result<Option<AnyRef>> {
        let indices = [block.start, block.end].map(|offset| index_at(self.first_index, offset));
        match inputs {
            Inputs::Sync(Ok(interpreter)) => {
                interpreter.set_arguments(indices);
                match self.num_results {
                    0 => interpreter.run(&mut [])?,
                    _ => interpreter.run(&mut [None])?,
                }
                Ok(None)
            }
            Inputs::Sync(Err(error)) => Err(error.clone()),
            Inputs::Values(values) => Ok(self.start(values, indices)),
        }
    }

    /// Starts the body for a block, if it is not a synchronous function.
    fn start(&self, values: &mut [AnyRef], indices: [i32; 2]) -> Option<AnyRef> {
        let indices = indices.map(AnyRef::available);
        values
            .iter_mut()
            .zip(indices)
            .for_each(|(value, index)| *value = index);
        let mut result = [None];
        let results = &mut result[..self.num_results];
        self.function.execute_into(&self.ctx, values, results);
        result.into_iter().flatten().next()
    }
}

/// Returns how many indices a loop has, and how many of them make a block.
fn extent(range: &Range<i32>, block_size: i32) -> Result<(usize, usize)> {
    let invalid = |text| Err(Error::new(text).with_code(ErrorCode::InvalidArgument));
    let Ok(total) = usize::try_from(i64::from(range.end) - i64::from(range.start)) else {
        return invalid(format!(
            "parallel loop must not end before it starts, but runs from {} to {}",
            range.start, range.end
        ));
    };
    match usize::try_from(block_size) {
        Ok(block_size @ 1..) => Ok((total, block_size)),
        _ => invalid(format!(
            "block size of a parallel loop must be positive, but is {block_size}"
        )),
    }
}

/// Returns the index that is `offset` after `first`. Every index of a loop lies between its start
/// and its end: nothing wraps.
fn index_at(first: i32, offset: usize) -> i32 {
    first.wrapping_add(offset as i32)
}

/// The shared state of the blocks of one loop. Running blocks hold references; dropping the last
/// one publishes the result.
struct Completion {
    /// Taken when the loop is done.
    promise: Option<Promise<Chain>>,
    /// The error of the lowest block that failed, with the first index of the block. Locked when a
    /// block fails, only.
    first_error: Mutex<Option<(usize, Error)>>,
}

impl Completion {
    /// Records the outcome of the chain of the block that starts at `index`.
    fn note_chain(&self, index: usize, chain: &AnyRef) {
        if let Some(error) = chain.error_if_present() {
            self.note(index, error.clone());
        }
    }

    /// Records that the block that starts at `index` failed.
    #[cold]
    fn note(&self, index: usize, error: Error) {
        let mut first = self
            .first_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if first
            .as_ref()
            .is_none_or(|(first_index, _)| index < *first_index)
        {
            *first = Some((index, error));
        }
    }
}

impl Drop for Completion {
    fn drop(&mut self) {
        let error = self
            .first_error
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        match (self.promise.take(), error) {
            (Some(promise), Some((_, error))) => promise.set_error(error),
            (Some(promise), None) => promise.emplace(Chain),
            (None, _) => {}
        }
    }
}

fn verify_region(op: &dyn OpInstance, breaches: &mut Vec<Breach>) {
    let mut taken = op.operand_types();
    // The body does not see how large a block is.
    taken.remove(2);
    region::takes(op, 0, &taken, "body", breaches);
    let returns_nothing = op
        .regions()
        .first()
        .is_some_and(|body| body.returns.as_deref() == Some(&[]));
    if !returns_nothing {
        region::returns(op, 0, &op.result_types(), RETURN, breaches);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op_verifiers::tests::{SampleOp, region, verdict};
    use tfrt::ods::CHAIN_TYPE;

    #[test]
    fn extents_are_checked() {
        assert_eq!(extent(&(-50..50), 9).ok(), Some((100, 9)));
        assert_eq!(
            extent(&(i32::MIN..i32::MAX), 1).ok(),
            Some((u32::MAX as usize, 1))
        );
        assert_eq!(extent(&(3..3), 1).ok(), Some((0, 1)));
        assert!(extent(&Range { start: 3, end: 2 }, 1).is_err());
        assert!(extent(&(0..3), 0).is_err());
        assert!(extent(&(0..3), -1).is_err());
    }

    #[test]
    fn indices_span_the_whole_range() {
        assert_eq!(index_at(i32::MIN, u32::MAX as usize), i32::MAX);
        assert_eq!(index_at(-50, 9), -41);
    }

    #[test]
    fn the_lowest_error_becomes_the_result() {
        let (promise, done) = AsyncValueRef::unconstructed();
        let completion = Completion {
            promise: Some(promise),
            first_error: Mutex::new(None),
        };
        completion.note(20, Error::new("later"));
        completion.note_chain(10, &AnyRef::error(Error::new("first")));
        completion.note_chain(0, &AnyRef::ready_chain());
        assert!(!done.is_available());
        drop(completion);
        assert_eq!(done.error_if_present().map(Error::message), Some("first"));
    }

    #[test]
    fn a_region_returns_nothing_or_a_chain() {
        let check = |returns, expected: &str| {
            let op = SampleOp {
                name: "tfrt.parallel_for.i32",
                operands: &["i32", "i32", "i32", "f32"],
                results: &[CHAIN_TYPE],
                regions: vec![region(&["i32", "i32", "f32"], Some(returns))],
                ..SampleOp::default()
            };
            assert_eq!(verdict(verify_region, &op), expected);
        };
        check(&[], "");
        check(&[CHAIN_TYPE], "");
        check(
            &["i32"],
            "return 0: operand types don't match 'tfrt.parallel_for.i32' result",
        );
    }
}
