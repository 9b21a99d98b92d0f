//! What a file says beyond what an import uses: documentation, metadata, and parts for training,
//! quantisation and devices.

use std::fmt::{self, Display};
use std::rc::Rc;

use bytes::Bytes;
use prost::Message;
use tfrt_import::names::{shown, shown_whole};
use tfrt_import::{ImportError, Limit, Limits};

use crate::proto::{
    FunctionProto, GraphProto, ModelProto, NodeDeviceConfigurationProto, NodeProto,
    StringStringEntryProto, TrainingInfoProto, simple_sharded_dim_proto,
};
use crate::wire;

/// Returns the version, documentation and metadata of a model, and how many parts there are for
/// training, quantisation and devices.
pub(crate) fn summary(proto: &ModelProto) -> Vec<(String, String)> {
    let graph = proto.graph.as_ref();
    let mut notes = of_model(proto, |text| shown(text).to_string());
    let annotations = graph.map_or(0, |graph| graph.quantization_annotation.len());
    for (name, count) in [
        ("ignored quantization annotations", annotations),
        ("ignored training information", proto.training_info.len()),
        ("ignored device configurations", proto.configuration.len()),
    ] {
        if count > 0 {
            notes.push((name.to_owned(), count.to_string()));
        }
    }
    notes
}

/// Returns the version, documentation and metadata of a model and its graph.
fn of_model(proto: &ModelProto, spelled: impl Fn(&str) -> String) -> Vec<(String, String)> {
    let graph = proto.graph.as_ref();
    let mut notes = Vec::new();
    let mut add = |name: &str, text: &str| {
        if !text.is_empty() {
            notes.push((name.to_owned(), spelled(text)));
        }
    };
    add("domain", proto.domain());
    let version = proto.model_version.filter(|&version| version != 0);
    add(
        "version",
        &version.map_or_else(String::new, |v| v.to_string()),
    );
    add("documentation", proto.doc_string());
    add(
        "documentation of the graph",
        graph.map_or("", |graph| graph.doc_string()),
    );
    let of_graph = graph.map_or(&[][..], |graph| &graph.metadata_props);
    for entry in proto.metadata_props.iter().chain(of_graph) {
        add(&format!("metadata `{}`", shown(entry.key())), entry.value());
    }
    notes
}

/// Returns everything that a model file says beyond what an import uses, each with its name: also
/// of nodes, values, tensors and functions.
///
/// ```
/// use prost::Message;
/// use tfrt_import::Limits;
/// use tfrt_onnx::notes;
/// use tfrt_onnx::proto::{GraphProto, ModelProto, NodeProto};
///
/// let node = NodeProto {
///     name: Some("fc".into()),
///     op_type: Some("MatMul".into()),
///     doc_string: Some("the last layer".into()),
///     ..Default::default()
/// };
/// let graph = GraphProto { node: vec![node], ..Default::default() };
/// let file = ModelProto { graph: Some(graph), ..Default::default() };
/// let notes = notes::all(file.encode_to_vec(), &Limits::default())?;
/// assert_eq!(notes[0].0, "documentation of node 'fc' (MatMul)");
/// assert_eq!(notes[0].1, "the last layer");
/// # Ok::<(), tfrt_import::ImportError>(())
/// ```
///
/// # Errors
/// If the bytes are not those of a model, or its graphs are nested too deep.
pub fn all(bytes: Vec<u8>, limits: &Limits) -> Result<Vec<(String, String)>, ImportError> {
    let bytes = Bytes::from(bytes);
    let proto = ModelProto::decode(bytes.clone()).map_err(|error| {
        let damage = wire::locate(&bytes).map(|damage| damage.to_string());
        ImportError::new(damage.unwrap_or_else(|| error.to_string()))
    })?;
    let mut notes = Notes {
        found: of_model(&proto, |text| shown_whole(text).to_string()),
        limits,
    };
    for configuration in &proto.configuration {
        let name = format!("device configuration `{}`", shown(configuration.name()));
        let devices = list(configuration.device.iter().map(|device| shown(device)));
        let colon = if devices.is_empty() { "" } else { ": " };
        let count = counted(configuration.num_devices(), "device");
        notes.push(name, format!("{count}{colon}{devices}"));
    }
    let names = ["initialization", "algorithm"];
    for (index, training) in proto.training_info.iter().enumerate() {
        notes.training(index, training);
        let graphs = names
            .iter()
            .zip([&training.initialization, &training.algorithm]);
        for (name, graph) in graphs {
            let of = format!(" in the {name} of training information {index}");
            notes.graph(graph.as_ref(), Place::of(of))?;
        }
    }
    for function in &proto.functions {
        notes.function(function)?;
    }
    notes.graph(proto.graph.as_ref(), Place::of(String::new()))?;
    Ok(notes.found)
}

