//! Padded batches against a model that looks at every number.

use std::sync::{Arc, Mutex};

use tfrt_async::{AnyRef, ByteString};
use tfrt_data::{Dataset, ElementFunction, IterationResult, Outcome, PaddedComponent, Philox};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, Shape};

fn context() -> ExecutionContext {
    let host = HostContext::builder().build();
    ExecutionContext::new(RequestContextBuilder::new(host).build())
}

fn tensor(dims: &[usize], first: i32) -> DenseHostTensor {
    let len = dims.iter().product::<usize>() as i32;
    let numbers: Vec<i32> = (first..first + len).collect();
    let vector = DenseHostTensor::vector(&numbers).unwrap();
    vector.reshaped(Shape::new(dims).unwrap()).unwrap()
}

fn given(tensors: &[DenseHostTensor]) -> Dataset {
    let values: Vec<AnyRef> = tensors.iter().cloned().map(AnyRef::available).collect();
    Dataset::from_values(&values).unwrap()
}

/// The dimensions and the numbers of a batch.
type Batch = (Vec<usize>, Vec<i32>);

fn batches(dataset: &Dataset) -> Vec<Result<Batch, String>> {
    let batches = dataset.elements::<DenseHostTensor, _>(&context());
    let parts = |batch: Result<DenseHostTensor, Error>| match batch {
        Ok(batch) => {
            let numbers = batch.elements::<i32>().unwrap().to_vec();
            Ok((batch.shape().dims().to_vec(), numbers))
        }
        Err(error) => Err(error.message().to_owned()),
    };
    batches.map(parts).collect()
}

/// The batch of tensors, one number after the other.
fn model(tensors: &[DenseHostTensor], extents: Option<&[usize]>, padding: i32) -> Batch {
    let rank = tensors[0].shape().rank();
    let largest = |d: usize| tensors.iter().map(|t| t.shape().dims()[d]).max().unwrap();
    let extents: Vec<usize> = match extents {
        Some(extents) => extents.to_vec(),
        None => (0..rank).map(largest).collect(),
    };
    let mut numbers = Vec::new();
    for tensor in tensors {
        let (dims, elements) = (tensor.shape().dims(), tensor.elements::<i32>().unwrap());
        for place in 0..extents.iter().product() {
            let (mut rest, mut index, mut stride, mut is_inside) = (place, 0, 1, true);
            for d in (0..rank).rev() {
                let coordinate = rest % extents[d];
                rest /= extents[d];
                is_inside &= coordinate < dims[d];
                index += coordinate * stride;
                stride *= dims[d];
            }
            numbers.push(if is_inside { elements[index] } else { padding });
        }
    }
    ([vec![tensors.len()], extents].concat(), numbers)
}

#[test]
fn rows_are_padded_to_the_largest_or_to_given_sizes() {
    for seed in 0..100 {
        let mut numbers = Philox::new(seed, 5);
        let mut below = |bound: u32| (numbers.next_u32() % bound) as usize;
        let (rank, len, batch_size) = (below(4), below(8), 1 + below(4));
        let tensors: Vec<_> = (0..len)
            .map(|index| {
                let dims: Vec<usize> = (0..rank).map(|_| below(4)).collect();
                tensor(&dims, 100 * index as i32 + 1)
            })
            .collect();
        let expected = |extents: Option<&[usize]>, padding| -> Vec<_> {
            let batches = tensors.chunks(batch_size);
            batches
                .map(|rows| Ok(model(rows, extents, padding)))
                .collect()
        };
        let dataset = given(&tensors);
        let padded = dataset.padded_batch(batch_size as i64).unwrap();
        assert_eq!(batches(&padded), expected(None, 0), "seed {seed}");
        let extents: Vec<usize> = (0..rank).map(|_| 3 + below(3)).collect();
        let component = PaddedComponent::default()
            .with_extents(&extents.iter().copied().map(Some).collect::<Vec<_>>())
            .with_padding(AnyRef::available(-7_i32));
        let padded = dataset.padded_batch_with(batch_size as i64, &[component], false);
        let padded = padded.unwrap();
        assert_eq!(
            batches(&padded),
            expected(Some(&extents), -7),
            "seed {seed}"
        );
        let whole = dataset
            .padded_batch_with(batch_size as i64, &[], true)
            .unwrap();
        let num_whole = len / batch_size;
        assert_eq!(
            batches(&whole),
            expected(None, 0)[..num_whole],
            "seed {seed}"
        );
        assert_eq!(
            whole.cardinality(),
            tfrt_data::Cardinality::Finite(num_whole as u64)
        );
    }
}

#[test]
fn numbers_and_several_components_are_batched_side_by_side() {
    let words = given(&[tensor(&[2], 1), tensor(&[0], 0), tensor(&[1], 9)]);
    let pairs = Dataset::zip(&[Dataset::range(0, 3, 1).unwrap(), words]).unwrap();
    let batch = pairs.padded_batch(3).unwrap();
    let mut found = batch.elements::<(DenseHostTensor, DenseHostTensor), _>(&context());
    let (numbers, words) = found.next().unwrap().unwrap();
    assert_eq!(&*numbers.elements::<i64>().unwrap(), [0, 1, 2]);
    assert_eq!(words.shape().dims(), [3, 2]);
    assert_eq!(&*words.elements::<i32>().unwrap(), [1, 2, 0, 0, 9, 0]);
    assert!(found.next().is_none());
}

