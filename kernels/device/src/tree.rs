//! Device functions as data.
//!
//! `#[tfrt_device]` writes a constant [`Function`] beside each function. It has been checked by the
//! compiler, which compiles the same body as Rust, so types are only inferred here, not checked.

use std::fmt;

use tfrt_support::DType;

/// A type that device functions compute with.
///
/// ```
/// use tfrt_device::tree::Scalar;
///
/// assert_eq!(Scalar::F32.dtype().size_bytes(), Some(4));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of Rust")]
pub enum Scalar {
    Bool,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// Returns the element type of tensors of such numbers.
    #[must_use]
    pub const fn dtype(self) -> DType {
        match self {
            Self::Bool => DType::I1,
            Self::I32 => DType::I32,
            Self::U32 => DType::Ui32,
            Self::I64 => DType::I64,
            Self::U64 => DType::Ui64,
            Self::F32 => DType::F32,
            Self::F64 => DType::F64,
        }
    }

    /// Returns the size of an element of a tensor, in bytes.
    #[must_use]
    pub const fn size_bytes(self) -> usize {
        match self {
            Self::Bool => 1,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
        }
    }

    pub(crate) const fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64)
    }

    pub(crate) const fn is_signed(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bool => "bool",
            Self::I32 => "i32",
            Self::U32 => "u32",
            Self::I64 => "i64",
            Self::U64 => "u64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

/// A number of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The type.
    pub ty: Scalar,
    /// The bits, in the lowest bits.
    pub bits: u64,
}

/// A type whose constants device functions may use.
#[diagnostic::on_unimplemented(
    message = "device functions cannot use a constant of type `{Self}`",
    label = "expected `bool`, `i32`, `u32`, `i64`, `u64`, `f32` or `f64`"
)]
pub trait ToValue {
    /// Returns the number.
    fn to_value(self) -> Value;
}

macro_rules! to_value {
    ($($ty:ident $variant:ident |$number:ident| $bits:expr;)+) => {$(
        impl ToValue for $ty {
            fn to_value(self) -> Value {
                let $number = self;
                Value { ty: Scalar::$variant, bits: $bits }
            }
        }
    )+};
}

to_value! {
    bool Bool |x| u64::from(x);
    i32 I32 |x| u64::from(x.cast_unsigned());
    u32 U32 |x| u64::from(x);
    i64 I64 |x| x.cast_unsigned();
    u64 U64 |x| x;
    f32 F32 |x| u64::from(x.to_bits());
    f64 F64 |x| x.to_bits();
}

/// What stands for a device function where types stand: `#[tfrt_device]` declares a type with the
/// name of the function.
pub trait DeviceFunction {
    /// The function.
    const FUNCTION: &'static Function;
}

/// A device function.
#[derive(Debug)]
pub struct Function {
    /// Its name.
    pub name: &'static str,
    /// Its parameters, which are its first locals.
    pub parameters: &'static [Parameter],
    /// The type of its result.
    pub result: Scalar,
    /// The number of parameters and variables.
    pub num_locals: u32,
    /// Its body.
    pub body: CodeBlock,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub ty: Scalar,
}

/// Statements, and the value after them.
#[derive(Clone, Copy, Debug)]
pub struct CodeBlock {
    /// The statements.
    pub statements: &'static [Statement],
    /// The value, if there is one.
    pub value: Option<&'static Expr>,
}

