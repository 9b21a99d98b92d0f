//! Are our matrix products as fast as the crate `gemm`'s, and products with one row as fast as
//! memory allows?
//!
//! For each shape, the best of many runs of ours with `b` as it is, ours with `b` packed, and
//! `gemm`'s, all on one thread, taken in turn. `cargo bench -p tfrt-compute --bench matmul`, with
//! `SHAPE=128x768x3072` for one shape of rows, columns and depth.

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
    // Of GPT-2, one step: weights that memory brings.
    (1, 2304, 768),
    (1, 768, 3072),
    (1, 50257, 768),
];

/// Elements whose address is a multiple of 64, as that of tensors is.
struct Aligned {
    memory: Vec<f32>,
    start: usize,
}

fn aligned(len: usize, value: f32) -> Aligned {
    let memory = vec![value; len + 16];
    let start = memory.as_ptr().align_offset(64);
    Aligned { memory, start }
}

impl Aligned {
    fn elements(&mut self) -> &mut [f32] {
        let len = self.memory.len() - 16;
        &mut self.memory[self.start..][..len]
    }
}

fn main() {
    let only: Option<Vec<usize>> = std::env::var("SHAPE").ok().map(|shape| {
        let extents = shape
            .split('x')
            .map(|extent| extent.parse().expect("a number"));
        extents.collect()
    });
    let only = only.map(|extents| match extents[..] {
        [m, n, k] => [(m, n, k)],
        _ => panic!("SHAPE has three extents, such as 1x512x784"),
    });
    let rounds: usize = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(30);
    println!(
        "    m     n     k      plain     packed       gemm   µs;   plain  packed    gemm  GFLOP/s"
    );
    for &(m, n, k) in only.as_ref().map_or(SHAPES, |only| only) {
        let shape = MatmulShape::new(m, n, k);
        let plan = Matmul::<f32>::new(shape, 1).expect("a shape");
        let (mut a, mut b, shift) = (aligned(m * k, 0.5), aligned(k * n, 0.25), vec![1.0_f32; n]);
        let (mut c, mut packed) = (aligned(m * n, 0.0), aligned(plan.packed_b_len(), 0.0));
        let mut workspace = aligned(plan.workspace_len(), 0.0);
        let (a, b, c, packed) = (a.elements(), b.elements(), c.elements(), packed.elements());
        let workspace = workspace.elements();
        plan.pack_b(b, packed).expect("lengths of the plan");
        let calls = (2_000_000 / (m * n * k)).max(1);
        let mut best = [f64::INFINITY; 3];
        for _ in 0..rounds {
            for (variant, best) in best.iter_mut().enumerate() {
                let start = Instant::now();
                for _ in 0..calls {
                    let operands = match variant {
                        0 => MatmulOperands::new(a, b),
                        _ => MatmulOperands::packed(a, packed),
                    };
                    if variant < 2 {
                        let operands = operands.shift(&shift).activation(Activation::Relu);
                        plan.run(&Serial, operands, c, workspace)
                            .expect("lengths of the plan");
                    } else {
                        reference(shape, a, b, c);
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
