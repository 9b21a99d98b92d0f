//! Functions of elements, with broadcasting.

use tfrt::core::metadata;
use tfrt::prelude::*;
use tfrt_tensor::{Shape, Tensor};

use super::{Channels, invalid, library};
use crate::eager::call::{GpuCall, KernelArgument};
use crate::eager::code::{Class, Code, Number};
use crate::eager::layout::{Layout, broadcast_strides};
use crate::values::DenseGpuTensor;

/// A function of elements.
#[derive(Clone, Copy, Debug)]
enum Map {
    Relu,
    Tanh,
    /// Converts, after clearing the bits of the mantissa that the result does not have if
    /// `truncates`.
    Cast {
        truncates: bool,
    },
    Add,
    /// `(x - mean) / √(variance + ε) · scale + bias`, plus another operand, then `max(0, …)`.
    Normalize {
        has_side: bool,
        is_relu: bool,
    },
}

impl Map {
    const fn number(self) -> u64 {
        match self {
            Self::Relu => 0,
            Self::Tanh => 1,
            Self::Cast { truncates } => 2 + truncates as u64,
            Self::Add => 4,
            Self::Normalize { has_side, is_relu } => 5 + has_side as u64 + 2 * is_relu as u64,
        }
    }
}

/// A kernel: the function, the types of its operands and its result, and the rank of their layout.
struct Kernel<'k> {
    map: Map,
    inputs: &'k [Number],
    output: Number,
    rank: usize,
}

impl Kernel<'_> {
    /// Returns a number that tells kernels apart.
    fn variant(&self) -> u64 {
        let mut variant = self.map.number();
        for part in [self.rank, self.output as usize, self.inputs.len()] {
            variant = variant << 8 | part as u64;
        }
        // Ranks are at most 8, as are the numbers of operands.
        self.inputs
            .iter()
            .fold(variant, |variant, input| variant << 2 | *input as u64)
    }

    /// Returns the text of the kernel. Its parameters are the number of elements, the addresses of
    /// the result and of the operands, the extents, the strides of each operand, and ε.
    fn text(&self) -> String {
        let (mut code, index) = Code::new();
        let output = code.parameter();
        let addresses = code.parameters(self.inputs.len());
        let dims = code.parameters(self.rank);
        let coordinates = code.coordinates(&index, &dims);
        let mut values = Vec::new();
        for (&number, address) in self.inputs.iter().zip(&addresses) {
            let strides = code.parameters(self.rank);
            let offset = code.offset(&coordinates, &strides);
            values.push(code.load(number, address, &offset));
        }
        let result = self.compute(&mut code, &values);
        code.store(self.output, &output, &index, &result);
        code.finish("element_wise")
    }

    fn compute(&self, code: &mut Code, values: &[String]) -> String {
        let (number, x) = (self.inputs[0], &values[0]);
        match self.map {
            Map::Relu => relu(code, number, x),
            Map::Tanh => {
                let wide = code.convert(x, number, Number::F64);
                let result = code.tanh(&wide);
                code.convert(&result, Number::F64, number)
            }
            Map::Cast { truncates } => {
                let x = match truncates {
                    true => truncate(code, x, number, self.output),
                    false => x.clone(),
                };
                code.convert(&x, number, self.output)
            }
            Map::Add => {
                let instruction = format!("add.rn.{}", number.computed());
                code.op(number.class(), &instruction, &[x, &values[1]])
            }
            Map::Normalize { has_side, is_relu } => self.normalize(code, values, has_side, is_relu),
        }
    }

    fn normalize(
        &self,
        code: &mut Code,
        values: &[String],
        has_side: bool,
        is_relu: bool,
    ) -> String {
        let number = self.inputs[0];
        let (ty, class) = (number.computed(), number.class());
        let epsilon = code.parameter();
        let epsilon = code.op(Class::F64, "mov.b64", &[&epsilon]);
        let epsilon = code.convert(&epsilon, Number::F64, number);
        let mut parts = values.iter().zip(self.inputs);
        let mut next = |code: &mut Code| {
            let (value, &from) = parts.next().expect("a normalization has five operands");
            code.convert(value, from, number)
        };
        let [x, scale, bias, mean, variance] = std::array::from_fn(|_| next(code));
        let sum = code.op(class, &format!("add.rn.{ty}"), &[&variance, &epsilon]);
        let root = code.op(class, &format!("sqrt.rn.{ty}"), &[&sum]);
        let factor = code.op(class, &format!("div.rn.{ty}"), &[&scale, &root]);
        let centred = code.op(class, &format!("sub.rn.{ty}"), &[&x, &mean]);
        let mut y = code.op(class, &format!("fma.rn.{ty}"), &[&centred, &factor, &bias]);
        if has_side {
            let side = next(code);
            y = code.op(class, &format!("add.rn.{ty}"), &[&y, &side]);
        }
        match is_relu {
            true => relu(code, number, &y),
            false => y,
        }
    }
}

