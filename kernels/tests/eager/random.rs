//! Random programs op by op against the same programs as graphs, and random errors.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

use tfrt::async_value::LiveScope;
use tfrt::core::{EagerContext, TensorHandle};
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{eager, handle, host};

/// A generator of numbers: the same for a seed, everywhere.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        // The multiplier and the increment of PCG's generator.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// How many random runs a test makes, if it makes so many by default: the environment variable
/// `TFRT_STRESS` is a factor.
pub(crate) fn num_runs(by_default: u64) -> u64 {
    let factor = std::env::var("TFRT_STRESS").ok();
    factor.map_or(by_default, |factor| {
        by_default * factor.parse::<u64>().expect("a number")
    })
}

/// One step of a random program: an op, and which values it takes.
struct Step {
    op: &'static str,
    operands: Vec<usize>,
}

const NUM_INPUTS: usize = 2;

/// Returns a random program over matrices of 3 x 3.
fn random_program(random: &mut Random) -> Vec<Step> {
    const UNARY: [&str; 5] = [
        "tf.Relu",
        "tf.Sigmoid",
        "tf.Softmax",
        "tfrt_test.async.noop",
        "tfrt_test.relu",
    ];
    const BINARY: [&str; 5] = [
        "tf.AddV2",
        "tf.Mul",
        "tf.Sub",
        "tfrt_test.add.denseonly",
        "tfrt_test.add.denseonly3",
    ];
    (0..12)
        .map(|index| {
            let known = NUM_INPUTS + index;
            let (ops, count) = if random.below(2) == 0 {
                (UNARY, 1)
            } else {
                (BINARY, 2)
            };
            Step {
                op: ops[random.below(ops.len())],
                operands: (0..count).map(|_| random.below(known)).collect(),
            }
        })
        .collect()
}

fn inputs(random: &mut Random) -> [Vec<f32>; NUM_INPUTS] {
    std::array::from_fn(|_| {
        (0..9)
            .map(|_| random.below(64) as f32 / 16.0 - 2.0)
            .collect()
    })
}

/// Returns the last value of a program, op by op.
fn op_by_op(
    eager: &Arc<EagerContext>,
    program: &[Step],
    inputs: &[Vec<f32>],
    ends_early: bool,
) -> Result<Vec<f32>> {
    let shaped = |numbers: &Vec<f32>| {
        let allocator = eager.host().allocator();
        let shape = tfrt_tensor::Shape::new(&[3, 3])?;
        eager.tensor(DenseHostTensor::from_elements(allocator, shape, numbers)?)
    };
    let mut values = inputs.iter().map(shaped).collect::<Result<Vec<_>>>()?;
    for step in program {
        let operands: Vec<&TensorHandle> =
            step.operands.iter().map(|&index| &values[index]).collect();
        let value = eager.op(step.op)?.call(&operands)?;
        values.push(value);
        if ends_early {
            eager.clear_cache();
        }
    }
    let last = values.pop().expect("programs have steps");
    drop(values);
    eager.to_vec(&last)
}

/// Returns the last value of the same program as a graph.
fn as_graph(host: &Arc<HostContext>, program: &[Step], inputs: &[Vec<f32>]) -> Vec<f32> {
    let mut text = "func @main(%v0: !t.tensor, %v1: !t.tensor) -> !t.tensor {\n".to_owned();
    for (index, step) in program.iter().enumerate() {
        let operands: Vec<String> = step
            .operands
            .iter()
            .map(|index| format!("%v{index}"))
            .collect();
        let types = vec!["!t.tensor"; operands.len()].join(", ");
        let (result, operands) = (NUM_INPUTS + index, operands.join(", "));
        writeln!(
            text,
            "  %v{result} = \"{}\"({operands}) : ({types}) -> !t.tensor",
            step.op
        )
        .expect("texts can be written");
    }
    let last = NUM_INPUTS + program.len() - 1;
    write!(text, "  tfrt.return %v{last} : !t.tensor\n}}\n").expect("texts can be written");
    let file = tfrt::text::compile(&text, "random.mlir", host.registry()).expect("a sound program");
    let program = Program::load(host, &file).expect("a sound program");
    let main = program.function("main").expect("it is there");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let arguments: Vec<AnyRef> = inputs
        .iter()
        .map(|numbers| {
            let shape = tfrt_tensor::Shape::new(&[3, 3]).expect("a shape");
            let tensor = DenseHostTensor::from_elements(host.allocator(), shape, numbers);
            AnyRef::available(tensor.expect("there is memory"))
        })
        .collect();
    let results = main.execute(&ctx, &arguments);
    host.await_values(&results).expect("no error");
    let tensor = results[0].try_read::<DenseHostTensor>().expect("a tensor");
    tensor.elements::<f32>().expect("floats").to_vec()
}

#[test]
fn random_programs_compute_the_same_bits_op_by_op_and_as_graphs() -> Result<()> {
    let bits = |numbers: Vec<f32>| numbers.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let count = num_runs(60);
    for (queue, seeds) in [("s", 0..count), ("mstd:4", count..2 * count)] {
        let eager = eager(queue);
        let small = EagerContext::builder(host(queue))
            .max_cached_ops(1)
            .build()?;
        for seed in seeds {
            let mut random = Random(seed);
            let (program, inputs) = (random_program(&mut random), inputs(&mut random));
            let graph = bits(as_graph(eager.host(), &program, &inputs));
            let calls = bits(op_by_op(&eager, &program, &inputs, false)?);
            assert_eq!(calls, graph, "seed {seed} under {queue}");
            let evicting = bits(op_by_op(&small, &program, &inputs, true)?);
            assert_eq!(
                evicting, graph,
                "seed {seed} under {queue}, with a cache of one op"
            );
            let _sync = eager.sync_mode();
            let sync = bits(op_by_op(&eager, &program, &inputs, false)?);
            assert_eq!(
                sync, graph,
                "seed {seed} under {queue}, one call after another"
            );
        }
    }
    Ok(())
}

#[test]
fn errors_and_cancelled_requests_leave_nothing_behind() -> Result<()> {
    let eager = eager("mstd:4");
    let scope = LiveScope::new();
    let mut random = Random(7);
    for _ in 0..num_runs(1_000) {
        scope.run(|| -> Result<()> {
            let request = RequestContextBuilder::new(Arc::clone(eager.host())).build();
            let cancels_at = random.below(20);
            let _request = eager.with_request(Arc::clone(&request))?;
            let mut values = vec![
                eager.tensor([1.0_f32, -2.0])?,
                eager.tensor([3.0_f32, 4.0, 5.0])?,
            ];
            for index in 0..8 {
                if index == cancels_at {
                    request.cancel();
                }
                let op = [
                    "tf.AddV2",
                    "tf.Mul",
                    "tfrt_test.async.noop_no_md",
                    "tfrt_test.error.tensor",
                    "tfrt_test.cast",
                    "tf.Relu",
                ];
                let op = op[random.below(op.len())];
                let first = random.below(values.len());
                let second = random.below(values.len());
                let operands = match op {
                    "tf.AddV2" | "tf.Mul" => vec![&values[first], &values[second]],
                    _ => vec![&values[first]],
                };
                values.push(handle(eager.op(op)?.call(&operands)));
            }
            Ok(())
        })?;
    }
    eager.host().quiesce().expect("not a worker");
    assert!(scope.wait_until_empty(Duration::from_secs(60)).is_empty());
    Ok(())
}
