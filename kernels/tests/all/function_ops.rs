//! Functions of programs, called as ops.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tfrt::bef::BefFile;
use tfrt::core::{EagerContext, HandlePromise, OpRegistration, OpRegistry, TensorHandle, ToTensor};
use tfrt::executor::Program;
use tfrt::function_ops::{FunctionOps, FunctionProgram, lower, partition, place};
use tfrt::host::RequestContextBuilder;
use tfrt::host::device::{CpuDevice, Device, LinkCost};
use tfrt::prelude::*;
use tfrt::queue::{ConcurrentWorkQueue, SingleThreadedQueue, Task, WouldDeadlock, create_queue};
use tfrt::support::Place;
use tfrt::support::entity::EntityId;
use tfrt::text::compiler::stream_analysis::analyze_block;
use tfrt::text::compiler::stream_analysis::graph::NodeId;
use tfrt::text::compiler::{EncodeOptions, encode};
use tfrt::text::ir::{Module, OpId};

tfrt::link!(tfrt_kernels);

/// A context with two processors, and a program.
struct Functions {
    eager: Arc<EagerContext>,
    program: FunctionProgram,
}

impl Functions {
    fn new(source: &str) -> Self {
        Self::with_queue(source, "s")
    }

    fn with_queue(source: &str, queue: &str) -> Self {
        let registry = Arc::new(KernelRegistry::from_link().expect("names are unique"));
        let queue = create_queue(queue).expect("there is such a queue");
        let host = HostContext::builder()
            .registry(Arc::clone(&registry))
            .queue(queue)
            .build();
        let second = Arc::new(CpuDevice::new("CPU:1"));
        let eager = EagerContext::builder(host).device(second);
        let program = FunctionProgram::from_text(source, "p.mlir", &registry);
        Self {
            eager: eager.build().expect("two devices"),
            program: program.unwrap_or_else(|found| panic!("{found}")),
        }
    }

    fn tensor(&self, value: impl ToTensor) -> TensorHandle {
        self.eager.tensor(value).unwrap()
    }

    /// What the function returns for the operands, or its error.
    fn says(&self, function: &str, operands: &[&TensorHandle]) -> String {
        let results = self
            .eager
            .function_op(&self.program, function)
            .and_then(|op| op.call_all(operands));
        match results {
            Ok(results) => {
                let shown = results.iter().map(|result| match self.eager.wait(result) {
                    Ok(_) => result.to_string(),
                    Err(error) => error.message().to_owned(),
                });
                shown.collect::<Vec<_>>().join("\n")
            }
            Err(error) => error.message().to_owned(),
        }
    }
}

/// Returns a function of one expression; `BODY` may use `%cpu`, and `%x` and `%y`.
fn function(body: &str) -> String {
    format!(
        "func @f(%x: !corert.tensorhandle, %y: !corert.tensorhandle) -> !corert.tensorhandle {{
           %c = tfrt.new.chain
           %cpu = corert.get_op_handler %c \"cpu\"
           {body}
           tfrt.return %z : !corert.tensorhandle
         }}"
    )
}

/// Returns an op on a device.
fn on(device: &str, result: &str, op: &str, operands: &[&str]) -> String {
    let handles = vec!["!corert.tensorhandle"; operands.len()].join(", ");
    format!(
        "{result} = \"corert.executeop\"(%cpu, {}) {{corert.device = \"{device}\", op_attrs = [], \
         op_func_attrs = [], op_name = \"{op}\"}} : (!corert.ophandler, {handles}) -> \
         !corert.tensorhandle\n",
        operands.join(", ")
    )
}

#[test]
fn a_function_is_called_like_any_op() {
    let functions = Functions::new(&function(
        "%p = corert.executeop(%cpu) \"tf.MatMul\"(%x, %y) {transpose_a = false, transpose_b = true} : 1
         %z = corert.executeop(%cpu) \"tf.Relu\"(%p) : 1",
    ));
    let x = functions.tensor([[1.0_f32, 2.0], [-3.0, 4.0]]);
    let y = functions.tensor([[1.0_f32, 1.0], [0.0, -1.0]]);
    let op = functions
        .eager
        .function_op(&functions.program, "f")
        .unwrap();
    // Again and again, with other shapes, too.
    for _ in 0..3 {
        let z = op.call(&[&x, &y]).unwrap();
        assert_eq!(
            functions.eager.to_vec::<f32>(&z).unwrap(),
            [3.0, 0.0, 1.0, 0.0]
        );
        assert_eq!(z.metadata().unwrap().to_string(), "f32 [2, 2]");
        let row = op.call(&[&functions.tensor([[1.0_f32, 2.0]]), &y]).unwrap();
        assert_eq!(functions.eager.to_vec::<f32>(&row).unwrap(), [3.0, 0.0]);
    }
}

#[test]
fn a_contradiction_is_told_of_at_the_op_and_at_the_call() {
    let functions = Functions::new(&function(
        "%z = corert.executeop(%cpu) \"tf.MatMul\"(%x, %y) \
         {transpose_a = false, transpose_b = false} : 1",
    ));
    let x = functions.tensor([[1.0_f32, 2.0, 3.0]]);
    let op = functions
        .eager
        .function_op(&functions.program, "f")
        .unwrap();
    let line = line!() + 1;
    let error = op.call(&[&x, &x]).unwrap_err();
    let message = error.message();
    assert!(
        message.starts_with("cannot instantiate function `f`: p.mlir:4:17: error: `tf.MatMul`: "),
        "{message}"
    );
    assert!(
        message.contains("2, 3") || message.contains("[1, 3]"),
        "{message}"
    );
    let Place::File { line: found, .. } = error.place() else {
        panic!("the error has the place of the call: {error:?}");
    };
    assert_eq!(*found, line);
}

