//! The current context of a thread.
//!
//! Many calls of a driver act in the context that is current on the calling thread. A [`Current`]
//! proves that one is set. It is a local variable of one kernel: it cannot be sent to another
//! thread, and must not live across a wait.

use std::cell::Cell;
use std::marker::PhantomData;

use super::driver::Driver;
use super::error::GpuResult;
use super::handle::ContextHandle;

/// The context that is set, as far as this crate knows: the identity of its driver, which is never
/// zero, and its handle.
type Known = (usize, u64);

/// What no context of a driver with an identity is: identities are counted from one.
const NOTHING: Known = (usize::MAX, u64::MAX);

thread_local! {
    static KNOWN: Cell<Known> = const { Cell::new(NOTHING) };
}

/// Proof that a context is current on this thread.
///
/// ```compile_fail
/// fn is_send<T: Send>() {}
/// is_send::<tfrt_gpu::api::Current>();
/// ```
#[derive(Debug)]
pub struct Current {
    context: ContextHandle,
    _of_this_thread: PhantomData<*const ()>,
}

impl Current {
    /// Makes a context current on this thread. If this crate knows that it already is, the driver
    /// is not called.
    ///
    /// # Errors
    /// Those of the driver.
    pub fn set(driver: &dyn Driver, context: ContextHandle) -> GpuResult<Self> {
        Self::set_for(driver.identity(), || driver, context)
    }

    /// Does the work of [`set`](Self::set) for the driver of this identity, which is asked for only
    /// if it is called.
    #[inline]
    pub(crate) fn set_for<'d>(
        identity: usize,
        driver: impl FnOnce() -> &'d dyn Driver,
        context: ContextHandle,
    ) -> GpuResult<Self> {
        let wanted = (identity, context.0);
        if KNOWN.get() != wanted {
            Self::change(wanted, driver())?;
        }
        Ok(Self {
            context,
            _of_this_thread: PhantomData,
        })
    }

    #[cold]
    fn change(wanted: Known, driver: &dyn Driver) -> GpuResult<()> {
        KNOWN.set(NOTHING);
        let (identity, context) = wanted;
        driver.context_set_current(Some(ContextHandle(context)))?;
        if identity != 0 {
            KNOWN.set(wanted);
        }
        Ok(())
    }

    /// Forgets which context is set on this thread. Implementations call this after calls that
    /// change the context without the knowledge of this crate.
    pub fn forget() {
        KNOWN.set(NOTHING);
    }

    /// Returns the context.
    #[must_use]
    pub fn context(&self) -> ContextHandle {
        self.context
    }
}
