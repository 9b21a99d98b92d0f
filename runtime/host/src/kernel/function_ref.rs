//! Functions as values that kernels can call.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use tfrt_async::{AnyRef, Value};
use tfrt_ods::OpDef;
use tfrt_support::{Error, FunctionKind};

use crate::services::execution::ExecutionContext;

/// How many rounds [`FunctionTable::execute_rounds`] may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounds {
    /// At most this many. The results of a round are the arguments of the next one.
    Count(u32),
    /// Another one after each round whose last result is a `bool` that is true. The other results
    /// are the arguments of the next round.
    WhileTrue,
}

/// The functions of one loaded file. Implemented by the executor; kernels see [`FunctionRef`].
///
/// Every method takes the number of a function, which must be one of the file's.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a table of functions",
    label = "does not implement `FunctionTable`",
    note = "a loaded program is a table of functions"
)]
pub trait FunctionTable: Send + Sync + fmt::Debug {
    /// Returns the name, which is empty for the region of an op.
    fn name(&self, id: u32) -> &str;

    /// Returns the kind.
    fn kind(&self, id: u32) -> FunctionKind;

    /// Returns the spellings of the argument types.
    fn argument_types(&self, id: u32) -> Vec<&str>;

    /// Returns the spellings of the result types.
    fn result_types(&self, id: u32) -> Vec<&str>;

    /// Returns the number of arguments.
    fn num_arguments(&self, id: u32) -> usize;

    /// Returns the number of results.
    fn num_results(&self, id: u32) -> usize;

    /// Returns the ops in the body, in program order: the declaration of each, and the numbers of
    /// the functions that it refers to, by name or otherwise. The default implementation returns
    /// `None`, for functions without a known body.
    fn ops(&self, id: u32) -> Option<Vec<(&'static OpDef, Vec<u32>)>> {
        let _ = id;
        None
    }

    /// Returns a number that identifies what the function does; see [`FunctionRef::digest`]. The
    /// default implementation returns `None`, for functions without a known body.
    fn digest(&self, id: u32) -> Option<u64> {
        let _ = id;
        None
    }

    /// Returns the attribute section of the file, for kernels whose work outlives the call.
    fn attribute_section(&self) -> &[u8];

    /// Returns the number of the function of this name. The default implementation returns `None`,
    /// for tables whose functions are not called by name.
    fn number_of(&self, name: &str) -> Option<u32> {
        let _ = name;
        None
    }

    /// Starts the function and returns without waiting. Fills every slot of `results` with a value,
    /// which may be unavailable. The results are errors if the function is synchronous, if counts
    /// differ, or if the type of an argument differs from its declared spelling.
    fn execute(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    );

    /// Runs rounds of the function, each with the results of the one before as its arguments. The
    /// first one takes `values`, which the results of the last one replace. Returns the number of
    /// rounds.
    ///
    /// The effects are those of the same number of calls of [`execute`](Self::execute). But what
    /// the rounds pass to each other need not become values, so a round costs less. No round
    /// follows one with a result that is an error or is not available, or starts in a cancelled
    /// request.
    ///
    /// A table may run fewer rounds than it is asked for, or none; `values` are unchanged if there
    /// are none. The caller continues with `execute`.
    fn execute_rounds(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        rounds: Rounds,
        values: &mut Vec<AnyRef>,
    ) -> u32 {
        let _ = (id, ctx, rounds, values);
        0
    }

