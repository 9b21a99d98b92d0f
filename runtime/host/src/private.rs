//! What expansions of the macros name. No part of the public interface: it changes with the macros.

pub use core::convert::From;
pub use core::future::Future;
pub use core::marker::{Send, Sync};
pub use core::option::Option::{None, Some};
pub use core::result::Result::Err;
pub use core::{file, line};

pub use inventory::submit;
pub use tfrt_async::{AnyRef, AsyncValueRef, Value};
pub use tfrt_ods::{
    Arity, AttrDefault, AttrKind, Effect, FunctionDef, FunctionForm, OpDef, OpTraits, SourcePlace,
    TypeConstraint,
};
pub use tfrt_support::Error;

pub use crate::kernel::attribute::Attribute;
pub use crate::kernel::context::{
    Execution, Host, OwnedExecution, OwnedHost, OwnedRequest, Request, SharedHost, SharedRequest,
};
pub use crate::kernel::declare::*;
pub use crate::kernel::function::{Function, Functions, LentFunction, LentFunctions};
pub use crate::kernel::operand::{
    AnyOperand, AnyRest, ByMut, ByRef, ByValue, Reference, Rest, Text,
};
pub use crate::kernel::panic::call_native;
pub use crate::kernel::param::Arguments;
pub use crate::kernel::registry::KernelRegistration;
pub use crate::kernel::result::Returned;
pub use crate::kernel::result::{
    AnyResult, AnyTail, Fallible, FalliblePart, Later, LaterTail, Nothing, Parts, Payload,
    PayloadTail, WithChain,
};
pub use crate::kernel::{AsyncKernel, Kernel, KernelDescriptor, KernelSet};
pub use crate::library::{LibraryHeader, library_header};
