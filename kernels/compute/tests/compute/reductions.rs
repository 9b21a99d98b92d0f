//! Reductions, softmax, normalisation.

use tfrt_compute::normalization::{BatchNorm, BatchNormGradients, batch_norm_gradients};
use tfrt_compute::reduction::{Axes, Reduction, argmax};
use tfrt_compute::softmax;

use crate::support::{Random, assert_within, indices, place, wide};

/// What a reduction is by definition, in double precision.
fn by_definition(
    shape: &[usize],
    axes: &[usize],
    input: &[f64],
    start: f64,
    combine: impl Fn(f64, f64) -> f64,
) -> Vec<f64> {
    let kept: Vec<usize> = (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| shape[axis])
        .collect();
    let mut output = vec![start; kept.iter().product()];
    for (index, &x) in indices(shape).iter().zip(input) {
        let target: Vec<usize> = (0..shape.len())
            .filter(|axis| !axes.contains(axis))
            .map(|axis| index[axis])
            .collect();
        let target = place(&kept, &target);
        output[target] = combine(output[target], x);
    }
    output
}

#[test]
fn reductions_agree_with_their_definition() {
    let mut random = Random::new(3);
    for _ in 0..500 {
        let shape = random.shape(5, 7);
        let axes: Vec<usize> = (0..shape.len()).filter(|_| random.chance(2)).collect();
        // Half of them counted from the end.
        let signed: Vec<isize> = axes
            .iter()
            .map(|&axis| {
                if random.chance(2) {
                    axis as isize
                } else {
                    axis as isize - shape.len() as isize
                }
            })
            .collect();
        let plan = Axes::new(&shape, &signed).expect("axes of the shape");
        let input = random.f32s(shape.iter().product());
        let input64 = wide(&input);
        let context = format!("{shape:?} along {axes:?}");
        assert_eq!(
            plan.output_shape(false).iter().product::<usize>(),
            plan.output_len(),
            "{context}"
        );
        let mut output = vec![f32::NAN; plan.output_len()];
        let count = plan.count() as f64;
        let sums = by_definition(&shape, &axes, &input64, 0.0, |a, b| a + b);
        let size = by_definition(&shape, &axes, &input64, 0.0, |a, b| a + b.abs());

        plan.reduce(Reduction::Sum, &input, &mut output)
            .expect("lengths of the shape");
        let bounds: Vec<f64> = size
            .iter()
            .map(|size| size * count * f64::from(f32::EPSILON))
            .collect();
        assert_within(&context, &wide(&output), &sums, &bounds);

        plan.reduce(Reduction::Mean, &input, &mut output)
            .expect("lengths of the shape");
        if count > 0.0 {
            let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
            let bounds: Vec<f64> = size
                .iter()
                .map(|size| size * 2.0 * f64::from(f32::EPSILON))
                .collect();
            assert_within(&context, &wide(&output), &means, &bounds);
        } else {
            assert!(output.iter().all(|mean| mean.is_nan()), "{context}");
        }

        plan.reduce(Reduction::Max, &input, &mut output)
            .expect("lengths of the shape");
        assert_eq!(
            wide(&output),
            by_definition(&shape, &axes, &input64, f64::NEG_INFINITY, f64::max),
            "{context}"
        );
        plan.reduce(Reduction::Min, &input, &mut output)
            .expect("lengths of the shape");
        assert_eq!(
            wide(&output),
            by_definition(&shape, &axes, &input64, f64::INFINITY, f64::min),
            "{context}"
        );

        let integers: Vec<i64> = input.iter().map(|x| (x * 8.0) as i64).collect();
        let numbers: Vec<f64> = integers.iter().map(|&x| x as f64).collect();
        let mut product = vec![0_i64; plan.output_len()];
        plan.reduce(Reduction::Sum, &integers, &mut product)
            .expect("lengths of the shape");
        let expected = by_definition(&shape, &axes, &numbers, 0.0, |a, b| a + b);
        assert_eq!(
            product.iter().map(|&x| x as f64).collect::<Vec<_>>(),
            expected,
            "{context}"
        );
        plan.reduce(Reduction::Product, &integers[..], &mut product)
            .expect("lengths of the shape");
        if count == 0.0 {
            assert!(product.iter().all(|&product| product == 1), "{context}");
        }
    }
}

