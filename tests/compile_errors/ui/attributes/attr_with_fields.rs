#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

#[derive(Attr)]
enum Padding<T> {
    Same,
    Explicit(i32),
    #[attr("no keyword")]
    Odd,
    #[attr("same")]
    Again,
    #[attr(keep)]
    Other,
}

fn main() {}
