//! Models that break the rules of the format, and models that are damaged.

use crate::common::*;
use prost::Message;
use tfrt_import::{Limit, Limits};
use tfrt_onnx::Model;
use tfrt_onnx::attribute::Attribute;
use tfrt_onnx::proto::*;

fn read(graph: GraphProto) -> Result<Model, String> {
    read_within(graph, &Limits::default())
}

fn read_within(graph: GraphProto, limits: &Limits) -> Result<Model, String> {
    Model::from_bytes(bytes(graph), limits).map_err(|error| error.to_string())
}

fn error(graph: GraphProto) -> String {
    read(graph).map(drop).unwrap_err()
}

/// Returns a graph with an initializer only.
fn holding(tensor: TensorProto) -> GraphProto {
    GraphProto {
        initializer: vec![tensor],
        ..graph(&[], vec![], &["w"])
    }
}

#[test]
fn a_tensor_is_a_part_of_the_file() {
    let file = bytes(holding(floats("w", &[1.0, 2.0])));
    let model = Model::from_bytes(file, &Limits::default()).unwrap();
    let tensor = model.graph().initializers[0].dense().unwrap();
    assert_eq!(*tensor.elements::<f32>().unwrap(), [1.0, 2.0]);
}

#[test]
fn typed_fields_hold_what_their_type_says() {
    let typed = |data_type: i32| TensorProto {
        name: Some("w".into()),
        data_type: Some(data_type),
        dims: vec![2],
        ..Default::default()
    };
    let text = |tensor: TensorProto| {
        let model = read(holding(tensor)).unwrap();
        let tensor = model.graph().initializers[0].dense().unwrap().clone();
        tensor.elements_text().unwrap()
    };
    let narrow = |data_type| TensorProto {
        int32_data: vec![-1, 1],
        ..typed(data_type)
    };
    assert_eq!(text(narrow(3)), "-1, 1");
    assert_eq!(text(narrow(2)), "255, 1");
    assert_eq!(text(narrow(5)), "-1, 1");
    let half = TensorProto {
        int32_data: vec![0x3c00, 0xc000],
        ..typed(10)
    };
    let model = read(holding(half)).unwrap();
    let halves = model.graph().initializers[0].dense().unwrap().clone();
    let expected = [1.0, -2.0].map(half::f16::from_f32);
    assert_eq!(*halves.elements::<half::f16>().unwrap(), expected);
    let wide = TensorProto {
        uint64_data: vec![7, u64::from(u32::MAX)],
        ..typed(12)
    };
    assert_eq!(text(wide), "7, 4294967295");
    let short = TensorProto {
        int64_data: vec![7],
        ..typed(7)
    };
    assert_eq!(
        error(holding(short)),
        "tensor `w`: expected 2 elements in `int64_data`, found 1"
    );
    let both = TensorProto {
        float_data: vec![1.0],
        ..floats("w", &[1.0])
    };
    assert_eq!(
        error(holding(both)),
        "tensor `w`: expected elements in `raw_data` or in a typed field, found both"
    );
}

#[test]
fn extents_are_checked_before_memory_is_taken() {
    let of = |dims: &[i64]| {
        holding(TensorProto {
            dims: dims.to_vec(),
            ..floats("w", &[1.0])
        })
    };
    assert_eq!(
        error(of(&[3])),
        "tensor `w`: expected 12 bytes for FLOAT [3], found 4"
    );
    assert_eq!(
        error(of(&[-1])),
        "tensor `w`: expected dimensions of at least 0, found -1"
    );
    assert_eq!(
        error(of(&[1 << 48])),
        "tensor `w`: expected at most 281474976710655 elements in a dimension, found \
         281474976710656; `--max-extent` raises the limit"
    );
    assert_eq!(
        error(of(&[1 << 40, 1 << 40])),
        "tensor `w`: a tensor of shape [1099511627776, 1099511627776] does not fit in memory"
    );
    let small = Limits::default().with(Limit::Rank, 1);
    let found = read_within(of(&[1, 1]), &small).map(drop).unwrap_err();
    assert_eq!(
        found,
        "tensor `w`: expected at most 1 dimensions, found 2; `--max-rank` raises the limit"
    );
}

