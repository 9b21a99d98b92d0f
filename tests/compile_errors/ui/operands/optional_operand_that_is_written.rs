#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.log", mutable)]
struct Log;

#[tfrt_kernel("my.push")]
fn push(number: i32, log: Option<&mut Log>) {}

fn main() {}
