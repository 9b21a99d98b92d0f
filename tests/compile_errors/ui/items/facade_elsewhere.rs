use tfrt::prelude::*;

#[tfrt_kernel("my.add", crate = dataflow)]
fn add(a: i32, b: i32) -> i32 {
    a + b
}

fn main() {}
