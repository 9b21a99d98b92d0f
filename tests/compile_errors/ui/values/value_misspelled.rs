#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("my.point")]
struct Point;

#[derive(Value)]
#[value("!my.buffer", mut_able)]
struct Buffer;

fn main() {}
