#[tfrt_kernel("my.order", effect = "random")]
fn order(number: i32, chain: Chain) -> (i32, Chain) {
    (number, chain)
}
