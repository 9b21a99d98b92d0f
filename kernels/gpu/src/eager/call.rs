//! What an op on a GPU does its work with.

use std::fmt;

use tfrt::core::OpCall;
use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor, TensorRef};

use super::device::{DeviceKernel, EagerGpu};
use super::timeline::Started;
use crate::api::Current;
use crate::api::driver::{Argument, LaunchConfig};
use crate::values::{DenseGpuTensor, GpuFunction};

/// The threads of a block.
const BLOCK_THREADS: u32 = 256;

/// An argument of a launch.
pub type KernelArgument = Argument;

/// One call of an op on a GPU: its operands, and the device, whose context is current.
///
/// It exists while the op enqueues its work, and cannot be sent to another thread.
pub struct GpuCall<'c, 'a> {
    call: &'c mut OpCall<'a>,
    gpu: &'a EagerGpu,
    current: Current,
    /// The start of the work, if it is traced.
    started: Option<Started>,
}

impl fmt::Debug for GpuCall<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("GpuCall");
        shown.field("call", &self.call).finish_non_exhaustive()
    }
}

impl Drop for GpuCall<'_, '_> {
    fn drop(&mut self) {
        if let Some(started) = self.started.take() {
            started.finish(self.call.name(), self.call.ctx(), self.gpu.stream());
        }
    }
}

impl From<&DenseGpuTensor> for KernelArgument {
    fn from(tensor: &DenseGpuTensor) -> Self {
        Self::Pointer(tensor.pointer())
    }
}

impl From<usize> for KernelArgument {
    fn from(number: usize) -> Self {
        Self::Bits64(number as u64)
    }
}

impl<'c, 'a> GpuCall<'c, 'a> {
    /// Begins the work of a call.
    ///
    /// # Errors
    /// If the device of the call is not a GPU; those of the driver.
    pub fn new(call: &'c mut OpCall<'a>) -> Result<Self> {
        let gpu = EagerGpu::of(call.device())?;
        let current = gpu.context().set_current()?;
        let started = gpu.timeline().start(gpu.stream());
        Ok(Self {
            call,
            gpu,
            current,
            started,
        })
    }

