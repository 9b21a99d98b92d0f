//! Checkpoints one by one, where a random pipeline does not look: what is refused, what is waited
//! for, and how large they are.

use tfrt_async::{AnyRef, AsyncValueRef, ByteString, Value};
use tfrt_data::{
    Dataset, Draw, ElementFunction, IntoElementFunction, IterationResult, Outcome, Position,
    Saving, Stage,
};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_support::{Error, ErrorCode, Place};
use tfrt_tensor::{DenseHostTensor, Shape, StringHostTensor};

fn context() -> ExecutionContext {
    let host = HostContext::builder().build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

/// A checkpoint behind so many elements.
fn checkpoint_of(dataset: &Dataset, num_drawn: usize) -> Vec<u8> {
    let ctx = context();
    let mut iterator = dataset.iterator();
    for _ in 0..num_drawn {
        drop(iterator.draw(&ctx));
    }
    iterator.save(&ctx).unwrap()
}

fn numbers_from(dataset: &Dataset, checkpoint: &[u8]) -> Vec<i64> {
    let elements = dataset.elements_from::<i64, _>(checkpoint, &context());
    elements.unwrap().collect::<Result<_, Error>>().unwrap()
}

/// Why a checkpoint is refused.
fn refusal(dataset: &Dataset, checkpoint: &[u8]) -> Error {
    dataset.restore(checkpoint, &context()).unwrap_err()
}

#[test]
fn a_checkpoint_of_another_pipeline_names_the_first_stage_that_differs() {
    let batches = |size, stop| range(stop).skip(1).unwrap().batch(size).unwrap();
    let checkpoint = checkpoint_of(&batches(2, 9), 1);
    let error = refusal(&batches(2, 8), &checkpoint);
    assert_eq!(error.code(), ErrorCode::FailedPrecondition);
    assert_eq!(
        error.message(),
        "expected a checkpoint of this pipeline, found one of a different pipeline: stage 2: \
         expected `range (element_type = i64, start = 0, stop = 8, step = 1)`, \
         found `range (element_type = i64, start = 0, stop = 9, step = 1)`"
    );
    let text = |dataset: &Dataset| refusal(dataset, &checkpoint).message().to_owned();
    assert!(text(&batches(3, 9)).contains(": stage 0: expected `batch (batch_size = 3, "));
    assert_eq!(
        text(&batches(2, 9).prefetch(1).unwrap())
            .split(", found `")
            .next(),
        Some(
            "expected a checkpoint of this pipeline, found one of a different pipeline: stage 0: \
             expected `prefetch`"
        )
    );
    let checkpoint = checkpoint_of(&Dataset::zip(&[range(2), range(3)]).unwrap(), 1);
    let text = |dataset: &Dataset| refusal(dataset, &checkpoint).message().to_owned();
    assert_eq!(
        text(&Dataset::zip(&[range(2)]).unwrap()),
        "expected a checkpoint of this pipeline, found one of a different pipeline: stage 2: \
         expected none, found `range (element_type = i64, start = 0, stop = 3, step = 1)`"
    );
    let more = Dataset::zip(&[range(2), range(3), range(4)]).unwrap();
    assert!(text(&more).ends_with("stop = 4, step = 1)`, found none"));
}

#[test]
fn functions_of_another_place_are_another_pipeline() {
    fn doubled(dataset: &Dataset) -> Dataset {
        dataset.map(|x: i64| 2 * x).unwrap()
    }
    fn increased(dataset: &Dataset) -> Dataset {
        dataset.map(|x: i64| x + 1).unwrap()
    }
    let checkpoint = checkpoint_of(&doubled(&range(5)), 2);
    assert_eq!(numbers_from(&doubled(&range(5)), &checkpoint), [4, 6, 8]);
    let message = refusal(&increased(&range(5)), &checkpoint);
    assert!(
        message
            .message()
            .contains("stage 0: expected `map (function = ")
    );
}

#[test]
fn how_far_a_stage_draws_ahead_may_change() {
    let ahead = |num| range(9).map(|x: i64| x).unwrap().prefetch(num).unwrap();
    let checkpoint = checkpoint_of(&ahead(5), 2);
    assert_eq!(numbers_from(&ahead(0), &checkpoint), [2, 3, 4, 5, 6, 7, 8]);
    let checkpoint = checkpoint_of(&ahead(0), 2);
    assert_eq!(numbers_from(&ahead(5), &checkpoint), [2, 3, 4, 5, 6, 7, 8]);
}

/// A pipeline with state of every kind.
fn everything() -> Dataset {
    let shuffled = range(12).map(|x: i64| x).unwrap().shuffle(4, 1, 2).unwrap();
    let inner = |x: i64| Dataset::range(x, x + 2, 1).and_then(|inner| inner.repeat(2));
    let turns = shuffled.interleave(inner, 2, 1).unwrap();
    let windows = turns.window(3, 2, 1, false).unwrap();
    let flat = windows.flat_map(|window: Dataset| window).unwrap();
    let batches = flat.batch(3).unwrap().prefetch(1).unwrap();
    batches.unbatch().unwrap().prefetch(2).unwrap()
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let checkpoint = checkpoint_of(&everything(), 7);
    for len in 0..checkpoint.len() {
        let error = refusal(&everything(), &checkpoint[..len]);
        assert_eq!(error.code(), ErrorCode::DataLoss, "{len} bytes: {error}");
    }
    for position in 0..checkpoint.len() {
        let mut damaged = checkpoint.clone();
        damaged[position] ^= 1 << (position % 8);
        let error = refusal(&everything(), &damaged);
        assert!(
            error.message().contains("checkpoint"),
            "byte {position}: {error}"
        );
    }
}

/// The checksum tells damage, not malice.
#[test]
fn a_forged_checkpoint_does_no_harm() {
    let checkpoint = checkpoint_of(&everything(), 7);
    let ctx = context();
    let end = checkpoint.len() - 8;
    for position in (12..end).step_by(3) {
        for byte in [0, 0xff, checkpoint[position] ^ 0x10] {
            let mut forged = checkpoint.clone();
            forged[position] = byte;
            let sum = forged[..end]
                .iter()
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
                    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
                });
            forged[end..].copy_from_slice(&sum.to_le_bytes());
            if let Ok(elements) = everything().elements_from::<i64, _>(&forged, &ctx) {
                elements.take(60).for_each(drop);
            }
        }
    }
}