    /// Runs a synchronous function to completion on the calling thread. Fills each slot of
    /// `results` with a value that has a payload, unless an error stops the function.
    ///
    /// # Errors
    /// The error of the first failing kernel; or an error if the function is not synchronous, if
    /// counts differ, or if an argument is unavailable, an error, or not of the type that its
    /// spelling declares.
    fn execute_sync(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Result<(), Error>;

    /// Prepares a synchronous function for repeated runs in `ctx`, initially with these arguments,
    /// which are faster than [`execute_sync`](Self::execute_sync). Returns `None` if that is not
    /// supported. See [`FunctionRef::interpreter`].
    ///
    /// # Errors
    /// The error that `execute_sync` would return for these arguments.
    fn prepare_sync(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
    ) -> Result<Option<Box<dyn PreparedFunction>>, Error> {
        let _ = (id, ctx, arguments);
        Ok(None)
    }
}

/// A synchronous function that is prepared to run in one context; see
/// [`FunctionTable::prepare_sync`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a prepared function",
    label = "does not implement `PreparedFunction`",
    note = "call `FunctionTable::prepare_sync` to create one"
)]
pub trait PreparedFunction: Send + fmt::Debug {
    /// Runs the function like [`FunctionTable::execute_sync`], in the context it was prepared for.
    /// `changed` are its first arguments; the others are the same as when they were last passed.
    ///
    /// Returns `None` without doing anything if these arguments and results require `execute_sync`.
    fn run(
        &mut self,
        ctx: &ExecutionContext,
        changed: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Option<Result<(), Error>>;
}

/// A function of a loaded file. Keeps the file alive; clones share it.
#[derive(Clone)]
pub struct FunctionRef {
    table: Arc<dyn FunctionTable>,
    id: u32,
}

impl FunctionRef {
    /// Refers to function `id` of `table`.
    #[doc(hidden)]
    #[must_use]
    pub fn new(table: Arc<dyn FunctionTable>, id: u32) -> Self {
        Self { table, id }
    }

    /// Returns the name, which is empty for the region of an op.
    #[must_use]
    pub fn name(&self) -> &str {
        self.table.name(self.id)
    }

    /// Returns the kind.
    #[must_use]
    pub fn kind(&self) -> FunctionKind {
        self.table.kind(self.id)
    }

    /// Returns the spellings of the argument types.
    #[must_use]
    pub fn argument_types(&self) -> Vec<&str> {
        self.table.argument_types(self.id)
    }

    /// Returns the spellings of the result types.
    #[must_use]
    pub fn result_types(&self) -> Vec<&str> {
        self.table.result_types(self.id)
    }

    /// Returns the number of arguments.
    #[must_use]
    pub fn num_arguments(&self) -> usize {
        self.table.num_arguments(self.id)
    }

    /// Returns the number of results.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.table.num_results(self.id)
    }

    /// Returns the ops in the body, in program order, each with the functions that it refers to.
    /// Returns `None` for functions without a known body, such as native ones.
    ///
    /// ```
    /// use tfrt_host::FunctionRef;
    ///
    /// /// Returns `true` if the function calls no other function.
    /// fn is_leaf(function: &FunctionRef) -> bool {
    ///     let ops = function.ops().unwrap_or_default();
    ///     ops.iter().all(|(_, functions)| functions.is_empty())
    /// }
    /// ```
    #[must_use]
    pub fn ops(&self) -> Option<Vec<(&'static OpDef, Vec<Self>)>> {
        let callee = |id| Self::new(Arc::clone(&self.table), id);
        let ops = self.table.ops(self.id)?.into_iter();
        let ops = ops.map(|(op, functions)| (op, functions.into_iter().map(callee).collect()));
        Some(ops.collect())
    }

