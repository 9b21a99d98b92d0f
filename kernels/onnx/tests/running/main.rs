//! Models that are imported and run: what each op does with shapes, types and operands that are
//! omitted.

#[path = "../common/mod.rs"]
mod common;

mod arena;
mod broadcasts;
mod families;
mod graphs;
mod misfits;
mod normalizations;
mod operands;
mod own_ops;
mod quantized;
mod recurrent;
mod refusals;
mod resizing;
mod started;
mod versions;
mod windows;

use std::sync::Arc;

use common::*;
use tfrt::host::allocator::{ArenaAllocator, Malloc};
use tfrt::host::{HostContext, RequestContextBuilder};
use tfrt::prelude::KernelRegistry;
use tfrt_import::{Limits, Session};
use tfrt_onnx::Model;
use tfrt_onnx::import::Options;
use tfrt_onnx::proto::*;
use tfrt_tensor::{DenseHostTensor, Element};

tfrt::link!(tfrt_kernels);
tfrt::link!(tfrt_model_ops);

fn imported(model: &ModelProto) -> Result<tfrt_import::program::Program, String> {
    let model = Model::from_bytes(prost::Message::encode_to_vec(model), &Limits::default());
    let model = model.map_err(|error| error.to_string())?;
    let program = model.import(&Options::default());
    program.map_err(|failure| failure.to_string())
}

fn run_model(
    model: &ModelProto,
    inputs: &[(&str, DenseHostTensor)],
) -> Result<Vec<String>, String> {
    let program = imported(model)?;
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let host = HostContext::builder().registry(kernels).build();
    let session = Session::load(program, "model.onnx", &host).map_err(|error| error.to_string())?;
    let outputs = session
        .run(inputs)
        .map_err(|error| error.message().to_owned())?;
    let nodes = model.graph.iter().flat_map(|graph| &graph.node);
    if !nodes.into_iter().any(|node| is_random(node.op_type())) {
        check_written(&session, host, inputs, &outputs);
    }
    let shown = outputs.iter().map(|output| {
        let numbers: Vec<f64> = match output.dtype() {
            tfrt::prelude::DType::F32 => output
                .elements::<f32>()
                .unwrap()
                .iter()
                .map(|&x| x.into())
                .collect(),
            tfrt::prelude::DType::I64 => output
                .elements::<i64>()
                .unwrap()
                .iter()
                .map(|&x| x as f64)
                .collect(),
            tfrt::prelude::DType::Ui8 => numbers_of::<u8>(output),
            tfrt::prelude::DType::I8 => numbers_of::<i8>(output),
            tfrt::prelude::DType::I32 => numbers_of::<i32>(output),
            tfrt::prelude::DType::F64 => numbers_of::<f64>(output),
            tfrt::prelude::DType::I1 => {
                let flags = output.elements::<tfrt_tensor::I1>().unwrap();
                let flags = flags.iter().map(|&flag| f64::from(bool::from(flag)));
                flags.collect()
            }
            other => panic!("{other}"),
        };
        format!("{} {numbers:?}", output.metadata())
    });
    Ok(shown.collect())
}

/// Returns `true` if each run has another result of an op.
fn is_random(op: &str) -> bool {
    op.starts_with("Random") || matches!(op, "Bernoulli" | "Multinomial" | "Dropout")
}

/// Checks that no kernel reads memory that it has not written.
fn check_written(
    session: &Session,
    host: Arc<HostContext>,
    inputs: &[(&str, DenseHostTensor)],
    expected: &[DenseHostTensor],
) {
    let arena = Arc::new(ArenaAllocator::new_poisoned(Arc::new(Malloc)));
    let request = RequestContextBuilder::new(host).allocator(arena).build();
    let outputs = session.run_in_request(&request, inputs).unwrap();
    for (found, expected) in outputs.iter().zip(expected) {
        assert_eq!(
            *found.buffer().read().unwrap(),
            *expected.buffer().read().unwrap()
        );
    }
}

fn numbers_of<T: Element + Into<f64>>(tensor: &DenseHostTensor) -> Vec<f64> {
    let elements = tensor.elements::<T>().unwrap();
    elements.iter().map(|&x| x.into()).collect()
}

/// Runs one node, whose operands are inputs in the order of their names.
fn run(node: NodeProto, inputs: &[(&str, DenseHostTensor)]) -> Result<Vec<String>, String> {
    let names: Vec<&str> = inputs.iter().map(|(name, _)| *name).collect();
    let outputs: Vec<String> = node.output.clone();
    let outputs: Vec<&str> = outputs.iter().map(String::as_str).collect();
    run_model(&model(graph(&names, vec![node], &outputs)), inputs)
}

#[track_caller]
fn check(node: NodeProto, inputs: &[(&str, DenseHostTensor)], expected: &[&str]) {
    assert_eq!(run(node, inputs).unwrap(), expected);
}

/// Returns a model of the newest opset.
fn newest(graph: GraphProto) -> ModelProto {
    ModelProto {
        opset_import: vec![OperatorSetIdProto {
            version: Some(27),
            ..Default::default()
        }],
        ..model(graph)
    }
}
