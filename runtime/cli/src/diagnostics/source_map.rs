//! The texts that diagnostics are about, by name.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Source texts by the names that locations call them.
///
/// A text that was not given is looked for in the file system, once, when it is first asked for.
///
/// ```
/// use tfrt_cli::diagnostics::SourceMap;
///
/// let mut sources = SourceMap::new();
/// sources.insert("<stdin>", "first\nsecond");
/// let line = sources.line("<stdin>", 2, 4).unwrap();
/// assert_eq!(&line.text[..], b"second");
/// assert!(sources.line("<stdin>", 3, 1).is_none());
/// ```
#[derive(Clone, Default)]
pub struct SourceMap {
    texts: BTreeMap<String, Option<Arc<[u8]>>>,
}

impl SourceMap {
    /// A map that knows no text yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says what the source of this name is.
    pub fn insert(&mut self, name: impl Into<String>, text: impl AsRef<[u8]>) {
        self.texts.insert(name.into(), Some(text.as_ref().into()));
    }

    /// The source of this name; none if it was not given and no such file can be read.
    pub fn text(&mut self, name: &str) -> Option<Arc<[u8]>> {
        if let Some(known) = self.texts.get(name) {
            return known.clone();
        }
        let read: Option<Arc<[u8]>> = std::fs::read(name).ok().map(Into::into);
        self.texts.insert(name.to_owned(), read.clone());
        read
    }

    /// The line at a position of a source; none if there is no such position. Line and column count from 1, in bytes.
    pub fn line(&mut self, name: &str, line: u32, column: u32) -> Option<SourceLine> {
        let (line, column) = (
            line.checked_sub(1)? as usize,
            column.checked_sub(1)? as usize,
        );
        let text = self.text(name)?;
        let line = text.split(|byte| *byte == b'\n').nth(line)?;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        (column <= line.len()).then(|| SourceLine {
            text: line.into(),
            column,
        })
    }

    /// The sources that are known, in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.texts
            .iter()
            .filter_map(|(name, text)| Some((name.as_str(), text.as_deref()?)))
    }
}

impl fmt::Debug for SourceMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.texts.keys()).finish()
    }
}

/// One line of a source and a position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLine {
    /// The line, without its end.
    pub text: Box<[u8]>,
    /// The position, in bytes from 0; at most the length of the line.
    pub column: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_outside_a_text_have_no_line() {
        let mut sources = SourceMap::new();
        sources.insert("s", "ab\r\nc");
        assert_eq!(
            sources.line("s", 1, 3),
            Some(SourceLine {
                text: b"ab"[..].into(),
                column: 2
            })
        );
        for (line, column) in [(0, 1), (1, 0), (1, 4), (2, 3), (3, 1), (u32::MAX, u32::MAX)] {
            assert_eq!(sources.line("s", line, column), None, "{line}:{column}");
        }
    }

    #[test]
    fn a_missing_file_has_no_text() {
        assert!(SourceMap::new().text("no/such/file").is_none());
    }
}
