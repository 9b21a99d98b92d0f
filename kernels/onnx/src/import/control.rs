//! Control flow: nodes that contain graphs.
//!
//! | node | becomes |
//! |---|---|
//! | `If` | a call of one of two functions; the graph itself, if the condition is a constant |
//! | `Loop`, `Scan`, `SequenceMap` | a function that is called as long as a condition function returns true |
//!
//! The values that a loop adds to its results in each iteration are collected in a list, which is
//! stacked when the loop ends.

use tfrt_import::ImportError;
use tfrt_import::program::{Attr, RegionBody, Value};

use super::call::scalar;
use super::{Known, Lowering, Scope};
use crate::attribute::Attribute;
use crate::graph::{Dim, Graph, Node, ValueType};

/// The ops that are lowered here.
pub(super) const OPS: &[&str] = &["If", "Loop", "Scan", "SequenceMap"];

/// The results of an iteration: the condition of the next one, the state, and the values added to
/// each list.
struct Round {
    condition: Option<Value>,
    states: Vec<Value>,
    items: Vec<Value>,
}

/// The number of iterations of a loop, and its initial values.
struct Start {
    limit: Option<Value>,
    condition: Option<Value>,
    states: Vec<Value>,
    num_lists: usize,
}

/// The results of a loop: the last state, and the lists of the iterations' values.
struct End {
    states: Vec<Value>,
    lists: Vec<Value>,
}

