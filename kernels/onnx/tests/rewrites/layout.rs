//! Regions with channels last.

use super::*;

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