/// Where a graph is: what is shown after the name of something in it.
///
/// Graphs may be nested deeply and have many nodes, each of which is shown with its place. So only
/// the last levels are shown, and names are made where a node says something.
#[derive(Clone)]
struct Place {
    /// The function or the part of the model that all the levels are in.
    root: Rc<str>,
    /// The last levels, the innermost one first.
    levels: [Option<Rc<str>>; 2],
    /// In how many graphs it is.
    depth: u64,
}

impl Place {
    fn of(root: String) -> Self {
        Self {
            root: root.into(),
            levels: [None, None],
            depth: 0,
        }
    }

    /// Returns the place of a graph that a node of this one has.
    fn within(&self, level: String) -> Self {
        let [last, _] = self.levels.clone();
        Self {
            root: Rc::clone(&self.root),
            levels: [Some(level.into()), last],
            depth: self.depth + 1,
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in self.levels.iter().flatten() {
            f.write_str(level)?;
        }
        if self.depth > self.levels.len() as u64 {
            f.write_str(" in …")?;
        }
        f.write_str(&self.root)
    }
}

/// Notes, in the order of the file.
struct Notes<'l> {
    found: Vec<(String, String)>,
    limits: &'l Limits,
}

impl Notes<'_> {
    fn push(&mut self, name: String, text: String) {
        self.found.push((name, text));
    }

    /// Adds the documentation and metadata of something.
    fn described(
        &mut self,
        what: impl Display,
        documentation: &str,
        metadata: &[StringStringEntryProto],
    ) {
        if !documentation.is_empty() {
            let text = shown_whole(documentation).to_string();
            self.push(format!("documentation of {what}"), text);
        }
        for entry in metadata {
            let name = format!("metadata `{}` of {what}", shown(entry.key()));
            self.push(name, shown_whole(entry.value()).to_string());
        }
    }

    fn training(&mut self, index: usize, training: &TrainingInfoProto) {
        let nodes = |graph: &Option<GraphProto>| {
            let count = graph.as_ref().map_or(0, |graph| graph.node.len());
            counted(count, "node")
        };
        let mut parts = vec![
            format!("{} for initialization", nodes(&training.initialization)),
            format!("{} for the algorithm", nodes(&training.algorithm)),
        ];
        for (what, bindings) in [
            ("initialized", &training.initialization_binding),
            ("updated", &training.update_binding),
        ] {
            for binding in bindings {
                parts.push(format!("{what}: {}", pair(binding)));
            }
        }
        self.push(format!("training information {index}"), parts.join("; "));
    }

    fn function(&mut self, function: &FunctionProto) -> Result<(), ImportError> {
        let what = format!("function '{}'", shown(function.name()));
        self.described(&what, function.doc_string(), &function.metadata_props);
        let inner = self.nodes(&function.node, &Place::of(format!(" in {what}")));
        self.all_of(inner)
    }

    fn graph(&mut self, graph: Option<&GraphProto>, place: Place) -> Result<(), ImportError> {
        let graph = graph.map(|graph| (graph, place));
        self.all_of(graph.into_iter().collect())
    }

    /// Adds what graphs say, and the graphs of their nodes. Those may be nested as deep as the
    /// format permits, so that there is a list instead of recursion.
    fn all_of(&mut self, mut open: Vec<(&GraphProto, Place)>) -> Result<(), ImportError> {
        open.reverse();
        while let Some((graph, place)) = open.pop() {
            self.limits.check(Limit::Subgraphs, place.depth)?;
            for annotation in &graph.quantization_annotation {
                let name = shown(annotation.tensor_name());
                let parameters = annotation.quant_parameter_tensor_names.iter();
                self.push(
                    format!("quantization annotation of `{name}`{place}"),
                    list(parameters.map(pair)),
                );
            }
            let values = graph.input.iter().chain(&graph.output);
            for value in values.chain(&graph.value_info) {
                let what = fmt::from_fn(|f| write!(f, "value `{}`{place}", shown(value.name())));
                self.described(what, value.doc_string(), &value.metadata_props);
            }
            for tensor in &graph.initializer {
                let what = fmt::from_fn(|f| write!(f, "tensor `{}`{place}", shown(tensor.name())));
                self.described(what, tensor.doc_string(), &tensor.metadata_props);
            }
            let inner = self.nodes(&graph.node, &place);
            open.extend(inner.into_iter().rev());
        }
        Ok(())
    }

    /// Adds what nodes say. Returns the graphs in their attributes, with where they are.
    fn nodes<'p>(&mut self, nodes: &'p [NodeProto], of: &Place) -> Vec<(&'p GraphProto, Place)> {
        let mut inner = Vec::new();
        for (index, node) in nodes.iter().enumerate() {
            let label = fmt::from_fn(|f| match node.name() {
                "" => write!(f, "node #{index} ({})", shown(node.op_type())),
                name => write!(f, "node '{}' ({})", shown(name), shown(node.op_type())),
            });
            let what = fmt::from_fn(|f| write!(f, "{label}{of}"));
            self.described(&what, node.doc_string(), &node.metadata_props);
            for configuration in &node.device_configurations {
                let name = shown(configuration.configuration_id());
                let name = format!("device configuration `{name}` of {what}");
                self.push(name, sharding(configuration));
            }
            for attribute in &node.attribute {
                let name = shown(attribute.name());
                let documentation = attribute.doc_string();
                let attribute_of = fmt::from_fn(|f| write!(f, "attribute `{name}` of {what}"));
                self.described(attribute_of, documentation, &[]);
                for graph in attribute.g.iter().chain(&attribute.graphs) {
                    let place = of.within(format!(" in `{name}` of {label}"));
                    self.described(
                        fmt::from_fn(|f| write!(f, "the graph{place}")),
                        graph.doc_string(),
                        &graph.metadata_props,
                    );
                    inner.push((graph, place));
                }
            }
        }
        inner
    }
}

