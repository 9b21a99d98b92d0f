//! Random pipelines against a sequential oracle, on all queues, with functions that answer late and
//! functions that fail; dropped and cancelled at any moment; saved and restored at every position.
//!
//! Counts the values of the whole process in the end, which is why all of it is one test.

mod counted;
mod oracle;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counted::Counted;
use oracle::{Item, Oracle, Tree, inner_tree};
use tfrt_async::{AnyRef, AsyncValueRef, live_values};
use tfrt_data::{
    DataIterator, Dataset, ElementFunction, IntoElementFunction, IterationResult, OnError, Outcome,
    Philox, UnevenShards, Values,
};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

/// Random choices of a test.
struct Choices {
    numbers: Philox,
    /// Whether a tree has a stage with tasks of its own, so that how often others draw behind an
    /// end depends on when they are done.
    has_parallel: bool,
}

impl Choices {
    fn below(&mut self, bound: u32) -> u32 {
        self.numbers.next_u32() % bound
    }

    fn number(&mut self, from: i64, to: i64) -> i64 {
        from + i64::from(self.below((to - from) as u32))
    }

    /// A random tree. One without an end must not be below a stage that may look for an element for
    /// ever.
    fn tree(&mut self, depth: u32, may_be_endless: bool) -> Tree {
        let kind = match depth {
            0 => match self.below(3) {
                2 => return Tree::Generator(self.number(0, 30)),
                source => source,
            },
            _ => 2 + self.below(if may_be_endless { 29 } else { 28 }),
        };
        let is_below_endless = may_be_endless && ![3, 9, 15, 22, 24, 25, 26, 27].contains(&kind);
        let mut input = || Box::new(self.tree(depth.saturating_sub(1), is_below_endless));
        let input = if kind < 2 { None } else { Some(input()) };
        let input = || input.clone().expect("the stage has one");
        match kind {
            0 => Tree::Range(self.number(-3, 4), self.number(-3, 9), self.number(-2, 3)),
            1 => Tree::Values((0..self.below(5)).map(i64::from).collect()),
            2 => Tree::Map(input(), self.number(1, 5), self.number(2, 9)),
            3 => Tree::Filter(input(), self.number(1, 4), self.number(4, 9)),
            4 => Tree::BatchSum(input(), self.number(1, 5) as usize),
            5 => Tree::Prefetch(input(), self.number(0, 5) as usize),
            6 => Tree::Repeat(input(), self.number(if may_be_endless { -1 } else { 0 }, 4)),
            7 => Tree::Skip(input(), self.number(-1, 5)),
            8 => Tree::Shuffle(input(), self.number(1, 6) as usize, self.number(0, 99)),
            9 => Tree::Interleave(
                input(),
                self.number(1, 4) as usize,
                self.number(1, 4) as usize,
            ),
            10 => Tree::Take(input(), self.number(-1, 9)),
            11 => Tree::TakeWhile(input(), self.number(0, 30)),
            12 => Tree::Shard(input(), 3, self.below(3).into()),
            13 => Tree::ZipSum(input(), Box::new(self.tree(depth / 2, may_be_endless))),
            14 => Tree::Concatenate(input(), Box::new(self.tree(depth / 2, may_be_endless))),
            15 => Tree::Unbatch(input(), self.number(1, 5) as usize),
            16 => Tree::Number(input()),
            17 => Tree::Scan(input()),
            18 => Tree::Cache(input(), Rc::default()),
            19 => {
                let size = self.number(1, 4) as usize;
                Tree::Windows(input(), size, self.number(1, 5) as usize)
            }
            20 => {
                let size = self.number(1, 6) as usize;
                Tree::Reshuffle(input(), size, self.number(0, 99), Rc::default())
            }
            21 => {
                let (plus, fails) = (self.number(1, 5), self.number(2, 9));
                self.has_parallel = true;
                Tree::ParallelMap(input(), plus, fails, self.number(1, 5))
            }
            22 => Tree::IgnoreErrors(input()),
            23 => {
                let other = Box::new(self.tree(depth / 2, may_be_endless));
                Tree::Sample(input(), other, self.number(0, 99))
            }
            24 => Tree::Unique(input()),
            25 => Tree::Group(input(), self.number(1, 4), self.number(1, 4) as usize),
            26 => Tree::Resample(input(), self.number(0, 99)),
            27 => Tree::OnError(input(), self.number(0, 4) as u64),
            28 => {
                let (plus, fails) = (self.number(1, 5), self.number(2, 9));
                let num_parallel = [None, Some(1), Some(3)][self.below(3) as usize];
                self.has_parallel |= num_parallel.is_some();
                let size = self.number(1, 5) as usize;
                Tree::MapAndBatchSum(input(), (plus, fails), size, num_parallel)
            }
            29 => Tree::EvenShard(input(), 3, self.below(3) as usize, self.below(2) == 0),
            _ => Tree::Memory(input()),
        }
    }
}

