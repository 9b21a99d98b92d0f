//! Element types: their spelling in IR and their numbers in files.

use tfrt_ir::{FloatType, Module, Signedness, Type, TypeId};
use tfrt_support::DType;

/// The dialect of the element types that MLIR does not have.
const QUANTIZED_DIALECT: &str = "corert";

/// The names of those types.
const QUANTIZED: [(DType, &str); 8] = [
    (DType::String, "string"),
    (DType::Resource, "resource"),
    (DType::Variant, "variant"),
    (DType::QUi8, "quint8"),
    (DType::QUi16, "quint16"),
    (DType::QI8, "qint8"),
    (DType::QI16, "qint16"),
    (DType::QI32, "qint32"),
];

/// Returns the element type that `ty` stands for, if it is one. Signed integers count as signless
/// ones.
#[must_use]
pub fn dtype_of(module: &Module, ty: TypeId) -> Option<DType> {
    Some(match module.ty(ty) {
        Type::Integer {
            width,
            signedness: Signedness::Unsigned,
        } => match width {
            8 => DType::Ui8,
            16 => DType::Ui16,
            32 => DType::Ui32,
            64 => DType::Ui64,
            _ => return None,
        },
        Type::Integer {
            width,
            signedness: Signedness::Signless | Signedness::Signed,
        } => match width {
            1 => DType::I1,
            8 => DType::I8,
            16 => DType::I16,
            32 => DType::I32,
            64 => DType::I64,
            _ => return None,
        },
        Type::Float(float) => match float {
            FloatType::Bf16 => DType::Bf16,
            FloatType::F16 => DType::F16,
            FloatType::F32 => DType::F32,
            FloatType::F64 => DType::F64,
            _ => return None,
        },
        Type::Complex(part) => match module.ty(*part) {
            Type::Float(FloatType::F32) => DType::Complex64,
            Type::Float(FloatType::F64) => DType::Complex128,
            _ => return None,
        },
        Type::Dialect { dialect, body } if &**dialect == QUANTIZED_DIALECT => {
            QUANTIZED.iter().find(|(_, name)| *name == &**body)?.0
        }
        _ => return None,
    })
}

/// Returns the type that stands for `dtype`. Integers are signless unless they are unsigned.
pub fn type_of(module: &mut Module, dtype: DType) -> TypeId {
    let integer = |width, signedness| Type::Integer { width, signedness };
    let ty = match dtype {
        DType::Ui8 => integer(8, Signedness::Unsigned),
        DType::Ui16 => integer(16, Signedness::Unsigned),
        DType::Ui32 => integer(32, Signedness::Unsigned),
        DType::Ui64 => integer(64, Signedness::Unsigned),
        DType::I1 => integer(1, Signedness::Signless),
        DType::I8 => integer(8, Signedness::Signless),
        DType::I16 => integer(16, Signedness::Signless),
        DType::I32 => integer(32, Signedness::Signless),
        DType::I64 => integer(64, Signedness::Signless),
        DType::Bf16 => Type::Float(FloatType::Bf16),
        DType::F16 => Type::Float(FloatType::F16),
        DType::F32 => Type::Float(FloatType::F32),
        DType::F64 => Type::Float(FloatType::F64),
        DType::Complex64 => Type::Complex(module.intern_type(Type::Float(FloatType::F32))),
        DType::Complex128 => Type::Complex(module.intern_type(Type::Float(FloatType::F64))),
        DType::String
        | DType::Resource
        | DType::Variant
        | DType::QUi8
        | DType::QUi16
        | DType::QI8
        | DType::QI16
        | DType::QI32 => {
            let (_, name) = QUANTIZED[usize::from(dtype.code() - DType::String.code())];
            Type::Dialect {
                dialect: QUANTIZED_DIALECT.into(),
                body: name.into(),
            }
        }
    };
    module.intern_type(ty)
}
