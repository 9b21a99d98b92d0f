//! Regions with channels last.

use tfrt_onnx::proto::AttributeProto;

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

/// The rules that a transposed convolution of a sequence or image is rewritten by.
#[track_caller]
fn transposed(x: &[usize], w: &[usize], biased: bool, attrs: &[AttributeProto]) -> bool {
    let mut b = Builder::new(17);
    let x = b.input("x", x);
    b.symbolic(&[0]);
    let mut operands = vec![x, b.weight(w)];
    if biased {
        operands.push(b.weight(&[w[1]]));
    }
    let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
    let y = b.op_with("ConvTranspose", &operands, attrs);
    let y = b.op("Relu", &[&y]);
    let rules = b.check(&[&y]);
    rules.contains(&"channels-last-transposed-convolution")
}

#[test]
fn transposed_convolutions_have_channels_last() {
    for size in 1..5 {
        for stride in 1..4_i64 {
            for dilation in 1..3_i64 {
                let extent = (size as i64 - 1) * dilation + 1;
                for pads in [[0, 0], [extent / 2, extent / 3], [0, extent - 1]] {
                    for extra in [0, stride - 1] {
                        let biased = (size as i64 + stride + extra) % 2 == 0;
                        let attrs = |rank: usize| {
                            let all = |number: i64| vec![number; rank];
                            let pads = [vec![pads[0]; rank], vec![pads[1]; rank]].concat();
                            [
                                ints("strides", &all(stride)),
                                ints("dilations", &all(dilation)),
                                ints("output_padding", &all(extra)),
                                ints("pads", &pads),
                            ]
                        };
                        let w = [3, 5, size];
                        assert!(transposed(&[2, 3, 7], &w, biased, &attrs(1)));
                        let w = [6, 4, size, size];
                        assert!(transposed(&[1, 6, 5, 6], &w, biased, &attrs(2)));
                    }
                }
            }
        }
    }
    // Many pixels, and lines that are not a multiple of what a product takes.
    let strides = [ints("strides", &[2, 3])];
    assert!(transposed(&[2, 40, 13, 9], &[40, 33, 4, 3], true, &strides));
    assert!(transposed(&[1, 8, 1, 300], &[8, 17, 2, 5], true, &strides));
}

#[test]
fn the_sizes_of_transposed_convolutions_are_those_that_are_declared() {
    let x = [1, 4, 5, 5];
    for mode in ["SAME_UPPER", "SAME_LOWER"] {
        for (size, is_moved) in [(3, true), (2, true), (1, false)] {
            let attrs = [ints("strides", &[2, 2]), text("auto_pad", mode)];
            let w = [4, 3, size, size];
            assert_eq!(transposed(&x, &w, true, &attrs), is_moved, "{mode} {size}");
        }
    }
    let shape = [ints("strides", &[2, 2]), ints("output_shape", &[10, 11])];
    assert!(!transposed(&x, &[4, 3, 3, 3], true, &shape));
    // Groups, and volumes.
    assert!(!transposed(&x, &[4, 3, 3, 3], false, &[int("group", 2)]));
    assert!(!transposed(&[1, 2, 3, 3, 3], &[2, 3, 2, 2, 2], true, &[]));
}

#[test]
fn sequences_are_images_of_one_row() {
    let mut b = Builder::new(100);
    let x = b.input("x", &[2, 3, 40]);
    let conv = |b: &mut Builder, x: &str, channels: [usize; 2], size: usize, dilation: i64| {
        let w = b.weight(&[channels[1], channels[0], size]);
        let pad = (size as i64 - 1) * dilation;
        let attrs = [ints("pads", &[pad, 0]), ints("dilations", &[dilation])];
        b.op_with("Conv", &[x, &w], &attrs)
    };
    let y = conv(&mut b, &x, [3, 8], 3, 1);
    let first = b.op("Relu", &[&y]);
    let left = conv(&mut b, &first, [8, 4], 1, 1);
    let right = conv(&mut b, &first, [8, 4], 3, 4);
    let y = b.op_with("Concat", &[&left, &right], &[int("axis", -2)]);
    let scale = b.weight(&[8, 1]);
    let y = b.op("Mul", &[&y, &scale]);
    let y = b.op("Add", &[&y, &first]);
    let depthwise = b.weight(&[8, 1, 5]);
    let attrs = [int("group", 8), ints("strides", &[2])];
    let y = b.op_with("Conv", &[&y, &depthwise], &attrs);
    let up = b.weight(&[8, 2, 4]);
    let attrs = [ints("strides", &[2]), ints("pads", &[1, 1])];
    let y = b.op_with("ConvTranspose", &[&y, &up], &attrs);
    let rules = b.check(&[&y]);
    for rule in [
        "channels-last-concatenation",
        "channels-last-convolution",
        "channels-last-pairs",
        "channels-last-transposed-convolution",
        "channels-last-transposes",
    ] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    // Only the input and the output are moved.
    let mut program = b.program(&[&y]);
    program.rewrite(&RewriteRules::default());
    let num_transposes = program.text.matches("nn.Transpose").count();
    assert_eq!(num_transposes, 2, "{}", program.text);
}

