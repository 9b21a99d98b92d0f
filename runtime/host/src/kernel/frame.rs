//! The frame: the inputs and result slots of one run of a kernel.
//!
//! The executor creates a frame for each run, on its stack. A kernel may not keep it: work that
//! continues after the kernel has returned owns references to the values it needs and a clone of
//! the context.
//!
//! The code that runs the kernel decides where its error goes: to the handler of the host and into
//! the results, or, in a synchronous function, [into a place of the
//! caller](KernelFrame::failing_into).

use std::sync::Arc;

use tfrt_async::{AnyRef, Immutable, TypeIndex, Value};
use tfrt_ods::OpDef;
use tfrt_support::{Error, ErrorCode};

use crate::kernel::attribute::{self, AttrParam};
use crate::kernel::function_ref::{FunctionRef, FunctionTable};
use crate::kernel::inputs::{AttributeList, FunctionList};
use crate::services::execution::ExecutionContext;

/// The view of a kernel that takes its frame: operands, attributes and functions by position, and
/// slots for its results.
///
/// A kernel fills every slot before it returns; a slot may hold a value that becomes available
/// later.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_host::__runtime::{AttributeList, FunctionList};
/// use tfrt_host::kernel::KernelFrame;
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
    /// The destination of the kernel's error, if that does not become its results.
    failure: Option<&'a mut Option<Error>>,
}

impl<'a> KernelFrame<'a> {
    /// Creates a frame for one run of the kernel that `op` declares. `results` has one empty slot
    /// per result.
    #[doc(hidden)]
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

    /// Creates the frame of a kernel whose error ends the enclosing function. `failure` receives
    /// the first reported error, which is not passed to the handler of the host, and results are
    /// left unchanged.
    ///
    /// ```
    /// use tfrt_host::__runtime::{AttributeList, FunctionList};
    /// use tfrt_host::kernel::KernelFrame;
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
    #[doc(hidden)]
    #[inline]
    #[must_use]
    pub fn failing_into(mut self, failure: &'a mut Option<Error>) -> Self {
        self.failure = Some(failure);
        self
    }

