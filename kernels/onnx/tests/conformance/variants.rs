//! Other ways to write or run the model of a case, which change nothing.

use std::path::{Path, PathBuf};

use prost::Message;
use tfrt_import::Limits;
use tfrt_import::ModelValue;
use tfrt_onnx::Model;
use tfrt_onnx::proto::attribute_proto::AttributeType;
use tfrt_onnx::proto::tensor_proto::{DataLocation, DataType};
use tfrt_onnx::proto::tensor_shape_proto::{Dimension, dimension};
use tfrt_onnx::proto::*;

use crate::cases::{Case, DataSet};
use crate::run::{Hosts, Outcome, Runner, Way, caught, failed, model_of};

/// A variant.
pub struct Variant {
    pub name: &'static str,
    /// Runs a case; nothing comes of it if the variant makes no sense for the case.
    pub run: fn(&Case, &Hosts) -> Option<Outcome>,
}

/// All variants.
pub const ALL: &[Variant] = &[
    Variant {
        name: "no-fuse",
        run: |case, hosts| Some(as_is(case, &single(hosts, false))),
    },
    Variant {
        name: "mstd:2",
        run: |case, hosts| {
            let way = Way {
                host: &hosts.double,
                is_fused: true,
            };
            Some(as_is(case, &way))
        },
    },
    Variant {
        name: "symbolic",
        run: |case, hosts| rewritten(case, hosts, symbolic(case.proto())),
    },
    Variant {
        name: "constants",
        run: |case, hosts| constants(case, &single(hosts, true), &Form::Raw),
    },
    Variant {
        name: "constants-typed",
        run: |case, hosts| constants(case, &single(hosts, false), &Form::Typed),
    },
    Variant {
        name: "constants-external",
        run: |case, hosts| constants(case, &single(hosts, false), &Form::External),
    },
    Variant {
        name: "function",
        run: |case, hosts| rewritten(case, hosts, in_function(case.proto())),
    },
    Variant {
        name: "then-branch",
        run: |case, hosts| in_branches(case, &single(hosts, true), true),
    },
    Variant {
        name: "else-branch",
        run: |case, hosts| in_branches(case, &single(hosts, true), false),
    },
];

fn single(hosts: &Hosts, is_fused: bool) -> Way<'_> {
    Way {
        host: &hosts.single,
        is_fused,
    }
}

fn as_is(case: &Case, way: &Way<'_>) -> Outcome {
    caught(|| {
        let model = Model::open(case.path(), &Limits::default());
        model_of(case, model.map_err(|error| failed(&error))?, way)
    })
}

/// Runs a model with the inputs and outputs of the model of a case.
fn rewritten(case: &Case, hosts: &Hosts, proto: Option<ModelProto>) -> Option<Outcome> {
    let proto = proto?;
    Some(caught(|| {
        let model = Model::from_bytes(proto.encode_to_vec(), &Limits::default());
        let model = model.map_err(|error| failed(&error))?;
        model_of(case, model, &single(hosts, true))
    }))
}

/// Makes every dimension of every input a symbol of its own. Nothing is known of other values.
fn symbolic(mut proto: ModelProto) -> Option<ModelProto> {
    let graph = proto.graph.as_mut()?;
    let mut num_symbols = 0;
    for input in &mut graph.input {
        let shape = tensor_of(input).and_then(|tensor| tensor.shape.as_mut());
        for dim in shape.into_iter().flat_map(|shape| &mut shape.dim) {
            *dim = Dimension {
                value: Some(dimension::Value::DimParam(format!("d{num_symbols}"))),
                ..Default::default()
            };
            num_symbols += 1;
        }
    }
    for output in &mut graph.output {
        if let Some(tensor) = tensor_of(output) {
            tensor.shape = None;
        }
    }
    graph.value_info.clear();
    (num_symbols > 0).then_some(proto)
}

/// Returns the declaration of a tensor.
fn tensor_of(info: &mut ValueInfoProto) -> Option<&mut type_proto::Tensor> {
    match info.r#type.as_mut()?.value.as_mut()? {
        type_proto::Value::TensorType(tensor) => Some(tensor),
        _ => None,
    }
}

/// How tensors lie in a file.
enum Form {
    Raw,
    /// In the field of their type.
    Typed,
    /// In a file of their own, at odd addresses.
    External,
}

