#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add")]
fn add(a: Option<i32>, b: i32) {}

fn main() {}
