//! Payloads whose destructors panic.
//!
//! The last reference to a value can be dropped anywhere: between two kernels, inside another drop,
//! while the thread unwinds. So the panic of a payload's destructor is caught where the payload is
//! dropped, one payload at a time. It never propagates through a reference, never ends a kernel,
//! and cannot become the second panic that aborts the process. The code that runs kernels can
//! [observe](report_to) it.
#![expect(
    unsafe_code,
    reason = "a thread-local refers to what lives on the stack"
)]

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::OnceLock;

use tfrt_support::{Error, ErrorCode};

use crate::nesting::PanicPayload;
use crate::type_index::TypeIndex;

/// An observer of payloads whose destructors panic.
pub trait DropObserver {
    /// Reports one payload. The error names the type and quotes the panic. A panic of this function
    /// is not propagated.
    fn payload_panicked(&self, error: Error);
}

/// A type-erased observer.
///
/// Invariant O1: `tell` is `tell::<O>`, and `observer` points to an `O` that stays alive as long as
/// this is in `OBSERVER`. Upheld by `Observing`.
#[derive(Clone, Copy)]
struct AnyObserver {
    observer: NonNull<()>,
    tell: unsafe fn(NonNull<()>, Error),
}

/// Notifies an observer.
///
/// # Safety
/// 1. `observer` points to a live `O`.
unsafe fn tell<O: DropObserver>(observer: NonNull<()>, error: Error) {
    // SAFETY: duty 1.
    let observer = unsafe { observer.cast::<O>().as_ref() };
    observer.payload_panicked(error);
}

thread_local! {
    /// The observer of this thread.
    static OBSERVER: Cell<Option<AnyObserver>> = const { Cell::new(None) };
}

/// Calls `work`, and notifies `observer` of every payload whose destructor panics meanwhile on this
/// thread.
///
/// Outside of such a call only the panic hook is notified.
///
/// ```
/// use std::cell::RefCell;
/// use tfrt_async::dropping::{DropObserver, report_to};
/// use tfrt_async::{AnyRef, Value};
/// use tfrt_support::Error;
///
/// struct Bomb;
///
/// impl Value for Bomb {
///     const MLIR_TYPE: &'static str = "!my.bomb";
/// }
///
/// impl Drop for Bomb {
///     fn drop(&mut self) {
///         panic!("boom");
///     }
/// }
///
/// #[derive(Default)]
/// struct Messages(RefCell<Vec<String>>);
///
/// impl DropObserver for Messages {
///     fn payload_panicked(&self, error: Error) {
///         self.0.borrow_mut().push(error.to_string());
///     }
/// }
///
/// let messages = Messages::default();
/// report_to(&messages, || drop([AnyRef::available(Bomb), AnyRef::available(Bomb)]));
/// let message = "payload of type `!my.bomb` panicked while it was dropped: boom";
/// assert_eq!(*messages.0.borrow(), [message; 2]);
/// ```
#[inline]
pub fn report_to<O: DropObserver, R>(observer: &O, work: impl FnOnce() -> R) -> R {
    // SAFETY: the observer outlives this call, at whose end the guard is dropped.
    let _observing = unsafe { Observing::by(observer) };
    work()
}

/// Has payloads reported to an observer until it is dropped, as [`report_to`] does during a call:
/// for code that a closure would slow down.
///
/// ```
/// use tfrt_async::dropping::{DropObserver, Observing};
/// use tfrt_support::Error;
///
/// struct Ignored;
/// impl DropObserver for Ignored {
///     fn payload_panicked(&self, _error: Error) {}
/// }
///
/// let observer = Ignored;
/// // SAFETY: 1: the guard is dropped before the observer, and no other was created.
/// let observing = unsafe { Observing::by(&observer) };
/// drop(vec![1, 2, 3]);
/// drop(observing);
/// ```
#[must_use = "the observer is told nothing once this is dropped"]
pub struct Observing {
    previous: Option<AnyObserver>,
    /// It belongs to its thread.
    thread: PhantomData<*const ()>,
}

