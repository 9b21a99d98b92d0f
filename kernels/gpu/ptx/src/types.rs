//! Types, state spaces and special registers of PTX.

/// The type in which an instruction interprets the bits of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[allow(missing_docs, reason = "the names are those of PTX")]
pub enum ScalarType {
    Pred,
    B8,
    B16,
    B32,
    B64,
    B128,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    F32,
    F64,
}

use ScalarType::*;

impl ScalarType {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "pred" => Pred,
            "b8" => B8,
            "b16" => B16,
            "b32" => B32,
            "b64" => B64,
            "b128" => B128,
            "u8" => U8,
            "u16" => U16,
            "u32" => U32,
            "u64" => U64,
            "s8" => S8,
            "s16" => S16,
            "s32" => S32,
            "s64" => S64,
            "f16" => F16,
            "bf16" => Bf16,
            "f16x2" => F16x2,
            "bf16x2" => Bf16x2,
            "f32" => F32,
            "f64" => F64,
            _ => return None,
        })
    }

    /// Returns the size of a value in memory, in bytes.
    pub fn size(self) -> usize {
        match self {
            Pred | B8 | U8 | S8 => 1,
            B16 | U16 | S16 | F16 | Bf16 => 2,
            B32 | U32 | S32 | F32 | F16x2 | Bf16x2 => 4,
            B64 | U64 | S64 | F64 => 8,
            B128 => 16,
        }
    }

    /// Returns the width in bits, at most 64.
    pub(crate) fn bits(self) -> u32 {
        (self.size() as u32 * 8).min(64)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, S8 | S16 | S32 | S64)
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, F16 | Bf16 | F16x2 | Bf16x2 | F32 | F64)
    }

    /// Returns the type of each half of a pair.
    pub(crate) fn half(self) -> Option<Self> {
        match self {
            F16x2 => Some(F16),
            Bf16x2 => Some(Bf16),
            _ => None,
        }
    }

    /// Returns the bits of `value` that belong to the type.
    #[inline]
    pub(crate) fn truncate(self, value: u64) -> u64 {
        match self {
            Pred => value & 1,
            _ => match self.size() {
                1 => value & 0xff,
                2 => value & 0xffff,
                4 => value & 0xffff_ffff,
                _ => value,
            },
        }
    }

    /// Returns the number that the bits stand for: with its sign if the type has one.
    #[inline]
    pub(crate) fn integer(self, value: u64) -> i128 {
        match self {
            S8 => i128::from(value as i8),
            S16 => i128::from(value as i16),
            S32 => i128::from(value as i32),
            S64 => i128::from(value as i64),
            _ => i128::from(self.truncate(value)),
        }
    }
}

/// The state space of an address.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Space {
    /// Any of the others: the address determines which.
    Generic,
    /// Memory of the device, behind [`Memory`](crate::Memory).
    Global,
    /// Memory of a block of threads.
    Shared,
    /// Memory of a thread.
    Local,
    /// Memory of the device that kernels only read.
    Const,
    /// Parameters of a kernel or of a function.
    Param,
}

impl Space {
    /// Returns the name in PTX.
    pub fn name(self) -> &'static str {
        match self {
            Space::Generic => "generic",
            Space::Global => "global",
            Space::Shared => "shared",
            Space::Local => "local",
            Space::Const => "const",
            Space::Param => "param",
        }
    }
}

/// A register that the machine sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Special {
    ThreadIndex(usize),
    BlockSize(usize),
    BlockIndex(usize),
    GridSize(usize),
    Lane,
    Warp,
    NumWarps,
    Multiprocessor,
    NumMultiprocessors,
    GridId,
    MaskEq,
    MaskLt,
    MaskLe,
    MaskGt,
    MaskGe,
    /// Steps so far: the only clock of this machine.
    Clock,
    ClockHigh,
    DynamicShared,
    TotalShared,
    WarpSize,
}

impl Special {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let of = |make: fn(usize) -> Self, axis: &str| match axis {
            "x" => Some(make(0)),
            "y" => Some(make(1)),
            "z" => Some(make(2)),
            _ => None,
        };
        if let Some((register, axis)) = name.split_once('.') {
            return match register {
                "%tid" => of(Self::ThreadIndex, axis),
                "%ntid" => of(Self::BlockSize, axis),
                "%ctaid" => of(Self::BlockIndex, axis),
                "%nctaid" => of(Self::GridSize, axis),
                _ => None,
            };
        }
        Some(match name {
            "%laneid" => Self::Lane,
            "%warpid" => Self::Warp,
            "%nwarpid" => Self::NumWarps,
            "%smid" => Self::Multiprocessor,
            "%nsmid" => Self::NumMultiprocessors,
            "%gridid" => Self::GridId,
            "%lanemask_eq" => Self::MaskEq,
            "%lanemask_lt" => Self::MaskLt,
            "%lanemask_le" => Self::MaskLe,
            "%lanemask_gt" => Self::MaskGt,
            "%lanemask_ge" => Self::MaskGe,
            "%clock" | "%clock64" | "%globaltimer" | "%globaltimer_lo" => Self::Clock,
            "%clock_hi" | "%globaltimer_hi" => Self::ClockHigh,
            "%dynamic_smem_size" => Self::DynamicShared,
            "%total_smem_size" => Self::TotalShared,
            "WARP_SZ" => Self::WarpSize,
            _ => return None,
        })
    }
}
