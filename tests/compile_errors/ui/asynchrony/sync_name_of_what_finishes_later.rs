#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.pick", sync = "my_sync.pick")]
fn pick(a: AnyRef) -> AsyncValueRef<i32> {
    AsyncValueRef::available(1)
}

fn main() {}
