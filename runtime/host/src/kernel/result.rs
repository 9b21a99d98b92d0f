//! Result markers: what a function returns, and the slots that it fills.
//!
//! A marker represents the return type of a function. [`Sink`] abstracts over the slots of a frame
//! and places among the registers of a function.

use std::marker::PhantomData;

use tfrt_async::{AnyRef, AsyncValueRef, IndirectPromise, TypeIndex, Value};
use tfrt_ods::{Arity, TypeConstraint};
use tfrt_support::IntoError;
use tfrt_support::{Error, ErrorCode};

use crate::kernel::frame::KernelFrame;
use crate::kernel::param::Sealed;
use crate::kernel::type_list::TypeList;

/// The destination of results, from the first to the last.
pub trait Sink: Sealed {
    /// Returns the number of slots still to be filled, except for that of an added chain.
    fn remaining(&self) -> usize;

    /// Fills the next slot with a payload.
    fn put_payload<T: Value>(&mut self, payload: T);

    /// Fills the next slot with a reference.
    fn put_reference(&mut self, value: AnyRef);

    /// Fills the next `slots` slots with an error.
    fn put_error(&mut self, error: Error, slots: usize);

    /// Fills all remaining slots with an error, including that of an added chain.
    fn fail(&mut self, error: Error);

    /// Fills the slot of an added chain, if the program wants it and nothing has failed.
    fn put_chain(&mut self);

    /// Reports that a function returned a different number of results than the program wants.
    fn wrong_count(&mut self, given: usize);
}

/// The return type of a function, or a part of it.
pub trait ResultPart: Sealed {
    /// The Rust type.
    type Returned;

    /// The number of slots that the part fills; for a part with a variadic tail, the minimum.
    const SLOTS: usize;

    /// `true` if the part has a variadic tail.
    const HAS_TAIL: bool = false;

    /// `true` if a chain follows.
    const HAS_CHAIN: bool = false;

    /// `true` if a [direct](crate::kernel::direct) kernel can return the part.
    const IS_DIRECT: bool = false;

    /// Fills slots.
    fn put<S: Sink>(returned: Self::Returned, sink: &mut S);

    /// Creates the promise of the first result, and its value.
    #[inline]
    fn promise() -> (IndirectPromise, AnyRef) {
        AnyRef::indirect()
    }

    /// Adds the results to `results`.
    fn describe(results: &mut TypeList);
}

/// The return type of a function whose results are `P`.
pub type Returned<P> = <P as ResultPart>::Returned;

/// The declaration of a part that is one result or a list of results.
pub trait ResultParam: ResultPart {
    /// The types it may have.
    const TYPE: TypeConstraint;
    /// How often it occurs.
    const ARITY: Arity = Arity::One;
}

/// `()`: nothing.
#[derive(Debug)]
pub struct Nothing;

/// `T`: an available value.
#[derive(Debug)]
pub struct Payload<T>(PhantomData<T>);

/// `AsyncValueRef<T>`: a value that may become available later.
#[derive(Debug)]
pub struct Later<T>(PhantomData<T>);

/// `AnyRef`: a value of any type that may become available later.
#[derive(Debug)]
pub struct AnyResult;

/// `Vec<T>`: values for all the remaining slots.
#[derive(Debug)]
pub struct PayloadTail<T>(PhantomData<T>);

/// `Vec<AsyncValueRef<T>>`: values for all the remaining slots.
#[derive(Debug)]
pub struct LaterTail<T>(PhantomData<T>);

/// `Vec<AnyRef>`: values of any type for all the remaining slots.
#[derive(Debug)]
pub struct AnyTail;

/// `Result<T, E>` as the entire return type of a function: an error becomes every result.
#[derive(Debug)]
pub struct Fallible<P, R>(PhantomData<(P, R)>);

/// `Result<T, E>` as a part of a tuple: an error becomes the results of this part; the others stay.
#[derive(Debug)]
pub struct FalliblePart<P, R>(PhantomData<(P, R)>);

