//! The CUDA implementation, over a driver of the tests: `fake_driver/libcuda.rs`.
//!
//! A process has one driver. So the driver is compiled to a folder of its own, and each test runs
//! in a child of this process, whose `LD_LIBRARY_PATH` names that folder.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use tfrt::executor::Program;
use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt::host::{FunctionRef, RequestContextBuilder};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_gpu::api::blas::Blas;
use tfrt_gpu::api::driver::{
    Argument, CopyEndpoint, DeviceCalls, LaunchConfig, MemoryCalls, ModuleCalls, StreamCalls,
};
use tfrt_gpu::api::known::{KnownBlock, KnownBytes};
use tfrt_gpu::api::{ContextHandle, EventHandle, StreamHandle};
use tfrt_gpu::api::{Current, DevicePtr, Status};
use tfrt_gpu::cuda::{CudaBlas, CudaDriver, request_failures};
use tfrt_gpu::platform::{Gpu, GpuChoice};
use tfrt_gpu::values::{Buffer, GpuModule, Stream};
use tfrt_tensor::HostBuffer;

tfrt::link!(tfrt_kernels, tfrt_gpu);

/// The folder of the compiled driver.
static DRIVER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("fake_driver_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_driver/libcuda.rs");
    let status = Command::new("rustc")
        .args(["--edition", "2024", "--crate-type", "cdylib", "-o"])
        .arg(folder.join("libcuda.so.1"))
        .arg(source)
        .status();
    assert!(
        status.unwrap().success(),
        "the driver of the tests does not compile"
    );
    folder
});

/// Runs the body of a test over the driver in a child process, and returns the calls that the
/// driver received; `None` in the child, which has run the body.
fn over_driver(test: &str, fail: &str, body: impl FnOnce(Arc<CudaDriver>)) -> Option<Vec<String>> {
    over_driver_with(test, ("FAKE_CUDA_FAIL", fail), body)
}

/// Runs the body of a test over a driver whose work is not done before something waits for it.
fn over_lazy_driver(test: &str, body: impl FnOnce(Arc<CudaDriver>)) -> Option<Vec<String>> {
    over_driver_with(test, ("FAKE_CUDA_LAZY", "1"), body)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a child process that waits for ever, or whose driver does, must end"
)]
fn over_driver_with(
    test: &str,
    (variable, value): (&str, &str),
    body: impl FnOnce(Arc<CudaDriver>),
) -> Option<Vec<String>> {
    if std::env::var_os("FAKE_CUDA_LOG").is_some() {
        // A test that fails must not wait for work that is never done.
        let (alive, ended) = mpsc::channel::<()>();
        std::thread::spawn(move || {
            if ended.recv_timeout(Duration::from_secs(60)) == Err(RecvTimeoutError::Timeout) {
                eprintln!("the test does not end");
                std::process::exit(1);
            }
        });
        let driver = Arc::new(CudaDriver::open().unwrap());
        let run = AssertUnwindSafe(|| body(Arc::clone(&driver)));
        if catch_unwind(run).is_err() {
            std::process::exit(1);
        }
        drop((driver, alive));
        return None;
    }
    let log = DRIVER.join(format!("{test}.log"));
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env("LD_LIBRARY_PATH", &*DRIVER)
        .env("FAKE_CUDA_LOG", &log)
        .env(variable, value)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // The thread that lets host memory go asks for its events at any time.
    let is_kept = |line: &&str| !matches!(*line, "cuEventQuery" | "cuEventDestroy_v2");
    let calls = std::fs::read_to_string(log).unwrap_or_default();
    Some(calls.lines().filter(is_kept).map(str::to_owned).collect())
}

/// Returns a driver with a context and a stream.
fn start(driver: &CudaDriver) -> (Current, StreamHandle) {
    driver.init().unwrap();
    let device = driver.device(0).unwrap();
    let context = driver.context_create(device).unwrap();
    let current = Current::set(driver, context).unwrap();
    let stream = driver.stream_create(&current).unwrap();
    (current, stream)
}

fn buffer(words: &[u32]) -> HostBuffer {
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    HostBuffer::copied(&allocator, words).unwrap()
}

