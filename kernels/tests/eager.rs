//! Ops called from Rust: order, places, modes, memory, errors, and programs op by op against the
//! same programs as graphs.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tfrt::async_value::LiveScope;
use tfrt::core::HandlePromise;
use tfrt::core::{EagerContext, PlacementRule, TensorHandle};
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::host::device::{CpuDevice, DeviceRef};
use tfrt::prelude::*;
use tfrt::queue::create_queue;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);

fn host(queue: &str) -> Arc<HostContext> {
    HostContext::builder()
        .registry(Arc::new(
            KernelRegistry::from_link().expect("names are unique"),
        ))
        .queue(create_queue(queue).expect("a known queue"))
        .build()
}

fn eager(queue: &str) -> Arc<EagerContext> {
    EagerContext::builder(host(queue))
        .build()
        .expect("one device")
}

/// Returns the error of a call.
fn message<T>(outcome: Result<T>) -> String {
    match outcome {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.message().to_owned(),
    }
}

/// Returns the handle that a call returns, or one of its error: which of them depends on how fast
/// the queue is.
fn handle(outcome: Result<TensorHandle>) -> TensorHandle {
    outcome.unwrap_or_else(TensorHandle::error)
}

/// What effects did, in order.
static EFFECTS: Mutex<Vec<f32>> = Mutex::new(Vec::new());

/// Notes the first element.
#[tfrt_op("eager_test.Note", side_effecting)]
fn note(x: &DenseHostTensor) -> Result<()> {
    let first = x.elements::<f32>()?.first().copied().unwrap_or(f32::NAN);
    EFFECTS.lock().unwrap().push(first);
    Ok(())
}

/// Panics.
#[tfrt_op("eager_test.Panics")]
fn panics(x: &DenseHostTensor) -> DenseHostTensor {
    assert!(x.num_elements() > 1000, "not large enough");
    x.clone()
}

/// Returns a vector of two elements, whatever it said.
#[tfrt_op("eager_test.Lies", metadata = same)]
fn lies(x: &DenseHostTensor) -> Result<DenseHostTensor> {
    let first = x.elements::<f32>()?[0];
    Ok(DenseHostTensor::vector(&[first, first])?)
}

/// Returns the same, later.
#[tfrt_op("eager_test.LiesLater", metadata = same)]
async fn lies_later(x: &DenseHostTensor, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let (promise, turn) = AsyncValueRef::unconstructed();
    ctx.enqueue(move || promise.emplace(Chain));
    turn.await?;
    lies(x)
}

/// Returns its metadata function panics.
#[tfrt_op("eager_test.PanicsAtOnce", metadata = panicking)]
fn panics_at_once(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn panicking(x: &TensorMetadata) -> TensorMetadata {
    assert!(x.extents.len() > 1000, "no such rank");
    x.clone()
}

#[test]
fn a_panic_of_a_metadata_function_is_an_error() -> Result<()> {
    let said = "kernel 'eager_test.PanicsAtOnce' panicked: no such rank";
    for queue in ["s", "mstd:2"] {
        let eager = eager(queue);
        let op = eager.op("eager_test.PanicsAtOnce")?.ready()?;
        let x = eager.tensor([1.0_f32])?;
        let later = eager.op("tfrt_test.async.noop_no_md")?.call(&[&x])?;
        for x in [&x, &later] {
            let found = handle(op.call(&[x]));
            assert_eq!(message(eager.to_vec::<f32>(&found)), said, "under {queue}");
        }
    }
    Ok(())
}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

#[test]
fn a_result_that_is_not_what_was_said_is_an_error() -> Result<()> {
    let eager = eager("s");
    let (two, three) = (eager.tensor([1.0_f32; 2])?, eager.tensor([1.0_f32; 3])?);
    for (op, said) in [
        (
            "eager_test.Lies",
            "`eager_test.Lies` returned f32 [2] as result 0, but its metadata function said f32 [3]",
        ),
        (
            "eager_test.LiesLater",
            "`eager_test.LiesLater` returned f32 [2] as result 0, but its metadata function said \
             f32 [3]",
        ),
    ] {
        let op = eager.op(op)?.ready()?;
        assert_eq!(eager.to_vec::<f32>(&op.call(&[&two])?)?, [1.0, 1.0]);
        let outcome = op.call(&[&three]).and_then(|y| eager.to_vec::<f32>(&y));
        assert_eq!(message(outcome), said);
    }
    Ok(())
}

#[test]
fn ops_compute_and_tell_metadata_at_once() -> Result<()> {
    let eager = eager("s");
    let a = eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]])?;
    let b = eager.tensor([10.0_f32, 20.0])?;
    let sum = eager.op("tf.AddV2")?.call(&[&a, &b])?;
    assert_eq!(eager.to_vec::<f32>(&sum)?, [11.0, 22.0, 13.0, 24.0]);
    let product = eager
        .op("tf.MatMul")?
        .attr("transpose_a", false)?
        .attr("transpose_b", true)?;
    let product = product.call(&[&a, &sum])?;
    assert_eq!(eager.to_vec::<f32>(&product)?, [55.0, 61.0, 121.0, 135.0]);
    let later = eager.op("tfrt_test.async.noop")?.call(&[&sum])?;
    assert_eq!(
        later.to_string(),
        "future TensorHandle with metadata f32 [2, 2]"
    );
    assert_eq!(eager.to_vec::<f32>(&later)?, [11.0, 22.0, 13.0, 24.0]);
    Ok(())
}

