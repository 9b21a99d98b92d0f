#![allow(unused_variables)]

use std::fmt::Debug;

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(value: &dyn Debug) {}

fn main() {}
