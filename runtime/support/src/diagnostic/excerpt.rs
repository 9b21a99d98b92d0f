//! Readable diagnostics of a text, with the source line and a caret.

use std::fmt::Write;

use super::{Diagnostic, Severity};
use crate::place::Place;

/// Formats the diagnostics with their notes, each with its line of `source`.
///
/// ```
/// use tfrt_support::render_diagnostics;
/// use tfrt_support::{Diagnostic, Place};
///
/// let source = "func @f() {\n  tfrt.return %y : i32\n}";
/// let found = [Diagnostic::error(Place::file("f.mlir", 2, 15), "use of undeclared SSA value name")];
/// assert_eq!(
///     render_diagnostics(&found, source),
///     "f.mlir:2:15: error: use of undeclared SSA value name\n  tfrt.return %y : i32\n              ^\n"
/// );
/// ```
#[must_use]
pub fn render_diagnostics(diagnostics: &[Diagnostic], source: &str) -> String {
    let mut text = String::new();
    for found in diagnostics
        .iter()
        .flat_map(|diagnostic| std::iter::once(diagnostic).chain(&diagnostic.notes))
    {
        diagnostic_excerpt(
            &found.place,
            found.severity,
            &found.message,
            source,
            &mut text,
        );
    }
    text
}

/// Appends one finding.
pub fn diagnostic_excerpt(
    place: &Place,
    severity: Severity,
    message: &str,
    source: &str,
    text: &mut String,
) {
    // Writing into a string cannot fail.
    let _ = writeln!(text, "{place}: {severity}: {message}");
    let Place::File { line, column, .. } = place else {
        return;
    };
    let position = (line.checked_sub(1), column.checked_sub(1));
    let (Some(line), Some(column)) = position else {
        return;
    };
    let Some(shown) = source.lines().nth(line as usize) else {
        return;
    };
    let _ = writeln!(text, "{shown}");
    // A tabulator stands above a tabulator, whatever its width; a column counts bytes.
    if let Some(before) = shown.get(..column as usize) {
        let blank = |char| if char == '\t' { '\t' } else { ' ' };
        let _ = writeln!(text, "{}^", before.chars().map(blank).collect::<String>());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(place: Place, source: &str, expected: &str) {
        let mut text = String::new();
        diagnostic_excerpt(&place, Severity::Error, "m", source, &mut text);
        assert_eq!(text, expected);
    }

    #[test]
    fn the_caret_stands_under_the_place() {
        check(
            Place::file("p", 2, 4),
            "a\n\té b",
            "p:2:4: error: m\n\té b\n\t ^\n",
        );
        check(Place::file("p", 1, 2), "a", "p:1:2: error: m\na\n ^\n");
    }

    #[test]
    fn a_place_outside_of_the_source_has_no_line() {
        for (line, column) in [(0, 1), (1, 0), (7, 1), (u32::MAX, u32::MAX)] {
            let expected = format!("p:{line}:{column}: error: m\n");
            check(Place::file("p", line, column), "a", &expected);
        }
        check(Place::file("p", 1, 3), "é", "p:1:3: error: m\né\n ^\n");
        check(Place::file("p", 1, 2), "é", "p:1:2: error: m\né\n");
        check(Place::Unknown, "a", "UnknownLocation: error: m\n");
    }
}
