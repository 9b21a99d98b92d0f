//! Kernels: plain functions, seen by the executor as entries of a table.
//!
//! `#[tfrt_kernel]` generates a list of parameter markers, a list of result markers, a declaration,
//! and a closure that calls the function; `adapter` builds a [`Kernel`] from them. The rest is
//! generic code in this module. The declared operands, the checks and the unchecked reads are all
//! derived from one list, so they cannot disagree:
//!
//! ```text
//!            KernelFrame                                  registry: name ─► KernelDescriptor { op, entry }
//!                │                                                                          │
//!   check        ▼                                                                          ▼
//!  ─────────► ParamList::hold ──► K::call(arguments) ──► ResultPart::put ──► result slots   invoke
//!             one load, borrow       the author's           one per result
//!             or copy per marker      function
//! ```
//!
//! *Invoking* a descriptor reads operands without a check, which the executor may do once it has
//! proven the types of a function's registers; *invoking checked* checks every operand first.
//!
//! Invariant K1: an operand marker reads the payload type that it checks and describes. Upheld by
//! `operand`, `text`, `object` and `optional`, whose markers are the only ones that read operands.
//!
//! Only expansions name parameter, result and list markers, through [`crate::__private`].

pub(crate) mod frame;

pub(crate) mod descriptor;

pub(crate) mod direct;

pub(crate) mod registry;

pub(crate) mod operands;

pub(crate) mod attribute;

pub(crate) mod attribute_kind;

pub(crate) mod panic;

pub(crate) mod source;

pub(crate) mod param;

pub(crate) mod operand;

pub(crate) mod function;

pub(crate) mod context;

pub(crate) mod result;

pub(crate) mod declare;

pub(crate) mod operand_slot;

pub(crate) mod deferred;

pub(crate) mod adapter;

pub(crate) mod checked;

pub(crate) mod optional;

pub(crate) mod text;

pub(crate) mod object;

pub(crate) mod attributes;

pub(crate) mod callable;

pub(crate) mod preallocated;

pub(crate) mod resource;

pub(crate) mod workspace;

pub(crate) mod function_ref;

pub(crate) mod location;

pub mod library;

mod library_kernel;

use tfrt_ods::OpDef;

use param::{Arguments, ParamList};
use result::{ResultPart, Returned};

pub use attribute::AttrParam;
pub use attributes::Attributes;
pub use callable::{Callable, ClonedTypes, Function, Region, ValueTypes};
pub use descriptor::KernelDescriptor;
pub use frame::KernelFrame;
pub use object::Object;
pub use operands::{Operands, OperandsIter};
pub use preallocated::{MetadataAnswer, Preallocated, Shaped, WorkspaceAnswer};
pub use registry::{
    DialectRegistration, DuplicateKernels, KernelRegistry, NativeCall, NativeFunction,
};
pub use resource::{Res, Resource, ResourceScope};
pub use workspace::{Workspace, WorkspaceElement};

/// A function as a kernel. Implemented by the types that [`KernelDescriptor::new`] and the like
/// derive from a closure.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "not made by `#[tfrt_kernel]`",
    note = "write `#[tfrt_kernel(\"my.op\")]` on a function"
)]
pub trait Kernel: 'static {
    /// Its parameters, as markers.
    type Params: ParamList;
    /// Its results, as markers.
    type Results: ResultPart;
    /// Its declaration.
    const OP: &'static OpDef;

    /// Calls the function.
    fn call(arguments: Arguments<'_, '_, Self::Params>) -> Returned<Self::Results>;
}

/// An `async fn` as a kernel. Implemented by the types that [`KernelDescriptor::new_async`] derives
/// from a closure.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an asynchronous kernel",
    label = "not made by `#[tfrt_kernel]` on an `async fn`",
    note = "write `#[tfrt_kernel(\"my.op\")]` on an `async fn`"
)]
pub trait AsyncKernel: 'static {
    /// Its parameters, as markers.
    type Params: ParamList;
    /// Its results, as markers.
    type Results: ResultPart;
    /// Its declaration.
    const OP: &'static OpDef;

    /// Calls the function.
    fn call<'h, 'f: 'h>(
        arguments: Arguments<'h, 'f, Self::Params>,
    ) -> impl Future<Output = Returned<Self::Results>> + Send;
}

/// A function marked with `#[tfrt_kernel]`, with all its instances. The macro implements this for
/// the type named by the option `kernel_set`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of kernels",
    label = "not the `kernel_set` of a function with `#[tfrt_kernel]`",
    note = "write `#[tfrt_kernel(\"my.op\", kernel_set = {Self})]` on the function; the macro then makes the type"
)]
pub trait KernelSet {
    /// One descriptor for each instance.
    const KERNELS: &'static [KernelDescriptor];
}
