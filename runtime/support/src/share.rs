//! The division of numbers from 0 on into ranges of nearly equal length.

use std::ops::Range;

/// Returns the `index`-th of `parts` consecutive ranges of `0..len`. Their lengths differ by one at
/// most, and the longer ones come first.
///
/// ```
/// use tfrt_support::share::share;
///
/// assert_eq!(share(7, 3, 0), 0..3);
/// assert_eq!(share(7, 3, 2), 5..7);
/// ```
///
/// # Panics
/// If there are no parts. With debug assertions, if there is no such part.
#[inline]
#[must_use]
pub fn share(len: usize, parts: usize, index: usize) -> Range<usize> {
    debug_assert!(index < parts, "part {index} of {parts}");
    let (each, more) = (len / parts, len % parts);
    let start = index * each + index.min(more);
    start..start + each + usize::from(index < more)
}

/// Returns all ranges of [`share`], in order, with one division instead of one for each.
///
/// ```
/// use tfrt_support::share::shares;
///
/// let ranges: Vec<_> = shares(7, 3).collect();
/// assert_eq!(ranges, [0..3, 3..5, 5..7]);
/// ```
#[inline(always)]
pub fn shares(len: usize, parts: usize) -> impl Iterator<Item = Range<usize>> {
    let (each, more) = (len / parts.max(1), len % parts.max(1));
    let mut end = 0;
    (0..parts).map(move |index| {
        let start = end;
        end += each + usize::from(index < more);
        start..end
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_shares_are_those_of_each_index() {
        for len in [0, 1, 2, 7, 12, 100] {
            for parts in [0, 1, 2, 3, 7, 13, 101] {
                let each: Vec<_> = (0..parts).map(|index| share(len, parts, index)).collect();
                let all: Vec<_> = shares(len, parts).collect();
                assert_eq!(all, each, "{len} in {parts} parts");
                assert_eq!(all.last().map_or(len, |last| last.end), len);
            }
        }
    }
}
