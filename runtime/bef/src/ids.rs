//! Ids: positions in the tables of a file, and offsets into its sections. Each has its own type.

use std::fmt;
use std::marker::PhantomData;

use tfrt_support::define_id;
use tfrt_support::entity::EntityId;

define_id! {
    /// A function: its position in the FunctionIndex section.
    pub struct FunctionId("fn");
}

define_id! {
    /// A kernel's implementation: the position of its name in the Kernels section.
    pub struct KernelCode("code");
}

define_id! {
    /// A type: the position of its spelling in the Types section.
    pub struct TypeNameId("type");
}

define_id! {
    /// An operation of a function body: its position in the kernel table. Position 0 is the pseudo
    /// kernel.
    pub struct KernelId("k");
}

define_id! {
    /// A slot of a function body that holds one value.
    pub struct RegisterId("r");
}

define_id! {
    /// The offset of a string in the Strings section, in bytes.
    pub struct StringOffset("str+");
}

define_id! {
    /// The offset of an attribute in the Attributes section, in bytes.
    pub struct AttributeOffset("attr+");
}

define_id! {
    /// The offset of a location record in the Locations section, in bytes; or, beyond the section,
    /// a token that only distinguishes operations.
    pub struct LocationOffset("loc+");
}

/// A list of ids, read in place from a file.
///
/// ```
/// use tfrt_bef::RegisterId;
/// use tfrt_bef::ids::Ids;
///
/// let registers: Ids<'_, RegisterId> = Ids::new(&[3, 5]);
/// assert_eq!(registers.iter().map(|register| format!("{register:?}")).collect::<Vec<_>>(), ["r3", "r5"]);
/// assert_eq!(registers.as_words(), [3, 5]);
/// ```
pub struct Ids<'a, K> {
    words: &'a [u32],
    id: PhantomData<fn() -> K>,
}

impl<'a, K: EntityId> Ids<'a, K> {
    /// Creates a list of the ids numbered by `words`.
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Self {
            words,
            id: PhantomData,
        }
    }

    /// Returns the ids as numbers.
    #[must_use]
    pub const fn as_words(self) -> &'a [u32] {
        self.words
    }

    /// Returns the number of ids.
    #[must_use]
    pub const fn len(self) -> usize {
        self.words.len()
    }

    /// Returns `true` if there are no ids.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// Returns the id at `index`, if there is one.
    #[inline]
    #[must_use]
    pub fn get(self, index: usize) -> Option<K> {
        self.words
            .get(index)
            .map(|&word| K::from_index(word as usize))
    }

    /// Returns an iterator over the ids, in order.
    #[inline]
    pub fn iter(self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<'a, K> {
        self.words.iter().map(|&word| K::from_index(word as usize))
    }
}

impl<K> Clone for Ids<'_, K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for Ids<'_, K> {}

impl<K: EntityId> fmt::Debug for Ids<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

/// Returns the stored number of an id.
pub(crate) fn raw<K: EntityId>(id: K) -> u32 {
    // `define_id!` ensures that an id fits in 32 bits.
    id.index() as u32
}

/// Returns the id stored as `raw`.
pub(crate) fn id<K: EntityId>(raw: u32) -> K {
    K::from_index(raw as usize)
}
