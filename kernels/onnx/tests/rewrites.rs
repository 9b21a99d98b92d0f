//! Rewrites of imported models: each rule on random inputs, in the spellings of exporters. A
//! rewritten model must compute what the model as it is computes.

mod common;

use common::builder::Builder;
use common::*;
use tfrt_import::rewrite::RewriteRules;
use tfrt_onnx::proto::{NodeProto, TensorProto};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

#[test]
fn batch_norm_is_folded_into_what_makes_its_operand() {
    let mut b = Builder::new(1);
    let x = b.input("x", &[2, 4, 6, 5]);
    let (w, bias) = (b.weight(&[8, 4, 3, 3]), b.weight(&[8]));
    let y = b.op_with("Conv", &[&x, &w, &bias], &[ints("pads", &[1, 1, 1, 1])]);
    let y = b.batch_norm(&y, 8);
    assert_eq!(
        b.check(&[&y]),
        ["channels-last-convolution", "fold-batch-norm"]
    );

    // Grouped, along one dimension, without a bias.
    let mut b = Builder::new(2);
    let x = b.input("x", &[1, 4, 9]);
    let w = b.weight(&[6, 2, 3]);
    let y = b.op_with("Conv", &[&x, &w], &[int("group", 2)]);
    let y = b.batch_norm(&y, 6);
    assert_eq!(b.check(&[&y]), ["fold-batch-norm"]);

    let mut b = Builder::new(3);
    let x = b.input("x", &[2, 4, 3, 3]);
    let w = b.weight(&[4, 3, 2, 2]);
    let attributes = [int("group", 2), ints("strides", &[2, 2])];
    let y = b.op_with("ConvTranspose", &[&x, &w], &attributes);
    let y = b.batch_norm(&y, 6);
    assert_eq!(b.check(&[&y]), ["fold-batch-norm"]);

    for transposed in [0, 1] {
        let mut b = Builder::new(4);
        let x = b.input("x", &[3, 4]);
        let w = b.weight(if transposed == 1 { &[5, 4] } else { &[4, 5] });
        let y = b.op_with("Gemm", &[&x, &w], &[int("transB", transposed)]);
        let y = b.batch_norm(&y, 5);
        assert_eq!(b.check(&[&y]), ["fold-batch-norm"]);
    }

    let mut b = Builder::new(5);
    let x = b.input("x", &[3, 4]);
    let w = b.weight(&[4, 5]);
    let y = b.op("MatMul", &[&x, &w]);
    let y = b.batch_norm(&y, 5);
    assert_eq!(b.check(&[&y]), ["fold-batch-norm", "fuse-bias"]);
}

#[test]
fn windows_of_images_without_elements_have_no_results() {
    let mut b = Builder::new(4);
    let x = b.input("x", &[1, 4, 0, 5]);
    let y = b.op_with("MaxPool", &[&x], &[ints("kernel_shape", &[5, 5])]);
    let w = b.weight(&[8, 4, 1, 1]);
    let z = b.op("Conv", &[&x, &w]);
    let z = b.op("Relu", &[&z]);
    let rules = b.check(&[&z, &y]);
    assert!(rules.contains(&"channels-last-convolution"), "{rules:?}");
}

#[test]
fn windows_larger_than_images_are_errors() {
    let mut b = Builder::new(4);
    let x = b.input("x", &[1, 4, 3, 6]);
    let w = b.weight(&[8, 4, 5, 5]);
    let z = b.op("Conv", &[&x, &w]);
    let z = b.op("Relu", &[&z]);
    let pooled = b.op_with("MaxPool", &[&x], &[ints("kernel_shape", &[5, 5])]);
    for output in [z, pooled] {
        for error in b.check_failure(&[&output]) {
            assert!(
                error.contains("a window of 5 elements is larger than dimension"),
                "{error}"
            );
        }
    }
}

#[test]
fn batch_norm_of_a_shared_convolution_stays() {
    let mut b = Builder::new(6);
    let x = b.input("x", &[1, 4, 6, 5]);
    let w = b.weight(&[4, 4, 1, 1]);
    let shared = b.op("Conv", &[&x, &w]);
    let y = b.batch_norm(&shared, 4);
    assert_eq!(b.check(&[&y, &shared]), ["channels-last-convolution"]);
}

/// Applies an activation, as a node or as pieces.
fn activation(b: &mut Builder, x: &str, name: &str) -> String {
    match name {
        "Clip" => {
            let (low, high) = (b.number(-0.25), b.number(0.5));
            b.op("Clip", &[x, &low, &high])
        }
        "LeakyRelu" => b.op_with("LeakyRelu", &[x], &[float("alpha", 0.1)]),
        "Silu" => {
            let gate = b.op("Sigmoid", &[x]);
            b.op("Mul", &[&gate, x])
        }
        "Gelu" => gelu(b, x, 0),
        "Mish" => {
            let inner = b.op("Softplus", &[x]);
            let gate = b.op("Tanh", &[&inner]);
            b.op("Mul", &[x, &gate])
        }
        other => b.op(other, &[x]),
    }
}

/// Gelu by the error function, in one of the spellings.
fn gelu(b: &mut Builder, x: &str, spelling: usize) -> String {
    let (one, half) = (b.number(1.0), b.number(0.5));
    let inner = match spelling % 2 {
        0 => {
            let root = b.number(std::f32::consts::SQRT_2);
            b.op("Div", &[x, &root])
        }
        _ => {
            let factor = b.number(std::f32::consts::FRAC_1_SQRT_2);
            b.op("Mul", &[&factor, x])
        }
    };
    let erf = b.op("Erf", &[&inner]);
    let sum = b.op("Add", &[&one, &erf]);
    match spelling / 2 {
        0 => {
            let product = b.op("Mul", &[x, &sum]);
            b.op("Mul", &[&product, &half])
        }
        1 => {
            let halved = b.op("Mul", &[&half, x]);
            b.op("Mul", &[&sum, &halved])
        }
        _ => {
            let two = b.number(2.0);
            let halved = b.op("Div", &[&sum, &two]);
            b.op("Mul", &[x, &halved])
        }
    }
}

