#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.add")]
struct Add;

fn main() {}
