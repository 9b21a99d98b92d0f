//! Payloads that panic as they are dropped.
//!
//! The last reference to a value goes away wherever it goes away: between two kernels, inside of another drop, while the thread
//! unwinds. So the panic of a payload's destructor is caught where the payload is dropped, one payload at a time. It never
//! passes a reference, ends no kernel, and cannot become the second panic that ends the process. Whoever runs kernels
//! [is told](report_to) of it.
#![expect(
    unsafe_code,
    reason = "a thread-local refers to what lives on the stack"
)]

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::sync::OnceLock;

use tfrt_support::{Error, ErrorCode};

use crate::nesting::PanicPayload;
use crate::type_index::TypeIndex;

/// An observer of payloads that panic as they are dropped.
pub trait DropObserver {
    /// Tells of one payload. The error names the type and quotes the panic. A panic of this function goes no further.
    fn payload_panicked(&self, error: Error);
}

/// An observer of any type.
///
/// Invariant O1: `tell` is `tell::<O>`, and `observer` points to an `O` that is alive as long as this is in `OBSERVER`. Upheld by
/// `report_to`.
#[derive(Clone, Copy)]
struct AnyObserver {
    observer: NonNull<()>,
    tell: unsafe fn(NonNull<()>, Error),
}

/// Tells an observer.
///
/// # Safety
/// 1. `observer` points to an `O` that is alive.
unsafe fn tell<O: DropObserver>(observer: NonNull<()>, error: Error) {
    // SAFETY: duty 1.
    let observer = unsafe { observer.cast::<O>().as_ref() };
    observer.payload_panicked(error);
}

thread_local! {
    /// The observer that is told on this thread.
    static OBSERVER: Cell<Option<AnyObserver>> = const { Cell::new(None) };
}

/// Calls `work`, and tells `observer` of every payload that panics meanwhile as it is dropped on this thread.
///
/// Outside of such a call nobody is told but the panic hook.
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
/// assert_eq!(*messages.0.borrow(), ["payload of type `!my.bomb` panicked as it was dropped: boom"; 2]);
/// ```
#[inline]
pub fn report_to<O: DropObserver, R>(observer: &O, work: impl FnOnce() -> R) -> R {
    /// Puts back who was told before, also if the work panics.
    struct Restore(Option<AnyObserver>);

    impl Drop for Restore {
        #[inline]
        fn drop(&mut self) {
            set_observer(self.0);
        }
    }

    // O1: the observer outlives this call, which puts back the former one.
    let observer = AnyObserver {
        observer: NonNull::from(observer).cast(),
        tell: tell::<O>,
    };
    let _restore = Restore(set_observer(Some(observer)));
    work()
}

/// Sets the observer, and returns the former one. On a thread that is about to end nobody is told.
#[inline]
fn set_observer(observer: Option<AnyObserver>) -> Option<AnyObserver> {
    OBSERVER
        .try_with(|current| current.replace(observer))
        .ok()
        .flatten()
}

/// Tells who is to be told that a payload of type `ty` panicked with `panicked` as it was dropped. For owners of payloads, who
/// have caught that.
#[cold]
pub fn report(ty: TypeIndex, panicked: PanicPayload) {
    match (OBSERVER.try_with(Cell::get).ok().flatten(), PROGRAM.get()) {
        (None, Some(report)) => return report(ty, panicked),
        (None, None) => {}
        (Some(observer), _) => {
            let name = ty.mlir_type().unwrap_or("none");
            let message = message(&*panicked);
            let error = Error::new(format!(
                "payload of type `{name}` panicked as it was dropped: {message}"
            ));
            let error = error.with_code(ErrorCode::Internal);
            let AnyObserver { observer, tell } = observer;
            // SAFETY: O1.
            quietly(|| unsafe { tell(observer, error) });
        }
    }
    quietly(|| drop(panicked));
}

/// How a copy of this crate reports.
pub(crate) type Report = fn(TypeIndex, PanicPayload);

/// How the program reports, in a library: what the library's code drops while a kernel of it runs, the program runs.
static PROGRAM: OnceLock<Report> = OnceLock::new();

/// How this copy reports.
#[cfg(not(loom))]
pub(crate) fn report_of_this_copy() -> Report {
    PROGRAM.get().copied().unwrap_or(report)
}

/// Lets this copy of the crate report as another one does.
#[cfg(not(loom))]
pub(crate) fn adopt(report: Report) {
    PROGRAM.get_or_init(|| report);
}

/// What a panic said.
fn message(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    let formatted = || payload.downcast_ref::<String>().map(String::as_str);
    literal.or_else(formatted).unwrap_or("no message")
}

/// Does what may panic, and survives that.
pub(crate) fn quietly(work: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(work)) {
        // What panics while it goes away may do so again: it is better leaked.
        std::mem::forget(payload);
    }
}
