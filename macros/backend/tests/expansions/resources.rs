#[tfrt_kernel("my.find")]
fn find(cache: Res<Cache>, pool: &Res<Pool>) -> i32 {
    1
}