impl Observing {
    /// Begins to report to `observer`.
    ///
    /// # Safety
    /// 1. The result is dropped before the observer ceases to exist, and before any other that was
    ///    created earlier on this thread.
    #[inline]
    pub unsafe fn by<O: DropObserver>(observer: &O) -> Self {
        // O1: duty 1.
        let observer = AnyObserver {
            observer: NonNull::from(observer).cast(),
            tell: tell::<O>,
        };
        Self {
            previous: set_observer(Some(observer)),
            thread: PhantomData,
        }
    }
}

impl fmt::Debug for Observing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observing").finish_non_exhaustive()
    }
}

impl Drop for Observing {
    #[inline]
    fn drop(&mut self) {
        set_observer(self.previous);
    }
}

/// Sets the observer and returns the previous one. Does nothing on a thread that is about to end.
#[inline]
fn set_observer(observer: Option<AnyObserver>) -> Option<AnyObserver> {
    OBSERVER
        .try_with(|current| current.replace(observer))
        .ok()
        .flatten()
}

/// Reports that the destructor of a payload of type `ty` panicked with `panicked`. For owners of
/// payloads that have caught the panic.
#[cold]
pub fn report(ty: TypeIndex, panicked: PanicPayload) {
    match (OBSERVER.try_with(Cell::get).ok().flatten(), PROGRAM.get()) {
        (None, Some(report)) => return report(ty, panicked),
        (None, None) => {}
        (Some(observer), _) => {
            let name = ty.mlir_type().unwrap_or("none");
            let message = message(&*panicked);
            let error = Error::new(format!(
                "payload of type `{name}` panicked while it was dropped: {message}"
            ));
            let error = error.with_code(ErrorCode::Internal);
            let AnyObserver { observer, tell } = observer;
            // SAFETY: O1.
            quietly(|| unsafe { tell(observer, error) });
        }
    }
    quietly(|| drop(panicked));
}

/// The function with which a copy of this crate reports.
pub(crate) type Report = fn(TypeIndex, PanicPayload);

/// In a library, the program's function: the program runs the library's kernels, so it also
/// observes what they drop.
static PROGRAM: OnceLock<Report> = OnceLock::new();

/// Returns the function with which this copy reports.
#[cfg(not(loom))]
pub(crate) fn report_of_this_copy() -> Report {
    PROGRAM.get().copied().unwrap_or(report)
}

/// Makes this copy of the crate report like another copy.
#[cfg(not(loom))]
pub(crate) fn adopt(report: Report) {
    PROGRAM.get_or_init(|| report);
}

/// Returns the message of a panic.
fn message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = || payload.downcast_ref::<String>().map(String::as_str);
    literal.or_else(formatted).unwrap_or("no message")
}

/// Runs code that may panic, and discards the panic.
pub(crate) fn quietly(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        // Dropping the payload of a panic may panic again: leak it instead.
        std::mem::forget(payload);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::any_ref::AnyRef;
    use crate::value::Value;

    struct Bomb;

    impl Value for Bomb {
        const MLIR_TYPE: &'static str = "!test.dropped_bomb";
    }

    impl Drop for Bomb {
        fn drop(&mut self) {
            // Unlike `panic!`, this does not call the hook, which would clutter the output of a
            // test that passes.
            std::panic::resume_unwind(Box::new("boom"));
        }
    }

    /// An observer that writes its name for each payload.
    struct Named<'a>(&'static str, &'a RefCell<Vec<&'static str>>);

    impl DropObserver for Named<'_> {
        fn payload_panicked(&self, _error: Error) {
            self.1.borrow_mut().push(self.0);
        }
    }

    #[test]
    fn the_innermost_observer_is_told_until_its_guard_is_dropped() {
        let told = RefCell::default();
        let drop_one = || drop(AnyRef::available(Bomb));
        drop_one();
        report_to(&Named("outer", &told), || {
            drop_one();
            let inner = Named("inner", &told);
            // SAFETY: 1: it is dropped before the observer, and before that of the outer call.
            let observing = unsafe { Observing::by(&inner) };
            drop_one();
            drop(observing);
            drop_one();
        });
        drop_one();
        assert_eq!(*told.borrow(), ["outer", "inner", "outer"]);
    }
}
