use tfrt::ods::{AttrDef, AttrDefault, AttrKind, OpDef, OperandDef, TypeConstraint};

tfrt::declare_op! {
    /// Shows an operand that it does not have.
    static SHOWS: OpDef = OpDef {
        operands: &[OperandDef::new("a", TypeConstraint::Exact("i32"))],
        assembly_format: Some("$a `,` $b attr-dict"),
        ..OpDef::new("my.shows")
    };
}

tfrt::declare_op! {
    /// Has names that are none.
    #[names("my.add.i32", "add")]
    const NAMES: OpDef = OpDef::new("");
}

static DEFAULT: OpDef = OpDef {
    attributes: &[AttrDef {
        default: Some(AttrDefault::Int(1)),
        ..AttrDef::new("is_fast", AttrKind::BOOL)
    }],
    ..OpDef::new("my.default")
};

tfrt::declare_ops!(DEFAULT);

fn main() {}
