//! Calls of an op: at once where nothing is pending, else in the order of the calls on the same
//! tensors.

use std::panic::Location;

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_support::{Error, ErrorCode, Place};

use super::EagerContext;
use super::caller::token_of;
use super::known::AttributeSet;
use super::op::Op;
use super::ready::ReadyOp;
use super::scope;
use super::scope::CallContext;
use crate::core_op::{CoreRuntimeOp, OpInvocation};
use crate::device_op::AtOnce;
use crate::handle::TensorHandle;
use crate::order::Uses;

/// Most ops have at most this many operands and results.
const NUM_IN_PLACE: usize = 4;

/// The most results of a call. Some ops have any number, which takes memory before they run.
const MAX_RESULTS: usize = 1 << 20;

type Handles = SmallVec<[TensorHandle; NUM_IN_PLACE]>;

/// What is known of a call before the op runs.
struct Call<'a> {
    ctx: &'a ExecutionContext,
    /// Whether the call waits until the op is done.
    is_sync: bool,
    /// The tensors that it uses, if there are ops that write to tensors.
    uses: Option<&'a Uses>,
}

/// Runs an op that [admits](crate::device_op::Admitted) this number of operands at once, in the
/// context of its eager context, if nothing keeps it from that.
#[inline(always)]
fn call_at_once(
    eager: &EagerContext,
    op: &CoreRuntimeOp,
    set: &AttributeSet,
    arguments: &[&TensorHandle],
    caller: &'static Location<'static>,
) -> AtOnce {
    if eager.runtime.has_writers() {
        return AtOnce::Refused;
    }
    let Some(ctx) = scope::shared_context(eager) else {
        return AtOnce::Refused;
    };
    ctx.set_location_token(token_of(caller));
    op.call_at_once(&ctx, arguments, &set.attrs, &set.answers)
}

impl Op {
    /// Calls the op once; see [`ReadyOp::call`].
    ///
    /// # Errors
    /// Those of [`ready`](Self::ready) and of [`ReadyOp::call`].
    #[track_caller]
    pub fn call(self, arguments: &[&TensorHandle]) -> Result<TensorHandle, Error> {
        let caller = Location::caller();
        // As in `ReadyOp::call`, without making an op that is called once.
        if let Some(set) = self.set_of_only_device()
            && self.found.known.admitted.contains(arguments.len())
        {
            let op = &self.found.known.op;
            match call_at_once(&self.eager, op, set, arguments, caller) {
                AtOnce::Dense(tensor) => return Ok(op.handle_of_dense(tensor)),
                AtOnce::Available(tensor) => return Ok(op.handle_of_available(tensor)),
                AtOnce::Other(result) => {
                    return self.ready()?.end_one(*result, arguments, caller);
                }
                AtOnce::Refused => {}
            }
        }
        self.ready()?.call(arguments)
    }
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
        if self.admitted.contains(arguments.len()) {
            // Most calls take this way: they write their result where the caller wants it.
            let op = &self.found.known.op;
            match call_at_once(&self.eager, op, &self.set, arguments, caller) {
                AtOnce::Dense(tensor) => return Ok(op.handle_of_dense(tensor)),
                AtOnce::Available(tensor) => return Ok(op.handle_of_available(tensor)),
                AtOnce::Other(result) => return self.end_one(*result, arguments, caller),
                AtOnce::Refused => {}
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
        result: TensorHandle,
        arguments: &[&TensorHandle],
        caller: &'static Location<'static>,
    ) -> Result<TensorHandle, Error> {
        let (ctx, is_sync) = self.begin(caller);
        let mut results = [result];
        let op = &self.found.known.op;
        op.describe_in_results(&ctx, &mut results, arguments);
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
    /// Those of [`call`](Self::call); an error for more than 1,048,576 results, or if there is no
    /// memory for as many.
    #[track_caller]
    pub fn call_all(&self, arguments: &[&TensorHandle]) -> Result<Vec<TensorHandle>, Error> {
        let caller = Location::caller();
        let room = self.room_for_results(arguments.len(), caller);
        let mut results =
            room.inspect_err(|error| error.set_place_if_unset(Place::from(caller)))?;
        self.run_copies(arguments, &mut results, caller)?;
        Ok(results)
    }

    /// Returns room for the results of a call with so many operands. The caller may have asked for
    /// any number.
    fn room_for_results(
        &self,
        num_operands: usize,
        caller: &'static Location<'static>,
    ) -> Result<Vec<TensorHandle>, Error> {
        let mut results = Vec::new();
        let is_too_many = self.num_results > MAX_RESULTS;
        if is_too_many || results.try_reserve_exact(self.num_results).is_err() {
            let (ctx, _) = self.begin(caller);
            return Err(ctx.emit_error(self.no_room(num_operands)));
        }
        results.resize_with(self.num_results, || TensorHandle::INVALID);
        Ok(results)
    }

    /// Returns why there is no room for the results: the op does not have as many, or nobody may
    /// ask for them.
    #[cold]
    fn no_room(&self, num_operands: usize) -> Error {
        let known = &self.found.known;
        let op = known.op.registered();
        match op.map(|op| op.check_counts(num_operands, self.num_results)) {
            Some(Err(error)) => {
                error.set_kernel_if_unset(&known.name);
                error
            }
            _ => self.too_many_results(),
        }
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
            && self.admitted.contains(arguments.len())
        {
            *result = match op.call_at_once(ctx, arguments, attrs, answers) {
                AtOnce::Dense(tensor) => op.handle_of_dense(tensor),
                AtOnce::Available(tensor) => op.handle_of_available(tensor),
                AtOnce::Other(made) => *made,
                AtOnce::Refused => return op.run_at_once(ctx, arguments, attrs, results),
            };
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

    #[cold]
    fn too_many_results(&self) -> Error {
        let (name, num_results) = (&self.found.known.name, self.num_results);
        let message = match num_results > MAX_RESULTS {
            true => {
                format!("`{name}`: a call has at most {MAX_RESULTS} results, not {num_results}")
            }
            false => format!("`{name}`: no memory for {num_results} results"),
        };
        Error::new(message).with_code(ErrorCode::ResourceExhausted)
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
