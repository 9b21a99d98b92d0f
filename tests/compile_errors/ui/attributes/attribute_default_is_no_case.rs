#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Attr)]
enum Padding {
    Same,
    Valid,
}

const FIVE: i32 = 5;

#[tfrt_kernel("my.pad")]
fn pad(#[attr(default = FIVE)] padding: Padding) {}

fn main() {}
