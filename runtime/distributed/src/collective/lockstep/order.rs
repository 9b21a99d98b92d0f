//! The order of turns: the same on all members, without messages of its own.
//!
//! Every member proposes a time for an operation when it starts it: that of its clock, which then
//! advances. The time of the operation is the largest proposal, which all members learn in the
//! agreement; clocks advance to it. Turns are taken by time, then by key.
//!
//! A member knows that nothing comes before an operation once all operations that it has started,
//! and that are not agreed on, were proposed a later time: their time is at least that. Operations
//! that it starts from then on get later times, too.

use std::collections::BTreeMap;

/// The operations of a member that wait for their turns.
#[derive(Debug)]
pub(super) struct Order<T> {
    clock: u64,
    waiting: BTreeMap<(u64, String), State<T>>,
    /// The times at which operations wait, by key.
    times: BTreeMap<String, u64>,
}

#[derive(Debug)]
enum State<T> {
    /// The time is the own proposal.
    Proposed,
    /// The time is final.
    Agreed(T),
}

impl<T> Default for Order<T> {
    fn default() -> Self {
        Self {
            clock: 0,
            waiting: BTreeMap::new(),
            times: BTreeMap::new(),
        }
    }
}

impl<T> Order<T> {
    /// Returns the own proposal for an operation whose key is not in use.
    pub(super) fn propose(&mut self, key: &str) -> u64 {
        self.clock += 1;
        let place = (self.clock, key.to_owned());
        self.waiting.insert(place, State::Proposed);
        self.times.insert(key.to_owned(), self.clock);
        self.clock
    }

    /// Returns the largest proposal that members may make. Beyond it, clocks would come to an end.
    pub(super) const MAX_TIME: u64 = u64::MAX / 2;

    /// Sets the time of an operation, and returns those whose turn it is.
    pub(super) fn agree(&mut self, key: &str, time: u64, operation: T) -> Vec<T> {
        self.forget(key);
        self.clock = self.clock.max(time);
        let place = (time, key.to_owned());
        self.waiting.insert(place, State::Agreed(operation));
        self.times.insert(key.to_owned(), time);
        self.ready()
    }

    /// Drops an operation that is not agreed on, and returns those whose turn it is.
    pub(super) fn cancel(&mut self, key: &str) -> Vec<T> {
        self.forget(key);
        self.ready()
    }

    fn forget(&mut self, key: &str) {
        if let Some(time) = self.times.remove(key) {
            self.waiting.remove(&(time, key.to_owned()));
        }
    }

    fn ready(&mut self) -> Vec<T> {
        let mut ready = Vec::new();
        while let Some(first) = self.waiting.first_entry() {
            if let State::Proposed = first.get() {
                break;
            }
            let ((_, key), state) = first.remove_entry();
            self.times.remove(&key);
            if let State::Agreed(operation) = state {
                ready.push(operation);
            }
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, the same in every run.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (self.0 >> 33) as usize % limit
        }
    }

    /// A member with what it has proposed, and the turns that it has taken.
    #[derive(Default)]
    struct Member {
        order: Order<usize>,
        to_start: Vec<usize>,
        taken: Vec<usize>,
    }

    #[test]
    fn all_members_take_the_same_turns() {
        for seed in 0..300 {
            let mut random = Numbers(seed);
            let (size, count) = (random.below(4) + 1, random.below(12) + 1);
            let mut members: Vec<Member> = (0..size).map(|_| Member::default()).collect();
            for member in &mut members {
                member.to_start = (0..count).collect();
            }
            // The proposals for each operation, and the agreements under way to each member.
            let mut proposals: Vec<Vec<u64>> = vec![Vec::new(); count];
            let mut under_way: Vec<(usize, usize, u64)> = Vec::new();
            let cancelled = random.below(2 * count);
            loop {
                let can_start: Vec<usize> = (0..size)
                    .filter(|member| !members[*member].to_start.is_empty())
                    .collect();
                if can_start.is_empty() && under_way.is_empty() {
                    break;
                }
                let starts = under_way.is_empty() || random.below(2) == 0;
                if starts && !can_start.is_empty() {
                    let member = &mut members[can_start[random.below(can_start.len())]];
                    let which = random.below(member.to_start.len());
                    let operation = member.to_start.swap_remove(which);
                    let time = member.order.propose(&operation.to_string());
                    proposals[operation].push(time);
                    if proposals[operation].len() == size {
                        let time = proposals[operation].iter().copied().max().unwrap();
                        under_way.extend((0..size).map(|to| (to, operation, time)));
                    }
                } else if !under_way.is_empty() {
                    let which = random.below(under_way.len());
                    let (to, operation, time) = under_way.swap_remove(which);
                    let key = operation.to_string();
                    let member = &mut members[to];
                    let ready = match operation == cancelled {
                        true => member.order.cancel(&key),
                        false => member.order.agree(&key, time, operation),
                    };
                    member.taken.extend(ready);
                }
            }
            let expected = count - usize::from(cancelled < count);
            for member in &members {
                assert_eq!(member.taken, members[0].taken, "seed {seed}");
                assert_eq!(member.taken.len(), expected, "seed {seed}");
                assert!(member.order.waiting.is_empty() && member.order.times.is_empty());
            }
        }
    }
}
