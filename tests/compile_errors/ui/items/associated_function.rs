use tfrt::prelude::*;

struct Doubler;

impl Doubler {
    #[tfrt_kernel("my.double")]
    fn double(number: i32) -> i32 {
        2 * number
    }
}

fn main() {}
