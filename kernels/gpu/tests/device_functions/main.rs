//! Kernels of device functions, on host tensors and on the host device: the same bits.

mod axes;

mod grid;

use std::sync::Arc;

use tfrt::device::kernel::{FunctionKernel, linked};
use tfrt::device::math::erf;
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::testing::TestOutcome;
use tfrt_gpu::api::driver::CopyEndpoint;
use tfrt_gpu::device_functions::{GpuElements, launch};
use tfrt_gpu::enums::Platform;
use tfrt_gpu::executor;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;
use tfrt_gpu::values::{Allocator, Buffer, Stream};
use tfrt_tensor::{HostBuffer, Shape};

tfrt::link!(tfrt_kernels, tfrt_gpu);

/// The Gaussian error linear unit.
#[tfrt_kernel("test.gelu", elementwise)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// Returns `a * x + y`.
#[tfrt_kernel("test.axpy", elementwise)]
fn axpy(a: f32, x: f32, y: f32) -> f32 {
    a * x + y
}

/// Returns `x` where the condition is true, else `y`.
#[tfrt_kernel("test.select", elementwise)]
fn select(condition: bool, x: i64, y: i64) -> i64 {
    if condition { x } else { y }
}

/// Returns whether a number is close to zero.
#[tfrt_kernel("test.is_small", elementwise)]
fn is_small(x: f64) -> bool {
    x.abs() < 1e-3
}

/// Returns the sum of the squares.
#[tfrt_kernel("test.sum_of_squares", reduce(identity = 0.0, combine = add))]
fn square(x: f32) -> f32 {
    x * x
}

/// Returns the largest absolute value.
#[tfrt_kernel("test.largest", reduce(identity = 0.0, combine = max))]
fn size(x: f64) -> f64 {
    x.abs()
}

/// Returns the inner product.
#[tfrt_kernel("test.dot", reduce(identity = 0, combine = add))]
fn product(x: i32, y: i32) -> i32 {
    x * y
}

/// Returns the number with the larger size.
#[tfrt_device]
fn larger(a: f32, b: f32) -> f32 {
    if b.abs() > a.abs() { b } else { a }
}

/// Returns the number with the largest size.
#[tfrt_kernel("test.extreme", reduce(identity = -0.0, combine = larger))]
fn itself(x: f32) -> f32 {
    x
}

/// Returns whether all numbers are finite.
#[tfrt_kernel("test.all_finite", reduce(identity = true, combine = and))]
fn finite(x: f32) -> bool {
    x.is_finite()
}

fn kernel(name: &str) -> &'static FunctionKernel {
    linked().find(|kernel| kernel.name == name).unwrap()
}

/// A stream of a GPU on threads of this process.
struct Device {
    gpu: Arc<Gpu>,
    stream: Stream,
}

impl Device {
    fn open(options: Options) -> Self {
        let gpu = HostDevice::open(options);
        let stream = executor::create_stream(&gpu, Platform::Cuda, 0).unwrap();
        Self { gpu, stream }
    }

    fn allocate(&self, num_bytes: usize) -> Buffer {
        let allocator = Allocator::new(self.stream.context());
        allocator.allocate(num_bytes.max(1), &self.stream).unwrap()
    }

    fn copy(&self, target: &CopyEndpoint, source: &CopyEndpoint, num_bytes: usize) {
        if num_bytes > 0 {
            let current = self.stream.context().set_current().unwrap();
            let (driver, stream) = (&self.gpu.driver, self.stream.handle());
            driver
                .copy_async(&current, target, source, num_bytes, stream)
                .unwrap();
        }
    }

    fn upload(&self, tensor: &DenseHostTensor) -> Buffer {
        let num_bytes = tensor.buffer().len_bytes();
        let buffer = self.allocate(num_bytes);
        let target = CopyEndpoint::Device(buffer.pointer());
        let source = CopyEndpoint::Host(tensor.buffer().clone());
        self.copy(&target, &source, num_bytes);
        buffer
    }

