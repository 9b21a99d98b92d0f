//! The texts that diagnostics refer to, by name.
//!
//! Locations come from programs, so a name in one is not trusted: a text is shown if it was added
//! explicitly, or if it is a regular file under the folder of an input. Nothing else is opened,
//! because opening a device or a pipe may take forever, and showing lines of arbitrary files would
//! disclose them.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The maximum total number of bytes read from files.
const MAX_READ_BYTES: u64 = 64 << 20;

/// Source texts by their names in locations.
///
/// Other texts are searched under the folders of the map, once, on first use.
///
/// ```
/// use tfrt_cli::diagnostics::SourceMap;
///
/// let mut sources = SourceMap::new();
/// sources.insert("<stdin>", "first\nsecond");
/// let line = sources.line("<stdin>", 2, 4).unwrap();
/// assert_eq!(line.text, b"second");
/// assert!(sources.line("<stdin>", 3, 1).is_none());
/// assert!(sources.line("/etc/passwd", 1, 1).is_none());
/// ```
#[derive(Clone)]
pub struct SourceMap {
    texts: BTreeMap<String, Option<Arc<Source>>>,
    folders: Vec<PathBuf>,
    /// The remaining number of bytes that may be read from files.
    unread_bytes: u64,
}

/// A text and where its lines start.
struct Source {
    text: Box<[u8]>,
    line_starts: OnceLock<Box<[usize]>>,
}

impl SourceMap {
    /// Creates a map without texts and folders.
    #[must_use]
    pub fn new() -> Self {
        Self {
            texts: BTreeMap::new(),
            folders: Vec::new(),
            unread_bytes: MAX_READ_BYTES,
        }
    }

    /// Creates a map that searches for files under the folder of the file `input`.
    ///
    /// A name without a folder, such as that of an input which is not a file, stands for the
    /// working directory.
    #[must_use]
    pub fn beside(input: impl AsRef<Path>) -> Self {
        let mut sources = Self::new();
        sources.look_under(match input.as_ref().parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        });
        sources
    }

    /// Looks for files under `folder`, too.
    pub fn look_under(&mut self, folder: impl Into<PathBuf>) {
        self.folders.push(folder.into());
    }

    /// Adds the source with this name.
    pub fn insert(&mut self, name: impl Into<String>, text: impl AsRef<[u8]>) {
        let source = Source::new(text.as_ref().into());
        self.texts.insert(name.into(), Some(Arc::new(source)));
    }

    /// Returns the source of this name, or `None` if it was not given and no file of that name may
    /// be read.
    pub fn text(&mut self, name: &str) -> Option<&[u8]> {
        self.source(name).map(|source| &*source.text)
    }

    /// Returns the line at a position of a source, or `None` if there is no such position. Line and
    /// column count from 1, in bytes.
    pub fn line(&mut self, name: &str, line: u32, column: u32) -> Option<SourceLine<'_>> {
        let column = column.checked_sub(1)? as usize;
        let text = self.source(name)?.line(line)?;
        (column <= text.len()).then_some(SourceLine { text, column })
    }

    /// Returns the known sources, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.texts
            .iter()
            .filter_map(|(name, source)| Some((name.as_str(), &*source.as_ref()?.text)))
    }

    fn source(&mut self, name: &str) -> Option<&Source> {
        if !self.texts.contains_key(name) {
            let read = self.read(name).map(|text| Arc::new(Source::new(text)));
            self.texts.insert(name.to_owned(), read);
        }
        self.texts.get(name)?.as_deref()
    }

    /// Returns the content of a regular file under one of the folders, links followed.
    fn read(&mut self, name: &str) -> Option<Box<[u8]>> {
        let path = fs::canonicalize(name).ok()?;
        let mut folders = self
            .folders
            .iter()
            .filter_map(|folder| fs::canonicalize(folder).ok());
        // Looked at before it is opened: opening a pipe waits for its other end.
        if !folders.any(|folder| path.starts_with(folder)) || !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        // One byte more than there may be: a file can be longer than it says.
        let mut file = File::open(&path).ok()?.take(self.unread_bytes + 1);
        if file.get_ref().metadata().ok()?.len() > self.unread_bytes {
            return None;
        }
        let mut text = Vec::new();
        let read = file.read_to_end(&mut text);
        let left = self.unread_bytes.checked_sub(text.len() as u64);
        self.unread_bytes = left.unwrap_or(0);
        read.ok()?;
        left.map(|_| text.into())
    }
}

