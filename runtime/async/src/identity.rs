//! How copies of the runtime in one process agree on what a type is.
//!
//! Within one copy, a type is known by its [`TypeId`](std::any::TypeId) alone: two types of one path, from two crates of one
//! name or from two versions of a crate, are two types. A [kernel library](crate::shared) has `TypeId`s of its own for the types
//! of the runtime, which it compiled once more. Such a type says by which name every copy knows it, and the crate that says so
//! vouches for it: a path alone proves nothing, since anybody may call a crate as one of the runtime's is called.
#![expect(unsafe_code, reason = "vouches for the types of this crate")]

use std::fmt;
use std::marker::PhantomData;

/// How copies of the runtime know a type: see [`Value::IDENTITY`](crate::Value::IDENTITY).
///
/// ```
/// use tfrt_async::Value;
/// use tfrt_async::identity::TypeIdentity;
///
/// struct Coordinate { x: i32, y: i32 }
///
/// impl Value for Coordinate {
///     const MLIR_TYPE: &'static str = "!my.coordinate";
///     // This is the default, and right for all types but those of the runtime.
///     const IDENTITY: TypeIdentity<Self> = TypeIdentity::BY_TYPE_ID;
/// }
/// ```
pub struct TypeIdentity<T: ?Sized> {
    krate: Option<&'static str>,
    of: PhantomData<fn() -> T>,
}

impl<T: ?Sized> TypeIdentity<T> {
    /// The type is the same one in two copies if both know it by one `TypeId`.
    pub const BY_TYPE_ID: Self = Self {
        krate: None,
        of: PhantomData,
    };

    /// The type is the same one in two copies if both know it by one path, and its crate by one name.
    ///
    /// # Safety
    /// 1. Whenever two copies of the runtime have equal fingerprints, whatever says this of a type of the same path and of the
    ///    same `krate` was compiled from the same source: the name of a crate with its version says so.
    #[must_use]
    pub const unsafe fn by_path_in(krate: &'static str) -> Self {
        Self {
            krate: Some(krate),
            of: PhantomData,
        }
    }

    /// The crate that vouches for the path, if one does.
    pub(crate) const fn krate(&self) -> Option<&'static str> {
        self.krate
    }
}

impl<T: ?Sized> fmt::Debug for TypeIdentity<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypeIdentity")
            .field("krate", &self.krate)
            .finish()
    }
}

/// The identity of a type that this crate makes a value of.
pub(crate) const fn of_this_crate<T>() -> TypeIdentity<T> {
    // SAFETY: 1: the source of this crate is part of the fingerprint. The types are its own, those of `std`, numbers of
    // `tfrt-support`, whose source is part of it too, and half-precision numbers, which are 16 bits in every version.
    unsafe { TypeIdentity::by_path_in(concat!("tfrt-async ", env!("CARGO_PKG_VERSION"))) }
}
