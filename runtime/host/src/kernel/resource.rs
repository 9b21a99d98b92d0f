//! Resources as parameters: objects shared by many runs of kernels.
#![expect(unsafe_code, reason = "implements a trait with duties")]

use std::any::type_name;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use tfrt_support::{Error, ErrorCode};

use crate::kernel::param::{Param, Sealed};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;
use crate::services::execution::ExecutionContext;

/// The scope in which a resource is shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceScope {
    /// All requests of a host. The resource is dropped with the host.
    Host,
    /// The requests of one client: those that were built with the same
    /// [`ResourceContext`](crate::ResourceContext).
    Client,
    /// The kernels of one request.
    Request,
}

/// An object that kernels share: a parameter of type [`Res<T>`](Res) binds it.
///
/// It is created when a kernel first uses it. `#[derive(Resource)]` implements the trait for types
/// with a default.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use tfrt_host::ExecutionContext;
/// use tfrt_host::kernel::{Res, Resource, ResourceScope};
/// use tfrt_support::Error;
///
/// struct Counter(AtomicU64);
///
/// impl Resource for Counter {
///     const SCOPE: ResourceScope = ResourceScope::Request;
///
///     fn create(_ctx: &ExecutionContext) -> Result<Self, Error> {
///         Ok(Counter(AtomicU64::new(0)))
///     }
/// }
///
/// fn count(counter: Res<Counter>) -> u64 {
///     counter.0.fetch_add(1, Ordering::Relaxed)
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a resource",
    label = "not a `Resource`",
    note = "add `#[derive(Default, Resource)] #[resource(host)]` to your type, with `host`, \
            `client` or `request` as the scope"
)]
pub trait Resource: Send + Sync + Sized + 'static {
    /// The scope in which one object is shared.
    const SCOPE: ResourceScope;

    /// Creates the object. Other users wait meanwhile.
    ///
    /// # Errors
    /// The error of creating the object. Later uses get the same error.
    fn create(ctx: &ExecutionContext) -> Result<Self, Error>;
}

/// A resource, shared.
///
/// Looking one up means looking up a type in a table behind a lock. A kernel for which that is too
/// slow passes the resource from kernel to kernel as a value.
pub struct Res<T>(Arc<Made<T>>);

/// The outcome of creating a resource.
struct Made<T>(Result<T, Error>);

impl<T: Resource> Res<T> {
    /// Returns the resource that kernels in this context share.
    ///
    /// # Errors
    /// If it could not be created, or if it belongs to a client and the request has no resources.
    pub fn of(ctx: &ExecutionContext) -> Result<Self, Error> {
        let make = || Made(T::create(ctx));
        let made = match T::SCOPE {
            ResourceScope::Host => ctx.host().shared_context(make),
            ResourceScope::Request => ctx.request().shared_context(make),
            ResourceScope::Client => match ctx.resources() {
                Some(resources) => resources.get_or_create(type_name::<T>(), make)?,
                None => return Err(no_resources::<T>()),
            },
        };
        match &made.0 {
            Ok(_) => Ok(Self(made)),
            Err(error) => Err(error.clone()),
        }
    }
}

#[cold]
fn no_resources<T>() -> Error {
    let name = type_name::<T>();
    Error::new(format!(
        "the request has no resource context to hold `{name}`"
    ))
    .with_code(ErrorCode::FailedPrecondition)
}

impl<T> Deref for Res<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match &self.0.0 {
            Ok(object) => object,
            Err(_) => unreachable!("a resource that could not be made is not given out"),
        }
    }
}

impl<T> Clone for Res<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: fmt::Debug> fmt::Debug for Res<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// The marker of `Res<T>`, and of `&Res<T>` if `IS_LENT`.
#[derive(Debug)]
pub struct Shared<T, const IS_LENT: bool>(PhantomData<T>);

impl<T, const IS_LENT: bool> Sealed for Shared<T, IS_LENT> {}

macro_rules! impl_shared {
    ($is_lent:literal, $argument:ty, |$held:ident| $lend:expr) => {
        impl<T: Resource> Param for Shared<T, $is_lent> {
            type Held<'f> = Res<T>;
            type Argument<'h, 'f> = $argument;
            const IS_DIRECT: bool = true;
            const READS_CALL: bool = true;
            const READS_FILE: bool = false;

            #[inline]
            unsafe fn hold<'f, S: Source<'f>>(source: S) -> Result<Self::Held<'f>, Error> {
                Res::of(source.exec_ctx())
            }

            #[inline]
            fn lend<'h, 'f>($held: &'h mut Self::Held<'f>) -> Self::Argument<'h, 'f> {
                $lend
            }

            fn check<'a, S: Source<'a>>(_source: S) -> Result<(), Error> {
                Ok(())
            }

            fn describe(_operands: &mut TypeList) {}
        }
    };
}

impl_shared!(false, Res<T>, |held| held.clone());
impl_shared!(true, &'h Res<T>, |held| held);
