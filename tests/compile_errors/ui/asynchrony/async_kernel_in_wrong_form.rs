#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.call", sync)]
async fn call(a: i32) -> i32 {
    a
}

#[tfrt_kernel("my.wait", blocking)]
async fn wait(a: i32) -> i32 {
    a
}

fn main() {}
