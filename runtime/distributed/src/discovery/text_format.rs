//! The text format of protocol buffers, for configurations: what a configuration prints.
//!
//! ```text
//! cluster_config {
//!   jobs { name: "worker" tasks { key: 0 value: "a:7700" } tasks { key: 1 value: "b:7700" } }
//! }
//! ```
//!
//! The result has the form of the same configuration as JSON, so that one function checks both.

use serde_json::{Map, Value};

use super::DiscoveryError;

/// The fields that may be repeated.
const REPEATED: [&str; 3] = ["jobs", "collective_groups", "members"];

/// The field that is a map, whose entries have a key and a value.
const MAP: &str = "tasks";

/// The maximum nesting of messages: a configuration has three levels.
const MAX_DEPTH: usize = 8;

/// Parses the text of the file of this name.
pub(super) fn parse(file: &str, text: &str) -> Result<Value, DiscoveryError> {
    let mut parser = Parser { file, text, at: 0 };
    let message = parser.message(0)?;
    Ok(Value::Object(message))
}

struct Parser<'a> {
    file: &'a str,
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    #[cold]
    fn wrong(&self, problem: &str) -> DiscoveryError {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        DiscoveryError::new(format!("{}:{line}:{column}", self.file), problem)
    }

    /// Returns what follows, without blanks and comments before it.
    fn rest(&mut self) -> &'a str {
        loop {
            let rest = &self.text[self.at..];
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with('#') {
                return trimmed;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn take(&mut self, token: char) -> bool {
        let is_next = self.rest().starts_with(token);
        if is_next {
            self.at += token.len_utf8();
        }
        is_next
    }

    fn word(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let len = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then(|| &rest[..len])
    }

    /// Parses fields up to the end of a message, which is the end of the text at depth 0.
    fn message(&mut self, depth: usize) -> Result<Map<String, Value>, DiscoveryError> {
        if depth == MAX_DEPTH {
            return Err(self.wrong("messages are nested too deeply"));
        }
        let mut fields = Map::new();
        loop {
            let is_end = match depth {
                0 => self.rest().is_empty(),
                _ => self.take('}'),
            };
            if is_end {
                return Ok(fields);
            }
            let Some(name) = self.word() else {
                return Err(self.wrong("expected the name of a field"));
            };
            let has_colon = self.take(':');
            if self.take('[') {
                self.list(&mut fields, name, depth)?;
            } else {
                let value = self.value(has_colon, depth)?;
                self.add(&mut fields, name, value)?;
            }
            // Separators are optional.
            if !self.take(',') {
                self.take(';');
            }
        }
    }

    fn list(
        &mut self,
        fields: &mut Map<String, Value>,
        name: &str,
        depth: usize,
    ) -> Result<(), DiscoveryError> {
        if self.take(']') {
            return Ok(());
        }
        loop {
            let value = self.value(true, depth)?;
            self.add(fields, name, value)?;
            if self.take(']') {
                return Ok(());
            }
            if !self.take(',') {
                return Err(self.wrong("expected `,` or `]` in a list"));
            }
        }
    }

    /// Parses a value. Only messages may follow the name of a field without a colon.
    fn value(&mut self, has_colon: bool, depth: usize) -> Result<Value, DiscoveryError> {
        if self.take('{') {
            return self.message(depth + 1).map(Value::Object);
        }
        if !has_colon {
            return Err(self.wrong("expected `:` or `{` after the name of a field"));
        }
        if self.rest().starts_with(['"', '\'']) {
            return self.string().map(Value::String);
        }
        let start = self.at;
        match self.word().map(str::parse::<i64>) {
            Some(Ok(number)) => Ok(number.into()),
            _ => {
                self.at = start;
                Err(self.wrong("expected a string, a number or a message"))
            }
        }
    }

    /// Parses a string; several in a row are one.
    fn string(&mut self) -> Result<String, DiscoveryError> {
        let mut bytes = Vec::new();
        while let Some(quote) = self
            .rest()
            .chars()
            .next()
            .filter(|c| matches!(c, '"' | '\''))
        {
            self.at += 1;
            loop {
                let Some(next) = self.text[self.at..].chars().next().filter(|c| *c != '\n') else {
                    return Err(self.wrong("expected the end of a string on its line"));
                };
                self.at += next.len_utf8();
                match next {
                    _ if next == quote => break,
                    '\\' => self.escape(&mut bytes)?,
                    _ => bytes.extend_from_slice(next.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
        }
        String::from_utf8(bytes).map_err(|_| self.wrong("expected a string in UTF-8"))
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), DiscoveryError> {
        let rest = &self.text.as_bytes()[self.at..];
        let digits = |radix: u32, max: usize, from: usize| {
            let digits = rest.iter().skip(from).take(max);
            digits
                .take_while(|byte| char::from(**byte).is_digit(radix))
                .count()
        };
        let (len, byte) = match rest.first() {
            Some(b'n') => (1, Some(b'\n')),
            Some(b't') => (1, Some(b'\t')),
            Some(b'r') => (1, Some(b'\r')),
            Some(b'\\' | b'\'' | b'"') => (1, rest.first().copied()),
            Some(b'0'..=b'7') => {
                let len = digits(8, 3, 0);
                (
                    len,
                    u8::from_str_radix(&self.text[self.at..self.at + len], 8).ok(),
                )
            }
            Some(b'x') => {
                let len = digits(16, 2, 1);
                let digits = &self.text[self.at + 1..self.at + 1 + len];
                (1 + len, u8::from_str_radix(digits, 16).ok())
            }
            _ => (0, None),
        };
        let Some(byte) = byte else {
            return Err(self.wrong("unknown escape in a string"));
        };
        self.at += len;
        bytes.push(byte);
        Ok(())
    }

    fn add(
        &self,
        fields: &mut Map<String, Value>,
        name: &str,
        value: Value,
    ) -> Result<(), DiscoveryError> {
        if REPEATED.contains(&name) {
            let list = fields
                .entry(name)
                .or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(value);
            }
            return Ok(());
        }
        if name == MAP {
            let entries = fields
                .entry(name)
                .or_insert_with(|| Value::Object(Map::new()));
            let (Value::Object(entries), Value::Object(mut entry)) = (entries, value) else {
                return Err(self.wrong("expected `tasks { key: NUMBER value: \"ADDRESS\" }`"));
            };
            // Absent fields of an entry have the default of their type.
            let key = entry.remove("key").unwrap_or(Value::from(0));
            let address = entry.remove("value").unwrap_or_default();
            if let Some(unknown) = entry.keys().next() {
                let problem = format!("expected `key`, `value`, found `{unknown}`");
                return Err(self.wrong(&problem));
            }
            let key = match &key {
                Value::String(key) => key.clone(),
                key => key.to_string(),
            };
            return match entries.insert(key.clone(), address) {
                None => Ok(()),
                Some(_) => Err(self.wrong(&format!("task {key} is listed twice"))),
            };
        }
        match fields.insert(name.to_owned(), value) {
            None => Ok(()),
            Some(_) => Err(self.wrong(&format!("`{name}` is given twice"))),
        }
    }
}
