//! A common representation of elements of every type, so that functions and loops are written once.
//!
//! An element has 64 bits. An integer is sign- or zero-extended. A Boolean is 0 or 1. A floating
//! point number has double precision, which represents all values of the narrower types. Tensors
//! hold formats of up to 8 bits in single precision.

use half::{bf16, f16};
use tfrt::prelude::*;
use tfrt::support::rounding::round_to_odd;
use tfrt::support::small_float::SmallFloat;

use crate::unsupported;

/// The interpretation of the bits of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Bool,
    Signed,
    Unsigned,
    Real,
}

/// An element type with this representation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) dtype: DType,
    pub(super) kind: Kind,
    /// The width in bits, which is 1 for a Boolean.
    pub(super) bits: u32,
    /// The format to which numbers are rounded, if it is narrower than the type of the tensor.
    pub(super) small: Option<SmallFloat>,
}

const NAMES: &[(&str, DType, Kind, u32)] = &[
    ("i1", DType::I1, Kind::Bool, 1),
    ("i8", DType::I8, Kind::Signed, 8),
    // Tensors hold narrower integers as bytes. `Type::of` finds the first entry of a type.
    ("i2", DType::I8, Kind::Signed, 2),
    ("i4", DType::I8, Kind::Signed, 4),
    ("i16", DType::I16, Kind::Signed, 16),
    ("i32", DType::I32, Kind::Signed, 32),
    ("i64", DType::I64, Kind::Signed, 64),
    ("ui8", DType::Ui8, Kind::Unsigned, 8),
    ("ui2", DType::Ui8, Kind::Unsigned, 2),
    ("ui4", DType::Ui8, Kind::Unsigned, 4),
    ("ui16", DType::Ui16, Kind::Unsigned, 16),
    ("ui32", DType::Ui32, Kind::Unsigned, 32),
    ("ui64", DType::Ui64, Kind::Unsigned, 64),
    ("f16", DType::F16, Kind::Real, 16),
    ("bf16", DType::Bf16, Kind::Real, 16),
    ("f32", DType::F32, Kind::Real, 32),
    ("f64", DType::F64, Kind::Real, 64),
];

impl Type {
    pub(super) const BOOL: Self = Self {
        dtype: DType::I1,
        kind: Kind::Bool,
        bits: 1,
        small: None,
    };

    const fn new(dtype: DType, kind: Kind, bits: u32) -> Self {
        Self {
            dtype,
            kind,
            bits,
            small: None,
        }
    }

    /// Returns the type for the element type of a tensor.
    pub(super) fn of(op: &str, dtype: DType) -> Result<Self> {
        let found = NAMES.iter().find(|entry| entry.1 == dtype);
        let &(_, dtype, kind, bits) = found.ok_or_else(|| unsupported(op, dtype))?;
        Ok(Self::new(dtype, kind, bits))
    }

    /// Returns the type of the parts of elements, and their number: 2 for complex numbers, which
    /// have a real and an imaginary part.
    pub(super) fn parts(op: &str, dtype: DType) -> Result<(Self, usize)> {
        Ok(match dtype {
            DType::Complex64 => (Self::of(op, DType::F32)?, 2),
            DType::Complex128 => (Self::of(op, DType::F64)?, 2),
            other => (Self::of(op, other)?, 1),
        })
    }

