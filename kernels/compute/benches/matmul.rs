//! Are our matrix products as fast as the crate `gemm`'s, and products with one row as fast as
//! memory allows?
//!
//! For each shape, the best of many runs of ours with `b` as it is, ours with `b` packed, and
//! `gemm`'s, all on one thread, taken in turn. `cargo bench -p tfrt-compute --bench matmul`.

use std::time::Instant;

use tfrt_compute::Activation;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;

const SHAPES: &[(usize, usize, usize)] = &[
    (1, 512, 784),
    (1, 10, 512),
    (4, 512, 784),
    (8, 512, 784),
    (9, 512, 784),
    (16, 512, 784),
    (64, 512, 784),
    (64, 64, 64),
    (256, 256, 256),
    (512, 512, 512),
    (1024, 1024, 1024),
    (100, 1000, 3000),
    // Layers of BERT and of ViT.
    (128, 768, 768),
    (128, 3072, 768),
    (128, 768, 3072),
    (197, 3072, 768),
    (197, 768, 3072),
];

fn main() {
    let rounds: usize = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(30);
    println!(
        "    m     n     k      plain     packed       gemm   µs;   plain  packed    gemm  GFLOP/s"
    );
    for &(m, n, k) in SHAPES {
        let shape = MatmulShape::new(m, n, k);
        let plan = Matmul::<f32>::new(shape, 1).expect("a shape");
        let (a, b) = (vec![0.5_f32; m * k], vec![0.25_f32; k * n]);
        let (mut c, shift) = (vec![0.0_f32; m * n], vec![1.0_f32; n]);
        let mut packed = vec![0.0; plan.packed_b_len()];
        plan.pack_b(&b, &mut packed).expect("lengths of the plan");
        let mut workspace = vec![0.0; plan.workspace_len()];
        let calls = (2_000_000 / (m * n * k)).max(1);
        let mut best = [f64::INFINITY; 3];
        for _ in 0..rounds {
            for (variant, best) in best.iter_mut().enumerate() {
                let start = Instant::now();
                for _ in 0..calls {
                    let operands = match variant {
                        0 => MatmulOperands::new(&a, &b),
                        _ => MatmulOperands::packed(&a, &packed),
                    };
                    if variant < 2 {
                        let operands = operands.shift(&shift).activation(Activation::Relu);
                        plan.run(&Serial, operands, &mut c, &mut workspace)
                            .expect("lengths of the plan");
                    } else {
                        reference(shape, &a, &b, &mut c);
                    }
                }
                *best = best.min(start.elapsed().as_secs_f64() / calls as f64);
            }
        }
        let rate = best.map(|seconds| 2.0 * (m * n * k) as f64 / seconds / 1e9);
        println!(
            "{m:>5} {n:>5} {k:>5} {:>10.1} {:>10.1} {:>10.1}      {:>7.1} {:>7.1} {:>7.1}",
            best[0] * 1e6,
            best[1] * 1e6,
            best[2] * 1e6,
            rate[0],
            rate[1],
            rate[2]
        );
    }
}

fn reference(shape: MatmulShape, a: &[f32], b: &[f32], c: &mut [f32]) {
    let (m, n, k) = (shape.m, shape.n, shape.k);
    assert!(a.len() == m * k && b.len() == k * n && c.len() == m * n);
    let (row_c, row_a, row_b) = (n as isize, k as isize, n as isize);
    // SAFETY: row-major matrices in slices of the lengths just checked; `c` is nobody else's.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            c.as_mut_ptr(),
            1,
            row_c,
            false,
            a.as_ptr(),
            1,
            row_a,
            b.as_ptr(),
            1,
            row_b,
            0.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
