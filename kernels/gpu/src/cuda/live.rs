//! The live handles and memory that programs may use.
//!
//! A C driver does not check handles. So a call first looks them up here, and keeps the objects
//! until it has returned: an object that is destroyed meanwhile ends with its last user. An object
//! keeps its context, so a context ends with the last of its objects.
//!
//! Most calls of a thread use the streams, functions and memory blocks that its last calls used. So
//! a thread remembers some of those, and finds them again without a lock. What it remembers keeps
//! nothing alive, and is not found once the handle or the block is gone. Values that own a handle
//! keep its object ([`Known`]), which is not found once the handle is gone, either.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::thread::LocalKey;

use tfrt::support::id_map::IdMap;

use crate::api::DevicePtr;
use crate::api::known::KnownBlock;

/// Objects by the numbers of their handles.
#[derive(Debug)]
pub(super) struct Live<T> {
    /// Differs from that of every other table.
    id: usize,
    objects: RwLock<Objects<T>>,
}

/// Handles are addresses that the driver chooses, so that no program makes them collide.
type Objects<T> = IdMap<u64, ListedObject<T>>;

/// An object of the table.
#[derive(Debug)]
struct ListedObject<T> {
    object: Arc<T>,
    presence: Presence,
}

/// An object of a table, for calls that do not look it up.
#[derive(Debug)]
pub(super) struct Known<T> {
    pub(super) object: Arc<T>,
    pub(super) is_listed: Arc<AtomicBool>,
}

impl<T> Known<T> {
    /// Returns the object, unless its handle is gone.
    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        // ordering: a call that runs meanwhile may find the object or not, as with the table.
        self.is_listed
            .load(Ordering::Relaxed)
            .then_some(&*self.object)
    }
}

/// The factor that spreads addresses, whose low bits are alike.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The base-2 logarithm of the number of objects and of blocks that a thread remembers.
const NUM_REMEMBERED_BITS: u32 = 3;

/// Returns the place of what has this number or address among those that a thread remembers.
fn place_of(number: u64) -> usize {
    (number.wrapping_mul(FACTOR) >> (u64::BITS - NUM_REMEMBERED_BITS)) as usize
}

/// Returns a number for a table or a context, which differs from that of every other one.
pub(super) fn new_id() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // ordering: unique, and nothing else is ordered by it.
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The things that a thread has used last, each at the [place](place_of) of its number.
#[derive(Debug)]
pub(super) struct Recent<E>(RefCell<[Option<E>; 1 << NUM_REMEMBERED_BITS]>);

impl<E> Recent<E> {
    pub(super) const fn new() -> Self {
        Self(RefCell::new([const { None }; 1 << NUM_REMEMBERED_BITS]))
    }
}

/// An object that a thread has used.
#[derive(Debug)]
pub(super) struct RecentObject<T> {
    /// The table that contains it.
    id: usize,
    number: u64,
    object: Weak<T>,
    is_listed: Arc<AtomicBool>,
}

/// A type of objects of which each thread remembers those that it has used last.
pub(super) trait Remembered: Sized + 'static {
    /// Returns the objects that this thread remembers.
    fn recent() -> &'static LocalKey<Recent<RecentObject<Self>>>;
}

impl<T> Default for Live<T> {
    fn default() -> Self {
        Self {
            id: new_id(),
            objects: RwLock::default(),
        }
    }
}

impl<T> Live<T> {
    pub(super) fn add(&self, number: u64, object: T) {
        let listed = ListedObject {
            object: Arc::new(object),
            presence: Presence::default(),
        };
        self.write().insert(number, listed);
    }

    pub(super) fn get(&self, number: u64) -> Option<Arc<T>> {
        self.find(number, |listed| Arc::clone(&listed.object))
    }

    /// Like [`get`](Self::get), for a caller that keeps the object and has to notice when its
    /// handle is gone.
    pub(super) fn known(&self, number: u64) -> Option<Known<T>> {
        self.find(number, |listed| Known {
            object: Arc::clone(&listed.object),
            is_listed: Arc::clone(&listed.presence.0),
        })
    }

