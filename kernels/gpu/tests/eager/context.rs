//! Contexts with GPUs: placement, scopes, kept copies.

use std::sync::Arc;

use tfrt::core::{EagerContext, PlacementRule, TensorHandle};
use tfrt::host::device::{CpuSpeed, DeviceRef, LinkCost};
use tfrt::prelude::*;
use tfrt_gpu::eager::{EagerGpu, GpuCall};
use tfrt_gpu::host_device::Options;

use crate::arrays::Array;
use crate::common::{assert_nothing_is_left, eager, eager_with, failing};

/// Adds the first number of the second operand, which is needed in host memory, to the shape of
/// nothing: returns the first operand.
#[tfrt_op("gpu_test.OnDevice", raw, device = "gpu")]
fn on_device(call: &mut OpCall<'_>) -> Result<()> {
    let mut call = GpuCall::new(call)?;
    let x = call.tensor(0)?.clone();
    call.set_result(0, x);
    Ok(())
}

/// The speed of each GPU, in bytes per microsecond.
const GPU_SPEED: f64 = 64_000.0;

fn device_of(handle: &TensorHandle) -> String {
    handle.device().expect("it is known").0.name().to_owned()
}

fn add(eager: &Arc<EagerContext>, a: &TensorHandle, b: &TensorHandle) -> Result<TensorHandle> {
    eager.op("tf.AddV2")?.ready()?.call(&[a, b])
}

#[test]
fn an_op_runs_where_its_operands_are() {
    let eager = eager();
    let x = Array::new(&[2], vec![1.0, 2.0]).tensor(&eager, DType::F32);
    let sum = add(&eager, &x, &x).unwrap();
    assert_eq!(device_of(&sum), "CPU:0");
    for name in ["GPU:1", "GPU:0"] {
        let there = eager.copy_to(&x, name).unwrap();
        let sum = add(&eager, &there, &there).unwrap();
        assert_eq!(device_of(&sum), name);
        let placement = eager.explain("tf.AddV2", &[&there, &there]).unwrap();
        assert_eq!(placement.rule, PlacementRule::LeastCost);
        assert_eq!(eager.to_vec::<f32>(&sum).unwrap(), [2.0, 4.0]);
    }
    // Copies to the processor and to `GPU:1` take the same time, so that their speeds decide.
    let there = eager.copy_to(&x, "GPU:1").unwrap();
    let placement = eager.explain("tf.AddV2", &[&there, &x]).unwrap();
    let home = match CpuSpeed::of_this_machine().bytes_per_microsecond() >= GPU_SPEED {
        true => "CPU:0",
        false => "GPU:1",
    };
    assert_eq!(
        placement.to_string(),
        format!(
            "\
tf.AddV2 runs on {home}: lowest cost of moving operands and of the op
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         10.0 us                  0.0 us
  GPU:0   yes         20.0 us                  0.0 us
  GPU:1   yes         10.0 us                  0.0 us
"
        )
    );
    // The processor does not have the op.
    let y = eager
        .op("gpu_test.OnDevice")
        .unwrap()
        .ready()
        .unwrap()
        .call(&[&x])
        .unwrap();
    assert_eq!(device_of(&y), "GPU:0");
}

/// Returns what the second GPU of a context with such options says of its links from the host and
/// from the first GPU, and of its speed.
fn costs(options: Options) -> (LinkCost, LinkCost, Option<f64>) {
    let eager = eager_with(options);
    let devices: Vec<DeviceRef> = eager.devices().cloned().collect();
    let [host, first, second] = &devices[..] else {
        panic!("{devices:?}");
    };
    let link = |source: &DeviceRef| second.0.link_from(&*source.0);
    // What the driver said is kept.
    assert_eq!(link(first), link(first));
    (link(host), link(first), second.0.bytes_per_microsecond())
}

