//! Convolutions and their gradients against their definitions in double precision.

use tfrt_compute::Activation;
use tfrt_compute::convolution::{
    Conv2dShape, Convolution, ConvolutionOperands, Depthwise, Filter, FilterGradient,
    GradientOperands, InputGradient, Padding, Window, Winograd, naive,
};
use tfrt_compute::job::{Job, Plan};
use tfrt_compute::parallel::{Parallel, ScopedThreads, Serial};

use crate::support::{Function, Random, assert_within, magnitudes, run, wide};

fn random_window(random: &mut Random) -> Window {
    loop {
        let padding = match random.below(4) {
            0 => Padding::Valid,
            1 | 2 => Padding::Same,
            _ => Padding::Explicit {
                before: random.below(4),
                after: random.below(4),
            },
        };
        let (input, size) = (1 + random.below(14), 1 + random.below(5));
        let dilation = if random.chance(3) { 2 } else { 1 };
        if let Ok(window) = Window::new(input, size, 1 + random.below(3), dilation, padding) {
            return window;
        }
    }
}

fn random_shape(random: &mut Random) -> Conv2dShape {
    const CHANNELS: [usize; 11] = [0, 1, 2, 3, 4, 8, 15, 16, 32, 33, 40];
    let (rows, columns) = (random_window(random), random_window(random));
    // Nothing of anything is rare, but comes up.
    let batch = if random.chance(20) {
        0
    } else {
        1 + random.below(2)
    };
    let channels = [0; 2].map(|_| CHANNELS[random.below(CHANNELS.len())]);
    Conv2dShape::new(batch, rows, columns, channels[0], channels[1]).expect("a shape")
}

/// Larger than the random ones: several chunks of rows, several blocks of rows and of channels.
fn large_shapes() -> Vec<Conv2dShape> {
    [
        ((20, 300), 3, 1, 32, 8),
        ((10, 20), 3, 2, 64, 32),
        ((30, 30), 7, 2, 3, 64),
        ((14, 14), 1, 1, 64, 160),
        ((7, 7), 3, 1, 48, 64),
        ((30, 12), 1, 2, 64, 32),
    ]
    .into_iter()
    .map(
        |((height, width), size, stride, in_channels, out_channels)| {
            let [rows, columns] =
                [height, width].map(|extent| Window::new(extent, size, stride, 1, Padding::Same));
            let (rows, columns) = (rows.expect("a window"), columns.expect("a window"));
            Conv2dShape::new(1, rows, columns, in_channels, out_channels).expect("a shape")
        },
    )
    .collect()
}

fn widths() -> [(usize, Box<dyn Parallel>); 3] {
    [
        (1, Box::new(Serial)),
        (2, Box::new(ScopedThreads::new(2))),
        (5, Box::new(ScopedThreads::new(3))),
    ]
}

#[track_caller]
fn bounds(size: &[f64], terms: usize) -> Vec<f64> {
    size.iter()
        .map(|size| size * f64::from(f32::EPSILON) * (terms + 2) as f64)
        .collect()
}

fn check_forward(random: &mut Random, shape: Conv2dShape) {
    let (input, filter) = (
        random.f32s(shape.input_len()),
        random.f32s(shape.filter_len()),
    );
    let (mut exact, mut size) = (vec![0.0; shape.output_len()], vec![0.0; shape.output_len()]);
    naive::convolution(&shape, &wide(&input), &wide(&filter), &mut exact).expect("lengths");
    naive::convolution(
        &shape,
        &magnitudes(&wide(&input)),
        &magnitudes(&wide(&filter)),
        &mut size,
    )
    .expect("lengths");
    let bounds = bounds(
        &size,
        shape.rows.size * shape.columns.size * shape.in_channels,
    );
    let mut results = Vec::new();
    for (width, parallel) in widths() {
        let plan = Convolution::new(shape, width);
        let mut packed = vec![f32::NAN; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let output = vec![f32::NAN; shape.output_len()];
        let found = run(
            &plan,
            &*parallel,
            ConvolutionOperands::new(&input, &packed),
            output,
        );
        assert_within(&format!("{shape:?}"), &wide(&found), &exact, &bounds);
        results.push(found);
        let operands = ConvolutionOperands::with_filter(&input, Filter::Plain(&filter));
        let output = vec![f32::NAN; shape.output_len()];
        results.push(run(&plan.for_plain_filter(), &*parallel, operands, output));
    }
    assert!(
        results.iter().all(|result| *result == results[0]),
        "{shape:?}: neither the number of blocks nor who packs the filter matters"
    );
}

#[test]
fn convolutions_agree_with_their_definition() {
    let mut random = Random::new(30);
    for _ in 0..150 {
        let shape = random_shape(&mut random);
        check_forward(&mut random, shape);
    }
}

/// What `run` returns for a convolution that adds to its output, beside the same one without.
fn check_added<P: for<'a> Plan<Element = f32, Operands<'a> = ConvolutionOperands<'a>>>(
    random: &mut Random,
    plan: &P,
    input: &[f32],
    packed: &[f32],
    out_channels: usize,
) {
    let scale = random.f32s(out_channels);
    let before = random.f32s(plan.output_len());
    let operands = ConvolutionOperands::new(input, packed).scale(&scale);
    let alone = run(plan, &Serial, operands, before.clone());
    let rectified = operands.adding_to_output().activation(Activation::Relu);
    let added = run(plan, &Serial, rectified, before.clone());
    let expected: Vec<f32> = alone
        .iter()
        .zip(&before)
        .map(|(x, y)| (x + y).max(0.0))
        .collect();
    assert_eq!(added, expected);
}

