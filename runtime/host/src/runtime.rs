//! Items that only the other crates of the runtime use: the executor runs kernels, and eager
//! execution calls them. Not part of the public interface.

pub use crate::kernel::attribute_kind::{check_kind, stored_code};
pub use crate::kernel::descriptor::{CountedKernel, KernelTypes, operand_counts};
pub use crate::kernel::direct::{Direct, DirectCall, DirectFn};
pub use crate::kernel::function_ref::{FunctionTable, PreparedFunction};
pub use crate::kernel::inputs::{AttributeList, FileInputs, FunctionList};
pub use crate::kernel::location::LocationSource;
pub use crate::kernel::native::call_native;
pub use crate::kernel::panic::{catch, panic_error};
pub use crate::kernel::type_list::TypeList;
pub use crate::services::execution::BorrowedContext;
pub use crate::services::running::RunningKernel;
pub use crate::services::shared_context::SharedContexts;
pub use crate::tracing::PendingResult;
