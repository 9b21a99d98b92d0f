//! `map_and_batch` beside a `batch` above a `map`: the same batches and errors, whatever the
//! function returns and in whichever order its results arrive; and what it holds meanwhile.

mod counted;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use counted::Counted;
use tfrt_async::{AnyRef, AsyncValueRef, ByteString, IndirectPromise, Promise};
use tfrt_data::{
    Dataset, Draw, ElementFunction, IterationResult, OnError, Outcome, Philox, Position, Saving,
    Stage, Values,
};
use tfrt_host::allocator::{HostAllocator, ProfiledAllocator};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

fn context(queue: &str) -> ExecutionContext {
    context_with(queue, &(Arc::new(ProfiledAllocator::default()) as _))
}

fn context_with(queue: &str, allocator: &Arc<dyn HostAllocator>) -> ExecutionContext {
    let host = HostContext::builder()
        .queue(create_queue(queue).unwrap())
        .allocator(Arc::clone(allocator))
        .diagnostic_handler(|_| ())
        .build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

fn one(value: AnyRef) -> Values {
    [value].into_iter().collect()
}

fn number_in(values: &[AnyRef]) -> i64 {
    *values[0].get::<i64>().expect("elements are numbers")
}

/// Values that are made and not yet published.
#[derive(Clone, Default)]
struct Held(Arc<Mutex<Vec<(IndirectPromise, AnyRef)>>>);

impl Held {
    /// Returns a value that is published later.
    fn hold(&self, value: AnyRef) -> AnyRef {
        let (promise, later) = AnyRef::indirect();
        self.0.lock().unwrap().push((promise, value));
        later
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Publishes the value that was held at this place.
    fn publish(&self, place: usize) {
        let (promise, value) = self.0.lock().unwrap().swap_remove(place);
        promise.forward_to(value);
    }

    /// Publishes everything in a random order, and what is held in consequence.
    fn publish_all(&self, choices: &mut Philox, ctx: &ExecutionContext) {
        loop {
            ctx.host().quiesce().expect("no task waits");
            match self.len() {
                0 => return,
                len => self.publish(choices.next_u32() as usize % len),
            }
        }
    }
}

/// What a function returns for an element.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Number,
    Small,
    /// Large enough to be copied without a lock.
    Large,
    String,
    Strings,
    /// Of another shape.
    Longer,
    Int,
    /// No row.
    Dataset,
    Error,
    Fails,
}

impl Kind {
    const USUAL: [Self; 5] = [
        Self::Number,
        Self::Small,
        Self::Large,
        Self::String,
        Self::Strings,
    ];
    const UNUSUAL: [Self; 10] = [
        Self::Number,
        Self::Small,
        Self::Large,
        Self::String,
        Self::Strings,
        Self::Longer,
        Self::Int,
        Self::Dataset,
        Self::Error,
        Self::Fails,
    ];

    fn value(self, x: i64) -> Result<AnyRef, Error> {
        let text = format!("<{x}>").into_bytes();
        Ok(match self {
            Self::Number => AnyRef::available(x),
            Self::Small => AnyRef::available(DenseHostTensor::vector(&[x as i32, 7])?),
            Self::Large => AnyRef::available(DenseHostTensor::vector(&[x as f32; 1500])?),
            Self::Longer => AnyRef::available(DenseHostTensor::vector(&[x as f32; 1501])?),
            Self::String => AnyRef::available(ByteString::from(&text[..])),
            Self::Strings => {
                let strings = vec![text, b"and".to_vec()];
                AnyRef::available(StringHostTensor::new(Shape::new(&[2])?, strings)?)
            }
            Self::Int => AnyRef::available(x as i32),
            Self::Dataset => AnyRef::available(range(x)),
            Self::Error => AnyRef::error(Error::new(format!("no value of {x}"))),
            Self::Fails => return Err(Error::new(format!("no image of {x}"))),
        })
    }
}

/// One case of the comparison.
#[derive(Clone, Debug)]
struct Case {
    num_elements: i64,
    batch_size: i64,
    drops_remainder: bool,
    num_parallel: Option<i64>,
    /// What the components are; and what they are for one number in so many.
    components: Vec<(Kind, Kind, i64)>,
    /// One result, element or predicate in so many is late; none if it is zero.
    late: u64,
    has_late_elements: bool,
    has_filter: bool,
    has_gaps: bool,
    policy: Option<OnError>,
    num_ahead: Option<i64>,
    num_outstanding: usize,
}

impl Case {
    fn random(choices: &mut Philox) -> Self {
        let mut below = |bound: u32| choices.next_u32() % bound;
        let num_components = 1 + below(2);
        let components = (0..num_components).map(|_| {
            let usual = Kind::USUAL[below(5) as usize];
            let unusual = match below(2) {
                0 => usual,
                _ => Kind::UNUSUAL[below(10) as usize],
            };
            (usual, unusual, 2 + i64::from(below(12)))
        });
        let components = components.collect();
        // Behind such an end, others deliver more or less, depending on when they learn of it.
        let has_gaps = below(5) == 0;
        let mut or_none = |chance: u32| !has_gaps && below(chance) == 0;
        let has_filter = or_none(3);
        let policy = match (or_none(6), or_none(5)) {
            (true, _) => Some(OnError::Stop),
            (_, true) => Some(OnError::Skip { max: 2 }),
            _ => None,
        };
        let num_ahead = match (or_none(4), or_none(4)) {
            (true, _) => Some(1),
            (_, true) => Some(3),
            _ => None,
        };
        Self {
            components,
            num_elements: below(24).into(),
            batch_size: 1 + i64::from(below(6)),
            drops_remainder: below(3) == 0,
            num_parallel: [None, None, Some(1), Some(2), Some(3), Some(-1)][below(6) as usize],
            late: below(4).into(),
            has_late_elements: below(2) == 0,
            has_filter,
            has_gaps,
            policy,
            num_ahead,
            num_outstanding: 1 + below(3) as usize,
        }
    }

    /// Holds some values back.
    fn or_later(&self, value: AnyRef, x: i64, held: &Held) -> AnyRef {
        match self.late > 0 && (x as u64).wrapping_mul(0x9e37).is_multiple_of(self.late) {
            true => held.hold(value),
            false => value,
        }
    }

    fn function(&self, held: &Held) -> ElementFunction {
        let (case, held) = (self.clone(), held.clone());
        ElementFunction::from_named_closure("f", 1, self.components.len(), move |_, values| {
            let x = number_in(values);
            let components = case.components.iter().map(|&(usual, unusual, modulus)| {
                let is_usual = x % modulus != modulus / 2;
                let kind = if is_usual { usual } else { unusual };
                Ok(case.or_later(kind.value(x)?, x, &held))
            });
            components.collect()
        })
    }

    fn input(&self, held: &Held, num_draws: &Arc<AtomicUsize>) -> Dataset {
        let mut input = Dataset::new(Counted {
            input: range(self.num_elements),
            count: Arc::clone(num_draws),
        });
        if self.has_gaps {
            let of = input.unwrap();
            input = Dataset::new(Gaps(of));
        }
        if self.has_late_elements {
            let (case, held) = (self.clone(), held.clone());
            let late = ElementFunction::from_named_closure("late", 1, 1, move |_, values| {
                Ok(one(case.or_later(
                    values[0].clone(),
                    number_in(values) + 1,
                    &held,
                )))
            });
            input = input.unwrap().map_with(late, &[]);
        }
        if self.has_filter {
            let (case, held) = (self.clone(), held.clone());
            let predicate = ElementFunction::from_named_closure("some", 1, 1, move |_, values| {
                let x = number_in(values);
                if x % 9 == 8 {
                    return Err(Error::new(format!("no verdict on {x}")));
                }
                let verdict = AnyRef::available(x % 4 != 1);
                Ok(one(case.or_later(verdict, x + 2, &held)))
            });
            input = input.unwrap().filter_with(predicate);
        }
        input.unwrap()
    }

    fn dataset(&self, is_fused: bool, held: &Held, num_draws: &Arc<AtomicUsize>) -> Dataset {
        let (input, function) = (self.input(held, num_draws), self.function(held));
        let (size, drops) = (self.batch_size, self.drops_remainder);
        let mut batches = if is_fused {
            input.map_and_batch_with(function, &[], size, self.num_parallel, drops)
        } else {
            let mapped = input.map_with(function, &[]).unwrap();
            mapped.batch_with(size, &[], false, drops)
        };
        if let Some(policy) = self.policy {
            batches = batches.unwrap().on_error(policy);
        }
        if let Some(num_ahead) = self.num_ahead {
            batches = batches.unwrap().prefetch(num_ahead);
        }
        batches.unwrap()
    }

    /// What a consumer sees, and the number of draws from the source.
    fn run(&self, is_fused: bool, seed: i64, queue: &str) -> (Vec<Seen>, usize) {
        let (ctx, held, num_draws) = (context(queue), Held::default(), Arc::default());
        let mut choices = Philox::new(seed, i64::from(is_fused));
        let mut iterator = self.dataset(is_fused, &held, &num_draws).iterator();
        let mut seen = Vec::new();
        for _ in 0..4 {
            let draws = (0..self.num_outstanding).map(|_| iterator.draw(&ctx));
            let drawn: Vec<IterationResult> = draws.collect();
            held.publish_all(&mut choices, &ctx);
            seen.extend(drawn.into_iter().map(Seen::of));
        }
        (seen, num_draws.load(Ordering::Relaxed))
    }
}

/// An input that ends after every four elements, and goes on.
#[derive(Debug)]
struct Gaps(Dataset);

impl Stage for Gaps {
    fn name(&self) -> &'static str {
        "gaps"
    }

    fn input_height(&self) -> u32 {
        self.0.height()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        Box::new(GapsIterator(self.0.iterator_below(position), 0))
    }
}

