//! Every op on a GPU: random shapes and element types against plain loops, and against the same op
//! on the processor where that takes the element type.

use std::sync::Arc;

use tfrt::attr::{AttrValue, DenseAttr, Scalar};
use tfrt::core::{EagerContext, TensorHandle};
use tfrt::prelude::*;
use tfrt_tensor::Shape;

use crate::arrays::{Array, FLOATS, Random, assert_close};
use crate::common::{assert_nothing_is_left, eager};

/// How often each op is tried with each element type.
const ROUNDS: u64 = 6;

/// The attributes of a call.
type Attrs<'a> = &'a [(&'a str, AttrValue)];

/// Calls an op on a device, and returns its results, of which the op has `num_results`.
fn call(
    eager: &Arc<EagerContext>,
    device: &str,
    op: &str,
    attrs: Attrs<'_>,
    operands: &[&TensorHandle],
    num_results: usize,
) -> Result<Vec<TensorHandle>> {
    let _scope = eager.device(device)?;
    let mut op = eager.op(op)?;
    for (name, value) in attrs {
        op = op.attr(name, value)?;
    }
    op.results(num_results).ready()?.call_all(operands)
}

/// Calls an op on a GPU, and compares the first result with what is expected and, if the processor
/// has the op for such tensors, with what the processor computes.
#[track_caller]
fn check(
    eager: &Arc<EagerContext>,
    (op, attrs, num_results): (&str, Attrs<'_>, usize),
    operands: &[&TensorHandle],
    expected: &Array,
    units: f64,
) -> bool {
    let dtype = operands
        .first()
        .and_then(|x| x.dtype())
        .unwrap_or(DType::F32);
    let what = format!("{op} {attrs:?} of {operands:?}");
    let results = call(eager, "GPU:0", op, attrs, operands, num_results);
    let results = results.unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(results[0].device().unwrap().0.name(), "GPU:0", "{what}");
    let told = results[0].metadata();
    let found = Array::read(eager, &results[0]).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(told.expect("it is there").extents[..], found.dims, "{what}");
    assert_close(&found, expected, dtype, units, &what);
    let on_processor = call(eager, "CPU:0", op, attrs, operands, num_results)
        .and_then(|results| Array::read(eager, &results[0]));
    match on_processor {
        Ok(on_processor) => {
            assert_close(
                &found,
                &on_processor,
                dtype,
                units + 2.0,
                &format!("{what}, CPU"),
            );
            true
        }
        Err(_) => false,
    }
}

/// Runs an op with random operands of each type. Returns how often the processor had it.
fn for_each_float(
    mut try_one: impl FnMut(&Arc<EagerContext>, DType, &mut Random) -> bool,
) -> usize {
    let eager = eager();
    let mut num_compared = 0;
    for dtype in FLOATS {
        for round in 0..ROUNDS {
            let mut random = Random::new(round + 1);
            num_compared += usize::from(try_one(&eager, dtype, &mut random));
        }
    }
    assert_nothing_is_left(&eager);
    num_compared
}

fn dense(numbers: &[i64], dims: &[i64]) -> AttrValue {
    AttrValue::Dense(DenseAttr {
        dtype: DType::I64,
        dims: dims.to_vec(),
        data: numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect(),
    })
}

fn list(numbers: &[i64]) -> AttrValue {
    let numbers = numbers
        .iter()
        .map(|&number| AttrValue::from(Scalar::i64(number)));
    AttrValue::Array(numbers.collect())
}

#[test]
fn relu_and_tanh_are_functions_of_elements() {
    let compared = for_each_float(|eager, dtype, random| {
        let rank = random.below(5);
        let dims = random.dims(rank, 9);
        let mut x = random.array(&dims);
        x.numbers[0] = f64::NAN;
        if let [_, second, third, ..] = &mut x.numbers[..] {
            (*second, *third) = (f64::INFINITY, f64::NEG_INFINITY);
        }
        let tensor = x.tensor(eager, dtype);
        check(
            eager,
            ("tf.Tanh", &[], 1),
            &[&tensor],
            &x.map(f64::tanh),
            1.0,
        );
        x.numbers[0] = -0.5;
        let tensor = x.tensor(eager, dtype);
        check(
            eager,
            ("tf.Relu", &[], 1),
            &[&tensor],
            &x.map(|x| x.max(0.0)),
            0.0,
        )
    });
    assert!(compared > 0, "the processor has `tf.Relu`");
}

#[test]
fn tanh_is_exact_to_the_last_places() {
    let eager = eager();
    let mut numbers = vec![
        0.0,
        -0.0,
        1e-300,
        5e-324,
        0.35,
        0.349_999,
        20.0,
        -800.0,
        f64::MAX,
    ];
    let mut random = Random::new(3);
    numbers.extend((0..2000).map(|_| random.number() * random.number() / 7.0));
    let x = Array::new(&[numbers.len()], numbers);
    let tensor = x.tensor(&eager, DType::F64);
    let y = call(&eager, "GPU:0", "tf.Tanh", &[], &[&tensor], 1).unwrap();
    let y = Array::read(&eager, &y[0]).unwrap();
    for (&x, &y) in x.numbers.iter().zip(&y.numbers) {
        let error = (y - x.tanh()).abs();
        assert!(
            error <= 4.0 * f64::EPSILON * x.tanh().abs(),
            "tanh({x:e}): {y:e}"
        );
        assert_eq!(y.is_sign_negative(), x.is_sign_negative(), "tanh({x:e})");
    }
}

#[test]
fn cast_converts_between_floating_point_types() {
    for_each_float(|eager, dtype, random| {
        let rank = random.below(4);
        let dims = random.dims(rank, 6);
        let x = random.array(&dims);
        let tensor = x.tensor(eager, dtype);
        for to in FLOATS {
            let attrs = [("DstT", AttrValue::Type(to))];
            check(eager, ("tf.Cast", &attrs, 1), &[&tensor], &x, 0.0);
        }
        false
    });
    let eager = eager();
    // The greatest number of 32 bits is not one of 16: truncated, it has fewer bits.
    let x = Array::new(
        &[3],
        vec![65_519.0, -65_519.9, 1.0 + 1.0 / 2048.0 + 1.0 / 4096.0],
    );
    let tensor = x.tensor(&eager, DType::F32);
    for (truncates, expected) in [
        (true, [65_504.0, -65_504.0, 1.0]),
        (false, [65_504.0, -65_504.0, 1.0 + 1.0 / 1024.0]),
    ] {
        let attrs = [
            ("DstT", AttrValue::Type(DType::F16)),
            ("Truncate", AttrValue::from(Scalar::bool(truncates))),
        ];
        let y = call(&eager, "GPU:0", "tf.Cast", &attrs, &[&tensor], 1).unwrap();
        assert_eq!(Array::read(&eager, &y[0]).unwrap().numbers, expected);
    }
}

#[test]
fn add_broadcasts_and_bias_is_added_to_channels() {
    let compared = for_each_float(|eager, dtype, random| {
        let rank = 1 + random.below(4);
        let dims = random.dims(rank, 5);
        let mut others = dims[random.below(rank)..].to_vec();
        for extent in &mut others {
            if random.below(2) == 0 {
                *extent = 1;
            }
        }
        let (a, b) = (random.array(&dims), random.array(&others));
        let sum = Array::from_fn(&dims, |at| a.at(at) + b.broadcast_at(at));
        let [of_a, of_b] = [&a, &b].map(|side| side.tensor(eager, dtype));
        let mut compared = check(eager, ("tf.AddV2", &[], 1), &[&of_a, &of_b], &sum, 0.0);
        compared |= check(eager, ("tf.AddV2", &[], 1), &[&of_b, &of_a], &sum, 0.0);
        let rank = 2 + random.below(3);
        let dims = random.dims(rank, 4);
        let dims = &dims[..];
        let (x, bias) = (random.array(dims), random.array(&dims[dims.len() - 1..]));
        let sum = Array::from_fn(dims, |at| x.at(at) + bias.broadcast_at(at));
        let [of_x, of_bias] = [&x, &bias].map(|side| side.tensor(eager, dtype));
        compared &= check(eager, ("tf.BiasAdd", &[], 1), &[&of_x, &of_bias], &sum, 0.0);
        compared
    });
    assert!(
        compared > 0,
        "the processor has `tf.AddV2` and `tf.BiasAdd`"
    );
}

#[test]
fn matmul_multiplies_and_transposes() {
    let compared = for_each_float(|eager, dtype, random| {
        let [m, k, n] = std::array::from_fn(|_| 1 + random.below(9));
        let [swap_a, swap_b] = std::array::from_fn(|_| random.below(2) == 1);
        let a = random.array(&if swap_a { [k, m] } else { [m, k] });
        let b = random.array(&if swap_b { [n, k] } else { [k, n] });
        let product = Array::from_fn(&[m, n], |at| {
            let term = |l: usize| {
                let left = if swap_a { [l, at[0]] } else { [at[0], l] };
                let right = if swap_b { [at[1], l] } else { [l, at[1]] };
                a.at(&left) * b.at(&right)
            };
            (0..k).map(term).sum()
        });
        let [a, b] = [&a, &b].map(|side| side.tensor(eager, dtype));
        let attrs = [
            ("transpose_a", AttrValue::from(Scalar::bool(swap_a))),
            ("transpose_b", AttrValue::from(Scalar::bool(swap_b))),
        ];
        check(eager, ("tf.MatMul", &attrs, 1), &[&a, &b], &product, 4.0)
    });
    assert!(compared > 0, "the processor has `tf.MatMul`");
    let eager = eager();
    let attrs = ["transpose_a", "transpose_b"];
    let attrs = attrs.map(|name| (name, AttrValue::from(Scalar::bool(false))));
    // No columns, and nothing to sum.
    for (a, b) in [([2, 3], [3, 0]), ([0, 3], [3, 2]), ([2, 0], [0, 3])] {
        let expected = Array::from_fn(&[a[0], b[1]], |_| 0.0);
        let [a, b] = [a, b].map(|dims| Array::from_fn(&dims, |_| 1.0).tensor(&eager, DType::F32));
        check(&eager, ("tf.MatMul", &attrs, 1), &[&a, &b], &expected, 0.0);
    }
    let integers = Array::from_fn(&[2, 2], |_| 1.0).tensor(&eager, DType::I32);
    let error = failure(&eager, "tf.MatMul", &attrs, &[&integers, &integers]);
    assert_eq!(error, "Type i32 is not supported by cuBLASS gemm");
}

/// Returns the message of a call on a GPU that fails.
#[track_caller]
fn failure(
    eager: &Arc<EagerContext>,
    op: &str,
    attrs: Attrs<'_>,
    operands: &[&TensorHandle],
) -> String {
    let results = call(eager, "GPU:0", op, attrs, operands, 1);
    let failed = results.and_then(|results| eager.wait(&results[0]).map(|_| ()));
    failed.expect_err("the call fails").message().to_owned()
}

/// Padding before and after an extent of images, and the number of outputs.
fn moved(input: usize, size: usize, stride: usize, padding: &str) -> (usize, usize) {
    match padding {
        "SAME" => {
            let output = input.div_ceil(stride);
            let total = ((output - 1) * stride + size).saturating_sub(input);
            (total / 2, output)
        }
        _ => (0, (input - size) / stride + 1),
    }
}

/// Visits the elements of images in a window: the step in the window, and the place in the images.
fn for_each_in_window(
    (input, size, stride, before): ([usize; 2], [usize; 2], [usize; 2], [usize; 2]),
    output: [usize; 2],
    mut visit: impl FnMut([usize; 2], [usize; 2]),
) {
    for row in 0..size[0] {
        for column in 0..size[1] {
            let step = [row, column];
            let place = [0, 1].map(|i| (output[i] * stride[i] + step[i]).checked_sub(before[i]));
            if let [Some(row), Some(column)] = place
                && row < input[0]
                && column < input[1]
            {
                visit(step, [row, column]);
            }
        }
    }
}

#[test]
fn convolution_and_pooling_move_a_window_over_images() {
    let compared = for_each_float(|eager, dtype, random| {
        let is_first = random.below(2) == 1;
        let padding = ["SAME", "VALID"][random.below(2)];
        let (batch, depth) = (1 + random.below(2), 1 + random.below(3));
        let (rows, columns) = (3 + random.below(5), 3 + random.below(5));
        let size = [1 + random.below(3), 1 + random.below(3)];
        let stride = [1 + random.below(2), 1 + random.below(2)];
        let input = [rows, columns];
        let place = |n: usize, [row, column]: [usize; 2], c: usize| match is_first {
            true => [n, c, row, column],
            false => [n, row, column, c],
        };
        let moves: [_; 2] = std::array::from_fn(|i| moved(input[i], size[i], stride[i], padding));
        let (before, output) = (
            moves.map(|(before, _)| before),
            moves.map(|(_, output)| output),
        );
        let window = (input, size, stride, before);
        let x = random.array(&place(batch, input, depth));
        let split = |at: &[usize]| match is_first {
            true => (at[0], [at[2], at[3]], at[1]),
            false => (at[0], [at[1], at[2]], at[3]),
        };
        let spatial = |numbers: [usize; 2]| list(&place(1, numbers, 1).map(|n| n as i64));
        let mut attrs = vec![
            ("padding", AttrValue::string(padding)),
            ("strides", spatial(stride)),
            (
                "data_format",
                AttrValue::string(if is_first { "NCHW" } else { "NHWC" }),
            ),
        ];
        let of_x = x.tensor(eager, dtype);
        let filters = 1 + random.below(3);
        let filter = random.array(&[size[0], size[1], depth, filters]);
        let expected = Array::from_fn(&place(batch, output, filters), |at| {
            let (n, at, filter_number) = split(at);
            let mut sum = 0.0;
            for_each_in_window(window, at, |step, from| {
                for c in 0..depth {
                    let weight = filter.at(&[step[0], step[1], c, filter_number]);
                    sum += x.at(&place(n, from, c)) * weight;
                }
            });
            sum
        });
        let of_filter = filter.tensor(eager, dtype);
        let operands = [&of_x, &of_filter];
        let mut compared = check(eager, ("tf.Conv2D", &attrs, 1), &operands, &expected, 8.0);
        let greatest = |x: &Array| {
            Array::from_fn(&place(batch, output, depth), |at| {
                let (n, at, c) = split(at);
                let mut greatest = f64::NEG_INFINITY;
                for_each_in_window(window, at, |_, from| {
                    greatest = greatest.max(x.at(&place(n, from, c)));
                });
                greatest
            })
        };
        attrs.push(("ksize", spatial(size)));
        // The processor starts from the least positive number, as the reference does.
        let x = x.map(f64::abs).map(|x| x + 1.0);
        let of_positive = x.tensor(eager, dtype);
        let pool = ("tf.MaxPool", &attrs[..], 1);
        compared &= check(eager, pool, &[&of_positive], &greatest(&x), 0.0);
        let x = x.map(|x| -x);
        let of_negative = x.tensor(eager, dtype);
        let y = call(eager, "GPU:0", "tf.MaxPool", &attrs, &[&of_negative], 1).unwrap();
        assert_eq!(Array::read(eager, &y[0]).unwrap(), greatest(&x));
        compared
    });
    assert!(
        compared > 0,
        "the processor has `tf.Conv2D` and `tf.MaxPool`"
    );
}

#[test]
fn softmax_is_over_the_last_dimension() {
    let compared = for_each_float(|eager, dtype, random| {
        let rank = 1 + random.below(3);
        let dims = random.dims(rank, 7);
        let x = random.array(&dims);
        let len = dims[rank - 1];
        let rows = x.numbers.chunks(len).flat_map(|row| {
            let sum: f64 = row.iter().map(|x| x.exp()).sum();
            row.iter().map(move |x| x.exp() / sum).collect::<Vec<_>>()
        });
        let expected = Array::new(&dims, rows.collect());
        let x = x.tensor(eager, dtype);
        check(eager, ("tf.Softmax", &[], 1), &[&x], &expected, 2.0)
    });
    assert!(compared > 0, "the processor has `tf.Softmax`");
    let eager = eager();
    // Numbers whose powers no type has.
    let x = Array::new(&[3], vec![1000.0, 1000.0, -1000.0]).tensor(&eager, DType::F32);
    let expected = Array::new(&[3], vec![0.5, 0.5, 0.0]);
    check(&eager, ("tf.Softmax", &[], 1), &[&x], &expected, 1.0);
}

#[test]
fn batch_normalization_uses_given_statistics() {
    let compared = for_each_float(|eager, dtype, random| {
        let dims = random.dims(4, 4);
        let depth = &dims[3..];
        let x = random.array(&dims);
        let side = random.array(&dims);
        let [scale, bias, mean] = std::array::from_fn(|_| random.array(depth));
        let variance = random.array(depth).map(|x| x.abs() + 0.25);
        let normalized = |at: &[usize]| {
            let of_channel = |array: &Array| array.at(&at[3..]);
            let root = (of_channel(&variance) + f64::from(0.001_f32)).sqrt();
            (x.at(at) - of_channel(&mean)) / root * of_channel(&scale) + of_channel(&bias)
        };
        let parameters = [&scale, &bias, &mean, &variance];
        // Statistics of images with 16 bits have 32.
        let of_statistics = if dtype == DType::F16 {
            DType::F32
        } else {
            dtype
        };
        let of_parameters = parameters.map(|array| array.tensor(eager, of_statistics));
        let of_x = x.tensor(eager, dtype);
        let mut operands = vec![&of_x];
        operands.extend(&of_parameters);
        let epsilon = ("epsilon", AttrValue::from(Scalar::f32(0.001)));
        let expected = Array::from_fn(&dims, normalized);
        let plain = ("tf.FusedBatchNormV3", &[epsilon.clone()][..], 6);
        let compared = check(eager, plain, &operands, &expected, 64.0);
        let attrs = [epsilon, ("activation_mode", AttrValue::string("Relu"))];
        let expected = Array::from_fn(&dims, |at| (normalized(at) + side.at(at)).max(0.0));
        let of_side = side.tensor(eager, dtype);
        operands.push(&of_side);
        check(
            eager,
            ("tf._FusedBatchNormEx", &attrs, 6),
            &operands,
            &expected,
            64.0,
        );
        compared
    });
    assert!(compared > 0, "the processor has `tf.FusedBatchNormV3`");
    let eager = eager();
    let x = Array::from_fn(&[1, 1, 1, 1], |_| 1.0).tensor(&eager, DType::F32);
    let one = Array::from_fn(&[1], |_| 1.0).tensor(&eager, DType::F32);
    let attrs = [("activation_mode", AttrValue::string("Elu"))];
    let _scope = eager.device("GPU:0").unwrap();
    let op = eager
        .op("tf._FusedBatchNormEx")
        .unwrap()
        .attr(attrs[0].0, &attrs[0].1)
        .unwrap();
    let operands = [&x, &one, &one, &one, &one];
    let results = op.results(6).ready().unwrap().call_all(&operands);
    let failed = results.and_then(|results| eager.wait(&results[0]).map(|_| ()));
    let message = "Unknown FusedBatchNormActivationMode: Elu";
    assert_eq!(failed.unwrap_err().message(), message);
}

#[test]
fn a_bias_has_the_element_type_of_its_operand() {
    let eager = eager();
    let x = Array::from_fn(&[2, 3], |_| 1.0).tensor(&eager, DType::F16);
    let bias = Array::from_fn(&[3], |_| 1.0).tensor(&eager, DType::F32);
    let results = call(&eager, "GPU:0", "tf.BiasAdd", &[], &[&x, &bias], 1);
    let failed = results.and_then(|results| eager.wait(&results[0]).map(|_| ()));
    let message = "incompatible dtypes for tf.BiasAdd";
    assert_eq!(failed.unwrap_err().message(), message);
}

#[test]
fn pad_and_transpose_move_elements() {
    let eager = eager();
    for dtype in [DType::F16, DType::F32, DType::F64, DType::I32, DType::I64] {
        for round in 0..ROUNDS {
            let mut random = Random::new(100 + round);
            let rank = 1 + random.below(4);
            let dims = random.dims(rank, 5);
            let x = random.array(&dims).map(f64::trunc);
            let tensor = x.tensor(&eager, dtype);
            let paddings: Vec<[usize; 2]> = dims
                .iter()
                .map(|_| [random.below(3), random.below(3)])
                .collect();
            let sizes = dims.iter().zip(&paddings);
            let padded: Vec<usize> = sizes.map(|(d, [b, a])| d + b + a).collect();
            let expected = Array::from_fn(&padded, |at| {
                let pairs = at.iter().zip(&paddings).zip(&dims);
                let from = pairs.map(|((at, [before, _]), extent)| {
                    at.checked_sub(*before).filter(|at| at < extent)
                });
                let from: Option<Vec<usize>> = from.collect();
                from.map_or(0.0, |from| x.at(&from))
            });
            let flat: Vec<i64> = paddings.iter().flatten().map(|&p| p as i64).collect();
            let attrs = [("paddings", dense(&flat, &[rank as i64, 2]))];
            check(&eager, ("_tf.Pad", &attrs, 1), &[&tensor], &expected, 0.0);
            let numbers = flat.iter().map(|&number| number as f64).collect();
            let operand = Array::new(&[rank, 2], numbers).tensor(&eager, DType::I32);
            if rank != 4 || paddings[0] == [0, 0] && paddings[3] == [0, 0] {
                check(
                    &eager,
                    ("tf.Pad", &[], 1),
                    &[&tensor, &operand],
                    &expected,
                    0.0,
                );
            }
            if [DType::F64, DType::I32].contains(&dtype) {
                continue;
            }
            // Two runs of neighbours change places.
            let mut permutation: Vec<usize> = (0..rank).collect();
            let start = random.below(rank);
            permutation[start..].rotate_left(random.below(rank - start));
            let swapped: Vec<usize> = permutation.iter().map(|&from| dims[from]).collect();
            let expected = Array::from_fn(&swapped, |at| {
                let mut from = vec![0; rank];
                for (to, &dimension) in permutation.iter().enumerate() {
                    from[dimension] = at[to];
                }
                x.at(&from)
            });
            let flat: Vec<i64> = permutation.iter().map(|&from| from as i64).collect();
            let attrs = [("perm", dense(&flat, &[rank as i64]))];
            check(
                &eager,
                ("_tf.Transpose", &attrs, 1),
                &[&tensor],
                &expected,
                0.0,
            );
        }
    }
    assert_nothing_is_left(&eager);
}

#[test]
fn operands_on_the_device_that_say_where_are_guessed() {
    let eager = eager();
    let on_gpu = |array: &Array, dtype| {
        eager
            .copy_to(&array.tensor(&eager, dtype), "GPU:0")
            .unwrap()
    };
    let x = Random::new(7).array(&[2, 3, 3, 4]);
    let tensor = on_gpu(&x, DType::F32);
    let run = |op: &str, x: &TensorHandle| {
        let gpu = eager.host().device("GPU:0").unwrap();
        let handler = tfrt::core::CpuOpHandler::new(
            &tfrt::core::CoreRuntime::of(eager.host()),
            gpu,
            tfrt::core::OpHandlerRef::new(tfrt::core::NullOpHandler),
        );
        let op = tfrt::core::OpHandler::make_op(&handler, op).unwrap();
        let request = tfrt::host::RequestContextBuilder::new(Arc::clone(eager.host())).build();
        let ctx = ExecutionContext::new(request);
        let anything = on_gpu(&Array::new(&[1], vec![0.0]), DType::I32);
        let attrs = tfrt::core::OpAttrs::new();
        let [y] = op.call(&ctx, [x.clone(), anything], &attrs, None);
        Array::read(&eager, &y).map_err(|error| error.message().to_owned())
    };
    let means = Array::from_fn(&[2, 4], |at| {
        let pixels = (0..9).map(|pixel| x.at(&[at[0], pixel / 3, pixel % 3, at[1]]));
        pixels.sum::<f64>() / 9.0
    });
    assert_close(
        &run("tf.Mean", &tensor).unwrap(),
        &means,
        DType::F32,
        4.0,
        "tf.Mean",
    );
    let padded = run("tf.Pad", &tensor).unwrap();
    assert_eq!(padded.dims, [2, 9, 9, 4]);
    assert_eq!(padded.at(&[1, 4, 5, 3]), x.at(&[1, 1, 2, 3]));
    let swapped = run("tf.Transpose", &tensor).unwrap();
    assert_eq!(swapped.dims, [2, 4, 3, 3]);
    assert_eq!(swapped.at(&[1, 3, 0, 2]), x.at(&[1, 0, 2, 3]));
    let vector = on_gpu(&Array::new(&[2], vec![1.0, 2.0]), DType::F32);
    let elsewhere = eager.copy_to(&vector, "GPU:1").unwrap();
    let refused = run("tf.Relu", &elsewhere).unwrap_err();
    assert!(
        refused.starts_with("Expected context to be 0x"),
        "{refused}"
    );
    assert_eq!(
        run("tf.Pad", &vector),
        Err("Could not guess channel order.".into())
    );
    assert_eq!(
        run("tf.Mean", &vector),
        Err("Invalid reduction requested: in_rank=1 out_rank=0".into())
    );
}

#[test]
fn means_are_over_listed_dimensions() {
    let mut num_compared = 0;
    let eager = eager();
    for dtype in [DType::F16, DType::F32] {
        for round in 0..2 * ROUNDS {
            let mut random = Random::new(50 + round);
            let rank = 1 + random.below(4);
            let dims = random.dims(rank, 5);
            let x = random.array(&dims);
            let axes: Vec<usize> = (0..rank).filter(|_| random.below(2) == 1).collect();
            let kept: Vec<usize> = (0..rank).filter(|axis| !axes.contains(axis)).collect();
            let kept_dims: Vec<usize> = kept.iter().map(|&axis| dims[axis]).collect();
            let count: usize = axes.iter().map(|&axis| dims[axis]).product();
            let expected = Array::from_fn(&kept_dims, |at| {
                let mut sum = 0.0;
                for (index, number) in x.numbers.iter().enumerate() {
                    let from = crate::arrays::coordinates(&dims, index);
                    if kept.iter().zip(at).all(|(&axis, &at)| from[axis] == at) {
                        sum += number;
                    }
                }
                sum / count as f64
            });
            let tensor = x.tensor(&eager, dtype);
            let flat: Vec<i64> = axes.iter().map(|&axis| axis as i64).collect();
            let attrs = [("reduction_indices", dense(&flat, &[axes.len() as i64]))];
            check(&eager, ("_tf.Mean", &attrs, 1), &[&tensor], &expected, 16.0);
            let numbers = axes.iter().map(|&axis| axis as f64).collect();
            let operand = Array::new(&[axes.len()], numbers).tensor(&eager, DType::I32);
            let op = ("tf.Mean", &[][..], 1);
            num_compared += usize::from(check(&eager, op, &[&tensor, &operand], &expected, 16.0));
        }
    }
    assert!(num_compared > 0, "the processor has `tf.Mean`");
    let x = Array::new(&[2], vec![1.0, 2.0]).tensor(&eager, DType::F64);
    let attrs = [("reduction_indices", dense(&[0], &[1]))];
    assert_eq!(
        failure(&eager, "_tf.Mean", &attrs, &[&x]),
        "Unsupported data type: f64"
    );
}

#[test]
fn constants_are_uploaded() {
    let eager = eager();
    for dims in [vec![], vec![2, 3], vec![0]] {
        let count: i64 = dims.iter().product();
        let numbers: Vec<i64> = (0..count).map(|number| number * 3 - 2).collect();
        let attrs = [("value", dense(&numbers, &dims))];
        let extents: Vec<usize> = dims.iter().map(|&extent| extent as usize).collect();
        let expected = Array::new(&extents, numbers.iter().map(|&n| n as f64).collect());
        assert!(check(&eager, ("tf.Const", &attrs, 1), &[], &expected, 0.0));
    }
}

#[test]
fn tensors_of_one_shape_are_added() {
    let eager = eager();
    let numbers = FLOATS.into_iter().chain([DType::I32, DType::I64]);
    for dtype in numbers {
        let mut random = Random::new(dtype as u64);
        let dims = random.dims(3, 6);
        let a = random.array(&dims).map(f64::trunc);
        let b = random.array(&dims).map(f64::trunc);
        let sum = Array::from_fn(&dims, |at| a.at(at) + b.at(at));
        let operands = [&a.tensor(&eager, dtype), &b.tensor(&eager, dtype)];
        check(&eager, ("tfrt_test.add", &[], 1), &operands, &sum, 0.0);
    }
    assert_nothing_is_left(&eager);
}

/// Returns the result of adding, on a GPU, a tensor to itself.
fn doubled<T: Element>(eager: &Arc<EagerContext>, numbers: &[T]) -> Vec<T> {
    let shape = Shape::new(&[numbers.len()]).unwrap();
    let tensor = DenseHostTensor::from_elements(eager.host().allocator(), shape, numbers).unwrap();
    let tensor = eager.tensor(tensor).unwrap();
    let operands = [&tensor, &tensor];
    let results = call(eager, "GPU:0", "tfrt_test.add", &[], &operands, 1);
    let sum = eager.copy_to(&results.unwrap()[0], "CPU:0").unwrap();
    eager.wait(&sum).unwrap();
    eager.to_vec::<T>(&sum).unwrap()
}

#[test]
fn sums_of_small_and_unsigned_numbers_wrap_around() {
    let eager = eager();
    assert_eq!(doubled(&eager, &[100_i8, -128, 3]), [-56, 0, 6]);
    assert_eq!(doubled(&eager, &[200_u8, 128, 3]), [144, 0, 6]);
    assert_eq!(doubled(&eager, &[30_000_i16, -1]), [-5536, -2]);
    assert_eq!(doubled(&eager, &[40_000_u16, 1]), [14_464, 2]);
    assert_eq!(doubled(&eager, &[3_000_000_000_u32, 1]), [1_705_032_704, 2]);
    assert_eq!(doubled(&eager, &[u64::MAX, 1]), [u64::MAX - 1, 2]);
    assert_nothing_is_left(&eager);
}

#[test]
fn transpositions_and_paddings_that_the_libraries_lack_are_refused() {
    let eager = eager();
    let x = Array::from_fn(&[2, 3, 4], |at| at[0] as f64);
    let perm = |numbers: &[i64]| [("perm", dense(numbers, &[3]))];
    let tensor = x.tensor(&eager, DType::F32);
    for unsupported in [[2, 1, 0], [1, 0, 2]] {
        let message = failure(&eager, "_tf.Transpose", &perm(&unsupported), &[&tensor]);
        assert_eq!(message, "Unsupported tf.Transpose permutation");
    }
    let double = x.tensor(&eager, DType::F64);
    assert_eq!(
        failure(&eager, "_tf.Transpose", &perm(&[2, 0, 1]), &[&double]),
        "`_tf.Transpose` on a GPU: expected f16 or f32 or i64, found f64"
    );
    let image = Array::from_fn(&[1, 4, 4, 1], |_| 1.0).tensor(&eager, DType::F32);
    for (before, after, is_supported) in [(1, 1, true), (0, 1, true), (1, 0, false), (3, 0, false)]
    {
        let attrs = [
            ("padding", AttrValue::string("EXPLICIT")),
            (
                "explicit_paddings",
                list(&[0, 0, before, after, 1, 1, 0, 0]),
            ),
            ("ksize", list(&[1, 2, 2, 1])),
            ("strides", list(&[1, 1, 1, 1])),
            ("data_format", AttrValue::string("NHWC")),
        ];
        if is_supported {
            call(&eager, "GPU:0", "tf.MaxPool", &attrs, &[&image], 1).unwrap();
        } else {
            let message = failure(&eager, "tf.MaxPool", &attrs, &[&image]);
            assert_eq!(message, "Padding not supported by cuDNN");
        }
    }
}