#[test]
fn convolutions_apply_bias_summand_and_activation() {
    let all = [
        "Relu",
        "Clip",
        "LeakyRelu",
        "Sigmoid",
        "Tanh",
        "Silu",
        "HardSwish",
        "Gelu",
        "Mish",
    ];
    for (seed, name) in all.into_iter().enumerate() {
        for group in [1, 4] {
            let mut b = Builder::new(seed as u64 + 10);
            let x = b.input("x", &[2, 4, 7, 5]);
            let w = b.weight(&[4, 4 / group, 3, 3]);
            let attributes = [
                ints("pads", &[1, 0, 1, 2]),
                ints("strides", &[2, 1]),
                int("group", group as i64),
            ];
            let y = b.op_with("Conv", &[&x, &w], &attributes);
            let bias = b.weight(&[1, 4, 1, 1]);
            let y = b.op("Add", &[&y, &bias]);
            let other = b.op_with(
                "MaxPool",
                &[&x],
                &[
                    ints("kernel_shape", &[3, 3]),
                    ints("pads", &[1, 0, 1, 2]),
                    ints("strides", &[2, 1]),
                ],
            );
            let y = b.op("Add", &[&other, &y]);
            let y = activation(&mut b, &y, name);
            let rules = b.check(&[&y]);
            for rule in [
                "channels-last-convolution",
                "fuse-activation",
                "fuse-bias",
                "fuse-sum",
            ] {
                assert!(rules.contains(&rule), "{name}: {rules:?}");
            }
        }
    }
}

#[test]
fn a_summand_that_is_broadcast_is_added_after_the_convolution() {
    let mut b = Builder::new(30);
    let x = b.input("x", &[1, 2, 4, 4]);
    let other = b.input("other", &[1, 3, 1, 4]);
    let w = b.weight(&[3, 2, 1, 1]);
    let y = b.op("Conv", &[&x, &w]);
    let y = b.op("Add", &[&y, &other]);
    let y = b.op("Relu", &[&y]);
    assert_eq!(
        b.check(&[&y]),
        ["channels-last-convolution", "fuse-activation", "fuse-sum"]
    );
}

#[test]
fn products_apply_bias_summand_and_activation() {
    for (seed, name) in ["Relu", "Gelu", "Silu", "Tanh"].into_iter().enumerate() {
        for rows in [3, 40] {
            let mut b = Builder::new(seed as u64 + 40);
            let x = b.input("x", &[2, rows, 24]);
            let other = b.input("other", &[2, rows, 37]);
            let (w, bias) = (b.weight(&[24, 37]), b.weight(&[37]));
            let y = b.op("MatMul", &[&x, &w]);
            let y = b.op("Add", &[&bias, &y]);
            let y = b.op("Add", &[&y, &other]);
            let y = activation(&mut b, &y, name);
            let rules = b.check(&[&y]);
            for rule in ["fuse-activation", "fuse-bias", "fuse-sum"] {
                assert!(rules.contains(&rule), "{name}: {rules:?}");
            }

            let mut b = Builder::new(seed as u64 + 50);
            let x = b.input("x", &[rows, 24]);
            let (w, bias) = (b.weight(&[37, 24]), b.weight(&[37]));
            let attributes = [int("transB", 1), float("alpha", 0.5)];
            let y = b.op_with("Gemm", &[&x, &w, &bias], &attributes);
            let y = activation(&mut b, &y, name);
            assert!(b.check(&[&y]).contains(&"fuse-activation"), "{name}");
        }
    }
}

