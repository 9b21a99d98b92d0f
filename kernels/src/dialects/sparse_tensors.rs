//! `coo.*`: sparse tensors in coordinate form.

use tfrt::ods::{Effect, OpDef};

use super::{CHAIN, PLAIN, TENSOR, declare_for_ranks, operand, result};

const CONVERT: OpDef = OpDef {
    summary: "Gives a tensor in the other form, dense or sparse.",
    operands: &[operand("tensor", TENSOR), operand("in_chain", CHAIN)],
    results: &[result("converted", TENSOR), result("out_chain", CHAIN)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const EQUAL: OpDef = OpDef {
    summary: "Whether two sparse tensors are equal.",
    operands: &[
        operand("a", TENSOR),
        operand("b", TENSOR),
        operand("in_chain", CHAIN),
    ],
    results: &[result("are_equal", "i1"), result("out_chain", CHAIN)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

declare_for_ranks! { CONVERT; "coo.convert_coo_to_dht.i32", 0 1 2 3 }
declare_for_ranks! { CONVERT; "coo.convert_coo_to_dht.f32", 0 1 2 3 }
declare_for_ranks! { CONVERT; "coo.convert_dht_to_coo.i32", 0 1 2 3 }
declare_for_ranks! { CONVERT; "coo.convert_dht_to_coo.f32", 0 1 2 3 }
declare_for_ranks! { EQUAL; "coo.tensor_equal.i32", 0 1 2 3 }
declare_for_ranks! { EQUAL; "coo.tensor_equal.f32", 0 1 2 3 }

static PRINT: OpDef = OpDef {
    summary: "Prints a sparse tensor.",
    operands: &[operand("tensor", TENSOR), operand("in_chain", CHAIN)],
    results: &[result("out_chain", CHAIN)],
    effect: Effect::IO,
    assembly_format: PLAIN,
    ..OpDef::new("coo.print_tensor")
};

tfrt::declare_ops!(PRINT);
