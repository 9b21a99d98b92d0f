//! Descriptors: kernels as entries of a table.
#![expect(unsafe_code, reason = "runs kernels whose operands were proven")]

use tfrt_async::{Chain, TypeIndex};
use tfrt_ods::{OpDef, OpTraits};
use tfrt_support::{Error, ErrorCode};

use crate::kernel::attribute::AttributeRead;
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
/// use tfrt_host::kernel::{AttributeList, FunctionList, KernelDescriptor, KernelFrame};
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
    entry: Entry,
    describe: fn(&mut KernelTypes),
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Function {
        run: unsafe fn(&mut KernelFrame<'_>),
        check: fn(&KernelFrame<'_>) -> Result<(), Error>,
        direct: Option<Direct>,
    },
    Library(&'static LibraryKernel),
}

/// The payload types that a kernel reads and returns.
///
/// What a loader proves registers with: a register whose producer returns and whose readers read one [`TypeIndex`] needs no
/// check at run time.
#[derive(Clone, Debug, Default)]
pub struct KernelTypes {
    /// What it reads.
    pub operands: TypeList,
    /// What it returns.
    pub results: TypeList,
    /// The attributes that it reads one by one.
    attributes: Vec<AttributeRead>,
}

impl KernelTypes {
    /// Whether `attributes` are what the kernel that `op` declares reads. A loader asks before it lets
    /// [direct](crate::kernel::direct) kernels run.
    ///
    /// # Errors
    /// That one of them is not there, or cannot be read as what the kernel reads it as.
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
/// use tfrt_host::kernel::TypeList;
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
    /// Whether two parameters read one operand, so that no one type lets both of them read it.
    is_contested: bool,
    chain: Option<ChainAtEnd>,
    /// Whether all values are references.
    are_references: bool,
}

/// One operand or result that is always there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Fixed {
    ty: Option<TypeIndex>,
    is_reference: bool,
    /// Whether a parameter reads it.
    is_read: bool,
}

/// Whether a chain comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainAtEnd {
    /// It may: behind a tail, the last value tells by its type.
    Optional,
    /// It does whenever there are more values than the fixed ones.
    Behind,
}

impl TypeList {
    /// The type of the value at `index` of `len`; none if values of any type may be there.
    ///
    /// Where a chain may come behind a variadic tail, the last value is taken for one of the tail. Where two parameters read one
    /// operand, the answer is the type that no value has.
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

    /// Whether a value of type `found`, or of one that is not known, may be at `index` of `len` without being looked at.
    #[must_use]
    pub fn admits(&self, index: usize, len: usize, found: Option<TypeIndex>) -> bool {
        let wanted = self.get(index, len);
        let is_chain = || index + 1 == len && found == Some(TypeIndex::of::<Chain>());
        wanted.is_none()
            || wanted == found
            || (index >= self.fixed.len() && self.chain.is_some() && is_chain())
    }

    /// How many values there are at least: all but those of a tail and a chain that may be left out.
    #[must_use]
    pub fn num_fixed(&self) -> usize {
        self.fixed.len()
    }

    /// Whether the last of `len` values can only be a chain.
    fn must_end_in_chain(&self, len: usize) -> bool {
        match self.chain {
            Some(ChainAtEnd::Optional) => self.tail.is_none(),
            Some(ChainAtEnd::Behind) => len > self.fixed.len(),
            None => false,
        }
    }

    /// Whether the value at `index`, which is not one of a tail, is taken or given as a reference, available or not.
    #[must_use]
    pub fn is_reference(&self, index: usize) -> bool {
        let is_reference = |fixed: &Fixed| fixed.is_reference;
        self.are_references || self.fixed.get(index).is_some_and(is_reference)
    }

    /// Adds a value of this type, or of any.
    pub fn push(&mut self, ty: Option<TypeIndex>) {
        self.fixed.push(Fixed {
            ty,
            is_reference: false,
            is_read: true,
        });
    }

    /// Adds a reference to a value of this type, or of any.
    pub fn push_reference(&mut self, ty: Option<TypeIndex>) {
        self.fixed.push(Fixed {
            ty,
            is_reference: true,
            is_read: true,
        });
    }

