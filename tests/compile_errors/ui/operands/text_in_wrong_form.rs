#![allow(unused_variables)]

use tfrt::prelude::*;

#[tfrt_kernel("my.show")]
fn show(
    a: &String,
    b: &mut String,
    c: AsyncValueRef<String>,
    d: &mut str,
    e: Option<&String>,
) -> (AsyncValueRef<String>, Vec<AsyncValueRef<String>>) {
    todo!()
}

#[tfrt_kernel("my.join")]
fn join(texts: Operands<'_, String>) {}

fn main() {}
