//! Building blocks of declarations for expansions: each function turns a marker into a part of an
//! [`OpDef`](tfrt_ods::OpDef).

use tfrt_async::{Chain, Value};
use tfrt_ods::{
    Arity, AttrDef, AttrDefault, AttrKind, FunctionSignature, OperandDef, ResultDef, TypeConstraint,
};

use crate::kernel::attribute::AttrParam;
use crate::kernel::callable::{Callable, ValueTypes};
use crate::kernel::operand::OperandParam;
use crate::kernel::result::ResultParam;

/// Returns an operand bound by `P`.
#[must_use]
pub const fn operand<P: OperandParam>(name: &'static str) -> OperandDef {
    OperandDef {
        name,
        ty: P::TYPE,
        arity: P::ARITY,
        is_mutated: P::IS_MUTATED,
        is_reference: P::IS_REFERENCE,
    }
}

/// Returns the chain operand that the macro adds.
#[must_use]
pub const fn chain_operand() -> OperandDef {
    OperandDef::new("in_chain", TypeConstraint::Exact(Chain::MLIR_TYPE))
}

/// Returns a result set by `P`.
#[must_use]
pub const fn result<P: ResultParam>(
    name: &'static str,
    alias_of: Option<&'static str>,
) -> ResultDef {
    ResultDef {
        name,
        ty: P::TYPE,
        arity: P::ARITY,
        alias_of,
    }
}

/// Returns the required signature of a function taken as a `C`.
#[must_use]
pub const fn signature<C: Callable>(function: &'static str) -> FunctionSignature {
    FunctionSignature {
        function,
        arguments: C::Arguments::SPELLINGS,
        results: C::Results::SPELLINGS,
    }
}

/// Returns the chain result that the macro adds.
#[must_use]
pub const fn chain_result() -> ResultDef {
    ResultDef::new("out_chain", TypeConstraint::Exact(Chain::MLIR_TYPE))
}

/// Returns an attribute read as an `A`.
#[must_use]
pub const fn attribute<A: AttrParam + ?Sized>(
    name: &'static str,
    default: Option<AttrDefault>,
) -> AttrDef {
    AttrDef {
        name,
        kind: A::KIND,
        default,
    }
}

/// Checks that the default of an attribute is an `A`.
///
/// # Panics
/// At compile time, if it is not.
#[track_caller]
pub const fn assert_default<A: AttrParam + ?Sized>(default: &AttrDefault) {
    if !default.fits(&A::KIND) {
        panic!("{}", expected_default(&A::KIND));
    }
}

/// Returns the message that describes the valid default of an attribute.
const fn expected_default(kind: &AttrKind) -> &'static str {
    match kind {
        AttrKind::Int { width: 1, .. } => "the default of this attribute must be `true` or `false`",
        AttrKind::Int { width, is_unsigned } => match (width, is_unsigned) {
            (8, false) => "the default of this attribute must be an integer from -128 to 127",
            (8, true) => "the default of this attribute must be an integer from 0 to 255",
            (16, false) => "the default of this attribute must be an integer from -32768 to 32767",
            (16, true) => "the default of this attribute must be an integer from 0 to 65535",
            (32, false) => "the default of this attribute must be a 32-bit integer",
            (32, true) => "the default of this attribute must be an unsigned 32-bit integer",
            (_, false) => "the default of this attribute must be a 64-bit integer",
            (_, true) => "the default of this attribute must be an unsigned 64-bit integer",
        },
        AttrKind::Float(_) => {
            "the default of this attribute must be a number with a decimal point, such as `1.0`"
        }
        AttrKind::String => "the default of this attribute must be a string, such as `\"same\"`",
        AttrKind::Array(_) | AttrKind::Aggregate => "the default of a list must be `[]`",
        AttrKind::Enum(_) => {
            "the default of this attribute must be a variant of its enum, such as `Mode::Fast`"
        }
        _ => {
            "an attribute of this type cannot have a default: take it as an `Option`, which is \
             `None` if the program omits the attribute"
        }
    }
}

/// Checks that `T`, which is not written as `Chain`, is not the chain: the macro recognises it by
/// name.
///
/// # Panics
/// At compile time, if it is the chain.
#[track_caller]
pub const fn assert_not_chain<T: Value>() {
    assert!(
        !TypeConstraint::Exact(T::MLIR_TYPE).is_chain(),
        "this is the chain under another name: write `Chain`, which the macro knows by its name"
    );
}

/// Checks that values of type `T` can be written, for a parameter `&mut T`.
///
/// # Panics
/// At compile time, if they cannot.
#[track_caller]
pub const fn assert_mutable<T: Value>() {
    assert!(
        T::IS_MUTABLE || T::HANDLE.is_some(),
        "a kernel can write only into values of a mutable type: declare it as `#[value(\"…\", \
         mutable)]`, or return the new value"
    );
}

/// Checks that values of type `T` are never written, for a parameter `Operands<'_, T>`.
///
/// # Panics
/// At compile time, if they can be.
#[track_caller]
pub const fn assert_not_mutable<T: Value>() {
    assert!(
        !T::IS_MUTABLE,
        "values of a mutable type are borrowed one by one: take `&[AnyRef]` and `try_read` them"
    );
}

/// Returns the type constraint of a value of type `T`.
#[must_use]
pub const fn exactly<T: Value>() -> TypeConstraint {
    TypeConstraint::Exact(T::MLIR_TYPE)
}

/// Returns an operand described by the options of a raw kernel.
#[must_use]
pub const fn raw_operand(
    name: &'static str,
    ty: TypeConstraint,
    arity: Arity,
    is_mutated: bool,
    is_reference: bool,
) -> OperandDef {
    OperandDef {
        name,
        ty,
        arity,
        is_mutated,
        is_reference,
    }
}

/// Returns a result described by the options of a raw kernel.
#[must_use]
pub const fn raw_result(
    name: &'static str,
    ty: TypeConstraint,
    arity: Arity,
    alias_of: Option<&'static str>,
) -> ResultDef {
    ResultDef {
        name,
        ty,
        arity,
        alias_of,
    }
}
