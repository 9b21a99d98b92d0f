use tfrt::prelude::*;

#[tfrt_kernel("my.print", sync, side_effecting)]
fn print(number: i32) {
    let _ = number;
}

fn main() {}
