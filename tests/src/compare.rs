//! Comparing what a tool printed with what was recorded.

use std::fmt;

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Byte for byte; in printed MLIR the amount of horizontal blank space does not count.
    Exact,
    /// Standard output exactly; on standard error each recorded message is part of ours.
    Contains,
    /// A text in angle brackets, such as `<N>`, stands for anything.
    Masked,
    /// As masked, and a number stands for any number.
    Form,
    /// Only standard error, exactly.
    Stderr,
    /// Only the exit status.
    Status,
    /// Not at all.
    Skip,
}

impl Mode {
    /// The mode of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "exact" => Self::Exact,
            "contains" => Self::Contains,
            "masked" => Self::Masked,
            "form" => Self::Form,
            "stderr" => Self::Stderr,
            "status" => Self::Status,
            "skip" => Self::Skip,
            _ => return None,
        })
    }
}

/// Where two texts differ first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    line: usize,
    expected: Option<String>,
    found: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = "(end)";
        writeln!(f, "line {}", self.line)?;
        writeln!(
            f,
            "    expected: {}",
            self.expected.as_deref().unwrap_or(end)
        )?;
        write!(f, "    found:    {}", self.found.as_deref().unwrap_or(end))
    }
}

/// Compares two texts line by line under a rule for lines.
///
/// # Errors
/// The first line that differs.
pub fn lines(
    expected: &[u8],
    found: &[u8],
    is_same: impl Fn(&str, &str) -> bool,
) -> Result<(), Difference> {
    let (expected, found) = (
        String::from_utf8_lossy(expected),
        String::from_utf8_lossy(found),
    );
    let (mut expected, mut found) = (expected.split('\n'), found.split('\n'));
    for line in 1.. {
        match (expected.next(), found.next()) {
            (None, None) => break,
            (Some(expected), Some(found)) if is_same(expected, found) => {}
            (expected, found) => {
                let own = |text: Option<&str>| text.map(str::to_owned);
                return Err(Difference {
                    line,
                    expected: own(expected),
                    found: own(found),
                });
            }
        }
    }
    Ok(())
}

/// Whether two lines are the same but for the amount of horizontal blank space.
#[must_use]
pub fn same_but_for_blanks(expected: &str, found: &str) -> bool {
    expected
        .split_ascii_whitespace()
        .eq(found.split_ascii_whitespace())
}

/// Whether `found` is `expected`, in which a text like `<N>` stands for anything.
#[must_use]
pub fn matches_masks(expected: &str, found: &str) -> bool {
    let Some((before, after)) = split_at_mask(expected) else {
        return expected == found;
    };
    let Some(rest) = found.strip_prefix(before) else {
        return false;
    };
    (0..=rest.len())
        .any(|start| rest.is_char_boundary(start) && matches_masks(after, &rest[start..]))
}

/// What is before and behind the first mask: capital letters in angle brackets.
fn split_at_mask(text: &str) -> Option<(&str, &str)> {
    text.match_indices('<').find_map(|(start, _)| {
        let (name, after) = text[start + 1..].split_once('>')?;
        let is_mask = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase());
        is_mask.then_some((&text[..start], after))
    })
}

/// The text with every number replaced by one and the same.
#[must_use]
pub fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        match character {
            '0'..='9' if out.ends_with('0') => {}
            '0'..='9' => out.push('0'),
            _ => out.push(character),
        }
    }
    out
}

/// Whether every message of `expected` is part of `found`. A message is a line without its place
/// and its full stop.
///
/// # Errors
/// The first message that is missing.
pub fn messages(expected: &[u8], found: &[u8]) -> Result<(), String> {
    let (expected, found) = (
        String::from_utf8_lossy(expected),
        String::from_utf8_lossy(found),
    );
    for line in expected.lines() {
        let message = [" error: ", " warning: "]
            .iter()
            .find_map(|kind| Some(line.split_once(kind)?.1))
            .unwrap_or(line)
            .trim_end_matches('.');
        if !found.contains(message) {
            return Err(format!("`{message}` is not part of:\n{found}"));
        }
    }
    if expected.is_empty() && !found.is_empty() {
        return Err(format!("nothing was expected, found:\n{found}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_stand_for_anything() {
        assert!(matches_masks(
            "E <DATE> <FILE>:<LINE>] text",
            "E 2026 a.rs:7] text"
        ));
        assert!(!matches_masks("E <DATE>] text", "E 2026] other text!"));
        assert!(!matches_masks("<<error: m>>", "<<error: n>>"));
    }

    #[test]
    fn blanks_do_not_count() {
        assert!(same_but_for_blanks("  a  b ", " a b"));
        assert!(!same_but_for_blanks("a b", "ab"));
    }

    #[test]
    fn numbers_of_any_length_are_alike() {
        assert_eq!(without_numbers("a 1 bc 234"), without_numbers("a 56 bc 7"));
        assert_ne!(without_numbers("a 1"), without_numbers("a x"));
    }

    #[test]
    fn messages_may_say_more() {
        let found = b"f.bef:0:0: error: Invalid header: at offset 3";
        assert_eq!(
            messages(b"f.bef:0:0: error: Invalid header.\n", found),
            Ok(())
        );
        assert!(messages(b"f.bef:0:0: error: Other.\n", found).is_err());
        assert!(messages(b"", found).is_err());
    }

    #[test]
    fn the_first_difference_is_reported() {
        let difference = lines(b"a\nb\n", b"a\nc\n", |a, b| a == b).unwrap_err();
        assert_eq!(
            (difference.line, difference.found.as_deref()),
            (2, Some("c"))
        );
        assert_eq!(lines(b"a\n", b"a", |a, b| a == b).unwrap_err().line, 2);
    }
}
