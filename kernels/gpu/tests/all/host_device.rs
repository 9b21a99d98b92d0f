//! The host device through its interface, and programs on it whose calls fail.

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_gpu::api::driver::{Argument, CopyEndpoint, LaunchConfig};
use tfrt_gpu::api::{Current, Status};
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;
use tfrt_tensor::HostBuffer;

tfrt::link!(tfrt_kernels, tfrt_gpu);

/// Returns a device with a current context.
fn open() -> (Arc<Gpu>, Current) {
    open_with(Options::default())
}

fn open_with(options: Options) -> (Arc<Gpu>, Current) {
    let gpu = HostDevice::open(options);
    gpu.driver.init().unwrap();
    let device = gpu.driver.device(0).unwrap();
    let context = gpu.driver.primary_context_retain(device).unwrap();
    let current = Current::set(&*gpu.driver, context).unwrap();
    (gpu, current)
}

fn zeroed(num_bytes: usize) -> HostBuffer {
    let allocator: Arc<dyn tfrt::host::allocator::HostAllocator> =
        Arc::new(tfrt::host::allocator::Malloc);
    HostBuffer::zeroed(&allocator, num_bytes, 8).unwrap()
}

const SPIN: &str = "
    .version 7.0
    .target sm_60
    .address_size 64
    .visible .entry spin(.param .u64 p) {
        LOOP: bra LOOP;
    }
    .visible .entry count(.param .u64 p) {
        .reg .b64 %rd<2>;
        .reg .b32 %r<2>;
        ld.param.u64 %rd1, [p];
        atom.global.add.u32 %r1, [%rd1], 1;
        ret;
    }\0";

const ONE: LaunchConfig = LaunchConfig {
    grid: [1, 1, 1],
    block: [1, 1, 1],
    shared_bytes: 0,
};

#[test]
fn calls_before_initialization_and_of_unknown_handles_are_errors() {
    let gpu = HostDevice::open(Options::default());
    let error = gpu.driver.device(0).unwrap_err();
    assert_eq!(error.status, Status::NOT_INITIALIZED);
    let (gpu, current) = open();
    let stream = gpu.driver.stream_create(&current).unwrap();
    gpu.driver.stream_destroy(stream).unwrap();
    let error = gpu.driver.stream_synchronize(stream).unwrap_err();
    assert_eq!(error.status, Status::INVALID_HANDLE);
    let pointer = gpu.driver.memory_allocate(&current, 16).unwrap();
    gpu.driver.memory_free(pointer).unwrap();
    let error = gpu.driver.memory_free(pointer).unwrap_err();
    assert_eq!(error.status, Status::INVALID_VALUE);
}

#[test]
fn an_access_to_freed_memory_makes_the_context_unusable() {
    let (gpu, current) = open();
    let stream = gpu.driver.stream_create(&current).unwrap();
    let pointer = gpu.driver.memory_allocate(&current, 16).unwrap();
    gpu.driver.memory_free(pointer).unwrap();
    let fill = gpu.driver.set_u32_async(&current, pointer, 1, 4, stream);
    fill.expect("the fault comes later");
    let error = gpu.driver.stream_synchronize(stream).unwrap_err();
    assert_eq!(error.status, Status::ILLEGAL_ADDRESS);
    assert!(error.details.contains("was freed"), "{error}");
    let error = gpu.driver.memory_allocate(&current, 16).unwrap_err();
    assert_eq!(error.status, Status::ILLEGAL_ADDRESS);
}

#[test]
fn an_endless_kernel_times_out() {
    let (gpu, current) = open_with(Options {
        max_steps: 10_000,
        ..Options::default()
    });
    let driver = &gpu.driver;
    let stream = driver.stream_create(&current).unwrap();
    let module = driver.module_load(&current, SPIN.as_bytes()).unwrap();
    let spin = driver.module_function(module, "spin").unwrap();
    let pointer = driver.memory_allocate(&current, 16).unwrap();
    let arguments = [Argument::Pointer(pointer)];
    driver
        .launch(&current, spin, ONE, stream, &arguments)
        .unwrap();
    let error = driver.stream_synchronize(stream).unwrap_err();
    assert_eq!(error.status, Status::LAUNCH_TIMEOUT);
    assert!(error.details.contains("spin"), "{error}");
}