fn words(buffer: &HostBuffer) -> Vec<u32> {
    buffer.elements::<u32>().unwrap().to_vec()
}

/// Waits until a buffer is not borrowed any more.
fn wait_for(buffer: &mut HostBuffer) {
    let end = Instant::now() + Duration::from_secs(60);
    while buffer.write().is_err() {
        assert!(Instant::now() < end, "the buffer is never let go");
        std::thread::yield_now();
    }
}

#[test]
fn a_session_makes_the_calls_of_its_kernels_in_order() {
    let Some(calls) = over_driver(
        "a_session_makes_the_calls_of_its_kernels_in_order",
        "",
        |driver| {
            let (current, stream) = start(&driver);
            let memory = driver.memory_allocate(&current, 16).unwrap();
            let (mut from, mut to) = (buffer(&[1, 2, 3, 4]), buffer(&[0; 4]));
            let (device, host) = (
                CopyEndpoint::Device(memory),
                CopyEndpoint::Host(from.clone()),
            );
            driver
                .copy_async(&current, &device, &host, 16, stream)
                .unwrap();
            let module = driver.module_load(&current, b".version 8.0").unwrap();
            let function = driver.module_function(module, "add\0ignored").unwrap();
            let config = LaunchConfig {
                grid: [2, 1, 1],
                block: [2, 1, 1],
                shared_bytes: 0,
            };
            driver
                .launch(
                    &current,
                    function,
                    config,
                    stream,
                    &[Argument::Pointer(memory), Argument::Bits32(10)],
                )
                .unwrap();
            driver
                .copy_async(
                    &current,
                    &CopyEndpoint::Host(to.clone()),
                    &device,
                    16,
                    stream,
                )
                .unwrap();
            driver.stream_synchronize(stream).unwrap();
            wait_for(&mut from);
            wait_for(&mut to);
            assert_eq!(words(&to), [11, 12, 13, 14]);
            driver.module_unload(module).unwrap();
            driver.memory_free(memory).unwrap();
            driver.stream_destroy(stream).unwrap();
        },
    ) else {
        return;
    };
    let expected = "cuInit cuDeviceGet cuCtxCreate_v2 cuCtxSetCurrent cuStreamCreate \
                    cuMemAlloc_v2 cuMemcpyAsync cuEventCreate cuEventRecord cuModuleLoadDataEx \
                    cuModuleGetFunction cuLaunchKernel cuMemcpyAsync cuEventCreate cuEventRecord \
                    cuStreamSynchronize cuModuleUnload cuMemFree_v2 cuStreamDestroy_v2 \
                    cuCtxDestroy_v2";
    assert_eq!(calls.join(" "), expected);
}