#[test]
fn activations_are_recognised_in_every_spelling() {
    for spelling in 0..6 {
        let mut b = Builder::new(60);
        let x = b.input("x", &[3, 50]);
        let y = gelu(&mut b, &x, spelling);
        assert_eq!(
            b.check(&[&y]),
            ["activation-from-product"],
            "spelling {spelling}"
        );
    }
    for (spelling, cubes) in [(0, "Pow"), (1, "Mul"), (2, "Square")] {
        let mut b = Builder::new(61);
        let x = b.input("x", &[3, 50]);
        let (one, half) = (b.number(1.0), b.number(0.5));
        let (factor, root) = (b.number(0.044_715), b.number(0.797_884_6));
        let inner = match cubes {
            "Pow" => {
                let three = b.number(3.0);
                let cube = b.op("Pow", &[&x, &three]);
                let cube = b.op("Mul", &[&factor, &cube]);
                let sum = b.op("Add", &[&x, &cube]);
                b.op("Mul", &[&root, &sum])
            }
            "Mul" => {
                let square = b.op("Mul", &[&x, &x]);
                let cube = b.op("Mul", &[&square, &x]);
                let cube = b.op("Mul", &[&cube, &factor]);
                let sum = b.op("Add", &[&cube, &x]);
                b.op("Mul", &[&sum, &root])
            }
            _ => {
                let two = b.number(2.0);
                let square = b.op("Pow", &[&x, &two]);
                let square = b.op("Mul", &[&square, &factor]);
                let sum = b.op("Add", &[&square, &one]);
                let product = b.op("Mul", &[&x, &sum]);
                b.op("Mul", &[&product, &root])
            }
        };
        let tanh = b.op("Tanh", &[&inner]);
        let sum = b.op("Add", &[&tanh, &one]);
        let product = b.op("Mul", &[&x, &sum]);
        let y = b.op("Mul", &[&product, &half]);
        let rules = b.check(&[&y]);
        assert!(
            rules.contains(&"activation-from-product"),
            "spelling {spelling}: {rules:?}"
        );
    }
    for name in ["Silu", "Mish"] {
        let mut b = Builder::new(62);
        let x = b.input("x", &[3, 50]);
        let y = activation(&mut b, &x, name);
        assert_eq!(b.check(&[&y]), ["activation-from-product"], "{name}");
    }
    for divides_first in [false, true] {
        let mut b = Builder::new(63);
        let x = b.input("x", &[3, 50]);
        let (three, zero, six) = (b.number(3.0), b.number(0.0), b.number(6.0));
        let sum = b.op("Add", &[&x, &three]);
        let clipped = b.op("Clip", &[&sum, &zero, &six]);
        let y = if divides_first {
            let gate = b.op("Div", &[&clipped, &six]);
            b.op("Mul", &[&x, &gate])
        } else {
            let product = b.op("Mul", &[&x, &clipped]);
            b.op("Div", &[&product, &six])
        };
        let rules = b.check(&[&y]);
        let expected = match divides_first {
            true => vec!["activation-from-product", "hard-sigmoid-from-pieces"],
            false => vec!["activation-from-product"],
        };
        assert_eq!(rules, expected);
    }
    let mut b = Builder::new(64);
    let x = b.input("x", &[3, 50]);
    let one = b.number(1.0);
    let power = b.op("Exp", &[&x]);
    let sum = b.op("Add", &[&power, &one]);
    let y = b.op("Log", &[&sum]);
    assert_eq!(b.check(&[&y]), ["softplus-from-pieces"]);
}

#[test]
fn gates_are_recognised() {
    // As MobileNet-v3 has them: between convolutions, and as factors of other values.
    for spelling in 0..5 {
        let mut b = Builder::new(66);
        let (x, z) = (b.input("x", &[3, 50]), b.input("z", &[3, 50]));
        let (three, zero, six) = (b.number(3.0), b.number(0.0), b.number(6.0));
        let (factor, half, one) = (b.number(0.2), b.number(0.5), b.number(1.0));
        let raised = |b: &mut Builder| b.op("Add", &[&x, &three]);
        let gate = match spelling {
            0 => {
                let sum = raised(&mut b);
                let clipped = b.op("Clip", &[&sum, &zero, &six]);
                b.op("Div", &[&clipped, &six])
            }
            1 => {
                let sum = raised(&mut b);
                let clipped = b.op("Clip", &[&sum, &zero, &six]);
                let sixth = b.number(1.0 / 6.0);
                b.op("Mul", &[&sixth, &clipped])
            }
            2 => {
                let sum = raised(&mut b);
                let clipped = b.op("Relu", &[&sum]);
                let clipped = b.op("Min", &[&clipped, &six]);
                b.op("Div", &[&clipped, &six])
            }
            3 => {
                let scaled = b.op("Mul", &[&factor, &x]);
                let sum = b.op("Add", &[&half, &scaled]);
                b.op("Clip", &[&sum, &zero, &one])
            }
            _ => {
                let scaled = b.op("Mul", &[&factor, &x]);
                let sum = b.op("Add", &[&half, &scaled]);
                let clipped = b.op("Max", &[&zero, &sum]);
                b.op("Min", &[&clipped, &one])
            }
        };
        let y = b.op("Mul", &[&z, &gate]);
        let rules = b.check(&[&y]);
        assert!(
            rules.contains(&"hard-sigmoid-from-pieces"),
            "{spelling}: {rules:?}"
        );
        assert_eq!(b.rewritten(&[&y]).num_ops, 2, "{spelling}");
    }
    for divides in [false, true] {
        let mut b = Builder::new(67);
        let x = b.input("x", &[3, 50]);
        let one = b.number(1.0);
        let negated = b.op("Neg", &[&x]);
        let power = b.op("Exp", &[&negated]);
        let sum = b.op("Add", &[&one, &power]);
        let y = match divides {
            true => b.op("Div", &[&one, &sum]),
            false => b.op("Reciprocal", &[&sum]),
        };
        assert_eq!(b.check(&[&y]), ["sigmoid-from-pieces"]);
    }
}

#[test]
fn bounds_in_two_ops_are_one() {
    let of = |ops: [&str; 2], bounds: [f32; 2]| {
        let mut b = Builder::new(68);
        let x = b.input("x", &[3, 50]);
        let (first, second) = (b.number(bounds[0]), b.given(&[1], &bounds[1..]));
        let y = b.op(ops[0], &[&x, &first]);
        let y = b.op(ops[1], &[&second, &y]);
        b.check(&[&y])
    };
    assert_eq!(of(["Max", "Min"], [-0.5, 0.25]), ["clip-from-extremes"]);
    assert_eq!(of(["Min", "Max"], [0.25, -0.5]), ["clip-from-extremes"]);
    // The last one wins.
    assert_eq!(of(["Max", "Min"], [0.25, -0.5]), [""; 0]);
    assert_eq!(of(["Max", "Max"], [-0.5, 0.25]), [""; 0]);

    // What is between the two is an output, too.
    let mut b = Builder::new(69);
    let x = b.input("x", &[3, 50]);
    let (low, high) = (b.number(0.0), b.number(0.5));
    let z = b.op("Max", &[&x, &low]);
    let y = b.op("Min", &[&z, &high]);
    assert_eq!(b.check(&[&y, &z]), [""; 0]);
}

