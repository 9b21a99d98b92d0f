//! Matrix products against the textbook in double precision.

use tfrt_compute::Activation;
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape, naive};
use tfrt_compute::parallel::{ScopedThreads, Serial};
use tfrt_support::complex::Complex;

use crate::support::{Function, Random, assert_within, magnitudes, run, wide};

fn random_shape(random: &mut Random) -> MatmulShape {
    // Around the heights and widths of tiles, and with nothing of anything.
    const EXTENTS: [usize; 16] = [0, 1, 2, 3, 5, 7, 8, 9, 11, 12, 13, 25, 31, 32, 33, 70];
    let mut extent = || EXTENTS[random.below(EXTENTS.len())];
    let (m, n, k) = (extent(), extent(), extent());
    let batch = if random.chance(4) { random.below(4) } else { 1 };
    MatmulShape::new(m, n, k)
        .batched(batch)
        .transposed(random.chance(2), random.chance(2))
}

fn lengths(shape: &MatmulShape) -> [usize; 3] {
    [shape.m * shape.k, shape.k * shape.n, shape.m * shape.n].map(|len| len * shape.batch)
}

/// Result and bound of `alpha · a · b + beta · c`.
fn expected(
    shape: &MatmulShape,
    alpha: f64,
    a: &[f64],
    b: &[f64],
    beta: f64,
    c: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (mut exact, mut size) = (c.to_vec(), magnitudes(c));
    naive::matmul(shape, alpha, a, b, beta, &mut exact).expect("lengths");
    naive::matmul(
        shape,
        alpha.abs(),
        &magnitudes(a),
        &magnitudes(b),
        beta.abs(),
        &mut size,
    )
    .expect("lengths");
    (exact, size)
}

#[test]
fn products_agree_with_the_textbook() {
    let mut random = Random::new(20);
    for round in 0..600 {
        let shape = random_shape(&mut random);
        let [a_len, b_len, c_len] = lengths(&shape);
        let (a, b, c) = (random.f32s(a_len), random.f32s(b_len), random.f32s(c_len));
        let (alpha, beta) =
            [(1.0, 0.0), (1.0, 1.0), (-0.5, 2.0), (0.0, 1.0), (2.0, 0.0)][round % 5];
        let width = 1 + random.below(3);
        let plan = Matmul::<f32>::new(shape, width).expect("a shape");
        let context = format!("{shape:?}, alpha {alpha}, beta {beta}");
        let (exact, size) = expected(&shape, alpha, &wide(&a), &wide(&b), beta, &wide(&c));
        let epsilon = f64::from(f32::EPSILON) * (shape.k + 2) as f64;
        let bounds: Vec<f64> = size.iter().map(|size| size * epsilon).collect();

        let mut packed = vec![f32::NAN; plan.packed_b_len()];
        plan.pack_b(&b, &mut packed).expect("lengths");
        let (alpha, beta) = (alpha as f32, beta as f32);
        for operands in [
            MatmulOperands::new(&a, &b),
            MatmulOperands::packed(&a, &packed),
        ] {
            let operands = operands.alpha(alpha).beta(beta);
            let serial = run(&plan, &Serial, operands, c.clone());
            assert_within(&context, &wide(&serial), &exact, &bounds);
            assert_eq!(
                run(&plan, &ScopedThreads::new(2), operands, c.clone()),
                serial,
                "{context} on two threads"
            );
        }
        let mut oracle = c.clone();
        naive::matmul(&shape, alpha, &a, &b, beta, &mut oracle).expect("lengths");
        assert_within(&context, &wide(&oracle), &exact, &bounds);
    }
}

#[test]
fn a_row_of_a_packed_product_does_not_depend_on_the_number_of_rows() {
    const ROWS: usize = 14;
    let mut random = Random::new(22);
    for (n, k) in [(1, 5), (33, 64), (300, 100), (1000, 1030)] {
        let (a, b) = (random.f32s(ROWS * k), random.f32s(k * n));
        let product = |rows: usize| {
            let plan = Matmul::<f32>::new(MatmulShape::new(rows, n, k), 1).expect("a shape");
            let mut packed = vec![f32::NAN; plan.packed_b_len()];
            plan.pack_b(&b, &mut packed).expect("lengths");
            let operands = MatmulOperands::packed(&a[..rows * k], &packed);
            run(&plan, &Serial, operands, vec![f32::NAN; rows * n])
        };
        let all = product(ROWS);
        for rows in 1..ROWS {
            assert_eq!(
                product(rows),
                all[..rows * n],
                "{rows} rows of {n} sums of {k}"
            );
        }
    }
}

#[test]
fn double_precision_products_agree_with_the_textbook() {
    let mut random = Random::new(21);
    for _ in 0..200 {
        let shape = random_shape(&mut random);
        let [a_len, b_len, c_len] = lengths(&shape);
        let (a, b, c) = (random.f64s(a_len), random.f64s(b_len), random.f64s(c_len));
        let plan = Matmul::<f64>::new(shape, 1).expect("a shape");
        let (exact, size) = expected(&shape, 1.5, &a, &b, -1.0, &c);
        let bounds: Vec<f64> = size
            .iter()
            .map(|size| size * 2.0 * f64::EPSILON * (shape.k + 2) as f64)
            .collect();
        let found = run(
            &plan,
            &Serial,
            MatmulOperands::new(&a, &b).alpha(1.5).beta(-1.0),
            c,
        );
        assert_within(&format!("{shape:?}"), &found, &exact, &bounds);
    }
}

