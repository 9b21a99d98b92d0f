//! The digits, and the program that learns them.

use tfrt::prelude::*;
use tfrt::testing;
use tfrt_models::digits::command;
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

/// Returns the mean loss of so many steps from the same first weights.
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

#[test]
fn an_image_of_a_record_has_784_bytes() {
    let decode = |bytes: Vec<u8>| {
        let image = testing::value_from(move || ByteString::from(bytes.clone()));
        testing::kernel("digits.decode").operands(vec![image]).run()
    };
    let mut bytes = vec![0; 784];
    bytes[3] = 255;
    bytes[4] = 51;
    decode(bytes).with_value(0, |pixels: &DenseHostTensor| {
        let pixels = pixels.elements::<f32>().unwrap();
        assert_eq!(
            (pixels.len(), &pixels[2..6]),
            (784, &[0.0, 1.0, 0.2, 0.0][..])
        );
    });
    decode(vec![0; 783]).expect_error("expected an image of 784 bytes, found 783");
}

/// Functions that learn, save and continue; and that load and continue. An epoch of 512 digits is
/// four batches, so that the sixth batch is in the middle of the second one.
const INTERRUPTED: &str = r#"
func @uninterrupted(%data: !tfrt.string, %place: !tfrt.string, %weights: !tfrt.string)
    -> (f32, f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %dataset = tfrt.call @batches(%data) : (!tfrt.string) -> !tfrt_data.dataset
  %batches = tfrt_data.make_iterator %dataset
  %c1, %rate = tfrt.call @constant_rate() : () -> (!tfrt.chain, !t.tensor)
  %c2, %w1, %b1, %w2, %b2, %v1, %v2 = tfrt.call @new_network()
      : () -> (!tfrt.chain, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  %steps = tfrt.constant.i32 6
  %c4, %before = tfrt.call @learn_batches(%c3, %batches, %steps, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator, i32,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
  %c5 = tfrt.call @save(%c4, %place, %weights, %batches, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt.string, !tfrt.string, !tfrt_data.iterator,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> !tfrt.chain
  %rest = tfrt.constant.i32 3
  %c6, %after = tfrt.call @learn_batches(%c5, %batches, %rest, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator, i32,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
  tfrt.return %before, %after, %w1, %b1, %w2, %b2 : f32, f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}

func @resumed(%data: !tfrt.string, %place: !tfrt.string, %weights: !tfrt.string)
    -> (f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor) {
  %dataset = tfrt.call @batches(%data) : (!tfrt.string) -> !tfrt_data.dataset
  %c1, %rate = tfrt.call @constant_rate() : () -> (!tfrt.chain, !t.tensor)
  %c2, %batches, %w1, %b1, %w2, %b2, %v1, %v2 = tfrt.call @load(%place, %weights, %dataset)
      : (!tfrt.string, !tfrt.string, !tfrt_data.dataset)
      -> (!tfrt.chain, !tfrt_data.iterator, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor)
  %c3 = tfrt.merge.chains %c1, %c2 : !tfrt.chain, !tfrt.chain
  %rest = tfrt.constant.i32 3
  %c4, %after = tfrt.call @learn_batches(%c3, %batches, %rest, %rate, %w1, %b1, %w2, %b2, %v1, %v2)
      : (!tfrt.chain, !tfrt_data.iterator, i32,
         !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor, !t.tensor) -> (!tfrt.chain, f32)
  tfrt.return %after, %w1, %b1, %w2, %b2 : f32, !t.tensor, !t.tensor, !t.tensor, !t.tensor
}
"#;

/// Numbers of type f32 and the bits of tensors.
fn bits(outcome: &testing::TestOutcome, scalars: usize) -> Vec<Vec<u32>> {
    let mut all = Vec::new();
    for index in 0..scalars {
        outcome.with_value(index, |number: &f32| all.push(vec![number.to_bits()]));
    }
    for index in scalars..scalars + 4 {
        outcome.with_value(index, |tensor: &DenseHostTensor| {
            let elements = tensor.elements::<f32>().unwrap();
            all.push(elements.iter().map(|element| element.to_bits()).collect());
        });
    }
    all
}

#[test]
fn training_resumes_in_the_middle_of_an_epoch_with_the_same_bits() {
    let folder = std::env::temp_dir().join(format!("tfrt-resumed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| {
        let path = folder.join(name);
        path.to_str()
            .expect("folders of tests have plain names")
            .to_owned()
    };
    let paths = ["digits.tfrecord", "place.checkpoint", "weights.safetensors"].map(path);
    let options = ["--out", &paths[0], "--count", "512"].map(str::to_owned);
    command::run(&options).unwrap();

    let source = format!("{TRAIN}{INTERRUPTED}");
    let run = |function: &str, queue: &str| {
        let arguments = paths
            .clone()
            .map(|path| testing::value_from(move || ByteString::from(path.as_bytes().to_vec())));
        testing::program(&source)
            .under([queue])
            .call(function, Vec::from(arguments))
    };
    let uninterrupted = bits(&run("uninterrupted", "mstd:2"), 2);
    // On another queue, with batches drawn ahead on other threads.
    let resumed = bits(&run("resumed", "s"), 1);
    assert_ne!(uninterrupted[0], uninterrupted[1], "the network learned");
    assert!(
        uninterrupted[1..] == resumed[..],
        "the resumed training differs"
    );
    std::fs::remove_dir_all(&folder).unwrap();
}
