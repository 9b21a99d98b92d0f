//! The division of an op's values among the declared operands or results.
//!
//! A declaration lists parts, of which at most one is open, that is, optional or variadic. The
//! values of an op are divided among the parts in order: each single part takes one value, and the
//! open part takes the rest.
//!
//! ```text
//!   declared    condition   arguments: variadic   chain
//!   values      %0          %1   %2   %3          %4
//! ```

use std::ops::Range;

use crate::op::{Arity, OpDef};

/// The division of values among the declared operands, or the declared results, of an op.
///
/// ```
/// use tfrt_ods::groups::Groups;
/// use tfrt_ods::Arity;
///
/// let groups = Groups::of([Arity::One, Arity::Variadic, Arity::One]);
/// assert_eq!(groups.range(1, 5), 1..4);
/// assert_eq!(groups.part_of(4, 5), Some(2));
/// assert_eq!((groups.least(), groups.most()), (2, usize::MAX));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Groups {
    num_parts: usize,
    num_single: usize,
    /// The first part that is not single.
    open: Option<(usize, Arity)>,
}

impl Groups {
    /// Creates the groups of parts with these arities. A declaration has at most one open part
    /// among its operands, and at most one among its results; of several, the first takes all
    /// remaining values.
    pub fn of(arities: impl IntoIterator<Item = Arity>) -> Self {
        let mut groups = Self {
            num_parts: 0,
            num_single: 0,
            open: None,
        };
        for arity in arities {
            if arity == Arity::One {
                groups.num_single += 1;
            } else if groups.open.is_none() {
                groups.open = Some((groups.num_parts, arity));
            }
            groups.num_parts += 1;
        }
        groups
    }

    /// Returns the optional or variadic part, and its arity.
    #[must_use]
    pub fn open(&self) -> Option<(usize, Arity)> {
        self.open
    }

    /// Returns the number of single parts, each of which takes exactly one value.
    #[must_use]
    pub fn num_single(&self) -> usize {
        self.num_single
    }

    /// Returns the minimum number of values.
    #[must_use]
    pub fn least(&self) -> usize {
        self.num_single()
    }

    /// Returns the maximum number of values.
    #[must_use]
    pub fn most(&self) -> usize {
        match self.open {
            Some((_, Arity::Variadic)) => usize::MAX,
            _ => self.num_parts,
        }
    }

    /// Returns `true` if `count` values divide among the parts, with none missing and none left.
    #[must_use]
    pub fn accept(&self, count: usize) -> bool {
        (self.least()..=self.most()).contains(&count)
    }

    /// Returns how many of `count` values are left for the open part.
    fn num_open(&self, count: usize) -> usize {
        count.saturating_sub(self.num_single())
    }

    /// Returns the range of the values, out of `count`, that belong to a part. If there are too few
    /// values, the last parts get none.
    #[must_use]
    pub fn range(&self, part: usize, count: usize) -> Range<usize> {
        let num_open = self.num_open(count);
        let (start, len) = match self.open {
            Some((open, _)) if part == open => (part, num_open),
            Some((open, _)) if part > open => (part - 1 + num_open, 1),
            _ => (part, 1),
        };
        start.min(count)..(start + len).min(count)
    }

    /// Returns the part of the value at `position` of `count`, or `None` for a value beyond the
    /// declared ones.
    #[must_use]
    pub fn part_of(&self, position: usize, count: usize) -> Option<usize> {
        let num_open = self.num_open(count);
        let part = match self.open {
            Some((open, _)) if position >= open + num_open => position - num_open + 1,
            Some((open, _)) if position >= open => open,
            _ => position,
        };
        (position < count && part < self.num_parts).then_some(part)
    }

    /// Returns the part of each of `count` values, as far as they are declared.
    pub fn parts(self, count: usize) -> impl Iterator<Item = usize> {
        (0..count).map_while(move |position| self.part_of(position, count))
    }
}

impl OpDef {
    /// Returns the division of operands among the declared ones.
    #[must_use]
    pub fn operand_groups(&self) -> Groups {
        Groups::of(self.operands.iter().map(|operand| operand.arity))
    }

    /// Returns the division of results among the declared ones.
    #[must_use]
    pub fn result_groups(&self) -> Groups {
        Groups::of(self.results.iter().map(|result| result.arity))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Arity = Arity::One;

    /// Returns every declaration of at most four parts.
    fn declarations() -> Vec<Vec<Arity>> {
        let mut declarations = Vec::new();
        for num_parts in 0..=4 {
            declarations.push(vec![ONE; num_parts]);
            for open in 0..num_parts {
                for arity in [Arity::Optional, Arity::Variadic] {
                    let mut arities = vec![ONE; num_parts];
                    arities[open] = arity;
                    declarations.push(arities);
                }
            }
        }
        declarations
    }

    #[test]
    fn ranges_follow_each_other_and_agree_with_parts() {
        for arities in declarations() {
            let groups = Groups::of(arities.iter().copied());
            for count in (0..8).filter(|&count| groups.accept(count)) {
                let mut next = 0;
                for (part, &arity) in arities.iter().enumerate() {
                    let range = groups.range(part, count);
                    assert_eq!(range.start, next, "{arities:?}, {count} values");
                    next = range.end;
                    let fits = match arity {
                        Arity::One => range.len() == 1,
                        Arity::Optional => range.len() <= 1,
                        Arity::Variadic => true,
                    };
                    assert!(fits, "{arities:?}, {count} values: part {part}");
                    for position in range {
                        assert_eq!(groups.part_of(position, count), Some(part));
                    }
                }
                assert_eq!(next, count, "{arities:?}");
                assert_eq!(groups.parts(count).count(), count);
            }
        }
    }

    #[test]
    fn values_that_are_not_declared_belong_to_no_part() {
        let groups = Groups::of([ONE, ONE]);
        assert_eq!(groups.part_of(2, 3), None);
        assert_eq!(groups.parts(3).collect::<Vec<_>>(), [0, 1]);
        assert!(!groups.accept(1) && !groups.accept(3));
    }

    #[test]
    fn too_few_values_leave_the_last_parts_empty() {
        let groups = Groups::of([ONE, Arity::Variadic, ONE]);
        assert_eq!(groups.range(1, 1), 1..1);
        assert_eq!(groups.range(2, 1), 1..1);
        assert_eq!(groups.parts(1).collect::<Vec<_>>(), [0]);
        assert_eq!(groups.part_of(0, 0), None);
    }

    #[test]
    fn the_counts_are_those_of_the_open_part() {
        let bounds = |arity| {
            let groups = Groups::of([ONE, arity]);
            (groups.least(), groups.most())
        };
        assert_eq!(bounds(ONE), (2, 2));
        assert_eq!(bounds(Arity::Optional), (1, 2));
        assert_eq!(bounds(Arity::Variadic), (1, usize::MAX));
    }
}
