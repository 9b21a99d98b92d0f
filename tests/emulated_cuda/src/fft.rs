//! `libcufft`. A plan is created first and made later; the host device does both at once.

use std::ffi::{c_int, c_longlong, c_uint};

use tfrt_gpu::api::FftHandle;
use tfrt_gpu::api::fft::{Layout, Plan};
use tfrt_gpu::api::{GpuError, GpuResult, Status, StreamHandle};

use crate::abi::{In, Out, device, exports};
use crate::emulator::{Emulator, lock};

/// `CUFFT_FORWARD` and `CUFFT_INVERSE`.
const FORWARD: c_int = -1;
const INVERSE: c_int = 1;

/// A plan of the library.
#[derive(Debug, Default)]
pub(crate) struct FftPlan {
    /// The plan of the host device and its type, once it is made.
    made: Option<(FftHandle, c_uint)>,
    /// The program provides the work area.
    has_own_area: bool,
}

fn invalid_plan(call: &'static str) -> GpuError {
    GpuError::new(call, Status::FFT_INVALID_PLAN)
}

/// Returns a plan that is made, and its type.
fn made(emulator: &Emulator, call: &'static str, plan: c_int) -> GpuResult<(FftHandle, c_uint)> {
    let plans = lock(&emulator.plans);
    let made = plans.get(&plan).and_then(|plan| plan.made);
    made.ok_or_else(|| invalid_plan(call))
}

exports! { Fft:
    fn cufftGetVersion(version: Out<c_int>) |_emulator, CALL| {
        version.set(CALL, 11303)
    }

    fn cufftCreate(plan: Out<c_int>) |emulator, CALL| {
        emulator.current(CALL)?;
        let mut plans = lock(&emulator.plans);
        let number = plans.keys().max().map_or(1, |number| number + 1);
        plans.insert(number, FftPlan::default());
        plan.set(CALL, number)
    }

    fn cufftDestroy(plan: c_int) |emulator, CALL| {
        let plan = lock(&emulator.plans).remove(&plan);
        match plan.ok_or_else(|| invalid_plan(CALL))?.made {
            Some((handle, _)) => emulator.gpu.fft.destroy(handle),
            None => Ok(()),
        }
    }

    fn cufftSetAutoAllocation(plan: c_int, is_automatic: c_int) |emulator, CALL| {
        match lock(&emulator.plans).get_mut(&plan) {
            Some(plan) if plan.made.is_none() => {
                plan.has_own_area = is_automatic == 0;
                Ok(())
            }
            _ => Err(invalid_plan(CALL)),
        }
    }

    fn cufftMakePlanMany64(
        plan: c_int, rank: c_int, dims: In<c_longlong>, in_embed: In<c_longlong>, in_stride: c_longlong, in_distance: c_longlong,
        out_embed: In<c_longlong>, out_stride: c_longlong, out_distance: c_longlong, transform: c_uint, batch: c_longlong,
        num_bytes: Out<usize>,
    ) |emulator, CALL| {
        let current = emulator.current(CALL)?;
        let rank = match rank {
            1..=3 => rank as usize,
            _ => return Err(GpuError::new(CALL, Status::FFT_INVALID_SIZE)),
        };
        let description = Plan {
            transform: transform as i32,
            batch,
            dims: dims.list(CALL, rank)?,
            input: Layout {
                embed: in_embed.list(CALL, rank)?,
                stride: in_stride,
                distance: in_distance,
            },
            output: Layout {
                embed: out_embed.list(CALL, rank)?,
                stride: out_stride,
                distance: out_distance,
            },
        };
        let mut plans = lock(&emulator.plans);
        let plan = plans.get_mut(&plan).filter(|plan| plan.made.is_none());
        let plan = plan.ok_or_else(|| invalid_plan(CALL))?;
        if !plan.has_own_area {
            return Err(GpuError::new(CALL, Status::Fft(16))
                .with_details("the emulator does not allocate work areas"));
        }
        let (handle, len) = emulator.gpu.fft.plan(&current, &description)?;
        plan.made = Some((handle, transform));
        num_bytes.set(CALL, len)
    }

    fn cufftGetSize(plan: c_int, num_bytes: Out<usize>) |emulator, CALL| {
        let (handle, _) = made(emulator, CALL, plan)?;
        num_bytes.set(CALL, emulator.gpu.fft.workspace_size(handle)?)
    }

    fn cufftSetStream(plan: c_int, stream: u64) |emulator, CALL| {
        let (handle, _) = made(emulator, CALL, plan)?;
        emulator.gpu.fft.set_stream(handle, StreamHandle(stream))
    }

    fn cufftSetWorkArea(plan: c_int, area: u64) |emulator, CALL| {
        let (handle, _) = made(emulator, CALL, plan)?;
        emulator.gpu.fft.set_work_area(handle, device(area))
    }

    fn cufftExecC2C(plan: c_int, input: u64, output: u64, direction: c_int) |emulator, CALL| {
        execute(emulator, CALL, plan, 0x29, [input, output], direction)
    }

    fn cufftExecR2C(plan: c_int, input: u64, output: u64) |emulator, CALL| {
        execute(emulator, CALL, plan, 0x2a, [input, output], FORWARD)
    }

    fn cufftExecC2R(plan: c_int, input: u64, output: u64) |emulator, CALL| {
        execute(emulator, CALL, plan, 0x2c, [input, output], INVERSE)
    }

    fn cufftExecZ2Z(plan: c_int, input: u64, output: u64, direction: c_int) |emulator, CALL| {
        execute(emulator, CALL, plan, 0x69, [input, output], direction)
    }

    fn cufftExecD2Z(plan: c_int, input: u64, output: u64) |emulator, CALL| {
        execute(emulator, CALL, plan, 0x6a, [input, output], FORWARD)
    }

    fn cufftExecZ2D(plan: c_int, input: u64, output: u64) |emulator, CALL| {
        execute(emulator, CALL, plan, 0x6c, [input, output], INVERSE)
    }
}

/// Executes a plan of a type.
fn execute(
    emulator: &Emulator,
    call: &'static str,
    plan: c_int,
    transform: c_uint,
    [input, output]: [u64; 2],
    direction: c_int,
) -> GpuResult<()> {
    let current = emulator.current(call)?;
    let (handle, found) = made(emulator, call, plan)?;
    if found != transform {
        return Err(invalid_plan(call));
    }
    let (input, output) = (device(input), device(output));
    emulator
        .gpu
        .fft
        .execute(&current, handle, input, output, direction)
}
