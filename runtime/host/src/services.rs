//! The services that kernels use: of the process, of a request, and of one call.
//!
//! ```text
//!  HostContext ──► work queue, allocator, devices, timers, registry, limits       one per process
//!      ▲
//!  RequestContext ──► resources, memory limit, cancellation, data of the caller   one per request
//!      ▲
//!  ExecutionContext ──► queue, location of the kernel                             one per call
//! ```
//!
//! A service does not know kernels: the host keeps their registry as an object.

pub(crate) mod host;

pub(crate) mod request;

pub(crate) mod running;

pub(crate) mod execution;

pub(crate) mod resource;

pub(crate) mod shared_context;

pub(crate) mod limits;

pub(crate) mod program_folder;

pub(crate) mod show;

pub(crate) mod timer;

pub mod allocator;

pub mod device;

pub(crate) mod device_factory;

pub mod log;

pub mod parallel;