/// A tuple.
#[derive(Debug)]
pub struct Parts<P>(PhantomData<P>);

/// The return type of a function, followed by a chain that the macro adds.
#[derive(Debug)]
pub struct WithChain<P>(PhantomData<P>);

/// A `Result` whose error can become an error value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fail a kernel",
    label = "not a `Result` whose error converts to `tfrt::Error`",
    note = "the error of a kernel is a `tfrt::Error`, a string, or any `std::error::Error` that \
            is `Send + Sync + 'static`",
    note = "return `tfrt::Result<T>`: `Error::new(text)` creates the error from a string, and \
            `Error::other(error)` from any other error"
)]
pub trait FallibleType {
    /// The success type.
    type Ok;

    /// Passes on what it holds, together with `state`: the value to `ok`, or the error, converted,
    /// to `failed`. A `Result` with the converted error would be a copy of the value.
    fn settle<S>(self, state: S, ok: impl FnOnce(S, Self::Ok), failed: impl FnOnce(S, Error));
}

#[diagnostic::do_not_recommend]
impl<T, E: IntoError> FallibleType for Result<T, E> {
    type Ok = T;

    #[inline]
    fn settle<S>(self, state: S, ok: impl FnOnce(S, T), failed: impl FnOnce(S, Error)) {
        match self {
            Ok(value) => ok(state, value),
            Err(error) => failed(state, error.into_error()),
        }
    }
}

impl Sealed for Nothing {}

impl ResultPart for Nothing {
    type Returned = ();
    const SLOTS: usize = 0;
    const IS_DIRECT: bool = true;

    #[inline]
    fn put<S: Sink>((): (), _sink: &mut S) {}

    fn describe(_results: &mut TypeList) {}
}

impl<T> Sealed for Payload<T> {}

impl<T: Value> ResultPart for Payload<T> {
    type Returned = T;
    const SLOTS: usize = 1;
    const IS_DIRECT: bool = true;

    #[inline]
    fn put<S: Sink>(payload: T, sink: &mut S) {
        sink.put_payload(payload);
    }

    #[inline]
    fn promise() -> (IndirectPromise, AnyRef) {
        AnyRef::indirect_of::<T>()
    }

