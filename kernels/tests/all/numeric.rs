//! Kernels on tensors large enough to be divided among workers, held against what defines them.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt::host::RequestContextBuilder;
use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt::prelude::*;
use tfrt::testing::{self, TestOutcome};
use tfrt_compute::convolution::{Conv2dShape, Padding, Window, naive};
use tfrt_compute::matmul::{self, MatmulShape};
use tfrt_kernels::numeric::start_rows;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

tfrt::link!(tfrt_kernels);

/// A queue without workers, and one with more workers than most machines have free.
const QUEUES: [&str; 2] = ["s", "mstd:4"];

fn tensor<T: Element>(dims: &[usize], elements: &[T]) -> DenseHostTensor {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let shape = Shape::new(dims).unwrap();
    DenseHostTensor::from_elements(&allocator, shape, elements).unwrap()
}

/// Small fractions of either sign, which differ from their neighbours. The seed makes another
/// sequence.
fn numbers(len: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_769) | 1;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f32::from((state >> 20) as i16 - 2048) / 1024.0
    };
    (0..len).map(next).collect()
}

/// Returns an operand that is read.
fn read<T: Element>(dims: &[usize], elements: &[T]) -> testing::Operand {
    let tensor = tensor(dims, elements);
    testing::value_from(move || tensor.clone())
}

/// An operand that is written: a tensor of its own in every run, all of which are kept.
struct Written<T>(Rc<RefCell<Vec<DenseHostTensor>>>, Vec<usize>, Vec<T>);

impl<T: Element> Written<T> {
    fn new(dims: &[usize], before: &[T]) -> Self {
        Self(Rc::default(), dims.to_vec(), before.to_vec())
    }

    fn operand(&self) -> testing::Operand {
        let (kept, dims, before) = (Rc::clone(&self.0), self.1.clone(), self.2.clone());
        testing::value_from(move || {
            let tensor = tensor(&dims, &before);
            kept.borrow_mut().push(tensor.clone());
            tensor
        })
    }

    /// Hands what every run wrote to `check`.
    fn for_each(&self, check: impl Fn(&[T])) {
        let kept = self.0.borrow();
        assert!(kept.len() >= QUEUES.len(), "every queue has run the kernel");
        kept.iter()
            .for_each(|tensor| check(&tensor.elements().unwrap()));
    }
}

fn is_done(outcome: TestOutcome) {
    outcome.expect_done();
}

/// Checks that no number is further from what it should be than some units of single precision, of
/// the sum of what went into it.
fn assert_near(found: &[f32], expected: &[f64], scale: f64) {
    assert_eq!(found.len(), expected.len());
    for (index, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let error = (f64::from(found) - expected).abs();
        assert!(
            error <= scale * f64::from(f32::EPSILON),
            "element {index} is {found}, and should be {expected}"
        );
    }
}

fn widen(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|&number| number.into()).collect()
}

#[test]
fn sums_of_long_vectors_are_whole() {
    const LEN: usize = 700_001;
    let (a, b): (Vec<i32>, Vec<i32>) = (0..LEN as i32).map(|i| (i, 3 - 2 * i)).unzip();
    let c = Written::new(&[LEN], &vec![0_i32; LEN]);
    let operands = (read(&[LEN], &a), read(&[LEN], &b), c.operand());
    let run = testing::kernel("tfrt_test.add.i32").operands(operands);
    is_done(run.under(QUEUES).run());
    c.for_each(|c| assert!(c.iter().enumerate().all(|(i, &sum)| sum == 3 - i as i32)));
}

#[test]
fn whole_products_are_those_of_the_definition() {
    let (m, n, k) = (90, 70, 110);
    let shape = MatmulShape::new(m, n, k);
    let whole = |len: usize, seed| -> Vec<i32> {
        numbers(len, seed)
            .iter()
            .map(|x| (x * 1024.0) as i32)
            .collect()
    };
    let (a, b, before) = (whole(m * k, 1), whole(k * n, 2), whole(m * n, 3));
    let mut expected = before.clone();
    matmul::naive::matmul(&shape, 3, &a, &b, -2, &mut expected).unwrap();
    let c = Written::new(&[m, n], &before);
    let operands = (
        3,
        read(&[m, k], &a),
        read(&[k, n], &b),
        -2,
        c.operand(),
        Chain,
    );
    let run = testing::kernel("eigen.matmul.i32").operands(operands);
    is_done(run.under(QUEUES).run());
    c.for_each(|c| assert_eq!(c, expected));
}

