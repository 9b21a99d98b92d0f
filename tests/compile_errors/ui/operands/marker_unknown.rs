#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pad")]
fn pad(#[atrr] amount: i64, #[workspce] scratch: &mut [f32]) {}

fn main() {}