#[test]
fn what_the_output_holds_is_added_before_the_activation() {
    let mut random = Random::new(37);
    let window = Window::new(11, 3, 1, 1, Padding::Same).expect("a window");
    let shape = Conv2dShape::new(1, window, window, 5, 37).expect("a shape");
    let (input, filter) = (
        random.f32s(shape.input_len()),
        random.f32s(shape.filter_len()),
    );
    let direct = Convolution::new(shape, 1);
    let mut packed = vec![0.0; direct.packed_filter_len()];
    direct.pack_filter(&filter, &mut packed).expect("lengths");
    check_added(&mut random, &direct, &input, &packed, 37);
    let minimal = Winograd::new(shape, 1).expect("it suits");
    let mut packed = vec![0.0; minimal.packed_filter_len()];
    minimal.pack_filter(&filter, &mut packed).expect("lengths");
    check_added(&mut random, &minimal, &input, &packed, 37);
}

/// Channels that fill whole registers are finished in another way than the last few.
#[test]
fn the_last_channels_are_finished_as_all_others() {
    const CHANNELS: usize = 32 + 5;
    let mut random = Random::new(38);
    let window = Window::new(7, 3, 1, 1, Padding::Same).expect("a window");
    let shape = Conv2dShape::new(1, window, window, 3, CHANNELS).expect("a shape");
    // The last channels are copies of the first ones.
    let repeated = |numbers: Vec<f32>| -> Vec<f32> {
        let channel = |index: usize| index - index % CHANNELS + index % CHANNELS % 32;
        (0..numbers.len())
            .map(|index| numbers[channel(index)])
            .collect()
    };
    let input = random.f32s(shape.input_len());
    let filter = repeated(random.f32s(shape.filter_len()));
    let [scale, shift] = [0, 1].map(|_| repeated(random.f32s(CHANNELS)));
    let before = repeated(random.f32s(shape.output_len()));
    let plan = Convolution::new(shape, 1);
    let mut packed = vec![0.0; plan.packed_filter_len()];
    plan.pack_filter(&filter, &mut packed).expect("lengths");
    for choice in 0..16 {
        let has = |bit: u32| choice >> bit & 1 == 1;
        let mut operands = ConvolutionOperands::new(&input, &packed);
        operands.scale = has(0).then_some(&scale[..]);
        operands.shift = has(1).then_some(&shift[..]);
        operands.adds_output = has(2);
        if has(3) {
            operands.activation = Activation::Relu6;
        }
        let output = run(&plan, &Serial, operands, before.clone());
        for pixel in output.chunks_exact(CHANNELS) {
            assert_eq!(pixel[..5], pixel[32..], "choice {choice:#b}");
        }
    }
}

