#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.parse")]
fn parse(text: &str) -> Result<i32, Box<dyn std::error::Error>> {
    Ok(text.parse()?)
}

fn main() {}