#[test]
fn what_is_wrong_at_once_is_the_error_of_the_call() -> Result<()> {
    let eager = eager("s");
    let (a, b) = (
        eager.tensor([1.0_f32, 2.0])?,
        eager.tensor([1.0_f32, 2.0, 3.0])?,
    );
    let add = eager.op("tf.AddV2")?.ready()?;
    let error = add.call(&[&a, &b]).unwrap_err();
    let line = line!() - 1;
    assert_eq!(error.message(), "Dimensions must be equal, but are 2 and 3");
    assert_eq!(error.code(), ErrorCode::InvalidArgument);
    assert_eq!(error.kernel(), Some("tf.AddV2"));
    let place = error.place().to_string();
    assert!(
        place.contains(&format!("kernels/tests/eager.rs:{line}:")),
        "{place}"
    );

    assert_eq!(
        message(add.call(&[&a])),
        "`tf.AddV2`: expected 2 operands, found 1"
    );
    assert_eq!(
        message(eager.op("tf.AddV3")),
        "there is no op `tf.AddV3` for CPU:0; did you mean `tf.AddV2`?"
    );
    assert_eq!(
        message(eager.op("tf.Const")?.attr("valu", 1_i32)),
        "`tf.Const` has no attribute `valu`; did you mean `value`?"
    );
    assert_eq!(
        message(eager.op("tf.Shape")?.ready()),
        "`tf.Shape` needs the attribute `out_type`"
    );
    assert_eq!(
        message(eager.op("tf.Shape")?.attr("out_type", 3_i32)?.call(&[&a])),
        "attribute `out_type` of `tf.Shape`: expected type, found i32"
    );
    assert_eq!(
        message(eager.op("eager_test.Panics")?.call(&[&a])),
        "kernel 'eager_test.Panics' panicked: not large enough"
    );
    assert_eq!(
        message(add.call(&[&a, &TensorHandle::default()])),
        "argument 1 of `tf.AddV2` is not a valid tensor handle"
    );
    Ok(())
}

#[test]
fn an_error_passes_from_op_to_op() -> Result<()> {
    let eager = eager("s");
    let a = eager.tensor([1.0_f32])?;
    let failed = eager
        .op("tfrt_test.error.tensor")?
        .ready()?
        .call(&[&a])
        .unwrap_err();
    let handle = TensorHandle::error(failed.clone());
    let error = eager.op("tf.AddV2")?.call(&[&a, &handle]).unwrap_err();
    assert!(error.is_same(&failed));
    assert_eq!(error.kernel(), Some("tfrt_test.error.tensor"));
    Ok(())
}

