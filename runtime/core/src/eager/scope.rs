//! The state that changes while a program runs: for each thread, a stack of devices, modes and
//! requests, and the chains of its effects.
//!
//! Effects of one class, such as output or the values of variables, happen in the order of calls.
//! Those of two classes do not wait for each other. An op that may have any effects, and one that
//! writes to its operands, is ordered with all of them.

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, run_when_ready};
use tfrt_host::__runtime::{BorrowedContext, catch};
use tfrt_host::device::DeviceRef;
use tfrt_host::{ExecutionContext, RequestContext};
use tfrt_support::{Error, ErrorCode};

use super::caller::CallerPlaces;
use super::{EagerContext, at_caller};

thread_local! {
    /// The state of this thread for each context; usually there is one.
    static THREADS: RefCell<Vec<ThreadState>> = const { RefCell::new(Vec::new()) };

    /// The part of the state that most calls need: the context that this thread used last, if calls
    /// run in it directly, and whether calls wait until the op is done.
    ///
    /// Invariant: this agrees with the state for that context. Upheld by `with_state`, which alone
    /// changes states, and by `forget`.
    static LAST: Cell<(u64, bool)> = const { Cell::new((NO_CONTEXT, false)) };
}

/// No context has this number.
const NO_CONTEXT: u64 = u64::MAX;

/// The context that a call runs in.
pub(super) enum CallContext<'a> {
    /// The context of the eager context, with its own location.
    Shared(BorrowedContext<'a>),
    /// The context of a scope of the thread; the scope may end during the call.
    Own(ExecutionContext),
}

impl Deref for CallContext<'_> {
    type Target = ExecutionContext;

    #[inline]
    fn deref(&self) -> &ExecutionContext {
        match self {
            Self::Shared(ctx) => ctx,
            Self::Own(ctx) => ctx,
        }
    }
}

/// The state of one thread for one context.
struct ThreadState {
    context: u64,
    /// Whether the context still exists: another thread may have dropped it.
    exists: Weak<()>,
    /// The changes, each with the number of its scope.
    changes: Vec<(u64, Change)>,
    /// The number of the next scope.
    next_scope: u64,
    /// Whether a call waits until the op is done.
    is_sync: bool,
    /// The context of calls if a scope has changed it; otherwise calls use the context of the eager
    /// context. State that outlives a scope must not refer to the host: the thread may belong to
    /// the queue of the host, which lives until the last reference to the host is dropped.
    ctx: Option<ExecutionContext>,
    /// The name scope.
    name: Option<Arc<str>>,
    effects: Effects,
}

/// The effects that an op is ordered with: those of its class, or all.
pub(super) type EffectClass = Option<&'static str>;

/// The effects of a thread, which the next effect follows.
#[derive(Clone, Debug)]
pub(super) struct Effects(Arc<Mutex<Chains>>);

