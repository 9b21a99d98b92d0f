//! Ops that can be called repeatedly: looked up by name, then given their attributes, then called.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use smallvec::SmallVec;
use smol_str::SmolStr;
use tfrt_async::AnyRef;
use tfrt_async::pool::Pooled;
use tfrt_attr::ToOpAttr;
use tfrt_host::__runtime::LocationSource;
use tfrt_host::ExecutionContext;
use tfrt_ods::OpDef;
use tfrt_support::nearest::{did_you_mean, nearest};
use tfrt_support::{Error, ErrorCode, Place};

use super::cache::OpCache;
use super::known::{AttributeSet, Facts, KnownOp};
use super::scope::CallContext;
use super::{EagerContext, at_caller, scope};
use crate::attrs::{OpAttrs, OpAttrsRef};
use crate::core_op::{CoreRuntimeOp, OpInvocation};
use crate::handle::TensorHandle;
use crate::op::OperandSet;
use crate::order::Uses;

/// Most ops have at most this many operands and results.
const NUM_IN_PLACE: usize = 4;

type Handles = SmallVec<[TensorHandle; NUM_IN_PLACE]>;

/// An op whose attributes are being set.
///
/// ```
/// # mod linked {
/// #     use tfrt_core::{Implementation, OpCall, OpFlags, OpRegistration};
/// #     use tfrt_async::AnyRef;
/// #     use tfrt_support::Error;
/// #     use tfrt_tensor::DenseHostTensor;
/// #     fn count(call: &mut OpCall<'_>) -> Result<(), Error> {
/// #         let limit = call.attrs().get::<i64>("limit").unwrap_or(0);
/// #         call.set_result(0, AnyRef::available(DenseHostTensor::vector(&(0..limit).collect::<Vec<_>>())?));
/// #         Ok(())
/// #     }
/// #     tfrt_host::__private::submit! { OpRegistration {
/// #         flags: OpFlags::NO_SIDE_EFFECTS,
/// #         implementation: Implementation::Function(count),
/// #         ..OpRegistration::new("my.Count")
/// #     } }
/// # }
/// use tfrt_core::EagerContext;
/// use tfrt_host::HostContext;
///
/// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
/// let count = eager.op("my.Count")?.attr("limit", 3_i64)?.ready()?;
/// assert_eq!(eager.to_vec::<i64>(&count.call(&[])?)?, [0, 1, 2]);
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct Op {
    eager: Arc<EagerContext>,
    found: Found,
    /// The attributes; `None` if none is set.
    attrs: Option<Pooled<OpAttrs>>,
    num_results: Option<usize>,
}

/// The first device that has an op, and the op there.
#[derive(Clone, Debug)]
struct Found {
    device: usize,
    known: Arc<KnownOp>,
}

impl EagerContext {
    /// Looks up the op of this name.
    ///
    /// # Errors
    /// If none of the devices has this op.
    #[track_caller]
    pub fn op(self: &Arc<Self>, name: &str) -> Result<Op, Error> {
        self.find_op(name).map_err(at_caller())
    }

    fn find_op(self: &Arc<Self>, name: &str) -> Result<Op, Error> {
        let having = (0..self.devices.len())
            .find_map(|index| Some((index, self.made_op(index, name).ok()?)));
        let Some((device, known)) = having else {
            // An op whose registration does not allow its use reports that.
            for known in &self.devices {
                self.runtime.ops().get(known.device.0.device_type(), name)?;
            }
            return Err(self.no_such_op(name));
        };
        if known.is_refused {
            let device_type = self.devices[device].device.0.device_type();
            self.runtime.ops().get(device_type, name)?;
        }
        Ok(Op {
            eager: Arc::clone(self),
            num_results: known.facts.num_results,
            found: Found { device, known },
            attrs: None,
        })
    }
}

