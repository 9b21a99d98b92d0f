//! The items that expansions of `#[tfrt_op]` use besides those of kernels. They are not part of the
//! public interface and change with the macro.

pub use tfrt_host::__private::*;
pub use tfrt_host::kernel::Operands;
pub use tfrt_support::IntoError;
pub use tfrt_tensor::{DenseHostTensor, ResourceTensor};

pub use std::sync::Arc;
pub use std::vec::Vec;

pub use crate::authoring::elements::{
    Element, dtype_of, elements, elements_mut, resource, unsupported, unsupported_because, view,
    view_mut,
};
pub use crate::authoring::forward::{Forwarded, dense_of, forwarded, forwarded_or_allocated};
pub use crate::authoring::metadata::{
    AnyResults, BoundAttributes, Results, assert_tensor, attributes_of, cost, metadata_of,
    metadata_of_all, metadata_of_value, metadata_of_values, operand_if_given, operands_from,
    partial_result_metadata, result_metadata, told_of_rest,
};
pub use crate::eager::TypedCall;
pub use crate::op::{Implementation, OpFlags, OpQuery, OpRegistration, OperandSet};
pub use crate::ops_of_a_free_function;

/// Returns the outcome of a function of a call; see [`Finished`].
///
/// # Errors
/// What the function returned.
pub fn finished(outcome: impl Finished) -> Result<(), Error> {
    outcome.finished()
}

/// Wraps the code that `#[tfrt_op]` generates next to a function in one item, under a name that no
/// author uses.
#[doc(hidden)]
#[macro_export]
macro_rules! ops_of_a_free_function {
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
