#![allow(dead_code, unused_variables)]

use tfrt::prelude::*;

struct OfOneThread(std::rc::Rc<u8>);

#[tfrt_op("my.Read", side_effecting)]
fn read(#[resource] x: &OfOneThread) {}

#[tfrt_op("my.Make")]
fn make() -> ResourceTensor {
    ResourceTensor::new(OfOneThread(std::rc::Rc::new(0)))
}

fn main() {}