#[test]
fn long_sums_and_many_blocks_agree_with_the_textbook() {
    let mut random = Random::new(22);
    // More than one range of k, more than one chunk of rows, rows that compete for the cache, many
    // blocks.
    for (m, n, k) in [
        (40, 40, 1100),
        (300, 70, 1100),
        (64, 300, 512),
        (3, 700, 1500),
        // Rows of `b` that are long.
        (1, 16_401, 13),
        (3, 16_990, 1030),
        (150, 260, 1024),
    ] {
        for transposed in [(false, false), (true, true)] {
            let shape = MatmulShape::new(m, n, k).transposed(transposed.0, transposed.1);
            let [a_len, b_len, c_len] = lengths(&shape);
            let (a, b, c) = (random.f32s(a_len), random.f32s(b_len), random.f32s(c_len));
            let shift = random.f32s(n);
            let plan = Matmul::<f32>::new(shape, 3).expect("a shape");
            let (mut exact, size) = expected(&shape, 1.0, &wide(&a), &wide(&b), 1.0, &wide(&c));
            for row in exact.chunks_mut(n) {
                row.iter_mut()
                    .zip(&shift)
                    .for_each(|(x, &shift)| *x = (*x + f64::from(shift)).max(0.0));
            }
            let bounds: Vec<f64> = size
                .iter()
                .map(|size| size * f64::from(f32::EPSILON) * (k + 2) as f64)
                .collect();
            let mut packed = vec![0.0; plan.packed_b_len()];
            plan.pack_b(&b, &mut packed).expect("lengths");
            let one = Matmul::<f32>::new(shape, 1).expect("a shape");
            for operands in [
                MatmulOperands::new(&a, &b),
                MatmulOperands::packed(&a, &packed),
            ] {
                let operands = operands
                    .beta(1.0)
                    .shift(&shift)
                    .activation(Activation::Relu);
                let found = run(&plan, &ScopedThreads::new(3), operands, c.clone());
                assert_within(&format!("{shape:?}"), &wide(&found), &exact, &bounds);
                assert_eq!(
                    run(&one, &Serial, operands, c.clone()),
                    found,
                    "the number of blocks does not matter"
                );
            }
        }
    }
}

#[test]
fn only_long_rows_keep_sums_in_memory() {
    use tfrt_compute::job::Plan;

    let bytes = |columns, width| {
        let shape = MatmulShape::new(1, columns, 512);
        let single = Matmul::<f32>::new(shape, width).expect("a shape");
        let double = Matmul::<f64>::new(shape, width).expect("a shape");
        [4 * single.workspace_len(), 8 * double.workspace_len()]
    };
    for width in [1, 4] {
        assert_eq!(bytes(20_000, width), [16 << 10; 2]);
        assert_eq!(bytes(10_000, width), [0; 2]);
    }
}

#[test]
fn threads_get_equally_many_blocks() {
    use tfrt_compute::job::Plan;

    let blocks = |n, k, width| {
        let shape = MatmulShape::new(1, n, k);
        let plan = Matmul::<f32>::new(shape, width).expect("a shape");
        plan.blocks()
    };
    // 8 MB of `b` are worth 7 blocks, which two threads cannot share equally.
    assert_eq!(blocks(1_024, 1_960, 2), 6);
    assert_eq!(blocks(1_024, 1_960, 4), 4);
    assert_eq!(blocks(1_024, 1_960, 1), 1);
    // Few columns allow few blocks.
    for n in (16..400).step_by(16) {
        let found = blocks(n, 1 << 22 >> n.ilog2(), 2);
        assert!(
            found == 1 || found % 2 == 0,
            "{n} columns in {found} blocks"
        );
    }
}

#[test]
fn fused_functions_come_last() {
    let mut random = Random::new(23);
    for columns in [1, 5, 16, 33, 64] {
        for rows in [1, 3, 20] {
            let shape = MatmulShape::new(rows, columns, 4);
            let (a, b) = (random.f32s(rows * 4), random.f32s(4 * columns));
            let (scale, shift) = (random.f32s(columns), random.f32s(columns));
            let plan = Matmul::<f32>::new(shape, 1).expect("a shape");
            let product = run(
                &plan,
                &Serial,
                MatmulOperands::new(&a, &b),
                vec![0.0; rows * columns],
            );
            let functions: [(Activation, Function); 4] = [
                (Activation::None, |x| x),
                (Activation::Relu, |x| x.max(0.0)),
                (Activation::Relu6, |x| x.clamp(0.0, 6.0)),
                (Activation::Elu, |x| if x < 0.0 { x.exp_m1() } else { x }),
            ];
            for (activation, function) in functions {
                let scales: Vec<f32> = scale.iter().map(|x| x * 8.0).collect();
                let operands = MatmulOperands::new(&a, &b)
                    .scale(&scales)
                    .shift(&shift)
                    .activation(activation);
                let found = run(&plan, &Serial, operands, vec![f32::NAN; rows * columns]);
                let exact: Vec<f64> = product
                    .iter()
                    .enumerate()
                    .map(|(place, &x)| {
                        let column = place % columns;
                        function(
                            f64::from(x) * f64::from(scales[column]) + f64::from(shift[column]),
                        )
                    })
                    .collect();
                assert_within(
                    &format!("{activation:?}"),
                    &wide(&found),
                    &exact,
                    &vec![8e-6; exact.len()],
                );
            }
        }
    }
}

