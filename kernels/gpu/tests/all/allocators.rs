//! The allocators that programs create, by the choice of the host.

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;
use tfrt_gpu::values::GpuAllocatorKind;

tfrt::link!(tfrt_kernels, tfrt_gpu);

/// Allocates twice, after the first buffer is gone.
const PROGRAM: &str = r#"
    func.func @twice() -> !tfrt.chain {
      %ch = tfrt.new.chain
      %zero = tfrt.constant.i32 0
      %dev = tfrt_gpu.device.get CUDA, %zero
      %ctx = tfrt_gpu.context.primary %dev
      %mem = tfrt_gpu.allocator.create %ctx
      %s = tfrt_gpu.stream.create %ctx
      %bytes = tfrt.constant.i64 100
      %first = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch
      %ch0 = tfrt_gpu.mem.deallocate %first, %s, %ch
      %second = tfrt_gpu.mem.allocate %mem, %s, %bytes, %ch0
      %two = tfrt.constant.i32 2
      %ch1 = tfrt_gpu.mem.set %second, %two, %s, %ch0 : i32
      %ch2 = tfrt_gpu.stream.synchronize %s, %ch1
      tfrt.return %ch2 : !tfrt.chain
    }
"#;

/// Runs the program on a device whose second allocation fails. Returns the error, if there is one.
fn run(kind: Option<GpuAllocatorKind>) -> Option<String> {
    let device = HostDevice::new(Options {
        failures: vec![("cuMemAlloc".to_owned(), 2, 999)],
        ..Options::default()
    });
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let file = tfrt::text::compile(PROGRAM, "program.mlir", &kernels).unwrap();
    let host = HostContext::builder()
        .registry(kernels)
        .queue(create_queue("s").unwrap())
        .diagnostic_handler(|_| {})
        .build();
    assert!(Gpu::install(&host, HostDevice::gpu(&device)));
    assert!(kind.is_none_or(|kind| kind.install(&host)));
    let program = Program::load(&host, &file).unwrap();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let [chain] = program.function("twice").unwrap().execute_array(&ctx, &[]);
    host.await_available(std::slice::from_ref(&chain)).unwrap();
    host.quiesce().unwrap();
    let error = chain.error_if_present();
    let error = error.map(|error| error.message().to_owned());
    drop((chain, ctx, program, host));
    while device.num_live() > 0 {
        std::thread::yield_now();
    }
    error
}

#[test]
fn by_default_each_buffer_is_an_allocation_of_the_driver() {
    for kind in [None, Some(GpuAllocatorKind::Driver)] {
        let error = run(kind).expect("the second allocation fails");
        assert!(error.contains("cuMemAlloc"), "{error}");
    }
}

#[test]
fn a_host_can_choose_to_use_memory_again() {
    assert_eq!(run(Some(GpuAllocatorKind::StreamOrdered)), None);
}