#[test]
fn products_of_other_values_are_no_activations() {
    let mut b = Builder::new(65);
    let (x, z) = (b.input("x", &[3, 50]), b.input("z", &[3, 50]));
    let gate = b.op("Sigmoid", &[&x]);
    let y = b.op("Mul", &[&gate, &z]);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

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
fn norms_along_other_axes_stay() {
    let mut b = Builder::new(72);
    let x = b.input("x", &[2, 3, 20]);
    let y = layer_norm(&mut b, &x, &[1], 1);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

#[test]
fn attention_is_recognised() {
    for (seed, with_mask) in [(80, false), (81, true)] {
        let mut b = Builder::new(seed);
        let (length, heads, size) = (70, 3, 8);
        let x = b.input("x", &[2, length, heads * size]);
        let shape = b.integers(&[0, 0, heads as i64, size as i64]);
        let side = |b: &mut Builder, perm: &[i64]| {
            let w = b.weight(&[heads * size, heads * size]);
            let y = b.op("MatMul", &[&x, &w]);
            let y = b.op("Reshape", &[&y, &shape]);
            b.op_with("Transpose", &[&y], &[ints("perm", perm)])
        };
        let q = side(&mut b, &[0, 2, 1, 3]);
        let k = side(&mut b, &[0, 2, 3, 1]);
        let v = side(&mut b, &[0, 2, 1, 3]);
        let scores = b.op("MatMul", &[&q, &k]);
        let root = b.number((size as f32).sqrt());
        let mut scores = b.op("Div", &[&scores, &root]);
        if with_mask {
            let mask = b.input("mask", &[2, 1, 1, length]);
            scores = b.op("Add", &[&scores, &mask]);
        }
        let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
        let y = b.op("MatMul", &[&weights, &v]);
        let y = b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])]);
        let rules = b.check(&[&y]);
        for rule in ["attention-from-pieces", "transpose-into-product"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
    }
}

#[test]
fn attention_is_recognised_as_torch_writes_it() {
    for (seed, zeroes) in [(90, false), (91, true)] {
        let mut b = Builder::new(seed);
        let (length, heads, size) = (9, 2, 8);
        let x = b.input("x", &[2, length, heads * size]);
        // Embeddings of positions are the first rows of a table.
        let table = b.weight(&[1, 2 * length, heads * size]);
        let (start, end, axis) = (
            b.integers(&[0]),
            b.integers(&[length as i64]),
            b.integers(&[1]),
        );
        let positions = b.op("Slice", &[&table, &start, &end, &axis]);
        let x = b.op("Add", &[&x, &positions]);
        let w = b.weight(&[heads * size, 3 * heads * size]);
        let all = b.op("MatMul", &[&x, &w]);
        let sizes = b.integers(&[(heads * size) as i64; 3]);
        let split = NodeProto {
            name: Some("split".into()),
            output: vec!["q".into(), "k".into(), "v".into()],
            ..with(node("Split", &[&all, &sizes], &[]), &[int("axis", -1)])
        };
        b.nodes.push(split);
        let shape = b.integers(&[0, -1, heads as i64, size as i64]);
        let side = |b: &mut Builder, x: &str, perm: &[i64]| {
            let y = b.op("Reshape", &[x, &shape]);
            b.op_with("Transpose", &[&y], &[ints("perm", perm)])
        };
        let (q, k, v) = (
            side(&mut b, "q", &[0, 2, 1, 3]),
            side(&mut b, "k", &[0, 2, 3, 1]),
            side(&mut b, "v", &[0, 2, 1, 3]),
        );
        let root = b.number((size as f32).powf(-0.25));
        let (q, k) = (b.op("Mul", &[&q, &root]), b.op("Mul", &[&root, &k]));
        let scores = b.op("MatMul", &[&q, &k]);
        // With the mask, all keys of the first query are hidden.
        let mut hidden = vec![0.0; length * length];
        if zeroes {
            hidden[..length].fill(f32::NEG_INFINITY);
        }
        let mask = b.given(&[length, length], &hidden);
        let scores = b.op("Add", &[&scores, &mask]);
        let mut weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
        if zeroes {
            let is_nan = b.op("IsNaN", &[&weights]);
            let zero = b.number(0.0);
            weights = b.op("Where", &[&is_nan, &zero, &weights]);
        }
        let y = b.op("MatMul", &[&weights, &v]);
        let rules = b.check(&[&y]);
        for rule in ["attention-from-pieces", "scale-before-transpose"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
    }
}

#[test]
fn attention_is_recognised_behind_computed_shapes() {
    let mut b = Builder::new(93);
    let (length, heads, size) = (5, 2, 8);
    let x = b.input("x", &[3, length, heads * size]);
    // As many examples as the input has, counted again for each reshape.
    let zero = b.integers(&[0]);
    let first = b.given(&[], &[0.0]);
    b.weights.pop();
    let index = TensorProto {
        name: Some(first.clone()),
        data_type: Some(7),
        raw_data: Some(0_i64.to_le_bytes().to_vec().into()),
        ..Default::default()
    };
    b.weights.push(index);
    let rest = b.integers(&[-1, heads as i64, size as i64]);
    let one = b.integers(&[1]);
    let side = |b: &mut Builder, slices: bool| {
        let w = b.weight(&[heads * size, heads * size]);
        let y = b.op("MatMul", &[&x, &w]);
        let shape = b.op("Shape", &[&y]);
        let count = if slices {
            b.op("Slice", &[&shape, &zero, &one])
        } else {
            let count = b.op_with("Gather", &[&shape, &first], &[int("axis", 0)]);
            b.op("Unsqueeze", &[&count, &zero])
        };
        let shape = b.op_with("Concat", &[&count, &rest], &[int("axis", 0)]);
        let y = b.op("Reshape", &[&y, &shape]);
        b.op_with("Transpose", &[&y], &[ints("perm", &[0, 2, 1, 3])])
    };
    let (q, k, v) = (side(&mut b, false), side(&mut b, true), side(&mut b, true));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
}

#[test]
fn attention_keeps_nan_that_the_model_keeps() {
    // The choice is between other values than those that are asked.
    let mut b = Builder::new(92);
    let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[2, 3, 4]));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 2, 1])]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let is_nan = b.op("IsNaN", &[&scores]);
    let zero = b.number(0.0);
    let weights = b.op("Where", &[&is_nan, &zero, &weights]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(!rules.contains(&"attention-from-pieces"), "{rules:?}");
}