#[test]
fn an_error_of_metadata_passes_on_to_ops_that_wait_for_metadata() -> Result<()> {
    for queue in ["s", "mstd:2"] {
        let eager = eager(queue);
        let x = eager.tensor([1.0_f32, -1.0])?;
        let later = eager.op("tfrt_test.async.noop_no_md")?.call(&[&x])?;
        // The metadata function refuses, and the dispatch function of an op without one.
        let refused = handle(eager.op("tfrt_test.cast")?.call(&[&later]));
        let axis = eager.tensor(7_i32)?;
        let failed = handle(eager.op("tf.Mean")?.call(&[&later, &axis]));
        for (bad, said) in [
            (refused, "missing 'type' attribute"),
            (
                failed,
                "tf.Mean reduction index must be in [-input_rank, input_rank) range",
            ),
        ] {
            let once = handle(eager.op("tf.Relu")?.call(&[&bad]));
            let twice = handle(eager.op("tf.AddV2")?.call(&[&x, &once]));
            assert_eq!(message(eager.to_vec::<f32>(&twice)), said, "under {queue}");
        }
    }
    Ok(())
}

#[test]
fn a_call_has_as_many_operands_and_results_as_the_op() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let add = eager.op("tf.AddV2")?.ready()?;
    assert_eq!(
        message(add.call(&[&x])),
        "`tf.AddV2`: expected 2 operands, found 1"
    );
    assert_eq!(
        message(add.call(&[&x, &x, &x])),
        "`tf.AddV2`: expected 2 operands, found 3"
    );
    let relu = eager.op("tf.Relu")?.results(2).ready()?;
    assert_eq!(
        message(relu.call_all(&[&x])),
        "`tf.Relu`: expected 1 result, found 2"
    );
    let print = eager.op("tfrt_test.print")?.results(1).ready()?;
    assert_eq!(
        message(print.call(&[&x])),
        "`tfrt_test.print`: expected 0 results, found 1"
    );
    let optional = eager.op("tf._FusedMatMul")?;
    let optional = optional.attr("fused_ops", [0_i64; 0])?.ready()?;
    assert_eq!(
        message(optional.call(&[&x])),
        "`tf._FusedMatMul`: expected at least 2 operands, found 1"
    );
    Ok(())
}

#[test]
fn effects_of_a_thread_keep_their_order() -> Result<()> {
    for queue in ["s", "mstd:4"] {
        let eager = eager(queue);
        EFFECTS.lock().unwrap().clear();
        let note = eager.op("eager_test.Note")?.results(0).ready()?;
        let later = eager.op("tfrt_test.async.noop_no_md")?.ready()?;
        for number in 0..20 {
            let mut x = eager.tensor([number as f32])?;
            if number % 3 == 0 {
                x = later.call(&[&x])?;
            }
            let [] = note.call_array(&[&x])?;
        }
        let done = eager.synchronize();
        let future = std::pin::pin!(done);
        block_on(&eager, future)?;
        let expected: Vec<f32> = (0..20).map(|number| number as f32).collect();
        assert_eq!(*EFFECTS.lock().unwrap(), expected, "under {queue}");
    }
    Ok(())
}

/// Drives a future to its end, with the work of the queue.
fn block_on<F: Future>(eager: &EagerContext, mut future: std::pin::Pin<&mut F>) -> F::Output {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    loop {
        if let std::task::Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        eager.host().quiesce().expect("not a worker");
    }
}

#[test]
fn a_scope_cancels_calls() -> Result<()> {
    let eager = eager("s");
    let a = eager.tensor([1.0_f32])?;
    let request = RequestContextBuilder::new(Arc::clone(eager.host())).build();
    request.cancel();
    {
        let _scope = eager.with_request(request)?;
        assert_eq!(message(eager.op("tf.Relu")?.call(&[&a])), "Cancelled");
    }
    eager.op("tf.Relu")?.call(&[&a])?;
    Ok(())
}

#[test]
fn the_last_holder_gives_its_memory() -> Result<()> {
    let eager = eager("s");
    let relu = eager.op("tf.Relu")?.ready()?;
    let address = |handle: &TensorHandle| {
        eager.with_elements(handle, |elements: &tfrt_tensor::Elements<'_, f32>| {
            elements.as_ptr()
        })
    };
    let x = eager.tensor([-1.0_f32, 2.0])?;
    let before = address(&x)?;
    let shared = relu.call(&[&x])?;
    assert_ne!(address(&shared)?, before);
    let own = relu.call_owned([x])?;
    assert_eq!(address(&own)?, before);
    assert_eq!(eager.to_vec::<f32>(&own)?, [0.0, 2.0]);
    Ok(())
}

