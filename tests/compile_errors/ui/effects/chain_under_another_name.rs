use tfrt::prelude::*;

type Order = Chain;

#[tfrt_kernel("my.print", side_effecting)]
fn print(number: i32, order: &Order) {
    let _ = (number, order);
}

#[tfrt_kernel("my.order")]
fn order() -> Order {
    Chain
}

#[tfrt_kernel("my.raw", raw, operands(order: Order))]
fn raw(_frame: &mut KernelFrame<'_>) {}

fn main() {}