impl EagerContext {
    /// Wraps an op that was made elsewhere, such as a function, so that it can be called like any
    /// other. It has no attributes, accepts operands on any device, and decides itself where it
    /// runs.
    ///
    /// ```
    /// use tfrt_core::{CoreRuntimeOp, EagerContext, OpInvocation, RunOp};
    /// use tfrt_host::HostContext;
    ///
    /// /// Returns its argument.
    /// #[derive(Debug)]
    /// struct Identity;
    ///
    /// impl RunOp for Identity {
    ///     fn run(&self, invocation: &mut OpInvocation<'_>) {
    ///         invocation.results[0] = std::mem::take(&mut invocation.arguments[0]);
    ///     }
    /// }
    ///
    /// let eager = EagerContext::builder(HostContext::builder().build()).build()?;
    /// let identity = eager.made_elsewhere("identity", CoreRuntimeOp::new(Identity), 1, false);
    /// let same = identity.call(&[&eager.tensor([1, 2])?])?;
    /// assert_eq!(eager.to_vec::<i32>(&same)?, [1, 2]);
    /// # Ok::<(), tfrt_support::Error>(())
    /// ```
    #[must_use]
    pub fn made_elsewhere(
        self: &Arc<Self>,
        name: &str,
        op: CoreRuntimeOp,
        num_results: usize,
        has_side_effects: bool,
    ) -> ReadyOp {
        let facts = Facts {
            num_results: Some(num_results),
            declared: None,
            has_side_effects,
            effect_class: None,
            may_write: has_side_effects,
            written: OperandSet::NONE,
        };
        ReadyOp {
            eager: Arc::clone(self),
            // The same op serves all devices.
            found: Found {
                device: 0,
                known: Arc::new(KnownOp::new(name.into(), op, facts)),
            },
            set: AttributeSet::new(OpAttrsRef::of_one_op(Arc::default())),
            num_results,
            written: OperandSet::NONE,
            made: Box::default(),
        }
    }
}

impl Op {
    /// Sets an attribute.
    ///
    /// # Errors
    /// If the op has no attribute of this name, or it is set already.
    #[track_caller]
    pub fn attr(mut self, name: &str, value: impl ToOpAttr) -> Result<Self, Error> {
        self.set_attr(name, value).map_err(at_caller())?;
        Ok(self)
    }

    pub(super) fn set_attr(&mut self, name: &str, value: impl ToOpAttr) -> Result<(), Error> {
        let key = match self.found.known.facts.declared {
            None => SmolStr::new(name),
            Some(declared) => {
                let mut names = declared.attributes.iter().map(|known| known.name);
                let known = names.find(|&known| known == name);
                SmolStr::new_static(known.ok_or_else(|| self.no_such_attribute(declared, name))?)
            }
        };
        let attrs = self
            .attrs
            .get_or_insert_with(|| Pooled::new(OpAttrs::new()));
        if !attrs.set(key, value)? {
            let message = format!(
                "attribute `{name}` of `{}` is set twice",
                self.found.known.name
            );
            return Err(Error::new(message).with_code(ErrorCode::AlreadyExists));
        }
        Ok(())
    }

    #[cold]
    fn no_such_attribute(&self, declared: &OpDef, name: &str) -> Error {
        let names = declared.attributes.iter().map(|known| known.name);
        let hint = did_you_mean(&nearest(name, names));
        let op = &self.found.known.name;
        let message = format!("`{op}`: unknown attribute `{name}`{hint}");
        Error::new(message).with_code(ErrorCode::InvalidArgument)
    }

    /// Sets the number of results, if the declaration of the op does not fix it. The default is
    /// one.
    #[must_use]
    pub fn results(mut self, num_results: usize) -> Self {
        self.num_results = Some(num_results);
        self
    }

    /// Returns the op with these attributes, ready for repeated calls.
    ///
    /// # Errors
    /// If an attribute is missing, or its type is not the one that the op declares.
    #[track_caller]
    pub fn ready(self) -> Result<ReadyOp, Error> {
        self.make_ready().map_err(at_caller())
    }

    fn make_ready(self) -> Result<ReadyOp, Error> {
        let kept = match &self.attrs {
            Some(attrs) => self.found.known.find_set(attrs),
            None => self.found.known.find_set(&OpAttrsRef::default()),
        };
        let set = match kept {
            Some(set) => Arc::clone(set),
            None => {
                let attrs = self.attrs.map(Pooled::into_inner);
                self.found.new_set(attrs, &self.eager.ops)?
            }
        };
        let made = match self.eager.devices.len() {
            1 => Box::default(),
            several => (0..several).map(|_| OnceLock::new()).collect(),
        };
        Ok(ReadyOp {
            set,
            written: self.found.known.facts.written,
            found: self.found,
            num_results: self.num_results.unwrap_or(1),
            made,
            eager: self.eager,
        })
    }

