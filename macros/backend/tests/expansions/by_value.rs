#[tfrt_kernel("my.sum")]
fn sum(a: i32, b: Point) -> Point {
    b
}
