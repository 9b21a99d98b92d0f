//! The memory of what kernels keep besides their results: requests without room for it fail with
//! an error, and what is empty needs none.
//!
//! There is one test, as others would take memory meanwhile.
#![cfg(target_os = "linux")]

mod common;

use std::sync::Arc;

use common::*;
use tfrt::host::HostContext;
use tfrt::prelude::KernelRegistry;
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::*;
use tfrt_tensor::DenseHostTensor;

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

/// Returns a number of bytes that the system states of the process.
fn memory(name: &str) -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.unwrap().trim().strip_suffix("kB").unwrap();
    kib.trim().parse::<usize>().unwrap() << 10
}

/// The memory of a request.
const MAX_BYTES: usize = 8 << 20;

/// The growth of the process that a request may cause, which includes that of its threads. What is
/// not asked for would be several times as large.
const MAX_GROWTH: usize = 100 << 20;

/// Runs nodes in a request with little memory. Returns the shapes of the results, or the error.
#[track_caller]
fn run(nodes: Vec<NodeProto>, inputs: &[(&str, DenseHostTensor)]) -> Result<String, String> {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let output = nodes.last().unwrap().output[0].clone();
    let model = ModelProto {
        opset_import: vec![OperatorSetIdProto {
            version: Some(23),
            ..Default::default()
        }],
        ..model(graph(&names, nodes, &[&output]))
    };
    let model = Model::from_bytes(prost::Message::encode_to_vec(&model), &Limits::default());
    let program = model.unwrap().import(&Options::default()).unwrap();
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let session = Session::load(program, "model.onnx", &host).unwrap();
    let request = session.request().max_bytes(MAX_BYTES).build();

    // The system forgets the highest level so far.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = memory("VmRSS:");
    let outputs = session.run_in_request(&request, inputs);
    let growth = memory("VmHWM:").saturating_sub(before);
    assert!(growth <= MAX_GROWTH, "{growth} bytes");
    match outputs {
        Ok(outputs) => Ok(outputs[0].metadata().to_string()),
        Err(error) => Err(error.message().to_owned()),
    }
}

/// Runs a node whose operands are the inputs, in this order.
#[track_caller]
fn run_node(node: NodeProto, inputs: &[(&str, DenseHostTensor)]) -> Result<String, String> {
    run(vec![node], inputs)
}

/// Returns a node that makes `x` of a shape, the input `shape`.
fn of_shape() -> NodeProto {
    node("ConstantOfShape", &["shape"], &["x"])
}

#[track_caller]
fn assert_refused(found: Result<String, String>) {
    let error = found.unwrap_err();
    assert!(error.starts_with("cannot allocate "), "{error}");
}