    /// Runs a kernel, and returns the bytes of its result.
    fn run(
        &self,
        kernel: &'static FunctionKernel,
        operands: &[DenseHostTensor],
        result: &TensorMetadata,
    ) -> Result<Vec<u8>> {
        let buffers: Vec<Buffer> = operands.iter().map(|tensor| self.upload(tensor)).collect();
        let num_bytes = result.size_bytes().unwrap();
        let target = self.allocate(num_bytes);
        let operands: Vec<GpuElements<'_>> = operands
            .iter()
            .zip(&buffers)
            .map(|(tensor, buffer)| elements(buffer, tensor.dtype(), tensor.shape().dims()))
            .collect();
        let written = elements(&target, result.dtype, &result.extents);
        launch(kernel, &self.stream, &operands, &written)?;
        let back = host_bytes(num_bytes);
        let source = CopyEndpoint::Device(target.pointer());
        self.copy(&CopyEndpoint::Host(back.clone()), &source, num_bytes);
        self.stream.synchronize()?;
        Ok(back.read().unwrap().to_vec())
    }

    /// Launches a kernel that fails, and returns the error of the next synchronization.
    fn fault(
        &self,
        kernel: &'static FunctionKernel,
        operand: &DenseHostTensor,
        result: &TensorMetadata,
    ) -> Error {
        let (given, target) = (
            self.upload(operand),
            self.allocate(result.size_bytes().unwrap()),
        );
        let given = elements(&given, operand.dtype(), operand.shape().dims());
        let written = elements(&target, result.dtype, &result.extents);
        launch(kernel, &self.stream, &[given], &written).unwrap();
        self.stream.synchronize().unwrap_err().into()
    }
}

fn elements<'e>(buffer: &Buffer, dtype: DType, extents: &'e [usize]) -> GpuElements<'e> {
    GpuElements {
        pointer: buffer.pointer(),
        dtype,
        extents,
    }
}

fn host_bytes(num_bytes: usize) -> HostBuffer {
    let allocator: Arc<dyn tfrt::host::allocator::HostAllocator> =
        Arc::new(tfrt::host::allocator::Malloc);
    HostBuffer::zeroed(&allocator, num_bytes, 8).unwrap()
}

fn tensor<T: Element>(dims: &[usize], element: impl FnMut(usize) -> T) -> DenseHostTensor {
    let allocator: Arc<dyn tfrt::host::allocator::HostAllocator> =
        Arc::new(tfrt::host::allocator::Malloc);
    DenseHostTensor::from_fn(&allocator, Shape::new(dims).unwrap(), element).unwrap()
}

/// Runs the kernel for host tensors.
fn on_host(name: &str, operands: &[DenseHostTensor]) -> TestOutcome {
    let test = tfrt::testing::kernel(name);
    match operands {
        [a] => test.operands((a.clone(),)),
        [a, b] => test.operands((a.clone(), b.clone())),
        [a, b, c] => test.operands((a.clone(), b.clone(), c.clone())),
        _ => panic!("a kernel of the test has up to three operands"),
    }
    .run()
}

/// Compares a kernel for host tensors with the one for a GPU.
#[track_caller]
fn same(device: &Device, name: &str, operands: &[DenseHostTensor]) -> DenseHostTensor {
    let mut host = None;
    on_host(name, operands).with_value(0, |found: &DenseHostTensor| host = Some(found.clone()));
    let host = host.unwrap();
    let found = device
        .run(kernel(name), operands, &host.metadata())
        .unwrap();
    assert_eq!(*host.buffer().read().unwrap(), found[..], "{name}");
    host
}

fn ramp(index: usize) -> f32 {
    (index as f32 * 0.37 - 11.0) * 1.01_f32.powi((index % 97) as i32)
}

#[test]
fn element_wise_kernels_have_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    let x = tensor(&[10_007], ramp);
    let y = same(&device, "test.gelu", &[x]);
    assert_eq!(y.elements::<f32>().unwrap()[30], gelu(ramp(30)));
    let truths = tensor(&[2, 300], |index| tfrt_tensor::I1::from(index % 3 == 0));
    let numbers = |sign: i64| tensor(&[2, 300], move |index| sign * index as i64);
    let chosen = same(&device, "test.select", &[truths, numbers(1), numbers(-1)]);
    assert_eq!(chosen.elements::<i64>().unwrap()[2..4], [-2, 3]);
    let small = same(
        &device,
        "test.is_small",
        &[tensor(&[5], |index| index as f64 / 2e3)],
    );
    let found: Vec<bool> = small
        .elements::<tfrt_tensor::I1>()
        .unwrap()
        .iter()
        .map(|truth| bool::from(*truth))
        .collect();
    assert_eq!(found, [true, true, false, false, false]);
}