/// Returns the greater of a number and zero. What is not a number stays.
fn relu(code: &mut Code, number: Number, x: &str) -> String {
    let (ty, zero) = (number.computed(), number.constant(0.0));
    let is_negative = code.op(Class::Predicate, &format!("setp.lt.{ty}"), &[x, &zero]);
    code.op(
        number.class(),
        &format!("selp.{ty}"),
        &[&zero, x, &is_negative],
    )
}

/// Clears the bits of the mantissa that another type does not have.
fn truncate(code: &mut Code, x: &str, from: Number, to: Number) -> String {
    let bits = |number| match number {
        Number::F16 => 10,
        Number::F32 => 23,
        Number::F64 => 52,
    };
    // Numbers of 16 bits are in registers of 32.
    let held = if from.class() == Class::F64 { 52 } else { 23 };
    let surplus = u32::saturating_sub(held, bits(to));
    if surplus == 0 || bits(from) <= bits(to) {
        return x.to_owned();
    }
    let (class, width) = match from.class() {
        Class::F64 => (Class::Bits64, "b64"),
        _ => (Class::Bits32, "b32"),
    };
    let mask = u64::MAX << surplus;
    let mask = if class == Class::Bits64 {
        mask
    } else {
        mask & 0xFFFF_FFFF
    };
    let held = code.op(class, &format!("mov.{width}"), &[x]);
    let kept = code.op(
        class,
        &format!("and.{width}"),
        &[&held, &format!("0x{mask:X}")],
    );
    code.op(from.class(), &format!("mov.{width}"), &[&kept])
}

/// Returns the type of a tensor's elements, or this error.
fn number(tensor: &DenseGpuTensor, message: impl FnOnce(DType) -> String) -> Result<Number> {
    Number::of(tensor.dtype()).ok_or_else(|| invalid(message(tensor.dtype())))
}

/// Runs a kernel on operands with these strides for the dimensions of the result.
fn run<const OPERANDS: usize>(
    call: &GpuCall<'_, '_>,
    map: Map,
    operands: [(&DenseGpuTensor, Number, Vec<usize>); OPERANDS],
    result: (&DenseGpuTensor, Number),
    scalars: &[KernelArgument],
) -> Result<()> {
    let (to, output) = result;
    if to.num_elements() == 0 {
        return Ok(());
    }
    let strides = operands.each_ref().map(|(_, _, strides)| &strides[..]);
    let layout = Layout::merged(to.shape().dims(), strides);
    let inputs = operands.each_ref().map(|&(_, number, _)| number);
    let kernel = Kernel {
        map,
        inputs: &inputs,
        output,
        rank: layout.dims.len(),
    };
    let function =
        call.gpu()
            .kernel_of_key(("element_wise", kernel.variant()), "element_wise", || {
                Ok(kernel.text())
            })?;
    let mut arguments = vec![KernelArgument::from(to)];
    arguments.extend(
        operands
            .iter()
            .map(|&(tensor, ..)| KernelArgument::from(tensor)),
    );
    let numbers = layout.dims.iter().chain(layout.strides.iter().flatten());
    arguments.extend(numbers.map(|&number| KernelArgument::from(number)));
    arguments.extend_from_slice(scalars);
    call.launch_function(&function, to.num_elements(), &arguments)
}

/// Runs a function of one operand.
fn run_unary(call: &mut OpCall<'_>, map: Map, message: fn(DType) -> String) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let number = number(x, message)?;
    let y = call.allocate(x.dtype(), x.shape().clone())?;
    let strides = broadcast_strides(x.shape().dims(), x.shape().dims());
    run(&call, map, [(x, number, strides)], (&y, number), &[])?;
    call.set_result(0, y);
    Ok(())
}

