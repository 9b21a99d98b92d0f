//! Execution plans: convolutions by an engine of the program's choice.

use std::sync::Arc;

use tfrt::prelude::*;

use crate::kernels::frame::{FinishWith, FrameReader};

use super::descriptors::accumulator_type;
use super::enter;
use crate::api::dnn::{ConvolutionPlan, PlanEpilogue, PlanTensor};
use crate::api::handle::{DevicePtr, PlanHandle};
use crate::enums::{ConvolutionMode, DnnDataType};
use crate::platform::Gpu;
use crate::values::{Buffer, DnnHandle, Stream, log_failure};

/// An execution plan.
#[derive(Debug, Value)]
#[value("!tfrt_gpu.dnn.convolution.plan")]
pub struct Plan {
    handle: PlanHandle,
    gpu: Arc<Gpu>,
    /// The bytes of input, output, filter and bias, as far as they can be counted.
    num_bytes: [Option<usize>; 4],
    /// The bytes of workspace that a call uses.
    workspace_size: usize,
}

impl Plan {
    /// Returns the addresses of the buffers of a call: input, output, filter, and of a fused plan
    /// side input and bias.
    fn tensors(&self, buffers: &[&Buffer]) -> Result<Vec<DevicePtr>> {
        let [x, y, w, bias] = self.num_bytes;
        let operands = [
            ("input", x),
            ("output", y),
            ("filter", w),
            ("side_input", y),
            ("bias", bias),
        ];
        let buffers = operands.into_iter().zip(buffers);
        buffers
            .map(|((name, num_bytes), buffer)| buffer.with_room(name, num_bytes))
            .collect()
    }

    /// Returns the address of the workspace of a call.
    fn workspace(&self, buffer: &Buffer) -> Result<DevicePtr> {
        buffer.with_room("workspace", Some(self.workspace_size))
    }
}

/// Returns the bytes from the first element of a tensor to the last one. The elements of a tensor
/// of vectors are vectors.
fn num_bytes(tensor: &PlanTensor) -> Option<usize> {
    let width = match tensor.data_type {
        0 | 4 | 5 | 7 => 4,
        1 => 8,
        2 => 2,
        _ => 1,
    };
    let ends = tensor.dims.iter().zip(&tensor.strides);
    let last = ends.into_iter().try_fold(0_i64, |last, (dim, stride)| {
        last.checked_add(dim.checked_sub(1)?.checked_mul(*stride)?)
    })?;
    usize::try_from(last.checked_add(1)?.checked_mul(width)?).ok()
}

impl Drop for Plan {
    fn drop(&mut self) {
        log_failure(self.gpu.dnn.destroy_plan(self.handle));
    }
}

fn build(handle: &DnnHandle, plan: &ConvolutionPlan) -> Result<Plan> {
    let context = handle.context();
    let current = context.set_current()?;
    let gpu = context.gpu();
    let (built, workspace_size) = gpu.dnn.plan(&current, handle.handle(), plan)?;
    Ok(Plan {
        handle: built,
        gpu: Arc::clone(gpu),
        workspace_size,
        num_bytes: [
            num_bytes(&plan.x),
            num_bytes(&plan.y),
            num_bytes(&plan.w),
            plan.fused.as_ref().and_then(|fused| num_bytes(&fused.bias)),
        ],
    })
}

fn invalid(text: &str) -> Error {
    Error::new(text).with_code(ErrorCode::InvalidArgument)
}

fn plan_tensor(data_type: DnnDataType, dims: &[i64], strides: &[i64]) -> Result<PlanTensor> {
    let data_type = data_type.cuda()?;
    if data_type == 8 {
        return Err(invalid(
            "cuDNN frontend doesn't support int8x32 at the moment.",
        ));
    }
    Ok(PlanTensor {
        data_type,
        dims: dims.to_vec(),
        strides: strides.to_vec(),
    })
}

/// Returns the type that the sums of a plan are kept in.
fn plan_compute_type(input_type: DnnDataType) -> Result<i32> {
    let number = match input_type.cuda()? {
        // Vectors count as their elements.
        5 => 3,
        7 => 6,
        other => other,
    };
    Ok(accumulator_type(number))
}

fn knobs(ids: &[i64], values: &[i64]) -> Result<Vec<(i64, i64)>> {
    if ids.len() != values.len() {
        return Err(invalid(
            "Mismatched number of tuning knob types and choices.",
        ));
    }
    Ok(ids.iter().copied().zip(values.iter().copied()).collect())
}

