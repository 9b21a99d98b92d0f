//! Stages with several functions, and what is called when.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};

use tfrt_async::{AnyRef, ByteString};
use tfrt_data::{
    Dataset, ElementFunction, IntoElementFunction, IterationResult, OnError, Outcome,
    PaddedComponent, PipelineOptions, Values,
};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

fn context() -> ExecutionContext {
    ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

fn items(dataset: &Dataset) -> Vec<Result<i64, String>> {
    let elements = dataset.elements::<i64, _>(&context());
    elements
        .map(|item| item.map_err(|error| error.message().to_owned()))
        .collect()
}

fn one(value: AnyRef) -> Values {
    [value].into_iter().collect()
}

/// Counts down from ten to what the state ends with; `finished` is told the last state.
fn countdown(num_elements: i64, finished: &Arc<AtomicI64>) -> Dataset {
    let init = |from: i64| from;
    let next = move |x: i64| (x > 10 - num_elements, x - 1, x);
    let finished = Arc::clone(finished);
    let finish = move |x: i64| {
        assert_eq!(finished.swap(x, Ordering::Relaxed), -1, "finished twice");
        x
    };
    Dataset::generator_with(
        init.into_element_function(),
        &[AnyRef::available(10_i64)],
        next.into_element_function(),
        Some(finish.into_element_function()),
    )
    .unwrap()
}

#[test]
fn a_generator_is_finished_once_at_its_end_or_when_it_is_dropped() {
    let ctx = context();
    let finished = Arc::new(AtomicI64::new(-1));
    let dataset = countdown(3, &finished);
    let mut elements = dataset.elements::<i64, _>(&ctx);
    for expected in [10, 9, 8] {
        assert_eq!(elements.next().unwrap().unwrap(), expected);
        assert_eq!(finished.load(Ordering::Relaxed), -1);
    }
    assert!(elements.next().is_none());
    assert_eq!(finished.load(Ordering::Relaxed), 6);
    drop(elements);

    finished.store(-1, Ordering::Relaxed);
    let mut elements = dataset.elements::<i64, _>(&ctx);
    assert_eq!(elements.next().unwrap().unwrap(), 10);
    drop(elements);
    assert_eq!(finished.load(Ordering::Relaxed), 9);

    // Nothing was begun, so there is nothing to finish.
    finished.store(-1, Ordering::Relaxed);
    drop(dataset.elements::<i64, _>(&ctx));
    assert_eq!(finished.load(Ordering::Relaxed), -1);
}

#[test]
fn a_restored_generator_goes_on_with_the_saved_state() {
    let ctx = context();
    let finished = Arc::new(AtomicI64::new(-1));
    let dataset = countdown(4, &finished);
    let mut elements = dataset.elements::<i64, _>(&ctx);
    assert_eq!(elements.by_ref().take(2).count(), 2);
    let checkpoint = elements.save().unwrap();
    drop(elements);
    finished.store(-1, Ordering::Relaxed);
    let rest = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    assert_eq!(rest.collect::<Result<Vec<_>, _>>().unwrap(), [8, 7]);
    assert_eq!(finished.load(Ordering::Relaxed), 5);
}

#[test]
fn an_error_of_a_generator_is_its_last_element() {
    let next = |x: i64| match x {
        2 => Err(Error::new("out of numbers")),
        x => Ok((true, x + 1, x)),
    };
    let dataset = Dataset::generate(0_i64, next).unwrap();
    let error = Err("out of numbers, at element 2 of `generator`".to_owned());
    assert_eq!(items(&dataset), [Ok(0), Ok(1), error]);
    let init = ElementFunction::from_closure(0, 1, |_, _| Err(Error::new("no state")));
    let next = |x: i64| (true, x, x);
    let dataset = Dataset::generator_with(init, &[], next.into_element_function(), None).unwrap();
    assert_eq!(
        items(&dataset),
        [Err("no state, at element 0 of `generator`".to_owned())]
    );
}

#[test]
fn only_values_that_can_be_compared_are_unique() {
    let texts =
        ["b", "a", "b", ""].map(|text| AnyRef::available(ByteString::from(text.as_bytes())));
    let texts = Dataset::from_values(&texts).unwrap().unique().unwrap();
    let found = texts.elements::<ByteString, _>(&context());
    let found: Vec<String> = found.map(|text| text.unwrap().to_string()).collect();
    assert_eq!(found, ["b", "a", ""]);
    // Equal bits of other types are other elements.
    let mixed = [
        AnyRef::available(1_i64),
        AnyRef::available(1_u64),
        AnyRef::available(1_i64),
    ];
    let mut mixed = Dataset::from_values(&mixed)
        .unwrap()
        .unique()
        .unwrap()
        .iterator();
    let ctx = context();
    let mut is_element = || matches!(mixed.draw(&ctx).into_outcome(), Ok(Outcome::Element(_)));
    assert_eq!([(); 3].map(|()| is_element()), [true, true, false]);
    let windows = range(2).window(1, 1, 1, false).unwrap();
    let datasets = windows
        .map(|window: Dataset| window.skip(0))
        .unwrap()
        .unique()
        .unwrap();
    let Ok(Outcome::Error(error)) = datasets.iterator().draw(&ctx).into_outcome() else {
        panic!("datasets cannot be compared");
    };
    assert_eq!(
        error.error_if_present().unwrap().message(),
        "an element that cannot be compared, at element 0 of `unique`"
    );
}

#[test]
fn what_is_wrong_with_keys_and_classes_is_said_of_their_elements() {
    let untyped =
        |value: AnyRef| ElementFunction::from_closure(1, 1, move |_, _| Ok(one(value.clone())));
    let reduce = |_: i64, window: Dataset| window;
    let grouped = |key| {
        let reduce = reduce.into_element_function();
        let grouped = range(1).group_by_window_with(key, reduce, 2).unwrap();
        items(&grouped).remove(0).unwrap_err()
    };
    assert_eq!(
        grouped(untyped(AnyRef::available(1_i32))),
        "expected a key of type `i64`, found `i32`, at element 0 of `group_by_window`"
    );
    let class = |class: i64| {
        let resampled = range(1).rejection_resample(move |_: i64| class, &[1.0, 2.0], None, 1, 2);
        items(&resampled.unwrap().map(|_: i64, x: i64| x).unwrap())
    };
    assert_eq!(
        class(2),
        [Err(
            "expected a class below 2, found 2, at element 0 of `rejection_resample`".to_owned()
        )]
    );
    assert!(class(-1)[0].is_err());
    for (target, initial, text) in [
        (&[][..], None, "expected a frequency above 0 in `target`"),
        (
            &[1.0, -1.0],
            None,
            "expected a frequency of at least 0 in `target`, found -1",
        ),
        (
            &[0.0, 0.0],
            None,
            "expected a frequency above 0 in `target`",
        ),
        (
            &[1.0, 1.0],
            Some(&[1.0][..]),
            "expected 2 frequencies in `initial`, found 1",
        ),
    ] {
        let error = range(1)
            .rejection_resample(|x: i64| x, target, initial, 1, 2)
            .unwrap_err();
        assert_eq!(error.message(), text);
        assert_eq!(error.code(), ErrorCode::InvalidArgument);
    }
}

#[test]
fn frequencies_that_are_not_said_are_found_out() {
    let is_rare = |x: i64| i64::from(x % 10 == 0);
    let fair = range(20_000)
        .rejection_resample(is_rare, &[0.5, 0.5], None, 5, 6)
        .unwrap();
    let found: Vec<(i64, i64)> = fair.elements(&context()).collect::<Result<_, _>>().unwrap();
    let num_rare = found.iter().filter(|(class, _)| *class == 1).count();
    // All of the rare ones but for some at the beginning.
    assert!(num_rare > 1950, "{num_rare}");
    let share = num_rare as f64 / found.len() as f64;
    assert!((0.47..0.53).contains(&share), "{share}");
}

#[test]
fn buckets_are_checked_and_padded_as_they_say() {
    let ones = |len: i64| DenseHostTensor::vector(&vec![1_i64; len as usize]).map_err(Error::from);
    let sentences = range(7).map(ones).unwrap();
    let length = |sentence: DenseHostTensor| sentence.num_elements() as i64;
    let padded = [PaddedComponent::default()
        .with_extents(&[Some(9)])
        .with_padding(AnyRef::available(-1_i64))];
    let shapes = |drops_remainder| -> Vec<Vec<usize>> {
        let batches =
            sentences.bucket_by_length(length, &[2, 4], &[2, 3, 2], &padded, drops_remainder);
        let batches = batches.unwrap();
        let batches = batches.elements::<DenseHostTensor, _>(&context());
        batches
            .map(|batch| batch.unwrap().shape().dims().to_vec())
            .collect()
    };
    // Lengths 0 1, 4 5; then, in the order of their keys, 2 3 and 6.
    assert_eq!(shapes(false), [[2, 9], [2, 9], [2, 9], [1, 9]]);
    assert_eq!(shapes(true), [[2, 9], [2, 9]]);
    for (boundaries, sizes, text) in [
        (
            &[2, 2][..],
            &[1, 1, 1][..],
            "expected boundaries that grow, found 2 behind 2",
        ),
        (
            &[2],
            &[1],
            "expected 2 batch sizes for 1 boundaries, found 1",
        ),
        (&[2], &[1, 0], "batch_size must be positive, not 0"),
    ] {
        let error = sentences
            .bucket_by_length(length, boundaries, sizes, &[], false)
            .unwrap_err();
        assert_eq!(error.message(), text);
    }
}

#[test]
fn ragged_rows_agree_in_all_dimensions_but_the_first() {
    let rows = |len: i64, width: i64| {
        let elements = vec![1_f32; (len * width) as usize];
        let tensor = DenseHostTensor::vector(&elements).unwrap();
        let shape = tfrt_tensor::Shape::new(&[len as usize, width as usize]).unwrap();
        DenseHostTensor::from_buffer(tensor.dtype(), shape, tensor.buffer().clone()).unwrap()
    };
    let batch = |widths: [i64; 2]| {
        let tensors = [
            AnyRef::available(rows(2, widths[0])),
            AnyRef::available(rows(1, widths[1])),
        ];
        let batches = Dataset::from_values(&tensors)
            .unwrap()
            .ragged_batch(2, false)
            .unwrap();
        let mut batches = batches.elements::<(DenseHostTensor, DenseHostTensor), _>(&context());
        batches.next().unwrap()
    };
    let (values, splits) = batch([3, 3]).unwrap();
    assert_eq!(values.shape().dims(), [3, 3]);
    assert_eq!(&*splits.elements::<i64>().unwrap(), [0, 2, 3]);
    assert_eq!(
        batch([3, 2]).unwrap_err().message(),
        "element 1 of the batch is f32 [1, 2], the first is f32 [2, 3]"
    );
    let numbers = range(3).ragged_batch(2, true).unwrap();
    let numbers: Vec<DenseHostTensor> = numbers
        .elements(&context())
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(numbers.len(), 1);
    assert_eq!(&*numbers[0].elements::<i64>().unwrap(), [0, 1]);
}

/// Elements that fail if they are divisible by three.
fn failing() -> Dataset {
    let fails = |x: i64| match x % 3 {
        0 => Err(Error::new(format!("{x} is one too many"))),
        _ => Ok(x),
    };
    range(8).map(fails).unwrap()
}

#[test]
fn each_stage_may_have_a_policy_of_its_own() {
    let error =
        |x: i64, stage: &str| Err(format!("{x} is one too many, at element {x} of `{stage}`"));
    let skipping = |max| failing().on_error(OnError::Skip { max }).unwrap();
    assert_eq!(
        items(&skipping(2)),
        [Ok(1), Ok(2), Ok(4), Ok(5), error(6, "map")]
    );
    assert_eq!(items(&skipping(3)), [1, 2, 4, 5, 7].map(Ok));
    assert_eq!(
        items(&failing().on_error(OnError::Stop).unwrap()),
        [error(0, "map")]
    );
    assert_eq!(
        items(&failing().on_error(OnError::Fail).unwrap()),
        items(&failing())
    );
    // Of inner datasets, each for itself; and of the stage around them.
    let inner = |x: i64| match x {
        1 => Err(Error::new("nothing inside 1")),
        _ => failing().skip(x)?.on_error(OnError::Stop),
    };
    let outer = range(3).flat_map(inner).unwrap();
    let expected = [
        error(0, "map"),
        Err("nothing inside 1, at element 1 of `interleave`".to_owned()),
        Ok(2),
        error(3, "map"),
    ];
    assert_eq!(items(&outer), expected);
    let outer = outer.on_error(OnError::Skip { max: 9 }).unwrap();
    assert_eq!(items(&outer), [Ok(2)]);
    // One pass of a repeat after the other.
    let passes = skipping(3).repeat(2).unwrap();
    assert_eq!(items(&passes).len(), 10);
}

#[test]
fn functions_are_called_for_ends_unless_that_is_switched_off() {
    for (skips, expected) in [(false, 3), (true, 2)] {
        let ctx = context();
        let options = PipelineOptions::default().with_skipped_end_calls(skips);
        options.install(ctx.host());
        let num_calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&num_calls);
        // A kernel that does not depend on the arguments would be called; closures are not, so the
        // values of the end tell.
        let count = ElementFunction::from_closure(1, 1, move |_, _| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(one(AnyRef::available(0_i64)))
        });
        let mut iterator = range(2).map_with(count, &[]).unwrap().iterator();
        let results: Vec<IterationResult> = (0..3).map(|_| iterator.draw(&ctx)).collect();
        let num_with_values = results
            .into_iter()
            .filter(|result| match result {
                IterationResult::Known(Outcome::Element(values) | Outcome::End(values)) => {
                    !values.is_empty()
                }
                _ => false,
            })
            .count();
        assert_eq!(num_with_values, expected, "{skips}");
        assert_eq!(num_calls.load(Ordering::Relaxed), 2);
    }
}
