//! Arithmetic, comparisons, broadcasting, and conversions.

use half::{bf16, f16};
use tfrt_compute::binary::{self, Binary, Choice, Comparison, Side};
use tfrt_compute::broadcast::Broadcast;
use tfrt_compute::cast::cast;
use tfrt_compute::element::Arithmetic;
use tfrt_compute::unary;
use tfrt_support::complex::Complex;

use crate::support::{Random, indices, place};

const FUNCTIONS: [Binary; 4] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div];

fn scalar<T: Arithmetic>(function: Binary, x: T, y: T) -> T {
    match function {
        Binary::Add => x.plus(y),
        Binary::Sub => x.minus(y),
        Binary::Mul => x.times(y),
        Binary::Div => x.over(y),
    }
}

/// Returns two shapes that broadcast: a common one, with some extents made 1 and leading ones
/// dropped.
fn pair(random: &mut Random) -> (Vec<usize>, Vec<usize>) {
    let common = random.shape(5, 5);
    let mut sides = [0, 1].map(|_| {
        let mut side = common.clone();
        for extent in &mut side {
            if random.chance(3) {
                *extent = 1;
            }
        }
        let dropped = if random.chance(2) {
            random.below(side.len() + 1)
        } else {
            0
        };
        side.split_off(dropped)
    });
    let right = sides[1].clone();
    (std::mem::take(&mut sides[0]), right)
}

/// Returns the element of a side that an index of the common shape means.
fn source(side: &[usize], index: &[usize]) -> usize {
    let index = &index[index.len() - side.len()..];
    let index: Vec<usize> = index
        .iter()
        .zip(side)
        .map(|(&index, &extent)| if extent == 1 { 0 } else { index })
        .collect();
    place(side, &index)
}

#[test]
fn broadcasting_means_what_numpy_means() {
    let mut random = Random::new(2);
    for _ in 0..400 {
        let (left_shape, right_shape) = pair(&mut random);
        let shapes = Broadcast::new(&left_shape, &right_shape).expect("made to fit");
        let (left, right) = (
            random.i32s(shapes.left_len()),
            random.i32s(shapes.right_len()),
        );
        for function in FUNCTIONS {
            let mut output = vec![0; shapes.output_len()];
            binary::broadcast(function, &shapes, &left, &right, &mut output)
                .expect("lengths of the shapes");
            let expected: Vec<i32> = indices(shapes.shape())
                .iter()
                .map(|index| {
                    scalar(
                        function,
                        left[source(&left_shape, index)],
                        right[source(&right_shape, index)],
                    )
                })
                .collect();
            assert_eq!(
                output, expected,
                "{function:?} of {left_shape:?} and {right_shape:?}"
            );
            for (side, own, other) in [(Side::Left, &left, &right), (Side::Right, &right, &left)] {
                let mut target = own.clone();
                let outcome =
                    binary::broadcast_in_place(function, &shapes, side, &mut target, other);
                if own.len() == expected.len() {
                    assert!(outcome.is_ok());
                    assert_eq!(
                        target, expected,
                        "{function:?} of {left_shape:?} and {right_shape:?}, {side:?}"
                    );
                } else {
                    assert!(outcome.is_err());
                    assert_eq!(&target, own, "a refused target is untouched");
                }
            }
        }
        let mut output = vec![false; shapes.output_len()];
        binary::compare(Comparison::Less, &shapes, &left, &right, &mut output)
            .expect("lengths of the shapes");
        for (index, output) in indices(shapes.shape()).iter().zip(output) {
            assert_eq!(
                output,
                left[source(&left_shape, index)] < right[source(&right_shape, index)]
            );
        }
    }
}

#[test]
fn shapes_that_do_not_broadcast_are_refused() {
    let error = Broadcast::new(&[2, 3], &[4]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "broadcast: expected equal extents or 1, found 3 and 4 in [2, 3] and [4]"
    );
    assert!(Broadcast::new(&[usize::MAX, 1], &[1, usize::MAX]).is_err());
    let shapes = Broadcast::new(&[2], &[2]).expect("equal shapes");
    let mut output = [7; 2];
    assert!(binary::broadcast(Binary::Add, &shapes, &[1], &[1, 2], &mut output).is_err());
    assert_eq!(output, [7; 2], "a refused output is untouched");
}

