#[tfrt_kernel("my.pad")]
fn pad(#[attr] mode: Padding, #[attr("axes")] list: &[i64], #[attr(default = Padding::Same)] other: Padding, #[attr] view: DenseView<'_>) {}
