#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.sum")]
fn sum(#[attr] first: i32, rest: Attributes<'_>) {}

fn main() {}
