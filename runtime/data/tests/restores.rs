//! Restores that seek: what was delivered is not drawn again.

mod counted;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counted::Counted;
use tfrt_data::{Cardinality, Dataset, ElementFunction, Outcome, Position};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_support::Error;

fn context() -> ExecutionContext {
    ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build())
}

fn range(stop: i64) -> Dataset {
    Dataset::range(0, stop, 1).unwrap()
}

fn numbers(dataset: &Dataset) -> Vec<i64> {
    let elements = dataset.elements::<i64, _>(&context());
    elements.collect::<Result<_, Error>>().unwrap()
}

/// Everything that can seek, each with elements that are numbers.
fn seekable() -> Vec<(&'static str, Dataset)> {
    let values = [5_i64, 3, 8].map(tfrt_async::AnyRef::available);
    let values = Dataset::from_values(&values).unwrap();
    let tensors = [&[1, 2, 3][..], &[], &[4, 5]].map(|row: &[i64]| {
        tfrt_async::AnyRef::available(tfrt_tensor::DenseHostTensor::vector(row).unwrap())
    });
    let slices = Dataset::from_values(&tensors).unwrap().unbatch().unwrap();
    assert_eq!(slices.cardinality(), Cardinality::Finite(5));
    let down = Dataset::range(9, -20, -3).unwrap();
    vec![
        ("range", range(7)),
        ("range, down", down.clone()),
        ("values", values.clone()),
        ("slices of tensors", slices),
        ("map", range(7).map(|x: i64| 2 * x).unwrap()),
        ("take", range(9).take(4).unwrap()),
        ("skip", range(9).skip(4).unwrap()),
        ("skip everything", range(3).skip(4).unwrap()),
        ("shard", range(11).shard(3, 1).unwrap()),
        ("prefetch", range(7).prefetch(3).unwrap()),
        ("repeat", values.repeat(3).unwrap()),
        (
            "concatenate",
            Dataset::concatenate(&[values.clone(), range(0), down.clone()]).unwrap(),
        ),
        (
            "zip",
            Dataset::zip(&[range(9), down.clone()])
                .unwrap()
                .map(|x: i64, y: i64| x * y)
                .unwrap(),
        ),
        (
            "enumerate",
            down.enumerate(5)
                .unwrap()
                .map(|x: i64, y: i64| x * y)
                .unwrap(),
        ),
        (
            "batch",
            range(8)
                .batch(3)
                .unwrap()
                .map(
                    |batch: tfrt_tensor::DenseHostTensor| -> Result<i64, Error> {
                        Ok(batch.elements::<i64>()?.iter().sum())
                    },
                )
                .unwrap(),
        ),
        (
            "window",
            range(8)
                .window(3, 2, 1, false)
                .unwrap()
                .map(|window: Dataset| numbers(&window).iter().sum::<i64>())
                .unwrap(),
        ),
    ]
}

#[test]
fn behind_a_seek_comes_what_lies_behind_so_many_draws() {
    for (name, dataset) in seekable() {
        assert!(dataset.is_seekable(), "{name}");
        let all = numbers(&dataset);
        for num_drawn in [0, 1, 3] {
            for num_before in [0, 1, 2, 3, 5, 100, u64::MAX] {
                let ctx = context();
                let mut state = dataset.iterator_below(Position::ROOT);
                for _ in 0..num_drawn {
                    drop(state.draw(&ctx));
                }
                state.seek(num_before).unwrap();
                let rest = std::iter::from_fn(|| match state.draw(&ctx).into_outcome() {
                    Ok(Outcome::Element(values)) => values[0].get::<i64>().copied(),
                    _ => None,
                });
                let expected = all.get(usize::try_from(num_before).unwrap()..);
                assert_eq!(
                    rest.collect::<Vec<_>>(),
                    expected.unwrap_or_default(),
                    "{name}, {num_before} behind {num_drawn}"
                );
            }
        }
    }
}

