//! A common representation of elements of every type, so that functions and loops are written once.
//!
//! An element has 64 bits. An integer is sign- or zero-extended. A Boolean is 0 or 1. A floating
//! point number has double precision, which represents all values of the narrower types.

use half::{bf16, f16};
use tfrt::prelude::*;

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
}

const NAMES: &[(&str, DType, Kind, u32)] = &[
    ("i1", DType::I1, Kind::Bool, 1),
    ("i8", DType::I8, Kind::Signed, 8),
    ("i16", DType::I16, Kind::Signed, 16),
    ("i32", DType::I32, Kind::Signed, 32),
    ("i64", DType::I64, Kind::Signed, 64),
    ("ui8", DType::Ui8, Kind::Unsigned, 8),
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
    };

    /// Returns the type for the element type of a tensor.
    pub(super) fn of(op: &str, dtype: DType) -> Result<Self> {
        let found = NAMES.iter().find(|entry| entry.1 == dtype);
        let &(_, dtype, kind, bits) = found.ok_or_else(|| unsupported(op, dtype))?;
        Ok(Self { dtype, kind, bits })
    }

    /// Returns the type with a name.
    pub(super) fn named(name: &str) -> Option<Self> {
        let &(_, dtype, kind, bits) = NAMES.iter().find(|entry| entry.0 == name)?;
        Some(Self { dtype, kind, bits })
    }

    pub(super) fn name(self) -> &'static str {
        let found = NAMES.iter().find(|entry| entry.1 == self.dtype);
        found.map_or("", |entry| entry.0)
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
        let rounded = match self.dtype {
            DType::F32 => f64::from(value as f32),
            DType::F16 => f16::from_f64(value).to_f64(),
            DType::Bf16 => bf16::from_f64(value).to_f64(),
            _ => value,
        };
        rounded.to_bits()
    }

    /// Returns the bits of an element in its own type.
    pub(super) fn native(self, element: u64) -> u64 {
        match self.dtype {
            DType::F32 => u64::from((f64::from_bits(element) as f32).to_bits()),
            DType::F16 => u64::from(f16::from_f64(f64::from_bits(element)).to_bits()),
            DType::Bf16 => u64::from(bf16::from_f64(f64::from_bits(element)).to_bits()),
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
        if self.bits == 1 {
            1
        } else {
            self.bits as usize / 8
        }
    }

    /// Decodes bytes as an iterator of elements.
    pub(super) fn elements(self, bytes: &[u8]) -> impl Iterator<Item = u64> {
        bytes.chunks_exact(self.size_bytes()).map(move |chunk| {
            let mut native = [0; 8];
            native[..chunk.len()].copy_from_slice(chunk);
            self.of_native(u64::from_le_bytes(native))
        })
    }

    /// Decodes a small number of bytes as a vector of elements.
    pub(super) fn load(self, bytes: &[u8]) -> Vec<u64> {
        self.elements(bytes).collect()
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
    fn elements_of_every_type_are_loaded_and_stored_without_loss() {
        for &(name, ..) in NAMES {
            let ty = Type::named(name).unwrap();
            let size = ty.size_bytes();
            for pattern in [0_u64, 1, 0x80, 0x3F80, 0x7F7F_7F7F, 0x4012_3456_789A_BCDE] {
                let bytes = match name {
                    "i1" => vec![(pattern & 1) as u8],
                    _ => pattern.to_le_bytes()[..size].to_vec(),
                };
                let mut stored = vec![0; size];
                ty.store(&ty.load(&bytes), &mut stored);
                assert_eq!(stored, bytes, "{name}");
            }
        }
    }

    #[test]
    fn integers_are_extended_by_their_sign() {
        let element = |name: &str, bytes: &[u8]| Type::named(name).unwrap().load(bytes)[0] as i64;
        assert_eq!(element("i8", &[0xFF]), -1);
        assert_eq!(element("ui8", &[0xFF]), 255);
        assert_eq!(element("i16", &[0x00, 0x80]), -32768);
    }
}