#[derive(Debug)]
struct GapsIterator(Box<dyn Draw>, u32);

impl Draw for GapsIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        self.1 += 1;
        match self.1 % 5 {
            0 => Outcome::END.into(),
            _ => self.0.draw(ctx),
        }
    }
}

/// What a consumer sees of a result. Errors do not tell which stages there are.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Batch(Vec<Result<String, String>>),
    Failed(String),
    End,
}

impl Seen {
    fn of(result: IterationResult) -> Self {
        match result.into_outcome().expect("everything is published") {
            Outcome::End(_) => Self::End,
            Outcome::Error(error) => Self::Failed(text(&error).unwrap_err()),
            Outcome::Element(values) => Self::Batch(values.iter().map(text).collect()),
        }
    }
}

fn text(value: &AnyRef) -> Result<String, String> {
    assert!(value.is_available());
    if let Some(error) = value.error_if_present() {
        return Err(error.message().replace("`map_and_batch`", "`map`"));
    }
    if let Some(tensor) = value.get::<DenseHostTensor>() {
        let bytes = tensor.buffer().read().unwrap();
        let text = format!("{:?} {:?} {:?}", tensor.dtype(), tensor.shape(), &*bytes);
        return Ok(text);
    }
    let tensor = value.try_read::<StringHostTensor>().unwrap();
    Ok(format!("{:?} {:?}", tensor.shape(), tensor.strings()))
}

