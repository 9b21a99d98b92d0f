//! Each kind of bad input is an error that says what was expected, at the place of the call, and
//! leaves nothing behind.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use tfrt::async_value::LiveScope;
use tfrt::core::{EagerContext, HandlePromise, TensorHandle};
use tfrt::executor::Program;
use tfrt::function_ops::{FunctionOps, FunctionProgram};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::support::Place;

use crate::{eager, handle};

/// Checks the error of a call in the statement that checks it.
#[track_caller]
fn refused<T>(outcome: Result<T>, code: ErrorCode, message: &str) {
    let Err(error) = outcome else {
        panic!("it is accepted");
    };
    assert_eq!(error.message(), message);
    assert_eq!(error.code(), code);
    let Place::File { file, line, .. } = error.place() else {
        panic!("it has no place: {error:?}");
    };
    let here = Location::caller();
    assert_eq!(&**file, here.file());
    let is_in_statement = (here.line()..here.line() + 8).contains(line);
    assert!(is_in_statement, "{error:?} is not at {here}");
}

/// Runs `check`, and looks for values that nobody dropped.
fn leaves_nothing(check: impl FnOnce() -> Result<()>) -> Result<()> {
    let scope = LiveScope::new();
    scope.run(check)?;
    let left = scope.wait_until_empty(Duration::from_secs(60));
    assert!(left.is_empty(), "{left:?}");
    Ok(())
}

#[test]
fn unknown_op() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        refused(
            eager.op("tf.AddV3"),
            ErrorCode::NotFound,
            "op `tf.AddV3` is not available for CPU:0; did you mean `tf.AddV2`?",
        );
        Ok(())
    })
}

#[test]
fn unknown_attribute() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        refused(
            eager.op("tf.MatMul")?.attr("transpose_c", true),
            ErrorCode::InvalidArgument,
            "`tf.MatMul`: unknown attribute `transpose_c`; did you mean `transpose_a` or `transpose_b`?",
        );
        refused(
            eager.op("tf.Shape")?.ready(),
            ErrorCode::InvalidArgument,
            "`tf.Shape`: the attribute `out_type` is missing",
        );
        refused(
            eager.op("tf.Shape")?.attr("out_type", 3_i32)?.ready(),
            ErrorCode::InvalidArgument,
            "attribute `out_type` of `tf.Shape`: expected type, found i32",
        );
        Ok(())
    })
}

#[test]
fn element_type_that_an_op_does_not_take() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        let bits = eager.tensor(&[true, false][..])?;
        refused(
            eager.op("tf.Neg")?.call(&[&bits]),
            ErrorCode::InvalidArgument,
            "`tf.Neg` does not support i1",
        );
        let (a, b) = (eager.tensor([1.0_f32])?, eager.tensor([1.0_f64])?);
        refused(
            eager.op("tf.AddV2")?.call(&[&a, &b]),
            ErrorCode::InvalidArgument,
            "incompatible dtypes for binary operation",
        );
        refused(
            eager.to_vec::<i64>(&a),
            ErrorCode::InvalidArgument,
            "expected elements of type i64, found f32",
        );
        Ok(())
    })
}

#[test]
fn unknown_device() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        let said = "device 'GPU:3' is not there; there is CPU:0";
        refused(eager.device("GPU:3"), ErrorCode::DeviceNotFound, said);
        let x = eager.tensor([1.0_f32])?;
        refused(eager.copy_to(&x, "GPU:3"), ErrorCode::DeviceNotFound, said);
        Ok(())
    })
}

/// Runs the function `main` of a program, and returns the error of its only result.
fn error_of_program(eager: &Arc<EagerContext>, text: &str) -> Result<Error> {
    let host = eager.host();
    let file = tfrt::text::compile(text, "bad.mlir", host.registry()).map_err(Error::other)?;
    let program = Program::load(host, &file)?;
    let ctx = ExecutionContext::new(RequestContextBuilder::new(Arc::clone(host)).build());
    let main = program.function("main").expect("it is there");
    let results = main.execute(&ctx, &[]);
    Ok(host.await_values(&results).expect_err("the program is bad"))
}

