//! `tfrt_test.*` on images and records.

use tfrt::ods::OpDef;

use super::{PLAIN, STRING, TENSOR, operand, result};

const EXAMPLE: &str = "!proto.example";

tfrt::declare_op! {
    /// Decodes an image in JPEG format.
    static DECODE_JPEG: OpDef = OpDef {
        operands: &[operand("data", STRING)],
        results: &[result("image", TENSOR)],
        assembly_format: PLAIN,
        ..OpDef::new("tfrt_test.decode_jpeg")
    };
}

tfrt::declare_op! {
    /// Decodes a record of named fields.
    static PARSE_EXAMPLE: OpDef = OpDef {
        operands: &[operand("data", STRING)],
        results: &[result("example", EXAMPLE)],
        assembly_format: PLAIN,
        ..OpDef::new("tfrt_test.parse_example_from_bytes")
    };
}

tfrt::declare_op! {
    /// Gives the bytes of one field of a record.
    static GET_BYTES_FIELD: OpDef = OpDef {
        operands: &[operand("example", EXAMPLE), operand("key", STRING)],
        results: &[result("field", STRING)],
        assembly_format: PLAIN,
        ..OpDef::new("tfrt_test.get_bytes_field_from_example")
    };
}

tfrt::declare_op! {
    /// Gives the number in one field of a record.
    static GET_INT64_FIELD: OpDef = OpDef {
        operands: &[operand("example", EXAMPLE), operand("key", STRING)],
        results: &[result("field", "i64")],
        assembly_format: PLAIN,
        ..OpDef::new("tfrt_test.get_int64_field_from_example")
    };
}
