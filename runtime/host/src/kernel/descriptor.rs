//! Descriptors: kernels as entries of a table.
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use tfrt_async::{Chain, TypeIndex};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::{Error, ErrorCode};

use crate::kernel::attribute::AttrRead;
use crate::kernel::call::{AsyncKernel, Kernel, call_function};
use crate::kernel::deferred;
use crate::kernel::direct::Direct;
use crate::kernel::frame::{KernelFrame, mismatch};
use crate::kernel::inputs::AttributeList;
use crate::kernel::param::ParamList;
use crate::kernel::result::{FrameSink, ResultPart};
use crate::kernel::source::Source;
use crate::kernel::type_list::TypeList;

/// One kernel: its declaration, and how to run it. A constant.
///
/// ```
/// use tfrt_host::__runtime::{AttributeList, FunctionList};
/// use tfrt_host::kernel::{KernelDescriptor, KernelFrame};
/// use tfrt_ods::OpDef;
///
/// static OP: OpDef = OpDef::new("my.noop");
/// const NOOP: KernelDescriptor = KernelDescriptor::raw(&OP, |_frame| ());
/// assert_eq!(NOOP.name(), "my.noop");
/// assert!(!NOOP.is_sync());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KernelDescriptor {
    op: &'static OpDef,
    entry: EntryPoint,
    describe: fn(&mut KernelTypes),
}

#[derive(Clone, Copy, Debug)]
enum EntryPoint {
    Function {
        run: unsafe fn(&mut KernelFrame<'_>),
        check: fn(&KernelFrame<'_>) -> Result<(), Error>,
        direct: Option<Direct>,
    },
    Library(&'static LibraryKernel),
}

/// The payload types that a kernel reads and returns.
///
/// A loader uses them to prove the types of registers: a register whose producer returns and whose
/// readers read the same [`TypeIndex`] needs no check at run time.
#[derive(Clone, Debug, Default)]
pub struct KernelTypes {
    /// The operands it reads.
    pub operands: TypeList,
    /// The results it returns.
    pub results: TypeList,
    /// The attributes it reads one by one.
    attributes: Vec<AttrRead>,
}

impl KernelTypes {
    /// Checks that `attributes` can be read by the kernel that `op` declares. A loader must call
    /// this before it lets direct kernels run.
    ///
    /// # Errors
    /// If an attribute is missing, or cannot be read as the type that the kernel reads.
    pub fn check_attributes(&self, op: &OpDef, attributes: AttributeList<'_>) -> Result<(), Error> {
        self.attributes
            .iter()
            .try_for_each(|read| read.check(op, attributes))
    }
}

/// Constructors.
impl KernelDescriptor {
    /// Creates the descriptor of a function.
    #[doc(hidden)]
    #[must_use]
    pub const fn of<K: Kernel>() -> Self {
        Self {
            op: K::OP,
            entry: EntryPoint::Function {
                run: run::<K>,
                check: check::<K::Params>,
                direct: Direct::of::<K>(),
            },
            describe: describe::<K::Params, K::Results>,
        }
    }

    /// Creates the descriptor of a function that runs on the blocking pool.
    #[doc(hidden)]
    #[must_use]
    pub const fn blocking<K: Kernel>() -> Self {
        Self {
            op: K::OP,
            entry: EntryPoint::Function {
                run: deferred::run_blocking::<K>,
                check: check::<K::Params>,
                direct: None,
            },
            describe: describe::<K::Params, K::Results>,
        }
    }

    /// Creates the descriptor of an `async fn`, polled on the work queue.
    #[doc(hidden)]
    #[must_use]
    pub const fn future<K: AsyncKernel>() -> Self {
        Self {
            op: K::OP,
            entry: EntryPoint::Function {
                run: deferred::run_future::<K>,
                check: check::<K::Params>,
                direct: deferred::direct::<K>(),
            },
            describe: describe_later::<K::Params, K::Results>,
        }
    }

    /// Creates the descriptor of a function that takes its frame.
    #[doc(hidden)]
    #[must_use]
    pub const fn raw(op: &'static OpDef, run: fn(&mut KernelFrame<'_>)) -> Self {
        Self {
            op,
            entry: EntryPoint::Function {
                run,
                check: |_| Ok(()),
                direct: None,
            },
            describe: describe_raw,
        }
    }
}

/// Export.
impl KernelDescriptor {
    /// Returns the kernel in the form that another copy of the runtime may run. It lives forever.
    pub(crate) fn for_export(self) -> Self {
        Self {
            entry: EntryPoint::Library(Box::leak(Box::new(LibraryKernel::new(self)))),
            ..self
        }
    }
}

/// Accessors and invocation.
impl KernelDescriptor {
    /// Returns the declaration.
    #[inline]
    #[must_use]
    pub const fn op(&self) -> &'static OpDef {
        self.op
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.op.name
    }

    /// Returns `true` if the kernel is declared to run only in synchronous functions.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_sync(&self) -> bool {
        self.op.traits.contains(OpTraits::SYNC)
    }

