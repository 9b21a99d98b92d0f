//! The host side of the runtime: what kernels run in and what they are.
//!
//! [`HostContext`] owns what a process shares; a [`RequestContext`] is one piece of work; an [`ExecutionContext`] is what
//! one kernel sees of both. [`kernel`] holds kernel frames, the adapters between frames and plain functions, and the
//! registry.
//!
//! This crate knows neither BEF nor MLIR text. Unsafe code is denied but in the modules that say why they need it:
//! [`allocator`], what loads a [`library`], and what reads operands under [`kernel`].
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
pub use function::{FunctionKind, FunctionRef, FunctionTable, Interpreter};
pub use host::{HostContext, HostContextBuilder};
pub use limits::Limits;
pub use location::LocationSource;
pub use program_folder::ProgramFolder;
pub use request::{RequestContext, RequestContextBuilder};
pub use resource::ResourceContext;
pub use shared_context::SharedContexts;
pub use show::Show;
pub use timer::{Sleep, Timer, TimerQueue};
