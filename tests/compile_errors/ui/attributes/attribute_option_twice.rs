#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pad")]
fn pad(#[attr(name = "a", name = "b", defalt = 1)] amount: i64) {}

fn main() {}