    /// Calls the op once; see [`ReadyOp::call`].
    ///
    /// # Errors
    /// Those of [`ready`](Self::ready) and of [`ReadyOp::call`].
    #[track_caller]
    pub fn call(self, arguments: &[&TensorHandle]) -> Result<TensorHandle, Error> {
        self.ready()?.call(arguments)
    }
}

impl Found {
    /// Returns a new set of these attributes, which the op keeps, at the expense of the cache, if
    /// the set is small.
    ///
    /// # Errors
    /// If an attribute is missing, or its type is not the one that the op declares.
    #[cold]
    fn new_set(&self, attrs: Option<OpAttrs>, cache: &OpCache) -> Result<Arc<AttributeSet>, Error> {
        let attrs = match self.known.facts.declared {
            // An op without attributes needs no reference to them.
            Some(op) if op.attributes.is_empty() => OpAttrsRef::default(),
            declared => {
                let mut attrs = attrs.unwrap_or_default();
                if let Some(op) = declared {
                    attrs.bind_first(op).map_err(|error| {
                        missing_attribute(&self.known.name, op, &attrs).unwrap_or(error)
                    })?;
                }
                OpAttrsRef::of_one_op(Arc::new(attrs))
            }
        };
        let set = AttributeSet::new(attrs);
        if self.known.keep_set(&set) {
            cache.recount(self.device, &self.known);
        }
        Ok(set)
    }
}

/// Returns an error if an attribute is missing.
#[cold]
fn missing_attribute(name: &str, op: &OpDef, given: &OpAttrs) -> Option<Error> {
    let is_missing = |name: &str| !given.contains(name);
    let mut required = op.attributes.iter().filter(|known| known.default.is_none());
    let missing = required.find(|known| is_missing(known.name))?.name;
    let message = format!("`{name}`: the attribute `{missing}` is missing");
    Some(Error::new(message).with_code(ErrorCode::InvalidArgument))
}

/// An op with its attributes. Repeated calls look nothing up.
///
/// See [`EagerContext`] for an example.
pub struct ReadyOp {
    eager: Arc<EagerContext>,
    found: Found,
    set: Arc<AttributeSet>,
    num_results: usize,
    /// The operands that it writes to.
    written: OperandSet,
    /// For each device, the op that runs there or `None` if the device has none, once that is
    /// known. Empty if there is only one device, or if the op itself decides where it runs.
    made: Box<[OnceLock<Option<Arc<KnownOp>>>]>,
}

impl ReadyOp {
    /// Calls an op with one result.
    ///
    /// # Errors
    /// The errors that the call detects itself, located at the caller, with the op and its operands
    /// as notes. A later failure becomes the error of the handle.
    #[track_caller]
    pub fn call(&self, arguments: &[&TensorHandle]) -> Result<TensorHandle, Error> {
        let caller = Location::caller();
        // Most calls take this way: they write their result where the caller wants it.
        if self.made.is_empty()
            && self.num_results == 1
            && !self.eager.runtime.has_writers()
            && let Some((ctx, is_sync)) = scope::shared_context_and_mode(&self.eager)
        {
            ctx.set_location_token(token_of(caller));
            let AttributeSet { attrs, answers } = &*self.set;
            let op = &self.found.known.op;
            match op.call_at_once(&ctx, arguments, attrs, answers) {
                Some(result) if result.is_there() => return Ok(result),
                Some(result) => return self.end_one(&ctx, result, arguments, is_sync, caller),
                None => {}
            }
        }
        self.call_copies(arguments, caller)
    }

    /// Calls an op with one result.
    #[inline(never)]
    fn call_copies(
        &self,
        arguments: &[&TensorHandle],
        caller: &'static Location<'static>,
    ) -> Result<TensorHandle, Error> {
        let mut result = TensorHandle::INVALID;
        self.run_copies(arguments, std::slice::from_mut(&mut result), caller)?;
        Ok(result)
    }

    /// Ends a call that ran at once, whose result is pending or an error.
    #[cold]
    fn end_one(
        &self,
        ctx: &ExecutionContext,
        result: TensorHandle,
        arguments: &[&TensorHandle],
        is_sync: bool,
        caller: &'static Location<'static>,
    ) -> Result<TensorHandle, Error> {
        let mut results = [result];
        let op = &self.found.known.op;
        op.describe_in_results(ctx, &mut results, arguments);
        let uses = self.uses(arguments.iter().copied());
        self.enter(uses.as_ref(), &results, None);
        let outcome = self.end(&results, None, is_sync);
        outcome.inspect_err(|error| error.set_place_if_unset(Place::from(caller)))?;
        let [result] = results;
        Ok(result)
    }