#[test]
fn an_op_of_two_tensors_takes_the_memory_of_the_first_that_fits() -> Result<()> {
    let eager = eager("s");
    let sub = eager.op("tf.Sub")?.ready()?;
    let address = |handle: &TensorHandle| {
        eager.with_elements(handle, |elements: &tfrt_tensor::Elements<'_, f32>| {
            elements.as_ptr()
        })
    };
    let matrix = || eager.tensor([[1.0_f32, 2.0], [3.0, 4.0]]);
    let row = || eager.tensor([10.0_f32, 20.0]);
    let differences = [-9.0, -18.0, -7.0, -16.0];
    // Both fit; the second one is too small; the first one is.
    let (a, b) = (matrix()?, matrix()?);
    let before = address(&a)?;
    let zeros = sub.call_owned([a, b])?;
    assert_eq!(address(&zeros)?, before);
    assert_eq!(eager.to_vec::<f32>(&zeros)?, [0.0; 4]);
    let a = matrix()?;
    let before = address(&a)?;
    let found = sub.call_owned([a, row()?])?;
    assert_eq!(address(&found)?, before);
    assert_eq!(eager.to_vec::<f32>(&found)?, differences);
    let b = matrix()?;
    let before = address(&b)?;
    let found = sub.call_owned([row()?, b])?;
    assert_eq!(address(&found)?, before);
    assert_eq!(
        eager.to_vec::<f32>(&found)?,
        differences.map(|difference| -difference)
    );
    // Somebody else sees the first one, and a tensor is not stretched in its place.
    let (a, b) = (matrix()?, matrix()?);
    let before = address(&b)?;
    let found = sub.call_owned([a.clone(), b])?;
    assert_eq!(address(&found)?, before);
    assert_eq!(eager.to_vec::<f32>(&a)?, [1.0, 2.0, 3.0, 4.0]);
    let found = sub.call(&[&a, &a])?;
    assert_ne!(address(&found)?, address(&a)?);
    let (column, row) = (eager.tensor([[1.0_f32], [2.0]])?, row()?);
    let found = sub.call_owned([column, row])?;
    assert_eq!(eager.to_vec::<f32>(&found)?, [-9.0, -19.0, -8.0, -18.0]);
    Ok(())
}

#[test]
fn ops_run_where_scopes_say() -> Result<()> {
    let eager = EagerContext::builder(host("s"))
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()?;
    let device = |handle: &TensorHandle| handle.device().map(|device| device.0.name().to_owned());
    let (x, shape) = (eager.tensor([1.0_f32])?, eager.tensor([1_i64])?);
    let add = eager.op("tf.AddV2")?.ready()?;
    let scope = eager.device("/job:w/task:0/device:CPU:1")?;
    let there = add.call(&[&x, &x])?;
    assert_eq!(device(&there).as_deref(), Some("CPU:1"));
    assert_eq!(
        eager.explain("tf.AddV2", &[&x])?.rule,
        PlacementRule::DeviceScope
    );
    drop(scope);
    // Operands that are elsewhere decide.
    assert_eq!(
        device(&add.call(&[&there, &there])?).as_deref(),
        Some("CPU:1")
    );
    assert_eq!(
        eager.explain("tf.AddV2", &[&there])?.rule,
        PlacementRule::LeastCost
    );
    assert_eq!(
        eager.explain("tf.AddV2", &[&shape, &shape])?.rule,
        PlacementRule::SmallIntegers
    );
    let back = eager.copy_to(&there, "CPU:0")?;
    assert_eq!(device(&back).as_deref(), Some("CPU:0"));
    assert_eq!(eager.to_vec::<f32>(&back)?, [2.0]);
    Ok(())
}

#[test]
fn a_scope_that_outlives_the_one_around_it_ends_no_other() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let is_late = || -> Result<bool> {
        let y = eager.op("tfrt_test.async.noop")?.call(&[&x])?;
        Ok(y.to_string().starts_with("future"))
    };
    let outer = eager.async_mode();
    let inner = eager.async_mode();
    drop(outer);
    let first = eager.async_mode();
    let second = eager.sync_mode();
    drop(inner);
    assert!(!is_late()?, "the second scope is in force");
    drop(second);
    assert!(is_late()?, "the first one is");
    drop(first);
    Ok(())
}