#[test]
fn sparse_tensors_are_made_dense_within_a_limit() {
    let indices = |values: &[i64], dims: &[i64]| TensorProto {
        data_type: Some(7),
        dims: dims.to_vec(),
        int64_data: values.to_vec(),
        ..Default::default()
    };
    let of = |indices: TensorProto| GraphProto {
        sparse_initializer: vec![SparseTensorProto {
            values: Some(floats("w", &[5.0, 6.0])),
            indices: Some(indices),
            dims: vec![2, 2],
        }],
        ..graph(&[], vec![], &["w"])
    };
    for indices in [indices(&[1, 2], &[2]), indices(&[0, 1, 1, 0], &[2, 2])] {
        let model = read(of(indices)).unwrap();
        let tensor = model.graph().initializers[0].dense().unwrap();
        assert_eq!(*tensor.elements::<f32>().unwrap(), [0.0, 5.0, 6.0, 0.0]);
    }
    assert_eq!(
        error(of(indices(&[1, 4], &[2]))),
        "sparse tensor `w`: the index [4] is out of bounds for a tensor of shape [2, 2]"
    );
    let small = Limits::default().with(Limit::DenseBytes, 8);
    let found = read_within(of(indices(&[1, 2], &[2])), &small).map(drop);
    assert!(found.unwrap_err().contains("`--max-dense-bytes`"));
}

#[test]
fn values_are_made_once_and_before_they_are_taken() {
    assert_eq!(
        error(graph(&["x"], vec![node("Relu", &["x"], &["x"])], &["x"])),
        "node #0 (Relu) that makes 'x': the value 'x' is defined twice"
    );
    assert_eq!(
        error(graph(&["x"], vec![node("Relu", &["z"], &["y"])], &["y"])),
        "node #0 (Relu) that makes 'y': no node produces its operand 'z'"
    );
    assert_eq!(
        error(graph(&["x"], vec![], &["y"])),
        "no node produces the output 'y'"
    );
    let twice = GraphProto {
        initializer: vec![floats("w", &[1.0]), floats("w", &[1.0])],
        ..graph(&[], vec![], &["w"])
    };
    assert_eq!(error(twice), "the initializer 'w' is defined twice");
}

#[test]
fn unsorted_nodes_are_sorted_with_a_warning() {
    let nodes = vec![
        node("Exp", &["b"], &["c"]),
        node("Neg", &["a"], &["b"]),
        node("Relu", &["x"], &["a"]),
    ];
    let model = read(graph(&["x"], nodes, &["c"])).unwrap();
    let ops: Vec<&str> = model.graph().nodes.iter().map(|node| &*node.op).collect();
    assert_eq!(ops, ["Relu", "Neg", "Exp"]);
    assert_eq!(
        model.warnings(),
        ["the nodes of graph 'g' are not in topological order and were sorted"]
    );
}

#[test]
fn a_cycle_is_told_of_with_its_nodes() {
    let nodes = vec![
        node("Relu", &["x"], &["a"]),
        node("Add", &["a", "d"], &["b"]),
        node("Neg", &["b"], &["c"]),
        node("Exp", &["c"], &["d"]),
        node("Abs", &["d"], &["y"]),
    ];
    let found = error(graph(&["x"], nodes, &["y"]));
    let expected = "nodes depend on each other: ";
    assert!(found.starts_with(expected), "{found}");
    for part in ["(Add)", "(Neg)", "(Exp)"] {
        assert!(found.contains(part), "{found}");
    }
    assert!(
        !found.contains("(Abs)") && !found.contains("(Relu)"),
        "{found}"
    );
}

fn choice(then: GraphProto) -> NodeProto {
    NodeProto {
        attribute: vec![graph_attribute("then_branch", then)],
        ..node("If", &["x"], &["y"])
    }
}

#[test]
fn graphs_in_nodes_see_the_values_around_and_make_none_of_their_names() {
    let inner = graph(&[], vec![node("Neg", &["a"], &["b"])], &["b"]);
    let nodes = vec![choice(inner.clone()), node("Relu", &["x"], &["a"])];
    let model = read(graph(&["x"], nodes, &["y"])).unwrap();
    assert_eq!(
        model.graph().nodes[1].op,
        "If",
        "what it captures comes first"
    );
    let shadowing = graph(&[], vec![node("Neg", &["x"], &["x"])], &["x"]);
    assert_eq!(
        error(graph(&["x"], vec![choice(shadowing)], &["y"])),
        "graph `then_branch` of node #0 (If) that makes 'y': node #0 (Neg) that makes 'x': the \
         value 'x' is also defined outside of the graph"
    );
    assert_eq!(
        error(graph(&["x"], vec![choice(inner)], &["y"])),
        "node #0 (If) that makes 'y': no node produces its operand 'a'"
    );
}

