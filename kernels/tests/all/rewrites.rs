//! The rules of the library: each applies, and what it makes computes what was there before.

use std::collections::BTreeSet;
use std::sync::Arc;

use tfrt::core::{
    CoreRuntime, CoreRuntimeOp, CpuOpHandler, EagerContext, NullOpHandler, OpAttrs, OpHandlerRef,
    OpInvocation, TensorHandle,
};
use tfrt::executor::Program;
use tfrt::function_ops::rewrite::Rule;
use tfrt::function_ops::{FunctionOps, FunctionProgram};
use tfrt::prelude::*;

tfrt::link!(tfrt_kernels);

/// A small generator of numbers: the same for the same seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }

    /// From -4 to 4, in steps of 1/16.
    fn number(&mut self) -> f32 {
        (self.below(129) as f32 - 64.0) / 16.0
    }
}

/// One rule at work.
struct Case {
    rule: &'static str,
    /// How operands are made: element type and extents; `N` is any number from 1 to 5, and `+`
    /// numbers that are not negative.
    operands: &'static [&'static str],
    /// A function of the operands `%a`, `%b`, … that returns `%r`.
    body: &'static str,
    /// How far results may be apart, relative to 1 or to their size.
    tolerance: f32,
}

const CASES: &[Case] = &[
    Case {
        rule: "fuse-bias-add",
        operands: &["f32 3xN", "f32 NxM", "f32 M"],
        body: r#"%p = corert.executeop(%cpu) "tf.MatMul"(%a, %b) {transpose_a = false, transpose_b = false} : 1
                 %r = corert.executeop(%cpu) "tf.BiasAdd"(%p, %c) : 1"#,
        tolerance: 1e-5,
    },
    Case {
        rule: "fuse-add-of-vector",
        operands: &["f32 Nx3", "f32 MxN", "f32 M"],
        body: r#"%p = corert.executeop(%cpu) "tf.MatMul"(%a, %b) {transpose_a = true, transpose_b = true} : 1
                 %r = corert.executeop(%cpu) "tf.AddV2"(%p, %c) : 1"#,
        tolerance: 1e-5,
    },
    Case {
        rule: "fuse-relu",
        operands: &["f32 3xN", "f32 NxM", "f32 M"],
        body: r#"%p = corert.executeop(%cpu) "tf._FusedMatMul"(%a, %b, %c) {fused_ops = ["BiasAdd"], transpose_a = false, transpose_b = false} : 1
                 %r = corert.executeop(%cpu) "tf.Relu"(%p) : 1"#,
        tolerance: 1e-5,
    },
    Case {
        rule: "fuse-relu6",
        operands: &["f32 3xN", "f32 NxM", "f32 M"],
        body: r#"%p = corert.executeop(%cpu) "tf._FusedMatMul"(%a, %b, %c) {fused_ops = ["BiasAdd"], transpose_a = false, transpose_b = false} : 1
                 %r = corert.executeop(%cpu) "tf.Relu6"(%p) : 1"#,
        tolerance: 1e-5,
    },
    Case {
        rule: "fuse-elu",
        operands: &["f32 3xN", "f32 NxM", "f32 M"],
        body: r#"%p = corert.executeop(%cpu) "tf._FusedMatMul"(%a, %b, %c) {fused_ops = ["BiasAdd"], transpose_a = false, transpose_b = false} : 1
                 %r = corert.executeop(%cpu) "tf.Elu"(%p) : 1"#,
        tolerance: 1e-5,
    },
    Case {
        rule: "fold-batch-norm-into-convolution",
        operands: &[
            "f32 2x5x5xN",
            "f32 3x3xNxM",
            "f32 M",
            "f32 M",
            "f32 M",
            "f32+ M",
        ],
        body: r#"%p = corert.executeop(%cpu) "tf.Conv2D"(%a, %b) {data_format = "NHWC", dilations = [1, 1, 1, 1], explicit_paddings = [], padding = "SAME", strides = [1, 1, 1, 1]} : 1
                 %r, %1, %2, %3, %4, %5 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%p, %c, %d, %e, %f) {data_format = "NHWC", epsilon = 0.25 : f32, is_training = false} : 6"#,
        tolerance: 1e-3,
    },
    Case {
        rule: "fold-batch-norm-into-product",
        operands: &["f32 4xN", "f32 NxM", "f32 M", "f32 M", "f32 M", "f32+ M"],
        body: r#"%p = corert.executeop(%cpu) "tf.MatMul"(%a, %b) {transpose_a = false, transpose_b = false} : 1
                 %r, %1, %2, %3, %4, %5 = corert.executeop(%cpu) "tf.FusedBatchNormV3"(%p, %c, %d, %e, %f) {data_format = "NHWC", epsilon = 0.25 : f32, is_training = false} : 6"#,
        tolerance: 1e-3,
    },
    Case {
        rule: "join-transpositions",
        operands: &["f32 2xNxM"],
        body: r#"%first = corert.const_dense_tensor dense<[1, 2, 0]> : tensor<3xi32>
                 %second = corert.const_dense_tensor dense<[0, 2, 1]> : tensor<3xi64>
                 %p = corert.executeop(%cpu) "tfrt.Transpose"(%a, %first) : 1
                 %r = corert.executeop(%cpu) "tfrt.Transpose"(%p, %second) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-transposition",
        operands: &["f32 2xNxM"],
        body: r#"%order = corert.const_dense_tensor dense<[0, 1, 2]> : tensor<3xi32>
                 %r = corert.executeop(%cpu) "tfrt.Transpose"(%a, %order) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "join-reshapes",
        operands: &["f32 4x6"],
        body: r#"%first = corert.const_dense_tensor dense<[3, 8]> : tensor<2xi32>
                 %second = corert.const_dense_tensor dense<[2, -1]> : tensor<2xi32>
                 %p = corert.executeop(%cpu) "tf.Reshape"(%a, %first) : 1
                 %r = corert.executeop(%cpu) "tf.Reshape"(%p, %second) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-reshape",
        operands: &["f32 4x6"],
        body: r#"%shape = corert.const_dense_tensor dense<[4, 6]> : tensor<2xi32>
                 %r = corert.executeop(%cpu) "tf.Reshape"(%a, %shape) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-add-of-zero",
        operands: &["f32 3xN"],
        body: r#"%zero = corert.const_dense_tensor dense<-0.0> : tensor<f32>
                 %r = corert.executeop(%cpu) "tf.AddV2"(%a, %zero) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-add-to-zero",
        operands: &["i32 3xN"],
        body: r#"%zero = corert.const_dense_tensor dense<0> : tensor<3x1xi32>
                 %r = corert.executeop(%cpu) "tf.AddV2"(%zero, %a) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-subtraction-of-zero",
        operands: &["f32 3xN"],
        body: r#"%zero = corert.const_dense_tensor dense<0.0> : tensor<1xf32>
                 %r = corert.executeop(%cpu) "tf.Sub"(%a, %zero) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-product-with-one",
        operands: &["f32 3xN"],
        body: r#"%one = corert.const_dense_tensor dense<1.0> : tensor<f32>
                 %r = corert.executeop(%cpu) "tf.Mul"(%a, %one) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-product-of-one",
        operands: &["i32 3xN"],
        body: r#"%one = corert.const_dense_tensor dense<1> : tensor<i32>
                 %r = corert.executeop(%cpu) "tf.Mul"(%one, %a) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-division-by-one",
        operands: &["f32 3xN"],
        body: r#"%one = corert.const_dense_tensor dense<1.0> : tensor<f32>
                 %r = corert.executeop(%cpu) "tf.RealDiv"(%a, %one) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-double-negation",
        operands: &["f32 3xN"],
        body: r#"%p = corert.executeop(%cpu) "tf.Neg"(%a) : 1
                 %r = corert.executeop(%cpu) "tf.Neg"(%p) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-negation-before-absolute-value",
        operands: &["f32 3xN"],
        body: r#"%p = corert.executeop(%cpu) "tf.Neg"(%a) : 1
                 %r = corert.executeop(%cpu) "tf.Abs"(%p) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "join-rectifiers",
        operands: &["f32 3xN"],
        body: r#"%p = corert.executeop(%cpu) "tf.Relu"(%a) : 1
                 %r = corert.executeop(%cpu) "tf.Relu"(%p) : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "join-casts",
        operands: &["i32 3xN"],
        body: r#"%p = corert.executeop(%cpu) "tfrt.Cast"(%a) {DstT = i64} : 1
                 %r = corert.executeop(%cpu) "tfrt.Cast"(%p) {DstT = f32} : 1"#,
        tolerance: 0.0,
    },
    Case {
        rule: "drop-cast",
        operands: &["f32 3xN"],
        body: r#"%r = corert.executeop(%cpu) "tfrt.Cast"(%a) {DstT = f32} : 1"#,
        tolerance: 0.0,
    },
];