#[test]
fn what_does_not_exist_never_reaches_the_driver() {
    let Some(calls) = over_driver(
        "what_does_not_exist_never_reaches_the_driver",
        "",
        |driver| {
            let (current, stream) = start(&driver);
            let event = driver.event_create(&current, false).unwrap();
            driver.event_destroy(event).unwrap();
            let status = |result: Result<(), tfrt_gpu::api::GpuError>| result.unwrap_err().status;
            assert_eq!(status(driver.event_destroy(event)), Status::INVALID_HANDLE);
            assert_eq!(
                status(driver.event_record(event, stream)),
                Status::INVALID_HANDLE
            );
            assert_eq!(
                status(driver.stream_wait_event(stream, EventHandle(4))),
                Status::INVALID_HANDLE
            );
            assert_eq!(
                status(driver.stream_synchronize(StreamHandle(4))),
                Status::INVALID_HANDLE
            );
            assert_eq!(
                status(driver.context_destroy(ContextHandle(4))),
                Status::INVALID_CONTEXT
            );
            let memory = driver.memory_allocate(&current, 16).unwrap();
            let wide = driver.copy_async(
                &current,
                &CopyEndpoint::Device(memory),
                &CopyEndpoint::Host(buffer(&[0; 8])),
                32,
                stream,
            );
            assert_eq!(
                wide.as_ref().unwrap_err().details,
                format!("32 bytes at {memory} exceed their memory block")
            );
            let narrow = driver.copy_async(
                &current,
                &CopyEndpoint::Device(memory),
                &CopyEndpoint::Host(buffer(&[0; 2])),
                16,
                stream,
            );
            assert_eq!(
                narrow.unwrap_err().details,
                "expected a host buffer of 16 bytes, found 8"
            );
            assert_eq!(
                status(driver.set_u32_async(&current, memory, 0, usize::MAX, stream)),
                Status::INVALID_VALUE
            );
            assert_eq!(
                status(driver.set_u32_async(&current, DevicePtr::NULL, 0, 1, stream)),
                Status::INVALID_VALUE
            );
            assert_eq!(
                status(driver.host_memory_write(memory, &[0])),
                Status::INVALID_VALUE
            );
            driver.memory_free(memory).unwrap();
            assert_eq!(status(driver.memory_free(memory)), Status::INVALID_VALUE);
            let module = driver.module_load(&current, b".version 8.0\0").unwrap();
            let function = driver.module_function(module, "add").unwrap();
            let config = LaunchConfig {
                grid: [1; 3],
                block: [1; 3],
                shared_bytes: 0,
            };
            let launched =
                driver.launch(&current, function, config, stream, &[Argument::Bits32(1)]);
            assert_eq!(
                launched.unwrap_err().details,
                "expected 2 arguments, found 1"
            );
            driver.module_unload(module).unwrap();
            assert_eq!(
                status(driver.launch(&current, function, config, stream, &[])),
                Status::INVALID_HANDLE
            );
        },
    ) else {
        return;
    };
    assert!(
        !calls.iter().any(|call| matches!(
            &**call,
            "cuLaunchKernel" | "cuMemcpyAsync" | "cuMemsetD32Async"
        )),
        "{calls:?}"
    );
}

#[test]
fn a_context_ends_with_the_last_of_its_objects() {
    let Some(calls) = over_driver(
        "a_context_ends_with_the_last_of_its_objects",
        "",
        |driver| {
            let (current, stream) = start(&driver);
            driver.context_destroy(current.context()).unwrap();
            driver.stream_synchronize(stream).unwrap();
            assert_eq!(
                driver
                    .context_destroy(current.context())
                    .unwrap_err()
                    .status,
                Status::INVALID_CONTEXT
            );
            driver.stream_destroy(stream).unwrap();
            // A primary context is released as often as it was retained.
            let device = driver.device(0).unwrap();
            let first = driver.primary_context_retain(device).unwrap();
            assert_eq!(driver.primary_context_retain(device).unwrap(), first);
            driver.primary_context_release(device).unwrap();
            driver.context_destroy(first).unwrap();
            assert_eq!(
                driver.primary_context_release(device).unwrap_err().status,
                Status::INVALID_CONTEXT
            );
        },
    ) else {
        return;
    };
    let expected = "cuInit cuDeviceGet cuCtxCreate_v2 cuCtxSetCurrent cuStreamCreate \
                    cuStreamSynchronize cuStreamDestroy_v2 cuCtxDestroy_v2 cuDeviceGet \
                    cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease_v2";
    assert_eq!(calls.join(" "), expected);
}

#[test]
fn failures_are_errors_with_the_name_of_the_call() {
    let _calls = over_driver(
        "failures_are_errors_with_the_name_of_the_call",
        "cuMemAlloc_v2=2",
        |driver| {
            let (current, _) = start(&driver);
            let error = driver.memory_allocate(&current, 3 << 20).unwrap_err();
            assert_eq!(
                error.to_string(),
                "Out of memory trying to allocate 3.00MiB (1.00MiB of 1.00GiB available) on GPU 0 \
                 (CUDA)."
            );
            let error = driver.module_load(&current, b"banana").unwrap_err();
            assert_eq!(
                (error.status, &*error.details),
                (
                    Status::INVALID_PTX,
                    "GPU JIT error log: line 1; expected .version"
                )
            );
            // A function that this driver does not have, and a library that is not there.
            let error = driver
                .device_total_memory(driver.device(0).unwrap())
                .unwrap_err();
            assert_eq!(error.status, Status::SHARED_OBJECT_SYMBOL_NOT_FOUND);
            let error = CudaBlas::new(Arc::clone(&driver))
                .create(&current)
                .unwrap_err();
            assert_eq!(
                error.to_string(),
                "'cublasCreate(&handle)': CUBLAS_STATUS_NOT_INITIALIZED\nthe library \
                 `libcublas.so.12` is not installed"
            );
        },
    );
}

