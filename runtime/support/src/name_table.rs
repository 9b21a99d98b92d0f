//! A table of named entries that is cheap to fill, because it is filled whenever a program starts.
//!
//! Most of the hundreds of kernels and ops are never looked up, so nothing is sorted until an order
//! is needed. The table probes linearly, from the slot that the hash of a name selects. The hash is
//! not keyed: the authors of kernels choose the names in the table, while files can only look names
//! up.

/// An entry of a [`NameTable`].
pub trait Named {
    /// Returns the name, which no other entry of the table has.
    fn name(&self) -> &'static str;
}

/// Entries by name.
///
/// ```
/// use tfrt_support::name_table::{NameTable, Named};
///
/// #[derive(Debug)]
/// struct Op(&'static str);
///
/// impl Named for Op {
///     fn name(&self) -> &'static str {
///         self.0
///     }
/// }
///
/// let mut ops = NameTable::new();
/// assert!(ops.add(Op("my.sub")).is_ok() && ops.add(Op("my.add")).is_ok());
/// assert!(ops.get("my.add").is_some() && ops.get("my.mul").is_none());
/// assert_eq!(ops.sorted().map(Named::name).collect::<Vec<_>>(), ["my.add", "my.sub"]);
/// ```
#[derive(Clone, Debug)]
pub struct NameTable<T> {
    /// In the order in which they were added.
    entries: Vec<T>,
    /// A power of two of them, at most half of them taken; none if there are no entries.
    slots: Vec<Slot>,
}

/// A place of a [`NameTable`]: the hash of a name in the upper half, one more than the position of
/// its entry in the lower half; 0 if it is free. It is a plain number because zeroed memory is
/// cheap.
type Slot = u64;

fn slot_of(hash: u32, number: u32) -> Slot {
    u64::from(hash) << 32 | u64::from(number)
}

fn hash_in(slot: Slot) -> u32 {
    (slot >> 32) as u32
}

/// Returns the position of the entry of a slot that is taken.
fn position_in(slot: Slot) -> usize {
    (slot as u32 - 1) as usize
}

impl<T> NameTable<T> {
    /// Creates an empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            entries: Vec::new(),
            slots: Vec::new(),
        }
    }
}

impl<T> Default for NameTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Named> NameTable<T> {
    /// Makes room for `num_more` entries.
    pub fn reserve(&mut self, num_more: usize) {
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

    /// Adds an entry.
    ///
    /// # Errors
    /// The entry that has the name already. The table is then unchanged.
    ///
    /// # Panics
    /// If the table has 2³² - 1 entries.
    pub fn add(&mut self, entry: T) -> Result<(), &T> {
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

    /// Returns the entry of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.position(name).map(|position| &self.entries[position])
    }

    /// Returns the position of the entry of this name among the [entries](Self::entries).
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = self.slots[self.find(hash_of(name), name)];
        (slot != 0).then(|| position_in(slot))
    }

    /// Returns all entries, in the order in which they were added.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// Returns all entries, by name.
    pub fn sorted(&self) -> impl Iterator<Item = &T> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_unstable_by_key(|entry| entry.name());
        entries.into_iter()
    }

    /// Returns the slot of `name`, or else the free one where it belongs.
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

/// Mixes a name, eight bytes at a time. Names of kernels differ in few letters, at the end more
/// often than not.
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
    struct NamedSize(&'static str, usize);

    impl Named for NamedSize {
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
            assert_eq!(table.add(NamedSize(name, number)), Ok(()));
        }
        for (number, name) in names.iter().enumerate() {
            assert_eq!(table.get(name), Some(&NamedSize(name, number)));
        }
        for name in ["", "tfrt.kernel_1000.i32", "tfrt.kernel_1.i3"] {
            assert_eq!(table.get(name), None);
        }
    }

    #[test]
    fn a_name_that_is_taken_stays_with_its_entry() {
        let mut table = NameTable::new();
        assert_eq!(table.add(NamedSize("a", 1)), Ok(()));
        assert_eq!(table.add(NamedSize("a", 2)), Err(&NamedSize("a", 1)));
        assert_eq!(table.get("a"), Some(&NamedSize("a", 1)));
        assert_eq!(table.sorted().count(), 1);
    }

    #[test]
    fn entries_are_sorted_by_name() {
        let mut table = NameTable::new();
        for name in ["b", "", "c", "a"] {
            assert_eq!(table.add(NamedSize(name, 0)), Ok(()));
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