#[test]
fn unknown_handler() -> Result<()> {
    leaves_nothing(|| {
        let text = "func @main() -> !corert.ophandler {
  %c = tfrt.new.chain
  %gpu = corert.get_op_handler %c \"gpu\"
  tfrt.return %gpu : !corert.ophandler
}";
        let error = error_of_program(&eager("s"), text)?;
        assert_eq!(
            error.located().to_string(),
            "bad.mlir:3:10: op_handler not found."
        );
        Ok(())
    })
}

#[test]
fn wrong_number_of_operands() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        let x = eager.tensor([1.0_f32])?;
        let add = eager.op("tf.AddV2")?.ready()?;
        refused(
            add.call(&[&x]),
            ErrorCode::InvalidArgument,
            "`tf.AddV2`: expected 2 operands, found 1",
        );
        refused(
            add.call_owned([x.clone(), x.clone(), x.clone()]),
            ErrorCode::InvalidArgument,
            "`tf.AddV2`: expected 2 operands, found 3",
        );
        refused(
            add.call_array::<2>(&[&x, &x]),
            ErrorCode::InvalidArgument,
            "`tf.AddV2` has 1 result, but the call asks for 2",
        );
        refused(
            add.call(&[&x, &TensorHandle::default()]),
            ErrorCode::InvalidArgument,
            "argument 1 of `tf.AddV2` is not a valid tensor handle",
        );
        Ok(())
    })
}

#[test]
fn metadata_that_disagrees_with_what_an_op_returns() -> Result<()> {
    leaves_nothing(|| {
        for (op, queue) in [
            ("eager_test.Lies", "s"),
            ("eager_test.LiesLater", "s"),
            ("eager_test.LiesLater", "mstd:2"),
        ] {
            let eager = eager(queue);
            let x = eager.tensor([1.0_f32; 3])?;
            let said = format!(
                "result 0 of `{op}`: expected f32 [3], as its metadata function says, found f32 [2]"
            );
            let op = eager.op(op)?.ready()?;
            refused(
                op.call(&[&x]).and_then(|y| eager.to_vec::<f32>(&y)),
                ErrorCode::Internal,
                &said,
            );
        }
        Ok(())
    })
}

#[test]
fn op_that_panics() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        let x = eager.tensor([1.0_f32])?;
        refused(
            eager.op("eager_test.Panics")?.call(&[&x]),
            ErrorCode::Internal,
            "kernel 'eager_test.Panics' panicked: not large enough",
        );
        refused(
            eager.op("eager_test.PanicsAtOnce")?.call(&[&x]),
            ErrorCode::Internal,
            "kernel 'eager_test.PanicsAtOnce' panicked: no such rank",
        );
        Ok(())
    })
}

#[test]
fn handle_whose_runtime_is_gone() -> Result<()> {
    leaves_nothing(|| {
        let first = eager("s");
        let there = first.tensor([1.0_f32, -2.0])?;
        let (promise, never) = HandlePromise::new();
        let later = first.op("tf.Relu")?.call(&[&never])?;
        // Its context would wait for the call.
        drop(promise);
        drop(first);
        // What is there stays there, and what will never be there is an error of any other runtime.
        let second = eager("s");
        let relu = second.op("tf.Relu")?.ready()?;
        let y = relu.call(&[&there])?;
        assert_eq!(second.to_vec::<f32>(&y)?, [1.0, 0.0]);
        let message = "promise dropped before a value was set";
        refused(relu.call(&[&later]), ErrorCode::Internal, message);
        Ok(())
    })
}

/// A program whose function `main` calls the function `again` with a number.
fn calling_itself(call: &str) -> String {
    format!(
        "func @again(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {{
  {call}
  tfrt.return %c, %y : !tfrt.chain, !corert.tensorhandle
}}
func @main() -> !corert.tensorhandle {{
  %c = tfrt.new.chain
  %x = corert.const_dense_tensor dense<1> : tensor<i32>
  %d, %y = tfrt.call @again(%c, %x) : (!tfrt.chain, !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle)
  tfrt.return %y : !corert.tensorhandle
}}"
    )
}

