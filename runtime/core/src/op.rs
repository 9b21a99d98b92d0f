//! Ops: what is registered, and what a registered op needs to run.
//!
//! Most ops *are* kernels: a call runs the same function that a graph runs, with the tensors of the
//! handles as operands and the attributes of the op as attributes of the kernel. A few ops are
//! separate functions, because their attributes may have any type, which a kernel cannot declare.
//!
//! ```text
//!  #[tfrt_op] ──► OpRegistration ─┬─ kernel ── name ──► KernelRegistry
//!                                 └─ function of an OpCall
//! ```

use std::fmt;

use smallvec::SmallVec;
use tfrt_async::AnyRef;
use tfrt_host::ExecutionContext;
use tfrt_host::device::DeviceRef;
use tfrt_ods::SourcePlace;
use tfrt_support::TensorMetadata;
use tfrt_support::{Error, ErrorCode};

use crate::attrs::OpAttrs;
use crate::metadata::partial::PartialMetadata;

/// What an op promises, and which tensors it takes as they are.
///
/// ```
/// use tfrt_core::OpFlags;
///
/// let flags = OpFlags::NO_SIDE_EFFECTS.with(OpFlags::ACCEPTS_SCALAR);
/// assert!(flags.contains(OpFlags::ACCEPTS_SCALAR) && !flags.contains(OpFlags::ACCEPTS_STRING));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpFlags(u8);

impl OpFlags {
    /// Side effects, and dense tensors only.
    pub const NONE: Self = Self(0);
    /// The op has no effect besides its results, and takes part in no order.
    pub const NO_SIDE_EFFECTS: Self = Self(1);
    /// The op takes scalar tensors as they are.
    pub const ACCEPTS_SCALAR: Self = Self(1 << 1);
    /// The op takes string tensors.
    pub const ACCEPTS_STRING: Self = Self(1 << 2);
    /// The op takes sparse tensors as they are.
    pub const ACCEPTS_SPARSE: Self = Self(1 << 3);
    /// The op takes resources.
    pub const ACCEPTS_RESOURCE: Self = Self(1 << 4);

    /// Returns these flags and others.
    #[must_use]
    pub const fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns `true` if all of these flags are set.
    #[must_use]
    pub const fn contains(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }
}

/// Some of the operands of an op, by their indices.
///
/// ```
/// use tfrt_core::OperandSet;
///
/// let set = OperandSet::NONE.with(1).with_all_from(3);
/// assert_eq!([0, 1, 2, 3, 100].map(|index| set.contains(index)), [false, true, false, true, true]);
/// assert!(OperandSet::NONE.is_empty());
/// ```
// The last bit stands for all further operands: functions do not have that many separately marked
// operands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OperandSet(u64);

impl OperandSet {
    /// None of them.
    pub const NONE: Self = Self(0);

    /// Returns these and the one at `index`.
    #[must_use]
    pub const fn with(self, index: usize) -> Self {
        Self(self.0 | 1 << Self::bit(index))
    }

    /// Returns these and all from `index` on.
    #[must_use]
    pub const fn with_all_from(self, index: usize) -> Self {
        Self(self.0 | u64::MAX << Self::bit(index))
    }

    /// Returns `true` if the one at `index` is among them.
    #[inline]
    #[must_use]
    pub const fn contains(self, index: usize) -> bool {
        self.0 >> Self::bit(index) & 1 == 1
    }

    /// Returns `true` if the set is empty.
    #[inline]
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    const fn bit(index: usize) -> u32 {
        if index < 63 { index as u32 } else { 63 }
    }
}

/// The metadata of the results of an op, in order; `None` for a result whose metadata is known only
/// from the tensor.
pub type ResultMetadata = SmallVec<[Option<TensorMetadata>; 1]>;

/// What a metadata function of an op looks at.
#[derive(Clone, Copy, Debug)]
pub struct OpQuery<'a> {
    /// The name of the op.
    pub op: &'a str,
    /// The metadata of its operands.
    pub operands: &'a [TensorMetadata],
    /// Its attributes.
    pub attrs: &'a OpAttrs,
}