/// What hides scores: a choice between them and a number.
struct Choice {
    number: f32,
    /// Whether scores are chosen where the mask is true.
    keeps: bool,
    /// Whether a mask is added before scores are hidden, or after, or not at all.
    adds: Option<bool>,
}

#[test]
fn attention_hides_scores_by_a_choice() {
    let choices = [
        (f32::NEG_INFINITY, false, None),
        (f32::NEG_INFINITY, true, Some(true)),
        (-1e4, true, None),
        (f32::MIN, false, Some(false)),
        (-1e9, true, Some(true)),
        (-1e9, true, Some(false)),
    ];
    for (seed, (number, keeps, adds)) in choices.into_iter().enumerate() {
        let choice = Choice {
            number,
            keeps,
            adds,
        };
        for (queries, keys) in [(5, 5), (70, 9)] {
            check_choice(200 + seed as u64, &choice, queries, keys);
        }
    }
}

fn check_choice(seed: u64, choice: &Choice, queries: usize, keys: usize) {
    let mut b = Builder::new(seed);
    let [q, k, v] = [("q", queries), ("k", keys), ("v", keys)]
        .map(|(name, length)| b.input(name, &[2, 3, length, 8]));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let mut scores = b.op("MatMul", &[&q, &k]);
    let root = b.number(8.0);
    let root = b.op("Sqrt", &[&root]);
    scores = b.op("Div", &[&scores, &root]);
    let added = b.input("added", &[2, 1, 1, keys]);
    if choice.adds == Some(true) {
        scores = b.op("Add", &[&scores, &added]);
    }
    // Some scores are hidden in each row.
    let asked = b.weight(&[queries, keys]);
    let limit = b.number(0.5);
    let mut mask = b.op("Less", &[&asked, &limit]);
    if !choice.keeps {
        mask = b.op("Not", &[&mask]);
    }
    let hidden = b.number(choice.number);
    scores = match choice.keeps {
        true => b.op("Where", &[&mask, &scores, &hidden]),
        false => b.op("Where", &[&mask, &hidden, &scores]),
    };
    if choice.adds == Some(false) {
        scores = b.op("Add", &[&added, &scores]);
    }
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", 3)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    assert!(rules.contains(&"attention-from-pieces"), "{rules:?}");
}

