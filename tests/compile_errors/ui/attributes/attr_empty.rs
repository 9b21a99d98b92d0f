#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Attr)]
enum Padding {}

fn main() {}
