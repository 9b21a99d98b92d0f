//! Compares plans for processors with narrower vector registers, or without any, with the
//! definitions.
//!
//! Numbers are small integers, so every order of summation is exact.

use crate::convolution::{
    Conv2dShape, Convolution, ConvolutionOperands, Depthwise, FilterGradient, GradientOperands,
    InputGradient, Padding, Window, Winograd, naive as definition,
};
use crate::job::Plan;
use crate::lanes::forced;
use crate::math::Real;
use crate::matmul::{Matmul, MatmulElement, MatmulOperands, MatmulShape, naive};
use crate::parallel::Serial;

fn integers<T: Real>(len: usize, modulus: usize) -> Vec<T> {
    (0..len)
        .map(|place| T::from_usize(place % modulus) - T::from(2))
        .collect()
}

fn run<P: Plan<Element: Real>>(plan: &P, operands: P::Operands<'_>) -> Vec<P::Element> {
    let mut output = integers(plan.output_len(), 1);
    let mut workspace = integers(plan.workspace_len() * plan.blocks(), 3);
    plan.run(&Serial, operands, &mut output, &mut workspace)
        .expect("lengths of the plan");
    output
}

fn products_agree<T: MatmulElement + crate::element::Arithmetic + std::fmt::Debug>() {
    // The last one has rows of `b` that are long.
    for (m, n, k) in [
        (1, 33, 5),
        (8, 20, 3),
        (9, 20, 3),
        (30, 50, 40),
        (2, 300, 7),
        (3, 300, 7),
        (4, 70, 7),
        (5, 70, 7),
        (3, 16_401, 9),
    ] {
        for (transposes_a, transposes_b) in [(false, false), (true, false), (false, true)] {
            let shape = MatmulShape::new(m, n, k).transposed(transposes_a, transposes_b);
            let (a, b) = (integers::<T>(m * k, 7), integers::<T>(k * n, 5));
            let mut expected = vec![T::default(); m * n];
            naive::matmul(&shape, T::from(1), &a, &b, T::from(0), &mut expected).expect("lengths");
            let plan = Matmul::<T>::new(shape, 1).expect("a shape");
            let mut packed = vec![T::default(); plan.packed_b_len()];
            plan.pack_b(&b, &mut packed).expect("lengths");
            assert_eq!(
                run(&plan, MatmulOperands::new(&a, &b)),
                expected,
                "{shape:?}"
            );
            assert_eq!(
                run(&plan, MatmulOperands::packed(&a, &packed)),
                expected,
                "{shape:?}"
            );
        }
    }
}

fn convolutions_agree() {
    for (padding, stride, dilation) in [
        (Padding::Same, 1, 1),
        (Padding::Valid, 2, 1),
        (Padding::Same, 1, 2),
    ] {
        let window = Window::new(9, 3, stride, dilation, padding).expect("a window");
        let shape = Conv2dShape::new(2, window, window, 3, 21).expect("a shape");
        let (input, filter) = (
            integers::<f32>(shape.input_len(), 7),
            integers::<f32>(shape.filter_len(), 5),
        );
        let gradient = integers::<f32>(shape.output_len(), 4);

        let plan = Convolution::new(shape, 1);
        let mut packed = vec![0.0; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let mut expected = vec![0.0; shape.output_len()];
        definition::convolution(&shape, &input, &filter, &mut expected).expect("lengths");
        assert_eq!(
            run(&plan, ConvolutionOperands::new(&input, &packed)),
            expected,
            "{shape:?}"
        );

        if let Ok(plan) = Winograd::new(shape, 1) {
            let mut packed = vec![0.0; plan.packed_filter_len()];
            plan.pack_filter(&filter, &mut packed).expect("lengths");
            let found = run(&plan, ConvolutionOperands::new(&input, &packed));
            // The transforms divide by 6 and 24.
            assert!(
                found
                    .iter()
                    .zip(&expected)
                    .all(|(x, y)| (x - y).abs() < 2e-3),
                "{shape:?}"
            );
        }

        let plan = InputGradient::new(shape, 1).expect("a shape");
        let mut packed = vec![0.0; plan.packed_filter_len()];
        plan.pack_filter(&filter, &mut packed).expect("lengths");
        let mut expected = vec![0.0; shape.input_len()];
        definition::input_gradient(&shape, &gradient, &filter, &mut expected).expect("lengths");
        assert_eq!(
            run(&plan, GradientOperands::new(&gradient, &packed)),
            expected,
            "{shape:?}"
        );

        let plan = FilterGradient::new(shape, 1).expect("a shape");
        let mut expected = vec![0.0; shape.filter_len()];
        definition::filter_gradient(&shape, &gradient, &input, &mut expected).expect("lengths");
        assert_eq!(
            run(&plan, GradientOperands::new(&gradient, &input)),
            expected,
            "{shape:?}"
        );
    }
}

#[test]
fn products_agree_on_every_processor() {
    for instructions in forced::all() {
        forced::run(instructions, products_agree::<f32>);
        forced::run(instructions, products_agree::<f64>);
    }
}

#[test]
fn convolutions_agree_on_every_processor() {
    for instructions in forced::all() {
        forced::run(instructions, convolutions_agree);
    }
}

/// Depthwise convolutions of every width of registers, as that of the narrowest.
#[test]
fn depthwise_convolutions_agree_on_every_processor() {
    let run = || {
        let window = |stride| Window::new(9, 3, stride, 1, Padding::Same).expect("a window");
        let shape = Conv2dShape::new(2, window(1), window(2), 21, 21).expect("a shape");
        let plan = Depthwise::new(shape).expect("a shape");
        let (input, filter) = (
            integers::<f32>(shape.input_len(), 7),
            integers::<f32>(9 * 21, 5),
        );
        let mut output = vec![0.0; shape.output_len()];
        plan.lines(
            &input,
            &filter,
            None,
            false,
            crate::Activation::Relu6,
            0..plan.num_lines(),
            &mut output,
        )
        .expect("lengths");
        output
    };
    let mut expected = Vec::new();
    forced::run(forced::Instructions::Scalar, || expected = run());
    for instructions in forced::all() {
        forced::run(instructions, || assert_eq!(run(), expected));
    }
}
