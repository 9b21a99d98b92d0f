#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.make")]
fn make() -> Result<i32, u8> {
    Err(1)
}

fn main() {}
