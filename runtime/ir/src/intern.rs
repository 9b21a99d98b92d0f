//! Interning: equal values get the same id, so comparing ids compares values.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use tfrt_support::entity::{EntityId, PrimaryMap};

/// A table of distinct values. It never shrinks.
#[derive(Clone)]
pub(crate) struct Interner<K, V> {
    values: PrimaryMap<K, V>,
    ids: HashMap<V, K>,
}

impl<K: EntityId, V: Clone + Eq + Hash> Interner<K, V> {
    pub(crate) fn new() -> Self {
        Self {
            values: PrimaryMap::new(),
            ids: HashMap::new(),
        }
    }

    /// Returns the id of `value`, and `true` if it is new.
    pub(crate) fn intern(&mut self, value: V) -> (K, bool) {
        if let Some(&id) = self.ids.get(&value) {
            return (id, false);
        }
        let id = self.values.push(value.clone());
        self.ids.insert(value, id);
        (id, true)
    }

    pub(crate) fn get(&self, id: K) -> &V {
        &self.values[id]
    }

    /// Returns the id of an equal value, if there is one.
    pub(crate) fn find<Q>(&self, value: &Q) -> Option<K>
    where
        V: std::borrow::Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.ids.get(value).copied()
    }
}

impl<K: EntityId, V: fmt::Debug> fmt::Debug for Interner<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}