/// The last effect of each class since the last effect that is ordered with all.
#[derive(Clone, Debug)]
struct Chains {
    all: AnyRef,
    /// The classes, in the order of their first effects since then.
    classes: SmallVec<[(&'static str, AnyRef); 2]>,
}

impl Chains {
    /// Returns the chain that an effect of this class follows.
    fn last(&self, class: EffectClass) -> AnyRef {
        if let Some(class) = class {
            let of_class = self.classes.iter().find(|(known, _)| *known == class);
            return of_class.map_or(&self.all, |(_, last)| last).clone();
        }
        match &self.classes[..] {
            [] => self.all.clone(),
            [(_, only)] => only.clone(),
            [_, _, ..] => all_of(self.classes.iter().map(|(_, last)| last.clone()).collect()),
        }
    }

    fn each(&mut self) -> impl Iterator<Item = &mut AnyRef> {
        let classes = self.classes.iter_mut().map(|(_, last)| last);
        std::iter::once(&mut self.all).chain(classes)
    }
}

/// Returns a chain that becomes available when all of these are: ready, or the first error among
/// them.
fn all_of(chains: Vec<AnyRef>) -> AnyRef {
    let (promise, all) = AnyRef::indirect();
    let awaited = chains.clone();
    run_when_ready(&awaited, move || {
        let failed = chains.into_iter().find(AnyRef::is_error);
        promise.forward_to(failed.unwrap_or_else(AnyRef::ready_chain));
    });
    all
}

impl Effects {
    fn none() -> Self {
        Self::after(Chains {
            all: AnyRef::ready_chain(),
            classes: SmallVec::new(),
        })
    }

    fn after(chains: Chains) -> Self {
        Self(Arc::new(Mutex::new(chains)))
    }

    fn lock(&self) -> MutexGuard<'_, Chains> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the chain that an effect of this class follows.
    pub(super) fn last(&self, class: EffectClass) -> AnyRef {
        self.lock().last(class)
    }

    /// Makes the next effect of this class follow `chain`.
    pub(super) fn set(&self, class: EffectClass, chain: AnyRef) {
        let (mut before, mut classes) = (chain, SmallVec::new());
        {
            let mut chains = self.lock();
            let Chains {
                all,
                classes: known,
            } = &mut *chains;
            let last = match class {
                None => {
                    classes = std::mem::take(known);
                    all
                }
                Some(class) => match known.iter().position(|(known, _)| *known == class) {
                    Some(index) => &mut known[index].1,
                    None => {
                        known.push((class, before));
                        return;
                    }
                },
            };
            std::mem::swap(last, &mut before);
        }
        // Outside of the lock: dropping a value may run anything.
        drop((before, classes));
    }

    /// Restarts the chains whose last effect failed with this error.
    pub(super) fn forget_failure(&self, failed: &Error) {
        let mut forgotten: SmallVec<[AnyRef; 2]> = SmallVec::new();
        {
            let mut chains = self.lock();
            for last in chains.each() {
                if last
                    .error_if_present()
                    .is_some_and(|error| error.is_same(failed))
                {
                    forgotten.push(std::mem::replace(last, AnyRef::ready_chain()));
                }
            }
        }
        drop(forgotten);
    }
}

/// A change by a scope, with the previous state.
enum Change {
    /// The devices that ops may run on.
    Devices(Vec<usize>),
    /// The previous mode: whether a call waits until the op is done.
    Sync(bool),
    /// The previous context and name scope of calls.
    Context(Option<ExecutionContext>, Option<Arc<str>>),
    /// A change of everything: the devices that the task may use, and the previous state.
    Task(Option<Vec<usize>>, Inherited),
}

/// The state that a task inherits from the thread that started it.
struct Inherited {
    is_sync: bool,
    ctx: Option<ExecutionContext>,
    name: Option<Arc<str>>,
    effects: Effects,
}

impl ThreadState {
    /// Returns the devices that the innermost scope names.
    fn devices(&self) -> Option<&Vec<usize>> {
        let found = self
            .changes
            .iter()
            .rev()
            .find_map(|(_, change)| match change {
                Change::Devices(devices) => Some(Some(devices)),
                // The scopes of the thread that runs a task do not apply to the task.
                Change::Task(devices, _) => Some(devices.as_ref()),
                _ => None,
            });
        found.flatten()
    }

    /// Replaces the scopes in force, and returns the previous ones.
    fn replace(&mut self, other: Inherited) -> Inherited {
        Inherited {
            is_sync: std::mem::replace(&mut self.is_sync, other.is_sync),
            ctx: std::mem::replace(&mut self.ctx, other.ctx),
            name: std::mem::replace(&mut self.name, other.name),
            effects: std::mem::replace(&mut self.effects, other.effects),
        }
    }
}

/// A setting that applies to the thread that began it until the scope is dropped. Scopes end in the
/// reverse order of their beginning.
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
///     "device 'GPU:3' is not there; there is CPU:0",
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
#[must_use = "the scope ends when it is dropped"]
pub struct Scope<'a> {
    context: &'a EagerContext,
    /// The number that distinguishes it from the other scopes of the thread.
    number: u64,
    /// Makes the type `!Send`: a scope belongs to its thread.
    _not_send: std::marker::PhantomData<*const ()>,
}

impl Drop for Scope<'_> {
    fn drop(&mut self) {
        let ended = with_state(self.context, |state| {
            let (mut ended, mut tasks) = (Vec::new(), Vec::new());
            // A scope that outlives an enclosing scope has ended with it, and ends nothing else.
            let own = |(number, _): &(u64, Change)| *number == self.number;
            let Some(position) = state.changes.iter().position(own) else {
                return (ended, tasks);
            };
            while state.changes.len() > position {
                match state.changes.pop() {
                    Some((_, Change::Context(ctx, name))) => {
                        ended.extend(std::mem::replace(&mut state.ctx, ctx));
                        state.name = name;
                    }
                    Some((_, Change::Sync(before))) => state.is_sync = before,
                    Some((_, Change::Task(_, before))) => tasks.push(state.replace(before)),
                    Some((_, Change::Devices(_))) | None => {}
                }
            }
            (ended, tasks)
        });
        // Outside of the borrow: the end of a request may run anything.
        drop(ended);
    }
}

