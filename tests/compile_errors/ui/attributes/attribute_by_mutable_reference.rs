#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(#[attr] text: &mut str) {}

fn main() {}