/// Runs the model with its inputs as constants.
fn constants(case: &Case, way: &Way<'_>, form: &Form) -> Option<Outcome> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("conformance")
        .join(&case.name);
    let (inputs, sets) = inputs_and_data(case)?;
    let mut outcome = None;
    for set in &sets {
        let mut proto = case.proto();
        let graph = proto.graph.as_mut()?;
        let mut external = Vec::new();
        for (name, input) in inputs.iter().zip(&set.inputs) {
            // Lists and absent values stay inputs.
            let Some(tensor) = input.tensor(name) else {
                continue;
            };
            graph.initializer.push(match form {
                Form::Raw => tensor,
                Form::Typed => typed(tensor)?,
                Form::External => outside(tensor, &mut external),
            });
            graph.input.retain(|info| info.name() != name);
        }
        if graph.initializer.is_empty() {
            return None;
        }
        let of_set = caught(|| {
            let model = match form {
                Form::External => {
                    let path = write(&folder, &proto, &external);
                    let model = Model::open(&path, &Limits::default());
                    std::fs::remove_dir_all(&folder).expect("the folder was made");
                    model
                }
                _ => Model::from_bytes(proto.encode_to_vec(), &Limits::default()),
            };
            let model = model.map_err(|error| failed(&error))?;
            let rest: Vec<(String, tfrt_onnx::graph::ValueType)> = model
                .inputs()
                .map(|info| (info.name.clone(), info.ty.clone()))
                .collect();
            let mut values: Vec<(&str, ModelValue)> = Vec::new();
            for (name, ty) in &rest {
                let index = inputs.iter().position(|input| input == name);
                let input = &set.inputs[index.expect("it is an input of the case")];
                let value = input.value(ty).map_err(|message| Outcome {
                    status: crate::run::Status::Error,
                    message,
                })?;
                values.push((name.as_str(), value));
            }
            Runner::new(&model, way)?.check(case, &values, set)
        });
        if !of_set.is_pass() {
            return Some(of_set);
        }
        outcome = Some(of_set);
    }
    outcome
}

/// Returns the names of the inputs of a case, and its data sets.
fn inputs_and_data(case: &Case) -> Option<(Vec<String>, Vec<DataSet>)> {
    let model = Model::open(case.path(), &Limits::default()).ok()?;
    let inputs: Vec<String> = model.inputs().map(|input| input.name.clone()).collect();
    let sets = case.data_sets(inputs.len(), model.outputs().len());
    Some((inputs, sets))
}

/// Moves the elements of a tensor to the field of their type.
fn typed(mut tensor: TensorProto) -> Option<TensorProto> {
    let raw = tensor.raw_data.take()?;
    let widened = |width: usize| {
        let chunks = raw.chunks_exact(width).map(move |chunk| {
            let mut bytes = [0; 8];
            bytes[..width].copy_from_slice(chunk);
            // The sign of the narrower integer is that of the wider one.
            let unused = 64 - 8 * width as u32;
            (
                u64::from_le_bytes(bytes),
                (i64::from_le_bytes(bytes) << unused) >> unused,
            )
        });
        chunks.collect::<Vec<(u64, i64)>>()
    };
    let signed = |width| widened(width).iter().map(|&(_, x)| x as i32).collect();
    let unsigned = |width| widened(width).iter().map(|&(x, _)| x as i32).collect();
    let bits = |width| widened(width).iter().map(|&(x, _)| x).collect::<Vec<u64>>();
    match DataType::try_from(tensor.data_type()).ok()? {
        DataType::Float => {
            let numbers = bits(4).into_iter().map(|x| f32::from_bits(x as u32));
            tensor.float_data = numbers.collect();
        }
        DataType::Double => tensor.double_data = bits(8).into_iter().map(f64::from_bits).collect(),
        DataType::Int64 => tensor.int64_data = widened(8).iter().map(|&(_, x)| x).collect(),
        DataType::Uint64 => tensor.uint64_data = bits(8),
        DataType::Uint32 => tensor.uint64_data = bits(4),
        DataType::Int32 => tensor.int32_data = signed(4),
        DataType::Int16 => tensor.int32_data = signed(2),
        DataType::Int8 => tensor.int32_data = signed(1),
        DataType::Uint16 | DataType::Float16 | DataType::Bfloat16 => {
            tensor.int32_data = unsigned(2);
        }
        DataType::Uint8 | DataType::Bool => tensor.int32_data = unsigned(1),
        _ => return None,
    }
    Some(tensor)
}

/// The name of the file that tensors lie in.
const EXTERNAL_FILE: &str = "data.bin";

/// Moves the elements of a tensor to a file.
fn outside(mut tensor: TensorProto, file: &mut Vec<u8>) -> TensorProto {
    let raw = tensor.raw_data.take().unwrap_or_default();
    // Every offset is odd.
    if file.len().is_multiple_of(2) {
        file.push(0xa5);
    }
    let entries = [
        ("location", EXTERNAL_FILE.to_owned()),
        ("offset", file.len().to_string()),
        ("length", raw.len().to_string()),
    ];
    file.extend_from_slice(&raw);
    tensor.data_location = Some(DataLocation::External as i32);
    let entries = entries
        .into_iter()
        .map(|(key, value)| StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value),
        });
    tensor.external_data = entries.collect();
    tensor
}

/// Writes a model and the file beside it.
fn write(folder: &Path, proto: &ModelProto, external: &[u8]) -> PathBuf {
    std::fs::create_dir_all(folder).expect("a folder for the model");
    std::fs::write(folder.join(EXTERNAL_FILE), external).expect("tensors can be written");
    let path = folder.join("model.onnx");
    std::fs::write(&path, proto.encode_to_vec()).expect("a model can be written");
    path
}

/// The version of ONNX's ops that is meant where a model does not say: it uses none of them.
const ANY_OPSET: i64 = 20;

