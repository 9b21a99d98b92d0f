//! `tfrt_dist.*`: programs over many tasks.
//!
//! [`tfrt::distributed`] explains contexts, remote objects and collectives; this crate has the
//! kernels through which programs use them. Link it to make these kernels available to programs,
//! and to let a task read programs that other tasks send as text:
//!
//! ```
//! use tfrt::prelude::*;
//!
//! tfrt::link!(tfrt_distributed_kernels);
//!
//! let registry = KernelRegistry::from_link()?;
//! assert!(registry.get("tfrt_dist.remote_execute").is_some());
//! # Ok::<(), tfrt::kernel::DuplicateKernels>(())
//! ```
//!
//! | module | kernels |
//! |---|---|
//! | [`guide`] | none: the guide page |
//! | [`context`] | contexts and tasks |
//! | [`remote`] | functions on other tasks, and the order of their effects |
//! | [`collectives`] | `tfrt_dist.cpu.*` |
//! | [`payloads`] | sends and receives |
//! | [`invocations`] | functions over several tasks: what their parts send each other |
//! | [`input_pipelines`] | shares of input pipelines |
//! | [`test`](mod@test) | clusters inside a process, for tests |
//! | [`text_pass`] | the compilation of programs that arrive as text |
#![forbid(unsafe_code)]

pub mod guide;

pub mod context;

pub mod remote;

pub mod collectives;

pub mod payloads;

pub mod invocations;

pub mod input_pipelines;

pub mod test;

pub mod text_pass;

mod op_verifiers;

use tfrt::distributed::{RemoteError, RemoteErrors};
use tfrt::prelude::*;

/// Returns an error of another task, as a value. It is not reported as one of the kernel: it did
/// not happen here.
fn failed<T: Value>(error: impl Into<RemoteErrors>, host: &HostContext) -> AsyncValueRef<T> {
    AsyncValueRef::error(error.into().to_value(host))
}

/// Returns an error whose text stands alone, likewise.
fn failed_plainly<T: Value>(error: RemoteError) -> AsyncValueRef<T> {
    AsyncValueRef::error(error.into_plain())
}