#[test]
fn beta_zero_does_not_read_and_nan_spreads() {
    for (m, n, k) in [(1, 3, 2), (20, 40, 3), (3, 40, 0), (20, 40, 0)] {
        let plan = Matmul::<f32>::new(MatmulShape::new(m, n, k), 1).expect("a shape");
        let (a, b) = (vec![1.0; m * k], vec![1.0; k * n]);
        let found = run(
            &plan,
            &Serial,
            MatmulOperands::new(&a, &b),
            vec![f32::NAN; m * n],
        );
        assert_eq!(found, vec![k as f32; m * n]);
    }
    let plan = Matmul::<f32>::new(MatmulShape::new(2, 2, 2), 1).expect("a shape");
    let operands = MatmulOperands::new(&[f32::NAN, 0.0, 1.0, 1.0], &[1.0, f32::INFINITY, 1.0, 1.0]);
    let found = run(
        &plan,
        &Serial,
        operands.activation(Activation::Relu),
        vec![0.0; 4],
    );
    assert!(found[0].is_nan() && found[1].is_nan());
    assert_eq!(&found[2..], [2.0, f32::INFINITY]);
}

#[test]
fn integers_wrap_around_and_complex_numbers_multiply() {
    let mut random = Random::new(24);
    for _ in 0..200 {
        let shape = random_shape(&mut random);
        let [a_len, b_len, c_len] = lengths(&shape);
        let (a, b, c) = (random.i32s(a_len), random.i32s(b_len), random.i32s(c_len));
        let mut found = c.clone();
        naive::matmul(&shape, 3, &a, &b, -7, &mut found).expect("lengths");
        for (place, &found) in found.iter().enumerate() {
            let (product, row, column) = (
                place / (shape.m * shape.n),
                place / shape.n % shape.m,
                place % shape.n,
            );
            let mut sum = 0_i128;
            for k in 0..shape.k {
                let at = if shape.transposes_a {
                    k * shape.m + row
                } else {
                    row * shape.k + k
                };
                let bt = if shape.transposes_b {
                    column * shape.k + k
                } else {
                    k * shape.n + column
                };
                sum += i128::from(a[product * shape.m * shape.k + at])
                    * i128::from(b[product * shape.k * shape.n + bt]);
            }
            assert_eq!(
                found,
                (3 * sum - 7 * i128::from(c[place])) as i32,
                "{shape:?}"
            );
        }
    }
    let i = Complex::new(0.0_f32, 1.0);
    let mut square = [Complex::default()];
    naive::matmul(
        &MatmulShape::new(1, 1, 1),
        Complex::new(1.0, 0.0),
        &[i],
        &[i],
        Complex::default(),
        &mut square,
    )
    .expect("lengths");
    assert_eq!(square, [Complex::new(-1.0, 0.0)]);
}

#[test]
fn lengths_are_checked_before_anything_is_written() {
    use tfrt_compute::job::Plan;

    let plan = Matmul::<f32>::new(MatmulShape::new(2, 3, 4), 1).expect("a shape");
    let (a, b) = ([0.0; 8], [0.0; 12]);
    let mut workspace = vec![0.0; plan.workspace_len()];
    let mut output = [5.0; 6];
    let mut refused = |operands: MatmulOperands<'_, f32>, output: &mut [f32]| {
        plan.run(&Serial, operands, output, &mut workspace)
            .unwrap_err()
            .to_string()
    };
    let short = MatmulOperands::new(&a[1..], &b);
    assert_eq!(
        refused(short, &mut output),
        "matmul: expected 8 elements in `a`, found 7"
    );
    let short = MatmulOperands::new(&a, &b[1..]);
    assert_eq!(
        refused(short, &mut output),
        "matmul: expected 12 elements in `b`, found 11"
    );
    let short = MatmulOperands::new(&a, &b).shift(&[0.0; 2]);
    assert_eq!(
        refused(short, &mut output),
        "matmul: expected 3 elements in `shift`, found 2"
    );
    assert_eq!(
        refused(MatmulOperands::new(&a, &b), &mut output[1..]),
        "matmul: expected 6 elements in `output`, found 5"
    );
    assert_eq!(output, [5.0; 6]);
    assert!(Matmul::<f32>::new(MatmulShape::new(usize::MAX, 2, 2), 1).is_err());
}
