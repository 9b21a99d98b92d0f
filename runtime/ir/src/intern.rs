//! Interning: equal values get the same id, so comparing ids compares values.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};

use tfrt_support::entity::{EntityId, PrimaryMap};
use tfrt_support::id_map::IdMap;

/// A table of distinct values, each kept once: some have the weights of a model. It never shrinks.
#[derive(Clone)]
pub(crate) struct Interner<K, V> {
    values: PrimaryMap<K, V>,
    /// Each value by its hash, or by the next number that is free.
    ids: IdMap<u64, K>,
    hasher: RandomState,
}

impl<K: EntityId, V: Eq + Hash> Interner<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            values: PrimaryMap::new(),
            ids: IdMap::default(),
            hasher: RandomState::new(),
        }
    }

    /// Returns the id of `value`, and `true` if it is new.
    pub(crate) fn intern(&mut self, value: V) -> (K, bool) {
        match self.look_up(&value) {
            Ok(id) => (id, false),
            Err(free) => {
                let id = self.values.push(value);
                self.ids.insert(free, id);
                (id, true)
            }
        }
    }

    pub(crate) fn get(&self, id: K) -> &V {
        &self.values[id]
    }

    /// Returns the id of an equal value, if there is one.
    pub(crate) fn find<Q>(&self, value: &Q) -> Option<K>
    where
        V: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.look_up(value).ok()
    }

    /// Returns the id of an equal value, or else the number that it would have in `ids`.
    fn look_up<Q>(&self, value: &Q) -> Result<K, u64>
    where
        V: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        let mut number = self.hasher.hash_one(value);
        // Values are never removed, so an equal one is in front of the first number that is free.
        while let Some(&id) = self.ids.get(&number) {
            if self.values[id].borrow() == value {
                return Ok(id);
            }
            number = number.wrapping_add(1);
        }
        Err(number)
    }
}

impl<K: EntityId, V: fmt::Debug> fmt::Debug for Interner<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::hash::Hasher;
    use std::rc::Rc;

    use super::*;
    use crate::ids::NameId;

    #[test]
    fn a_clone_copies_each_value_once() {
        /// A number that counts its copies.
        struct Counted(u32, Rc<Cell<usize>>);

        impl Clone for Counted {
            fn clone(&self) -> Self {
                self.1.set(self.1.get() + 1);
                Self(self.0, Rc::clone(&self.1))
            }
        }

        impl PartialEq for Counted {
            fn eq(&self, other: &Self) -> bool {
                self.0 == other.0
            }
        }

        impl Eq for Counted {}

        impl Hash for Counted {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                self.0.hash(hasher);
            }
        }

        let num_copies = Rc::new(Cell::new(0));
        let mut interner = Interner::<NameId, Counted>::new();
        for number in [1, 2, 1, 3] {
            interner.intern(Counted(number, Rc::clone(&num_copies)));
        }
        assert_eq!(num_copies.get(), 0);
        let mut copy = interner.clone();
        assert_eq!(num_copies.get(), 3);
        let again = |interner: &mut Interner<NameId, Counted>| {
            [3, 4].map(|number| interner.intern(Counted(number, Rc::clone(&num_copies))))
        };
        assert_eq!(again(&mut copy), again(&mut interner));
    }

    #[test]
    fn values_with_equal_hashes_are_told_apart() {
        #[derive(PartialEq, Eq)]
        struct Colliding(u32);

        impl Hash for Colliding {
            fn hash<H: Hasher>(&self, _hasher: &mut H) {}
        }

        let mut interner = Interner::<NameId, Colliding>::new();
        let ids = [7, 8, 9].map(|number| interner.intern(Colliding(number)));
        assert!(ids.iter().all(|&(_, is_new)| is_new));
        for (number, (id, _)) in [7, 8, 9].into_iter().zip(ids) {
            assert_eq!(interner.intern(Colliding(number)), (id, false));
            assert_eq!(interner.find(&Colliding(number)), Some(id));
            assert_eq!(interner.get(id).0, number);
        }
        assert_eq!(interner.find(&Colliding(10)), None);
    }
}