#[test]
fn products_are_near_those_of_the_definition() {
    let (m, n, k) = (90, 70, 110);
    let (a, b, before) = (numbers(m * k, 1), numbers(k * n, 2), numbers(m * n, 3));
    let mut expected = widen(&before);
    let shape = MatmulShape::new(m, n, k);
    matmul::naive::matmul(&shape, 0.5, &widen(&a), &widen(&b), 2.0, &mut expected).unwrap();
    let c = Written::new(&[m, n], &before);
    let factors = (read(&[m, k], &a), read(&[k, n], &b));
    let operands = (0.5_f32, factors.0, factors.1, 2.0_f32, c.operand(), Chain);
    let run = testing::kernel("eigen.matmul.f32").operands(operands);
    is_done(run.under(QUEUES).run());
    // 110 products of numbers below 2.
    c.for_each(|c| assert_near(c, &expected, 4.0 * 111.0));
}

/// A convolution of two images of 20 × 18 pixels: enough operations for several blocks.
struct Sample {
    shape: Conv2dShape,
    input: Vec<f32>,
    filter: Vec<f32>,
    output_gradient: Vec<f32>,
}

const INPUT: [usize; 4] = [2, 20, 18, 6];
const FILTER: [usize; 4] = [3, 3, 6, 16];
const OUTPUT: [usize; 4] = [2, 10, 18, 16];
/// Products that make an element: of numbers below 2, so that their sum is below four times as
/// many.
const TERMS: f64 = 4.0 * 360.0;

impl Sample {
    fn new() -> Self {
        let rows = Window::new(20, 3, 2, 1, Padding::Same).unwrap();
        let columns = Window::new(18, 3, 1, 1, Padding::Same).unwrap();
        let shape = Conv2dShape::new(2, rows, columns, 6, 16).unwrap();
        Self {
            shape,
            input: numbers(shape.input_len(), 1),
            filter: numbers(shape.filter_len(), 2),
            output_gradient: numbers(shape.output_len(), 3),
        }
    }

    /// Returns the convolution in double precision.
    fn output(&self) -> Vec<f64> {
        let mut output = vec![0.0; self.shape.output_len()];
        let (input, filter) = (widen(&self.input), widen(&self.filter));
        naive::convolution(&self.shape, &input, &filter, &mut output).unwrap();
        output
    }
}

fn windowed(kernel: &str) -> testing::KernelTest {
    testing::kernel(kernel)
        .attribute("padding", "SAME")
        .attribute("strides", testing::mlir("[2, 1]"))
}

#[test]
fn convolutions_are_near_those_of_the_definition() {
    let sample = Sample::new();
    let output = Written::new(&OUTPUT, &vec![f32::NAN; sample.shape.output_len()]);
    let (input, filter) = (read(&INPUT, &sample.input), read(&FILTER, &sample.filter));
    let run = windowed("eigen.conv2d.f32").operands((input, filter, output.operand(), Chain));
    is_done(run.under(QUEUES).run());
    let expected = sample.output();
    output.for_each(|output| assert_near(output, &expected, TERMS));
}

#[test]
fn a_bias_is_added_to_each_channel() {
    let sample = Sample::new();
    let bias = numbers(16, 7);
    let output = Written::new(&OUTPUT, &vec![f32::NAN; sample.shape.output_len()]);
    let (input, filter) = (read(&INPUT, &sample.input), read(&FILTER, &sample.filter));
    let operands = (input, filter, read(&[16], &bias), output.operand(), Chain);
    is_done(
        windowed("eigen.conv2d.bias.f32")
            .operands(operands)
            .under(QUEUES)
            .run(),
    );
    let mut expected = sample.output();
    for pixel in expected.chunks_exact_mut(16) {
        pixel
            .iter_mut()
            .zip(&bias)
            .for_each(|(x, &bias)| *x += f64::from(bias));
    }
    output.for_each(|output| assert_near(output, &expected, TERMS));
}

