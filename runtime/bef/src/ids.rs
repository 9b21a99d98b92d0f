//! Ids: positions in the tables of a file, and offsets into its sections. Each is a type of its own.

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
    pub struct TypeIndex("type");
}

define_id! {
    /// An operation of a function body: its position in the kernel table. Position 0 is the pseudo kernel.
    pub struct KernelId("k");
}

define_id! {
    /// A slot of a function body that holds one value.
    pub struct RegisterId("r");
}

define_id! {
    /// Where a string starts in the Strings section, in bytes.
    pub struct StringOffset("str+");
}

define_id! {
    /// Where an attribute starts in the Attributes section, in bytes.
    pub struct AttributeOffset("attr+");
}

define_id! {
    /// Where a location record starts in the Locations section, in bytes; or, beyond the section, a token that only tells
    /// one operation from another.
    pub struct LocationOffset("loc+");
}

/// A list of ids, in place in a file.
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
    /// The ids numbered by `words`.
    #[must_use]
    pub const fn new(words: &'a [u32]) -> Self {
        Self {
            words,
            id: PhantomData,
        }
    }

    /// The ids as numbers.
    #[must_use]
    pub const fn as_words(self) -> &'a [u32] {
        self.words
    }

    /// How many ids there are.
    #[must_use]
    pub const fn len(self) -> usize {
        self.words.len()
    }

    /// Whether there is no id.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// Id number `index`, if there are that many.
    #[inline]
    #[must_use]
    pub fn get(self, index: usize) -> Option<K> {
        self.words
            .get(index)
            .map(|&word| K::from_index(word as usize))
    }

    /// The ids, in order.
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

/// The number that an id is stored as.
pub(crate) fn raw<K: EntityId>(id: K) -> u32 {
    // An id holds 32 bits, by `define_id!`.
    id.index() as u32
}

/// The id that is stored as `raw`.
pub(crate) fn id<K: EntityId>(raw: u32) -> K {
    K::from_index(raw as usize)
}
