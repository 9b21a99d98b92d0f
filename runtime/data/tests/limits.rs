//! What stages hold at most, and what ends a pass.

use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tfrt_async::{AnyRef, IndirectPromise};
use tfrt_data::{Cardinality, Dataset, ElementFunction, IterationResult, Outcome};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::DenseHostTensor;

fn context() -> ExecutionContext {
    ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

/// The promises of verdicts that a predicate has not given yet.
type Undecided = Arc<Mutex<Vec<IndirectPromise>>>;

/// The elements, each of which is known once a test says so.
fn pending(undecided: &Undecided, stop: i64) -> Dataset {
    let undecided = Arc::clone(undecided);
    let predicate = ElementFunction::from_closure(1, 1, move |_, _| {
        let (promise, verdict) = AnyRef::indirect();
        undecided.lock().unwrap().push(promise);
        Ok([verdict].into_iter().collect())
    });
    range(stop).filter_with(predicate).unwrap()
}

fn number(result: IterationResult) -> Option<i64> {
    match result.into_outcome() {
        Ok(Outcome::Element(values)) => values[0].get().copied(),
        _ => None,
    }
}

/// Accepts undecided elements until the result is known. Returns the most that were undecided at a
/// time.
fn accept_until_known(undecided: &Undecided, result: &IterationResult) -> usize {
    let mut most = 0;
    while !result.is_known() {
        let decided = std::mem::take(&mut *undecided.lock().unwrap());
        assert!(!decided.is_empty(), "nobody decides");
        most = most.max(decided.len());
        for promise in decided {
            promise.forward_to(AnyRef::available(true));
        }
    }
    most
}

#[test]
fn results_that_are_dropped_do_not_pile_up_while_they_are_pending() {
    let ctx = context();
    for (name, dataset) in [
        (
            "skip",
            (|input: Dataset| input.skip(5000)) as fn(Dataset) -> _,
        ),
        ("shard", |input: Dataset| input.shard(6000, 5000)),
    ] {
        let undecided = Undecided::default();
        let mut iterator = dataset(pending(&undecided, 8000)).unwrap().iterator();
        let result = iterator.draw(&ctx);
        let most = accept_until_known(&undecided, &result);
        assert_eq!(number(result), Some(5000), "{name}");
        assert!(most <= 1024, "{name}: {most}");
    }
}

#[test]
fn outstanding_requests_behind_a_skip_are_drawn_at_once() {
    let ctx = context();
    let undecided = Undecided::default();
    let mut iterator = pending(&undecided, 9).skip(2).unwrap().iterator();
    let results = [iterator.draw(&ctx), iterator.draw(&ctx)];
    assert_eq!(undecided.lock().unwrap().len(), 4);
    accept_until_known(&undecided, &results[1]);
    assert_eq!(results.map(number), [Some(2), Some(3)]);
}

#[test]
fn a_batch_of_too_many_pending_elements_is_an_error() {
    let (_promise, value) = AnyRef::indirect();
    let never =
        ElementFunction::from_closure(1, 1, move |_, _| Ok([value.clone()].into_iter().collect()));
    let batches = range(i64::MAX).map_with(never, &[]).unwrap();
    let mut batches = batches.batch(1 << 40).unwrap().iterator();
    match batches.draw(&context()).into_outcome() {
        Ok(Outcome::Error(error)) => assert_eq!(
            error.error_if_present().unwrap().message(),
            "expected at most 1048576 unavailable elements in a batch of 1099511627776, found more"
        ),
        other => panic!("expected an error, found {other:?}"),
    }
}

#[test]
fn a_cancelled_pass_is_not_kept() {
    let cached = range(4).cache().unwrap();
    let cancelled = context();
    let mut iterator = cached.iterator();
    assert!(number(iterator.draw(&cancelled)).is_some());
    cancelled.request().cancel();
    for _ in 0..9 {
        assert_eq!(number(iterator.draw(&cancelled)), None);
    }
    // The same pass goes on in another request.
    let ctx = context();
    let rest: Vec<_> = std::iter::from_fn(|| number(iterator.draw(&ctx))).collect();
    assert_eq!(rest, [1, 2, 3]);
    let again = cached
        .elements::<i64, _>(&ctx)
        .collect::<Result<Vec<_>, Error>>();
    assert_eq!(again.unwrap(), [0, 1, 2, 3]);
}

#[test]
fn elements_of_a_cancelled_request_end() {
    let ctx = context();
    let mut elements = range(9)
        .filter(|_: i64| true)
        .unwrap()
        .elements::<i64, _>(&ctx);
    assert_eq!(elements.next().unwrap().unwrap(), 0);
    ctx.request().cancel();
    assert!(elements.next().unwrap().is_err());
    assert!(elements.next().is_none() && elements.next().is_none());
}

/// Elements of functions that never finish, and a value that keeps them waiting.
fn endless(number: i64) -> (IndirectPromise, Dataset) {
    let (promise, value) = AnyRef::indirect();
    let never =
        ElementFunction::from_closure(1, 1, move |_, _| Ok([value.clone()].into_iter().collect()));
    let mapped = range(number).map_with(never, &[]).unwrap();
    (promise, mapped.batch(2).unwrap().prefetch(1).unwrap())
}

#[test]
fn a_function_that_never_finishes_holds_nobody_up_who_cancels() {
    for queue in ["s", "mstd:2"] {
        let host = HostContext::builder()
            .queue(create_queue(queue).unwrap())
            .build();
        let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let (promise, batches) = endless(9);
        let request = Arc::clone(ctx.request());
        // The loop may wait already, or not yet.
        let canceller = std::thread::spawn(move || request.cancel());
        let items: Vec<_> = batches.elements::<DenseHostTensor, _>(&ctx).collect();
        canceller.join().unwrap();
        assert!(items.len() <= 1, "{queue}: {}", items.len());
        let cancelled = Error::cancelled();
        let cancelled = cancelled.message();
        for item in items {
            assert_eq!(item.unwrap_err().message(), cancelled, "{queue}");
        }
        drop(promise);
    }
}

#[test]
fn a_cancellation_wakes_a_task_that_awaits_an_element() {
    let ctx = context();
    let (promise, batches) = endless(9);
    let mut elements = batches.elements::<DenseHostTensor, _>(&ctx);
    {
        let mut next = pin!(elements.next_async());
        let mut context = Context::from_waker(Waker::noop());
        assert!(next.as_mut().poll(&mut context).is_pending());
        ctx.request().cancel();
        match next.as_mut().poll(&mut context) {
            Poll::Ready(Some(Err(error))) => {
                assert_eq!(error.message(), Error::cancelled().message());
            }
            other => panic!("expected the cancellation, found {other:?}"),
        }
    }
    assert!(elements.next().is_none());
    drop(promise);
}

#[test]
fn an_error_of_a_scan_leaves_its_state() {
    let failing = |x: i64| match x {
        1 => Err(Error::new("no 1").with_code(ErrorCode::NotFound)),
        x => Ok(x),
    };
    let sums = range(5).map(failing).unwrap();
    let sums = sums
        .scan(0_i64, |sum: i64, x: i64| (sum + x, sum + x))
        .unwrap();
    let found: Vec<Option<i64>> = sums.elements(&context()).map(Result::ok).collect();
    assert_eq!(found, [Some(0), None, Some(2), Some(5), Some(9)]);
}

#[test]
fn no_number_of_elements_to_take_is_all_of_them() {
    let endless = range(1).repeat(-1).unwrap().take(-1).unwrap();
    assert_eq!(endless.cardinality(), Cardinality::Infinite);
    assert_eq!(
        range(3).take(-1).unwrap().cardinality(),
        Cardinality::Finite(3)
    );
}

#[test]
fn elements_without_components_can_be_zipped() {
    let nothing = || ElementFunction::from_closure(1, 0, |_, _| Ok(tfrt_data::Values::new()));
    let empty = range(3).map_with(nothing(), &[]).unwrap();
    let mut zipped = Dataset::zip(&[empty]).unwrap().iterator();
    let ctx = context();
    let mut draw = || zipped.draw(&ctx).into_outcome().unwrap().is_element();
    assert_eq!([draw(), draw(), draw(), draw()], [true, true, true, false]);
    let mut none = Dataset::zip(&[]).unwrap().iterator();
    assert!(none.draw(&ctx).into_outcome().unwrap().is_end());
}

#[test]
fn an_element_is_overtaken_a_thousand_times_at_most() {
    let ctx = context();
    let late: Undecided = Undecided::default();
    let promises = Arc::clone(&late);
    let two_late = ElementFunction::from_closure(1, 1, move |_, values| {
        if values[0].get::<i64>().is_some_and(|&number| number > 1) {
            return Ok(values.iter().cloned().collect());
        }
        let (promise, value) = AnyRef::indirect();
        promises.lock().unwrap().push(promise);
        Ok([value].into_iter().collect())
    });
    let mapped = range(5000).map_with(two_late, &[]).unwrap();
    let mut iterator = mapped.prefetch_with(3_i64, false).unwrap().iterator();
    let mut numbers = Vec::new();
    let pending_value = |result: &IterationResult| match result {
        IterationResult::Known(Outcome::Element(values)) => values[0].get::<i64>().copied(),
        _ => None,
    };
    let mut places_of_late = Vec::new();
    for place in 0..1500 {
        match pending_value(&iterator.draw(&ctx)) {
            Some(number) => numbers.push(number),
            None => places_of_late.push(place),
        }
    }
    // Both were overtaken by the same thousand elements.
    assert_eq!(places_of_late, [1000, 1001]);
    assert_eq!(numbers, (2..1500).collect::<Vec<_>>());
    drop(late);
}

#[test]
fn a_forged_interleave_does_not_hang() {
    let inner = |x: i64| Dataset::range(0, x, 1);
    let dataset = range(4).interleave(inner, 2, 1).unwrap();
    let ctx = context();
    let mut elements = dataset.elements::<i64, _>(&ctx);
    elements.by_ref().take(3).for_each(drop);
    let checkpoint = elements.save().unwrap();
    let end = checkpoint.len() - 8;
    let mut ends_in_cycles = 0;
    for position in 12..end {
        for byte in [0, 1, 2, 0xff] {
            let mut forged = checkpoint.clone();
            forged[position] = byte;
            let hash = |hash: u64, &byte: &u8| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            };
            let sum = forged[..end].iter().fold(0xcbf2_9ce4_8422_2325_u64, hash);
            forged[end..].copy_from_slice(&sum.to_le_bytes());
            match dataset.elements_from::<i64, _>(&forged, &ctx) {
                Ok(elements) => elements.take(60).for_each(drop),
                Err(error) => {
                    let text = "the end of the input has a position in a cycle";
                    ends_in_cycles += u32::from(error.message().contains(text));
                }
            }
        }
    }
    // Nothing would free such a position.
    assert!(ends_in_cycles > 0);
}

