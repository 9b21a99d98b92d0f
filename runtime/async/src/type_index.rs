//! Dense numbers for payload types.
//!
//! The header of a value has two bytes for the type of its payload. A type gets its number when it is first asked for, and
//! keeps it as long as the process lives. Asking again takes no lock: a table of pointers is indexed by a hash that the
//! compiler folds to a constant, and the full id is compared with what is found there.
//!
//! A [kernel library](crate::shared) has tables of its own, which hold numbers that the program gave: the program is asked
//! where its own tables were, once for each type, and the answer is kept.
//!
//! - Within one copy of this crate, types are the same if, and only if, their ids are.
//! - Across copies, they are the same if their ids are equal, or if a crate of the runtime vouches for both by
//!   [one path](crate::identity): a compiler that is called twice gives two ids to such a type. In either case they have to agree
//!   in layout, spellings and how they are passed; types that do not are two types.

mod slot;

use std::alloc::Layout;
use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use crate::cell::{self, Header, Kind};
use crate::display::{self, DisplayPayload};
use crate::nesting::PanicPayload;
use crate::value::{self, Chain, Value};

use slot::Slot;

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
            None => register(TypeInfo::new::<T>(Self::NONE)).index,
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

    /// Whether payloads of the type are [copied](crate::value::is_copied) from kernel to kernel; if so, how one lies in memory.
    #[must_use]
    pub fn copied_layout(self) -> Option<Layout> {
        let info = self.info()?;
        info.copying.map(|_| info.layout)
    }

    /// What is known of the type.
    #[inline]
    pub(crate) fn info(self) -> Option<&'static TypeInfo> {
        if self == Self::CHAIN {
            return Some(&CHAIN_INFO);
        }
        match INFOS.get(usize::from(self.0)).and_then(Slot::get) {
            None if self != Self::NONE => info_of_program(self),
            found => found,
        }
    }
}

impl fmt::Debug for TypeIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.rust_name().unwrap_or("no type"), self.0)
    }
}

/// What the runtime knows of a payload type.
#[derive(Clone, Copy)]
pub(crate) struct TypeInfo {
    id: TypeId,
    index: TypeIndex,
    layout: Layout,
    mlir_type: &'static str,
    rust_name: fn() -> &'static str,
    traits: TypeTraits,
    /// The crate that vouches for the path of the type, if one does.
    vouched_by: Option<&'static str>,
    /// How payloads of this type are copied, if they are.
    pub(crate) copying: Option<Copying>,
    /// How payloads of this type are shown, if they are.
    pub(crate) display: Option<DisplayPayload>,
    /// Destroys a value of this payload type: see [`cell::destroy_cell`] for the duties. What a payload panics with is given
    /// back, because a panic must not leave the copy of the standard library that raised it.
    pub(crate) destroy: unsafe fn(NonNull<Header>) -> Option<PanicPayload>,
}

/// How payloads of a [copied](crate::value::is_copied) type get into values and out of them.
#[derive(Clone, Copy)]
pub(crate) struct Copying {
    /// See [`cell::new_copy`] for the duties.
    pub(crate) wrap: unsafe fn(*const u8, Kind) -> NonNull<Header>,
    /// See [`cell::copy_payload`] for the duties.
    pub(crate) unwrap: unsafe fn(NonNull<Header>, *mut u8),
}

/// What two records must agree on besides layout and names.
#[derive(Clone, Copy, PartialEq, Eq)]
struct TypeTraits {
    needs_drop: bool,
    is_mutable: bool,
    is_copied: bool,
    has_handles: bool,
}

impl TypeInfo {
    const fn new<T: Value>(index: TypeIndex) -> Self {
        Self {
            id: TypeId::of::<T>(),
            index,
            layout: Layout::new::<T>(),
            mlir_type: T::MLIR_TYPE,
            rust_name: std::any::type_name::<T>,
            traits: TypeTraits {
                needs_drop: std::mem::needs_drop::<T>(),
                is_mutable: T::IS_MUTABLE,
                is_copied: value::is_copied::<T>(),
                has_handles: T::HANDLE.is_some(),
            },
            vouched_by: T::IDENTITY.krate(),
            copying: if value::is_copied::<T>() {
                Some(Copying {
                    wrap: cell::new_copy::<T>,
                    unwrap: cell::copy_payload::<T>,
                })
            } else {
                None
            },
            display: display::display_payload::<T>(),
            destroy: cell::destroy_cell::<T>,
        }
    }

