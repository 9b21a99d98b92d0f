//! Functions of elements: of a program, or closures.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;
use tfrt_async::{AnyRef, run_when_ready_for};
use tfrt_host::{ExecutionContext, FunctionRef};
use tfrt_support::{Error, ErrorCode};

use crate::declared_state::DeclaredState;
use crate::description::StageDescription;
use crate::element_types::ElementTypes;
use crate::options::PipelineOptions;
use crate::result::{END_MESSAGE, IterationResult, Outcome, ValuePromises, Values, are_available};
use crate::typed::IntoElementFunction;

/// What a stage applies to elements: a function of a program, or a Rust closure.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_data::ElementFunction;
///
/// let half = ElementFunction::from_closure(1, 1, |_, values| {
///     let number = values[0].get::<i64>().copied().unwrap_or_default();
///     Ok([AnyRef::available(number / 2)].into_iter().collect())
/// });
/// assert_eq!((half.num_parameters(), half.num_results()), (1, 1));
/// ```
#[derive(Clone)]
pub struct ElementFunction {
    kind: Kind,
    /// Functions that save and restore what it has besides its arguments.
    state: Option<Arc<DeclaredState>>,
}

type Closure = dyn Fn(&ExecutionContext, &[AnyRef]) -> Result<Values, Error> + Send + Sync;

#[derive(Clone)]
enum Kind {
    Program {
        function: FunctionRef,
        /// What [`ElementFunction::stateful_op`] has found.
        stateful_op: Arc<OnceLock<Option<StatefulOp>>>,
    },
    Closure {
        num_parameters: usize,
        num_results: usize,
        /// Its name in descriptions: by default its type, which names the function that contains
        /// it.
        name: Arc<str>,
        /// The types of its parameters and of its results.
        types: (ElementTypes, ElementTypes),
        closure: Arc<Closure>,
    },
}

/// An op with a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatefulOp {
    pub(crate) name: &'static str,
    /// The class of the state.
    pub(crate) class: &'static str,
}

impl ElementFunction {
    /// Makes a function of a closure that takes and returns the given numbers of values. The
    /// closure is called with available values; if a value is an error, the results are that error,
    /// and the closure is not called.
    pub fn from_closure(
        num_parameters: usize,
        num_results: usize,
        closure: impl Fn(&ExecutionContext, &[AnyRef]) -> Result<Values, Error> + Send + Sync + 'static,
    ) -> Self {
        Self::from_named_closure(
            std::any::type_name_of_val(&closure),
            num_parameters,
            num_results,
            closure,
        )
    }

    /// Does the same as [`from_closure`](Self::from_closure), with `name` for
    /// [descriptions](crate::Description). If a closure depends on other data, such as a schema,
    /// its name should identify that data: checkpoints distinguish pipelines by it.
    pub fn from_named_closure(
        name: impl Into<Arc<str>>,
        num_parameters: usize,
        num_results: usize,
        closure: impl Fn(&ExecutionContext, &[AnyRef]) -> Result<Values, Error> + Send + Sync + 'static,
    ) -> Self {
        Self {
            kind: Kind::Closure {
                num_parameters,
                num_results,
                name: name.into(),
                types: (
                    ElementTypes::of_unknown(num_parameters),
                    ElementTypes::of_unknown(num_results),
                ),
                closure: Arc::new(closure),
            },
            state: None,
        }
    }

