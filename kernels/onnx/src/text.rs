//! Models as MLIR text: the nodes as they are in the file, before anything is converted.
//!
//! ```text
//! func @main(%v0: tensor<?x3xf32>) -> (tensor<?x2xf32>) {
//!   "onnx.opset"() {domain = "ai.onnx", version = 20 : i64} : () -> ()
//!   %v1 = "onnx.initializer"() {name = "w"} : () -> tensor<3x2xf32>
//!   %v2 = "onnx.MatMul"(%v0, %v1) : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32> loc("/fc")
//!   "onnx.return"(%v2) : (tensor<?x2xf32>) -> ()
//! }
//! ```
//!
//! Values whose type the file does not state are of type `!onnx.value`. Graphs in nodes are
//! regions, in the order of the attribute `graphs`. Tensors are named by their types.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use tfrt_import::program::{quoted_text, spelled_dtype, spelled_number};

use crate::attribute::Attribute;
use crate::graph::{Dim, Graph, Node, ValueType};
use crate::model::Model;
use crate::tensor::Tensor;

/// The type of values that the file says nothing about.
const VALUE: &str = "!onnx.value";

impl Model {
    /// Returns the model as MLIR text, without the elements of its tensors.
    #[must_use]
    pub fn to_mlir(&self) -> String {
        let mut text = String::new();
        let mut functions: Vec<_> = self.functions().iter().collect();
        functions.sort_by_key(|(name, _)| *name);
        for (index, ((domain, name, overload), function)) in functions.into_iter().enumerate() {
            let mut writer = Writer::default();
            let head = format!("func private @function_{index}");
            writer.function(&mut text, &head, &function.body, &function.opsets, |text| {
                let parts = [("domain", domain), ("name", name), ("overload", overload)];
                let parts = parts.map(|(key, part)| format!("{key} = {}", quoted_text(part)));
                let _ = writeln!(
                    text,
                    "  \"onnx.function\"() {{{}}} : () -> ()",
                    parts.join(", ")
                );
            });
        }
        let mut writer = Writer::default();
        let head = "func @main";
        writer.function(&mut text, head, self.graph(), self.opsets(), |_| ());
        text
    }
}

/// A value in the text: its number and its type.
#[derive(Clone, Debug)]
struct Written {
    number: usize,
    ty: String,
}

/// The values of a function.
#[derive(Debug, Default)]
struct Writer {
    /// The innermost meaning of each name.
    values: HashMap<String, Written>,
    num_values: usize,
}

impl Writer {
    fn function(
        &mut self,
        text: &mut String,
        head: &str,
        graph: &Graph,
        opsets: &BTreeMap<String, i64>,
        write_first: impl FnOnce(&mut String),
    ) {
        let is_given = |name: &str| graph.initializers.iter().all(|tensor| tensor.name != name);
        let inputs: Vec<String> = graph
            .inputs
            .iter()
            .filter(|input| is_given(&input.name))
            .map(|input| self.define(&input.name, spelled_type(&input.ty)))
            .map(|value| format!("%v{}: {}", value.number, value.ty))
            .collect();
        let outputs = graph.outputs.iter().map(|output| spelled_type(&output.ty));
        let outputs: Vec<String> = outputs.collect();
        let _ = writeln!(
            text,
            "{head}({}) -> ({}) {{",
            inputs.join(", "),
            outputs.join(", ")
        );
        write_first(text);
        for (domain, version) in opsets {
            let domain = if domain.is_empty() { "ai.onnx" } else { domain };
            let _ = writeln!(
                text,
                "  \"onnx.opset\"() {{domain = {}, version = {version} : i64}} : () -> ()",
                quoted_text(domain)
            );
        }
        self.body(text, graph, "  ", &outputs);
        text.push_str("}\n");
    }

    /// Writes the tensors, nodes and results of a graph.
    fn body(&mut self, text: &mut String, graph: &Graph, indent: &str, outputs: &[String]) {
        for tensor in &graph.initializers {
            let value = self.define(&tensor.name, type_of_tensor(tensor));
            let _ = writeln!(
                text,
                "{indent}%v{} = \"onnx.initializer\"() {{name = {}}} : () -> {}",
                value.number,
                quoted_text(&tensor.name),
                value.ty
            );
        }
        let names = graph.outputs.iter().map(|output| output.name.as_str());
        let declared: HashMap<&str, &String> = names.zip(outputs).collect();
        for node in &graph.nodes {
            self.node(text, node, indent, &declared);
        }
        let results: Vec<Written> = graph
            .outputs
            .iter()
            .map(|output| self.value(text, &output.name, indent))
            .collect();
        self.line(text, indent, "onnx.return", &results, "", "", &[]);
        text.push('\n');
    }

    fn node(
        &mut self,
        text: &mut String,
        node: &Node,
        indent: &str,
        declared: &HashMap<&str, &String>,
    ) {
        let operands: Vec<Written> = node
            .inputs
            .iter()
            .map(|name| self.value(text, name, indent))
            .collect();
        let mut regions = String::new();
        let mut graphs = Vec::new();
        for (name, graph) in node.graphs() {
            let between = if graphs.is_empty() { " (" } else { ", " };
            graphs.push(quoted_text(name));
            regions.push_str(between);
            self.region(&mut regions, graph, indent);
        }
        if !graphs.is_empty() {
            regions.push(')');
        }
        let mut attributes: Vec<String> = node
            .attributes
            .iter()
            .filter_map(|(name, attribute)| {
                Some(format!("{} = {}", spelled_name(name), spelled(attribute)?))
            })
            .collect();
        if !graphs.is_empty() {
            attributes.push(format!("graphs = [{}]", graphs.join(", ")));
        }
        let attributes = match attributes.is_empty() {
            true => String::new(),
            false => format!(" {{{}}}", attributes.join(", ")),
        };
        let results: Vec<Written> = node
            .outputs
            .iter()
            .map(|name| {
                let ty = declared.get(name.as_str());
                self.define(name, ty.map_or(VALUE, |ty| ty.as_str()).to_owned())
            })
            .collect();
        let domain = match node.domain.as_str() {
            "" => "onnx",
            domain => domain,
        };
        let op = format!("{domain}.{}", node.op);
        self.line(
            text,
            indent,
            &op,
            &operands,
            &regions,
            &attributes,
            &results,
        );
        let _ = writeln!(text, " loc({})", quoted_text(&node.label()));
    }

