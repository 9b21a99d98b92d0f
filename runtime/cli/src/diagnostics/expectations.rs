//! Expectations: comments in a source that declare its diagnostics.
//!
//! An expectation may be anywhere in a line, with at most one per line:
//!
//! ```text
//! expected-(error|note|remark|warning)  [ @+N | @-N | @above | @below ]  {{SUBSTRING}}
//! ```
//!
//! It refers to its own line, the line `N` lines down or up, the last line above without an
//! expectation, or the next line below without one. One or more diagnostics of its severity on that
//! line, whose messages contain the substring, meet it.

use std::collections::{BTreeMap, HashMap};

use tfrt_support::{Diagnostic, Place, Severity};

use super::render::Finding;
use super::source_map::SourceMap;

/// The expectations of several sources, and which of them were met.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    by_file: BTreeMap<String, OfFile>,
}

/// The expectations of one source, in the order in which they are written.
#[derive(Clone, Debug)]
struct OfFile {
    all: Vec<Expectation>,
    /// The expectations for each line.
    by_line: HashMap<u32, Vec<usize>>,
}

impl From<Vec<Expectation>> for OfFile {
    fn from(all: Vec<Expectation>) -> Self {
        let mut by_line: HashMap<u32, Vec<usize>> = HashMap::new();
        for (index, expectation) in all.iter().enumerate() {
            by_line.entry(expectation.line).or_default().push(index);
        }
        Self { all, by_line }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Expectation {
    severity: Severity,
    /// The line it is about, from 1.
    line: u32,
    substring: String,
    /// The location of its comment.
    place: Place,
    is_met: bool,
}

impl Expectations {
    /// Collects the expectations of all known sources.
    #[must_use]
    pub fn of_all(sources: &SourceMap) -> Self {
        Self {
            by_file: sources
                .iter()
                .map(|(name, text)| (name.to_owned(), scan(name, text).into()))
                .collect(),
        }
    }

    /// Compares one diagnostic, without its notes, with the expectations. Returns a finding to
    /// report if the diagnostic was not expected, or was expected with another severity.
    pub fn meet(&mut self, found: &Diagnostic, sources: &mut SourceMap) -> Option<Finding> {
        if let Place::File { file, line, .. } = &found.place {
            if !self.by_file.contains_key(&**file) {
                let text = sources.text(file);
                let found = text.map_or_else(Vec::new, |text| scan(file, text));
                self.by_file.insert(file.to_string(), found.into());
            }
            let near_miss = if let Some(OfFile { all, by_line }) = self.by_file.get_mut(&**file) {
                let mut near_miss = None;
                for &index in by_line.get(line).into_iter().flatten() {
                    let expectation = &mut all[index];
                    if !found.message.contains(&expectation.substring) {
                        continue;
                    }
                    if expectation.severity == found.severity {
                        expectation.is_met = true;
                        return None;
                    }
                    near_miss = Some(index);
                }
                near_miss.map(|index| &all[index])
            } else {
                None
            };
            if let Some(expectation) = near_miss {
                let message = format!(
                    "'{}' diagnostic emitted when expecting a '{}'",
                    found.severity, expectation.severity
                );
                return Some(Finding::new(
                    expectation.place.clone(),
                    Severity::Error,
                    message,
                ));
            }
        }
        let message = format!("unexpected {}: {}", found.severity, found.message);
        Some(Finding::new(found.place.clone(), Severity::Error, message))
    }

    /// Returns the findings to report for expectations that were not met.
    pub fn unmet(&self) -> impl Iterator<Item = Finding> {
        self.by_file
            .values()
            .flat_map(|of_file| &of_file.all)
            .filter(|expectation| !expectation.is_met)
            .map(|expectation| {
                let Expectation {
                    severity,
                    substring,
                    place,
                    ..
                } = expectation;
                let message = format!("expected {severity} \"{substring}\" was not produced");
                Finding {
                    underline_len: substring.len(),
                    ..Finding::new(place.clone(), Severity::Error, message)
                }
            })
    }
}

/// The line that an expectation refers to, relative to its own line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Offset(i64),
    Above,
    Below,
}

fn scan(file: &str, text: &[u8]) -> Vec<Expectation> {
    let mut expectations: Vec<Expectation> = Vec::new();
    let mut last_plain_line = 1;
    let mut waiting_for_plain_line = Vec::new();
    let num_lines = text.split(|byte| *byte == b'\n').count();
    for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
        let content = content.trim_ascii_end();
        let end = content.windows(2).rposition(|pair| pair == b"}}");
        let Some(found) =
            end.and_then(|end| (0..end).find_map(|column| designator_at(&content[..end], column)))
        else {
            for index in waiting_for_plain_line.drain(..) {
                let expectation: &mut Expectation = &mut expectations[index];
                expectation.line = line;
            }
            last_plain_line = line;
            continue;
        };
        let target = match found.target {
            Target::Offset(offset) => u32::try_from(i64::from(line) + offset).unwrap_or(0),
            Target::Above => last_plain_line,
            Target::Below => {
                waiting_for_plain_line.push(expectations.len());
                u32::try_from(num_lines).unwrap_or(u32::MAX)
            }
        };
        expectations.push(Expectation {
            severity: found.severity,
            line: target,
            substring: String::from_utf8_lossy(found.substring).into_owned(),
            place: Place::file(
                file,
                line,
                u32::try_from(found.column + 1).unwrap_or(u32::MAX),
            ),
            is_met: false,
        });
    }
    expectations
}

