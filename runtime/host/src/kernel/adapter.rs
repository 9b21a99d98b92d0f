//! Functions as [`Kernel`]s: what an expansion hands over is a closure that only calls the author's function.
//!
//! A closure that captures nothing has no bytes, so that a descriptor needs no place for it: the generic code that is
//! compiled for its type makes another one out of nothing whenever the kernel runs.
//!
//! Invariant A1: an [`Adapter`] names the type of a closure that existed, is `Copy` and has no bytes. Upheld by the
//! constructors of [`KernelDescriptor`] below, which are given the closure and are the only ones to name adapters.
#![expect(unsafe_code, reason = "copies closures that have no bytes")]

use std::marker::PhantomData;
use std::ptr::NonNull;

use tfrt_async::pool::PooledFuture;
use tfrt_ods::OpDef;

use crate::kernel::descriptor::KernelDescriptor;
use crate::kernel::param::{Arguments, ParamList};
use crate::kernel::result::{ResultPart, Returned};
use crate::kernel::{AsyncKernel, Kernel};

/// A declaration, as a type. Expansions make one for each kernel.
pub trait Declared: 'static {
    /// The declaration.
    const OP: &'static OpDef;
}

/// A closure that captures nothing.
pub trait Closure: Copy + Send + Sync + 'static {}

impl<F: Copy + Send + Sync + 'static> Closure for F {}

/// Says to the compiler that what is borrowed from a frame outlives what is borrowed from what is held.
pub type Within<'h, 'f> = PhantomData<&'h &'f ()>;

/// What an `async fn` returns.
pub type Pending<'h, R> = PooledFuture<'h, Returned<R>>;

/// A closure of type `F`, which takes what `P` binds and gives what `R` stands for, declared as `D`.
struct Adapter<D, P, R, F>(PhantomData<(D, P, R, F)>);

impl<D, P, R, F: Closure> Adapter<D, P, R, F> {
    const HAS_NO_BYTES: () = assert!(size_of::<F>() == 0, "a kernel captures nothing");

    /// The closure.
    #[inline]
    fn closure() -> F {
        let () = Self::HAS_NO_BYTES;
        // SAFETY: A1: the pointer is aligned and is read for no bytes, and `Copy` lets there be any number of them.
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

/// Making descriptors of closures, which are never called here: their types say it all.
impl KernelDescriptor {
    /// A function that runs where it is called.
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

    /// A function that runs on the blocking pool.
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

    /// An `async fn`, polled on the work queue.
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
}