/// The input of a metadata function for partially known operands.
#[derive(Clone, Copy, Debug)]
pub struct PartialQuery<'a> {
    /// The name of the op.
    pub op: &'a str,
    /// The partial metadata of its operands.
    pub operands: &'a [PartialMetadata],
    /// Its attributes.
    pub attrs: &'a OpAttrs,
}

impl PartialQuery<'_> {
    /// Returns the partial metadata of the operand at `index`.
    ///
    /// # Errors
    /// If there are not that many operands.
    pub fn operand(&self, index: usize) -> Result<&PartialMetadata, Error> {
        self.operands
            .get(index)
            .ok_or_else(|| missing_operand(self.op, index, self.operands.len()))
    }
}

impl OpQuery<'_> {
    /// Returns the metadata of the operand at `index`.
    ///
    /// # Errors
    /// If there are not that many operands.
    pub fn operand(&self, index: usize) -> Result<&TensorMetadata, Error> {
        self.operands
            .get(index)
            .ok_or_else(|| missing_operand(self.op, index, self.operands.len()))
    }
}

/// One call of an op whose operands are available.
///
/// ```
/// use tfrt_async::AnyRef;
/// use tfrt_core::OpCall;
/// use tfrt_support::Error;
/// use tfrt_tensor::DenseHostTensor;
///
/// /// An op that returns its attribute `number` as a vector of one element.
/// fn number(call: &mut OpCall<'_>) -> Result<(), Error> {
///     let number = call.attrs().get::<i64>("number").ok_or_else(|| Error::new("missing 'number' attribute"))?;
///     call.set_result(0, AnyRef::available(DenseHostTensor::vector(&[number])?));
///     Ok(())
/// }
/// ```
pub struct OpCall<'a> {
    pub(crate) op: &'a str,
    pub(crate) ctx: &'a ExecutionContext,
    pub(crate) device: &'a DeviceRef,
    pub(crate) attrs: &'a OpAttrs,
    pub(crate) arguments: &'a [AnyRef],
    pub(crate) metadata: &'a [Option<TensorMetadata>],
    pub(crate) results: &'a mut [Option<AnyRef>],
    pub(crate) chain: &'a mut Option<AnyRef>,
}

impl<'a> OpCall<'a> {
    /// Returns the context of the call.
    #[must_use]
    pub fn ctx(&self) -> &'a ExecutionContext {
        self.ctx
    }

    /// Returns the name of the op.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.op
    }

    /// Returns the device that the op runs on.
    #[must_use]
    pub fn device(&self) -> &'a DeviceRef {
        self.device
    }

    /// Returns the attributes of the op.
    #[must_use]
    pub fn attrs(&self) -> &'a OpAttrs {
        self.attrs
    }

    /// Returns the tensors that the op is called with: available, and no errors.
    #[must_use]
    pub fn arguments(&self) -> &'a [AnyRef] {
        self.arguments
    }

    /// Returns the tensor at `index`.
    ///
    /// # Errors
    /// If there are not as many.
    pub fn argument(&self, index: usize) -> Result<&'a AnyRef, Error> {
        self.arguments
            .get(index)
            .ok_or_else(|| missing_operand(self.op, index, self.arguments.len()))
    }

    /// Returns the inferred metadata of the result at `index`.
    ///
    /// # Errors
    /// If the op has no metadata function, or it said nothing of this result.
    pub fn result_metadata(&self, index: usize) -> Result<&'a TensorMetadata, Error> {
        let known = self.metadata.get(index).and_then(Option::as_ref);
        known.ok_or_else(|| {
            Error::new(format!(
                "`{}`: the metadata of result {index} is unknown",
                self.op
            ))
        })
    }

    /// Returns the number of results that the caller requests.
    #[must_use]
    pub fn num_results(&self) -> usize {
        self.results.len()
    }

    /// Sets the result at `index`, which may become available later. A result that was not
    /// requested is dropped.
    pub fn set_result(&mut self, index: usize, tensor: AnyRef) {
        if let Some(slot) = self.results.get_mut(index) {
            *slot = Some(tensor);
        }
    }

    /// Sets the chain that the op returns: when its effects are done, or why they are not.
    pub fn set_chain(&mut self, chain: AnyRef) {
        *self.chain = Some(chain);
    }
}