#[test]
fn an_extent_of_one_stretches_to_none() {
    let shapes = Broadcast::new(&[0, 3], &[1, 3]).expect("one stretches to zero");
    assert_eq!((shapes.shape(), shapes.output_len()), (&[0, 3][..], 0));
    binary::broadcast::<f32>(Binary::Add, &shapes, &[], &[1.0, 2.0, 3.0], &mut [])
        .expect("nothing to do");
}

#[track_caller]
fn check_all<T: Arithmetic + std::fmt::Debug>(values: &[T]) {
    let left: Vec<T> = values
        .iter()
        .flat_map(|&x| values.iter().map(move |_| x))
        .collect();
    let right: Vec<T> = values.iter().flat_map(|_| values.iter().copied()).collect();
    for function in FUNCTIONS {
        let expected: Vec<T> = left
            .iter()
            .zip(&right)
            .map(|(&x, &y)| scalar(function, x, y))
            .collect();
        let mut output = vec![T::default(); left.len()];
        binary::apply(function, &left, &right, &mut output);
        // As text: NaNs are equal there.
        assert_eq!(
            format!("{output:?}"),
            format!("{expected:?}"),
            "{function:?}"
        );
        let mut target = left.clone();
        binary::apply_in_place(function, &mut target, &right);
        assert_eq!(
            format!("{target:?}"),
            format!("{expected:?}"),
            "{function:?} in place"
        );
    }
}