    /// Whether both records say the same of what may be one type.
    fn agrees_with(&self, other: &Self) -> bool {
        let facts = |info: &Self| {
            let names = (info.mlir_type, (info.rust_name)(), info.vouched_by);
            (info.layout, info.traits, names)
        };
        facts(self) == facts(other)
    }

    /// What every copy of the runtime knows the type by; none for types that no crate of the runtime vouches for.
    fn shared_name(&self) -> Option<SharedName> {
        Some((self.vouched_by?, (self.rust_name)()))
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
static INFOS: [Slot<TypeInfo>; MAX_TYPES] = [const { Slot::empty() }; MAX_TYPES];

/// By hash of the id, with linear probing.
static SLOTS: [Slot<TypeInfo>; NUM_SLOTS] = [const { Slot::empty() }; NUM_SLOTS];

/// The truth, of which [`SLOTS`] is a cache.
static REGISTERED: LazyLock<Mutex<Registered>> = LazyLock::new(Mutex::default);

/// A crate of the runtime, and the path of a type that it vouches for.
type SharedName = (&'static str, &'static str);

/// A copy of this crate, known by where one of its statics is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyId(usize);

impl CopyId {
    fn of_this_copy() -> Self {
        Self((&raw const SLOTS).addr())
    }
}

#[derive(Default)]
struct Registered {
    by_id: HashMap<TypeId, &'static TypeInfo>,
    by_name: HashMap<SharedName, NamedTypes>,
    num_types: usize,
}

/// The types of one name: at most one of each copy.
struct NamedTypes {
    first: &'static TypeInfo,
    members: Vec<(CopyId, TypeId)>,
}

impl NamedTypes {
    /// Whether the candidate of a copy may be one of these types. Two types of one copy never are one.
    fn admits(&self, candidate: &TypeInfo, copy: CopyId) -> bool {
        let is_another = |&(member_copy, id)| member_copy == copy && id != candidate.id;
        !self.members.iter().any(is_another) && self.first.agrees_with(candidate)
    }
}

/// The slots at which a type may be cached, in the order they are looked at.
#[inline]
fn probes(id: TypeId) -> impl Iterator<Item = &'static Slot<TypeInfo>> {
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
fn register(candidate: TypeInfo) -> &'static TypeInfo {
    let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = registered.by_id.get(&candidate.id) {
        return known;
    }
    let copy = CopyId::of_this_copy();
    let info = match PROGRAM.get() {
        Some(program) => (program.number)(candidate, copy),
        None => registered.number(candidate, copy),
    };
    registered.by_id.insert(candidate.id, info);
    INFOS[usize::from(info.index.0)].set(info);
    if let Some(slot) = probes(candidate.id).find(|slot| slot.get().is_none()) {
        slot.set(info);
    }
    info
}

impl Registered {
    /// The record of a type of some copy, with the number that it has or gets.
    fn number(&mut self, candidate: TypeInfo, copy: CopyId) -> &'static TypeInfo {
        let by_id = self.by_id.get(&candidate.id).copied();
        let by_id = by_id.filter(|known| known.agrees_with(&candidate));
        let name = candidate.shared_name();
        let named = name.and_then(|name| self.by_name.get(&name));
        let named = named.filter(|named| named.admits(&candidate, copy));
        let known = by_id.or(named.map(|named| named.first));
        let is_new = known.is_none();
        let info = match known {
            Some(known) if known.id == candidate.id => known,
            _ => {
                let index = known.map_or_else(|| self.next_index(), |known| known.index);
                Box::leak(Box::new(TypeInfo { index, ..candidate }))
            }
        };
        self.by_id.insert(info.id, info);
        if is_new {
            INFOS[usize::from(info.index.0)].set(info);
        }
        if let Some(name) = name {
            let named = self.by_name.entry(name).or_insert_with(|| NamedTypes {
                first: info,
                members: Vec::new(),
            });
            if named.first.index == info.index {
                named.members.push((copy, info.id));
            }
        }
        info
    }

    fn next_index(&mut self) -> TypeIndex {
        self.num_types += 1;
        let next = usize::from(TypeIndex::CHAIN.0) + self.num_types;
        assert!(
            next < MAX_TYPES,
            "a process has at most 65534 payload types"
        );
        TypeIndex(next as u16)
    }
}

/// How a library asks the program for what its own tables lack.
#[derive(Clone, Copy)]
pub(crate) struct TypeTable {
    number: fn(TypeInfo, CopyId) -> &'static TypeInfo,
    info: fn(TypeIndex) -> Option<&'static TypeInfo>,
}

