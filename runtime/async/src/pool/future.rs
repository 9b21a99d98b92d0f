//! Futures of any type in pooled memory.
#![expect(unsafe_code, reason = "erases the type of a future")]

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

use super::{Pooled, leak};

/// Like a `Pin<Box<dyn Future<Output = T> + Send>>`, in memory that threads keep for reuse.
///
/// Invariant: `place` points to an `F` that was passed to `leak` and that this owns; `poll` and
/// `drop` are `poll::<F>` and `drop_future::<F>`. Upheld by `new`.
///
/// ```
/// use std::task::{Context, Poll, Waker};
/// use tfrt_async::pool::PooledFuture;
///
/// let mut seven = PooledFuture::new(async { 7 });
/// let polled = Future::poll(std::pin::pin!(seven), &mut Context::from_waker(Waker::noop()));
/// assert_eq!(polled, Poll::Ready(7));
/// ```
pub struct PooledFuture<'a, T> {
    place: NonNull<()>,
    poll: unsafe fn(NonNull<()>, &mut Context<'_>) -> Poll<T>,
    drop: unsafe fn(NonNull<()>),
    owns: PhantomData<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
}

// SAFETY: it owns a future that is `Send` by the bound of `new`.
unsafe impl<T> Send for PooledFuture<'_, T> {}

impl<'a, T> PooledFuture<'a, T> {
    /// Moves a future into its own block.
    #[inline]
    pub fn new<F: Future<Output = T> + Send + 'a>(future: F) -> Self {
        Self {
            // The extra byte gives even a zero-sized future a block.
            place: leak((future, 0_u8)).cast(),
            poll: poll::<F>,
            drop: drop_future::<F>,
            owns: PhantomData,
        }
    }
}

/// The leaked type for a future of type `F`.
type Place<F> = (F, u8);

/// # Safety
/// 1. The invariant of [`PooledFuture`], which lends the future.
unsafe fn poll<F: Future>(place: NonNull<()>, context: &mut Context<'_>) -> Poll<F::Output> {
    // SAFETY: duty 1.
    let (future, _) = unsafe { place.cast::<Place<F>>().as_mut() };
    // SAFETY: the future is not moved out of its block until it is dropped there.
    unsafe { Pin::new_unchecked(future) }.poll(context)
}

/// # Safety
/// 1. The invariant of [`PooledFuture`], which transfers ownership of the future.
unsafe fn drop_future<F>(place: NonNull<()>) {
    // SAFETY: duty 1.
    drop(unsafe { Pooled::from_leaked(place.cast::<Place<F>>()) });
}

impl<T> Future for PooledFuture<'_, T> {
    type Output = T;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        // SAFETY: the invariant.
        unsafe { (self.poll)(self.place, context) }
    }
}

/// As for a box: moving it does not move the future.
impl<T> Unpin for PooledFuture<'_, T> {}

impl<T> Drop for PooledFuture<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the invariant; the future is not used again.
        unsafe { (self.drop)(self.place) }
    }
}

impl<T> fmt::Debug for PooledFuture<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(PooledFuture)")
    }
}