#[test]
fn parts_on_two_devices_give_what_one_device_gives() {
    let body = on("CPU:1", "%a", "tf.Relu", &["%x"])
        + &on("CPU:0", "%b", "tf.AddV2", &["%a", "%y"])
        + &on("CPU:1", "%d", "tf.Mul", &["%b", "%a"])
        + &on("CPU:0", "%z", "tf.Sub", &["%d", "%a"]);
    for queue in ["s", "mstd:3"] {
        let functions = Functions::with_queue(&function(&body), queue);
        let (x, y) = (
            functions.tensor([1.0_f32, -2.0]),
            functions.tensor([10.0_f32, 20.0]),
        );
        for _ in 0..20 {
            let found = functions.says("f", &[&x, &y]);
            assert_eq!(
                found,
                "DenseHostTensor dtype = f32, shape = [2], values = [1.000000e+01, 0.000000e+00]"
            );
        }
    }
}

#[test]
fn a_failing_part_fails_whoever_waits_for_it_and_nobody_else_hangs() {
    // `tfrt_test.error.tensor` fails when it runs, and says nothing before.
    let body = on("CPU:1", "%a", "tfrt_test.error.tensor", &["%x"])
        + &on("CPU:0", "%b", "tf.AddV2", &["%a", "%y"])
        + &on("CPU:1", "%z", "tf.Relu", &["%b"]);
    for queue in ["s", "mstd:3"] {
        let functions = Functions::with_queue(&function(&body), queue);
        let x = functions.tensor([1.0_f32]);
        for _ in 0..20 {
            assert_eq!(
                functions.says("f", &[&x, &x]),
                "error from test.error.tensor implementation"
            );
        }
    }
}

#[test]
fn a_cancelled_request_ends_every_part() {
    let body =
        on("CPU:1", "%a", "tf.Relu", &["%x"]) + &on("CPU:0", "%z", "tf.AddV2", &["%a", "%y"]);
    let functions = Functions::with_queue(&function(&body), "mstd:2");
    let request = RequestContextBuilder::new(Arc::clone(functions.eager.host())).build();
    request.cancel();
    let x = functions.tensor([1.0_f32]);
    let _scope = functions.eager.with_request(request).unwrap();
    assert_eq!(functions.says("f", &[&x, &x]), "Cancelled");
}

#[test]
fn functions_that_call_themselves_are_refused() {
    let call = |name: &str, callee: &str| {
        format!(
            "func @{name}(%x: !corert.tensorhandle) -> !corert.tensorhandle {{
               %c = tfrt.new.chain
               %cpu = corert.get_op_handler %c \"cpu\"
               %z = corert.executeop(%cpu) \"tf.PartitionedCall\"(%x) {{}} {{f = \"{callee}\"}} : 1
               tfrt.return %z : !corert.tensorhandle
             }}\n"
        )
    };
    let functions = Functions::new(
        &(call("f", "g") + &call("g", "h") + &call("h", "g") + &call("lost", "nobody")),
    );
    let x = functions.tensor([1.0_f32]);
    assert_eq!(
        functions.says("f", &[&x]),
        "cannot instantiate function `f`: p.mlir:16:21: error: function `g` is called as an op \
         and cannot call itself: g -> h -> g"
    );
    assert_eq!(
        functions.says("lost", &[&x]),
        "cannot instantiate function `lost`: p.mlir:22:21: error: `tf.PartitionedCall` calls the \
         unknown function `nobody`"
    );
}

#[test]
fn what_cannot_be_an_op_says_why() {
    let functions = Functions::new(
        "func @number(%x: i32) -> i32 {
           tfrt.return %x : i32
         }
         func @half(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !corert.tensorhandle {
           tfrt.return %x : !corert.tensorhandle
         }
         func @same(%x: !corert.tensorhandle) -> !corert.tensorhandle {
           tfrt.return %x : !corert.tensorhandle
         }",
    );
    let says = |name: &str| functions.says(name, &[]);
    assert_eq!(
        says("number"),
        "function `number` cannot be an op: argument 0: expected a tensor handle, found `i32`"
    );
    assert_eq!(
        says("half"),
        "function `half` cannot be an op: it takes a chain or returns one, but not both"
    );
    assert_eq!(
        says("sama"),
        "the program has no function `sama`; did you mean `same`?"
    );
    assert_eq!(
        says("same"),
        "function `same` takes 1 and returns 1 tensors, but the call has 0 and 1"
    );
}

#[test]
fn operands_that_come_later_make_results_that_come_later() {
    let functions = Functions::with_queue(
        &function("%z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %y) : 1"),
        "mstd:2",
    );
    // `tfrt_test.async.noop_no_md` tells nothing of its result before it is there.
    let x = functions.tensor([1.0_f32, 2.0]);
    let later = functions.eager.op("tfrt_test.async.noop_no_md").unwrap();
    let later = later.call(&[&x]).unwrap();
    assert_eq!(
        functions.says("f", &[&later, &x]),
        "DenseHostTensor dtype = f32, shape = [2], values = [2.000000e+00, 4.000000e+00]"
    );
}

