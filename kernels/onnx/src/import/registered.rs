//! Nodes of domains other than ONNX's own, whose ops other crates register.

use tfrt_import::ImportError;
use tfrt_import::names::shown;
use tfrt_import::program::{Attr, Value};
use tfrt_import::report::UnsupportedKind;
use tfrt_support::nearest::did_you_mean;

use super::call::Call;
use super::onnx_call::OnnxCall;
use super::{Known, Lowering, Scope};
use crate::attribute::Attribute;
use crate::graph::Node;
use crate::onnx_op::{KnownLowering, KnownOp};

/// The attribute that identifies present operands.
const SLOTS: &str = "slots";

impl<'a> Lowering<'a> {
    /// Lowers a node of a domain other than ONNX's own.
    pub(super) fn registered(
        &mut self,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<(), ImportError> {
        let domain = shown(&node.domain);
        let first = self.ops.first_version(&node.domain, &node.op);
        // Only functions have overloads.
        let Some(first) = first.filter(|_| node.overload.is_empty()) else {
            let near = self.ops.nearest(&node.domain, &node.op);
            let near: Vec<&str> = near.iter().map(String::as_str).collect();
            let hint = format!("no operator of this name{}", did_you_mean(&near));
            let what = format!("{domain}.{}", shown(&node.op));
            self.missing(node, scope, UnsupportedKind::Operator, &what, &hint);
            return Ok(());
        };
        let importer = scope.importer();
        let version = match &scope.function {
            Some((function, _)) => function.opsets.get(&node.domain).copied(),
            None => self.model.opset(&node.domain),
        };
        let version = version.ok_or_else(|| {
            ImportError::new(format!(
                "expected the {importer} to import the domain {domain}, found no import"
            ))
        })?;
        let op = self.ops.find(&node.domain, &node.op, version)?;
        let op = op.ok_or_else(|| {
            ImportError::new(format!(
                "the operator exists since version {first} of {domain}, but the {importer} imports \
                 version {version}"
            ))
        })?;
        let is_missing = |name: &String| matches!(scope.values.get(name), Some(Known::Missing));
        if node.inputs.iter().any(is_missing) {
            // It was told of where the value would have been made.
            for output in &node.outputs {
                scope.bind(output, Known::Missing);
            }
            return Ok(());
        }
        let mut call = Call::new(node, op.since, op.since, scope, &mut self.builder);
        let results = results(op, &mut call)?;
        for (name, value) in node.outputs.iter().zip(results) {
            scope.bind(name, Known::Value(value));
        }
        Ok(())
    }
}

/// Returns the results of a node.
fn results(op: &KnownOp, call: &mut Call<'_, '_>) -> Result<Vec<Value>, ImportError> {
    let function = match &op.lowering {
        KnownLowering::Op(name) => return call_of_op(name, call),
        KnownLowering::Function(function) => function,
        KnownLowering::FunctionOfLibrary(library) => {
            return Err(ImportError::new(format!(
                "the importer at {} is a function of the kernel library `{}`, and programs call \
                 only ops of libraries: put `#[onnx_op]` on a `#[tfrt_op]`, or link the crate into \
                 the program",
                op.place,
                shown(library)
            )));
        }
    };
    let results = function(&mut OnnxCall::new(call))?;
    let expected = call.num_results();
    if results.len() < expected {
        return Err(ImportError::new(format!(
            "expected {expected} results of the importer at {}, found {}",
            op.place,
            results.len()
        )));
    }
    Ok(results)
}

/// Calls one of our ops with the operands and attributes of a node.
fn call_of_op(op: &str, call: &mut Call<'_, '_>) -> Result<Vec<Value>, ImportError> {
    let mut attrs = Vec::new();
    for (name, attribute) in &call.node.attributes {
        if let Some(attr) = attr_of(name, attribute)? {
            attrs.push((name.as_str(), attr));
        }
    }
    let (operands, slots) = call.slots()?;
    attrs.extend(slots);
    Ok(call.emit(op, &operands, &attrs, call.num_results()))
}

/// Returns the attribute of an op that an attribute of a node is; nothing for an empty list, which
/// has no type.
fn attr_of(name: &str, attribute: &Attribute) -> Result<Option<Attr>, ImportError> {
    let fail = |message: String| {
        let place = format!("attribute `{}`", shown(name));
        Err(ImportError::new(message).within(place))
    };
    // The name becomes part of a text.
    let is_first_fit = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    let is_fit = |char: char| char.is_ascii_alphanumeric() || char == '_';
    if !is_first_fit || !name.chars().all(is_fit) {
        return fail("expected a name of letters, digits and `_`".to_owned());
    }
    if name == SLOTS {
        return fail("the name is reserved for the present operands".to_owned());
    }
    Ok(Some(match attribute {
        Attribute::Int(value) => Attr::Int(*value),
        Attribute::Float(value) => Attr::Float(*value),
        Attribute::Text(value) => match std::str::from_utf8(value) {
            Ok(text) => Attr::Text(text.to_owned()),
            Err(_) => return fail("expected UTF-8".to_owned()),
        },
        Attribute::Ints(values) if !values.is_empty() => Attr::Ints(values.clone()),
        Attribute::Floats(values) if !values.is_empty() => Attr::Floats(values.clone()),
        Attribute::Ints(_) | Attribute::Floats(_) => return Ok(None),
        other => {
            return fail(format!(
                "an op has no attribute that is {}: write an importer function",
                other.description()
            ));
        }
    }))
}