/// Builds a plan of a convolution. `backend_type` is 10 for a convolution, 11 and 12 for its
/// gradients by filter and by input.
///
/// # Errors
/// `Mismatched number of tuning knob types and choices.`, `cuDNN frontend doesn't support int8x32 at the moment.`
#[tfrt_kernel(
    "tfrt_gpu.dnn.build_convolution",
    raw,
    operands(handle: DnnHandle),
    attrs(backend_type: i32, conv_dilations: [i64], conv_dim: i32, conv_mode: ConvolutionMode, conv_padding: [i64], conv_strides: [i64], engine_id: i32, filter_dims: [i64], filter_strides: [i64], input_dims: [i64], input_strides: [i64], input_type: DnnDataType, output_dims: [i64], output_strides: [i64], output_type: DnnDataType, tuning_knob_ids: [i64], tuning_knob_values: [i64]),

    results(plan: Plan),
    format = "$handle `,` $input_type `,` $output_type `,` $input_dims `,` $input_strides `,` \
              $output_dims `,` $output_strides `,` $filter_dims `,` $filter_strides `,` \
              $conv_mode `,` $conv_dim `,` $conv_dilations `,` $conv_padding `,` $conv_strides \
              `,` $backend_type `,` $engine_id `,` $tuning_knob_ids `,` $tuning_knob_values \
              attr-dict"
)]
fn build_convolution(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let backend_type = reader.attribute::<i32>()?;
    let conv_dilations = reader.attribute::<[i64]>()?;
    let conv_dim = reader.attribute::<i32>()?;
    let conv_mode = reader.attribute::<ConvolutionMode>()?;
    let conv_padding = reader.attribute::<[i64]>()?;
    let conv_strides = reader.attribute::<[i64]>()?;
    let engine_id = reader.attribute::<i32>()?;
    let filter_dims = reader.attribute::<[i64]>()?;
    let filter_strides = reader.attribute::<[i64]>()?;
    let input_dims = reader.attribute::<[i64]>()?;
    let input_strides = reader.attribute::<[i64]>()?;
    let input_type = reader.attribute::<DnnDataType>()?;
    let output_dims = reader.attribute::<[i64]>()?;
    let output_strides = reader.attribute::<[i64]>()?;
    let output_type = reader.attribute::<DnnDataType>()?;
    let tuning_knob_ids = reader.attribute::<[i64]>()?;
    let tuning_knob_values = reader.attribute::<[i64]>()?;
    let plan = ConvolutionPlan {
        x: plan_tensor(input_type, input_dims, input_strides)?,
        y: plan_tensor(output_type, output_dims, output_strides)?,
        w: plan_tensor(input_type, filter_dims, filter_strides)?,
        compute_type: plan_compute_type(input_type)?,
        mode: conv_mode.cuda()?,
        dimensions: conv_dim,
        dilations: conv_dilations.to_vec(),
        padding: conv_padding.to_vec(),
        strides: conv_strides.to_vec(),
        backend_type,
        engine: engine_id.into(),
        knobs: knobs(tuning_knob_ids, tuning_knob_values)?,
        fused: None,
    };
    frame.finish_with(build(handle, &plan)?)
}

/// Runs a plan of a convolution.
#[tfrt_kernel(
    "tfrt_gpu.dnn.run_convolution",
    results(out_chain),
    format = "operands attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
fn run_convolution(
    handle: &DnnHandle,
    stream: &Stream,
    plan: &Plan,
    input: &Buffer,
    output: &Buffer,
    filter: &Buffer,
    workspace: &Buffer,
    in_chain: Chain,
) -> Result<Chain> {
    let tensors = plan.tensors(&[input, output, filter])?;
    let workspace = plan.workspace(workspace)?;
    let current = enter(handle, stream)?;
    let dnn = &handle.context().gpu().dnn;
    dnn.execute_plan(&current, handle.handle(), plan.handle, &tensors, workspace)?;
    Ok(in_chain)
}

