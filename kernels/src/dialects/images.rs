//! `tfrt_test.*` on images and records.

use tfrt::ods::OpDef;

use super::{PLAIN, STRING, TENSOR, operand, result};

const EXAMPLE: &str = "!proto.example";

static DECODE_JPEG: OpDef = OpDef {
    summary: "Decodes an image in JPEG format.",
    operands: &[operand("data", STRING)],
    results: &[result("image", TENSOR)],
    assembly_format: PLAIN,
    ..OpDef::new("tfrt_test.decode_jpeg")
};

static RESIZE_BILINEAR: OpDef = OpDef {
    summary: "Gives an image in another size, interpolated between the four nearest points.",
    operands: &[
        operand("image", TENSOR),
        operand("height", "i64"),
        operand("width", "i64"),
    ],
    results: &[result("resized", TENSOR)],
    assembly_format: PLAIN,
    ..OpDef::new("tfrt_test.resize_bilinear")
};

static PARSE_EXAMPLE: OpDef = OpDef {
    summary: "Decodes a record of named fields.",
    operands: &[operand("data", STRING)],
    results: &[result("example", EXAMPLE)],
    assembly_format: PLAIN,
    ..OpDef::new("tfrt_test.parse_example_from_bytes")
};

static GET_BYTES_FIELD: OpDef = OpDef {
    summary: "Gives the bytes of one field of a record.",
    operands: &[operand("example", EXAMPLE), operand("key", STRING)],
    results: &[result("field", STRING)],
    assembly_format: PLAIN,
    ..OpDef::new("tfrt_test.get_bytes_field_from_example")
};

static GET_INT64_FIELD: OpDef = OpDef {
    summary: "Gives the number in one field of a record.",
    operands: &[operand("example", EXAMPLE), operand("key", STRING)],
    results: &[result("field", "i64")],
    assembly_format: PLAIN,
    ..OpDef::new("tfrt_test.get_int64_field_from_example")
};

tfrt::declare_ops!(
    DECODE_JPEG,
    RESIZE_BILINEAR,
    PARSE_EXAMPLE,
    GET_BYTES_FIELD,
    GET_INT64_FIELD
);
