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

pub(crate) mod inputs;

pub(crate) mod type_list;

pub(crate) mod call;

pub(crate) mod descriptor;

pub(crate) mod direct;

pub(crate) mod native;

pub(crate) mod registration;

pub(crate) mod registry;

pub(crate) mod operands;

pub(crate) mod tail;

pub(crate) mod attribute;

pub(crate) mod attribute_parameter;

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

pub use attribute::AttrParam;
pub use attributes::Attributes;
#[doc(hidden)]
pub use call::{AsyncKernel, Kernel};
pub use callable::{Callable, ClonedTypes, Function, Region, ValueTypes};
pub use descriptor::KernelDescriptor;
pub use frame::KernelFrame;
pub use native::{NativeCall, NativeFunction};
pub use object::Object;
pub use operands::{Operands, OperandsIter};
pub use preallocated::{MetadataAnswer, Preallocated, Shaped, WorkspaceAnswer};
pub use registration::{DialectRegistration, KernelSet};
pub use registry::{DuplicateKernels, KernelRegistry};
pub use resource::{Res, Resource, ResourceScope};
pub use workspace::{Workspace, WorkspaceElement};
