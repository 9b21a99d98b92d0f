//! Are the loops of the element-wise routines vector code, and do rows, images and reductions run
//! at the speed of memory?
//!
//! For each routine: nanoseconds and bytes read and written for each element, at best, on one
//! thread, with operands that stay in the second-level cache. Loops that are not vectorised stand
//! out by a factor of ten. `cargo bench -p tfrt-compute --bench element_wise`.

use std::time::Instant;

use tfrt_compute::binary::{self, Binary};
use tfrt_compute::broadcast::Broadcast;
use tfrt_compute::cast::cast;
use tfrt_compute::convolution::{Padding, Window};
use tfrt_compute::normalization::BatchNorm;
use tfrt_compute::pooling::Pooling;
use tfrt_compute::reduction::{Axes, Reduction};
use tfrt_compute::softmax;
use tfrt_compute::transpose::transpose;
use tfrt_compute::unary::{self, Unary};

const LEN: usize = 1 << 14;
const CHANNELS: usize = 64;

fn measure(name: &str, elements: usize, mut routine: impl FnMut()) {
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let start = Instant::now();
        routine();
        best = best.min(start.elapsed().as_secs_f64());
    }
    println!("{name:<32} {:>8.3} ns", best * 1e9 / elements as f64);
}

fn main() {
    let input: Vec<f32> = (0..LEN)
        .map(|place| (place % 97) as f32 / 40.0 + 0.01)
        .collect();
    let wide: Vec<f64> = input.iter().map(|&x| f64::from(x)).collect();
    let (mut output, mut wide_output) = (vec![0.0_f32; LEN], vec![0.0_f64; LEN]);
    println!("for each element:");
    for function in [
        Unary::Relu,
        Unary::Exp,
        Unary::Ln,
        Unary::Ln1p,
        Unary::Rsqrt,
        Unary::Sigmoid,
        Unary::Tanh,
        Unary::Elu,
    ] {
        measure(&format!("{function:?} f32"), LEN, || {
            unary::apply(function, &input, &mut output)
        });
        measure(&format!("{function:?} f64"), LEN, || {
            unary::apply(function, &wide, &mut wide_output)
        });
    }
    let integers: Vec<i32> = (0..LEN as i32).collect();
    let mut integer_output = vec![0; LEN];
    measure("add f32", LEN, || {
        binary::apply(Binary::Add, &input, &input, &mut output)
    });
    measure("multiply i32", LEN, || {
        binary::apply(Binary::Mul, &integers, &integers, &mut integer_output)
    });
    let rows = Broadcast::new(&[LEN / CHANNELS, CHANNELS], &[CHANNELS]).expect("a bias");
    measure("add f32, a row to each", LEN, || {
        binary::broadcast(Binary::Add, &rows, &input, &input[..CHANNELS], &mut output)
            .expect("lengths");
    });
    measure("cast i32 to f32", LEN, || cast(&integers, &mut output));
    measure("transpose f32", LEN, || {
        transpose(&[128, 128], &[1, 0], &input, &mut output).expect("lengths")
    });
    measure("softmax f32, rows of 128", LEN, || {
        softmax::softmax(128, &input, &mut output).expect("rows")
    });
    let mut sums = vec![0.0; 128];
    for axis in [0, 1] {
        let axes = Axes::new(&[128, 128], &[axis]).expect("an axis");
        measure(&format!("sum f32 along axis {axis}"), LEN, || {
            axes.reduce(Reduction::Sum, &input, &mut sums)
                .expect("lengths");
        });
    }
    let parameters = &input[..CHANNELS];
    let norm = BatchNorm {
        scale: parameters,
        offset: parameters,
        mean: parameters,
        variance: parameters,
        epsilon: 1e-3,
    };
    measure("batch norm f32", LEN, || {
        norm.apply(&input, &mut output).expect("channels")
    });
    let window = Window::new(16, 3, 2, 1, Padding::Same).expect("a window");
    let pooling = Pooling::new(1, window, window, CHANNELS).expect("a shape");
    let pooled = &mut output[..pooling.output_len()];
    measure("max pool 3 x 3 f32, per input", LEN, || {
        pooling.max(f32::MIN, &input, pooled).expect("lengths")
    });
}