#[test]
fn work_on_two_streams_is_ordered_by_events_alone() {
    let (gpu, current) = open();
    let driver = &gpu.driver;
    let streams = [
        driver.stream_create(&current).unwrap(),
        driver.stream_create(&current).unwrap(),
    ];
    let module = driver.module_load(&current, SPIN.as_bytes()).unwrap();
    let count = driver.module_function(module, "count").unwrap();
    let pointer = driver.memory_allocate(&current, 4).unwrap();
    driver
        .set_u32_async(&current, pointer, 0, 1, streams[0])
        .unwrap();
    let event = driver.event_create(&current, false).unwrap();
    for round in 0..50 {
        let (one, other) = (streams[round % 2], streams[(round + 1) % 2]);
        let arguments = [Argument::Pointer(pointer)];
        driver
            .launch(&current, count, ONE, one, &arguments)
            .unwrap();
        driver.event_record(event, one).unwrap();
        driver.stream_wait_event(other, event).unwrap();
    }
    let host = zeroed(4);
    let target = CopyEndpoint::Host(host.clone());
    let source = CopyEndpoint::Device(pointer);
    driver
        .copy_async(&current, &target, &source, 4, streams[0])
        .unwrap();
    driver.stream_synchronize(streams[0]).unwrap();
    assert_eq!(*host.read().unwrap(), 50_u32.to_le_bytes());
}

#[test]
fn a_copy_keeps_its_host_buffer_until_it_is_done() {
    let (gpu, current) = open();
    let driver = &gpu.driver;
    let stream = driver.stream_create(&current).unwrap();
    let pointer = driver.memory_allocate(&current, 8).unwrap();
    let mut source = zeroed(8);
    source.write().unwrap().fill(7);
    let target = CopyEndpoint::Device(pointer);
    driver
        .copy_async(&current, &target, &CopyEndpoint::Host(source), 8, stream)
        .unwrap();
    let back = zeroed(8);
    let host = CopyEndpoint::Host(back.clone());
    driver
        .copy_async(&current, &host, &target, 8, stream)
        .unwrap();
    driver.stream_synchronize(stream).unwrap();
    assert_eq!(*back.read().unwrap(), [7; 8]);
    // Nothing but this handle is left.
    drop(host);
    assert!(back.is_exclusive());
}

#[test]
fn a_destroyed_context_names_what_is_left_in_it() {
    let (gpu, _) = open();
    let driver = &gpu.driver;
    let context = driver.context_create(driver.device(0).unwrap()).unwrap();
    let current = Current::set(&**driver, context).unwrap();
    driver.stream_create(&current).unwrap();
    driver.memory_allocate(&current, 4).unwrap();
    let error = driver.context_destroy(context).unwrap_err().to_string();
    assert!(error.contains("has dangling resources: "), "{error}");
    assert!(
        error.contains("(stream)") && error.contains("(device memory)"),
        "{error}"
    );
}

