//! Models: files, read and checked.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use bytes::Bytes;
use prost::Message;
use tfrt_import::files::FolderFiles;
use tfrt_import::names::shown;
use tfrt_import::{ImportError, Limits};
use tfrt_tensor::HostBuffer;
use tfrt_tensor::file::{Source, Stream, map};

use crate::attribute::Attribute;
use crate::graph::{Function, Graph, GraphReader, ValueInfo, domain, opsets};
use crate::notes;
use crate::order;
use crate::proto::ModelProto;
use crate::tensor::{Tensor, TensorPlace, TensorReader, malloc};
use crate::wire;

/// The name of a function: domain, name and overload.
pub type FunctionName = (String, String, String);

/// A model that was read and follows the rules of the format. Its ops may still be unsupported.
///
/// ```
/// use prost::Message;
/// use tfrt_import::Limits;
/// use tfrt_onnx::Model;
/// use tfrt_onnx::proto::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
///
/// let value = |name: &str| ValueInfoProto { name: Some(name.into()), ..Default::default() };
/// let relu = NodeProto {
///     op_type: Some("Relu".into()),
///     input: vec!["x".into()],
///     output: vec!["y".into()],
///     ..Default::default()
/// };
/// let file = ModelProto {
///     ir_version: Some(10),
///     opset_import: vec![OperatorSetIdProto { version: Some(20), ..Default::default() }],
///     graph: Some(GraphProto {
///         node: vec![relu],
///         input: vec![value("x")],
///         output: vec![value("y")],
///         ..Default::default()
///     }),
///     ..Default::default()
/// };
/// let model = Model::from_bytes(file.encode_to_vec(), &Limits::default())?;
/// assert_eq!(model.graph().nodes[0].label(), "node #0 (Relu) that makes 'y'");
/// assert_eq!(model.opset(""), Some(20));
/// # Ok::<(), tfrt_import::ImportError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Model {
    ir_version: i64,
    producer: String,
    opsets: BTreeMap<String, i64>,
    graph: Graph,
    functions: HashMap<FunctionName, Function>,
    notes: Vec<(String, String)>,
    warnings: Vec<String>,
}

/// Returns `true` if these are the bytes of an ONNX model, in whatever order its fields are.
///
/// ```
/// assert!(tfrt_onnx::is_onnx(b"\x3a\x00\x08\x0a"), "a graph, then the version of the format");
/// assert!(!tfrt_onnx::is_onnx(b"func @main() { tfrt.return }"));
/// ```
#[must_use]
pub fn is_onnx(bytes: &[u8]) -> bool {
    let model = ModelProto::decode(bytes);
    model.is_ok_and(|model| model.graph.is_some() && model.ir_version.is_some())
}

impl Model {
    /// Reads a model and the files that it refers to.
    ///
    /// # Errors
    /// Errors in the file, with their locations.
    pub fn open(path: impl AsRef<Path>, limits: &Limits) -> Result<Self, ImportError> {
        let path = path.as_ref();
        let read = || {
            let mut stream = Stream::open(path, &malloc()).map_err(|e| e.to_string())?;
            let len_bytes = stream.len_bytes();
            let file = stream.buffer_at(0, len_bytes);
            file.map_err(|error| error.to_string())
        };
        let file = read().map_err(ImportError::new);
        Self::of_file(path, file, FolderFiles::beside(path), limits)
    }

    /// Maps a model into memory, and the files that it refers to: its tensors are parts of them.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    ///
    /// # Safety
    /// 1. The files must not be changed or shortened while the model, or a tensor of it, lives.
    #[expect(unsafe_code, reason = "hands on the duty of whoever maps a file")]
    pub unsafe fn map(path: impl AsRef<Path>, limits: &Limits) -> Result<Self, ImportError> {
        let path = path.as_ref();
        // SAFETY: duty 1.
        let file = unsafe { map(path) };
        let file = file.map_err(|error| ImportError::new(error.to_string()));
        // SAFETY: duty 1.
        let external = FolderFiles::beside(path).mapped_by(|path| unsafe { map(path) });
        Self::of_file(path, file, external, limits)
    }

    fn of_file(
        path: &Path,
        file: Result<HostBuffer, ImportError>,
        external: FolderFiles,
        limits: &Limits,
    ) -> Result<Self, ImportError> {
        let model = file.and_then(|file| Self::of_buffer(file, external, limits));
        model.map_err(|error| error.within(shown(&path.to_string_lossy()).to_string()))
    }

    /// Reads a model in memory, which cannot refer to other files.
    ///
    /// # Errors
    /// Errors in the model, with their locations.
    pub fn from_bytes(
        bytes: impl AsRef<[u8]> + Send + Sync + 'static,
        limits: &Limits,
    ) -> Result<Self, ImportError> {
        let file = HostBuffer::from_owner(bytes);
        let file = file.map_err(|error| ImportError::new(error.to_string()))?;
        Self::of_buffer(file, FolderFiles::default(), limits)
    }

    fn of_buffer(
        file: HostBuffer,
        external: FolderFiles,
        limits: &Limits,
    ) -> Result<Self, ImportError> {
        let elements = file.elements_owned::<u8>();
        let elements = elements.map_err(|error| ImportError::new(error.to_string()))?;
        let bytes = Bytes::from_owner(elements);
        let proto = ModelProto::decode(bytes.clone()).map_err(|error| {
            let damage = wire::locate(&bytes).map(|damage| damage.to_string());
            ImportError::new(damage.unwrap_or_else(|| error.to_string()))
        })?;
        let tensors = TensorReader {
            file,
            external,
            limits: limits.clone(),
        };
        Self::of_proto(&proto, &tensors)
    }

