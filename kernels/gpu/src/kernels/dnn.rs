//! Layers of neural networks.

pub mod descriptors;

pub mod convolution;

pub mod pooling;

pub mod plans;

use std::sync::Arc;

use tfrt::prelude::*;

use crate::api::GpuResult;
use crate::api::dnn::{Descriptor, TensorOperand};
use crate::api::handle::DescriptorHandle;
use crate::platform::Gpu;
use crate::values::{Buffer, DnnHandle, GpuContext, LibraryCall, Stream, log_failure};

pub use descriptors::{
    ActivationDescriptor, ConvolutionDescriptor, FilterDescriptor, PoolingDescriptor,
    TensorDescriptor,
};

/// Creates a handle of the library.
#[tfrt_kernel("tfrt_gpu.dnn.create", chain = none, results(handle), format = "operands attr-dict")]
fn dnn_create(context: &GpuContext) -> Result<DnnHandle> {
    let current = context.set_current()?;
    Ok(DnnHandle::new(context, context.gpu().dnn.create(&current)?))
}

/// Makes the handle's context current, and work of the handle go to a stream.
fn enter<'h>(handle: &'h DnnHandle, stream: &Stream) -> Result<LibraryCall<'h>> {
    let current = stream.enter_library(handle.context())?;
    let dnn = &handle.context().gpu().dnn;
    dnn.set_stream(handle.handle(), stream.handle())?;
    Ok(current)
}

/// A native descriptor, destroyed in the end.
#[derive(Debug)]
pub(crate) struct OwnedDescriptor {
    handle: DescriptorHandle,
    gpu: Arc<Gpu>,
}

impl OwnedDescriptor {
    pub(crate) fn new(gpu: &Arc<Gpu>, descriptor: &Descriptor) -> GpuResult<Self> {
        Ok(Self {
            handle: gpu.dnn.descriptor(descriptor)?,
            gpu: Arc::clone(gpu),
        })
    }

    /// Returns the handle.
    pub(crate) fn handle(&self) -> DescriptorHandle {
        self.handle
    }
}

impl Drop for OwnedDescriptor {
    fn drop(&mut self) {
        log_failure(self.gpu.dnn.destroy_descriptor(self.handle));
    }
}

/// Returns a tensor: its descriptor and its buffer, which has room for it.
fn tensor(name: &str, descriptor: &TensorDescriptor, buffer: &Buffer) -> Result<TensorOperand> {
    let pointer = buffer.with_room(name, descriptor.num_bytes)?;
    Ok((descriptor.handle(), pointer))
}

/// Returns the same of a filter.
fn filter(name: &str, descriptor: &FilterDescriptor, buffer: &Buffer) -> Result<TensorOperand> {
    let pointer = buffer.with_room(name, descriptor.num_bytes)?;
    Ok((descriptor.handle(), pointer))
}
