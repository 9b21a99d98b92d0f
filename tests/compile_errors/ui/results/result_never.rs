#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.make")]
fn make() -> ! {
    loop {}
}

fn main() {}