/// Computes `max(x, 0)` of each element.
///
/// # Errors
/// `Unsupported type: D`.
#[tfrt_op("tf.Relu", raw, device = "gpu", metadata = relu_metadata)]
fn relu_op(call: &mut OpCall<'_>) -> Result<()> {
    run_unary(call, Map::Relu, |dtype| {
        format!("Unsupported type: {dtype}")
    })
}

fn relu_metadata(query: &OpQuery<'_>) -> Result<TensorMetadata> {
    query.operand(0).cloned()
}

fn unexpected(_dtype: DType) -> String {
    "unexpected type for operation".to_owned()
}

/// Computes the hyperbolic tangent of each element.
///
/// # Errors
/// `unexpected type for operation`.
#[tfrt_op("tf.Tanh", raw, device = "gpu")]
fn tanh(call: &mut OpCall<'_>) -> Result<()> {
    run_unary(call, Map::Tanh, unexpected)
}

/// Converts elements between f16, f32 and f64. With `Truncate`, bits of the mantissa that the
/// result does not have are cleared first.
///
/// # Errors
/// `unexpected type for CastOp`.
#[tfrt_op("tf.Cast", raw, device = "gpu")]
fn cast(call: &mut OpCall<'_>) -> Result<()> {
    let dtype = call.result_metadata(0)?.dtype;
    let truncates = call.attrs().get::<bool>("Truncate").unwrap_or(false);
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let message = || "unexpected type for CastOp".to_owned();
    let from = number(x, |_| message())?;
    let to = Number::of(dtype).ok_or_else(|| invalid(message()))?;
    let y = call.allocate(dtype, x.shape().clone())?;
    let strides = broadcast_strides(x.shape().dims(), x.shape().dims());
    run(
        &call,
        Map::Cast { truncates },
        [(x, from, strides)],
        (&y, to),
        &[],
    )?;
    call.set_result(0, y);
    Ok(())
}

/// Computes `a + b`, with broadcasting. Integers wrap around.
///
/// # Errors
/// `unexpected type for operation`; shapes that cannot be broadcast.
#[tfrt_op("tf.AddV2", raw, device = "gpu")]
fn add(call: &mut OpCall<'_>) -> Result<()> {
    let dtype = call
        .argument(0)?
        .get::<DenseGpuTensor>()
        .map(DenseGpuTensor::dtype);
    if matches!(dtype, Some(DType::I32 | DType::I64)) {
        return library::add_integers(call);
    }
    let mut call = GpuCall::new(call)?;
    let (a, b) = (call.tensor(0)?, call.tensor(1)?);
    let told = metadata::broadcast(&Tensor::metadata(a), &Tensor::metadata(b))?;
    let sum = add_to_shape(&call, a, b, Shape::new(&told.extents)?, unexpected)?;
    call.set_result(0, sum);
    Ok(())
}

fn add_to_shape(
    call: &GpuCall<'_, '_>,
    a: &DenseGpuTensor,
    b: &DenseGpuTensor,
    shape: Shape,
    message: fn(DType) -> String,
) -> Result<DenseGpuTensor> {
    let number = number(a, message)?;
    let strides = [a, b].map(|side| broadcast_strides(side.shape().dims(), shape.dims()));
    let sum = call.allocate(a.dtype(), shape)?;
    let [of_a, of_b] = strides;
    let operands = [(a, number, of_a), (b, number, of_b)];
    run(call, Map::Add, operands, (&sum, number), &[])?;
    Ok(sum)
}

/// Adds a bias to each channel.
///
/// # Errors
/// `Unsupported type: D`; a bias that is not one number for each channel.
#[tfrt_op("tf.BiasAdd", raw, device = "gpu")]
fn bias_add(call: &mut OpCall<'_>) -> Result<()> {
    let format = call.attrs().get::<&str>("data_format").map(str::to_owned);
    let mut call = GpuCall::new(call)?;
    let (x, bias) = (call.tensor(0)?, call.tensor(1)?);
    if x.dtype() != bias.dtype() {
        return Err(invalid("incompatible dtypes for tf.BiasAdd"));
    }
    let channels = Channels::of_format(format.as_deref());
    let strides = channel_strides(x, bias, channels, "tf.BiasAdd")?;
    let number = number(x, |dtype| format!("Unsupported type: {dtype}"))?;
    let y = call.allocate(x.dtype(), x.shape().clone())?;
    let own = broadcast_strides(x.shape().dims(), x.shape().dims());
    let operands = [(x, number, own), (bias, number, strides)];
    run(&call, Map::Add, operands, (&y, number), &[])?;
    call.set_result(0, y);
    Ok(())
}

