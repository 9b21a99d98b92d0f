//! Descriptors: kernels as entries of a table.
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use tfrt_async::{Chain, TypeIndex};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::{Error, ErrorCode};

use crate::kernel::attribute::AttrRead;
use crate::kernel::deferred;
use crate::kernel::direct::Direct;
use crate::kernel::frame::{AttributeList, KernelFrame, mismatch};
use crate::kernel::library_kernel::LibraryKernel;
use crate::kernel::param::ParamList;
use crate::kernel::result::{FrameSink, ResultPart, Returned};
use crate::kernel::source::Source;
use crate::kernel::{AsyncKernel, Kernel};

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

/// The payload types of operands or of results.
///
/// ```
/// use tfrt_async::TypeIndex;
/// use tfrt_host::__runtime::TypeList;
///
/// let mut operands = TypeList::default();
/// operands.push(Some(TypeIndex::of::<i32>()));
/// operands.push_tail(Some(TypeIndex::of::<f32>()));
/// assert_eq!(operands.get(0, 3), Some(TypeIndex::of::<i32>()));
/// assert_eq!(operands.get(2, 3), Some(TypeIndex::of::<f32>()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeList {
    fixed: Vec<Fixed>,
    tail: Option<Option<TypeIndex>>,
    /// `true` if two parameters read one operand, so no single type satisfies both.
    is_contested: bool,
    chain: Option<ChainAtEnd>,
    /// `true` if all values are references.
    are_references: bool,
}

/// An operand or result that is always present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fixed {
    ty: Option<TypeIndex>,
    is_reference: bool,
    /// `true` if a parameter reads it.
    is_read: bool,
}

/// How a chain comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainAtEnd {
    /// It may come last: after a tail, the type of the last value decides.
    Optional,
    /// It comes last whenever there are more values than the fixed ones.
    Behind,
}

impl TypeList {
    /// Returns the type of the value at `index` of `len`, or `None` if it may have any type.
    ///
    /// If a chain may follow a variadic tail, the last value is treated as part of the tail. If two
    /// parameters read one operand, this returns a type that no value has.
    #[must_use]
    pub fn get(&self, index: usize, len: usize) -> Option<TypeIndex> {
        if self.is_contested {
            return Some(TypeIndex::NONE);
        }
        match self.fixed.get(index) {
            Some(fixed) => fixed.ty,
            None if index + 1 == len && self.must_end_in_chain(len) => {
                Some(TypeIndex::of::<Chain>())
            }
            None => self.tail.flatten(),
        }
    }

    /// Returns `true` if a value of type `found` (`None` if unknown) needs no check at `index` of
    /// `len`.
    #[must_use]
    pub fn admits(&self, index: usize, len: usize, found: Option<TypeIndex>) -> bool {
        let wanted = self.get(index, len);
        let is_chain = || index + 1 == len && found == Some(TypeIndex::of::<Chain>());
        wanted.is_none()
            || wanted == found
            || (index >= self.fixed.len() && self.chain.is_some() && is_chain())
    }

    /// Returns the minimum number of values: all except a tail and an optional chain.
    #[must_use]
    pub fn num_fixed(&self) -> usize {
        self.fixed.len()
    }

    /// Returns `true` if the last of `len` values must be a chain.
    fn must_end_in_chain(&self, len: usize) -> bool {
        match self.chain {
            Some(ChainAtEnd::Optional) => self.tail.is_none(),
            Some(ChainAtEnd::Behind) => len > self.fixed.len(),
            None => false,
        }
    }

    /// Returns `true` if the value at `index`, which is not in a tail, is passed as a reference,
    /// available or not.
    #[must_use]
    pub fn is_reference(&self, index: usize) -> bool {
        let is_reference = |fixed: &Fixed| fixed.is_reference;
        self.are_references || self.fixed.get(index).is_some_and(is_reference)
    }

    /// Adds a value of this type, or of any type if `None`.
    pub fn push(&mut self, ty: Option<TypeIndex>) {
        self.fixed.push(Fixed {
            ty,
            is_reference: false,
            is_read: true,
        });
    }

    /// Adds a reference to a value of this type, or of any type if `None`.
    pub fn push_reference(&mut self, ty: Option<TypeIndex>) {
        self.fixed.push(Fixed {
            ty,
            is_reference: true,
            is_read: true,
        });
    }

    /// Adds a tail: any number of values of this type, or of any type if `None`.
    pub fn push_tail(&mut self, ty: Option<TypeIndex>) {
        self.tail = Some(ty);
    }

    /// Sets the type of the value at `index`; `None` means any type.
    pub(crate) fn set(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.set_fixed(index, ty, false);
    }