/// How a tree becomes a dataset.
#[derive(Clone)]
struct Builder {
    count: Arc<AtomicUsize>,
    /// One call of a function in this many answers late; none if it is zero.
    late: usize,
}

impl Builder {
    /// A function of one number whose results are late now and then.
    fn function(
        &self,
        f: impl Fn(i64) -> Result<AnyRef, String> + Send + Sync + 'static,
    ) -> ElementFunction {
        let (late, calls) = (self.late, AtomicUsize::new(0));
        ElementFunction::from_closure(1, 1, move |ctx, values| {
            let number = *values[0].get::<i64>().expect("elements are numbers");
            let answer = f(number).unwrap_or_else(|text| AnyRef::error(Error::new(text)));
            let call = calls.fetch_add(1, Ordering::Relaxed);
            if late == 0 || !call.wrapping_add(number as usize).is_multiple_of(late) {
                return Ok(one(answer));
            }
            let (promise, later) = AnyRef::indirect();
            ctx.enqueue(move || promise.forward_to(answer));
            Ok(one(later))
        })
    }

    fn dataset(&self, tree: &Tree) -> Result<Dataset, Error> {
        let input = |input: &Tree| self.dataset(input);
        let counted = |dataset: Dataset| {
            let count = Arc::clone(&self.count);
            Dataset::new(Counted {
                input: dataset,
                count,
            })
        };
        Ok(match *tree {
            Tree::Range(start, stop, step) => counted(Dataset::range(start, stop, step)?)?,
            Tree::Values(ref numbers) => {
                let values: Vec<AnyRef> = numbers.iter().map(|&n| AnyRef::available(n)).collect();
                counted(Dataset::from_values(&values)?)?
            }
            Tree::Map(ref of, plus, fails) => input(of)?.map_with(
                self.function(move |x| oracle::map(x, plus, fails).map(AnyRef::available)),
                &[],
            )?,
            Tree::ParallelMap(ref of, plus, fails, num) => input(of)?.parallel_map_with(
                self.function(move |x| oracle::map(x, plus, fails).map(AnyRef::available)),
                &[],
                num,
                true,
            )?,
            Tree::Filter(ref of, modulus, fails) => input(of)?.filter_with(
                self.function(move |x| oracle::accepts(x, modulus, fails).map(AnyRef::available)),
            )?,
            Tree::BatchSum(ref of, size) => input(of)?.batch(size as i64)?.map(sum)?,
            Tree::MapAndBatchSum(ref of, (plus, fails), size, num_parallel) => {
                let function =
                    self.function(move |x| oracle::map(x, plus, fails).map(AnyRef::available));
                let size = size as i64;
                let batches =
                    input(of)?.map_and_batch_with(function, &[], size, num_parallel, false)?;
                batches.map(sum)?
            }
            Tree::Prefetch(ref of, ahead) => input(of)?.prefetch(ahead as i64)?,
            Tree::Repeat(ref of, count) => input(of)?.repeat(count)?,
            Tree::Skip(ref of, count) => input(of)?.skip(count)?,
            Tree::Shuffle(ref of, size, seed) => input(of)?.shuffle(size as i64, seed, 7)?,
            Tree::Interleave(ref of, cycle, block) => {
                let builder = self.clone();
                let open = move |x| {
                    let tree = inner_tree(x)?;
                    let dataset = builder.dataset(&tree).map_err(|error| error.to_string())?;
                    Ok(AnyRef::available(dataset))
                };
                input(of)?.interleave_with(self.function(open), cycle as i64, block as i64)?
            }
            Tree::Memory(ref of) => input(of)?.memory::<i64>()?,
            Tree::IgnoreErrors(ref of) => input(of)?.ignore_errors(false)?,
            Tree::OnError(ref of, 0) => input(of)?.on_error(OnError::Stop)?,
            Tree::OnError(ref of, max) => input(of)?.on_error(OnError::Skip { max })?,
            Tree::Unique(ref of) => input(of)?.unique()?,
            Tree::EvenShard(ref of, num, index, pads) => {
                let uneven = match pads {
                    true => UnevenShards::Pad,
                    false => UnevenShards::Drop,
                };
                input(of)?.shard_evenly(num as i64, index as i64, uneven)?
            }
            Tree::Group(ref of, modulus, size) => {
                let key = self.function(move |x| Ok(AnyRef::available(x.rem_euclid(modulus))));
                let add = |key: i64, window: Dataset| window.map(move |x: i64| x + key);
                let reduce = add.into_element_function();
                input(of)?.group_by_window_with(key, reduce, size as i64)?
            }
            Tree::Resample(ref of, seed) => {
                let class = self.function(|x| Ok(AnyRef::available(x.rem_euclid(2))));
                let (target, initial) = ([1.0, 1.0], [1.0, 3.0]);
                input(of)?
                    .rejection_resample(class, &target, Some(&initial), seed, 5)?
                    .map(|_: i64, x: i64| x)?
            }
            Tree::Generator(bound) => counted(Dataset::generate(0_i64, move |x: i64| {
                (x * x < bound, x + 1, x * x)
            })?)?,
            Tree::Sample(ref of, ref other, seed) => {
                let inputs = [input(of)?, input(other)?];
                Dataset::sample_from(&inputs, Some(&[2.0, 1.0]), seed, 3)?
            }
            Tree::Take(ref of, count) => input(of)?.take(count)?,
            Tree::TakeWhile(ref of, bound) => input(of)?.take_while_with(
                self.function(move |x| oracle::is_below(x, bound).map(AnyRef::available)),
            )?,
            Tree::Shard(ref of, n, index) => input(of)?.shard(n as i64, index as i64)?,
            Tree::ZipSum(ref of, ref other) => {
                Dataset::zip(&[input(of)?, input(other)?])?.map(|x: i64, y: i64| x + y)?
            }
            Tree::Concatenate(ref of, ref other) => {
                Dataset::concatenate(&[input(of)?, input(other)?])?
            }
            Tree::Unbatch(ref of, size) => input(of)?.batch(size as i64)?.unbatch()?,
            Tree::Number(ref of) => input(of)?.enumerate(0)?.map(|i: i64, x: i64| i + x)?,
            Tree::Cache(ref of, _) => input(of)?.cache()?,
            Tree::Windows(ref of, size, shift) => input(of)?
                .window(size as i64, shift as i64, 1, false)?
                .flat_map(|window: Dataset| window)?,
            Tree::Reshuffle(ref of, size, seed, _) => {
                input(of)?.shuffle_with(size as i64, seed, 7, true)?
            }
            Tree::Scan(ref of) => input(of)?.scan(0_i64, |s: i64, x: i64| (s + x, s + x))?,
        })
    }
}