impl<'a> Lowering<'a> {
    /// Lowers a node with graphs. Returns its results; nothing if it is not supported.
    pub(super) fn control(
        &mut self,
        node: &Node,
        since: i64,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Known>>, ImportError> {
        match node.op.as_str() {
            "If" => self.conditional(node, scope),
            "Loop" => self.repeated(node, scope),
            "Scan" if since >= 9 => self.scan(node, scope),
            "SequenceMap" => self.mapped(node, scope),
            _ => Ok(None),
        }
    }

    /// Returns the value of an operand, unless it is omitted.
    fn operand(
        &mut self,
        node: &Node,
        index: usize,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Value>, ImportError> {
        let Some(name) = node.inputs.get(index).filter(|name| !name.is_empty()) else {
            return Ok(None);
        };
        if let Some(Known::Absent) = scope.values.get(name) {
            return Ok(None);
        }
        let value = scope.value(name, &mut self.builder);
        let unsupported = || ImportError::new(format!("operand {index} has an unsupported type"));
        value.map(Some).ok_or_else(unsupported)
    }

    /// Returns an operand that must be present.
    fn needed(
        &mut self,
        node: &Node,
        index: usize,
        scope: &mut Scope<'a>,
    ) -> Result<Value, ImportError> {
        let value = self.operand(node, index, scope)?;
        value.ok_or_else(|| ImportError::new(format!("operand {index} is missing")))
    }

    /// Lowers a graph in a node into the function that is being written, and returns its outputs;
    /// nothing if one is not supported.
    fn inner(
        &mut self,
        graph: &Graph,
        inputs: &[Value],
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Value>>, ImportError> {
        if graph.inputs.len() != inputs.len() {
            return Err(ImportError::new(format!(
                "expected {} operands of the graph, found {}",
                graph.inputs.len(),
                inputs.len()
            )));
        }
        let mark = scope.bound.len();
        for (input, &value) in graph.inputs.iter().zip(inputs) {
            scope.bind(&input.name, Known::Value(value));
        }
        let lowered = self.graph(graph, scope);
        let outputs = lowered.map(|()| {
            let outputs = graph.outputs.iter();
            outputs
                .map(|output| scope.value(&output.name, &mut self.builder))
                .collect::<Option<Vec<Value>>>()
        });
        scope.unbind(mark);
        outputs
    }

    fn conditional(
        &mut self,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Known>>, ImportError> {
        let (then, otherwise) = (graph(node, "then_branch")?, graph(node, "else_branch")?);
        for branch in [then, otherwise] {
            if branch.outputs.len() < node.outputs.len() {
                return Err(ImportError::new(format!(
                    "expected {1} results of a branch, found {0}",
                    branch.outputs.len(),
                    node.outputs.len()
                )));
            }
        }
        if then.outputs.len() != otherwise.outputs.len() {
            return Err(ImportError::new(format!(
                "expected branches with equally many results, found {} and {}",
                then.outputs.len(),
                otherwise.outputs.len()
            )));
        }
        let constant = match node.inputs.first().and_then(|name| scope.values.get(name)) {
            Some(Known::Constant(tensor)) => tensor.dense().and_then(|tensor| {
                let bytes = tensor.buffer().read().ok()?;
                (tensor.num_elements() == 1).then(|| bytes.iter().any(|&byte| byte != 0))
            }),
            _ => None,
        };
        if let Some(truth) = constant {
            let chosen = if truth { then } else { otherwise };
            let outputs = self.inner(chosen, &[], scope)?;
            return Ok(outputs.map(known));
        }
        let condition = self.needed(node, 0, scope)?;
        let mut bodies = Vec::new();
        for branch in [then, otherwise] {
            self.builder.begin(0);
            let outputs = self.inner(branch, &[], scope);
            let body = self.builder.end(
                outputs
                    .as_ref()
                    .ok()
                    .and_then(Option::as_deref)
                    .unwrap_or_default(),
            );
            match outputs? {
                Some(_) => bodies.push(body),
                None => return Ok(Some(vec![Known::Missing; node.outputs.len()])),
            }
        }
        let [then, otherwise] = <[RegionBody; 2]>::try_from(bodies)
            .map_err(|_| ImportError::new("a branch is missing"))?;
        let results = self
            .builder
            .conditional(condition, then, otherwise, &node.label());
        Ok(Some(known(results)))
    }

    /// Writes a loop. `round` writes the body, given the number of the iteration, starting at 0,
    /// the condition, and the state. Returns the last state and the lists, or `None` if the body is
    /// not supported.
    fn looped(
        &mut self,
        place: &str,
        start: Start,
        round: impl FnOnce(&mut Self, Value, Value, &[Value]) -> Result<Option<Round>, ImportError>,
    ) -> Result<Option<End>, ImportError> {
        let (num_states, num_lists) = (start.states.len(), start.num_lists);
        let zero = self.builder.weight("", scalar(0_i64)?);
        let one = self.builder.weight("", scalar(1_i64)?);
        let limit = match start.limit {
            Some(limit) => limit,
            None => self.builder.weight("", scalar(i64::MAX)?),
        };
        let always = scalar(tfrt_tensor::I1::from(true))?;
        let condition = match start.condition {
            Some(condition) => condition,
            None => self.builder.weight("", always),
        };
        let mut carried = vec![zero, condition];
        carried.extend(&start.states);
        for _ in 0..num_lists {
            // The first tensor says of what type the elements are.
            let dtype = ("dtype", Attr::Type(tfrt_support::DType::F32));
            carried.extend(self.builder.call("nn.EmptyList", &[], &[dtype], 1, place));
        }
        let arguments = self.builder.begin(carried.len());
        let operands = [arguments[0], limit, arguments[1]];
        let goes_on = self.builder.call("nn.GoesOn", &operands, &[], 1, place);
        let asked = self.builder.end(&goes_on);
        let arguments = self.builder.begin(carried.len());
        let (states, lists) = arguments[2..].split_at(num_states);
        let returned = round(self, arguments[0], arguments[1], states);
        let returned = match returned {
            Ok(Some(returned)) => returned,
            other => {
                self.builder.end(&[]);
                return other.map(|_| None);
            }
        };
        let next = self
            .builder
            .call("tf.AddV2", &[arguments[0], one], &[], 1, place);
        let mut results = vec![next[0], returned.condition.unwrap_or(arguments[1])];
        results.extend(&returned.states);
        for (&list, &item) in lists.iter().zip(&returned.items) {
            results.extend(
                self.builder
                    .call("nn.ListPush", &[list, item], &[], 1, place),
            );
        }
        let body = self.builder.end(&results);
        let mut results = self.builder.repeat(&carried, asked, body, place);
        let lists = results.split_off(2 + num_states);
        let states = results.split_off(2);
        Ok(Some(End { states, lists }))
    }

    fn repeated(
        &mut self,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Known>>, ImportError> {
        let body = graph(node, "body")?;
        let num_states = node.inputs.len().saturating_sub(2);
        let num_lists = (body.outputs.len()).checked_sub(1 + num_states);
        let Some(num_lists) = num_lists.filter(|_| body.inputs.len() == 2 + num_states) else {
            return Err(ImportError::new(format!(
                "the body takes {} and returns {} values, but the loop carries {num_states} \
                 values",
                body.inputs.len(),
                body.outputs.len()
            )));
        };
        let mut states = Vec::new();
        for index in 0..num_states {
            states.push(self.needed(node, 2 + index, scope)?);
        }
        let start = Start {
            limit: self.operand(node, 0, scope)?,
            condition: self.operand(node, 1, scope)?,
            states,
            num_lists,
        };
        let place = node.label();
        let looped = self.looped(&place, start, |this, round, condition, states| {
            let inputs = [&[round, condition], states].concat();
            let outputs = this.inner(body, &inputs, scope)?;
            Ok(outputs.map(|outputs| Round {
                condition: Some(outputs[0]),
                states: outputs[1..=num_states].to_vec(),
                items: outputs[1 + num_states..].to_vec(),
            }))
        })?;
        let Some(End {
            states: mut results,
            lists,
        }) = looped
        else {
            return Ok(Some(vec![Known::Missing; node.outputs.len()]));
        };
        for (list, output) in lists.into_iter().zip(&body.outputs[1 + num_states..]) {
            results.push(self.stacked(list, &output.ty, 0, false, &place));
        }
        Ok(Some(known(results)))
    }

    /// Converts the list of the iterations' values to a tensor. Without iterations, its type and
    /// its extents are those that the graph declares.
    fn stacked(
        &mut self,
        list: Value,
        declared: &ValueType,
        axis: i64,
        is_reverse: bool,
        place: &str,
    ) -> Value {
        let mut attrs = vec![
            ("axis", Attr::Int(axis)),
            ("reverse", Attr::Bool(is_reverse)),
        ];
        if let ValueType::Tensor { element_type, dims } = declared {
            let dtype = element_type.and_then(crate::ElementType::dtype);
            attrs.extend(dtype.map(|dtype| ("dtype", Attr::Type(dtype))));
            let dims = dims
                .as_deref()
                .unwrap_or_default()
                .iter()
                .map(|dim| match dim {
                    Dim::Known(extent) => i64::try_from(*extent).unwrap_or(i64::MAX),
                    _ => 0,
                });
            let dims: Vec<i64> = dims.collect();
            attrs.extend((!dims.is_empty()).then_some(("dims", Attr::Ints(dims))));
        }
        self.builder.call("nn.StackList", &[list], &attrs, 1, place)[0]
    }

    fn scan(
        &mut self,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Known>>, ImportError> {
        let body = graph(node, "body")?;
        let num_scanned = match node.attributes.get("num_scan_inputs") {
            Some(Attribute::Int(count)) => usize::try_from(*count).unwrap_or(0),
            _ => 0,
        };
        let num_states = node.inputs.len().checked_sub(num_scanned);
        let num_states = num_states.filter(|&states| {
            num_scanned > 0
                && body.inputs.len() == node.inputs.len()
                && body.outputs.len() >= states
        });
        let Some(num_states) = num_states else {
            return Err(ImportError::new(format!(
                "`num_scan_inputs` is {num_scanned}, which does not match {} operands and the body",
                node.inputs.len()
            )));
        };
        let num_lists = body.outputs.len() - num_states;
        let axes = per_value(node, "scan_input_axes", num_scanned)?;
        let directions = per_value(node, "scan_input_directions", num_scanned)?;
        let output_axes = per_value(node, "scan_output_axes", num_lists)?;
        let output_directions = per_value(node, "scan_output_directions", num_lists)?;
        let mut all = directions.iter().chain(&output_directions);
        if let Some(other) = all.find(|direction| !matches!(direction, 0 | 1)) {
            return Err(ImportError::new(format!(
                "expected a direction that is 0 or 1, found {other}"
            )));
        }
        let mut operands = Vec::new();
        for index in 0..node.inputs.len() {
            operands.push(self.needed(node, index, scope)?);
        }
        let place = node.label();
        let scanned = operands.split_off(num_states);
        // As many rounds as the first operand has steps.
        let mut extent = vec![("start", Attr::Int(axes[0]))];
        if axes[0] != -1 {
            extent.push(("end", Attr::Int(axes[0].saturating_add(1))));
        }
        let limit = self
            .builder
            .call("nn.Shape", &scanned[..1], &extent, 1, &place);
        let minus_one = self.builder.weight("", scalar(-1_i64)?);
        let start = Start {
            limit: Some(limit[0]),
            condition: None,
            states: operands,
            num_lists,
        };
        let looped = self.looped(&place, start, |this, round, _, states| {
            let mut inputs = states.to_vec();
            let last = directions.contains(&1).then(|| {
                let operands = [minus_one, round];
                this.builder.call("tf.Sub", &operands, &[], 1, &place)[0]
            });
            for (at, &value) in scanned.iter().enumerate() {
                let step = last.filter(|_| directions[at] == 1).unwrap_or(round);
                let axis = [("axis", Attr::Int(axes[at]))];
                let part = this
                    .builder
                    .call("nn.Gather", &[value, step], &axis, 1, &place);
                inputs.push(part[0]);
            }
            let outputs = this.inner(body, &inputs, scope)?;
            Ok(outputs.map(|outputs| Round {
                condition: None,
                states: outputs[..num_states].to_vec(),
                items: outputs[num_states..].to_vec(),
            }))
        })?;
        let Some(End {
            states: mut results,
            lists,
        }) = looped
        else {
            return Ok(Some(vec![Known::Missing; node.outputs.len()]));
        };
        for (at, list) in lists.into_iter().enumerate() {
            let (axis, is_reverse) = (output_axes[at], output_directions[at] == 1);
            let declared = &body.outputs[num_states + at].ty;
            results.push(self.stacked(list, declared, axis, is_reverse, &place));
        }
        Ok(Some(known(results)))
    }

    fn mapped(
        &mut self,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Known>>, ImportError> {
        let body = graph(node, "body")?;
        let mut operands = Vec::new();
        for index in 0..node.inputs.len() {
            operands.push(self.needed(node, index, scope)?);
        }
        let place = node.label();
        let limit = self
            .builder
            .call("nn.ListLen", &operands[..1], &[], 1, &place);
        let start = Start {
            limit: Some(limit[0]),
            condition: None,
            states: Vec::new(),
            num_lists: body.outputs.len(),
        };
        let looped = self.looped(&place, start, |this, round, _, _| {
            let mut inputs = Vec::new();
            for &operand in &operands {
                let given = [operand, round];
                inputs.extend(this.builder.call("nn.ListOrSelfAt", &given, &[], 1, &place));
            }
            let outputs = this.inner(body, &inputs, scope)?;
            Ok(outputs.map(|items| Round {
                condition: None,
                states: Vec::new(),
                items,
            }))
        })?;
        Ok(Some(match looped {
            Some(end) => known(end.lists),
            None => vec![Known::Missing; node.outputs.len()],
        }))
    }
}

fn known(values: Vec<Value>) -> Vec<Known> {
    values.into_iter().map(Known::Value).collect()
}

/// Returns the graph in an attribute.
fn graph<'n>(node: &'n Node, name: &str) -> Result<&'n Graph, ImportError> {
    match node.attributes.get(name) {
        Some(Attribute::Graph(graph)) => Ok(graph),
        _ => Err(ImportError::new(format!(
            "the attribute `{name}` is missing"
        ))),
    }
}

/// Returns a number for each value; zeros if the attribute is omitted.
fn per_value(node: &Node, name: &str, count: usize) -> Result<Vec<i64>, ImportError> {
    match node.attributes.get(name) {
        Some(Attribute::Ints(numbers)) if numbers.len() == count => Ok(numbers.clone()),
        Some(Attribute::Ints(numbers)) => Err(ImportError::new(format!(
            "attribute `{name}`: expected {count} numbers, found {}",
            numbers.len()
        ))),
        _ => Ok(vec![0; count]),
    }
}