/// Builds a plan of a convolution that adds and activates: y = act(alpha · conv(x, w) + alpha2 ·
/// z + bias).
///
/// # Errors
/// Those of `tfrt_gpu.dnn.build_convolution`, and `Unimplemented activation mode` for others than
/// the identity (5) and the rectifier (1).
#[tfrt_kernel(
    "tfrt_gpu.dnn.build_fused_convolution",
    raw,
    operands(handle: DnnHandle, alpha: f64, alpha2: f64),
    attrs(activation_mode: i32, backend_type: i32, bias_dims: [i64], bias_strides: [i64], bias_type: DnnDataType, conv_dilations: [i64], conv_dim: i32, conv_mode: ConvolutionMode, conv_padding: [i64], conv_strides: [i64], engine_id: i32, filter_dims: [i64], filter_strides: [i64], input_dims: [i64], input_strides: [i64], input_type: DnnDataType, output_dims: [i64], output_strides: [i64], output_type: DnnDataType, tuning_knob_ids: [i64], tuning_knob_values: [i64]),

    results(plan: Plan),
    format = "$handle `,` $input_type `,` $output_type `,` $bias_type `,` $input_dims `,` \
              $input_strides `,` $output_dims `,` $output_strides `,` $filter_dims `,` \
              $filter_strides `,` $bias_dims `,` $bias_strides `,` $conv_mode `,` $conv_dim `,` \
              $conv_dilations `,` $conv_padding `,` $conv_strides `,` $backend_type `,` $alpha \
              `,` $alpha2 `,` $activation_mode `,` $engine_id `,` $tuning_knob_ids `,` \
              $tuning_knob_values attr-dict"
)]
fn build_fused_convolution(frame: &mut KernelFrame<'_>) -> Result<()> {
    let mut reader = FrameReader::new(frame);
    let handle: &DnnHandle = reader.operand()?;
    let alpha: f64 = *reader.operand()?;
    let alpha2: f64 = *reader.operand()?;
    let activation_mode = reader.attribute::<i32>()?;
    let backend_type = reader.attribute::<i32>()?;
    let bias_dims = reader.attribute::<[i64]>()?;
    let bias_strides = reader.attribute::<[i64]>()?;
    let bias_type = reader.attribute::<DnnDataType>()?;
    let conv_dilations = reader.attribute::<[i64]>()?;
    let conv_dim = reader.attribute::<i32>()?;
    let conv_mode = reader.attribute::<ConvolutionMode>()?;
    let conv_padding = reader.attribute::<[i64]>()?;
    let conv_strides = reader.attribute::<[i64]>()?;
    let engine_id = reader.attribute::<i32>()?;
    let filter_dims = reader.attribute::<[i64]>()?;
    let filter_strides = reader.attribute::<[i64]>()?;
    let input_dims = reader.attribute::<[i64]>()?;
    let input_strides = reader.attribute::<[i64]>()?;
    let input_type = reader.attribute::<DnnDataType>()?;
    let output_dims = reader.attribute::<[i64]>()?;
    let output_strides = reader.attribute::<[i64]>()?;
    let output_type = reader.attribute::<DnnDataType>()?;
    let tuning_knob_ids = reader.attribute::<[i64]>()?;
    let tuning_knob_values = reader.attribute::<[i64]>()?;
    if !matches!(activation_mode, 1 | 5) {
        return Err(invalid("Unimplemented activation mode"));
    }
    let plan = ConvolutionPlan {
        x: plan_tensor(input_type, input_dims, input_strides)?,
        y: plan_tensor(output_type, output_dims, output_strides)?,
        w: plan_tensor(input_type, filter_dims, filter_strides)?,
        compute_type: plan_compute_type(input_type)?,
        mode: conv_mode.cuda()?,
        dimensions: conv_dim,
        dilations: conv_dilations.to_vec(),
        padding: conv_padding.to_vec(),
        strides: conv_strides.to_vec(),
        backend_type,
        engine: engine_id.into(),
        knobs: knobs(tuning_knob_ids, tuning_knob_values)?,
        fused: Some(PlanEpilogue {
            alpha,
            alpha2,
            bias: plan_tensor(bias_type, bias_dims, bias_strides)?,
            activation: activation_mode,
        }),
    };
    frame.finish_with(build(handle, &plan)?)
}

/// Runs a plan of a convolution that adds and activates.
#[tfrt_kernel(
    "tfrt_gpu.dnn.run_fused_convolution",
    results(out_chain),
    format = "operands attr-dict"
)]
#[expect(clippy::too_many_arguments, reason = "the operands of the op")]
fn run_fused_convolution(
    handle: &DnnHandle,
    stream: &Stream,
    plan: &Plan,
    input: &Buffer,
    output: &Buffer,
    filter: &Buffer,
    side_input: &Buffer,
    bias: &Buffer,
    workspace: &Buffer,
    in_chain: Chain,
) -> Result<Chain> {
    let tensors = plan.tensors(&[input, output, filter, side_input, bias])?;
    let workspace = plan.workspace(workspace)?;
    let current = enter(handle, stream)?;
    let dnn = &handle.context().gpu().dnn;
    dnn.execute_plan(&current, handle.handle(), plan.handle, &tensors, workspace)?;
    Ok(in_chain)
}