#[test]
fn a_gpu_tells_its_links_and_its_speed() {
    let link = |latency_microseconds, bytes_per_microsecond| LinkCost {
        latency_microseconds,
        bytes_per_microsecond,
    };
    let (bus, peer, twice) = (
        link(10.0, 10_000.0),
        link(10.0, 20_000.0),
        link(20.0, 5_000.0),
    );
    assert_eq!(costs(Options::default()), (bus, peer, Some(GPU_SPEED)));
    // A driver that fails to say something changes only what depends on it.
    let all_of_them = (1..=8).map(|count| ("cuDeviceGetAttribute", count, 1));
    let options = failing(&all_of_them.collect::<Vec<_>>());
    assert_eq!(costs(options), (bus, peer, None));
    let options = failing(&[("cuDeviceCanAccessPeer", 1, 1)]);
    assert_eq!(costs(options), (bus, twice, Some(GPU_SPEED)));
}

#[test]
fn the_time_of_an_op_follows_from_the_speed_of_the_gpu() {
    let eager = eager();
    let x = Array::from_fn(&[1 << 20], |_| 1.0).tensor(&eager, DType::F32);
    let there = eager.copy_to(&x, "GPU:1").unwrap();
    let placement = eager.explain("tf.Relu", &[&there]).unwrap();
    let candidates = placement.candidates.iter();
    let costs: Vec<_> = candidates
        .map(|known| (known.device.0.name(), known.op_microseconds))
        .collect();
    // Eight megabytes are read and written.
    let at = |speed: f64| Some(8_388_608.0 / speed);
    let cpu = CpuSpeed::of_this_machine().bytes_per_microsecond();
    let [cpu, gpu] = [at(cpu), at(GPU_SPEED)];
    assert_eq!(costs, [("CPU:0", cpu), ("GPU:0", gpu), ("GPU:1", gpu)]);
}

#[test]
fn an_op_of_a_large_result_runs_where_it_is_written_first() {
    let eager = eager();
    let [column, row] = [[1 << 10, 1], [1, 1 << 10]].map(|shape| {
        let x = Array::from_fn(&shape, |_| 1.0).tensor(&eager, DType::F32);
        eager.copy_to(&x, "GPU:0").unwrap()
    });
    // The result is much larger than the operands: moving them takes less time than writing it.
    let placement = eager.explain("tf.AddV2", &[&column, &row]).unwrap();
    let total = |device: &str| {
        let mut candidates = placement.candidates.iter();
        let found = candidates.find(|known| known.device.0.name() == device);
        let found = found.unwrap();
        found.cost_microseconds + found.op_microseconds.unwrap()
    };
    let home = match total("CPU:0") < total("GPU:0") {
        true => "CPU:0",
        false => "GPU:0",
    };
    assert_eq!(placement.device.0.name(), home, "{placement}");
    // A GPU whose driver does not state its speed keeps the op: only moving counts.
    let all_of_them = (1..=8).map(|count| ("cuDeviceGetAttribute", count, 1));
    let eager = eager_with(failing(&all_of_them.collect::<Vec<_>>()));
    let [column, row] = [[1 << 10, 1], [1, 1 << 10]].map(|shape| {
        let x = Array::from_fn(&shape, |_| 1.0).tensor(&eager, DType::F32);
        eager.copy_to(&x, "GPU:0").unwrap()
    });
    let placement = eager.explain("tf.AddV2", &[&column, &row]).unwrap();
    assert_eq!(placement.device.0.name(), "GPU:0", "{placement}");
}

