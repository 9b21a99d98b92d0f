//! Kernels of device functions on a GPU.
//!
//! `#[tfrt_kernel("my.gelu", elementwise)]` makes the kernel `my.gelu.gpu` as well, which this
//! module runs: it writes PTX for the device when a kernel is first launched in a context, and
//! keeps the loaded module with the context.
//!
//! ```text
//!  my.gelu.gpu ─► frame ─┐
//!  op on GPU:0 ──────────┼─► launch ─► LaunchForm ─► loaded? ─no─► ptx ─► module_load
//!  embedders ────────────┘                              └─────────────► Driver::launch
//! ```

use std::collections::HashMap;
use std::sync::Mutex;

use tfrt::device::axes::{AxesPlan, LANES};
use tfrt::device::broadcast::CommonShape;
use tfrt::device::grid::{self, GridRules};
use tfrt::device::kernel::{
    FunctionKernel, KernelForm, Launcher, OpLauncher, ReductionPlan, check_equal, metadata,
};
use tfrt::device::ptx::{self, BLOCK_THREADS, GpuTarget, LaunchForm, MAX_RANK, OperandLayout};
use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor};

use crate::api::driver::{Argument, Driver, LaunchConfig};
use crate::api::handle::{FunctionHandle, ModuleHandle};
use crate::api::{Current, DevicePtr, GpuResult};
use crate::eager::GpuCall;
use crate::values::{Allocator, Buffer, DenseGpuTensor, GpuContext, Stream, lock};

/// Each thread computes several elements if there are more than for so many blocks.
const MAX_BLOCKS: usize = 1 << 20;

/// Elements in the memory of a GPU, row-major.
///
/// ```
/// use tfrt::support::DType;
/// use tfrt_gpu::api::DevicePtr;
/// use tfrt_gpu::device_functions::GpuElements;
///
/// let matrix = GpuElements {
///     pointer: DevicePtr::NULL,
///     dtype: DType::F32,
///     extents: &[2, 3],
/// };
/// assert_eq!(matrix.extents.len(), 2);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GpuElements<'e> {
    /// The first element.
    pub pointer: DevicePtr,
    /// The element type.
    pub dtype: DType,
    /// The extents, outermost first.
    pub extents: &'e [usize],
}

impl GpuElements<'_> {
    fn metadata(&self) -> TensorMetadata {
        TensorMetadata::new(self.dtype, self.extents)
    }

    /// Returns the addresses from the first byte up to the end.
    fn addresses(&self) -> std::ops::Range<u64> {
        let start = self.pointer.address();
        let num_bytes = self.metadata().size_bytes().unwrap_or(0);
        start..start.saturating_add(num_bytes as u64)
    }
}

/// Puts a kernel of a device function on a stream.
///
/// The operands are broadcast, and the result has the shape that [`metadata`] computes. It may take
/// the place of an operand of the same shape and element type. The memory must belong to the
/// context of the stream, and stay until the work is done.
///
/// # Errors
/// If element types, shapes or addresses do not fit, or the device is too old; those of the driver.
/// Faults of the kernel appear at the next synchronization of the stream.
pub fn launch(
    kernel: &'static FunctionKernel,
    stream: &Stream,
    operands: &[GpuElements<'_>],
    result: &GpuElements<'_>,
) -> Result<()> {
    let expected = kernel.function.parameters.len();
    if operands.len() != expected {
        return Err(invalid(format!(
            "`{}`: expected {expected} operands, found {}",
            kernel.name,
            operands.len()
        )));
    }
    let given: Vec<TensorMetadata> = operands.iter().map(GpuElements::metadata).collect();
    let computed = metadata(kernel, &given.iter().collect::<Vec<_>>())?;
    let found = result.metadata();
    if computed != found {
        return Err(invalid(format!(
            "`{}`: expected a result {computed}, found {found}",
            kernel.name
        )));
    }
    let shapes: Vec<&[usize]> = operands.iter().map(|operand| operand.extents).collect();
    let launch = Launch {
        kernel,
        stream,
        current: stream.context().set_current()?,
    };
    match kernel.form {
        KernelForm::Elementwise => {
            let common = CommonShape::new(kernel.name, &shapes)?;
            launch.elementwise(&common, operands, result)
        }
        KernelForm::Reduce { .. } => {
            check_equal(kernel, &shapes)?;
            let count = given.first().and_then(TensorMetadata::num_elements);
            launch.reduction(count.unwrap_or(0), operands, result)
        }
        KernelForm::ReduceAlong { axes, .. } => {
            check_equal(kernel, &shapes)?;
            let extents = shapes.first().copied().unwrap_or_default();
            let plan = AxesPlan::new(kernel.name, axes, extents)?;
            launch.along(&plan, operands, result)
        }
        KernelForm::Grid(rules) => {
            let plan = grid::plan(kernel, rules, &shapes)?;
            launch.grid(rules, plan.blocks, operands, result)
        }
    }
}

/// A launch whose operands were checked.
struct Launch<'l> {
    kernel: &'static FunctionKernel,
    stream: &'l Stream,
    current: Current,
}

