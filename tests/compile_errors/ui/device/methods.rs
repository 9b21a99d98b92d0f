#![allow(unused_variables, unused_labels, unreachable_code)]

use tfrt::prelude::*;

#[tfrt_device]
fn unknown(x: f32) -> f32 {
    x.to_int_unchecked() + x.log(2.0) + x.next_up() + x.into() + x.rem_euclid(2.0)
}

#[tfrt_device]
fn counted(x: f32) -> f32 {
    x.max() + x.sin(1.0) + f32::from(x) + f32::maxx(x, x)
}

fn main() {}