    /// Returns the call.
    #[must_use]
    pub fn op_call(&self) -> &OpCall<'a> {
        self.call
    }

    /// Returns the device.
    #[must_use]
    pub fn gpu(&self) -> &'a EagerGpu {
        self.gpu
    }

    /// Returns the proof that the context of the device is current.
    #[must_use]
    pub fn current(&self) -> &Current {
        &self.current
    }

    /// Returns the operand at `index`, a tensor on this device.
    ///
    /// # Errors
    /// If there is no such operand, or it is elsewhere.
    pub fn tensor(&self, index: usize) -> Result<&'a DenseGpuTensor> {
        operand(self.call, self.gpu, index)
    }

    /// Returns the operand at `index`, a tensor in host memory; `None` if it is on a device.
    ///
    /// # Errors
    /// If there is no such operand.
    pub fn host_tensor(&self, index: usize) -> Result<Option<&'a DenseHostTensor>> {
        Ok(self.call.argument(index)?.get::<DenseHostTensor>())
    }

    /// Refuses a tensor whose element type is not one of these.
    ///
    /// # Errors
    /// With the element types that the op supports, and the one of the tensor.
    pub fn expect_dtype(&self, tensor: &DenseGpuTensor, supported: &[DType]) -> Result<()> {
        if supported.contains(&tensor.dtype()) {
            return Ok(());
        }
        let supported: Vec<_> = supported.iter().map(ToString::to_string).collect();
        Err(Error::new(format!(
            "`{}` on a GPU: expected {}, found {}",
            self.call.name(),
            supported.join(" or "),
            tensor.dtype()
        ))
        .with_code(ErrorCode::InvalidArgument))
    }

    /// Allocates a tensor whose elements are not set, for the stream of the device.
    ///
    /// # Errors
    /// If its size is too large; those of the allocator.
    pub fn allocate(&self, dtype: DType, shape: Shape) -> Result<DenseGpuTensor> {
        allocate_on(self.gpu, self.call.name(), dtype, shape)
    }

    /// Runs a kernel with at least one thread for each of `num_threads` elements. The kernel gets
    /// `num_threads` as its first argument, of 64 bits, and then `arguments`. Without elements,
    /// nothing runs.
    ///
    /// # Errors
    /// Those of the kernel's image and of the driver. Faults of the kernel appear at a later
    /// synchronization with the device.
    pub fn launch(
        &self,
        kernel: DeviceKernel,
        num_threads: usize,
        arguments: &[KernelArgument],
    ) -> Result<()> {
        if num_threads == 0 {
            return Ok(());
        }
        self.launch_function(&self.gpu.kernel(kernel)?, num_threads, arguments)
    }

    /// Does the work of [`launch`](Self::launch) for a loaded kernel.
    ///
    /// # Errors
    /// Those of the driver; if the elements are too many for a launch.
    pub fn launch_function(
        &self,
        function: &GpuFunction,
        num_threads: usize,
        arguments: &[KernelArgument],
    ) -> Result<()> {
        if num_threads == 0 {
            return Ok(());
        }
        let num_blocks = num_threads.div_ceil(BLOCK_THREADS as usize);
        // A grid has fewer blocks than an i32 can count.
        let num_blocks = i32::try_from(num_blocks).map_err(|_| {
            Error::new(format!("{num_threads} elements are too many for a launch"))
                .with_code(ErrorCode::OutOfRange)
        })?;
        let config = LaunchConfig {
            grid: [num_blocks.unsigned_abs(), 1, 1],
            block: [BLOCK_THREADS, 1, 1],
            shared_bytes: 0,
        };
        let mut all = Vec::with_capacity(arguments.len() + 1);
        all.push(KernelArgument::from(num_threads));
        all.extend_from_slice(arguments);
        let stream = self.gpu.stream();
        stream.launch(&self.current, function, &config, &all)?;
        Ok(())
    }

    /// Sets the result at `index`. Its elements may not be written yet, but all work that uses them
    /// comes later on the stream.
    pub fn set_result(&mut self, index: usize, tensor: DenseGpuTensor) {
        self.call.set_result(index, AnyRef::available(tensor));
    }
}

/// Allocates a tensor whose elements are not set, for the stream of a device.
pub(super) fn allocate_on(
    gpu: &EagerGpu,
    op: &str,
    dtype: DType,
    shape: Shape,
) -> Result<DenseGpuTensor> {
    let num_bytes = dtype
        .size_bytes()
        .and_then(|size| shape.num_elements().checked_mul(size))
        .ok_or_else(|| {
            Error::new(format!("`{op}`: a tensor {dtype} {shape} has no size"))
                .with_code(ErrorCode::InvalidArgument)
        })?;
    let buffer = gpu.allocator().allocate(num_bytes, gpu.stream())?;
    DenseGpuTensor::new(op, dtype, shape, &buffer)
}

/// Returns the operand at `index` of a call, a tensor on this device.
pub(super) fn operand<'a>(
    call: &OpCall<'a>,
    gpu: &EagerGpu,
    index: usize,
) -> Result<&'a DenseGpuTensor> {
    let operand = call.argument(index)?;
    let op = call.name();
    let Some(tensor) = operand.get::<DenseGpuTensor>() else {
        let found =
            TensorRef::read(operand).map_or("something else", |tensor| tensor.tensor_type().name());
        return Err(Error::new(format!(
            "operand {index} of `{op}`: expected a tensor on {}, found {found}",
            call.device().0.name()
        ))
        .with_code(ErrorCode::InvalidArgument));
    };
    if let Some(context) = tensor.context() {
        gpu.context().expect_same(&context)?;
    }
    Ok(tensor)
}