#[test]
fn a_code_that_the_bindings_do_not_know_is_a_number() {
    let _calls = over_driver(
        "a_code_that_the_bindings_do_not_know_is_a_number",
        "cuCtxSynchronize=4711",
        |driver| {
            let (current, _) = start(&driver);
            let error = driver.context_synchronize(&current).unwrap_err();
            assert_eq!(error.to_string(), "'cuCtxSynchronize()': CUresult(4711)");
        },
    );
}

/// Enqueues a copy of a host buffer to the device.
fn upload(
    driver: &CudaDriver,
    current: &Current,
    to: DevicePtr,
    from: &HostBuffer,
    stream: StreamHandle,
) {
    let ends = (CopyEndpoint::Device(to), CopyEndpoint::Host(from.clone()));
    driver
        .copy_async(current, &ends.0, &ends.1, from.len_bytes(), stream)
        .unwrap();
}

#[test]
fn a_stream_with_the_number_of_another_one_says_nothing_of_its_copies() {
    let _calls = over_lazy_driver(
        "a_stream_with_the_number_of_another_one_says_nothing_of_its_copies",
        |driver| {
            let (current, first) = start(&driver);
            let memory = driver.memory_allocate(&current, 16).unwrap();
            let mut from = buffer(&[1, 2, 3, 4]);
            upload(&driver, &current, memory, &from, first);
            driver.stream_destroy(first).unwrap();
            let second = driver.stream_create(&current).unwrap();
            assert_eq!(second, first);
            driver.stream_synchronize(second).unwrap();
            assert!(from.write().is_err(), "the copy is not done");
            driver.context_synchronize(&current).unwrap();
            assert!(from.write().is_ok());
            driver.stream_destroy(second).unwrap();
            driver.memory_free(memory).unwrap();
        },
    );
}

#[test]
fn a_copy_may_use_the_memory_of_a_copy_that_its_stream_waits_for() {
    let _calls = over_lazy_driver(
        "a_copy_may_use_the_memory_of_a_copy_that_its_stream_waits_for",
        |driver| {
            let (current, first) = start(&driver);
            let second = driver.stream_create(&current).unwrap();
            let memory = driver.memory_allocate(&current, 16).unwrap();
            let mut host = buffer(&[0; 4]);
            let ends = (
                CopyEndpoint::Host(host.clone()),
                CopyEndpoint::Device(memory),
            );
            driver
                .copy_async(&current, &ends.0, &ends.1, 16, first)
                .unwrap();
            drop(ends);
            let event = driver.event_create(&current, false).unwrap();
            driver.event_record(event, first).unwrap();
            driver.stream_wait_event(second, event).unwrap();
            upload(&driver, &current, memory, &host, second);
            driver.stream_synchronize(second).unwrap();
            assert!(host.write().is_ok());
            driver.event_destroy(event).unwrap();
            driver.memory_free(memory).unwrap();
        },
    );
}

/// Device memory that is freed when it is dropped, which waits for the device.
struct Workspace(Arc<CudaDriver>, DevicePtr, mpsc::Sender<()>);

impl Drop for Workspace {
    fn drop(&mut self) {
        self.0.memory_free(self.1).unwrap();
        self.2.send(()).unwrap();
    }
}