impl EagerContext {
    /// Makes ops of this thread run on a device of this name. A part of a name, such as `GPU`,
    /// `CPU:*` or `/task:1`, stands for any device that matches it; see [`DevicePattern`].
    ///
    /// # Errors
    /// If there is no such device.
    ///
    /// [`DevicePattern`]: crate::DevicePattern
    #[track_caller]
    pub fn device(&self, name: &str) -> Result<Scope<'_>, Error> {
        let devices = self.find_devices(name).map_err(at_caller())?;
        Ok(self.begin(|_| Change::Devices(devices)))
    }

    /// Returns the devices that ops of this thread may run on now, or `None` if they may run on
    /// any.
    #[must_use]
    pub fn devices_in_scope(&self) -> Option<Vec<DeviceRef>> {
        let devices = devices(self)?.into_iter();
        Some(
            devices
                .map(|index| self.devices[index].device.clone())
                .collect(),
        )
    }

    /// Makes calls of this thread return when the op is done.
    pub fn sync_mode(&self) -> Scope<'_> {
        self.begin(|state| Change::Sync(std::mem::replace(&mut state.is_sync, true)))
    }

    /// Makes calls of this thread return at once, which is the default.
    pub fn async_mode(&self) -> Scope<'_> {
        self.begin(|state| Change::Sync(std::mem::replace(&mut state.is_sync, false)))
    }

    /// Makes calls of this thread belong to a request, which may be cancelled and may have its own
    /// deadline and limits.
    ///
    /// # Errors
    /// If the request belongs to another host.
    #[track_caller]
    pub fn with_request(&self, request: Arc<RequestContext>) -> Result<Scope<'_>, Error> {
        check_host(self, &request).map_err(at_caller())?;
        Ok(self.begin(|state| {
            let ctx = context_of(request, state.name.clone());
            Change::Context(state.ctx.replace(ctx), state.name.clone())
        }))
    }

    /// Makes traces show calls of this thread under a name. Scopes nest: the full name of an inner
    /// scope is the name of the outer one, a slash, and its own name.
    ///
    /// ```
    /// use tfrt_core::EagerContext;
    /// use tfrt_host::HostContext;
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let _outer = eager.name_scope("encoder");
    /// let _inner = eager.name_scope("layer1");
    /// assert_eq!(eager.current_name_scope().as_deref(), Some("encoder/layer1"));
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    pub fn name_scope(&self, name: &str) -> Scope<'_> {
        self.begin(|state| {
            let name: Arc<str> = match &state.name {
                Some(outer) => format!("{outer}/{name}").into(),
                None => name.into(),
            };
            let request = Arc::clone(ctx_of(self, state).request());
            let ctx = state
                .ctx
                .replace(context_of(request, Some(Arc::clone(&name))));
            Change::Context(ctx, state.name.replace(name))
        })
    }

    /// Returns the name scope of this thread, if there is one.
    #[must_use]
    pub fn current_name_scope(&self) -> Option<Arc<str>> {
        with_state(self, |state| state.name.clone())
    }

    /// Starts a task of the work queue that calls ops. The task inherits the scopes that are in
    /// force on this thread now; its effects follow those of the earlier calls of this thread.
    ///
    /// Returns a chain, which is ready when the effects of the task have happened. If the task or
    /// one of its effects fails, the chain is that error.
    ///
    /// ```
    /// use tfrt_core::EagerContext;
    /// use tfrt_host::HostContext;
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let name = eager.name_scope("loader");
    /// let done = eager.spawn(|eager| {
    ///     assert_eq!(eager.current_name_scope().as_deref(), Some("loader"));
    ///     Ok(())
    /// });
    /// drop(name);
    /// eager.host().await_values(&[done])?;
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    pub fn spawn(
        self: &Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<(), Error> + Send + 'static,
    ) -> AnyRef {
        let (devices, ctx, inherited) = with_state(self, |state| {
            let inherited = Inherited {
                is_sync: state.is_sync,
                ctx: state.ctx.clone(),
                name: state.name.clone(),
                effects: Effects::after(state.effects.lock().clone()),
            };
            (state.devices().cloned(), ctx_of(self, state), inherited)
        });
        let (promise, done) = AnyRef::indirect();
        let eager = Arc::clone(self);
        ctx.enqueue(move || {
            let effects = inherited.effects.clone();
            let outcome = {
                let _scope = eager.begin(|state| Change::Task(devices, state.replace(inherited)));
                catch("a task", || work(&eager))
            };
            drop(eager);
            match outcome {
                Ok(()) => promise.forward_to(effects.last(None)),
                Err(error) => promise.set_error(error),
            }
        });
        done
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

/// Returns the context of calls of a request in a name scope. Locations are those of callers.
pub(super) fn context_of(
    request: Arc<RequestContext>,
    scope: Option<Arc<str>>,
) -> ExecutionContext {
    ExecutionContext::new(request).for_callee(Arc::new(CallerPlaces { scope }))
}

/// Returns an error if a request and a context belong to different hosts.
fn check_host(context: &EagerContext, request: &RequestContext) -> Result<(), Error> {
    if Arc::ptr_eq(request.host(), &context.host) {
        return Ok(());
    }
    let message = "the request belongs to another host";
    Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
}

fn with_state<R>(context: &EagerContext, f: impl FnOnce(&mut ThreadState) -> R) -> R {
    let mut forgotten = Vec::new();
    let result = THREADS.with_borrow_mut(|threads| {
        let known = threads.iter().position(|state| state.context == context.id);
        let index = known.unwrap_or_else(|| {
            // The first use of a new context drops the state for dropped contexts.
            let gone = |state: &mut ThreadState| state.exists.strong_count() == 0;
            forgotten.extend(threads.extract_if(.., gone));
            threads.push(ThreadState {
                context: context.id,
                exists: Arc::downgrade(&context.exists),
                changes: Vec::new(),
                next_scope: 0,
                is_sync: false,
                ctx: None,
                name: None,
                effects: Effects::none(),
            });
            threads.len() - 1
        });
        let state = &mut threads[index];
        let result = f(state);
        LAST.set(match state.ctx {
            None => (state.context, state.is_sync),
            Some(_) => (NO_CONTEXT, false),
        });
        result
    });
    // Outside of the borrow: dropping a value may run anything.
    drop(forgotten);
    result
}

/// Returns the context that calls of this thread run in.
pub(super) fn execution_context(context: &EagerContext) -> ExecutionContext {
    with_state(context, |state| ctx_of(context, state))
}

fn ctx_of(context: &EagerContext, state: &ThreadState) -> ExecutionContext {
    state.ctx.as_ref().unwrap_or(&context.ctx).clone()
}

/// Returns the context that calls of this thread run in, and `true` if they wait until the op is
/// done.
#[inline]
pub(super) fn context_and_mode(context: &EagerContext) -> (CallContext<'_>, bool) {
    // Most threads use one context, most of the time.
    let (last, is_sync) = LAST.get();
    if last == context.id {
        return (shared(context), is_sync);
    }
    find_context_and_mode(context)
}

/// Returns the context that calls of this thread run in, if no scope has a context of its own and
/// the thread used this context last.
#[inline]
pub(super) fn shared_context(context: &EagerContext) -> Option<BorrowedContext<'_>> {
    let (last, _) = LAST.get();
    (last == context.id).then(|| BorrowedContext::of(&context.ctx))
}

fn find_context_and_mode(context: &EagerContext) -> (CallContext<'_>, bool) {
    let (own, is_sync) = with_state(context, |state| (state.ctx.clone(), state.is_sync));
    (
        own.map_or_else(|| shared(context), CallContext::Own),
        is_sync,
    )
}

#[inline]
fn shared(context: &EagerContext) -> CallContext<'_> {
    CallContext::Shared(BorrowedContext::of(&context.ctx))
}

/// Returns the effects of this thread.
pub(super) fn effects_of_thread(context: &EagerContext) -> Effects {
    with_state(context, |state| state.effects.clone())
}

/// Returns the devices that the innermost scope names, or `None` if ops may run anywhere.
pub(super) fn devices(context: &EagerContext) -> Option<Vec<usize>> {
    with_state(context, |state| state.devices().cloned())
}

/// Drops the state of this thread for a context that ends.
pub(super) fn forget(context: u64) {
    // While a thread ends, its state may already be dropped.
    let forgotten = THREADS.try_with(|threads| {
        let mut threads = threads.borrow_mut();
        LAST.set((NO_CONTEXT, false));
        let index = threads.iter().position(|state| state.context == context)?;
        Some(threads.swap_remove(index))
    });
    drop(forgotten);
}
