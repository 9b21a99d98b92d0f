//! `tfrt_dht.*` and `tfrt_dht_sync.*`: dense tensors in host memory, and the buffers they lie in.

use tfrt::ods::{AttrKind, Effect, OpDef, OpTraits};

use super::{
    CHAIN, HOST_BUFFER, PLAIN, SHAPE, SIZES, TENSOR, attribute, declare_family,
    declare_for_elements, declare_for_ranks, mutated, operand, result,
};

const CREATE: OpDef = OpDef {
    summary: "Makes a tensor whose elements are not set yet.",
    attributes: &[attribute("shape", SIZES)],
    results: &[result("tensor", TENSOR)],
    assembly_format: Some("typed($shape)"),
    ..OpDef::new("")
};

const SYNC_CREATE: OpDef = OpDef {
    traits: OpTraits::SYNC,
    assembly_format: Some("typed($shape) attr-dict"),
    ..CREATE
};

macro_rules! declare_create {
    ($($element:literal)+) => {$(
        declare_for_ranks! { CREATE; concat!("tfrt_dht.create_uninitialized_tensor.", $element), 0 1 2 3 4 }
        declare_for_ranks! { SYNC_CREATE; concat!("tfrt_dht_sync.create_uninitialized_tensor.", $element), 0 1 2 3 4 }
    )+};
}

declare_create!("ui8" "ui16" "ui32" "ui64" "i32" "f32" "i64" "bool" "complex64" "complex128");

const FILL: OpDef = OpDef {
    summary: "Sets all elements to one value.",
    operands: &[mutated("tensor", TENSOR), operand("in_chain", CHAIN)],
    attributes: &[attribute("value", AttrKind::Any)],
    results: &[result("out_chain", CHAIN)],
    assembly_format: Some("operands typed($value)"),
    ..OpDef::new("")
};

const SET: OpDef = OpDef {
    summary: "Sets the elements, each to its value.",
    operands: &[mutated("tensor", TENSOR), operand("in_chain", CHAIN)],
    attributes: &[attribute("values", AttrKind::Array(&AttrKind::Any))],
    results: &[result("out_chain", CHAIN)],
    assembly_format: Some("operands typed($values)"),
    ..OpDef::new("")
};

const SYNC_SET: OpDef = OpDef {
    operands: &[mutated("tensor", TENSOR)],
    results: &[],
    traits: OpTraits::SYNC,
    assembly_format: Some("operands typed($values) attr-dict"),
    ..SET
};

const MAKE: OpDef = OpDef {
    summary: "Makes a tensor of a buffer, without copying it.",
    operands: &[
        operand("buffer", HOST_BUFFER),
        operand("shape", SHAPE),
        operand("in_chain", CHAIN),
    ],
    results: &[result("tensor", TENSOR), result("out_chain", CHAIN)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const SYNC_MAKE: OpDef = OpDef {
    operands: &[operand("buffer", HOST_BUFFER), operand("shape", SHAPE)],
    results: &[result("tensor", TENSOR)],
    traits: OpTraits::SYNC,
    ..MAKE
};

const EQUAL: OpDef = OpDef {
    summary: "Whether two tensors are equal.",
    operands: &[
        operand("a", TENSOR),
        operand("b", TENSOR),
        operand("in_chain", CHAIN),
    ],
    results: &[result("are_equal", "i1"), result("out_chain", CHAIN)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

declare_for_elements! { FILL; "tfrt_dht.fill_tensor_with_constant" }
declare_for_elements! { SET; "tfrt_dht.set_tensor_with_constant_values" }
declare_for_elements! { SYNC_SET; "tfrt_dht_sync.set_tensor_with_constant_values" }
declare_for_elements! { MAKE; "tfrt_dht.make_tensor" }
declare_for_elements! { SYNC_MAKE; "tfrt_dht_sync.make_tensor" }
declare_for_elements! { EQUAL; "tfrt_dht.tensor_equal" }

const PRINT: OpDef = OpDef {
    summary: "Prints a tensor.",
    operands: &[operand("tensor", TENSOR), operand("in_chain", CHAIN)],
    results: &[result("out_chain", CHAIN)],
    effect: Effect::IO,
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const GET_SHAPE: OpDef = OpDef {
    summary: "Gives the shape of a tensor.",
    operands: &[operand("tensor", TENSOR)],
    results: &[result("shape", SHAPE)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const ALLOCATE_BUFFER: OpDef = OpDef {
    summary: "Allocates a buffer, of a size and an alignment in bytes.",
    operands: &[
        operand("size_bytes", "i64"),
        operand("alignment_bytes", "i64"),
    ],
    results: &[result("buffer", HOST_BUFFER)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const GET_SLICE: OpDef = OpDef {
    summary: "Gives a part of a buffer, which shares its memory.",
    operands: &[
        operand("buffer", HOST_BUFFER),
        operand("offset_bytes", "i64"),
        operand("size_bytes", "i64"),
    ],
    results: &[result("slice", HOST_BUFFER)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const GET_BUFFER: OpDef = OpDef {
    summary: "Gives the buffer that a tensor lies in.",
    operands: &[operand("tensor", TENSOR), operand("in_chain", CHAIN)],
    results: &[result("buffer", HOST_BUFFER), result("out_chain", CHAIN)],
    assembly_format: PLAIN,
    ..OpDef::new("")
};

const PRINT_BUFFER: OpDef = OpDef {
    summary: "Prints where a buffer is and how large.",
    operands: &[operand("buffer", HOST_BUFFER), operand("in_chain", CHAIN)],
    ..PRINT
};

declare_family! { PRINT; "tfrt_dht.print_tensor" }
declare_family! { GET_SHAPE; "tfrt_dht.get_tensor_shape" }
declare_family! { ALLOCATE_BUFFER; "tfrt_dht.allocate_buffer" }
declare_family! { GET_SLICE; "tfrt_dht.get_buffer_slice" }
declare_family! { GET_BUFFER; "tfrt_dht.get_buffer" }
declare_family! { PRINT_BUFFER; "tfrt_dht.print_buffer" }

declare_family! {
    OpDef { operands: &[operand("tensor", TENSOR)], results: &[], traits: OpTraits::SYNC, ..PRINT };
    "tfrt_dht_sync.print_tensor"
}
declare_family! { OpDef { traits: OpTraits::SYNC, ..GET_SHAPE }; "tfrt_dht_sync.get_tensor_shape" }
declare_family! { OpDef { traits: OpTraits::SYNC, ..ALLOCATE_BUFFER }; "tfrt_dht_sync.allocate_buffer" }
declare_family! { OpDef { traits: OpTraits::SYNC, ..GET_SLICE }; "tfrt_dht_sync.get_buffer_slice" }
