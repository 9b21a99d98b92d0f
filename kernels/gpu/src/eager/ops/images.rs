//! Convolution, by the library for networks, and pooling.

use tfrt::prelude::*;
use tfrt_compute::convolution::{Padding, Window};
use tfrt_tensor::{Shape, Tensor};

use super::products::{Product, multiply};
use super::rearranging::{padded, transposed};
use super::{Channels, invalid};
use crate::api::DevicePtr;
use crate::api::dnn::{Convolution, ConvolutionKind, Descriptor};
use crate::api::handle::DescriptorHandle;
use crate::eager::call::{GpuCall, KernelArgument, operand};
use crate::eager::code::{Class, Code, Number};
use crate::eager::device::EagerGpu;
use crate::eager::layout::dense_strides;
use crate::enums::ForwardAlgorithm;
use crate::kernels::dnn::OwnedDescriptor;
use crate::values::DenseGpuTensor;

/// The environment variable with the algorithm of convolutions.
const ALGORITHM_VARIABLE: &str = "TFRT_DEBUG_DEFAULT_CONV_FWD_ALGO";

/// The library's number for an algorithm that takes no workspace.
const IMPLICIT_GEMM: i64 = 0;

/// The number of algorithms of the library.
const NUM_ALGORITHMS: i64 = 8;

/// The attributes that say how a window moves over images.
struct Moves {
    channels: Channels,
    windows: [Window; 2],
}

impl Moves {
    /// Reads the attributes of a call, for windows of `size` over images.
    fn of(call: &OpCall<'_>, dims: &[usize], size: Option<[usize; 2]>) -> Result<Self> {
        let attrs = call.attrs();
        let channels = Channels::of_format(attrs.get::<&str>("data_format"));
        let first = channels.first_spatial();
        if dims.len() != 4 {
            let message = format!("expected images with 4 dimensions, found {}", dims.len());
            return Err(invalid(message));
        }
        let spatial = |name: &str| -> Result<[usize; 2]> {
            let numbers = attrs.get::<&[i64]>(name).unwrap_or_default();
            let numbers = match *numbers {
                [] => [1, 1],
                [one] => [one, one],
                [rows, columns] => [rows, columns],
                [_, _, _, _] => [numbers[first], numbers[first + 1]],
                _ => return Err(invalid("strides should have 4 elements")),
            };
            let mut positive = [0; 2];
            for (positive, number) in positive.iter_mut().zip(numbers) {
                *positive = usize::try_from(number)
                    .ok()
                    .filter(|&number| number > 0)
                    .ok_or_else(|| {
                        invalid(format!(
                            "{name}: expected a positive number, found {number}"
                        ))
                    })?;
            }
            Ok(positive)
        };
        let size = match size {
            Some(size) => size,
            None => spatial("ksize")?,
        };
        let (strides, dilations) = (spatial("strides")?, spatial("dilations")?);
        let padding = attrs.get::<&str>("padding").unwrap_or("VALID");
        let explicit = attrs.get::<&[i64]>("explicit_paddings");
        let window = |dimension: usize| -> Result<Window> {
            let padding = match padding {
                text if text.eq_ignore_ascii_case("valid") => Padding::Valid,
                text if text.eq_ignore_ascii_case("same") => Padding::Same,
                text if text.eq_ignore_ascii_case("explicit") => {
                    let [before, after] = explicit_padding(explicit, first, dimension)?;
                    Padding::Explicit { before, after }
                }
                text => return Err(invalid(format!("Unknown padding type {text}"))),
            };
            Ok(Window::new(
                dims[first + dimension],
                size[dimension],
                strides[dimension],
                dilations[dimension],
                padding,
            )?)
        };
        Ok(Self {
            channels,
            windows: [window(0)?, window(1)?],
        })
    }

    /// Returns the extents of images of the outputs of the windows.
    fn output_dims(&self, batch: usize, depth: usize) -> [usize; 4] {
        let [rows, columns] = self.windows.each_ref().map(|window| window.output);
        match self.channels {
            Channels::First => [batch, depth, rows, columns],
            Channels::Last => [batch, rows, columns, depth],
        }
    }
}