    fn of_proto(proto: &ModelProto, tensors: &TensorReader) -> Result<Self, ImportError> {
        if proto.ir_version() < 1 {
            return Err(ImportError::new(
                "not an ONNX model: expected a format version, found none",
            ));
        }
        let mut opsets = opsets(&proto.opset_import)?;
        // The oldest files mean the first opset.
        if proto.ir_version() < 3 && opsets.is_empty() {
            opsets.insert(String::new(), 1);
        }
        let graph = proto.graph.as_ref();
        let graph = graph.ok_or_else(|| ImportError::new("the model has no graph"))?;
        let mut reader = GraphReader {
            tensors,
            num_nodes: 0,
        };
        let mut graph = reader.graph(graph, 0)?;
        let mut warnings = order::check(&mut graph)?;
        let mut functions = HashMap::new();
        for proto in &proto.functions {
            let label = format!("function '{}'", shown(proto.name()));
            let place = |error: ImportError| error.within(label.clone());
            let mut function = reader.function(proto).map_err(place)?;
            warnings.extend(order::check(&mut function.body).map_err(place)?);
            let domain = domain(proto.domain()).to_owned();
            if domain.is_empty() {
                warnings.push(format!(
                    "{label}: the domain ai.onnx has no functions, so that nodes call the operator"
                ));
            }
            let name = (domain, proto.name().to_owned(), proto.overload().to_owned());
            if functions.insert(name, function).is_some() {
                return Err(place(ImportError::new("it is defined twice")));
            }
        }
        Ok(Self {
            ir_version: proto.ir_version(),
            producer: format!("{} {}", proto.producer_name(), proto.producer_version())
                .trim()
                .to_owned(),
            opsets,
            graph,
            functions,
            notes: notes::summary(proto),
            warnings,
        })
    }

    /// Returns the version of the format.
    #[must_use]
    pub fn ir_version(&self) -> i64 {
        self.ir_version
    }

    /// Returns the name of the producer that the file states.
    #[must_use]
    pub fn producer(&self) -> &str {
        &self.producer
    }

    /// Returns the version of a domain that the model means; `""` is ONNX's own.
    #[must_use]
    pub fn opset(&self, domain: &str) -> Option<i64> {
        self.opsets.get(domain).copied()
    }

    /// Returns the versions of all domains.
    #[must_use]
    pub fn opsets(&self) -> &BTreeMap<String, i64> {
        &self.opsets
    }

    /// Returns the graph of the model.
    #[must_use]
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the inputs that a caller must provide.
    pub fn inputs(&self) -> impl Iterator<Item = &ValueInfo> {
        self.inputs_with_value(false)
    }

    /// Returns the inputs for which the model has a value. An import takes that, or
    /// [another one](crate::import::Options::given). The oldest models list all their weights here.
    pub fn optional_inputs(&self) -> impl Iterator<Item = &ValueInfo> {
        self.inputs_with_value(true)
    }

    fn inputs_with_value(&self, has_value: bool) -> impl Iterator<Item = &ValueInfo> {
        let initializers = self.graph.initializers.iter();
        let known: std::collections::HashSet<&str> =
            initializers.map(|tensor| tensor.name.as_str()).collect();
        let inputs = self.graph.inputs.iter();
        inputs.filter(move |input| known.contains(input.name.as_str()) == has_value)
    }

    /// Returns the outputs.
    #[must_use]
    pub fn outputs(&self) -> &[ValueInfo] {
        &self.graph.outputs
    }

    /// Returns the places of the tensors that lie in files as they are in memory, by the address
    /// and the size of their elements.
    #[must_use]
    pub fn places(&self) -> HashMap<(usize, usize), &TensorPlace> {
        let mut places = HashMap::new();
        let mut open = vec![&self.graph];
        open.extend(self.functions.values().map(|function| &function.body));
        while let Some(graph) = open.pop() {
            let attributes = graph.nodes.iter().flat_map(|node| node.attributes.values());
            let mut tensors: Vec<&Tensor> = graph.initializers.iter().collect();
            for attribute in attributes {
                match attribute {
                    Attribute::Tensor(tensor) => tensors.push(tensor),
                    Attribute::Graph(graph) => open.push(graph),
                    _ => {}
                }
            }
            for tensor in tensors {
                if let (Some(dense), Some(place)) = (tensor.dense(), &tensor.place) {
                    let buffer = dense.buffer();
                    places.insert((buffer.address(), buffer.len_bytes()), place);
                }
            }
        }
        places
    }

    /// Returns what the file says beyond what an import uses, each part with its name: its version,
    /// documentation and metadata, and how many parts there are for training, quantisation and
    /// devices.
    #[must_use]
    pub fn notes(&self) -> &[(String, String)] {
        &self.notes
    }

    /// Returns warnings, which are not errors.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the functions that nodes can call, by domain, name and overload.
    #[must_use]
    pub fn functions(&self) -> &HashMap<FunctionName, Function> {
        &self.functions
    }
}
