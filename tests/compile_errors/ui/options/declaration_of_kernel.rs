use tfrt::prelude::*;

#[tfrt_kernel("my.end", terminator)]
fn end() {}

#[tfrt_kernel("my.three", constant)]
fn three() -> i32 {
    3
}

#[tfrt_kernel("my.any", raw, attrs(value: any, values: [any]))]
fn any(_frame: &mut KernelFrame<'_>) {}

fn main() {}
