//! Dense numbers for payload types.
//!
//! The header of a value has two bytes for the type of its payload. A type gets its number when it is first asked for, and
//! keeps it as long as the process lives. Asking again takes no lock: a table of pointers is indexed by a hash that the
//! compiler folds to a constant, and the full id is compared with what is found there.
#![expect(unsafe_code, reason = "follows pointers that a table of atomics holds")]

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::cell::{self, Header};
use crate::value::{Chain, Value};

/// The number of a payload type, 1 to 65534; 0 stands for no type.
///
/// Two numbers are equal exactly if the Rust types are. They differ from run to run.
///
/// ```
/// use tfrt_async::TypeIndex;
///
/// assert_eq!(TypeIndex::of::<i32>(), TypeIndex::of::<i32>());
/// assert_ne!(TypeIndex::of::<i32>(), TypeIndex::of::<u32>());
/// assert_eq!(TypeIndex::of::<i32>().mlir_type(), Some("i32"));
/// assert_eq!(TypeIndex::NONE.mlir_type(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct TypeIndex(u16);

impl TypeIndex {
    /// The number of no type: that of an indirect value which is not resolved, or of a value born as an error.
    pub const NONE: Self = Self(0);

    /// The number of [`Chain`], which is fixed so that the ready chain can be a constant.
    pub(crate) const CHAIN: Self = Self(1);

    /// The number of `T`. Lock-free, except the first time for each type.
    ///
    /// # Panics
    /// If the process has more than 65534 payload types.
    #[inline]
    #[must_use]
    pub fn of<T: Value>() -> Self {
        let id = TypeId::of::<T>();
        if id == TypeId::of::<Chain>() {
            return Self::CHAIN;
        }
        match find(id) {
            Some(info) => info.index,
            None => register(id, TypeInfo::new::<T>).index,
        }
    }

    /// The number itself.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// How MLIR spells the type.
    #[must_use]
    pub fn mlir_type(self) -> Option<&'static str> {
        self.info().map(|info| info.mlir_type)
    }

    /// How Rust spells the type, for messages.
    #[must_use]
    pub fn rust_name(self) -> Option<&'static str> {
        self.info().map(|info| (info.rust_name)())
    }

    /// What is known of the type.
    #[inline]
    pub(crate) fn info(self) -> Option<&'static TypeInfo> {
        if self == Self::CHAIN {
            return Some(&CHAIN_INFO);
        }
        INFOS.get(usize::from(self.0)).and_then(Slot::get)
    }
}

impl fmt::Debug for TypeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.rust_name().unwrap_or("no type"), self.0)
    }
}

/// What the runtime knows of a payload type.
pub(crate) struct TypeInfo {
    id: TypeId,
    index: TypeIndex,
    mlir_type: &'static str,
    rust_name: fn() -> &'static str,
    /// Destroys a value of this payload type: see [`cell::destroy_cell`] for the duties.
    pub(crate) destroy: unsafe fn(NonNull<Header>),
}

impl TypeInfo {
    const fn new<T: Value>(index: TypeIndex) -> Self {
        Self {
            id: TypeId::of::<T>(),
            index,
            mlir_type: T::MLIR_TYPE,
            rust_name: std::any::type_name::<T>,
            destroy: cell::destroy_cell::<T>,
        }
    }
}

static CHAIN_INFO: TypeInfo = TypeInfo::new::<Chain>(TypeIndex::CHAIN);

/// How many types a process may have; the last 16-bit number stays unused.
const MAX_TYPES: usize = u16::MAX as usize;

/// How many slots the table of hashes has: far more than any program has payload types.
const NUM_SLOTS: usize = 4096;

/// How many slots are looked at before the locked map is asked.
const MAX_PROBES: usize = 8;

/// By number. Untouched pages of it cost nothing.
static INFOS: [Slot; MAX_TYPES] = [const { Slot::empty() }; MAX_TYPES];

/// By hash of the id, with linear probing.
static SLOTS: [Slot; NUM_SLOTS] = [const { Slot::empty() }; NUM_SLOTS];