#[test]
fn an_object_that_waits_for_the_device_holds_up_nobody() {
    let _calls = over_lazy_driver(
        "an_object_that_waits_for_the_device_holds_up_nobody",
        |driver| {
            let (current, first) = start(&driver);
            let second = driver.stream_create(&current).unwrap();
            let events = [first, second].map(|stream| {
                let event = driver.event_create(&current, false).unwrap();
                driver.event_record(event, stream).unwrap();
                event
            });
            let memory = driver.memory_allocate(&current, 16).unwrap();
            let (freed, is_freed) = mpsc::channel();
            let workspace = Workspace(Arc::clone(&driver), memory, freed);
            driver
                .keep_until_passed(first, Box::new(workspace))
                .unwrap();
            driver.stream_synchronize(first).unwrap();
            // Another thread frees the workspace, and waits for the second stream.
            let log = std::env::var_os("FAKE_CUDA_LOG").unwrap();
            while !std::fs::read_to_string(&log).unwrap().contains("cuMemFree") {
                std::thread::yield_now();
            }
            assert!(driver.event_query(events[0]).unwrap());
            assert!(!driver.event_query(events[1]).unwrap());
            assert!(driver.stream_query(first).unwrap());
            assert!(is_freed.try_recv().is_err());
            driver.stream_synchronize(second).unwrap();
            is_freed.recv().unwrap();
        },
    );
}

#[test]
fn requested_failures_do_not_let_host_memory_go() {
    let calls = over_lazy_driver("requested_failures_do_not_let_host_memory_go", |driver| {
        let failing = [
            ("cuEventQuery", 1),
            ("cuEventDestroy", 1),
            ("cuEventRecord", 3),
            ("cuStreamSynchronize", 1),
            ("cuCtxSynchronize", 1),
        ];
        let requested = failing.map(|(name, count)| (name.to_owned(), count, 700));
        request_failures(requested.to_vec());
        let (current, stream) = start(&driver);
        let memory = driver.memory_allocate(&current, 16).unwrap();
        let (mut from, mut other) = (buffer(&[1, 2, 3, 4]), buffer(&[5, 6, 7, 8]));
        upload(&driver, &current, memory, &from, stream);
        let event = driver.event_create(&current, false).unwrap();
        driver.event_record(event, stream).unwrap();
        // Asks for the event behind the copy, which is not a call of the program.
        assert!(driver.stream_query(stream).unwrap());
        assert!(from.write().is_err(), "the copy is not done");
        let status = |result: Result<(), tfrt_gpu::api::GpuError>| result.unwrap_err().status;
        let failed = Status::Driver(700);
        assert_eq!(status(driver.event_query(event).map(drop)), failed);
        assert!(from.write().is_err(), "the copy is not done");
        // No event can be recorded behind this one, so it is waited for.
        upload(&driver, &current, memory, &other, stream);
        assert!(other.write().is_ok());
        wait_for(&mut from);
        assert_eq!(status(driver.stream_synchronize(stream)), failed);
        let pinned = driver.host_memory_allocate(&current, 16).unwrap();
        driver.host_memory_free(pinned).unwrap();
        assert_eq!(status(driver.context_synchronize(&current)), failed);
        assert_eq!(status(driver.event_destroy(event)), failed);
        driver.memory_free(memory).unwrap();
    });
    // What the memory relies on has reached the driver once, and what was to fail has not.
    if let Some(calls) = calls {
        for function in ["cuStreamSynchronize", "cuCtxSynchronize"] {
            let num_calls = calls.iter().filter(|call| *call == function).count();
            assert_eq!(num_calls, 1, "{function}");
        }
    }
}