    /// Returns the type with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        if let Some(small) = SmallFloat::named(name) {
            let held = Self::new(DType::F32, Kind::Real, 32);
            return Some(Self {
                small: Some(small),
                ..held
            });
        }
        let &(_, dtype, kind, bits) = NAMES.iter().find(|entry| entry.0 == name)?;
        Some(Self::new(dtype, kind, bits))
    }

    pub(super) fn name(self) -> &'static str {
        if let Some(small) = self.small {
            return small.name();
        }
        let is_own =
            |entry: &&(&str, DType, Kind, u32)| (entry.1, entry.3) == (self.dtype, self.bits);
        NAMES.iter().find(is_own).map_or("", |entry| entry.0)
    }

    pub(super) fn is_real(self) -> bool {
        self.kind == Kind::Real
    }

    /// Truncates an integer to the width of the type, and extends it to an element.
    pub(super) fn wrap(self, bits: u64) -> u64 {
        match (self.kind, self.bits) {
            (Kind::Bool, _) => bits & 1,
            (_, 64) => bits,
            (Kind::Unsigned, width) => bits & ((1 << width) - 1),
            (_, width) => (((bits << (64 - width)) as i64) >> (64 - width)) as u64,
        }
    }

    /// Returns the low bits of an element as an unsigned integer.
    pub(super) fn unsigned(self, element: u64) -> u64 {
        match self.bits {
            64 => element,
            width => element & ((1 << width) - 1),
        }
    }

    /// Rounds a number to the nearest element of a floating point type.
    pub(super) fn round(self, value: f64) -> u64 {
        if let Some(small) = self.small {
            return small.round(value).to_bits();
        }
        let rounded = match self.dtype {
            DType::F32 => f64::from(value as f32),
            DType::F16 => f16::from_f32(round_to_odd(value)).to_f64(),
            DType::Bf16 => bf16::from_f32(round_to_odd(value)).to_f64(),
            _ => value,
        };
        rounded.to_bits()
    }

    /// Returns the bits of an element in its own type.
    pub(super) fn native(self, element: u64) -> u64 {
        match self.dtype {
            DType::F32 => u64::from((f64::from_bits(element) as f32).to_bits()),
            DType::F16 => u64::from(f16::from_f32(round_to_odd(f64::from_bits(element))).to_bits()),
            DType::Bf16 => {
                u64::from(bf16::from_f32(round_to_odd(f64::from_bits(element))).to_bits())
            }
            _ => self.unsigned(element),
        }
    }

    /// Returns the element with these bits in its own type.
    pub(super) fn of_native(self, native: u64) -> u64 {
        match self.dtype {
            DType::F32 => f64::from(f32::from_bits(native as u32)).to_bits(),
            DType::F16 => f16::from_bits(native as u16).to_f64().to_bits(),
            DType::Bf16 => bf16::from_bits(native as u16).to_f64().to_bits(),
            _ => self.wrap(native),
        }
    }

    pub(super) const fn size_bytes(self) -> usize {
        (self.bits as usize).div_ceil(8)
    }

    /// Decodes bytes as an iterator of elements.
    pub(super) fn elements(self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.chunks_exact(self.size_bytes()).map(move |chunk| {
            let mut native = [0; 8];
            native[..chunk.len()].copy_from_slice(chunk);
            self.of_native(u64::from_le_bytes(native))
        })
    }

    /// Encodes elements as bytes.
    pub(super) fn store(self, elements: &[u64], bytes: &mut [u8]) {
        let size = self.size_bytes();
        for (chunk, &element) in bytes.chunks_exact_mut(size).zip(elements) {
            chunk.copy_from_slice(&self.native(element).to_le_bytes()[..size]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_are_rounded_once() {
        let rounded =
            |name: &str, value: f64| f64::from_bits(Type::named(name).unwrap().round(value));
        // Just above the middle of two numbers, below it, and in the middle.
        let middle = 3.695_312_5;
        let small = f64::from(f32::EPSILON);
        assert_eq!(rounded("bf16", middle + small), 3.703_125);
        assert_eq!(rounded("bf16", middle - small), 3.687_5);
        assert_eq!(rounded("bf16", middle), 3.687_5);
        let middle = 1.0 + 3.0 / 2048.0;
        assert_eq!(rounded("f16", middle + 1e-12), 1.0 + 2.0 / 1024.0);
        assert_eq!(rounded("f16", middle - 1e-12), 1.0 + 1.0 / 1024.0);
        assert_eq!(rounded("bf16", f64::MAX), f64::INFINITY);
        assert_eq!(rounded("bf16", f64::NEG_INFINITY), f64::NEG_INFINITY);
        assert_eq!(rounded("f16", -1e-300), 0.0);
        assert!(rounded("bf16", f64::NAN).is_nan());
    }

    #[test]
    fn narrow_integers_wrap_and_have_names() {
        let narrow = Type::named("i4").unwrap();
        assert_eq!((narrow.name(), narrow.size_bytes()), ("i4", 1));
        assert_eq!(narrow.wrap(9) as i64, -7);
        assert_eq!(Type::named("ui2").unwrap().wrap(6), 2);
        assert_eq!(Type::of("t", DType::I8).unwrap().name(), "i8");
    }

    #[test]
    fn elements_of_every_type_are_loaded_and_stored_without_loss() {
        for &(name, ..) in NAMES {
            let ty = Type::named(name).unwrap();
            let size = ty.size_bytes();
            for pattern in [0_u64, 1, 0x80, 0x3F80, 0x7F7F_7F7F, 0x4012_3456_789A_BCDE] {
                let bytes = match ty.bits {
                    bits @ 1..8 => vec![(pattern & ((1 << bits) - 1)) as u8],
                    _ => pattern.to_le_bytes()[..size].to_vec(),
                };
                let mut stored = vec![0; size];
                let elements: Vec<u64> = ty.elements(&bytes).collect();
                ty.store(&elements, &mut stored);
                assert_eq!(stored, bytes, "{name}");
            }
        }
    }

    #[test]
    fn integers_are_extended_by_their_sign() {
        let element = |name: &str, bytes: &[u8]| {
            let mut elements = Type::named(name).unwrap().elements(bytes);
            elements.next().unwrap() as i64
        };
        assert_eq!(element("i8", &[0xFF]), -1);
        assert_eq!(element("ui8", &[0xFF]), 255);
        assert_eq!(element("i16", &[0x00, 0x80]), -32768);
    }
}