    /// Returns the kernel as a [direct](crate::kernel::direct) one, if it can be one.
    #[doc(hidden)]
    #[must_use]
    pub const fn direct(&self) -> Option<Direct> {
        match self.entry {
            EntryPoint::Function { direct, .. } => direct,
            EntryPoint::Library(kernel) => kernel.direct(),
        }
    }

    /// Returns the error for an operand at `index` whose type is not the one that the kernel reads.
    #[doc(hidden)]
    #[cold]
    #[must_use]
    pub fn operand_mismatch(&self, index: usize, expected: TypeIndex, found: TypeIndex) -> Error {
        let expected = expected.mlir_type().unwrap_or("a value");
        mismatch(self.op, index, expected, Some(found))
    }

    /// Returns the payload types that the kernel reads and returns.
    #[doc(hidden)]
    #[must_use]
    pub fn types(&self) -> KernelTypes {
        let mut types = KernelTypes::default();
        (self.describe)(&mut types);
        if has_optional_chain(self.op) || self.op.traits.contains(OpTraits::EXTRA_CHAIN) {
            types.operands.set_optional_chain();
        }
        types
    }

    /// Runs the kernel. Only a [raw](Self::raw) kernel may leave result slots empty.
    ///
    /// # Safety
    /// 1. There are at least as many operands as [`types`](Self::types) lists.
    /// 2. Each operand that is listed with a type and not declared as a reference is available, not
    ///    an error, and has a payload of that type; the last one may be a chain if
    ///    [`TypeList::admits`] permits it.
    #[doc(hidden)]
    #[inline]
    pub unsafe fn invoke(&self, frame: &mut KernelFrame<'_>) {
        match self.entry {
            // SAFETY: duties 1 and 2.
            EntryPoint::Function { run, .. } => unsafe { run(frame) },
            // SAFETY: duties 1 and 2.
            EntryPoint::Library(kernel) => unsafe { kernel.invoke(frame) },
        }
    }

