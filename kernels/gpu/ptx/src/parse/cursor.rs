//! A position in the tokens of a text.

use crate::error::ParseError;
use crate::float::{Rounding, narrow};
use crate::lexer::{Kind, Token, column};
use crate::types::ScalarType;

/// Reads tokens one after another.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, tokens: &'a [Token]) -> Self {
        Self {
            text,
            tokens,
            at: 0,
        }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn jump(&mut self, position: usize) {
        self.at = position;
    }

    pub(super) fn line(&self) -> u32 {
        self.tokens
            .get(self.at)
            .or(self.tokens.last())
            .map_or(1, |token| token.line)
    }

    /// Returns where the text of the tokens from `first` up to here lies.
    pub(super) fn span_from(&self, first: usize) -> (u32, u32) {
        let start = self.tokens.get(first).map_or(0, |token| token.start);
        let end = self
            .at
            .checked_sub(1)
            .and_then(|last| self.tokens.get(last))
            .map_or(start, |token| token.end);
        (start, end.max(start))
    }

    fn text_of(&self, token: Token) -> &'a str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Returns an error at the next token.
    #[cold]
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        match self.tokens.get(self.at) {
            Some(token) => {
                ParseError::new(token.line, column(self.text, token.start as usize), message)
            }
            None => ParseError::new(
                self.text.lines().count().max(1) as u32,
                column(self.text, self.text.len()),
                message,
            ),
        }
    }

    /// Returns an error at the token that was read last.
    #[cold]
    pub(super) fn error_at_last(&self, message: impl Into<String>) -> ParseError {
        let mut before = self.clone();
        before.at = self.at.saturating_sub(1);
        before.error(message)
    }

    #[cold]
    fn unexpected(&self, expected: &str) -> ParseError {
        match self.tokens.get(self.at) {
            Some(&token) => self.error(format!(
                "expected {expected}, found `{}`",
                self.text_of(token)
            )),
            None => self.error(format!("expected {expected}, found the end of the text")),
        }
    }

    pub(super) fn any(&mut self) -> Result<(), ParseError> {
        if self.is_at_end() {
            return Err(self.unexpected("more"));
        }
        self.at += 1;
        Ok(())
    }

    pub(super) fn is_sign(&self, sign: u8) -> bool {
        self.tokens
            .get(self.at)
            .is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    /// Returns `true` if the token after the next one is that sign.
    pub(super) fn is_second_sign(&self, sign: u8) -> bool {
        self.tokens
            .get(self.at + 1)
            .is_some_and(|token| token.kind == Kind::Sign(sign))
    }

    pub(super) fn eat(&mut self, sign: u8) -> bool {
        let is_there = self.is_sign(sign);
        self.at += usize::from(is_there);
        is_there
    }

    pub(super) fn expect(&mut self, sign: u8) -> Result<(), ParseError> {
        if self.eat(sign) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("`{}`", sign as char)))
        }
    }

    pub(super) fn peek_word(&self) -> Option<&'a str> {
        self.tokens
            .get(self.at)
            .filter(|token| token.kind == Kind::Word)
            .map(|&token| self.text_of(token))
    }

    pub(super) fn word(&mut self, expected: &str) -> Result<&'a str, ParseError> {
        let word = self.peek_word().ok_or_else(|| self.unexpected(expected))?;
        self.at += 1;
        Ok(word)
    }

    /// Returns a word that can name something.
    pub(super) fn name(&mut self) -> Result<&'a str, ParseError> {
        let word = self
            .peek_word()
            .filter(|word| !word.starts_with(|first: char| first.is_ascii_digit() || first == '.'));
        let word = word.ok_or_else(|| self.unexpected("a name"))?;
        self.at += 1;
        Ok(word)
    }

    pub(super) fn unsigned(&mut self, expected: &str) -> Result<u64, ParseError> {
        match self.peek_word().and_then(Literal::parse) {
            Some(Literal::Integer(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Skips `{`, all that it holds, and its `}`.
    pub(super) fn skip_braces(&mut self) -> Result<(), ParseError> {
        let open = self.clone();
        self.expect(b'{')?;
        let mut depth = 1usize;
        while depth > 0 {
            if self.is_at_end() {
                return Err(open.error("expected a closing `}`"));
            }
            if self.is_sign(b'{') {
                depth += 1;
            } else if self.is_sign(b'}') {
                depth -= 1;
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Skips to the token after the next semicolon.
    pub(super) fn skip_statement(&mut self) -> Result<(), ParseError> {
        while !self.eat(b';') {
            if self.is_sign(b'}') {
                return Err(self.unexpected("`;`"));
            }
            self.any()?;
        }
        Ok(())
    }
}

/// A number of the text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Literal {
    Integer(u64),
    /// `0f3F800000`
    Single(u32),
    /// `0d3FF0000000000000`
    Double(u64),
    Decimal(f64),
}

impl Literal {
    pub(super) fn parse(word: &str) -> Option<Self> {
        if !word.starts_with(|first: char| first.is_ascii_digit()) {
            return None;
        }
        let hexadecimal = |digits: &str| {
            let is_plain =
                !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_plain
                .then(|| u64::from_str_radix(digits, 16).ok())
                .flatten()
        };
        if let Some(digits) = word
            .strip_prefix("0f")
            .or(word.strip_prefix("0F"))
            .filter(|digits| digits.len() == 8)
        {
            return hexadecimal(digits).map(|bits| Self::Single(bits as u32));
        }
        if let Some(digits) = word
            .strip_prefix("0d")
            .or(word.strip_prefix("0D"))
            .filter(|digits| digits.len() == 16)
        {
            return hexadecimal(digits).map(Self::Double);
        }
        let integer = word.strip_suffix('U').unwrap_or(word);
        if let Some(digits) = integer.strip_prefix("0x").or(integer.strip_prefix("0X")) {
            return hexadecimal(digits).map(Self::Integer);
        }
        if let Some(digits) = integer.strip_prefix("0b").or(integer.strip_prefix("0B")) {
            let is_plain = digits.bytes().all(|digit| matches!(digit, b'0' | b'1'));
            return is_plain
                .then(|| u64::from_str_radix(digits, 2).ok())
                .flatten()
                .map(Self::Integer);
        }
        if integer.bytes().all(|digit| digit.is_ascii_digit()) {
            let radix = if integer.len() > 1 && integer.starts_with('0') {
                8
            } else {
                10
            };
            return u64::from_str_radix(integer, radix).ok().map(Self::Integer);
        }
        // Not `inf` and `nan`, which begin with a letter.
        word.parse().ok().map(Self::Decimal)
    }

    /// Returns the bits of the number as one of type `ty`, if it is one.
    pub(super) fn bits(self, ty: ScalarType, is_negative: bool) -> Option<u64> {
        let negate = |value: f64| if is_negative { -value } else { value };
        Some(match (self, ty) {
            (Self::Integer(value), _) if !ty.is_float() => ty.truncate(if is_negative {
                value.wrapping_neg()
            } else {
                value
            }),
            // Halves are written as the integers of their bits.
            (
                Self::Integer(value),
                ScalarType::F16 | ScalarType::Bf16 | ScalarType::F16x2 | ScalarType::Bf16x2,
            ) if !is_negative => ty.truncate(value),
            (Self::Integer(value), _) => narrow(negate(value as f64), ty, Rounding::Nearest),
            (
                Self::Single(bits),
                ScalarType::B32 | ScalarType::U32 | ScalarType::S32 | ScalarType::F32,
            ) => u64::from(bits) ^ u64::from(is_negative) << 31,
            (Self::Single(bits), ScalarType::F64) => {
                negate(f64::from(f32::from_bits(bits))).to_bits()
            }
            (
                Self::Double(bits),
                ScalarType::B64 | ScalarType::U64 | ScalarType::S64 | ScalarType::F64,
            ) => bits ^ u64::from(is_negative) << 63,
            (Self::Double(bits), ScalarType::F32) => {
                narrow(negate(f64::from_bits(bits)), ty, Rounding::Nearest)
            }
            (
                Self::Decimal(value),
                ScalarType::F32 | ScalarType::F64 | ScalarType::F16 | ScalarType::Bf16,
            ) => narrow(negate(value), ty, Rounding::Nearest),
            (Self::Decimal(value), ScalarType::B32) => {
                narrow(negate(value), ScalarType::F32, Rounding::Nearest)
            }
            (Self::Decimal(value), ScalarType::B64) => negate(value).to_bits(),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_bits_of_their_type() {
        let bits =
            |word: &str, ty| Literal::parse(word).and_then(|literal| literal.bits(ty, false));
        assert_eq!(bits("0f3F800000", ScalarType::F32), Some(0x3f80_0000));
        assert_eq!(
            bits("0d3FF0000000000000", ScalarType::F64),
            Some(0x3ff0_0000_0000_0000)
        );
        assert_eq!(bits("1.5", ScalarType::F32), Some(0x3fc0_0000));
        assert_eq!(bits("0x1F", ScalarType::U32), Some(31));
        assert_eq!(bits("017", ScalarType::U32), Some(15));
        assert_eq!(bits("0b101", ScalarType::U8), Some(5));
        assert_eq!(bits("4294967295U", ScalarType::B32), Some(0xffff_ffff));
        assert_eq!(bits("1.5", ScalarType::U32), None);
        assert_eq!(Literal::parse("0x"), None);
        assert_eq!(Literal::parse("1_0"), None);
        assert_eq!(Literal::parse("99999999999999999999"), None);
    }
}