#[test]
fn a_program_in_a_file_is_as_good_as_its_text() {
    let source = function("%z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %y) : 1");
    let mut functions = Functions::new(&source);
    let kernels = KernelRegistry::from_link().unwrap();
    let file = tfrt::text::compile(&source, "p.mlir", &kernels).unwrap();
    functions.program = FunctionProgram::from_bef(&file, "p.bef", &kernels).unwrap();
    let x = functions.tensor([1, 2]);
    assert_eq!(
        functions.says("f", &[&x, &x]),
        "DenseHostTensor dtype = i32, shape = [2], values = [2, 4]"
    );
}

#[test]
fn effects_of_functions_are_in_the_order_of_calls() {
    let functions = Functions::new(
        "func @f(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
           %cpu = corert.get_op_handler %c \"cpu\"
           %d = corert.executeop.seq(%cpu, %c) \"tfrt_test.print\"(%x)
           tfrt.return %d, %x : !tfrt.chain, !corert.tensorhandle
         }",
    );
    let x = functions.tensor([1]);
    assert_eq!(
        functions.says("f", &[&x]),
        "DenseHostTensor dtype = i32, shape = [1], values = [1]"
    );
}

/// A small generator of numbers: the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

#[test]
fn random_functions_give_the_bits_that_their_ops_give_one_by_one() {
    const UNARY: [&str; 4] = ["tf.Relu", "tf.Abs", "tf.Neg", "tf.Sigmoid"];
    const BINARY: [&str; 4] = ["tf.AddV2", "tf.Sub", "tf.Mul", "tf.Maximum"];
    let factor = std::env::var("TFRT_STRESS").map_or(1, |factor| factor.parse().unwrap());
    for seed in 1..=60 * factor {
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
        let num_ops = 1 + numbers.below(12);
        let mut body = String::new();
        let mut steps = Vec::new();
        let mut values = vec!["%x".to_owned(), "%y".to_owned()];
        for index in 0..num_ops {
            let result = if index + 1 == num_ops {
                "%z".to_owned()
            } else {
                format!("%v{index}")
            };
            let device = ["CPU:0", "CPU:1", "CPU"][numbers.below(3)];
            let one = numbers.below(values.len());
            let (op, operands) = if numbers.below(2) == 0 {
                (UNARY[numbers.below(4)], vec![one])
            } else {
                (
                    BINARY[numbers.below(4)],
                    vec![one, numbers.below(values.len())],
                )
            };
            let named: Vec<&str> = operands
                .iter()
                .map(|&operand| values[operand].as_str())
                .collect();
            body += &on(device, &result, op, &named);
            values.push(result);
            steps.push((op, operands));
        }
        let queue = ["s", "mstd:2"][numbers.below(2)];
        let functions = Functions::with_queue(&function(&body), queue);
        let shapes: [Vec<f32>; 2] = [vec![1.5, -0.25, 3.0], vec![-2.0, 0.5, 1e-3]];
        let [x, y] = shapes.map(|elements| functions.tensor(elements));
        let mut handles = vec![x.clone(), y.clone()];
        for (op, operands) in steps {
            let operands: Vec<&TensorHandle> =
                operands.iter().map(|&index| &handles[index]).collect();
            let result = functions.eager.op(op).unwrap().call(&operands).unwrap();
            handles.push(result);
        }
        let bits = |handle: &TensorHandle| -> Vec<u32> {
            let elements = functions.eager.to_vec::<f32>(handle).unwrap();
            elements.into_iter().map(f32::to_bits).collect()
        };
        let whole = functions
            .eager
            .function_op(&functions.program, "f")
            .unwrap();
        let whole = whole
            .call(&[&x, &y])
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{body}"));
        assert_eq!(
            bits(&whole),
            bits(&handles[handles.len() - 1]),
            "seed {seed}\n{body}"
        );
    }
}

#[test]
fn adding_zero_turns_a_negative_zero_around() {
    let functions = Functions::new(&function(
        "%zero = corert.const_dense_tensor dense<0.0> : tensor<f32>
         %z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %zero) : 1",
    ));
    let x = functions.tensor([-0.0_f32]);
    let sum = functions.says("f", &[&x, &x]);
    assert!(sum.ends_with("values = [0.000000e+00]"), "{sum}");
}

#[test]
fn error_of_metadata_that_was_waited_for_is_the_error_of_the_call() {
    let functions = Functions::new(&function(
        "%z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %y) : 1",
    ));
    let eager = &functions.eager;
    let x = functions.tensor([1.0_f32]);
    let later = eager
        .op("tfrt_test.async.noop_no_md")
        .unwrap()
        .call(&[&x])
        .unwrap();
    let bad = eager.op("tfrt_test.cast").unwrap().call(&[&later]).unwrap();
    assert!(bad.metadata().is_none(), "nothing is known of it yet");
    assert_eq!(functions.says("f", &[&bad, &x]), "missing 'type' attribute");
}

#[test]
fn function_may_hold_ops_that_are_no_kernels() {
    let functions = Functions::new(&function(
        "%z = corert.executeop(%cpu) \"tfrt_test.identity\"(%x) : 1",
    ));
    let x = functions.tensor([7_i32]);
    let said = functions.says("f", &[&x, &x]);
    assert!(said.ends_with("values = [7]"), "{said}");
}

