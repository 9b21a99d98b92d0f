//! Biases, summands and activations in convolutions and products.

use super::*;

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
    // Nothing says that the shapes differ.
    b.symbolic(&[2]);
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
