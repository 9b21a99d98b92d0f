//! Decoded instructions.
//!
//! A register is a slot of 64 bits without a type: each instruction uses as many bits as its type
//! has, because compilers keep an `f32` in a `.b32` register.

use crate::float::Rounding;
use crate::types::{ScalarType, Space, Special};

/// A register of a function, by slot.
pub(crate) type Register = u32;

/// An operand of an instruction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Operand {
    Register(Register),
    /// The opposite of a predicate.
    Not(Register),
    Immediate(u64),
    Special(Special),
    /// Address of a variable of the frame.
    Local(u32),
    /// Address in the frame's parameters.
    Param(u32),
    /// Address of a variable of the module.
    Variable {
        index: u32,
        offset: i64,
    },
    Function(u32),
}

/// The target of an instruction; `None` for `_`.
pub(crate) type Target = Option<Register>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Address {
    pub(crate) base: Operand,
    pub(crate) offset: i64,
}

#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    pub(crate) guard: Option<Guard>,
    pub(crate) op: Op,
    pub(crate) line: u32,
    /// The bytes of the module's text.
    pub(crate) span: (u32, u32),
}

/// The predicate without which an instruction does nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) register: Register,
    pub(crate) is_negated: bool,
}

/// The mode of a numeric operation.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mode {
    pub(crate) rounding: Rounding,
    /// Subnormal `f32` are zero, as operands and as results.
    pub(crate) flushes: bool,
    pub(crate) saturates: bool,
    /// `min` and `max` pass a NaN on.
    pub(crate) keeps_nan: bool,
    /// Negative results become zero.
    pub(crate) relu: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Abs,
    Neg,
    Not,
    LogicalNot,
    Sqrt,
    ReciprocalSqrt,
    Reciprocal,
    Exp2,
    Log2,
    Sin,
    Cos,
    Tanh,
    ReverseBits,
    CountOnes,
    LeadingZeros,
    FindBit,
    /// As the number of places that the bit would have to be shifted.
    FindBitShift,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    /// The low half of a product, or a product of numbers.
    Mul,
    MulHigh,
    MulWide,
    /// Of the low 24 bits.
    Mul24,
    Div,
    Rem,
    Min,
    Max,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    CopySign,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ternary {
    MulAdd,
    MulAddHigh,
    MulAddWide,
    MulAdd24,
    FunnelLeft {
        wraps: bool,
    },
    FunnelRight {
        wraps: bool,
    },
    ExtractBits,
    PermuteBytes(Permutation),
    AbsDifference,
    /// Four products of bytes, with the signs of the first and of the second factors.
    Dot4 {
        is_signed: [bool; 2],
    },
    /// Two products of 16 by 8 bits; the factors are the low or the high half of the second
    /// operand.
    Dot2 {
        is_signed: [bool; 2],
        high: bool,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Permutation {
    Any,
    Forward4,
    Backward4,
    Replicate8,
    EdgeLeft,
    EdgeRight,
    Replicate16,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// The same, or true if one is NaN.
    EqU,
    NeU,
    LtU,
    LeU,
    GtU,
    GeU,
    /// Neither is NaN.
    Num,
    Nan,
    /// Without sign.
    Lo,
    Ls,
    Hi,
    Hs,
}

/// The operation that combines a predicate with the result of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Join {
    And,
    Or,
    Xor,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FloatClass {
    Finite,
    Infinite,
    Number,
    NotANumber,
    Normal,
    Subnormal,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Atomic {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareAndSwap,
    Increment,
    Decrement,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Vote {
    All,
    Any,
    Uniform,
    Ballot,
}

/// The reduction of the predicates of a barrier's threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Gather {
    Count,
    All,
    Any,
}

/// The rounding of a conversion to an integral number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Integral {
    Nearest,
    Zero,
    Down,
    Up,
}

/// A call's or a function's parameter that lies in memory or in a register.
#[derive(Clone, Debug)]
pub(crate) enum Callee {
    Function(u32),
    Pointer(Operand),
}

#[derive(Clone, Debug)]
pub(crate) enum Op {
    Move {
        ty: ScalarType,
        to: Target,
        from: Operand,
    },
    Pack {
        to: Target,
        part_bits: u32,
        parts: Box<[Operand]>,
    },
    Unpack {
        to: Box<[Target]>,
        part_bits: u32,
        from: Operand,
    },
    Load {
        ty: ScalarType,
        space: Space,
        to: Box<[Target]>,
        from: Address,
        is_weak: bool,
    },
    Store {
        ty: ScalarType,
        space: Space,
        to: Address,
        from: Box<[Operand]>,
        is_weak: bool,
    },
    ToGeneric {
        space: Space,
        to: Target,
        from: Operand,
    },
    FromGeneric {
        space: Space,
        to: Target,
        from: Operand,
    },
    IsSpace {
        space: Space,
        to: Target,
        from: Operand,
    },
    Unary {
        op: Unary,
        ty: ScalarType,
        mode: Mode,
        to: Target,
        a: Operand,
    },
    Binary {
        op: Binary,
        ty: ScalarType,
        mode: Mode,
        to: Target,
        a: Operand,
        b: Operand,
    },
    Ternary {
        op: Ternary,
        ty: ScalarType,
        mode: Mode,
        to: Target,
        operands: [Operand; 3],
    },
    InsertBits {
        ty: ScalarType,
        to: Target,
        operands: [Operand; 4],
    },
    Logic3 {
        to: Target,
        operands: [Operand; 3],
        table: u8,
    },
    SetPredicate {
        test: Test,
        to: Target,
        opposite: Target,
    },
    Set {
        test: Test,
        ty: ScalarType,
        to: Target,
    },
    Select {
        ty: ScalarType,
        to: Target,
        a: Operand,
        b: Operand,
        predicate: Operand,
    },
    SelectBySign {
        ty: ScalarType,
        by: ScalarType,
        mode: Mode,
        to: Target,
        a: Operand,
        b: Operand,
        sign: Operand,
    },
    Convert {
        to_ty: ScalarType,
        from_ty: ScalarType,
        mode: Mode,
        integral: Option<Integral>,
        to: Target,
        from: Operand,
        low: Option<Operand>,
    },
    TestFloat {
        class: FloatClass,
        ty: ScalarType,
        to: Target,
        a: Operand,
    },
    Branch(u32),
    BranchTable {
        index: Operand,
        targets: Box<[u32]>,
    },
    Call {
        callee: Callee,
        results: Box<[Operand]>,
        arguments: Box<[Operand]>,
    },
    Return,
    Exit,
    Trap,
    Barrier {
        id: Operand,
        num_threads: Option<Operand>,
        gather: Option<(Gather, Target, Operand)>,
        is_aligned: bool,
    },
    WarpBarrier {
        mask: Operand,
    },
    Fence,
    Shuffle {
        op: Shuffle,
        to: Target,
        is_in_range: Target,
        a: Operand,
        b: Operand,
        clamp: Operand,
        mask: Operand,
    },
    Vote {
        op: Vote,
        to: Target,
        predicate: Operand,
        mask: Operand,
    },
    Match {
        is_all: bool,
        ty: ScalarType,
        to: Target,
        is_match: Target,
        a: Operand,
        mask: Operand,
    },
    Reduce {
        op: Atomic,
        ty: ScalarType,
        to: Target,
        a: Operand,
        mask: Operand,
    },
    Elect {
        to: Target,
        is_elected: Target,
        mask: Operand,
    },
    ActiveMask {
        to: Target,
    },
    Atomic {
        op: Atomic,
        ty: ScalarType,
        space: Space,
        to: Target,
        address: Address,
        b: Operand,
        c: Operand,
        is_fence: bool,
    },
    CopyAsync {
        to: Address,
        from: Address,
        num_bytes: Operand,
        num_read: Option<Operand>,
    },
    /// `m16n8k16` of f16 or bf16 factors, with f32 sums.
    MatrixMulAdd {
        ty: ScalarType,
        d: [Target; 4],
        a: [Operand; 4],
        b: [Operand; 2],
        c: [Operand; 4],
    },
    Nothing,
    /// PTX, but not of this machine.
    Unsupported(Box<str>),
}

#[derive(Clone, Debug)]
pub(crate) struct Test {
    pub(crate) comparison: Comparison,
    pub(crate) ty: ScalarType,
    pub(crate) flushes: bool,
    pub(crate) a: Operand,
    pub(crate) b: Operand,
    pub(crate) join: Option<(Join, Operand)>,
}

impl Op {
    /// Returns the lanes that take part in a warp operation.
    pub(crate) fn warp_mask(&self) -> Option<Operand> {
        match self {
            Self::WarpBarrier { mask }
            | Self::Shuffle { mask, .. }
            | Self::Vote { mask, .. }
            | Self::Match { mask, .. }
            | Self::Reduce { mask, .. }
            | Self::Elect { mask, .. } => Some(*mask),
            Self::MatrixMulAdd { .. } => Some(Operand::Immediate(0xffff_ffff)),
            _ => None,
        }
    }
}
