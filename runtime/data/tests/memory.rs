//! What every stage holds at most, held against what its documentation says: elements of several
//! sizes, allocated by an allocator that counts.
//!
//! With `TFRT_LONG_TESTS` set, elements have up to 100 MB; `.ci/run passes` does that.

use std::sync::Arc;

use tfrt_async::{AnyRef, Value};
use tfrt_data::{Dataset, IntoElementFunction, Outcome};
use tfrt_host::allocator::{HostAllocator, ProfiledAllocator};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_tensor::{DenseHostTensor, Shape};

/// How many elements each pass has.
const NUM_ELEMENTS: i64 = 40;

/// A pass over a dataset of tensors of so many bytes.
struct Pass {
    ctx: ExecutionContext,
    allocator: Arc<ProfiledAllocator>,
    element_bytes: usize,
}

impl Pass {
    fn new(queue: &str, element_bytes: usize) -> Self {
        let allocator = Arc::new(ProfiledAllocator::default());
        let host = HostContext::builder()
            .queue(create_queue(queue).unwrap())
            .allocator(Arc::clone(&allocator) as Arc<dyn HostAllocator>)
            .build();
        Self {
            ctx: ExecutionContext::new(RequestContextBuilder::new(host).build()),
            allocator,
            element_bytes,
        }
    }

    /// Elements that take memory, from here on.
    fn elements(&self) -> Dataset {
        let allocator = Arc::clone(self.ctx.allocator());
        let len_bytes = self.element_bytes;
        let tensor = move |_: i64| {
            let shape = Shape::new(&[len_bytes])?;
            // The pages are not touched: what is allocated counts.
            let dtype = tfrt_support::DType::Ui8;
            Ok(DenseHostTensor::zeroed(&allocator, dtype, shape)?)
        };
        let tensor = move |x: i64| -> Result<DenseHostTensor, tfrt_support::Error> { tensor(x) };
        Dataset::range(0, NUM_ELEMENTS, 1)
            .unwrap()
            .map(tensor)
            .unwrap()
    }

    /// Draws everything, one by one. Returns the most bytes that were alive, and those of the
    /// largest element that was drawn, in elements of the input.
    fn peak(&self, dataset: &Dataset) -> (f64, f64) {
        let mut iterator = dataset.iterator();
        let (mut num_elements, mut largest) = (0, 0);
        loop {
            let outcome = match iterator.draw(&self.ctx).into_outcome() {
                Ok(outcome) => outcome,
                Err(pending) => {
                    let value = pending.as_any().clone();
                    self.ctx.host().await_available(&[value]).unwrap();
                    Outcome::of_available(&pending)
                }
            };
            match outcome {
                Outcome::Element(values) => {
                    self.ctx.host().await_available(&values).unwrap();
                    let error = values.iter().find_map(AnyRef::error_if_present);
                    assert!(error.is_none(), "{error:?}");
                    let tensors = values.iter().filter_map(AnyRef::get::<DenseHostTensor>);
                    largest = largest.max(tensors.map(|tensor| tensor.buffer().len_bytes()).sum());
                    num_elements += 1;
                }
                Outcome::Error(error) => panic!("{error:?}"),
                Outcome::End(_) => break,
            }
        }
        assert!(num_elements > 0);
        drop(iterator);
        self.ctx.host().quiesce().unwrap();
        let profile = self.allocator.profile().unwrap();
        let in_elements = |num_bytes: usize| num_bytes as f64 / self.element_bytes as f64;
        (in_elements(profile.max_bytes), in_elements(largest))
    }
}

