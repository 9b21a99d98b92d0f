#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pad")]
fn pad(#[attr] width: &i64, #[attr] with: &String, #[attr] extents: &Vec<i64>) {}

fn main() {}
