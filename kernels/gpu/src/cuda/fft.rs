//! The FFT library of CUDA.
#![expect(unsafe_code, reason = "calls the library")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::cufft::sys::cufftType;

use super::driver::CudaDriver;
use super::library::fft::Functions;
use super::library::{Library, enumeration, library_call};
use super::live::Live;
use super::object::Owned;
use crate::api::fft::{Fft, Plan};
use crate::api::handle::{FftHandle, StreamHandle};
use crate::api::{Current, DevicePtr, GpuError, GpuResult, Status};

static LIBRARY: Library<Functions> =
    Library::new("libcufft.so.11", Functions::open, Status::Fft(7));

/// cuFFT.
#[derive(Debug)]
pub struct CudaFft {
    driver: Arc<CudaDriver>,
    handles: Live<Owned>,
    /// The type of each plan.
    types: Mutex<HashMap<u64, cufftType>>,
}

impl CudaFft {
    /// Returns the library, which is opened by the first call.
    #[must_use]
    pub fn new(driver: Arc<CudaDriver>) -> Self {
        Self {
            driver,
            handles: Live::default(),
            types: Mutex::default(),
        }
    }

    fn handle(&self, call: &'static str, handle: FftHandle) -> GpuResult<Arc<Owned>> {
        self.handles
            .get(handle.0)
            .ok_or_else(|| GpuError::new(call, Status::FFT_INVALID_PLAN))
    }
}

fn destroy(number: u64) -> GpuResult<()> {
    library_call!(
        LIBRARY,
        Status::Fft,
        "cufftDestroy(plan)",
        cufftDestroy(number as i32)
    )
}

fn memory<T>(pointer: DevicePtr) -> *mut T {
    pointer.address() as *mut T
}

impl Fft for CudaFft {
    fn plan(&self, current: &Current, plan: &Plan) -> GpuResult<(FftHandle, usize)> {
        const CALL: &str = "cufftMakePlanMany64(plan, …)";
        let context = self.driver.of(CALL, current)?;
        let transform = enumeration!(
            plan.transform,
            "cufft(type)",
            Status::Fft(3),
            cufftType {
                CUFFT_R2C,
                CUFFT_C2R,
                CUFFT_C2C,
                CUFFT_D2Z,
                CUFFT_Z2D,
                CUFFT_Z2Z,
            }
        )?;
        // The library reads as many sizes as there are dimensions.
        let rank = plan.dims.len();
        if !(1..=3).contains(&rank)
            || plan.input.embed.len() != rank
            || plan.output.embed.len() != rank
        {
            let text = format!(
                "expected three equal lists of 1 to 3 sizes, found {rank}, {} and {} sizes",
                plan.input.embed.len(),
                plan.output.embed.len()
            );
            return Err(GpuError::new(CALL, Status::FFT_INVALID_SIZE).with_details(text));
        }
        let mut handle = 0;
        library_call!(
            LIBRARY,
            Status::Fft,
            "cufftCreate(&plan)",
            cufftCreate(&mut handle)
        )?;
        // From here on it is destroyed if anything fails.
        let number = u64::from(handle as u32);
        let owned = Owned::new(number, context, &self.driver, destroy);
        library_call!(
            LIBRARY,
            Status::Fft,
            "cufftSetAutoAllocation(plan, autoAllocate)",
            cufftSetAutoAllocation(handle, 0)
        )?;
        let (mut dims, mut input, mut output) = (
            plan.dims.clone(),
            plan.input.embed.clone(),
            plan.output.embed.clone(),
        );
        let mut num_bytes = 0;
        library_call!(
            LIBRARY,
            Status::Fft,
            "cufftMakePlanMany64(plan, …)",
            cufftMakePlanMany64(
                handle,
                rank as i32,
                dims.as_mut_ptr(),
                input.as_mut_ptr(),
                plan.input.stride,
                plan.input.distance,
                output.as_mut_ptr(),
                plan.output.stride,
                plan.output.distance,
                transform,
                plan.batch,
                &mut num_bytes,
            )
        )?;
        self.types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(number, transform);
        self.handles.add(number, owned);
        Ok((FftHandle(number), num_bytes))
    }