#[test]
fn shuffles_of_numbers_are_saved_in_few_bytes() {
    let shuffled = range(100_000).shuffle(10_000, 3, 4).unwrap();
    let mut elements = shuffled.elements::<i64, _>(&context());
    elements.by_ref().take(54_321).for_each(drop);
    let checkpoint = elements.save().unwrap();
    assert!(checkpoint.len() < 4096, "{} bytes", checkpoint.len());
    let rest: Vec<i64> = elements.collect::<Result<_, Error>>().unwrap();
    assert_eq!(numbers_from(&shuffled, &checkpoint), rest);
}

#[test]
fn functions_are_not_called_again_for_elements_that_were_drawn_ahead() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let calls = Arc::new(AtomicUsize::new(0));
    let counted = |calls: &Arc<AtomicUsize>| {
        let calls = Arc::clone(calls);
        let count = move |x: i64| {
            calls.fetch_add(1, Ordering::Relaxed);
            x
        };
        let mapped = range(10).map(count).unwrap();
        mapped.shuffle(4, 1, 2).unwrap().prefetch(3).unwrap()
    };
    let checkpoint = checkpoint_of(&counted(&calls), 2);
    let num_calls = calls.load(Ordering::Relaxed);
    assert!(num_calls > 2);
    let mut all = numbers_from(&counted(&calls), &checkpoint);
    assert_eq!(all.len(), 8);
    all.dedup();
    assert_eq!(calls.load(Ordering::Relaxed), 10);
}