    /// Marks the value at `index` as a reference to a value of this type, or of any type if `None`.
    pub(crate) fn set_reference(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.set_fixed(index, ty, true);
    }

    fn set_fixed(&mut self, index: usize, ty: Option<TypeIndex>, is_reference: bool) {
        if index >= self.fixed.len() {
            self.fixed.resize(index + 1, Fixed::default());
        }
        self.is_contested |= self.fixed[index].is_read || self.tail.is_some();
        self.fixed[index] = Fixed {
            ty,
            is_reference,
            is_read: true,
        };
    }

    /// Adds a tail that begins at `index`, of values of this type, or of any type if `None`.
    pub(crate) fn set_tail(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.is_contested |= self.tail.is_some() || self.fixed.len() > index;
        self.fixed
            .resize(index.max(self.fixed.len()), Fixed::default());
        self.tail = Some(ty);
    }

    /// Allows operands to end in a chain.
    fn set_optional_chain(&mut self) {
        self.chain = Some(ChainAtEnd::Optional);
    }

    /// Makes results end in a chain if the program wants it.
    pub(crate) fn set_chain(&mut self) {
        self.chain = Some(ChainAtEnd::Behind);
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
        mismatch(self.op, index, expected, found.mlir_type())
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
        self.invoke_counted(Counts::of(self.op), frame);
    }

    /// [`invoke_checked`](Self::invoke_checked) with the counts of the declaration.
    #[inline]
    fn invoke_counted(&self, counts: Counts, frame: &mut KernelFrame<'_>) {
        let checked = match self.entry {
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
    #[inline]
    fn check_counts<'a, S: Source<'a>>(
        &self,
        counts: Counts,
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
}

impl Counts {
    fn of(op: &OpDef) -> Self {
        Self {
            operands: operand_counts(op),
            results: result_counts(op),
        }
    }
}

/// A kernel that is called by itself again and again: what its declaration says of the numbers of operands and results is worked out once.
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
    /// The kernel, counted.
    #[must_use]
    pub fn new(kernel: KernelDescriptor) -> Self {
        let counts = Counts::of(kernel.op);
        Self { kernel, counts }
    }

    /// The kernel.
    #[must_use]
    pub fn descriptor(&self) -> &KernelDescriptor {
        &self.kernel
    }

    /// See [`KernelDescriptor::invoke_checked`].
    #[inline]
    pub fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        self.kernel.invoke_counted(self.counts, frame);
    }
}

/// Adapts a function: holds its arguments, calls it, fills the slots.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`].
unsafe fn run<K: Kernel>(frame: &mut KernelFrame<'_>) {
    // SAFETY: the duties imply for every operand what `check` verifies.
    match unsafe { call::<K, _>(frame.parts()) } {
        Ok(returned) => K::Results::put(returned, &mut FrameSink::new::<K::Results>(frame)),
        Err(error) => frame.report_error(error),
    }
}

/// Calls the function of `K`. Borrows end before the results are visible.
///
/// # Safety
/// 1. `K::Params::check` of the same source would succeed.
#[inline]
pub(crate) unsafe fn call<'f, K: Kernel, S: Source<'f>>(
    source: S,
) -> Result<Returned<K::Results>, Error> {
    // SAFETY: duty 1.
    let mut held = unsafe { K::Params::hold(source) }?;
    Ok(K::call(K::Params::lend(&mut held)))
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
    types.results.are_references = true;
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
#[cfg(all(test, not(loom)))]
mod tests {
    use tfrt_async::ByteString;

    use super::*;
    use crate::kernel::operand::{ByRef, ByValue, Rest};

    fn operands<P: ParamList>() -> TypeList {
        let mut operands = TypeList::default();
        P::describe(&mut operands);
        operands
    }

    #[test]
    fn two_parameters_that_read_one_operand_admit_no_value() {
        let lists = [
            operands::<(ByRef<ByteString, 0>, ByValue<u64, 0>)>(),
            operands::<(ByRef<ByteString, 0>, Rest<u64, 0, false>)>(),
            operands::<(Rest<u64, 0, false>, ByRef<ByteString, 1>)>(),
            operands::<(Rest<u64, 1, false>, Rest<ByteString, 1, false>)>(),
        ];
        for list in lists {
            for ty in [TypeIndex::of::<u64>(), TypeIndex::of::<ByteString>()] {
                assert!(!list.admits(0, 2, Some(ty)) && !list.admits(1, 2, Some(ty)));
            }
        }
        let list = operands::<(ByRef<ByteString, 0>, Rest<u64, 1, false>)>();
        assert!(list.admits(0, 2, Some(TypeIndex::of::<ByteString>())));
        assert!(list.admits(1, 2, Some(TypeIndex::of::<u64>())));
    }
}
