use tfrt::prelude::*;

#[derive(Value)]
#[value("!my.point")]
struct Point(i32);

impl Point {
    #[tfrt_kernel("my.point")]
    fn new(x: i32) -> Self {
        Self(x)
    }
}

fn main() {}
