//! Attributes with text in angle brackets: `#stablehlo.gather<offset_dims = [1], …>` and
//! `#stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>`.

use tfrt_ir::{AttrId, Attribute, Module};

/// Returns the text between the angle brackets of `#stablehlo.NAME<…>`.
pub(crate) fn body<'m>(module: &'m Module, attribute: AttrId, name: &str) -> Option<&'m str> {
    match module.attribute(attribute) {
        Attribute::Opaque { body, .. } => {
            let inner = body.strip_prefix(name)?.trim_start();
            inner.strip_prefix('<')?.strip_suffix('>')
        }
        _ => None,
    }
}

/// Returns the names and values of the entries of a text such as `a = [1, 2], b = 3`.
pub(crate) fn entries(text: &str) -> Vec<(&str, &str)> {
    let mut entries = Vec::new();
    for part in split(text) {
        if let Some((name, value)) = part.split_once('=') {
            entries.push((name.trim(), value.trim()));
        }
    }
    entries
}

/// Splits a text at the commas outside brackets.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '[' | '<' | '(' | '{' => depth += 1,
            ']' | '>' | ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

/// Parses the numbers of `[1, 2]` or `[]`.
pub(crate) fn numbers(text: &str) -> Option<Vec<i64>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    split(inner)
        .into_iter()
        .map(|part| part.parse().ok())
        .collect()
}

/// Returns the value of the entry with a name.
pub(crate) fn entry<'t>(entries: &[(&str, &'t str)], name: &str) -> Option<&'t str> {
    let found = entries.iter().find(|entry| entry.0 == name);
    found.map(|entry| entry.1)
}

/// Returns the positions of dimensions in a text such as `[b, 0, 1, f]`: first the dimensions named
/// by `letters`, in that order, then the spatial dimensions, in numerical order.
pub(crate) fn order(text: &str, letters: [&str; 2]) -> Option<Vec<i64>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let names = split(inner);
    let position = |name: &str| {
        let mut found = names
            .iter()
            .enumerate()
            .filter(|(_, other)| **other == name);
        match (found.next(), found.next()) {
            (Some((position, _)), None) => i64::try_from(position).ok(),
            _ => None,
        }
    };
    let mut order = vec![position(letters[0])?, position(letters[1])?];
    for axis in 0..names.len().checked_sub(2)? {
        order.push(position(&axis.to_string())?);
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_what_is_in_brackets_together() {
        let found = entries("offset_dims = [0, 1], index_vector_dim = 2, p = <a = 1, b>");
        assert_eq!(
            found,
            [
                ("offset_dims", "[0, 1]"),
                ("index_vector_dim", "2"),
                ("p", "<a = 1, b>")
            ]
        );
        assert_eq!(numbers("[0, -1]"), Some(vec![0, -1]));
        assert_eq!(numbers("[]"), Some(vec![]));
        assert_eq!(numbers("[x]"), None);
    }

    #[test]
    fn dimensions_are_found_by_their_letters() {
        assert_eq!(order("[b, 0, 1, f]", ["b", "f"]), Some(vec![0, 3, 1, 2]));
        assert_eq!(order("[1, i, 0, o]", ["o", "i"]), Some(vec![3, 1, 2, 0]));
        assert_eq!(order("[b, 0, 0, f]", ["b", "f"]), None);
        assert_eq!(order("[b]", ["b", "f"]), None);
    }
}
