//! Kernels that a real compiler made: `cuda/*.ptx` are what NVRTC made of `cuda/*.cu`, for two
//! architectures (`cuda/record.py`).

mod common;

use common::{Arg, Device, Random};

const SM_90: &str = "ptx";
const SM_100: &str = "sm_100.ptx";

fn load(name: &str, ending: &str) -> Device {
    let path = format!("{}/tests/cuda/{name}.{ending}", env!("CARGO_MANIFEST_DIR"));
    Device::load(&std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}")))
}

/// Runs a check on the code for both architectures.
fn on_both(name: &str, check: impl Fn(&mut Device)) {
    for ending in [SM_90, SM_100] {
        check(&mut load(name, ending));
    }
}

fn assert_near(what: &str, found: &[f32], expected: impl IntoIterator<Item = f64>, tolerance: f64) {
    let expected: Vec<f64> = expected.into_iter().collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (index, (&found, &expected)) in found.iter().zip(&expected).enumerate() {
        let is_same = f64::from(found) == expected || (found.is_nan() && expected.is_nan());
        let error = (f64::from(found) - expected).abs() / (1.0 + expected.abs());
        assert!(
            is_same || error <= tolerance,
            "{what}: element {index} is {found}, expected {expected}"
        );
    }
}

fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().map(|&value| value.into()).collect()
}

#[test]
fn every_recorded_module_runs_without_unsupported_instructions() {
    let mut num_kernels = 0;
    for file in std::fs::read_dir(format!("{}/tests/cuda", env!("CARGO_MANIFEST_DIR"))).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "ptx") {
            let device = Device::load(&std::fs::read_to_string(&path).unwrap());
            for (id, name) in device.program.module().kernels() {
                assert_eq!(
                    device.program.module().unsupported(id),
                    None,
                    "{name} in {}",
                    path.display()
                );
                num_kernels += 1;
            }
        }
    }
    assert!(num_kernels >= 100, "only {num_kernels} kernels");
}

#[test]
fn saxpy_rounds_once() {
    on_both("saxpy", |device| {
        let mut random = Random(1);
        let (x, y) = (random.floats(1000), random.floats(1000));
        let (to_x, to_y) = (device.upload(&x), device.upload(&y));
        device.run(
            "saxpy",
            4,
            256,
            0,
            &[
                Arg::F32(2.5),
                Arg::Address(to_x),
                Arg::Address(to_y),
                Arg::I32(1000),
            ],
        );
        let expected: Vec<f32> = x
            .iter()
            .zip(&y)
            .map(|(x, y)| 2.5f32.mul_add(*x, *y))
            .collect();
        assert_eq!(device.download::<f32>(to_y, 1000), expected);
    });
}

#[test]
fn vectors_of_four_are_loaded_and_stored() {
    on_both("vectors", |device| {
        let x = Random(2).floats(1000);
        let (to_x, to_y) = (device.upload(&x), device.upload(&vec![0f32; 1000]));
        device.run(
            "add_vec4",
            1,
            256,
            0,
            &[
                Arg::Address(to_x),
                Arg::Address(to_x),
                Arg::Address(to_y),
                Arg::I32(250),
            ],
        );
        assert_near(
            "add_vec4",
            &device.download(to_y, 1000),
            wide(&x).iter().map(|x| x + x),
            0.0,
        );
    });
}

