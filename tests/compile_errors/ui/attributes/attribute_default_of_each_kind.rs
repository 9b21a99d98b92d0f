#![allow(unused_variables)]

use tfrt::prelude::*;

const HALF: f64 = 0.5;

#[tfrt_kernel("my.text_for_number")]
fn text_for_number(#[attr(default = "x")] number: i64) {}

#[tfrt_kernel("my.negative")]
fn negative(#[attr(default = -1)] number: u32) {}

#[tfrt_kernel("my.number_for_truth")]
fn number_for_truth(#[attr(default = 1)] truth: bool) {}

#[tfrt_kernel("my.no_point")]
fn no_point(#[attr(default = 1)] number: f32) {}

#[tfrt_kernel("my.number_for_text")]
fn number_for_text(#[attr(default = 1)] text: &str) {}

#[tfrt_kernel("my.list")]
fn list(#[attr(default = 1)] list: &[i64]) {}

#[tfrt_kernel("my.shape")]
fn shape(#[attr(default = 1)] shape: ShapeView<'_>) {}

#[tfrt_kernel("my.constant")]
fn constant(#[attr(default = HALF)] number: i64) {}

fn main() {}