#[test]
fn a_shuffle_is_restored_without_drawing_what_it_had_delivered() {
    const LEN: i64 = 100_000;
    const SIZE: usize = 64;
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Counted {
        input: range(LEN).shard(2, 1).unwrap(),
        count: Arc::clone(&count),
    };
    let shuffled = Dataset::new(counted)
        .unwrap()
        .shuffle(SIZE as i64, 3, 4)
        .unwrap();
    let ctx = context();
    let mut elements = shuffled.elements::<i64, _>(&ctx);
    let num_delivered = 49_000;
    assert_eq!(elements.by_ref().take(num_delivered).count(), num_delivered);
    let checkpoint = elements.save().unwrap();
    let rest: Vec<i64> = elements.collect::<Result<_, Error>>().unwrap();

    count.store(0, Ordering::Relaxed);
    let mut restored = shuffled.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    assert_eq!(restored.next().unwrap().unwrap(), rest[0]);
    // Those in the ring, and the next one.
    assert!(count.load(Ordering::Relaxed) <= SIZE + 1);
    assert_eq!(
        restored.collect::<Result<Vec<_>, Error>>().unwrap(),
        rest[1..]
    );
}

#[test]
fn a_shuffle_within_bytes_is_restored_where_it_was() {
    let texts =
        range(30).map(|x: i64| tfrt_async::ByteString::from("x".repeat(x as usize).as_bytes()));
    let texts = texts.unwrap();
    let lengths = |dataset: &Dataset| -> Vec<usize> {
        let elements = dataset.elements::<tfrt_async::ByteString, _>(&context());
        elements
            .map(|text| text.unwrap().as_bytes().len())
            .collect()
    };
    let within = |num_bytes| {
        texts
            .shuffle_within(1000, Some(num_bytes), 1, 2, false)
            .unwrap()
    };
    // One element alone is always held, and nothing is lost.
    assert_eq!(lengths(&within(1)), (0..30).collect::<Vec<_>>());
    let found = lengths(&within(300));
    assert_ne!(found, (0..30).collect::<Vec<_>>());
    // An element takes 32 bytes and its length: at most nine are held.
    assert!(
        found
            .iter()
            .enumerate()
            .all(|(index, &len)| len <= index + 9)
    );
    assert_eq!(
        lengths(&within(1 << 40)),
        lengths(&texts.shuffle(1000, 1, 2).unwrap())
    );

    let ctx = context();
    for num_delivered in [0, 1, 13, 29, 30] {
        let mut elements = within(300).elements::<tfrt_async::ByteString, _>(&ctx);
        assert_eq!(elements.by_ref().take(num_delivered).count(), num_delivered);
        let checkpoint = elements.save().unwrap();
        let restored = within(300).elements_from::<tfrt_async::ByteString, _>(&checkpoint, &ctx);
        let rest = restored.unwrap().map(|text| text.unwrap().as_bytes().len());
        assert_eq!(rest.collect::<Vec<_>>(), found[num_delivered..]);
    }
}

#[test]
fn elements_have_the_same_numbers_behind_a_restore() {
    let fails = |x: i64| match x {
        7 => Err(Error::new("no seven")),
        x => Ok(x),
    };
    let untyped = ElementFunction::from_closure(1, 1, |_, values| match values[0].get::<i64>() {
        Some(3) => Err(Error::new("no three")),
        _ => Ok(values.iter().cloned().collect()),
    });
    let dataset = range(10)
        .map(fails)
        .unwrap()
        .map_with(untyped, &[])
        .unwrap();
    let ctx = context();
    let mut elements = dataset.elements::<i64, _>(&ctx);
    assert_eq!(elements.by_ref().take(2).count(), 2);
    let checkpoint = elements.save().unwrap();
    let restored = dataset.elements_from::<i64, _>(&checkpoint, &ctx).unwrap();
    let errors = restored.filter_map(|item| item.err().map(|error| error.to_string()));
    assert_eq!(
        errors.collect::<Vec<_>>(),
        [
            "no three, at element 3 of `map`",
            "no seven, at element 7 of `map`"
        ]
    );
}
