//! Programs with an entry point, called by an embedder on the host device.

use std::sync::Arc;

use tfrt::executor::Program;
use tfrt::host::{RequestContextBuilder, ResourceContext};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_gpu::api::DeviceId;
use tfrt_gpu::enums::Platform;
use tfrt_gpu::executor::{self, ContextCache};
use tfrt_gpu::platform::{Gpu, GpuChoice};

tfrt::link!(tfrt_kernels, tfrt_gpu);

const PROGRAM: &str = r#"
    func.func @get_tfrt_gpu_entry_point() -> !tfrt_gpu.entry_point {
      %0 = "tfrt_gpu.get_entry_point"() {buffer_sizes = [16], function_name = "fill", platform = 1 : si32, version = 410724080 : i64} : () -> !tfrt_gpu.entry_point
      tfrt.return %0 : !tfrt_gpu.entry_point
    }
    func.func @handle(%ctx: !tfrt_gpu.context) -> !tfrt_gpu.blas.handle {
      %0 = tfrt_gpu.blas.create %ctx
      tfrt.return %0 : !tfrt_gpu.blas.handle
    }
    func.func @tfrt_gpu_preload_resources(%ctx: !tfrt_gpu.context) -> !tfrt.chain {
      %0 = tfrt.once @handle(%ctx) : (!tfrt_gpu.context) -> (!tfrt_gpu.blas.handle)
      %1 = tfrt.merge.chains %0 : !tfrt_gpu.blas.handle
      tfrt.return %1 : !tfrt.chain
    }
    func.func @fill(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %b: !tfrt_gpu.buffer) -> !tfrt.chain {
      %ctx = tfrt_gpu.stream.get_context %s
      %h = tfrt.once @handle(%ctx) : (!tfrt_gpu.context) -> (!tfrt_gpu.blas.handle)
      %one = tfrt.constant.f32 1.0
      %two = tfrt.constant.f32 2.0
      %n = tfrt.constant.i32 4
      %inc = tfrt.constant.i32 1
      %ch0 = tfrt_gpu.mem.set %b, %one, %s, %ch : f32
      %ch1 = tfrt_gpu.blas.scal %h, %s, %n, %two, CUDA_R_32F, %b, CUDA_R_32F, %inc, CUDA_R_32F, %ch0
      tfrt.return %ch1 : !tfrt.chain
    }
    func.func @first(%ch: !tfrt.chain, %s: !tfrt_gpu.stream, %b: !tfrt_gpu.buffer) -> i32 {
      %ctx = tfrt_gpu.stream.get_context %s
      %four = tfrt.constant.i64 4
      %zero = tfrt.constant.ui64 0
      %len = tfrt.constant.ui64 4
      %host = tfrt_gpu.mem.allocate_host %ctx, %four, %ch
      %part = tfrt_gpu.mem.view %b, %zero, %len
      %ch0 = tfrt_gpu.mem.copy %host, %part, %s, %ch : !tfrt_gpu.buffer, !tfrt_gpu.buffer
      %ch1 = tfrt_gpu.stream.synchronize %s, %ch0
      %0 = tfrt_gpu.mem.load %host, %ch1 : i32
      tfrt.return %0 : i32
    }
"#;

struct Loaded {
    host: Arc<HostContext>,
    gpu: Arc<Gpu>,
    program: Arc<Program>,
}

fn load() -> Loaded {
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let file = tfrt::text::compile(PROGRAM, "program.mlir", &kernels).unwrap();
    let host = HostContext::builder()
        .registry(kernels)
        .queue(create_queue("gpu").unwrap())
        .build();
    let gpu = Gpu::open(GpuChoice::Host).unwrap();
    Gpu::install(&host, Arc::clone(&gpu));
    let program = Program::load(&host, &file).unwrap();
    Loaded { host, gpu, program }
}

impl Loaded {
    fn request(&self, resources: &Arc<ResourceContext>) -> ExecutionContext {
        let request = RequestContextBuilder::new(Arc::clone(&self.host));
        ExecutionContext::new(request.resources(Arc::clone(resources)).build())
    }
}

