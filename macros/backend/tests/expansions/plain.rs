/// Returns the sum of two numbers.
///
/// Wraps around.
#[tfrt_kernel("my.add.i32", pure)]
pub fn add(a: i32, b: i32) -> i32 {
    a.wrapping_add(b)
}