#[test]
fn operands_are_broadcast_on_both_devices() {
    let device = Device::open(Options::default());
    let shapes: &[[&[usize]; 3]] = &[
        [&[], &[7], &[7]],
        [&[1], &[3, 4], &[4]],
        [&[3, 1], &[1, 4], &[]],
        [&[2, 1, 5], &[3, 1], &[2, 3, 5]],
        [&[4, 1, 3, 1], &[2, 1, 2], &[1, 1, 3, 2]],
        [&[1, 600], &[2, 1], &[600]],
        [&[0, 3], &[1, 3], &[3]],
        [&[1], &[1, 1], &[]],
    ];
    for shapes in shapes {
        let operands = shapes.map(|dims| tensor(dims, |index| ramp(index + dims.len() * 17)));
        let result = same(&device, "test.axpy", &operands);
        if let Some(first) = result.elements::<f32>().unwrap().first() {
            let [a, x, y] = &operands;
            let first_of = |tensor: &DenseHostTensor| tensor.elements::<f32>().unwrap()[0];
            assert_eq!(*first, axpy(first_of(a), first_of(x), first_of(y)));
        }
    }
}

#[test]
fn reductions_have_the_same_bits_on_both_devices() {
    let device = Device::open(Options::default());
    for count in [0, 1, 255, 256, 257, 4096, 4097, 20_011] {
        let x = tensor(&[count], ramp);
        let sum = same(&device, "test.sum_of_squares", std::slice::from_ref(&x));
        let exact: f64 = (0..count).map(|index| f64::from(ramp(index)).powi(2)).sum();
        let found = f64::from(sum.to_scalar::<f32>().unwrap());
        assert!(
            (found - exact).abs() <= 1e-6 * exact,
            "{found} is not {exact}"
        );
        let extreme = same(&device, "test.extreme", std::slice::from_ref(&x));
        let sizes = (0..count).map(|index| ramp(index).abs());
        let largest = sizes.fold(0.0, f32::max);
        assert_eq!(extreme.to_scalar::<f32>().unwrap().abs(), largest);
        let finite = same(&device, "test.all_finite", std::slice::from_ref(&x));
        assert!(bool::from(finite.to_scalar::<tfrt_tensor::I1>().unwrap()));
    }
    let numbers = tensor(&[3, 5000], |index| index as i32 - 7000);
    let dot = same(&device, "test.dot", &[numbers.clone(), numbers]);
    let exact = (0..15_000)
        .map(|index| index - 7000)
        .fold(0, |sum: i32, x: i32| sum.wrapping_add(x.wrapping_mul(x)));
    assert_eq!(dot.to_scalar::<i32>().unwrap(), exact);
    let largest = same(
        &device,
        "test.largest",
        &[tensor(&[2, 9], |index| -(index as f64))],
    );
    assert_eq!(largest.to_scalar::<f64>().unwrap(), 17.0);
}

#[test]
fn operands_that_do_not_fit_are_errors() {
    let device = Device::open(Options::default());
    let floats = |dims: &[usize]| tensor(dims, ramp);
    let cases: Vec<(&str, Vec<DenseHostTensor>, &str)> = vec![
        (
            "test.axpy",
            vec![floats(&[2]), tensor(&[2], |_| 1_i32), floats(&[2])],
            "`test.axpy`: expected f32 for `x`, found i32",
        ),
        (
            "test.axpy",
            vec![floats(&[2]), floats(&[3]), floats(&[])],
            "`test.axpy`: expected equal extents or 1, found 2 and 3 in [2] and [3]",
        ),
        (
            "test.dot",
            vec![tensor(&[2], |_| 1_i32), tensor(&[1, 2], |_| 1_i32)],
            "`test.dot`: expected operands of one shape, found [2] and [1, 2]",
        ),
    ];
    for (name, operands, message) in cases {
        on_host(name, &operands).expect_error(message);
        let result = TensorMetadata::new(DType::F32, [2]);
        let error = device.run(kernel(name), &operands, &result).unwrap_err();
        assert_eq!(error.message(), message);
    }
    let x = floats(&[2]);
    let result = TensorMetadata::new(DType::F32, [3]);
    let error = device.run(kernel("test.gelu"), &[x], &result).unwrap_err();
    assert_eq!(
        error.message(),
        "`test.gelu`: expected a result f32 [2], found f32 [3]"
    );
    let error = device.run(kernel("test.gelu"), &[], &result).unwrap_err();
    assert_eq!(error.message(), "`test.gelu`: expected 1 operands, found 0");
}