#[test]
fn a_program_says_what_to_call_and_with_what() {
    let loaded = load();
    let ctx = loaded.request(&Arc::new(ResourceContext::new()));
    let entry_point = executor::entry_point(&loaded.program, &ctx).unwrap();
    assert_eq!(entry_point.platform, Platform::Cuda);
    assert_eq!(entry_point.function_name, "fill");
    assert_eq!(entry_point.buffer_sizes, [16]);

    let stream = executor::create_stream(&loaded.gpu, entry_point.platform, 0).unwrap();
    executor::preload(&loaded.program, &ctx, stream.context()).unwrap();
    let buffer = AsyncValueRef::available(executor::allocate_buffer(&stream, 16).unwrap());
    let stream = AsyncValueRef::available(stream);
    let fill = loaded.program.function("fill").unwrap();
    let chain = executor::execute(
        &fill,
        &ctx,
        AnyRef::ready_chain(),
        &stream,
        std::slice::from_ref(&buffer),
    );
    let first = loaded.program.function("first").unwrap();
    let arguments = [
        chain.unwrap(),
        stream.as_any().clone(),
        buffer.as_any().clone(),
    ];
    let [number] = first.execute_array(&ctx, &arguments);
    loaded
        .host
        .await_values(std::slice::from_ref(&number))
        .unwrap();
    assert_eq!(
        number.get::<i32>().copied(),
        Some(2.0_f32.to_bits().cast_signed())
    );

    let refused = executor::execute(&fill, &ctx, AnyRef::ready_chain(), &stream, &[]);
    assert_eq!(
        refused.unwrap_err().message(),
        "Incorrect number of arguments"
    );
    let refused = executor::create_stream(&loaded.gpu, Platform::Rocm, 0);
    assert_eq!(refused.unwrap_err().message(), "Unsupported platform ROCm");
}

#[test]
fn what_is_made_once_is_made_for_each_context() {
    let loaded = load();
    let driver = &loaded.gpu.driver;
    driver.init().unwrap();
    let native = [0, 1].map(|ordinal| {
        let device = driver.device(ordinal).unwrap();
        (device, driver.context_create(device).unwrap())
    });
    let cache = ContextCache::new(&loaded.gpu);
    for _ in 0..2 {
        for (device, handle) in native {
            let cached = cache.get(device, handle);
            let ctx = loaded.request(&cached.resources);
            // The handle of the other context would be refused by the call.
            executor::preload(&loaded.program, &ctx, &cached.context).unwrap();
            let stream = executor::create_stream(&loaded.gpu, Platform::Cuda, 0).unwrap();
            drop(stream);
        }
    }
    let handles = native.map(|(device, handle)| cache.get(device, handle).resources);
    assert!(!Arc::ptr_eq(&handles[0], &handles[1]));
    drop((handles, cache));
    for (_, handle) in native {
        // Nothing of the programs is left in them.
        driver.context_destroy(handle).unwrap();
    }
}

#[test]
fn a_lent_stream_comes_back_when_nobody_uses_it() {
    let loaded = load();
    let driver = &loaded.gpu.driver;
    driver.init().unwrap();
    let device = driver.device(0).unwrap();
    let cache = ContextCache::new(&loaded.gpu);
    let handle = driver.primary_context_retain(device).unwrap();
    let raw = {
        let context = cache.get(DeviceId(0), handle).context;
        let current = context.set_current().unwrap();
        driver.stream_create(&current).unwrap()
    };
    let lent = cache.lend_stream(DeviceId(0), handle, raw);
    let ctx = loaded.request(&lent.context().resources);
    let stream = lent.stream().get().unwrap().clone();
    let buffer = executor::allocate_buffer(&stream, 16).unwrap();
    drop(stream);
    let fill = loaded.program.function("fill").unwrap();
    let buffer = AsyncValueRef::available(buffer);
    let chain = executor::execute(&fill, &ctx, AnyRef::ready_chain(), lent.stream(), &[buffer]);
    loaded.host.await_values(&[chain.unwrap()]).unwrap();
    loaded.host.quiesce().unwrap();
    lent.take_back().unwrap();

    let lent = cache.lend_stream(DeviceId(0), handle, raw);
    let kept = lent.stream().clone();
    let refused = lent.take_back().unwrap_err();
    assert!(refused.message().ends_with("is still in use"), "{refused}");
    drop((kept, ctx, cache));
    driver.stream_destroy(raw).unwrap();
    driver.primary_context_release(device).unwrap();
}