#[test]
fn every_caller_of_a_function_that_fails_has_an_error_of_its_own() {
    let functions = Functions::new(&function(
        "%z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %y) : 1",
    ));
    let (x, y) = (functions.tensor([1.0_f32]), functions.tensor([1_i32]));
    let op = functions
        .eager
        .function_op(&functions.program, "f")
        .unwrap();
    let first = op.call(&[&x, &y]).unwrap_err();
    let second = op.call(&[&x, &y]).unwrap_err();
    assert_eq!(first.message(), second.message());
    assert_ne!(first.place().to_string(), second.place().to_string());
}

#[test]
fn ops_inside_of_ops_count_when_calls_are_replaced() {
    // Each function calls the one before twice; the first one has an op with many ops in it.
    let inner: String = (0..2000)
        .map(|n| format!("%n{n} = \"tfrt.add.i32\"(%i, %i) : (i32, i32) -> i32\n"))
        .collect();
    let mut source = format!(
        "func @f0(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {{
           %i = tfrt.constant.i32 1
           %j = tfrt.repeat.i32 %i, %i : i32 {{ {inner} tfrt.return %i : i32 }}
           tfrt.return %c, %x : !tfrt.chain, !corert.tensorhandle
         }}\n"
    );
    for level in 1..8 {
        let callee = level - 1;
        let call = "corert.executeop.seq(%cpu, %CHAIN) \"tf.StatefulPartitionedCall\"(%HANDLE) {} \
                    {f = \"fN\"} : 1";
        let call = |chain: &str, handle: &str| {
            let call = call.replace("CHAIN", chain).replace("HANDLE", handle);
            call.replace("fN", &format!("f{callee}"))
        };
        source += &format!(
            "func @f{level}(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {{
               %cpu = corert.get_op_handler %c \"cpu\"
               %d, %p = {}
               %e, %z = {}
               tfrt.return %e, %z : !tfrt.chain, !corert.tensorhandle
             }}\n",
            call("c", "x"),
            call("d", "p")
        );
    }
    let functions = Functions::new(&source);
    let x = functions.tensor([7_i32]);
    let said = functions.says("f7", &[&x]);
    assert!(said.contains("more than 100000 ops"), "{said}");
}

/// A device that no op is registered for.
#[derive(Debug)]
struct Oddity;

impl Device for Oddity {
    fn name(&self) -> &str {
        "ODD:0"
    }

    fn device_type(&self) -> &str {
        "odd"
    }
}

#[test]
fn soft_placement_holds_in_functions() {
    let source = function("%z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %y) : 1");
    for is_soft in [false, true] {
        let mut functions = Functions::new(&source);
        let eager = EagerContext::builder(Arc::clone(functions.eager.host()));
        let eager = eager.device(Arc::new(Oddity)).soft_placement(is_soft);
        functions.eager = eager.build().unwrap();
        let x = functions.tensor([1]);
        let _scope = functions.eager.device("ODD:0").unwrap();
        let said = functions.says("f", &[&x, &x]);
        if is_soft {
            assert!(said.ends_with("values = [2]"), "{said}");
        } else {
            let refused = "op `tf.AddV2` is not available for ODD:0; available for: CPU:0";
            assert!(said.contains(refused), "{said}");
        }
    }
}

#[test]
fn op_of_a_function_that_names_its_device_runs_there_whatever_the_scope() {
    let functions = Functions::new(&function(&on("CPU:0", "%z", "tf.AddV2", &["%x", "%y"])));
    let free = Functions::new(&function(
        "%z = corert.executeop(%cpu) \"tf.AddV2\"(%x, %y) : 1",
    ));
    for (functions, expected) in [(functions, "CPU:0"), (free, "CPU:1")] {
        let x = functions.tensor([1.0_f32]);
        let _scope = functions.eager.device("CPU:1").unwrap();
        let op = functions.eager.function_op(&functions.program, "f");
        let sum = op.unwrap().call(&[&x, &x]).unwrap();
        assert_eq!(sum.device().unwrap().0.name(), expected);
    }
}

#[test]
fn what_a_program_says_of_results_is_not_believed() {
    let functions = Functions::new(
        "func @f(%x: !corert.tensorhandle) -> !corert.tensorhandle {
           %c = tfrt.new.chain
           %cpu = corert.get_op_handler %c \"cpu\"
           %z = \"corert.executeop\"(%cpu, %x) {corert.results = [tensor<5xf32>], op_attrs = [],
             op_func_attrs = [], op_name = \"tfrt_test.odd_collector\"}
             : (!corert.ophandler, !corert.tensorhandle) -> !corert.tensorhandle
           tfrt.return %z : !corert.tensorhandle
         }",
    );
    let x = functions.tensor([1, 2, 3]);
    let (promise, tensor) = AnyRef::indirect();
    let cpu = x.device().unwrap().clone();
    let later = TensorHandle::new(cpu, x.metadata().unwrap(), tensor);
    let op = functions
        .eager
        .function_op(&functions.program, "f")
        .unwrap();
    let odd = op.call(&[&later]).unwrap();
    assert_eq!(odd.metadata(), None, "nobody can know it yet");
    promise.forward_to(x.tensor().unwrap().clone());
    assert_eq!(odd.metadata().unwrap().to_string(), "i32 [2]");
}

