#![allow(unused_variables)]

use tfrt::prelude::*;

fn half() -> f64 {
    0.5
}

#[tfrt_kernel("my.call")]
fn call(#[attr(default = half())] number: f64) {}

#[tfrt_kernel("my.list")]
fn list(#[attr(default = [1, 2])] list: &[i64]) {}

#[tfrt_kernel("my.nothing")]
fn nothing(#[attr(default)] number: f64) {}

fn main() {}
