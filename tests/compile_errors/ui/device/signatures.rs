#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

#[tfrt_device]
async fn later(x: f32) -> f32 {
    x
}

#[tfrt_device]
const fn early(x: f32) -> f32 {
    x
}

#[tfrt_device]
unsafe fn risky(x: f32) -> f32 {
    x
}

#[tfrt_device]
extern "C" fn foreign(x: f32) -> f32 {
    x
}

#[tfrt_device]
fn generic<T>(x: f32) -> f32 {
    x
}

#[tfrt_device]
fn unnamed((x, y): f32, _: f32) -> f32 {
    1.0
}

#[tfrt_device]
fn marked(#[attr] x: f32) -> f32 {
    x
}

#[tfrt_device(fast)]
fn optioned(x: f32) -> f32 {
    x
}

#[tfrt_device]
struct Function;

fn main() {}