    /// Checks the operands and runs the kernel. Every result becomes an error if there is a
    /// mismatch.
    #[doc(hidden)]
    pub fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        self.invoke_counted(&Counts::of(self.op), frame);
    }

    /// Like [`invoke_checked`](Self::invoke_checked), with the counts of the declaration.
    #[inline]
    fn invoke_counted(&self, counts: &Counts, frame: &mut KernelFrame<'_>) {
        let checked = match self.entry {
            EntryPoint::Function { check, .. }
                if counts.usual == Some((frame.num_arguments(), frame.num_results())) =>
            {
                check(frame)
            }
            EntryPoint::Function { check, .. } => self
                .check_counts(counts, frame.parts(), frame.num_results())
                .and_then(|()| check(frame)),
            EntryPoint::Library(kernel) => return kernel.invoke_checked(frame),
        };
        match checked {
            // SAFETY: duties 1 and 2: the check covers every operand that is read.
            Ok(()) => unsafe { self.invoke(frame) },
            Err(error) => frame.report_error(error),
        }
    }

    /// Checks the numbers of operands and results against the declaration.
    #[cold]
    fn check_counts<'a, S: Source<'a>>(
        &self,
        counts: &Counts,
        source: S,
        num_results: usize,
    ) -> Result<(), Error> {
        let num_operands = source.num_operands();
        let (least, most) = counts.operands;
        if num_operands < least || num_operands > most {
            return Err(wrong_count(self.op, "operands", least, most, num_operands));
        }
        // The last permitted operand is a chain, if the declaration permits one.
        let traits = self.op.traits;
        let may_end_in_chain =
            traits.contains(OpTraits::EXTRA_CHAIN) || traits.contains(OpTraits::OPTIONAL_CHAIN);
        if may_end_in_chain && num_operands == most && most > least && most != usize::MAX {
            source.check::<Chain>(most - 1)?;
        }
        let (least, most) = counts.results;
        if num_results < least || num_results > most {
            return Err(wrong_count(self.op, "results", least, most, num_results));
        }
        Ok(())
    }
}

/// The least and the greatest numbers of operands and of results.
#[derive(Clone, Copy, Debug)]
struct Counts {
    operands: (usize, usize),
    results: (usize, usize),
    /// The least number of operands, of which none is an optional chain, and the number of results,
    /// if that is fixed: most calls have these.
    usual: Option<(usize, usize)>,
}

impl Counts {
    fn of(op: &OpDef) -> Self {
        let (operands, results) = (operand_counts(op), result_counts(op));
        let is_fixed = results.0 == results.1;
        Self {
            operands,
            results,
            usual: is_fixed.then_some((operands.0, results.0)),
        }
    }
}

/// A kernel that is called repeatedly on its own: the numbers of operands and results are computed
/// from its declaration once.
///
/// ```
/// use tfrt_host::__runtime::CountedKernel;
/// use tfrt_host::kernel::{KernelDescriptor, KernelFrame};
/// use tfrt_ods::OpDef;
///
/// static OP: OpDef = OpDef::new("my.nothing");
/// fn nothing(_frame: &mut KernelFrame<'_>) {}
/// let kernel = CountedKernel::new(KernelDescriptor::raw(&OP, nothing));
/// assert_eq!(kernel.descriptor().op().name, "my.nothing");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct CountedKernel {
    kernel: KernelDescriptor,
    /// Those of the kernel's declaration.
    counts: Counts,
}

impl CountedKernel {
    /// Computes the numbers of operands and results of a kernel.
    #[must_use]
    pub fn new(kernel: KernelDescriptor) -> Self {
        let counts = Counts::of(kernel.op);
        Self { kernel, counts }
    }

    /// Returns the kernel.
    #[must_use]
    pub fn descriptor(&self) -> &KernelDescriptor {
        &self.kernel
    }

    /// See [`KernelDescriptor::invoke_checked`].
    #[inline]
    pub fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        self.kernel.invoke_counted(&self.counts, frame);
    }
}

/// The outcome of a call: success, or the payload of a panic.
type Outcome = Result<(), Box<dyn Any + Send>>;

