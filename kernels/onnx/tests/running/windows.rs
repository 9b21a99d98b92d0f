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

/// Numbers that look random, below a limit.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((self.0 >> 33) % limit) as usize
    }

    /// Whole numbers, whose products have exact sums.
    fn elements(&mut self, dims: &[usize]) -> Vec<f32> {
        let len = dims.iter().product();
        (0..len).map(|_| self.below(9) as f32 - 4.0).collect()
    }
}

/// Checks that a convolution of single precision has the result of its definition, which double
/// precision has.
fn check_conv(x: &[usize], w: &[usize], attributes: &[AttributeProto], numbers: &mut Numbers) {
    let (x, w, b) = (
        (x, numbers.elements(x)),
        (w, numbers.elements(w)),
        ([w[0]], numbers.elements(&w[..1])),
    );
    let conv = with(node("Conv", &["x", "w", "b"], &["y"]), attributes);
    let single = [
        ("x", tensor(x.0, &x.1)),
        ("w", tensor(w.0, &w.1)),
        ("b", tensor(&b.0, &b.1)),
    ];
    let wide = |elements: &[f32]| -> Vec<f64> { elements.iter().map(|&x| x.into()).collect() };
    let double = [
        ("x", tensor(x.0, &wide(&x.1))),
        ("w", tensor(w.0, &wide(&w.1))),
        ("b", tensor(&b.0, &wide(&b.1))),
    ];
    let [single, double] = [single, double].map(|inputs| run(conv.clone(), &inputs));
    let expected = double.map(|texts| texts[0].replacen("f64", "f32", 1));
    let found = single.map(|texts| texts[0].clone());
    assert_eq!(found, expected, "{:?} {:?} {attributes:?}", x.0, w.0);
}

#[test]
fn convolutions_in_groups_and_of_volumes_have_the_results_of_their_definition() {
    let mut numbers = Numbers(1);
    for round in 0..150 {
        let rank = 1 + round % 3;
        let most = [40_u64, 12, 6][rank - 1];
        let group = 1 + numbers.below(4);
        let (in_group, out_group) = (1 + numbers.below(3), 1 + numbers.below(20));
        let mut each = |least: usize, count: u64| -> Vec<usize> {
            (0..rank).map(|_| least + numbers.below(count)).collect()
        };
        let (sizes, strides, dilations) = (each(1, 4), each(1, 3), each(1, 3));
        let pads = [each(0, 4), each(0, 4)].concat();
        let covered = sizes
            .iter()
            .zip(&dilations)
            .map(|(size, dilation)| (size - 1) * dilation);
        let room: Vec<usize> = covered
            .map(|covered| covered + 1 + most as usize / 4)
            .collect();
        let spatial: Vec<usize> = room.iter().map(|room| room + numbers.below(most)).collect();
        let x = [&[1 + numbers.below(2), group * in_group], &spatial[..]].concat();
        let w = [&[group * out_group, in_group], &sizes[..]].concat();
        let numbers_of =
            |given: &[usize]| -> Vec<i64> { given.iter().map(|&number| number as i64).collect() };
        let attributes = [
            int("group", group as i64),
            ints("strides", &numbers_of(&strides)),
            ints("dilations", &numbers_of(&dilations)),
            ints("pads", &numbers_of(&pads)),
        ];
        check_conv(&x, &w, &attributes, &mut numbers);
    }
}

#[test]
fn long_convolutions_are_computed_in_tiles() {
    let mut numbers = Numbers(2);
    for (x, w, group, pad) in [
        ([1, 16, 200], [32, 8, 140], 2, 70),
        ([2, 12, 301], [36, 6, 128], 2, 64),
        ([1, 4, 5000], [8, 2, 3], 2, 1),
        ([1, 10, 333], [70, 10, 60], 1, 0),
        // Filters of a group in several parts.
        ([1, 3, 50], [64, 3, 5], 1, 2),
        ([2, 2, 30], [96, 2, 3], 1, 0),
        ([1, 4, 40], [80, 2, 3], 2, 1),
        ([1, 5, 100], [640, 5, 1], 1, 0),
        ([1, 6, 100], [90, 2, 1], 3, 0),
    ] {
        let attributes = [int("group", group), ints("pads", &[pad, pad])];
        check_conv(&x, &w, &attributes, &mut numbers);
    }
}