#[test]
fn composite_op_that_calls_itself() -> Result<()> {
    leaves_nothing(|| {
        let text = calling_itself(
            "%op = \"corert.make_composite_op\"() { callee = @again } : () -> !corert.op
  %y = \"corert.execute_crt_op\"(%op, %x) { op_attrs = [], op_func_attrs = [] } : (!corert.op, !corert.tensorhandle) -> !corert.tensorhandle",
        );
        let error = error_of_program(&eager("s"), &text)?;
        let said = error.located().to_string();
        let expected = "bad.mlir:3:8: function calls are nested more than ";
        assert!(said.starts_with(expected), "{said}");
        Ok(())
    })
}

#[test]
fn function_as_op_that_calls_itself() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("s");
        let text = "func @f(%x: !corert.tensorhandle) -> !corert.tensorhandle {
  %c = tfrt.new.chain
  %cpu = corert.get_op_handler %c \"cpu\"
  %z = corert.executeop(%cpu) \"tf.PartitionedCall\"(%x) {} {f = \"f\"} : 1
  tfrt.return %z : !corert.tensorhandle
}";
        let program = FunctionProgram::from_text(text, "f.mlir", eager.host().registry());
        let program = program.map_err(Error::other)?;
        let x = eager.tensor([1.0_f32])?;
        let f = eager.function_op(&program, "f")?;
        refused(
            f.call(&[&x]),
            ErrorCode::InvalidArgument,
            "cannot instantiate function `f`: f.mlir:4:8: error: function `f` is called as an op and \
             cannot call itself: f -> f",
        );
        refused(
            eager.function_op(&program, "g"),
            ErrorCode::NotFound,
            "the program has no function `g`; did you mean `f`?",
        );
        Ok(())
    })
}

#[test]
fn wait_on_a_thread_of_the_queue() -> Result<()> {
    leaves_nothing(|| {
        let eager = eager("mstd:2");
        let (promise, pending) = HandlePromise::new();
        let done = eager.spawn(move |eager| {
            refused(
                eager.to_vec::<f32>(&pending),
                ErrorCode::Unknown,
                "a task cannot wait for the work queue that runs it",
            );
            Ok(())
        });
        eager.host().await_values(&[done])?;
        drop(promise);
        Ok(())
    })
}

#[test]
fn error_describes_the_call_that_failed_first() -> Result<()> {
    for queue in ["s", "mstd:2"] {
        let eager = eager(queue);
        let (a, b) = (eager.tensor([1.0_f32; 2])?, eager.tensor([1.0_f32; 3])?);
        let add = eager.op("tf.AddV2")?.ready()?;
        let call = |outcome: Result<TensorHandle>| {
            let handle = handle(outcome);
            let error = eager.wait(&handle).map(drop).unwrap_err();
            error.call().map(str::to_owned)
        };
        let expected = "tf.AddV2(f32 [2], f32 [3]) on CPU:0";
        // Known at the call, by metadata and by counts.
        assert_eq!(call(add.call(&[&a, &b])).as_deref(), Some(expected));
        assert_eq!(
            call(add.call(&[&a])).as_deref(),
            Some("tf.AddV2(f32 [2]) on CPU:0")
        );
        // When it runs; the operand is gone by then.
        let failing = eager.op("eager_test.Panics")?.ready()?;
        assert_eq!(
            call(failing.call_owned([eager.tensor([1.0_f32])?])).as_deref(),
            Some("eager_test.Panics(f32 [1]) on CPU:0")
        );
        // Later: the metadata of an operand is known late, and an op that is done late.
        let late = eager.op("tfrt_test.async.noop_no_md")?.call(&[&b])?;
        let failed = handle(add.call(&[&a, &late]));
        let passed = handle(eager.op("tf.Relu")?.call(&[&failed]));
        assert_eq!(call(Ok(passed)).as_deref(), Some(expected));
        let lies = eager.op("eager_test.LiesLater")?.ready()?;
        assert_eq!(
            call(lies.call(&[&b])).as_deref(),
            Some("eager_test.LiesLater(f32 [3]) on CPU:0")
        );
        // An error that nobody called for describes no call, whoever passes it on.
        let own = TensorHandle::error(Error::new("broken"));
        assert_eq!(call(add.call(&[&a, &own])), None);
    }
    Ok(())
}
