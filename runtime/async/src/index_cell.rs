//! A place for the number of one payload type.
//!
//! Tables find the number of any type by a hash of its id, which takes a dozen instructions: more
//! than the rest of a type check. To read a static takes two.

use std::fmt;
use std::marker::PhantomData;
use std::num::NonZero;
// `std`'s atomics under loom, too: those of loom cannot be part of a static. The edge is the same
// as that of the slots of the tables, for which there is a model.
use std::sync::atomic::{AtomicU16, Ordering};

/// The number of a payload type, for code that reads it from a static instead of looking it up: see
/// [`Value::INDEX_CELL`](crate::Value::INDEX_CELL).
///
/// ```
/// use tfrt_async::{AnyRef, IndexCell, Value};
///
/// struct Coordinate { x: i32, y: i32 }
///
/// static CELL: IndexCell<Coordinate> = IndexCell::new();
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
///     const INDEX_CELL: Option<fn() -> &'static IndexCell<Self>> = Some(|| &CELL);
/// }
///
/// assert!(AnyRef::available(Coordinate { x: 1, y: 2 }).is::<Coordinate>());
/// ```
///
/// A cell belongs to exactly one type: two types with one cell would be taken for each other. So
/// the cell of a type does not become that of another one by a conversion of lifetimes:
///
/// ```compile_fail,E0308
/// use tfrt_async::IndexCell;
///
/// static OF_ANY: IndexCell<fn(&u8)> = IndexCell::new();
/// static OF_SOME: &IndexCell<fn(&'static u8)> = &OF_ANY;
/// ```
pub struct IndexCell<T: ?Sized> {
    /// The number, or zero if nobody has asked for it yet.
    index: AtomicU16,
    /// Invariant, see above.
    of: PhantomData<fn(&T) -> *mut T>,
}

impl<T: ?Sized> IndexCell<T> {
    /// Creates a cell for the number of `T`. It is filled when the number is first asked for.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            index: AtomicU16::new(0),
            of: PhantomData,
        }
    }

    /// Returns the number, if it is known.
    #[inline]
    pub(crate) fn get(&self) -> Option<NonZero<u16>> {
        NonZero::new(self.get_raw())
    }

    /// Returns the number, or zero if it is not known.
    #[inline]
    pub(crate) fn get_raw(&self) -> u16 {
        // Acquire pairs with the release in `set`: who has the number finds the record of the type.
        self.index.load(Ordering::Acquire)
    }

    /// Fills the cell with the number of `T`.
    pub(crate) fn set(&self, index: u16) {
        // Release pairs with the acquire in `get`.
        self.index.store(index, Ordering::Release);
    }
}

impl<T: ?Sized> Default for IndexCell<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: ?Sized> fmt::Debug for IndexCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IndexCell").field(&self.get()).finish()
    }
}
