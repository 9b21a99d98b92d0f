//! Typed ids and the dense maps they index.
//!
//! An id is a newtype over `u32`, so a register number cannot be mistaken for a kernel number. A
//! [`PrimaryMap`] allocates ids as it grows; a [`SecondaryMap`] stores further data for ids that
//! another map has allocated.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An id: a position in a [`PrimaryMap`], under a type of its own.
///
/// Made by [`define_id!`](crate::define_id).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the id of an entity",
    label = "not defined by `define_id!`"
)]
pub trait EntityId: Copy + Eq + fmt::Debug {
    /// Returns the id of position `index`.
    ///
    /// # Panics
    /// If `index` does not fit in 32 bits.
    fn from_index(index: usize) -> Self;

    /// Returns the position of the id.
    fn index(self) -> usize;
}

/// Defines an id: a newtype over `u32` that implements [`EntityId`](crate::entity::EntityId).
///
/// ```
/// use tfrt_support::entity::{EntityId, PrimaryMap};
///
/// tfrt_support::define_id! {
///     /// A register of a function body.
///     pub struct RegisterId("r");
/// }
///
/// let mut registers: PrimaryMap<RegisterId, &str> = PrimaryMap::new();
/// let first = registers.push("x");
/// assert_eq!(registers[first], "x");
/// assert_eq!(format!("{first:?}"), "r0");
/// ```
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($prefix:literal);) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $crate::entity::EntityId for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("an id fits in 32 bits"))
            }

            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

/// A growing table that allocates ids of type `K`.
#[derive(Clone, PartialEq, Eq)]
pub struct PrimaryMap<K, V> {
    values: Vec<V>,
    key: PhantomData<fn() -> K>,
}

impl<K: EntityId, V> PrimaryMap<K, V> {
    /// Creates an empty table.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            values: Vec::new(),
            key: PhantomData,
        }
    }

    /// Appends `value` and returns its id.
    pub fn push(&mut self, value: V) -> K {
        let id = K::from_index(self.values.len());
        self.values.push(value);
        id
    }

    /// Returns the id that the next [`push`](Self::push) will return.
    #[must_use]
    pub fn next_id(&self) -> K {
        K::from_index(self.values.len())
    }

    /// Returns the value of `id`, if the table is that long.
    #[must_use]
    pub fn get(&self, id: K) -> Option<&V> {
        self.values.get(id.index())
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns `true` if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, V> {
        (0..self.values.len()).map(K::from_index)
    }

    /// Returns the values, in order of their ids.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.values.iter()
    }

    /// Returns the ids with their values, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &V)> + ExactSizeIterator {
        self.values
            .iter()
            .enumerate()
            .map(|(index, value)| (K::from_index(index), value))
    }
}

impl<K: EntityId, V> Default for PrimaryMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: EntityId, V> Index<K> for PrimaryMap<K, V> {
    type Output = V;

    #[inline]
    fn index(&self, id: K) -> &V {
        &self.values[id.index()]
    }
}

impl<K: EntityId, V> IndexMut<K> for PrimaryMap<K, V> {
    #[inline]
    fn index_mut(&mut self, id: K) -> &mut V {
        &mut self.values[id.index()]
    }
}

impl<K: EntityId, V> FromIterator<V> for PrimaryMap<K, V> {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        Self {
            values: values.into_iter().collect(),
            key: PhantomData,
        }
    }
}

impl<K: EntityId, V: fmt::Debug> fmt::Debug for PrimaryMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// Facts about ids of another table; an id without a fact reads as the default.
#[derive(Clone)]
pub struct SecondaryMap<K, V> {
    values: Vec<V>,
    default: V,
    key: PhantomData<fn() -> K>,
}

impl<K: EntityId, V: Clone> SecondaryMap<K, V> {
    /// Creates a map in which every id has the value `default`.
    #[must_use]
    pub fn with_default(default: V) -> Self {
        Self {
            values: Vec::new(),
            default,
            key: PhantomData,
        }
    }
}

impl<K: EntityId, V: Clone + Default> Default for SecondaryMap<K, V> {
    fn default() -> Self {
        Self::with_default(V::default())
    }
}

impl<K: EntityId, V: Clone> Index<K> for SecondaryMap<K, V> {
    type Output = V;

    fn index(&self, id: K) -> &V {
        self.values.get(id.index()).unwrap_or(&self.default)
    }
}

impl<K: EntityId, V: Clone> IndexMut<K> for SecondaryMap<K, V> {
    fn index_mut(&mut self, id: K) -> &mut V {
        if id.index() >= self.values.len() {
            self.values.resize(id.index() + 1, self.default.clone());
        }
        &mut self.values[id.index()]
    }
}

impl<K: EntityId, V: fmt::Debug> fmt::Debug for SecondaryMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.values).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    define_id! {
        struct Id("id");
    }

    #[test]
    fn ids_are_handed_out_in_order() {
        let mut map: PrimaryMap<Id, char> = PrimaryMap::new();
        let (a, b) = (map.push('a'), map.push('b'));
        assert_eq!(map.iter().collect::<Vec<_>>(), [(a, &'a'), (b, &'b')]);
        assert_eq!(format!("{map:?}"), "{id0: 'a', id1: 'b'}");
    }

    #[test]
    fn ids_without_a_fact_read_as_the_default() {
        let mut map: SecondaryMap<Id, u8> = SecondaryMap::with_default(7);
        map[Id::from_index(2)] = 1;
        assert_eq!(
            [
                map[Id::from_index(0)],
                map[Id::from_index(2)],
                map[Id::from_index(9)]
            ],
            [7, 1, 7]
        );
    }
}