#[test]
fn arithmetic_agrees_with_its_scalar_form() {
    check_all(&[0_u8, 1, 2, 200, u8::MAX]);
    check_all(&[0_u16, 1, 300, u16::MAX]);
    check_all(&[0_u32, 1, 7, u32::MAX]);
    check_all(&[0_u64, 1, 7, u64::MAX]);
    check_all(&[0_i8, 1, -1, i8::MIN, i8::MAX]);
    check_all(&[0_i16, 1, -1, i16::MIN, i16::MAX]);
    check_all(&[0_i32, 1, -1, i32::MIN, i32::MAX, 12345]);
    check_all(&[0_i64, 1, -1, i64::MIN, i64::MAX, 12345]);
    let special = [
        0.0,
        -0.0,
        1.5,
        -3.0,
        1e-310,
        f64::MAX,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    check_all(&special);
    check_all(&special.map(|x| x as f32));
    check_all(&special.map(f16::from_f64));
    check_all(&special.map(bf16::from_f64));
    check_all(&[
        Complex::new(1.0_f32, 2.0),
        Complex::new(0.0, -1.0),
        Complex::new(3.0, 0.0),
        Complex::new(0.0, 0.0),
    ]);
    check_all(&[Complex::new(1.0_f64, 2.0), Complex::new(-4.0, 0.25)]);
}

#[test]
fn integer_division_never_panics() {
    let mut output = [9; 3];
    binary::apply(Binary::Div, &[7, i32::MIN, -7], &[0, -1, 2], &mut output);
    assert_eq!(output, [0, i32::MIN, -3]);
}

#[test]
fn complex_quotients_do_not_overflow() {
    let large = Complex::new(1e300_f64, 1e300);
    assert_eq!(large.over(large), Complex::new(1.0, 0.0));
    let (x, y) = (Complex::new(5.0_f32, 5.0), Complex::new(1.0, 2.0));
    assert_eq!(x.over(y), Complex::new(3.0, -1.0));
}

#[test]
fn comparisons_with_nan_are_false() {
    let shapes = Broadcast::new(&[3], &[3]).expect("equal shapes");
    let (left, right) = ([1.0, f32::NAN, 2.0], [1.0, f32::NAN, f32::NAN]);
    let all = [
        (Comparison::Equal, [true, false, false]),
        (Comparison::NotEqual, [false, true, true]),
        (Comparison::Less, [false; 3]),
        (Comparison::LessEqual, [true, false, false]),
        (Comparison::Greater, [false; 3]),
        (Comparison::GreaterEqual, [true, false, false]),
    ];
    for (comparison, expected) in all {
        let mut output = [false; 3];
        binary::compare(comparison, &shapes, &left, &right, &mut output)
            .expect("lengths of the shapes");
        assert_eq!(output, expected, "{comparison:?}");
    }
    let mut output = [9.0; 3];
    binary::equal(&left, &right, &mut output);
    assert_eq!(output, [1.0, 0.0, 0.0]);
    let mut target = left;
    binary::equal_in_place(&mut target, &right);
    assert_eq!(target, [1.0, 0.0, 0.0]);
}

#[test]
fn choices_pass_over_a_nan_on_the_right() {
    let shapes = Broadcast::new(&[3], &[3]).expect("equal shapes");
    let mut output = [0.0_f32; 3];
    binary::choose(
        Choice::Max,
        &shapes,
        &[1.0, 5.0, 2.0],
        &[3.0, 4.0, f32::NAN],
        &mut output,
    )
    .expect("lengths");
    assert_eq!(output, [3.0, 5.0, 2.0]);
    binary::choose(
        Choice::Min,
        &shapes,
        &[1.0, 5.0, 2.0],
        &[3.0, 4.0, f32::NAN],
        &mut output,
    )
    .expect("lengths");
    assert_eq!(output, [1.0, 4.0, 2.0]);
}

#[test]
fn a_step_of_gradient_descent_subtracts() {
    let mut weights = [1.0_f32, 2.0];
    binary::add_scaled_in_place(&mut weights, -0.5, &[4.0, 8.0]);
    assert_eq!(weights, [-1.0, -2.0]);
}

#[test]
fn relu_keeps_nan_and_its_gradient_needs_a_positive_activation() {
    let mut output = [0.0_f32; 4];
    unary::relu(&[-1.0, 0.0, 2.0, f32::NAN], &mut output);
    assert_eq!(&output[..3], [0.0, 0.0, 2.0]);
    assert!(output[3].is_nan());
    let mut integers = [-5_i64, 5];
    unary::relu_in_place(&mut integers);
    assert_eq!(integers, [0, 5]);
    let mut gradient = [1.0, 2.0, 3.0];
    unary::relu_gradient_in_place(&[-1.0_f32, 0.0, 4.0], &mut gradient);
    assert_eq!(gradient, [0.0, 0.0, 3.0]);
}

#[test]
fn casts_saturate_cut_and_wrap() {
    let floats = [f32::NAN, f32::INFINITY, -1.9, 1.9, 1e10];
    let mut integers = [0_i32; 5];
    cast(&floats, &mut integers);
    assert_eq!(integers, [0, i32::MAX, -1, 1, i32::MAX]);
    let mut bytes = [0_u8; 3];
    cast(&[256_i32, -1, 7], &mut bytes);
    assert_eq!(bytes, [0, 255, 7]);
    let mut halves = [f16::ZERO; 3];
    cast(&[1.0_f64, 1e6, 0.1], &mut halves);
    assert_eq!(halves, [f16::ONE, f16::INFINITY, f16::from_f64(0.1)]);
    let mut brain = [bf16::ZERO; 2];
    cast(&halves[..2], &mut brain);
    assert_eq!(brain, [bf16::ONE, bf16::INFINITY]);
    let mut truths = [false; 3];
    cast(&[0.0_f32, -0.0, f32::NAN], &mut truths);
    assert_eq!(truths, [false, false, true]);
    let mut numbers = [0_i64; 3];
    cast(&truths, &mut numbers);
    assert_eq!(numbers, [0, 0, 1]);
    let mut wide = [0.0_f32; 1];
    cast(&[16_777_217_i32], &mut wide);
    assert_eq!(wide, [16_777_216.0]);
}