/// Returns how a node is divided among devices.
fn sharding(configuration: &NodeDeviceConfigurationProto) -> String {
    let stage = configuration.pipeline_stage;
    let mut parts: Vec<String> = Vec::new();
    parts.extend(stage.map(|stage| format!("stage {stage}")));
    for spec in &configuration.sharding_spec {
        let axes = spec.sharded_dim.iter().map(|dim| {
            let shards = dim.simple_sharding.iter().map(|simple| {
                let extent = simple.dim.as_ref().map(|extent| match extent {
                    simple_sharded_dim_proto::Dim::DimValue(value) => value.to_string(),
                    simple_sharded_dim_proto::Dim::DimParam(name) => shown(name).to_string(),
                });
                let of = extent.map_or_else(String::new, |extent| format!(" of {extent}"));
                format!("{}{of}", simple.num_shards())
            });
            format!("axis {} in {}", dim.axis(), list(shards))
        });
        let (name, devices) = (shown(spec.tensor_name()), list(spec.device.iter()));
        parts.push(format!("`{name}` on devices {devices}: {}", list(axes)));
    }
    parts.join("; ")
}

/// Returns a number of things, with their name in the singular or the plural.
fn counted<N: Display + PartialEq + From<u8>>(count: N, name: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {name}{plural}")
}

fn pair(entry: &StringStringEntryProto) -> String {
    format!("{} = {}", shown(entry.key()), shown(entry.value()))
}

