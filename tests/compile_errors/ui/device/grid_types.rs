use tfrt::device::grid::{Grid, OutView, Shared, View};
use tfrt::prelude::*;

#[tfrt_kernel("my.values", grid(block = [32], shape = [x.extent(0)]))]
fn values(grid: &Grid, x: &View<f32, 1>, row: &mut Shared<i32, 4>, y: &mut OutView<f64, 1>) {
    y[grid.index(0)] = x[grid.index(0)];
    row[0] = 1.5;
    row[1] += x[0];
    let i: i32 = 0;
    y[i] = 0.0;
}

#[tfrt_kernel("my.initial", grid(block = [32], initial = 0))]
fn initial(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    y[grid.index(0)] = x[grid.index(0)];
}

#[tfrt_kernel("my.shape", grid(block = [32], shape = [1.5]))]
fn shape(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {
    y[grid.index(0)] = x[grid.index(0)];
}

fn main() {}
