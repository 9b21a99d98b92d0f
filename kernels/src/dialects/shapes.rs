//! Those of `ts.*` and `ts_sync.*`: shapes of tensors.

use tfrt::ods::{Effect, OpDef, OpTraits};

use super::{CHAIN, PLAIN, SHAPE, operand, result};

tfrt::declare_op! {
    /// Returns a partial shape that is known in full as a shape.
    static TO_SHAPE: OpDef = OpDef {
        operands: &[operand("partial", "!ts.partial_shape")],
        results: &[result("shape", SHAPE)],
        traits: OpTraits::SYNC,
        assembly_format: PLAIN,
        ..OpDef::new("ts_sync.to_shape")
    };
}

tfrt::declare_op! {
    /// Returns the product of all dimensions.
    static NUM_ELEMENTS: OpDef = OpDef {
        operands: &[operand("shape", SHAPE)],
        results: &[result("num_elements", "i64")],
        traits: OpTraits::SYNC,
        assembly_format: PLAIN,
        ..OpDef::new("ts_sync.get_num_elements")
    };
}

tfrt::declare_op! {
    /// Returns a shape as one whose rank is part of its type.
    static AS_FIXED_RANK: OpDef = OpDef {
        operands: &[operand("shape", SHAPE)],
        results: &[result("fixed", "!ts.fixed_rank_shape.0")],
        assembly_format: PLAIN,
        ..OpDef::new("ts.as_fixed_rank_shape.0")
    };
}

tfrt::declare_op! {
    /// Prints a shape whose rank is part of its type.
    static PRINT_FIXED_RANK: OpDef = OpDef {
        operands: &[
            operand("shape", "!ts.fixed_rank_shape.0"),
            operand("in_chain", CHAIN),
        ],
        results: &[result("out_chain", CHAIN)],
        effect: Effect::IO,
        assembly_format: PLAIN,
        ..OpDef::new("ts.print_fixed_rank_shape.0")
    };
}