#[test]
fn every_kind_of_value_survives() {
    let ctx = context();
    let error = Error::new("a wet page").with_code(ErrorCode::DataLoss);
    error.set_place_if_unset(Place::file("p.mlir", 3, 4));
    let words = StringHostTensor::new(Shape::new(&[2]).unwrap(), vec![b"a".into(), vec![0xff]]);
    let values = [
        AnyRef::available(true),
        AnyRef::available(-3_i8),
        AnyRef::available(u64::MAX),
        AnyRef::available(f64::NAN.to_bits()),
        AnyRef::available(half::bf16::from_f32(1.5)),
        AnyRef::available(ByteString::from(vec![0, 0xff])),
        AnyRef::available(DenseHostTensor::vector(&[1.5_f32, f32::NEG_INFINITY]).unwrap()),
        AnyRef::available(words.unwrap()),
        AnyRef::ready_chain(),
        AnyRef::error(error),
    ];
    let num_values = values.len() as i64;
    let ahead = Dataset::from_values(&values)
        .unwrap()
        .prefetch(num_values)
        .unwrap();
    let mut iterator = ahead.iterator();
    drop(iterator.draw(&ctx));
    let checkpoint = iterator.save(&ctx).unwrap();
    let mut restored = ahead.restore(&checkpoint, &ctx).unwrap();
    for value in &values[1..] {
        let Ok(Outcome::Element(found)) = restored.draw(&ctx).into_outcome() else {
            panic!("there is an element");
        };
        let found = &found[0];
        assert_eq!(found.mlir_type(), value.mlir_type());
        if let Some(number) = value.get::<i8>() {
            assert_eq!(found.get(), Some(number));
        }
        if let Some(number) = value.get::<u64>() {
            assert_eq!(found.get(), Some(number));
        }
        if let Some(text) = value.get::<ByteString>() {
            assert_eq!(
                found.get::<ByteString>().unwrap().as_bytes(),
                text.as_bytes()
            );
        }
        if let Some(tensor) = value.get::<DenseHostTensor>() {
            assert_eq!(
                found.get::<DenseHostTensor>().unwrap().to_string(),
                tensor.to_string()
            );
        }
        if let Ok(words) = value.try_read::<StringHostTensor>() {
            let found = found.try_read::<StringHostTensor>().unwrap();
            assert_eq!(found.strings(), words.strings());
        }
        if let Some(error) = value.error_if_present() {
            let found = found.error_if_present().unwrap();
            assert_eq!(found.located().to_string(), error.located().to_string());
            assert_eq!(found.code(), error.code());
        }
    }
}

/// A payload that no checkpoint knows.
#[derive(Debug, Clone)]
struct Coin;

impl Value for Coin {
    const MLIR_TYPE: &'static str = "!my.coin";
}

impl tfrt_async::Immutable for Coin {}

#[test]
fn an_element_that_cannot_be_written_is_named() {
    let ctx = context();
    let coins = range(5).map(|_: i64| Coin).unwrap();
    // Nothing is held.
    let mut iterator = coins.iterator();
    drop(iterator.draw(&ctx));
    let checkpoint = iterator.save(&ctx).unwrap();
    let rest = coins.elements_from::<Coin, _>(&checkpoint, &ctx).unwrap();
    assert_eq!(rest.count(), 4);

    let mut iterator = coins.prefetch(2).unwrap().iterator();
    drop(iterator.draw(&ctx));
    let error = iterator.save(&ctx).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unimplemented);
    assert_eq!(
        error.message(),
        "a value of type `!my.coin` cannot be written to a checkpoint"
    );
}

/// A dataset of a user that knows nothing of checkpoints.
#[derive(Debug)]
struct Plain;

impl Stage for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn make_iterator(&self, _position: Position) -> Box<dyn Draw> {
        Box::new(PlainIterator)
    }
}

#[derive(Debug)]
struct PlainIterator;

impl Draw for PlainIterator {
    fn draw(&mut self, _ctx: &ExecutionContext) -> IterationResult {
        Outcome::END.into()
    }
}

#[test]
fn a_stage_without_checkpoints_is_named() {
    let dataset = Dataset::new(Plain).unwrap().take(3).unwrap();
    let error = dataset.iterator().save(&context()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unimplemented);
    assert_eq!(
        error.message(),
        "the pipeline does not support checkpoints: `checkpoints::PlainIterator` cannot be saved"
    );
}

/// A dataset whose elements come from the outside: the function returns the promised values.
fn promised(results: Vec<AnyRef>) -> Dataset {
    let answer = move |_: &ExecutionContext, values: &[AnyRef]| {
        let index = *values[0].get::<i64>().unwrap() as usize;
        Ok([results[index].clone()].into_iter().collect())
    };
    let function = ElementFunction::from_closure(1, 1, answer);
    range(3).map_with(function, &[]).unwrap()
}

