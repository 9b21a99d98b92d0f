//! The live handles and memory that programs may use.
//!
//! A C driver does not check handles. So a call first looks them up here, and keeps the objects
//! until it has returned: an object that is destroyed meanwhile ends with its last user. An object
//! keeps its context, so a context ends with the last of its objects.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::api::DevicePtr;

/// Objects by the numbers of their handles.
#[derive(Debug)]
pub(super) struct Live<T>(RwLock<Objects<T>>);

type Objects<T> = HashMap<u64, Arc<T>, BuildHasherDefault<HandleHasher>>;

/// Hashes handles. They are addresses that the driver chooses, so that no program makes them
/// collide.
#[derive(Default)]
struct HandleHasher(u64);

impl Hasher for HandleHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The low bits of addresses are alike: a multiplication and a rotation spread the others.
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        self.0 = (self.0 ^ number).wrapping_mul(FACTOR).rotate_left(26);
    }
}

impl<T> Default for Live<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T> Live<T> {
    pub(super) fn add(&self, number: u64, object: T) {
        self.write().insert(number, Arc::new(object));
    }

    pub(super) fn get(&self, number: u64) -> Option<Arc<T>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&number)
            .cloned()
    }

    /// Forgets an object. Its last user ends it.
    pub(super) fn remove(&self, number: u64) -> Option<Arc<T>> {
        self.write().remove(&number)
    }

    /// Forgets objects.
    pub(super) fn retain(&self, mut stays: impl FnMut(&T) -> bool) {
        self.write().retain(|_, object| stays(object));
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Objects<T>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A block of memory that the device reaches.
#[derive(Debug)]
pub(super) struct Block<K> {
    pub(super) num_bytes: usize,
    pub(super) kind: K,
}

/// Blocks by address.
#[derive(Debug)]
pub(super) struct Blocks<K>(Mutex<BTreeMap<u64, Block<K>>>);

impl<K> Default for Blocks<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// The position of an address relative to blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// All bytes lie in a block.
    Inside,
    /// They start in a block and end after it.
    Across,
    /// Nothing is known of them.
    Unknown,
}

impl<K> Blocks<K> {
    pub(super) fn add(&self, pointer: DevicePtr, num_bytes: usize, kind: K) {
        self.lock()
            .insert(pointer.address(), Block { num_bytes, kind });
    }

    /// Forgets the block that begins at `pointer`, if it is of the kind that is meant.
    pub(super) fn remove(
        &self,
        pointer: DevicePtr,
        is_meant: impl FnOnce(&K) -> bool,
    ) -> Option<Block<K>> {
        let mut blocks = self.lock();
        let is_there = blocks
            .get(&pointer.address())
            .is_some_and(|block| is_meant(&block.kind));
        if is_there {
            blocks.remove(&pointer.address())
        } else {
            None
        }
    }

    /// Forgets blocks.
    pub(super) fn retain(&self, mut stays: impl FnMut(&K) -> bool) {
        self.lock().retain(|_, block| stays(&block.kind));
    }

    pub(super) fn place(&self, pointer: DevicePtr, num_bytes: usize) -> Place {
        self.with(pointer, num_bytes, |_, _| ())
            .map_or_else(|place| place, |()| Place::Inside)
    }

    /// Calls `action` with the start of the block that all the bytes lie in, and the block, which
    /// stays meanwhile.
    pub(super) fn with<R>(
        &self,
        pointer: DevicePtr,
        num_bytes: usize,
        action: impl FnOnce(u64, &Block<K>) -> R,
    ) -> Result<R, Place> {
        let address = pointer.address();
        let blocks = self.lock();
        // Most pointers are starts of blocks, and a look-up costs half as much as a range, which
        // searches for both of its ends.
        let (start, block) = match blocks.get(&address) {
            Some(block) => (address, block),
            None => match blocks.range(..address).next_back() {
                Some((start, block)) => (*start, block),
                None => return Err(Place::Unknown),
            },
        };
        let offset = address - start;
        match (block.num_bytes as u64).checked_sub(offset) {
            Some(left) if num_bytes as u64 <= left => Ok(action(start, block)),
            Some(left) if left > 0 => Err(Place::Across),
            _ => Err(Place::Unknown),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Block<K>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_what_lies_in_them() {
        let blocks = Blocks::default();
        blocks.add(DevicePtr::new(1000), 100, 'a');
        let place = |address, len| blocks.place(DevicePtr::new(address), len);
        assert_eq!(place(1000, 100), Place::Inside);
        assert_eq!(place(1000, 101), Place::Across);
        assert_eq!(place(1099, 1), Place::Inside);
        assert_eq!(place(1099, 2), Place::Across);
        assert_eq!(place(1100, 1), Place::Unknown);
        assert_eq!(place(999, 1), Place::Unknown);
        assert!(
            blocks
                .remove(DevicePtr::new(1000), |kind| *kind == 'b')
                .is_none()
        );
        assert!(blocks.remove(DevicePtr::new(1000), |_| true).is_some());
        assert_eq!(place(1000, 1), Place::Unknown);
    }

    #[test]
    fn an_object_in_use_outlives_its_handle() {
        let live = Live::default();
        live.add(7, "stream");
        let used = live.get(7).unwrap();
        let removed = live.remove(7).unwrap();
        assert!(live.get(7).is_none());
        assert!(Arc::into_inner(removed).is_none());
        assert_eq!(Arc::into_inner(used), Some("stream"));
    }
}
