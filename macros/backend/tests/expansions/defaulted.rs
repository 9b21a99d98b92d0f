#[tfrt_kernel("my.scale")]
fn scale(a: i32, #[operand(default = 2 * 5)] b: i32) -> i32 {
    a * b
}
