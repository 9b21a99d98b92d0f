//! The text of a diagnostic: location, severity, message, and the source line with a caret.
//!
//! The layout is that of LLVM's source manager, so tools that read it keep working:
//!
//! ```text
//! p.mlir:4:25: error: use of undeclared SSA value name
//!   %b = tfrt.add.i32 %a, %nowhere
//!                         ^
//! ```
//!
//! Only the part of an overlong line around the location is shown. A location that is not a
//! position in a file prints as `<unknown>:0: error: loc("name"): message`. A line that is not all
//! ASCII is shown without a caret, because bytes are not columns there. Control characters in
//! names, messages and lines are escaped, so a program cannot control the terminal. Only the
//! [`Styles`] do, which a caller requests if there is one.

use std::fmt;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use tfrt_support::escape::{escaped, escaped_lines};
use tfrt_support::{Diagnostic, Place, Severity};

use super::source_map::{SourceLine, SourceMap};

/// Columns between two stops of the tabulator.
const TAB_STOP: usize = 8;

/// Columns that an escaped byte takes.
const ESCAPED_WIDTH: usize = 3;

/// The maximum part of a line that is shown. Hand-written lines are shorter; constants in generated
/// programs can have megabytes.
const MAX_SHOWN_BYTES: usize = 1_000;

/// Stands for what is omitted of a line.
const ELLIPSIS: &[u8] = b"...";

/// The terminal styles of the parts of a diagnostic.
///
/// ```
/// use tfrt_cli::diagnostics::render::{Finding, Styles};
/// use tfrt_cli::diagnostics::SourceMap;
/// use tfrt_support::{Place, Severity};
///
/// let finding = Finding::new(Place::file("p.mlir", 1, 1), Severity::Error, "oops");
/// let printed = |styles: &Styles| {
///     let mut text = Vec::new();
///     finding.print(&mut SourceMap::new(), styles, &mut text);
///     String::from_utf8(text).unwrap()
/// };
/// assert_eq!(printed(&Styles::PLAIN), "p.mlir:1:1: error: oops\n");
/// assert_eq!(
///     printed(&Styles::COLORED),
///     "\x1b[1mp.mlir:1:1:\x1b[0m \x1b[1m\x1b[31merror:\x1b[0m \x1b[1moops\x1b[0m\n"
/// );
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Styles {
    place: Style,
    error: Style,
    warning: Style,
    remark: Style,
    note: Style,
    message: Style,
    mark: Style,
}

impl Styles {
    /// No styles, as for files.
    pub const PLAIN: Self = Self {
        place: Style::new(),
        error: Style::new(),
        warning: Style::new(),
        remark: Style::new(),
        note: Style::new(),
        message: Style::new(),
        mark: Style::new(),
    };

    /// The colours of LLVM's tools.
    pub const COLORED: Self = {
        const BOLD: Style = Style::new().bold();
        Self {
            place: BOLD,
            error: AnsiColor::Red.on_default().bold(),
            warning: AnsiColor::Magenta.on_default().bold(),
            remark: AnsiColor::Blue.on_default().bold(),
            note: AnsiColor::Cyan.on_default().bold(),
            message: BOLD,
            mark: AnsiColor::Green.on_default().bold(),
        }
    };

    fn of(&self, severity: Severity) -> Style {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.warning,
            Severity::Remark => self.remark,
            Severity::Note => self.note,
        }
    }
}

/// One diagnostic without its notes, ready to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The location.
    pub place: Place,
    /// The severity.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The number of bytes to underline, starting at the location.
    pub underline_len: usize,
}