    /// Returns the ops in the bodies of the function and of all functions that it refers to,
    /// directly or not. Each body occurs once, whatever refers to it.
    ///
    /// ```
    /// use tfrt_host::FunctionRef;
    ///
    /// /// Returns `true` if a call of the function may print.
    /// fn may_print(function: &FunctionRef) -> bool {
    ///     function.reachable_ops().any(|op| op.name.starts_with("tfrt.print."))
    /// }
    /// ```
    pub fn reachable_ops(&self) -> impl Iterator<Item = &'static OpDef> {
        let mut found = HashSet::from([self.id]);
        let mut left = vec![self.id];
        let bodies = std::iter::from_fn(move || {
            let ops = self.table.ops(left.pop()?).unwrap_or_default();
            let callees = ops.iter().flat_map(|(_, callees)| callees);
            left.extend(callees.filter(|&&callee| found.insert(callee)));
            Some(ops)
        });
        bodies.flatten().map(|(op, _)| op)
    }

    /// Returns a number that identifies what the function does: its ops, their attributes and the
    /// uses of their values, and those of the functions that it refers to. A function of another
    /// file, of any name, has the same number if its body is the same. Returns `None` if the body
    /// is unknown, or if the file lacks the types of attributes, which are optional.
    ///
    /// ```
    /// use tfrt_host::FunctionRef;
    ///
    /// /// Returns `true` if the functions are known to do the same.
    /// fn do_the_same(one: &FunctionRef, other: &FunctionRef) -> bool {
    ///     one.digest().is_some() && one.digest() == other.digest()
    /// }
    /// ```
    #[must_use]
    pub fn digest(&self) -> Option<u64> {
        self.table.digest(self.id)
    }

    /// Returns `true` if both are the same function of the same loaded file.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.table, &other.table) && self.id == other.id
    }

    /// Starts the function; see [`FunctionTable::execute`].
    pub fn execute_into(
        &self,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) {
        Arc::clone(&self.table).execute(self.id, ctx, arguments, results);
    }

    /// Starts the function and returns its results, which may be unavailable.
    #[must_use]
    pub fn execute(&self, ctx: &ExecutionContext, arguments: &[AnyRef]) -> Vec<AnyRef> {
        /// Most functions have at most this many results, whose slots then need no allocation.
        const MAX_ON_STACK: usize = 4;
        let mut on_stack = [const { None }; MAX_ON_STACK];
        let mut in_memory = Vec::new();
        let num_results = self.num_results();
        let slots = match on_stack.get_mut(..num_results) {
            Some(slots) => slots,
            None => {
                in_memory.resize_with(num_results, || None);
                &mut in_memory
            }
        };
        self.execute_into(ctx, arguments, slots);
        slots
            .iter_mut()
            .map(|slot| slot.take().unwrap_or_else(left_empty))
            .collect()
    }

    /// Like [`execute`](Self::execute), for a function known to have `N` results. If it has another
    /// number, each returned value is an error that says so.
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_host::{ExecutionContext, FunctionRef};
    ///
    /// /// Starts a function of one argument and one result.
    /// fn start(function: &FunctionRef, number: i32, ctx: &ExecutionContext) -> AnyRef {
    ///     let [result] = function.execute_array(ctx, &[AnyRef::available(number)]);
    ///     result
    /// }
    /// ```
    #[must_use]
    pub fn execute_array<const N: usize>(
        &self,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
    ) -> [AnyRef; N] {
        let mut slots = [const { None }; N];
        self.execute_into(ctx, arguments, &mut slots);
        slots.map(|slot| slot.unwrap_or_else(left_empty))
    }

    /// Runs rounds of the function in place, as many as need not wait, and returns their number;
    /// see [`FunctionTable::execute_rounds`].
    ///
    /// ```
    /// use tfrt_async::AnyRef;
    /// use tfrt_host::{ExecutionContext, FunctionRef, Rounds};
    ///
    /// /// Calls a function of one argument and one result `count` times, first with `number`.
    /// fn repeat(function: &FunctionRef, number: i32, count: u32, ctx: &ExecutionContext) -> AnyRef {
    ///     let mut values = vec![AnyRef::available(number)];
    ///     let num_rounds = function.execute_rounds(ctx, Rounds::Count(count), &mut values);
    ///     for _ in num_rounds..count {
    ///         values = function.execute(ctx, &values);
    ///     }
    ///     values.swap_remove(0)
    /// }
    /// ```
    pub fn execute_rounds(
        &self,
        ctx: &ExecutionContext,
        rounds: Rounds,
        values: &mut Vec<AnyRef>,
    ) -> u32 {
        Arc::clone(&self.table).execute_rounds(self.id, ctx, rounds, values)
    }

    /// Runs a synchronous function to completion; see [`FunctionTable::execute_sync`].
    ///
    /// # Errors
    /// As for [`FunctionTable::execute_sync`].
    pub fn execute_sync(
        &self,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) -> Result<(), Error> {
        Arc::clone(&self.table).execute_sync(self.id, ctx, arguments, results)
    }

    /// Prepares a synchronous function for repeated runs in `ctx`. A run does the same as
    /// [`execute_sync`](Self::execute_sync) but costs less if the checks common to all runs can be
    /// done in advance.
    ///
    /// # Errors
    /// As for [`FunctionTable::prepare_sync`].
    pub fn interpreter(
        &self,
        ctx: &ExecutionContext,
        arguments: Vec<AnyRef>,
    ) -> Result<Interpreter, Error> {
        Ok(Interpreter {
            prepared: Arc::clone(&self.table).prepare_sync(self.id, ctx, &arguments)?,
            function: self.clone(),
            ctx: ctx.clone(),
            num_changed: 0,
            arguments,
        })
    }
}