#[test]
fn pooling_of_planes_has_the_results_of_its_definition() {
    let mut numbers = Numbers(3);
    for round in 0..120 {
        let rank = 1 + round % 3;
        let most = [40_u64, 10, 6][rank - 1];
        let mut each = |least: usize, count: u64| -> Vec<usize> {
            (0..rank).map(|_| least + numbers.below(count)).collect()
        };
        let (sizes, strides) = (each(1, 4), each(1, 3));
        // Less than a window, so that each has an element, but some taps may have none.
        let spatial: Vec<usize> = each(1, most);
        let before: Vec<usize> = sizes
            .iter()
            .map(|&size| numbers.below(size as u64))
            .collect();
        // At least one window.
        let least = |axis: usize| sizes[axis].saturating_sub(spatial[axis] + before[axis]);
        let after: Vec<usize> = (0..rank)
            .map(|axis| least(axis).max(numbers.below(sizes[axis] as u64)))
            .collect();
        let planes = [1 + numbers.below(2), 1 + numbers.below(3)];
        let dims = [&planes[..], &spatial].concat();
        let mut elements = numbers.elements(&dims);
        if round % 4 == 0 {
            elements[0] = f32::NAN;
        }
        let outputs: Vec<usize> = (0..rank)
            .map(|axis| {
                (spatial[axis] + before[axis] + after[axis] - sizes[axis]) / strides[axis] + 1
            })
            .collect();
        let result = [&planes[..], &outputs].concat();
        let (mut greatest, mut at, mut means) = (Vec::new(), Vec::new(), Vec::new());
        for place in 0..result.iter().product() {
            let index = place_in(place, &result);
            let mut inside: Vec<(f32, usize)> = Vec::new();
            for tap in 0..sizes.iter().product() {
                let tap = place_in(tap, &sizes);
                let source = (0..rank).map(|axis| {
                    let along = index[2 + axis] * strides[axis] + tap[axis];
                    along
                        .checked_sub(before[axis])
                        .filter(|&along| along < spatial[axis])
                });
                let Some(source) = source.collect::<Option<Vec<usize>>>() else {
                    continue;
                };
                let source = [&index[..2], &source].concat();
                let source = source
                    .iter()
                    .zip(&dims)
                    .fold(0, |at, (along, extent)| at * extent + along);
                inside.push((elements[source], source));
            }
            let mut best = inside[0];
            for &(x, source) in &inside {
                if x > best.0 || (x.is_nan() && !best.0.is_nan()) {
                    best = (x, source);
                }
            }
            greatest.push(f64::from(best.0));
            at.push(best.1 as f64);
            let sum: f64 = inside.iter().map(|&(x, _)| f64::from(x)).sum();
            means.push(f64::from((sum / inside.len() as f64) as f32));
        }
        let numbers_of =
            |given: &[usize]| -> Vec<i64> { given.iter().map(|&number| number as i64).collect() };
        let attributes = [
            ints("kernel_shape", &numbers_of(&sizes)),
            ints("strides", &numbers_of(&strides)),
            ints("pads", &numbers_of(&[&before[..], &after].concat())),
        ];
        let text = |dtype: &str, numbers: &[f64]| format!("{dtype} {result:?} {numbers:?}");
        let x = || [("x", tensor(&dims, &elements))];
        let pool = |name: &str, outputs: &[&str]| with(node(name, &["x"], outputs), &attributes);
        check(pool("MaxPool", &["y"]), &x(), &[&text("f32", &greatest)]);
        let texts = [text("f32", &greatest), text("i64", &at)];
        check(pool("MaxPool", &["y", "i"]), &x(), &[&texts[0], &texts[1]]);
        check(pool("AveragePool", &["y"]), &x(), &[&text("f32", &means)]);
    }
}

/// Returns the coordinates of a place in row-major order.
fn place_in(mut place: usize, dims: &[usize]) -> Vec<usize> {
    let mut index: Vec<usize> = dims
        .iter()
        .rev()
        .map(|extent| {
            let along = place % extent;
            place /= extent;
            along
        })
        .collect();
    index.reverse();
    index
}

#[test]
fn long_windows_and_lines_are_pooled() {
    let elements: Vec<f32> = (0..9000).map(|at| (at % 4111) as f32).collect();
    let x = || [("x", tensor(&[1, 1, 9000], &elements))];
    for (size, stride) in [(3, 1), (1500, 1), (1500, 700), (2, 3)] {
        let places = (9000 - size) / stride + 1;
        let windows = (0..places).map(|place| &elements[place * stride..][..size]);
        let windows = windows.map(|window| window.iter().copied().map(f64::from));
        let (greatest, means): (Vec<f64>, Vec<f64>) = windows
            .map(|window| {
                let mean = window.clone().sum::<f64>() / size as f64;
                (window.fold(0.0, f64::max), f64::from(mean as f32))
            })
            .unzip();
        let attributes = [
            ints("kernel_shape", &[size as i64]),
            ints("strides", &[stride as i64]),
        ];
        let pool = |name: &str| with(node(name, &["x"], &["y"]), &attributes);
        let text = |numbers: &[f64]| format!("f32 [1, 1, {places}] {numbers:?}");
        check(pool("MaxPool"), &x(), &[&text(&greatest)]);
        check(pool("AveragePool"), &x(), &[&text(&means)]);
    }
}

#[test]
fn windows_of_padding_alone_have_the_least_element() {
    let x = tensor(&[1, 1, 2], &[3_i8, -5]);
    let pool = |attributes: &[AttributeProto]| {
        let all = [
            &[ints("kernel_shape", &[2]), ints("pads", &[2, 2])],
            attributes,
        ]
        .concat();
        with(node("MaxPool", &["x"], &["y"]), &all)
    };
    let dilated = pool(&[ints("dilations", &[2])]);
    check(
        dilated,
        &[("x", x.clone())],
        &["i8 [1, 1, 4] [3.0, -5.0, 3.0, -5.0]"],
    );
    let spread = pool(&[ints("strides", &[4])]);
    check(spread, &[("x", x)], &["i8 [1, 1, 2] [-128.0, -128.0]"]);
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