#[test]
fn function_with_branches_is_no_body_for_a_call() {
    let source =
        function("%z = corert.executeop(%cpu) \"tf.PartitionedCall\"(%x) {} {f = \"g\"} : 1")
            + "
        func @g(%x: !corert.tensorhandle) -> !corert.tensorhandle {
          \"cf.br\"()[^next] : () -> ()
        ^next:
          tfrt.return %x : !corert.tensorhandle
        }";
    let functions = Functions::new(&source);
    let x = functions.tensor([1]);
    let said = functions.says("f", &[&x, &x]);
    assert!(
        said.contains("function `g` is called as an op: it has branches"),
        "{said}"
    );
}

#[test]
fn error_of_an_effect_is_the_error_of_every_result_of_a_call_without_an_order() {
    let source = "
        func @g(%c: !tfrt.chain, %x: !corert.tensorhandle) -> (!tfrt.chain, !corert.tensorhandle) {
          %none = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
          %cpu = \"corert.create_cpu_op_handler\"(%none) : (!corert.ophandler) -> !corert.ophandler
          %bad = corert.executeop(%cpu) \"tfrt_test.error.tensor\"(%x) : 1
          %d = corert.executeop.seq(%cpu, %c) \"tfrt_test.print\"(%bad)
          tfrt.return %d, %x : !tfrt.chain, !corert.tensorhandle
        }
        func @main() -> !corert.tensorhandle {
          %none = \"corert.create_null_op_handler\"() : () -> !corert.ophandler
          %cpu = \"corert.create_cpu_op_handler\"(%none) : (!corert.ophandler) -> !corert.ophandler
          %x = corert.const_dense_tensor dense<1> : tensor<i32>
          %y = corert.executeop(%cpu) \"tf.PartitionedCall\"(%x) {} {f = \"g\"} : 1
          tfrt.return %y : !corert.tensorhandle
        }";
    let functions = Functions::new(source);
    let host = functions.eager.host();
    let file = tfrt::text::compile(source, "p.mlir", host.registry()).unwrap();
    let program = tfrt::executor::Program::load(host, &file).unwrap();
    let request = RequestContextBuilder::new(Arc::clone(host)).build();
    let main = program.function("main").unwrap();
    let results = main.execute(&ExecutionContext::new(request), &[]);
    let error = host.await_values(&results).unwrap_err();
    assert_eq!(
        error.message(),
        "error from test.error.tensor implementation"
    );
}