#[test]
fn a_thread_forgets_contexts_that_are_gone() {
    let first = eager("s");
    let host = Arc::downgrade(first.host());
    // This thread, one of the queue and another one use the context; the last one drops it.
    first.tensor(1.0_f32).expect("there is memory");
    std::thread::spawn(move || {
        first.tensor(1.0_f32).expect("there is memory");
        drop(first);
    })
    .join()
    .expect("it does not panic");
    assert!(host.upgrade().is_none(), "no thread keeps the host");
}

#[test]
fn a_thread_of_the_queue_does_not_keep_its_host() {
    let eager = eager("mstd:2");
    let host = Arc::downgrade(eager.host());
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(eager.host())).build());
    let (promise, used) = AsyncValueRef::unconstructed();
    let shared = Arc::clone(&eager);
    ctx.enqueue(move || {
        shared.tensor(1.0_f32).expect("there is memory");
        drop(shared);
        promise.emplace(Chain);
    });
    eager
        .host()
        .await_values(&[used.into_any()])
        .expect("this is not a thread of the queue");
    drop((ctx, eager));
    // The task may still be ending.
    while host.strong_count() != 0 {
        std::thread::yield_now();
    }
}

/// The number of times that it was called.
static NUM_CALLS: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls.
#[tfrt_op("eager_test.Counted", side_effecting)]
fn counted(_x: &DenseHostTensor) {
    NUM_CALLS.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn error_that_a_call_returned_is_not_told_again() {
    let eager = eager("s");
    let x = eager.tensor([1.5_f32]).expect("there is memory");
    let counted = eager.op("eager_test.Counted").expect("it is linked");
    let counted = counted.ready().expect("no attributes");
    assert!(message(counted.call_array::<0>(&[])).contains("operand"));
    assert_eq!(message(counted.call_array::<0>(&[&x])), "no error");
    assert_eq!(NUM_CALLS.load(Ordering::Relaxed), 1);
}

/// Registered twice, in a way that no one can use.
#[tfrt_op("eager_test.Twice", raw)]
fn twice_as_one(_call: &mut OpCall<'_>) {}

/// The same name.
#[tfrt_op("eager_test.Twice", raw)]
fn twice_as_another(_call: &mut OpCall<'_>) {}

#[test]
fn op_that_cannot_be_used_says_why() {
    let eager = eager("s");
    let first = eager.op("eager_test.Twice").unwrap_err();
    assert!(
        first.message().starts_with(
            "op `eager_test.Twice` is registered twice for devices of type `cpu`: at "
        )
    );
    let second = eager.op("eager_test.Twice").unwrap_err();
    assert!(
        !first.is_same(&second),
        "each caller has an error of its own"
    );
}

#[test]
fn attribute_of_another_type_is_refused_before_the_call() {
    let product = eager("s").op("tf.MatMul").expect("it is linked");
    let product = product.attr("transpose_a", 1_i32).expect("there is one");
    let product = product.attr("transpose_b", false).expect("there is one");
    let refused = message(product.ready());
    assert!(refused.contains("transpose_a"), "{refused}");
}

/// A generator of numbers: the same for a seed, everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // The multiplier and the increment of PCG's generator.
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
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
    for (queue, seeds) in [("s", 0..60), ("mstd:4", 60..120)] {
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
    for _ in 0..10_000 {
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

#[test]
fn a_composite_op_that_calls_itself_ends_in_an_error() {
    let text = "
        func @again(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
          %op = \"corert.make_composite_op\"() { callee = @again } : () -> !corert.op
          %y = \"corert.execute_crt_op\"(%op, %x) { op_attrs = [], op_func_attrs = [] } : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle
          tfrt.return %c, %y : !tfrt.chain, !corert.tensorhandle
        }
        func @main() -> !corert.tensorhandle {
          %c = tfrt.new.chain
          %x = corert.const_dense_tensor dense<1> : tensor<i32>
          %d, %y = tfrt.call @again(%c, %x) : (!tfrt.chain, !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
          tfrt.return %y : !corert.tensorhandle
        }";
    let host = host("s");
    let file = tfrt::text::compile(text, "again.mlir", host.registry()).expect("a sound program");
    let program = Program::load(&host, &file).expect("a sound program");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = program
        .function("main")
        .expect("it is there")
        .execute(&ctx, &[]);
    let error = host.await_values(&results).unwrap_err();
    assert!(error.message().contains("nested deeper than"), "{error}");
}

/// Returns a context with two processors.
fn two_devices(queue: &str) -> Arc<EagerContext> {
    EagerContext::builder(host(queue))
        .device(Arc::new(CpuDevice::new("CPU:1")))
        .build()
        .expect("two devices")
}

fn device_of(handle: &TensorHandle) -> &str {
    handle.device().expect("it is known").0.name()
}

/// Returns where the elements of a tensor are.
fn address(eager: &EagerContext, handle: &TensorHandle) -> *const f32 {
    eager
        .with_elements(handle, |elements: &tfrt_tensor::Elements<'_, f32>| {
            elements.as_ptr()
        })
        .expect("a dense tensor")
}

#[test]
fn task_inherits_scopes_and_follows_effects_before_it() {
    for queue in ["s", "mstd:2"] {
        let eager = two_devices(queue);
        let x = eager.tensor([1.0_f32]).expect("there is memory");
        let request = RequestContextBuilder::new(Arc::clone(eager.host())).build();
        let found = Arc::new(Mutex::new(None));
        let done = {
            let _device = eager.device("CPU:1").expect("it exists");
            let _request = eager.with_request(Arc::clone(&request)).expect("its host");
            let found = Arc::clone(&found);
            eager.spawn(move |eager| {
                let relu = eager.op("tf.Relu")?.ready()?;
                let device = device_of(&relu.call(&[&x])?).to_owned();
                request.cancel();
                *found.lock().unwrap() = Some((device, message(relu.call(&[&x]))));
                Ok(())
            })
        };
        // What this thread does meanwhile does not change what the task inherited.
        let _device = eager.device("CPU:0").expect("it exists");
        eager.host().await_values(&[done]).expect("no effects");
        let found = found.lock().unwrap().take();
        let expected = ("CPU:1".to_owned(), "Cancelled".to_owned());
        assert_eq!(found, Some(expected), "under {queue}");
    }
}

#[test]
fn chain_of_a_task_is_the_error_of_its_effects() {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32]).expect("there is memory");
    let done = eager.spawn(move |eager| {
        let failed = eager.op("tfrt_test.error.tensor")?.call(&[&x]);
        let failed = TensorHandle::error(failed.unwrap_err());
        let note = eager.op("eager_test.Note")?.results(0).ready()?;
        assert!(note.call_array::<0>(&[&failed]).is_err());
        Err(Error::new("the task gives up"))
    });
    let error = eager.host().await_values(&[done]).unwrap_err();
    assert_eq!(error.message(), "the task gives up");
    let panics = eager.spawn(|_| panic!("as a test"));
    let error = eager.host().await_values(&[panics]).unwrap_err();
    assert!(error.message().contains("panicked: as a test"), "{error}");
}

#[test]
fn operand_whose_device_is_pending_is_copied_when_it_is_known() -> Result<()> {
    let eager = two_devices("s");
    let _scope = eager.device("CPU:1")?;
    for (device, is_copied) in [("CPU:0", true), ("CPU:1", false)] {
        let x = eager.copy_to(&eager.tensor([1.0_f32, -1.0])?, device)?;
        let (promise, later) = HandlePromise::new();
        let same = eager.op("eager_test.Same")?.call(&[&later])?;
        promise.forward_to(&x);
        assert_eq!(device_of(&same), "CPU:1");
        assert_eq!(address(&eager, &same) != address(&eager, &x), is_copied);
    }
    Ok(())
}

/// Returns its operand.
#[tfrt_op("eager_test.Same")]
fn same_tensor(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[test]
fn context_without_calls_in_flight_ends_while_its_host_is_busy() {
    let first = eager("mstd:2");
    let host = Arc::clone(first.host());
    let x = first.tensor([1.0_f32]).expect("there is memory");
    let relu = first.op("tf.Relu").expect("it is linked");
    relu.call(&[&x]).expect("it is positive");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let (end, ended) = std::sync::mpsc::channel::<()>();
    ctx.enqueue(move || ended.recv().expect("the test goes on"));
    // Waiting for the task would not end.
    drop(first);
    end.send(()).expect("the task waits");
    host.quiesce().expect("not a thread of the queue");
}

#[test]
fn context_that_ends_waits_for_its_calls() {
    let eager = eager("mstd:2");
    let x = eager.tensor([1.0_f32]).expect("there is memory");
    let later = eager
        .op("tfrt_test.async.noop_no_md")
        .expect("it is linked");
    let later = later.ready().expect("no attributes");
    let handles: Vec<TensorHandle> = (0..50).map(|_| handle(later.call(&[&x]))).collect();
    drop((later, eager));
    for handle in handles {
        assert!(handle.tensor().is_some_and(AnyRef::is_available));
    }
}

#[test]
fn ready_op_looks_nothing_up_with_several_devices() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32])?;
    let add = eager.op("tf.AddV2")?.ready()?;
    add.call(&[&x, &x])?;
    let before = eager.cache_stats();
    for _ in 0..10 {
        add.call(&[&x, &x])?;
    }
    assert_eq!(eager.cache_stats(), before);
    Ok(())
}

#[test]
fn cache_keeps_what_was_used_last() -> Result<()> {
    let eager = EagerContext::builder(host("s"))
        .max_cached_ops(16)
        .build()?;
    let names = eager.op_names();
    assert!(names.len() > 64, "{names:?}");
    for name in &names {
        // Some of them cannot run.
        let _ = eager.op(name);
        eager.op("tf.Relu")?;
        assert!(eager.cache_stats().entries <= 16);
    }
    // Each was made once: the one that was used again and again was always there.
    assert_eq!(eager.cache_stats().misses, names.len() as u64);
    Ok(())
}

#[test]
fn synchronize_is_about_the_thread_that_called_it() -> Result<()> {
    let eager = eager("s");
    let later = eager.op("tfrt_test.async.noop_no_md")?;
    let later = later.call(&[&eager.tensor([1.0_f32])?])?;
    // Nobody is told of this error by the call.
    let bad = handle(eager.op("tfrt_test.cast")?.call(&[&later]));
    let note = eager.op("eager_test.Note")?.results(0).ready()?;
    let [] = note.call_array(&[&bad])?;
    let done = eager.synchronize();
    let elsewhere = {
        let eager = Arc::clone(&eager);
        std::thread::spawn(move || message(block_on(&eager, std::pin::pin!(done))))
    };
    let told = elsewhere.join().expect("it does not panic");
    assert_eq!(told, "missing 'type' attribute");
    let again = message(block_on(&eager, std::pin::pin!(eager.synchronize())));
    assert_eq!(again, "no error", "it was told once");
    Ok(())
}

#[test]
fn request_of_another_host_is_refused() {
    let (eager, other) = (eager("s"), host("s"));
    let request = RequestContextBuilder::new(other).build();
    let refused = message(eager.with_request(request));
    assert_eq!(refused, "the request belongs to another host");
}

#[test]
fn deadline_of_a_scope_cancels_calls() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32])?;
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let request = RequestContextBuilder::new(Arc::clone(eager.host())).deadline(long_ago);
    let _scope = eager.with_request(request.build())?;
    let relu = eager.op("tf.Relu")?.ready()?;
    // A timer cancels the request, on a thread of its own.
    while relu.call(&[&x]).is_ok() {
        std::thread::yield_now();
    }
    Ok(())
}

