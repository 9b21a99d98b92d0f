//! The Kernels and the Types section: names of kernels and spellings of types, a position in the list being a code or index.

use std::collections::HashMap;

use tfrt_attr::vbr;
use tfrt_support::entity::{EntityId, PrimaryMap};

use super::push_id;
use super::strings::EncodedStrings;

/// Names under ids of type `K`, each once.
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
    /// Adds a name, unless it is there.
    pub(super) fn add(&mut self, name: &str) -> K {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        id
    }

    /// Whether `id` is that of a name.
    pub(super) fn contains(&self, id: K) -> bool {
        id.index() < self.names.len()
    }

    /// The section.
    pub(super) fn encode(&self, strings: &EncodedStrings<'_>) -> Vec<u8> {
        let mut bytes = Vec::new();
        vbr::write(&mut bytes, self.names.len() as u64);
        for name in self.names.values() {
            push_id(&mut bytes, strings.offset(name));
        }
        bytes
    }
}
