//! The text form of schemas.

use std::fmt;

use tfrt_support::{DType, Error, ErrorCode};

use super::{Cell, Column, ColumnShape, Missing, Schema, is_supported};

pub(super) fn parse(text: &str) -> Result<Schema, Error> {
    let mut parser = Parser { text, position: 0 };
    let mut columns = Vec::new();
    loop {
        columns.push(parser.column()?);
        if parser.is_at_end() {
            return Schema::new(columns);
        }
        parser.expect(',')?;
    }
}

struct Parser<'a> {
    text: &'a str,
    /// In bytes.
    position: usize,
}

/// Whether a name with the character needs no quotes.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "_-./".contains(character)
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.position += rest.len() - rest.trim_start().len();
    }

    fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.rest().is_empty()
    }

    fn opt(&mut self, wanted: char) -> bool {
        self.skip_space();
        let is_there = self.rest().starts_with(wanted);
        if is_there {
            self.position += wanted.len_utf8();
        }
        is_there
    }

    fn expect(&mut self, wanted: char) -> Result<(), Error> {
        match self.opt(wanted) {
            true => Ok(()),
            false => Err(self.wrong(&format!("`{wanted}`"))),
        }
    }

    /// The characters up to the first one that does not belong to a word.
    fn word(&mut self) -> &'a str {
        self.skip_space();
        let rest = self.rest();
        let end = rest.find(|character| !is_plain(character));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.position += word.len();
        word
    }

    fn column(&mut self) -> Result<Column, Error> {
        let name = self.name()?;
        self.expect(':')?;
        self.skip_space();
        let start = self.position;
        let word = self.word();
        let dtype = DType::ALL
            .into_iter()
            .find(|dtype| dtype.to_string() == word && is_supported(*dtype));
        let Some(dtype) = dtype else {
            self.position = start;
            return Err(self.wrong("an element type"));
        };
        let mut column = Column::new(name, dtype);
        if self.opt('[') {
            column.shape = self.shape()?;
        }
        if self.opt('?') {
            column.missing = Missing::Mask;
        } else if self.opt('=') {
            column.missing = Missing::Default(self.default(dtype)?);
        }
        Ok(column)
    }

    fn name(&mut self) -> Result<String, Error> {
        if self.opt('"') {
            return self.quoted();
        }
        match self.word() {
            "" => Err(self.wrong("the name of a column")),
            name => Ok(name.to_owned()),
        }
    }

    /// What stands before the closing quote, where `\n`, `\t`, `\\` and `\"` stand for a character.
    fn quoted(&mut self) -> Result<String, Error> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices();
        while let Some((index, char)) = chars.next() {
            match char {
                '"' => {
                    self.position += index + 1;
                    return Ok(text);
                }
                '\\' => match chars.next().map(|(_, escaped)| escaped) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some(escaped @ ('\\' | '"')) => text.push(escaped),
                    _ => {
                        self.position += index + 1;
                        return Err(self.wrong("`n`, `t`, `\\` or `\"` after `\\`"));
                    }
                },
                char => text.push(char),
            }
        }
        self.position = self.text.len();
        Err(self.wrong("`\"`"))
    }

    /// What follows `[`.
    fn shape(&mut self) -> Result<ColumnShape, Error> {
        if self.opt('?') {
            self.expect(']')?;
            return Ok(ColumnShape::Variable);
        }
        if self.opt(']') {
            return Ok(ColumnShape::Scalar);
        }
        let mut dims = Vec::new();
        loop {
            self.skip_space();
            let start = self.position;
            let Ok(dim) = self.word().parse() else {
                self.position = start;
                return Err(self.wrong("a size"));
            };
            dims.push(dim);
            if self.opt(']') {
                return Ok(ColumnShape::Fixed(dims));
            }
            self.expect(',')?;
        }
    }

    fn default(&mut self, dtype: DType) -> Result<Cell, Error> {
        self.skip_space();
        let start = self.position;
        let cell = if dtype == DType::String {
            self.expect('"')?;
            Some(Cell::Bytes(self.quoted()?.into_bytes()))
        } else {
            let rest = self.rest();
            let is_behind = |char: char| char == ',' || char.is_whitespace();
            let end = rest.find(is_behind).unwrap_or(rest.len());
            self.position += end;
            Cell::parse(dtype, &rest.as_bytes()[..end])
        };
        cell.ok_or_else(|| {
            self.position = start;
            self.wrong(&format!("a value of type {dtype}"))
        })
    }

    #[cold]
    fn wrong(&mut self, expected: &str) -> Error {
        self.skip_space();
        let position = self.position;
        let found = match self.word() {
            "" => self.rest().get(..).and_then(|rest| rest.chars().next()),
            word => {
                let message =
                    format!("schema, at byte {position}: expected {expected}, found `{word}`");
                return Error::new(message).with_code(ErrorCode::InvalidArgument);
            }
        };
        let found = found.map_or("the end".to_owned(), |found| format!("`{found}`"));
        let message = format!("schema, at byte {position}: expected {expected}, found {found}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }
}

pub(super) fn print(schema: &Schema, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, column) in schema.columns().iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        if column.name.chars().all(is_plain) && !column.name.is_empty() {
            f.write_str(&column.name)?;
        } else {
            quote(&column.name, f)?;
        }
        write!(f, ": {}", column.dtype)?;
        match &column.shape {
            ColumnShape::Scalar => {}
            ColumnShape::Fixed(dims) => write!(f, " {dims:?}")?,
            ColumnShape::Variable => f.write_str(" [?]")?,
        }
        match &column.missing {
            Missing::Error => {}
            Missing::Mask => f.write_str("?")?,
            Missing::Default(Cell::Truth(truth)) => write!(f, " = {truth}")?,
            Missing::Default(Cell::Integer(number)) => write!(f, " = {number}")?,
            Missing::Default(Cell::Float(number)) if column.dtype == DType::F32 => {
                write!(f, " = {}", *number as f32)?;
            }
            Missing::Default(Cell::Float(number)) => write!(f, " = {number}")?,
            Missing::Default(Cell::Bytes(bytes)) => {
                f.write_str(" = ")?;
                quote(&String::from_utf8_lossy(bytes), f)?;
            }
        }
    }
    Ok(())
}