#[test]
fn attention_is_recognised_as_keras_writes_it() {
    // Queries, keys and values are [batch, length, heads, size].
    let mut b = Builder::new(210);
    let (length, heads, size) = (6, 3, 8);
    let x = b.input("x", &[2, length, heads * size]);
    let shape = b.integers(&[2, length as i64, heads as i64, size as i64]);
    let side = |b: &mut Builder| {
        let w = b.weight(&[heads * size, heads * size]);
        let y = b.op("MatMul", &[&x, &w]);
        b.op("Reshape", &[&y, &shape])
    };
    let (q, k, v) = (side(&mut b), side(&mut b), side(&mut b));
    let scale = b.number(1.0 / (size as f32).sqrt());
    let q = b.op("Mul", &[&q, &scale]);
    let scores = b.op_with("Einsum", &[&k, &q], &[text("equation", "aecd,abcd->acbe")]);
    let mask = b.input("mask", &[2, 1, 1, length]);
    let scores = b.op("Add", &[&scores, &mask]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op_with(
        "Einsum",
        &[&weights, &v],
        &[text("equation", "acbe,aecd->abcd")],
    );
    let shape = b.integers(&[2, length as i64, (heads * size) as i64]);
    let y = b.op("Reshape", &[&y, &shape]);
    let rules = b.check(&[&y]);
    for rule in ["attention-from-pieces", "product-from-einsum"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
}

#[test]
fn summations_over_one_letter_are_products() {
    let cases: [(&str, &[usize], &[usize]); 8] = [
        ("ij,jk->ik", &[3, 4], &[4, 5]),
        ("ij,kj->ki", &[3, 4], &[5, 4]),
        ("bij,bjk->bik", &[2, 3, 4], &[2, 4, 5]),
        ("ijb,jbk->kbi", &[3, 4, 2], &[4, 2, 5]),
        ("i j, j k -> k i", &[3, 4], &[4, 5]),
        ("abij,bakj->baik", &[2, 6, 3, 4], &[6, 2, 5, 4]),
        // Some batches are broadcast.
        ("bij,bjk->bik", &[1, 3, 4], &[2, 4, 5]),
        ("bij,bjk->bik", &[2, 3, 4], &[1, 4, 5]),
    ];
    for (equation, of_x, of_z) in cases {
        let mut b = Builder::new(220);
        let (x, z) = (b.input("x", of_x), b.input("z", of_z));
        let y = b.op_with("Einsum", &[&x, &z], &[text("equation", equation)]);
        let y = b.op("Abs", &[&y]);
        let rules = b.check(&[&y]);
        assert!(
            rules.contains(&"product-from-einsum"),
            "{equation}: {rules:?}"
        );
    }
}

#[test]
fn other_summations_stay() {
    let cases: [(&str, &[usize], &[usize]); 7] = [
        ("ij,ij->", &[3, 4], &[3, 4]),
        ("ij,jk->i", &[3, 4], &[4, 5]),
        ("ijk,jk->i", &[3, 4, 2], &[4, 2]),
        ("ii,ij->ij", &[3, 3], &[3, 4]),
        ("...ij,...jk->...ik", &[2, 3, 4], &[2, 4, 5]),
        ("i,j->ij", &[3], &[4]),
        // What is summed over is broadcast.
        ("ij,jk->ik", &[3, 1], &[4, 5]),
    ];
    for (equation, of_x, of_z) in cases {
        let mut b = Builder::new(221);
        let (x, z) = (b.input("x", of_x), b.input("z", of_z));
        let y = b.op_with("Einsum", &[&x, &z], &[text("equation", equation)]);
        assert_eq!(b.check(&[&y]), [""; 0], "{equation}");
    }
}

#[test]
fn attention_has_scales_of_shapes() {
    let mut b = Builder::new(230);
    let [q, k, v] = ["q", "k", "v"].map(|name| b.input(name, &[2, 3, 5, 16]));
    let shape = b.op("Shape", &[&q]);
    let (start, end) = (b.integers(&[-1]), b.integers(&[i64::MAX]));
    let size = b.op("Slice", &[&shape, &start, &end]);
    let size = b.op_with("Cast", &[&size], &[int("to", 1)]);
    let root = b.op("Sqrt", &[&size]);
    let one = b.given(&[1], &[1.0]);
    let scale = b.op("Div", &[&one, &root]);
    let scale = b.op("Sqrt", &[&scale]);
    let q = b.op("Mul", &[&q, &scale]);
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let k = b.op("Mul", &[&k, &scale]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    // The type that the weights have already.
    let weights = b.op_with("Cast", &[&weights], &[int("to", 1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    let rules = b.check(&[&y]);
    for rule in ["attention-from-pieces", "drop-cast", "fold-constants"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
}

#[test]
fn conversions_to_other_types_stay() {
    let mut b = Builder::new(231);
    let x = b.input("x", &[2, 3]);
    let y = b.op_with("Cast", &[&x], &[int("to", 11)]);
    let y = b.op_with("Cast", &[&y], &[int("to", 1)]);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

/// Returns the reasons why attention does not apply.
fn reasons(b: &Builder, outputs: &[&str]) -> Vec<String> {
    let mut program = b.program(outputs);
    let rewriting = program.rewrite_and_fold(&RewriteRules::default(), common::builder::folding());
    let missed = rewriting.missed.iter().map(ToString::to_string);
    missed.collect()
}

#[test]
fn a_near_miss_is_explained() {
    let attention = |change: &dyn Fn(&mut Builder, &str, &str) -> Vec<String>| {
        let mut b = Builder::new(240);
        let [q, k] = ["q", "k"].map(|name| b.input(name, &[2, 3, 5, 4]));
        let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
        let scores = b.op("MatMul", &[&q, &k]);
        let outputs = change(&mut b, &scores, &q);
        let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
        b.check(&outputs);
        reasons(&b, &outputs)
    };
    let end = |b: &mut Builder, scores: &str, v: &str| {
        let weights = b.op_with("Softmax", &[scores], &[int("axis", -1)]);
        [b.op("MatMul", &[&weights, v]), weights]
    };
    let check = |found: Vec<String>, reason: &str| {
        assert_eq!(found.len(), 1, "{found:?}");
        let expected = "`attention-from-pieces` does not apply at node 'MatMul_";
        assert!(
            found[0].starts_with(expected) && found[0].ends_with(reason),
            "{found:?}"
        );
    };
    let whole = attention(&|b, scores, q| {
        let [y, _] = end(b, scores, q);
        vec![y]
    });
    assert_eq!(whole, [""; 0]);
    let found = attention(&|b, scores, q| end(b, scores, q).to_vec());
    check(found, ": the weights have other users");
    let found = attention(&|b, scores, q| {
        let [y, _] = end(b, scores, q);
        vec![y, scores.to_owned()]
    });
    check(found, ": the scores have other users");
    let found = attention(&|b, scores, _| {
        let v = b.input("v", &[1, 3, 5, 4]);
        let [y, _] = end(b, scores, &v);
        vec![y]
    });
    check(
        found,
        ": queries, keys and values are not known to have the same batches and heads",
    );
    let found = attention(&|b, scores, q| {
        let mask = b.input("mask", &[2, 2, 3, 5, 5]);
        let scores = b.op("Add", &[scores, &mask]);
        let [y, _] = end(b, &scores, q);
        vec![y]
    });
    check(found, ": the mask is larger than the scores");
    let found = attention(&|b, scores, q| {
        let (limit, other) = (b.number(0.0), b.input("other", &[2, 3, 5, 5]));
        let mask = b.op("Less", &[&other, &limit]);
        let scores = b.op("Where", &[&mask, &other, scores]);
        let [y, _] = end(b, &scores, q);
        vec![y]
    });
    check(found, ": hidden scores are not all one constant");
}

/// Rotates the halves of a tensor, in one of the spellings of exporters.
fn rotary(b: &mut Builder, x: &str, size: i64, tables: [&str; 2], spelling: usize) -> String {
    let [cos, sin] = tables;
    let (first, second) = match spelling % 3 {
        0 => {
            let (zero, half, end) = (
                b.integers(&[0]),
                b.integers(&[size / 2]),
                b.integers(&[i64::MAX]),
            );
            let axis = b.integers(&[-1]);
            let first = b.op("Slice", &[x, &zero, &half, &axis]);
            (first, b.op("Slice", &[x, &half, &end, &axis]))
        }
        1 => {
            let (zero, half, end) = (
                b.integers(&[0]),
                b.integers(&[-size / 2]),
                b.integers(&[size]),
            );
            let (axis, one) = (b.integers(&[3]), b.integers(&[1]));
            let first = b.op("Slice", &[x, &zero, &half, &axis, &one]);
            (first, b.op("Slice", &[x, &half, &end, &axis, &one]))
        }
        _ => {
            let names = ["first", "second"].map(|name| format!("{x}_{name}"));
            let sizes = b.integers(&[size / 2, size / 2]);
            let mut split = with(node("Split", &[x, &sizes], &[]), &[int("axis", -1)]);
            split.output = names.iter().map(|name| name.as_str().into()).collect();
            b.nodes.push(split);
            let [first, second] = names;
            (first, second)
        }
    };
    let negated = b.op("Neg", &[&second]);
    let turned = b.op_with("Concat", &[&negated, &first], &[int("axis", -1)]);
    let turned = b.op("Mul", &[&turned, sin]);
    if spelling < 3 {
        let straight = b.op("Mul", &[x, cos]);
        b.op("Add", &[&straight, &turned])
    } else {
        let straight = b.op("Mul", &[cos, x]);
        b.op("Add", &[&turned, &straight])
    }
}

#[test]
fn rotary_embeddings_are_recognised() {
    for spelling in 0..6 {
        for dims in [&[1, 1, 5, 8][..], &[5, 8], &[2, 1, 5, 8], &[8]] {
            let mut b = Builder::new(250);
            let x = b.input("x", &[2, 3, 5, 8]);
            let (cos, sin) = (b.weight(dims), b.input("sin", dims));
            let y = rotary(&mut b, &x, 8, [&cos, &sin], spelling);
            assert_eq!(
                b.check(&[&y]),
                ["rotary-from-pieces"],
                "spelling {spelling}, {dims:?}"
            );
        }
    }
}

#[test]
fn other_rotations_stay() {
    // The tables have one column, the halves are exchanged, or another tensor is turned.
    let mut b = Builder::new(251);
    let x = b.input("x", &[2, 3, 5, 8]);
    let (cos, sin) = (b.weight(&[5, 1]), b.weight(&[5, 1]));
    let y = rotary(&mut b, &x, 8, [&cos, &sin], 0);
    assert_eq!(b.check(&[&y]), [""; 0]);

    let mut b = Builder::new(252);
    let (x, z) = (b.input("x", &[2, 3, 5, 8]), b.input("z", &[2, 3, 5, 8]));
    let (cos, sin) = (b.weight(&[5, 8]), b.weight(&[5, 8]));
    let turned = rotary(&mut b, &x, 8, [&cos, &sin], 0);
    let product = b
        .nodes
        .iter()
        .position(|node| node.input[0] == x.as_str() && node.input[1] == cos.as_str());
    b.nodes[product.unwrap()].input[0] = z.as_str().into();
    assert_eq!(b.check(&[&turned]), [""; 0]);

    let mut b = Builder::new(253);
    let x = b.input("x", &[2, 3, 5, 8]);
    let (cos, sin) = (b.weight(&[5, 8]), b.weight(&[5, 8]));
    let y = rotary(&mut b, &x, 8, [&cos, &sin], 2);
    let split = b.nodes.iter_mut().find(|node| node.output.len() == 2);
    split.unwrap().output.swap(0, 1);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

#[test]
fn scores_that_are_an_output_stay() {
    let mut b = Builder::new(82);
    let (q, k) = (b.input("q", &[1, 2, 5, 4]), b.input("k", &[1, 2, 5, 4]));
    let k = b.op_with("Transpose", &[&k], &[ints("perm", &[0, 1, 3, 2])]);
    let v = b.input("v", &[1, 2, 5, 4]);
    let scores = b.op("MatMul", &[&q, &k]);
    let weights = b.op_with("Softmax", &[&scores], &[int("axis", -1)]);
    let y = b.op("MatMul", &[&weights, &v]);
    assert_eq!(b.check(&[&y, &weights]), ["transpose-into-product"]);
    assert_eq!(
        b.check(&[&y]),
        ["attention-from-pieces", "transpose-into-product"]
    );
}

#[test]
fn ops_that_do_nothing_go() {
    let mut b = Builder::new(90);
    let x = b.input("x", &[2, 3]);
    let (one, zero) = (b.number(1.0), b.number(0.0));
    let y = b.op("Mul", &[&one, &x]);
    let y = b.op("Add", &[&y, &zero]);
    let y = b.op("Sub", &[&y, &zero]);
    let y = b.op("Div", &[&y, &one]);
    let y = b.op("Relu", &[&y]);
    assert_eq!(
        b.check(&[&y]),
        [
            "drop-difference-from-zero",
            "drop-product-with-one",
            "drop-quotient-by-one",
            "drop-sum-with-zero"
        ]
    );

    // What changes the shape stays.
    let mut b = Builder::new(91);
    let x = b.input("x", &[2, 3]);
    let one = b.given(&[1, 1, 1], &[1.0]);
    let y = b.op("Mul", &[&one, &x]);
    assert_eq!(b.check(&[&y]), [""; 0]);
}

#[test]
fn powers_are_products_and_roots() {
    let mut b = Builder::new(92);
    let x = b.input("x", &[2, 3]);
    let (two, half) = (b.number(2.0), b.number(0.5));
    let square = b.op("Pow", &[&x, &two]);
    let y = b.op("Pow", &[&square, &half]);
    assert_eq!(b.check(&[&y]), ["power-to-product"]);
}

#[test]
fn transposes_join_and_move_into_products() {
    let mut b = Builder::new(93);
    let x = b.input("x", &[2, 3, 4]);
    let y = b.op_with("Transpose", &[&x], &[ints("perm", &[1, 2, 0])]);
    let y = b.op_with("Transpose", &[&y], &[ints("perm", &[2, 0, 1])]);
    let y = b.op("Abs", &[&y]);
    assert_eq!(b.check(&[&y]), ["join-transposes"]);

    for side in 0..2 {
        let mut b = Builder::new(94);
        let x = b.input("x", &[2, 3, 4]);
        let z = b.input("z", &[2, 3, 4]);
        let turned = b.op_with("Transpose", &[&x], &[ints("perm", &[0, 2, 1])]);
        let operands: [&str; 2] = if side == 0 {
            [&turned, &z]
        } else {
            [&z, &turned]
        };
        let y = b.op("MatMul", &operands);
        assert_eq!(b.check(&[&y]), ["transpose-into-product"]);
    }
}

#[test]
fn reshapes_join_if_the_first_cannot_fail() {
    let mut b = Builder::new(95);
    let x = b.input("x", &[2, 3, 4]);
    let (first, second) = (b.integers(&[6, -1]), b.integers(&[4, 6]));
    let y = b.op("Reshape", &[&x, &first]);
    let y = b.op("Reshape", &[&y, &second]);
    assert_eq!(b.check(&[&y]), ["join-reshapes"]);
}

#[test]
fn padding_joins_convolutions_and_means() {
    let mut b = Builder::new(96);
    let x = b.input("x", &[1, 2, 5, 4]);
    let pads = b.integers(&[0, 0, 1, 2, 0, 0, 0, 1]);
    let w = b.weight(&[3, 2, 3, 3]);
    let y = b.op("Pad", &[&x, &pads]);
    let y = b.op_with("Conv", &[&y, &w], &[ints("pads", &[0, 1, 0, 0])]);
    assert_eq!(
        b.check(&[&y]),
        ["channels-last-convolution", "pad-into-window"]
    );

    let mut b = Builder::new(97);
    let x = b.input("x", &[1, 2, 5, 4]);
    let pads = b.integers(&[0, 0, 1, 1, 0, 0, 1, 1]);
    let y = b.op("Pad", &[&x, &pads]);
    let y = b.op_with("AveragePool", &[&y], &[ints("kernel_shape", &[3, 3])]);
    assert_eq!(b.check(&[&y]), ["pad-into-window"]);
}

#[test]
fn equal_ops_are_computed_once() {
    let mut b = Builder::new(98);
    let x = b.input("x", &[2, 3]);
    let (two, other_two) = (b.number(3.0), b.number(3.0));
    let first = b.op("Mul", &[&x, &two]);
    let second = b.op("Mul", &[&x, &other_two]);
    let y = b.op("Sub", &[&first, &second]);
    assert_eq!(b.check(&[&y]), ["join-equal-ops"]);
}

#[test]
fn regions_of_convolutions_have_channels_last() {
    let mut b = Builder::new(100);
    let x = b.input("x", &[1, 3, 12, 12]);
    let conv = |b: &mut Builder, x: &str, channels: [usize; 2], size: usize| {
        let w = b.weight(&[channels[1], channels[0], size, size]);
        let pad = (size / 2) as i64;
        b.op_with("Conv", &[x, &w], &[ints("pads", &[pad; 4])])
    };
    let y = conv(&mut b, &x, [3, 8], 3);
    let y = b.op("Relu", &[&y]);
    let pool = [
        ints("kernel_shape", &[3, 3]),
        ints("strides", &[2, 2]),
        int("ceil_mode", 1),
    ];
    let y = b.op_with("MaxPool", &[&y], &pool);
    let left = conv(&mut b, &y, [8, 4], 1);
    let right = conv(&mut b, &y, [8, 4], 3);
    let y = b.op_with("Concat", &[&left, &right], &[int("axis", 1)]);
    let scale = b.weight(&[8, 1, 1]);
    let y = b.op("Mul", &[&y, &scale]);
    let y = conv(&mut b, &y, [8, 8], 3);
    let pool = [ints("kernel_shape", &[2, 2]), ints("pads", &[1, 0, 0, 1])];
    let y = b.op_with("AveragePool", &[&y], &pool);
    let y = b.op("GlobalAveragePool", &[&y]);
    let rules = b.check(&[&y]);
    for rule in [
        "channels-last-concatenation",
        "channels-last-convolution",
        "channels-last-pairs",
        "channels-last-transposes",
        "channels-last-window",
    ] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    // Only the input and the output are moved.
    let mut program = b.program(&[&y]);
    program.rewrite(&RewriteRules::default());
    assert_eq!(
        program.text.matches("nn.Transpose").count(),
        2,
        "{}",
        program.text
    );
}

#[test]
fn rules_that_are_switched_off_do_not_apply() {
    let mut b = Builder::new(101);
    let x = b.input("x", &[1, 3, 4, 4]);
    let w = b.weight(&[2, 3, 1, 1]);
    let y = b.op("Conv", &[&x, &w]);
    let y = b.op("Relu", &[&y]);
    let program = b.program(&[&y]);
    let count = |rules: &RewriteRules| {
        let mut program = program.clone();
        let applied = program.rewrite(rules);
        (applied.len(), program.num_ops)
    };
    assert_eq!(count(&RewriteRules::none()), (0, 2));
    let layouts = RewriteRules::default();
    assert_eq!(count(&layouts), (2, 3));
    let without = RewriteRules::without(["fuse-activation", "channels-last-convolution"]).unwrap();
    assert_eq!(count(&without), (0, 2));
}
