//! Files with several programs, divided by lines `// -----`.

const MARKER: &str = "// -----";

/// A part of a divided file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// Its file name in locations.
    pub name: String,
    /// Its text: from the end of one marker to the start of the next.
    pub text: &'a str,
    /// The line of the file on which it starts, from 1.
    pub first_line: u32,
}

/// Returns the parts of a file. Even a single part is named by its position.
///
/// ```
/// let parts = tfrt_ir::split_input_file("a\n// -----\nb\n", "f");
/// assert_eq!(parts[0].name, "within split at f:1 offset ");
/// assert_eq!((parts[1].text, parts[1].first_line), ("\nb\n", 2));
/// ```
#[must_use]
pub fn split_input_file<'a>(source: &'a str, file_name: &str) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut line = 1;
    let mut start = 0;
    for (end, next) in markers(source).chain([(source.len(), source.len())]) {
        let text = &source[start..end];
        if !text.is_empty() {
            let name = format!("within split at {file_name}:{line} offset ");
            parts.push(Part {
                name,
                text,
                first_line: line,
            });
        }
        line += source[start..next]
            .bytes()
            .filter(|byte| *byte == b'\n')
            .count() as u32;
        start = next;
    }
    parts
}

/// Returns the range of each marker. A marker starts a line, and only blanks may follow it.
fn markers(source: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    source
        .match_indices(MARKER)
        .map(|(start, marker)| (start, start + marker.len()))
        .filter(|&(start, end)| {
            let begins_line = start == 0 || source.as_bytes()[start - 1] == b'\n';
            let rest = source[end..].lines().next().unwrap_or("");
            begins_line && (rest.trim().is_empty() || source[end..].starts_with('\n'))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_and_later_dashes_divide_nothing() {
        assert_eq!(
            split_input_file("a // -----\nb\n// ------\nc", "f").len(),
            1
        );
    }

    #[test]
    fn empty_parts_are_left_out() {
        let lines: Vec<u32> = split_input_file("// -----\na\n// -----", "f")
            .iter()
            .map(|part| part.first_line)
            .collect();
        assert_eq!(lines, [1]);
    }
}
