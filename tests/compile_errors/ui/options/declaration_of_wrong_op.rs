use tfrt::prelude::*;

tfrt::declare_op! {
    /// Shows an operand that it does not have.
    "my.shows", operands(a: "i32"), format = "$a `,` $b attr-dict"
}

tfrt::declare_op! {
    /// Has a name that is not one, and one that is.
    "my.add.i32", "my..add", "add"
}

tfrt::declare_op! {
    "my.default", attrs(is_fast: bool = 1)
}

tfrt::declare_op! {
    "my.same", operands(a: "i32"), results(b: same_as(c), d: "i32"), alias(d = e, f = a)
}

tfrt::declare_op! {
    "my.end", terminator, results(a: "i32")
}

tfrt::declare_op! {
    "my.kernel", raw, blocking, kernel_set = Set, metadata = shape, chain = none, sync = "my_sync.kernel"
}

tfrt::declare_op! {
    #[inline]
    operands(a: "i32", a: "i64")
}

tfrt::declare_op! {
    "my.any", attrs(a: any = 1)
}

fn main() {}