#[test]
fn what_is_known_ends_with_its_handle() {
    let Some(calls) = over_driver("what_is_known_ends_with_its_handle", "", |driver| {
        let (current, stream) = start(&driver);
        let known = driver.known_stream(stream).unwrap();
        let [memory, other] = [16, 32].map(|len| driver.memory_allocate(&current, len).unwrap());
        let [block, from] = [memory, other].map(|start| driver.known_block(start).unwrap());
        fn bytes(block: &KnownBlock, pointer: DevicePtr) -> KnownBytes<'_> {
            KnownBytes { block, pointer }
        }
        let copy = |to: &KnownBlock, pointer, num_bytes| {
            known.copy(&current, bytes(to, pointer), bytes(&from, other), num_bytes)
        };
        let set = |count| known.set_u32(&current, bytes(&block, memory), 7, count);
        assert_eq!(copy(&block, memory, 16), Some(Ok(())));
        assert_eq!(copy(&block, memory, 17), None, "too long");
        assert_eq!(copy(&block, other, 1), None, "not in the block");
        assert_eq!(set(4), Some(Ok(())));
        assert_eq!([5, usize::MAX].map(set), [None, None]);
        // Another driver of the process has the same memory, but not in its list.
        let stranger = CudaDriver::open().unwrap();
        let (of_stranger, its_stream) = start(&stranger);
        let its_known = stranger.known_stream(its_stream).unwrap();
        let to = bytes(&block, memory);
        assert_eq!(its_known.set_u32(&of_stranger, to, 7, 1), None);
        let current = Current::set(&*driver, current.context()).unwrap();

        let module = driver.module_load(&current, b".version 8.0").unwrap();
        let function = driver.module_function(module, "add").unwrap();
        let function = driver.known_function(function).unwrap();
        let config = LaunchConfig {
            grid: [1; 3],
            block: [1; 3],
            shared_bytes: 0,
        };
        let arguments = [Argument::Pointer(memory), Argument::Bits32(1)];
        let launch = || known.launch(&current, &function, &config, &arguments);
        assert_eq!(launch(), Some(Ok(())));
        let by_stranger = its_known.launch(&of_stranger, &function, &config, &arguments);
        assert_eq!(by_stranger, None);
        driver.module_unload(module).unwrap();
        assert_eq!(launch(), None);
        stranger.stream_destroy(its_stream).unwrap();

        driver.memory_free(memory).unwrap();
        assert_eq!(set(1), None);
        let again = driver.memory_allocate(&current, 16).unwrap();
        assert_eq!(set(1), None, "the block is another one");
        let block = driver.known_block(again).unwrap();
        assert_eq!(copy(&block, again, 16), Some(Ok(())));

        driver.stream_destroy(stream).unwrap();
        assert_eq!(copy(&block, again, 16), None, "the stream is gone");
        let second = driver.stream_create(&current).unwrap();
        assert!(driver.known_stream(second).is_some());
        driver.stream_destroy(second).unwrap();
        assert!(driver.known_stream(second).is_none());
        for memory in [again, other] {
            driver.memory_free(memory).unwrap();
            assert!(driver.known_block(memory).is_none());
        }
    }) else {
        return;
    };
    let num_calls = |name: &str| calls.iter().filter(|call| *call == name).count();
    let names = ["cuMemcpyAsync", "cuMemsetD32Async", "cuLaunchKernel"];
    assert_eq!(names.map(num_calls), [2, 1, 1]);
}

