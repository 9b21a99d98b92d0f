#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.point", mutabel)]
struct Point;

#[derive(Value)]
#[value("!my.line", mutable, mutable)]
struct Line;

#[derive(Value)]
#[value]
struct Plane;

fn main() {}
