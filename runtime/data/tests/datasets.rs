//! Datasets one by one, where a random pipeline does not look.

use tfrt_async::{AnyRef, ByteString};
use tfrt_data::{BatchComponent, Cardinality, Dataset, Draw, IterationResult, Outcome, Position};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

fn context() -> ExecutionContext {
    let host = HostContext::builder().build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn numbers(dataset: &Dataset) -> Vec<i64> {
    let elements = dataset.elements::<i64, _>(&context());
    elements.collect::<Result<_, Error>>().unwrap()
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

#[test]
fn shuffles_are_those_of_the_reference() {
    let shuffled =
        |stop, size, seed, seed2| numbers(&range(stop).shuffle(size, seed, seed2).unwrap());
    assert_eq!(shuffled(10, 4, 100, 200), [3, 1, 2, 5, 4, 0, 7, 6, 8, 9]);
    assert_eq!(shuffled(6, 100, 0, 0), [1, 4, 2, 5, 0, 3]);
}

#[test]
fn every_pass_of_a_reshuffling_shuffle_has_another_order() {
    let shuffle = range(6).shuffle_with(10, 3, 40, true).unwrap();
    let passes = numbers(&shuffle.repeat(2).unwrap());
    let pass = |seed2| numbers(&range(6).shuffle(10, 3, seed2).unwrap());
    assert_eq!(passes, [pass(40), pass(41)].concat());
    assert_ne!(pass(40), pass(41));
}

#[test]
fn a_payload_is_drawn_without_a_value_if_it_is_of_the_type_of_the_range() {
    let ctx = context();
    let number_of = |result: Option<IterationResult>| match result {
        Some(IterationResult::Known(Outcome::Element(values))) => values[0].get::<i64>().copied(),
        _ => None,
    };
    let mut numbers = range(3).iterator_below(Position::ROOT);
    let (mut number, mut other) = (None::<i64>, None::<f32>);
    assert!(numbers.draw_payload(&ctx, &mut number).is_none());
    assert_eq!(number, Some(0));
    assert_eq!(number_of(numbers.draw_payload(&ctx, &mut other)), Some(1));
    assert_eq!(other, None);
    assert_eq!(number_of(Some(numbers.draw(&ctx))), Some(2));
    number = None;
    let end = numbers.draw_payload(&ctx, &mut number);
    assert!(matches!(end, Some(IterationResult::Known(Outcome::End(_)))));

    let halves = Dataset::range_of(DType::F16, 0, 1, 1).unwrap();
    let mut halves = halves.iterator_below(Position::ROOT);
    assert!(halves.draw_payload(&ctx, &mut number).is_some());
    assert_eq!(number, None);
    let no_numbers = Dataset::range_of(DType::I1, 0, 1, 1).unwrap();
    let found = no_numbers.elements::<i64, _>(&ctx).take(2);
    let messages = found.map(|drawn| drawn.unwrap_err().message().to_owned());
    assert_eq!(messages.collect::<Vec<_>>(), ["Unsupported data type"; 2]);
}

#[test]
fn a_loop_over_numbers_is_saved_and_restored() {
    let (dataset, ctx) = (range(6), context());
    let mut elements = dataset.elements::<i64, _>(&ctx);
    assert_eq!(
        elements.by_ref().take(4).map(Result::unwrap).sum::<i64>(),
        6
    );
    let checkpoint = elements.save().unwrap();
    let restored = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    assert_eq!(restored.map(Result::unwrap).collect::<Vec<_>>(), [4, 5]);
}

#[test]
fn windows_begin_where_the_shift_says() {
    let windows = |size, shift, stride, drops_remainder| {
        let windows = range(7)
            .window(size, shift, stride, drops_remainder)
            .unwrap();
        let windows = windows.elements::<Dataset, _>(&context());
        windows
            .map(|window| numbers(&window.unwrap()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        windows(3, 2, 1, false),
        [vec![0, 1, 2], vec![2, 3, 4], vec![4, 5, 6], vec![6]]
    );
    assert_eq!(windows(3, 2, 1, true), [[0, 1, 2], [2, 3, 4], [4, 5, 6]]);
    assert_eq!(windows(2, 3, 2, false), [vec![0, 2], vec![3, 5], vec![6]]);
    assert_eq!(windows(1, 5, 1, true), [[0], [5]]);
    for (numbers, text) in [
        ((0, 1, 1), "size"),
        ((1, 0, 1), "shift"),
        ((1, 1, -2), "stride"),
    ] {
        let error = range(7)
            .window(numbers.0, numbers.1, numbers.2, false)
            .unwrap_err();
        let found = [numbers.0, numbers.1, numbers.2]
            .into_iter()
            .find(|n| *n < 1)
            .unwrap();
        assert_eq!(
            error.message(),
            format!("{text} must be positive, not {found}")
        );
    }
}

#[test]
fn a_remainder_is_dropped_if_that_is_asked_for() {
    let batches = |dataset: Dataset, drops_remainder| {
        let batch = dataset.batch_with(3, &[BatchComponent::Any], false, drops_remainder);
        let batches = batch.unwrap();
        let batches = batches.elements::<DenseHostTensor, _>(&context());
        batches
            .map(|batch| batch.unwrap().num_elements())
            .collect::<Vec<_>>()
    };
    assert_eq!(batches(range(7), false), [3, 3, 1]);
    assert_eq!(batches(range(7), true), [3, 3]);
    assert_eq!(batches(range(6), true), [3, 3]);
    assert_eq!(batches(range(2), true), [0; 0]);
}

#[test]
fn batches_of_one_iterator_have_one_shape_if_they_say_so() {
    let rows = |len: usize| DenseHostTensor::vector(&vec![1.0_f32; len]).unwrap();
    let tensors = [rows(2), rows(2), rows(3), rows(3)].map(tfrt_async::AnyRef::available);
    let found = |has_same_metadata| {
        let dataset = Dataset::from_values(&tensors).unwrap();
        let batches = dataset
            .batch_with(2, &[BatchComponent::Tensor], has_same_metadata, false)
            .unwrap();
        let batches = batches.elements::<DenseHostTensor, _>(&context());
        let text = |batch: Result<DenseHostTensor, Error>| match batch {
            Ok(batch) => batch.shape().to_string(),
            Err(error) => error.message().to_owned(),
        };
        batches.map(text).collect::<Vec<_>>()
    };
    assert_eq!(found(false), ["[2, 2]", "[2, 3]"]);
    let misfit = "element 0 of the batch is f32 [3], the first is f32 [2]";
    assert_eq!(found(true), ["[2, 2]", misfit]);
}

#[test]
fn a_cache_draws_from_its_input_once() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let cached = range(4)
        .map(move |x: i64| {
            counted.fetch_add(1, Ordering::Relaxed);
            x * 2
        })
        .and_then(|dataset| dataset.cache())
        .unwrap();
    // A pass that is not whole keeps nothing.
    assert_eq!(numbers(&cached.take(2).unwrap()), [0, 2]);
    assert_eq!(numbers(&cached), [0, 2, 4, 6]);
    let num_calls = calls.load(Ordering::Relaxed);
    assert_eq!(num_calls, 6);
    assert_eq!(
        numbers(&cached.repeat(2).unwrap()),
        [0, 2, 4, 6, 0, 2, 4, 6]
    );
    assert_eq!(calls.load(Ordering::Relaxed), num_calls);
    assert_eq!(cached.cardinality(), Cardinality::Finite(4));
}

#[test]
fn rows_of_tensors_share_their_memory_and_keep_their_type() {
    let pairs = range(4).map(|x: i64| (x, x as f32)).unwrap();
    let components = [BatchComponent::Any; 2];
    let batches = pairs.batch_with(3, &components, false, false).unwrap();
    let found = batches.unbatch().unwrap();
    let found: Result<Vec<(i64, f32)>, Error> = found.elements(&context()).collect();
    assert_eq!(found.unwrap(), [(0, 0.0), (1, 1.0), (2, 2.0), (3, 3.0)]);
    let rows = range(6)
        .batch(2)
        .unwrap()
        .batch(3)
        .unwrap()
        .unbatch()
        .unwrap();
    let rows = rows.elements::<DenseHostTensor, _>(&context());
    let rows: Vec<Vec<i64>> = rows
        .map(|row| row.unwrap().elements::<i64>().unwrap().to_vec())
        .collect();
    assert_eq!(rows, [[0, 1], [2, 3], [4, 5]]);
    let wrong = range(2).unbatch().unwrap();
    let error = wrong
        .elements::<i64, _>(&context())
        .next()
        .unwrap()
        .unwrap_err();
    assert_eq!(
        error.message(),
        "expected a dense tensor to unbatch, found `i64`, at element 0 of `unbatch`"
    );
}

#[test]
fn shards_are_disjoint_and_together_everything() {
    for num_shards in 1..5 {
        let mut all: Vec<i64> = (0..num_shards)
            .flat_map(|index| numbers(&range(10).shard(num_shards, index).unwrap()))
            .collect();
        all.sort_unstable();
        assert_eq!(all, numbers(&range(10)));
    }
    for (num_shards, index) in [(0, 0), (2, 2), (2, -1), (-1, 0)] {
        assert!(range(10).shard(num_shards, index).is_err());
    }
}

#[test]
fn cardinalities_are_what_is_drawn() {
    let number = |dataset: &Dataset| match dataset.cardinality() {
        Cardinality::Finite(len) => len as usize,
        other => panic!("{other:?}"),
    };
    let count = |dataset: &Dataset| {
        let mut iterator = dataset.iterator();
        let ctx = context();
        let draws = std::iter::from_fn(|| iterator.draw(&ctx).into_outcome().ok());
        draws.take_while(|outcome| !outcome.is_end()).count()
    };
    for (start, stop, step) in [
        (0, 10, 3),
        (0, 9, 3),
        (5, -5, -2),
        (3, 3, 1),
        (1, 0, 1),
        (0, 5, 0),
    ] {
        let numbers = Dataset::range(start, stop, step).unwrap();
        let zipped = Dataset::zip(&[numbers.clone(), range(2)]).unwrap();
        let chained = Dataset::concatenate(&[numbers.clone(), range(2)]).unwrap();
        let drops = |drops| {
            numbers
                .batch_with(3, &[BatchComponent::Any], false, drops)
                .unwrap()
        };
        for dataset in [
            numbers.take(2).unwrap(),
            numbers.skip(2).unwrap(),
            numbers.repeat(3).unwrap(),
            numbers.shuffle(2, 1, 1).unwrap(),
            numbers.shard(3, 1).unwrap(),
            numbers.enumerate(0).unwrap(),
            numbers.window(2, 3, 1, false).unwrap(),
            numbers.window(2, 1, 2, true).unwrap(),
            drops(false),
            drops(true),
            zipped,
            chained,
            numbers,
        ] {
            assert_eq!(number(&dataset), count(&dataset), "{dataset:?}");
        }
    }
    assert_eq!(
        range(0).repeat(-1).unwrap().cardinality(),
        Cardinality::Finite(0)
    );
    assert_eq!(
        range(1).repeat(-1).unwrap().cardinality(),
        Cardinality::Infinite
    );
    let strings = Dataset::range_of(DType::String, 0, 1, 1).unwrap();
    assert_eq!(strings.cardinality(), Cardinality::Infinite);
    let wrapping = Dataset::range(0, i64::MAX, i64::MAX - 1).unwrap();
    assert_eq!(wrapping.cardinality(), Cardinality::Unknown);
}

#[test]
fn a_component_of_another_type_is_named() {
    let text = |dataset: Dataset| {
        let mut strings = dataset.elements::<ByteString, _>(&context());
        strings.next().unwrap().unwrap_err().message().to_owned()
    };
    let expected = "expected elements of type (!tfrt.string), found (i64)";
    assert_eq!(text(range(1)), expected);
    assert_eq!(
        text(range(1).enumerate(0).unwrap()),
        "expected elements of type (!tfrt.string), found (i64, i64)"
    );
    // The types of inner elements are not known before they are drawn.
    let inner = range(2).map(range).unwrap().flatten(1, 1).unwrap();
    let mapped = inner.map(|text: ByteString| text).unwrap();
    assert_eq!(text(mapped), format!("{expected}, at element 0 of `map`"));
}

#[test]
fn rows_of_many_components_are_tuples_or_lists() {
    let columns: Vec<Dataset> = (0..12)
        .map(|column| range(3).map(move |row: i64| 100 * column + row).unwrap())
        .collect();
    let rows = Dataset::zip(&columns).unwrap();
    type Row = (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64);
    let found: Vec<Row> = rows
        .elements(&context())
        .collect::<Result<_, Error>>()
        .unwrap();
    assert_eq!(
        found[2],
        (2, 102, 202, 302, 402, 502, 602, 702, 802, 902, 1002, 1102)
    );
    let lists = rows.elements::<Vec<AnyRef>, _>(&context());
    let last = lists.last().unwrap().unwrap();
    assert_eq!(last[11].get::<i64>(), Some(&1102));
    let sums = Dataset::zip(&columns[..5]).unwrap();
    let sums = sums.map(|a: i64, b: i64, c: i64, d: i64, e: i64| a + b + c + d + e);
    assert_eq!(numbers(&sums.unwrap()), [1000, 1005, 1010]);
}

#[test]
fn batches_of_strings_are_elements_and_operands() {
    let words = range(3).map(|x: i64| ByteString::from(x.to_string().as_bytes()));
    let batches = words.unwrap().batch(2).unwrap();
    let drawn = batches.elements::<StringHostTensor, _>(&context());
    let drawn: Vec<StringHostTensor> = drawn.collect::<Result<_, Error>>().unwrap();
    assert_eq!(drawn[0].strings(), [b"0", b"1"]);
    assert_eq!(drawn[1].strings(), [b"2"]);
    let lengths = batches.map(|words: StringHostTensor| words.strings().len() as i64);
    assert_eq!(numbers(&lengths.unwrap()), [2, 1]);
}

#[test]
fn a_component_that_is_being_written_is_an_error() {
    let tensor = StringHostTensor::new(Shape::new(&[0]).unwrap(), Vec::new()).unwrap();
    let value = AnyRef::available(tensor);
    let _held = value.try_write::<StringHostTensor>().unwrap();
    let element = Dataset::from_values(std::slice::from_ref(&value)).unwrap();
    let mut drawn = element.elements::<StringHostTensor, _>(&context());
    assert_eq!(
        drawn.next().unwrap().unwrap_err().message(),
        "the value is being written by another kernel"
    );
}

#[test]
fn a_closure_that_panics_is_an_error_of_its_element() {
    let divide = |x: i64| 10 / x;
    let dataset = Dataset::range(-1, 2, 1).unwrap().map(divide).unwrap();
    let found: Vec<_> = dataset.elements::<i64, _>(&context()).collect();
    let text = "a stage of a pipeline panicked: attempt to divide by zero, at element 1 of `map`";
    assert_eq!(found[0].as_ref().ok(), Some(&-10));
    assert_eq!(found[1].as_ref().unwrap_err().message(), text);
    assert_eq!(found[2].as_ref().ok(), Some(&10));
}

#[test]
fn two_consumers_of_one_iterator_at_a_time_are_an_error() {
    use tfrt_data::DataIterator;

    let iterator = AnyRef::available(range(3).iterator());
    let held = iterator.try_write::<DataIterator>().unwrap();
    assert!(DataIterator::draw_from(&iterator, &context()).is_err());
    drop(held);
    assert!(DataIterator::draw_from(&iterator, &context()).is_ok());
}