/// Returns a function of so many operands.
fn function(num_operands: usize, body: &str) -> String {
    let operands = ["%a", "%b", "%c", "%d", "%e", "%f"];
    let operands = operands[..num_operands].iter();
    let operands: Vec<String> = operands
        .map(|name| format!("{name}: !corert.tensorhandle"))
        .collect();
    format!(
        "func @f(%chain: !tfrt.chain, {}) -> (!tfrt.chain, !corert.tensorhandle) {{
           %cpu = corert.get_op_handler %chain \"cpu\"
           {body}
           tfrt.return %chain, %r : !tfrt.chain, !corert.tensorhandle
         }}",
        operands.join(", ")
    )
}

/// What runs a function as it is written, and as an op.
struct Both {
    eager: Arc<EagerContext>,
    kernels: Arc<KernelRegistry>,
}

impl Both {
    fn new() -> Self {
        let kernels = Arc::new(KernelRegistry::from_link().expect("names are unique"));
        let host = HostContext::builder()
            .registry(Arc::clone(&kernels))
            .build();
        let runtime = CoreRuntime::of(&host);
        let fallback = OpHandlerRef::new(NullOpHandler);
        let cpu = CpuOpHandler::new(&runtime, runtime.host_device().clone(), fallback);
        runtime.register_handler("cpu", OpHandlerRef::new(cpu));
        let eager = EagerContext::builder(host).build().expect("one device");
        Self { eager, kernels }
    }