/// A statement.
#[derive(Debug)]
pub enum Statement {
    /// `let x: f32 = …;`
    Let {
        /// The variable.
        local: u32,
        /// Its type, if it is written.
        ty: Option<Scalar>,
        /// Its first value.
        value: &'static Expr,
    },
    /// `x = …;`
    Assign {
        /// The variable.
        local: u32,
        /// Its new value.
        value: &'static Expr,
    },
    /// `for i in start..end { … }`
    For {
        /// The variable.
        local: u32,
        /// The first number.
        start: &'static Expr,
        /// The end.
        end: &'static Expr,
        /// Whether the end is the last number.
        is_inclusive: bool,
        /// The body.
        body: CodeBlock,
    },
    /// `return x;`
    Return(&'static Expr),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// An expression whose value is not used.
    Expr(&'static Expr),
    /// `tile[i] = …;` and `tile[i] += …;`, in grid kernels.
    Store {
        /// The array.
        memory: GridArray,
        /// The type of its elements.
        ty: Scalar,
        /// The indices, outermost first.
        index: &'static [Expr],
        /// What combines the element with the value, if it is not replaced.
        op: Option<BinaryOp>,
        /// The value.
        value: &'static Expr,
    },
    /// `counts.atomic_add(i, …);`, in grid kernels.
    Atomic {
        /// The array.
        memory: GridArray,
        /// The type of its elements.
        ty: Scalar,
        /// The indices, outermost first.
        index: &'static [Expr],
        /// What combines the element with the value.
        op: AtomicOp,
        /// The value.
        value: &'static Expr,
    },
    /// `grid.barrier();`
    Barrier,
    /// `return;`, in grid kernels.
    End,
}

/// An expression.
#[derive(Debug)]
pub enum Expr {
    /// A parameter or variable.
    Local(u32),
    /// An integer.
    Int(u64, Option<Scalar>),
    /// A float, in decimal.
    Float(&'static str, Option<Scalar>),
    /// A Boolean.
    Bool(bool),
    /// A constant of the author's crate.
    Constant(fn() -> Value),
    /// An expression whose type is written.
    Typed(&'static Expr, Scalar),
    /// An operator before its operand.
    Unary(UnaryOp, &'static Expr),
    /// An operator between its operands.
    Binary(BinaryOp, &'static Expr, &'static Expr),
    /// `x as f32`
    Cast(&'static Expr, Scalar),
    /// `if c { … } else { … }`
    If(&'static Expr, CodeBlock, Option<CodeBlock>),
    /// `{ … }`
    Block(CodeBlock),
    /// A call of a device function.
    Call(&'static Function, &'static [Expr]),
    /// A method of numbers.
    Method(NumberMethod, &'static [Expr]),
    /// A place in the grid along an axis, in grid kernels.
    Position(GridPosition, u32),
    /// The extent of an array along an axis, in grid kernels.
    Extent(GridArray, u32),
    /// An element of an array, in grid kernels.
    Load(GridArray, Scalar, &'static [Expr]),
}

/// An array that the threads of a grid kernel share.
///
/// ```
/// use tfrt_device::tree::{Expr, GridArray};
///
/// // The extent of the first operand along its second axis.
/// let extent = Expr::Extent(GridArray::Operand(0), 1);
/// assert!(matches!(extent, Expr::Extent(GridArray::Operand(0), 1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridArray {
    /// An operand: its number among the parameters.
    Operand(u32),
    /// The result.
    Result,
    /// A shared array of a block: its number in [`crate::grid::GridRules::shared`].
    Shared(u32),
}

/// A number that places a thread in its grid.
///
/// ```
/// use tfrt_device::tree::{Expr, GridPosition};
///
/// // `grid.index(0)`
/// let index = Expr::Position(GridPosition::Index, 0);
/// assert!(matches!(index, Expr::Position(GridPosition::Index, 0)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GridPosition {
    /// The place of the thread in its block.
    Thread,
    /// The place of the block.
    Block,
    /// The place of the thread among those of all blocks.
    Index,
    /// The number of threads of a block.
    Threads,
    /// The number of blocks.
    Blocks,
}

/// What combines an element with a number without interruption. The result does not depend on the
/// order.
///
/// ```
/// use tfrt_device::tree::AtomicOp;
///
/// let name = |op: AtomicOp| format!("{op:?}").to_lowercase();
/// assert_eq!(name(AtomicOp::Max), "max");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are those of the operations")]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// An operator before its operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Neg,
    /// `!`
    Not,
}

/// An operator between its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are those of the traits of `std::ops`"
)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl BinaryOp {
    pub(crate) fn is_comparison(self) -> bool {
        use BinaryOp::{Eq, Ge, Gt, Le, Lt, Ne};
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }
}

/// A method of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the names are those of the methods of the standard library"
)]
pub enum NumberMethod {
    Abs,
    AbsDiff,
    Acos,
    Asin,
    Atan,
    Atan2,
    Cbrt,
    Ceil,
    Clamp,
    Copysign,
    Cos,
    Cosh,
    CountOnes,
    Exp,
    Exp2,
    ExpM1,
    Floor,
    Fract,
    FromBits,
    Hypot,
    IsFinite,
    IsInfinite,
    IsNan,
    IsSignNegative,
    IsSignPositive,
    LeadingZeros,
    Ln,
    Ln1p,
    Log10,
    Log2,
    Max,
    Min,
    MulAdd,
    Powf,
    Powi,
    Recip,
    RotateLeft,
    RotateRight,
    Round,
    RoundTiesEven,
    Signum,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    ToBits,
    TrailingZeros,
    Trunc,
}
