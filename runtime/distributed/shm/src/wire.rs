//! What is written to sockets: frames.
//!
//! ```text
//!  0         4      5
//!  │ length  │ kind │ content …        the length is that of what follows it
//!
//!  kind  content
//!  1     the number of bytes of elements: u64, then the head of a message
//!  2     elements of the message
//!  3     a block that has elements of the message: number u32, number of bytes u32
//!  4     a block that was read: number u32
//!  5     the receiver of this frame may lend its elements: nothing
//!  6     a message whose elements are lent: number u32, their address and number of bytes, the
//!        address and number of their seal: u64 each, then the head of the message
//!  7     a loan that has ended: number u32
//!  8     the receiver of this frame may not lend its elements any more: nothing
//! ```
//!
//! The elements of a message follow its head, in one or more frames. Numbers are little endian.

use std::io;

use tfrt_distributed::collective::direct::MAX_HEAD_BYTES;

/// The largest number of bytes of elements in a frame.
pub(crate) const MAX_INLINE_BYTES: usize = 4096;

/// The largest frame after its length.
const MAX_FRAME_BYTES: usize = MAX_HEAD_BYTES + LENT_BYTES + 1;

/// The number of bytes before the head of a message whose elements are lent.
const LENT_BYTES: usize = 36;

const HEAD: u8 = 1;
const INLINE: u8 = 2;
const BLOCK: u8 = 3;
const READ: u8 = 4;
const MAY_LEND: u8 = 5;
const LENT: u8 = 6;
const RETURN: u8 = 7;
const MAY_NOT_LEND: u8 = 8;

/// Where a word is, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WordPlace {
    pub(crate) address: u64,
    pub(crate) number: u64,
}

/// Where lent elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoanPlace {
    pub(crate) address: u64,
    pub(crate) len_bytes: u64,
    pub(crate) seal: WordPlace,
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Head {
        len_bytes: u64,
        head: &'a [u8],
    },
    Inline(&'a [u8]),
    Block {
        number: u32,
        len_bytes: u32,
    },
    Read {
        number: u32,
    },
    MayLend,
    Lent {
        number: u32,
        place: LoanPlace,
        head: &'a [u8],
    },
    Return {
        number: u32,
    },
    MayNotLend,
}

impl<'a> Frame<'a> {
    /// Appends the frame to what is sent.
    pub(crate) fn write(self, out: &mut Vec<u8>) {
        let mut put = |kind: u8, parts: [&[u8]; 2]| {
            let len: usize = parts.iter().map(|part| part.len()).sum();
            // Heads and inline elements are limited.
            let len = u32::try_from(len + 1).unwrap_or(u32::MAX);
            out.extend_from_slice(&len.to_le_bytes());
            out.push(kind);
            for part in parts {
                out.extend_from_slice(part);
            }
        };
        match self {
            Self::Head { len_bytes, head } => put(HEAD, [&len_bytes.to_le_bytes(), head]),
            Self::Inline(elements) => put(INLINE, [elements, &[]]),
            Self::Block { number, len_bytes } => {
                put(BLOCK, [&number.to_le_bytes(), &len_bytes.to_le_bytes()]);
            }
            Self::Read { number } => put(READ, [&number.to_le_bytes(), &[]]),
            Self::MayLend => put(MAY_LEND, [&[], &[]]),
            Self::Lent {
                number,
                place,
                head,
            } => {
                let LoanPlace {
                    address,
                    len_bytes,
                    seal,
                } = place;
                let mut fixed = number.to_le_bytes().to_vec();
                for word in [address, len_bytes, seal.address, seal.number] {
                    fixed.extend_from_slice(&word.to_le_bytes());
                }
                put(LENT, [&fixed, head]);
            }
            Self::Return { number } => put(RETURN, [&number.to_le_bytes(), &[]]),
            Self::MayNotLend => put(MAY_NOT_LEND, [&[], &[]]),
        }
    }

