//! How near do the convolutions of ResNet-50 (batch 1) come to what this processor can do at best?
//!
//! For each layer shape: the best of many runs on 1 thread, directly and by minimal filtering where
//! it suits, and on 2 threads by the faster of the two, in GFLOP/s (of the direct convolution's
//! operations); below, the sum over all layers, and the rate of a 1024³ matrix product of the crate
//! `gemm` in the same process, to compare with on a machine that others use as well.
//! `cargo bench -p tfrt-compute --bench resnet50`, with `ROUNDS=100` where others compute, and
//! `LAYER=3` for the fourth shape alone, such as under a profiler.

use std::time::Instant;

use tfrt_compute::Activation;
use tfrt_compute::convolution::{
    Conv2dShape, Convolution, ConvolutionOperands, Padding, Window, Winograd,
};
use tfrt_compute::job::Plan;
use tfrt_compute::parallel::{Parallel, ScopedThreads, Serial};

/// The number of times that a layer occurs, its image, window, stride, and channels.
const LAYERS: &[(usize, usize, usize, usize, usize, usize)] = &[
    (1, 224, 7, 2, 3, 64),
    (1, 56, 1, 1, 64, 64),
    (3, 56, 3, 1, 64, 64),
    (4, 56, 1, 1, 64, 256),
    (2, 56, 1, 1, 256, 64),
    (1, 56, 1, 1, 256, 128),
    (1, 56, 3, 2, 128, 128),
    (1, 56, 1, 2, 256, 512),
    (4, 28, 1, 1, 128, 512),
    (3, 28, 1, 1, 512, 128),
    (3, 28, 3, 1, 128, 128),
    (1, 28, 1, 1, 512, 256),
    (1, 28, 3, 2, 256, 256),
    (1, 28, 1, 2, 512, 1024),
    (6, 14, 1, 1, 256, 1024),
    (5, 14, 1, 1, 1024, 256),
    (5, 14, 3, 1, 256, 256),
    (1, 14, 1, 1, 1024, 512),
    (1, 14, 3, 2, 512, 512),
    (1, 14, 1, 2, 1024, 2048),
    (3, 7, 1, 1, 512, 2048),
    (2, 7, 1, 1, 2048, 512),
    (2, 7, 3, 1, 512, 512),
];

fn aligned(len: usize) -> (Vec<f32>, usize) {
    let memory: Vec<f32> = (0..len + 16)
        .map(|index| (index % 17) as f32 / 16.0 - 0.5)
        .collect();
    let start = memory.as_ptr().align_offset(64);
    (memory, start)
}

/// A way to compute a layer.
enum Way {
    Direct(Convolution),
    Minimal(Winograd),
}

/// One layer, ready to run.
struct Layer {
    way: Way,
    shape: Conv2dShape,
    packed: (Vec<f32>, usize),
    packed_len: usize,
    input: (Vec<f32>, usize),
    output: (Vec<f32>, usize),
    shift: Vec<f32>,
    workspace: Vec<f32>,
    best: f64,
}

impl Layer {
    fn new(shape: Conv2dShape, width: usize, is_minimal: bool) -> Self {
        let filter = vec![0.125; shape.filter_len()];
        let (way, packed, packed_len, workspace_len) = if is_minimal {
            let plan = Winograd::new(shape, width).expect("it suits");
            let len = plan.packed_filter_len();
            let mut packed = aligned(len);
            plan.pack_filter(&filter, &mut packed.0[packed.1..][..len])
                .expect("lengths of the plan");
            let workspace_len = plan.workspace_len() * plan.blocks();
            (Way::Minimal(plan), packed, len, workspace_len)
        } else {
            let plan = Convolution::new(shape, width);
            let len = plan.packed_filter_len();
            let mut packed = aligned(len);
            plan.pack_filter(&filter, &mut packed.0[packed.1..][..len])
                .expect("lengths of the plan");
            let workspace_len = plan.workspace_len() * plan.blocks();
            (Way::Direct(plan), packed, len, workspace_len)
        };
        Self {
            way,
            shape,
            packed,
            packed_len,
            input: aligned(shape.input_len()),
            output: aligned(shape.output_len()),
            shift: vec![0.5; shape.out_channels],
            workspace: vec![0.0; workspace_len],
            best: f64::INFINITY,
        }
    }