#[test]
fn a_filter_that_is_not_packed_needs_a_plan_for_it() {
    let window = Window::new(4, 3, 1, 1, Padding::Same).expect("a window");
    let shape = Conv2dShape::new(1, window, window, 1, 1).expect("a shape");
    let operands = ConvolutionOperands::with_filter(&[0.0; 16], Filter::Plain(&[0.0; 9]));
    let refused =
        |outcome: Result<(), tfrt_compute::ComputeError>| outcome.unwrap_err().to_string();
    assert_eq!(
        refused(Convolution::new(shape, 1).check(operands)),
        "conv2d: expected a packed filter, as planned, found an unpacked one"
    );
    assert_eq!(
        refused(Winograd::new(shape, 1).expect("it suits").check(operands)),
        "winograd: expected a packed filter, found an unpacked one"
    );
}

#[test]
fn large_convolutions_agree_with_their_definition() {
    let mut random = Random::new(31);
    for shape in large_shapes() {
        check_forward(&mut random, shape);
    }
}

#[test]
fn bias_normalisation_and_activation_are_fused() {
    let mut random = Random::new(32);
    let window = Window::new(9, 3, 1, 1, Padding::Same).expect("a window");
    for out_channels in [1, 16, 31, 48] {
        let shape = Conv2dShape::new(1, window, window, 4, out_channels).expect("a shape");
        let (input, filter) = (
            random.f32s(shape.input_len()),
            random.f32s(shape.filter_len()),
        );
        let (scale, shift) = (random.f32s(out_channels), random.f32s(out_channels));
        let plan = Convolution::new(shape, 1);
        let mut packed = vec![0.0; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let operands = ConvolutionOperands::new(&input, &packed);
        let plain = run(&plan, &Serial, operands, vec![0.0; shape.output_len()]);
        let functions: [(Activation, Function); 3] = [
            (Activation::Relu, |x| x.max(0.0)),
            (Activation::Relu6, |x| x.clamp(0.0, 6.0)),
            (Activation::Elu, |x| if x < 0.0 { x.exp_m1() } else { x }),
        ];
        for (activation, function) in functions {
            let operands = operands.scale(&scale).shift(&shift).activation(activation);
            let found = run(&plan, &Serial, operands, vec![f32::NAN; shape.output_len()]);
            let exact: Vec<f64> = plain
                .iter()
                .enumerate()
                .map(|(place, &x)| {
                    let channel = place % out_channels;
                    function(f64::from(x) * f64::from(scale[channel]) + f64::from(shift[channel]))
                })
                .collect();
            assert_within(
                &format!("{activation:?}"),
                &wide(&found),
                &exact,
                &vec![1e-5; exact.len()],
            );
        }
    }
}

#[test]
fn padding_is_zero_even_beside_nan_and_in_a_used_workspace() {
    use tfrt_compute::job::Plan;

    let window = Window::new(3, 3, 1, 1, Padding::Same).expect("a window");
    let shape = Conv2dShape::new(1, window, window, 1, 1).expect("a shape");
    let plan = Convolution::new(shape, 1);
    let mut packed = vec![0.0; plan.packed_filter_len()];
    plan.pack_filter(&[1.0; 9], &mut packed).expect("lengths");
    let mut workspace = vec![f32::NAN; plan.workspace_len()];
    let mut output = [0.0; 9];
    plan.run(
        &Serial,
        ConvolutionOperands::new(&[1.0; 9], &packed),
        &mut output,
        &mut workspace,
    )
    .expect("lengths");
    assert_eq!(output, [4.0, 6.0, 4.0, 6.0, 9.0, 6.0, 4.0, 6.0, 4.0]);
    let mut input = [1.0; 9];
    input[0] = f32::NAN;
    plan.run(
        &Serial,
        ConvolutionOperands::new(&input, &packed),
        &mut output,
        &mut workspace,
    )
    .expect("lengths");
    let spread: Vec<usize> = (0..9).filter(|&pixel| output[pixel].is_nan()).collect();
    assert_eq!(spread, [0, 1, 3, 4], "only windows that hold the NaN");
}

fn check_input_gradient(random: &mut Random, shape: Conv2dShape) {
    let (gradient, filter) = (
        random.f32s(shape.output_len()),
        random.f32s(shape.filter_len()),
    );
    let (mut exact, mut size) = (vec![0.0; shape.input_len()], vec![0.0; shape.input_len()]);
    naive::input_gradient(&shape, &wide(&gradient), &wide(&filter), &mut exact).expect("lengths");
    naive::input_gradient(
        &shape,
        &magnitudes(&wide(&gradient)),
        &magnitudes(&wide(&filter)),
        &mut size,
    )
    .expect("lengths");
    let bounds = bounds(
        &size,
        shape.rows.size * shape.columns.size * shape.out_channels,
    );
    let mut results = Vec::new();
    for (width, parallel) in widths() {
        let plan = InputGradient::new(shape, width).expect("a shape");
        let mut packed = vec![f32::NAN; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let output = vec![f32::NAN; shape.input_len()];
        let found = run(
            &plan,
            &*parallel,
            GradientOperands::new(&gradient, &packed),
            output,
        );
        assert_within(&format!("{shape:?}"), &wide(&found), &exact, &bounds);
        results.push(found);
    }
    assert!(
        results.iter().all(|result| *result == results[0]),
        "{shape:?}: the number of blocks does not matter"
    );
}

fn check_filter_gradient(random: &mut Random, shape: Conv2dShape) {
    let (gradient, input) = (
        random.f32s(shape.output_len()),
        random.f32s(shape.input_len()),
    );
    let (mut exact, mut size) = (vec![0.0; shape.filter_len()], vec![0.0; shape.filter_len()]);
    naive::filter_gradient(&shape, &wide(&gradient), &wide(&input), &mut exact).expect("lengths");
    naive::filter_gradient(
        &shape,
        &magnitudes(&wide(&gradient)),
        &magnitudes(&wide(&input)),
        &mut size,
    )
    .expect("lengths");
    let bounds = bounds(
        &size,
        shape.batch * shape.rows.output * shape.columns.output,
    );
    let mut results = Vec::new();
    for (width, parallel) in widths() {
        let plan = FilterGradient::new(shape, width).expect("a shape");
        let output = vec![f32::NAN; shape.filter_len()];
        let found = run(
            &plan,
            &*parallel,
            GradientOperands::new(&gradient, &input),
            output,
        );
        assert_within(&format!("{shape:?}"), &wide(&found), &exact, &bounds);
        results.push(found);
    }
    assert!(
        results.iter().all(|result| *result == results[0]),
        "{shape:?}: the number of blocks does not matter"
    );
}

#[test]
fn gradients_agree_with_their_definition() {
    let mut random = Random::new(33);
    for _ in 0..80 {
        let shape = random_shape(&mut random);
        check_input_gradient(&mut random, shape);
        check_filter_gradient(&mut random, shape);
    }
}

#[test]
fn large_gradients_agree_with_their_definition() {
    let mut random = Random::new(34);
    for shape in large_shapes() {
        check_input_gradient(&mut random, shape);
        check_filter_gradient(&mut random, shape);
    }
}

fn check_winograd(random: &mut Random, shape: Conv2dShape) {
    let (input, filter) = (
        random.f32s(shape.input_len()),
        random.f32s(shape.filter_len()),
    );
    let mut exact = vec![0.0; shape.output_len()];
    naive::convolution(&shape, &wide(&input), &wide(&filter), &mut exact).expect("lengths");
    // Inputs and filters are below 1; what the documentation says of random data.
    let bound = 256.0 * shape.in_channels as f64 * f64::from(f32::EPSILON);
    let shift = random.f32s(shape.out_channels);
    exact
        .iter_mut()
        .enumerate()
        .for_each(|(place, x)| *x = (*x + f64::from(shift[place % shape.out_channels])).max(0.0));
    let mut results = Vec::new();
    for (width, parallel) in widths() {
        let plan = Winograd::new(shape, width).expect("a window of 3");
        let mut packed = vec![f32::NAN; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let operands = ConvolutionOperands::new(&input, &packed)
            .shift(&shift)
            .activation(Activation::Relu);
        let found = run(
            &plan,
            &*parallel,
            operands,
            vec![f32::NAN; shape.output_len()],
        );
        assert_within(
            &format!("{shape:?}"),
            &wide(&found),
            &exact,
            &vec![bound + f64::from(f32::EPSILON); exact.len()],
        );
        results.push(found);
    }
    assert!(
        results.iter().all(|result| *result == results[0]),
        "{shape:?}: the number of blocks does not matter"
    );
}

#[test]
fn minimal_filtering_agrees_with_the_definition() {
    const CHANNELS: [usize; 7] = [0, 1, 3, 16, 20, 33, 64];
    let mut random = Random::new(35);
    for round in 0..60 {
        let [rows, columns] = [0; 2].map(|_| {
            let padding = match random.below(3) {
                0 => Padding::Valid,
                1 => Padding::Same,
                _ => Padding::Explicit {
                    before: random.below(3),
                    after: random.below(3),
                },
            };
            let extent = if round == 0 { 40 } else { 3 + random.below(12) };
            Window::new(extent, 3, 1, 1, padding).expect("a window")
        });
        let [in_channels, out_channels] = [0; 2].map(|_| CHANNELS[random.below(CHANNELS.len())]);
        let (in_channels, out_channels) = if round == 0 {
            (8, 40)
        } else {
            (in_channels, out_channels)
        };
        let shape = Conv2dShape::new(random.below(3), rows, columns, in_channels, out_channels)
            .expect("a shape");
        check_winograd(&mut random, shape);
    }
}

#[test]
fn minimal_filtering_is_for_three_by_three() {
    let [three, five] =
        [3, 5].map(|size| Window::new(16, size, 1, 1, Padding::Same).expect("a window"));
    let shape = Conv2dShape::new(1, three, five, 64, 64).expect("a shape");
    assert!(!Winograd::suits(&shape));
    assert_eq!(
        Winograd::new(shape, 1).unwrap_err().to_string(),
        "winograd: expected a window of size 3, stride 1 and dilation 1, found [5, 1, 1]"
    );
    assert!(Winograd::suits(
        &Conv2dShape::new(1, three, three, 64, 64).expect("a shape")
    ));
    assert!(!Winograd::suits(
        &Conv2dShape::new(1, three, three, 3, 64).expect("a shape")
    ));
}

#[test]
fn windows_follow_the_rules_of_padding() {
    let window = |input, size, stride, dilation, padding| {
        Window::new(input, size, stride, dilation, padding)
    };
    let same = window(5, 3, 2, 1, Padding::Same).expect("a window");
    assert_eq!((same.output, same.before, same.after), (3, 1, 1));
    let odd = window(4, 2, 1, 1, Padding::Same).expect("a window");
    assert_eq!(
        (odd.output, odd.before, odd.after),
        (4, 0, 1),
        "the odd one comes after"
    );
    let valid = window(5, 3, 2, 2, Padding::Valid).expect("a window");
    assert_eq!((valid.output, valid.extent()), (1, 5));
    let none = window(2, 3, 1, 1, Padding::Valid).expect("one too short gives no output");
    assert_eq!(none.output, 0);
    let explicit = window(
        5,
        3,
        1,
        1,
        Padding::Explicit {
            before: 1,
            after: 0,
        },
    )
    .expect("a window");
    assert_eq!(explicit.output, 4);
    let error = window(1, 4, 1, 1, Padding::Valid).unwrap_err();
    assert_eq!(
        error.to_string(),
        "window: expected at least 4 elements, found 1 with padding 0 and 0"
    );
    assert_eq!(
        window(1, 1, 0, 1, Padding::Valid).unwrap_err().to_string(),
        "window: expected a stride above 0, found 0"
    );
    assert!(window(1, usize::MAX, 1, 2, Padding::Same).is_err());
    assert!(
        window(
            usize::MAX,
            3,
            1,
            1,
            Padding::Explicit {
                before: 1,
                after: 0
            }
        )
        .is_err()
    );
    assert_eq!(
        window(0, 3, 1, 1, Padding::Same).expect("nothing").output,
        0
    );
}

/// One extent of zero lets the others be of any size: what is done must not depend on them.
#[test]
fn tensors_without_elements_take_no_time() {
    const HUGE: usize = 1 << 60;
    let window = |input, size| Window::new(input, size, 1, 1, Padding::Same).expect("a window");
    for (batch, rows, columns, [in_channels, out_channels]) in [
        (1, window(1, HUGE), window(2, HUGE), [0, 3]),
        (1, window(1, 1 << 50), window(2, 3), [3, 0]),
        (HUGE, window(HUGE, 1), window(1, 1), [0, 0]),
        (1 << 50, window(1, 1), window(0, 1), [2, 3]),
        (0, window(HUGE, 3), window(HUGE, 3), [2, 3]),
    ] {
        let shape =
            Conv2dShape::new(batch, rows, columns, in_channels, out_channels).expect("a shape");
        let input = vec![1.0; shape.input_len()];
        let filter = vec![1.0; shape.filter_len()];
        let mut output = vec![1.0; shape.output_len()];

        let plan = Convolution::new(shape, 1);
        let mut packed = vec![0.0; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let job = Job::new(plan, std::mem::take(&mut output)).expect("lengths");
        let mut workspace = vec![0.0; job.workspace_len()];
        for block in 0..job.blocks() {
            job.run_block(
                block,
                ConvolutionOperands::new(&input, &packed),
                &mut workspace,
            )
            .expect("lengths");
        }
        let output = job.into_output();
        assert!(output.iter().all(|&y| y == 0.0), "{shape:?}");

        let plan = InputGradient::new(shape, 1).expect("a shape");
        let mut packed = vec![0.0; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let job = Job::new(plan, vec![1.0; shape.input_len()]).expect("lengths");
        let mut workspace = vec![0.0; job.workspace_len()];
        for block in 0..job.blocks() {
            job.run_block(
                block,
                GradientOperands::new(&output, &packed),
                &mut workspace,
            )
            .expect("lengths");
        }
        assert!(job.into_output().iter().all(|&x| x == 0.0), "{shape:?}");

        let plan = FilterGradient::new(shape, 1).expect("a shape");
        let job = Job::new(plan, vec![1.0; shape.filter_len()]).expect("lengths");
        let mut workspace = vec![0.0; job.workspace_len()];
        for block in 0..job.blocks() {
            job.run_block(
                block,
                GradientOperands::new(&output, &input),
                &mut workspace,
            )
            .expect("lengths");
        }
        assert!(job.into_output().iter().all(|&w| w == 0.0), "{shape:?}");
    }
}

/// The sum over the window, in the order of the routine: each product is fused with its sum.
fn depthwise_sum(
    shape: &Conv2dShape,
    [image, row, column, channel]: [usize; 4],
    [input, filter]: [&[f32]; 2],
    bias: f32,
) -> f32 {
    let (rows, columns, channels) = (shape.rows, shape.columns, shape.in_channels);
    let mut sum = bias;
    for row_tap in 0..rows.size {
        for column_tap in 0..columns.size {
            let source = rows
                .source(row, row_tap)
                .zip(columns.source(column, column_tap));
            if let Some((from_row, from_column)) = source {
                let pixel = (image * rows.input + from_row) * columns.input + from_column;
                let weight = filter[(row_tap * columns.size + column_tap) * channels + channel];
                sum = input[pixel * channels + channel].mul_add(weight, sum);
            }
        }
    }
    sum
}

#[test]
fn depthwise_convolutions_are_what_they_are_defined_as() {
    let mut random = Random::new(31);
    for round in 0..400 {
        let channels = [1, 3, 8, 16, 17, 32, 40, 48, 70][random.below(9)];
        let (rows, columns) = (random_window(&mut random), random_window(&mut random));
        let shape = Conv2dShape::new(1 + random.below(2), rows, columns, channels, channels);
        let shape = shape.expect("a shape");
        let plan = Depthwise::new(shape).expect("a plan");
        let input = random.f32s(shape.input_len());
        let filter = random.f32s(rows.size * columns.size * channels);
        let bias = random.chance(2).then(|| random.f32s(channels));
        let before = random.f32s(shape.output_len());
        let adds_output = random.chance(2);
        let activation = [
            Activation::None,
            Activation::Relu,
            Activation::Clip(-0.5, 0.25),
        ];
        let activation = activation[random.below(3)];
        let mut expected = before.clone();
        for (place, expected) in expected.iter_mut().enumerate() {
            let (pixel, channel) = (place / channels, place % channels);
            let (line, column) = (pixel / columns.output, pixel % columns.output);
            let at = [line / rows.output, line % rows.output, column, channel];
            let bias = bias.as_ref().map_or(0.0, |bias| bias[channel]);
            let sum = depthwise_sum(&shape, at, [&input, &filter], bias);
            let sum = if adds_output { *expected + sum } else { sum };
            *expected = match activation {
                Activation::Relu => sum.max(0.0),
                Activation::Clip(low, high) => sum.clamp(low, high),
                _ => sum,
            };
        }
        // In two parts, as two threads would.
        let mut found = before;
        let middle = plan.num_lines() / 2;
        let (first, second) = found.split_at_mut(middle * plan.line_len());
        for (lines, part) in [(0..middle, first), (middle..plan.num_lines(), second)] {
            let bias = bias.as_deref();
            plan.lines(&input, &filter, bias, adds_output, activation, lines, part)
                .expect("lengths");
        }
        assert_eq!(found, expected, "round {round}: {shape:?}");
    }
}
