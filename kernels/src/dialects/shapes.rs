//! `ts.*` and `ts_sync.*`: shapes of tensors.

use tfrt::ods::{Effect, OpDef, OpTraits};

use super::{CHAIN, PLAIN, SHAPE, SIZES, attribute, declare_family, operand, result};

const PARTIAL_SHAPE: &str = "!ts.partial_shape";

/// Makes a shape of numbers that are written in the program.
const BUILD: OpDef = OpDef {
    summary: "Makes a shape of the sizes of its dimensions.",
    attributes: &[attribute("value", SIZES)],
    results: &[result("shape", SHAPE)],
    assembly_format: Some("typed($value) attr-dict"),
    ..OpDef::new("")
};

const BUILD_PARTIAL: OpDef = OpDef {
    summary: "Makes a shape some of whose dimensions, those of size -1, are not known.",
    results: &[result("shape", PARTIAL_SHAPE)],
    ..BUILD
};

const TO_SHAPE: OpDef = OpDef {
    summary: "Gives a partial shape that is known in full as a shape.",
    operands: &[operand("partial", PARTIAL_SHAPE)],
    results: &[result("shape", SHAPE)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const TO_PARTIAL_SHAPE: OpDef = OpDef {
    summary: "Gives a shape as a partial shape.",
    operands: &[operand("shape", SHAPE)],
    results: &[result("partial", PARTIAL_SHAPE)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const NUM_ELEMENTS: OpDef = OpDef {
    summary: "Gives the product of all dimensions.",
    operands: &[operand("shape", SHAPE)],
    results: &[result("num_elements", "i64")],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

declare_family! { BUILD; "ts.build_shape" }
declare_family! { BUILD_PARTIAL; "ts.build_partial_shape" }
declare_family! { TO_SHAPE; "ts.to_shape" }
declare_family! { TO_PARTIAL_SHAPE; "ts.to_partial_shape" }
declare_family! { NUM_ELEMENTS; "ts.get_num_elements" }

declare_family! { OpDef { traits: OpTraits::SYNC, ..BUILD }; "ts_sync.build_shape" }
declare_family! { OpDef { traits: OpTraits::SYNC, ..BUILD_PARTIAL }; "ts_sync.build_partial_shape" }
declare_family! { OpDef { traits: OpTraits::SYNC, ..TO_SHAPE }; "ts_sync.to_shape" }
declare_family! { OpDef { traits: OpTraits::SYNC, ..TO_PARTIAL_SHAPE }; "ts_sync.to_partial_shape" }
declare_family! { OpDef { traits: OpTraits::SYNC, ..NUM_ELEMENTS }; "ts_sync.get_num_elements" }

static BUILD_UNRANKED: OpDef = OpDef {
    summary: "Makes a shape of unknown rank.",
    results: &[result("shape", PARTIAL_SHAPE)],
    assembly_format: Some("attr-dict"),
    ..OpDef::new("ts.build_unranked_partial_shape")
};

static EQUAL: OpDef = OpDef {
    summary: "Whether two shapes are equal.",
    operands: &[operand("a", SHAPE), operand("b", SHAPE)],
    results: &[result("are_equal", "i1")],
    assembly_format: PLAIN,
    ..OpDef::new("ts.equal_shape")
};

static DIMENSION: OpDef = OpDef {
    summary: "Gives the size of one dimension.",
    operands: &[operand("shape", SHAPE), operand("dimension", "i32")],
    results: &[result("size", "i64")],
    assembly_format: PLAIN,
    ..OpDef::new("ts.get_dimension")
};

static PRINT: OpDef = OpDef {
    summary: "Prints a shape.",
    operands: &[operand("shape", SHAPE), operand("in_chain", CHAIN)],
    results: &[result("out_chain", CHAIN)],
    effect: Effect::IO,
    assembly_format: PLAIN,
    ..OpDef::new("ts.print_shape")
};

static PRINT_PARTIAL: OpDef = OpDef {
    summary: "Prints a partial shape.",
    operands: &[operand("shape", PARTIAL_SHAPE), operand("in_chain", CHAIN)],
    results: &[result("out_chain", CHAIN)],
    effect: Effect::IO,
    assembly_format: PLAIN,
    ..OpDef::new("ts.print_partial_shape")
};

tfrt::declare_ops!(BUILD_UNRANKED, EQUAL, DIMENSION, PRINT, PRINT_PARTIAL);

/// The two ops on shapes whose rank is part of their type.
macro_rules! declare_fixed_rank {
    ($($rank:literal)+) => {$(
        declare_family! {
            OpDef {
                summary: "Gives a shape as one whose rank is part of its type.",
                operands: &[operand("shape", SHAPE)],
                results: &[result("fixed", concat!("!ts.fixed_rank_shape.", $rank))],
                assembly_format: PLAIN,
                ..OpDef::new("")
            };
            concat!("ts.as_fixed_rank_shape.", $rank)
        }
        declare_family! {
            OpDef {
                summary: "Prints a shape whose rank is part of its type.",
                operands: &[operand("shape", concat!("!ts.fixed_rank_shape.", $rank)), operand("in_chain", CHAIN)],
                results: &[result("out_chain", CHAIN)],
                effect: Effect::IO,
                assembly_format: PLAIN,
                ..OpDef::new("")
            };
            concat!("ts.print_fixed_rank_shape.", $rank)
        }
    )+};
}

declare_fixed_rank!(0 1 2 3);
