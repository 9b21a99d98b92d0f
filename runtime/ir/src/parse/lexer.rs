//! Text to tokens.
//!
//! Every byte of a text belongs to a token, or to the blanks and comments between two tokens. A
//! token is a kind and a span; its spelling is looked up in the text.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Eof,
    /// An invalid token; the lexer keeps the error.
    Error,
    /// A word, keyword or not.
    Bare,
    /// `i32`, `si8`, `ui64`.
    IntType,
    Integer,
    Float,
    String,
    /// `@name` or `@"name"`.
    At,
    /// `#name`
    Hash,
    /// `!name`
    Exclamation,
    /// `%name`
    Percent,
    /// `^name`
    Caret,
    Arrow,
    Colon,
    Comma,
    Equal,
    Minus,
    Plus,
    Star,
    Question,
    Less,
    Greater,
    LParen,
    RParen,
    LBrace,
    RBrace,
    LSquare,
    RSquare,
    Ellipsis,
    /// `{-#`
    MetadataBegin,
    /// `#-}`
    MetadataEnd,
}

impl Kind {
    /// Returns the spelling of punctuation in messages.
    pub(super) const fn spelling(self) -> &'static str {
        match self {
            Self::Arrow => "->",
            Self::Colon => ":",
            Self::Comma => ",",
            Self::Equal => "=",
            Self::Minus => "-",
            Self::Plus => "+",
            Self::Star => "*",
            Self::Question => "?",
            Self::Less => "<",
            Self::Greater => ">",
            Self::LParen => "(",
            Self::RParen => ")",
            Self::LBrace => "{",
            Self::RBrace => "}",
            Self::LSquare => "[",
            Self::RSquare => "]",
            Self::Ellipsis => "...",
            Self::MetadataBegin => "{-#",
            Self::MetadataEnd => "#-}",
            _ => "",
        }
    }
}

/// A token: bytes `start..end` of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// An error at a byte of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct LexError {
    pub(super) offset: usize,
    pub(super) message: &'static str,
}

/// A position in a text, from which tokens are read. Copies are cheap, so a parser can look ahead
/// with one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexer<'s> {
    source: &'s str,
    offset: usize,
    /// The error of the last token of kind [`Kind::Error`].
    pub(super) error: Option<LexError>,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            offset: 0,
            error: None,
        }
    }

    /// Continues at another byte, which must start a character.
    pub(super) fn reset(&mut self, offset: usize) {
        self.offset = offset;
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.source
            .as_bytes()
            .get(self.offset + ahead)
            .copied()
            .unwrap_or(0)
    }

    pub(super) fn next(&mut self) -> Token {
        self.skip_blanks();
        let start = self.offset;
        let kind = if start >= self.source.len() {
            Kind::Eof
        } else {
            self.kind()
        };
        Token {
            kind,
            start,
            end: self.offset,
        }
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' | b'\n' | b'\r' => self.offset += 1,
                b'/' if self.byte(1) == b'/' => {
                    let rest = &self.source[self.offset..];
                    self.offset += rest.find(['\n', '\r']).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    #[cold]
    fn fail(&mut self, offset: usize, message: &'static str) -> Kind {
        self.error = Some(LexError { offset, message });
        self.offset = self.source.len();
        Kind::Error
    }

    fn kind(&mut self) -> Kind {
        let start = self.offset;
        let first = self.byte(0);
        self.offset += 1;
        match first {
            b':' => Kind::Colon,
            b',' => Kind::Comma,
            b'=' => Kind::Equal,
            b'+' => Kind::Plus,
            b'*' => Kind::Star,
            b'?' => Kind::Question,
            b'<' => Kind::Less,
            b'>' => Kind::Greater,
            b'(' => Kind::LParen,
            b')' => Kind::RParen,
            b'{' if self.byte(0) == b'-' && self.byte(1) == b'#' => {
                self.offset += 2;
                Kind::MetadataBegin
            }
            b'{' => Kind::LBrace,
            b'}' => Kind::RBrace,
            b'[' => Kind::LSquare,
            b']' => Kind::RSquare,
            b'-' if self.byte(0) == b'>' => {
                self.offset += 1;
                Kind::Arrow
            }
            b'-' => Kind::Minus,
            b'.' if self.byte(0) == b'.' && self.byte(1) == b'.' => {
                self.offset += 2;
                Kind::Ellipsis
            }
            b'.' => self.fail(start, "expected three consecutive dots for an ellipsis"),
            b'"' => self.string(Kind::String),
            b'@' => self.at_identifier(),
            b'#' if self.byte(0) == b'-' && self.byte(1) == b'}' => {
                self.offset += 2;
                Kind::MetadataEnd
            }
            b'#' => self.prefixed(Kind::Hash, "invalid attribute name"),
            b'!' => self.prefixed(Kind::Exclamation, "invalid type identifier"),
            b'%' => self.prefixed(Kind::Percent, "invalid SSA name"),
            b'^' => self.prefixed(Kind::Caret, "invalid block name"),
            b'0'..=b'9' => self.number(first),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_while(is_bare_part);
                if is_int_type(&self.source[start..self.offset]) {
                    Kind::IntType
                } else {
                    Kind::Bare
                }
            }
            _ if self.source[start..].starts_with('\u{FEFF}') => self.fail(
                start,
                "unexpected character: a byte order mark; save the file as UTF-8 without a byte \
                 order mark",
            ),
            _ => self.fail(start, "unexpected character"),
        }
    }

    fn skip_while(&mut self, is_part: impl Fn(u8) -> bool) {
        while is_part(self.byte(0)) {
            self.offset += 1;
        }
    }

    /// `# ! % ^`, then digits, or a name that may contain `$ . _ -`.
    fn prefixed(&mut self, kind: Kind, message: &'static str) -> Kind {
        let first = self.byte(0);
        if first.is_ascii_digit() {
            self.skip_while(|byte| byte.is_ascii_digit());
        } else if first.is_ascii_alphabetic() || is_id_punctuation(first) {
            self.skip_while(|byte| byte.is_ascii_alphanumeric() || is_id_punctuation(byte));
        } else {
            return self.fail(self.offset - 1, message);
        }
        kind
    }

    fn at_identifier(&mut self) -> Kind {
        match self.byte(0) {
            b'"' => {
                self.offset += 1;
                self.string(Kind::At)
            }
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_while(is_bare_part);
                Kind::At
            }
            _ => self.fail(
                self.offset,
                "@ identifier expected to start with letter or '_'",
            ),
        }
    }

    /// Reads the rest of a string, after its opening quote.
    fn string(&mut self, kind: Kind) -> Kind {
        loop {
            if self.offset >= self.source.len() {
                return self.fail(self.source.len(), "expected '\"' in string literal");
            }
            let byte = self.byte(0);
            self.offset += 1;
            match byte {
                b'"' => return kind,
                b'\n' | 0x0B | 0x0C => {
                    return self.fail(self.offset - 1, "expected '\"' in string literal");
                }
                b'\\' => match self.byte(0) {
                    b'"' | b'\\' | b'n' | b't' => self.offset += 1,
                    _ if self.byte(0).is_ascii_hexdigit() && self.byte(1).is_ascii_hexdigit() => {
                        self.offset += 2
                    }
                    _ => return self.fail(self.offset - 1, "unknown escape in string literal"),
                },
                _ => {}
            }
        }
    }

    fn number(&mut self, first: u8) -> Kind {
        if first == b'0' && self.byte(0) == b'x' {
            // Otherwise, text like `0xi32` is the number `0` and a word.
            if self.byte(1).is_ascii_hexdigit() {
                self.offset += 2;
                self.skip_while(|byte| byte.is_ascii_hexdigit());
            }
            return Kind::Integer;
        }
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.byte(0) != b'.' {
            return Kind::Integer;
        }
        self.offset += 1;
        self.skip_while(|byte| byte.is_ascii_digit());
        if matches!(self.byte(0), b'e' | b'E') {
            let has_sign = matches!(self.byte(1), b'+' | b'-');
            if self.byte(1 + usize::from(has_sign)).is_ascii_digit() {
                self.offset += 2;
                self.skip_while(|byte| byte.is_ascii_digit());
            }
        }
        Kind::Float
    }
}

