//! Programs on GPUs.
//!
//! ```text
//!   kernels `tfrt_gpu.*` ──► Gpu: Driver, Blas, Dnn, Solver, Fft, Ccl ──┬── CUDA, by the libraries of the system
//!                                                                      └── the host device: threads of this process
//! ```
//!
//! The kernels use a GPU only through the traits of [`api`]. A [`Gpu`](platform::Gpu) is one
//! implementation of all of them, chosen once per host: see [`platform`]. On machines without a
//! GPU, this crate builds, starts, and runs everything that does not need a device.
//!
//! | module | contents |
//! |---|---|
//! | [`api`] | the traits, their handles and their errors |
//! | [`platform`] | the choice of an implementation |
//! | [`enums`] | enumerations of the libraries, as attributes |
//! | [`values`] | the payloads of programs' values |
//! | [`kernels`] | the kernels |
//! | [`graphs`] | functions whose work is captured once and launched as a whole |
//! | [`eager`] | the device of ops that run one by one |
//! | [`cuda`] | the implementation over the libraries of the system |
//! | [`host_device`] | a GPU implemented with threads and memory of the process |
//! | [`failures`] | failures on request, for tests of programs |
//! | [`device_functions`] | kernels of Rust functions that run on both devices |
//! | [`executor`] | running programs that describe themselves, for embedders |
//! | [`queue`] | a work queue for such programs |
//! | [`guide`] | how to write and run programs for GPUs |
#![deny(unsafe_code)]

pub mod api;

pub mod platform;

pub mod enums;

pub mod values;

pub mod kernels;

pub mod graphs;

pub mod eager;

pub mod cuda;

pub mod host_device;

pub mod failures;

pub mod device_functions;

pub mod executor;

pub mod queue;

pub mod guide;