impl Finding {
    /// Creates a finding that underlines nothing.
    #[must_use]
    pub fn new(place: Place, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            place,
            severity,
            message: message.into(),
            underline_len: 0,
        }
    }

    /// Prints the finding, with the line of the source if it can be had.
    pub fn print(&self, sources: &mut SourceMap, styles: &Styles, out: &mut impl Write) {
        self.print_to(Some(sources), styles, out);
    }

    fn print_to(&self, sources: Option<&mut SourceMap>, styles: &Styles, out: &mut impl Write) {
        let mut text = format!("{}\n", self.headline(styles)).into_bytes();
        if let Place::File { file, line, column } = &self.place
            && let Some(source) = sources.and_then(|sources| sources.line(file, *line, *column))
        {
            push_source_line(source, self.underline_len, styles.mark, &mut text);
        }
        // A failure to write a message cannot be reported.
        let _ = out.write_all(&text).and_then(|()| out.flush());
    }

    fn headline(&self, styles: &Styles) -> impl fmt::Display + '_ {
        let (at, of, said) = (styles.place, styles.of(self.severity), styles.message);
        fmt::from_fn(move |f| {
            let severity = self.severity;
            match &self.place {
                Place::Unknown | Place::Text(_) => write!(f, "{at}<unknown>:0:{at:#}")?,
                Place::File { file, line, column } => {
                    let file = escaped(if file.is_empty() { "-" } else { file });
                    write!(f, "{at}{file}:{line}:{column}:{at:#}")?;
                }
            }
            write!(f, " {of}{severity}:{of:#} {said}")?;
            if let Place::Text(text) = &self.place {
                write!(f, "{}: ", escaped(text))?;
            }
            write!(f, "{}{said:#}", escaped_lines(&self.message))
        })
    }
}

/// Prints a diagnostic and its notes. A note at the same location as the previous message is
/// printed without the line.
pub fn print_diagnostic(
    diagnostic: &Diagnostic,
    sources: &mut SourceMap,
    styles: &Styles,
    out: &mut impl Write,
) {
    let mut shown = None;
    for found in std::iter::once(diagnostic).chain(&diagnostic.notes) {
        let sources = (shown != Some(&found.place)).then_some(&mut *sources);
        let finding = Finding::new(found.place.clone(), found.severity, &found.message);
        finding.print_to(sources, styles, out);
        shown = Some(&found.place);
    }
}

/// A line as it is shown: the part of it around its position that is short enough.
struct Excerpt<'a> {
    before: &'static [u8],
    text: &'a [u8],
    after: &'static [u8],
    /// The position, from the start of the shown part.
    column: usize,
}

fn excerpt(line: SourceLine<'_>) -> Excerpt<'_> {
    let SourceLine { text, column } = line;
    if text.len() <= MAX_SHOWN_BYTES {
        return Excerpt {
            before: b"",
            text,
            after: b"",
            column,
        };
    }
    let start = char_boundary(text, column.saturating_sub(MAX_SHOWN_BYTES / 2));
    let end = char_boundary(text, (start + MAX_SHOWN_BYTES).min(text.len()));
    let before = if start > 0 { ELLIPSIS } else { b"" };
    Excerpt {
        before,
        text: &text[start..end],
        after: if end < text.len() { ELLIPSIS } else { b"" },
        column: column - start + before.len(),
    }
}

/// Returns the first boundary of characters at `offset` or behind it.
fn char_boundary(text: &[u8], offset: usize) -> usize {
    let is_inside = |byte: &&u8| **byte & 0xC0 == 0x80;
    offset + text[offset..].iter().take_while(is_inside).count()
}

fn push_source_line(line: SourceLine<'_>, underline_len: usize, style: Style, out: &mut Vec<u8>) {
    let shown = excerpt(line);
    let text = [shown.before, shown.text, shown.after].concat();
    push_line(&text, out);
    out.push(b'\n');
    if !text.is_ascii() {
        return;
    }
    let mut marks = vec![b' '; text.len() + 1];
    let underline_end = (shown.column + underline_len).min(marks.len());
    marks[shown.column..underline_end].fill(b'~');
    marks[shown.column] = b'^';
    let len = marks
        .iter()
        .rposition(|mark| *mark != b' ')
        .map_or(0, |last| last + 1);
    let mut shown_marks = Vec::new();
    push_marks(&marks[..len], &text, &mut shown_marks);
    // Spaces have no colour: the style begins with the first mark.
    let num_spaces = shown_marks.iter().take_while(|mark| **mark == b' ').count();
    out.extend(&shown_marks[..num_spaces]);
    out.extend(style.render().to_string().bytes());
    out.extend(&shown_marks[num_spaces..]);
    out.extend(style.render_reset().to_string().bytes());
    out.push(b'\n');
}

/// Appends a line, with its tabulators expanded, and its control characters and bytes that are not
/// characters escaped.
fn push_line(line: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            let mut bytes = [0; 4];
            let bytes = c.encode_utf8(&mut bytes).as_bytes();
            match c {
                '\t' => out.resize(out.len() + tab_width(out.len() - start), b' '),
                _ if c.is_control() => push_escaped(bytes, out),
                _ => out.extend(bytes),
            }
        }
        push_escaped(chunk.invalid(), out);
    }
}

