#![allow(unused_variables)]

use tfrt::prelude::*;

struct Adder;

impl Adder {
    #[tfrt_kernel("my.add")]
    fn add(&self, a: i32) -> i32 {
        a
    }
}

fn main() {}