    /// Declares the state that the function has besides its arguments, so that pipelines with it
    /// can be saved. `save` returns the state as values that a checkpoint can contain, and
    /// `restore` brings it back.
    ///
    /// A function that a stage calls for elements has its state outside of the pipeline, in what a
    /// closure captures or in bound values. `save` takes the bound values; `restore` takes
    /// the bound values, then what `save` has returned. Its own results are only waited for. A scan
    /// and a generator hand their state from call to call: `save` takes that state, which may be of
    /// any type, and `restore` makes it of what `save` has returned.
    ///
    /// Calls of these three functions never overlap, even if a `parallel_map` makes them: each
    /// begins when the results of the one before are available. A function that makes datasets,
    /// such as that of an interleave, is called again for the datasets that are open at a
    /// checkpoint, with the state of its first call: `save` runs before each of its calls. In a
    /// scan or a generator, `save` may run while components of an element are still pending. Calls
    /// follow the order of the elements, and are made for elements only, not for ends and failed
    /// draws.
    ///
    /// All iterators of a dataset share the state. However many of them are in a checkpoint, its
    /// restore calls `restore` once for the same bound values. A stage of a dataset that another
    /// function makes, such as that of an interleave, saves its state while an iterator over that
    /// dataset is open.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
    ///
    /// use tfrt_data::{Dataset, IntoElementFunction};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_support::Error;
    ///
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let count = Arc::new(AtomicI64::new(0));
    /// let (saved, restored) = (Arc::clone(&count), Arc::clone(&count));
    /// let number = (move |x: i64| 10 * x + count.fetch_add(1, Relaxed))
    ///     .with_state(move || saved.load(Relaxed), move |count: i64| restored.store(count, Relaxed));
    /// let numbered = Dataset::range(0, 4, 1)?.repeat(2)?.map(number)?.prefetch(3)?;
    ///
    /// let mut elements = numbered.elements::<i64, _>(&ctx);
    /// elements.by_ref().take(5).for_each(drop);
    /// let checkpoint = elements.save()?;
    /// let rest: Vec<i64> = elements.collect::<Result<_, Error>>()?;
    /// assert_eq!(rest, [15, 26, 37]);
    ///
    /// let again = numbered.elements_from::<i64, _>(&checkpoint, &ctx)?;
    /// assert_eq!(again.collect::<Result<Vec<_>, Error>>()?, rest);
    /// # Ok::<(), Error>(())
    /// ```
    #[must_use]
    pub fn with_state<S, R>(
        mut self,
        save: impl IntoElementFunction<S>,
        restore: impl IntoElementFunction<R>,
    ) -> Self {
        let (save, restore) = (
            save.into_element_function(),
            restore.into_element_function(),
        );
        self.state = Some(Arc::new(DeclaredState::new(save, restore)));
        self
    }

    /// Declares that the function shares the state of another one, if that declares one: calls of
    /// both follow each other, and a checkpoint restores the state once.
    #[must_use]
    pub fn with_state_of(mut self, other: &Self) -> Self {
        self.state.clone_from(&other.state);
        self
    }

    /// Returns the declared state.
    pub(crate) fn state(&self) -> Option<&Arc<DeclaredState>> {
        self.state.as_ref()
    }

    /// Sets the types of the parameters and results of a closure. Functions of programs declare
    /// their types.
    #[must_use]
    pub fn with_types(mut self, parameters: ElementTypes, results: ElementTypes) -> Self {
        if let Kind::Closure { types, .. } = &mut self.kind {
            *types = (parameters, results);
        }
        self
    }

    /// Returns the number of values that it takes.
    #[must_use]
    pub fn num_parameters(&self) -> usize {
        match &self.kind {
            Kind::Program { function, .. } => function.num_arguments(),
            Kind::Closure { num_parameters, .. } => *num_parameters,
        }
    }

    /// Returns the number of values that it returns.
    #[must_use]
    pub fn num_results(&self) -> usize {
        match &self.kind {
            Kind::Program { function, .. } => function.num_results(),
            Kind::Closure { num_results, .. } => *num_results,
        }
    }

    /// Returns the types of the parameters, as far as they are known.
    #[must_use]
    pub fn parameter_types(&self) -> ElementTypes {
        match &self.kind {
            Kind::Program { function, .. } => {
                declared(&function.argument_types(), function.num_arguments())
            }
            Kind::Closure { types, .. } => types.0.clone(),
        }
    }

    /// Returns the types of the results, as far as they are known.
    #[must_use]
    pub fn result_types(&self) -> ElementTypes {
        match &self.kind {
            Kind::Program { function, .. } => {
                declared(&function.result_types(), function.num_results())
            }
            Kind::Closure { types, .. } => types.1.clone(),
        }
    }

    /// Returns its name, and the types of its parameters and results, as far as they are known.
    pub(crate) fn description(&self) -> String {
        match &self.kind {
            Kind::Program { function, .. } => format!(
                "@{}({}) -> ({})",
                function.name(),
                function.argument_types().join(", "),
                function.result_types().join(", ")
            ),
            Kind::Closure { name, .. } => name.to_string(),
        }
    }

    /// Returns a number that identifies what a function of a program does, if it is known.
    pub(crate) fn digest(&self) -> Option<u64> {
        match &self.kind {
            Kind::Program { function, .. } => function.digest(),
            Kind::Closure { .. } => None,
        }
    }

    /// Returns an op of a function of a program that has or reads a state other than input and
    /// output.
    pub(crate) fn stateful_op(&self) -> Option<StatefulOp> {
        let Kind::Program {
            function,
            stateful_op,
        } = &self.kind
        else {
            return None;
        };
        *stateful_op.get_or_init(|| {
            function.reachable_ops().find_map(|op| {
                let class = op.effect.class().filter(|&class| class != "io")?;
                Some(StatefulOp {
                    name: op.name,
                    class,
                })
            })
        })
    }