fn list<T: Display>(items: impl Iterator<Item = T>) -> String {
    items
        .map(|item| item.to_string())
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proto::{
        AttributeProto, DeviceConfigurationProto, ShardedDimProto, ShardingSpecProto,
        SimpleShardedDimProto, TensorAnnotation,
    };

    fn entry(key: &str, value: &str) -> StringStringEntryProto {
        StringStringEntryProto {
            key: Some(key.into()),
            value: Some(value.into()),
        }
    }

    fn model() -> ModelProto {
        let annotation = TensorAnnotation {
            tensor_name: Some("w".into()),
            quant_parameter_tensor_names: vec![
                entry("SCALE_TENSOR", "s"),
                entry("ZERO_POINT_TENSOR", "z"),
            ],
        };
        let inner = GraphProto {
            doc_string: Some("what if".into()),
            quantization_annotation: vec![annotation.clone()],
            ..Default::default()
        };
        let branch = AttributeProto {
            name: Some("then_branch".into()),
            g: Some(inner),
            ..Default::default()
        };
        let sharded = ShardedDimProto {
            axis: Some(1),
            simple_sharding: vec![SimpleShardedDimProto {
                num_shards: Some(2),
                dim: Some(simple_sharded_dim_proto::Dim::DimParam("rows".into())),
            }],
        };
        let configuration = NodeDeviceConfigurationProto {
            configuration_id: Some("pair".into()),
            pipeline_stage: Some(3),
            sharding_spec: vec![ShardingSpecProto {
                tensor_name: Some("x".into()),
                device: vec![0, 1],
                sharded_dim: vec![sharded],
                ..Default::default()
            }],
        };
        let node = NodeProto {
            name: Some("choose".into()),
            op_type: Some("If".into()),
            metadata_props: vec![entry("source", "a.py\nline 3")],
            device_configurations: vec![configuration],
            attribute: vec![branch],
            ..Default::default()
        };
        ModelProto {
            doc_string: Some("x".repeat(300)),
            configuration: vec![DeviceConfigurationProto {
                name: Some("pair".into()),
                num_devices: Some(2),
                device: vec!["left".into(), "right".into()],
            }],
            training_info: vec![TrainingInfoProto {
                algorithm: Some(GraphProto {
                    node: vec![NodeProto::default(); 4],
                    ..Default::default()
                }),
                update_binding: vec![entry("w", "w_new")],
                ..Default::default()
            }],
            graph: Some(GraphProto {
                node: vec![node],
                quantization_annotation: vec![annotation],
                ..Default::default()
            }),
            ..Default::default()
        }
    }

    #[test]
    fn everything_that_a_file_says_is_listed() {
        let found = all(model().encode_to_vec(), &Limits::default()).unwrap();
        let found: Vec<String> = found
            .iter()
            .map(|(name, text)| format!("{name}: {text}"))
            .collect();
        let annotation = "SCALE_TENSOR = s, ZERO_POINT_TENSOR = z";
        let inner = " in `then_branch` of node 'choose' (If)";
        assert_eq!(
            found,
            [
                format!("documentation: {}", "x".repeat(300)),
                "device configuration `pair`: 2 devices: left, right".to_owned(),
                "training information 0: 0 nodes for initialization; 4 nodes for the algorithm; \
                 updated: w = w_new"
                    .to_owned(),
                format!("quantization annotation of `w`: {annotation}"),
                "metadata `source` of node 'choose' (If): a.py\\u{a}line 3".to_owned(),
                "device configuration `pair` of node 'choose' (If): stage 3; `x` on devices 0, 1: \
                 axis 1 in 2 of rows"
                    .to_owned(),
                format!("documentation of the graph{inner}: what if"),
                format!("quantization annotation of `w`{inner}: {annotation}"),
            ]
        );
    }

    /// Returns a graph of nodes that say something, within so many others.
    fn nested(depth: usize) -> ModelProto {
        let leaf = NodeProto {
            doc_string: Some("x".into()),
            ..Default::default()
        };
        let mut graph = GraphProto {
            node: vec![leaf; 3],
            ..Default::default()
        };
        for level in 0..depth {
            let branch = AttributeProto {
                name: Some("a".repeat(150)),
                g: Some(graph),
                ..Default::default()
            };
            let node = NodeProto {
                name: Some(format!("n{level}")),
                attribute: vec![branch],
                ..Default::default()
            };
            graph = GraphProto {
                node: vec![node],
                ..Default::default()
            };
        }
        ModelProto {
            graph: Some(graph),
            ..Default::default()
        }
    }

    #[test]
    fn places_in_nested_graphs_are_cut() {
        let limits = Limits::default();
        let len_of = |depth: usize| {
            let found = all(nested(depth).encode_to_vec(), &limits).unwrap();
            assert_eq!(found.len(), 3);
            found.iter().map(|(name, _)| name.len()).sum::<usize>()
        };
        assert!(len_of(1) < len_of(2));
        assert_eq!(len_of(3), len_of(9));
        let found = all(nested(4).encode_to_vec(), &limits).unwrap();
        let attribute = "a".repeat(150);
        assert_eq!(
            found[1].0,
            format!(
                "documentation of node #1 () in `{attribute}` of node 'n0' () in `{attribute}` of \
                 node 'n1' () in …"
            )
        );
        let strict = limits.with(Limit::Subgraphs, 3);
        assert!(all(nested(3).encode_to_vec(), &strict).is_ok());
        let error = all(nested(4).encode_to_vec(), &strict).unwrap_err();
        assert!(error.to_string().contains("--max-subgraphs"), "{error}");
    }

    #[test]
    fn damage_is_located() {
        let mut bytes = model().encode_to_vec();
        bytes.truncate(bytes.len() - 1);
        let error = all(bytes, &Limits::default()).unwrap_err().to_string();
        assert!(error.contains("byte"), "{error}");
    }
}
