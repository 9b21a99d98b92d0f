//! Ops of half precision, by kernels for single precision.

use super::*;
use tfrt::prelude::DType;

const TYPES: [(DType, i64); 2] = [(DType::F16, 10), (DType::Bf16, 16)];

/// Adds a weight that is rounded to a type.
fn weight(b: &mut Builder, dims: &[usize], to: i64) -> String {
    let weight = b.weight(dims);
    b.op_with("Cast", &[&weight], &[int("to", to)])
}

#[test]
fn convolutions_of_half_precision_are_computed_in_single_precision() {
    for (seed, (dtype, to)) in TYPES.into_iter().enumerate() {
        for group in [1, 4] {
            for has_bias in [false, true] {
                let mut b = Builder::new(seed as u64 + 300);
                let x = b.input_of("x", dtype, &[2, 4, 7, 5]);
                let w = weight(&mut b, &[8, 4 / group, 3, 3], to);
                let bias = weight(&mut b, &[8], to);
                let operands = [&x[..], &w, &bias];
                let attributes = [ints("pads", &[1, 0, 1, 2]), int("group", group as i64)];
                let operands = &operands[..2 + usize::from(has_bias)];
                let y = b.op_with("Conv", operands, &attributes);
                let y = b.op("Relu", &[&y]);
                let w = weight(&mut b, &[8, 3, 2, 2], to);
                let y = b.op_with("ConvTranspose", &[&y, &w], &[ints("strides", &[2, 2])]);
                let rules = b.check(&[&y]);
                for rule in [
                    "fuse-activation",
                    "narrow-after-relu",
                    "widen-half-precision",
                ] {
                    assert!(rules.contains(&rule), "{rules:?}");
                }
            }
        }
    }
}

#[test]
fn products_of_half_precision_are_computed_in_single_precision() {
    for (seed, (dtype, to)) in TYPES.into_iter().enumerate() {
        let mut b = Builder::new(seed as u64 + 320);
        let (x, other) = (
            b.input_of("x", dtype, &[3, 20, 24]),
            b.input_of("other", dtype, &[3, 37, 5]),
        );
        let w = weight(&mut b, &[24, 37], to);
        let y = b.op("MatMul", &[&x, &w]);
        let y = b.op("MatMul", &[&y, &other]);
        assert!(b.check(&[&y]).contains(&"widen-half-precision"));
        // What is between two products is rounded.
        let program = b.rewritten(&[&y]);
        assert_eq!(program.text.matches("tfrt.Cast").count(), 5);

        let mut b = Builder::new(seed as u64 + 330);
        let x = b.input_of("x", dtype, &[20, 24]);
        let (w, bias) = (weight(&mut b, &[37, 24], to), weight(&mut b, &[37], to));
        let attributes = [int("transB", 1), float("alpha", 0.5)];
        let y = b.op_with("Gemm", &[&x, &w, &bias], &attributes);
        assert!(b.check(&[&y]).contains(&"widen-half-precision"));
    }
}

#[test]
fn products_of_other_types_stay() {
    let mut b = Builder::new(340);
    let (x, w) = (
        b.input_of("x", DType::F64, &[3, 4]),
        weight(&mut b, &[4, 2], 11),
    );
    let y = b.op("MatMul", &[&x, &w]);
    assert_eq!(b.check(&[&y]), ["fold-constants"]);
}

#[test]
fn half_precision_is_rounded_between_ops() {
    for (seed, (dtype, to)) in TYPES.into_iter().enumerate() {
        let mut b = Builder::new(seed as u64 + 350);
        let x = b.input_of("x", dtype, &[2, 6, 8, 4]);
        let other = b.input_of("other", dtype, &[6, 1, 4]);
        // Sums, products and quotients have the bits of the original.
        let sum = b.op("Add", &[&x, &other]);
        let product = b.op("Mul", &[&sum, &other]);
        let quotient = b.op("Div", &[&product, &x]);
        let difference = b.op("Sub", &[&quotient, &x]);
        b.check_bits("widen-half-precision", 4, &[&difference]);
        // Other functions are as exact as those of single precision.
        let [scale, bias] = [(); 2].map(|()| weight(&mut b, &[6], to));
        let y = b.op("InstanceNormalization", &[&sum, &scale, &bias]);
        let y = b.op("Sigmoid", &[&y]);
        let y = b.op_with("MaxPool", &[&y], &[ints("kernel_shape", &[2, 2])]);
        let y = b.op_with("ReduceMean", &[&y], &[ints("axes", &[2])]);
        let y = b.op("Relu", &[&y]);
        let y = b.op("GlobalAveragePool", &[&y]);
        let rules = b.check(&[&y]);
        for rule in ["widen-first-operand", "widen-half-precision"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
    }
}
