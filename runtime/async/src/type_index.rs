//! Dense numbers for payload types.
//!
//! The header of a value has two bytes for its payload type. A type gets its number on first use
//! and keeps it for the lifetime of the process. Later lookups take no lock: the compiler folds the
//! hash of the `TypeId` to a constant, which indexes a table of pointers; the full id is compared
//! with that of the entry found. Numbers and the types that `#[derive(Value)]` declares without
//! parameters have an [`IndexCell`] instead.
//!
//! A [kernel library](crate::shared) has its own tables, filled with numbers from the program: on a
//! miss in its tables, it asks the program once per type and caches the answer.
//!
//! - Within one copy of this crate, two types are the same if and only if their ids are equal.
//! - Across copies, they are the same if their ids are equal, or if a crate of the runtime vouches
//!   for both by [one path](crate::identity): two runs of the compiler assign different ids to such
//!   a type. In either case, layout, spellings and passing must agree; otherwise the types are
//!   distinct.

mod slot;

use std::alloc::Layout;
use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ptr::NonNull;
use std::sync::{LazyLock, Mutex, OnceLock, PoisonError};

use tfrt_support::id_map::IdHasher;

use crate::cell::{self, Header, Kind};
use crate::display::{self, DisplayPayload};
use crate::index_cell::IndexCell;
use crate::value::{self, Chain, Value};

use slot::Slot;

/// The number of a payload type, 1 to 65534; 0 means no type.
///
/// Two numbers are equal if and only if the Rust types are the same. They differ from run to run.
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
    /// No type: an unresolved indirect value, or a value created as an error.
    pub const NONE: Self = Self(0);

    /// The number of [`Chain`], which is fixed so that the ready chain can be a constant.
    pub(crate) const CHAIN: Self = Self(1);

    /// Returns the number of `T`. Lock-free except on the first use of each type.
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
        if let Some(cell) = T::INDEX_CELL {
            let cell = cell();
            return cell
                .get()
                .map_or_else(|| fill(cell), |index| Self(index.get()));
        }
        match find(id) {
            Some(info) => info.index,
            None => register(TypeInfo::new::<T>(Self::NONE)).index,
        }
    }

    /// Returns `true` if this number, which is that of a payload, is the number of `T`. This takes
    /// fewer instructions than to compare it with [`of`](Self::of).
    ///
    /// # Panics
    /// Those of `of`.
    #[inline]
    pub(crate) fn is<T: Value>(self) -> bool {
        debug_assert_ne!(self, Self::NONE, "an empty cell would have this number");
        if let Some(cell) = T::INDEX_CELL {
            let index = cell().get_raw();
            // Whether the cell is filled is a question only if the numbers differ.
            return index == self.0 || index == 0 && self == Self::of::<T>();
        }
        self == Self::of::<T>()
    }

    /// Returns the number of `T` if it is where it is looked for first: as a rule, once there has
    /// been a `T`. Does not panic.
    #[inline]
    pub(crate) fn known<T: Value>() -> Option<Self> {
        let id = TypeId::of::<T>();
        if id == TypeId::of::<Chain>() {
            return Some(Self::CHAIN);
        }
        if let Some(cell) = T::INDEX_CELL {
            return cell().get().map(|index| Self(index.get()));
        }
        let info = probes(id).next().and_then(Slot::get)?;
        (info.id == id).then_some(info.index)
    }

    /// Returns the number itself.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }

    /// Returns the MLIR spelling of the type.
    #[must_use]
    pub fn mlir_type(self) -> Option<&'static str> {
        self.info().map(|info| info.mlir_type)
    }

    /// Returns the Rust spelling of the type, for messages.
    #[must_use]
    pub fn rust_name(self) -> Option<&'static str> {
        self.info().map(|info| (info.rust_name)())
    }

    /// Returns the layout of payloads that are [copied](crate::is_copied) from kernel to
    /// kernel, or `None` if those of this type are not.
    #[must_use]
    pub fn copied_layout(self) -> Option<Layout> {
        let info = self.info()?;
        info.copying.map(|_| info.layout)
    }

    /// Returns the record of the type.
    #[inline]
    pub(crate) fn info(self) -> Option<&'static TypeInfo> {
        match self.info_at_hand() {
            None if self != Self::NONE => info_of_program(self),
            found => found,
        }
    }

    /// Returns the record of the type if this copy of the crate has met it. Does not call, so that
    /// code that tries this first keeps nothing across a call.
    #[inline]
    pub(crate) fn info_at_hand(self) -> Option<&'static TypeInfo> {
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