impl Source {
    fn new(text: Box<[u8]>) -> Self {
        Self {
            text,
            line_starts: OnceLock::new(),
        }
    }

    /// Returns a line, from 1, without its end.
    fn line(&self, line: u32) -> Option<&[u8]> {
        let starts = self.line_starts.get_or_init(|| {
            let ends = self.text.iter().enumerate();
            let behind_ends = ends
                .filter(|(_, byte)| **byte == b'\n')
                .map(|(at, _)| at + 1);
            std::iter::once(0).chain(behind_ends).collect()
        });
        let index = line.checked_sub(1)? as usize;
        let start = *starts.get(index)?;
        let end = starts
            .get(index + 1)
            .map_or(self.text.len(), |next| next - 1);
        let line = &self.text[start..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

impl Default for SourceMap {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for SourceMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.texts.keys()).finish()
    }
}

/// One line of a source and a position in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceLine<'a> {
    /// The line, without its end.
    pub text: &'a [u8],
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
                text: b"ab",
                column: 2
            })
        );
        assert_eq!(sources.line("s", 2, 1).unwrap().text, b"c");
        for (line, column) in [(0, 1), (1, 0), (1, 4), (2, 3), (3, 1), (u32::MAX, u32::MAX)] {
            assert_eq!(sources.line("s", line, column), None, "{line}:{column}");
        }
    }

    #[test]
    fn the_end_of_a_text_is_a_line() {
        let mut sources = SourceMap::new();
        sources.insert("s", "a\n");
        assert_eq!(sources.line("s", 2, 1).unwrap().text, b"");
        assert_eq!(sources.line("s", 3, 1), None);
    }

    #[test]
    fn a_missing_file_has_no_text() {
        assert!(SourceMap::beside("p").text("no/such/file").is_none());
    }

    /// Returns a folder of this test alone, with `in/p.mlir`, `in/deep/q.mlir` and `out.mlir`.
    fn folder(test: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("tfrt-sources-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("in/deep")).unwrap();
        for file in ["in/p.mlir", "in/deep/q.mlir", "out.mlir"] {
            fs::write(folder.join(file), file).unwrap();
        }
        folder
    }

    #[test]
    fn only_files_under_the_folder_of_the_input_are_read() {
        let folder = folder("beside");
        let name = |file: &str| folder.join(file).to_str().unwrap().to_owned();
        let mut sources = SourceMap::beside(name("in/p.bef"));
        assert_eq!(sources.text(&name("in/p.mlir")), Some(&b"in/p.mlir"[..]));
        assert_eq!(
            sources.text(&name("in/deep/../deep/q.mlir")),
            Some(&b"in/deep/q.mlir"[..])
        );
        assert_eq!(sources.text(&name("out.mlir")), None);
        assert_eq!(sources.text(&name("in/../out.mlir")), None);
        assert_eq!(sources.text(&name("in/deep")), None);
        assert_eq!(SourceMap::new().text(&name("in/p.mlir")), None);

        sources = SourceMap::beside(name("in/p.bef"));
        sources.look_under(&folder);
        assert_eq!(sources.text(&name("out.mlir")), Some(&b"out.mlir"[..]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_lead_nowhere_else() {
        let folder = folder("links");
        let name = |file: &str| folder.join(file).to_str().unwrap().to_owned();
        for (target, link) in [("out.mlir", "in/link"), ("in/p.mlir", "in/deep/link")] {
            std::os::unix::fs::symlink(name(target), name(link)).unwrap();
        }
        std::os::unix::fs::symlink("/dev/zero", name("in/zero")).unwrap();
        let mut sources = SourceMap::beside(name("in/p.bef"));
        assert_eq!(sources.text(&name("in/link")), None);
        assert_eq!(sources.text(&name("in/zero")), None);
        assert_eq!(sources.text(&name("in/deep/link")), Some(&b"in/p.mlir"[..]));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn files_share_a_limit() {
        let folder = folder("limit");
        let name = |file: &str| folder.join(file).to_str().unwrap().to_owned();
        let mut sources = SourceMap::beside(name("in/p.bef"));
        sources.unread_bytes = 20;
        assert!(sources.text(&name("in/p.mlir")).is_some());
        assert_eq!(sources.unread_bytes, 20 - 9);
        assert!(sources.text(&name("in/deep/q.mlir")).is_none());
        assert!(sources.text(&name("in/./p.mlir")).is_some());
        assert!(sources.text(&name("in/p.mlir")).is_some(), "it is known");
        fs::remove_dir_all(folder).unwrap();
    }
}
