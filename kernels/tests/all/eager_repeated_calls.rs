//! Ops that are made once and called again and again: a call follows its own operands and scopes,
//! whatever the calls before it were.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tfrt::core::{EagerContext, TensorHandle};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, Shape};

tfrt::link!(tfrt_kernels);

fn eager() -> Arc<EagerContext> {
    let registry = KernelRegistry::from_link().expect("names are unique");
    let host = HostContext::builder().registry(Arc::new(registry)).build();
    EagerContext::builder(host).build().expect("one device")
}

fn message<T>(outcome: Result<T>) -> String {
    outcome.map_or_else(
        |error| error.message().to_owned(),
        |_| "no error".to_owned(),
    )
}

/// Returns a vector of two elements, whatever it said.
#[tfrt_op("repeated_test.Lies", metadata = same)]
fn lies(x: &DenseHostTensor) -> Result<DenseHostTensor> {
    let first = x.elements::<f32>()?[0];
    Ok(DenseHostTensor::vector(&[first, first])?)
}

fn same(x: &TensorMetadata) -> TensorMetadata {
    x.clone()
}

/// How often the metadata function of the op below was asked.
static NUM_QUESTIONS: AtomicUsize = AtomicUsize::new(0);

/// Returns its operand.
#[tfrt_op("repeated_test.Counted", metadata = counted_metadata)]
fn counted(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn counted_metadata(x: &TensorMetadata) -> TensorMetadata {
    NUM_QUESTIONS.fetch_add(1, Ordering::Relaxed);
    x.clone()
}

#[test]
fn a_call_follows_its_own_operands() -> Result<()> {
    let eager = eager();
    let (relu, add) = (
        eager.op("tf.Relu")?.ready()?,
        eager.op("tf.AddV2")?.ready()?,
    );
    let one = eager.tensor(1.0_f32)?;
    for _ in 0..3 {
        for dims in [
            &[1][..],
            &[2],
            &[],
            &[2, 2],
            &[3, 1, 2],
            &[0, 4],
            &[1, 1, 1, 1, 1, 1, 2],
        ] {
            let shape = Shape::new(dims)?;
            let numbers: Vec<f32> = (0..shape.num_elements()).map(|i| i as f32 - 1.0).collect();
            let allocator = eager.host().allocator();
            let x = eager.tensor(DenseHostTensor::from_elements(allocator, shape, &numbers)?)?;
            let expected: Vec<f32> = numbers.iter().map(|x| x.max(0.0)).collect();
            let y = relu.call(&[&x])?;
            assert_eq!(
                (y.metadata(), eager.to_vec::<f32>(&y)?),
                (x.metadata(), expected)
            );
            let expected: Vec<f32> = numbers.iter().map(|x| x + 1.0).collect();
            for y in [add.call(&[&x, &one])?, add.call(&[&one, &x])?] {
                let found = (y.metadata(), eager.to_vec::<f32>(&y)?);
                assert_eq!(found, (x.metadata(), expected.clone()));
            }
        }
        let whole = relu.call(&[&eager.tensor([-1_i32, 2])?])?;
        assert_eq!(eager.to_vec::<i32>(&whole)?, [0, 2]);
        let (two, three) = (eager.tensor([1.0_f32; 2])?, eager.tensor([1.0_f32; 3])?);
        assert_eq!(
            message(add.call(&[&two, &three])),
            "Dimensions must be equal, but are 2 and 3"
        );
    }
    Ok(())
}

#[test]
fn a_result_that_is_not_what_was_said_is_an_error_at_every_call() -> Result<()> {
    let eager = eager();
    let lies = eager.op("repeated_test.Lies")?.ready()?;
    let (two, three) = (eager.tensor([1.0_f32; 2])?, eager.tensor([1.0_f32; 3])?);
    for _ in 0..4 {
        assert_eq!(eager.to_vec::<f32>(&lies.call(&[&two])?)?, [1.0, 1.0]);
        assert_eq!(
            message(lies.call(&[&three])),
            "result 0 of `repeated_test.Lies`: expected f32 [3], as its metadata function says, found f32 [2]"
        );
    }
    Ok(())
}

#[test]
fn a_metadata_function_is_not_asked_the_same_again_and_again() -> Result<()> {
    let eager = eager();
    let counted = eager.op("repeated_test.Counted")?.ready()?;
    let x = eager.tensor([1.0_f32])?;
    for _ in 0..10 {
        counted.call(&[&x])?;
    }
    // The answer is kept from the second call on.
    assert_eq!(NUM_QUESTIONS.load(Ordering::Relaxed), 2);
    let y = counted.call(&[&eager.tensor([[1.0_f32; 3]; 2])?])?;
    assert_eq!(y.metadata(), Some(TensorMetadata::new(DType::F32, [2, 3])));
    assert_eq!(NUM_QUESTIONS.load(Ordering::Relaxed), 3);
    Ok(())
}

/// How often the metadata function of the op below was asked.
static NUM_QUESTIONS_OF_TWO: AtomicUsize = AtomicUsize::new(0);

/// Returns zeros of the first element type, with a row for each element of the first vector, and a
/// column for each of the second one.
#[tfrt_op("repeated_test.Outer", metadata = outer_metadata)]
fn outer(
    x: &DenseHostTensor,
    y: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let shape = Shape::new(&[x.num_elements(), y.num_elements()])?;
    Ok(DenseHostTensor::zeroed(ctx.allocator(), x.dtype(), shape)?)
}

fn outer_metadata(x: &TensorMetadata, y: &TensorMetadata) -> TensorMetadata {
    NUM_QUESTIONS_OF_TWO.fetch_add(1, Ordering::Relaxed);
    TensorMetadata::new(x.dtype, [x.extents[0], y.extents[0]])
}

#[test]
fn an_answer_is_for_the_types_the_shapes_and_the_order_of_operands() -> Result<()> {
    let eager = eager();
    let outer = eager.op("repeated_test.Outer")?.ready()?;
    let (two, three) = (eager.tensor([1.0_f32; 2])?, eager.tensor([1.0_f32; 3])?);
    let whole = eager.tensor([1_i32; 3])?;
    let is = |x: &TensorHandle, y: &TensorHandle, dtype: DType, dims: [usize; 2]| {
        let found = outer.call(&[x, y])?;
        assert_eq!(found.metadata(), Some(TensorMetadata::new(dtype, dims)));
        Ok::<_, Error>(())
    };
    let questions = || NUM_QUESTIONS_OF_TWO.load(Ordering::Relaxed);
    for _ in 0..3 {
        is(&two, &three, DType::F32, [2, 3])?;
    }
    assert_eq!(questions(), 2, "the answer is kept from the second call on");
    is(&three, &two, DType::F32, [3, 2])?;
    assert_eq!(questions(), 3, "the operands changed places");
    is(&two, &whole, DType::F32, [2, 3])?;
    assert_eq!(questions(), 4, "the second one is of another type");
    is(&whole, &two, DType::I32, [3, 2])?;
    assert_eq!(questions(), 5, "so is the first one, in the other order");
    is(&two, &two, DType::F32, [2, 2])?;
    assert_eq!(questions(), 6, "the second one has another shape");
    for _ in 0..3 {
        is(&two, &three, DType::F32, [2, 3])?;
        is(&three, &two, DType::F32, [3, 2])?;
        is(&two, &whole, DType::F32, [2, 3])?;
        is(&whole, &two, DType::I32, [3, 2])?;
    }
    assert_eq!(questions(), 6);
    Ok(())
}

/// How often the metadata function of the op below was asked.
static NUM_QUESTIONS_BY_NAME: AtomicUsize = AtomicUsize::new(0);

/// Returns a vector of as many zeros.
#[tfrt_op("repeated_test.Zeros", metadata = zeros_metadata)]
fn zeros(x: &DenseHostTensor, #[attr] count: i64) -> Result<DenseHostTensor> {
    let zero = 0.0 * x.elements::<f32>()?[0];
    Ok(DenseHostTensor::vector(&vec![zero; count as usize])?)
}

fn zeros_metadata(x: &TensorMetadata, count: i64) -> TensorMetadata {
    NUM_QUESTIONS_BY_NAME.fetch_add(1, Ordering::Relaxed);
    TensorMetadata::new(x.dtype, [count as usize])
}

#[test]
fn a_call_by_name_follows_its_own_attributes() -> Result<()> {
    let eager = eager();
    let x = eager.tensor([1.0_f32])?;
    let call = |count: i64| -> Result<usize> {
        let op = eager.op("repeated_test.Zeros")?.attr("count", count)?;
        Ok(eager.to_vec::<f32>(&op.call(&[&x])?)?.len())
    };
    for _ in 0..5 {
        for count in 1..=3 {
            assert_eq!(call(count)?, count as usize);
        }
    }
    // For each set of attributes, the answer is kept from the second call on.
    assert_eq!(NUM_QUESTIONS_BY_NAME.load(Ordering::Relaxed), 6);
    // Sets beyond those that are kept.
    for count in 1..=10 {
        assert_eq!(call(count)?, count as usize);
    }
    // A refused set is not kept.
    for _ in 0..2 {
        let refused = eager.op("repeated_test.Zeros")?.ready().map(drop);
        assert_eq!(
            message(refused),
            "`repeated_test.Zeros`: the attribute `count` is missing"
        );
    }
    Ok(())
}

#[test]
fn calls_of_two_contexts_keep_their_own_scopes() -> Result<()> {
    let contexts = [eager(), eager()];
    let mut ops = Vec::new();
    for eager in &contexts {
        ops.push((eager.op("tf.Relu")?.ready()?, eager.tensor([1.0_f32])?));
    }
    let call = |index: usize| message(ops[index].0.call(&[&ops[index].1]));
    let request = RequestContextBuilder::new(Arc::clone(contexts[0].host())).build();
    for _ in 0..2 {
        assert_eq!([call(0), call(1), call(0)], ["no error"; 3]);
        let scope = contexts[0].with_request(Arc::clone(&request))?;
        request.cancel();
        assert_eq!(
            [call(0), call(1), call(0)],
            ["Cancelled", "no error", "Cancelled"]
        );
        let _sync = contexts[1].sync_mode();
        assert_eq!([call(1), call(0)], ["no error", "Cancelled"]);
        drop(scope);
    }
    assert_eq!([call(0), call(1)], ["no error"; 2]);
    Ok(())
}
