//! Values grouped by the piece of work that created them, for leak checks unaffected by the rest of
//! the process.
//!
//! The [count](super::live_values) covers the whole process: a test that runs beside others learns
//! nothing from it. A [`LiveScope`] tracks *its* values: those created on a thread while that
//! thread was inside the scope, wherever they move and whichever thread drops them.
//!
//! ```text
//!   thread A  ──run(…)── makes v1 ─────────────────────────┐
//!   thread B  ──run(…)── makes v2, drops v1                ├─► v2 ─► scope
//!   thread C  ── makes v3, which is in no scope            ┘
//! ```
//!
//! Invariant L1: `Scopes::values` holds an address only while a value created in a live scope is
//! there. Upheld by `leave`, which every destruction calls, and by the end of the scope. The copy
//! of this crate in a kernel library records destructions in the program's `Scopes`; the values
//! that it creates are in no scope, since its threads have entered none.

use std::time::Duration;

use crate::type_index::TypeIndex;

#[cfg(not(loom))]
pub(crate) use tracked::{Scopes, adopt, place};
pub(crate) use tracked::{enter, leave};

/// A piece of work whose values are counted separately, in builds with debug assertions.
///
/// Other builds track nothing, so no value is ever reported as alive. Cloning shares the scope.
///
/// ```
/// use std::time::Duration;
/// use tfrt_async::{AnyRef, LiveScope};
///
/// let scope = LiveScope::new();
/// let kept = scope.run(|| AnyRef::available(1_i32));
/// let elsewhere = AnyRef::available(2_i32);
/// if cfg!(debug_assertions) {
///     assert_eq!(scope.wait_until_empty(Duration::ZERO), ["i32"]);
/// }
/// drop(kept);
/// assert!(scope.wait_until_empty(Duration::ZERO).is_empty());
/// # drop(elsewhere);
/// ```
#[derive(Clone, Debug)]
pub struct LiveScope(tracked::Scope);

impl LiveScope {
    /// Creates a scope without values.
    #[must_use]
    pub fn new() -> Self {
        Self(tracked::Scope::new())
    }

    /// Calls `work`. Values created by it on this thread belong to this scope instead of an
    /// enclosing one.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        self.0.run(work)
    }

    /// Waits, for at most `patience`, until no value of the scope is alive. Returns the MLIR
    /// spellings of the types of those that still are, sorted. A value without a type (an error or
    /// an indirect value) is listed as `an untyped value`.
    ///
    /// A thread that published a value may hold it for a moment longer, hence the wait.
    #[must_use]
    pub fn wait_until_empty(&self, patience: Duration) -> Vec<&'static str> {
        let mut types: Vec<_> = self
            .0
            .wait_until_empty(patience)
            .into_iter()
            .map(|ty: TypeIndex| ty.mlir_type().unwrap_or("an untyped value"))
            .collect();
        types.sort_unstable();
        types
    }
}

impl Default for LiveScope {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(debug_assertions, not(loom)))]
mod tracked {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
    use std::time::{Duration, Instant};

    use crate::type_index::TypeIndex;

    /// The scopes of a process and their values.
    #[derive(Debug)]
    pub(crate) struct Scopes {
        /// The number of scopes. If it is 0, creating and dropping a value costs one additional
        /// load.
        ///
        /// Relaxed: a thread that is inside a scope, or received a value from one, synchronised
        /// with the increment by entering or receiving.
        num_scopes: AtomicUsize,
        /// The live values of scopes, by address.
        values: Mutex<BTreeMap<usize, Tracked>>,
        /// Notified when a value of a scope is destroyed.
        gone: Condvar,
    }

    static OWN: Scopes = Scopes {
        num_scopes: AtomicUsize::new(0),
        values: Mutex::new(BTreeMap::new()),
        gone: Condvar::new(),
    };

    /// In a library, the program's scopes.
    static PROGRAM: OnceLock<&'static Scopes> = OnceLock::new();