#[test]
fn long_sums_lose_no_more_than_their_blocks() {
    let len = 1 << 20;
    let ones = vec![0.1_f32; len];
    let mut output = [0.0];
    Axes::new(&[len], &[0])
        .expect("one axis")
        .reduce(Reduction::Sum, &ones, &mut output)
        .expect("lengths");
    let exact = f64::from(0.1_f32) * len as f64;
    let bound = (len / (32 * 128) + 128 + 32) as f64 * f64::from(f32::EPSILON) * exact;
    assert_within("a row", &wide(&output), &[exact], &[bound]);
    let mut columns = [0.0; 2];
    let matrix = Axes::new(&[len / 2, 2], &[0]).expect("one axis");
    matrix
        .reduce(Reduction::Mean, &ones, &mut columns)
        .expect("lengths");
    let bound = (len / 2 / 128 + 128) as f64 * f64::from(f32::EPSILON) * 0.1;
    assert_within(
        "columns",
        &wide(&columns),
        &[f64::from(0.1_f32); 2],
        &[bound; 2],
    );
}

#[test]
fn axes_are_checked() {
    assert_eq!(
        Axes::new(&[2, 3], &[2]).unwrap_err().to_string(),
        "reduction: expected an axis within -2..2, found 2"
    );
    assert_eq!(
        Axes::new(&[2, 3], &[1, -1]).unwrap_err().to_string(),
        "reduction: axis -1 is given twice in [1, -1]"
    );
    assert!(Axes::new(&[], &[0]).is_err());
    assert!(Axes::new(&[], &[-1]).is_err());
}

#[test]
fn integer_means_round_towards_zero() {
    let mut output = [0];
    Axes::new(&[2], &[0])
        .expect("one axis")
        .reduce(Reduction::Mean, &[-3, 0], &mut output)
        .expect("lengths");
    assert_eq!(output, [-1]);
    let mut empty = [7];
    Axes::new(&[0], &[0])
        .expect("one axis")
        .reduce(Reduction::Mean, &[], &mut empty)
        .expect("lengths");
    assert_eq!(empty, [0], "an empty integer mean is 0 / 0, which is 0");
}

#[test]
fn argmax_finds_the_first_of_equals_along_any_axis() {
    let input = [
        1.0_f32,
        9.0,
        9.0,
        f32::NAN,
        2.0,
        1.0,
        f32::NEG_INFINITY,
        f32::NEG_INFINITY,
    ];
    let mut rows = [9_i64; 2];
    argmax(&[2, 4], 1, &input, &mut rows).expect("lengths");
    assert_eq!(rows, [1, 0]);
    let mut columns = [9_i32; 4];
    argmax(&[2, 4], 0, &input, &mut columns).expect("lengths");
    assert_eq!(columns, [1, 0, 0, 0]);
    assert!(argmax::<f32, i32>(&[1, 0], 1, &[], &mut [0]).is_err());
    argmax::<f32, i32>(&[0, 0], 1, &[], &mut []).expect("no result to find");
}

