//! Fourier transforms.

use tfrt::prelude::*;

use super::op_verifiers;
use crate::api::fft::{Layout, Plan};
use crate::enums::{FftDirection, FftType};
use crate::values::{Buffer, FftHandle, FftSpans, GpuContext, Stream};

/// Creates a plan: a batch of transforms of one to three dimensions. Strides are in elements, with
/// the distance between transforms in front.
///
/// # Errors
/// `Only row-major layout is supported`, `Inconsistent dims/strides lengths`.
#[tfrt_kernel(
    "tfrt_gpu.fft.create",
    chain = none,
    results(handle),
    verify = op_verifiers::verify_fft,
    format = "$context `,` $type `,` $batch `,` $dims `,` $in_strides `,` $out_strides attr-dict"
)]
fn fft_create(
    context: &GpuContext,
    #[attr] batch: i64,
    #[attr] dims: &[i64],
    #[attr] in_strides: &[i64],
    #[attr] out_strides: &[i64],
    #[attr("type")] transform: FftType,
) -> Result<FftHandle> {
    let plan = Plan {
        transform: transform.cuda()?,
        batch,
        dims: dims.to_vec(),
        input: layout(dims, in_strides)?,
        output: layout(dims, out_strides)?,
    };
    let current = context.set_current()?;
    let (handle, _) = context.gpu().fft.plan(&current, &plan)?;
    Ok(FftHandle::new(
        context,
        handle,
        spans(&plan, in_strides, out_strides),
    ))
}

/// Returns the spans that a batch of transforms reads and writes.
fn spans(plan: &Plan, in_strides: &[i64], out_strides: &[i64]) -> FftSpans {
    let (single, double) = ((4, 8), (8, 16));
    // Of the numbers at both ends, the bytes; and which end has half of a spectrum.
    let ((real, complex), halves) = match plan.transform {
        0x2a => (single, [false, true]),
        0x2c => (single, [true, false]),
        0x6a => (double, [false, true]),
        0x6c => (double, [true, false]),
        0x69 => (double, [false, false]),
        _ => (single, [false, false]),
    };
    let is_real = halves != [false, false];
    let span = |strides: &[i64], is_half: bool| {
        let width = if is_half || !is_real { complex } else { real };
        span(plan, strides, is_half, width)
    };
    FftSpans {
        input: span(in_strides, halves[0]),
        output: span(out_strides, halves[1]),
    }
}

/// Returns the bytes from the first element of a batch to the last one.
fn span(plan: &Plan, strides: &[i64], is_half: bool, width: i64) -> Option<usize> {
    if plan.batch <= 0 {
        return Some(0);
    }
    let mut last = strides.first()?.checked_mul(plan.batch - 1)?;
    for (index, (&dim, &stride)) in plan.dims.iter().zip(&strides[1..]).enumerate() {
        let is_last = index + 1 == plan.dims.len();
        let len = if is_last && is_half { dim / 2 + 1 } else { dim };
        last = last.checked_add(len.checked_sub(1)?.checked_mul(stride)?)?;
    }
    usize::try_from(last.checked_add(1)?.checked_mul(width)?).ok()
}

/// Turns strides into sizes of the memory around the data.
fn layout(dims: &[i64], strides: &[i64]) -> Result<Layout> {
    let invalid = |text: &str| Error::new(text).with_code(ErrorCode::InvalidArgument);
    if strides.len() != dims.len() + 1 || dims.is_empty() {
        return Err(invalid("Inconsistent dims/strides lengths"));
    }
    if !strides.is_sorted_by(|one, next| one >= next) || strides[dims.len()] <= 0 {
        return Err(invalid("Only row-major layout is supported"));
    }
    let embed = strides.windows(2).map(|pair| {
        if pair[0] % pair[1] == 0 {
            Ok(pair[0] / pair[1])
        } else {
            Err(invalid("Only row-major layout is supported"))
        }
    });
    Ok(Layout {
        embed: embed.collect::<Result<_>>()?,
        stride: strides[dims.len()],
        distance: strides[0],
    })
}

/// Returns the bytes of workspace that a plan needs.
#[tfrt_kernel(
    "tfrt_gpu.fft.get_workspace_size",
    pure,
    chain = none,
    results(size),
    format = "operands attr-dict",
)]
fn fft_get_workspace_size(handle: &FftHandle) -> Result<i64> {
    let context = handle.context();
    let _current = context.set_current()?;
    let size = context.gpu().fft.workspace_size(handle.handle())?;
    Ok(i64::try_from(size).unwrap_or(i64::MAX))
}

/// Transforms a batch. The direction applies to transforms from complex to complex numbers.
///
/// # Errors
/// If a buffer is smaller than the plan requires; the error names the buffer.
#[tfrt_kernel(
    "tfrt_gpu.fft.execute",
    results(out_chain),
    format = "$stream `,` $handle `,` $input `,` $output `,` $workspace `,` $direction `,` \
              $in_chain attr-dict"
)]
fn fft_execute(
    stream: &Stream,
    handle: &FftHandle,
    input: &Buffer,
    output: &Buffer,
    workspace: &Buffer,
    in_chain: Chain,
    #[attr] direction: FftDirection,
) -> Result<Chain> {
    let spans = handle.spans();
    let input = input.with_room("input", spans.input)?;
    let output = output.with_room("output", spans.output)?;
    let current = stream.enter_library(handle.context())?;
    let fft = &handle.context().gpu().fft;
    let needed = fft.workspace_size(handle.handle())?;
    let workspace = workspace.with_room("workspace", Some(needed))?;
    fft.set_stream(handle.handle(), stream.handle())?;
    fft.set_work_area(handle.handle(), workspace)?;
    fft.execute(&current, handle.handle(), input, output, direction.cuda()?)?;
    Ok(in_chain)
}
