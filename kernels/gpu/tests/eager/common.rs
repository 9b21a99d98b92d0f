//! Hosts with GPUs that are threads of this process.

use std::sync::Arc;

use tfrt::core::EagerContext;
use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt_gpu::eager::EagerGpu;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;

/// Returns options of a host device on which these calls fail.
pub fn failing(failures: &[(&str, u64, u32)]) -> Options {
    let failures = failures.iter();
    let failures = failures.map(|&(function, count, status)| (function.to_owned(), count, status));
    Options {
        failures: failures.collect(),
        ..Options::default()
    }
}

/// Returns a host with a host device.
pub fn host_with(options: Options) -> Arc<HostContext> {
    let kernels = Arc::new(KernelRegistry::from_link().expect("names are unique"));
    let host = HostContext::builder().registry(kernels).build();
    assert!(Gpu::install(&host, HostDevice::open(options)), "a new host");
    host
}

/// Returns a context with the host's processor and `GPU:0` and `GPU:1`.
pub fn eager_with(options: Options) -> Arc<EagerContext> {
    let host = host_with(options);
    let gpus = ["GPU:0", "GPU:1"].map(|name| host.device(name).expect("the host device has it"));
    let [first, second] = gpus.map(|gpu| gpu.0);
    let builder = EagerContext::builder(host).device(first).device(second);
    builder.build().expect("the devices differ")
}

/// Returns a context with two GPUs.
pub fn eager() -> Arc<EagerContext> {
    eager_with(Options::default())
}

/// Checks that no tensor is left on the devices of a context.
#[track_caller]
pub fn assert_nothing_is_left(eager: &EagerContext) {
    for device in eager.devices() {
        if let Ok(gpu) = EagerGpu::of(device) {
            let stats = gpu.allocator().stats();
            assert_eq!(stats.used_bytes, 0, "on {}: {stats:?}", device.0.name());
        }
    }
}
