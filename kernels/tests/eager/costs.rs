//! What ops and copies are assumed to cost.

use std::sync::Arc;

use tfrt::core::{EagerContext, PlacementRule};
use tfrt::host::device::{CpuSpeed, Device, LinkCost};
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::host;

/// A device of another type, which may be close to the host, and fast.
#[derive(Debug)]
struct Accelerator {
    latency_microseconds: f64,
    bytes_per_microsecond: Option<f64>,
}

impl Device for Accelerator {
    fn name(&self) -> &str {
        "ACC:0"
    }

    fn device_type(&self) -> &str {
        "acc"
    }

    fn link_from(&self, source: &dyn Device) -> LinkCost {
        assert_eq!(source.name(), "CPU:0");
        LinkCost {
            latency_microseconds: self.latency_microseconds,
            bytes_per_microsecond: 1000.0,
        }
    }

    fn bytes_per_microsecond(&self) -> Option<f64> {
        self.bytes_per_microsecond
    }
}

fn context(
    latency_microseconds: f64,
    bytes_per_microsecond: Option<f64>,
) -> Result<Arc<EagerContext>> {
    let accelerator = Arc::new(Accelerator {
        latency_microseconds,
        bytes_per_microsecond,
    });
    EagerContext::builder(host("s")).device(accelerator).build()
}

#[tfrt_op("cost_test.Estimated", metadata = same, cost = slow_cost)]
fn estimated(x: &DenseHostTensor, #[attr(default = 1)] passes: i64) -> DenseHostTensor {
    let _ = passes;
    x.clone()
}

#[tfrt_op("cost_test.Estimated", device = "acc", metadata = same, cost = fast_cost)]
fn estimated_there(x: &DenseHostTensor, #[attr(default = 1)] passes: i64) -> DenseHostTensor {
    let _ = passes;
    x.clone()
}

fn same(x: &TensorMetadata, _passes: i64) -> TensorMetadata {
    x.clone()
}

/// A microsecond for each element.
fn slow_cost(x: &TensorMetadata, passes: i64) -> f64 {
    (passes * x.num_elements().unwrap_or(0) as i64) as f64
}

fn fast_cost(_x: &TensorMetadata, passes: i64) -> Result<f64> {
    Ok(0.25 * passes as f64)
}

#[test]
fn an_op_runs_where_it_and_its_copies_cost_least() -> Result<()> {
    let eager = context(20.0, None)?;
    let x = eager.tensor(vec![0.0_f32; 10])?;
    let placement = eager.explain("cost_test.Estimated", &[&x])?;
    assert_eq!(placement.rule, PlacementRule::LeastCost);
    assert_eq!(
        placement.to_string(),
        "\
cost_test.Estimated runs on CPU:0: lowest cost of moving operands and of the op
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         0.0 us                   10.0 us
  ACC:0   yes         20.0 us                  0.2 us
"
    );
    let x = eager.tensor(vec![0.0_f32; 1000])?;
    let placement = eager.explain("cost_test.Estimated", &[&x])?;
    assert_eq!(placement.device.0.name(), "ACC:0", "{placement}");
    // The link of the device counts: 24 us with 4,000 bytes.
    assert_eq!(placement.candidates[1].cost_microseconds, 24.0);
    let x = eager.tensor(vec![0.0_f32; 24])?;
    let far = context(24.0, None)?;
    let placement = far.explain("cost_test.Estimated", &[&x])?;
    assert_eq!(placement.device.0.name(), "CPU:0", "{placement}");
    Ok(())
}