#[test]
fn a_convolution_is_normalised_by_channel() {
    let sample = Sample::new();
    let [scale, offset, mean] = [4, 5, 6].map(|seed| numbers(16, seed));
    let variance: Vec<f32> = numbers(16, 8).iter().map(|x| x.abs() + 0.5).collect();
    let ignored = vec![f32::NAN; sample.shape.output_len()];
    let added = numbers(sample.shape.output_len(), 9);
    for (kernel, is_rectified, before) in [
        ("eigen.conv2d.batch_norm.f32", false, &ignored),
        ("eigen.conv2d.batch_norm.relu.f32", true, &ignored),
        ("eigen.conv2d.batch_norm.add.relu.f32", true, &added),
    ] {
        let output = Written::new(&OUTPUT, before);
        let operands = (
            read(&INPUT, &sample.input),
            read(&FILTER, &sample.filter),
            read(&[16], &scale),
            read(&[16], &offset),
            read(&[16], &mean),
            read(&[16], &variance),
            output.operand(),
            Chain,
        );
        let run = windowed(kernel)
            .attribute("epsilon", 0.25_f32)
            .operands(operands);
        is_done(run.under(QUEUES).run());
        let mut expected = sample.output();
        for pixel in expected.chunks_exact_mut(16) {
            for (channel, x) in pixel.iter_mut().enumerate() {
                let of = |parameter: &[f32]| f64::from(parameter[channel]);
                *x = (*x - of(&mean)) / (of(&variance) + 0.25).sqrt() * of(&scale) + of(&offset);
            }
        }
        for (x, &before) in expected.iter_mut().zip(before) {
            if !before.is_nan() {
                *x += f64::from(before);
            }
            if is_rectified {
                *x = x.max(0.0);
            }
        }
        // The factor is below 2 / √0.75.
        output.for_each(|output| assert_near(output, &expected, 3.0 * TERMS));
    }
}

#[test]
fn gradients_of_convolutions_are_near_those_of_the_definition() {
    let sample = Sample::new();
    let [output_gradient, input, filter] =
        [&sample.output_gradient, &sample.input, &sample.filter].map(|numbers| widen(numbers));

    let mut expected = vec![0.0; filter.len()];
    naive::filter_gradient(&sample.shape, &output_gradient, &input, &mut expected).unwrap();
    let written = Written::new(&FILTER, &vec![f32::NAN; filter.len()]);
    let operands = (
        read(&OUTPUT, &sample.output_gradient),
        read(&INPUT, &sample.input),
        written.operand(),
        Chain,
    );
    let run = windowed("eigen.conv2d.grad.filter.f32").operands(operands);
    is_done(run.under(QUEUES).run());
    written.for_each(|gradient| assert_near(gradient, &expected, TERMS));

    let mut expected = vec![0.0; input.len()];
    naive::input_gradient(&sample.shape, &output_gradient, &filter, &mut expected).unwrap();
    let written = Written::new(&INPUT, &vec![f32::NAN; input.len()]);
    let operands = (
        read(&OUTPUT, &sample.output_gradient),
        read(&FILTER, &sample.filter),
        written.operand(),
        Chain,
    );
    let run = windowed("eigen.conv2d.grad.input.f32").operands(operands);
    is_done(run.under(QUEUES).run());
    written.for_each(|gradient| assert_near(gradient, &expected, TERMS));
}

#[test]
fn images_are_normalised_where_they_lie() {
    let dims = [4, 100, 100, 10];
    let before = numbers(dims.iter().product(), 1);
    let [scale, bias, mean] = [4, 5, 6].map(|seed| numbers(10, seed));
    let variance: Vec<f32> = numbers(10, 8).iter().map(|x| x.abs() + 0.5).collect();
    let tensor = Written::new(&dims, &before);
    let operands = (
        tensor.operand(),
        read(&[10], &scale),
        read(&[10], &bias),
        read(&[10], &mean),
        read(&[10], &variance),
        Chain,
    );
    let run = testing::kernel("eigen.batch_norm.f32").attribute("epsilon", 0.25_f32);
    is_done(run.operands(operands).under(QUEUES).run());
    let mut expected = widen(&before);
    for (index, x) in expected.iter_mut().enumerate() {
        let of = |parameter: &[f32]| f64::from(parameter[index % 10]);
        *x = of(&scale) * (*x - of(&mean)) / (of(&variance) + 0.25).sqrt() + of(&bias);
    }
    // Numbers below 2, thrice rounded: their differences are below 4, times a factor below 2 /
    // √0.75, plus 2.
    tensor.for_each(|tensor| assert_near(tensor, &expected, 3.0 * 12.0));
}

