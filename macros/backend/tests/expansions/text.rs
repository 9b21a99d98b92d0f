#[tfrt_kernel("my.join", results(joined))]
fn join(text: &str, owned: String, bytes: &[u8], end: Option<&str>) -> String {
    todo!()
}
