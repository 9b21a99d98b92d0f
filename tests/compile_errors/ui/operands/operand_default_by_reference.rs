#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.guest")]
struct Guest;

#[tfrt_kernel("my.greet")]
fn greet(#[operand(default = &Guest)] guest: &Guest) {}

fn main() {}