    /// Calls it with values that are available. Its results may be pending.
    #[must_use]
    pub fn call(&self, ctx: &ExecutionContext, arguments: &[AnyRef]) -> Values {
        self.call_at(ctx, arguments, None)
    }

    /// Calls it as [`call`](Self::call) does, for an element of a stage. Errors of closures name
    /// this element; errors of programs name their kernels.
    #[inline]
    pub(crate) fn call_at(
        &self,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        at: Option<At>,
    ) -> Values {
        match &self.kind {
            Kind::Program { function, .. } => call_program(function, ctx, arguments),
            Kind::Closure {
                num_results,
                closure,
                ..
            } => call_closure(&**closure, *num_results, ctx, arguments, at),
        }
    }
}

/// Returns the types that a function of a program declares.
fn declared(types: &[&str], count: usize) -> ElementTypes {
    match types.len() == count {
        true => ElementTypes::new(types.iter().copied().map(Some)),
        false => ElementTypes::of_unknown(count),
    }
}

/// An element of a stage, as errors name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    stage: &'static str,
    number: u64,
}

impl At {
    /// Creates the name of the element with this number, counted from 0. Failed draws count.
    #[inline]
    pub(crate) fn new(stage: &'static str, number: u64) -> Self {
        Self { stage, number }
    }

    /// Returns the number of the element.
    pub(crate) fn number(self) -> u64 {
        self.number
    }

    /// Adds the element to an error.
    #[cold]
    pub(crate) fn of(self, error: Error) -> Error {
        let Self { stage, number } = self;
        error.with_note(format_args!(", at element {number} of `{stage}`"))
    }

    /// Adds the element to an error, reports the error, and returns it as a value.
    #[cold]
    pub(crate) fn emit(self, error: Error, ctx: &ExecutionContext) -> AnyRef {
        AnyRef::error(ctx.emit_error(self.of(error)))
    }
}

fn call_program(function: &FunctionRef, ctx: &ExecutionContext, arguments: &[AnyRef]) -> Values {
    match function.num_results() {
        1 => {
            let [result] = function.execute_array(ctx, arguments);
            let mut results = Values::new();
            results.push(result);
            results
        }
        2 => Values::from_buf(function.execute_array::<2>(ctx, arguments)),
        _ => function.execute(ctx, arguments).into(),
    }
}

fn call_closure(
    closure: &Closure,
    num_results: usize,
    ctx: &ExecutionContext,
    arguments: &[AnyRef],
    at: Option<At>,
) -> Values {
    let failed = arguments.iter().find(|argument| argument.is_error());
    if let Some(failed) = failed.or_else(|| ctx.request().cancel_value()) {
        return SmallVec::from_elem(failed.clone(), num_results);
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| closure(ctx, arguments)));
    let error = match outcome {
        Ok(Ok(values)) if values.len() == num_results => return values,
        Ok(Ok(values)) => Error::new(format!(
            "expected {num_results} results of a closure, found {}",
            values.len()
        ))
        .with_code(ErrorCode::Internal),
        Ok(Err(error)) => error,
        Err(panic) => panicked(&*panic),
    };
    let error = match at {
        Some(at) => at.emit(error, ctx),
        None => AnyRef::error(ctx.emit_error(error)),
    };
    SmallVec::from_elem(error, num_results)
}

/// Returns the error of a closure that panicked.
#[cold]
pub(crate) fn panicked(panic: &(dyn std::any::Any + Send)) -> Error {
    let text = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (None, Some(text)) => text.as_str(),
        (None, None) => "of unknown kind",
    };
    Error::new(format!("a stage of a pipeline panicked: {text}")).with_code(ErrorCode::Internal)
}

impl From<FunctionRef> for ElementFunction {
    fn from(function: FunctionRef) -> Self {
        Self {
            kind: Kind::Program {
                function,
                stateful_op: Arc::default(),
            },
            state: None,
        }
    }
}

impl fmt::Debug for ElementFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Program { function, .. } => function.fmt(f),
            Kind::Closure { .. } => f.write_str("closure"),
        }
    }
}

/// A function with its first arguments.
#[derive(Clone, Debug)]
pub(crate) struct BoundFunction {
    function: ElementFunction,
    bound: Arc<[AnyRef]>,
}

