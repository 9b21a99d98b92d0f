#![allow(unused_variables)]

use tfrt::device::grid::{Grid, OutView, Shared, View};
use tfrt::prelude::*;

#[tfrt_kernel("my.alone", grid)]
fn alone(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.empty", grid())]
fn empty(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.misspelt", grid(blok = [32]))]
fn misspelt(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.twice", grid(block = [32]), elementwise)]
fn twice(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.again", grid(block = [32], block = [64]))]
fn again(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.no_threads", grid(block = [0]))]
fn no_threads(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.many_threads", grid(block = [64, 32]))]
fn many_threads(grid: &Grid, x: &View<f32, 2>, y: &mut OutView<f32, 2>) {}

#[tfrt_kernel("my.deep", grid(block = [1, 1, 65]))]
fn deep(grid: &Grid, x: &View<f32, 3>, y: &mut OutView<f32, 3>) {}

#[tfrt_kernel("my.four_axes", grid(block = [2, 2, 2, 2]))]
fn four_axes(grid: &Grid, x: &View<f32, 4>, y: &mut OutView<f32, 4>) {}

#[tfrt_kernel("my.no_blocks", grid(block = [32], blocks = []))]
fn no_blocks(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.unlike", grid(block = [8, 8, 1]))]
fn unlike(grid: &Grid, x: &View<f32, 2>, y: &mut OutView<f32, 2>) {}

#[tfrt_kernel("my.no_shape", grid(block = [32]))]
fn no_shape(grid: &Grid, x: &View<f32, 2>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.other_shape", grid(block = [32], shape = [x.extent(0), 1]))]
fn other_shape(grid: &Grid, x: &View<f32, 2>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.elements", grid(block = [32], blocks = [x[0]], shape = [x.extent(1)]))]
fn elements(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.no_grid", grid(block = [32]))]
fn no_grid(x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.late_grid", grid(block = [32]))]
fn late_grid(x: &View<f32, 1>, grid: &Grid, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.no_result", grid(block = [32]))]
fn no_result(grid: &Grid, x: &View<f32, 1>) {}

#[tfrt_kernel("my.two_results", grid(block = [32]))]
fn two_results(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>, z: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.value", grid(block = [32]))]
fn value(grid: &Grid, x: &View<f32, 1>, y: &mut OutView<f32, 1>) -> f32 {
    0.0
}

#[tfrt_kernel("my.by_value", grid(block = [32]))]
fn by_value(grid: Grid, x: View<f32, 1>, row: Shared<f32, 4>, y: OutView<f32, 1>) {}

#[tfrt_kernel("my.borrows", grid(block = [32]))]
fn borrows(grid: &mut Grid, x: &mut View<f32, 1>, row: &Shared<f32, 4>, y: &OutView<f32, 1>) {}

#[tfrt_kernel("my.arguments", grid(block = [32]))]
fn arguments(grid: &Grid, x: &View<f32>, row: &mut Shared<f32>, y: &mut OutView<f32, 9>) {}

#[tfrt_kernel("my.types", grid(block = [32]))]
fn types(grid: &Grid, x: &View<f32, 1>, n: usize, s: &[f32], y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.patterns", grid(block = [32]))]
fn patterns(grid: &Grid, mut n: u32, #[attr] x: &View<f32, 1>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.no_operands", grid(block = [32], shape = [4]))]
fn no_operands(grid: &Grid, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.large", grid(block = [32]))]
fn large(grid: &Grid, x: &View<f32, 1>, tile: &mut Shared<f64, 6145>, y: &mut OutView<f32, 1>) {}

#[tfrt_kernel("my.none", grid(block = [32]))]
fn none(grid: &Grid, x: &View<f32, 1>, tile: &mut Shared<bool, 0>, y: &mut OutView<f32, 1>) {}

fn main() {}
