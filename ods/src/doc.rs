//! Doc comments as the documentation of a declaration, in constants.
//!
//! The first paragraph, joined to one line, is the summary; the rest is the description. The space
//! after `///` belongs to neither. Both `declare_op!` and `#[tfrt_kernel]` split comments like
//! this.
//!
//! ```
//! use tfrt_ods::doc::{self, Part};
//!
//! const DOC: &str = " Adds two\n numbers.\n\n # Errors\n   Never.\n";
//! const SUMMARY: [u8; doc::len(DOC, Part::Summary)] = doc::part(DOC, Part::Summary);
//! const DESCRIPTION: [u8; doc::len(DOC, Part::Description)] = doc::part(DOC, Part::Description);
//! assert_eq!(doc::text(&SUMMARY), "Adds two numbers.");
//! assert_eq!(doc::text(&DESCRIPTION), "# Errors\n  Never.");
//! ```

use crate::const_text::slice;

/// A part of a doc comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first paragraph, as one line.
    Summary,
    /// The rest.
    Description,
}

/// Returns the length of a part in bytes. `doc` contains the lines of the comment, without their
/// `///`.
#[must_use]
pub const fn len(doc: &str, part: Part) -> usize {
    write(doc, part, &mut [])
}

/// Returns the bytes of a part, whose [length](len) is `N`.
#[must_use]
pub const fn part<const N: usize>(doc: &str, part: Part) -> [u8; N] {
    let mut bytes = [0; N];
    write(doc, part, &mut bytes);
    bytes
}

/// Returns the text of a [`part`].
///
/// # Panics
/// At compile time, if it is not valid text.
#[must_use]
pub const fn text(part: &[u8]) -> &str {
    match std::str::from_utf8(part) {
        Ok(text) => text,
        Err(_) => panic!("a part of a text is one"),
    }
}

/// Writes as much of a part as fits in `out`. Returns the length of the part.
const fn write(doc: &str, part: Part, out: &mut [u8]) -> usize {
    let mut len = 0;
    let mut is_summary = true;
    // The number of written lines, and of blank lines since then.
    let mut num_written = 0;
    let mut num_blank = 0;
    let mut rest = doc;
    while !rest.is_empty() {
        let (line, behind) = first_line(rest);
        rest = behind;
        if line.trim_ascii().is_empty() {
            // Blank lines before the first paragraph are not part of it.
            is_summary = is_summary && num_written == 0;
            num_blank += 1;
            continue;
        }
        if is_summary != matches!(part, Part::Summary) {
            if is_summary {
                // Not the requested part: the summary ends at the next blank line.
                is_summary = !starts_blank(rest);
            }
            num_blank = 0;
            continue;
        }
        if num_written > 0 {
            len = push(out, len, if is_summary { " " } else { "\n" });
            while !is_summary && num_blank > 0 {
                len = push(out, len, "\n");
                num_blank -= 1;
            }
        }
        num_blank = 0;
        let line = if is_summary {
            line.trim_ascii()
        } else {
            without_margin(line).trim_ascii_end()
        };
        len = push(out, len, line);
        num_written += 1;
    }
    len
}

/// Returns the first line and the rest.
const fn first_line(text: &str) -> (&str, &str) {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() && bytes[end] != b'\n' {
        end += 1;
    }
    let behind = if end == bytes.len() { end } else { end + 1 };
    (slice(text, 0, end), slice(text, behind, bytes.len()))
}

const fn starts_blank(text: &str) -> bool {
    first_line(text).0.trim_ascii().is_empty()
}

const fn without_margin(line: &str) -> &str {
    match line.as_bytes() {
        [b' ', ..] => slice(line, 1, line.len()),
        _ => line,
    }
}

/// Writes `text` after the first `len` bytes, as far as it fits. Returns the new length.
const fn push(out: &mut [u8], len: usize, text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut index = 0;
    while index < bytes.len() && len + index < out.len() {
        out[len + index] = bytes[index];
        index += 1;
    }
    len + bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(doc: &str, summary: &str, description: &str) {
        for (part, expected) in [(Part::Summary, summary), (Part::Description, description)] {
            let mut bytes = vec![0; len(doc, part)];
            write(doc, part, &mut bytes);
            assert_eq!(text(&bytes), expected, "{doc:?}");
        }
    }

    #[test]
    fn the_first_paragraph_is_the_summary() {
        check("", "", "");
        check("\n \n", "", "");
        check(" Adds.\n", "Adds.", "");
        check("\n Adds\n  two.", "Adds two.", "");
        check(" Adds.\n\n More.\n", "Adds.", "More.");
        check(
            " Adds.\n \n\n # Code\n ```\n   x\n\n\n   y\n ```\n \n",
            "Adds.",
            "# Code\n```\n  x\n\n\n  y\n```",
        );
        check("Größe.\n\nÜber.", "Größe.", "Über.");
    }
}
