//! What changes while a program runs: for each thread a stack of devices, modes and requests, and the chain of its effects.

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use tfrt_async::AnyRef;
use tfrt_host::device::DeviceRef;
use tfrt_host::{ExecutionContext, RequestContext};
use tfrt_support::Error;

use super::EagerContext;
use super::op::CallerPlaces;

thread_local! {
    /// What this thread has to do with each context; mostly there is one.
    static THREADS: RefCell<Vec<ThreadState>> = const { RefCell::new(Vec::new()) };
}

/// What one thread has to do with one context.
struct ThreadState {
    context: u64,
    /// Whether the context still exists: another thread may have dropped it.
    exists: Weak<()>,
    /// Each with the number of its scope.
    changes: Vec<(u64, Change)>,
    /// The number of the next scope.
    next_scope: u64,
    /// Whether a call returns when the op is done.
    is_sync: bool,
    /// The context of calls of the request that a scope is in force for; without one, calls are those of the eager context. What is kept
    /// here beyond a scope must not refer to the host: the thread may be one of its queue, which lives until nobody does.
    ctx: Option<ExecutionContext>,
    /// What the next effect follows.
    chain: AnyRef,
}

/// What a scope changes.
enum Change {
    /// The devices that ops may run on.
    Devices(Vec<usize>),
    /// Whether a call returns when the op is done: what was in force before.
    Sync(bool),
    /// The request that calls belong to: the context that was in force before.
    Request(Option<ExecutionContext>),
}

/// Something that holds until it is dropped, for the thread that began it. Scopes end in the reverse order of their beginning.
///
/// ```
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
///
/// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
/// {
///     let _here = eager.device("CPU:0")?;
///     let _now = eager.sync_mode();
///     // Ops run on `CPU:0`, and are done when their calls return.
/// }
/// assert_eq!(
///     eager.device("GPU:3").unwrap_err().message(),
///     "there is no device `GPU:3`; available: CPU:0",
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the scope ends when it is dropped"]
pub struct Scope<'a> {
    context: &'a EagerContext,
    /// What tells it from others of the thread.
    number: u64,
    /// A scope belongs to its thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let ended = with_state(self.context, |state| {
            let mut ended = Vec::new();
            // A scope that outlives one around it has ended with that, and ends nothing else.
            let own = |(number, _): &(u64, Change)| *number == self.number;
            let Some(position) = state.changes.iter().position(own) else {
                return ended;
            };
            while state.changes.len() > position {
                match state.changes.pop() {
                    Some((_, Change::Request(before))) => {
                        ended.extend(std::mem::replace(&mut state.ctx, before));
                    }
                    Some((_, Change::Sync(before))) => state.is_sync = before,
                    _ => {}
                }
            }
            ended
        });
        // Outside of the borrow: the end of a request may run anything.
        drop(ended);
    }
}

impl EagerContext {
    /// From now on, ops of this thread run on a device of this name. `GPU` and `CPU:*` mean any device of a type; the name may stand
    /// behind that of a task, such as `/job:worker/task:0/device:CPU:0`.
    ///
    /// # Errors
    /// If there is no such device.
    pub fn device(&self, name: &str) -> Result<Scope<'_>, Error> {
        let devices = self.find_devices(name)?;
        Ok(self.begin(|_| Change::Devices(devices)))
    }

    /// The devices that ops of this thread may run on now; none if they may run on any.
    #[must_use]
    pub fn devices_in_scope(&self) -> Option<Vec<DeviceRef>> {
        let devices = devices(self)?.into_iter();
        Some(
            devices
                .map(|index| self.devices[index].device.clone())
                .collect(),
        )
    }

    /// From now on, a call of this thread returns when the op is done.
    pub fn sync_mode(&self) -> Scope<'_> {
        self.begin(|state| Change::Sync(std::mem::replace(&mut state.is_sync, true)))
    }

    /// From now on, a call of this thread returns at once, as it does by default.
    pub fn async_mode(&self) -> Scope<'_> {
        self.begin(|state| Change::Sync(std::mem::replace(&mut state.is_sync, false)))
    }

    /// From now on, calls of this thread belong to a request, which may be cancelled and has limits of its own.
    pub fn with_request(&self, request: Arc<RequestContext>) -> Scope<'_> {
        let ctx = context_of(request);
        self.begin(|state| Change::Request(state.ctx.replace(ctx)))
    }

    fn begin(&self, change: impl FnOnce(&mut ThreadState) -> Change) -> Scope<'_> {
        let number = with_state(self, |state| {
            let number = state.next_scope;
            state.next_scope += 1;
            let change = change(state);
            state.changes.push((number, change));
            number
        });
        Scope {
            context: self,
            number,
            _not_send: std::marker::PhantomData,
        }
    }
}