#[test]
fn nesting_and_numbers_of_nodes_have_limits() {
    let nested = |levels: usize| {
        let mut inner = graph(&[], vec![], &["x"]);
        for _ in 0..levels {
            inner = graph(&[], vec![choice(inner)], &["x"]);
        }
        GraphProto {
            input: vec![value("x")],
            ..inner
        }
    };
    let limits = Limits::default().with(Limit::Subgraphs, 2);
    // Nodes of different levels may not make one value, so that outputs are not named.
    let unnamed = |levels| {
        let mut model = model(nested(levels));
        fn clear(graph: &mut GraphProto) {
            for node in &mut graph.node {
                node.output.clear();
                for attribute in &mut node.attribute {
                    clear(attribute.g.as_mut().unwrap());
                }
            }
        }
        clear(model.graph.as_mut().unwrap());
        Model::from_bytes(model.encode_to_vec(), &limits).map_err(|error| error.to_string())
    };
    assert!(unnamed(2).is_ok());
    let found = unnamed(3).map(drop).unwrap_err();
    assert!(found.contains("`--max-subgraphs`"), "{found}");
    // So deep that the decoder gives up first.
    let found = unnamed(60).map(drop).unwrap_err();
    assert!(found.contains("limit `nesting`"), "{found}");

    let limits = Limits::default().with(Limit::Nodes, 1);
    let nodes = vec![node("Relu", &["x"], &["a"]), node("Relu", &["a"], &["y"])];
    let found = read_within(graph(&["x"], nodes, &["y"]), &limits).map(drop);
    assert!(found.unwrap_err().contains("`--max-nodes`"));
}

#[test]
fn lists_and_texts_of_attributes_have_limits() {
    let with = |attribute: AttributeProto| {
        let node = NodeProto {
            attribute: vec![attribute],
            ..node("Relu", &["x"], &["y"])
        };
        graph(&["x"], vec![node], &["y"])
    };
    let list = AttributeProto {
        name: Some("a".into()),
        ints: vec![1, 2, 3],
        ..Default::default()
    };
    let model = read(with(list.clone())).unwrap();
    let found = &model.graph().nodes[0].attributes["a"];
    assert!(matches!(found, Attribute::Ints(ints) if ints[..] == [1, 2, 3]));
    let limits = Limits::default().with(Limit::ListElements, 2);
    let found = read_within(with(list), &limits).map(drop).unwrap_err();
    assert!(found.contains("`--max-list-elements`"), "{found}");
    let text = AttributeProto {
        name: Some("a".into()),
        s: Some("abc".into()),
        ..Default::default()
    };
    let limits = Limits::default().with(Limit::TextBytes, 2);
    let found = read_within(with(text), &limits).map(drop).unwrap_err();
    assert!(found.contains("`--max-text-bytes`"), "{found}");
}

#[test]
fn long_chains_and_values_of_many_uses_take_linear_time_and_no_stack() {
    const LEN: usize = 100_000;
    let names: Vec<String> = (0..=LEN).map(|index| format!("v{index}")).collect();
    let mut nodes: Vec<NodeProto> = (0..LEN)
        .map(|index| node("Relu", &[&names[index]], &[&names[index + 1]]))
        .collect();
    nodes.reverse();
    let model = read(graph(&["v0"], nodes, &[&names[LEN]])).unwrap();
    assert_eq!(model.graph().nodes.len(), LEN);
    let all: Vec<&str> = std::iter::repeat_n("x", 50_000).collect();
    let sum = node("Sum", &all, &["y"]);
    assert!(read(graph(&["x"], vec![sum], &["y"])).is_ok());
}

/// Returns a model with something of everything.
fn sample() -> Vec<u8> {
    let inner = graph(&[], vec![node("Neg", &["a"], &["b"])], &["b"]);
    let attribute = AttributeProto {
        name: Some("perm".into()),
        ints: vec![1, 0],
        ..Default::default()
    };
    let transpose = NodeProto {
        attribute: vec![attribute],
        ..node("Transpose", &["x"], &["a"])
    };
    let graph = GraphProto {
        initializer: vec![floats("w", &[1.0, 2.0])],
        ..graph(&["x"], vec![transpose, choice(inner)], &["y"])
    };
    bytes(graph)
}

#[test]
fn damaged_files_are_errors_or_models() {
    let sample = sample();
    let limits = Limits::default();
    let mut num_errors = 0;
    for len in 0..sample.len() {
        num_errors += usize::from(Model::from_bytes(sample[..len].to_vec(), &limits).is_err());
    }
    assert!(num_errors > sample.len() / 2, "{num_errors}");
    for at in 0..sample.len() {
        for damage in [0x01_u8, 0x80, 0xff, 0x7f] {
            let mut bytes = sample.clone();
            bytes[at] ^= damage;
            // What matters is that it returns.
            let _ = Model::from_bytes(bytes, &limits);
        }
    }
}

#[test]
fn a_file_that_is_no_model_is_told_of_with_a_place() {
    let error = |bytes: &'static [u8]| {
        let read = Model::from_bytes(bytes, &Limits::default());
        read.map(drop).unwrap_err().to_string()
    };
    assert_eq!(
        error(b""),
        "not an ONNX model: expected a format version, found none"
    );
    assert_eq!(
        error(b"\x3a\x05\x0a\x7f"),
        "byte 0 in `graph`: the field is cut off"
    );
    assert_eq!(
        error(b"\x3a\x03\x0a\x02\xff"),
        "byte 2 in `graph.node[0]`: the field is cut off"
    );
}
