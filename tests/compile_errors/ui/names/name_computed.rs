use tfrt::prelude::*;

const NAME: &str = "my.constant";

#[tfrt_kernel(concat!("my", ".concat"))]
fn concatenated() {}

#[tfrt_kernel(NAME, side_effecting)]
fn constant() {}

#[tfrt_kernel("my.first", concat!("my.", env!("USER")))]
fn second() {}

#[tfrt_kernel(b"my.bytes")]
fn bytes() {}

fn main() {
    let _ = NAME;
}
