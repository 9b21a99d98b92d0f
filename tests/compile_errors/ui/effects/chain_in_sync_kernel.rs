use tfrt::prelude::*;

#[tfrt_kernel("my.print", sync)]
fn print(number: i32, chain: Chain) {
    let _ = (number, chain);
}

#[tfrt_kernel("my.start", sync)]
fn start() -> Chain {
    Chain
}

fn main() {}
