#[tfrt_kernel("my.maybe")]
fn maybe(number: i64, #[function] last: Option<FunctionRef>) -> i64 {
    todo()
}
