//! "Did you mean": the names that are closest to one that does not exist.

/// Returns the `candidates` that are near `name`, nearest first, at most three. Near is at most a
/// third of the letters wrong.
///
/// A candidate that is much longer or shorter costs no time: a name may come from a file, and have
/// any length.
///
/// ```
/// use tfrt_support::nearest::nearest;
///
/// let kernels = ["tfrt.add.i32", "tfrt.add.i64", "tfrt.print.i32"];
/// assert_eq!(nearest("tfrt.ad.i32", kernels), ["tfrt.add.i32", "tfrt.add.i64"]);
/// assert!(nearest("zebra", kernels).is_empty());
/// ```
#[must_use]
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let num_letters = name.chars().count();
    let most_edits = num_letters.div_ceil(3);
    // Each edit adds or removes one letter at most.
    let may_be_near =
        |candidate: &&str| candidate.chars().count().abs_diff(num_letters) <= most_edits;
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter(may_be_near)
        .map(|candidate| (edits(name, candidate), candidate))
        .filter(|&(edits, _)| edits <= most_edits)
        .collect();
    near.sort_unstable();
    near.into_iter()
        .take(3)
        .map(|(_, candidate)| candidate)
        .collect()
}

/// Returns the end of a message about an unknown name: `` ; did you mean `a` or `b`? ``, or nothing
/// if there is no similar name.
///
/// ```
/// use tfrt_support::nearest::did_you_mean;
///
/// assert_eq!(did_you_mean(&["a", "b"]), "; did you mean `a` or `b`?");
/// assert_eq!(did_you_mean(&[]), "");
/// ```
#[must_use]
pub fn did_you_mean(suggestions: &[&str]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    let names: Vec<_> = suggestions.iter().map(|name| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(" or "))
}

/// Returns how many letters must be added, removed or replaced to turn `from` into `to`.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (removed, from_char) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], removed + 1);
        for (index, &to_char) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(from_char != to_char);
            diagonal = row[index + 1];
            row[index + 1] = replaced.min(diagonal + 1).min(row[index] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_adds_removes_or_replaces_a_letter() {
        for (from, to, count) in [
            ("", "", 0),
            ("a", "", 1),
            ("", "ab", 2),
            ("kitten", "sitting", 3),
            ("ab", "ba", 2),
        ] {
            assert_eq!(edits(from, to), count, "{from} to {to}");
        }
    }

    #[test]
    fn the_nearest_comes_first() {
        assert_eq!(
            nearest("abcdef", ["abcxyz", "abcdeg", "abcdeff", "abxdex"]),
            ["abcdeff", "abcdeg", "abxdex"]
        );
    }
}
