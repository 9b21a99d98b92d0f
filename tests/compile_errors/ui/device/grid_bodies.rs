#![allow(unused_variables)]

use tfrt::device::grid::{Grid, OutView, Shared, View};
use tfrt::prelude::*;

#[tfrt_kernel("my.divergent", grid(block = [32]))]
fn divergent(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    if grid.thread(0) < 16 {
        grid.barrier();
    }
    for i in 0..grid.thread(0) {
        grid.barrier();
    }
    let n = x[0] as u32;
    for i in 0..n {
        grid.barrier();
    }
    let mut m = 4;
    for i in 0..m {
        for j in 0..2 {
            grid.barrier();
        }
    }
    let z = { grid.barrier(); 1.0 };
    grid.barrier(1);
}

#[tfrt_kernel("my.leaving", grid(block = [32]))]
fn leaving(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    if grid.index(0) >= x.extent(0) {
        return;
    }
    for i in 0..4 {
        if x[i] > 0.0 {
            break;
        }
        grid.barrier();
        if x[i] > 1.0 {
            continue;
        }
        // This loop is that of one thread.
        for j in 0..4 {
            break;
        }
    }
    if x[0] > 2.0 {
        break;
    }
    if x[0] > 3.0 {
        continue;
    }
    return x[0];
}

#[tfrt_kernel("my.hidden", grid(block = [32]))]
fn hidden(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    if grid.index(0) >= x.extent(0) {
        return;
    }
    (grid).barrier();
    y[grid.index(0)] = 1.0;
}

#[tfrt_kernel("my.access", grid(block = [32], blocks = [1]))]
fn access(
    grid: &Grid,
    x: &View<f32, 2>,
    n: f32,
    row: &mut Shared<f32, 4>,
    y: &mut OutView<f32, 2>,
) {
    x[[0, 0]] = 1.0;
    y[[0, 0]] += 1.0;
    let a = y[[0, 0]];
    let b = x[0];
    row[[0, 1]] = b;
    n[0] = 1.0;
    let c = n[0];
    let d = x;
    let e = grid;
    let f = x.max(1.0);
    x = 2.0;
}

#[tfrt_kernel("my.methods", grid(block = [32]))]
fn methods(
    grid: &Grid,
    x: &View<u32, 1>,
    row: &mut Shared<u32, 4>,
    y: &mut OutView<u32, 1>,
) {
    let a = grid.thred(0);
    let b = grid.index(3);
    let c = grid.index();
    let d = grid.index(a);
    let e = x.extents(0);
    let f = x.extent(1);
    row.atomic_add(0);
    let g = row.atomic_add(0, 1);
    row.atomic_ad(0, 1);
    x.atomic_add(0, 1);
    y.atomic_add(0, 1);
}

#[tfrt_kernel("my.float_atomics", grid(block = [32], initial = 0.0))]
fn float_atomics(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    y.atomic_add(0, x[grid.index(0)]);
}

#[tfrt_kernel("my.names", grid(block = [32]))]
fn names(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    let a = x[0];
    grid.barrier();
    let a = x[1];
    while a > 0.0 {}
    let (b, c) = (a, a);
}

fn main() {}