/// Returns the strides of a tensor with one number for each channel of another.
fn channel_strides(
    x: &DenseGpuTensor,
    parameter: &DenseGpuTensor,
    channels: Channels,
    op: &str,
) -> Result<Vec<usize>> {
    let (dims, found) = (x.shape().dims(), parameter.shape());
    let dimension = channels.dimension(dims.len().max(2));
    let fits = dims.len() >= 2 && found.dims() == [dims[dimension]];
    if !fits || x.dtype() != parameter.dtype() && parameter.dtype() != DType::F32 {
        return Err(invalid(format!(
            "`{op}`: expected one number for each channel of {}, found {}",
            Tensor::metadata(x),
            Tensor::metadata(parameter)
        )));
    }
    let mut strides = vec![0; dims.len()];
    strides[dimension] = 1;
    Ok(strides)
}

/// Normalizes each channel with given statistics. All results are this one tensor; only the first
/// is meaningful.
///
/// # Errors
/// `Unsupported type: D`; statistics that are not one number for each channel.
#[tfrt_op("tf.FusedBatchNormV3", raw, device = "gpu")]
fn fused_batch_norm(call: &mut OpCall<'_>) -> Result<()> {
    normalize(call, false)
}

/// Normalizes each channel with given statistics, and adds the side input if there is one. With the
/// `activation_mode` `Relu`, negative results become zero. All results are this one tensor; only
/// the first is meaningful.
///
/// # Errors
/// `Unknown FusedBatchNormActivationMode: M`; those of `tf.FusedBatchNormV3`.
#[tfrt_op("tf._FusedBatchNormEx", raw, device = "gpu")]
fn fused_batch_norm_ex(call: &mut OpCall<'_>) -> Result<()> {
    let is_relu = match call.attrs().get::<&str>("activation_mode") {
        None | Some("Identity") => false,
        Some("Relu") => true,
        Some(mode) => {
            let message = format!("Unknown FusedBatchNormActivationMode: {mode}");
            return Err(invalid(message));
        }
    };
    normalize(call, is_relu)
}

fn normalize(call: &mut OpCall<'_>, is_relu: bool) -> Result<()> {
    let attrs = call.attrs();
    let channels = Channels::of_format(attrs.get::<&str>("data_format"));
    let epsilon = attrs.get::<f32>("epsilon").map(f64::from);
    let epsilon = epsilon
        .or_else(|| attrs.get::<f64>("epsilon"))
        .unwrap_or(1e-5);
    let (op, num_results) = (call.name(), call.num_results());
    let has_side = call.arguments().len() > 5;
    let call = GpuCall::new(call)?;
    let x = call.tensor(0)?;
    let unsupported = |dtype| format!("Unsupported type: {dtype}");
    let of_x = number(x, unsupported)?;
    let own = broadcast_strides(x.shape().dims(), x.shape().dims());
    let parameter = |index: usize| {
        let parameter = call.tensor(index)?;
        let strides = channel_strides(x, parameter, channels, op)?;
        Ok::<_, Error>((parameter, number(parameter, unsupported)?, strides))
    };
    let [scale, bias] = [parameter(1)?, parameter(2)?];
    let [mean, variance] = [parameter(3)?, parameter(4)?];
    let y = call.allocate(x.dtype(), x.shape().clone())?;
    let scalars = [KernelArgument::Bits64(epsilon.to_bits())];
    let map = Map::Normalize { has_side, is_relu };
    let first = (x, of_x, own.clone());
    if has_side {
        let side = call.tensor(5)?;
        if side.shape() != x.shape() || side.dtype() != x.dtype() {
            return Err(invalid(
                "Input and side_input are expected to have the same shape",
            ));
        }
        let operands = [first, scale, bias, mean, variance, (side, of_x, own)];
        run(&call, map, operands, (&y, of_x), &scalars)?;
    } else {
        let operands = [first, scale, bias, mean, variance];
        run(&call, map, operands, (&y, of_x), &scalars)?;
    }
    let mut call = call;
    for index in 0..num_results {
        call.set_result(index, y.clone());
    }
    Ok(())
}