    /// Calls an op with `N` results.
    ///
    /// # Errors
    /// Those of [`call`](Self::call); an error if the op has another number of results.
    #[track_caller]
    pub fn call_array<const N: usize>(
        &self,
        arguments: &[&TensorHandle],
    ) -> Result<[TensorHandle; N], Error> {
        let mut results = [const { TensorHandle::INVALID }; N];
        self.run_copies(arguments, &mut results, Location::caller())?;
        Ok(results)
    }

    /// Calls the op and passes ownership of the handles: an op may reuse the memory of a tensor
    /// without other references.
    ///
    /// # Errors
    /// Those of [`call`](Self::call).
    #[track_caller]
    pub fn call_owned(
        &self,
        arguments: impl IntoIterator<Item = TensorHandle>,
    ) -> Result<TensorHandle, Error> {
        let mut results = [TensorHandle::INVALID];
        let mut arguments: Handles = arguments.into_iter().collect();
        let caller = Location::caller();
        let outcome = self.run(&mut arguments, &mut results, caller);
        outcome.inspect_err(|error| error.set_place_if_unset(Place::from(caller)))?;
        let [result] = results;
        Ok(result)
    }

    /// Calls the op and returns all of its results.
    ///
    /// # Errors
    /// Those of [`call`](Self::call).
    #[track_caller]
    pub fn call_all(&self, arguments: &[&TensorHandle]) -> Result<Vec<TensorHandle>, Error> {
        let mut results = vec![TensorHandle::INVALID; self.num_results];
        self.run_copies(arguments, &mut results, Location::caller())?;
        Ok(results)
    }

    /// Orders the op with other ops on the same tensors, as one that may write to each of its
    /// operands. It then follows calls on its operands that were made after this one, and later
    /// calls on them follow it. Registered ops are ordered by their declarations.
    #[must_use]
    pub fn writes_to_operands(self) -> Self {
        self.eager.runtime.order_calls();
        Self {
            written: OperandSet::NONE.with_all_from(0),
            ..self
        }
    }

