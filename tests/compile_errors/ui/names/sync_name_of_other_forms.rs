#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.later", sync = "my_sync.later")]
async fn later(a: i32) -> i32 {
    a
}

#[tfrt_kernel("my.wait", blocking, sync = "my_sync.wait")]
fn wait(a: i32) -> i32 {
    a
}

#[tfrt_kernel("my.now", sync, sync = "my_sync.now")]
fn now(a: i32) -> i32 {
    a
}

#[tfrt_kernel("my.first", non_strict, sync = "my_sync.first")]
fn first(a: &[AnyRef]) -> i32 {
    1
}

fn main() {}
