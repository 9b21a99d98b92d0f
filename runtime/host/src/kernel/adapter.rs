//! Functions as [`Kernel`]s: an expansion passes a closure that only calls the author's function.
//!
//! A closure that captures nothing is zero-sized, so a descriptor does not have to store it:
//! generic code compiled for its type creates another one whenever the kernel runs.
//!
//! Invariant A1: an [`Adapter`] names the type of a closure that existed, is `Copy` and is
//! zero-sized. Upheld by the constructors of [`KernelDescriptor`] below, which receive the closure
//! and are the only code that names adapters.
#![expect(
    unsafe_code,
    reason = "copies closures that have no bytes, and polls futures in place"
)]

use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use tfrt_async::pool::PooledFuture;
use tfrt_ods::OpDef;

use crate::kernel::descriptor::KernelDescriptor;
use crate::kernel::param::{Arguments, ParamList};
use crate::kernel::result::{ResultPart, Returned};
use crate::kernel::{AsyncKernel, Kernel};

/// A declaration as a type. Expansions define one for each kernel.
pub trait Declared: 'static {
    /// The declaration.
    const OP: &'static OpDef;
}

/// A closure that captures nothing.
pub trait Closure: Copy + Send + Sync + 'static {}

impl<F: Copy + Send + Sync + 'static> Closure for F {}

/// Tells the compiler that borrows from a frame outlive borrows from held parameters.
pub type Within<'h, 'f> = PhantomData<&'h &'f ()>;

/// The future of an `async fn`.
pub type Pending<'h, R> = PooledFuture<'h, Returned<R>>;

/// The future of an `async fn` that borrows nothing.
///
/// Invariant A2: it is `Send`. Upheld by [`owned`], the only constructor, which reports a future
/// that is not. Its users need no bound of their own, so the compiler reports it once.
#[derive(Debug)]
pub struct Owned<T>(T);

// SAFETY: A2.
unsafe impl<T> Send for Owned<T> {}

/// Marks a future that borrows nothing.
#[inline]
pub fn owned<T: Future + Send + 'static>(future: T) -> Owned<T> {
    Owned(future)
}

impl<T: Future> Future for Owned<T> {
    type Output = T::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T::Output> {
        // SAFETY: the future is pinned with its owner, which never moves it or gives access to it.
        unsafe { self.map_unchecked_mut(|owned| &mut owned.0) }.poll(context)
    }
}

/// A closure of type `F`, with the parameters `P` and the results `R`, declared as `D`.
struct Adapter<D, P, R, F>(PhantomData<(D, P, R, F)>);

impl<D, P, R, F: Closure> Adapter<D, P, R, F> {
    const HAS_NO_BYTES: () = assert!(size_of::<F>() == 0, "a kernel captures nothing");

    /// Returns the closure.
    #[inline]
    fn closure() -> F {
        let () = Self::HAS_NO_BYTES;
        // SAFETY: A1: the pointer is aligned and the read has size zero; `Copy` permits any number
        // of copies.
        unsafe { NonNull::<F>::dangling().read() }
    }
}

impl<D, P, R, F> Kernel for Adapter<D, P, R, F>
where
    D: Declared,
    P: ParamList + 'static,
    R: ResultPart + 'static,
    F: Closure + for<'h, 'f> Fn(P::Arguments<'h, 'f>) -> R::Returned,
{
    type Params = P;
    type Results = R;
    const OP: &'static OpDef = D::OP;

    #[inline]
    fn call(arguments: Arguments<'_, '_, P>) -> Returned<R> {
        Self::closure()(arguments)
    }
}

impl<D, P, R, F> AsyncKernel for Adapter<D, P, R, F>
where
    D: Declared,
    P: ParamList + 'static,
    R: ResultPart + 'static,
    F: Closure + for<'h, 'f> Fn(Within<'h, 'f>, P::Arguments<'h, 'f>) -> Pending<'h, R>,
{
    type Params = P;
    type Results = R;
    const OP: &'static OpDef = D::OP;

    #[inline]
    fn call<'h, 'f: 'h>(
        arguments: Arguments<'h, 'f, P>,
    ) -> impl Future<Output = Returned<R>> + Send {
        Self::closure()(PhantomData, arguments)
    }
}

/// Like [`Adapter`], for an `async fn` whose future, of type `T`, borrows nothing.
struct OwnedAdapter<D, P, R, F, T>(PhantomData<(D, P, R, F, T)>);

impl<D, P, R, F, T> AsyncKernel for OwnedAdapter<D, P, R, F, T>
where
    D: Declared,
    P: ParamList + 'static,
    R: ResultPart + 'static,
    F: Closure + for<'h, 'f> Fn(P::Arguments<'h, 'f>) -> Owned<T>,
    T: Future<Output = Returned<R>> + 'static,
{
    type Params = P;
    type Results = R;
    const OP: &'static OpDef = D::OP;

    #[inline]
    fn call<'h, 'f: 'h>(
        arguments: Arguments<'h, 'f, P>,
    ) -> impl Future<Output = Returned<R>> + Send {
        Adapter::<D, P, R, F>::closure()(arguments)
    }
}

/// Constructors from closures, which use only the type of the closure and never call it here.
impl KernelDescriptor {
    /// Creates the descriptor of a function that runs on the calling thread.
    #[must_use]
    pub const fn new<D, P, R, F>(_closure: F) -> Self
    where
        D: Declared,
        P: ParamList + 'static,
        R: ResultPart + 'static,
        F: Closure + for<'h, 'f> Fn(P::Arguments<'h, 'f>) -> R::Returned,
    {
        Self::of::<Adapter<D, P, R, F>>()
    }

    /// Creates the descriptor of a function that runs on the blocking pool.
    #[must_use]
    pub const fn new_blocking<D, P, R, F>(_closure: F) -> Self
    where
        D: Declared,
        P: ParamList + 'static,
        R: ResultPart + 'static,
        F: Closure + for<'h, 'f> Fn(P::Arguments<'h, 'f>) -> R::Returned,
    {
        Self::blocking::<Adapter<D, P, R, F>>()
    }

    /// Creates the descriptor of an `async fn`, polled on the work queue.
    #[must_use]
    pub const fn new_async<D, P, R, F>(_closure: F) -> Self
    where
        D: Declared,
        P: ParamList + 'static,
        R: ResultPart + 'static,
        F: Closure + for<'h, 'f> Fn(Within<'h, 'f>, P::Arguments<'h, 'f>) -> Pending<'h, R>,
    {
        Self::future::<Adapter<D, P, R, F>>()
    }

    /// Like [`new_async`](Self::new_async), for an `async fn` that borrows none of its arguments.
    /// Its future has one type, so it needs no block of its own.
    #[must_use]
    pub const fn new_owned_async<D, P, R, F, T>(_closure: F) -> Self
    where
        D: Declared,
        P: ParamList + 'static,
        R: ResultPart + 'static,
        F: Closure + for<'h, 'f> Fn(P::Arguments<'h, 'f>) -> Owned<T>,
        T: Future<Output = Returned<R>> + 'static,
    {
        Self::future::<OwnedAdapter<D, P, R, F, T>>()
    }
}
