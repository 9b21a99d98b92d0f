//! States that a function hands on from call to call.

use std::sync::Arc;

use tfrt_async::{AnyRef, AsyncValueRef, Immutable, Value};
use tfrt_data::{Dataset, ElementFunction, IntoElementFunction, Outcome, Saving};
use tfrt_host::{ExecutionContext, RequestContextBuilder};
use tfrt_support::ErrorCode;

use crate::support::{context, elements, number_of, one, range};

/// A state that no checkpoint knows.
#[derive(Debug, Clone)]
pub(crate) struct Coin(pub(crate) i64);

impl Value for Coin {
    const MLIR_TYPE: &'static str = "!my.coin";
}

impl Immutable for Coin {}

/// A scan, and a generator, that hand a coin from call to call.
fn coins(declares: bool) -> [Dataset; 2] {
    let next = |coin: Coin, x: i64| (Coin(coin.0 + x + 1), coin.0);
    let scan = match declares {
        true => {
            let next = next.with_state(|coin: Coin| coin.0, Coin);
            range(7).scan(Coin(0), next).unwrap()
        }
        false => range(7).scan(Coin(0), next).unwrap(),
    };
    let next = |coin: Coin| (coin.0 < 7, Coin(coin.0 + 1), 10 * coin.0);
    let generated = match declares {
        true => Dataset::generate(Coin(0), next.with_state(|coin: Coin| coin.0, Coin)),
        false => Dataset::generate(Coin(0), next),
    };
    [scan, generated.unwrap()].map(|dataset| dataset.prefetch(2).unwrap())
}

#[test]
fn a_state_that_is_handed_on_is_saved_as_what_the_function_makes_of_it() {
    for queue in ["s", "mstd:3"] {
        let ctx = context(queue);
        for dataset in coins(true) {
            let all = elements(&dataset, &ctx);
            assert_eq!(all.len(), 7);
            for position in 0..=all.len() {
                let mut pass = dataset.elements::<i64, _>(&ctx);
                pass.by_ref().take(position).for_each(drop);
                let checkpoint = pass.save().unwrap();
                let restored = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
                let rest: Vec<i64> = restored.map(Result::unwrap).collect();
                assert_eq!(rest, all[position..], "at {position}");
            }
        }
        for dataset in coins(false) {
            let mut pass = dataset.elements::<i64, _>(&ctx);
            pass.next();
            let error = pass.save().unwrap_err();
            assert_eq!(error.code(), ErrorCode::Unimplemented);
            assert_eq!(
                error.message(),
                "a value of type `!my.coin` cannot be written to a checkpoint"
            );
        }
    }
}

/// A draw that is cancelled leaves the results of a call, which the next draw hands out.
#[test]
fn a_generator_is_saved_behind_a_call_that_nobody_has_seen() {
    for has_next in [true, false] {
        let ctx = context("s");
        let (promise, answer) = AsyncValueRef::<bool>::unconstructed();
        let answer = answer.into_any();
        let next = ElementFunction::from_named_closure("next", 1, 3, move |_, values| {
            let &Coin(number) = values[0].get().expect("the state is a coin");
            let has_next = match number {
                0 => answer.clone(),
                number => AnyRef::available(number < 4),
            };
            let (state, element) = (Coin(number + 1), AnyRef::available(number));
            Ok([has_next, AnyRef::available(state), element]
                .into_iter()
                .collect())
        });
        let next = next.with_state(|coin: Coin| coin.0, Coin);
        let init = ElementFunction::from_named_closure("init", 0, 1, |_, _| {
            Ok(one(AnyRef::available(Coin(0))))
        });
        let generated = Dataset::generator_with(init, &[], next, None).unwrap();
        let mut iterator = generated.iterator();
        let request = RequestContextBuilder::new(Arc::clone(ctx.host())).build();
        let cancelled = ExecutionContext::new(request);
        let drawn = iterator.draw(&cancelled);
        cancelled.request().cancel();
        assert!(matches!(iterator.try_save(&ctx), Ok(Saving::Waiting(_))));
        promise.emplace(has_next);
        ctx.host().quiesce().unwrap();
        assert!(matches!(drawn.into_outcome(), Ok(Outcome::Error(_))));

        let checkpoint = iterator.save(&ctx).unwrap();
        let expected: &[i64] = if has_next { &[0, 1, 2, 3] } else { &[] };
        let restored = generated
            .elements_from::<i64, _>(&checkpoint, &ctx)
            .unwrap();
        assert_eq!(restored.collect::<Result<Vec<_>, _>>().unwrap(), expected);
        assert_eq!(
            number_of(iterator.draw(&ctx), &ctx),
            expected.first().copied()
        );
    }
}
