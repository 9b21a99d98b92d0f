//! The section that the values of attributes are copied to.

use std::fmt;

use smallvec::SmallVec;
use tfrt_attr::{AttrEncoder, AttrTypeCode, AttrValue, EncodeError, OpAttrArgument};

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

    /// Appends what a caller passed.
    #[inline]
    pub(crate) fn push_argument(
        &mut self,
        argument: &OpAttrArgument<'_>,
    ) -> Result<AttrPlace, EncodeError> {
        match argument {
            OpAttrArgument::Scalar(scalar) => self.push_word(scalar.code(), scalar.bits()),
            OpAttrArgument::DType(dtype) => self.push_word(AttrTypeCode::TYPE, dtype.code().into()),
            OpAttrArgument::Value(value) => self.push(value),
        }
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
    pub(super) fn push_word(
        &mut self,
        code: AttrTypeCode,
        bits: u64,
    ) -> Result<AttrPlace, EncodeError> {
        let offset = self.next_offset()?;
        self.words.push(bits.to_le());
        Ok(AttrPlace { code, offset })
    }

    fn next_offset(&self) -> Result<u32, EncodeError> {
        u32::try_from(size_of_val(&self.words[..])).map_err(|_| EncodeError::TooLong)
    }
}
