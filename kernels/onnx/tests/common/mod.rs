//! Models that tests write.
#![allow(dead_code, reason = "each test uses some of it")]

pub mod builder;
pub mod damage;
pub mod models;

use prost::Message;
use tfrt_onnx::proto::attribute_proto::AttributeType;
use tfrt_onnx::proto::*;
use tfrt_tensor::{DenseHostTensor, Element, Shape};

/// Returns a tensor.
pub fn tensor<T: Element>(dims: &[usize], elements: &[T]) -> DenseHostTensor {
    let flat = DenseHostTensor::vector(elements).unwrap();
    flat.reshaped(Shape::new(dims).unwrap()).unwrap()
}

/// Returns a value without a type.
pub fn value(name: &str) -> ValueInfoProto {
    ValueInfoProto {
        name: Some(name.into()),
        ..Default::default()
    }
}

/// Returns a node without attributes.
pub fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: Some(op.into()),
        input: inputs.iter().map(|&name| name.into()).collect(),
        output: outputs.iter().map(|&name| name.into()).collect(),
        ..Default::default()
    }
}

/// Returns a node with attributes.
pub fn with(node: NodeProto, attributes: &[AttributeProto]) -> NodeProto {
    NodeProto {
        attribute: attributes.to_vec(),
        ..node
    }
}

/// Returns an attribute that is a list of integers.
pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Ints as i32),
        ints: values.to_vec(),
        ..Default::default()
    }
}

/// Returns an attribute that is an integer.
pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Int as i32),
        i: Some(value),
        ..Default::default()
    }
}

/// Returns an attribute that is a number.
pub fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Float as i32),
        f: Some(value),
        ..Default::default()
    }
}

/// Returns an attribute that is a text.
pub fn text(name: &str, value: &str) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::String as i32),
        s: Some(value.as_bytes().to_vec().into()),
        ..Default::default()
    }
}

/// Returns an attribute that is a graph.
pub fn graph_attribute(name: &str, graph: GraphProto) -> AttributeProto {
    AttributeProto {
        name: Some(name.into()),
        r#type: Some(AttributeType::Graph as i32),
        g: Some(graph),
        ..Default::default()
    }
}

/// Returns a vector of numbers, raw.
pub fn floats(name: &str, values: &[f32]) -> TensorProto {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    TensorProto {
        name: Some(name.into()),
        data_type: Some(1),
        dims: vec![values.len() as i64],
        raw_data: Some(bytes.into()),
        ..Default::default()
    }
}

/// Returns a graph from values to values.
pub fn graph(inputs: &[&str], nodes: Vec<NodeProto>, outputs: &[&str]) -> GraphProto {
    GraphProto {
        name: Some("g".into()),
        input: inputs.iter().map(|&name| value(name)).collect(),
        node: nodes,
        output: outputs.iter().map(|&name| value(name)).collect(),
        ..Default::default()
    }
}

/// Returns a model of opset 20.
pub fn model(graph: GraphProto) -> ModelProto {
    ModelProto {
        ir_version: Some(10),
        opset_import: vec![OperatorSetIdProto {
            version: Some(20),
            ..Default::default()
        }],
        graph: Some(graph),
        ..Default::default()
    }
}

/// Returns the bytes of a model.
pub fn bytes(graph: GraphProto) -> Vec<u8> {
    model(graph).encode_to_vec()
}
