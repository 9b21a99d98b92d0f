//! Captures of streams on the host device, and functions that run as graphs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tfrt::executor::Program;
use tfrt::host::{RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_gpu::api::driver::CopyEndpoint;
use tfrt_gpu::api::{Current, DevicePtr, Status, StreamHandle};
use tfrt_gpu::enums::Platform;
use tfrt_gpu::executor;
use tfrt_gpu::graphs;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;
use tfrt_tensor::HostBuffer;

tfrt::link!(tfrt_kernels, tfrt_gpu);

struct Device {
    device: Arc<HostDevice>,
    gpu: Arc<Gpu>,
}

fn device() -> Device {
    let device = HostDevice::new(Options::default());
    let gpu = HostDevice::gpu(&device);
    gpu.driver.init().unwrap();
    Device { device, gpu }
}

/// Waits for a thread that drops objects.
fn wait_until(is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < end, "something is left");
        std::thread::yield_now();
    }
}

/// Calls `test` with a context, a stream and eight words of memory.
fn with_memory(test: impl FnOnce(&Gpu, &Current, StreamHandle, DevicePtr)) {
    let Device { device, gpu } = device();
    let driver = &gpu.driver;
    let context = driver.context_create(driver.device(0).unwrap()).unwrap();
    let current = Current::set(&**driver, context).unwrap();
    let stream = driver.stream_create(&current).unwrap();
    let memory = driver.memory_allocate(&current, 32).unwrap();
    test(&gpu, &current, stream, memory);
    driver.memory_free(memory).unwrap();
    driver.stream_destroy(stream).unwrap();
    driver.context_destroy(context).unwrap();
    assert_eq!(device.num_live(), 0);
}

fn first_word(gpu: &Gpu, current: &Current, stream: StreamHandle, memory: DevicePtr) -> u32 {
    let target = HostBuffer::zeroed(&allocator(), 4, 4).unwrap();
    let (to, from) = (
        CopyEndpoint::Host(target.clone()),
        CopyEndpoint::Device(memory),
    );
    gpu.driver
        .copy_async(current, &to, &from, 4, stream)
        .unwrap();
    gpu.driver.stream_synchronize(stream).unwrap();
    let bytes = target.read().unwrap();
    u32::from_le_bytes(bytes[..4].try_into().unwrap())
}

fn allocator() -> Arc<dyn tfrt::host::allocator::HostAllocator> {
    Arc::new(tfrt::host::allocator::Malloc)
}

#[test]
fn captured_work_runs_when_the_graph_is_launched() {
    with_memory(|gpu, current, stream, memory| {
        let driver = &gpu.driver;
        let private = driver.stream_create(current).unwrap();
        driver.set_u32_async(current, memory, 1, 8, stream).unwrap();
        driver.capture_begin(current, private).unwrap();
        driver
            .set_u32_async(current, memory, 7, 8, private)
            .unwrap();
        let graph = driver.capture_end(current, private).unwrap();
        assert_eq!(first_word(gpu, current, stream, memory), 1);
        for _ in 0..2 {
            driver.graph_launch(current, graph, stream).unwrap();
            assert_eq!(first_word(gpu, current, stream, memory), 7);
            driver.set_u32_async(current, memory, 1, 8, stream).unwrap();
        }
        // The stream of the capture works as before. It does not wait for the other one.
        driver.stream_synchronize(stream).unwrap();
        driver
            .set_u32_async(current, memory, 9, 8, private)
            .unwrap();
        assert_eq!(first_word(gpu, current, private, memory), 9);
        driver.graph_destroy(graph).unwrap();
        driver.stream_destroy(private).unwrap();
        let gone = driver.graph_launch(current, graph, stream).unwrap_err();
        assert_eq!(gone.status, Status::INVALID_HANDLE);
    });
}

