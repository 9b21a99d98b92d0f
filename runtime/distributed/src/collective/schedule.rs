//! Algorithms of reductions, as schedules: what each member does, step by step.
//!
//! # Tree
//!
//! Members combine their elements along a binomial tree, whose root sends the result back along it.
//!
//! ```text
//!  0 ◄─ 1   2 ◄─ 3   4 ◄─ 5        ((x0 ⊕ x1) ⊕ (x2 ⊕ x3)) ⊕ (x4 ⊕ x5)
//!  0 ◄───── 2        4
//!  0 ◄────────────── 4             then 0 sends the result to 4, 2, 1, and so on
//! ```
//!
//! # Recursive doubling
//!
//! Members exchange what they have with a partner: at distance 1, then 2, then 4 and so on. If
//! their number is not a power of two, some members give their elements to a neighbour first, and
//! get the result at the end.
//!
//! ```text
//!  0 ◄─► 1   2 ◄─► 3               on all four: (x0 ⊕ x1) ⊕ (x2 ⊕ x3)
//!  0 ◄─────► 2
//!      1 ◄─────► 3
//! ```
//!
//! Every message has all elements. So both take few steps, which counts for small tensors, but send
//! more bytes than the ring. They combine elements in an order other than that of the ring, so the
//! last bits of results may differ from it. The order does not depend on timing, and all members
//! get equal bits: partners combine the elements of lower members first.

/// How the members of a group reduce tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Algorithm {
    /// Chunk by chunk around the ring.
    Ring,
    Tree,
    RecursiveDoubling,
}

/// One step of a member. Between two members there is at most one message in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Sends the elements to a member.
    Send(usize),
    /// Combines the elements with those of a member, whose elements come first if it is lower.
    Combine(usize),
    /// Computes the result from the combined elements of all.
    Finish,
    /// Gets the result from a member.
    Take(usize),
}

impl Algorithm {
    /// Returns the steps of the member at a position; none for the ring.
    pub(super) fn steps(self, index: usize, size: usize) -> Vec<Step> {
        match self {
            Self::Ring => Vec::new(),
            Self::Tree => tree(index, size),
            Self::RecursiveDoubling => recursive_doubling(index, size),
        }
    }
}

/// Returns the powers of two below a number, from 1 on.
fn powers_below(limit: usize) -> impl DoubleEndedIterator<Item = usize> + Clone {
    let count = limit.next_power_of_two().trailing_zeros();
    (0..count).map(|exponent| 1 << exponent)
}

fn tree(index: usize, size: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    // The children of a member are at smaller distances than its parent.
    let is_above = |distance: &usize| index & distance == 0;
    let distances = powers_below(size).take_while(is_above);
    let children = distances.filter(|distance| index + distance < size);
    steps.extend(children.clone().map(|child| Step::Combine(index + child)));
    match index {
        0 => steps.push(Step::Finish),
        _ => {
            let parent = index & (index - 1);
            steps.extend([Step::Send(parent), Step::Take(parent)]);
        }
    }
    // The member with the most members below it first.
    let children: Vec<usize> = children.collect();
    steps.extend(children.iter().rev().map(|child| Step::Send(index + child)));
    steps
}

