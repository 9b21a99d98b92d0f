#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.repeat")]
fn repeat(text: &str, times: usize, #[attr] limit: isize, #[attr] start: &usize) -> usize {
    times
}

fn main() {}