/// Runs one synchronous function repeatedly: see [`FunctionRef::interpreter`].
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::{ExecutionContext, FunctionRef};
/// use tfrt_support::Error;
///
/// /// The sum of what a function of a number returns for each number below `end`.
/// fn sum_up(function: &FunctionRef, end: i32, ctx: &ExecutionContext) -> Result<i32, Error> {
///     let mut interpreter = function.interpreter(ctx, vec![AnyRef::available(0)])?;
///     let mut sum = 0;
///     for number in 0..end {
///         interpreter.set_arguments([number]);
///         let mut result = [None];
///         interpreter.run(&mut result)?;
///         sum += result[0].as_ref().and_then(AnyRef::get::<i32>).unwrap_or(&0);
///     }
///     Ok(sum)
/// }
/// ```
#[derive(Debug)]
pub struct Interpreter {
    function: FunctionRef,
    ctx: ExecutionContext,
    arguments: Vec<AnyRef>,
    /// Arguments from this index on are the same as in the last run of `prepared`.
    num_changed: usize,
    prepared: Option<Box<dyn PreparedFunction>>,
}

impl Interpreter {
    /// Replaces the first arguments for subsequent runs.
    ///
    /// # Panics
    /// If the interpreter was created with fewer arguments.
    #[inline]
    pub fn set_arguments<T: Value, const N: usize>(&mut self, payloads: [T; N]) {
        for (argument, payload) in self.arguments[..N].iter_mut().zip(payloads) {
            // The previous value is usually not shared.
            match argument.get_mut::<T>() {
                Some(place) => *place = payload,
                None => *argument = AnyRef::available(payload),
            }
        }
        self.num_changed = self.num_changed.max(N);
    }

    /// Runs the function to completion. The arguments keep their values, except for in-place
    /// changes by the function.
    ///
    /// # Errors
    /// As for [`FunctionTable::execute_sync`].
    #[inline]
    pub fn run(&mut self, results: &mut [Option<AnyRef>]) -> Result<(), Error> {
        if let Some(prepared) = &mut self.prepared
            && let changed = &self.arguments[..self.num_changed]
            && let Some(outcome) = prepared.run(&self.ctx, changed, results)
        {
            self.num_changed = 0;
            return outcome;
        }
        self.function
            .execute_sync(&self.ctx, &self.arguments, results)
    }
}

#[cold]
fn left_empty() -> AnyRef {
    AnyRef::error(Error::new("a function did not set one of its results"))
}