    fn find<R>(&self, number: u64, found: impl FnOnce(&ListedObject<T>) -> R) -> Option<R> {
        let objects = self.objects.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&number).map(found)
    }

    /// Forgets an object. Its last user ends it.
    pub(super) fn remove(&self, number: u64) -> Option<Arc<T>> {
        let removed = self.write().remove(&number);
        removed.map(|listed| listed.object)
    }

    /// Forgets objects.
    pub(super) fn retain(&self, mut stays: impl FnMut(&T) -> bool) {
        self.write().retain(|_, listed| stays(&listed.object));
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Objects<T>> {
        self.objects.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Remembered> Live<T> {
    /// Like [`get`](Self::get), for objects that many calls use.
    pub(super) fn get_again(&self, number: u64) -> Option<Arc<T>> {
        let found = T::recent().try_with(|recent| self.remembered(recent, number));
        match found {
            Ok(Some(object)) => Some(object),
            _ => self.get_and_remember(number),
        }
    }

    fn remembered(&self, recent: &Recent<RecentObject<T>>, number: u64) -> Option<Arc<T>> {
        let recent = recent.0.borrow();
        let found = recent[place_of(number)].as_ref()?;
        let is_meant = found.number == number
            && found.id == self.id
            // ordering: a call that runs meanwhile may find the object or not, as with the table.
            && found.is_listed.load(Ordering::Relaxed);
        is_meant.then(|| found.object.upgrade())?
    }

    #[cold]
    fn get_and_remember(&self, number: u64) -> Option<Arc<T>> {
        let Known { object, is_listed } = self.known(number)?;
        let entry = RecentObject {
            id: self.id,
            number,
            object: Arc::downgrade(&object),
            is_listed,
        };
        // A thread that ends remembers nothing any more.
        let _ =
            T::recent().try_with(|recent| recent.0.borrow_mut()[place_of(number)] = Some(entry));
        Some(object)
    }
}

/// A block of memory that the device reaches.
#[derive(Debug)]
pub(super) struct Block<K> {
    pub(super) num_bytes: usize,
    pub(super) kind: K,
}

/// The kind of a block.
pub(super) trait BlockKind {
    /// Returns `true` if a call on such a block needs to know only that the block contains the
    /// bytes.
    fn is_plain(&self) -> bool;
}

/// Blocks by address.
#[derive(Debug)]
pub(super) struct Blocks<K> {
    /// Differs from that of every other table.
    id: usize,
    table: Mutex<BTreeMap<u64, Listed<K>>>,
}

/// A block of the table.
#[derive(Debug)]
struct Listed<K> {
    block: Block<K>,
    presence: Presence,
}

/// Whether an object or a block is in the table. Those who remember it share this.
#[derive(Debug)]
struct Presence(Arc<AtomicBool>);

impl Default for Presence {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // ordering: a call that runs meanwhile may find it or not, as with the table.
        self.0.store(false, Ordering::Relaxed);
    }
}

thread_local! {
    /// The plain blocks that this thread remembers, at the places of the addresses that it used.
    static BLOCKS: Recent<KnownBlock> = const { Recent::new() };
}

impl<K> Default for Blocks<K> {
    fn default() -> Self {
        Self {
            id: new_id(),
            table: Mutex::default(),
        }
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

impl<K: BlockKind> Blocks<K> {
    pub(super) fn add(&self, pointer: DevicePtr, num_bytes: usize, kind: K) {
        let listed = Listed {
            block: Block { num_bytes, kind },
            presence: Presence::default(),
        };
        self.lock().insert(pointer.address(), listed);
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
            .is_some_and(|listed| is_meant(&listed.block.kind));
        if is_there {
            let removed = blocks.remove(&pointer.address());
            removed.map(|listed| listed.block)
        } else {
            None
        }
    }

    /// Forgets blocks.
    pub(super) fn retain(&self, mut stays: impl FnMut(&K) -> bool) {
        self.lock().retain(|_, listed| stays(&listed.block.kind));
    }

    pub(super) fn place(&self, pointer: DevicePtr, num_bytes: usize) -> Place {
        if self.is_in_plain_block(pointer, num_bytes) {
            return Place::Inside;
        }
        self.with(pointer, num_bytes, |_, _| ())
            .map_or_else(|place| place, |()| Place::Inside)
    }

    /// Returns the number that known blocks of this table have.
    pub(super) fn id(&self) -> usize {
        self.id
    }

    /// Returns the [plain](BlockKind::is_plain) block that an address is in.
    pub(super) fn known(&self, pointer: DevicePtr) -> Option<KnownBlock> {
        self.find_plain(pointer, 0)
    }

    /// Returns `true` if all the bytes lie in one [plain](BlockKind::is_plain) block.
    pub(super) fn is_in_plain_block(&self, pointer: DevicePtr, num_bytes: usize) -> bool {
        let found = BLOCKS.try_with(|recent| {
            let recent = recent.0.borrow();
            let found = recent[place_of(pointer.address())].as_ref();
            found.is_some_and(|block| block.contains(self.id, pointer, num_bytes))
        });
        found == Ok(true) || self.find_and_remember(pointer, num_bytes)
    }

    #[cold]
    fn find_and_remember(&self, pointer: DevicePtr, num_bytes: usize) -> bool {
        let Some(entry) = self.find_plain(pointer, num_bytes) else {
            return false;
        };
        // A thread that ends remembers nothing any more.
        let _ = BLOCKS.try_with(|recent| {
            recent.0.borrow_mut()[place_of(pointer.address())] = Some(entry);
        });
        true
    }

    /// Returns the [plain](BlockKind::is_plain) block that all the bytes lie in.
    fn find_plain(&self, pointer: DevicePtr, num_bytes: usize) -> Option<KnownBlock> {
        let found = self.find(pointer, num_bytes, |start, listed| {
            listed.block.kind.is_plain().then(|| {
                let is_listed = Arc::clone(&listed.presence.0);
                KnownBlock::new(
                    self.id,
                    DevicePtr::new(start),
                    listed.block.num_bytes,
                    is_listed,
                )
            })
        });
        found.ok().flatten()
    }

    /// Calls `action` with the start of the block that all the bytes lie in, and the block, which
    /// stays meanwhile.
    pub(super) fn with<R>(
        &self,
        pointer: DevicePtr,
        num_bytes: usize,
        action: impl FnOnce(u64, &Block<K>) -> R,
    ) -> Result<R, Place> {
        self.find(pointer, num_bytes, |start, listed| {
            action(start, &listed.block)
        })
    }

    fn find<R>(
        &self,
        pointer: DevicePtr,
        num_bytes: usize,
        action: impl FnOnce(u64, &Listed<K>) -> R,
    ) -> Result<R, Place> {
        let address = pointer.address();
        let blocks = self.lock();
        // Most pointers are starts of blocks, and a look-up costs half as much as a range, which
        // searches for both of its ends.
        let (start, listed) = match blocks.get(&address) {
            Some(listed) => (address, listed),
            None => match blocks.range(..address).next_back() {
                Some((start, listed)) => (*start, listed),
                None => return Err(Place::Unknown),
            },
        };
        let offset = address - start;
        match (listed.block.num_bytes as u64).checked_sub(offset) {
            Some(left) if num_bytes as u64 <= left => Ok(action(start, listed)),
            Some(left) if left > 0 => Err(Place::Across),
            _ => Err(Place::Unknown),
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Listed<K>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl BlockKind for char {
        fn is_plain(&self) -> bool {
            *self != 'r'
        }
    }

    impl Remembered for &'static str {
        fn recent() -> &'static LocalKey<Recent<RecentObject<Self>>> {
            thread_local! {
                static RECENT: Recent<RecentObject<&'static str>> = const { Recent::new() };
            }
            &RECENT
        }
    }

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

    #[test]
    fn a_block_that_was_removed_is_not_remembered() {
        let pointer = DevicePtr::new(1000);
        let (blocks, others) = (Blocks::default(), Blocks::<char>::default());
        blocks.add(pointer, 100, 'a');
        assert!(blocks.is_in_plain_block(pointer, 100));
        assert!(blocks.is_in_plain_block(pointer, 99) && !blocks.is_in_plain_block(pointer, 101));
        assert!(!others.is_in_plain_block(pointer, 1));
        blocks.remove(pointer, |_| true);
        assert!(!blocks.is_in_plain_block(pointer, 1));
        blocks.add(pointer, 50, 'b');
        assert!(blocks.is_in_plain_block(pointer, 50) && !blocks.is_in_plain_block(pointer, 51));
        // The block is replaced by one that calls have to look at.
        blocks.add(pointer, 50, 'r');
        assert!(!blocks.is_in_plain_block(pointer, 1));
        assert_eq!(blocks.place(pointer, 50), Place::Inside);
        blocks.add(pointer, 10, 'a');
        assert!(blocks.is_in_plain_block(pointer, 10));
        blocks.retain(|_| false);
        assert!(!blocks.is_in_plain_block(pointer, 1));
    }

    #[test]
    fn an_address_below_a_remembered_block_is_not_in_it() {
        let blocks = Blocks::default();
        blocks.add(DevicePtr::new(1000), 100, 'a');
        for address in 1..2000 {
            let pointer = DevicePtr::new(address);
            let expected = (1000..1100).contains(&address);
            // Twice: the second time, the block may be remembered.
            for _ in 0..2 {
                assert_eq!(blocks.is_in_plain_block(pointer, 1), expected, "{address}");
            }
        }
    }

    #[test]
    fn a_remembered_object_ends_with_its_handle() {
        let (live, other) = (Live::default(), Live::<&'static str>::default());
        live.add(7, "stream");
        for _ in 0..2 {
            assert_eq!(live.get_again(7).as_deref(), Some(&"stream"));
        }
        assert!(other.get_again(7).is_none());
        let known = live.known(7).unwrap();
        assert_eq!(known.get(), Some(&"stream"));
        let removed = live.remove(7).unwrap();
        // The object is kept, but its handle is gone.
        assert!(live.get_again(7).is_none() && known.get().is_none());
        drop(removed);
        assert!(Arc::into_inner(known.object).is_some());
        live.add(7, "another");
        assert_eq!(live.get_again(7).as_deref(), Some(&"another"));
    }
}
