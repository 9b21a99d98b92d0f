//! Functions as values: what a kernel calls.

use std::fmt;
use std::sync::Arc;

use tfrt_async::AnyRef;
use tfrt_support::Error;

use crate::execution::ExecutionContext;
use crate::value_cell::ValueCell;

/// What kind of function it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionKind {
    /// A graph of asynchronous kernels.
    Async,
    /// A list of synchronous kernels.
    Sync,
    /// A Rust function, found by name.
    Native,
}

/// The functions of one loaded file. Implemented by the executor; kernels see [`FunctionRef`].
///
/// Every method takes the number of a function, which must be one of the file's.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no table of functions",
    label = "does not implement `FunctionTable`",
    note = "a loaded program is one"
)]
pub trait FunctionTable: Send + Sync + fmt::Debug {
    /// Its name; empty for the region of an op.
    fn name(&self, id: u32) -> &str;

    /// Its kind.
    fn kind(&self, id: u32) -> FunctionKind;

    /// The spellings of the types of its arguments.
    fn argument_types(&self, id: u32) -> Vec<&str>;

    /// The spellings of the types of its results.
    fn result_types(&self, id: u32) -> Vec<&str>;

    /// How many arguments it takes.
    fn num_arguments(&self, id: u32) -> usize;

    /// How many results it gives.
    fn num_results(&self, id: u32) -> usize;

    /// The attribute section of the file, for kernels whose work outlives the call.
    fn attribute_section(&self) -> &[u8];

    /// Starts it. Returns without waiting; every one of `results` is filled, with values that may be unavailable. A
    /// synchronous function, and wrong counts, fill them with errors.
    fn execute(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    );

    /// Runs a synchronous function to its end on the calling thread. `arguments` are lent and come back; `results` are
    /// filled, unless an error stops it.
    ///
    /// # Errors
    /// What the first failing kernel says; that the function is not synchronous; that counts differ.
    fn execute_sync(
        self: Arc<Self>,
        id: u32,
        ctx: &ExecutionContext,
        arguments: &mut [ValueCell],
        results: &mut [ValueCell],
    ) -> Result<(), Error>;
}

/// A function of a loaded file. Keeps the file alive; cloning shares.
#[derive(Clone)]
pub struct FunctionRef {
    table: Arc<dyn FunctionTable>,
    id: u32,
}

impl FunctionRef {
    /// Function `id` of `table`.
    #[must_use]
    pub fn new(table: Arc<dyn FunctionTable>, id: u32) -> Self {
        Self { table, id }
    }

    /// Its name; empty for the region of an op.
    #[must_use]
    pub fn name(&self) -> &str {
        self.table.name(self.id)
    }

    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> FunctionKind {
        self.table.kind(self.id)
    }

    /// The spellings of the types of its arguments.
    #[must_use]
    pub fn argument_types(&self) -> Vec<&str> {
        self.table.argument_types(self.id)
    }

    /// The spellings of the types of its results.
    #[must_use]
    pub fn result_types(&self) -> Vec<&str> {
        self.table.result_types(self.id)
    }

    /// How many arguments it takes.
    #[must_use]
    pub fn num_arguments(&self) -> usize {
        self.table.num_arguments(self.id)
    }

    /// How many results it gives.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.table.num_results(self.id)
    }

    /// Starts it; see [`FunctionTable::execute`].
    pub fn execute_into(
        &self,
        ctx: &ExecutionContext,
        arguments: &[AnyRef],
        results: &mut [Option<AnyRef>],
    ) {
        Arc::clone(&self.table).execute(self.id, ctx, arguments, results);
    }

    /// Starts it and gives its results, which may be unavailable.
    #[must_use]
    pub fn execute(&self, ctx: &ExecutionContext, arguments: &[AnyRef]) -> Vec<AnyRef> {
        let mut results = vec![None; self.num_results()];
        self.execute_into(ctx, arguments, &mut results);
        results
            .into_iter()
            .map(|result| {
                result
                    .unwrap_or_else(|| AnyRef::error(Error::new("a function left a result empty")))
            })
            .collect()
    }

    /// Runs a synchronous function to its end; see [`FunctionTable::execute_sync`].
    ///
    /// # Errors
    /// As [`FunctionTable::execute_sync`].
    pub fn execute_sync(
        &self,
        ctx: &ExecutionContext,
        arguments: &mut [ValueCell],
        results: &mut [ValueCell],
    ) -> Result<(), Error> {
        Arc::clone(&self.table).execute_sync(self.id, ctx, arguments, results)
    }
}

impl fmt::Debug for FunctionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FunctionRef(@{}, {:?})", self.name(), self.kind())
    }
}
