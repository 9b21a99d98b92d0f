//! A table of things that have names: as cheap to fill as may be, for it is filled whenever a program starts.
//!
//! Most of the hundreds of kernels are never looked up, so nothing is sorted until an order is needed. The table probes
//! linearly, from where the hash of a name says. What the names hash to may be chosen by whoever links kernels, not by files:
//! a file can only look names up.

/// What is in a [`NameTable`].
pub(super) trait Named {
    /// Its name, which nothing else in the table has.
    fn name(&self) -> &'static str;
}

/// Things by name.
#[derive(Clone, Debug)]
pub(super) struct NameTable<T> {
    /// In the order in which they were added.
    entries: Vec<T>,
    /// A power of two of them, at most half of them taken; none if there are no entries.
    slots: Vec<Slot>,
}

/// A place of a [`NameTable`]: the hash of a name above, one more than the position of its entry below; 0 if it is free. A number,
/// since numbers that are 0 are had in bulk for nothing.
type Slot = u64;

fn slot_of(hash: u32, number: u32) -> Slot {
    u64::from(hash) << 32 | u64::from(number)
}

fn hash_in(slot: Slot) -> u32 {
    (slot >> 32) as u32
}

/// The position of the entry of a slot that is taken.
fn position_in(slot: Slot) -> usize {
    (slot as u32 - 1) as usize
}

impl<T> NameTable<T> {
    /// An empty table.
    pub(super) const fn new() -> Self {
        Self {
            entries: Vec::new(),
            slots: Vec::new(),
        }
    }
}

impl<T: Named> NameTable<T> {
    /// Makes room for `num_more` entries.
    pub(super) fn reserve(&mut self, num_more: usize) {
        let num_slots = (self.entries.len() + num_more) * 2;
        if num_slots <= self.slots.len() {
            return;
        }
        self.entries.reserve(num_more);
        let taken = std::mem::replace(&mut self.slots, vec![0; num_slots.next_power_of_two()]);
        for slot in taken.into_iter().filter(|slot| *slot != 0) {
            let mut index = self.start_of(hash_in(slot));
            while self.slots[index] != 0 {
                index = self.next(index);
            }
            self.slots[index] = slot;
        }
    }

    /// Adds an entry, or gives the one that has the name, and leaves the table as it is.
    pub(super) fn add(&mut self, entry: T) -> Result<(), &T> {
        self.reserve(1);
        let hash = hash_of(entry.name());
        let index = self.find(hash, entry.name());
        if self.slots[index] != 0 {
            return Err(&self.entries[position_in(self.slots[index])]);
        }
        self.entries.push(entry);
        let number = u32::try_from(self.entries.len()).expect("names are linked, so they are few");
        self.slots[index] = slot_of(hash, number);
        Ok(())
    }

    /// The entry of this name.
    pub(super) fn get(&self, name: &str) -> Option<&T> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.find(hash_of(name), name)];
        (slot != 0).then(|| &self.entries[position_in(slot)])
    }

    /// All entries, in the order in which they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.entries.iter()
    }

    /// All entries, by name.
    pub(super) fn sorted(&self) -> impl Iterator<Item = &T> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|entry| entry.name());
        entries.into_iter()
    }

    /// The slot of `name`, or else the free one where it belongs.
    fn find(&self, hash: u32, name: &str) -> usize {
        let mut index = self.start_of(hash);
        loop {
            let slot = self.slots[index];
            let is_it = || self.entries[position_in(slot)].name() == name;
            if slot == 0 || hash_in(slot) == hash && is_it() {
                return index;
            }
            index = self.next(index);
        }
    }

    fn start_of(&self, hash: u32) -> usize {
        hash as usize & (self.slots.len() - 1)
    }

    fn next(&self, index: usize) -> usize {
        (index + 1) & (self.slots.len() - 1)
    }
}

/// Mixes a name, eight bytes at a time. Names of kernels differ in few letters, at the end more often than not.
fn hash_of(name: &str) -> u32 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let bytes = name.as_bytes();
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(bytes.len() as u64, |hash, word| {
        mix(hash, u64::from_le_bytes(*word))
    });
    // What is left is mixed with what stands before it, which saves going through it byte by byte.
    let last = match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last),
        None => rest
            .iter()
            .fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    // The upper half is where the factor mixes best.
    (mix(hash, last) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq)]
    struct Entry(&'static str, usize);

    impl Named for Entry {
        fn name(&self) -> &'static str {
            self.0
        }
    }

    fn names(num_names: usize) -> Vec<&'static str> {
        (0..num_names)
            .map(|number| &*format!("tfrt.kernel_{number}.i32").leak())
            .collect()
    }

    #[test]
    fn every_entry_is_found_and_nothing_else() {
        let mut table = NameTable::new();
        assert_eq!(table.get("tfrt.kernel_0.i32"), None);
        let names = names(1000);
        for (number, name) in names.iter().enumerate() {
            assert_eq!(table.add(Entry(name, number)), Ok(()));
        }
        for (number, name) in names.iter().enumerate() {
            assert_eq!(table.get(name), Some(&Entry(name, number)));
        }
        for name in ["", "tfrt.kernel_1000.i32", "tfrt.kernel_1.i3"] {
            assert_eq!(table.get(name), None);
        }
    }

    #[test]
    fn a_name_that_is_taken_stays_with_its_entry() {
        let mut table = NameTable::new();
        assert_eq!(table.add(Entry("a", 1)), Ok(()));
        assert_eq!(table.add(Entry("a", 2)), Err(&Entry("a", 1)));
        assert_eq!(table.get("a"), Some(&Entry("a", 1)));
        assert_eq!(table.sorted().count(), 1);
    }

    #[test]
    fn entries_are_sorted_by_name() {
        let mut table = NameTable::new();
        for name in ["b", "", "c", "a"] {
            assert_eq!(table.add(Entry(name, 0)), Ok(()));
        }
        let sorted: Vec<_> = table.sorted().map(Named::name).collect();
        assert_eq!(sorted, ["", "a", "b", "c"]);
    }

    #[test]
    fn names_of_any_length_hash_apart() {
        let mut hashes: Vec<_> = names(10_000).into_iter().map(hash_of).collect();
        hashes.extend((0..40).map(|len| hash_of(&"\0".repeat(len))));
        hashes.sort_unstable();
        hashes.dedup();
        assert!(hashes.len() > 10_035, "{}", hashes.len());
    }
}