/// An op that estimates a microsecond for each element.
#[tfrt_op("function_test.Estimated", metadata = tfrt::core::metadata::same_as, cost = slow_cost)]
fn estimated(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op(
    "function_test.Estimated",
    device = "acc",
    metadata = tfrt::core::metadata::same_as,
    cost = fast_cost
)]
fn estimated_there(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

fn slow_cost(x: &TensorMetadata) -> f64 {
    x.num_elements().unwrap_or(0) as f64
}

fn fast_cost(_x: &TensorMetadata) -> f64 {
    0.25
}

/// Returns where the last op of a function runs, and the table that explains it.
fn placed(num_elements: usize, handler: &str, device: &str) -> String {
    let second = format!(
        "%z = \"corert.executeop\"(%handler, %a) {{{device}op_attrs = [], op_func_attrs = [], \
         op_name = \"function_test.Estimated\"}} : (!corert.ophandler, !corert.tensorhandle) -> \
         !corert.tensorhandle"
    );
    let source = function(&format!(
        "%k = corert.const_dense_tensor dense<1.0> : tensor<{num_elements}xf32>
         %handler = corert.get_op_handler %c \"{handler}\"
         %a = corert.executeop(%cpu) \"tf.Relu\"(%k) : 1
         {second}"
    ));
    let registry = KernelRegistry::from_link().expect("names are unique");
    let program = FunctionProgram::from_text(&source, "p.mlir", &registry);
    let program = program.unwrap_or_else(|found| panic!("{found}"));
    let tables = program.explain_placement(&registry, &["CPU:0", "ACC:0"]);
    let last = tables.rfind("p.mlir").expect("a table for each op");
    tables[last..].to_owned()
}

#[test]
fn an_op_of_a_function_runs_where_it_and_its_copies_cost_least() {
    // An op that may run on any device is placed as if it were called from Rust. The handler of the
    // host, which a program needs for any op, does not keep it there.
    let table = |reason: &str| {
        format!(
            "p.mlir:7:15: `function_test.Estimated` runs on CPU:0: {reason}
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         0.0 us                   10.0 us
  ACC:0   yes         10.0 us                  0.2 us
"
        )
    };
    let anywhere = "corert.device = \"*\", ";
    let least_cost = "lowest cost of moving operands and of the op";
    for (device, reason) in [(anywhere, "requested as `*`"), ("", least_cost)] {
        assert_eq!(placed(10, "cpu", device), table(reason));
        let far = placed(1_000, "cpu", device);
        assert!(far.contains("runs on ACC:0"), "{far}");
    }
    // The handler of other devices, and the name of a device, decide, whatever the ops cost
    // elsewhere.
    let by_handler = placed(10, "acc", "");
    assert!(by_handler.contains("runs on ACC:0"), "{by_handler}");
    let by_name = placed(1_000, "cpu", "corert.device = \"CPU\", ");
    assert!(by_name.contains("runs on CPU:0"), "{by_name}");
}

/// A device of another type, near to the host, and fast.
#[derive(Debug, Default)]
struct Accelerator {
    /// Whether the device has become as far away as one of which nothing is known.
    is_far: AtomicBool,
}

impl Device for Accelerator {
    fn name(&self) -> &str {
        "ACC:0"
    }

    fn device_type(&self) -> &str {
        "acc"
    }

    fn link_from(&self, _source: &dyn Device) -> LinkCost {
        match self.is_far.load(Ordering::Relaxed) {
            true => LinkCost::default(),
            false => LinkCost {
                latency_microseconds: 1.0,
                bytes_per_microsecond: 100.0,
            },
        }
    }

    fn bytes_per_microsecond(&self) -> Option<f64> {
        Some(1_000.0)
    }
}

#[tfrt_op("function_test.Plain", metadata = tfrt::core::metadata::same_as)]
fn plain(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[tfrt_op("function_test.Plain", device = "acc", metadata = tfrt::core::metadata::same_as)]
fn plain_there(x: &DenseHostTensor) -> DenseHostTensor {
    x.clone()
}

#[test]
fn functions_are_placed_by_the_links_and_speeds_of_their_devices() {
    let anywhere = |result: &str, op: &str, operand: &str| {
        format!(
            "{result} = \"corert.executeop\"(%cpu, {operand}) {{corert.device = \"*\", op_attrs = [], \
             op_func_attrs = [], op_name = \"function_test.{op}\"}} : (!corert.ophandler, \
             !corert.tensorhandle) -> !corert.tensorhandle"
        )
    };
    let source = function(&format!(
        "{}\n{}",
        anywhere("%a", "Estimated", "%x"),
        anywhere("%z", "Plain", "%a")
    ));
    let functions = Functions::new(&source);
    let host = Arc::clone(functions.eager.host());
    let accelerator = Arc::new(Accelerator::default());
    let eager = EagerContext::builder(host).device(Arc::clone(&accelerator) as Arc<dyn Device>);
    let eager = eager.build().unwrap();
    // The processor takes 8 us for so few elements: only a link that is faster than one of which
    // nothing is known makes the other device worth it.
    let x = eager.tensor(vec![0.0_f32; 8]).unwrap();
    let tables = eager.explain_function(&functions.program, "f", &[&x, &x]);
    assert_eq!(
        tables.unwrap(),
        "\
p.mlir:4:17: `function_test.Estimated` runs on ACC:0: requested as `*`
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         0.0 us                   8.0 us
  ACC:0   yes         1.3 us                   0.2 us
p.mlir:5:6: `function_test.Plain` runs on ACC:0: requested as `*`
  device  has the op  cost of moving operands  cost of the op
  CPU:0   yes         10.0 us                  0.0 us
  ACC:0   yes         0.0 us                   0.1 us
"
    );
    // A call places the ops where the tables say, for the links at the time of the call.
    let op = eager.function_op(&functions.program, "f").unwrap();
    let home = || {
        let [z] = op.call_array(&[&x, &x]).unwrap();
        z.device().unwrap().0.name().to_owned()
    };
    assert_eq!(home(), "ACC:0");
    accelerator.is_far.store(true, Ordering::Relaxed);
    assert_eq!(home(), "CPU:0");
    accelerator.is_far.store(false, Ordering::Relaxed);
    assert_eq!(home(), "ACC:0");
    let error = eager
        .explain_function(&functions.program, "f", &[&x])
        .unwrap_err();
    assert_eq!(
        error.message(),
        "function `f` takes 2 and returns 1 tensors, but the call has 1 and 1"
    );
    assert!(
        error.place().to_string().contains("function_ops.rs:"),
        "{error:?}"
    );
}

/// Repeats the first element of `x`, as often as `count` says, which the function reads itself.
#[tfrt_op("function_test.Repeat")]
fn repeat(x: &DenseHostTensor, #[host] count: &DenseHostTensor) -> Result<DenseHostTensor> {
    let (first, count) = (x.elements::<f32>()?[0], count.to_scalar::<i32>()?);
    Ok(DenseHostTensor::vector(&vec![first; count as usize])?)
}

/// Returns the number of copies that a function makes of handles.
fn num_copies(module: &Module, func: OpId) -> usize {
    let ops = module.block_ops(module.entry_block(func).unwrap()).iter();
    ops.filter(|&&op| module.op_name(op) == "corert.copy_to_device")
        .count()
}

#[test]
fn an_operand_is_copied_for_the_ops_that_need_it_on_their_device_alone() {
    let source = format!(
        "func @f(%x: !corert.tensorhandle, %count: !corert.tensorhandle)
             -> (!corert.tensorhandle, !corert.tensorhandle)
             attributes {{corert.devices = [\"CPU:0\", \"CPU:1\"]}} {{
           %c = tfrt.new.chain
           %cpu = corert.get_op_handler %c \"cpu\"
           {}
           {}
           tfrt.return %y, %z : !corert.tensorhandle, !corert.tensorhandle
         }}",
        on("CPU:1", "%y", "tf.Relu", &["%count"]),
        on("CPU:1", "%z", "function_test.Repeat", &["%x", "%count"])
    );
    let functions = Functions::new(&source);
    let registry = KernelRegistry::from_link().expect("names are unique");
    let ops = OpRegistry::new(OpRegistration::linked(), &registry);
    let mut module = functions.program.module().clone();
    let func = module.lookup_symbol(module.root(), "f").unwrap();
    for step in [place, partition] {
        assert!(step(&mut module, func, &ops).is_empty());
    }
    let part = module.lookup_symbol(module.root(), "f.CPU_1").unwrap();
    assert_eq!(num_copies(&module, part), 2);
    let is_copied = |name: &str| {
        let ops = module.block_ops(module.entry_block(part).unwrap()).iter();
        let named = |op: &OpId| {
            let named = module.attr(*op, "op_name");
            named.and_then(|named| module.attribute_str(named)) == Some(name)
        };
        let op = ops.copied().find(named).unwrap();
        let last = *module.operands(op).last().unwrap();
        let maker = module.defining_op(last);
        maker.is_some_and(|maker| module.op_name(maker) == "corert.copy_to_device")
    };
    assert!(is_copied("tf.Relu"));
    assert!(!is_copied("function_test.Repeat"));
}

#[test]
fn operands_in_host_memory_stay_there() {
    let source = format!(
        "func @f(%x: !corert.tensorhandle, %count: !corert.tensorhandle) -> !corert.tensorhandle
             attributes {{corert.devices = [\"CPU:0\", \"CPU:1\"]}} {{
           %c = tfrt.new.chain
           %cpu = corert.get_op_handler %c \"cpu\"
           {}
           tfrt.return %z : !corert.tensorhandle
         }}",
        on("CPU:1", "%z", "function_test.Repeat", &["%x", "%count"])
    );
    let functions = Functions::new(&source);
    let (x, count) = (functions.tensor([2.5_f32]), functions.tensor(3_i32));
    let z = functions.says("f", &[&x, &count]);
    assert!(z.contains("shape = [3]"), "{z}");
    // Only `x` is moved: 10 microseconds, and four bytes.
    let tables = functions
        .eager
        .explain_function(&functions.program, "f", &[&x, &count]);
    let tables = tables.unwrap();
    assert!(tables.contains("  CPU:1   yes         10.0 us"), "{tables}");

    let registry = KernelRegistry::from_link().expect("names are unique");
    let ops = OpRegistry::new(OpRegistration::linked(), &registry);
    let mut module = functions.program.module().clone();
    let func = module.lookup_symbol(module.root(), "f").unwrap();
    for step in [place, partition] {
        assert!(step(&mut module, func, &ops).is_empty());
    }
    let part = module.lookup_symbol(module.root(), "f.CPU_1").unwrap();
    // Before copies that nothing uses are gone.
    assert_eq!(num_copies(&module, part), 1);
    for func in [func, part] {
        assert!(lower(&mut module, func, &ops).is_empty());
    }
    let block = module.entry_block(part).unwrap();
    let shown = module.block_ops(block).iter().map(|&op| {
        let device = module
            .attr(op, "device")
            .and_then(|device| module.attribute_str(device));
        [module.op_name(op), device.unwrap_or_default()].join(" ")
    });
    assert_eq!(
        shown.collect::<Vec<_>>(),
        [
            "corert.copy_to_device CPU:1",
            // The chain of the handler.
            "corert.receive ",
            "corert.operand CPU:1",
            "corert.operand CPU:0",
            "function_test.Repeat ",
            "corert.handle_of_tensor CPU:1",
            "tfrt.return ",
        ]
    );
}

/// Adds one to each element, in place.
#[tfrt_op("function_test.Increment")]
fn increment(x: &mut DenseHostTensor) -> Result<()> {
    x.elements_mut::<f32>()?.iter_mut().for_each(|x| *x += 1.0);
    Ok(())
}

#[test]
fn a_function_that_writes_is_ordered_with_readers() {
    let functions = Functions::new(
        "func @f(%c: !tfrt.chain, %x: !corert.tensorhandle) -> !tfrt.chain {
           %cpu = corert.get_op_handler %c \"cpu\"
           %d = corert.executeop.seq(%cpu, %c) \"function_test.Increment\"(%x)
           tfrt.return %d : !tfrt.chain
         }",
    );
    let eager = &functions.eager;
    let x = functions.tensor([1.0_f32]);
    let (promise, late) = HandlePromise::new();
    let sum = eager.op("tf.AddV2").unwrap().call(&[&x, &late]).unwrap();
    let op = eager.function_op(&functions.program, "f").unwrap();
    let [] = op.call_array(&[&x]).unwrap();
    let after = eager.op("tf.Relu").unwrap().call(&[&x]).unwrap();
    promise.forward_to(&functions.tensor([10.0_f32]));
    assert_eq!(eager.to_vec::<f32>(&sum).unwrap(), [11.0]);
    assert_eq!(eager.to_vec::<f32>(&after).unwrap(), [2.0]);
}

/// A queue of one thread that says it has two, and counts the tasks that it is given.
#[derive(Debug, Default)]
struct CountingQueue {
    tasks: SingleThreadedQueue,
    num_added: AtomicUsize,
}

impl ConcurrentWorkQueue for CountingQueue {
    fn name(&self) -> String {
        "counting".into()
    }

    fn add_task(&self, task: Task) {
        self.num_added.fetch_add(1, Ordering::Relaxed);
        self.tasks.add_task(task);
    }

    fn add_blocking_task(&self, task: Task, allow_queuing: bool) -> Result<(), Task> {
        self.tasks.add_blocking_task(task, allow_queuing)
    }

    fn await_values(&self, values: &[AnyRef]) -> Result<(), WouldDeadlock> {
        self.tasks.await_values(values)
    }

    fn quiesce(&self) -> Result<(), WouldDeadlock> {
        self.tasks.quiesce()
    }

    fn parallelism_level(&self) -> usize {
        2
    }

    fn is_in_worker_thread(&self) -> bool {
        self.tasks.is_in_worker_thread()
    }
}

/// Returns a function of `layers` layers, each of them a product with a weight and the addition of
/// a bias, and the weights and biases that it takes after `%x`.
fn network(layers: usize) -> (String, usize) {
    let mut arguments = String::from("%x0: !corert.tensorhandle");
    let mut ops = String::new();
    for layer in 0..layers {
        arguments += &format!(", %w{layer}: !corert.tensorhandle, %b{layer}: !corert.tensorhandle");
        ops += &format!(
            "%p{layer} = corert.executeop(%cpu) \"tf.MatMul\"(%x{layer}, %w{layer}) \
             {{transpose_a = false, transpose_b = false}} : 1
             %x{} = corert.executeop(%cpu) \"tf.AddV2\"(%p{layer}, %b{layer}) : 1\n",
            layer + 1
        );
    }
    let source = format!(
        "func @f({arguments}) -> !corert.tensorhandle {{
           %c = tfrt.new.chain
           %cpu = corert.get_op_handler %c \"cpu\"
           {ops}
           tfrt.return %x{layers} : !corert.tensorhandle
         }}"
    );
    (source, 2 * layers)
}

/// Returns the function `f` of a program after its ops are lowered.
fn lowered(program: &FunctionProgram) -> (Module, OpId) {
    let registry = KernelRegistry::from_link().expect("names are unique");
    let ops = OpRegistry::new(OpRegistration::linked(), &registry);
    let mut module = program.module().clone();
    let func = module.lookup_symbol(module.root(), "f").unwrap();
    assert!(lower(&mut module, func, &ops).is_empty());
    (module, func)
}

/// Returns the number of streams that the ops of a function are in.
fn num_streams(module: &Module, func: OpId) -> usize {
    let block = module.entry_block(func).unwrap();
    let streams = analyze_block(module, block);
    let num_ops = module.block_ops(block).len();
    let of_ops = (0..num_ops).map(|index| streams.of(NodeId::from_index(index)));
    of_ops.collect::<HashSet<_>>().len()
}

/// Each weight that a function takes is prepared for its op by a kernel that depends on nothing
/// else. No thread is woken for it.
#[test]
fn preparing_the_weights_of_a_lowered_function_is_no_work_for_other_threads() {
    const LAYERS: usize = 8;
    let (source, num_weights) = network(LAYERS);
    let registry = Arc::new(KernelRegistry::from_link().expect("names are unique"));
    let program = FunctionProgram::from_text(&source, "p.mlir", &registry);
    let program = program.unwrap_or_else(|found| panic!("{found}"));
    let (module, func) = lowered(&program);
    let block = module.entry_block(func).unwrap();
    let prepares = |&&op: &&OpId| module.op_name(op) == "corert.operand";
    let num_prepared = module.block_ops(block).iter().filter(prepares).count();
    assert_eq!(num_prepared, 1 + num_weights, "the test has what it counts");
    assert_eq!(num_streams(&module, func), 1);

    let queue = Arc::new(CountingQueue::default());
    let host = HostContext::builder()
        .registry(registry)
        .queue(Arc::clone(&queue) as _)
        .build();
    let eager = EagerContext::builder(Arc::clone(&host)).build().unwrap();
    let bytes =
        encode(&module, &EncodeOptions::default()).unwrap_or_else(|found| panic!("{found}"));
    let loaded = Program::load(&host, &BefFile::from_bytes(&bytes)).unwrap();
    let function = loaded.function("f").unwrap();
    let ctx = ExecutionContext::new(RequestContextBuilder::new(host).build());
    let weight = eager.tensor([[1.0_f32, 0.0], [0.0, 2.0]]).unwrap();
    let bias = eager.tensor([1.0_f32, -1.0]).unwrap();
    // The first operand comes late, so that kernels run as their operands become available.
    let (promise, x) = AsyncValueRef::<TensorHandle>::unconstructed();
    let mut arguments = vec![x.into_any()];
    for _ in 0..LAYERS {
        arguments.extend([&weight, &bias].map(|tensor| AnyRef::available(tensor.clone())));
    }
    let results = function.execute(&ctx, &arguments);
    let num_added = || queue.num_added.load(Ordering::Relaxed);
    assert_eq!(num_added(), 0, "before the first operand is there");
    promise.emplace(eager.tensor([[3.0_f32, 2.0]]).unwrap());
    ctx.host().await_values(&results).unwrap();
    assert_eq!(num_added(), 0);
    let y = results[0].try_read::<TensorHandle>().unwrap();
    // Each layer adds 1 to the first element; twice the second one less 1 goes from 2 to 257.
    assert_eq!(eager.to_vec::<f32>(&y).unwrap(), [11.0, 257.0]);
}

#[test]
fn branches_of_a_lowered_function_are_work_for_several_threads() {
    let source = function(
        "%p = corert.executeop(%cpu) \"tf.MatMul\"(%x, %y) {transpose_a = false, transpose_b = false} : 1
         %q = corert.executeop(%cpu) \"tf.MatMul\"(%y, %x) {transpose_a = false, transpose_b = false} : 1
         %z = corert.executeop(%cpu) \"tf.AddV2\"(%p, %q) : 1",
    );
    let functions = Functions::new(&source);
    let (module, func) = lowered(&functions.program);
    assert_eq!(num_streams(&module, func), 2);
}