impl BoundFunction {
    pub(crate) fn new(function: ElementFunction, bound: &[AnyRef]) -> Self {
        Self {
            function,
            bound: bound.into(),
        }
    }

    /// Returns the function.
    pub(crate) fn function(&self) -> &ElementFunction {
        &self.function
    }

    /// Returns its first arguments.
    pub(crate) fn bound(&self) -> &[AnyRef] {
        &self.bound
    }

    /// Returns the number of its results.
    pub(crate) fn num_results(&self) -> usize {
        self.function.num_results()
    }

    /// Returns the types of its results.
    pub(crate) fn result_types(&self) -> ElementTypes {
        self.function.result_types()
    }

    /// Returns the height of the highest dataset among the bound arguments.
    pub(crate) fn height_of_bound(&self) -> u32 {
        let heights = self.bound.iter().map(crate::dataset::height_of);
        heights.max().unwrap_or(0)
    }

    /// Writes the function, and the bound values.
    pub(crate) fn describe(&self, to: &mut StageDescription<'_>) {
        to.function(&self.function);
        if !self.bound.is_empty() {
            to.values("num_bound", &self.bound);
        }
    }

    /// Returns the number of components that it takes.
    fn num_components(&self) -> usize {
        self.function
            .num_parameters()
            .saturating_sub(self.bound.len())
    }

    /// Calls the function with values that are available.
    #[inline]
    pub(crate) fn call(&self, ctx: &ExecutionContext, values: &[AnyRef], at: At) -> Values {
        if self.bound.is_empty() {
            return self.function.call_at(ctx, values, Some(at));
        }
        let arguments: SmallVec<[AnyRef; 4]> = self.bound.iter().chain(values).cloned().collect();
        self.function.call_at(ctx, &arguments, Some(at))
    }

    /// Returns the result of a draw with the results of the function in place of the values. The
    /// function is called for every result, including ends and failed draws unless
    /// [`PipelineOptions`] exclude them, once all values are available: now if they are.
    #[inline]
    pub(crate) fn apply(
        &self,
        result: IterationResult,
        ctx: &ExecutionContext,
        at: At,
    ) -> IterationResult {
        match result.into_outcome() {
            Ok(outcome) => self.apply_to(outcome, ctx, at).into(),
            Err(pending) => {
                let (promise, result) = IterationResult::pending();
                let (this, ctx) = (self.clone(), ctx.clone());
                IterationResult::Pending(pending).and_then_for(promise, move |outcome, promise| {
                    promise.emplace(this.apply_to(outcome, &ctx, at));
                });
                result
            }
        }
    }

    /// Calls the function as [`apply`](Self::apply) does, for a result that is known.
    #[inline]
    pub(crate) fn apply_to(&self, outcome: Outcome, ctx: &ExecutionContext, at: At) -> Outcome {
        match outcome {
            Outcome::Element(values) => Outcome::Element(self.call_when_available(values, ctx, at)),
            ended => self.apply_to_end(ended, ctx, at),
        }
    }

    /// Applies the function to the end or to a failed draw.
    #[cold]
    fn apply_to_end(&self, outcome: Outcome, ctx: &ExecutionContext, at: At) -> Outcome {
        if PipelineOptions::of(ctx.host()).skips_end_calls() {
            return match outcome {
                Outcome::End(_) => Outcome::END,
                other => other,
            };
        }
        match outcome {
            Outcome::End(mut values) => {
                if values.is_empty() && self.num_components() > 0 {
                    let error = AnyRef::error(Error::new(END_MESSAGE));
                    values = SmallVec::from_elem(error, self.num_components());
                }
                Outcome::End(self.call_when_available(values, ctx, at))
            }
            Outcome::Error(error) => {
                let values: Values = SmallVec::from_elem(error.clone(), self.num_components());
                drop(self.call(ctx, &values, at));
                Outcome::Error(error)
            }
            element => element,
        }
    }

    /// Calls the function once all values are available: now if they are. Values without other
    /// consumers are dropped with the results.
    #[inline]
    pub(crate) fn call_when_available(
        &self,
        values: Values,
        ctx: &ExecutionContext,
        at: At,
    ) -> Values {
        if are_available(&values) {
            return self.call(ctx, &values, at);
        }
        let (promises, results) = ValuePromises::new(self.function.num_results());
        let (this, ctx) = (self.clone(), ctx.clone());
        run_when_ready_for(values, promises, move |values, promises| {
            let results = this.call(&ctx, &values, at);
            drop(values);
            promises.forward_to(results);
        });
        results
    }
}
