//! The uses of keys: collectives with one key, one after the other.
//!
//! ```text
//!   key "sum"    use 0 ──► ends ──► use 1 ──► fails ──► use 2 …    the same on all members
//! ```
//!
//! A collective that fails on a member leaves messages behind, and some arrive when others have
//! ended it already. Messages tell which use of their key they belong to. Those of a use that has
//! ended here are dropped, so the next collective with the key starts without them.
//!
//! Every member counts for itself, which needs no message: all members start the same collectives.
//! A member keeps the counts of the keys that ended last, and refers to fewer of them:
//!
//! U1. Two members that compare numbers of uses have both kept them, unless one of them has ended
//! thousands of collectives of the group that the other one has not. Whoever has no count, or one
//! that began after earlier uses were forgotten, compares nothing, and takes every message for one
//! of the use in progress.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tfrt_support::fnv::Fnv1a;

use super::abandonment::{Abandonment, abandoned};
use super::all_gather::key_of_tensors;
use super::header::Header;
use super::sent::Sent;
use crate::payload::Payload;

/// The number of ends in a group that a member keeps.
const NUM_KEPT: usize = 4096;

/// The number of ends in a group after which a member does not refer to a count any more.
const NUM_COMPARED: u64 = 512;

/// A use of a key as messages have it.
///
/// ```text
///   bits 31 … 8: hash of the key, never 0       7 … 0: number of the use, modulo 256
/// ```
///
/// 0 is the use of nothing in particular: that of older versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyUse(u32);

/// What a message belongs to, as seen from a use of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Belongs {
    /// To a use that has ended.
    Past,
    Present,
    /// To one of those that follow.
    Future,
}

impl KeyUse {
    fn new(key: &str, number: u8) -> Self {
        Self(hash_of(key) | u32::from(number))
    }

    pub(super) const fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    /// Returns `true` for a use of this key. Other keys may have it, too, but few.
    fn is_of(self, key: &str) -> bool {
        self.0 & !0xff == hash_of(key)
    }

    /// Returns the number of uses from this one to a later one of the same key.
    fn distance_to(self, later: Self) -> i8 {
        // Numbers wrap around.
        later.number().wrapping_sub(self.number()).cast_signed()
    }

    const fn number(self) -> u8 {
        (self.0 & 0xff) as u8
    }
}

fn hash_of(key: &str) -> u32 {
    let hash = Fnv1a::of(key.as_bytes());
    // The upper half is mixed as well as the lower one.
    let folded = ((hash >> 32) ^ hash) as u32;
    (folded << 8).max(1 << 8)
}

/// The use of a key that a member takes part in.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnUse {
    key_use: KeyUse,
    /// Whether it can be compared with those of other members.
    is_known: bool,
    follows_failure: bool,
}

impl OwnUse {
    /// Returns the use as messages have it.
    pub(super) fn key_use(self) -> KeyUse {
        self.key_use
    }

    /// Returns `true` if an earlier use of the key [has failed](Uses::end_failed).
    pub(super) fn follows_failure(self) -> bool {
        self.follows_failure
    }

    /// Returns what a message with a use of the same key belongs to.
    pub(super) fn compare(self, message: KeyUse) -> Belongs {
        if !self.is_known || message == KeyUse::default() {
            return Belongs::Present;
        }
        match message.distance_to(self.key_use) {
            1.. => Belongs::Past,
            0 => Belongs::Present,
            _ => Belongs::Future,
        }
    }
}

/// The uses that have ended on this task, by group and key.
#[derive(Debug, Default)]
pub(crate) struct Uses(Mutex<HashMap<String, OfGroup>>);

#[derive(Debug, Default)]
struct OfGroup {
    by_key: HashMap<Arc<str>, Count>,
    /// The ends that are kept, in order.
    ends: VecDeque<Arc<str>>,
    /// The number of all ends.
    num_ends: u64,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    /// The number of uses that have ended, modulo 256.
    num_ended: u8,
    /// The number of ends in the group before the last one of the key.
    last: u64,
    /// Whether earlier uses were forgotten: the number may differ from those of other members.
    is_unsure: bool,
    /// Whether a use has failed.
    has_failed: bool,
}

impl OfGroup {
    fn current(&self, key: &str) -> OwnUse {
        let count = self.by_key.get(key);
        let is_known = match count {
            Some(count) => !count.is_unsure && self.num_ends - count.last <= NUM_COMPARED,
            // Nothing was forgotten: it is the first use.
            None => self.num_ends as usize <= NUM_KEPT,
        };
        let number = count.map_or(0, |count| count.num_ended);
        OwnUse {
            key_use: KeyUse::new(key, number),
            is_known,
            follows_failure: count.is_some_and(|count| count.has_failed),
        }
    }