#[test]
fn softmax_agrees_with_double_precision() {
    let mut random = Random::new(4);
    for row_len in [1, 2, 7, 31, 32, 33, 100, 1000] {
        let logits: Vec<f32> = random.f32s(3 * row_len).iter().map(|x| x * 30.0).collect();
        let (mut output, mut logarithms) = (vec![0.0; logits.len()], vec![0.0; logits.len()]);
        softmax::softmax(row_len, &logits, &mut output).expect("rows");
        softmax::log_softmax(row_len, &logits, &mut logarithms).expect("rows");
        for ((logits, output), logarithms) in logits
            .chunks(row_len)
            .zip(output.chunks(row_len))
            .zip(logarithms.chunks(row_len))
        {
            let powers: Vec<f64> = logits.iter().map(|&x| f64::from(x).exp()).collect();
            let total: f64 = powers.iter().sum();
            let expected: Vec<f64> = powers.iter().map(|power| power / total).collect();
            let epsilon = f64::from(f32::EPSILON);
            let least = f64::from(f32::MIN_POSITIVE);
            // An error of the argument, up to 60 · ε / 2, is a relative one of the result.
            let bounds: Vec<f64> = expected
                .iter()
                .map(|x| x * (48.0 + row_len as f64 / 32.0) * epsilon + least)
                .collect();
            assert_within("softmax", &wide(output), &expected, &bounds);
            let expected: Vec<f64> = logits.iter().map(|&x| f64::from(x) - total.ln()).collect();
            assert_within(
                "log softmax",
                &wide(logarithms),
                &expected,
                &vec![16.0 * epsilon * 31.0; row_len],
            );
        }
    }
}

#[test]
fn softmax_of_strange_rows() {
    let mut output = [0.0_f32; 4];
    softmax::softmax(2, &[f32::NEG_INFINITY, 0.0, f32::NAN, 1.0], &mut output).expect("rows");
    assert_eq!(&output[..2], [0.0, 1.0]);
    assert!(output[2].is_nan() && output[3].is_nan());
    softmax::softmax::<f32>(0, &[], &mut []).expect("no row");
    assert!(softmax::softmax::<f32>(0, &[1.0], &mut [0.0]).is_err());
    assert!(softmax::softmax::<f32>(2, &[1.0; 3], &mut [0.0; 3]).is_err());
    let mut tensor = [0.0_f64; 4];
    softmax::unstabilised_softmax_in_place(&mut tensor);
    assert_eq!(tensor, [0.25; 4]);
    let mut large = [1000.0_f32, 0.0];
    softmax::unstabilised_softmax_in_place(&mut large);
    assert!(
        large[0].is_nan() && large[1] == 0.0,
        "it does not subtract the maximum"
    );
}

#[test]
fn cross_entropy_gradient_is_the_slope_of_the_loss() {
    let mut random = Random::new(5);
    let (rows, row_len) = (3, 5);
    let logits = random.f64s(rows * row_len);
    let labels: Vec<f64> = random
        .f64s(rows * row_len)
        .iter()
        .map(|x| x.abs())
        .collect();
    let losses = |logits: &[f64]| {
        let (mut loss, mut gradient) = (vec![0.0; rows], vec![0.0; logits.len()]);
        softmax::softmax_cross_entropy(row_len, logits, &labels, &mut loss, &mut gradient)
            .expect("rows");
        (loss, gradient)
    };
    let (loss, gradient) = losses(&logits);
    let mut logarithms = vec![0.0; logits.len()];
    softmax::log_softmax(row_len, &logits, &mut logarithms).expect("rows");
    for row in 0..rows {
        let expected: f64 = (0..row_len)
            .map(|column| -labels[row * row_len + column] * logarithms[row * row_len + column])
            .sum();
        assert!(
            (loss[row] - expected).abs() < 1e-13,
            "the loss of row {row}"
        );
    }
    for place in 0..logits.len() {
        let step = 1e-6;
        let (mut above, mut below) = (logits.clone(), logits.clone());
        above[place] += step;
        below[place] -= step;
        let slope =
            (losses(&above).0[place / row_len] - losses(&below).0[place / row_len]) / (2.0 * step);
        assert!(
            (gradient[place] - slope).abs() < 1e-8,
            "element {place}: {} against {slope}",
            gradient[place]
        );
    }
}

