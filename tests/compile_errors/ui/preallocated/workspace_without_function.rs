#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.sort")]
fn sort(count: i64, #[workspace] scratch: &mut [i64]) {}

fn main() {}