#[test]
fn a_result_may_take_the_place_of_an_operand_of_its_shape_only() {
    let device = Device::open(Options::default());
    let x = tensor(&[4], ramp);
    let buffer = device.upload(&x);
    let whole = elements(&buffer, DType::F32, &[4]);
    launch(kernel("test.gelu"), &device.stream, &[whole], &whole).unwrap();
    let back = host_bytes(16);
    let source = CopyEndpoint::Device(buffer.pointer());
    device.copy(&CopyEndpoint::Host(back.clone()), &source, 16);
    device.stream.synchronize().unwrap();
    let expected: Vec<u8> = (0..4)
        .flat_map(|index| gelu(ramp(index)).to_le_bytes())
        .collect();
    assert_eq!(*back.read().unwrap(), expected);

    let first = elements(&buffer, DType::F32, &[]);
    let operands = [first, whole, whole];
    let error = launch(kernel("test.axpy"), &device.stream, &operands, &whole).unwrap_err();
    assert!(
        error
            .message()
            .starts_with("`test.axpy`: the result overlaps the operand `a`"),
        "{error}"
    );
    let error = launch(
        kernel("test.sum_of_squares"),
        &device.stream,
        &[whole],
        &first,
    );
    assert_eq!(
        error.unwrap_err().message(),
        "`test.sum_of_squares`: the result overlaps an operand"
    );
}

#[test]
fn failures_of_the_driver_are_errors_and_leave_nothing_behind() {
    for (function, status, said) in [
        ("cuModuleLoadDataEx", 218, "cuModuleLoadDataEx"),
        ("cuModuleGetFunction", 500, "cuModuleGetFunction"),
        ("cuLaunchKernel", 1, "cuLaunchKernel"),
        ("cuMemAlloc", 2, "Out of memory"),
    ] {
        let counts = if function == "cuMemAlloc" { 3..4 } else { 1..3 };
        for count in counts {
            let device = Device::open(Options {
                failures: vec![(function.to_owned(), count, status)],
                ..Options::default()
            });
            let x = tensor(&[5000], ramp);
            let result = TensorMetadata::new(DType::F32, []);
            let run = || {
                device.run(
                    kernel("test.sum_of_squares"),
                    std::slice::from_ref(&x),
                    &result,
                )
            };
            let error = run().unwrap_err();
            assert!(error.message().contains(said), "{function}: {error}");
            assert_eq!(run().unwrap().len(), 4, "{function}");
        }
    }
}

const PROGRAM: &str = r#"
    func.func @main() -> (i32, i32, i32) {
      %ch0 = tfrt.new.chain
      %zero = tfrt.constant.i32 0
      %device = tfrt_gpu.device.get CUDA, %zero
      %context = tfrt_gpu.context.primary %device
      %stream = tfrt_gpu.stream.create %context
      %size = tfrt.constant.i64 16
      %x = tfrt_gpu.mem.allocate_host %context, %size, %ch0
      %y = tfrt_gpu.mem.allocate_host %context, %size, %ch0
      %two = tfrt.constant.f32 2.0
      %three = tfrt.constant.f32 3.0
      %ch1 = tfrt_gpu.mem.set %x, %two, %stream, %ch0 : f32
      %ch2 = tfrt_gpu.mem.set %y, %three, %stream, %ch1 : f32
      %ch3 = "test.axpy.gpu"(%stream, %x, %y, %x, %y, %ch2)
        : (!tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt.chain) -> !tfrt.chain
      %four = tfrt.constant.i64 4
      %sum = tfrt_gpu.mem.allocate_host %context, %four, %ch0
      %shape = ts.build_shape [2 : i64, 2 : i64]
      %tensor = tfrt_gpu.tensor.make.f32 %y, %shape, %ch3
      %ch4 = "test.sum_of_squares.gpu"(%stream, %tensor, %sum, %ch3)
        : (!tfrt_gpu.stream, !t.tensor, !tfrt_gpu.buffer, !tfrt.chain) -> !tfrt.chain
      %ch5 = tfrt_gpu.stream.synchronize %stream, %ch4
      %first = tfrt_gpu.mem.load %y, %ch5 : i32
      %found = tfrt_gpu.mem.load %sum, %ch5 : i32
      %ch6 = "test.gelu.gpu"(%stream, %x, %sum, %ch5)
        : (!tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, !tfrt.chain) -> !tfrt.chain
      %ch7 = tfrt_gpu.stream.synchronize %stream, %ch6
      %failed = tfrt_gpu.mem.load %sum, %ch7 : i32
      tfrt.return %first, %found, %failed : i32, i32, i32
    }"#;