#[test]
fn batch_norm_agrees_with_its_definition() {
    let mut random = Random::new(6);
    for (rows, channels) in [(0, 3), (1, 1), (5, 3), (7, 64), (3, 300), (200, 17)] {
        let input = random.f32s(rows * channels);
        let [scale, offset, mean] = [0; 3].map(|_| random.f32s(channels));
        let variance: Vec<f32> = random
            .f32s(channels)
            .iter()
            .map(|x| x.abs() + 0.1)
            .collect();
        let norm = BatchNorm {
            scale: &scale,
            offset: &offset,
            mean: &mean,
            variance: &variance,
            epsilon: 1e-3,
        };
        let mut output = vec![0.0; input.len()];
        norm.apply(&input, &mut output).expect("rows of channels");
        let mut in_place = input.clone();
        norm.apply_in_place(&mut in_place)
            .expect("rows of channels");
        assert_eq!(output, in_place);
        let expected: Vec<f64> = input
            .iter()
            .enumerate()
            .map(|(place, &x)| {
                let c = place % channels;
                let root = (f64::from(variance[c]) + f64::from(1e-3_f32)).sqrt();
                (f64::from(x) - f64::from(mean[c])) / root * f64::from(scale[c])
                    + f64::from(offset[c])
            })
            .collect();
        // Inputs, scale and offset are below 1, one over the root below 3.2.
        assert_within(
            "batch norm",
            &wide(&output),
            &expected,
            &vec![64.0 * f64::from(f32::EPSILON); input.len()],
        );

        let (mut factor, mut shift) = (vec![0.0; channels], vec![0.0; channels]);
        norm.fold(&mut factor, &mut shift).expect("channels");
        let folded: Vec<f64> = input
            .iter()
            .enumerate()
            .map(|(place, &x)| {
                f64::from(x) * f64::from(factor[place % channels])
                    + f64::from(shift[place % channels])
            })
            .collect();
        assert_within(
            "folded",
            &folded,
            &expected,
            &vec![64.0 * f64::from(f32::EPSILON); input.len()],
        );
    }
}

#[test]
fn batch_norm_gradients_agree_with_their_definition() {
    let mut random = Random::new(7);
    for (rows, channels) in [(1, 1), (5, 3), (300, 5), (2, 300)] {
        let (input, dy) = (random.f64s(rows * channels), random.f64s(rows * channels));
        let [scale, offset, mean] = [0; 3].map(|_| random.f64s(channels));
        let variance: Vec<f64> = random
            .f64s(channels)
            .iter()
            .map(|x| x.abs() + 0.1)
            .collect();
        let norm = BatchNorm {
            scale: &scale,
            offset: &offset,
            mean: &mean,
            variance: &variance,
            epsilon: 0.01,
        };
        let (mut dx, mut gamma, mut beta) = (
            vec![0.0; input.len()],
            vec![0.0; channels],
            vec![0.0; channels],
        );
        let gradients = BatchNormGradients {
            input: &mut dx,
            gamma: &mut gamma,
            beta: &mut beta,
        };
        batch_norm_gradients(&norm, &dy, &input, gradients).expect("rows of channels");
        for channel in 0..channels {
            let r = 1.0 / (variance[channel] + 0.01).sqrt();
            let column = |values: &[f64]| -> Vec<f64> {
                values
                    .iter()
                    .skip(channel)
                    .step_by(channels)
                    .copied()
                    .collect()
            };
            let (dy, x, dx) = (column(&dy), column(&input), column(&dx));
            let centred: Vec<f64> = x.iter().map(|x| x - mean[channel]).collect();
            let products: f64 = dy.iter().zip(&centred).map(|(dy, xc)| dy * xc).sum();
            let sum: f64 = dy.iter().sum();
            assert!((gamma[channel] - products * r).abs() < 1e-11, "gamma");
            assert!((beta[channel] - sum).abs() < 1e-11, "beta");
            let n = rows as f64;
            let expected: Vec<f64> = dy
                .iter()
                .zip(&centred)
                .map(|(dy, xc)| scale[channel] * r * (dy - sum / n - xc * r * r * products / n))
                .collect();
            assert_within("input", &dx, &expected, &vec![1e-11; rows]);
        }
    }
}
