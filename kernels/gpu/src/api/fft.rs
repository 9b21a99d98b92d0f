//! The FFT library.

use std::fmt::Debug;

use super::current::Current;
use super::error::GpuResult;
use super::handle::{DevicePtr, FftHandle, StreamHandle};

/// Fast Fourier transforms.
pub trait Fft: Debug + Send + Sync {
    /// Implements `cufftCreate`, `cufftSetAutoAllocation(0)` and `cufftMakePlanMany64`: a plan, and
    /// the bytes of its work area.
    fn plan(&self, current: &Current, plan: &Plan) -> GpuResult<(FftHandle, usize)>;

    /// Implements `cufftDestroy`.
    fn destroy(&self, handle: FftHandle) -> GpuResult<()>;

    /// Implements `cufftGetSize`: the bytes of the work area.
    fn workspace_size(&self, handle: FftHandle) -> GpuResult<usize>;

    /// Implements `cufftSetStream`.
    fn set_stream(&self, handle: FftHandle, stream: StreamHandle) -> GpuResult<()>;

    /// Implements `cufftSetWorkArea`.
    fn set_work_area(&self, handle: FftHandle, workspace: DevicePtr) -> GpuResult<()>;

    /// Implements `cufftExec…`, by the type of the plan. The direction counts for transforms of
    /// complex numbers to complex numbers only.
    fn execute(
        &self,
        current: &Current,
        handle: FftHandle,
        input: DevicePtr,
        output: DevicePtr,
        direction: i32,
    ) -> GpuResult<()>;
}

/// A batch of transforms of one to three dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The `cufftType`.
    pub transform: i32,
    /// The number of transforms.
    pub batch: i64,
    /// The sizes, outermost first.
    pub dims: Vec<i64>,
    /// The memory layout of the input.
    pub input: Layout,
    /// The memory layout of the output.
    pub output: Layout,
}

/// The memory layout of a batch, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The sizes that the transform lies in, outermost first.
    pub embed: Vec<i64>,
    /// Between neighbours in the innermost dimension.
    pub stride: i64,
    /// Between transforms.
    pub distance: i64,
}
