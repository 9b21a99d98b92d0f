//! Ops that programs run.

use std::sync::{Arc, Mutex};

use tfrt::core::TensorHandle;
use tfrt::executor::Program;
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt_tensor::DenseHostTensor;

use crate::host;

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
    assert!(error.message().contains("nested more than"), "{error}");
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