/// Declares a version of ONNX's ops, for the ops that a variant adds.
fn with_opset(proto: &mut ModelProto) {
    let is_onnx = |opset: &OperatorSetIdProto| matches!(opset.domain(), "" | "ai.onnx");
    if !proto.opset_import.iter().any(is_onnx) {
        proto.opset_import.push(OperatorSetIdProto {
            version: Some(ANY_OPSET),
            ..Default::default()
        });
    }
}

/// Returns `true` if nodes make all outputs of a graph, and its constants are dense.
fn can_be_moved(graph: &GraphProto) -> bool {
    let made: Vec<&String> = graph.node.iter().flat_map(|node| &node.output).collect();
    let mut outputs = graph.output.iter();
    graph.sparse_initializer.is_empty()
        && outputs.all(|output| made.iter().any(|made| *made == output.name()))
}

/// Moves all nodes of a model to a function, which they call.
fn in_function(mut proto: ModelProto) -> Option<ModelProto> {
    with_opset(&mut proto);
    let opset_import = proto.opset_import.clone();
    let graph = proto.graph.as_mut().filter(|graph| can_be_moved(graph))?;
    let mut inputs: Vec<String> = Vec::new();
    let declared = graph.input.iter().map(|info| info.name().to_owned());
    let constants = graph
        .initializer
        .iter()
        .map(|tensor| tensor.name().to_owned());
    for name in declared.chain(constants) {
        // The constants of the oldest files are inputs, too.
        if !inputs.contains(&name) {
            inputs.push(name);
        }
    }
    let outputs: Vec<String> = graph
        .output
        .iter()
        .map(|info| info.name().to_owned())
        .collect();
    let call = NodeProto {
        op_type: Some("Wrapped".to_owned()),
        domain: Some("tfrt.test".to_owned()),
        name: Some("call".to_owned()),
        input: inputs.clone(),
        output: outputs.clone(),
        ..Default::default()
    };
    proto.functions.push(FunctionProto {
        name: call.op_type.clone(),
        domain: call.domain.clone(),
        input: inputs,
        output: outputs,
        node: std::mem::replace(&mut graph.node, vec![call]),
        opset_import,
        ..Default::default()
    });
    graph.value_info.clear();
    proto.opset_import.push(OperatorSetIdProto {
        domain: Some("tfrt.test".to_owned()),
        version: Some(1),
    });
    proto.ir_version = Some(proto.ir_version().max(8));
    Some(proto)
}

/// Runs the model with all nodes in both branches of an `If`, one of which is taken.
fn in_branches(case: &Case, way: &Way<'_>, condition: bool) -> Option<Outcome> {
    const CONDITION: &str = "tfrt.test/condition";
    let mut proto = case.proto();
    with_opset(&mut proto);
    let graph = proto.graph.as_mut().filter(|graph| can_be_moved(graph))?;
    let inner = GraphProto {
        name: Some("inner".to_owned()),
        node: std::mem::take(&mut graph.node),
        output: graph.output.clone(),
        ..Default::default()
    };
    for output in &mut graph.output {
        output.name = Some(format!("outer/{}", output.name()));
    }
    let branch = |name: &str| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Graph as i32),
        g: Some(inner.clone()),
        ..Default::default()
    };
    graph.node = vec![NodeProto {
        op_type: Some("If".to_owned()),
        name: Some("if".to_owned()),
        input: vec![CONDITION.to_owned()],
        output: graph
            .output
            .iter()
            .map(|info| info.name().to_owned())
            .collect(),
        attribute: vec![branch("then_branch"), branch("else_branch")],
        ..Default::default()
    }];
    graph.value_info.clear();
    let tensor = type_proto::Tensor {
        elem_type: Some(DataType::Bool as i32),
        shape: Some(TensorShapeProto::default()),
    };
    graph.input.push(ValueInfoProto {
        name: Some(CONDITION.to_owned()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::TensorType(tensor)),
            ..Default::default()
        }),
        ..Default::default()
    });
    let (inputs, sets) = inputs_and_data(case)?;
    Some(caught(|| {
        let model = Model::from_bytes(proto.encode_to_vec(), &Limits::default());
        let model = model.map_err(|error| failed(&error))?;
        let declared: Vec<_> = model.inputs().cloned().collect();
        let runner = Runner::new(&model, way)?;
        for set in &sets {
            let mut values: Vec<(&str, ModelValue)> = Vec::new();
            for ((name, input), declared) in inputs.iter().zip(&set.inputs).zip(&declared) {
                let value = input.value(&declared.ty).map_err(|message| Outcome {
                    status: crate::run::Status::Error,
                    message,
                })?;
                values.push((name, value));
            }
            let condition =
                tfrt_tensor::DenseHostTensor::vector(&[tfrt_tensor::I1::from(condition)])
                    .and_then(|flat| flat.reshaped(tfrt_tensor::Shape::new(&[])?))
                    .expect("a scalar");
            values.push((CONDITION, condition.into()));
            runner.check(case, &values, set)?;
        }
        Ok(())
    }))
}