    fn operand(&self, text: &str, numbers: &mut Numbers, sizes: [i64; 2]) -> TensorHandle {
        let (dtype, extents) = text.split_once(' ').expect("a type and extents");
        let extents = extents.split('x').map(|extent| match extent {
            "N" => sizes[0],
            "M" => sizes[1],
            extent => extent.parse().expect("an extent"),
        });
        let extents: Vec<i64> = extents.collect();
        let count: i64 = extents.iter().product();
        let elements = (0..count).map(|_| match dtype {
            "f32+" => numbers.number().abs(),
            _ => numbers.number(),
        });
        let elements: Vec<f32> = elements.collect();
        let flat = match dtype {
            "i32" => {
                let integers: Vec<i32> = elements.iter().map(|&x| (x * 16.0) as i32).collect();
                self.eager.tensor(integers)
            }
            _ => self.eager.tensor(elements),
        };
        let shape = self.eager.tensor(extents).expect("a shape");
        let reshape = self.eager.op("tf.Reshape").expect("it is linked");
        reshape
            .call(&[&flat.expect("elements"), &shape])
            .expect("as many elements")
    }

    /// Returns the result of a function that runs op by op.
    fn as_written(&self, source: &str, operands: &[TensorHandle]) -> TensorHandle {
        let file = tfrt::text::compile(source, "f.mlir", &self.kernels);
        let file = file.unwrap_or_else(|found| panic!("{found}"));
        let program = Program::load(self.eager.host(), &file).expect("it can be loaded");
        let function = program.function("f").expect("it is there");
        let op = CoreRuntimeOp::composite(function).expect("a function of handles");
        let request = tfrt::host::RequestContextBuilder::new(Arc::clone(self.eager.host())).build();
        let mut results = [TensorHandle::INVALID];
        op.run(&mut OpInvocation {
            ctx: &ExecutionContext::new(request),
            arguments: &mut operands.to_vec(),
            attrs: &OpAttrs::new(),
            results: &mut results,
            chain: None,
        });
        let [result] = results;
        result
    }

    fn numbers(&self, handle: &TensorHandle) -> (String, Vec<f32>) {
        self.eager
            .wait(handle)
            .unwrap_or_else(|error| panic!("{error}"));
        let metadata = handle.metadata().expect("it is there");
        let elements = match metadata.dtype {
            DType::I32 => {
                let elements = self.eager.to_vec::<i32>(handle).expect("elements");
                elements.into_iter().map(|x| x as f32).collect()
            }
            _ => self.eager.to_vec::<f32>(handle).expect("elements"),
        };
        (metadata.to_string(), elements)
    }
}

