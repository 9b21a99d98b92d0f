//! Random sequences of calls of the host device: no call panics, no object is left, and no memory
//! is used after it was freed without an error.
//!
//! `TFRT_LONG_TESTS=1` runs a million sequences instead of a few, and `TFRT_STRESS` so many.

use tfrt_gpu::api::driver::{Argument, CopyEndpoint, LaunchConfig};
use tfrt_gpu::api::{
    ContextHandle, Current, DevicePtr, EventHandle, FunctionHandle, GraphHandle, ModuleHandle,
    StreamHandle,
};
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::platform::Gpu;
use tfrt_tensor::HostBuffer;

const PTX: &[u8] = b".version 7.0 .target sm_60 .address_size 64
    .visible .entry inc(.param .u64 p) {
        .reg .b64 %rd<2>; .reg .b32 %r<3>;
        ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1]; add.s32 %r2, %r1, 1; st.global.u32 [%rd1], %r2; ret;
    }\0";

/// The generator of PCG, without its permutation.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    /// Mostly one of the list, and at times none.
    fn pick<T: Copy>(&mut self, list: &[T], none: T) -> T {
        match list.len() {
            0 => none,
            len => *list.get(self.below(len + len.div_ceil(8))).unwrap_or(&none),
        }
    }
}

/// What a sequence has created; what it destroys stays in the lists, to be used again.
#[derive(Default)]
struct Created {
    contexts: Vec<ContextHandle>,
    streams: Vec<StreamHandle>,
    events: Vec<EventHandle>,
    memory: Vec<DevicePtr>,
    pinned: Vec<DevicePtr>,
    registered: Vec<DevicePtr>,
    modules: Vec<ModuleHandle>,
    functions: Vec<FunctionHandle>,
    graphs: Vec<GraphHandle>,
}

/// Runs one random call. Errors are expected.
fn call(gpu: &Gpu, random: &mut Random, created: &mut Created, buffer: &HostBuffer) {
    let driver = &gpu.driver;
    let context = random.pick(&created.contexts, ContextHandle(1));
    let stream = random.pick(&created.streams, StreamHandle(1));
    let event = random.pick(&created.events, EventHandle(1));
    let memory = random.pick(&created.memory, DevicePtr::NULL);
    let other = random.pick(&created.memory, DevicePtr::NULL);
    let module = random.pick(&created.modules, ModuleHandle(1));
    let graph = random.pick(&created.graphs, GraphHandle(1));
    let current = Current::set(&**driver, context);
    let num_bytes = random.below(5) * 4;
    let (Ok(current), choice) = (current, random.below(28)) else {
        let device = driver.device(random.below(3) as i32);
        created
            .contexts
            .extend(device.and_then(|device| driver.context_create(device)));
        return;
    };
    match choice {
        0 => drop(driver.context_destroy(context)),
        1..3 => created.streams.extend(driver.stream_create(&current)),
        3 => drop(driver.stream_destroy(stream)),
        4 => drop(driver.stream_synchronize(stream)),
        5 => created
            .events
            .extend(driver.event_create(&current, num_bytes == 0)),
        6 => drop(driver.event_destroy(event)),
        7 => drop(driver.event_record(event, stream)),
        8 => drop(driver.stream_wait_event(stream, event)),
        9 => drop((driver.event_query(event), driver.event_synchronize(event))),
        10..13 => created
            .memory
            .extend(driver.memory_allocate(&current, num_bytes)),
        13 => drop(driver.memory_free(memory)),
        14 => drop(driver.set_u32_async(&current, memory, 7, num_bytes / 4, stream)),
        15 => {
            let (to, from) = (CopyEndpoint::Device(memory), CopyEndpoint::Device(other));
            drop(driver.copy_async(&current, &to, &from, num_bytes, stream));
        }
        16 => {
            let (to, from) = (
                CopyEndpoint::Host(buffer.clone()),
                CopyEndpoint::Device(other),
            );
            drop(driver.copy_async(&current, &to, &from, num_bytes, stream));
        }
        17 => created
            .pinned
            .extend(driver.host_memory_allocate(&current, num_bytes)),
        18 => {
            let pinned = random.pick(&created.pinned, DevicePtr::NULL);
            drop((
                driver.host_memory_read(pinned, &mut [0; 4]),
                driver.host_memory_free(pinned),
            ));
        }
        19 => created
            .registered
            .extend(driver.host_memory_register(&current, buffer)),
        20 => {
            let registered = random.pick(&created.registered, DevicePtr::NULL);
            drop(driver.host_memory_unregister(registered));
        }
        21 => {
            created.modules.extend(driver.module_load(&current, PTX));
            created
                .functions
                .extend(driver.module_function(module, "inc"));
        }
        22 => drop(driver.module_unload(module)),
        23 => drop(driver.capture_begin(&current, stream)),
        24 => created.graphs.extend(driver.capture_end(&current, stream)),
        25 => drop(driver.graph_launch(&current, graph, stream)),
        26 => drop(driver.graph_destroy(graph)),
        _ => {
            let function = random.pick(&created.functions, FunctionHandle(1));
            let config = LaunchConfig {
                grid: [1, 1, 1],
                block: [random.below(3) as u32, 1, 1],
                shared_bytes: 0,
            };
            let arguments = [Argument::Pointer(memory)];
            drop(driver.launch(&current, function, config, stream, &arguments));
        }
    }
}

/// Destroys everything, and some of it a second time.
fn destroy(gpu: &Gpu, created: &Created) {
    let driver = &gpu.driver;
    for handle in &created.events {
        drop(driver.event_destroy(*handle));
    }
    for handle in &created.graphs {
        drop(driver.graph_destroy(*handle));
    }
    // Captures end with their streams, and calls that a capture forbids work again.
    for handle in &created.streams {
        drop(driver.stream_destroy(*handle));
    }
    for handle in &created.memory {
        drop(driver.memory_free(*handle));
    }
    for handle in &created.pinned {
        drop(driver.host_memory_free(*handle));
    }
    for handle in &created.registered {
        drop(driver.host_memory_unregister(*handle));
    }
    for handle in &created.modules {
        drop(driver.module_unload(*handle));
    }
    for handle in &created.contexts {
        drop(driver.context_destroy(*handle));
    }
}

#[test]
fn random_sequences_of_calls_leave_nothing_behind() {
    let is_long = std::env::var_os("TFRT_LONG_TESTS").is_some();
    let default = if is_long { 1_000_000 } else { 400 };
    let stress = std::env::var("TFRT_STRESS");
    let num_sequences: u64 = stress.map_or(default, |text| text.parse().expect("a number"));
    // Every other sequence runs where the order of accesses is checked.
    let devices = [false, true].map(|checks_order| {
        let device = HostDevice::new(Options {
            max_steps: 1000,
            memory_bytes: 1 << 20,
            checks_order,
            ..Options::default()
        });
        let gpu = HostDevice::gpu(&device);
        gpu.driver.init().unwrap();
        (device, gpu)
    });
    for seed in 0..num_sequences {
        let (device, gpu) = &devices[seed as usize % 2];
        let mut random = Random(seed * 2 + 1);
        let mut created = Created::default();
        let buffer = HostBuffer::zeroed(&allocator(), 16, 4).unwrap();
        for _ in 0..40 {
            call(gpu, &mut random, &mut created, &buffer);
        }
        destroy(gpu, &created);
        assert_eq!(device.num_live(), 0, "sequence {seed}");
    }
}

fn allocator() -> std::sync::Arc<dyn tfrt::host::allocator::HostAllocator> {
    std::sync::Arc::new(tfrt::host::allocator::Malloc)
}