/// A stage above elements, and how many of these it holds at most, the one that the consumer has
/// included.
type Case = (&'static str, fn(Dataset) -> Dataset, usize);

fn identity<T: Value>(x: T) -> T {
    x
}

/// What the guide says of memory, stage by stage.
const CASES: &[Case] = &[
    (
        "map",
        |input| input.map(identity::<DenseHostTensor>).unwrap(),
        1,
    ),
    (
        "filter",
        |input| input.filter(|_: DenseHostTensor| true).unwrap(),
        1,
    ),
    ("skip", |input| input.skip(10).unwrap(), 1),
    ("take", |input| input.take(30).unwrap(), 1),
    (
        "take_while",
        |input| input.take_while(|_: DenseHostTensor| true).unwrap(),
        1,
    ),
    ("shard", |input| input.shard(3, 1).unwrap(), 1),
    ("repeat", |input| input.repeat(2).unwrap(), 1),
    ("number", |input| input.enumerate(0).unwrap(), 1),
    (
        "ignore_errors",
        |input| input.ignore_errors(false).unwrap(),
        1,
    ),
    (
        "zip",
        |input| Dataset::zip(&[input.clone(), input]).unwrap(),
        2,
    ),
    (
        "concatenate",
        |input| Dataset::concatenate(&[input.clone(), input]).unwrap(),
        1,
    ),
    // What was drawn ahead, and the one that is handed out.
    ("prefetch", |input| input.prefetch(4).unwrap(), 5 + 1),
    ("shuffle", |input| input.shuffle(6, 1, 2).unwrap(), 6 + 1),
    // Two in each position and two more for each; of each, the first element is there.
    (
        "interleave",
        |input| {
            let inner = input.clone();
            Dataset::range(0, 4, 1)
                .unwrap()
                .interleave(move |_: i64| inner.clone(), 2, 1)
                .unwrap()
        },
        4 + 1,
    ),
    (
        "flat_map",
        |input| {
            let inner = input.clone();
            Dataset::range(0, 4, 1)
                .unwrap()
                .flat_map(move |_: i64| inner.clone())
                .unwrap()
        },
        2 + 1,
    ),
    // The elements of a batch, and the batch.
    ("batch", |input| input.batch(4).unwrap(), 2 * 4),
    // The batch, and the results under way.
    (
        "map_and_batch",
        |input| input.map_and_batch(identity::<DenseHostTensor>, 4).unwrap(),
        4 + 1,
    ),
    (
        "map_and_batch of results under way",
        |input| {
            let same = identity::<DenseHostTensor>.into_element_function();
            input
                .map_and_batch_with(same, &[], 8, Some(2), false)
                .unwrap()
        },
        8 + 2,
    ),
    (
        "padded_batch",
        |input| input.padded_batch(4).unwrap(),
        2 * 4,
    ),
    (
        "parallel_map",
        |input| input.parallel_map(identity::<DenseHostTensor>, 3).unwrap(),
        3 + 1,
    ),
    // All of them, and a copy for the consumer.
    (
        "cache",
        |input| input.cache().unwrap(),
        NUM_ELEMENTS as usize + 1,
    ),
    (
        "memory",
        |input| input.memory::<DenseHostTensor>().unwrap().take(60).unwrap(),
        NUM_ELEMENTS as usize + 1,
    ),
];

fn sizes() -> &'static [usize] {
    match std::env::var_os("TFRT_LONG_TESTS") {
        Some(_) => &[1, 1 << 10, 1 << 20, 100_000_000],
        None => &[1, 1 << 10, 1 << 16],
    }
}

#[test]
fn no_stage_holds_more_elements_than_it_says() {
    for queue in ["s", "mstd:2"] {
        for &element_bytes in sizes() {
            for &(name, stage, max_held) in CASES {
                let pass = Pass::new(queue, element_bytes);
                let (peak, largest) = pass.peak(&stage(pass.elements()));
                // What is allocated beside elements, such as the state of a call, and the last
                // element that was drawn: the worker that made it may give it up only when others
                // make the next one.
                let beside = largest + 4096.0 / element_bytes as f64;
                assert!(
                    peak <= max_held as f64 + beside,
                    "{name} under {queue}: {peak} elements of {element_bytes} bytes, and not {max_held}"
                );
                // The bound is one: it is not met by far.
                assert!(peak >= 1.0, "{name}: {peak}");
            }
        }
    }
}

#[test]
fn no_element_is_left() {
    for &(name, stage, _) in CASES {
        let pass = Pass::new("mstd:2", 1 << 10);
        pass.peak(&stage(pass.elements()));
        let profile = pass.allocator.profile().unwrap();
        assert_eq!(profile.current_bytes, 0, "{name}");
    }
}