    fn describe(results: &mut TypeList) {
        results.push(Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value> ResultParam for Payload<T> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
}

impl<T> Sealed for Later<T> {}

impl<T: Value> ResultPart for Later<T> {
    type Returned = AsyncValueRef<T>;
    const SLOTS: usize = 1;
    const IS_DIRECT: bool = true;

    #[inline]
    fn put<S: Sink>(value: AsyncValueRef<T>, sink: &mut S) {
        sink.put_reference(value.into_any());
    }

    fn describe(results: &mut TypeList) {
        results.push_reference(Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value> ResultParam for Later<T> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
}

impl Sealed for AnyResult {}

impl ResultPart for AnyResult {
    type Returned = AnyRef;
    const SLOTS: usize = 1;
    const IS_DIRECT: bool = true;

    #[inline]
    fn put<S: Sink>(value: AnyRef, sink: &mut S) {
        sink.put_reference(value);
    }

    fn describe(results: &mut TypeList) {
        results.push_reference(None);
    }
}

impl ResultParam for AnyResult {
    const TYPE: TypeConstraint = TypeConstraint::Any;
}

/// Fills all remaining slots from a list, which must have the same length.
pub(super) fn put_all<T, S: Sink>(values: Vec<T>, sink: &mut S, put: impl Fn(&mut S, T)) {
    if values.len() != sink.remaining() {
        return sink.wrong_count(values.len());
    }
    for value in values {
        put(sink, value);
    }
}

impl<T> Sealed for PayloadTail<T> {}

impl<T: Value> ResultPart for PayloadTail<T> {
    type Returned = Vec<T>;
    const SLOTS: usize = 0;
    const HAS_TAIL: bool = true;

    fn put<S: Sink>(payloads: Vec<T>, sink: &mut S) {
        put_all(payloads, sink, S::put_payload);
    }

    fn describe(results: &mut TypeList) {
        results.push_tail(Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value> ResultParam for PayloadTail<T> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
    const ARITY: Arity = Arity::Variadic;
}

impl<T> Sealed for LaterTail<T> {}

impl<T: Value> ResultPart for LaterTail<T> {
    type Returned = Vec<AsyncValueRef<T>>;
    const SLOTS: usize = 0;
    const HAS_TAIL: bool = true;

    fn put<S: Sink>(values: Vec<AsyncValueRef<T>>, sink: &mut S) {
        put_all(values, sink, |sink, value| {
            sink.put_reference(value.into_any())
        });
    }

    fn describe(results: &mut TypeList) {
        results.push_tail(Some(TypeIndex::of::<T>()));
    }
}

impl<T: Value> ResultParam for LaterTail<T> {
    const TYPE: TypeConstraint = TypeConstraint::Exact(T::MLIR_TYPE);
    const ARITY: Arity = Arity::Variadic;
}

impl Sealed for AnyTail {}

impl ResultPart for AnyTail {
    type Returned = Vec<AnyRef>;
    const SLOTS: usize = 0;
    const HAS_TAIL: bool = true;

    fn put<S: Sink>(values: Vec<AnyRef>, sink: &mut S) {
        put_all(values, sink, S::put_reference);
    }

    fn describe(results: &mut TypeList) {
        results.push_tail(None);
    }
}

impl ResultParam for AnyTail {
    const TYPE: TypeConstraint = TypeConstraint::Any;
    const ARITY: Arity = Arity::Variadic;
}

impl<P, R> Sealed for Fallible<P, R> {}

impl<P: ResultPart, R: FallibleType<Ok = P::Returned>> ResultPart for Fallible<P, R> {
    type Returned = R;
    const SLOTS: usize = P::SLOTS;
    const HAS_TAIL: bool = P::HAS_TAIL;
    const IS_DIRECT: bool = P::IS_DIRECT;

    #[inline]
    fn put<S: Sink>(returned: R, sink: &mut S) {
        returned.settle(sink, |sink, returned| P::put(returned, sink), S::fail);
    }

    #[inline]
    fn promise() -> (IndirectPromise, AnyRef) {
        P::promise()
    }

    fn describe(results: &mut TypeList) {
        P::describe(results);
    }
}

impl<P, R> Sealed for FalliblePart<P, R> {}

impl<P: ResultPart, R: FallibleType<Ok = P::Returned>> ResultPart for FalliblePart<P, R> {
    type Returned = R;
    const SLOTS: usize = P::SLOTS;
    const HAS_TAIL: bool = P::HAS_TAIL;

    #[inline]
    fn put<S: Sink>(returned: R, sink: &mut S) {
        returned.settle(
            sink,
            |sink, returned| P::put(returned, sink),
            |sink, error| sink.put_error(error, P::SLOTS),
        );
    }

    fn describe(results: &mut TypeList) {
        P::describe(results);
    }
}

impl<P: ResultParam, R: FallibleType<Ok = P::Returned>> ResultParam for FalliblePart<P, R> {
    const TYPE: TypeConstraint = P::TYPE;
    const ARITY: Arity = P::ARITY;
}

macro_rules! impl_parts {
    ($($part:ident $value:ident),*) => {
        impl<$($part),*> Sealed for Parts<($($part,)*)> {}

        impl<$($part: ResultPart),*> ResultPart for Parts<($($part,)*)> {
            type Returned = ($($part::Returned,)*);
            const SLOTS: usize = 0 $(+ $part::SLOTS)*;
            const HAS_TAIL: bool = false $(|| $part::HAS_TAIL)*;
            const IS_DIRECT: bool = true $(&& $part::IS_DIRECT)*;

            #[inline]
            fn put<S: Sink>(($($value,)*): Self::Returned, sink: &mut S) {
                $($part::put($value, sink);)*
            }

            fn describe(results: &mut TypeList) {
                $($part::describe(results);)*
            }
        }
    };
}

impl_parts!(A a);
impl_parts!(A a, B b);
impl_parts!(A a, B b, C c);
impl_parts!(A a, B b, C c, D d);
impl_parts!(A a, B b, C c, D d, E e);
impl_parts!(A a, B b, C c, D d, E e, F f);
impl_parts!(A a, B b, C c, D d, E e, F f, G g);
impl_parts!(A a, B b, C c, D d, E e, F f, G g, H h);

impl<P> Sealed for WithChain<P> {}

impl<P: ResultPart> ResultPart for WithChain<P> {
    type Returned = P::Returned;
    const SLOTS: usize = P::SLOTS;
    const HAS_TAIL: bool = P::HAS_TAIL;
    const HAS_CHAIN: bool = true;
    const IS_DIRECT: bool = P::IS_DIRECT;

    #[inline]
    fn put<S: Sink>(returned: Self::Returned, sink: &mut S) {
        P::put(returned, sink);
        sink.put_chain();
    }

    #[inline]
    fn promise() -> (IndirectPromise, AnyRef) {
        P::promise()
    }

    fn describe(results: &mut TypeList) {
        P::describe(results);
        results.set_chain();
    }
}

/// The slots of a frame.
#[derive(Debug)]
pub(crate) struct FrameSink<'s, 'f> {
    frame: &'s mut KernelFrame<'f>,
    next: usize,
    /// The slot after the results of the function; one for an added chain may follow.
    end: usize,
}

impl<'s, 'f> FrameSink<'s, 'f> {
    /// Creates the sink for the slots of `frame`, filled by `P`.
    #[inline]
    pub(crate) fn new<P: ResultPart>(frame: &'s mut KernelFrame<'f>) -> Self {
        let num_results = frame.num_results();
        let has_chain_slot = P::HAS_CHAIN && num_results > P::SLOTS;
        let end = if P::HAS_TAIL {
            num_results - usize::from(has_chain_slot)
        } else {
            P::SLOTS
        };
        Self {
            frame,
            next: 0,
            end,
        }
    }

    /// Fills the next slot. If the program wants fewer results, the rest are dropped.
    #[inline]
    fn put(&mut self, value: AnyRef) {
        if let Some(slot) = self.frame.results().get_mut(self.next) {
            *slot = Some(value);
        }
        self.next += 1;
    }
}

impl Sealed for FrameSink<'_, '_> {}

impl Sink for FrameSink<'_, '_> {
    fn remaining(&self) -> usize {
        self.end.saturating_sub(self.next)
    }

    #[inline]
    fn put_payload<T: Value>(&mut self, payload: T) {
        self.put(AnyRef::available(payload));
    }

    #[inline]
    fn put_reference(&mut self, value: AnyRef) {
        self.put(value);
    }

    #[cold]
    fn put_error(&mut self, error: Error, slots: usize) {
        let error = self.frame.emit(error);
        for _ in 0..slots {
            self.put(AnyRef::error(error.clone()));
        }
    }

    #[cold]
    fn fail(&mut self, error: Error) {
        self.frame.report_error(error);
    }

    #[inline]
    fn put_chain(&mut self) {
        if let Some(slot @ None) = self.frame.results().get_mut(self.end) {
            *slot = Some(AnyRef::ready_chain());
        }
    }

    #[cold]
    fn wrong_count(&mut self, given: usize) {
        let error = wrong_count(self.frame.op().name, given + self.next, self.end);
        self.frame.report_error(error);
    }
}

#[cold]
fn wrong_count(kernel: &str, given: usize, wanted: usize) -> Error {
    Error::new(format!(
        "`{kernel}` returned {given} results, but the program expects {wanted} results"
    ))
    .with_code(ErrorCode::Internal)
}
