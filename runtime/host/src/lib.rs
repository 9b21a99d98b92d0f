//! The host side of the runtime: the interface of kernels and the services that they use.
//!
//! The crate has three parts:
//!
//! - [`kernel`]: kernel frames, the adapters between frames and plain functions, the registry, and
//!   kernel libraries.
//! - Services: a [`HostContext`] owns those of a process, a [`RequestContext`] represents one piece
//!   of work, and an [`ExecutionContext`] gives a kernel access to both. [`allocator`], [`device`],
//!   [`log`], [`parallel`] and the timers can also be used on their own.
//! - [`tracing`]: reports of running kernels to sinks.
//!
//! This crate knows neither BEF nor MLIR text. Unsafe code is denied except in modules that explain
//! why they need it: [`allocator`], the loader of a [`kernel::library`], and the readers of
//! operands under [`kernel`].
#![deny(unsafe_code)]

extern crate self as tfrt_host;

pub mod kernel;

mod services;

pub mod tracing;

mod sync;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[doc(hidden)]
#[path = "runtime.rs"]
pub mod __runtime;

pub use kernel::function_ref::{FunctionRef, Interpreter, Rounds};
pub use services::device_factory::DeviceFactory;
pub use services::execution::ExecutionContext;
pub use services::host::{DiagnosticHandler, HostContext, HostContextBuilder};
pub use services::limits::Limits;
pub use services::program_folder::ProgramFolder;
pub use services::request::{CancelHook, RequestContext, RequestContextBuilder};
pub use services::resource::ResourceContext;
pub use services::show::Show;
pub use services::timer::{Sleep, Timer, TimerQueue};
pub use services::{allocator, device, log, parallel};
pub use tfrt_support::FunctionKind;
