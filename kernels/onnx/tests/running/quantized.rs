//! Ops on quantised numbers.

use super::*;

#[test]
fn quantised_numbers_round_halves_to_even_and_saturate() {
    let x = tensor(&[6], &[0.0_f32, 2.0, 3.0, 1000.0, -254.0, -1000.0]);
    let scale = tensor(&[], &[2.0_f32]);
    let zero = tensor(&[], &[128_u8]);
    let inputs = [("a", x), ("b", scale.clone()), ("c", zero.clone())];
    let quantize = node("QuantizeLinear", &["a", "b", "c"], &["y"]);
    check(
        quantize,
        &inputs,
        &["u8 [6] [128.0, 129.0, 130.0, 255.0, 1.0, 0.0]"],
    );
    let inputs = [
        ("a", tensor(&[4], &[0_u8, 3, 128, 255])),
        ("b", scale),
        ("c", zero),
    ];
    let back = node("DequantizeLinear", &["a", "b", "c"], &["y"]);
    check(back, &inputs, &["f32 [4] [-256.0, -250.0, 0.0, 254.0]"]);
}

#[test]
fn scales_are_those_of_an_axis_or_of_blocks() {
    let x = tensor(&[2, 3], &[2_u8, 4, 6, 8, 10, 12]);
    let inputs = [("a", x), ("b", tensor(&[2], &[0.5_f32, 2.0]))];
    let back = with(
        node("DequantizeLinear", &["a", "b"], &["y"]),
        &[int("axis", 0)],
    );
    check(
        back,
        &inputs,
        &["f32 [2, 3] [1.0, 2.0, 3.0, 16.0, 20.0, 24.0]"],
    );
    let x = tensor(&[1, 3], &[2_u8, 4, 6]);
    let inputs = [("a", x), ("b", tensor(&[1, 2], &[1.0_f32, 10.0]))];
    let blocks = with(
        node("DequantizeLinear", &["a", "b"], &["y"]),
        &[int("axis", 1), int("block_size", 2)],
    );
    let found = run_model(&newest(graph(&["a", "b"], vec![blocks], &["y"])), &inputs);
    assert_eq!(found.unwrap(), ["f32 [1, 3] [2.0, 4.0, 60.0]"]);
    let wrong = [
        ("a", tensor(&[2, 3], &[0_u8; 6])),
        ("b", tensor(&[2], &[1.0_f32; 2])),
    ];
    let error = run(node("DequantizeLinear", &["a", "b"], &["y"]), &wrong).unwrap_err();
    assert_eq!(
        error,
        "`nn.Dequantize`: scales of shape [2] are incompatible with a tensor of shape [2, 3] \
         along axis 1"
    );
}

#[test]
fn products_of_bytes_take_their_zero_points_off() {
    let inputs = [
        ("a", tensor(&[2, 2], &[11_u8, 7, 10, 6])),
        ("b", tensor(&[2, 1], &[1_u8, 4])),
        ("c", tensor(&[], &[12_u8])),
        ("d", tensor(&[], &[0_u8])),
    ];
    let product = node("MatMulInteger", &["a", "b", "c", "d"], &["y"]);
    check(product, &inputs, &["i32 [2, 1] [-21.0, -26.0]"]);
}

#[test]
fn the_range_of_dynamic_quantisation_contains_zero() {
    let x = tensor(&[3], &[1.0_f32, 2.0, 5.1]);
    let found = run(
        node("DynamicQuantizeLinear", &["a"], &["y", "s", "z"]),
        &[("a", x)],
    )
    .unwrap();
    assert_eq!(found[0], "u8 [3] [50.0, 100.0, 255.0]");
    assert_eq!(found[2], "u8 [] [0.0]");
}

#[test]
fn numbers_of_every_size_are_quantised_dynamically() {
    let many: Vec<f32> = (-500..500).map(|at| (at * at * at) as f32 * 1e-3).collect();
    let cases: [&[f32]; 6] = [
        &many,
        &[1.0, 2.0, f32::NAN, -3.0, 5.1],
        // The scale is 0, and so is the least number: there is no zero point.
        &[1e-44, 0.0, 2e-45],
        &[-1e-44, 1e-44],
        &[f32::INFINITY, 1.0, -2.0],
        &[f32::NEG_INFINITY, 1.0, f32::INFINITY],
    ];
    for numbers in cases {
        let least = numbers.iter().copied().fold(0.0, f32::min);
        let scale = (numbers.iter().copied().fold(0.0, f32::max) - least) / 255.0;
        let zero = (-least / scale).clamp(0.0, 255.0).round_ties_even();
        let expected = numbers.iter().map(|number| {
            let byte = ((number / scale).round_ties_even() + zero) as u8;
            f64::from(byte)
        });
        let expected: Vec<f64> = expected.collect();
        let found = run(
            node("DynamicQuantizeLinear", &["a"], &["y", "s", "z"]),
            &[("a", tensor(&[numbers.len()], numbers))],
        );
        let found = found.unwrap();
        assert_eq!(found[0], format!("u8 [{}] {expected:?}", numbers.len()));
        assert_eq!(found[2], format!("u8 [] [{:?}]", f64::from(zero as u8)));
    }
}