#[test]
fn batches_are_those_of_a_batch_above_a_map() {
    let (mut num_whole, mut num_wrong, mut num_failed) = (0, 0, 0);
    for seed in 0..1500 {
        let case = Case::random(&mut Philox::new(seed, 42));
        let (expected, num_draws) = case.run(false, seed, "s");
        for queue in ["s", "mstd:2"] {
            let (found, num_fused) = case.run(true, seed, queue);
            assert_eq!(found, expected, "seed {seed} on {queue}: {case:?}");
            if case.num_parallel.is_none() && case.late == 0 {
                assert_eq!(num_fused, num_draws, "seed {seed} on {queue}: {case:?}");
            }
        }
        for seen in expected {
            match seen {
                Seen::Batch(values) if values.iter().all(Result::is_ok) => num_whole += 1,
                Seen::Batch(_) => num_wrong += 1,
                Seen::Failed(_) => num_failed += 1,
                Seen::End => {}
            }
        }
    }
    // All of them are compared.
    assert!(num_whole > 1000 && num_wrong > 500 && num_failed > 100);
}

/// A function that returns tensors of so many bytes, which the test publishes.
fn held_tensors(
    held: &Held,
    allocator: &Arc<dyn HostAllocator>,
    len_bytes: usize,
) -> ElementFunction {
    let (held, allocator) = (held.clone(), Arc::clone(allocator));
    ElementFunction::from_named_closure("tensors", 1, 1, move |_, _| {
        let shape = Shape::new(&[len_bytes])?;
        let tensor = DenseHostTensor::zeroed(&allocator, DType::Ui8, shape)?;
        Ok(one(held.hold(AnyRef::available(tensor))))
    })
}