    fn end(&mut self, key: &str, has_failed: bool) {
        let is_unsure = !self.current(key).is_known;
        let key: Arc<str> = Arc::from(key);
        let last = self.num_ends;
        self.num_ends += 1;
        self.ends.push_back(Arc::clone(&key));
        let count = self.by_key.entry(key).or_insert(Count {
            num_ended: 0,
            last,
            is_unsure: false,
            has_failed: false,
        });
        count.num_ended = count.num_ended.wrapping_add(1);
        count.last = last;
        count.is_unsure |= is_unsure;
        count.has_failed |= has_failed;
        if self.ends.len() > NUM_KEPT
            && let Some(oldest) = self.ends.pop_front()
        {
            let forgotten = self.num_ends - NUM_KEPT as u64;
            if self
                .by_key
                .get(&oldest)
                .is_some_and(|count| count.last < forgotten)
            {
                self.by_key.remove(&oldest);
            }
        }
    }
}

impl Uses {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, OfGroup>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the use of a key that is in progress, or the next one.
    pub(super) fn current(&self, group: &str, key: &str) -> OwnUse {
        let key = key_of_tensors(key);
        let groups = self.lock();
        let of_group = groups.get(group);
        of_group.map_or_else(|| OfGroup::default().current(key), |of| of.current(key))
    }

    /// Ends the use of a key.
    pub(super) fn end(&self, group: &str, key: &str) {
        self.end_as(group, key, false);
    }

    /// Ends the use of a key, and remembers that it has failed.
    pub(super) fn end_failed(&self, group: &str, key: &str) {
        self.end_as(group, key, true);
    }

    fn end_as(&self, group: &str, key: &str, has_failed: bool) {
        let mut groups = self.lock();
        if !groups.contains_key(group) {
            groups.insert(group.to_owned(), OfGroup::default());
        }
        if let Some(of_group) = groups.get_mut(group) {
            of_group.end(key_of_tensors(key), has_failed);
        }
    }

    /// Forgets the keys of a group, and those of its pairs of members.
    pub(super) fn forget(&self, group: &str) {
        let is_of = |name: &str| {
            let rest = name.strip_prefix(group);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        };
        self.lock().retain(|name, _| !is_of(name));
    }

    /// Returns what a message with a use of a key belongs to, if it is of that key.
    fn belongs(&self, group: &str, key: &str, key_use: KeyUse) -> Option<Belongs> {
        let key = key_of_tensors(key);
        let compare = || self.current(group, key).compare(key_use);
        key_use.is_of(key).then(compare)
    }

    /// Returns `true` for the abandonment of a use that is not the next one yet. It has to come
    /// again: that of the use before would take its place.
    pub(crate) fn is_early_for(&self, payload_key: &str, payload: &Payload) -> bool {
        let belongs = match abandoned(payload_key) {
            Some((group, key)) => {
                let key_use = Abandonment::of_payload(payload).key_use;
                self.belongs(group, key, key_use)
            }
            None => match Sent::with_use(payload_key, payload) {
                Some((key, Sent::Abandonment(abandonment))) => {
                    self.belongs(&key.pair, &key.payload, abandonment.key_use)
                }
                _ => None,
            },
        };
        belongs == Some(Belongs::Future)
    }

    /// Returns `true` for a payload that belongs to a use that has ended.
    pub(crate) fn are_over_for(&self, payload_key: &str, payload: &Payload) -> bool {
        let is_over = |group: &str, key: &str, key_use: KeyUse| {
            self.belongs(group, key, key_use) == Some(Belongs::Past)
        };
        if let Some((group, key)) = abandoned(payload_key) {
            return is_over(group, key, Abandonment::of_payload(payload).key_use);
        }
        if let Some((key, sent)) = Sent::with_use(payload_key, payload) {
            return is_over(&key.pair, &key.payload, sent.key_use());
        }
        let Some((group, rest)) = payload_key.split_once(':') else {
            return false;
        };
        let [header, _] = payload.buffers() else {
            return false;
        };
        let header = header.read().ok().and_then(|bytes| Header::parse(&bytes));
        let Some(Header { key_use, .. }) = header.filter(|header| header.key_use.0 != 0) else {
            return false;
        };
        // Some messages have the group twice, and up to three numbers follow the key.
        let again = rest.strip_prefix(group);
        let again = again.and_then(|rest| rest.strip_prefix(':'));
        [Some(rest), again].into_iter().flatten().any(|rest| {
            let numbers = rest.rmatch_indices(':').take(3);
            numbers
                .map(|(end, _)| &rest[..end])
                .any(|key| is_over(group, key, key_use))
        })
    }
}

#[cfg(test)]
mod tests {
    use tfrt_tensor::HostBuffer;

    use super::super::sent::{self, SendKey};
    use super::*;

    fn compare(uses: &Uses, key: &str, number: u8) -> Belongs {
        uses.current("g", key).compare(KeyUse::new(key, number))
    }