/// What is a constant for each channel of images is one for each sequence of a batch.
#[test]
fn constants_of_images_are_not_those_of_sequences() {
    for dims in [
        &[4, 1, 1][..],
        &[4, 6, 1],
        &[1, 6, 1],
        &[6, 1],
        &[1, 1, 1],
        &[9],
    ] {
        let mut b = Builder::new(3);
        let x = b.input("x", &[4, 2, 9]);
        let w = b.weight(&[6, 2, 1]);
        let y = b.op("Conv", &[&x, &w]);
        let summand = b.weight(dims);
        let y = b.op("Mul", &[&y, &summand]);
        let rules = b.check(&[&y]);
        assert!(rules.contains(&"channels-last-convolution"), "{rules:?}");
    }
    // A sequence and images: the ranks differ.
    let mut b = Builder::new(3);
    let (x, z) = (b.input("x", &[2, 3, 9]), b.input("z", &[1, 3, 2, 9]));
    let (w, v) = (b.weight(&[2, 3, 1]), b.weight(&[2, 3, 1, 1]));
    let (y, z) = (b.op("Conv", &[&x, &w]), b.op("Conv", &[&z, &v]));
    let y = b.op("Mul", &[&y, &z]);
    assert!(b.check(&[&y]).contains(&"channels-last-convolution"));
}

#[test]
fn images_are_resized_and_padded_before_channels_move() {
    let numbers = |b: &mut Builder, values: &[f32]| b.given(&[values.len()], values);
    for rank in [3, 4] {
        let mut b = Builder::new(5);
        b.opset = 18;
        let x = b.input("x", &[&[2, 3, 6][..], &[8]].concat()[..rank]);
        let ones = vec![1; rank - 2];
        let conv = |b: &mut Builder, x: &str, channels: [usize; 2]| {
            let w = b.weight(&[&channels[..], &ones].concat());
            b.op("Conv", &[x, &w])
        };
        let y = conv(&mut b, &x, [5, 3]);
        let slope = b.weight(&[&[5][..], &ones].concat());
        let y = b.op("PRelu", &[&y, &slope]);
        let scales = [1.0, 1.0, 2.0, 1.5];
        let scales = numbers(&mut b, &scales[..rank]);
        let nearest = [text("mode", "nearest")];
        let y = b.op_with("Resize", &[&y, "", &scales], &nearest);
        let axes = [ints("axes", &[-1]), text("mode", "linear")];
        let sizes = b.integers(&[9]);
        let y = b.op_with("Resize", &[&y, "", "", &sizes], &axes);
        let pads: Vec<i64> = [0, 1, 2, 3, 0, 4, 5, 6][..]
            .chunks(4)
            .flat_map(|half| half[..rank].to_vec())
            .collect();
        let pads = b.integers(&pads);
        let y = b.op("Pad", &[&y, &pads]);
        let y = conv(&mut b, &y, [4, 10]);
        let rules = b.check(&[&y]);
        for rule in ["channels-last-sizes", "channels-last-slopes"] {
            assert!(rules.contains(&rule), "{rules:?}");
        }
        let mut program = b.program(&[&y]);
        program.rewrite(&RewriteRules::default());
        let num_transposes = program.text.matches("nn.Transpose").count();
        assert_eq!(num_transposes, 2, "{}", program.text);
    }
}

#[test]
fn norms_that_nothing_can_take_are_factors_and_summands() {
    let mut b = Builder::new(5);
    let x = b.input("x", &[1, 3, 6, 5]);
    let y = b.batch_norm(&x, 3);
    let y = b.op("Relu", &[&y]);
    let w = b.weight(&[8, 3, 3, 3]);
    let y = b.op("Conv", &[&y, &w]);
    let y = b.op("Concat", &[&y, &y]);
    b.nodes.last_mut().unwrap().attribute = vec![int("axis", 1)];
    let y = b.batch_norm(&y, 16);
    let y = b.op("Relu", &[&y]);
    let rules = b.check(&[&y]);
    for rule in ["batch-norm-as-scale", "channels-last-pairs"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    // One channel where the norm has several is an error of the norm.
    let mut b = Builder::new(5);
    let x = b.input("x", &[2, 1, 4]);
    let y = b.batch_norm(&x, 3);
    for error in b.check_failure(&[&y]) {
        assert!(!error.is_empty());
    }
}
