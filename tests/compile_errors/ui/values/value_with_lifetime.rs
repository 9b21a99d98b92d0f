#![allow(unused_variables)]

use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.view")]
struct View<'a>(&'a str);

fn main() {}
