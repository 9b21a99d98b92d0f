//! Batch norms in the weights of convolutions and products.

use super::*;

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

    // Depthwise, and normalized twice.
    let mut b = Builder::new(7);
    let x = b.input("x", &[2, 4, 6, 5]);
    let w = b.weight(&[4, 1, 3, 2]);
    let y = b.op_with("Conv", &[&x, &w], &[int("group", 4)]);
    let y = b.batch_norm(&y, 4);
    let y = b.batch_norm(&y, 4);
    assert_eq!(
        b.check(&[&y]),
        ["channels-last-convolution", "fold-batch-norm"]
    );

    // More filters, and more weights of a filter, than are moved at a time.
    let mut b = Builder::new(8);
    let x = b.input("x", &[1, 5, 6, 6]);
    let w = b.weight(&[70, 5, 4, 4]);
    let y = b.op("Conv", &[&x, &w]);
    let y = b.batch_norm(&y, 70);
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
fn batch_norm_of_a_shared_convolution_leaves_its_weights() {
    let mut b = Builder::new(6);
    let x = b.input("x", &[1, 4, 6, 5]);
    let w = b.weight(&[4, 4, 1, 1]);
    let shared = b.op("Conv", &[&x, &w]);
    let y = b.batch_norm(&shared, 4);
    assert_eq!(
        b.check(&[&y, &shared]),
        [
            "batch-norm-as-scale",
            "channels-last-convolution",
            "channels-last-pairs",
            "fuse-element-wise",
        ]
    );
}
