#[tfrt_kernel("my.add.{T}", sync = "my_sync.add.{T}", T = [i32, f32], side_effecting)]
fn add<T: Add>(a: T, b: T) -> T {
    a + b
}