/// The tables of the program, in a library.
static PROGRAM: OnceLock<TypeTable> = OnceLock::new();

/// The tables that this copy of the crate takes its numbers from.
#[cfg(not(loom))]
pub(crate) fn table() -> TypeTable {
    PROGRAM.get().copied().unwrap_or(TypeTable {
        number: |candidate, copy| {
            let mut registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
            registered.number(candidate, copy)
        },
        info: TypeIndex::info,
    })
}

/// Lets this copy of the crate take its numbers from `table`, from now on. Whether it does: not if it has given numbers itself.
#[cfg(not(loom))]
pub(crate) fn adopt(table: TypeTable) -> bool {
    let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    if registered.num_types > 0 {
        return false;
    }
    let adopted = PROGRAM.get_or_init(|| table);
    drop(registered);
    std::ptr::fn_addr_eq(adopted.info, table.info)
}

/// What the program knows of a number that this copy of the crate has not met yet.
#[cold]
fn info_of_program(index: TypeIndex) -> Option<&'static TypeInfo> {
    let info = (PROGRAM.get()?.info)(index)?;
    INFOS[usize::from(index.0)].set(info);
    Some(info)
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
        let candidate = TypeInfo::new::<Tagged<4>>(TypeIndex::NONE);
        let first = register(candidate).index;
        assert_eq!(register(candidate).index, first);
    }

    /// Two types of one path, in a crate of the runtime at that.
    fn two_of_one_path() -> [TypeInfo; 2] {
        let first = {
            struct Twin(#[expect(dead_code, reason = "its layout is what matters")] u64);
            impl Value for Twin {
                const MLIR_TYPE: &'static str = "!test.twin";
            }
            TypeInfo::new::<Twin>(TypeIndex::NONE)
        };
        let second = {
            struct Twin(#[expect(dead_code, reason = "its layout is what matters")] u64);
            impl Value for Twin {
                const MLIR_TYPE: &'static str = "!test.twin";
            }
            TypeInfo::new::<Twin>(TypeIndex::NONE)
        };
        assert_eq!((first.rust_name)(), (second.rust_name)());
        [first, second]
    }

    /// Numbers that no other test uses.
    fn registered_from(num_types: usize) -> Registered {
        Registered {
            num_types,
            ..Registered::default()
        }
    }

    const HERE: CopyId = CopyId(1);
    const ELSEWHERE: CopyId = CopyId(2);

    fn vouched(info: TypeInfo) -> TypeInfo {
        TypeInfo {
            vouched_by: Some("tfrt-example 1.0.0"),
            ..info
        }
    }

    #[test]
    fn two_types_of_one_path_are_two_types() {
        let [first, second] = two_of_one_path().map(|info| register(info).index);
        assert_ne!(first, second);
    }

    #[test]
    fn two_types_of_one_copy_are_two_types_whoever_vouches() {
        let mut registered = registered_from(60_000);
        let mut number = |info, copy| registered.number(info, copy).index;
        let [first, second] = two_of_one_path().map(vouched);
        let numbers = [number(first, HERE), number(second, HERE)];
        assert_ne!(numbers[0], numbers[1]);
        assert_eq!([number(first, HERE), number(second, HERE)], numbers);
    }

    #[test]
    fn copies_share_a_type_that_is_vouched_for() {
        let mut registered = registered_from(61_000);
        let [ours, theirs] = two_of_one_path().map(vouched);
        let first = registered.number(theirs, ELSEWHERE).index;
        assert_eq!(registered.number(ours, HERE).index, first);
    }

    #[test]
    fn a_path_that_nobody_vouches_for_is_not_shared() {
        let mut registered = registered_from(62_000);
        let [ours, theirs] = two_of_one_path();
        let first = registered.number(vouched(ours), HERE).index;
        assert_ne!(registered.number(theirs, ELSEWHERE).index, first);
    }

    #[test]
    fn copies_that_disagree_on_a_type_do_not_share_it() {
        let [ours, theirs] = two_of_one_path().map(vouched);
        let larger = TypeInfo {
            layout: Layout::new::<[u64; 2]>(),
            ..theirs
        };
        let dropped = TypeInfo {
            traits: TypeTraits {
                needs_drop: true,
                ..theirs.traits
            },
            ..theirs
        };
        let of_one_id = TypeInfo {
            id: ours.id,
            ..larger
        };
        for altered in [larger, dropped, of_one_id] {
            let mut registered = registered_from(63_000);
            let first = registered.number(ours, HERE).index;
            assert_ne!(registered.number(altered, ELSEWHERE).index, first);
        }
    }
}