#[test]
fn programs_launch_kernels_on_buffers_and_tensors() {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let file = tfrt::text::compile(PROGRAM, "program.mlir", &kernels).unwrap();
    let host = HostContext::builder().registry(kernels).build();
    Gpu::install(&host, HostDevice::open(Options::default()));
    let program = Program::load(&host, &file).unwrap();
    let main = program.function("main").unwrap();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
    let [first, sum, failed] = main.execute_array(&ctx, &[]);
    host.await_available(&[first.clone(), sum.clone(), failed.clone()])
        .unwrap();
    let bits = |number: f32| Some(number.to_bits().cast_signed());
    // 2 * 3 + 2, and four squares of it.
    assert_eq!(first.get::<i32>().copied(), bits(8.0));
    assert_eq!(sum.get::<i32>().copied(), bits(256.0));
    let error = failed.error_if_present().unwrap();
    assert_eq!(
        error.message(),
        "`test.gelu`: expected a buffer for the result f32 [4], found one of 4 bytes"
    );
    assert_eq!(error.kernel(), Some("test.gelu.gpu"));
}

/// Returns the logistic function.
#[tfrt_op("test.Logistic", elementwise, function = logistic_of)]
fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[test]
fn an_op_of_a_device_function_is_called_one_by_one_and_on_streams() {
    let host = HostContext::builder()
        .registry(KernelRegistry::from_link().unwrap().into())
        .build();
    let eager = tfrt::core::EagerContext::builder(host).build().unwrap();
    let x = eager.tensor([0.0_f32, 2.0]).unwrap();
    let y = logistic_of(&eager, &x).unwrap();
    let expected = [logistic(0.0), logistic(2.0)];
    assert_eq!(eager.to_vec::<f32>(&y).unwrap(), expected);
    let refused = eager.op("test.Logistic").unwrap();
    let refused = refused.call(&[&eager.tensor([1]).unwrap()]).unwrap_err();
    assert_eq!(
        refused.message(),
        "`test.Logistic`: expected f32 for `x`, found i32"
    );
    let device = Device::open(Options::default());
    same(&device, "test.Logistic", &[tensor(&[2], ramp)]);
}

/// Returns the sum of products.
#[tfrt_op("test.Dot", "test.InnerProduct", reduce(identity = 0.0, combine = add))]
fn times(x: f32, y: f32) -> f32 {
    x * y
}

#[test]
fn ops_of_device_functions_run_on_gpus_one_by_one() {
    let host = HostContext::builder()
        .registry(KernelRegistry::from_link().unwrap().into())
        .build();
    Gpu::install(&host, HostDevice::open(Options::default()));
    let gpu = host.device("GPU:0").unwrap().0;
    let eager = tfrt::core::EagerContext::builder(host)
        .device(gpu)
        .build()
        .unwrap();
    let numbers: Vec<f32> = (0..6000).map(ramp).collect();
    let x = eager.tensor(&numbers[..]).unwrap();
    let on_gpu = eager.copy_to(&x, "GPU:0").unwrap();
    let call = |op: &str, operands: &[&tfrt::core::TensorHandle]| {
        let found = eager.op(op).unwrap().call(operands)?;
        let place = found.device().unwrap().0.name().to_owned();
        Ok::<_, Error>((place, eager.to_vec::<f32>(&found)?))
    };
    let (place, expected) = call("test.Logistic", &[&x]).unwrap();
    assert_eq!(place, "CPU:0");
    let (place, found) = call("test.Logistic", &[&on_gpu]).unwrap();
    assert_eq!(place, "GPU:0");
    assert_eq!(found, expected);
    let (_, expected) = call("test.InnerProduct", &[&x, &x]).unwrap();
    let (place, found) = call("test.Dot", &[&on_gpu, &on_gpu]).unwrap();
    assert_eq!((place.as_str(), found), ("GPU:0", expected));
    let wrong = eager
        .copy_to(&eager.tensor([1, 2]).unwrap(), "GPU:0")
        .unwrap();
    let error = call("test.Logistic", &[&wrong]).unwrap_err();
    assert_eq!(
        error.message(),
        "`test.Logistic`: expected f32 for `x`, found i32"
    );
}
