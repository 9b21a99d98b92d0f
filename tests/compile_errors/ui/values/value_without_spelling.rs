#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
struct Point;

fn main() {}