fn explicit_padding(
    paddings: Option<&[i64]>,
    first: usize,
    dimension: usize,
) -> Result<[usize; 2]> {
    let paddings = paddings.ok_or_else(|| invalid("Missing 'explicit_paddings' attribute"))?;
    let pair = match paddings.len() {
        4 => &paddings[2 * dimension..][..2],
        8 => &paddings[2 * (first + dimension)..][..2],
        _ => return Err(invalid("Wrong 'explicit_paddings' attribute length")),
    };
    let extent = |number: i64| {
        usize::try_from(number)
            .map_err(|_| invalid(format!("expected a non-negative padding, found {number}")))
    };
    Ok([extent(pair[0])?, extent(pair[1])?])
}

/// Computes the convolution of images with a filter, whose dimensions are rows, columns, input and
/// output channels.
///
/// # Errors
/// `Unsupported type`; shapes that do not fit; those of the library.
#[tfrt_op("tf.Conv2D", raw, device = "gpu")]
fn conv_2d(call: &mut OpCall<'_>) -> Result<()> {
    let gpu = EagerGpu::of(call.device())?;
    let (x, filter) = (operand(call, gpu, 0)?, operand(call, gpu, 1)?);
    let &[rows, columns, depth, num_filters] = filter.shape().dims() else {
        return Err(invalid("Input and filter must have same rank."));
    };
    let dims = x.shape().dims();
    let moves = Moves::of(call, dims, Some([rows, columns]))?;
    let images = Images::of(dims, moves.channels);
    if images.depth != depth {
        return Err(invalid(format!(
            "Dimensions does not match: input channels is {} and kernel depth is {depth}",
            images.depth
        )));
    }
    if Number::of(x.dtype()).is_none() || filter.dtype() != x.dtype() {
        return Err(invalid("Unsupported type"));
    }
    let mut call = GpuCall::new(call)?;
    let y_dims = moves.output_dims(images.batch, num_filters);
    let y = call.allocate(x.dtype(), Shape::new(&y_dims)?)?;
    let has_work = y.num_elements() != 0;
    if has_work && (x.num_elements() == 0 || filter.num_elements() == 0) {
        return Err(invalid(
            "a convolution needs images and a filter with elements",
        ));
    }
    let is_product = moves.channels == Channels::Last
        && moves.windows.iter().all(|window| {
            (window.size, window.stride, window.before, window.after) == (1, 1, 0, 0)
        });
    if has_work && is_product {
        let product = Product {
            rows: y.num_elements() / num_filters,
            inner: depth,
            columns: num_filters,
            transposes: [false, false],
        };
        let pointers = [x.pointer(), filter.pointer(), y.pointer()];
        multiply(&call, &product, x.dtype(), pointers)?;
    } else if has_work {
        convolve(&call, x, filter, &y, &moves)?;
    }
    call.set_result(0, y);
    Ok(())
}

/// The extents of images that are not spatial.
struct Images {
    batch: usize,
    depth: usize,
}

impl Images {
    fn of(dims: &[usize], channels: Channels) -> Self {
        Self {
            batch: dims[0],
            depth: dims[channels.dimension(dims.len())],
        }
    }
}

