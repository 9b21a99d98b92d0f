use tfrt::prelude::*;

#[tfrt_kernel("my.print", side_effecting, chain = none)]
fn print(number: i32, chain: Chain) -> Chain {
    let _ = number;
    chain
}

fn main() {}