const PROGRAM: &str = "
    func.func @main(%tensor: !t.tensor) -> (!tfrt.chain, i32) {
      %ch = tfrt.new.chain
      %zero = tfrt.constant.i32 0
      %device = tfrt_gpu.device.get CUDA, %zero
      %context = tfrt_gpu.context.create %device
      %allocator = tfrt_gpu.allocator.create %context
      %stream = tfrt_gpu.stream.create %context
      %size = tfrt.constant.i64 16
      %buffer = tfrt_gpu.mem.allocate %allocator, %stream, %size, %ch
      %pinned = tfrt_gpu.mem.allocate_host %context, %size, %ch
      %host, %ch0 = tfrt_dht.get_buffer %tensor, %ch
      %registered = tfrt_gpu.mem.register %context, %host
      %ch1 = tfrt_gpu.mem.set %registered, %zero, %stream, %ch0 : i32
      %ch2 = tfrt_gpu.mem.copy %buffer, %registered, %stream, %ch1 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
      %module = tfrt_gpu.module.load %context {data = \".version 7.0\\0A.target sm_60\\0A.address_size 64\\0A.visible .entry nop(.param .u64 p) { ret; }\\00\"}
      %function = tfrt_gpu.module.get_function %module {name = \"nop\"}
      %one = tfrt.constant.ui64 1
      %shared = tfrt.constant.ui32 0
      %ch3 = tfrt_gpu.function.launch %stream, %function, blocks in (%one, %one, %one), threads in (%one, %one, %one), %shared, %ch2, args(%buffer) : (!tfrt_gpu.buffer)
      %blas = tfrt_gpu.blas.create %context
      %four = tfrt.constant.i32 4
      %inc = tfrt.constant.i32 1
      %alpha = tfrt.constant.f32 1.0
      %ch4 = tfrt_gpu.blas.scal %blas, %stream, %four, %alpha, CUDA_R_32F, %buffer, CUDA_R_32F, %inc, CUDA_R_32F, %ch3
      %event = tfrt_gpu.event.create %context
      %ch5 = tfrt_gpu.event.record %event, %stream, %ch4
      %ch6 = tfrt_gpu.stream.wait %stream, %event, %ch5
      %ch7 = tfrt_gpu.event.synchronize %event, %ch6
      %ch8 = tfrt_gpu.mem.copy %pinned, %buffer, %stream, %ch7 : !tfrt_gpu.buffer, !tfrt_gpu.buffer
      %ch9 = tfrt_gpu.stream.synchronize %stream, %ch8
      %found = tfrt_gpu.mem.load %pinned, %ch9 : i32
      tfrt.return %ch9, %found : !tfrt.chain, i32
    }";

/// Runs the program with calls that fail, and returns what the first result failed with.
fn run_with(failures: Vec<(String, u64, u32)>) -> Option<String> {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let file = tfrt::text::compile(PROGRAM, "program.mlir", &kernels)
        .unwrap_or_else(|errors| panic!("{errors}"));
    let host = HostContext::builder()
        .registry(kernels)
        .diagnostic_handler(|_| {})
        .build();
    let options = Options {
        failures,
        ..Options::default()
    };
    assert!(Gpu::install(&host, HostDevice::open(options)));
    let program = Program::load(&host, &file).unwrap();
    let tensor = DenseHostTensor::filled(
        host.allocator(),
        tfrt_tensor::Shape::new(&[4]).unwrap(),
        1.0_f32,
    );
    let tensor = AnyRef::available(tensor.unwrap());
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host.clone()).build());
    let results = program.function("main").unwrap().execute(&ctx, &[tensor]);
    host.await_available(&results).unwrap();
    let error = results.iter().find_map(|result| result.error_if_present());
    error.map(|error| error.message().to_owned())
}

#[test]
fn each_call_that_fails_is_the_error_of_its_kernel() {
    assert_eq!(run_with(Vec::new()), None);
    for function in [
        "cuInit",
        "cuDeviceGet",
        "cuCtxCreate",
        "cuStreamCreate",
        "cuMemAlloc",
        "cuMemHostAlloc",
        "cuMemHostRegister",
        "cuMemsetD32Async",
        "cuMemcpyAsync",
        "cuModuleLoadDataEx",
        "cuModuleGetFunction",
        "cuLaunchKernel",
        "cuEventCreate",
        "cuEventRecord",
        "cuStreamWaitEvent",
        "cuEventQuery",
        "cuStreamSynchronize",
        "cuPointerGetAttribute",
    ] {
        let error = run_with(vec![(function.to_owned(), 1, 999)]);
        let error = error.unwrap_or_else(|| panic!("{function} did not fail"));
        assert!(error.contains("CUDA_ERROR_UNKNOWN"), "{error}");
        assert!(
            error.starts_with(&format!("'{function}")),
            "{function}: {error}"
        );
    }
    for function in ["cublasCreate", "cublasSetStream", "cublasScalEx"] {
        let error = run_with(vec![(function.to_owned(), 1, 13)]).unwrap_or_default();
        assert!(error.starts_with(&format!("'{function}")), "{error}");
        assert!(error.ends_with("CUBLAS_STATUS_EXECUTION_FAILED"), "{error}");
    }
}
