#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.cell")]
struct Counter(std::cell::Cell<i32>);

fn main() {}
