#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.point", copied)]
struct Point;

#[derive(Clone, Copy, Value)]
#[value("!my.line", mutable, copied)]
struct Line;

fn main() {}