#[test]
fn gradients_of_normalisation_are_those_of_the_formula() {
    let (rows, channels) = (3000, 5);
    let (dy, x) = (numbers(rows * channels, 1), numbers(rows * channels, 2));
    let [gamma, mean] = [4, 5].map(|seed| numbers(channels, seed));
    let variance: Vec<f32> = numbers(channels, 8).iter().map(|x| x.abs() + 0.5).collect();
    let dims = [rows, channels];
    let input_gradient = Written::new(&dims, &vec![f32::NAN; rows * channels]);
    let gamma_gradient = Written::new(&[channels], &vec![f32::NAN; channels]);
    let beta_gradient = Written::new(&[channels], &vec![f32::NAN; channels]);
    let operands = vec![
        read(&dims, &dy),
        read(&dims, &x),
        read(&[channels], &gamma),
        read(&[channels], &mean),
        read(&[channels], &variance),
        testing::value_from(|| Chain),
        input_gradient.operand(),
        gamma_gradient.operand(),
        beta_gradient.operand(),
    ];
    let run = testing::kernel("eigen.batch_norm.grad.f32").attribute("epsilon", 0.25_f32);
    is_done(run.operands(operands).under(QUEUES).run());

    let mut expected_input = vec![0.0; rows * channels];
    let (mut expected_gamma, mut expected_beta) = (vec![0.0; channels], vec![0.0; channels]);
    for channel in 0..channels {
        let r = 1.0 / (f64::from(variance[channel]) + 0.25).sqrt();
        let column = |of: &[f32], row: usize| f64::from(of[row * channels + channel]);
        let centred = |row| column(&x, row) - f64::from(mean[channel]);
        let beta: f64 = (0..rows).map(|row| column(&dy, row)).sum();
        let products: f64 = (0..rows).map(|row| column(&dy, row) * centred(row)).sum();
        expected_beta[channel] = beta;
        expected_gamma[channel] = products * r;
        for row in 0..rows {
            expected_input[row * channels + channel] = f64::from(gamma[channel])
                * r
                * (column(&dy, row)
                    - beta / rows as f64
                    - centred(row) * r * r * products / rows as f64);
        }
    }
    // Sums of 3000 products below 8, in blocks of 128: (3000 / 128 + 128) roundings of sums that
    // are below 24,000.
    gamma_gradient.for_each(|found| assert_near(found, &expected_gamma, 24_000.0));
    beta_gradient.for_each(|found| assert_near(found, &expected_beta, 24_000.0));
    input_gradient.for_each(|found| assert_near(found, &expected_input, 1000.0));
}

#[test]
fn the_greatest_of_each_window_is_found() {
    let (dims, out_dims) = ([2, 41, 61, 8], [2, 20, 30, 8]);
    let image = numbers(dims.iter().product(), 1);
    let out_len = out_dims.iter().product();
    let output = Written::new(&out_dims, &vec![f32::NAN; out_len]);
    let run = testing::kernel("eigen.max_pooling_2d.f32")
        .attribute("padding", "VALID")
        .attribute("pool_size", testing::mlir("[3, 3]"))
        .attribute("strides", testing::mlir("[2, 2]"))
        .operands((read(&dims, &image), output.operand(), Chain));
    is_done(run.under(QUEUES).run());
    let mut expected = Vec::with_capacity(out_len);
    for batch in 0..2 {
        for row in 0..20 {
            for column in 0..30 {
                for channel in 0..8 {
                    let taps = (0..9).map(|tap| {
                        let (row, column) = (2 * row + tap / 3, 2 * column + tap % 3);
                        image[((batch * 41 + row) * 61 + column) * 8 + channel]
                    });
                    expected.push(taps.fold(f32::MIN_POSITIVE, f32::max));
                }
            }
        }
    }
    output.for_each(|output| assert_eq!(output, expected));
}

#[test]
fn a_tensor_is_not_written_while_it_is_read() {
    let shared = tensor(&[4], &[1.0_f32; 4]);
    let twin = shared.clone();
    let operands = (
        testing::value_from(move || shared.clone()),
        testing::value_from(move || twin.clone()),
    );
    let outcome = testing::kernel("tfrt_test.relu.f32")
        .operands(operands)
        .run();
    outcome.expect_error("the buffer is being read by another kernel");
}

#[test]
fn one_thread_stops_between_the_blocks_of_long_work() {
    let request = RequestContextBuilder::new(HostContext::builder().build()).build();
    let ctx = ExecutionContext::new(Arc::clone(&request));
    let mut output = tensor(&[8], &[0.0_f32; 8]);
    let num_blocks = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&num_blocks);
    let routine = move |_: Range<usize>, _: &mut [f32]| {
        counter.fetch_add(1, Ordering::Relaxed);
        request.cancel();
    };
    let output = output.elements_mut_owned().unwrap();
    let done = start_rows(&ctx, output, 1, usize::MAX, routine).unwrap();
    let error = done
        .error_if_present()
        .map(|error| error.message().to_owned());
    assert_eq!(error.as_deref(), Some("Cancelled"));
    assert_eq!(num_blocks.load(Ordering::Relaxed), 1);
}