/// The record of a payload type.
#[derive(Clone, Copy)]
pub(crate) struct TypeInfo {
    id: TypeId,
    index: TypeIndex,
    layout: Layout,
    mlir_type: &'static str,
    rust_name: fn() -> &'static str,
    traits: TypeTraits,
    /// The crate that vouches for the path of the type, if any.
    vouched_by: Option<&'static str>,
    /// How to copy payloads of this type, if they are copied.
    pub(crate) copying: Option<Copying>,
    /// How to display payloads of this type, if they can be.
    pub(crate) display: Option<DisplayPayload>,
    /// Destroys a value of this payload type: see [`cell::destroy_cell`] for the duties.
    pub(crate) destroy: unsafe fn(NonNull<Header>),
}

/// Moves payloads of a [copied](crate::is_copied) type into and out of values.
#[derive(Clone, Copy)]
pub(crate) struct Copying {
    /// See [`cell::new_copy`] for the duties.
    pub(crate) wrap: unsafe fn(TypeIndex, *const u8, Kind) -> NonNull<Header>,
    /// See [`cell::copy_payload`] for the duties.
    pub(crate) unwrap: unsafe fn(NonNull<Header>, *mut u8),
}

/// Properties that two records of the same type must agree on besides layout and names.
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

    /// Returns `true` if both records could describe the same type.
    fn agrees_with(&self, other: &Self) -> bool {
        let facts = |info: &Self| {
            let names = (info.mlir_type, (info.rust_name)(), info.vouched_by);
            (info.layout, info.traits, names)
        };
        facts(self) == facts(other)
    }

    /// Returns the name by which every copy of the runtime identifies the type, or `None` if no
    /// crate of the runtime vouches for it.
    fn shared_name(&self) -> Option<SharedName> {
        Some((self.vouched_by?, (self.rust_name)()))
    }
}

static CHAIN_INFO: TypeInfo = TypeInfo::new::<Chain>(TypeIndex::CHAIN);

/// The maximum number of types in a process; the last 16-bit number stays unused.
const MAX_TYPES: usize = u16::MAX as usize;

/// The number of slots in the hash table: far more than any program has payload types.
const NUM_SLOTS: usize = 4096;

/// The number of slots probed before the locked map is consulted.
const MAX_PROBES: usize = 8;

/// Records by number. Untouched pages cost nothing.
static INFOS: [Slot<TypeInfo>; MAX_TYPES] = [const { Slot::empty() }; MAX_TYPES];

/// Records by hash of the id, with linear probing.
static SLOTS: [Slot<TypeInfo>; NUM_SLOTS] = [const { Slot::empty() }; NUM_SLOTS];

/// The authoritative map, of which [`SLOTS`] is a cache.
static REGISTERED: LazyLock<Mutex<Registered>> = LazyLock::new(Mutex::default);

/// A crate of the runtime and the path of a type that it vouches for.
type SharedName = (&'static str, &'static str);

/// A copy of this crate, identified by the address of one of its statics.
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

/// The types with one name: at most one from each copy.
struct NamedTypes {
    first: &'static TypeInfo,
    members: Vec<(CopyId, TypeId)>,
}

impl NamedTypes {
    /// Returns `true` if the candidate of a copy may be the same type. Two types of one copy never
    /// are.
    fn admits(&self, candidate: &TypeInfo, copy: CopyId) -> bool {
        let is_another = |&(member_copy, id)| member_copy == copy && id != candidate.id;
        !self.members.iter().any(is_another) && self.first.agrees_with(candidate)
    }
}