#[test]
fn device_object_of_a_user_is_the_device_of_its_name() -> Result<()> {
    let eager = two_devices("s");
    let x = eager.tensor([1.0_f32])?;
    let own = DeviceRef(Arc::new(CpuDevice::new("CPU:0")));
    let mine = TensorHandle::of_value(own, x.tensor().expect("a tensor").clone());
    let there = eager.copy_to(&mine, "CPU:0")?;
    assert_eq!(address(&eager, &there), address(&eager, &x));
    Ok(())
}

#[test]
fn futures_of_a_handle_are_its_value_and_its_metadata() -> Result<()> {
    let eager = eager("s");
    let x = eager.tensor([1.0_f32, 2.0])?;
    let later = eager.op("tfrt_test.async.noop_no_md")?.call(&[&x])?;
    let metadata = block_on(&eager, std::pin::pin!(later.metadata_later()))?;
    assert_eq!(metadata.to_string(), "f32 [2]");
    assert!(block_on(&eager, std::pin::pin!(later.value()))?.is_available());
    let failed = TensorHandle::error(Error::new("broken"));
    let told = block_on(&eager, std::pin::pin!(failed.metadata_later()));
    assert_eq!(message(told), "broken");
    let told = block_on(&eager, std::pin::pin!(failed.value()));
    assert_eq!(message(told), "broken");
    let invalid = TensorHandle::default();
    let told = block_on(&eager, std::pin::pin!(invalid.value()));
    assert_eq!(message(told), "the tensor handle is invalid");
    Ok(())
}

