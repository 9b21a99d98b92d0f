//! A kernel that takes long, and needs nothing but a processor for that.

use std::hint::black_box;

use tfrt::prelude::*;

/// Steps that take some 20 µs on a processor of 3 GHz.
const NUM_STEPS: u32 = 12_000;

/// Computes for some 20 µs, and gives the sum of its operands.
#[tfrt_kernel("tfrt_benches.spin.i32")]
fn spin(a: i32, b: i32) -> i32 {
    let mut state = a;
    for _ in 0..NUM_STEPS {
        state = black_box(state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
    }
    black_box(state);
    a.wrapping_add(b)
}
