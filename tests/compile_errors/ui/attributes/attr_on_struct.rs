#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Attr)]
struct Padding(i32);

fn main() {}
