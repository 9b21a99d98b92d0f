//! What can be set as an attribute, and the section that it is copied to.

use std::fmt;

use half::{bf16, f16};
use smallvec::SmallVec;
use tfrt_attr::{AttrEncoder, AttrTypeCode, AttrValue, EncodeError, Scalar};
use tfrt_support::DType;

/// Where a value is: what it is, and its offset in a section.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AttrPlace {
    pub(crate) code: AttrTypeCode,
    pub(crate) offset: u32,
}

impl fmt::Debug for AttrPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.code, self.offset)
    }
}

/// How many words of values lie in the set itself.
const NUM_WORDS_IN_PLACE: usize = 8;

/// The bytes of values: words, as every value is aligned to eight bytes at most.
#[derive(Clone, Debug, Default)]
pub struct OwnSection {
    words: SmallVec<[u64; NUM_WORDS_IN_PLACE]>,
}

impl OwnSection {
    pub(crate) const EMPTY: Self = Self {
        words: SmallVec::new_const(),
    };

    pub(super) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        zerocopy::IntoBytes::as_bytes(&self.words[..])
    }

    /// Appends a value.
    pub(crate) fn push(&mut self, value: &AttrValue) -> Result<AttrPlace, EncodeError> {
        let mut encoder = AttrEncoder::new();
        let offset = encoder.encode(value)?;
        let code = value.code();
        let start = self.next_offset()?;
        let bytes = encoder.as_bytes();
        for chunk in bytes.chunks(size_of::<u64>()) {
            let mut word = [0; size_of::<u64>()];
            word[..chunk.len()].copy_from_slice(chunk);
            self.words.push(u64::from_ne_bytes(word));
        }
        let offset = start.checked_add(offset).ok_or(EncodeError::TooLong)?;
        Ok(AttrPlace { code, offset })
    }

    /// Appends a value of at most eight bytes, little-endian.
    #[inline]
    fn push_word(&mut self, code: AttrTypeCode, bits: u64) -> Result<AttrPlace, EncodeError> {
        let offset = self.next_offset()?;
        self.words.push(bits.to_le());
        Ok(AttrPlace { code, offset })
    }

    fn next_offset(&self) -> Result<u32, EncodeError> {
        u32::try_from(size_of_val(&self.words[..])).map_err(|_| EncodeError::TooLong)
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A value that an op attribute can have: a number, `bool`, [`DType`], text, a list of numbers, or
/// any [`AttrValue`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an op attribute",
    label = "not an attribute value",
    note = "supported types: numbers, `bool`, `DType`, `&str`, slices of numbers, and `&AttrValue`"
)]
pub trait ToOpAttr: sealed::Sealed {
    /// Copies the value to a section.
    #[doc(hidden)]
    fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError>;
}

macro_rules! impl_number {
    ($($ty:ty => $constructor:ident;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl ToOpAttr for $ty {
            #[inline]
            fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError> {
                let scalar = Scalar::$constructor(*self);
                section.push_word(scalar.code(), scalar.bits())
            }
        }

        impl sealed::Sealed for &[$ty] {}

        impl ToOpAttr for &[$ty] {
            fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError> {
                let elements = self.iter().map(|&element| Scalar::$constructor(element).into());
                section.push(&AttrValue::Array(elements.collect()))
            }
        }

        impl<const N: usize> sealed::Sealed for [$ty; N] {}

        impl<const N: usize> ToOpAttr for [$ty; N] {
            fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError> {
                (&self[..]).encode(section)
            }
        }
    )*};
}

impl_number! {
    bool => bool;
    u8 => ui8;
    u16 => ui16;
    u32 => ui32;
    u64 => ui64;
    i8 => i8;
    i16 => i16;
    i32 => i32;
    i64 => i64;
    f16 => f16;
    bf16 => bf16;
    f32 => f32;
    f64 => f64;
}

impl sealed::Sealed for DType {}

impl ToOpAttr for DType {
    fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError> {
        section.push_word(AttrTypeCode::TYPE, self.code().into())
    }
}

impl sealed::Sealed for &str {}

impl ToOpAttr for &str {
    fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError> {
        section.push(&AttrValue::string(self))
    }
}

impl sealed::Sealed for &AttrValue {}

impl ToOpAttr for &AttrValue {
    fn encode(&self, section: &mut OwnSection) -> Result<AttrPlace, EncodeError> {
        section.push(self)
    }
}