#[tfrt_op("cost_test.Plain", metadata = tfrt::core::metadata::same_as)]
fn plain(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("cost_test.Plain", device = "acc", metadata = tfrt::core::metadata::same_as)]
fn plain_there(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[test]
fn the_speed_of_a_device_counts_without_an_estimate() -> Result<()> {
    let eager = context(1.0, Some(10.0))?;
    let x = eager.tensor(vec![0.0_f32; 10])?;
    let placement = eager.explain("cost_test.Plain", &[&x])?;
    // Operand and result have 40 bytes each. The processor takes no time worth mentioning.
    assert_eq!(
        placement.to_string(),
        "\
cost_test.Plain runs on CPU:0: lowest cost of moving operands and of the op
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         0.0 us                   0.0 us
  ACC:0   yes         1.0 us                   8.0 us
"
    );
    // The estimate of the op is preferred.
    let placement = eager.explain("cost_test.Estimated", &[&x])?;
    assert_eq!(placement.candidates[1].op_microseconds, Some(0.25));
    Ok(())
}

#[test]
fn a_device_of_unknown_speed_makes_moving_decide_alone() -> Result<()> {
    let eager = context(1.0, None)?;
    let x = eager.tensor(vec![0.0_f32; 10])?;
    let placement = eager.explain("cost_test.Plain", &[&x])?;
    assert_eq!(
        placement.to_string(),
        "\
cost_test.Plain runs on CPU:0: lowest cost of moving operands
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         0.0 us                   0.0 us
  ACC:0   yes         1.0 us                   unknown
"
    );
    Ok(())
}

/// The result of an op without operands, which need not be moved anywhere.
const NUM_FILLED: usize = 1 << 16;

#[tfrt_op("cost_test.Filled", metadata = filled_metadata)]
fn filled() -> Result<DenseHostTensor> {
    Ok(DenseHostTensor::vector(&[1.0_f32; NUM_FILLED])?)
}

#[tfrt_op("cost_test.Filled", device = "acc", metadata = filled_metadata)]
fn filled_there() -> Result<DenseHostTensor> {
    filled()
}

fn filled_metadata() -> TensorMetadata {
    TensorMetadata::new(DType::F32, [NUM_FILLED])
}

#[test]
fn a_faster_device_attracts_an_op_by_its_speed_alone() -> Result<()> {
    let cpu = CpuSpeed::of_this_machine().bytes_per_microsecond();
    for (speed, device) in [
        (Some(2.0 * cpu), "ACC:0"),
        (Some(0.5 * cpu), "CPU:0"),
        // The first of equal devices.
        (Some(cpu), "CPU:0"),
        // One that states nothing is not the fastest.
        (None, "CPU:0"),
    ] {
        let eager = context(1.0, speed)?;
        let placement = eager.explain("cost_test.Filled", &[])?;
        assert_eq!(placement.rule, PlacementRule::LeastCost);
        assert_eq!(placement.device.0.name(), device, "{placement}");
        let ones = eager.op("cost_test.Filled")?.call(&[])?;
        assert_eq!(crate::device_of(&ones), device);
    }
    Ok(())
}

#[test]
fn moving_an_operand_outweighs_the_speed_of_a_device() -> Result<()> {
    let eager = context(1.0, Some(f64::MAX))?;
    let x = eager.tensor(vec![0.0_f32; 10])?;
    let there = eager.copy_to(&x, "ACC:0")?;
    for (operand, device) in [(&x, "CPU:0"), (&there, "ACC:0")] {
        let placement = eager.explain("cost_test.Plain", &[operand])?;
        assert_eq!(placement.device.0.name(), device, "{placement}");
    }
    Ok(())
}

#[tfrt_op("cost_test.Odd", metadata = tfrt::core::metadata::same_as, cost = odd_cost)]
fn odd(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn odd_cost(x: &TensorMetadata) -> Result<f64> {
    match x.num_elements() {
        Some(1) => Ok(f64::NAN),
        Some(2) => Ok(-1.0),
        Some(3) => Err(Error::new("no estimate")),
        Some(4) => panic!("as a test"),
        _ => Ok(7.0),
    }
}

#[test]
fn the_speed_of_the_device_replaces_an_estimate_that_is_no_time() -> Result<()> {
    let eager = context(1.0, None)?;
    let estimate = |num_elements: usize| -> Result<Option<f64>> {
        let x = eager.tensor(vec![0.0_f32; num_elements])?;
        let placement = eager.explain("cost_test.Odd", &[&x])?;
        Ok(placement.candidates[0].op_microseconds)
    };
    let found: Vec<Option<f64>> = (1..=5).map(estimate).collect::<Result<_>>()?;
    let speed = CpuSpeed::of_this_machine().bytes_per_microsecond();
    // An operand and a result.
    let by_speed = |num_elements: f64| Some(2.0 * 4.0 * num_elements / speed);
    let [one, two, three, four] = [1.0, 2.0, 3.0, 4.0].map(by_speed);
    assert_eq!(found, [one, two, three, four, Some(7.0)]);
    Ok(())
}
