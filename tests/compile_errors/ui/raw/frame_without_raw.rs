#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.call")]
fn call(frame: &mut KernelFrame<'_>) {}

#[tfrt_kernel("my.lend")]
fn lend(frame: &KernelFrame<'_>) {}

fn main() {}