/// The sum of a batch.
fn sum(batch: DenseHostTensor) -> Result<i64, Error> {
    let numbers = batch.elements::<i64>()?;
    Ok(numbers.iter().fold(0, |a, b| a.wrapping_add(*b)))
}

fn one(value: AnyRef) -> Values {
    [value].into_iter().collect()
}

fn context(queue: &str) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).expect("it is a queue"))
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

/// What a consumer sees of a result.
fn item(result: IterationResult, ctx: &ExecutionContext) -> Item {
    let outcome = result
        .into_outcome()
        .unwrap_or_else(|pending: AsyncValueRef<Outcome>| {
            let awaited = [pending.as_any().clone()];
            ctx.host().await_available(&awaited).expect("no task waits");
            let known = IterationResult::Pending(pending).into_outcome();
            known.expect("it was waited for")
        });
    match outcome {
        Outcome::End(_) => Item::End,
        Outcome::Error(error) => Item::Failed(text(&error)),
        Outcome::Element(values) => {
            ctx.host().await_available(&values).expect("no task waits");
            match values[0].get::<i64>() {
                Some(&number) => Item::Number(number),
                None => Item::Error(text(&values[0])),
            }
        }
    }
}

fn text(error: &AnyRef) -> String {
    let error = error.error_if_present().expect("it is an error");
    error.message().to_owned()
}

