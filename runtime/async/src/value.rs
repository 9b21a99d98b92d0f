//! What may be the payload of an AsyncValue.

use half::{bf16, f16};
use tfrt_support::complex::Complex;

/// A type whose values may be payloads of AsyncValues.
///
/// ```
/// use tfrt_async::{AnyRef, Value};
///
/// struct Coordinate { x: i32, y: i32 }
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
/// }
///
/// let value = AnyRef::available(Coordinate { x: 1, y: 2 });
/// assert_eq!(value.mlir_type(), Some("!my.coordinate"));
/// assert_eq!(value.get::<Coordinate>().map(|c| c.x + c.y), Some(3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a register",
    label = "not a `Value`",
    note = "write `#[derive(Value)] #[value(\"!my.type\")]` on your type, with the name it has in MLIR"
)]
pub trait Value: Send + Sync + 'static {
    /// How MLIR spells the type.
    const MLIR_TYPE: &'static str;

    /// Whether a kernel may change a payload of this type in place.
    ///
    /// Payloads of a mutable type are read and written through guards, which see to it that nobody reads what somebody
    /// else writes; payloads of the others are read freely and never written.
    const IS_MUTABLE: bool = false;
}

/// A value that is nothing but an order: what needs it runs after what made it.
///
/// ```
/// use tfrt_async::{AnyRef, Chain};
///
/// let chain = AnyRef::available(Chain);
/// assert!(chain.ptr_eq(&AnyRef::ready_chain()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Chain;

macro_rules! impl_value {
    ($($payload:ty => $spelling:literal),* $(,)?) => {
        $(impl Value for $payload {
            const MLIR_TYPE: &'static str = $spelling;
        })*
    };
}

impl_value! {
    Chain => "!tfrt.chain",
    String => "!tfrt.string",
    bool => "i1",
    i8 => "i8",
    i16 => "i16",
    i32 => "i32",
    i64 => "i64",
    u8 => "ui8",
    u16 => "ui16",
    u32 => "ui32",
    u64 => "ui64",
    f16 => "f16",
    bf16 => "bf16",
    f32 => "f32",
    f64 => "f64",
    Complex<f32> => "complex<f32>",
    Complex<f64> => "complex<f64>",
}