/// By id: the truth, of which [`SLOTS`] is a cache.
static REGISTERED: LazyLock<Mutex<HashMap<TypeId, &'static TypeInfo>>> =
    LazyLock::new(Mutex::default);

/// A place for one type. Invariant S1: it holds null or a pointer made from a `&'static TypeInfo`. Upheld by `set`.
struct Slot(AtomicPtr<TypeInfo>);

impl Slot {
    const fn empty() -> Self {
        Self(AtomicPtr::new(ptr::null_mut()))
    }

    #[inline]
    fn get(&self) -> Option<&'static TypeInfo> {
        // Acquire pairs with the release in `set`: the record is complete.
        let info = self.0.load(Ordering::Acquire);
        // SAFETY: S1, and nothing ever makes a mutable reference to a registered record.
        unsafe { info.as_ref() }
    }

    fn set(&self, info: &'static TypeInfo) {
        // Release pairs with the acquire in `get`.
        self.0
            .store(ptr::from_ref(info).cast_mut(), Ordering::Release);
    }
}

/// The slots at which a type may be cached, in the order they are looked at.
#[inline]
fn probes(id: TypeId) -> impl Iterator<Item = &'static Slot> {
    let mut hasher = LowBits(0);
    id.hash(&mut hasher);
    let start = hasher.finish() as usize;
    (0..MAX_PROBES).map(move |offset| &SLOTS[start.wrapping_add(offset) % NUM_SLOTS])
}

#[inline]
fn find(id: TypeId) -> Option<&'static TypeInfo> {
    // The first empty slot ends the search: slots are filled in probing order and never emptied.
    probes(id).map_while(Slot::get).find(|info| info.id == id)
}

/// Finds a type that is not cached, and gives it a number if it has none.
#[cold]
fn register(id: TypeId, make: fn(TypeIndex) -> TypeInfo) -> &'static TypeInfo {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = registered.get(&id) {
        return known;
    }
    let next = usize::from(TypeIndex::CHAIN.0) + 1 + registered.len();
    assert!(
        next < MAX_TYPES,
        "a process has at most 65534 payload types"
    );
    let info: &'static TypeInfo = Box::leak(Box::new(make(TypeIndex(next as u16))));
    registered.insert(id, info);
    INFOS[next].set(info);
    if let Some(slot) = probes(id).find(|slot| slot.get().is_none()) {
        slot.set(info);
    }
    info
}

/// A hasher for ids, which are hashes already.
struct LowBits(u64);

impl Hasher for LowBits {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.0 ^= value;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    struct Tagged<const N: usize>;

    impl<const N: usize> Value for Tagged<N> {
        const MLIR_TYPE: &'static str = "!test.tagged";
    }

    #[test]
    fn a_type_has_one_number_on_all_threads() {
        let numbers: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| [TypeIndex::of::<Tagged<1>>(), TypeIndex::of::<Tagged<2>>()])
                })
                .collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .collect()
        });
        assert_eq!(numbers.len(), 8);
        assert!(numbers.iter().all(|pair| *pair == numbers[0]));
        assert_ne!(numbers[0][0], numbers[0][1]);
    }

    #[test]
    fn a_number_finds_its_type() {
        let index = TypeIndex::of::<Tagged<3>>();
        assert_eq!(index.mlir_type(), Some("!test.tagged"));
        assert!(
            index
                .rust_name()
                .is_some_and(|name| name.contains("Tagged<3>"))
        );
    }

    #[test]
    fn the_chain_needs_no_registration() {
        assert_eq!(TypeIndex::of::<Chain>(), TypeIndex::CHAIN);
        assert_eq!(TypeIndex::CHAIN.mlir_type(), Some("!tfrt.chain"));
    }

    #[test]
    fn a_type_whose_probes_are_taken_is_still_found() {
        // The locked map answers for what the table has no room for.
        let id = TypeId::of::<Tagged<4>>();
        let first = register(id, TypeInfo::new::<Tagged<4>>).index;
        assert_eq!(register(id, TypeInfo::new::<Tagged<4>>).index, first);
    }
}
