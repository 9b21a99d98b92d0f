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

#[tfrt_kernel("my.raw", raw, sync = "my_sync.raw")]
fn raw(frame: &mut KernelFrame<'_>) {}

fn main() {}