    /// Says that any number of values of this type, or of any, follow.
    pub fn push_tail(&mut self, ty: Option<TypeIndex>) {
        self.tail = Some(ty);
    }

    /// Says that the value at `index` is of this type, or of any.
    pub(crate) fn set(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.set_fixed(index, ty, false);
    }

    /// Says that the value at `index` is taken as a reference to one of this type, or of any.
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

    /// Says that any number of values of this type, or of any, begin at `index`.
    pub(crate) fn set_tail(&mut self, index: usize, ty: Option<TypeIndex>) {
        self.is_contested |= self.tail.is_some() || self.fixed.len() > index;
        self.fixed
            .resize(index.max(self.fixed.len()), Fixed::default());
        self.tail = Some(ty);
    }

    /// Says that operands may end in a chain.
    fn set_optional_chain(&mut self) {
        self.chain = Some(ChainAtEnd::Optional);
    }

    /// Says that results end in a chain, if the program wants it.
    pub(crate) fn set_chain(&mut self) {
        self.chain = Some(ChainAtEnd::Behind);
    }
}

/// Making descriptors.
impl KernelDescriptor {
    /// A function.
    #[must_use]
    pub const fn of<K: Kernel>() -> Self {
        Self {
            op: K::OP,
            entry: Entry::Function {
                run: run::<K>,
                check: check::<K::Params>,
                direct: Direct::of::<K>(),
            },
            describe: describe::<K::Params, K::Results>,
        }
    }

    /// A function that runs on the blocking pool.
    #[must_use]
    pub const fn blocking<K: Kernel>() -> Self {
        Self {
            op: K::OP,
            entry: Entry::Function {
                run: deferred::run_blocking::<K>,
                check: check::<K::Params>,
                direct: None,
            },
            describe: describe::<K::Params, K::Results>,
        }
    }

    /// An `async fn`, polled on the work queue.
    #[must_use]
    pub const fn future<K: AsyncKernel>() -> Self {
        Self {
            op: K::OP,
            entry: Entry::Function {
                run: deferred::run_future::<K>,
                check: check::<K::Params>,
                direct: deferred::direct::<K>(),
            },
            describe: describe_later::<K::Params, K::Results>,
        }
    }

    /// A function that takes its frame.
    #[must_use]
    pub const fn raw(op: &'static OpDef, run: fn(&mut KernelFrame<'_>)) -> Self {
        Self {
            op,
            entry: Entry::Function {
                run,
                check: |_| Ok(()),
                direct: None,
            },
            describe: describe_raw,
        }
    }
}

/// Handing descriptors over.
impl KernelDescriptor {
    /// The kernel as another copy of the runtime may run it. It lives for ever.
    pub(crate) fn for_export(self) -> Self {
        Self {
            entry: Entry::Library(Box::leak(Box::new(LibraryKernel::new(self)))),
            ..self
        }
    }
}

