//! What a draw returns: an element, the end, or an error; now or later.
//!
//! A draw never blocks. If its outcome is known, the result holds it, and nothing is allocated.
//! Otherwise the result refers to a value that becomes available with the outcome:
//!
//! ```text
//!  IterationResult ─┬─ Known(Outcome)                     the usual case
//!                   └─ Pending(AsyncValueRef<Outcome>)    a predicate or a reader has not answered yet
//!
//!  Outcome ─┬─ Element(values)   each value may be pending, a payload, or an error
//!           ├─ End(values)       the values are what functions made of the end; usually there are none
//!           └─ Error(value)      the draw failed; the next draw may succeed
//! ```

use smallvec::SmallVec;
use tfrt_async::identity::TypeIdentity;
use tfrt_async::{AnyRef, AsyncValueRef, Immutable, IndirectPromise, Promise, Promises, Value};
use tfrt_support::Error;

use crate::identity;

/// The values of one element, one for each component.
pub type Values = SmallVec<[AnyRef; 2]>;

/// What a consumer is told that draws past the end.
pub const END_MESSAGE: &str = "iterator reached end";

/// The outcome of a draw.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_data::Outcome;
///
/// let element = Outcome::Element([AnyRef::available(7_i64)].into_iter().collect());
/// assert!(matches!(element, Outcome::Element(values) if values[0].get::<i64>() == Some(&7)));
/// ```
#[derive(Clone, Debug)]
pub enum Outcome {
    /// There is an element. An element whose value is an error is still an element.
    Element(Values),
    /// The sequence has ended. A stage with a function also applies it to ends, and these are its
    /// results. Without values, each component is the error [`END_MESSAGE`].
    End(Values),
    /// The draw failed with this value, which is an error.
    Error(AnyRef),
}

impl Outcome {
    /// The end, as a source reports it.
    pub const END: Self = Self::End(SmallVec::new_const());

    /// Creates an element with one component.
    #[inline]
    #[must_use]
    pub fn one(value: AnyRef) -> Self {
        let mut values = Values::new();
        values.push(value);
        Self::Element(values)
    }

    /// Creates a failed draw.
    #[cold]
    #[must_use]
    pub fn error(error: Error) -> Self {
        Self::Error(AnyRef::error(error))
    }

    /// Returns the outcome in an available value: a failed draw if it is an error, or not yet
    /// available.
    #[must_use]
    pub fn of_available(pending: &AsyncValueRef<Self>) -> Self {
        match pending.get() {
            Some(outcome) => outcome.clone(),
            None if pending.is_available() => Self::Error(pending.as_any().clone()),
            None => Self::error(Error::new("the outcome of the draw is not yet known")),
        }
    }

    /// Returns `true` if this is an element.
    #[must_use]
    pub fn is_element(&self) -> bool {
        matches!(self, Self::Element(_))
    }

    /// Returns `true` if this is the end.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Self::End(_))
    }
}

impl Value for Outcome {
    const MLIR_TYPE: &'static str = "!tfrt_data.outcome";
    const IDENTITY: TypeIdentity<Self> = identity::of_this_crate();
}

impl Immutable for Outcome {}

/// The result of a draw, whose outcome may not be known yet.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_data::{IterationResult, Outcome};
///
/// let (promise, result) = IterationResult::pending();
/// assert!(!result.is_known());
/// promise.emplace(Outcome::one(AnyRef::available(7_i64)));
/// assert!(matches!(result.into_outcome(), Ok(Outcome::Element(_))));
/// ```
#[derive(Clone, Debug)]
#[must_use = "dropping it drops the element"]
pub enum IterationResult {
    /// The outcome is known.
    Known(Outcome),
    /// The outcome is that of this value. If the value is an error, the draw failed.
    Pending(AsyncValueRef<Outcome>),
}

impl IterationResult {
    /// Creates a result whose outcome the promise publishes.
    pub fn pending() -> (Promise<Outcome>, Self) {
        let (promise, outcome) = AsyncValueRef::unconstructed();
        (promise, Self::Pending(outcome))
    }