#[test]
fn a_result_is_written_and_dropped_when_it_arrives() {
    const ROW: usize = 1 << 16;
    let profiled = Arc::new(ProfiledAllocator::default());
    let allocator = Arc::clone(&profiled) as Arc<dyn HostAllocator>;
    let expect_rows = |num_rows: usize| {
        // With what is allocated beside them.
        let allowed = num_rows * ROW..num_rows * ROW + ROW / 2;
        let live = profiled.profile().unwrap().current_bytes;
        assert!(
            allowed.contains(&live),
            "{live} bytes are not {num_rows} rows"
        );
    };
    let ctx = context_with("s", &allocator);
    let held = Held::default();
    let tensors = held_tensors(&held, &allocator, ROW);
    let batches = range(8)
        .map_and_batch_with(tensors, &[], 8, None, false)
        .unwrap();
    let mut iterator = batches.iterator();
    let drawn = iterator.draw(&ctx);
    expect_rows(8);
    // The newest one first: each is gone when it has arrived, and the batch is there at once.
    for num_left in (0..8).rev() {
        held.publish(num_left);
        expect_rows(8 + num_left);
    }
    let Seen::Batch(values) = Seen::of(drawn) else {
        panic!("expected a batch");
    };
    assert!(values[0].is_ok());
}

#[test]
fn no_more_results_are_under_way_than_allowed() {
    for (batch_size, drops_remainder) in [(4, false), (4, true), (100, false)] {
        let (ctx, held) = (context("s"), Held::default());
        let results = {
            let held = held.clone();
            ElementFunction::from_named_closure("results", 1, 1, move |_, values| {
                Ok(one(held.hold(values[0].clone())))
            })
        };
        let batches =
            range(20).map_and_batch_with(results, &[], batch_size, Some(3), drops_remainder);
        let mut iterator = batches.unwrap().iterator();
        let drawn: Vec<_> = (0..20 / batch_size + 1)
            .map(|_| iterator.draw(&ctx))
            .collect();
        for num_left in (1..=20_usize).rev() {
            ctx.host().quiesce().unwrap();
            assert_eq!(held.len(), num_left.min(3));
            // Whichever arrives, another one begins.
            held.publish(num_left % held.len());
        }
        ctx.host().quiesce().unwrap();
        let seen: Vec<Seen> = drawn.into_iter().map(Seen::of).collect();
        let plain = range(20).batch_with(batch_size, &[], false, drops_remainder);
        let mut plain = plain.unwrap().iterator();
        let expected: Vec<Seen> = seen.iter().map(|_| Seen::of(plain.draw(&ctx))).collect();
        assert_eq!(seen, expected);
    }
}

/// An input whose first result is pending until the test makes it known.
#[derive(Debug)]
struct LateFirst(Dataset, Arc<Mutex<Option<Promise<Outcome>>>>);

impl Stage for LateFirst {
    fn name(&self) -> &'static str {
        "late_first"
    }

    fn input_height(&self) -> u32 {
        self.0.height()
    }

    fn make_iterator(&self, position: Position) -> Box<dyn Draw> {
        let (promise, first) = AsyncValueRef::unconstructed();
        *self.1.lock().unwrap() = Some(promise);
        Box::new(LateFirstIterator(
            self.0.iterator_below(position),
            Some(first),
        ))
    }
}

#[derive(Debug)]
struct LateFirstIterator(Box<dyn Draw>, Option<AsyncValueRef<Outcome>>);

impl Draw for LateFirstIterator {
    fn draw(&mut self, ctx: &ExecutionContext) -> IterationResult {
        match self.1.take() {
            Some(first) => IterationResult::Pending(first),
            None => self.0.draw(ctx),
        }
    }
}

#[test]
fn a_first_result_that_is_late_does_not_keep_others_from_being_drawn() {
    let (ctx, num_draws, promise) = (context("s"), Arc::default(), Arc::default());
    let input = Dataset::new(Counted {
        input: Dataset::new(LateFirst(range(7), Arc::clone(&promise))).unwrap(),
        count: Arc::clone(&num_draws),
    });
    let same = ElementFunction::from_closure(1, 1, |_, values| Ok(values.into()));
    let batches = input
        .unwrap()
        .map_and_batch_with(same, &[], 2, Some(2), false);
    let mut iterator = batches.unwrap().iterator();
    let drawn = [iterator.draw(&ctx), iterator.draw(&ctx)];
    // The first batch is drawn, and the second one waits for one of its results to arrive.
    assert_eq!(num_draws.load(Ordering::Relaxed), 2);
    ctx.host().quiesce().unwrap();
    assert_eq!(num_draws.load(Ordering::Relaxed), 4);
    let promise = promise.lock().unwrap().take().unwrap();
    promise.emplace(Outcome::Element(one(AnyRef::available(7_i64))));
    ctx.host().quiesce().unwrap();
    let numbers = drawn.map(|batch| {
        let Ok(Outcome::Element(values)) = batch.into_outcome() else {
            panic!("expected a batch");
        };
        let tensor = values[0].get::<DenseHostTensor>().unwrap();
        tensor.elements::<i64>().unwrap().to_vec()
    });
    assert_eq!(numbers, [[7, 0], [1, 2]]);
}

