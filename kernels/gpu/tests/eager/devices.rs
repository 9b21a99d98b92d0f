//! Devices, and tensors from and to them.

use std::sync::{Arc, Barrier};

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::host::HostContext;
use tfrt::prelude::*;
use tfrt_gpu::eager::EagerGpu;
use tfrt_gpu::host_device::{HostDevice, Options};
use tfrt_gpu::values::StreamAllocator;

use crate::common::{assert_nothing_is_left, eager, eager_with, failing, host_with};

/// Copies elements to a GPU, and back.
fn round_trip(eager: &EagerContext, numbers: &[f32]) -> Result<Vec<f32>, String> {
    let there = |error: tfrt::Error| error.message().to_owned();
    let x = eager.tensor(numbers).map_err(there)?;
    let on_gpu = eager.copy_to(&x, "GPU:0").map_err(there)?;
    drop(x);
    eager.to_vec::<f32>(&on_gpu).map_err(there)
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|number| number as f32 * 0.5 - 7.0).collect()
}

#[test]
fn a_gpu_is_opened_when_it_is_named() {
    let host = host_with(Default::default());
    assert!(host.devices().get("GPU:1").is_none());
    let opened = host.device("GPU:1").unwrap();
    assert_eq!((opened.0.name(), opened.0.device_type()), ("GPU:1", "gpu"));
    let again = host.device("GPU:1").unwrap();
    assert!(std::sync::Arc::ptr_eq(&opened.0, &again.0));
    let message = |name: &str| host.device(name).unwrap_err().message().to_owned();
    assert_eq!(
        message("GPU:7"),
        "'cuDeviceGet(&device, ordinal)': CUDA_ERROR_INVALID_DEVICE (invalid device ordinal)"
    );
    assert_eq!(message("GPU:x"), "unknown device `GPU:x`");
    let cpu = host.device("CPU:0");
    assert!(cpu.is_err() || EagerGpu::of(&cpu.unwrap()).is_err());
}

#[test]
fn tensors_of_every_size_come_back_as_they_went() {
    let eager = eager();
    // None, one, a direct copy, one block, many blocks, and more than the ring has at once.
    for count in [0, 1, 1000, 20_000, 600_000, 3_000_001] {
        let numbers = numbers(count);
        assert_eq!(
            round_trip(&eager, &numbers),
            Ok(numbers),
            "{count} elements"
        );
    }
    assert_nothing_is_left(&eager);
}

#[test]
fn a_tensor_moves_between_gpus() {
    let eager = eager();
    let numbers = numbers(5000);
    let x = eager.tensor(&numbers[..]).unwrap();
    let first = eager.copy_to(&x, "GPU:0").unwrap();
    let second = eager.copy_to(&first, "GPU:1").unwrap();
    drop(first);
    // The memory of the first copy is free now, and written again, after the second copy.
    let other = eager.tensor(&vec![0.25_f32; 5000][..]).unwrap();
    let other = eager.copy_to(&other, "GPU:0").unwrap();
    let name = |handle: &TensorHandle| handle.device().unwrap().0.name().to_owned();
    assert_eq!([name(&second), name(&other)], ["GPU:1", "GPU:0"]);
    assert_eq!(eager.to_vec::<f32>(&second).unwrap(), numbers);
    let text = second.to_string();
    assert!(
        text.starts_with("DenseGpuTensor<dtype=f32, shape=[5000], pointer=0x")
            && text.ends_with(" (CUDA)>"),
        "{text}"
    );
    drop((second, other));
    assert_nothing_is_left(&eager);
}

/// Returns `x` after the device has been busy for some time.
#[tfrt_op("gpu_test.Slowly", elementwise)]
fn slowly(x: f32) -> f32 {
    let mut rounds = 0.0;
    for _ in 0..100_000 {
        rounds += 1.0;
    }
    if rounds > 0.0 { x } else { 0.0 }
}

/// Keeps a GPU busy, and returns the result.
fn busy(eager: &Arc<EagerContext>, gpu: &str, number: f32) -> TensorHandle {
    let _scope = eager.device(gpu).unwrap();
    let x = eager.tensor(&[number][..]).unwrap();
    let op = eager.op("gpu_test.Slowly").unwrap().ready().unwrap();
    op.call(&[&x]).unwrap()
}

#[test]
fn a_copy_between_gpus_waits_until_its_source_is_written() {
    let eager = eager();
    let source = busy(&eager, "GPU:0", 2.5);
    let copy = eager.copy_to(&source, "GPU:1").unwrap();
    assert_eq!(eager.to_vec::<f32>(&copy).unwrap(), [2.5]);
}

#[test]
fn the_source_of_a_copy_between_gpus_is_not_written_again_before_it_is_read() {
    let eager = eager();
    let x = eager.tensor(&[1.5_f32][..]).unwrap();
    let source = eager.copy_to(&x, "GPU:0").unwrap();
    // The copy is behind this work of the other GPU.
    let work = busy(&eager, "GPU:1", 2.5);
    let copy = eager.copy_to(&source, "GPU:1").unwrap();
    // The memory of the source is free now, and the next tensor takes it.
    drop(source);
    let y = eager.tensor(&[-4.0_f32][..]).unwrap();
    let next = eager.copy_to(&y, "GPU:0").unwrap();
    assert_eq!(eager.to_vec::<f32>(&copy).unwrap(), [1.5]);
    assert_eq!(eager.to_vec::<f32>(&next).unwrap(), [-4.0]);
    drop(work);
}