#[test]
fn a_save_waits_for_elements_that_were_drawn_ahead() {
    let ctx = context();
    let (promises, results): (Vec<_>, Vec<_>) = (0..3)
        .map(|_| AsyncValueRef::<i64>::unconstructed())
        .unzip();
    let results = results.into_iter().map(AsyncValueRef::into_any).collect();
    let ahead = promised(results).prefetch(2).unwrap();
    let mut iterator = ahead.iterator();
    let first = iterator.draw(&ctx);
    let Saving::Waiting(value) = iterator.try_save(&ctx).unwrap() else {
        panic!("two elements are pending");
    };
    let mut promises = promises.into_iter();
    let handed_out = promises.next().unwrap();
    for (number, promise) in promises.enumerate() {
        assert!(!value.is_available());
        promise.emplace(10 + number as i64);
    }
    assert!(value.is_available());
    // The element that was handed out is not waited for.
    let Saving::Saved(checkpoint) = iterator.try_save(&ctx).unwrap() else {
        panic!("nothing is pending");
    };
    assert_eq!(numbers_from(&ahead, &checkpoint), [10, 11]);
    handed_out.emplace(9);
    drop(first);
}

#[test]
fn a_save_waits_for_requests_that_a_stage_has_not_answered() {
    let ctx = context();
    let (promises, results): (Vec<_>, Vec<_>) = (0..3)
        .map(|_| AsyncValueRef::<i64>::unconstructed())
        .unzip();
    let results = results.into_iter().map(AsyncValueRef::into_any).collect();
    let odd = promised(results).filter(|x: i64| x % 2 == 1).unwrap();
    let mut iterator = odd.iterator();
    let drawn = iterator.draw(&ctx);
    assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Waiting(_))));
    let mut promises = promises.into_iter();
    promises.next().unwrap().emplace(2);
    assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Waiting(_))));
    promises.next().unwrap().emplace(3);
    assert!(drawn.is_known());
    let Saving::Saved(checkpoint) = iterator.try_save(&ctx).unwrap() else {
        panic!("the request is answered");
    };
    promises.next().unwrap().emplace(5);
    assert_eq!(numbers_from(&odd, &checkpoint), [5]);
    // Drawing on makes the save a thing of the past.
    drop(iterator.draw(&ctx));
    let Saving::Saved(checkpoint) = iterator.try_save(&ctx).unwrap() else {
        panic!("nothing is pending");
    };
    assert_eq!(numbers_from(&odd, &checkpoint), [0_i64; 0]);
}

#[test]
fn a_cancelled_request_saves_nothing() {
    let ctx = context();
    let mut iterator = range(3).iterator();
    ctx.request().cancel();
    let error = iterator.save(&ctx).unwrap_err();
    assert_eq!(error.message(), "Cancelled");
}

/// The calls that are under way make datasets, which a checkpoint cannot contain.
#[test]
fn a_parallel_interleave_is_saved_at_every_position() {
    for queue in ["s", "mstd:3"] {
        let host = HostContext::builder()
            .queue(tfrt_queue::create_queue(queue).unwrap())
            .build();
        let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
        let inner = |x: i64| match x {
            3 => Err(Error::new("no dataset for 3")),
            x => Dataset::range(10 * x, 10 * x + 1 + x % 3, 1),
        };
        for num_parallel in [3, -1] {
            let function = inner.into_element_function();
            let turns = range(7).parallel_interleave_with(function, 2, 1, num_parallel, true);
            let turns = turns.unwrap().prefetch(2).unwrap();
            let rest_of = |elements: tfrt_data::Elements<i64, _>| {
                let rest = elements.map(|number| number.map_err(|error| error.to_string()));
                rest.collect::<Vec<_>>()
            };
            let all = rest_of(turns.elements(&ctx));
            assert_eq!(all.len(), 13);
            assert_eq!(all.iter().filter(|number| number.is_err()).count(), 1);
            for position in 0..=all.len() {
                let mut pass = turns.elements::<i64, _>(&ctx);
                pass.by_ref().take(position).for_each(drop);
                let checkpoint = pass.save().unwrap();
                assert_eq!(rest_of(pass), all[position..], "{queue}, at {position}");
                let mut restored = turns.elements_from(&checkpoint, &ctx).unwrap();
                // The calls that the restore has begun are saved without a draw in between.
                let again = restored.save().unwrap();
                assert_eq!(rest_of(restored), all[position..], "{queue}, at {position}");
                let restored = turns.elements_from(&again, &ctx).unwrap();
                assert_eq!(rest_of(restored), all[position..], "{queue}, at {position}");
            }
        }
    }
}