#[test]
fn a_capture_refuses_what_a_graph_cannot_contain() {
    with_memory(|gpu, current, stream, memory| {
        let driver = &gpu.driver;
        let unsupported = Status::STREAM_CAPTURE_UNSUPPORTED;
        let refuse = |call: &dyn Fn(StreamHandle) -> Option<Status>, reason: &str| {
            let private = driver.stream_create(current).unwrap();
            driver.capture_begin(current, private).unwrap();
            assert!(call(private).is_none_or(|status| status == unsupported));
            let refused = driver.capture_end(current, private).unwrap_err();
            assert_eq!((refused.status, &*refused.details), (unsupported, reason));
            driver.stream_destroy(private).unwrap();
        };
        let status = |result: Result<(), tfrt_gpu::api::GpuError>| Some(result.unwrap_err().status);
        refuse(
            &|private| status(driver.stream_synchronize(private)),
            "cuStreamSynchronize(stream)",
        );
        refuse(
            &|_| status(driver.memory_allocate(current, 4).map(drop)),
            "cuMemAlloc(&ptr, size)",
        );
        refuse(&|_| status(driver.memory_free(memory)), "cuMemFree(ptr)");
        refuse(
            &|private| {
                let source = HostBuffer::zeroed(&allocator(), 4, 4).unwrap();
                let (to, from) = (CopyEndpoint::Device(memory), CopyEndpoint::Host(source));
                driver.copy_async(current, &to, &from, 4, private).unwrap();
                None
            },
            "a copy from or to host memory",
        );
        // Nothing of it has run, and the thread may allocate again.
        assert_eq!(first_word(gpu, current, stream, memory), u32::MAX);
        let unmatched = driver.capture_end(current, stream).unwrap_err();
        assert_eq!(unmatched.status, Status::STREAM_CAPTURE_UNMATCHED);
    });
}

#[test]
fn kept_objects_live_as_long_as_the_graph() {
    with_memory(|gpu, current, stream, _| {
        let driver = &gpu.driver;
        let object = Arc::new(());
        let private = driver.stream_create(current).unwrap();
        driver.capture_begin(current, private).unwrap();
        let kept = Box::new(Arc::clone(&object));
        driver.keep_until_passed(private, kept).unwrap();
        let graph = driver.capture_end(current, private).unwrap();
        driver.graph_launch(current, graph, stream).unwrap();
        driver.stream_synchronize(stream).unwrap();
        assert_eq!(Arc::strong_count(&object), 2);
        driver.graph_destroy(graph).unwrap();
        wait_until(|| Arc::strong_count(&object) == 1);
        driver.stream_destroy(private).unwrap();
    });
}

const PROGRAM: &str = r#"
    func.func @fill(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %value: i32, %b: !tfrt_gpu.buffer) -> !tfrt.chain {
      %ch0 = tfrt_gpu.mem.set %b, %value, %s, %ch : i32
      tfrt.return %ch0 : !tfrt.chain
    }
"#;

#[test]
fn each_list_of_arguments_has_a_graph_up_to_a_number() {
    let Device { device, gpu } = device();
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let file = tfrt::text::compile(PROGRAM, "program.mlir", &kernels).unwrap();
    let host = HostContext::builder()
        .registry(kernels)
        .queue(create_queue("s").unwrap())
        .build();
    let program = Program::load(&host, &file).unwrap();
    let fill = program.function("fill").unwrap();
    let resources = Arc::new(ResourceContext::new());
    let request = RequestContextBuilder::new(Arc::clone(&host));
    let ctx = ExecutionContext::new(request.resources(Arc::clone(&resources)).build());

    let stream = executor::create_stream(&gpu, Platform::Cuda, 0).unwrap();
    let buffer = executor::allocate_buffer(&stream, 4).unwrap();
    let buffer = AnyRef::available(buffer);
    let call = |value: i32| {
        let arguments = [AnyRef::available(value), buffer.clone()];
        let chain = graphs::execute(&fill, &ctx, &stream, &arguments).unwrap();
        assert!(chain.is_available() && !chain.is_error());
    };
    for value in 0..18 {
        call(value);
        call(value);
    }
    // A stream of a launch may end before the graph.
    let other = executor::create_stream(&gpu, Platform::Cuda, 0).unwrap();
    let arguments = [AnyRef::available(0), buffer.clone()];
    graphs::execute(&fill, &ctx, &other, &arguments).unwrap();
    drop((arguments, other));
    stream.synchronize().unwrap();

    let [report] = &graphs::reports(&resources)[..] else {
        panic!("one function was called");
    };
    assert_eq!(
        report.to_string(),
        "@fill: 16 graphs, 33 launches, 4 usual runs: there are graphs for 16 other lists of \
         arguments"
    );
    drop((ctx, resources, buffer, stream, program, fill, host));
    wait_until(|| device.num_live() == 0);
}
