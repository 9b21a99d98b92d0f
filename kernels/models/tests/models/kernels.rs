//! The kernels that several models need.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use tfrt::host::Show;
use tfrt::prelude::*;
use tfrt::testing;
use tfrt_tensor::DenseHostTensor;

use crate::{filled, tensor};

fn made(tensor: DenseHostTensor) -> testing::Operand {
    testing::value_from(move || tensor.clone())
}

#[test]
fn first_weights_are_small_and_follow_from_the_seed() {
    let fill = |seed: i64| {
        let weights = filled(&[100], 7.0);
        testing::kernel("models.fill_uniform.f32")
            .operands((weights.clone(),))
            .attribute("bound", 0.25_f32)
            .attribute("seed", seed)
            .run()
            .expect_done();
        weights.elements::<f32>().unwrap().to_vec()
    };
    let weights = fill(1);
    assert!(weights.iter().all(|weight| weight.abs() <= 0.25));
    assert!(
        weights.iter().any(|weight| *weight > 0.1) && weights.iter().any(|weight| *weight < -0.1)
    );
    assert_eq!(weights, fill(1));
    assert_ne!(weights, fill(2));
}

fn cross_entropy(
    logits: &[f32],
    labels: &[i32],
    gradient: &DenseHostTensor,
) -> testing::TestOutcome {
    let logits = tensor(&[logits.len() / 3, 3], logits);
    let labels = tensor(&[labels.len()], labels);
    testing::kernel("models.softmax_cross_entropy.f32")
        .operands((made(logits), made(labels), made(gradient.clone())))
        .run()
}

#[test]
fn the_gradient_is_how_the_loss_changes() {
    let logits = [0.5, -1.0, 2.0, 0.0, 0.25, 0.75];
    let labels = [2, 0];
    let loss_of = |logits: &[f32]| {
        let mut found = f32::NAN;
        let outcome = cross_entropy(logits, &labels, &filled(&[2, 3], 0.0));
        outcome.with_value(0, |loss: &f32| found = *loss);
        found
    };
    let gradient = filled(&[2, 3], 0.0);
    cross_entropy(&logits, &labels, &gradient).expect_done();
    for (index, &slope) in gradient.elements::<f32>().unwrap().iter().enumerate() {
        const STEP: f32 = 1.0 / 64.0;
        let moved = |step: f32| {
            let mut logits = logits;
            logits[index] += step;
            loss_of(&logits)
        };
        // The loss is the mean of two examples, the gradient is not.
        let measured = 2.0 * (moved(STEP) - moved(-STEP)) / (2.0 * STEP);
        assert!(
            (slope - measured).abs() < 1e-3,
            "element {index}: {slope}, and {measured} is measured"
        );
    }
}

#[test]
fn what_cannot_be_classified_is_refused() {
    let expect = |logits: &[f32], labels: &[i32], message: &str| {
        let gradient = filled(&[logits.len() / 3, 3], 0.0);
        cross_entropy(logits, labels, &gradient)
            .expect_error(message)
            .with_code(ErrorCode::InvalidArgument);
    };
    expect(
        &[0.0; 6],
        &[0, 3],
        "example 1: expected a label below 3, found 3",
    );
    expect(
        &[0.0; 6],
        &[-1, 0],
        "example 0: expected a label below 3, found -1",
    );
    expect(
        &[0.0; 6],
        &[0],
        "expected a label for each of 2 examples, found 1",
    );
    expect(&[], &[], "expected examples, found none");
    cross_entropy(&[0.0; 6], &[0, 1], &filled(&[3, 2], 0.0))
        .expect_error("expected a tensor of shape [2, 3], found [3, 2]");
}

#[test]
fn a_share_is_counted() {
    let share = |a: &[i32], b: &[i32]| {
        let operands = (made(tensor(&[a.len()], a)), made(tensor(&[b.len()], b)));
        testing::kernel("models.share_of_equal.i32")
            .operands(operands)
            .run()
    };
    share(&[1, 2, 3, 4], &[1, 0, 3, 0]).expect_value(0.5_f32);
    share(&[], &[]).expect_error("expected elements, found none");
    share(&[1], &[1, 2]).expect_error("shape");
}

#[test]
fn texts_that_do_not_fit_their_values_are_refused() {
    let report = |text: &str| {
        testing::program(
            format!(
                "func @main(%ch: !tfrt.chain, %x: f32) -> !tfrt.chain {{
               %done = models.report %ch \"{text}\" (%x : f32)
               tfrt.return %done : !tfrt.chain
             }}"
            )
            .as_str(),
        )
        .call("main", (Chain, 0.5_f32))
    };
    report("half is {.1%}").expect_done();
    report("{} {}").expect_error("the text \"{} {}\" has more placeholders than values (1)");
    report("{half}").expect_error("expects {}, {.N} or {.N%} for a number");
}

/// What is shown, kept.
#[derive(Clone, Debug, Default)]
struct Shown(Arc<Mutex<Vec<u8>>>);

impl Write for Shown {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn show(images: DenseHostTensor, classes: [&[i32]; 2], extents: [i64; 2]) -> testing::KernelTest {
    let [predictions, labels] = classes.map(|classes| made(tensor(&[classes.len()], classes)));
    testing::kernel("models.show_images")
        .operands((made(images), predictions, labels))
        .attribute("count", 2_i64)
        .attribute("height", extents[0])
        .attribute("width", extents[1])
}

#[test]
fn images_are_shown_to_those_who_asked() {
    let shown = Shown::default();
    let sink = shown.clone();
    let images = tensor(
        &[3, 4],
        &[
            1.0_f32, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0,
        ],
    );
    show(images, [&[7, 1, 2], &[7, 3, 2]], [2, 2])
        .request(move |request| request.context_data(Show::new(sink.clone())))
        .run()
        .expect_done();
    let text = String::from_utf8(shown.0.lock().unwrap().clone()).unwrap();
    assert_eq!(text, "7     1, not 3\n▀▄    ▀▀\n\n");
}

#[test]
fn nothing_is_shown_to_others_not_even_what_is_wrong() {
    show(filled(&[1, 4], 0.0), [&[], &[]], [0, -1])
        .run()
        .expect_done();
}

#[test]
fn images_of_other_shapes_are_refused() {
    let expect = |classes: [&[i32]; 2], extents: [i64; 2], message: &str| {
        show(filled(&[2, 4], 0.0), classes, extents)
            .request(|request| request.context_data(Show::new(io::sink())))
            .run()
            .expect_error(message);
    };
    expect(
        [&[1, 2], &[1, 2]],
        [3, 2],
        "expected rows of 3 by 2 pixels, found rows of 4",
    );
    expect(
        [&[1, 2], &[1, 2]],
        [0, 2],
        "expected a positive height, found 0",
    );
    expect(
        [&[1, 2], &[1, 2]],
        [i64::MAX, i64::MAX],
        "pixels, found rows of 4",
    );
    expect(
        [&[1], &[1, 2]],
        [2, 2],
        "expected 2 predictions and labels, found 1 and 2",
    );
}
