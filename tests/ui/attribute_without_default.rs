#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pad")]
fn pad(#[attr] amount: Option<i64>) {}

fn main() {}
