#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.make")]
fn make() -> Result<i32, String> {
    Err("no".to_owned())
}

fn main() {}
