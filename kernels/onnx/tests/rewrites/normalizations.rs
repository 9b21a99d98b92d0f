//! Normalizations from pieces.

use super::*;
use tfrt::prelude::DType;

/// Adds a layer normalization from pieces.
fn layer_norm(b: &mut Builder, x: &str, axes: &[i64], spelling: usize) -> String {
    let axes = ints("axes", axes);
    let mean = b.op_with("ReduceMean", &[x], std::slice::from_ref(&axes));
    let difference = b.op("Sub", &[x, &mean]);
    let squares = match spelling {
        0 => {
            let two = b.number(2.0);
            b.op("Pow", &[&difference, &two])
        }
        1 => b.op("Mul", &[&difference, &difference]),
        _ => {
            // Some exporters subtract twice.
            let again = b.op("Sub", &[x, &mean]);
            let two = b.number(2.0);
            b.op("Pow", &[&again, &two])
        }
    };
    let variance = b.op_with("ReduceMean", &[&squares], &[axes]);
    let epsilon = b.number(1e-5);
    let sum = b.op("Add", &[&variance, &epsilon]);
    let deviation = b.op("Sqrt", &[&sum]);
    match spelling {
        1 => {
            let inverse = b.op("Reciprocal", &[&deviation]);
            b.op("Mul", &[&difference, &inverse])
        }
        _ => b.op("Div", &[&difference, &deviation]),
    }
}

#[test]
fn layer_norm_is_recognised() {
    for spelling in 0..3 {
        for axes in [&[-1][..], &[2], &[1, 2], &[-2, -1]] {
            let mut b = Builder::new(70);
            let x = b.input("x", &[2, 3, 20]);
            let dims: &[usize] = if axes.len() == 2 { &[3, 20] } else { &[20] };
            let (scale, bias) = (b.weight(dims), b.weight(dims));
            let y = layer_norm(&mut b, &x, axes, spelling);
            let y = b.op("Mul", &[&y, &scale]);
            let y = b.op("Add", &[&bias, &y]);
            let rules = b.check(&[&y]);
            for rule in [
                "bias-into-norm",
                "layer-norm-from-pieces",
                "scale-into-norm",
            ] {
                assert!(
                    rules.contains(&rule),
                    "spelling {spelling}, {axes:?}: {rules:?}"
                );
            }
        }
    }
}

#[test]
fn rms_norm_is_recognised() {
    for inverts in [false, true] {
        let mut b = Builder::new(71);
        let x = b.input("x", &[2, 3, 20]);
        let (scale, epsilon, two) = (b.weight(&[20]), b.number(1e-6), b.number(2.0));
        let squares = b.op("Pow", &[&x, &two]);
        let mean = b.op_with("ReduceMean", &[&squares], &[ints("axes", &[-1])]);
        let sum = b.op("Add", &[&mean, &epsilon]);
        let root = b.op("Sqrt", &[&sum]);
        let y = if inverts {
            let inverse = b.op("Reciprocal", &[&root]);
            b.op("Mul", &[&x, &inverse])
        } else {
            b.op("Div", &[&x, &root])
        };
        let y = b.op("Mul", &[&scale, &y]);
        let rules = b.check(&[&y]);
        assert!(rules.contains(&"rms-norm-from-pieces"), "{rules:?}");
        assert!(rules.contains(&"scale-into-norm"), "{rules:?}");
    }
}

#[test]
fn norms_of_half_precision_are_recognised_between_conversions() {
    for (dtype, number) in [(DType::F16, 10), (DType::Bf16, 16)] {
        for is_centred in [true, false] {
            let mut b = Builder::new(73);
            let x = b.input_of("x", dtype, &[2, 3, 20]);
            let wide = b.op_with("Cast", &[&x], &[int("to", 1)]);
            let y = match is_centred {
                true => layer_norm(&mut b, &wide, &[-1], 1),
                false => {
                    let (epsilon, two) = (b.number(1e-6), b.number(2.0));
                    let squares = b.op("Pow", &[&wide, &two]);
                    let mean = b.op_with("ReduceMean", &[&squares], &[ints("axes", &[-1])]);
                    let sum = b.op("Add", &[&mean, &epsilon]);
                    let root = b.op("Sqrt", &[&sum]);
                    let inverse = b.op("Reciprocal", &[&root]);
                    b.op("Mul", &[&wide, &inverse])
                }
            };
            let y = b.op_with("Cast", &[&y], &[int("to", number)]);
            let scale = b.weight(&[20]);
            let scale = b.op_with("Cast", &[&scale], &[int("to", number)]);
            let y = b.op("Mul", &[&scale, &y]);
            let rules = b.check(&[&y]);
            let rule = match is_centred {
                true => "layer-norm-from-pieces",
                false => "rms-norm-from-pieces",
            };
            assert!(rules.contains(&rule), "{dtype}: {rules:?}");
        }
    }
}

#[test]
fn norms_along_other_axes_stay() {
    let mut b = Builder::new(72);
    let x = b.input("x", &[2, 3, 20]);
    let y = layer_norm(&mut b, &x, &[1], 1);
    assert_eq!(b.check(&[&y]), [CHAIN]);
}
