#[tfrt_kernel("my.read", blocking)]
fn read(path: &str, #[attr] max_bytes: i64) -> io::Result<String> {
    todo()
}
