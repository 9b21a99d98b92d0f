//! The interface of a GPU implementation: one trait for the driver and one for each library.
//!
//! The traits are close to the C functions of CUDA, so that each kernel is one call or a few, with
//! these differences:
//!
//! - Handles are typed numbers. They are not owned: the types of values in programs destroy them.
//! - A call that depends on the current context takes a [`Current`], the proof that one is set on
//!   this thread.
//! - Every method is safe to call with any handle: an unknown one is an error. Host memory is
//!   passed as a [`HostBuffer`](tfrt_tensor::HostBuffer), which the implementation keeps, and
//!   borrows, until the device has passed the call.
//! - No method panics, and none waits unless documented.
//!
//! A failed call is a [`GpuError`], with the name of the function and the status that it returned.

pub(crate) mod error;

pub(crate) mod handle;

pub(crate) mod current;

pub mod driver;

pub mod known;

pub mod blas;

pub mod dnn;

pub mod solver;

pub mod fft;

pub mod ccl;

pub use current::Current;
pub use error::{FailedCall, GpuError, GpuResult, Status};
pub use handle::{
    BlasHandle, CommHandle, ContextHandle, DescriptorHandle, DeviceId, DevicePtr, DnnHandle,
    EventHandle, FftHandle, FunctionHandle, GraphHandle, ModuleHandle, PlanHandle, SolverHandle,
    StreamHandle,
};
