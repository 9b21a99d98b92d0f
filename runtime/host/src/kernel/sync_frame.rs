//! The frame of a synchronous kernel: registers instead of references.

use tfrt_async::{AnyRef, Value};
use tfrt_ods::OpDef;
use tfrt_support::Error;

use crate::execution::ExecutionContext;
use crate::function::FunctionRef;
use crate::kernel::attribute::{self, AttributeParam};
use crate::kernel::frame::{AttributeList, FunctionList, mismatch, missing_function};
use crate::kernel::source::SyncFrameParts;
use crate::value_cell::ValueCell;

/// What a synchronous kernel that asks for its frame sees: operands and results are registers of its function.
///
/// ```
/// use tfrt_host::kernel::{AttributeList, FunctionList, SyncKernelFrame};
/// use tfrt_host::value_cell::ValueCell;
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// use tfrt_ods::OpDef;
///
/// static OP: OpDef = OpDef::new("my.double_s");
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let mut registers = [ValueCell::new(21_i32), ValueCell::empty()];
///
/// let mut frame =
///     SyncKernelFrame::new(&ctx, &OP, &mut registers, &[0], AttributeList::EMPTY, FunctionList::default(), &[1]);
/// let doubled = frame.value::<i32>(0)? * 2;
/// frame.set_result(0, doubled);
/// assert!(frame.into_result().is_ok());
/// assert_eq!(registers[1].get::<i32>(), Some(&42));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct SyncKernelFrame<'a> {
    exec_ctx: &'a ExecutionContext,
    op: &'static OpDef,
    registers: &'a mut [ValueCell],
    arguments: &'a [u32],
    attributes: AttributeList<'a>,
    functions: FunctionList<'a>,
    results: &'a [u32],
    error: Option<Error>,
}

impl<'a> SyncKernelFrame<'a> {
    /// A frame for one run of the kernel that `op` declares. `arguments` and `results` are positions in `registers`.
    #[inline]
    #[must_use]
    pub fn new(
        exec_ctx: &'a ExecutionContext,
        op: &'static OpDef,
        registers: &'a mut [ValueCell],
        arguments: &'a [u32],
        attributes: AttributeList<'a>,
        functions: FunctionList<'a>,
        results: &'a [u32],
    ) -> Self {
        Self {
            exec_ctx,
            op,
            registers,
            arguments,
            attributes,
            functions,
            results,
            error: None,
        }
    }

    /// The declaration of the kernel.
    #[must_use]
    pub fn op(&self) -> &'static OpDef {
        self.op
    }

    /// The context that the function runs in.
    #[must_use]
    pub fn exec_ctx(&self) -> &'a ExecutionContext {
        self.exec_ctx
    }

    /// How many operands there are.
    #[must_use]
    pub fn num_arguments(&self) -> usize {
        self.arguments.len()
    }

    /// The register of the operand at `index`.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn argument(&self, index: usize) -> Result<&ValueCell, Error> {
        let register = self
            .arguments
            .get(index)
            .and_then(|&register| self.registers.get(register as usize));
        register.ok_or_else(|| mismatch(self.op, index, "a value", None))
    }

    /// The payload of the operand at `index`.
    ///
    /// # Errors
    /// If there is no such operand, or it is of another type. A value of a mutable type is borrowed instead, with
    /// [`ValueCell::try_read`] or [`ValueCell::try_write`] of [`argument`](Self::argument).
    pub fn value<T: Value>(&self, index: usize) -> Result<&T, Error> {
        let cell = self.argument(index)?;
        cell.get()
            .ok_or_else(|| mismatch(self.op, index, T::MLIR_TYPE, cell.mlir_type()))
    }

    /// A reference to the payload of the operand at `index`, to lend it to another function: the register shares the
    /// payload from now on, as a cell [made of a reference](ValueCell::from_ref).
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn share_argument(&mut self, index: usize) -> Result<AnyRef, Error> {
        let register = self
            .arguments
            .get(index)
            .and_then(|&register| self.registers.get_mut(register as usize));
        let shared = register.and_then(|cell| {
            let value = std::mem::take(cell).into_ref()?;
            *cell = ValueCell::from_ref(value.clone());
            Some(value)
        });
        shared.ok_or_else(|| mismatch(self.op, index, "a value", None))
    }

    /// How many attributes there are.
    #[must_use]
    pub fn num_attributes(&self) -> usize {
        self.attributes.offsets.len()
    }

    /// The attribute at `index`, counted in byte order of their names.
    ///
    /// # Errors
    /// If there is no such attribute, or its bytes do not hold an `A`.
    pub fn attribute<A: AttributeParam + ?Sized>(
        &self,
        index: usize,
    ) -> Result<A::Value<'a>, Error> {
        attribute::read::<A>(self.op, self.attributes, index)
    }

    /// How many functions there are.
    #[must_use]
    pub fn num_functions(&self) -> usize {
        self.functions.ids.len()
    }

    /// The function at `index`: those named by symbols come first, in byte order of their attributes, then the regions.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn function(&self, index: usize) -> Result<FunctionRef, Error> {
        self.functions
            .get(index)
            .ok_or_else(|| missing_function(self.op, index))
    }

    /// How many results the program wants.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.results.len()
    }

    /// Puts a payload into the register of result `index`. A program that wants fewer results does not get it.
    #[inline]
    pub fn set_result<T: Value>(&mut self, index: usize, payload: T) {
        if let Some(cell) = self.result_cell(index) {
            cell.set(payload);
        }
    }

    /// Puts a cell in the place of the register of result `index`.
    pub fn set_result_cell(&mut self, index: usize, value: ValueCell) {
        if let Some(cell) = self.result_cell(index) {
            *cell = value;
        }
    }

    #[inline]
    fn result_cell(&mut self, index: usize) -> Option<&mut ValueCell> {
        self.registers.get_mut(*self.results.get(index)? as usize)
    }

    /// Says that the kernel failed, which ends the function. The first error counts.
    #[cold]
    pub fn report_error(&mut self, error: Error) {
        error.set_kernel_if_unset(self.op.name);
        self.error.get_or_insert(error);
    }

    /// What came of the run.
    ///
    /// # Errors
    /// What the kernel reported.
    #[inline]
    pub fn into_result(self) -> Result<(), Error> {
        self.error.map_or(Ok(()), Err)
    }

    /// The half of the frame that arguments are read from.
    #[inline]
    pub(crate) fn parts(&self) -> SyncFrameParts<'_> {
        SyncFrameParts {
            exec_ctx: self.exec_ctx,
            op: self.op,
            registers: self.registers,
            arguments: self.arguments,
            attributes: self.attributes,
            functions: self.functions,
        }
    }
}