    #[test]
    fn uses_are_counted_by_group_and_key() {
        let uses = Uses::default();
        assert_eq!(compare(&uses, "a", 0), Belongs::Present);
        assert_eq!(compare(&uses, "a", 1), Belongs::Future);
        for _ in 0..300 {
            uses.end("g", "a");
        }
        // 300 is 44 modulo 256.
        assert_eq!(uses.current("g", "a").key_use(), KeyUse::new("a", 44));
        assert_eq!(compare(&uses, "a", 43), Belongs::Past);
        assert_eq!(compare(&uses, "a", 255), Belongs::Past);
        assert_eq!(compare(&uses, "a", 44), Belongs::Present);
        assert_eq!(compare(&uses, "a", 45), Belongs::Future);
        assert_eq!(compare(&uses, "b", 0), Belongs::Present);
        let other = uses.current("h", "a");
        assert_eq!(other.key_use(), KeyUse::new("a", 0));
        // Older versions say nothing.
        let silent = uses.current("g", "a").compare(KeyUse::default());
        assert_eq!(silent, Belongs::Present);
        uses.forget("g");
        assert_eq!(uses.current("g", "a").key_use(), KeyUse::new("a", 0));
    }

    #[test]
    fn abandonments_of_later_uses_are_early() {
        let uses = Uses::default();
        uses.end("g", "a");
        let check = |number: u8, expected: [bool; 2]| {
            let abandonment = Abandonment {
                error: tfrt_support::Error::new("failed"),
                key_use: KeyUse::new("a", number),
            };
            let buffers = abandonment.to_buffers().map(HostBuffer::from_owner);
            let payload = Payload::new(buffers.into_iter().flatten().collect());
            let key = "~abandoned:g:a";
            let found = [
                uses.are_over_for(key, &payload),
                uses.is_early_for(key, &payload),
            ];
            assert_eq!(found, expected, "{number}");
        };
        check(0, [true, false]);
        check(1, [false, false]);
        check(2, [false, true]);
    }

    #[test]
    fn uses_of_sends_are_those_of_a_pair() {
        let (uses, key) = (Uses::default(), SendKey::new("g~epoch0", "k", 1, 0));
        let belongs = |numbered: &Payload| {
            [
                uses.are_over_for(&key.payload, numbered),
                uses.is_early_for(&key.payload, numbered),
            ]
        };
        let of_use = |number: u8| KeyUse::new(&key.payload, number);
        let tensor =
            |number: u8| sent::payload_of(vec![vec![], vec![], sent::use_buffer(of_use(number))]);
        let abandonment = |number: u8| {
            let abandonment = Abandonment {
                error: tfrt_support::Error::new("failed"),
                key_use: of_use(number),
            };
            sent::payload_of(sent::abandonment_buffers(&abandonment))
        };
        let follows = || uses.current(&key.pair, &key.payload).follows_failure();
        uses.end(&key.pair, &key.payload);
        assert!(!follows());
        uses.end_failed(&key.pair, &key.payload);
        assert!(follows());
        assert_eq!(belongs(&tensor(1)), [true, false]);
        assert_eq!(belongs(&abandonment(1)), [true, false]);
        assert_eq!(belongs(&tensor(2)), [false, false]);
        // A tensor ends the receive of the lost one before it; an abandonment waits for its turn.
        assert_eq!(belongs(&tensor(3)), [false, false]);
        assert_eq!(belongs(&abandonment(3)), [false, true]);
        assert_eq!(
            belongs(&sent::payload_of(vec![vec![], vec![]])),
            [false, false]
        );
        // Other members do not count them.
        assert_eq!(uses.lock().len(), 1);
        uses.forget("g~epoch");
        assert!(follows());
        uses.forget("g~epoch0");
        assert!(uses.lock().is_empty());
    }

    #[test]
    fn the_shapes_of_a_gathering_have_the_use_of_its_tensors() {
        let uses = Uses::default();
        uses.end("g", "k");
        let of_shapes = uses.current("g", "gather_shapes:k:0");
        assert_eq!(of_shapes.key_use(), KeyUse::new("k", 1));
    }

    #[test]
    fn old_keys_are_forgotten_and_nothing_is_compared_with_them() {
        let uses = Uses::default();
        uses.end("g", "a");
        for number in 0..NUM_COMPARED {
            assert_eq!(compare(&uses, "a", 0), Belongs::Past, "{number}");
            uses.end("g", &number.to_string());
        }
        // Kept, and told to others, who may know more.
        assert_eq!(uses.current("g", "a").key_use(), KeyUse::new("a", 1));
        assert_eq!(compare(&uses, "a", 0), Belongs::Present);
        for number in 0..NUM_KEPT {
            uses.end("g", &number.to_string());
        }
        assert_eq!(uses.current("g", "a").key_use(), KeyUse::new("a", 0));
        assert_eq!(compare(&uses, "a", 9), Belongs::Present);
        // Others may have kept the uses that were forgotten here.
        uses.end("g", "a");
        assert_eq!(compare(&uses, "a", 0), Belongs::Present);
        assert_eq!(compare(&uses, "a", 9), Belongs::Present);
        let groups = uses.lock();
        assert_eq!(groups["g"].ends.len(), NUM_KEPT);
        assert!(groups["g"].by_key.len() <= NUM_KEPT);
    }
}
