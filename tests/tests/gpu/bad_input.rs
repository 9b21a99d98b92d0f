//! Bad input of the interface, on both implementations: each is an error, and the process lives.

use std::sync::Arc;

use tfrt_gpu::api::driver::{Argument, LaunchConfig};
use tfrt_gpu::api::{ContextHandle, Current, GpuError, GpuResult, Status, StreamHandle};
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::{Gpu, GpuChoice};

use super::program::over_emulated_cuda;

const PTX: &str = "
.version 7.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 p) {
    .reg .b64 %rd<2>;
    .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
    ld.global.u32 %r1, [%rd1];
    add.s32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    ret;
}
.visible .entry spin(.param .u64 p) {
    LOOP: bra LOOP;
}
\0";

const ONE: LaunchConfig = LaunchConfig {
    grid: [1; 3],
    block: [1; 3],
    shared_bytes: 0,
};

fn status<T>(result: GpuResult<T>) -> Option<Status> {
    result.err().map(|error| error.status)
}

/// A context with a stream, destroyed at the end.
struct Place<'a> {
    gpu: &'a Gpu,
    context: ContextHandle,
    stream: StreamHandle,
}

impl<'a> Place<'a> {
    fn new(gpu: &'a Gpu) -> Self {
        let driver = &gpu.driver;
        let context = driver.context_create(driver.device(0).unwrap()).unwrap();
        let current = Current::set(&**driver, context).unwrap();
        Self {
            gpu,
            context,
            stream: driver.stream_create(&current).unwrap(),
        }
    }

    fn current(&self) -> Current {
        Current::set(&*self.gpu.driver, self.context).unwrap()
    }

    /// Launches a kernel at some bytes behind the start of a block of 16 bytes, waits, and returns
    /// the error.
    fn launch(&self, kernel: &str, config: LaunchConfig, offset: u64) -> Option<GpuError> {
        let driver = &self.gpu.driver;
        let module = driver.module_load(&self.current(), PTX.as_bytes()).unwrap();
        let function = driver.module_function(module, kernel).unwrap();
        let memory = driver.memory_allocate(&self.current(), 16).unwrap();
        let argument = Argument::Bits64(memory.address() + offset);
        let launched = driver.launch(&self.current(), function, config, self.stream, &[argument]);
        let result = launched.and_then(|()| driver.stream_synchronize(self.stream));
        // What is destroyed in a context that has failed is destroyed all the same.
        drop((driver.memory_free(memory), driver.module_unload(module)));
        result.err()
    }

    fn end(self) {
        let driver = &self.gpu.driver;
        let _ = driver.stream_destroy(self.stream);
        let _ = driver.context_destroy(self.context);
    }
}

/// Runs everything on an implementation. `explains` if it can tell more than a status.
fn check(gpu: &Gpu, explains: bool) {
    let driver = &gpu.driver;
    driver.init().unwrap();

    // Faults of kernels, each of which ends its context.
    for (kernel, config, offset, expected, text) in [
        (
            "add",
            ONE,
            2,
            Status::MISALIGNED_ADDRESS,
            "kernel `add` at line 9",
        ),
        (
            "add",
            ONE,
            16,
            Status::ILLEGAL_ADDRESS,
            "past the end of the buffer of 16 bytes",
        ),
        ("spin", ONE, 0, Status::LAUNCH_TIMEOUT, "kernel `spin`"),
    ] {
        let place = Place::new(gpu);
        let error = place.launch(kernel, config, offset).unwrap();
        assert_eq!(error.status, expected, "{error}");
        assert!(!explains || error.to_string().contains(text), "{error}");
        let later = driver.memory_allocate(&place.current(), 16);
        assert_eq!(status(later), Some(expected), "the context is lost");
        place.end();
    }

    // Launch sizes, which are refused at once.
    let place = Place::new(gpu);
    for (grid, block, shared_bytes) in [
        ([0, 1, 1], [1; 3], 0),
        ([1; 3], [1, 0, 1], 0),
        ([1; 3], [1025, 1, 1], 0),
        ([1; 3], [1, 1, 65], 0),
        ([1, 70_000, 1], [1; 3], 0),
        ([1; 3], [1; 3], 1 << 20),
    ] {
        let config = LaunchConfig {
            grid,
            block,
            shared_bytes,
        };
        let error = place.launch("add", config, 0).unwrap();
        assert_eq!(error.status, Status::INVALID_VALUE, "{config:?}");
    }
    assert!(place.launch("add", ONE, 0).is_none(), "the context lives");

    // Images.
    let load = |image: &[u8]| status(driver.module_load(&place.current(), image));
    assert_eq!(load(b"banana\0"), Some(Status::INVALID_IMAGE));
    assert_eq!(load(b".version banana\0"), Some(Status::INVALID_PTX));
    assert_eq!(load(b"\0"), Some(Status::INVALID_IMAGE));
    assert_eq!(load(b"\xff\xfe\0"), Some(Status::INVALID_IMAGE));
    assert_eq!(
        load(b"\x7fELF\x02\x01\x01\0"),
        Some(Status::NO_BINARY_FOR_GPU)
    );

    // Memory.
    let allocate = |num_bytes| status(driver.memory_allocate(&place.current(), num_bytes));
    assert_eq!(allocate(1 << 50), Some(Status::OUT_OF_MEMORY));
    assert_eq!(allocate(0), Some(Status::INVALID_VALUE));

    // Two contexts.
    let other = Place::new(gpu);
    let event = driver.event_create(&other.current(), false).unwrap();
    let mixed = driver.event_record(event, place.stream);
    assert_eq!(status(mixed), Some(Status::INVALID_HANDLE));
    let module = driver
        .module_load(&other.current(), PTX.as_bytes())
        .unwrap();
    let function = driver.module_function(module, "add").unwrap();
    let arguments = [Argument::Bits64(0)];
    let mixed = driver.launch(&place.current(), function, ONE, place.stream, &arguments);
    assert_eq!(status(mixed), Some(Status::INVALID_HANDLE));
    let blas = gpu.blas.create(&other.current()).unwrap();
    let mixed = gpu.blas.set_stream(blas, place.stream);
    assert_eq!(status(mixed), Some(Status::BLAS_INVALID_VALUE));
    let solver = gpu.solver.create(&other.current()).unwrap();
    let mixed = gpu.solver.set_stream(solver, place.stream);
    assert_eq!(status(mixed), Some(Status::SOLVER_INVALID_VALUE));
    gpu.solver.destroy(solver).unwrap();
    gpu.blas.destroy(blas).unwrap();
    driver.module_unload(module).unwrap();
    driver.event_destroy(event).unwrap();

    // A stream after its context: an error, or the context lives as long as the stream.
    let _ = driver.context_destroy(other.context);
    let _ = driver.stream_synchronize(other.stream);
    assert_eq!(
        status(driver.context_destroy(other.context)),
        Some(Status::INVALID_CONTEXT)
    );
    let _ = driver.stream_destroy(other.stream);
    place.end();
}

#[test]
fn bad_input_is_an_error_on_the_host_device() {
    let device = HostDevice::new(Options {
        max_steps: 10_000,
        ..Options::default()
    });
    check(&HostDevice::gpu(&device), true);
    assert_eq!(device.num_live(), 0);
}

#[test]
fn bad_input_is_an_error_on_cuda() {
    if over_emulated_cuda("bad_input_is_an_error_on_cuda").is_err() {
        let gpu: Arc<Gpu> = Gpu::open(GpuChoice::Cuda).unwrap();
        check(&gpu, false);
    }
}
