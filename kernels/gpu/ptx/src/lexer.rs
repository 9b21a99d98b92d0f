//! The tokens of PTX.
//!
//! A word is a name, a number, a directive, or an instruction with all its modifiers, including
//! dots. Comments and the lines of `.loc` and `.file`, which have no terminator, are skipped.

use crate::error::ParseError;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Kind {
    Word,
    Sign(u8),
    Text,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) line: u32,
}

/// Returns the column, from 1, of a byte of the text.
pub(crate) fn column(text: &str, at: usize) -> u32 {
    let before = &text[..at];
    before[before.rfind('\n').map_or(0, |end| end + 1)..]
        .chars()
        .count() as u32
        + 1
}

/// Splits a text.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError::new(
            1,
            1,
            format!("expected at most 4 GiB of PTX, found {} bytes", text.len()),
        ));
    }
    Lexer {
        bytes: text.as_bytes(),
        text,
        at: 0,
        line: 1,
    }
    .run()
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
}

impl Lexer<'_> {
    fn run(mut self) -> Result<Vec<Token>, ParseError> {
        let mut tokens = Vec::with_capacity(self.bytes.len() / 4);
        while let Some(byte) = self.peek(0) {
            let (start, line) = (self.at, self.line);
            let kind = match byte {
                b'\n' => {
                    self.new_line();
                    continue;
                }
                _ if byte.is_ascii_whitespace() => {
                    self.at += 1;
                    continue;
                }
                b'/' if self.peek(1) == Some(b'/') => {
                    self.skip_line();
                    continue;
                }
                b'/' if self.peek(1) == Some(b'*') => {
                    self.skip_comment()?;
                    continue;
                }
                b'"' => self.text_literal()?,
                _ if is_of_word(byte) => {
                    self.word();
                    if matches!(&self.text[start..self.at], ".loc" | ".file") {
                        self.skip_line();
                        continue;
                    }
                    Kind::Word
                }
                _ if byte.is_ascii_graphic() => {
                    self.at += 1;
                    Kind::Sign(byte)
                }
                _ => {
                    let found = self.text[self.at..].chars().next().unwrap_or_default();
                    return Err(self.error(start, line, format!("expected PTX, found {found:?}")));
                }
            };
            tokens.push(Token {
                kind,
                start: start as u32,
                end: self.at as u32,
                line,
            });
        }
        Ok(tokens)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn error(&self, at: usize, line: u32, message: impl Into<String>) -> ParseError {
        ParseError::new(line, column(self.text, at), message)
    }

    fn new_line(&mut self) {
        self.at += 1;
        self.line += 1;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
    }

    fn skip_comment(&mut self) -> Result<(), ParseError> {
        let (start, line) = (self.at, self.line);
        self.at += 2;
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(b'*'), Some(b'/')) => {
                    self.at += 2;
                    return Ok(());
                }
                (Some(b'\n'), _) => self.new_line(),
                (Some(_), _) => self.at += 1,
                (None, _) => {
                    return Err(self.error(
                        start,
                        line,
                        "expected `*/` at the end of this comment",
                    ));
                }
            }
        }
    }

    fn text_literal(&mut self) -> Result<Kind, ParseError> {
        let (start, line) = (self.at, self.line);
        self.at += 1;
        loop {
            match self.peek(0) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Kind::Text);
                }
                None | Some(b'\n') => {
                    return Err(self.error(start, line, "expected `\"` at the end of this string"));
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn word(&mut self) {
        let start = self.at;
        let is_number = self.bytes[start].is_ascii_digit()
            && !matches!(self.peek(1), Some(b'x' | b'X' | b'f' | b'F' | b'd' | b'D'));
        while let Some(byte) = self.peek(0) {
            let is_exponent_sign = || {
                is_number
                    && matches!(byte, b'+' | b'-')
                    && matches!(self.bytes[self.at - 1], b'e' | b'E')
                    && self.peek(1).is_some_and(|next| next.is_ascii_digit())
            };
            if is_of_word(byte) || (self.at > start && is_exponent_sign()) {
                self.at += 1;
            } else if byte == b':' && self.peek(1) == Some(b':') {
                self.at += 2;
            } else {
                return;
            }
        }
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        tokens(text)
            .unwrap()
            .iter()
            .map(|token| &text[token.start as usize..token.end as usize])
            .collect()
    }

    #[test]
    fn words_keep_modifiers_and_exponents() {
        assert_eq!(
            words("ld.L1::no_allocate.b32 %r1,[x+-4];"),
            [
                "ld.L1::no_allocate.b32",
                "%r1",
                ",",
                "[",
                "x",
                "+",
                "-",
                "4",
                "]",
                ";"
            ]
        );
        assert_eq!(words("1.5E-3 0x1e-3"), ["1.5E-3", "0x1e", "-", "3"]);
    }

    #[test]
    fn comments_and_line_directives_vanish() {
        assert_eq!(
            words("a // b\n.loc 1 2 3, function_name x\n/* c\n d */ e"),
            ["a", "e"]
        );
    }

    #[test]
    fn errors_name_line_and_column() {
        let at = |text| {
            tokens(text)
                .map(|_| ())
                .map_err(|error| (error.line(), error.column()))
                .unwrap_err()
        };
        assert_eq!(at("a\n  /* b"), (2, 3));
        assert_eq!(at("\u{e9}"), (1, 1));
        assert_eq!(at("// \u{e9}\n \"x"), (2, 2));
    }
}