/// Runs the library.
fn convolve(
    call: &GpuCall<'_, '_>,
    x: &DenseGpuTensor,
    filter: &DenseGpuTensor,
    y: &DenseGpuTensor,
    moves: &Moves,
) -> Result<()> {
    let (gpu, channels) = (call.gpu(), moves.channels);
    // The library pads both sides alike.
    let is_even = moves
        .windows
        .iter()
        .all(|window| window.before == window.after);
    let first = channels.first_spatial();
    let grown;
    let (x, pad) = if is_even {
        (x, moves.windows.each_ref().map(|window| window.before))
    } else {
        let mut paddings = [(0, 0); 4];
        for (padding, window) in paddings[first..].iter_mut().zip(&moves.windows) {
            *padding = (window.before, window.after);
        }
        grown = padded(call, x, &paddings)?;
        (&grown, [0, 0])
    };
    // Output channels, input channels, and the window; the channels last where those of images are.
    let order = match channels {
        Channels::First => [3, 2, 0, 1],
        Channels::Last => [3, 0, 1, 2],
    };
    let filter = transposed(call, filter, &order)?;
    let data_type = match x.dtype() {
        DType::F32 => 0,
        DType::F64 => 1,
        _ => 2,
    };
    let size = |number: usize| {
        i32::try_from(number).map_err(|_| invalid(format!("an extent is too large: {number}")))
    };
    let sizes = |numbers: &[usize]| -> Result<Vec<i32>> {
        numbers.iter().map(|&number| size(number)).collect()
    };
    // Descriptors list the channels before the window, wherever they are in memory.
    let by_channels = |dims: &[usize]| match channels {
        Channels::First => [dims[0], dims[1], dims[2], dims[3]],
        Channels::Last => [dims[0], dims[3], dims[1], dims[2]],
    };
    let dnn = &gpu.context().gpu().dnn;
    let describe = |descriptor: &Descriptor| OwnedDescriptor::new(gpu.context().gpu(), descriptor);
    let tensor = |tensor: &DenseGpuTensor| -> Result<OwnedDescriptor> {
        let dims = tensor.shape().dims();
        Ok(describe(&Descriptor::Tensor {
            data_type,
            dims: sizes(&by_channels(dims))?,
            strides: sizes(&by_channels(&dense_strides(dims)))?,
            is_vectorized: false,
        })?)
    };
    let of_filter = describe(&Descriptor::Filter {
        data_type,
        format: i32::from(channels == Channels::Last),
        dims: sizes(&by_channels(filter.shape().dims()))?,
    })?;
    let steps = |step: fn(&Window) -> usize| sizes(&moves.windows.each_ref().map(step));
    let descriptor = describe(&Descriptor::Convolution {
        // Numbers of 16 bits are summed with 32.
        compute_type: i32::from(x.dtype() == DType::F64),
        mode: 1,
        math_type: None,
        pad: sizes(&pad)?,
        stride: steps(|window| window.stride)?,
        dilation: steps(|window| window.dilation)?,
    })?;
    let (of_x, of_y) = (tensor(x)?, tensor(y)?);
    let operand = |of: &OwnedDescriptor,
                   tensor: &DenseGpuTensor|
     -> (DescriptorHandle, DevicePtr) { (of.handle(), tensor.pointer()) };
    let handle = gpu.dnn()?;
    let turn = gpu.stream().enter_library(gpu.context())?;
    let convolution = Convolution {
        kind: ConvolutionKind::Forward,
        first: operand(&of_x, x),
        second: operand(&of_filter, &filter),
        descriptor: descriptor.handle(),
        algorithm: algorithm()?,
        workspace: (DevicePtr::NULL, 0),
        result: operand(&of_y, y),
    };
    Ok(dnn.convolution(&turn, handle.handle(), &convolution)?)
}

/// Returns the algorithm of convolutions: the one that the environment names, or one that takes no
/// workspace.
fn algorithm() -> Result<i64> {
    match std::env::var(ALGORITHM_VARIABLE) {
        Ok(name) if !name.is_empty() => {
            // Stored numbers have the platform in their low bits.
            let known = (0..NUM_ALGORITHMS).filter_map(|number| {
                let stored = ForwardAlgorithm::from_stored(number << 2 | 1).ok()?;
                Some((number, stored.keyword()))
            });
            let mut found = known.filter(|(_, keyword)| *keyword == name);
            let number = found.next().map(|(number, _)| number);
            number.ok_or_else(|| {
                invalid(format!(
                    "expected an algorithm of convolutions in `{ALGORITHM_VARIABLE}`, found \
                     `{name}`"
                ))
            })
        }
        _ => Ok(IMPLICIT_GEMM),
    }
}