/// The context of calls of a request: places are those of callers.
pub(super) fn context_of(request: Arc<RequestContext>) -> ExecutionContext {
    ExecutionContext::new(request).for_callee(Arc::new(CallerPlaces))
}

fn with_state<R>(context: &EagerContext, f: impl FnOnce(&mut ThreadState) -> R) -> R {
    let mut forgotten = Vec::new();
    let result = THREADS.with_borrow_mut(|threads| {
        let known = threads.iter().position(|state| state.context == context.id);
        let index = known.unwrap_or_else(|| {
            // What belongs to contexts that are gone goes with the first use of a new one.
            let gone = |state: &mut ThreadState| state.exists.strong_count() == 0;
            forgotten.extend(threads.extract_if(.., gone));
            threads.push(ThreadState {
                context: context.id,
                exists: Arc::downgrade(&context.exists),
                changes: Vec::new(),
                next_scope: 0,
                is_sync: false,
                ctx: None,
                chain: AnyRef::ready_chain(),
            });
            threads.len() - 1
        });
        f(&mut threads[index])
    });
    // Outside of the borrow: dropping a value may run anything.
    drop(forgotten);
    result
}

/// The context that calls of this thread run in.
pub(super) fn execution_context(context: &EagerContext) -> ExecutionContext {
    with_state(context, |state| ctx_of(context, state))
}

fn ctx_of(context: &EagerContext, state: &ThreadState) -> ExecutionContext {
    state.ctx.as_ref().unwrap_or(&context.ctx).clone()
}

/// The context that calls of this thread run in, and whether they return when the op is done.
pub(super) fn execution_context_and_mode(context: &EagerContext) -> (ExecutionContext, bool) {
    // Most threads have to do with one context, and with it most of the time.
    let known = THREADS.with_borrow(|threads| match threads.first() {
        Some(state) if state.context == context.id => Some((ctx_of(context, state), state.is_sync)),
        _ => None,
    });
    known.unwrap_or_else(|| with_state(context, |state| (ctx_of(context, state), state.is_sync)))
}

/// The chain of the effects of this thread.
pub(super) fn effects(context: &EagerContext) -> AnyRef {
    with_state(context, |state| state.chain.clone())
}

/// From now on, the next effect of this thread follows `chain`.
pub(super) fn set_effects(context: &EagerContext, chain: AnyRef) {
    let before = with_state(context, |state| std::mem::replace(&mut state.chain, chain));
    // Outside of the borrow: dropping a value may run anything.
    drop(before);
}

/// Begins a new chain of effects, if the one that failed is still in force.
pub(super) fn forget_failure(context: &EagerContext, failed: &AnyRef) {
    let before = with_state(context, |state| {
        state
            .chain
            .ptr_eq(failed)
            .then(|| std::mem::replace(&mut state.chain, AnyRef::ready_chain()))
    });
    drop(before);
}

/// The devices that the innermost scope names; none if ops may run anywhere.
pub(super) fn devices(context: &EagerContext) -> Option<Vec<usize>> {
    with_state(context, |state| {
        state
            .changes
            .iter()
            .rev()
            .find_map(|(_, change)| match change {
                Change::Devices(devices) => Some(devices.clone()),
                _ => None,
            })
    })
}

/// Forgets what this thread has to do with a context that ends.
pub(super) fn forget(context: u64) {
    // While a thread ends there may be nothing to forget.
    let forgotten = THREADS.try_with(|threads| {
        let mut threads = threads.borrow_mut();
        let index = threads.iter().position(|state| state.context == context)?;
        Some(threads.swap_remove(index))
    });
    drop(forgotten);
}