/// The values of a program are made once, and used by several functions.
const VALUES: &str = "\
func.func @values() -> (!tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer, !tfrt_gpu.buffer, \
!tfrt_gpu.module, !tfrt_gpu.function) {
  %ch = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %dev = tfrt_gpu.device.get CUDA, %zero
  %ctx = tfrt_gpu.context.primary %dev
  %mem = tfrt_gpu.allocator.create %ctx
  %s = tfrt_gpu.stream.create %ctx
  %bytes = tfrt.constant.i64 64
  %a = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %b = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
  %m = tfrt_gpu.module.load %ctx {data = \".version 8.0\\00\"}
  %f = tfrt_gpu.module.get_function %m {name = \"add\"}
  tfrt.return %ch, %s, %a, %b, %m, %f : !tfrt.chain, !tfrt_gpu.stream, !tfrt_gpu.buffer, \
!tfrt_gpu.buffer, !tfrt_gpu.module, !tfrt_gpu.function
}
";

/// Returns a program with the function `values`, and one for each kernel.
fn program_of(kernels: &[(&str, &str)]) -> String {
    let functions = kernels.iter().map(|(name, kernel)| {
        format!(
            "func.func @{name}(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %a: !tfrt_gpu.buffer, \
             %b: !tfrt_gpu.buffer, %m: !tfrt_gpu.module, %f: !tfrt_gpu.function) -> !tfrt.chain \
             {{\n  %one = tfrt.constant.ui64 1\n  %none = tfrt.constant.ui32 0\n  \
             %x = tfrt.constant.i32 7\n  %done = {kernel}\n  tfrt.return %done : \
             !tfrt.chain\n}}\n"
        )
    });
    VALUES.to_owned() + &functions.collect::<String>()
}

#[test]
fn kernels_fail_once_the_objects_of_their_values_are_gone() {
    let kernels = [
        (
            "copy",
            "tfrt_gpu.mem.copy %b, %a, %s, %ch : !tfrt_gpu.buffer, !tfrt_gpu.buffer",
        ),
        ("set", "tfrt_gpu.mem.set %a, %x, %s, %ch : i32"),
        (
            "launch",
            "tfrt_gpu.function.launch %s, %f, blocks in (%one, %one, %one), threads in \
             (%one, %one, %one), %none, %ch, args(%a, %x) : (!tfrt_gpu.buffer, i32)",
        ),
    ];
    let test = "kernels_fail_once_the_objects_of_their_values_are_gone";
    let Some(calls) = over_driver(test, "", |_driver| {
        let host = HostContext::builder()
            .registry(Arc::new(KernelRegistry::from_link().unwrap()))
            .queue(create_queue("s").unwrap())
            .build();
        let gpu = Gpu::open(GpuChoice::Cuda).unwrap();
        Gpu::install(&host, Arc::clone(&gpu));
        let text = program_of(&kernels);
        let file = tfrt::text::compile(&text, "test", host.registry()).unwrap();
        let program = Program::load(&host, &file).unwrap();
        let request = RequestContextBuilder::new(Arc::clone(&host)).build();
        let ctx = ExecutionContext::new(request);
        let function = |name: &str| -> FunctionRef { program.function(name).unwrap() };
        let run = |name: &str, arguments: &[AnyRef]| {
            let results = function(name).execute(&ctx, arguments);
            host.await_available(&results).unwrap();
            results
        };
        let fails = |name: &str, values: &[AnyRef]| {
            let [done] = &run(name, values)[..] else {
                panic!("a chain is expected");
            };
            done.error_if_present()
                .map(|error| error.message().to_owned())
        };
        let names = ["copy", "set", "launch"];
        let all_fail = |values: &[AnyRef]| names.map(|name| fails(name, values));
        let calls = [
            "cuMemcpyAsync(dst, src, size, stream)",
            "cuMemsetD32Async(ptr, value, count, stream)",
            "cuLaunchKernel(function, grid, block, shared, stream, arguments)",
        ];
        let with = |call: &str, status: &str| Some(format!("'{call}': {status}"));
        let gone = |call: &str| with(call, "CUDA_ERROR_INVALID_HANDLE (invalid resource handle)");
        let driver = &gpu.driver;

        let values = run("values", &[]);
        let [_, _, a, _, module, _] = &values[..] else {
            panic!("six values are expected");
        };
        // What is known from the first calls does not help later ones.
        for _ in 0..2 {
            assert_eq!(all_fail(&values), [None, None, None]);
        }
        let module = module.get::<GpuModule>().unwrap().handle();
        driver.module_unload(module).unwrap();
        assert_eq!(all_fail(&values), [None, None, gone(calls[2])]);
        let memory = a.get::<Buffer>().unwrap().pointer();
        driver.memory_free(memory).unwrap();
        let unknown = |call: &str| {
            let invalid = with(call, "CUDA_ERROR_INVALID_VALUE (invalid argument)")?;
            let place = format!("64 bytes at {memory} are not accessible to the device");
            Some(format!("{invalid}\n{place}"))
        };
        let expected = [unknown(calls[0]), unknown(calls[1]), gone(calls[2])];
        assert_eq!(all_fail(&values), expected);

        let values = run("values", &[]);
        let stream = values[1].get::<Stream>().unwrap().handle();
        // The thread remembers the stream, which its value keeps.
        driver.stream_synchronize(stream).unwrap();
        driver.stream_destroy(stream).unwrap();
        assert_eq!(all_fail(&values), calls.map(gone));
        assert!(driver.stream_synchronize(stream).is_err());
    }) else {
        return;
    };
    let num_calls = |name: &str| calls.iter().filter(|call| *call == name).count();
    let names = ["cuMemcpyAsync", "cuMemsetD32Async", "cuLaunchKernel"];
    assert_eq!(names.map(num_calls), [3, 3, 2]);
}
