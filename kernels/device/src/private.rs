//! The items that expansions name. They are not part of the public interface and change with the
//! macro.

pub use std::default::Default;
pub use std::option::Option::{None, Some};
pub use std::result::Result;
pub use std::vec::Vec;

#[cfg(feature = "core")]
pub use tfrt_core::OpCall;
pub use tfrt_host::__private::submit;
pub use tfrt_host::kernel::KernelFrame;
pub use tfrt_support::{Error, TensorMetadata};
pub use tfrt_tensor::DenseHostTensor;

pub use tfrt_async::Chain;

pub use crate::axes::ReducedAxes;
pub use crate::cpu::{DeviceNumber, elementwise, reduce, reduce_along};
pub use crate::grid::host::{
    Fault, HostLaunch, atomic_add, atomic_and, atomic_max, atomic_min, atomic_or, atomic_xor,
    extent, grid_plan, load, number, store, threads,
};
pub use crate::grid::{Grid, GridRules, OutView, Shared, SharedArray, View, extent_of};
#[cfg(feature = "core")]
pub use crate::kernel::launch_op;
pub use crate::kernel::{FunctionKernel, KernelForm, LinkedKernel, launch, metadata};
pub use crate::numbers::*;
pub use crate::tree::*;