impl Launch<'_> {
    fn elementwise(
        &self,
        common: &CommonShape,
        operands: &[GpuElements<'_>],
        result: &GpuElements<'_>,
    ) -> Result<()> {
        let count = common.count();
        if count == 0 {
            return Ok(());
        }
        let rank = common.extents().len();
        let layout = |operand: usize| match *common.strides(operand) {
            [] | [0] => Some(OperandLayout::Single),
            [1] => Some(OperandLayout::Linear),
            _ => None,
        };
        let layouts: Option<Vec<OperandLayout>> = (0..operands.len()).map(layout).collect();
        self.check_overlap(operands, layouts.as_deref(), count, result)?;
        let mut arguments = arguments(count, result, operands);
        let form = match layouts {
            Some(layouts) => LaunchForm::Elementwise(layouts),
            None if rank > MAX_RANK => {
                return Err(invalid(format!(
                    "`{}`: expected at most {MAX_RANK} dimensions that are broadcast in different \
                     ways, found {rank}",
                    self.kernel.name
                )));
            }
            None => {
                let word = |number: &usize| Argument::Bits64(*number as u64);
                arguments.extend(common.extents()[1..].iter().map(word));
                for operand in 0..operands.len() {
                    arguments.extend(common.strides(operand).iter().map(word));
                }
                LaunchForm::Broadcast {
                    rank,
                    is_narrow: u32::try_from(count).is_ok(),
                }
            }
        };
        let num_blocks = count.div_ceil(BLOCK_THREADS as usize).min(MAX_BLOCKS);
        self.put(form, num_blocks as u32, &arguments)
    }

    /// Refuses a result that overwrites elements which other threads still read.
    fn check_overlap(
        &self,
        operands: &[GpuElements<'_>],
        layouts: Option<&[OperandLayout]>,
        count: usize,
        result: &GpuElements<'_>,
    ) -> Result<()> {
        let written = result.addresses();
        for (index, operand) in operands.iter().enumerate() {
            let read = operand.addresses();
            let is_apart = read.end <= written.start || written.end <= read.start;
            let is_own = read == written
                && layouts
                    .is_some_and(|layouts| layouts[index] == OperandLayout::Linear || count == 1);
            if !is_apart && !is_own {
                let name = self.kernel.function.parameters[index].name;
                return Err(invalid(format!(
                    "`{}`: the result overlaps the operand `{name}`, which is not of its shape \
                     and size",
                    self.kernel.name
                )));
            }
        }
        Ok(())
    }

    fn reduction(
        &self,
        count: usize,
        operands: &[GpuElements<'_>],
        result: &GpuElements<'_>,
    ) -> Result<()> {
        self.check_apart(operands, result)?;
        let num_blocks = ReductionPlan::new(count).num_blocks;
        if num_blocks == 1 {
            let arguments = arguments(count, result, operands);
            return self.put(LaunchForm::Partial, 1, &arguments);
        }
        let dtype = self.kernel.function.result;
        let context = self.stream.context();
        let num_bytes = num_blocks as usize * dtype.size_bytes();
        let scratch = Allocator::new(context).allocate(num_bytes, self.stream)?;
        let parts = GpuElements {
            pointer: scratch.pointer(),
            dtype: dtype.dtype(),
            extents: &[num_blocks as usize],
        };
        let enqueued = self
            .put(
                LaunchForm::Partial,
                num_blocks,
                &arguments(count, &parts, operands),
            )
            .and_then(|()| {
                let count = num_blocks as usize;
                self.put(LaunchForm::Final, 1, &arguments(count, result, &[parts]))
            });
        // Even if the second launch failed, the first may use it.
        let driver = &context.gpu().driver;
        let kept = driver.keep_until_passed(self.stream.handle(), Box::new(scratch));
        // The failure of the launch is the cause of what follows.
        enqueued?;
        Ok(kept?)
    }

    /// Refuses a result that overlaps an operand.
    fn check_apart(&self, operands: &[GpuElements<'_>], result: &GpuElements<'_>) -> Result<()> {
        let written = result.addresses();
        for operand in operands {
            let read = operand.addresses();
            if !(read.end <= written.start || written.end <= read.start) {
                return Err(invalid(format!(
                    "`{}`: the result overlaps an operand",
                    self.kernel.name
                )));
            }
        }
        Ok(())
    }

    fn along(
        &self,
        plan: &AxesPlan,
        operands: &[GpuElements<'_>],
        result: &GpuElements<'_>,
    ) -> Result<()> {
        self.check_apart(operands, result)?;
        let count = plan.num_results();
        if count == 0 {
            return Ok(());
        }
        let (kept, reduced) = (plan.kept.len(), plan.reduced.len());
        if kept + reduced > MAX_RANK {
            return Err(invalid(format!(
                "`{}`: expected at most {MAX_RANK} groups of axes that are reduced and kept in \
                 turn, found {}",
                self.kernel.name,
                kept + reduced
            )));
        }
        let mut arguments = arguments(count, result, operands);
        arguments.push(Argument::Bits64(plan.num_reduced() as u64));
        for group in plan.kept.iter().chain(&plan.reduced) {
            arguments.extend([group.extent, group.stride].map(|x| Argument::Bits64(x as u64)));
        }
        // Neighbouring threads are to read neighbouring elements.
        let is_shared = plan.reduced.last().is_some_and(|group| group.stride == 1)
            && plan.num_reduced() >= LANES;
        let num_threads = match is_shared {
            true => count.saturating_mul(LANES),
            false => count,
        };
        let num_blocks = num_threads.div_ceil(BLOCK_THREADS as usize).min(MAX_BLOCKS);
        let form = LaunchForm::Along {
            kept,
            reduced,
            is_shared,
        };
        self.put(form, num_blocks as u32, &arguments)
    }

    fn grid(
        &self,
        rules: &GridRules,
        blocks: [u32; 3],
        operands: &[GpuElements<'_>],
        result: &GpuElements<'_>,
    ) -> Result<()> {
        self.check_apart(operands, result)?;
        let count: usize = result.extents.iter().product();
        if rules.initial.is_some() && count > 0 {
            let num_blocks = count.div_ceil(BLOCK_THREADS as usize).min(MAX_BLOCKS);
            let arguments = arguments(count, result, &[]);
            self.put(LaunchForm::Initial, num_blocks as u32, &arguments)?;
        }
        if blocks.contains(&0) {
            return Ok(());
        }
        let mut arguments = Vec::new();
        let ranks = std::iter::once(Some(rules.result_rank)).chain(rules.ranks.iter().copied());
        for (elements, rank) in std::iter::once(result).chain(operands).zip(ranks) {
            arguments.push(Argument::Pointer(elements.pointer));
            // A number has no extents.
            if rank.is_some() {
                let extents = elements.extents.iter();
                arguments.extend(extents.map(|extent| Argument::Bits64(*extent as u64)));
            }
        }
        self.put_blocks(LaunchForm::Grid, blocks, rules.threads, &arguments)
    }

    fn put(&self, form: LaunchForm, num_blocks: u32, arguments: &[Argument]) -> Result<()> {
        self.put_blocks(form, [num_blocks, 1, 1], [BLOCK_THREADS, 1, 1], arguments)
    }

    fn put_blocks(
        &self,
        form: LaunchForm,
        grid: [u32; 3],
        block: [u32; 3],
        arguments: &[Argument],
    ) -> Result<()> {
        let context = self.stream.context();
        let function = context
            .device_functions()
            .get(self.kernel, form, context, &self.current)?;
        let config = LaunchConfig {
            grid,
            block,
            shared_bytes: 0,
        };
        let driver = &context.gpu().driver;
        driver.launch(
            &self.current,
            function,
            config,
            self.stream.handle(),
            arguments,
        )?;
        Ok(())
    }
}

fn arguments(
    count: usize,
    result: &GpuElements<'_>,
    operands: &[GpuElements<'_>],
) -> Vec<Argument> {
    let mut arguments = vec![
        Argument::Bits64(count as u64),
        Argument::Pointer(result.pointer),
    ];
    let pointers = operands.iter().map(|operand| operand.pointer);
    arguments.extend(pointers.map(Argument::Pointer));
    arguments
}

/// The device functions that are loaded in a context.
#[derive(Debug, Default)]
pub(crate) struct LoadedFunctions(Mutex<HashMap<Key, (ModuleHandle, FunctionHandle)>>);

/// The address of a kernel, which is never moved, and the form of the launch.
type Key = (usize, LaunchForm);

impl LoadedFunctions {
    fn get(
        &self,
        kernel: &'static FunctionKernel,
        form: LaunchForm,
        context: &GpuContext,
        current: &Current,
    ) -> Result<FunctionHandle> {
        let key = (std::ptr::from_ref(kernel).addr(), form);
        // Held while the module is loaded, so that it is loaded once.
        let mut loaded = lock(&self.0);
        if let Some((_, function)) = loaded.get(&key) {
            return Ok(*function);
        }
        let device = context.device();
        let driver = &device.gpu.driver;
        let (major, minor) = driver.device_capability(device.id)?;
        let target = GpuTarget::for_capability(major, minor)?;
        let mut image = ptx::emit(kernel, &key.1, target)?.into_bytes();
        image.push(0);
        let module = driver.module_load(current, &image)?;
        match driver.module_function(module, &ptx::entry_name(kernel)) {
            Ok(function) => {
                loaded.insert(key, (module, function));
                Ok(function)
            }
            Err(error) => {
                crate::values::log_failure(driver.module_unload(module));
                Err(error.into())
            }
        }
    }

    /// Unloads all, with the context current.
    pub(crate) fn unload_all(&self, driver: &dyn Driver) -> GpuResult<()> {
        let loaded = std::mem::take(&mut *lock(&self.0));
        loaded
            .into_values()
            .map(|(module, _)| driver.module_unload(module))
            .fold(Ok(()), Result::and)
    }
}

/// An operand of the kernel in a program: a tensor, or a buffer whose elements are one dimension.
struct Given<'f> {
    pointer: DevicePtr,
    dtype: DType,
    extents: Vec<usize>,
    tensor: Option<&'f DenseGpuTensor>,
}

impl<'f> Given<'f> {
    fn new(
        kernel: &FunctionKernel,
        name: &str,
        dtype: DType,
        value: &'f AnyRef,
        stream: &Stream,
    ) -> Result<Self> {
        let (given, context) = if let Some(tensor) = value.get::<DenseGpuTensor>() {
            let given = Self {
                pointer: tensor.pointer(),
                dtype: tensor.dtype(),
                extents: tensor.shape().dims().to_vec(),
                tensor: Some(tensor),
            };
            (given, tensor.context())
        } else if let Some(buffer) = value.get::<Buffer>() {
            let (num_bytes, size) = (buffer.num_bytes(), dtype.size_bytes().unwrap_or(1));
            if num_bytes % size != 0 {
                return Err(invalid(format!(
                    "`{}`: the size of buffer `{name}`, {num_bytes} bytes, is not a multiple of \
                     that of {dtype}",
                    kernel.name
                )));
            }
            let given = Self {
                pointer: buffer.pointer(),
                dtype,
                extents: vec![num_bytes / size],
                tensor: None,
            };
            (given, buffer.context())
        } else {
            let found = value.mlir_type().unwrap_or("something else");
            return Err(invalid(format!(
                "`{}`: expected `!t.tensor` on the GPU or `!tfrt_gpu.buffer` for `{name}`, found \
                 `{found}`",
                kernel.name
            )));
        };
        if let Some(context) = context {
            stream.context().expect_same(&context)?;
        }
        Ok(given)
    }

    fn elements(&self) -> GpuElements<'_> {
        GpuElements {
            pointer: self.pointer,
            dtype: self.dtype,
            extents: &self.extents,
        }
    }
}

/// Runs `my.gelu.gpu`: reads the operands of the frame, and launches the kernel.
fn launch_frame(kernel: &'static FunctionKernel, frame: &mut KernelFrame<'_>) -> Result<()> {
    let parameters = kernel.function.parameters;
    let arguments = frame.arguments();
    let (Some(stream), Some(operands), Some(result), Some(chain)) = (
        arguments.first(),
        arguments.get(1..=parameters.len()),
        arguments.get(parameters.len() + 1),
        arguments.get(parameters.len() + 2),
    ) else {
        return Err(invalid(format!(
            "`{}`: expected a stream, {} operands, a result and a chain",
            kernel.name,
            parameters.len()
        )));
    };
    let Some(stream) = stream.get::<Stream>() else {
        let found = stream.mlir_type().unwrap_or("something else");
        return Err(invalid(format!(
            "`{}`: expected `!tfrt_gpu.stream`, found `{found}`",
            kernel.name
        )));
    };
    let given = operands.iter().zip(parameters).map(|(operand, parameter)| {
        let dtype = parameter.ty.dtype();
        Given::new(kernel, parameter.name, dtype, operand, stream)
    });
    let given = given.collect::<Result<Vec<_>>>()?;
    let mut target = Given::new(
        kernel,
        "result",
        kernel.function.result.dtype(),
        result,
        stream,
    )?;
    if target.tensor.is_none() {
        // A buffer has no shape: it takes that of the result.
        let operands: Vec<_> = given
            .iter()
            .map(|given| given.elements().metadata())
            .collect();
        let computed = metadata(kernel, &operands.iter().collect::<Vec<_>>())?;
        if computed.num_elements() != Some(target.extents.iter().product()) {
            return Err(invalid(format!(
                "`{}`: expected a buffer for the result {computed}, found one of {} bytes",
                kernel.name,
                target.elements().metadata().size_bytes().unwrap_or(0)
            )));
        }
        target.extents = computed.extents.to_vec();
    }
    let elements: Vec<GpuElements<'_>> = given.iter().map(Given::elements).collect();
    launch(kernel, stream, &elements, &target.elements())?;
    frame.set_result(0, chain.clone());
    Ok(())
}

inventory::submit! { Launcher { launch: launch_frame } }

/// Runs the op `my.gelu` on a GPU: its operands are on the device, and so is its result.
pub(crate) fn launch_op(kernel: &'static FunctionKernel, call: &mut OpCall<'_>) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let num_operands = kernel.function.parameters.len();
    let tensors = (0..num_operands).map(|index| call.tensor(index));
    let tensors = tensors.collect::<Result<Vec<_>>>()?;
    let given: Vec<TensorMetadata> = tensors
        .iter()
        .map(|tensor| TensorMetadata::new(tensor.dtype(), tensor.shape()))
        .collect();
    let computed = metadata(kernel, &given.iter().collect::<Vec<_>>())?;
    let result = call.allocate(computed.dtype, Shape::new(&computed.extents)?)?;
    let operands: Vec<GpuElements<'_>> = tensors
        .iter()
        .map(|tensor| tensor_elements(tensor))
        .collect();
    launch(
        kernel,
        call.gpu().stream(),
        &operands,
        &tensor_elements(&result),
    )?;
    call.set_result(0, result);
    Ok(())
}

/// Puts a kernel that reduces along axes on a stream, with the axes of a plan for the operand's
/// shape in place of its own.
pub(crate) fn launch_along(
    kernel: &'static FunctionKernel,
    stream: &Stream,
    plan: &AxesPlan,
    operand: &DenseGpuTensor,
    result: &DenseGpuTensor,
) -> Result<()> {
    let launch = Launch {
        kernel,
        stream,
        current: stream.context().set_current()?,
    };
    let operand = tensor_elements(operand);
    launch.along(plan, &[operand], &tensor_elements(result))
}

fn tensor_elements(tensor: &DenseGpuTensor) -> GpuElements<'_> {
    GpuElements {
        pointer: tensor.pointer(),
        dtype: tensor.dtype(),
        extents: tensor.shape().dims(),
    }
}

inventory::submit! { OpLauncher { launch: launch_op } }

#[cold]
fn invalid(message: String) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}