#[test]
fn a_scope_names_the_device() {
    let eager = eager();
    let x = Array::new(&[2], vec![1.0, 2.0]).tensor(&eager, DType::F32);
    {
        let _scope = eager.device("GPU:1").unwrap();
        let sum = add(&eager, &x, &x).unwrap();
        assert_eq!(device_of(&sum), "GPU:1");
        // No GPU has the op.
        let error = eager
            .op("tf.ZerosLike")
            .unwrap()
            .attr("T", DType::F32)
            .unwrap()
            .ready()
            .unwrap()
            .call(&[&x])
            .unwrap_err();
        assert_eq!(
            error.message(),
            "op `tf.ZerosLike` is not available for GPU:1; available for: CPU:0"
        );
    }
    {
        let _scope = eager.device("GPU").unwrap();
        let there = eager.copy_to(&x, "GPU:1").unwrap();
        assert_eq!(device_of(&add(&eager, &there, &there).unwrap()), "GPU:1");
    }
    let error = eager.device("GPU:3").unwrap_err();
    assert_eq!(
        error.message(),
        "device 'GPU:3' is not there; there are CPU:0, GPU:0, GPU:1"
    );
}

#[test]
fn small_integers_stay_on_the_host() {
    let eager = eager();
    let shape = Array::new(&[2], vec![3.0, 4.0]).tensor(&eager, DType::I32);
    let sum = add(&eager, &shape, &shape).unwrap();
    assert_eq!(device_of(&sum), "CPU:0");
    let placement = eager.explain("tf.AddV2", &[&shape, &shape]).unwrap();
    assert_eq!(placement.rule, PlacementRule::SmallIntegers);
    // An operand that an op needs in host memory is not moved with the others.
    let x = Array::from_fn(&[2, 3], |at| at[1] as f64).tensor(&eager, DType::F32);
    let x = eager.copy_to(&x, "GPU:0").unwrap();
    let axis = Array::new(&[1], vec![1.0]).tensor(&eager, DType::I32);
    let gpu = eager
        .devices()
        .find(|device| device.0.name() == "GPU:0")
        .unwrap()
        .clone();
    let before = EagerGpu::of(&gpu).unwrap().allocator().stats();
    let _scope = eager.device("GPU:0").unwrap();
    let mean = eager
        .op("tf.Mean")
        .unwrap()
        .ready()
        .unwrap()
        .call(&[&x, &axis])
        .unwrap();
    assert_eq!(eager.to_vec::<f32>(&mean).unwrap(), [1.0, 1.0]);
    let after = EagerGpu::of(&gpu).unwrap().allocator().stats();
    let requests = |stats: tfrt_gpu::values::StreamAllocatorStats| stats.allocations + stats.reuses;
    assert_eq!(requests(after) - requests(before), 1, "the mean alone");
}

#[test]
fn a_copy_is_made_once_and_given_up_when_memory_is_short() {
    let eager = eager();
    let x = Array::from_fn(&[100], |at| at[0] as f64).tensor(&eager, DType::F32);
    let _scope = eager.device("GPU:0").unwrap();
    let sums: Vec<TensorHandle> = (0..3).map(|_| add(&eager, &x, &x).unwrap()).collect();
    assert_eq!(eager.kept_copies().copies, 1);
    assert_eq!(eager.kept_copies().bytes, 400);
    for sum in &sums {
        assert_eq!(eager.to_vec::<f32>(sum).unwrap()[99], 198.0);
    }
    drop(sums);
    eager.give_up_copies();
    assert_nothing_is_left(&eager);
}

#[test]
fn many_threads_share_a_device() {
    let eager = eager();
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let eager = &eager;
            scope.spawn(move || {
                let _scope = eager.device("GPU:0").unwrap();
                let one = Array::from_fn(&[64], |_| 1.0).tensor(eager, DType::F32);
                let add = eager.op("tf.AddV2").unwrap().ready().unwrap();
                let start = Array::from_fn(&[64], |_| thread.into());
                let mut x = start.tensor(eager, DType::F32);
                for _ in 0..50 {
                    x = add.call(&[&x, &one]).unwrap();
                }
                let expected = vec![thread as f32 + 50.0; 64];
                assert_eq!(eager.to_vec::<f32>(&x).unwrap(), expected);
            });
        }
    });
    eager.give_up_copies();
    assert_nothing_is_left(&eager);
}