    fn region(&mut self, text: &mut String, graph: &Graph, indent: &str) {
        let inner = format!("{indent}  ");
        // Names may be those of values around the graph, which they hide inside of it.
        let outer = self.values.clone();
        let arguments: Vec<String> = graph
            .inputs
            .iter()
            .map(|input| self.define(&input.name, spelled_type(&input.ty)))
            .map(|value| format!("%v{}: {}", value.number, value.ty))
            .collect();
        text.push_str("{\n");
        if !arguments.is_empty() {
            let _ = writeln!(text, "{indent}^bb0({}):", arguments.join(", "));
        }
        let outputs = graph.outputs.iter().map(|output| spelled_type(&output.ty));
        let outputs: Vec<String> = outputs.collect();
        self.body(text, graph, &inner, &outputs);
        let _ = write!(text, "{indent}}}");
        self.values = outer;
    }

    /// Writes an op, up to its location.
    #[expect(clippy::too_many_arguments, reason = "the parts of an op")]
    fn line(
        &self,
        text: &mut String,
        indent: &str,
        op: &str,
        operands: &[Written],
        regions: &str,
        attributes: &str,
        results: &[Written],
    ) {
        let names = |values: &[Written]| {
            let names = values.iter().map(|value| format!("%v{}", value.number));
            names.collect::<Vec<_>>().join(", ")
        };
        let types = |values: &[Written]| {
            let types = values.iter().map(|value| value.ty.clone());
            types.collect::<Vec<_>>().join(", ")
        };
        text.push_str(indent);
        if !results.is_empty() {
            let _ = write!(text, "{} = ", names(results));
        }
        let _ = write!(
            text,
            "{}({}){regions}{attributes} : ({}) -> ({})",
            quoted_text(op),
            names(operands),
            types(operands),
            types(results)
        );
    }

    /// Numbers a value.
    fn define(&mut self, name: &str, ty: String) -> Written {
        let value = Written {
            number: self.num_values,
            ty,
        };
        self.num_values += 1;
        if !name.is_empty() {
            self.values.insert(name.to_owned(), value.clone());
        }
        value
    }

    /// Returns a value; one that nothing makes, or that is omitted, is made first.
    fn value(&mut self, text: &mut String, name: &str, indent: &str) -> Written {
        if let Some(value) = self.values.get(name) {
            return value.clone();
        }
        let value = self.define(name, VALUE.to_owned());
        let _ = writeln!(
            text,
            "{indent}%v{} = \"onnx.none\"() {{name = {}}} : () -> {VALUE}",
            value.number,
            quoted_text(name)
        );
        value
    }
}

fn spelled_type(ty: &ValueType) -> String {
    let ValueType::Tensor {
        element_type: Some(element),
        dims,
    } = ty
    else {
        return VALUE.to_owned();
    };
    let Some(dtype) = element.dtype() else {
        return VALUE.to_owned();
    };
    let Some(dims) = dims else {
        return format!("tensor<*x{}>", spelled_dtype(dtype));
    };
    let dims = dims.iter().map(|dim| match dim {
        Dim::Known(extent) => format!("{extent}x"),
        Dim::Symbol(_) | Dim::Unknown => "?x".to_owned(),
    });
    let dims: String = dims.collect();
    format!("tensor<{dims}{}>", spelled_dtype(dtype))
}

fn type_of_tensor(tensor: &Tensor) -> String {
    let Some(dtype) = tensor.element_type.dtype() else {
        return VALUE.to_owned();
    };
    let dims = tensor.dims.iter().map(|extent| format!("{extent}x"));
    let dims: String = dims.collect();
    format!("tensor<{dims}{}>", spelled_dtype(dtype))
}

/// Returns the name of an attribute, which is quoted unless it is an identifier.
fn spelled_name(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match starts && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => quoted_text(name),
    }
}

/// Returns an attribute, or `None` for graphs, which are regions.
fn spelled(attribute: &Attribute) -> Option<String> {
    let list = |parts: Vec<String>| format!("[{}]", parts.join(", "));
    let text = |bytes: &[u8]| quoted_text(&String::from_utf8_lossy(bytes));
    Some(match attribute {
        Attribute::Float(number) => spelled_number(*number),
        Attribute::Int(number) => format!("{number} : i64"),
        Attribute::Text(bytes) => text(bytes),
        Attribute::Floats(numbers) => list(numbers.iter().map(|&n| spelled_number(n)).collect()),
        Attribute::Ints(numbers) => list(numbers.iter().map(|n| format!("{n} : i64")).collect()),
        Attribute::Texts(texts) => list(texts.iter().map(|bytes| text(bytes)).collect()),
        Attribute::Tensor(tensor) => {
            let dims = tensor.dims.iter().map(ToString::to_string);
            let dims = dims.collect::<Vec<_>>().join(", ");
            quoted_text(&format!("{} [{dims}]", tensor.element_type))
        }
        Attribute::Reference(name) => quoted_text(&format!("attribute {name}")),
        Attribute::Other(what) => quoted_text(what),
        Attribute::Graph(_) => return None,
    })
}
