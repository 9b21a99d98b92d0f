#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

/// These are errors of the compiler, at the operators and methods of the function.
#[tfrt_device]
fn mixed(x: f32, y: f64, n: i32) -> f32 {
    x + y
}

#[tfrt_device]
fn remainder(x: f32) -> f32 {
    x % 2.0
}

#[tfrt_device]
fn double(x: f64) -> f64 {
    x.sin()
}

#[tfrt_device]
fn whole(x: i32) -> i32 {
    x.sqrt()
}

#[tfrt_device]
fn unsigned(x: u32) -> u32 {
    -x
}

#[tfrt_device]
fn truth(x: bool) -> bool {
    x + x
}

const NAME: &str = "name";

#[tfrt_device]
fn constant(x: f32) -> f32 {
    NAME;
    x
}

fn helper(x: f32) -> f32 {
    x
}

#[tfrt_device]
fn plain(x: f32) -> f32 {
    helper(x)
}

#[tfrt_kernel("my.sum", reduce(identity = 0.0, combine = missing))]
fn missing_function(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.sum2", reduce(identity = 0, combine = add))]
fn wrong_identity(x: f32) -> f32 {
    x
}

fn main() {}
