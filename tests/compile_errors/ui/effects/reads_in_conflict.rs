#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.log", mutable)]
struct Log;

#[tfrt_kernel("my.pure", reads = "io", pure)]
fn pure() {}

#[tfrt_kernel("my.effect", reads = "io", effect = "io")]
fn effect() {}

#[tfrt_kernel("my.side_effecting", side_effecting, reads = "io")]
fn side_effecting() {}

#[tfrt_kernel("my.written", reads = "io")]
fn written(log: &mut Log) {}

#[tfrt_kernel("my.unnamed", reads)]
fn unnamed() {}

fn main() {}