/// A save comes between two requests, when batches for both are being drawn.
#[test]
fn a_checkpoint_has_the_batches_that_were_begun_behind_it() {
    for num_parallel in [None, Some(1), Some(2)] {
        let (ctx, held) = (context("s"), Held::default());
        let pipeline = |held: &Held| {
            let late = held.clone();
            let late = ElementFunction::from_named_closure("late", 1, 1, move |_, values| {
                Ok(one(late.hold(AnyRef::available(number_in(values) != 2))))
            });
            let some = range(9).filter_with(late).unwrap();
            let add = ElementFunction::from_named_closure("add", 1, 1, |_, values| {
                Ok(one(AnyRef::available(number_in(values) + 100)))
            });
            some.map_and_batch_with(add, &[], 3, num_parallel, false)
                .unwrap()
        };
        let dataset = pipeline(&held);
        let mut iterator = dataset.iterator();
        let first = iterator.draw(&ctx);
        assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Waiting(_))));
        let Ok(Saving::Waiting(saved)) = iterator.try_save(&ctx) else {
            panic!("the first batch is not there");
        };
        let second = iterator.draw(&ctx);
        held.publish_all(&mut Philox::new(1, 2), &ctx);
        assert!(saved.is_available());
        let seen = [first, second].map(Seen::of);
        let third = iterator.save(&ctx).unwrap();
        held.publish_all(&mut Philox::new(1, 2), &ctx);

        let rest = |checkpoint: &[u8]| {
            let held = Held::default();
            let mut restored = pipeline(&held).restore(checkpoint, &ctx).unwrap();
            let drawn: Vec<_> = (0..4).map(|_| restored.draw(&ctx)).collect();
            held.publish_all(&mut Philox::new(1, 2), &ctx);
            drawn.into_iter().map(Seen::of).collect::<Vec<_>>()
        };
        let plain = Dataset::from_values(
            &[0, 1, 3, 4, 5, 6, 7, 8].map(|x: i64| AnyRef::available(x + 100)),
        );
        let mut plain = plain.unwrap().batch(3).unwrap().iterator();
        let expected: Vec<_> = (0..7).map(|_| Seen::of(plain.draw(&ctx))).collect();
        assert_eq!(seen[..], expected[..2]);
        assert_eq!(rest(&third), expected[2..6]);
    }
}

#[test]
fn a_batch_without_memory_is_an_error_at_once() {
    let ctx = context("s");
    let num_draws = Arc::default();
    let input = Dataset::new(Counted {
        input: Dataset::range(0, i64::MAX, 1).unwrap(),
        count: Arc::clone(&num_draws),
    });
    let batches = input.unwrap().map_and_batch(|x: i64| x, 1 << 61).unwrap();
    let Seen::Batch(values) = Seen::of(batches.iterator().draw(&ctx)) else {
        panic!("expected a batch");
    };
    let text = "failed to create uninitialized tensor".to_owned();
    assert_eq!(values, [Err(text)]);
    assert!(num_draws.load(Ordering::Relaxed) < 1 << 21);
}

#[test]
fn wrong_parameters_are_reported_when_the_dataset_is_made() {
    let function = || ElementFunction::from_closure(1, 1, |_, values| Ok(values.into()));
    let error = |size, num_parallel| {
        let made = range(3).map_and_batch_with(function(), &[], size, num_parallel, false);
        made.unwrap_err().message().to_owned()
    };
    assert_eq!(error(0, None), "batch_size must be positive, not 0");
    assert_eq!(
        error(3, Some(0)),
        "num_parallel must be -1 or between 1 and 1048576, not 0"
    );
    let pairs = |_: i64, _: i64| 0_i64;
    assert_eq!(
        range(3).map_and_batch(pairs, 2).unwrap_err().message(),
        "`map_and_batch` expects elements of type (i64, i64), found (i64) from `range`"
    );
}
