//! Items that kernel libraries bring along for crates above this one.
//!
//! This crate knows kernels, declarations, native functions and dialects. A crate above it may
//! collect other items at link time; those of a library are collected in the library's own copy of
//! that crate. An extension carries them over: a function of the library that returns them as a
//! value, whose type both copies identify like that of any other payload.
//!
//! ```text
//!  library: inventory ──items()──► AnyRef ──get::<T>()──► program
//! ```

use std::fmt;

use tfrt_async::AnyRef;

/// The size and the alignment of a type.
pub(super) type Layout = (usize, usize);

/// Items of a crate above this one that a kernel library brings along, collected at link time.
///
/// ```
/// use tfrt_async::{AnyRef, ByteString};
/// use tfrt_host::kernel::library::LibraryExtension;
///
/// tfrt_host::__private::submit! {
///     LibraryExtension {
///         name: "my greetings",
///         layouts: &[],
///         items: || AnyRef::available(ByteString::from("hello")),
///     }
/// }
///
/// let greetings = LibraryExtension::linked("my greetings").expect("it is linked");
/// assert_eq!((greetings.items)().get::<ByteString>().map(|text| text.as_bytes()), Some(&b"hello"[..]));
/// ```
#[derive(Clone, Copy)]
pub struct LibraryExtension {
    /// The name of the items, with that of their crate.
    pub name: &'static str,
    /// The sizes and alignments of the types that the items refer to. A program refuses a library
    /// in which they differ.
    pub layouts: &'static [Layout],
    /// Returns the items that are linked. It must not panic.
    pub items: fn() -> AnyRef,
}

inventory::collect!(LibraryExtension);

impl LibraryExtension {
    /// Returns the extension of this name that is linked into this copy of the runtime.
    #[must_use]
    pub fn linked(name: &str) -> Option<&'static Self> {
        let mut all = inventory::iter::<Self>.into_iter();
        all.find(|extension| extension.name == name)
    }

    /// Returns all extensions that are linked into this copy of the runtime.
    pub(super) fn all_linked() -> impl Iterator<Item = Self> {
        inventory::iter::<Self>.into_iter().copied()
    }

    /// Returns `true` if this copy of the runtime has the extension with other layouts.
    pub(super) fn differs_here(&self) -> bool {
        Self::linked(self.name).is_some_and(|own| own.layouts != self.layouts)
    }
}

impl fmt::Debug for LibraryExtension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibraryExtension")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: LibraryExtension = LibraryExtension {
        name: "extension under test",
        layouts: &[(8, 8)],
        items: AnyRef::ready_chain,
    };

    inventory::submit!(HERE);

    #[test]
    fn other_layouts_differ_and_unknown_names_do_not() {
        assert!(!HERE.differs_here());
        let changed = |layouts| LibraryExtension { layouts, ..HERE };
        assert!(changed(&[(16, 8)]).differs_here());
        assert!(changed(&[]).differs_here());
        let unknown = LibraryExtension {
            name: "something else",
            layouts: &[],
            ..HERE
        };
        assert!(!unknown.differs_here());
    }
}
