//! The tokens of the language.

use crate::check::{DeclarationError, DeclarationPart};

#[derive(Clone, Copy, PartialEq, Eq)]
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
    Mark(char),
    End,
}

/// Reads tokens, and locates errors.
#[derive(Clone)]
pub(super) struct Lexer {
    text: &'static str,
    /// The start of the next token, or of the blanks before it.
    offset: usize,
    /// The start of the last token.
    start: usize,
}

impl Lexer {
    pub(super) fn new(text: &'static str) -> Self {
        Self {
            text,
            offset: 0,
            start: 0,
        }
    }

    /// Returns the start of the last token, in bytes.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// Returns `true` if a parenthesis follows the last token without a blank.
    pub(super) fn has_arguments(&self) -> bool {
        self.rest().starts_with('(')
    }

    /// Returns an error at the last token.
    pub(super) fn error<T>(&self, message: impl Into<String>) -> Result<T, DeclarationError> {
        Err(DeclarationError::new(
            DeclarationPart::Format(Some(self.start)),
            message,
        ))
    }

    pub(super) fn next(&mut self) -> Result<Token, DeclarationError> {
        self.offset += self.rest().len() - self.rest().trim_ascii_start().len();
        self.start = self.offset;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Token::End);
        };
        self.offset += first.len_utf8();
        match first {
            '`' => Ok(Token::Literal(self.quoted(first)?)),
            '"' => match self.quoted(first)? {
                "" => self.error("expected a non-empty string"),
                text => Ok(Token::Text(text)),
            },
            '$' => match self.take(|char| char.is_ascii_alphanumeric() || char == '_') {
                "" => self.error("expected a name after `$`"),
                name => Ok(Token::Variable(name)),
            },
            '(' | ')' | '?' | '|' | ',' | ':' | '^' => Ok(Token::Mark(first)),
            first if first.is_ascii_alphabetic() => {
                self.offset = self.start;
                let is_fit = |char: char| char.is_ascii_alphanumeric() || char == '-';
                Ok(Token::Word(self.take(is_fit)))
            }
            other => self.error(format!("unexpected character `{other}`")),
        }
    }

    pub(super) fn peek(&self) -> Result<Token, DeclarationError> {
        self.clone().next()
    }

    pub(super) fn opt_mark(&mut self, mark: char) -> Result<bool, DeclarationError> {
        let is_there = self.peek()? == Token::Mark(mark);
        if is_there {
            self.next()?;
        }
        Ok(is_there)
    }

    pub(super) fn expect(&mut self, mark: char) -> Result<(), DeclarationError> {
        match self.next()? {
            Token::Mark(found) if found == mark => Ok(()),
            _ => self.error(format!("expected `{mark}`")),
        }
    }

    fn rest(&self) -> &'static str {
        &self.text[self.offset..]
    }

    /// Reads characters as long as they fit.
    fn take(&mut self, is_fit: impl Fn(char) -> bool) -> &'static str {
        let rest = self.rest();
        let len = rest.find(|char| !is_fit(char)).unwrap_or(rest.len());
        self.offset += len;
        &rest[..len]
    }

    /// Reads up to the closing quote.
    fn quoted(&mut self, quote: char) -> Result<&'static str, DeclarationError> {
        match self.rest().split_once(quote) {
            Some((text, _)) => {
                self.offset += text.len() + quote.len_utf8();
                Ok(text)
            }
            None => self.error(format!("expected a closing {quote}")),
        }
    }
}
