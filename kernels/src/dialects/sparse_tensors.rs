//! That of `coo.*`: sparse tensors in coordinate form.

use tfrt::ods::{Effect, OpDef};

use super::{CHAIN, PLAIN, TENSOR, operand, result};

tfrt::declare_op! {
    /// Prints a sparse tensor.
    static PRINT: OpDef = OpDef {
        operands: &[operand("tensor", TENSOR), operand("in_chain", CHAIN)],
        results: &[result("out_chain", CHAIN)],
        effect: Effect::IO,
        assembly_format: PLAIN,
        ..OpDef::new("coo.print_tensor")
    };
}
