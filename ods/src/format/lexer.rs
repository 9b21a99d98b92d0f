//! The tokens of the language.

use super::grammar::Parse;
use crate::check::{DeclarationError, attempt};
use crate::const_text::slice;

#[derive(Clone, Copy)]
pub(super) enum Token {
    /// `` `text` ``
    Literal(&'static str),
    /// `"text"`
    Text(&'static str),
    /// `$name`
    Variable(&'static str),
    /// `word-of-the-language`
    Word(&'static str),
    /// One of `()?|,:^`.
    Mark(u8),
    End,
}

/// Reads tokens, and locates errors.
pub(super) struct Lexer {
    text: &'static str,
    /// The start of the next token, or of the blanks before it.
    offset: usize,
    /// The start of the last token.
    start: usize,
}

impl Lexer {
    pub(super) const fn new(text: &'static str) -> Self {
        Self {
            text,
            offset: 0,
            start: 0,
        }
    }

    /// Returns the start of the last token, in bytes.
    pub(super) const fn start(&self) -> usize {
        self.start
    }

    /// Returns `true` if a parenthesis follows the last token without a blank.
    pub(super) const fn has_arguments(&self) -> bool {
        let bytes = self.text.as_bytes();
        self.offset < bytes.len() && bytes[self.offset] == b'('
    }

    /// Returns an error at the last token.
    pub(super) const fn error(&self, message: &'static str) -> DeclarationError {
        self.error_named(message, "", "")
    }

    pub(super) const fn error_named(
        &self,
        before: &'static str,
        name: &'static str,
        after: &'static str,
    ) -> DeclarationError {
        DeclarationError::named(before, name, after).at(self.start)
    }

    pub(super) const fn next(&mut self) -> Parse<Token> {
        let bytes = self.text.as_bytes();
        let mut start = self.offset;
        while start < bytes.len() && bytes[start].is_ascii_whitespace() {
            start += 1;
        }
        self.start = start;
        if start == bytes.len() {
            self.offset = start;
            return Ok(Token::End);
        }
        let mut end = start + 1;
        let token = match bytes[start] {
            quote @ (b'`' | b'"') => {
                while end < bytes.len() && bytes[end] != quote {
                    end += 1;
                }
                if end == bytes.len() {
                    return Err(self.error(if quote == b'`' {
                        "expected a closing `"
                    } else {
                        "expected a closing \""
                    }));
                }
                let text = slice(self.text, start + 1, end);
                end += 1;
                if quote == b'`' {
                    Token::Literal(text)
                } else if text.is_empty() {
                    return Err(self.error("expected a non-empty string"));
                } else {
                    Token::Text(text)
                }
            }
            b'$' => {
                while end < bytes.len()
                    && (bytes[end].is_ascii_alphanumeric() || bytes[end] == b'_')
                {
                    end += 1;
                }
                if end == start + 1 {
                    return Err(self.error("expected a name after `$`"));
                }
                Token::Variable(slice(self.text, start + 1, end))
            }
            mark @ (b'(' | b')' | b'?' | b'|' | b',' | b':' | b'^') => Token::Mark(mark),
            byte if byte.is_ascii_alphabetic() => {
                while end < bytes.len()
                    && (bytes[end].is_ascii_alphanumeric() || bytes[end] == b'-')
                {
                    end += 1;
                }
                Token::Word(slice(self.text, start, end))
            }
            _ => {
                while !self.text.is_char_boundary(end) {
                    end += 1;
                }
                return Err(self.error_named(
                    "unexpected character `",
                    slice(self.text, start, end),
                    "`",
                ));
            }
        };
        self.offset = end;
        Ok(token)
    }

    pub(super) const fn peek(&mut self) -> Parse<Token> {
        let (offset, start) = (self.offset, self.start);
        let token = self.next();
        self.offset = offset;
        self.start = start;
        token
    }

    pub(super) const fn opt_mark(&mut self, mark: u8) -> Parse<bool> {
        let is_there = matches!(attempt!(self.peek()), Token::Mark(found) if found == mark);
        if is_there {
            attempt!(self.next());
        }
        Ok(is_there)
    }

    pub(super) const fn expect(&mut self, mark: u8) -> Parse<()> {
        match attempt!(self.next()) {
            Token::Mark(found) if found == mark => Ok(()),
            _ => Err(self.error(match mark {
                b'(' => "expected `(`",
                b')' => "expected `)`",
                b',' => "expected `,`",
                _ => "expected `?`",
            })),
        }
    }
}