#[test]
fn elements_that_do_not_fit_are_named() {
    let error = |dataset: Dataset, components: &[PaddedComponent]| {
        let padded = dataset.padded_batch_with(2, components, false).unwrap();
        batches(&padded)[0].clone().unwrap_err()
    };
    let mixed = given(&[tensor(&[2], 1), tensor(&[1, 1], 1)]);
    assert_eq!(
        error(mixed.clone(), &[]),
        "element 1 of the batch is i32 [1, 1], the first is i32 [2]"
    );
    let floats = DenseHostTensor::vector(&[1.0_f32]).unwrap();
    assert_eq!(
        error(given(&[tensor(&[2], 1), floats]), &[]),
        "element 1 of the batch is f32 [1], the first is i32 [2]"
    );
    let long = given(&[tensor(&[2], 1), tensor(&[5], 1)]);
    let padded = |extents: &[Option<usize>]| PaddedComponent::default().with_extents(extents);
    assert_eq!(
        error(long.clone(), &[padded(&[Some(4)])]),
        "dimension 0 of an element: expected at most 4, the padded size, found 5"
    );
    assert_eq!(
        error(long.clone(), &[padded(&[None, None])]),
        "expected 1 padded size, one for each dimension of an element, found 2"
    );
    let of_another_type = PaddedComponent::default().with_padding(AnyRef::available(1_i64));
    assert_eq!(
        error(long.clone(), &[of_another_type]),
        "expected a padding of type i32, the type of the elements, found `i64`"
    );
    assert_eq!(
        error(
            long,
            &[PaddedComponent::default(), PaddedComponent::default()]
        ),
        "expected elements with 2 components, found 1"
    );
    let texts = [AnyRef::available(ByteString::from("a"))];
    assert_eq!(
        error(Dataset::from_values(&texts).unwrap(), &[]),
        "element 0 of the batch: expected a number or a dense tensor, found `!tfrt.string`"
    );
    let huge = given(&[tensor(&[1], 1)]);
    assert_eq!(
        error(huge, &[padded(&[Some(usize::MAX / 2)])]),
        "failed to create uninitialized tensor"
    );
}

#[test]
fn an_error_is_that_of_its_batch_alone() {
    let fails = |x: i64| match x {
        4 => Err(Error::new("a wet page")),
        x => Ok(tensor(&[x as usize], 0)),
    };
    let dataset = Dataset::range(1, 7, 1).unwrap().map(fails).unwrap();
    let found = batches(&dataset.padded_batch(2).unwrap());
    assert_eq!(
        found[1],
        Err("a wet page, at element 3 of `map`".to_owned())
    );
    assert_eq!(found[0].as_ref().unwrap().0, [2, 2]);
    assert_eq!(found[2].as_ref().unwrap().0, [2, 6]);
    assert_eq!(found.len(), 3);
}

#[test]
fn padded_batches_are_restored() {
    let tensors: Vec<_> = (0..7).map(|len| tensor(&[len % 3], 10)).collect();
    let dataset = given(&tensors)
        .padded_batch(2)
        .unwrap()
        .prefetch(1)
        .unwrap();
    let expected = batches(&dataset);
    for position in 0..=expected.len() {
        let mut elements = dataset.elements::<DenseHostTensor, _>(&context());
        elements.by_ref().take(position).for_each(drop);
        let checkpoint = elements.save().unwrap();
        let rest = dataset.elements_from::<DenseHostTensor, _>(&checkpoint, &context());
        let rest: Vec<_> = rest
            .unwrap()
            .map(|batch| batch.unwrap().elements::<i32>().unwrap().to_vec())
            .collect();
        let numbers = expected[position..]
            .iter()
            .map(|batch| batch.clone().unwrap().1);
        assert_eq!(rest, numbers.collect::<Vec<_>>(), "at {position}");
    }
}

#[test]
fn the_elements_of_all_batches_that_were_asked_for_are_made_side_by_side() {
    let promises = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&promises);
    let late = ElementFunction::from_closure(1, 1, move |_, values| {
        let (promise, later) = AnyRef::indirect();
        kept.lock().unwrap().push((promise, values[0].clone()));
        Ok(std::iter::once(later).collect())
    });
    let numbers = Dataset::range(0, 5, 1).unwrap();
    let batches = numbers
        .map_with(late, &[])
        .unwrap()
        .padded_batch(2)
        .unwrap();
    let ctx = context();
    let mut batches = batches.iterator();
    let drawn: Vec<IterationResult> = (0..3).map(|_| batches.draw(&ctx)).collect();
    let promises: Vec<_> = promises.lock().unwrap().drain(..).collect();
    assert_eq!(promises.len(), 5, "one batch waits for another");
    // The last batches first.
    for (promise, number) in promises.into_iter().rev() {
        promise.forward_to(number);
    }
    let batches = drawn.into_iter().map(|batch| match batch.into_outcome() {
        Ok(Outcome::Element(values)) => {
            let batch = values[0].get::<DenseHostTensor>().unwrap();
            batch.elements::<i64>().unwrap().to_vec()
        }
        other => panic!("{other:?}"),
    });
    assert_eq!(
        batches.collect::<Vec<_>>(),
        [vec![0, 1], vec![2, 3], vec![4]]
    );
}