const NUM_ITEMS: usize = 40;

/// How many of the trees are saved, at every position.
const NUM_SAVED: i64 = 300;

#[test]
fn random_trees_are_what_the_oracle_says_and_leave_nothing() {
    for seed in 0..600 {
        let mut choices = Choices {
            numbers: Philox::new(seed, 11),
            has_parallel: false,
        };
        let depth = choices.below(7);
        let tree = choices.tree(depth, true);
        let mut oracle = Oracle::new(&tree);
        let expected: Vec<Item> = (0..NUM_ITEMS).map(|_| oracle.next()).collect();
        for queue in ["s", "mstd:2"] {
            for (late, num_outstanding) in [(0, 1), (2, 1), (3, 5), (1, 3)] {
                let ctx = context(queue);
                let count = Arc::new(AtomicUsize::new(0));
                let builder = Builder {
                    count: Arc::clone(&count),
                    late,
                };
                let mut iterator = builder.dataset(&tree).expect("it is low").iterator();
                let found = items(&mut iterator, num_outstanding, &ctx);
                // Tasks that have not run keep what they will use.
                drop(iterator);
                ctx.host().quiesce().expect("no task waits");
                let what = format!(
                    "seed {seed}, {queue}, late {late}, {num_outstanding} outstanding, {tree:?}"
                );
                assert_eq!(found, expected, "{what}");
                if late == 0 && !choices.has_parallel {
                    let count = count.load(Ordering::Relaxed);
                    assert_eq!(count, oracle.num_draws(), "draws, {what}");
                }
            }
            let num_draws = choices.below(12) as usize;
            stop(&tree, num_draws, seed % 2 == 0, queue);
        }
        if seed >= NUM_SAVED {
            continue;
        }
        // Saved on one queue, restored on the other.
        let queues = ["s", "mstd:2"].map(context);
        let saved_on = (seed % 2) as usize;
        let (ctx, other_ctx) = (&queues[saved_on], &queues[1 - saved_on]);
        for (late, num_outstanding) in [(0, 1), (2, 3)] {
            for position in 0..NUM_ITEMS {
                let what = format!(
                    "seed {seed}, late {late}, {num_outstanding} outstanding, at {position}, {tree:?}"
                );
                let checkpoint = Builder::new(late).save(
                    &tree,
                    &expected,
                    position,
                    num_outstanding,
                    ctx,
                    &what,
                );
                // Functions answer at other times.
                let rest =
                    Builder::new(3 - late).restore(&tree, &checkpoint, num_outstanding, other_ctx);
                assert_eq!(rest[..NUM_ITEMS - position], expected[position..], "{what}");
            }
        }
        restore_again_and_again(&tree, &expected, ctx);
    }
    assert_eq!(live_values(), 0);
}

