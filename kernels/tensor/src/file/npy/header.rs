//! The header of a NumPy array file: the start of the file, and a Python dictionary of three keys.

use tfrt_support::DType;

use crate::file::error::FileError;
use crate::shape::Shape;

/// The first bytes of a file.
pub const MAGIC: &[u8] = b"\x93NUMPY";

/// The element types that arrays can have, with their codes.
pub(super) const DTYPES: [(DType, &str); 14] = [
    (DType::I1, "b1"),
    (DType::I8, "i1"),
    (DType::I16, "i2"),
    (DType::I32, "i4"),
    (DType::I64, "i8"),
    (DType::Ui8, "u1"),
    (DType::Ui16, "u2"),
    (DType::Ui32, "u4"),
    (DType::Ui64, "u8"),
    (DType::F16, "f2"),
    (DType::F32, "f4"),
    (DType::F64, "f8"),
    (DType::Complex64, "c8"),
    (DType::Complex128, "c16"),
];

/// In which order the bytes of a number lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

/// The description of a file's elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) dtype: DType,
    pub(super) order: ByteOrder,
    pub(super) is_fortran_order: bool,
    pub(super) shape: Shape,
}

impl Header {
    /// Parses the header, and returns the offset of the elements.
    pub(super) fn parse(file: &[u8]) -> Result<(Self, usize), FileError> {
        let after_magic = file
            .strip_prefix(MAGIC)
            .ok_or_else(|| FileError::at(0, "expected the start of an npy file"))?;
        let (start, header_bytes) = match *after_magic {
            [1, _, a, b, ..] => (10, u64::from(u16::from_le_bytes([a, b]))),
            [2 | 3, _, a, b, c, d, ..] => (12, u64::from(u32::from_le_bytes([a, b, c, d]))),
            [major, minor, ..] if !matches!(major, 1..=3) => {
                let found = format!("expected a version from 1 to 3, found {major}.{minor}");
                return Err(FileError::at(MAGIC.len(), found));
            }
            _ => {
                return Err(FileError::at(
                    MAGIC.len(),
                    "expected a version, found the end of the file",
                ));
            }
        };
        let rest = &file[start..];
        let text = usize::try_from(header_bytes)
            .ok()
            .and_then(|header_bytes| rest.get(..header_bytes))
            .ok_or_else(|| {
                let found = rest.len();
                FileError::at(
                    start,
                    format!("expected {header_bytes} bytes of header, found {found}"),
                )
            })?;
        let header = Parser { file, at: start }.dictionary(start + text.len())?;
        Ok((header, start + text.len()))
    }
}

/// Reads the dictionary of a header, byte by byte.
struct Parser<'a> {
    file: &'a [u8],
    at: usize,
}

impl<'a> Parser<'a> {
    fn dictionary(mut self, end: usize) -> Result<Header, FileError> {
        self.file = &self.file[..end];
        let start = self.at;
        let (mut descr, mut is_fortran_order, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.next_is(b'}') {
            let key_at = self.at;
            let key = self.string()?;
            self.expect(b':')?;
            match key {
                b"descr" => descr = Some(self.descr()?),
                b"fortran_order" => is_fortran_order = Some(self.truth()?),
                b"shape" => shape = Some(self.tuple()?),
                _ => {
                    let key = String::from_utf8_lossy(key);
                    return Err(FileError::at(key_at, format!("unknown key '{key}'")));
                }
            }
            if !self.next_is(b',') {
                self.expect_here(b'}')?;
                break;
            }
        }
        let missing =
            |key| move || FileError::at(start, format!("expected the key '{key}' in the header"));
        let (dtype, order) = descr.ok_or_else(missing("descr"))?;
        Ok(Header {
            dtype,
            order,
            is_fortran_order: is_fortran_order.ok_or_else(missing("fortran_order"))?,
            shape: Shape::new(&shape.ok_or_else(missing("shape"))?)?,
        })
    }

    fn skip_blanks(&mut self) {
        while self.file.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Returns the next byte, for messages.
    fn found(&self) -> String {
        self.file.get(self.at).map_or_else(
            || "the end of the header".to_owned(),
            |&byte| format!("`{}`", char::from(byte).escape_default()),
        )
    }

    /// Consumes the byte if it is next, and returns whether it was.
    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let is_next = self.file.get(self.at) == Some(&byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn expect(&mut self, byte: u8) -> Result<(), FileError> {
        if self.next_is(byte) {
            Ok(())
        } else {
            self.expect_here(byte)
        }
    }

    fn expect_here(&mut self, byte: u8) -> Result<(), FileError> {
        if self.next_is(byte) {
            return Ok(());
        }
        let expected = char::from(byte);
        Err(FileError::at(
            self.at,
            format!("expected `{expected}`, found {}", self.found()),
        ))
    }

    /// Parses a text in quotes; texts in headers have no escapes.
    fn string(&mut self) -> Result<&'a [u8], FileError> {
        self.skip_blanks();
        let quote = match self.file.get(self.at) {
            Some(&quote @ (b'\'' | b'"')) => quote,
            _ => {
                let found = self.found();
                return Err(FileError::at(
                    self.at,
                    format!("expected a string, found {found}"),
                ));
            }
        };
        let start = self.at + 1;
        let len = self.file[start..].iter().position(|&byte| byte == quote);
        let len = len.ok_or_else(|| FileError::at(self.at, "expected the end of a string"))?;
        self.at = start + len + 1;
        Ok(&self.file[start..start + len])
    }

    fn truth(&mut self) -> Result<bool, FileError> {
        self.skip_blanks();
        for (word, truth) in [(&b"True"[..], true), (b"False", false)] {
            if self.file[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(truth);
            }
        }
        let found = self.found();
        Err(FileError::at(
            self.at,
            format!("expected True or False, found {found}"),
        ))
    }

    /// Parses the element type.
    fn descr(&mut self) -> Result<(DType, ByteOrder), FileError> {
        self.skip_blanks();
        let text_at = self.at + 1;
        let descr = self.string()?;
        let (order, code) = match *descr {
            [b'<' | b'|' | b'=', ref code @ ..] => (ByteOrder::Little, code),
            [b'>', ref code @ ..] => (ByteOrder::Big, code),
            _ => (ByteOrder::Little, descr),
        };
        let known = DTYPES.iter().find(|(_, known)| known.as_bytes() == code);
        let (dtype, _) = known.ok_or_else(|| {
            let descr = String::from_utf8_lossy(descr);
            FileError::at(text_at, format!("unsupported element type `{descr}`"))
        })?;
        Ok((*dtype, order))
    }

    /// Parses the dimensions.
    fn tuple(&mut self) -> Result<Vec<usize>, FileError> {
        self.expect(b'(')?;
        let mut numbers = Vec::new();
        while !self.next_is(b')') {
            numbers.push(self.number()?);
            if !self.next_is(b',') {
                self.expect_here(b')')?;
                break;
            }
        }
        Ok(numbers)
    }

    fn number(&mut self) -> Result<usize, FileError> {
        self.skip_blanks();
        let start = self.at;
        while self.file.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        let digits = str::from_utf8(&self.file[start..self.at]).unwrap_or_default();
        if digits.is_empty() {
            let found = self.found();
            return Err(FileError::at(
                start,
                format!("expected a number, found {found}"),
            ));
        }
        let number = digits
            .parse()
            .map_err(|_| FileError::at(start, format!("the dimension {digits} is too large")))?;
        // Python 2 marked long numbers.
        self.at += usize::from(self.file.get(self.at) == Some(&b'L'));
        Ok(number)
    }
}