/// A kernel that another copy of the runtime runs, and the library's functions to run it.
///
/// Only a kernel library's own copy of the standard library can catch panics of the library's code.
/// So the program does not call such a kernel directly: it calls code of the library that catches
/// the kernel's panic and returns its payload. The program then resumes the panic, which it handles
/// like that of any other kernel. A [direct](crate::kernel::direct) kernel catches its own panics,
/// so the program calls it like one of its own.
#[derive(Debug)]
struct LibraryKernel {
    kernel: KernelDescriptor,
    invoke: unsafe fn(&KernelDescriptor, &mut KernelFrame<'_>) -> Outcome,
    invoke_checked: fn(&KernelDescriptor, &mut KernelFrame<'_>) -> Outcome,
}

/// In the library.
impl LibraryKernel {
    /// Wraps a kernel of this copy of the runtime for another one.
    fn new(kernel: KernelDescriptor) -> Self {
        // After a panic, the executor expects a partially filled frame.
        Self {
            kernel,
            invoke: |kernel, frame| {
                // SAFETY: the duties of the field are those of the method.
                let invoke = || unsafe { kernel.invoke(frame) };
                catch_unwind(AssertUnwindSafe(invoke))
            },
            invoke_checked: |kernel, frame| {
                catch_unwind(AssertUnwindSafe(|| kernel.invoke_checked(frame)))
            },
        }
    }
}

/// In the program.
impl LibraryKernel {
    /// Returns the kernel as a direct one, which [does not unwind](crate::kernel::direct) and needs
    /// no wrapper.
    const fn direct(&self) -> Option<Direct> {
        self.kernel.direct()
    }

    /// See [`KernelDescriptor::invoke`].
    ///
    /// # Safety
    /// The duties of [`KernelDescriptor::invoke`].
    unsafe fn invoke(&self, frame: &mut KernelFrame<'_>) {
        // SAFETY: the caller fulfils the duties.
        go_on(unsafe { (self.invoke)(&self.kernel, frame) });
    }

    /// See [`KernelDescriptor::invoke_checked`].
    fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        go_on((self.invoke_checked)(&self.kernel, frame));
    }
}

/// Resumes a panic of a library in the program.
fn go_on(outcome: Outcome) {
    if let Err(payload) = outcome {
        resume_unwind(payload);
    }
}

/// Adapts a function: holds its arguments, calls it, fills the slots.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`].
unsafe fn run<K: Kernel>(frame: &mut KernelFrame<'_>) {
    let source = frame.parts();
    let put = |returned| K::Results::put(returned, &mut FrameSink::new::<K::Results>(frame));
    // SAFETY: the duties imply for every operand what `check` verifies.
    let outcome = unsafe { call_function::<K, _, _>(source, put) };
    if let Err(error) = outcome {
        frame.report_error(error);
    }
}

fn check<P: ParamList>(frame: &KernelFrame<'_>) -> Result<(), Error> {
    P::check(frame.parts())
}

fn describe<P: ParamList, R: ResultPart>(types: &mut KernelTypes) {
    P::describe(&mut types.operands);
    P::describe_attributes(&mut types.attributes);
    R::describe(&mut types.results);
}

/// Describes results that may become available later, which are passed as references.
fn describe_later<P: ParamList, R: ResultPart>(types: &mut KernelTypes) {
    describe::<P, R>(types);
    types.results.set_references();
}

/// Describes a kernel that takes its frame: it states no types, but checks what it reads, and its
/// results are checked.
fn describe_raw(types: &mut KernelTypes) {
    types.operands.push_tail(None);
    types.results.push_tail(None);
}

/// Returns `true` if an optional chain comes last among operands and results.
fn has_optional_chain(op: &OpDef) -> bool {
    op.traits.contains(OpTraits::OPTIONAL_CHAIN)
}

/// Returns the minimum and maximum number of operands.
#[must_use]
pub fn operand_counts(op: &OpDef) -> (usize, usize) {
    let groups = op.operand_groups();
    let extra_chain = usize::from(op.traits.contains(OpTraits::EXTRA_CHAIN));
    (
        groups.least() - usize::from(has_optional_chain(op)),
        groups.most().saturating_add(extra_chain),
    )
}

/// Returns the minimum and maximum number of results.
#[must_use]
pub fn result_counts(op: &OpDef) -> (usize, usize) {
    let groups = op.result_groups();
    (
        groups.least() - usize::from(has_optional_chain(op)),
        groups.most(),
    )
}

#[cold]
fn wrong_count(op: &OpDef, what: &str, least: usize, most: usize, found: usize) -> Error {
    let expected = match most {
        usize::MAX => format!("at least {least}"),
        most if most == least => least.to_string(),
        most => format!("{least} or {most}"),
    };
    Error::new(format!(
        "`{}`: expected {expected} {what}, found {found}",
        op.name
    ))
    .with_code(ErrorCode::InvalidArgument)
}
