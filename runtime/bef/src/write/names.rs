//! The Kernels and Types sections: names of kernels and spellings of types. The position in the
//! list is the code or index.

use std::collections::HashMap;

use tfrt_attr::vbr;
use tfrt_support::entity::{EntityId, PrimaryMap};

use super::push_id;
use super::strings::EncodedStrings;

/// Unique names with ids of type `K`.
#[derive(Clone, Debug)]
pub(super) struct NameTable<K: EntityId> {
    names: PrimaryMap<K, String>,
    ids: HashMap<String, K>,
}

impl<K: EntityId> Default for NameTable<K> {
    fn default() -> Self {
        Self {
            names: PrimaryMap::new(),
            ids: HashMap::new(),
        }
    }
}

impl<K: EntityId> NameTable<K> {
    /// Adds a name, unless it is already there.
    pub(super) fn add(&mut self, name: &str) -> K {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// Returns `true` if `id` belongs to a name.
    pub(super) fn contains(&self, id: K) -> bool {
        id.index() < self.names.len()
    }

    /// Encodes the section.
    pub(super) fn encode(&self, strings: &EncodedStrings<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        vbr::write(&mut bytes, self.names.len() as u64);
        for name in self.names.values() {
            push_id(&mut bytes, strings.offset(name));
        }
        bytes
    }
}