/// What the attributes of the last call were.
static ATTRIBUTES: Mutex<String> = Mutex::new(String::new());

/// Notes its attributes.
#[tfrt_op("eager_test.Attributes", raw)]
fn attributes(call: &mut OpCall<'_>) {
    *ATTRIBUTES.lock().unwrap() = call.attrs().to_string();
    call.set_result(0, AnyRef::available(DenseHostTensor::vector(&[1]).unwrap()));
}

#[test]
fn first_attribute_of_a_name_counts_in_whatever_order_they_are_listed() {
    let host = host("s");
    let text = "
        func @main() -> !corert.tensorhandle {
          %none = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
          %cpu = \"corert.create_cpu_op_handler\"(%none) : (!corert.ophandler) -> !corert.ophandler
          %y = \"corert.executeop\"(%cpu) {
            op_attrs = [[\"c\", 3 : i32], [\"a\", 1 : i32], [\"b\", 2 : i32], [\"a\", 9 : i32]],
            op_func_attrs = [[\"b\", \"nobody\"]], op_name = \"eager_test.Attributes\"
          } : (!corert.ophandler) -> !corert.tensorhandle
          tfrt.return %y : !corert.tensorhandle
        }";
    let file = tfrt::text::compile(text, "a.mlir", host.registry()).expect("a sound program");
    let program = Program::load(&host, &file).expect("a sound program");
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
    let results = program
        .function("main")
        .expect("it is there")
        .execute(&ctx, &[]);
    host.await_values(&results).expect("no error");
    let found = ATTRIBUTES.lock().unwrap().clone();
    let expected = "OpAttrs contains 3 entries:\n  'a' type=I32 value=1\n  'b' type=I32 value=2\n  \
                    'c' type=I32 value=3\n\n";
    assert_eq!(found, expected);
}

#[test]
fn attributes_that_outlive_their_program_keep_it() {
    let host = host("s");
    let text = "
        func @main() -> !corert.tensorhandle {
          %c = tfrt.new.chain
          %none = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
          %cpu = \"corert.create_cpu_op_handler\"(%none) : (!corert.ophandler) -> !corert.ophandler
          %x = corert.executeop(%cpu) \"tfrt_test.create_dense_tensor\"() { shape = [2], values = [1 : i32, 2 : i32] } : 1
          %y = corert.executeop(%cpu) \"tfrt_test.async.noop_no_md\"(%x) : 1
          %z = corert.executeop(%cpu) \"tfrt_test.argmax\"(%y) { axis = 0 : i32 } : 1
          tfrt.return %z : !corert.tensorhandle
        }";
    let results = {
        let file =
            tfrt::text::compile(text, "late.mlir", host.registry()).expect("a sound program");
        let program = Program::load(&host, &file).expect("a sound program");
        let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(&host)).build());
        program
            .function("main")
            .expect("it is there")
            .execute(&ctx, &[])
    };
    host.await_values(&results).expect("no error");
    let handle = results[0].try_read::<TensorHandle>().expect("a handle");
    assert_eq!(
        handle.to_string(),
        "DenseHostTensor dtype = i32, shape = [], values = [1]"
    );
}