#[test]
fn softmax_sums_a_tree_in_dynamic_shared_memory() {
    on_both("softmax", |device| {
        let (rows, columns) = (7, 130);
        let x = Random(3).floats(rows * columns);
        let (to_x, to_y) = (
            device.upload(&x),
            device.upload(&vec![0f32; rows * columns]),
        );
        device.run(
            "softmax",
            rows as u32,
            64,
            256,
            &[
                Arg::Address(to_x),
                Arg::Address(to_y),
                Arg::I32(columns as i32),
            ],
        );
        let expected = wide(&x)
            .chunks(columns)
            .flat_map(|row| {
                let sum: f64 = row.iter().map(|x| x.exp()).sum();
                row.iter().map(|x| x.exp() / sum).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>();
        assert_near(
            "softmax",
            &device.download(to_y, rows * columns),
            expected,
            1e-6,
        );
    });
}

#[test]
fn layernorm_shuffles_in_warps() {
    on_both("layernorm", |device| {
        let (rows, columns) = (6, 200);
        let mut random = Random(4);
        let (x, scale, shift) = (
            random.floats(rows * columns),
            random.floats(columns),
            random.floats(columns),
        );
        let addresses = [&x, &scale, &shift, &vec![0f32; rows * columns]]
            .map(|values| Arg::Address(device.upload(values)));
        let Arg::Address(to_y) = addresses[3] else {
            unreachable!()
        };
        let mut args = addresses.to_vec();
        args.extend([Arg::I32(columns as i32), Arg::F32(1e-5)]);
        device.run("layernorm", rows as u32, 96, 0, &args);
        let expected = wide(&x)
            .chunks(columns)
            .flat_map(|row| {
                let mean = row.iter().sum::<f64>() / columns as f64;
                let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / columns as f64;
                let normal = |(index, x): (usize, &f64)| {
                    (x - mean) / (variance + 1e-5).sqrt() * f64::from(scale[index])
                        + f64::from(shift[index])
                };
                row.iter().enumerate().map(normal).collect::<Vec<_>>()
            })
            .collect::<Vec<_>>();
        assert_near(
            "layernorm",
            &device.download(to_y, rows * columns),
            expected,
            1e-5,
        );
    });
}

#[test]
fn reductions_cross_warps_and_blocks() {
    on_both("reductions", |device| {
        let x = Random(5).floats(1000);
        let (to_x, to_sum) = (device.upload(&x), device.upload(&[0f32]));
        device.run(
            "reduce_sum",
            3,
            128,
            0,
            &[Arg::Address(to_x), Arg::Address(to_sum), Arg::I32(1000)],
        );
        assert_near(
            "sum",
            &device.download(to_sum, 1),
            [wide(&x).iter().sum()],
            1e-5,
        );

        let (rows, columns) = (5, 77);
        let (to_rows, to_places) = (
            device.upload(&x[..rows * columns]),
            device.upload(&vec![0i32; rows]),
        );
        device.run(
            "argmax_rows",
            rows as u32,
            32,
            0,
            &[
                Arg::Address(to_rows),
                Arg::Address(to_places),
                Arg::I32(columns as i32),
            ],
        );
        let expected: Vec<i32> = x[..rows * columns]
            .chunks(columns)
            .map(|row| {
                (0..columns)
                    .rev()
                    .max_by(|&a, &b| row[a].total_cmp(&row[b]))
                    .unwrap() as i32
            })
            .collect();
        assert_eq!(device.download::<i32>(to_places, rows), expected);
    });
}

#[test]
fn matrix_product_uses_tiles_in_two_dimensions() {
    on_both("matmul", |device| {
        let (m, n, k) = (37, 45, 29);
        let mut random = Random(6);
        let (a, b) = (random.floats(m * k), random.floats(k * n));
        let (to_a, to_b, to_c) = (
            device.upload(&a),
            device.upload(&b),
            device.upload(&vec![0f32; m * n]),
        );
        let args = [
            Arg::Address(to_a),
            Arg::Address(to_b),
            Arg::Address(to_c),
            Arg::I32(m as i32),
            Arg::I32(n as i32),
            Arg::I32(k as i32),
        ];
        device
            .try_run("matmul", [3, 3, 1], [16, 16, 1], 0, &args)
            .unwrap();
        let element = |index: usize| {
            (0..k)
                .map(|at| f64::from(a[index / n * k + at]) * f64::from(b[at * n + index % n]))
                .sum()
        };
        assert_near(
            "matmul",
            &device.download(to_c, m * n),
            (0..m * n).map(element),
            3e-6,
        );
    });
}

#[test]
fn transposition_goes_through_shared_memory() {
    on_both("transpose", |device| {
        let (rows, columns) = (45, 70);
        let x = Random(7).floats(rows * columns);
        let (to_x, to_y) = (
            device.upload(&x),
            device.upload(&vec![0f32; rows * columns]),
        );
        let args = [
            Arg::Address(to_x),
            Arg::Address(to_y),
            Arg::I32(rows as i32),
            Arg::I32(columns as i32),
        ];
        device
            .try_run("transpose", [3, 2, 1], [32, 8, 1], 0, &args)
            .unwrap();
        let expected: Vec<f32> = (0..rows * columns)
            .map(|index| x[index % rows * columns + index / rows])
            .collect();
        assert_eq!(device.download::<f32>(to_y, rows * columns), expected);
    });
}

/// A function of one element: its number in the kernel, its name, the function, how operands are
/// made of numbers from -2 to 2.
type UnaryRow = (i32, &'static str, fn(f64) -> f64, fn(f32) -> f32);

#[test]
fn unary_functions_match_those_of_double_precision() {
    let any: fn(f32) -> f32 = |x| x;
    let positive: fn(f32) -> f32 = |x| x.abs() + 1e-3;
    let large: fn(f32) -> f32 = |x| if x > 1.5 { x * 1e6 } else { x * 50.0 };
    let rows: [UnaryRow; 16] = [
        (0, "exp", f64::exp, any),
        (1, "log", f64::ln, positive),
        (2, "sqrt", f64::sqrt, positive),
        (3, "rsqrt", |x| 1.0 / x.sqrt(), positive),
        (4, "sigmoid", |x| 1.0 / (1.0 + (-x).exp()), any),
        (5, "relu", |x| x.max(0.0), any),
        (6, "sin", f64::sin, large),
        (7, "cos", f64::cos, large),
        (8, "floor", f64::floor, any),
        (9, "rint", f64::round_ties_even, any),
        (10, "abs", f64::abs, any),
        (11, "log1p", f64::ln_1p, positive),
        (12, "expm1", f64::exp_m1, any),
        (13, "ceil", f64::ceil, any),
        (14, "trunc", f64::trunc, any),
        (15, "round", f64::round, any),
    ];
    on_both("elementwise", |device| {
        for (number, name, function, operand) in rows {
            let x: Vec<f32> = Random(number as u64)
                .floats(300)
                .into_iter()
                .map(operand)
                .collect();
            let (to_x, to_y) = (device.upload(&x), device.upload(&[0f32; 300]));
            device.run(
                "unary_all",
                2,
                256,
                0,
                &[
                    Arg::Address(to_x),
                    Arg::Address(to_y),
                    Arg::I32(300),
                    Arg::I32(number),
                ],
            );
            assert_near(
                name,
                &device.download(to_y, 300),
                wide(&x).into_iter().map(function),
                3e-7,
            );
        }
    });
}

/// The same for two operands.
type BinaryRow = (i32, &'static str, fn(f64, f64) -> f64);

#[test]
fn binary_functions_match_those_of_double_precision() {
    let rows: [BinaryRow; 10] = [
        (0, "add", |x, y| x + y),
        (1, "sub", |x, y| x - y),
        (2, "mul", |x, y| x * y),
        (3, "div", |x, y| x / y),
        (4, "min", f64::min),
        (5, "max", f64::max),
        (7, "fmod", |x, y| x % y),
        (8, "atan2", f64::atan2),
        (11, "copysign", f64::copysign),
        (12, "hypot", f64::hypot),
    ];
    on_both("elementwise", |device| {
        let mut random = Random(8);
        let (x, y) = (random.floats(300), random.floats(300));
        let addresses = [&x, &y, &vec![0f32; 300]].map(|values| device.upload(values));
        let mut run = |number| {
            let mut args = addresses.map(Arg::Address).to_vec();
            args.extend([Arg::I32(300), Arg::I32(number)]);
            device.run("binary_all", 2, 256, 0, &args);
            device.download::<f32>(addresses[2], 300)
        };
        for (number, name, function) in rows {
            assert_near(
                name,
                &run(number),
                wide(&x)
                    .into_iter()
                    .zip(wide(&y))
                    .map(|(x, y)| function(x, y)),
                3e-7,
            );
        }
        // A power of a negative number is NaN.
        assert_near(
            "pow",
            &run(6),
            wide(&x).into_iter().zip(wide(&y)).map(|(x, y)| x.powf(y)),
            3e-7,
        );
    });
}

#[test]
fn rows_are_gathered_and_structures_are_parameters() {
    on_both("gather", |device| {
        let table = Random(9).floats(40);
        let rows: [i64; 5] = [3, -1, 0, 9, 12];
        let (to_table, to_rows, to_y) = (
            device.upload(&table),
            device.upload(&rows),
            device.upload(&[0f32; 20]),
        );
        let args = [
            Arg::Address(to_table),
            Arg::Address(to_rows),
            Arg::Address(to_y),
            Arg::I64(10),
            Arg::I32(4),
            Arg::I64(5),
        ];
        device.run("gather_rows", 1, 32, 0, &args);
        let element = |index: usize| match rows[index / 4].rem_euclid(10) as usize {
            _ if rows[index / 4] > 9 => f64::NAN,
            row => table[row * 4 + index % 4].into(),
        };
        assert_near(
            "gather_rows",
            &device.download(to_y, 20),
            (0..20).map(element),
            0.0,
        );

        // `struct Shape { int nd; int dims[6]; long long sa[6]; long long sb[6]; }`: [3, 4] with a
        // row and a column.
        let mut shape = Vec::new();
        [2i32, 3, 4, 0, 0, 0, 0]
            .iter()
            .for_each(|value| shape.extend(value.to_le_bytes()));
        shape.extend([0; 4]);
        [0i64, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]
            .iter()
            .for_each(|value| shape.extend(value.to_le_bytes()));
        let (to_a, to_b, to_y) = (
            device.upload(&table[..4]),
            device.upload(&table[4..7]),
            device.upload(&[0f32; 12]),
        );
        device.run(
            "bcast_add",
            1,
            32,
            0,
            &[
                Arg::Address(to_a),
                Arg::Address(to_b),
                Arg::Address(to_y),
                Arg::I64(12),
                Arg::Bytes(shape),
            ],
        );
        let expected: Vec<f32> = (0..12)
            .map(|index| table[index % 4] + table[4 + index / 4])
            .collect();
        assert_eq!(device.download::<f32>(to_y, 12), expected);
    });
}

#[test]
fn integer_functions_divisions_and_histograms_are_exact() {
    on_both("integers", |device| {
        let mut random = Random(10);
        let bytes: Vec<u8> = (0..1000).map(|_| random.bits() as u8).collect();
        let (to_bytes, to_counts) = (device.upload(&bytes), device.upload(&[0u32; 256]));
        device.run(
            "hist",
            2,
            128,
            0,
            &[
                Arg::Address(to_bytes),
                Arg::Address(to_counts),
                Arg::I32(1000),
            ],
        );
        let mut counts = vec![0u32; 256];
        bytes
            .iter()
            .for_each(|&byte| counts[usize::from(byte)] += 1);
        assert_eq!(device.download::<u32>(to_counts, 256), counts);

        let a: Vec<i64> = (0..300)
            .map(|_| random.bits() as i64 >> random.below(60))
            .collect();
        let b: Vec<u64> = (0..300)
            .map(|_| random.bits() >> random.below(60))
            .collect();
        let (to_a, to_b, to_y) = (
            device.upload(&a),
            device.upload(&b),
            device.upload(&[0i64; 300]),
        );
        device.run(
            "i64_div",
            3,
            128,
            0,
            &[
                Arg::Address(to_a),
                Arg::Address(to_b),
                Arg::Address(to_y),
                Arg::I32(300),
            ],
        );
        let expected: Vec<i64> = a
            .iter()
            .zip(&b)
            .map(|(&a, &b)| {
                a.wrapping_div((b | 1) as i64)
                    .wrapping_add((a as u64 % (b | 1)) as i64)
            })
            .collect();
        assert_eq!(device.download::<i64>(to_y, 300), expected);

        // Small enough that no sum overflows, which C++ leaves open.
        let a: Vec<i32> = (0..300).map(|_| random.bits() as i32 >> 3).collect();
        let b: Vec<i32> = (0..300)
            .map(|_| random.bits() as i32 >> (3 + random.below(28)))
            .collect();
        let (to_a, to_b, to_y) = (
            device.upload(&a),
            device.upload(&b),
            device.upload(&[0i64; 300]),
        );
        device.run(
            "int_ops",
            3,
            128,
            0,
            &[
                Arg::Address(to_a),
                Arg::Address(to_b),
                Arg::Address(to_y),
                Arg::I32(300),
            ],
        );
        let expected: Vec<i64> = (0..300)
            .map(|index| int_ops(a[index], b[index], index as u32))
            .collect();
        assert_eq!(device.download::<i64>(to_y, 300), expected);
    });
}

/// What the kernel `int_ops` computes.
fn int_ops(p: i32, q: i32, index: u32) -> i64 {
    let mut r = i64::from(p) * i64::from(q);
    if q != 0 {
        r += i64::from(p.wrapping_div(q).wrapping_add(p.wrapping_rem(q)));
    }
    r ^= i64::from(p as u32 >> (q & 31));
    r += i64::from(p << (q & 31));
    let first = if p == 0 {
        0
    } else {
        p.trailing_zeros() as i32 + 1
    };
    let small = (p.count_ones() as i32)
        .wrapping_add(q.leading_zeros() as i32)
        .wrapping_add(first);
    r += i64::from(
        small
            .wrapping_add(p.min(q))
            .wrapping_sub(p.max(q))
            .wrapping_add(p.wrapping_abs()),
    );
    let bytes = [p.to_le_bytes(), q.to_le_bytes()].concat();
    let selector = 0x3210 + (index & 7);
    let permuted = u32::from_le_bytes(std::array::from_fn(|k| {
        bytes[(selector >> (4 * k) & 7) as usize]
    }));
    let high = ((i64::from(p) * i64::from(q)) >> 32) as i32;
    r += i64::from(
        (high as u32)
            .wrapping_add(p.reverse_bits() as u32)
            .wrapping_add(permuted),
    );
    r + i64::from((p & q).wrapping_add(p | !q))
}

#[test]
fn atomic_operations_lose_nothing() {
    on_both("integers", |device| {
        let to_signed = device.upload(&[0i32, 0]);
        let to_unsigned = device.upload(&[u32::MAX, 0, 0, 0, 5, 0]);
        let (to_wide, to_double, to_float) = (
            device.upload(&[0u64]),
            device.upload(&[0f64]),
            device.upload(&[0f32]),
        );
        let addresses = [to_signed, to_unsigned, to_wide, to_double, to_float].map(Arg::Address);
        let mut args = addresses.to_vec();
        args.push(Arg::I32(100));
        device.run("atom_misc", 2, 64, 0, &args);
        assert_eq!(device.download::<i32>(to_signed, 2), [99, -99]);
        let all = (0..100).fold((u32::MAX, 0, 0), |(and, or, xor), index: u32| {
            (and & !index, or | index, xor ^ index)
        });
        // Exchange keeps the last, compare-and-swap goes from 5 on, increments wrap behind 7.
        assert_eq!(
            device.download::<u32>(to_unsigned, 6),
            [all.0, all.1, all.2, 99, 100, 100 % 8]
        );
        assert_eq!(device.download::<u64>(to_wide, 1), [4950]);
        assert_eq!(device.download::<f64>(to_double, 1), [2475.0]);
        assert_eq!(device.download::<f32>(to_float, 1), [99.0]);
    });
}

#[test]
fn casts_round_and_saturate_as_the_device_does() {
    on_both("casts", |device| {
        let x: Vec<f32> = Random(11)
            .floats(100)
            .iter()
            .map(|x| x * 1e9)
            .chain([0.5, -0.5, 1.5, 1e20, -1e20, f32::NAN])
            .collect();
        let n = x.len();
        let to_x = device.upload(&x);
        let to_y = device.upload(&vec![0u64; n]);
        let mut cast = |kernel: &str| {
            device.run(
                kernel,
                1,
                128,
                0,
                &[Arg::Address(to_x), Arg::Address(to_y), Arg::I32(n as i32)],
            )
        };
        cast("c_f32_i32");
        let expected: Vec<i32> = x.iter().map(|&x| x as i32).collect();
        assert_eq!(device.download::<i32>(to_y, n), expected);
        let mut cast = |kernel: &str| {
            device.run(
                kernel,
                1,
                128,
                0,
                &[Arg::Address(to_x), Arg::Address(to_y), Arg::I32(n as i32)],
            )
        };
        cast("c_f32_u64");
        let expected: Vec<u64> = x
            .iter()
            .map(|&x| if x.is_nan() { 1 << 63 } else { x as u64 })
            .collect();
        assert_eq!(device.download::<u64>(to_y, n), expected);

        let q = [0.5f32, 1.0, 2.6, -100.0, 1000.0, -1000.0];
        let (to_q, to_bytes) = (device.upload(&q), device.upload(&[0i8; 6]));
        device.run(
            "q8",
            1,
            32,
            0,
            &[
                Arg::Address(to_q),
                Arg::Address(to_bytes),
                Arg::F32(2.0),
                Arg::I32(3),
                Arg::I32(6),
            ],
        );
        assert_eq!(
            device.download::<i8>(to_bytes, 6),
            [3, 3, 4, -47, 127, -128]
        );
    });
}

#[test]
fn halves_round_once() {
    use half::{bf16, f16};
    on_both("half", |device| {
        let mut random = Random(12);
        let a: Vec<f16> = random.floats(200).into_iter().map(f16::from_f32).collect();
        let b: Vec<f16> = random.floats(200).into_iter().map(f16::from_f32).collect();
        let bits = |values: &[f16]| {
            values
                .iter()
                .map(|value| value.to_bits())
                .collect::<Vec<u16>>()
        };
        let (to_a, to_b, to_y) = (
            device.upload(&bits(&a)),
            device.upload(&bits(&b)),
            device.upload(&bits(&b)),
        );
        let args = [to_a, to_b, to_y].map(Arg::Address);
        device.run("hfma2", 1, 128, 0, &[&args[..], &[Arg::I32(100)]].concat());
        let expected: Vec<u16> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| f16::from_f64(a.to_f64().mul_add(b.to_f64(), b.to_f64())).to_bits())
            .collect();
        assert_eq!(device.download::<u16>(to_y, 200), expected);

        device.run(
            "hadd_relu",
            1,
            256,
            0,
            &[&args[..], &[Arg::I32(200)]].concat(),
        );
        let expected: Vec<u16> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| f16::from_f64((a.to_f64() + b.to_f64()).max(0.0)).to_bits())
            .collect();
        assert_eq!(device.download::<u16>(to_y, 200), expected);

        device.run("bfmul", 1, 256, 0, &[&args[..], &[Arg::I32(200)]].concat());
        let brain = |value: &f16| bf16::from_bits(value.to_bits()).to_f32();
        let expected: Vec<u16> = a
            .iter()
            .zip(&b)
            .map(|(a, b)| bf16::from_f32(brain(a) * brain(b)).to_bits())
            .collect();
        assert_eq!(device.download::<u16>(to_y, 200), expected);
    });
}

#[test]
fn double_precision_is_exact_where_the_operations_are() {
    on_both("double", |device| {
        let mut random = Random(13);
        let (a, b) = (wide(&random.floats(100)), wide(&random.floats(100)));
        let (to_a, to_b, to_y) = (
            device.upload(&a),
            device.upload(&b),
            device.upload(&[0f64; 100]),
        );
        device.run(
            "dops",
            1,
            128,
            0,
            &[
                Arg::Address(to_a),
                Arg::Address(to_b),
                Arg::Address(to_y),
                Arg::I32(100),
            ],
        );
        for (index, found) in device.download::<f64>(to_y, 100).into_iter().enumerate() {
            let (p, q) = (a[index], b[index]);
            let less = if p < q { 1.0 } else { 0.0 };
            let expected = p / q
                + p.abs().sqrt() * (-q * q).exp()
                + p.mul_add(q, 1.0)
                + (1.0 + p * p).ln()
                + p.min(q)
                + p.floor()
                + less;
            assert!(
                (found - expected).abs() <= 1e-13 * (1.0 + expected.abs()),
                "{index}: {found} {expected}"
            );
        }
    });
}

#[test]
fn scans_votes_and_local_arrays_work() {
    on_both("threads", |device| {
        let x: Vec<f32> = (0..100).map(|index| (index % 7) as f32).collect();
        let (to_x, to_y) = (device.upload(&x), device.upload(&[0f32; 100]));
        device.run(
            "scan",
            1,
            128,
            512,
            &[Arg::Address(to_x), Arg::Address(to_y), Arg::I32(100)],
        );
        let mut sum = 0.0;
        let expected: Vec<f32> = x
            .iter()
            .map(|x| {
                sum += x;
                sum
            })
            .collect();
        assert_eq!(device.download::<f32>(to_y, 100), expected);

        device.run(
            "localarr",
            1,
            64,
            0,
            &[
                Arg::Address(to_x),
                Arg::Address(to_y),
                Arg::I32(100),
                Arg::I32(5),
            ],
        );
        let expected: Vec<f32> = (0..64usize)
            .map(|thread| {
                let mut array = [0f32; 32];
                (0..32).for_each(|j| array[(j * 5) & 31] = x[(thread + j) % 100]);
                (0..32).fold(0f32, |sum, j| sum.mul_add(0.5, array[(j * 7 + 5) & 31]))
            })
            .collect();
        assert_eq!(device.download::<f32>(to_y, 64), expected);

        let values: Vec<i32> = (0..64).map(|index| index % 5 - 1).collect();
        let (to_values, to_votes) = (device.upload(&values), device.upload(&[0u32; 65]));
        device.run(
            "vote",
            1,
            64,
            0,
            &[
                Arg::Address(to_values),
                Arg::Address(to_votes),
                Arg::I32(64),
            ],
        );
        let found = device.download::<u32>(to_votes, 65);
        assert_eq!(
            found[64],
            values.iter().filter(|&&value| value > 0).count() as u32
        );
        for (warp, lanes) in values.chunks(32).enumerate() {
            let ballot = lanes.iter().enumerate().fold(0u32, |bits, (lane, &value)| {
                bits | u32::from(value > 0) << lane
            });
            for (lane, value) in lanes.iter().enumerate() {
                let same = lanes.iter().filter(|other| *other == value).count() as u32;
                let sum = lanes.iter().sum::<i32>() as u32;
                // Any is negative, not all are positive; the lane alone is active.
                let expected = ballot
                    .wrapping_add(2)
                    .wrapping_add(1 + same)
                    .wrapping_add(sum);
                assert_eq!(
                    found[warp * 32 + lane],
                    expected,
                    "lane {lane} of warp {warp}"
                );
            }
        }
    });
}

#[test]
fn variables_recursion_and_printing_work() {
    on_both("threads", |device| {
        let to_y = device.upload(&[0f32; 40]);
        let to_weights = device.program.address("g_w").unwrap();
        device.write(to_weights, &[0.5f32, 1.5, 2.5, 3.5]);
        device.run("globals", 2, 32, 0, &[Arg::Address(to_y), Arg::I32(40)]);
        let expected: Vec<f32> = (0..40)
            .map(|index| (index % 16 + 1) as f32 + (index % 4) as f32 + 0.5)
            .collect();
        assert_eq!(device.download::<f32>(to_y, 40), expected);
        let to_counter = device.program.address("counter").unwrap();
        assert_eq!(device.download::<i32>(to_counter, 1), [40]);

        device.run("calls", 1, 40, 0, &[Arg::Address(to_y), Arg::I32(40)]);
        fn recursive(value: f32, depth: i32) -> f32 {
            if depth <= 0 {
                value
            } else {
                recursive(value * 0.5, depth - 1) + recursive(value * 0.25, depth - 2)
            }
        }
        let expected: Vec<f32> = (0..40)
            .map(|index| recursive(index as f32, index & 7))
            .collect();
        assert_eq!(device.download::<f32>(to_y, 40), expected);

        let report = device.run("prnt", 1, 3, 0, &[Arg::I32(9)]);
        assert_eq!(report.printed, "hello 0 of 9\nhello 1 of 9\nhello 2 of 9\n");
    });
}

#[test]
fn random_numbers_have_the_bits_of_the_generator() {
    on_both("threads", |device| {
        let to_y = device.upload(&[0f32; 50]);
        device.run(
            "philox",
            1,
            64,
            0,
            &[Arg::Address(to_y), Arg::I32(50), Arg::I32(7), Arg::I32(9)],
        );
        let expected = (0..50u32).map(|index| {
            let (mut c, mut k) = ([index, 0, 0, 0], [7u32, 9]);
            for _ in 0..10 {
                let (first, second) = (
                    0xd251_1f53u64 * u64::from(c[0]),
                    0xcd9e_8d57u64 * u64::from(c[2]),
                );
                c = [
                    (second >> 32) as u32 ^ c[1] ^ k[0],
                    second as u32,
                    (first >> 32) as u32 ^ c[3] ^ k[1],
                    first as u32,
                ];
                k = [
                    k[0].wrapping_add(0x9e37_79b9),
                    k[1].wrapping_add(0xbb67_ae85),
                ];
            }
            let (u, v) = (
                (c[0] as f32 + 1.0) * 2.328_306_4e-10,
                c[1] as f32 * 2.328_306_4e-10,
            );
            (-2.0 * f64::from(u).ln()).sqrt() * f64::from(6.283_185_5 * v).cos()
        });
        assert_near("philox", &device.download(to_y, 50), expected, 2e-6);
    });
}

#[test]
fn convolution_and_pooling_match_loops() {
    on_both("convolution", |device| {
        let (channels, size, filters, pad) = (3usize, 8usize, 4usize, 1i32);
        let mut random = Random(14);
        let (x, w, bias) = (
            random.floats(channels * size * size),
            random.floats(filters * channels * 9),
            random.floats(filters),
        );
        let addresses =
            [&x, &w, &bias, &vec![0f32; filters * size * size]].map(|values| device.upload(values));
        let numbers = [1, channels as i32, 8, 8, filters as i32, 3, 3, 8, 8, 1, pad].map(Arg::I32);
        device.run(
            "conv2d",
            1,
            256,
            0,
            &[&addresses.map(Arg::Address)[..], &numbers[..]].concat(),
        );
        let element = |index: usize| {
            let (k, p, q) = (index / 64, index / 8 % 8, index % 8);
            let mut sum = f64::from(bias[k]);
            for (c, r, s) in (0..channels * 9).map(|at| (at / 9, at / 3 % 3, at % 3)) {
                let (h, v) = (p as i32 + r as i32 - pad, q as i32 + s as i32 - pad);
                if (0..8).contains(&h) && (0..8).contains(&v) {
                    sum += f64::from(x[(c * 8 + h as usize) * 8 + v as usize])
                        * f64::from(w[((k * channels + c) * 3 + r) * 3 + s]);
                }
            }
            sum
        };
        assert_near(
            "conv2d",
            &device.download(addresses[3], filters * 64),
            (0..filters * 64).map(element),
            2e-6,
        );
    });
}

#[test]
fn matrix_units_and_asynchronous_copies_work() {
    use half::f16;
    on_both("matrix", |device| {
        let mut random = Random(15);
        let a: Vec<f16> = random.floats(256).into_iter().map(f16::from_f32).collect();
        let b: Vec<f16> = random.floats(128).into_iter().map(f16::from_f32).collect();
        // The fragments of each lane, as PTX lays them out.
        let pair = |low: f16, high: f16| u32::from(low.to_bits()) | u32::from(high.to_bits()) << 16;
        let (mut fragments_a, mut fragments_b) = (Vec::new(), Vec::new());
        for (group, member) in (0..32).map(|lane| (lane / 4, lane % 4)) {
            for (row, column) in [(0, 0), (8, 0), (0, 8), (8, 8)]
                .map(|(row, column)| (group + row, 2 * member + column))
            {
                fragments_a.push(pair(a[row * 16 + column], a[row * 16 + column + 1]));
            }
            for row in [2 * member, 2 * member + 8] {
                fragments_b.push(pair(b[row * 8 + group], b[(row + 1) * 8 + group]));
            }
        }
        let (to_a, to_b, to_d) = (
            device.upload(&fragments_a),
            device.upload(&fragments_b),
            device.upload(&[0f32; 128]),
        );
        device.run(
            "mma16816",
            1,
            32,
            0,
            &[Arg::Address(to_a), Arg::Address(to_b), Arg::Address(to_d)],
        );
        let element = |index: usize| {
            let (lane, at) = (index / 4, index % 4);
            let (row, column) = (lane / 4 + 8 * (at / 2), 2 * (lane % 4) + at % 2);
            (0..16)
                .map(|k| a[row * 16 + k].to_f64() * b[k * 8 + column].to_f64())
                .sum()
        };
        assert_near(
            "mma",
            &device.download(to_d, 128),
            (0..128).map(element),
            1e-6,
        );

        let x = random.floats(1024);
        let (to_x, to_y) = (device.upload(&x), device.upload(&[0f32; 1024]));
        device.run(
            "cpasync",
            2,
            128,
            0,
            &[Arg::Address(to_x), Arg::Address(to_y), Arg::I32(256)],
        );
        let expected: Vec<f32> = (0..1024)
            .map(|index| x[index / 512 * 512 + (127 - index % 512 / 4) * 4 + index % 4])
            .collect();
        assert_eq!(device.download::<f32>(to_y, 1024), expected);
    });
}