impl fmt::Debug for OpCall<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("OpCall");
        shown.field("op", &self.op).field("attrs", &self.attrs);
        shown.field("num_arguments", &self.arguments.len());
        shown
            .field("num_results", &self.results.len())
            .finish_non_exhaustive()
    }
}

#[cold]
fn missing_operand(op: &str, index: usize, found: usize) -> Error {
    let s = if found == 1 { "" } else { "s" };
    Error::new(format!(
        "`{op}`: expected an operand {index}, found {found} operand{s}"
    ))
    .with_code(ErrorCode::InvalidArgument)
}

/// Runs an op that is a function of its call. An error is that of every result that is not set.
pub type OpFunction = fn(&mut OpCall<'_>) -> Result<(), Error>;

/// Tells the metadata of the results of an op.
pub type OpMetadataFunction = fn(&OpQuery<'_>) -> Result<ResultMetadata, Error>;

/// Infers the partial metadata of the results of an op from partially known operands. An empty list
/// means that nothing is known.
pub type OpPartialFunction = fn(&PartialQuery<'_>) -> Result<Vec<PartialMetadata>, Error>;

/// Estimates the time that an op takes on a device of its type, in microseconds, for the placement
/// of ops. An estimate that fails, or is not a number of at least zero, does not count.
pub type OpCostFunction = fn(&OpQuery<'_>) -> Result<f64, Error>;

/// What runs an op.
#[derive(Clone, Copy, Debug)]
pub enum Implementation {
    /// The kernel of this name; its declaration defines operands, attributes, results and metadata.
    Kernel(&'static str),
    /// A function.
    Function(OpFunction),
    /// Nothing: only the metadata function is registered.
    None,
}

/// An op for one type of device, as it is registered: by `#[tfrt_op]`, or by hand.
///
/// ```
/// use tfrt_core::{Implementation, OpCall, OpFlags, OpRegistration};
/// use tfrt_support::Error;
///
/// fn nothing(_call: &mut OpCall<'_>) -> Result<(), Error> {
///     Ok(())
/// }
///
/// const NOTHING: OpRegistration = OpRegistration {
///     flags: OpFlags::NO_SIDE_EFFECTS,
///     implementation: Implementation::Function(nothing),
///     ..OpRegistration::new("my.nothing")
/// };
/// assert_eq!(NOTHING.device_type, "cpu");
/// ```
#[derive(Clone, Copy, Debug)]
pub struct OpRegistration {
    /// The name of the op.
    pub name: &'static str,
    /// The type of the devices that it runs on.
    pub device_type: &'static str,
    /// What it promises.
    pub flags: OpFlags,
    /// What runs it.
    pub implementation: Implementation,
    /// The function that infers the metadata of its results. The default is the metadata function
    /// of the kernel's declaration, if there is one.
    pub metadata: Option<OpMetadataFunction>,
    /// The function that infers the partial metadata of its results from partially known operands.
    pub partial: Option<OpPartialFunction>,
    /// The function that estimates how long it takes.
    pub cost: Option<OpCostFunction>,
    /// Operands that it needs in host memory, on whatever device it runs: shapes, axes, sizes.
    pub host_operands: OperandSet,
    /// Operands that are resources: it runs where they are.
    pub resource_operands: OperandSet,
    /// Where it is registered.
    pub place: SourcePlace,
}

inventory::collect!(OpRegistration);

impl OpRegistration {
    /// Creates an op of this name for `cpu`, with effects, that nothing runs.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self {
            name,
            device_type: "cpu",
            flags: OpFlags::NONE,
            implementation: Implementation::None,
            metadata: None,
            partial: None,
            cost: None,
            host_operands: OperandSet::NONE,
            resource_operands: OperandSet::NONE,
            place: SourcePlace { file: "", line: 0 },
        }
    }

    /// Returns the linked registrations, in no particular order.
    pub fn linked() -> impl Iterator<Item = &'static Self> {
        inventory::iter::<Self>.into_iter()
    }
}