    /// Returns the number of results of the op.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.num_results
    }

    /// Does the work of [`run`](Self::run) on handles that the caller keeps.
    fn run_copies(
        &self,
        arguments: &[&TensorHandle],
        results: &mut [TensorHandle],
        caller: &'static Location<'static>,
    ) -> Result<(), Error> {
        let outcome = self.run_kept(arguments, results, caller);
        outcome.inspect_err(|error| error.set_place_if_unset(Place::from(caller)))
    }

    fn run_kept(
        &self,
        arguments: &[&TensorHandle],
        results: &mut [TensorHandle],
        caller: &'static Location<'static>,
    ) -> Result<(), Error> {
        self.check_results(results)?;
        let (ctx, is_sync) = self.begin(caller);
        let mut uses = self.uses(arguments.iter().copied());
        let followed = self.follow(uses.as_mut(), arguments.iter().copied());
        let call = Call {
            ctx: &ctx,
            is_sync,
            uses: uses.as_ref(),
        };
        match followed {
            None => self.run_followed(&call, arguments, results),
            Some(handles) => {
                let arguments: SmallVec<[&TensorHandle; NUM_IN_PLACE]> = handles.iter().collect();
                self.run_followed(&call, &arguments, results)
            }
        }
    }

    /// Runs the op on handles that become available after the calls that the call follows.
    fn run_followed(
        &self,
        call: &Call<'_>,
        arguments: &[&TensorHandle],
        results: &mut [TensorHandle],
    ) -> Result<(), Error> {
        if self.made.is_empty() && self.run_at_once(call.ctx, arguments, results) {
            let op = &self.found.known.op;
            op.describe_in_results(call.ctx, results, arguments);
            self.enter(call.uses, results, None);
            return self.end(results, None, call.is_sync);
        }
        if self.made.len() > 1 {
            let outcome = self.run_placed(call, arguments, results);
            let is_out_of_memory = |error: &Error| error.code() == ErrorCode::ResourceExhausted;
            // The copies are dropped before a call fails for lack of memory.
            return match outcome {
                Err(error)
                    if is_out_of_memory(&error)
                        && !self.found.known.facts.has_side_effects
                        && self.eager.copies.give_up() =>
                {
                    self.run_placed(call, arguments, results)
                }
                outcome => outcome,
            };
        }
        self.run_slowly(call, arguments, results)
    }

    /// Returns the tensors that a call uses, if there are ops that write to tensors.
    fn uses<'a>(&self, arguments: impl IntoIterator<Item = &'a TensorHandle>) -> Option<Uses> {
        let order = self.eager.runtime.order()?;
        Some(order.uses(arguments, self.written))
    }

    /// Returns copies of the handles of a call that follows earlier calls; `None` if it follows
    /// none.
    fn follow<'a>(
        &self,
        uses: Option<&mut Uses>,
        arguments: impl IntoIterator<Item = &'a TensorHandle>,
    ) -> Option<Handles> {
        self.eager.runtime.order()?.follow(uses?, arguments)
    }

    /// Lets later calls follow a call that has begun, if it is not done.
    fn enter(&self, uses: Option<&Uses>, results: &[TensorHandle], chain: Option<&AnyRef>) {
        if let (Some(order), Some(uses)) = (self.eager.runtime.order(), uses) {
            order.enter(uses, results, chain);
        }
    }

    /// Runs the op at once on handles that the caller keeps. Returns `false` if it did nothing.
    fn run_at_once(
        &self,
        ctx: &ExecutionContext,
        arguments: &[&TensorHandle],
        results: &mut [TensorHandle],
    ) -> bool {
        let AttributeSet { attrs, answers } = &*self.set;
        let op = &self.found.known.op;
        if let [result] = &mut *results
            && let Some(made) = op.call_at_once(ctx, arguments, attrs, answers)
        {
            *result = made;
            return true;
        }
        op.run_at_once(ctx, arguments, attrs, results)
    }

    /// Runs the op on copies of handles.
    #[cold]
    fn run_slowly(
        &self,
        call: &Call<'_>,
        arguments: &[&TensorHandle],
        results: &mut [TensorHandle],
    ) -> Result<(), Error> {
        // A list would cost more than the few handles that most ops take.
        match *arguments {
            [x] => self.run_in(call, &mut [x.clone()], results),
            [x, y] => self.run_in(call, &mut [x.clone(), y.clone()], results),
            _ => {
                let mut copies: Handles = arguments.iter().map(|&x| x.clone()).collect();
                self.run_in(call, &mut copies, results)
            }
        }
    }

    fn run(
        &self,
        arguments: &mut [TensorHandle],
        results: &mut [TensorHandle],
        caller: &'static Location<'static>,
    ) -> Result<(), Error> {
        self.check_results(results)?;
        let (ctx, is_sync) = self.begin(caller);
        let mut uses = self.uses(&*arguments);
        if let Some(followed) = self.follow(uses.as_mut(), &*arguments) {
            for (argument, followed) in arguments.iter_mut().zip(followed) {
                *argument = followed;
            }
        }
        let call = &Call {
            ctx: &ctx,
            is_sync,
            uses: uses.as_ref(),
        };
        if self.made.len() > 1 {
            let device = {
                let operands: SmallVec<[&TensorHandle; NUM_IN_PLACE]> = arguments.iter().collect();
                self.device(&operands)?
            };
            for (index, argument) in arguments.iter_mut().enumerate() {
                if let Some(copy) = self.copy_of_operand(&ctx, device, index, argument) {
                    *argument = copy;
                }
            }
            return self.run_on(device, call, arguments, results);
        }
        self.run_in(call, arguments, results)
    }

    /// Runs the op on the device of its placement, on handles that the caller keeps and on the
    /// copies made of them.
    fn run_placed(
        &self,
        call: &Call<'_>,
        arguments: &[&TensorHandle],
        results: &mut [TensorHandle],
    ) -> Result<(), Error> {
        let device = self.device(arguments)?;
        let mut operands: Handles = arguments
            .iter()
            .enumerate()
            .map(|(index, &operand)| {
                let copy = self.copy_of_operand(call.ctx, device, index, operand);
                copy.unwrap_or_else(|| operand.clone())
            })
            .collect();
        self.run_on(device, call, &mut operands, results)
    }

    /// Returns an error if a call requests another number of results.
    #[inline]
    fn check_results(&self, results: &[TensorHandle]) -> Result<(), Error> {
        if results.len() != self.num_results {
            return Err(self.miscounted(results.len()));
        }
        Ok(())
    }

    /// Returns the context of a call, and `true` if the call waits until the op is done.
    #[inline]
    fn begin(&self, caller: &'static Location<'static>) -> (CallContext<'_>, bool) {
        let (ctx, is_sync) = scope::context_and_mode(&self.eager);
        ctx.set_location_token(token_of(caller));
        (ctx, is_sync)
    }

    fn run_in(
        &self,
        call: &Call<'_>,
        arguments: &mut [TensorHandle],
        results: &mut [TensorHandle],
    ) -> Result<(), Error> {
        self.run_on(0, call, arguments, results)
    }

    /// Runs the op on a device that has the operands.
    fn run_on(
        &self,
        device: usize,
        call: &Call<'_>,
        arguments: &mut [TensorHandle],
        results: &mut [TensorHandle],
    ) -> Result<(), Error> {
        let &Call { ctx, is_sync, uses } = call;
        let op = match self.made_for(device) {
            Some(op) => op,
            // The error explains why the device has no such op.
            None => &self.eager.made_op(device, &self.found.known.name)?.op,
        };
        let facts = &self.found.known.facts;
        let effects = facts
            .has_side_effects
            .then(|| scope::effects_of_thread(&self.eager));
        let class = facts.effect_class;
        let mut chain = effects.as_ref().map(|effects| effects.last(class));
        op.run(&mut OpInvocation {
            ctx,
            arguments: &mut *arguments,
            attrs: &self.set.attrs,
            results,
            chain: chain.as_mut(),
        });
        self.enter(uses, results, chain.as_ref());
        if facts.may_write && self.eager.devices.len() > 1 {
            self.outdate_copies(chain.as_ref());
        }
        if is_sync {
            // Arguments that the op has dropped are not kept while it runs.
            arguments.fill(TensorHandle::INVALID);
        }
        match (&chain, effects) {
            (Some(after), Some(effects)) => {
                // The call itself returns this error, so nothing else reports it: effects continue
                // as if the call had not happened.
                let is_told = after.is_error();
                if !is_told {
                    effects.set(class, after.clone());
                }
                let outcome = self.end(results, Some(after), is_sync);
                if let (false, Some(failed)) = (is_told, after.error_if_present())
                    && outcome.is_err()
                {
                    effects.forget_failure(failed);
                }
                outcome
            }
            _ => self.end(results, None, is_sync),
        }
    }

    /// Waits for the results and the chain of a synchronous call, and returns the first error among
    /// them.
    #[inline]
    fn end(
        &self,
        results: &[TensorHandle],
        after: Option<&AnyRef>,
        is_sync: bool,
    ) -> Result<(), Error> {
        let is_there = |handle: &TensorHandle| handle.tensor().is_some_and(AnyRef::is_concrete);
        if after.is_none() && results.iter().all(is_there) {
            return Ok(());
        }
        self.end_slowly(results, after, is_sync)
    }

    #[cold]
    fn end_slowly(
        &self,
        results: &[TensorHandle],
        after: Option<&AnyRef>,
        is_sync: bool,
    ) -> Result<(), Error> {
        let is_there = |value: &AnyRef| value.is_available();
        let values = || results.iter().filter_map(TensorHandle::tensor).chain(after);
        if is_sync && !values().all(is_there) {
            let awaited: Vec<AnyRef> = values().cloned().collect();
            self.eager
                .host
                .await_available(&awaited)
                .map_err(|error| Error::new(error.to_string()))?;
        }
        if !is_sync {
            values().for_each(|value| self.eager.in_flight.add(value));
        }
        let failed = results.iter().find_map(TensorHandle::error_if_present);
        let failed = failed.or_else(|| after.and_then(AnyRef::error_if_present));
        match failed {
            None => Ok(()),
            Some(error) => {
                error.set_kernel_if_unset(&self.found.known.name);
                Err(error.clone())
            }
        }
    }

    /// Returns the device that a call on these operands runs on.
    fn device(&self, operands: &[&TensorHandle]) -> Result<usize, Error> {
        if self.made.is_empty() {
            return Ok(0);
        }
        let has_op = |device| self.made_for(device).is_some();
        let (name, attrs) = (&self.found.known.name, &self.set.attrs);
        let placed = self.eager.place(name, operands, attrs, has_op)?;
        Ok(placed.0)
    }

    /// Returns a copy of an operand where the op on a device needs it, or `None` if the operand is
    /// already there.
    fn copy_of_operand(
        &self,
        ctx: &ExecutionContext,
        device: usize,
        index: usize,
        operand: &TensorHandle,
    ) -> Option<TensorHandle> {
        if self.made.is_empty() {
            return None;
        }
        let needed = self
            .made_for(device)
            .and_then(|op| op.device_of_operand(index));
        let needed = needed.unwrap_or(&self.eager.devices[device].device);
        if !operand.may_be_elsewhere(needed) {
            return None;
        }
        Some(match self.found.known.facts.may_write {
            // The op writes to a copy that nothing else shares.
            true => operand.transfer_to_inferred(ctx, needed),
            false => operand.kept_copy(ctx, needed, &self.eager.copies),
        })
    }

    /// Returns the op on a device, if the device has it. The lookup happens once.
    fn made_for(&self, device: usize) -> Option<&CoreRuntimeOp> {
        let Found {
            device: found,
            known,
        } = &self.found;
        if device == *found {
            return Some(&known.op);
        }
        let make = || self.eager.made_op(device, &known.name).ok();
        let made = self.made.get(device)?.get_or_init(make);
        made.as_ref().map(|known| &known.op)
    }

    /// Invalidates copies of tensors that the op may have written to, or may write to until the
    /// chain is available.
    fn outdate_copies(&self, chain: Option<&AnyRef>) {
        self.eager.copies.outdate();
        if let Some(chain) = chain.filter(|chain| !chain.is_available()) {
            let copies = Arc::clone(&self.eager.copies);
            chain.and_then(move |_| copies.outdate());
        }
    }

    #[cold]
    fn miscounted(&self, asked: usize) -> Error {
        let s = if self.num_results == 1 { "" } else { "s" };
        Error::new(format!(
            "`{}` has {} result{s}, but the call asks for {asked}",
            self.found.known.name, self.num_results
        ))
        .with_code(ErrorCode::InvalidArgument)
    }
}