#[test]
fn a_tensor_that_no_gpu_takes_is_an_error_of_its_handle() {
    let eager = eager();
    let text = eager.tensor("words").unwrap();
    let copy = eager.copy_to(&text, "GPU:0").unwrap();
    assert_eq!(
        copy.error_if_present().unwrap().message(),
        "cannot find conversion function for [StringHost]->[DenseGpu]"
    );
}

#[test]
fn a_failed_call_is_the_error_of_the_copy() {
    const ILLEGAL_ADDRESS: u32 = 700;
    // Each call of a round trip of small and of large tensors, with its number.
    let calls: &[(&str, u64, usize, &str)] = &[
        ("cuMemAlloc", 1, 10, "cuMemAlloc"),
        ("cuMemcpyAsync", 1, 10, "cuMemcpyAsync"),
        (
            "cuMemcpyAsync",
            2,
            10,
            "failed to enqueue host to device memcpy: 'cuMemcpyAsync",
        ),
        (
            "cuEventCreate",
            1,
            10,
            "could not create event to wait for host to device memcpy: 'cuEventCreate",
        ),
        (
            "cuEventRecord",
            1,
            10,
            "could not enqueue event to wait for host to device memcpy: 'cuEventRecord",
        ),
        (
            "cuEventSynchronize",
            1,
            10,
            "could not wait for event: 'cuEventSynchronize",
        ),
        ("cuMemHostAlloc", 1, 600_000, "cuMemHostAlloc"),
        ("cuMemHostAlloc", 3, 600_000, "cuMemHostAlloc"),
        ("cuEventCreate", 2, 600_000, "cuEventCreate"),
        ("cuEventRecord", 2, 600_000, "cuEventRecord"),
        ("cuMemcpyAsync", 3, 600_000, "cuMemcpyAsync"),
        (
            "cuMemcpyAsync",
            5,
            600_000,
            "failed to enqueue host to device memcpy: 'cuMemcpyAsync",
        ),
        ("cuEventSynchronize", 2, 600_000, "'cuEventSynchronize"),
        ("cuEventQuery", 1, 600_000, "cuEventQuery"),
        ("cuMemHostAlloc", 2, 3_000_000, "cuMemHostAlloc"),
        ("cuMemcpyAsync", 7, 3_000_000, "cuMemcpyAsync"),
        ("cuEventSynchronize", 1, 3_000_000, "cuEventSynchronize"),
    ];
    for &(function, count, len, expected) in calls {
        let eager = eager_with(failing(&[(function, count, ILLEGAL_ADDRESS)]));
        let what = format!("call {count} of {function} with {len} elements");
        let error = round_trip(&eager, &numbers(len)).expect_err(&what);
        assert!(error.contains(expected), "{what}: {error}");
        assert!(
            error.contains("CUDA_ERROR_ILLEGAL_ADDRESS"),
            "{what}: {error}"
        );
        // The next copy is not affected.
        assert_eq!(
            round_trip(&eager, &numbers(len)),
            Ok(numbers(len)),
            "{what}"
        );
        assert_nothing_is_left(&eager);
    }
}

#[test]
fn a_missing_device_is_the_error_of_who_asked() {
    for function in ["cuInit", "cuDevicePrimaryCtxRetain", "cuStreamCreate"] {
        let host = host_with(failing(&[(function, 1, 100)]));
        let error = host.device("GPU:0").unwrap_err();
        let message = error.message();
        assert!(
            message.contains(function) && message.contains("CUDA_ERROR_NO_DEVICE"),
            "{function}: {message}"
        );
        assert!(host.device("GPU:0").is_ok(), "{function}");
    }
    let host = HostContext::builder().build();
    assert_eq!(
        host.device("TPU:0").unwrap_err().message(),
        "unknown device `TPU:0`"
    );
}

#[test]
fn two_threads_keep_the_limit_of_an_allocator() {
    // The device takes longer to allocate so much than the two threads start apart.
    const NUM_BYTES: usize = 4 << 20;
    let gpu = EagerGpu::open(&HostDevice::open(Options::default()), 0).unwrap();
    for _ in 0..20 {
        let allocator = StreamAllocator::with_limit(gpu.context(), NUM_BYTES);
        let start = Barrier::new(2);
        let allocate = || {
            start.wait();
            allocator.allocate(NUM_BYTES, gpu.stream())
        };
        let both = std::thread::scope(|scope| {
            let other = scope.spawn(allocate);
            [allocate(), other.join().unwrap()]
        });
        assert_eq!(both.iter().filter(|one| one.is_ok()).count(), 1);
        assert_eq!(allocator.stats().used_bytes, NUM_BYTES);
        // The bytes that the other one had reserved are available.
        drop(both);
        allocator.clear().unwrap();
        assert!(allocator.allocate(NUM_BYTES, gpu.stream()).is_ok());
    }
}