/// Returns the operands of a product of bytes by one, scaled by one half, with a zero point of 1.
fn halves(bytes: &[u8]) -> [(&'static str, DenseHostTensor); 8] {
    [
        ("a", tensor(&[bytes.len(), 1], bytes)),
        ("b", tensor(&[], &[1.0_f32])),
        ("c", tensor(&[], &[0_u8])),
        ("d", tensor(&[1, 1], &[1_i8])),
        ("e", tensor(&[], &[1.0_f32])),
        ("f", tensor(&[], &[0_i8])),
        ("g", tensor(&[], &[2.0_f32])),
        ("h", tensor(&[], &[1_u8])),
    ]
}

#[test]
fn halves_are_rounded_before_an_odd_zero_point_is_added() {
    let operands = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let expected = "u8 [6, 1] [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]";
    let product = node("QLinearMatMul", &operands, &["y"]);
    check(product, &halves(&[0, 1, 2, 3, 4, 5]), &[expected]);
    // A factor that is not a matrix takes the general way.
    let mut inputs = halves(&[0, 1, 2, 3, 4, 5]);
    inputs[3].1 = tensor(&[1, 1, 1], &[1_i8]);
    let product = node("QLinearMatMul", &operands, &["y"]);
    check(
        product,
        &inputs,
        &["u8 [1, 6, 1] [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]"],
    );
    let mut inputs = halves(&[0, 1, 2, 3, 4, 5]);
    inputs[0].1 = tensor(&[1, 1, 6, 1], &[0_u8, 1, 2, 3, 4, 5]);
    inputs[3].1 = tensor(&[1, 1, 1, 1], &[1_i8]);
    let convolution = node("QLinearConv", &operands, &["y"]);
    check(
        convolution,
        &inputs,
        &["u8 [1, 1, 6, 1] [1.0, 1.0, 2.0, 3.0, 3.0, 3.0]"],
    );
}

#[test]
fn sums_are_scaled_in_single_precision() {
    // 250 times the factor is 0.5 in single precision, and more in double precision.
    let (x_scale, w_scale, y_scale) = (0.01_f32, 0.18_f32, 0.9_f32);
    let factor = (x_scale * w_scale) / y_scale;
    let exact = f64::from(x_scale) * f64::from(w_scale) / f64::from(y_scale);
    let bytes: Vec<u8> = (0..=255).collect();
    let differs = |&byte: &u8| {
        let single = (f32::from(byte) * factor).round_ties_even();
        f64::from(single) != (f64::from(byte) * exact).round_ties_even()
    };
    assert!(bytes.iter().any(differs), "{factor} and {exact}");
    let mut inputs = halves(&bytes);
    inputs[1].1 = tensor(&[], &[x_scale]);
    inputs[4].1 = tensor(&[], &[w_scale]);
    inputs[6].1 = tensor(&[], &[y_scale]);
    let expected: Vec<f64> = bytes
        .iter()
        .map(|&byte| f64::from((f32::from(byte) * factor).round_ties_even()) + 1.0)
        .collect();
    let operands = ["a", "b", "c", "d", "e", "f", "g", "h"];
    check(
        node("QLinearMatMul", &operands, &["y"]),
        &inputs,
        &[&format!("u8 [256, 1] {expected:?}")],
    );
}

#[test]
fn a_number_that_is_none_becomes_the_least_byte() {
    for scale in [1.0, f32::INFINITY] {
        let x = tensor(&[3], &[f32::NAN, 0.0, f32::NEG_INFINITY]);
        let inputs = [
            ("a", x),
            ("b", tensor(&[], &[scale])),
            ("c", tensor(&[], &[0_i8])),
        ];
        let quantize = node("QuantizeLinear", &["a", "b", "c"], &["y"]);
        check(quantize, &inputs, &["i8 [3] [-128.0, 0.0, -128.0]"]);
    }
}

#[test]
fn products_of_bytes_of_every_sign_have_every_zero_point() {
    let numbers = |len: usize, seed: i64| -> Vec<i64> {
        let numbers = (0..len as i64).map(|at| (at * at * seed + 31 * at) % 256);
        numbers.collect()
    };
    let of = |dims: &[usize], numbers: &[i64], is_signed: bool| match is_signed {
        true => {
            let bytes: Vec<i8> = numbers.iter().map(|&x| (x - 128) as i8).collect();
            tensor(dims, &bytes)
        }
        false => {
            let bytes: Vec<u8> = numbers.iter().map(|&x| x as u8).collect();
            tensor(dims, &bytes)
        }
    };
    let (rows, k, n) = (3, 70, 35);
    let (a, b) = (numbers(2 * rows * k, 7), numbers(k * n, 11));
    for (a_signed, b_signed) in [(false, false), (false, true), (true, false), (true, true)] {
        for num_zeros in [0, 1, n] {
            let (a_zero, b_zeros) = (101, numbers(num_zeros, 13));
            let shift = |is_signed: bool| if is_signed { 128 } else { 0 };
            let mut inputs = vec![
                ("a", of(&[2, rows, k], &a, a_signed)),
                ("b", of(&[k, n], &b, b_signed)),
            ];
            // Without zero points, numbers are as they are.
            let (mut p, mut q) = (shift(a_signed), vec![shift(b_signed); n]);
            if num_zeros > 0 {
                inputs.push(("c", of(&[], &[a_zero], a_signed)));
                let dims = [num_zeros];
                let dims = if num_zeros == 1 { &[][..] } else { &dims };
                inputs.push(("d", of(dims, &b_zeros, b_signed)));
                p = a_zero;
                q = b_zeros.iter().copied().cycle().take(n).collect();
            }
            let sums = (0..2 * rows * n).map(|at| {
                let (row, column) = (at / n, at % n);
                let products =
                    (0..k).map(|i| (a[row * k + i] - p) * (b[i * n + column] - q[column]));
                products.sum::<i64>() as f64
            });
            let sums: Vec<f64> = sums.collect();
            let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
            check(
                node("MatMulInteger", &names, &["y"]),
                &inputs,
                &[&format!("i32 [2, 3, 35] {sums:?}")],
            );
        }
    }
}

#[test]
fn convolutions_of_bytes_of_every_sign_have_every_zero_point() {
    let numbers = |len: usize, seed: i64| -> Vec<i64> {
        let numbers = (0..len as i64).map(|at| (at * at * seed + 17 * at) % 256);
        numbers.collect()
    };
    let of = |dims: &[usize], numbers: &[i64], is_signed: bool| match is_signed {
        true => {
            let bytes: Vec<i8> = numbers.iter().map(|&x| (x - 128) as i8).collect();
            tensor(dims, &bytes)
        }
        false => {
            let bytes: Vec<u8> = numbers.iter().map(|&x| x as u8).collect();
            tensor(dims, &bytes)
        }
    };
    let (channels, size, filters) = (3, 4, 5);
    let (x, w) = (
        numbers(2 * channels * size * size, 7),
        numbers(filters * channels * 9, 11),
    );
    for (x_signed, w_signed) in [(false, false), (false, true), (true, false), (true, true)] {
        let (p, q) = (101, numbers(filters, 13));
        let inputs = [
            ("a", of(&[2, channels, size, size], &x, x_signed)),
            ("b", of(&[filters, channels, 3, 3], &w, w_signed)),
            ("c", of(&[], &[p], x_signed)),
            ("d", of(&[filters], &q, w_signed)),
        ];
        // Padding is the zero point, so that it adds nothing.
        let sums = (0..2 * filters * size * size).map(|at| {
            let (row, column) = ((at / size % size) as i64, (at % size) as i64);
            let (image, filter) = (at / (size * size) / filters, at / (size * size) % filters);
            let mut sum = 0;
            for place in 0..channels * 9 {
                let (channel, tap) = (place / 9, place % 9);
                let (row, column) = (row + (tap / 3) as i64 - 1, column + (tap % 3) as i64 - 1);
                let inside = 0..size as i64;
                if inside.contains(&row) && inside.contains(&column) {
                    let plane = (image * channels + channel) * size * size;
                    let number = x[plane + row as usize * size + column as usize];
                    sum += (number - p) * (w[filter * channels * 9 + place] - q[filter]);
                }
            }
            sum as f64
        });
        let sums: Vec<f64> = sums.collect();
        let convolution = node("ConvInteger", &["a", "b", "c", "d"], &["y"]);
        check(
            with(convolution, &[ints("pads", &[1, 1, 1, 1])]),
            &inputs,
            &[&format!("i32 [2, 5, 4, 4] {sums:?}")],
        );
    }
}