impl fmt::Debug for ReadyOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("ReadyOp");
        shown.field("name", &self.found.known.name);
        shown.field("attrs", &self.set.attrs);
        shown.finish_non_exhaustive()
    }
}

/// What is known of a call before the op runs.
struct Call<'a> {
    ctx: &'a ExecutionContext,
    /// Whether the call waits until the op is done.
    is_sync: bool,
    /// The tensors that it uses, if there are ops that write to tensors.
    uses: Option<&'a Uses>,
}

/// The source locations of callers, by the numbers that contexts carry.
#[derive(Debug)]
pub(super) struct CallerPlaces {
    /// The name scope of the calls.
    pub(super) scope: Option<Arc<str>>,
}

/// The locations with a number, which is the same for all threads.
static PLACES: Mutex<Places> = Mutex::new(Places {
    places: Vec::new(),
    numbers: BTreeMap::new(),
});

struct Places {
    /// The locations, each at its number; numbers start at 1.
    places: Vec<&'static Location<'static>>,
    /// The numbers, by the address of the location.
    numbers: BTreeMap<usize, u32>,
}

thread_local! {
    /// The address of the location that this thread called from last, and its number.
    static LAST: Cell<(usize, u32)> = const { Cell::new((0, 0)) };
    /// All locations that this thread has called from.
    static KNOWN: RefCell<HashMap<usize, u32>> = RefCell::default();
}

/// Returns the number of a location.
#[inline]
fn token_of(place: &'static Location<'static>) -> u32 {
    let address = std::ptr::from_ref(place).addr();
    let (last, token) = LAST.get();
    if last == address {
        return token;
    }
    find_token(place, address)
}

fn find_token(place: &'static Location<'static>, address: usize) -> u32 {
    let token = KNOWN.with_borrow_mut(|known| {
        *known.entry(address).or_insert_with(|| {
            let mut known = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
            let Places { places, numbers } = &mut *known;
            *numbers.entry(address).or_insert_with(|| {
                places.push(place);
                // Programs have fewer calls than this.
                u32::try_from(places.len()).unwrap_or(0)
            })
        })
    });
    LAST.set((address, token));
    token
}

impl LocationSource for CallerPlaces {
    fn place(&self, token: u32) -> Place {
        let known = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let index = (token as usize).checked_sub(1);
        match index.and_then(|index| known.places.get(index)) {
            Some(&place) => Place::from(place),
            None => Place::default(),
        }
    }

    fn debug_name(&self, _token: u32) -> Option<String> {
        self.scope.as_deref().map(str::to_owned)
    }
}
