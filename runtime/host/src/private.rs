//! Items named by expansions of the macros. Not part of the public interface: they change with the
//! macros.

pub use core::clone::Clone;
pub use core::convert::From;
pub use core::default::Default;
pub use core::fmt::Display;
pub use core::future::Future;
pub use core::marker::{Send, Sync};
pub use core::mem::size_of;
pub use core::option::Option::{self, None, Some};
pub use core::result::Result::{self, Err, Ok};
pub use core::{file, line};

pub use inventory::submit;

/// Contains the items that the macro generates next to a function.
///
/// It is a single item that no `impl` or trait can contain: a kernel is a free function, and the
/// compiler reports other uses only once.
#[doc(hidden)]
#[macro_export]
macro_rules! kernels_of_a_free_function {
    ($item:ident $($tokens:tt)*) => {
        #[doc(hidden)]
        #[allow(dead_code, non_camel_case_types)]
        struct $item([(); {
            use $crate::__private as __tfrt;
            $($tokens)*
            0
        }]);
    };
}

pub use crate::kernels_of_a_free_function;
pub use tfrt_async::pool::PooledFuture;
pub use tfrt_async::{AnyRef, AsyncValueRef, Immutable, Value};
pub use tfrt_async::{DisplayFn, IndexCell, Passing};
pub use tfrt_attr::{OpAttrArgument, Scalar, ToOpAttr};
pub use tfrt_ods::{
    Arity, AttrDef, AttrDefault, AttrKind, Effect, EnumCase, EnumDef, FunctionDef, FunctionForm,
    OpDef, OpTraits, SourcePlace, TypeConstraint,
};
pub use tfrt_support::Error;

pub use crate::kernel::adapter::{Declared, owned};
pub use crate::kernel::attribute::no_case;
pub use crate::kernel::attribute_parameter::Attribute;
pub use crate::kernel::attributes::AllAttributes;
pub use crate::kernel::callable::TypedFunction;
pub use crate::kernel::checked::{
    Finished, IsAttribute, IsCallable, IsCopied, IsElement, IsFallible, IsObject, IsPreallocated,
    IsResource, IsShaped, IsValue,
};
pub use crate::kernel::context::{
    Execution, Host, OwnedExecution, OwnedHost, OwnedRequest, Request, SharedHost, SharedRequest,
};
pub use crate::kernel::declare::*;
pub use crate::kernel::function::{
    Function, Functions, LentFunction, LentFunctions, OptionalFunction,
};
pub use crate::kernel::library::{LibraryHeader, library_header};
pub use crate::kernel::native::call_native;
pub use crate::kernel::object::Dyn;
pub use crate::kernel::operand::{AnyOperand, AnyRest, ByMut, ByRef, ByValue, Reference, Rest};
pub use crate::kernel::optional::{Optional, OptionalRef};
pub use crate::kernel::param::Arguments;
pub use crate::kernel::preallocated::{
    answer, answer_bytes, asked_with, metadata, queried, workspace_len,
};
pub use crate::kernel::registration::{DeclaredOps, KernelRegistration};
pub use crate::kernel::resource::Shared;
pub use crate::kernel::result::Returned;
pub use crate::kernel::result::{
    AnyResult, AnyTail, Fallible, FalliblePart, Later, LaterTail, Nothing, Parts, Payload,
    PayloadTail, WithChain,
};
pub use crate::kernel::text::{AsBytes, AsStr, AsString, OptionalText, Text, TextResult, TextTail};
pub use crate::kernel::workspace::workspace;
pub use crate::kernel::{
    AttrParam, KernelDescriptor, KernelSet, Preallocated, Resource, ResourceScope, Shaped,
};
pub use crate::services::execution::ExecutionContext;
