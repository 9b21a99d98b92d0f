#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct Cache;

#[tfrt_kernel("my.find")]
fn find(cache: Res<Cache>) {}

fn main() {}
