#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(a: (i32, i32), b: [i32; 2], c: &[f32], d: impl Value, e: &mut dyn Send, f: Option<i32>, g: &&i32) {}

fn main() {}
