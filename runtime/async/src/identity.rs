//! Type identity across the copies of the runtime in one process.
//!
//! Within one copy, a type is identified by its [`TypeId`](std::any::TypeId) alone: two types with
//! the same path, from two crates of the same name or from two versions of a crate, are different
//! types. A [kernel library](crate::shared) compiled the runtime's types again, so it has its own
//! `TypeId`s for them. Such a type declares a name by which every copy identifies it, and its crate
//! vouches for the name. A path alone proves nothing, since any crate may have the name of one of
//! the runtime's.
#![expect(unsafe_code, reason = "vouches for the types of this crate")]

use std::fmt;
use std::marker::PhantomData;

/// How copies of the runtime identify a type: see [`Value::IDENTITY`](crate::Value::IDENTITY).
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
    /// The types of two copies are the same if their `TypeId`s are equal.
    pub const BY_TYPE_ID: Self = Self {
        krate: None,
        of: PhantomData,
    };

    /// The types of two copies are the same if their paths and the names of their crates are equal.
    ///
    /// # Safety
    /// 1. Whenever two copies of the runtime have equal fingerprints, all types declared with the
    ///    same path and the same `krate` were compiled from the same source. The name of a crate
    ///    with its version ensures this.
    #[must_use]
    pub const unsafe fn by_path_in(krate: &'static str) -> Self {
        Self {
            krate: Some(krate),
            of: PhantomData,
        }
    }

    /// Returns the crate that vouches for the path, if any.
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

/// Returns the identity of a payload type that this crate implements `Value` for.
pub(crate) const fn of_this_crate<T>() -> TypeIdentity<T> {
    // SAFETY: 1: the source of this crate is part of the fingerprint. The types are its own, those
    // of `std`, numbers of `tfrt-support`, whose source is also part of it, and half-precision
    // numbers, which are 16 bits in every version.
    unsafe { TypeIdentity::by_path_in(concat!("tfrt-async ", env!("CARGO_PKG_VERSION"))) }
}