/// Returns the text of a kernel with a thread for each maximum. Its parameters are the number of
/// them, the addresses of the result and of the operand, the extents of the result, the strides of
/// the operand, and for each spatial dimension the size of a window, the distance to the next one,
/// the padding before the image, and the extent of the image.
fn max_pool_text(number: Number, first: usize) -> String {
    let (mut code, index) = Code::new();
    let (output, input) = (code.parameter(), code.parameter());
    let (dims, strides) = (code.parameters(4), code.parameters(4));
    let coordinates = code.coordinates(&index, &dims);
    let others = [0, if first == 1 { 3 } else { 1 }];
    let pick = |from: &[String]| others.map(|dimension| from[dimension].clone());
    let start = code.offset(&pick(&coordinates), &pick(&strides));
    let (class, ty) = (number.class(), number.computed());
    let greatest = code.register(class);
    let lowest = number.constant(f64::NEG_INFINITY);
    code.line(&format!("mov.{ty} {greatest}, {lowest};"));
    let mut ends = Vec::new();
    let mut offset = start;
    for dimension in [first, first + 1] {
        let (size, stride) = (code.parameter(), code.parameter());
        let (before, extent) = (code.parameter(), code.parameter());
        let corner = code.op(
            Class::Bits64,
            "mul.lo.u64",
            &[&coordinates[dimension], &stride],
        );
        let corner = code.op(Class::Bits64, "sub.u64", &[&corner, &before]);
        let step = code.register(Class::Bits64);
        code.line(&format!("mov.u64 {step}, 0;"));
        let (repeat, next, end) = (code.new_label(), code.new_label(), code.new_label());
        code.place(&repeat);
        let is_over = code.op(Class::Predicate, "setp.ge.u64", &[&step, &size]);
        code.line(&format!("@{is_over} bra {end};"));
        let position = code.op(Class::Bits64, "add.u64", &[&corner, &step]);
        // A position before the image is greater than any extent.
        let is_outside = code.op(Class::Predicate, "setp.ge.u64", &[&position, &extent]);
        code.line(&format!("@{is_outside} bra {next};"));
        offset = code.op(
            Class::Bits64,
            "mad.lo.u64",
            &[&position, &strides[dimension], &offset],
        );
        ends.push((step, repeat, next, end));
    }
    let x = code.load(number, &input, &offset);
    let is_greater = code.op(Class::Predicate, &format!("setp.gt.{ty}"), &[&x, &greatest]);
    code.line(&format!("@{is_greater} mov.{ty} {greatest}, {x};"));
    for (step, repeat, next, end) in ends.into_iter().rev() {
        code.place(&next);
        code.line(&format!("add.u64 {step}, {step}, 1;"));
        code.line(&format!("bra {repeat};"));
        code.place(&end);
    }
    code.store(number, &output, &index, &greatest);
    code.finish("max_pool")
}

/// Computes the maximum of each window.
///
/// # Errors
/// `Unsupported type`; `Padding not supported by cuDNN`; windows that do not fit.
#[tfrt_op("tf.MaxPool", raw, device = "gpu")]
fn max_pool(call: &mut OpCall<'_>) -> Result<()> {
    let x = operand(call, EagerGpu::of(call.device())?, 0)?;
    let moves = Moves::of(call, x.shape().dims(), None)?;
    if let Some(&[batch, first, _, last]) = call.attrs().get::<&[i64]>("ksize") {
        let channel = match moves.channels {
            Channels::First => first,
            Channels::Last => last,
        };
        if (batch, channel) != (1, 1) {
            return Err(invalid("Expected ksize 'NC' elements to be 1"));
        }
    }
    let is_supported = |window: &Window| [window.before, window.before + 1].contains(&window.after);
    if !moves.windows.iter().all(is_supported) {
        return Err(invalid("Padding not supported by cuDNN"));
    }
    let images = Images::of(x.shape().dims(), moves.channels);
    let number = Number::of(x.dtype()).ok_or_else(|| invalid("Unsupported type"))?;
    let mut call = GpuCall::new(call)?;
    let y_dims = moves.output_dims(images.batch, images.depth);
    let y = call.allocate(x.dtype(), Shape::new(&y_dims)?)?;
    if y.num_elements() != 0 {
        let first = moves.channels.first_spatial();
        let variant = (number as u64) << 8 | first as u64;
        let function = call
            .gpu()
            .kernel_of_key(("max_pool", variant), "max_pool", || {
                Ok(max_pool_text(number, first))
            })?;
        let mut arguments = vec![KernelArgument::from(&y), x.into()];
        let strides = dense_strides(x.shape().dims());
        let numbers = y_dims.iter().chain(&strides);
        arguments.extend(numbers.map(|&number| KernelArgument::from(number)));
        for window in &moves.windows {
            let numbers = [window.size, window.stride, window.before, window.input];
            arguments.extend(numbers.map(KernelArgument::from));
        }
        call.launch_function(&function, y.num_elements(), &arguments)?;
    }
    call.set_result(0, y);
    Ok(())
}
