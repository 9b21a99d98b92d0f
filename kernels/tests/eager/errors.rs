//! What is wrong with a call, and who is told of it.

use tfrt::core::TensorHandle;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::{eager, handle, message};

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

/// Panics in its metadata function.
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
            "result 0 of `eager_test.Lies`: expected f32 [3], as its metadata function says, found f32 [2]",
        ),
        (
            "eager_test.LiesLater",
            "result 0 of `eager_test.LiesLater`: expected f32 [3], as its metadata function says, found f32 [2]",
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
    assert!(place.contains(&format!("{}:{line}:", file!())), "{place}");

    assert_eq!(
        message(add.call(&[&a])),
        "`tf.AddV2`: expected 2 operands, found 1"
    );
    assert_eq!(
        message(eager.op("tf.AddV3")),
        "op `tf.AddV3` is not available for CPU:0; did you mean `tf.AddV2`?"
    );
    assert_eq!(
        message(eager.op("tf.Const")?.attr("valu", 1_i32)),
        "`tf.Const`: unknown attribute `valu`; did you mean `value`?"
    );
    assert_eq!(
        message(eager.op("tf.Shape")?.ready()),
        "`tf.Shape`: the attribute `out_type` is missing"
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
    // Nobody makes room for more results than a call may have.
    for asked in [usize::MAX, (1 << 20) + 1] {
        let relu = eager.op("tf.Relu")?.results(asked).ready()?;
        assert_eq!(
            message(relu.call_all(&[&x])),
            format!("`tf.Relu`: expected 1 result, found {asked}")
        );
        let split = eager.op("tf.Split")?.results(asked).ready()?;
        assert_eq!(
            message(split.call_all(&[&eager.tensor([0])?, &x])),
            format!("`tf.Split`: a call has at most 1048576 results, not {asked}")
        );
    }
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