/// The first items, drawn so many at a time before one is waited for.
fn items(iterator: &mut DataIterator, num_outstanding: usize, ctx: &ExecutionContext) -> Vec<Item> {
    let mut items = Vec::new();
    while items.len() < NUM_ITEMS {
        let drawn: Vec<_> = (0..num_outstanding).map(|_| iterator.draw(ctx)).collect();
        items.extend(drawn.into_iter().map(|result| item(result, ctx)));
    }
    items.truncate(NUM_ITEMS);
    items
}

impl Builder {
    fn new(late: usize) -> Self {
        let count = Arc::default();
        Self { count, late }
    }

    fn iterator(&self, tree: &Tree) -> DataIterator {
        self.dataset(tree).expect("it is low").iterator()
    }

    /// Saves behind so many items, some of which are pending. What was drawn before, and the rest,
    /// stay what they are.
    fn save(
        &self,
        tree: &Tree,
        expected: &[Item],
        position: usize,
        num_outstanding: usize,
        ctx: &ExecutionContext,
        what: &str,
    ) -> Vec<u8> {
        let mut iterator = self.iterator(tree);
        let mut found = Vec::new();
        let mut pending = Vec::new();
        for _ in 0..position {
            if pending.len() == num_outstanding {
                found.extend(pending.drain(..).map(|result| item(result, ctx)));
            }
            pending.push(iterator.draw(ctx));
        }
        let checkpoint = iterator.save(ctx).expect(what);
        found.extend(pending.drain(..).map(|result| item(result, ctx)));
        while found.len() < NUM_ITEMS {
            found.push(item(iterator.draw(ctx), ctx));
        }
        assert_eq!(found, expected, "saved, {what}");
        drop(iterator);
        ctx.host().quiesce().expect("no task waits");
        checkpoint
    }

    /// The items behind a checkpoint.
    fn restore(
        &self,
        tree: &Tree,
        checkpoint: &[u8],
        num_outstanding: usize,
        ctx: &ExecutionContext,
    ) -> Vec<Item> {
        let dataset = self.dataset(tree).expect("it is low");
        let mut iterator = dataset.restore(checkpoint, ctx).expect("it was just saved");
        let rest = items(&mut iterator, num_outstanding, ctx);
        drop(iterator);
        ctx.host().quiesce().expect("no task waits");
        rest
    }
}

/// Saves and restores in front of every item.
fn restore_again_and_again(tree: &Tree, expected: &[Item], ctx: &ExecutionContext) {
    let builder = Builder::new(2);
    let mut iterator = builder.iterator(tree);
    for (position, expected) in expected.iter().enumerate() {
        let checkpoint = iterator.save(ctx).expect("everything can be saved");
        let fresh = builder.dataset(tree).expect("it is low");
        iterator = fresh.restore(&checkpoint, ctx).expect("it was just saved");
        let found = item(iterator.draw(ctx), ctx);
        assert_eq!(found, *expected, "at {position}, {tree:?}");
    }
    drop(iterator);
    ctx.host().quiesce().expect("no task waits");
}

/// Drops an iterator, or cancels its request, while results are outstanding. All of them become
/// known.
fn stop(tree: &Tree, num_draws: usize, is_cancelled: bool, queue: &str) {
    let ctx = context(queue);
    let builder = Builder {
        count: Arc::default(),
        late: 2,
    };
    let mut iterator = builder.dataset(tree).expect("it is low").iterator();
    let drawn: Vec<_> = (0..num_draws).map(|_| iterator.draw(&ctx)).collect();
    if is_cancelled {
        ctx.request().cancel();
    }
    drop(iterator);
    ctx.host().quiesce().expect("no task waits");
    assert!(drawn.iter().all(IterationResult::is_known), "{tree:?}");
}