/// Writes text in quotes, as it is read.
fn quote(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    f.write_str("\"")?;
    for char in text.chars() {
        match char {
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\\' | '"' => write!(f, "\\{char}")?,
            char => write!(f, "{char}")?,
        }
    }
    f.write_str("\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_printed_as_it_was_read() {
        for text in [
            "a: i64",
            "a: f32 [28, 28], b: str",
            "\"two words\": i32 [?], c.d-e/f: u8?",
            "a: i1 = true, b: str = \"none, yet\", c: f64 = NaN, d: i8 = -128",
            "\"6\\\" disk\": str = \"x\\\\y\\n\\tz\", \"\\\\\": f32 = 0.1",
        ] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, message) in [
            (
                "",
                "schema, at byte 0: expected the name of a column, found the end",
            ),
            ("a", "schema, at byte 1: expected `:`, found the end"),
            (
                "a: i64 b: i64",
                "schema, at byte 7: expected `,`, found `b`",
            ),
            (
                "a: i64 [2,, 3]",
                "schema, at byte 10: expected a size, found `,`",
            ),
            (
                "a: i8 = 200",
                "schema, at byte 8: expected a value of type i8, found `200`",
            ),
            ("a: i64, a: f32", "column `a` is in the schema twice"),
            (
                "\"a: i64",
                "schema, at byte 7: expected `\"`, found the end",
            ),
            (
                "a: f16",
                "schema, at byte 3: expected an element type, found `f16`",
            ),
        ] {
            assert_eq!(parse(text).unwrap_err().message(), message, "{text}");
        }
    }
}
