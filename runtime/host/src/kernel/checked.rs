//! Checked types for naming markers.
//!
//! An expansion writes `ByRef<<Point as IsValue>::This, 0>` rather than `ByRef<Point, 0>`. If
//! `Point` is not a value, the compiler reports that once, where the author wrote `Point`; other
//! uses of the type report nothing.

use tfrt_async::Value;
use tfrt_support::Error;
use tfrt_support::IntoError;

use crate::kernel::AttrParam;
use crate::kernel::callable::Callable;
use crate::kernel::object::Object;
use crate::kernel::preallocated::{Preallocated, Shaped};
use crate::kernel::resource::Resource;
use crate::kernel::result::FallibleType;
use crate::kernel::workspace::WorkspaceElement;

/// A type of values.
pub trait IsValue {
    /// The type itself.
    type This: Value;
}

#[diagnostic::do_not_recommend]
impl<T: Value> IsValue for T {
    type This = T;
}

/// A type whose values a kernel receives as copies.
pub trait IsCopied {
    /// The type itself.
    type This: Value + Clone;
}

#[diagnostic::do_not_recommend]
impl<T: Value + Clone> IsCopied for T {
    type This = T;
}

/// A type whose values have metadata.
pub trait IsShaped {
    /// The type itself.
    type This: Shaped;
}

#[diagnostic::do_not_recommend]
impl<T: Shaped> IsShaped for T {
    type This = T;
}

/// A type whose values are allocated before a kernel fills them.
pub trait IsPreallocated {
    /// The type itself.
    type This: Preallocated;
}

#[diagnostic::do_not_recommend]
impl<T: Preallocated> IsPreallocated for T {
    type This = T;
}

/// A type that attributes can be read as.
pub trait IsAttribute {
    /// The type itself.
    type This: AttrParam + ?Sized;
}

#[diagnostic::do_not_recommend]
impl<A: AttrParam + ?Sized> IsAttribute for A {
    type This = A;
}

/// A trait object that represents values of several types.
pub trait IsObject {
    /// The type itself.
    type This: Object + ?Sized;
}

#[diagnostic::do_not_recommend]
impl<O: Object + ?Sized> IsObject for O {
    type This = O;
}

/// A type of objects that requests share.
pub trait IsResource {
    /// The type itself.
    type This: Resource;
}

#[diagnostic::do_not_recommend]
impl<T: Resource> IsResource for T {
    type This = T;
}

/// A function with a known signature.
pub trait IsCallable {
    /// The type itself.
    type This: Callable;
}

impl<C: Callable> IsCallable for C {
    type This = C;
}

/// An element type of a workspace.
pub trait IsElement {
    /// The type itself.
    type This: WorkspaceElement;
}

#[diagnostic::do_not_recommend]
impl<T: WorkspaceElement> IsElement for T {
    type This = T;
}

/// A `Result` that a kernel can return.
pub trait IsFallible {
    /// The success type.
    type Ok;
    /// The type itself.
    type This: FallibleType<Ok = Self::Ok>;
}

#[diagnostic::do_not_recommend]
impl<R: FallibleType> IsFallible for R {
    type Ok = R::Ok;
    type This = R;
}

/// What the function of a kernel with preallocated results may return: nothing, or a `Result`.
#[diagnostic::on_unimplemented(
    message = "a kernel that fills preallocated results must return nothing or `Result<()>`",
    label = "returns `{Self}`"
)]
pub trait Finished {
    /// Converts to a `Result`.
    ///
    /// # Errors
    /// The error that the function returned.
    fn finished(self) -> Result<(), Error>;
}

impl Finished for () {
    #[inline]
    fn finished(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<E: IntoError> Finished for Result<(), E> {
    #[inline]
    fn finished(self) -> Result<(), Error> {
        self.map_err(IntoError::into_error)
    }
}
