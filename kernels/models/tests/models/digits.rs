//! The digits, and the program that learns them.

use tfrt::prelude::*;
use tfrt::testing;
use tfrt_models::random::Random;
use tfrt_tensor::DenseHostTensor;

use crate::{filled, tensor};

const TRAIN: &str = include_str!("../../digits/digits_train.mlir");

fn draw(first: i64, count: i64, seed: i64) -> testing::TestOutcome {
    let draw = testing::kernel("digits.draw").operands((first,));
    draw.attribute("count", count).attribute("seed", seed).run()
}

fn images_and_labels(outcome: &testing::TestOutcome) -> (Vec<f32>, Vec<i32>) {
    let (mut images, mut labels) = (Vec::new(), Vec::new());
    outcome.with_value(0, |tensor: &DenseHostTensor| {
        images = tensor.elements().unwrap().to_vec();
    });
    outcome.with_value(1, |tensor: &DenseHostTensor| {
        labels = tensor.elements().unwrap().to_vec();
    });
    (images, labels)
}

#[test]
fn a_digit_is_the_same_in_every_batch() {
    let (images, labels) = images_and_labels(&draw(0, 5, 9));
    let (tail, tail_labels) = images_and_labels(&draw(3, 2, 9));
    assert_eq!((images.len(), labels.len()), (5 * 784, 5));
    assert_eq!(
        (&images[3 * 784..], &labels[3..]),
        (&tail[..], &tail_labels[..])
    );
    let (others, _) = images_and_labels(&draw(3, 2, 10));
    assert_ne!(tail, others);
    assert!(images.iter().all(|pixel| (0.0..=1.0).contains(pixel)));
    assert!(labels.iter().all(|label| (0..10).contains(label)));
}

#[test]
fn there_is_no_negative_number_of_digits() {
    draw(0, -1, 1).expect_error("-1");
    let (images, labels) = images_and_labels(&draw(0, 0, 1));
    assert_eq!((images.len(), labels.len()), (0, 0));
}

/// Small numbers.
pub(crate) fn small_numbers(dims: &[usize], bound: f32) -> Vec<f32> {
    let mut random = Random::new(11, dims[1] as u64);
    (0..dims.iter().product())
        .map(|_| random.between(-bound, bound))
        .collect()
}

fn first_weights(dims: &[usize], bound: f32) -> testing::Operand {
    let (dims, elements) = (dims.to_vec(), small_numbers(dims, bound));
    testing::value_from(move || tensor(&dims, &elements))
}

fn zeros(dims: &'static [usize]) -> testing::Operand {
    testing::value_from(move || filled(dims, 0.0))
}

/// The mean loss of so many steps from the same first weights.
pub(crate) fn mean_loss(num_steps: i32) -> f32 {
    let arguments = vec![
        testing::value_from(|| Chain),
        testing::value_from(|| 0_i64),
        testing::value_from(move || num_steps),
        testing::value_from(|| filled(&[1], 0.1)),
        first_weights(&[784, 512], 0.0875),
        zeros(&[512]),
        first_weights(&[512, 10], 0.1083),
        zeros(&[10]),
        zeros(&[784, 512]),
        zeros(&[512, 10]),
    ];
    let outcome = testing::program(TRAIN)
        .under(["s", "mstd:2"])
        .call("epoch", arguments);
    let mut losses = Vec::new();
    outcome.with_value(0, |next: &i64| {
        assert_eq!(*next, 128 * i64::from(num_steps))
    });
    outcome.with_value(1, |loss: &f32| losses.push(*loss));
    assert_eq!(losses[0], losses[1], "the queue makes no difference");
    losses[0]
}

#[test]
fn a_few_steps_lower_the_loss() {
    let first = mean_loss(1);
    // A network that knows nothing gives each of ten digits the same chance.
    let knows_nothing = 10.0_f32.ln();
    assert!((first - knows_nothing).abs() < 0.5, "{first}");
    let mean = mean_loss(6);
    let mean_of_the_rest = (6.0 * mean - first) / 5.0;
    assert!(
        mean_of_the_rest < first - 0.1,
        "{mean_of_the_rest} after {first}"
    );
}
