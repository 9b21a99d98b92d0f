//! Runs nests.
#![expect(
    unsafe_code,
    reason = "calls kernels on frames that were laid out for them"
)]

use std::cell::Cell as StdCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::slice;

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_host::ExecutionContext;
use tfrt_host::function::FunctionTable;
use tfrt_host::kernel::direct::{DirectCall, DirectFn};
use tfrt_host::kernel::{AttributeList, FunctionList};

use super::worth::Watch;
use super::{Callee, Nest, Reader, Step};
use crate::body::Words;
use crate::call;
use crate::company;
use crate::constants::Word;
use crate::program::Program;

/// Words that the frames of a nest may have together: 32 MiB.
const MAX_STACK_WORDS: usize = 1 << 22;

/// Words that a thread keeps for its next nest: 2 MiB.
const MAX_SPARE_WORDS: usize = 1 << 18;

thread_local! {
    /// Memory of frames that no nest uses at the moment.
    static SPARE: StdCell<Vec<Word>> = const { StdCell::new(Vec::new()) };
}

/// Something is out of the ordinary: the general way has to find out what.
#[derive(Debug)]
struct Abandoned;

/// A function that has called another one.
#[derive(Debug)]
struct Caller<'a> {
    nest: &'a Nest,
    steps: slice::Iter<'a, Step>,
    /// Where its frame begins.
    base: usize,
    /// The words that the results go to.
    results: Words,
}

/// What a nest has at hand.
#[derive(Clone, Copy, Debug)]
struct Surroundings<'a> {
    program: &'a Program,
    ctx: &'a ExecutionContext,
    /// How many functions may call each other.
    max_depth: usize,
}

