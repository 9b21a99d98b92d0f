#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

#[tfrt_kernel(elementwise)]
fn unnamed(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.constant", elementwise)]
fn constant() -> f32 {
    1.0
}

#[tfrt_kernel("my.many", elementwise)]
fn many(a: f32, b: f32, c: f32, d: f32, e: f32, f: f32, g: f32, h: f32, i: f32) -> f32 {
    a
}

#[tfrt_kernel("my.twice", elementwise, elementwise)]
fn twice(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.valued", elementwise = 2)]
fn valued(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.sum", reduce)]
fn sum(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.sum", reduce(identity = 0.0))]
fn half(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.sum", reduce(identity = 0.0, combin = add))]
fn misspelt(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.blocking", elementwise, blockin)]
fn misspelt_option(x: f32) -> f32 {
    x
}

#[tfrt_kernel("my.named", elementwise)]
fn named(result: f32, stream: f32) -> f32 {
    result
}

fn main() {}