impl fmt::Debug for FunctionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionRef(@{}, {:?})", self.name(), self.kind())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::services::host::HostContext;
    use crate::services::request::RequestContextBuilder;

    /// Functions without arguments. The number of a function is its number of results, of which it
    /// fills the first.
    #[derive(Debug)]
    struct Forgetful;

    impl FunctionTable for Forgetful {
        fn name(&self, _id: u32) -> &str {
            "forgetful"
        }

        fn kind(&self, _id: u32) -> FunctionKind {
            FunctionKind::Async
        }

        fn argument_types(&self, _id: u32) -> Vec<&str> {
            Vec::new()
        }

        fn result_types(&self, id: u32) -> Vec<&str> {
            vec!["i32"; id as usize]
        }

        fn num_arguments(&self, _id: u32) -> usize {
            0
        }

        fn num_results(&self, id: u32) -> usize {
            id as usize
        }

        fn attribute_section(&self) -> &[u8] {
            &[]
        }

        fn execute(
            self: Arc<Self>,
            id: u32,
            _ctx: &ExecutionContext,
            _arguments: &[AnyRef],
            results: &mut [Option<AnyRef>],
        ) {
            assert_eq!(results.len(), id as usize);
            assert!(results.iter().all(Option::is_none));
            if let Some(first) = results.first_mut() {
                *first = Some(AnyRef::available(7_i32));
            }
        }

        fn execute_sync(
            self: Arc<Self>,
            _id: u32,
            _ctx: &ExecutionContext,
            _arguments: &[AnyRef],
            _results: &mut [Option<AnyRef>],
        ) -> Result<(), Error> {
            Err(Error::new("not synchronous"))
        }
    }

    /// Functions that all refer to each other, and how often each body was looked at.
    #[derive(Debug, Default)]
    struct Connected([AtomicUsize; 5]);

    static OPS: [OpDef; 5] = [
        OpDef::new("test.zero"),
        OpDef::new("test.one"),
        OpDef::new("test.two"),
        OpDef::new("test.three"),
        OpDef::new("test.four"),
    ];

    impl FunctionTable for Connected {
        fn name(&self, _id: u32) -> &str {
            ""
        }

        fn kind(&self, _id: u32) -> FunctionKind {
            FunctionKind::Async
        }

        fn argument_types(&self, _id: u32) -> Vec<&str> {
            Vec::new()
        }

        fn result_types(&self, _id: u32) -> Vec<&str> {
            Vec::new()
        }

        fn num_arguments(&self, _id: u32) -> usize {
            0
        }

        fn num_results(&self, _id: u32) -> usize {
            0
        }

        fn ops(&self, id: u32) -> Option<Vec<(&'static OpDef, Vec<u32>)>> {
            let index = id as usize;
            self.0[index].fetch_add(1, Ordering::Relaxed);
            // The last one has no known body.
            let op = OPS.get(index).filter(|_| index < 4)?;
            Some(vec![(op, (0..5).collect())])
        }

        fn attribute_section(&self) -> &[u8] {
            &[]
        }

        fn execute(
            self: Arc<Self>,
            _id: u32,
            _ctx: &ExecutionContext,
            _arguments: &[AnyRef],
            _results: &mut [Option<AnyRef>],
        ) {
        }

        fn execute_sync(
            self: Arc<Self>,
            _id: u32,
            _ctx: &ExecutionContext,
            _arguments: &[AnyRef],
            _results: &mut [Option<AnyRef>],
        ) -> Result<(), Error> {
            Ok(())
        }
    }

    #[test]
    fn each_reachable_body_is_looked_at_once() {
        let table = Arc::new(Connected::default());
        let function = FunctionRef::new(Arc::clone(&table) as _, 2);
        let mut names: Vec<&str> = function.reachable_ops().map(|op| op.name).collect();
        assert_eq!(names.remove(0), "test.two", "its own ops come first");
        names.sort_unstable();
        assert_eq!(names, ["test.one", "test.three", "test.zero"]);
        let counts = table.0.iter().map(|count| count.load(Ordering::Relaxed));
        assert_eq!(counts.collect::<Vec<_>>(), [1; 5]);
    }

    /// Formats each result: a number, or the message of an error.
    fn told(results: &[AnyRef]) -> Vec<String> {
        let told = |result: &AnyRef| match result.error_if_present() {
            Some(error) => error.message().to_owned(),
            None => format!("{:?}", result.get::<i32>()),
        };
        results.iter().map(told).collect()
    }

    #[test]
    fn a_result_that_is_left_empty_is_an_error() {
        let ctx = ExecutionContext::new(
            RequestContextBuilder::new(HostContext::builder().build()).build(),
        );
        let mut expected = ["a function did not set one of its results"; 6];
        expected[0] = "Some(7)";
        for num_results in 0..6 {
            let function = FunctionRef::new(Arc::new(Forgetful), num_results);
            let results = function.execute(&ctx, &[]);
            assert_eq!(told(&results), expected[..num_results as usize]);
        }
        let function = FunctionRef::new(Arc::new(Forgetful), 3);
        let results = function.execute_array::<3>(&ctx, &[]);
        assert_eq!(told(&results), expected[..3]);
    }
}