impl Nest {
    /// Runs the function, called from `ctx`, to its end. False, and nothing done, if it cannot be run so this time.
    pub(crate) fn run(
        &self,
        program: &Program,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> bool {
        let Some(whole) = self.whole(program, ctx) else {
            return false;
        };
        let parallelism_level = ctx.queue().parallelism_level();
        let is_shared = parallelism_level > 1 && !whole.is_in_order;
        let is_unseen = || self.timing.is_late && company::is_alone(ctx);
        if !(is_shared || whole.is_in_order || is_unseen()) || !self.worth.is_to_be_tried() {
            return false;
        }
        // Without calls, one run takes about as long as the next one.
        let is_timed = is_shared && (!self.calls.is_empty() || self.worth.is_to_be_timed());
        let surroundings = Surroundings {
            program,
            ctx,
            max_depth: (ctx.host().limits().max_call_depth - ctx.call_depth()) as usize,
        };
        let mut words = SPARE.try_with(StdCell::take).unwrap_or_default();
        let is_done = self.fill_arguments(&mut words, arguments).is_ok()
            && self.run_filled(
                surroundings,
                &mut words,
                is_timed.then_some(parallelism_level),
            );
        if is_done {
            for (result, cell) in results.iter_mut().zip(&self.results) {
                let payload = NonNull::from(&mut words[cell.word as usize..]).cast::<u8>();
                // SAFETY: N2: a payload of this type has been written; it is copied.
                let value = unsafe { AnyRef::given_from_copied(cell.ty, payload.as_ptr()) };
                *result = Some(value);
            }
            if !whole.is_in_order && !is_shared {
                give_later(ctx, results);
            }
        }
        if words.len() <= MAX_SPARE_WORDS {
            let _ = SPARE.try_with(|spare| spare.set(words));
        }
        is_done
    }

    /// Runs the steps, with the arguments in the first frame, and learns from that. `timed_for` is for how many threads it is timed, if
    /// it is.
    fn run_filled(
        &self,
        surroundings: Surroundings<'_>,
        words: &mut Vec<Word>,
        timed_for: Option<usize>,
    ) -> bool {
        let run_all = || {
            let mut watch = timed_for.map(Watch::start);
            self.run_steps(surroundings, words, watch.as_mut())?;
            Ok(watch.is_some_and(|watch| watch.was_too_much()))
        };
        let outcome = catch_unwind(AssertUnwindSafe(run_all)).unwrap_or_else(|payload| {
            call::drop_quietly(payload);
            Err(Abandoned)
        });
        match outcome {
            Ok(false) => self.worth.succeeded(),
            // Says nothing of other requests.
            Err(Abandoned) if surroundings.ctx.request().cancel_value().is_some() => {}
            Ok(true) | Err(Abandoned) => self.worth.failed(),
        }
        outcome.is_ok()
    }

    /// Makes the first frame and puts arguments into it, if they are what the steps read.
    fn fill_arguments(&self, words: &mut Vec<Word>, arguments: &[AnyRef]) -> Result<(), Abandoned> {
        self.begin_frame(words, 0)?;
        let mut rest = &mut **words;
        for (argument, &ty) in arguments.iter().zip(&self.arguments) {
            if !argument.is_concrete() || argument.type_id() != ty {
                return Err(Abandoned);
            }
            let size = ty.copied_layout().map_or(0, |layout| layout.size());
            let (place, others) = rest.split_at_mut(size.div_ceil(size_of::<Word>()));
            // SAFETY: the argument is concrete, and of this type; the place is large enough for its payload, and aligned as any
            // copied payload is.
            unsafe { argument.copy_payload_to(place.as_mut_ptr().cast()) };
            rest = others;
        }
        Ok(())
    }

    /// Runs the steps of the function and of those that it calls, as long as it is not too much for `watch`. The first frame has its
    /// arguments.
    fn run_steps(
        &self,
        surroundings: Surroundings<'_>,
        words: &mut Vec<Word>,
        mut watch: Option<&mut Watch>,
    ) -> Result<(), Abandoned> {
        let Surroundings {
            program,
            ctx,
            max_depth,
        } = surroundings;
        let request = ctx.request();
        let idle = DirectCall::idle(ctx);
        let mut callers: Vec<Caller<'_>> = Vec::new();
        let mut until_look = watch
            .as_ref()
            .map_or(usize::MAX, |watch| watch.until_look());
        let (mut nest, mut base, mut steps) = (self, 0, self.steps.iter());
        let mut registers = frame_at(words, base);
        loop {
            let Some(step) = steps.next() else {
                let Some(caller) = callers.pop() else {
                    return Ok(());
                };
                let from = nest.words(nest.result_words).iter();
                let to = caller.nest.words(caller.results).iter();
                for (&from, &to) in from.zip(to) {
                    words[caller.base + to as usize] = words[base + from as usize];
                }
                (nest, base, steps) = (caller.nest, caller.base, caller.steps);
                registers = frame_at(words, base);
                continue;
            };
            if request.cancel_value().is_some() {
                return Err(Abandoned);
            }
            until_look -= 1;
            if until_look == 0 {
                until_look = look(&mut watch)?;
            }
            match *step {
                Step::Run(run, offsets) => nest.call(run, &idle, registers, offsets)?,
                Step::Read(index) => {
                    nest.read(&nest.readers[index as usize], program, ctx, registers)?
                }
                Step::Call(index) => {
                    let call = &nest.calls[index as usize];
                    let function = match call.callee {
                        Callee::Always(function) => function,
                        Callee::Either(word, [first, second]) => {
                            match is_true(words[base + word as usize]) {
                                true => first,
                                false => second,
                            }
                        }
                    };
                    let callee = Self::of_function(program, function).ok_or(Abandoned)?;
                    if callers.len() + 1 >= max_depth {
                        return Err(Abandoned);
                    }
                    let callee_base = base + nest.num_words as usize;
                    callee.begin_frame(words, callee_base)?;
                    for (to, &from) in (callee_base..).zip(nest.words(call.arguments)) {
                        words[to] = words[base + from as usize];
                    }
                    callers.push(Caller {
                        nest,
                        steps,
                        base,
                        results: call.results,
                    });
                    (nest, base, steps) = (callee, callee_base, callee.steps.iter());
                    registers = frame_at(words, base);
                }
            }
        }
    }

    /// Makes room for a frame, and puts the constants into it.
    fn begin_frame(&self, words: &mut Vec<Word>, base: usize) -> Result<(), Abandoned> {
        let end = base + self.num_words as usize;
        if end > words.len() {
            if end > MAX_STACK_WORDS {
                return Err(Abandoned);
            }
            words.resize(end.next_power_of_two(), Word::uninit());
        }
        if self.first_constant < self.num_words {
            let constants = self.constants.get().and_then(Option::as_deref);
            words[base + self.first_constant as usize..end]
                .copy_from_slice(constants.ok_or(Abandoned)?);
        }
        Ok(())
    }

    /// The constants of a frame, made now if they were not before; nothing if one of them fails.
    pub(super) fn constants(&self, program: &Program, ctx: &ExecutionContext) -> Option<&[Word]> {
        let make = || {
            let mut words = vec![Word::uninit(); self.num_words as usize];
            let registers = frame_at(&mut words, 0);
            let mut kernels = self.constant_kernels.iter();
            let run_all =
                || kernels.try_for_each(|kernel| self.read(kernel, program, ctx, registers));
            let outcome = catch_unwind(AssertUnwindSafe(run_all)).unwrap_or_else(|payload| {
                call::drop_quietly(payload);
                Err(Abandoned)
            });
            outcome.ok()?;
            Some(words[self.first_constant as usize..].into())
        };
        self.constants.get_or_init(make).as_deref()
    }

    fn read(
        &self,
        kernel: &Reader,
        program: &Program,
        ctx: &ExecutionContext,
        registers: NonNull<u8>,
    ) -> Result<(), Abandoned> {
        let call = DirectCall {
            exec_ctx: ctx,
            attributes: AttributeList {
                section: program.attribute_section(),
                offsets: self.words(kernel.attributes),
            },
            functions: FunctionList::default(),
        };
        self.call(kernel.run, &call, registers, kernel.offsets.start())
    }

    /// Calls a kernel of this function on a frame of it. Those who call it have seen to N2: they run steps in their order, and
    /// stop at the first one that fails.
    #[inline]
    fn call(
        &self,
        run: DirectFn,
        call: &DirectCall<'_>,
        registers: NonNull<u8>,
        offsets: u32,
    ) -> Result<(), Abandoned> {
        // SAFETY: N1: the offsets are among the words.
        let offsets = unsafe { self.words.as_ptr().add(offsets as usize) };
        // SAFETY: it points into the words, or to their end.
        let offsets = unsafe { NonNull::new_unchecked(offsets.cast_mut()) };
        // SAFETY: N1 gives duties 1 and 2, but that places of operands are initialised, which is N2. Copied payloads are always
        // available (3). Attributes were accepted before the body was decoded (4).
        unsafe { run(call, registers, offsets) }.map_err(|_| Abandoned)
    }

    #[inline]
    fn words(&self, range: Words) -> &[u32] {
        &self.words[range.as_range()]
    }
}

/// Gives results from a task. In the general way they would come from tasks, too: after all that those below on the stack do who
/// started the function.
fn give_later(ctx: &ExecutionContext, results: &mut [Option<AnyRef>]) {
    let keep_back = |result: &mut Option<AnyRef>| {
        let (promise, given) = AnyRef::indirect();
        Some((promise, result.replace(given)?))
    };
    // A waiter that panics must not keep the others from their results.
    let give = |(promise, value): (IndirectPromise, AnyRef)| {
        call::catch(|| promise.forward_to(value));
    };
    match results {
        // Needs no list: it fits into the task.
        [result] => {
            if let Some(kept) = keep_back(result) {
                ctx.enqueue(move || give(kept));
            }
        }
        _ => {
            let kept: Vec<_> = results.iter_mut().filter_map(keep_back).collect();
            if !kept.is_empty() {
                ctx.enqueue(move || kept.into_iter().for_each(give));
            }
        }
    }
}

/// Looks at the clock; after how many steps to look again.
#[cold]
fn look(watch: &mut Option<&mut Watch>) -> Result<usize, Abandoned> {
    let Some(watch) = watch else {
        return Ok(usize::MAX);
    };
    if watch.is_too_much() {
        return Err(Abandoned);
    }
    Ok(watch.until_look())
}

/// Where the frame is that begins at a word. It is there no longer once `words` is touched in another way.
#[inline]
fn frame_at(words: &mut [Word], base: usize) -> NonNull<u8> {
    NonNull::from(&mut words[base..]).cast()
}

/// Whether there is a true value in a word.
#[inline]
fn is_true(word: Word) -> bool {
    let payload = NonNull::from(&word).cast::<bool>();
    // SAFETY: the word is that of a register that holds a `bool` (N2), as `layout` has seen to.
    unsafe { payload.read() }
}