    /// Returns the scopes that this copy of the crate uses.
    pub(crate) fn place() -> &'static Scopes {
        PROGRAM.get().copied().unwrap_or(&OWN)
    }

    /// Makes this copy of the crate use the scopes of another copy.
    pub(crate) fn adopt(place: &'static Scopes) {
        PROGRAM.get_or_init(|| place);
    }

    impl Scopes {
        fn is_empty(&self) -> bool {
            self.num_scopes.load(Ordering::Relaxed) == 0
        }

        fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Tracked>> {
            // No code that runs under the lock panics half-way.
            self.values.lock().unwrap_or_else(PoisonError::into_inner)
        }
    }

    thread_local! {
        static CURRENT: RefCell<Option<Scope>> = const { RefCell::new(None) };
    }

    #[derive(Debug)]
    struct Tracked {
        /// The address of the scope's identity, which lives as long as the entry: see L1.
        scope: usize,
        ty: TypeIndex,
    }

    #[derive(Clone, Debug)]
    pub(super) struct Scope(Arc<Identity>);

    /// Not zero-sized, so that every scope has an address of its own.
    #[derive(Debug)]
    struct Identity(#[expect(dead_code, reason = "it is there to have an address")] u8);

    impl Scope {
        pub(super) fn new() -> Self {
            place().num_scopes.fetch_add(1, Ordering::Relaxed);
            Self(Arc::new(Identity(0)))
        }

        fn id(&self) -> usize {
            Arc::as_ptr(&self.0).addr()
        }

        pub(super) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
            struct Restore(Option<Scope>);
            impl Drop for Restore {
                fn drop(&mut self) {
                    let left = CURRENT.replace(self.0.take());
                    drop(left);
                }
            }
            let _restore = Restore(CURRENT.replace(Some(self.clone())));
            work()
        }

        pub(super) fn wait_until_empty(&self, patience: Duration) -> Vec<TypeIndex> {
            let deadline = Instant::now() + patience;
            let scopes = place();
            let mut values = scopes.lock();
            loop {
                let is_ours = |value: &&Tracked| value.scope == self.id();
                let found: Vec<_> = values.values().filter(is_ours).map(|v| v.ty).collect();
                let left = deadline.saturating_duration_since(Instant::now());
                if found.is_empty() || left.is_zero() {
                    return found;
                }
                let waited = scopes.gone.wait_timeout(values, left);
                values = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    impl Drop for Identity {
        fn drop(&mut self) {
            let id = std::ptr::from_ref(self).addr();
            let scopes = place();
            scopes.lock().retain(|_, value| value.scope != id);
            scopes.num_scopes.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Records that a value was created at `address`.
    pub(crate) fn enter(address: usize, ty: TypeIndex) {
        let scopes = place();
        if scopes.is_empty() {
            return;
        }
        // A thread that is ending is in no scope.
        let scope = CURRENT.try_with(|current| current.borrow().as_ref().map(Scope::id));
        if let Ok(Some(scope)) = scope {
            scopes.lock().insert(address, Tracked { scope, ty });
        }
    }

    /// Records that the value at `address` is about to be destroyed.
    pub(crate) fn leave(address: usize) {
        let scopes = place();
        if !scopes.is_empty() && scopes.lock().remove(&address).is_some() {
            scopes.gone.notify_all();
        }
    }
}

#[cfg(any(not(debug_assertions), loom))]
mod tracked {
    use std::time::Duration;

    use crate::type_index::TypeIndex;

    /// Never read.
    #[cfg(not(loom))]
    #[derive(Debug)]
    pub(crate) struct Scopes;

    #[cfg(not(loom))]
    pub(crate) fn place() -> &'static Scopes {
        &Scopes
    }

    #[cfg(not(loom))]
    pub(crate) fn adopt(_place: &'static Scopes) {}

    #[derive(Clone, Debug)]
    pub(super) struct Scope;

    impl Scope {
        pub(super) fn new() -> Self {
            Self
        }

        pub(super) fn run<R>(&self, work: impl FnOnce() -> R) -> R {
            work()
        }

        pub(super) fn wait_until_empty(&self, _patience: Duration) -> Vec<TypeIndex> {
            Vec::new()
        }
    }

    #[inline]
    pub(crate) fn enter(_address: usize, _ty: TypeIndex) {}

    #[inline]
    pub(crate) fn leave(_address: usize) {}
}

#[cfg(all(test, debug_assertions, not(loom)))]
mod tests {
    use super::*;
    use crate::{AnyRef, AsyncValueRef, ByteString};

    #[test]
    fn a_scope_sees_its_own_values_alone() {
        let (ours, other) = (LiveScope::new(), LiveScope::new());
        let kept = ours.run(|| {
            let inner = other.run(|| AnyRef::available(1_i64));
            (AnyRef::available(ByteString::from("x")), inner)
        });
        assert_eq!(ours.wait_until_empty(Duration::ZERO), ["!tfrt.string"]);
        assert_eq!(other.wait_until_empty(Duration::ZERO), ["i64"]);
        drop(kept);
        assert!(ours.wait_until_empty(Duration::ZERO).is_empty());
    }

    #[test]
    fn another_thread_may_drop_the_last_reference() {
        let scope = LiveScope::new();
        let (promise, value) = scope.run(AsyncValueRef::<i32>::unconstructed);
        let (indirect, standing_for) = scope.run(AnyRef::indirect);
        let thread = std::thread::spawn(move || {
            promise.emplace(1);
            drop((indirect, standing_for));
        });
        drop(value);
        assert!(scope.wait_until_empty(Duration::from_secs(60)).is_empty());
        assert!(thread.join().is_ok());
    }

    #[test]
    fn a_scope_that_is_gone_forgets_its_values() {
        let scope = LiveScope::new();
        let outliving = scope.run(|| AnyRef::available(1_i32));
        drop(scope);
        let scope = LiveScope::new();
        drop(outliving);
        assert!(scope.wait_until_empty(Duration::ZERO).is_empty());
    }
}