fn recursive_doubling(index: usize, size: usize) -> Vec<Step> {
    let num_partners = match size.is_power_of_two() {
        true => size,
        false => size.next_power_of_two() / 2,
    };
    // The first members form pairs, of which one takes part.
    let num_pairs = size - num_partners;
    if index < 2 * num_pairs && index.is_multiple_of(2) {
        return vec![Step::Send(index + 1), Step::Take(index + 1)];
    }
    let is_in_pair = index < 2 * num_pairs;
    let rank = match is_in_pair {
        true => index / 2,
        false => index - num_pairs,
    };
    let member_of = |rank: usize| match rank < num_pairs {
        true => 2 * rank + 1,
        false => rank + num_pairs,
    };
    let mut steps = Vec::new();
    if is_in_pair {
        steps.push(Step::Combine(index - 1));
    }
    for distance in powers_below(num_partners) {
        let partner = member_of(rank ^ distance);
        steps.extend([Step::Send(partner), Step::Combine(partner)]);
    }
    steps.push(Step::Finish);
    if is_in_pair {
        steps.push(Step::Send(index - 1));
    }
    steps
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, VecDeque};

    use super::*;

    /// Runs the steps of all members. Returns what each member combined, in order.
    fn simulate(algorithm: Algorithm, size: usize) -> Vec<String> {
        let mut left: Vec<VecDeque<Step>> = (0..size)
            .map(|index| algorithm.steps(index, size).into())
            .collect();
        let mut values: Vec<String> = (0..size).map(|index| index.to_string()).collect();
        let mut under_way: HashMap<(usize, usize), String> = HashMap::new();
        let mut has_moved = true;
        while std::mem::take(&mut has_moved) {
            for index in 0..size {
                let value = &mut values[index];
                let is_done = match left[index].front().copied() {
                    None => continue,
                    Some(Step::Send(to)) => {
                        let before = under_way.insert((index, to), value.clone());
                        assert_eq!(before, None, "two messages from {index} to {to}");
                        true
                    }
                    Some(Step::Combine(from)) => match under_way.remove(&(from, index)) {
                        Some(theirs) if from < index => {
                            *value = format!("({theirs}+{value})");
                            true
                        }
                        Some(theirs) => {
                            *value = format!("({value}+{theirs})");
                            true
                        }
                        None => false,
                    },
                    Some(Step::Finish) => true,
                    Some(Step::Take(from)) => match under_way.remove(&(from, index)) {
                        Some(result) => {
                            *value = result;
                            true
                        }
                        None => false,
                    },
                };
                if is_done {
                    left[index].pop_front();
                    has_moved = true;
                }
            }
        }
        assert!(left.iter().all(VecDeque::is_empty), "{algorithm:?} {size}");
        assert!(under_way.is_empty(), "{algorithm:?} {size}");
        values
    }

    #[test]
    fn all_members_get_the_elements_of_all_in_the_same_order() {
        for algorithm in [Algorithm::Tree, Algorithm::RecursiveDoubling] {
            for size in 1..=33 {
                let values = simulate(algorithm, size);
                assert!(values.iter().all(|value| *value == values[0]));
                let mut members: Vec<usize> = values[0]
                    .split(|c: char| !c.is_ascii_digit())
                    .filter_map(|member| member.parse().ok())
                    .collect();
                // Each once; combined in order, because a function need not be commutative.
                assert!(members.is_sorted(), "{algorithm:?} {size}: {}", values[0]);
                members.dedup();
                assert_eq!(members.len(), size, "{algorithm:?} {size}");
            }
        }
    }

    #[test]
    fn orders_are_as_documented() {
        assert_eq!(simulate(Algorithm::Tree, 6)[0], "(((0+1)+(2+3))+(4+5))");
        let doubled = simulate(Algorithm::RecursiveDoubling, 6);
        assert_eq!(doubled[5], "(((0+1)+(2+3))+(4+5))");
        assert_eq!(
            simulate(Algorithm::RecursiveDoubling, 4)[3],
            "((0+1)+(2+3))"
        );
    }

    #[test]
    fn the_number_of_messages_that_a_member_waits_for_is_logarithmic() {
        for size in [2_usize, 3, 8, 9, 64, 100] {
            let log = size.next_power_of_two().trailing_zeros() as usize;
            for algorithm in [Algorithm::Tree, Algorithm::RecursiveDoubling] {
                for index in 0..size {
                    let steps = algorithm.steps(index, size);
                    let waits = |step: &&Step| matches!(step, Step::Combine(_) | Step::Take(_));
                    assert!(steps.iter().filter(waits).count() <= log + 1);
                }
            }
        }
    }
}