/// Returns the slots that may cache a type, in probing order.
#[inline]
fn probes(id: TypeId) -> impl Iterator<Item = &'static Slot<TypeInfo>> {
    let mut hasher = IdHasher::default();
    id.hash(&mut hasher);
    let start = hasher.finish() as usize;
    (0..MAX_PROBES).map(move |offset| &SLOTS[start.wrapping_add(offset) % NUM_SLOTS])
}

#[inline]
fn find(id: TypeId) -> Option<&'static TypeInfo> {
    // The first empty slot ends the search: slots are filled in probing order and never emptied.
    probes(id).map_while(Slot::get).find(|info| info.id == id)
}

/// Looks up a type whose cell is empty, and fills the cell.
#[cold]
fn fill<T: Value>(cell: &IndexCell<T>) -> TypeIndex {
    let index = register(TypeInfo::new::<T>(TypeIndex::NONE)).index;
    cell.set(index.0);
    index
}

/// Looks up a type that is not cached, and assigns a number if it has none.
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
    /// Returns the record of a type of any copy, assigning a number if it has none.
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

/// The functions with which a library queries the program on a miss in its own tables.
#[derive(Clone, Copy)]
pub(crate) struct TypeTable {
    number: fn(TypeInfo, CopyId) -> &'static TypeInfo,
    info: fn(TypeIndex) -> Option<&'static TypeInfo>,
}

/// In a library, the program's tables.
static PROGRAM: OnceLock<TypeTable> = OnceLock::new();

/// Returns the tables from which this copy of the crate takes its numbers.
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

/// Makes this copy of the crate take its numbers from `table` from now on. Returns `false` if the
/// copy has already assigned numbers itself.
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

/// Returns the program's record of a number that this copy of the crate has not seen yet.
#[cold]
fn info_of_program(index: TypeIndex) -> Option<&'static TypeInfo> {
    let info = (PROGRAM.get()?.info)(index)?;
    INFOS[usize::from(index.0)].set(info);
    Some(info)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::num::NonZero;

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
    fn a_number_is_not_that_of_a_type_whose_cell_is_empty() {
        struct Rare;

        static CELL: IndexCell<Rare> = IndexCell::new();

        impl Value for Rare {
            const MLIR_TYPE: &'static str = "!test.rare";
            const INDEX_CELL: Option<fn() -> &'static IndexCell<Self>> = Some(|| &CELL);
        }

        let other = TypeIndex::of::<i32>();
        assert!(CELL.get().is_none() && !other.is::<Rare>());
        // The question has filled the cell; as before, it is the number of no other type.
        let rare = TypeIndex::of::<Rare>();
        assert!(rare.is::<Rare>() && !rare.is::<i32>() && !other.is::<Rare>());
        // A number that is known before the cell is.
        CELL.set(0);
        assert!(rare.is::<Rare>() && !other.is::<Rare>());
    }

    #[test]
    fn a_cell_has_the_number_that_the_tables_have() {
        struct Known;

        static CELL: IndexCell<Known> = IndexCell::new();

        impl Value for Known {
            const MLIR_TYPE: &'static str = "!test.known";
            const INDEX_CELL: Option<fn() -> &'static IndexCell<Self>> = Some(|| &CELL);
        }

        assert_eq!(TypeIndex::known::<Known>(), None);
        let index = TypeIndex::of::<Known>();
        assert_eq!(
            index,
            register(TypeInfo::new::<Known>(TypeIndex::NONE)).index
        );
        assert_ne!(index, TypeIndex::NONE);
        assert_eq!(CELL.get().map(NonZero::get), Some(index.get()));
        assert_eq!(TypeIndex::known::<Known>(), Some(index));
        assert_eq!(TypeIndex::of::<Known>(), index);
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
        // The locked map finds entries for which the table has no room.
        let candidate = TypeInfo::new::<Tagged<4>>(TypeIndex::NONE);
        let first = register(candidate).index;
        assert_eq!(register(candidate).index, first);
    }

    /// Two types with the same path, in a crate of the runtime.
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