    /// Reads the frame at the start, and returns it with its size. Returns `None` if more has to
    /// arrive.
    ///
    /// # Errors
    /// If it is malformed.
    pub(crate) fn read(bytes: &'a [u8]) -> io::Result<Option<(Self, usize)>> {
        let Some(len) = bytes.first_chunk::<4>() else {
            return Ok(None);
        };
        let len = u32::from_le_bytes(*len) as usize;
        if len > MAX_FRAME_BYTES {
            return Err(malformed());
        }
        let Some(content) = bytes[4..].get(..len) else {
            return Ok(None);
        };
        let frame = Self::parse(content).ok_or_else(malformed)?;
        Ok(Some((frame, 4 + len)))
    }

    fn parse(content: &'a [u8]) -> Option<Self> {
        let (kind, content) = content.split_first()?;
        let word = |bytes: &[u8]| bytes.try_into().ok().map(u32::from_le_bytes);
        Some(match *kind {
            HEAD => {
                let (len_bytes, head) = content.split_first_chunk::<8>()?;
                Self::Head {
                    len_bytes: u64::from_le_bytes(*len_bytes),
                    head,
                }
            }
            INLINE if !content.is_empty() && content.len() <= MAX_INLINE_BYTES => {
                Self::Inline(content)
            }
            BLOCK => {
                let (number, len_bytes) = content.split_at_checked(4)?;
                Self::Block {
                    number: word(number)?,
                    len_bytes: word(len_bytes)?,
                }
            }
            READ => Self::Read {
                number: word(content)?,
            },
            MAY_LEND if content.is_empty() => Self::MayLend,
            LENT => {
                let (fixed, head) = content.split_at_checked(LENT_BYTES)?;
                let (number, words) = fixed.split_at(4);
                let word_at = |index: usize| {
                    let bytes = words.get(8 * index..)?.first_chunk()?;
                    Some(u64::from_le_bytes(*bytes))
                };
                Self::Lent {
                    number: word(number)?,
                    place: LoanPlace {
                        address: word_at(0)?,
                        len_bytes: word_at(1)?,
                        seal: WordPlace {
                            address: word_at(2)?,
                            number: word_at(3)?,
                        },
                    },
                    head,
                }
            }
            RETURN => Self::Return {
                number: word(content)?,
            },
            MAY_NOT_LEND if content.is_empty() => Self::MayNotLend,
            _ => return None,
        })
    }
}

#[cold]
pub(crate) fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed frame")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMES: [Frame<'static>; 8] = [
        Frame::Head {
            len_bytes: 1 << 40,
            head: b"head",
        },
        Frame::Inline(b"elements"),
        Frame::Block {
            number: 7,
            len_bytes: 9,
        },
        Frame::Read { number: 3 },
        Frame::MayLend,
        Frame::Lent {
            number: 5,
            place: LoanPlace {
                address: 1 << 46,
                len_bytes: 1 << 30,
                seal: WordPlace {
                    address: 1 << 45,
                    number: 1 << 63,
                },
            },
            head: b"head",
        },
        Frame::Return { number: 11 },
        Frame::MayNotLend,
    ];

    #[test]
    fn frames_come_back_as_they_were() {
        let mut bytes = Vec::new();
        for frame in FRAMES {
            frame.write(&mut bytes);
        }
        let mut rest = &bytes[..];
        for frame in FRAMES {
            let (found, len) = Frame::read(rest).unwrap().unwrap();
            assert_eq!(found, frame);
            for end in 0..len {
                assert!(Frame::read(&rest[..end]).unwrap().is_none(), "{end} bytes");
            }
            rest = &rest[len..];
        }
        assert!(rest.is_empty());
    }

    #[test]
    fn malformed_frames_are_errors() {
        let cases: [&[u8]; 10] = [
            &[0, 0, 0, 0],
            &[1, 0, 0, 0, 9],
            &[1, 0, 0, 0, 2],
            &[8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],
            &[4, 0, 0, 0, 3, 0, 0, 0],
            &[6, 0, 0, 0, 4, 0, 0, 0, 0, 0],
            &[2, 0, 0, 0, 5, 0],
            &[2, 0, 0, 0, 8, 0],
            &[8, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0],
            &[0xff; 4],
        ];
        for case in cases {
            assert!(Frame::read(case).is_err(), "{case:?}");
        }
        let mut long = Vec::new();
        Frame::Inline(&[1; MAX_INLINE_BYTES + 1]).write(&mut long);
        assert!(Frame::read(&long).is_err());
    }
}