fn push_escaped(bytes: &[u8], out: &mut Vec<u8>) {
    for byte in bytes {
        out.extend(format!("\\{byte:02X}").bytes());
    }
}

/// Appends marks, each as wide as what [`push_line`] makes of the byte of `line` that it stands
/// under.
fn push_marks(marks: &[u8], line: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    for (index, mark) in marks.iter().enumerate() {
        let width = match line.get(index) {
            Some(b'\t') => tab_width(out.len() - start),
            Some(byte) if byte.is_ascii_control() => ESCAPED_WIDTH,
            _ => 1,
        };
        out.extend(std::iter::repeat_n(*mark, width));
    }
}

/// Returns how far it is from a column to the next stop of the tabulator.
fn tab_width(column: usize) -> usize {
    TAB_STOP - column % TAB_STOP
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(diagnostic: &Diagnostic, source: &str, expected: &str) {
        let mut sources = SourceMap::new();
        sources.insert("p", source);
        let mut out = Vec::new();
        print_diagnostic(diagnostic, &mut sources, &Styles::PLAIN, &mut out);
        assert_eq!(String::from_utf8_lossy(&out), expected);
    }

    #[test]
    fn tabs_are_expanded_in_line_and_marks() {
        check(
            &Diagnostic::error(Place::file("p", 1, 4), "m"),
            "\ta\tb",
            "p:1:4: error: m\n        a       b\n                ^\n",
        );
        check(
            &Diagnostic::error(Place::file("p", 1, 3), "m"),
            "\ta\tb",
            "p:1:3: error: m\n        a       b\n         ^^^^^^^\n",
        );
    }

    #[test]
    fn control_characters_are_escaped_wherever_they_come_from() {
        let place = Place::file("a\u{1b}[2J\nb", 1, 1);
        check(
            &Diagnostic::error(place, "m\u{7}\nn"),
            "",
            "a\\1B[2J\\0Ab:1:1: error: m\\07\nn\n",
        );
        check(
            &Diagnostic::error(Place::Text("loc(\"\u{9b}\")".into()), "m"),
            "",
            "<unknown>:0: error: loc(\"\\C2\\9B\"): m\n",
        );
        check(
            &Diagnostic::error(Place::file("p", 1, 3), "m"),
            "\u{1b}[x",
            "p:1:3: error: m\n\\1B[x\n    ^\n",
        );
        check(
            &Diagnostic::error(Place::file("p", 1, 1), "m"),
            "é\u{9b}\u{1b}",
            "p:1:1: error: m\né\\C2\\9B\\1B\n",
        );
    }

    #[test]
    fn colours_are_on_words_and_marks() {
        let mut sources = SourceMap::new();
        sources.insert("p", "\tab");
        let mut out = Vec::new();
        let error = Diagnostic::error(Place::file("p", 1, 2), "m\u{1b}[2J")
            .with_note(Place::file("p", 1, 2), "n");
        print_diagnostic(&error, &mut sources, &Styles::COLORED, &mut out);
        assert_eq!(
            String::from_utf8_lossy(&out),
            "\x1b[1mp:1:2:\x1b[0m \x1b[1m\x1b[31merror:\x1b[0m \x1b[1mm\\1B[2J\x1b[0m\n\
             \x20       ab\n        \x1b[1m\x1b[32m^\x1b[0m\n\
             \x1b[1mp:1:2:\x1b[0m \x1b[1m\x1b[36mnote:\x1b[0m \x1b[1mn\x1b[0m\n"
        );
    }

    #[test]
    fn the_caret_may_stand_behind_the_line() {
        check(
            &Diagnostic::error(Place::file("p", 1, 3), "m"),
            "ab\n",
            "p:1:3: error: m\nab\n  ^\n",
        );
    }

    #[test]
    fn lines_that_are_not_ascii_have_no_caret() {
        check(
            &Diagnostic::error(Place::file("p", 1, 1), "m"),
            "é",
            "p:1:1: error: m\né\n",
        );
    }

    #[test]
    fn a_note_at_the_same_place_has_no_line() {
        let diagnostic = Diagnostic::error(Place::file("p", 1, 1), "m")
            .with_note(Place::file("p", 1, 1), "same")
            .with_note(Place::file("p", 2, 1), "other");
        check(
            &diagnostic,
            "a\nb\n",
            "p:1:1: error: m\na\n^\np:1:1: note: same\np:2:1: note: other\nb\n^\n",
        );
    }

    #[test]
    fn a_line_that_is_too_long_is_shown_around_the_place() {
        let message = |line: &str, column| {
            let mut sources = SourceMap::new();
            sources.insert("p", line);
            let mut out = Vec::new();
            let error = Diagnostic::error(Place::file("p", 1, column), "m");
            print_diagnostic(&error, &mut sources, &Styles::PLAIN, &mut out);
            String::from_utf8(out).expect("characters are whole")
        };
        let line = "a".repeat(5_000) + "here" + &"b".repeat(5_000);
        let text = message(&line, 5_001);
        let (shown, marks) = text
            .strip_prefix("p:1:5001: error: m\n")
            .unwrap()
            .split_once('\n')
            .unwrap();
        assert_eq!(shown.len(), MAX_SHOWN_BYTES + 2 * ELLIPSIS.len());
        assert_eq!(shown[marks.find('^').unwrap()..].find("here"), Some(0));
        assert!(shown.starts_with("...a") && shown.ends_with("b..."));

        let at_start = message(&line, 1);
        assert!(at_start.contains("\naaa") && at_start.ends_with("a...\n^\n"));
        assert!(message(&line, 10_005).contains("bbb\n"));
        // Characters of two bytes, from an odd offset on.
        assert!(message(&("a".to_owned() + &"é".repeat(5_000)), 5_001).contains("...é"));
    }

    #[test]
    fn places_outside_files_print_as_unknown() {
        check(
            &Diagnostic::error(Place::Unknown, "m"),
            "",
            "<unknown>:0: error: m\n",
        );
        check(
            &Diagnostic::error(Place::Text("loc(\"n\")".into()), "m"),
            "",
            "<unknown>:0: error: loc(\"n\"): m\n",
        );
        check(
            &Diagnostic::warning(Place::file("p", 0, 0), "m"),
            "a",
            "p:0:0: warning: m\n",
        );
        let beyond = Place::file("", u32::MAX, u32::MAX);
        check(
            &Diagnostic::error(beyond, "m"),
            "",
            "-:4294967295:4294967295: error: m\n",
        );
    }

    #[test]
    fn the_underline_ends_with_the_line() {
        let mut sources = SourceMap::new();
        sources.insert("p", "abcdef");
        for (underline_len, marks) in [(0, "  ^"), (1, "  ^"), (3, "  ^~~"), (9, "  ^~~~~")] {
            let mut out = Vec::new();
            let finding = Finding {
                underline_len,
                ..Finding::new(Place::file("p", 1, 3), Severity::Error, "m")
            };
            finding.print(&mut sources, &Styles::PLAIN, &mut out);
            assert_eq!(
                String::from_utf8_lossy(&out),
                format!("p:1:3: error: m\nabcdef\n{marks}\n")
            );
        }
    }
}