    fn destroy(&self, handle: FftHandle) -> GpuResult<()> {
        let object = self.handles.remove(handle.0);
        let object =
            object.ok_or_else(|| GpuError::new("cufftDestroy(plan)", Status::FFT_INVALID_PLAN))?;
        self.types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&handle.0);
        Arc::into_inner(object).map_or(Ok(()), Owned::end)
    }

    fn workspace_size(&self, handle: FftHandle) -> GpuResult<usize> {
        let handle = self.handle("cufftGetSize(plan, &size)", handle)?;
        let mut num_bytes = 0;
        library_call!(
            LIBRARY,
            Status::Fft,
            "cufftGetSize(plan, &size)",
            cufftGetSize(handle.number as i32, &mut num_bytes)
        )?;
        Ok(num_bytes)
    }

    fn set_stream(&self, handle: FftHandle, stream: StreamHandle) -> GpuResult<()> {
        let handle = self.handle("cufftSetStream(plan, stream)", handle)?;
        let stream = self.driver.stream("cufftSetStream(plan, stream)", stream)?;
        library_call!(
            LIBRARY,
            Status::Fft,
            "cufftSetStream(plan, stream)",
            cufftSetStream(handle.number as i32, stream.number as *mut _)
        )
    }

    fn set_work_area(&self, handle: FftHandle, workspace: DevicePtr) -> GpuResult<()> {
        let handle = self.handle("cufftSetWorkArea(plan, area)", handle)?;
        library_call!(
            LIBRARY,
            Status::Fft,
            "cufftSetWorkArea(plan, area)",
            cufftSetWorkArea(handle.number as i32, memory(workspace))
        )
    }

    fn execute(
        &self,
        _current: &Current,
        handle: FftHandle,
        input: DevicePtr,
        output: DevicePtr,
        direction: i32,
    ) -> GpuResult<()> {
        const CALL: &str = "cufftExec(plan, input, output, direction)";
        let object = self.handle(CALL, handle)?;
        let plan = object.number as i32;
        let transform = self
            .types
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&handle.0)
            .copied();
        match transform {
            None => Err(GpuError::new(CALL, Status::FFT_INVALID_PLAN)),
            Some(cufftType::CUFFT_C2C) => {
                library_call!(
                    LIBRARY,
                    Status::Fft,
                    "cufftExecC2C(plan, input, output, direction)",
                    cufftExecC2C(plan, memory(input), memory(output), direction)
                )
            }
            Some(cufftType::CUFFT_R2C) => {
                library_call!(
                    LIBRARY,
                    Status::Fft,
                    "cufftExecR2C(plan, input, output)",
                    cufftExecR2C(plan, memory(input), memory(output))
                )
            }
            Some(cufftType::CUFFT_C2R) => {
                library_call!(
                    LIBRARY,
                    Status::Fft,
                    "cufftExecC2R(plan, input, output)",
                    cufftExecC2R(plan, memory(input), memory(output))
                )
            }
            Some(cufftType::CUFFT_Z2Z) => {
                library_call!(
                    LIBRARY,
                    Status::Fft,
                    "cufftExecZ2Z(plan, input, output, direction)",
                    cufftExecZ2Z(plan, memory(input), memory(output), direction)
                )
            }
            Some(cufftType::CUFFT_D2Z) => {
                library_call!(
                    LIBRARY,
                    Status::Fft,
                    "cufftExecD2Z(plan, input, output)",
                    cufftExecD2Z(plan, memory(input), memory(output))
                )
            }
            Some(cufftType::CUFFT_Z2D) => {
                library_call!(
                    LIBRARY,
                    Status::Fft,
                    "cufftExecZ2D(plan, input, output)",
                    cufftExecZ2D(plan, memory(input), memory(output))
                )
            }
        }
    }
}