/// Using descriptors.
impl KernelDescriptor {
    /// The declaration.
    #[inline]
    #[must_use]
    pub const fn op(&self) -> &'static OpDef {
        self.op
    }

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.op.name
    }

    /// Whether the kernel is declared to run in synchronous functions, and in no others.
    #[must_use]
    pub const fn is_sync(&self) -> bool {
        self.op.traits.contains(OpTraits::SYNC)
    }

    /// The kernel as a [direct](crate::kernel::direct) one, if it can be.
    #[must_use]
    pub const fn direct(&self) -> Option<Direct> {
        match self.entry {
            Entry::Function { direct, .. } => direct,
            Entry::Library(kernel) => kernel.direct(),
        }
    }

    /// That the operand at `index` is not of the type that the kernel reads.
    #[cold]
    #[must_use]
    pub fn operand_mismatch(&self, index: usize, expected: TypeIndex, found: TypeIndex) -> Error {
        let expected = expected.mlir_type().unwrap_or("a value");
        mismatch(self.op, index, expected, found.mlir_type())
    }

    /// The payload types that the kernel reads and returns.
    #[must_use]
    pub fn types(&self) -> KernelTypes {
        let mut types = KernelTypes::default();
        (self.describe)(&mut types);
        if has_optional_chain(self.op) || self.op.traits.contains(OpTraits::EXTRA_CHAIN) {
            types.operands.set_optional_chain();
        }
        types
    }

    /// Runs the kernel. Slots of results may stay empty only if the kernel is [raw](Self::raw).
    ///
    /// # Safety
    /// 1. There are as many operands as [`types`](Self::types) lists, or more.
    /// 2. Each operand that is listed with a type and not declared as a reference is available, no error, and has a payload
    ///    of that type; the last one may be a chain where [`TypeList::admits`] says so.
    #[inline]
    pub unsafe fn invoke(&self, frame: &mut KernelFrame<'_>) {
        match self.entry {
            // SAFETY: duties 1 and 2.
            Entry::Function { run, .. } => unsafe { run(frame) },
            // SAFETY: duties 1 and 2.
            Entry::Library(kernel) => unsafe { kernel.invoke(frame) },
        }
    }

    /// Checks the operands and runs the kernel. A mismatch becomes the error of every result.
    pub fn invoke_checked(&self, frame: &mut KernelFrame<'_>) {
        let checked = match self.entry {
            Entry::Function { check, .. } => self
                .check_counts(frame.parts(), frame.num_results())
                .and_then(|()| check(frame)),
            Entry::Library(kernel) => return kernel.invoke_checked(frame),
        };
        match checked {
            // SAFETY: duties 1 and 2: the check looks at every operand that is read.
            Ok(()) => unsafe { self.invoke(frame) },
            Err(error) => frame.report_error(error),
        }
    }

    /// Whether there are as many operands and results as declared.
    fn check_counts<'a, S: Source<'a>>(&self, source: S, num_results: usize) -> Result<(), Error> {
        let num_operands = source.num_operands();
        let (least, most) = operand_counts(self.op);
        if num_operands < least || num_operands > most {
            return Err(wrong_count(self.op, "operands", least, most, num_operands));
        }
        // The last operand that the declaration only allows is a chain, if it allows one.
        let traits = self.op.traits;
        let may_end_in_chain =
            traits.contains(OpTraits::EXTRA_CHAIN) || traits.contains(OpTraits::OPTIONAL_CHAIN);
        if may_end_in_chain && num_operands == most && most > least && most != usize::MAX {
            source.check::<Chain>(most - 1)?;
        }
        let (least, most) = result_counts(self.op);
        if num_results < least || num_results > most {
            return Err(wrong_count(self.op, "results", least, most, num_results));
        }
        Ok(())
    }
}

/// Adapts a function: holds its arguments, calls it, fills the slots.
///
/// # Safety
/// The duties of [`KernelDescriptor::invoke`].
unsafe fn run<K: Kernel>(frame: &mut KernelFrame<'_>) {
    // SAFETY: the duties say of every operand what `check` looks for.
    match unsafe { call::<K, _>(frame.parts()) } {
        Ok(returned) => K::Results::put(returned, &mut FrameSink::new::<K::Results>(frame)),
        Err(error) => frame.report_error(error),
    }
}

/// Calls the function of `K`. Borrows end before anybody can see the results.
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

/// Results that may become available later are given as references.
fn describe_later<P: ParamList, R: ResultPart>(types: &mut KernelTypes) {
    describe::<P, R>(types);
    types.results.are_references = true;
}

/// A kernel that takes its frame says nothing of types: it checks what it reads, and what it returns is checked.
fn describe_raw(types: &mut KernelTypes) {
    types.operands.push_tail(None);
    types.results.push_tail(None);
}

/// Whether a chain that a program may leave out comes last among operands and results.
fn has_optional_chain(op: &OpDef) -> bool {
    op.traits.contains(OpTraits::OPTIONAL_CHAIN)
}

/// How many operands a program may give.
#[must_use]
pub fn operand_counts(op: &OpDef) -> (usize, usize) {
    let groups = op.operand_groups();
    let extra_chain = usize::from(op.traits.contains(OpTraits::EXTRA_CHAIN));
    (
        groups.least() - usize::from(has_optional_chain(op)),
        groups.most().saturating_add(extra_chain),
    )
}

/// How many results a program may want.
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
