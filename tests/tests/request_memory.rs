//! What a request may hold, as programs meet it: tensors are on its account as long as they live.

use std::sync::{Arc, Mutex};

use tfrt::executor::Program;
use tfrt::host::{Limits, RequestContextBuilder};
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

/// A tensor takes 40,000 bytes and a header.
const SOURCE: &str = "
    func @two_at_once() -> (!t.tensor, !t.tensor) {
      %a = tfrt_dht.create_uninitialized_tensor.f32.2 [100 : i64, 100 : i64]
      %b = tfrt_dht.create_uninitialized_tensor.f32.2 [100 : i64, 100 : i64]
      tfrt.return %a, %b : !t.tensor, !t.tensor
    }

    func @one_after_another() -> i32 {
      %n = tfrt.constant.i32 50
      %r = tfrt.repeat.i32 %n, %n : i32 {
        %a = tfrt_dht.create_uninitialized_tensor.f32.2 [100 : i64, 100 : i64]
        tfrt.return %n : i32
      }
      tfrt.return %r : i32
    }

    func @in_an_op() -> !corert.tensorhandle {
      %none = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
      %cpu = \"corert.create_cpu_op_handler\"(%none) : (!corert.ophandler) -> !corert.ophandler
      %a = corert.executeop(%cpu) \"tfrt_test.create_dense_tensor\"() { shape = [100, 200], values = [1.0 : f32] } : 1
      tfrt.return %a : !corert.tensorhandle
    }
";

/// Runs a function whose request may hold 64 KiB and returns its results, what was reported, and
/// the request.
fn run(function: &str) -> (Vec<AnyRef>, Vec<String>, Arc<RequestContext>) {
    let kernels = Arc::new(KernelRegistry::from_link().expect("no name is taken twice"));
    let file = tfrt::text::compile(SOURCE, "p.mlir", &kernels).expect("the program is sound");
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let in_handler = Arc::clone(&told);
    let host = HostContext::builder()
        .registry(kernels)
        .limits(Limits {
            max_request_bytes: 64 << 10,
            ..Limits::default()
        })
        .diagnostic_handler(move |error| {
            let mut told = in_handler.lock().expect("no panic under the lock");
            told.push(error.place().to_string());
        })
        .build();
    let program = Program::load(&host, &file).expect("the kernels exist");
    let request = RequestContextBuilder::new(Arc::clone(&host)).build();
    let main = program.function(function).expect("it is there");
    let results = main.execute(&ExecutionContext::new(Arc::clone(&request)), &[]);
    host.await_available(&results).expect("not a worker");
    host.quiesce().expect("not a worker");
    let told = told.lock().expect("no panic under the lock").clone();
    (results, told, request)
}

#[test]
fn a_tensor_too_many_is_an_error_at_its_place() {
    let (results, told, request) = run("two_at_once");
    let num_errors = results.iter().filter(|result| result.is_error()).count();
    assert_eq!(num_errors, 1, "{results:?}");
    assert_eq!(told.len(), 1);
    assert!(
        ["p.mlir:3:12", "p.mlir:4:12"].contains(&&*told[0]),
        "{told:?}"
    );
    assert!(request.memory().num_bytes() >= 40_000);
    drop(results);
    assert_eq!(request.memory().num_bytes(), 0);
}

#[test]
fn tensors_one_after_another_fit() {
    let (results, told, request) = run("one_after_another");
    assert_eq!(results[0].get::<i32>(), Some(&50));
    assert_eq!(told, [""; 0]);
    assert_eq!(request.memory().num_bytes(), 0);
}

#[test]
fn the_op_that_asked_for_too_much_is_named() {
    let (results, told, _request) = run("in_an_op");
    assert_eq!(told.len(), 1, "{told:?}");
    let error = results[0].error_if_present().expect("it is too large");
    let message = error.message();
    assert!(
        message.contains("`tfrt_test.create_dense_tensor` requested it"),
        "{message}"
    );
}
