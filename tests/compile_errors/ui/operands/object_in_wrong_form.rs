#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(a: Option<&dyn Send>, b: &mut dyn Send, c: Box<dyn Send>, d: &dyn Fn(i32) -> i32) {}

fn main() {}
