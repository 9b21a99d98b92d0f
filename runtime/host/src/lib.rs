//! The host side of the runtime: the interface of kernels and the services that they use.
//!
//! A [`HostContext`] owns the shared services of a process, a [`RequestContext`] represents one
//! piece of work, and an [`ExecutionContext`] gives a kernel access to both. [`kernel`] contains
//! kernel frames, the adapters between frames and plain functions, and the registry.
//!
//! This crate knows neither BEF nor MLIR text. Unsafe code is denied except in modules that explain
//! why they need it: [`allocator`], the loader of a [`library`], and the readers of operands under
//! [`kernel`].
#![deny(unsafe_code)]

extern crate self as tfrt_host;

pub mod host;

pub mod request;

pub mod resource;

pub mod show;

pub mod program_folder;

pub mod execution;

pub mod location;

pub mod function;

pub mod kernel;

pub mod allocator;

pub mod device;

pub mod limits;

pub mod log;

pub mod parallel;

pub mod shared_context;

pub mod timer;

pub mod tracing;

pub mod library;

mod sync;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use execution::{BorrowedContext, ExecutionContext};
pub use function::{FunctionRef, FunctionTable, Interpreter};
pub use host::{HostContext, HostContextBuilder};
pub use limits::Limits;
pub use location::LocationSource;
pub use program_folder::ProgramFolder;
pub use request::{RequestContext, RequestContextBuilder};
pub use resource::ResourceContext;
pub use shared_context::SharedContexts;
pub use show::Show;
pub use tfrt_support::FunctionKind;
pub use timer::{Sleep, Timer, TimerQueue};
