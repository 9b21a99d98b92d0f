#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.call", raw)]
fn call(frame: &mut KernelFrame<'_>, a: i32) {}

#[tfrt_kernel("my.nothing", raw)]
fn nothing() {}

fn main() {}
