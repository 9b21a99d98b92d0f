#![allow(dead_code)]

use tfrt::prelude::*;

#[derive(Value)]
#[value(name = "!my.point", display)]
struct Point(i32);

fn main() {}
