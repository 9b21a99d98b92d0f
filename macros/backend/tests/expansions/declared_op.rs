declare_op! {
    /// Sends a matrix.
    ///
    /// To a machine.
    #[cfg(feature = "network")]
    "my.send.{T}", "my.post.{T}", T = [f32, ui8],
    effect = "network", named_results,
    operands(matrix: "!my.matrix", number: one_of("i32", "i64"), rest: variadic same_as(number)),
    attrs(to: String = "here", value: any, values: [any]),
    symbols(callee),
    results(sent: "!my.matrix", chain: Chain), alias(sent = matrix),
    format = "operands attr-dict `:` type($number)"
}