    fn measure(&mut self, parallel: &dyn Parallel) {
        let input = &self.input.0[self.input.1..][..self.shape.input_len()];
        let packed = &self.packed.0[self.packed.1..][..self.packed_len];
        let output = &mut self.output.0[self.output.1..][..self.shape.output_len()];
        let operands = ConvolutionOperands::new(input, packed)
            .shift(&self.shift)
            .activation(Activation::Relu);
        let start = Instant::now();
        let result = match &self.way {
            Way::Direct(plan) => plan.run(parallel, operands, output, &mut self.workspace),
            Way::Minimal(plan) => plan.run(parallel, operands, output, &mut self.workspace),
        };
        result.expect("lengths of the plan");
        self.best = self.best.min(start.elapsed().as_secs_f64());
    }

    fn rate(&self) -> f64 {
        self.shape.operations() as f64 / self.best / 1e9
    }
}

fn main() {
    let rounds: usize = std::env::var("ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(30);
    let only: Option<usize> = std::env::var("LAYER")
        .ok()
        .and_then(|layer| layer.parse().ok());
    let selected: Vec<_> = LAYERS
        .iter()
        .enumerate()
        .filter(|(index, _)| only.is_none_or(|only| only == *index))
        .map(|(_, layer)| layer)
        .collect();
    let mut layers: Vec<[Layer; 3]> = selected
        .iter()
        .map(|&&(_, image, size, stride, in_channels, out_channels)| {
            let window = Window::new(image, size, stride, 1, Padding::Same).expect("a window");
            let shape =
                Conv2dShape::new(1, window, window, in_channels, out_channels).expect("a shape");
            let suits = Winograd::suits(&shape);
            [
                Layer::new(shape, 1, false),
                Layer::new(shape, 1, suits),
                Layer::new(shape, 2, suits),
            ]
        })
        .collect();
    let mut reference = Reference::new();
    // Round by round, so that each layer has its share of the moments when nobody else computes.
    for _ in 0..rounds {
        for [direct, fast, parallel] in &mut layers {
            for _ in 0..3 {
                direct.measure(&Serial);
                fast.measure(&Serial);
                parallel.measure(&ScopedThreads::new(2));
            }
        }
        reference.measure();
    }
    println!(
        "                                  direct, 1 thread    fastest, 1 thread  fastest, 2 \
         threads"
    );
    println!(
        "  x image win str    in   out       ms   GFLOP/s         ms   GFLOP/s        ms   GFLOP/s"
    );
    let (mut totals, mut operations) = ([0.0; 3], 0);
    for (&(count, image, size, stride, in_channels, out_channels), ways) in
        selected.iter().copied().zip(&layers)
    {
        print!("{count:>3} {image:>5} {size:>3} {stride:>3} {in_channels:>5} {out_channels:>5}");
        for (total, way) in totals.iter_mut().zip(ways) {
            print!(" {:>9.3} {:>9.1} ", way.best * 1e3, way.rate());
            *total += count as f64 * way.best;
        }
        println!();
        operations += count * ways[0].shape.operations();
    }
    for (way, total) in [
        "direct, 1 thread",
        "fastest, 1 thread",
        "fastest, 2 threads",
    ]
    .iter()
    .zip(totals)
    {
        println!(
            "{way}: {:.2} ms, {:.1} GFLOP/s on average",
            total * 1e3,
            operations as f64 / total / 1e9
        );
    }
    println!("gemm 1024: {:.1} GFLOP/s on 1 thread", reference.rate());
}

/// A square matrix product of the crate `gemm`.
struct Reference {
    a: Vec<f32>,
    b: Vec<f32>,
    c: Vec<f32>,
    best: f64,
}

impl Reference {
    const SIZE: usize = 1024;

    fn new() -> Self {
        let matrix = vec![0.5; Self::SIZE * Self::SIZE];
        Self {
            a: matrix.clone(),
            b: matrix.clone(),
            c: matrix,
            best: f64::INFINITY,
        }
    }

    fn measure(&mut self) {
        let (size, row) = (Self::SIZE, Self::SIZE as isize);
        let start = Instant::now();
        // SAFETY: three square matrices of `SIZE` rows, row-major, in slices of `SIZE²` elements;
        // `c` is nobody else's.
        unsafe {
            gemm::gemm(
                size,
                size,
                size,
                self.c.as_mut_ptr(),
                1,
                row,
                false,
                self.a.as_ptr(),
                1,
                row,
                self.b.as_ptr(),
                1,
                row,
                0.0,
                1.0,
                false,
                false,
                false,
                gemm::Parallelism::None,
            );
        }
        self.best = self.best.min(start.elapsed().as_secs_f64());
    }

    fn rate(&self) -> f64 {
        2.0 * (Self::SIZE.pow(3)) as f64 / self.best / 1e9
    }
}