    /// Returns the declaration of the kernel.
    #[must_use]
    pub fn op(&self) -> &'static OpDef {
        self.op
    }

    /// Returns the context of the kernel.
    #[inline]
    #[must_use]
    pub fn exec_ctx(&self) -> &'a ExecutionContext {
        self.exec_ctx
    }

    /// Returns the number of operands.
    #[must_use]
    pub fn num_arguments(&self) -> usize {
        self.arguments.len()
    }

    /// Returns the operands as references.
    #[inline]
    #[must_use]
    pub fn arguments(&self) -> &'a [AnyRef] {
        self.arguments
    }

    /// Returns the operand at `index` as a reference.
    ///
    /// # Panics
    /// If there is no such operand. The executor ensures that there are as many as declared.
    #[must_use]
    pub fn argument(&self, index: usize) -> &'a AnyRef {
        &self.arguments[index]
    }

    /// Returns the payload of the operand at `index`.
    ///
    /// # Errors
    /// If there is no such operand, it is not available, or it has another type. Borrow a value of
    /// a mutable type instead, with [`AnyRef::try_read`] or [`AnyRef::try_write`] on
    /// [`argument`](Self::argument).
    pub fn value<T: Value + Immutable>(&self, index: usize) -> Result<&'a T, Error> {
        let argument = self.arguments.get(index);
        argument.and_then(AnyRef::get).ok_or_else(|| {
            let found = argument.map(AnyRef::type_id);
            mismatch(self.op, index, T::MLIR_TYPE, found)
        })
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn num_attributes(&self) -> usize {
        self.attributes.offsets.len()
    }

    /// Returns the attribute at `index`, in byte order of the names.
    ///
    /// # Errors
    /// If there is no such attribute, or its bytes do not hold an `A`.
    pub fn attribute<A: AttrParam + ?Sized>(&self, index: usize) -> Result<A::Value<'a>, Error> {
        attribute::read::<A>(self.op, self.attributes, index)
    }

    /// Returns the program of the kernel, for work that outlives the call and reads attributes,
    /// which are in the program's attribute section.
    #[doc(hidden)]
    #[must_use]
    pub fn function_table(&self) -> Option<&'a Arc<dyn FunctionTable>> {
        self.functions.table
    }

    /// Returns the number of functions.
    #[must_use]
    pub fn num_functions(&self) -> usize {
        self.functions.ids.len()
    }

    /// Returns the function at `index`: those named by symbols come first, in byte order of their
    /// attributes, then the regions.
    ///
    /// # Errors
    /// If there is no such function.
    pub fn function(&self, index: usize) -> Result<FunctionRef, Error> {
        self.functions
            .get(index)
            .ok_or_else(|| missing_function(self.op, index))
    }

    /// Returns the number of results that the program wants.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.results.len()
    }

    /// Fills slot `index`, or replaces its value.
    ///
    /// # Panics
    /// If there is no such result. The executor ensures that there are as many as declared.
    #[inline]
    pub fn set_result(&mut self, index: usize, value: AnyRef) {
        self.results[index] = Some(value);
    }

    /// Returns the result slots.
    #[inline]
    #[must_use]
    pub fn results(&mut self) -> &mut [Option<AnyRef>] {
        self.results
    }

    /// Reports that the kernel failed. The handler of the host is notified once, and the error
    /// becomes every result that is empty or unavailable. Available results stay.
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
                // A value that is available, or becomes so concurrently, rejects the error and
                // stays.
                Some(value) => {
                    let _ = value.try_set_error(error.clone());
                }
            }
        }
    }

    /// Completes the error of the kernel and notifies the handler, if it is to be notified.
    #[cold]
    pub(crate) fn emit(&self, error: Error) -> Error {
        error.set_kernel_if_unset(self.op.name);
        match self.failure {
            Some(_) => self.exec_ctx.explain_error(error),
            None => self.exec_ctx.emit_failure(error),
        }
    }

    /// Fills every slot that the kernel left empty with an error. The executor's last use of a
    /// frame.
    #[doc(hidden)]
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

    /// Returns the inputs of the frame, from which arguments are read.
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

/// The inputs of a frame, without the result slots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameParts<'a> {
    pub(crate) exec_ctx: &'a ExecutionContext,
    pub(crate) op: &'static OpDef,
    pub(crate) arguments: &'a [AnyRef],
    pub(crate) attributes: AttributeList<'a>,
    pub(crate) functions: FunctionList<'a>,
}

/// Returns the error for an operand of the wrong type.
#[cold]
pub(crate) fn mismatch(
    op: &OpDef,
    index: usize,
    expected: &str,
    found: Option<TypeIndex>,
) -> Error {
    let spelling = found.and_then(TypeIndex::mlir_type);
    let rust_name = found.and_then(TypeIndex::rust_name).unwrap_or("value");
    let found = match spelling {
        None => "no payload".to_owned(),
        // One spelling may denote several Rust types.
        Some(found) if found == expected => {
            let path = rust_name.split('<').next().unwrap_or(rust_name);
            let name = path.rsplit("::").next().unwrap_or(path);
            format!("another type of this name, `{name}`")
        }
        Some(found) => format!("`{found}`"),
    };
    Error::new(format!(
        "operand {index} of `{}`: expected `{expected}`, found {found}",
        op.name
    ))
    .with_code(ErrorCode::InvalidArgument)
}

/// Returns the error for a missing function.
#[cold]
pub(crate) fn missing_function(op: &OpDef, index: usize) -> Error {
    let name = op.functions.get(index).map_or_else(
        || index.to_string(),
        |function| format!("`{}`", function.name),
    );
    Error::new(format!("function {name} of `{}` is missing", op.name))
        .with_code(ErrorCode::InvalidArgument)
}