    /// Returns `true` if the outcome is known.
    #[inline]
    #[must_use]
    pub fn is_known(&self) -> bool {
        match self {
            Self::Known(_) => true,
            Self::Pending(pending) => pending.is_available(),
        }
    }

    /// Returns `true` if this is known to be an element.
    #[inline]
    #[must_use]
    pub(crate) fn is_element(&self) -> bool {
        matches!(self, Self::Known(Outcome::Element(_)))
    }

    /// Returns the outcome if it is known, and otherwise the value that it will be in.
    ///
    /// # Errors
    /// The value, if it is not available.
    #[inline]
    pub fn into_outcome(self) -> Result<Outcome, AsyncValueRef<Outcome>> {
        match self {
            Self::Known(outcome) => Ok(outcome),
            Self::Pending(pending) if pending.is_available() => Ok(Outcome::of_available(&pending)),
            Self::Pending(pending) => Err(pending),
        }
    }

    /// Turns a pending outcome into a known one if it has become available. Otherwise returns the
    /// value to wait for.
    #[inline]
    pub(crate) fn settle(&mut self) -> Option<AnyRef> {
        if let Self::Pending(pending) = self
            && pending.is_available()
        {
            *self = Self::Known(Outcome::of_available(pending));
        }
        match self {
            Self::Known(_) => None,
            Self::Pending(pending) => Some(pending.as_any().clone()),
        }
    }

    /// Calls `f` with the outcome and `promises`, as [`and_then`](Self::and_then) does. If the
    /// promised values lose their last consumer, so does the outcome.
    pub fn and_then_for<P: Promises>(
        self,
        promises: P,
        f: impl FnOnce(Outcome, P) + Send + 'static,
    ) {
        match self.into_outcome() {
            Ok(outcome) => f(outcome, promises),
            Err(pending) => pending
                .as_any()
                .and_then_for(promises, move |value, promises| {
                    let outcome = match value.get::<Outcome>() {
                        Some(outcome) => outcome.clone(),
                        None => Outcome::Error(value.clone()),
                    };
                    f(outcome, promises);
                }),
        }
    }

    /// Calls `f` with the outcome: now if it is known, and otherwise on the thread that makes it
    /// known.
    pub fn and_then(self, f: impl FnOnce(Outcome) + Send + 'static) {
        match self.into_outcome() {
            Ok(outcome) => f(outcome),
            Err(pending) => pending.and_then(move |pending| f(Outcome::of_available(pending))),
        }
    }
}

impl From<Outcome> for IterationResult {
    #[inline]
    fn from(outcome: Outcome) -> Self {
        Self::Known(outcome)
    }
}

/// The promises of the values of an element.
#[derive(Debug)]
pub(crate) struct ValuePromises(SmallVec<[IndirectPromise; 2]>);

impl ValuePromises {
    /// Creates `count` promises and their values.
    pub(crate) fn new(count: usize) -> (Self, Values) {
        let (promises, values) = (0..count).map(|_| AnyRef::indirect()).unzip();
        (Self(promises), values)
    }

    /// Forwards each promised value to the value at its position.
    pub(crate) fn forward_to(self, values: impl IntoIterator<Item = AnyRef>) {
        for (promise, value) in self.0.into_iter().zip(values) {
            promise.forward_to(value);
        }
    }

    /// Makes all promised values this error.
    pub(crate) fn fail(self, error: &AnyRef) {
        let num_values = self.len();
        self.forward_to(std::iter::repeat_n(error.clone(), num_values));
    }

    /// Returns the number of promises.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl Promises for ValuePromises {
    fn have_consumer(&self) -> bool {
        self.0.iter().any(IndirectPromise::has_consumer)
    }
}

/// Returns `true` if every value is available.
#[inline]
#[must_use]
pub fn are_available(values: &[AnyRef]) -> bool {
    values.iter().all(AnyRef::is_available)
}