#[test]
fn intermediate_results_are_memory_of_the_request() {
    let wide: usize = 1 << 13;

    // Sums of what is broadcast.
    let (column, row) = (vec![1.0_f32; wide], vec![1.0_f32; wide]);
    let mean = node("Mean", &["a", "b"], &["y"]);
    let factors = [
        ("a", tensor(&[wide, 1], &column)),
        ("b", tensor(&[1, wide], &row)),
    ];
    assert_refused(run_node(mean, &factors));

    // Products of bytes in 32 bits.
    let product = node(
        "QLinearMatMul",
        &["a", "s", "z", "b", "s", "z", "s", "z"],
        &["y"],
    );
    let bytes = vec![1_u8; wide];
    let factors = [
        ("a", tensor(&[1, wide, 1], &bytes)),
        ("b", tensor(&[1, 1, wide], &bytes)),
        ("s", tensor(&[], &[1.0_f32])),
        ("z", tensor(&[], &[0_u8])),
    ];
    assert_refused(run_node(product, &factors));

    // A plane that is wide only between its two passes.
    let tall = [
        ("x", tensor(&[1, 1, 2 * wide, 1], &vec![1.0_f32; 2 * wide])),
        ("sizes", tensor(&[4], &[1_i64, 1, 1, 2 * wide as i64])),
    ];
    let resize = with(
        node("Resize", &["x", "", "", "sizes"], &["y"]),
        &[text("mode", "linear")],
    );
    let found = run_node(resize, &tall).unwrap();
    assert_eq!(found, format!("f32 [1, 1, 1, {}]", 2 * wide));

    // Transforms of a length that is not a power of two take several times as much.
    let signal = [
        ("x", tensor(&[1, 1, 1], &[1.0_f32])),
        ("n", tensor(&[], &[(1_i64 << 19) - 1])),
    ];
    let transform = node("DFT", &["x", "n"], &["y"]);
    assert_refused(run_node(transform, &signal));

    // Tensors without elements have no tables of places.
    let steps: i64 = 1 << 26;
    let empty = |shape: &[i64]| ("shape", tensor(&[shape.len()], shape));
    let along = |op: &str| with(node(op, &["x"], &["y"]), &[int("axis", 0)]);
    let axes = ("axes", tensor(&[1], &[0_i64]));
    let axis = ("axis", tensor(&[], &[0_i64]));
    for op in ["ReduceSum", "ReduceMax", "ReduceLogSumExp"] {
        let reduce = node(op, &["x", "axes"], &["y"]);
        let inputs = [empty(&[steps, 0]), axes.clone()];
        let found = run(vec![of_shape(), reduce], &inputs);
        assert_eq!(found.unwrap(), "f32 [1, 0]", "{op}");
    }
    let sum = node("CumSum", &["x", "axis"], &["y"]);
    let found = run(vec![of_shape(), sum], &[empty(&[steps, 0]), axis]);
    assert_eq!(found.unwrap(), format!("f32 [{steps}, 0]"));
    for op in ["LpNormalization", "ArgMax"] {
        let found = run(vec![of_shape(), along(op)], &[empty(&[steps, 0])]);
        assert!(found.is_ok(), "{op}: {found:?}");
    }
    let parts = node("SplitToSequence", &["x"], &["parts"]);
    let length = node("SequenceLength", &["parts"], &["y"]);
    let found = run(vec![of_shape(), parts, length], &[empty(&[steps, 0])]);
    let error = found.unwrap_err();
    assert!(error.contains("its dimension 0 is too large"), "{error}");
    assert_refused(run(
        vec![of_shape(), along("Unique")],
        &[empty(&[steps, 0])],
    ));
    let scale = ("scale", tensor(&[1], &[1.0_f32]));
    let norm = with(
        node("LayerNormalization", &["x", "scale"], &["y"]),
        &[int("axis", 1)],
    );
    let found = run(vec![of_shape(), norm], &[empty(&[0, steps]), scale]);
    assert_eq!(found.unwrap(), format!("f32 [0, {steps}]"));
    for mode in ["constant", "edge"] {
        let pad = with(node("Pad", &["x", "pads"], &["y"]), &[text("mode", mode)]);
        let inputs = [
            ("x", tensor::<f32>(&[0, 1], &[])),
            ("pads", tensor(&[4], &[0, 0, 0, steps])),
        ];
        let found = run_node(pad, &inputs);
        assert_eq!(found.unwrap(), format!("f32 [0, {}]", steps + 1), "{mode}");
    }
    let indices = ("i", tensor::<i64>(&[1 << 26, 0], &[]));
    let gather = node("GatherND", &["x", "i"], &["y"]);
    let none = ("x", tensor::<f32>(&[0], &[]));
    let found = run_node(gather, &[none.clone(), indices.clone()]);
    assert_eq!(found.unwrap(), format!("f32 [{steps}, 0]"));
    let updates = ("u", tensor::<f32>(&[1 << 26, 0], &[]));
    let scatter = node("ScatterND", &["x", "i", "u"], &["y"]);
    let found = run_node(scatter, &[none, indices, updates]);
    assert_eq!(found.unwrap(), "f32 [0]");

    // Extents that no loop over them would end.
    for nodes in [
        vec![of_shape()],
        vec![of_shape(), node("Relu", &["x"], &["y"])],
    ] {
        let error = run(nodes, &[empty(&[1 << 40, 0])]).unwrap_err();
        let expected = "a tensor of shape [1099511627776, 0] is empty, but its other dimensions \
                        are too large";
        assert_eq!(error, expected);
    }
    let reshape = with(
        node("Reshape", &["x", "to"], &["r"]),
        &[int("allowzero", 1)],
    );
    let inputs = [
        ("x", tensor::<f32>(&[0], &[])),
        ("to", tensor(&[2], &[1_i64 << 40, 0])),
    ];
    let relu = node("Relu", &["r"], &["y"]);
    let error = run(vec![reshape, relu], &inputs).unwrap_err();
    assert!(error.contains("other dimensions are too large"), "{error}");
}
