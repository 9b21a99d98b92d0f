#[tfrt_kernel("my.div", results(quotient, remainder))]
fn div(a: i32, b: i32) -> Result<(i32, i32), DivideByZero> {
    Ok((a / b, a % b))
}
