//! By which name program and kernel libraries know the types of this crate.
#![expect(unsafe_code, reason = "vouches for the types of this crate")]

use tfrt_async::identity::TypeIdentity;

/// Returns the identity of a type of this crate.
pub(crate) const fn of_this_crate<T>() -> TypeIdentity<T> {
    // SAFETY: 1: the name has the version of this crate, whose source is part of the fingerprint of
    // the runtime.
    unsafe { TypeIdentity::by_path_in(concat!("tfrt-data ", env!("CARGO_PKG_VERSION"))) }
}
