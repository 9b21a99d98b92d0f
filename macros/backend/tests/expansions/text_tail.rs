#[tfrt_kernel("my.split", results(parts))]
fn split(text: &str, #[operand(default = " ")] by: &str) -> Vec<String> {
    todo!()
}