#[test]
fn a_cache_hands_out_tensors_that_nobody_else_has() {
    let ctx = context();
    let tensor = tfrt_tensor::DenseHostTensor::vector(&[1_i64, 2]).unwrap();
    let given = Dataset::from_values(&[AnyRef::available(tensor)]).unwrap();
    let cached = given.cache().unwrap();
    let mut passes = Vec::new();
    for _ in 0..3 {
        let elements = cached.elements::<tfrt_tensor::DenseHostTensor, _>(&ctx);
        passes.extend(elements.map(Result::unwrap));
    }
    assert_eq!(passes.len(), 3);
    for (index, tensor) in passes.iter().enumerate() {
        assert_eq!(&*tensor.elements::<i64>().unwrap(), [1, 2]);
        let address = tensor.buffer().address();
        let others = passes.iter().skip(index + 1);
        assert!(
            others
                .map(|other| other.buffer().address())
                .all(|other| other != address)
        );
    }
}

#[test]
fn a_predicate_of_another_type_is_an_error() {
    let ctx = context();
    let numbers =
        ElementFunction::from_closure(1, 1, |_, values| Ok(values.iter().cloned().collect()));
    let mut iterator = range(2).filter_with(numbers).unwrap().iterator();
    let Ok(Outcome::Error(error)) = iterator.draw(&ctx).into_outcome() else {
        panic!("a number is not a truth value");
    };
    let error = error.error_if_present().unwrap();
    assert_eq!(
        error.message(),
        "expected a predicate with a result of type `i1`, found `i64`, at element 0 of `filter`"
    );
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
}
