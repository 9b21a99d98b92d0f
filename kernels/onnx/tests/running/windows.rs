//! Windows over images: convolutions and pooling.

use super::*;

#[test]
fn convolutions_pad_and_stride() {
    let x = tensor(
        &[1, 1, 3, 3],
        &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
    );
    let w = tensor(&[1, 1, 2, 2], &[1.0_f32; 4]);
    let conv = || node("Conv", &["w", "x"], &["y"]);
    let conv = |attributes: &[AttributeProto]| {
        let mut node = with(conv(), attributes);
        node.input.reverse();
        node
    };
    let inputs = [("w", w), ("x", x)];
    check(
        conv(&[]),
        &inputs,
        &["f32 [1, 1, 2, 2] [12.0, 16.0, 24.0, 28.0]"],
    );
    let padded = conv(&[ints("pads", &[1, 1, 0, 0]), ints("strides", &[2, 2])]);
    check(
        padded,
        &inputs,
        &["f32 [1, 1, 2, 2] [1.0, 5.0, 11.0, 28.0]"],
    );
}

#[test]
fn a_convolution_that_does_not_fit_says_why() {
    let inputs = [
        ("w", tensor(&[4, 64, 1, 1], &[0.0_f32; 256])),
        ("x", tensor(&[1, 3, 1, 1], &[0.0_f32; 3])),
    ];
    let error = run(node("Conv", &["x", "w"], &["y"]), &inputs).unwrap_err();
    assert_eq!(
        error,
        "`nn.Conv`: operand 1 `w` has 64 channels per group, but the input has 3 and `group` is 1"
    );
}

#[test]
fn pooling_rounds_up_only_to_windows_that_start_inside() {
    let x = tensor(&[1, 1, 1, 4], &[1.0_f32, 2.0, 3.0, 4.0]);
    let pool = with(
        node("MaxPool", &["x"], &["y"]),
        &[
            ints("kernel_shape", &[1, 1]),
            ints("strides", &[1, 3]),
            int("ceil_mode", 1),
        ],
    );
    check(pool, &[("x", x)], &["f32 [1, 1, 1, 2] [1.0, 4.0]"]);
}

#[test]
fn windows_in_padding_are_not_walked_through() {
    let x = tensor(&[1, 1, 1, 1], &[5.0_f32]);
    let far = (1_i64 << 31) - 1;
    let pool = with(
        node("MaxPool", &["x"], &["y"]),
        &[
            ints("kernel_shape", &[2 * far + 1, 2 * far + 1]),
            ints("pads", &[far; 4]),
        ],
    );
    check(pool, &[("x", x)], &["f32 [1, 1, 1, 1] [5.0]"]);
}

#[test]
fn means_count_padding_only_if_asked() {
    let x = || [("x", tensor(&[1, 1, 2], &[2.0_f32, 4.0]))];
    let pool = |attributes: &[AttributeProto]| {
        let all = [
            &[ints("kernel_shape", &[2]), ints("pads", &[1, 0])],
            attributes,
        ]
        .concat();
        with(node("AveragePool", &["x"], &["y"]), &all)
    };
    check(pool(&[]), &x(), &["f32 [1, 1, 2] [2.0, 3.0]"]);
    let counted = pool(&[int("count_include_pad", 1)]);
    check(counted, &x(), &["f32 [1, 1, 2] [1.0, 3.0]"]);
}