fn is_bare_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.')
}

fn is_id_punctuation(byte: u8) -> bool {
    matches!(byte, b'$' | b'.' | b'_' | b'-')
}

fn is_int_type(word: &str) -> bool {
    let digits = word
        .strip_prefix("si")
        .or_else(|| word.strip_prefix("ui"))
        .or_else(|| word.strip_prefix('i'));
    digits.is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Returns the content of a string token: its bytes without quotes and escapes. `quoted` is the
/// token, including its quotes.
pub(super) fn unescape(quoted: &str) -> Vec<u8> {
    let bytes = quoted.as_bytes();
    let inner = bytes
        .get(1..bytes.len().saturating_sub(1))
        .unwrap_or_default();
    let mut text = Vec::with_capacity(inner.len());
    let mut index = 0;
    while let Some(&byte) = inner.get(index) {
        index += 1;
        if byte != b'\\' {
            text.push(byte);
            continue;
        }
        let escape = inner.get(index).copied().unwrap_or(b'\\');
        index += 1;
        match escape {
            b'n' => text.push(b'\n'),
            b't' => text.push(b'\t'),
            b'"' | b'\\' => text.push(escape),
            high => {
                let low = inner.get(index).copied().unwrap_or(b'0');
                index += 1;
                text.push(hex_digit(high) << 4 | hex_digit(low));
            }
        }
    }
    text
}

/// Returns the value of a hexadecimal digit.
pub(super) fn hex_digit(digit: u8) -> u8 {
    char::from(digit).to_digit(16).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(source: &str, expected: &[(Kind, &str)]) {
        let mut lexer = Lexer::new(source);
        let mut found = Vec::new();
        loop {
            let token = lexer.next();
            if token.kind == Kind::Eof {
                break;
            }
            found.push((token.kind, &source[token.start..token.end]));
            if token.kind == Kind::Error {
                break;
            }
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_hexadecimal_prefix_needs_digits() {
        check("0xi32", &[(Kind::Integer, "0"), (Kind::Bare, "xi32")]);
        check(
            "0xFF 0x1",
            &[(Kind::Integer, "0xFF"), (Kind::Integer, "0x1")],
        );
    }

    #[test]
    fn an_exponent_needs_digits() {
        check(
            "1.e+ 2.5E-3",
            &[
                (Kind::Float, "1."),
                (Kind::Bare, "e"),
                (Kind::Plus, "+"),
                (Kind::Float, "2.5E-3"),
            ],
        );
    }

    #[test]
    fn names_may_be_numbers_or_odd() {
        check(
            "%-x %12 @\"a b\" !ts.shape",
            &[
                (Kind::Percent, "%-x"),
                (Kind::Percent, "%12"),
                (Kind::At, "@\"a b\""),
                (Kind::Exclamation, "!ts.shape"),
            ],
        );
    }

    #[test]
    fn escapes_are_bytes() {
        assert_eq!(unescape(r#""a\n\t\"\\\C5z""#), b"a\n\t\"\\\xC5z");
    }
}