struct Designator<'a> {
    severity: Severity,
    target: Target,
    substring: &'a [u8],
    column: usize,
}

/// Returns the designator that starts at `column` of a line, whose last braces `}}` are cut off
/// with what follows them.
fn designator_at(line: &[u8], column: usize) -> Option<Designator<'_>> {
    let rest = line[column..].strip_prefix(b"expected-")?;
    let (severity, rest) = [
        Severity::Error,
        Severity::Note,
        Severity::Remark,
        Severity::Warning,
    ]
    .into_iter()
    .find_map(|severity| {
        Some((
            severity,
            rest.strip_prefix(severity.to_string().as_bytes())?,
        ))
    })?;
    let (target, rest) = target(skip_blanks(rest))?;
    Some(Designator {
        severity,
        target,
        substring: skip_blanks(rest).strip_prefix(b"{{")?,
        column,
    })
}

/// Returns the target at the start of `text`, with what follows it; nothing written means the same
/// line.
fn target(text: &[u8]) -> Option<(Target, &[u8])> {
    let Some(text) = text.strip_prefix(b"@") else {
        return Some((Target::Offset(0), text));
    };
    if let Some(rest) = text.strip_prefix(b"above") {
        return Some((Target::Above, rest));
    }
    if let Some(rest) = text.strip_prefix(b"below") {
        return Some((Target::Below, rest));
    }
    let (sign, digits) = text.split_first()?;
    let sign = match sign {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let len = digits
        .iter()
        .take_while(|digit| digit.is_ascii_digit())
        .count();
    let offset = digits[..len].iter().fold(0, |offset: i64, digit| {
        offset
            .saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'))
    });
    // A line number has 32 bits: whatever is further away is nowhere.
    (len > 0).then(|| {
        (
            Target::Offset(sign * offset.min(i64::from(u32::MAX))),
            &digits[len..],
        )
    })
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| **byte == b' ').count();
    &text[blanks..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(text: &str) -> Vec<(u32, String)> {
        scan("f", text.as_bytes())
            .into_iter()
            .map(|expectation| (expectation.line, expectation.substring))
            .collect()
    }

    #[test]
    fn targets_are_relative_to_the_line() {
        let text = [
            "plain",
            "// expected-error@+2{{a}}",
            "// expected-note @-1 {{b}}",
            "// expected-remark {{c}}",
            "// expected-warning @above {{d}}",
            "// expected-error @below {{e}}",
            "// expected-error @below{{f}}",
            "plain\n",
        ];
        let expected = [(4, "a"), (2, "b"), (4, "c"), (1, "d"), (8, "e"), (8, "f")];
        assert_eq!(
            lines_of(&text.join("\n")),
            expected.map(|(line, text)| (line, text.to_owned()))
        );
    }

    #[test]
    fn a_dangling_below_is_about_the_last_line() {
        assert_eq!(
            lines_of("\n// expected-error @below {{a}}"),
            [(2, "a".to_owned())]
        );
    }

    #[test]
    fn braces_match_greedily() {
        assert_eq!(
            lines_of("// expected-error {{a }} b}} c"),
            [(1, "a }} b".to_owned())]
        );
    }

    #[test]
    fn what_only_looks_like_a_designator_is_none() {
        for text in [
            "expected-errors {{a}}",
            "expected-error @2 {{a}}",
            "expected-error {a}",
            "expected-error {{a}",
            "expected-error @+ {{a}}",
        ] {
            assert_eq!(lines_of(text), [], "{text}");
        }
        assert_eq!(
            lines_of("expected-error expected-note {{a}}"),
            [(1, "a".to_owned())]
        );
    }

    #[test]
    fn one_expectation_takes_several_diagnostics() {
        let mut sources = SourceMap::new();
        sources.insert("f", "x // expected-error {{bad}}");
        let mut expectations = Expectations::of_all(&sources);
        let found = Diagnostic::error(Place::file("f", 1, 1), "very bad thing");
        assert_eq!(expectations.meet(&found, &mut sources), None);
        assert_eq!(expectations.meet(&found, &mut sources), None);
        assert_eq!(expectations.unmet().count(), 0);
    }
}
