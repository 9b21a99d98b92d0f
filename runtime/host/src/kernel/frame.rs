//! The frame: what one run of a kernel has at hand.
//!
//! The executor makes a frame for each run, on its stack. A kernel may not keep it: work that goes on after the kernel has
//! returned owns references to the values it needs and a clone of the context.
//!
//! What runs the kernel decides where its error goes: to the handler of the host and into the results, or, in a synchronous
//! function, [into a place of the caller](KernelFrame::failing_into).

use std::sync::Arc;

use tfrt_async::{AnyRef, Immutable, Value};
use tfrt_ods::OpDef;
use tfrt_support::{Error, ErrorCode};

use crate::execution::ExecutionContext;
use crate::function::{FunctionRef, FunctionTable};
use crate::kernel::attribute::{self, AttributeParam};

/// The attributes of one kernel in one file.
#[derive(Clone, Copy, Debug)]
pub struct AttributeList<'a> {
    /// The attribute section of the file.
    pub section: &'a [u8],
    /// Where in it each attribute is, in byte order of their names.
    pub offsets: &'a [u32],
}

impl AttributeList<'_> {
    /// No attributes.
    pub const EMPTY: Self = Self {
        section: &[],
        offsets: &[],
    };
}

/// The functions of one kernel in one file: those named by symbols, in byte order of their attributes, then the regions.
#[derive(Clone, Copy, Debug, Default)]
pub struct FunctionList<'a> {
    /// The functions of the file; none if the kernel has none and belongs to no file.
    pub table: Option<&'a Arc<dyn FunctionTable>>,
    /// Which of them are the kernel's.
    pub ids: &'a [u32],
}

impl FunctionList<'_> {
    /// The function at `index`, if there is one.
    pub(crate) fn get(&self, index: usize) -> Option<FunctionRef> {
        Some(FunctionRef::new(
            Arc::clone(self.table?),
            *self.ids.get(index)?,
        ))
    }
}

/// What a kernel that asks for its frame sees: operands, attributes and functions by position, and slots for its results.
///
/// A kernel fills every slot before it returns; a slot may hold a value that becomes available later.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::kernel::{AttributeList, FunctionList, KernelFrame};
/// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
/// use tfrt_ods::OpDef;
///
/// static OP: OpDef = OpDef::new("my.double");
/// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
/// let arguments = [AnyRef::available(21_i32)];
/// let mut results = [None];
///
/// let mut frame =
///     KernelFrame::new(&ctx, &OP, &arguments, AttributeList::EMPTY, FunctionList::default(), &mut results);
/// let doubled = *frame.value::<i32>(0)? * 2;
/// frame.set_result(0, AnyRef::available(doubled));
/// assert_eq!(results[0].as_ref().and_then(AnyRef::get::<i32>), Some(&42));
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Debug)]
pub struct KernelFrame<'a> {
    exec_ctx: &'a ExecutionContext,
    op: &'static OpDef,
    arguments: &'a [AnyRef],
    attributes: AttributeList<'a>,
    functions: FunctionList<'a>,
    results: &'a mut [Option<AnyRef>],
    /// Where the error of the kernel goes, if it does not become its results.
    failure: Option<&'a mut Option<Error>>,
}

impl<'a> KernelFrame<'a> {
    /// A frame for one run of the kernel that `op` declares. `results` has one empty slot per result.
    #[inline]
    #[must_use]
    pub fn new(
        exec_ctx: &'a ExecutionContext,
        op: &'static OpDef,
        arguments: &'a [AnyRef],
        attributes: AttributeList<'a>,
        functions: FunctionList<'a>,
        results: &'a mut [Option<AnyRef>],
    ) -> Self {
        Self {
            exec_ctx,
            op,
            arguments,
            attributes,
            functions,
            results,
            failure: None,
        }
    }

    /// The frame of a kernel whose error ends the function that it is part of: `failure` takes the first error that is reported,
    /// of which the handler of the host is not told, and results stay as they are.
    ///
    /// ```
    /// use tfrt_host::kernel::{AttributeList, FunctionList, KernelFrame};
    /// use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
    /// use tfrt_ods::OpDef;
    /// use tfrt_support::Error;
    ///
    /// static OP: OpDef = OpDef::new("my.check_s");
    /// let ctx = ExecutionContext::new(RequestContextBuilder::new(HostContext::builder().build()).build());
    /// let mut failure = None;
    /// let mut frame =
    ///     KernelFrame::new(&ctx, &OP, &[], AttributeList::EMPTY, FunctionList::default(), &mut [])
    ///         .failing_into(&mut failure);
    /// frame.report_error(Error::new("not today"));
    /// assert_eq!(failure.as_ref().map(Error::message), Some("not today"));
    /// ```
    #[inline]
    #[must_use]
    pub fn failing_into(mut self, failure: &'a mut Option<Error>) -> Self {
        self.failure = Some(failure);
        self
    }