#[test]
fn every_rule_applies_and_keeps_what_is_computed() {
    let both = Both::new();
    let count = std::env::var("TFRT_STRESS").map_or(8, |count| count.parse().unwrap());
    for case in CASES {
        let source = function(case.operands.len(), case.body);
        let program = FunctionProgram::from_text(&source, "f.mlir", &both.kernels);
        let program = program.unwrap_or_else(|found| panic!("{}: {found}", case.rule));
        let op = both
            .eager
            .function_op(&program, "f")
            .expect("it can be an op");
        for seed in 1..=count {
            let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15_u64.wrapping_mul(seed));
            let sizes = [(); 2].map(|()| 1 + numbers.below(5) as i64);
            let operands = case.operands.iter();
            let operands: Vec<TensorHandle> = operands
                .map(|text| both.operand(text, &mut numbers, sizes))
                .collect();
            let known: Vec<TensorMetadata> = operands
                .iter()
                .map(|operand| operand.metadata().expect("known"))
                .collect();
            let applied = program.rewrites("f", &known, CoreRuntime::of(both.eager.host()).ops());
            let applied = applied.unwrap_or_else(|error| panic!("{}: {error}", case.rule));
            assert!(
                applied
                    .iter()
                    .any(|remark| remark.contains(&format!("`{}` applies", case.rule))),
                "{}: {applied:?}",
                case.rule
            );
            let before = both.numbers(&both.as_written(&source, &operands));
            let handles: Vec<&TensorHandle> = operands.iter().collect();
            let after = op
                .call(&handles)
                .unwrap_or_else(|error| panic!("{}: {error}", case.rule));
            let after = both.numbers(&after);
            assert_eq!(before.0, after.0, "{}", case.rule);
            for (x, y) in before.1.iter().zip(&after.1) {
                let bound = case.tolerance * x.abs().max(1.0);
                assert!((x - y).abs() <= bound, "{}: {x} and {y}", case.rule);
            }
        }
    }
}

#[test]
fn every_rule_of_the_library_has_a_case() {
    let rules: BTreeSet<&str> = Rule::all().into_iter().map(|rule| rule.name).collect();
    let mine = ["test-there", "test-back"];
    let rules: BTreeSet<&str> = rules
        .into_iter()
        .filter(|name| !mine.contains(name))
        .collect();
    let cases: BTreeSet<&str> = CASES.iter().map(|case| case.rule).collect();
    assert_eq!(rules, cases);
}

/// What applies to a function with these operands.
fn applied(body: &str, operands: &[&[usize]]) -> Result<Vec<String>> {
    let both = Both::new();
    let source = function(operands.len(), body);
    let program = FunctionProgram::from_text(&source, "f.mlir", &both.kernels);
    let program = program.unwrap_or_else(|found| panic!("{found}"));
    let known: Vec<TensorMetadata> = operands
        .iter()
        .map(|&extents| TensorMetadata::new(DType::F32, extents))
        .collect();
    program.rewrites("f", &known, CoreRuntime::of(both.eager.host()).ops())
}

#[test]
fn a_value_that_is_needed_elsewhere_is_not_fused() {
    let body = r#"%p = corert.executeop(%cpu) "tf.MatMul"(%a, %b) {transpose_a = false, transpose_b = false} : 1
                  %s = corert.executeop(%cpu) "tf.BiasAdd"(%p, %c) : 1
                  %r = corert.executeop(%cpu) "tf.AddV2"(%p, %s) : 1"#;
    assert_eq!(applied(body, &[&[2, 3], &[3, 4], &[4]]).unwrap(), [""; 0]);
}

#[test]
fn a_rule_that_would_change_the_shape_does_not_apply() {
    // Zero stretches the tensor.
    let body = r#"%zero = corert.const_dense_tensor dense<0.0> : tensor<4x3xf32>
                  %r = corert.executeop(%cpu) "tf.AddV2"(%a, %zero) : 1"#;
    assert_eq!(applied(body, &[&[1, 3]]).unwrap(), [""; 0]);
}

#[test]
fn a_value_that_somebody_waits_for_is_not_dropped() {
    // The operand may be zero, but is not known to be: nothing applies.
    let body = r#"%r = corert.executeop(%cpu) "tf.AddV2"(%a, %b) : 1"#;
    assert_eq!(applied(body, &[&[3], &[3]]).unwrap(), [""; 0]);
}

tfrt::function_ops::rewrite! {
    /// For a test: undone by the other one.
    "test-there" (1): [tf.Square(x)] => [tf.Exp(x)];
}

tfrt::function_ops::rewrite! {
    /// For a test: undone by the other one.
    "test-back" (1): [tf.Exp(x)] => [tf.Square(x)];
}

#[test]
fn rules_without_end_are_an_error() {
    let body = r#"%r = corert.executeop(%cpu) "tf.Square"(%a) : 1"#;
    let error = applied(body, &[&[3]]).unwrap_err();
    let message = error.message();
    assert!(
        message.contains("f.mlir:3:") && message.contains("the last rule applied was `test-"),
        "{message}"
    );
}
