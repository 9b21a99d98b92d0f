//! Declarations of `ts.*` and `ts_sync.*`: shapes of tensors.

use tfrt::prelude::*;

tfrt::declare_op! {
    /// Converts a partial shape to a shape, if it is completely known.
    "ts_sync.to_shape",
    sync,
    operands(partial: "!ts.partial_shape"),
    results(shape: "!ts.shape"),
    format = "operands attr-dict"
}

tfrt::declare_op! {
    /// Returns the product of all dimensions.
    "ts_sync.get_num_elements",
    sync,
    operands(shape: "!ts.shape"),
    results(num_elements: i64),
    format = "operands attr-dict"
}

tfrt::declare_op! {
    /// Returns a shape as one whose rank is part of its type.
    "ts.as_fixed_rank_shape.0",
    operands(shape: "!ts.shape"),
    results(fixed: "!ts.fixed_rank_shape.0"),
    format = "operands attr-dict"
}

tfrt::declare_op! {
    /// Prints a shape whose rank is part of its type.
    "ts.print_fixed_rank_shape.0",
    effect = "io",
    operands(shape: "!ts.fixed_rank_shape.0", in_chain: Chain),
    results(out_chain: Chain),
    format = "operands attr-dict"
}