    /// The declaration of the kernel.
    #[must_use]
    pub fn op(&self) -> &'static OpDef {
        self.op
    }

    /// The context that the kernel runs in.
    #[inline]
    #[must_use]
    pub fn exec_ctx(&self) -> &'a ExecutionContext {
        self.exec_ctx
    }

    /// How many operands there are.
    #[must_use]
    pub fn num_arguments(&self) -> usize {
        self.arguments.len()
    }

    /// The operands, as references.
    #[inline]
    #[must_use]
    pub fn arguments(&self) -> &'a [AnyRef] {
        self.arguments
    }

    /// The operand at `index`, as a reference.
    ///
    /// # Panics
    /// If there are at most `index` operands. The executor sees to it that there are as many as declared.
    #[must_use]
    pub fn argument(&self, index: usize) -> &'a AnyRef {
        &self.arguments[index]
    }

    /// The payload of the operand at `index`.
    ///
    /// # Errors
    /// If there is no such operand, or it is not available, or it is of another type. A value of a mutable type is
    /// borrowed instead, with [`AnyRef::try_read`] or [`AnyRef::try_write`] of [`argument`](Self::argument).
    pub fn value<T: Value + Immutable>(&self, index: usize) -> Result<&'a T, Error> {
        let argument = self.arguments.get(index);
        argument.and_then(AnyRef::get).ok_or_else(|| {
            let found = argument.and_then(AnyRef::mlir_type);
            mismatch(self.op, index, T::MLIR_TYPE, found)
        })
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

    /// The program that the kernel is part of, for work that outlives the call and reads attributes: they lie in its attribute
    /// section.
    #[must_use]
    pub fn function_table(&self) -> Option<&'a Arc<dyn FunctionTable>> {
        self.functions.table
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

    /// Fills slot `index`, or replaces what it holds.
    ///
    /// # Panics
    /// If there are at most `index` results. The executor sees to it that there are as many as declared.
    #[inline]
    pub fn set_result(&mut self, index: usize, value: AnyRef) {
        self.results[index] = Some(value);
    }

    /// The slots.
    #[inline]
    #[must_use]
    pub fn results(&mut self) -> &mut [Option<AnyRef>] {
        self.results
    }

    /// Reports that the kernel failed: the handler of the host is told once, and the error becomes every result that is
    /// empty or not available yet. Results that are available stay.
    ///
    /// In a synchronous function the first error ends the function instead.
    #[cold]
    pub fn report_error(&mut self, error: Error) {
        let error = self.emit(error);
        if let Some(failure) = &mut self.failure {
            failure.get_or_insert(error);
            return;
        }
        for slot in self.results.iter_mut() {
            match slot {
                None => *slot = Some(AnyRef::error(error.clone())),
                // An available value refuses, and so does one that becomes available just now: both stay.
                Some(value) => {
                    let _ = value.try_set_error(error.clone());
                }
            }
        }
    }

    /// Returns the error of the kernel, of which the handler has been told if it is to be told at all.
    #[cold]
    pub(crate) fn emit(&self, error: Error) -> Error {
        error.set_kernel_if_unset(self.op.name);
        match self.failure {
            Some(_) => self.exec_ctx.explain_error(error),
            None => self.exec_ctx.emit_error(error),
        }
    }

    /// Gives every slot that the kernel left empty an error that says so. The executor's last act on a frame.
    #[inline]
    pub fn finish(&mut self) {
        for index in 0..self.results.len() {
            if self.results[index].is_none() {
                self.finish_slot(index);
            }
        }
    }

    #[cold]
    fn finish_slot(&mut self, index: usize) {
        let message = format!("kernel '{}' did not set result {index}", self.op.name);
        let error = self.emit(Error::new(message).with_code(ErrorCode::Internal));
        self.results[index] = Some(AnyRef::error(error));
    }

    /// The half of the frame that arguments are read from.
    #[inline]
    pub(crate) fn parts(&self) -> FrameParts<'a> {
        FrameParts {
            exec_ctx: self.exec_ctx,
            op: self.op,
            arguments: self.arguments,
            attributes: self.attributes,
            functions: self.functions,
        }
    }
}

/// What is read of a frame, apart from where results go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameParts<'a> {
    pub(crate) exec_ctx: &'a ExecutionContext,
    pub(crate) op: &'static OpDef,
    pub(crate) arguments: &'a [AnyRef],
    pub(crate) attributes: AttributeList<'a>,
    pub(crate) functions: FunctionList<'a>,
}

/// An operand is not what it should be.
#[cold]
pub(crate) fn mismatch(op: &OpDef, index: usize, expected: &str, found: Option<&str>) -> Error {
    // One spelling may stand for several Rust types.
    let found = match found {
        None => "no value".to_owned(),
        Some(found) if found == expected => format!("another kind of `{found}`"),
        Some(found) => format!("`{found}`"),
    };
    Error::new(format!(
        "operand {index} of `{}`: expected `{expected}`, found {found}",
        op.name
    ))
    .with_code(ErrorCode::InvalidArgument)
}

/// A function is not there.
#[cold]
pub(crate) fn missing_function(op: &OpDef, index: usize) -> Error {
    let name = op.functions.get(index).map_or_else(
        || index.to_string(),
        |function| format!("`{}`", function.name),
    );
    Error::new(format!("function {name} of `{}` is missing", op.name))
        .with_code(ErrorCode::InvalidArgument)
}
