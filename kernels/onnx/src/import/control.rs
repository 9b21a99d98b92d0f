//! Control flow: nodes that contain graphs.
//!
//! | node | becomes |
//! |---|---|
//! | `If` | a call of one of two functions; the graph itself, if the condition is a constant |
//! | `Loop`, `Scan`, `SequenceMap` | a function that is called as long as a condition function returns true |
//! | `Loop` of at most 8 iterations | its body, as often as it runs, if that is known |
//!
//! The values that a loop adds to its results in each iteration are collected in a list, which is
//! stacked when the loop ends.

use tfrt_import::program::{Attr, RegionBody, Value};
use tfrt_import::{ImportError, Limit};

use super::call::{numbers_tensor, scalar};
use super::{Known, Lowering, Scope};
use crate::attribute::Attribute;
use crate::graph::{Dim, Graph, Node, ValueType};
use crate::tensor::Tensor;

/// The ops that are lowered here.
pub(super) const OPS: &[&str] = &["If", "Loop", "Scan", "SequenceMap"];

/// The most iterations of a loop that are written one after another.
const MAX_UNROLLED: usize = 8;

/// The most nodes that iterations of a loop, and of the loops around it, may become.
const MAX_UNROLLED_NODES: usize = 10_000;

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

/// A scan: its body, how it reads each scanned operand, and how it stacks each result.
struct Scan<'n> {
    body: &'n Graph,
    axes: Vec<i64>,
    directions: Vec<i64>,
    output_axes: Vec<i64>,
    output_directions: Vec<i64>,
    place: String,
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
            "Scan" => self.batched_scan(node, scope),
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
        // Functions that are called within graphs may have graphs themselves.
        self.num_open_graphs += 1;
        self.limits.check(Limit::Subgraphs, self.num_open_graphs)?;
        let mark = scope.bound.len();
        for (input, &value) in graph.inputs.iter().zip(inputs) {
            scope.bind(&input.name, Known::Value(value));
        }
        let lowered = self.graph(graph, scope);
        self.num_open_graphs -= 1;
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
        let branches = [("then_branch", then), ("else_branch", otherwise)];
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
            let (name, chosen) = branches[usize::from(!truth)];
            let outputs = self.inner(chosen, &[], scope);
            let outputs = outputs.map_err(|error| error.within(name))?;
            return Ok(outputs.map(known));
        }
        let condition = self.needed(node, 0, scope)?;
        let mut bodies = Vec::new();
        for (name, branch) in branches {
            self.builder.begin(0);
            let outputs = self.inner(branch, &[], scope);
            let body = self.builder.end(
                outputs
                    .as_ref()
                    .ok()
                    .and_then(Option::as_deref)
                    .unwrap_or_default(),
            );
            match outputs.map_err(|error| error.within(name))? {
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

    /// Writes the iterations of a loop one after another. Returns what [`looped`](Self::looped)
    /// does.
    fn unrolled(
        &mut self,
        place: &str,
        start: Start,
        num_rounds: usize,
        mut round: impl FnMut(&mut Self, Value, Value, &[Value]) -> Result<Option<Round>, ImportError>,
    ) -> Result<Option<End>, ImportError> {
        let always = scalar(tfrt_tensor::I1::from(true))?;
        let condition = self.builder.weight("", always);
        let mut end = End {
            states: start.states,
            lists: Vec::new(),
        };
        for _ in 0..start.num_lists {
            let dtype = ("dtype", Attr::Type(tfrt_support::DType::F32));
            let list = self.builder.call("nn.EmptyList", &[], &[dtype], 1, place);
            end.lists.extend(list);
        }
        for number in 0..num_rounds {
            let number = self.builder.weight("", scalar(number as i64)?);
            let Some(returned) = round(self, number, condition, &end.states)? else {
                return Ok(None);
            };
            end.states = returned.states;
            for (list, item) in end.lists.iter_mut().zip(returned.items) {
                let operands = [*list, item];
                *list = self.builder.call("nn.ListPush", &operands, &[], 1, place)[0];
            }
        }
        Ok(Some(end))
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
        let num_rounds = known_rounds(node, body, scope).filter(|&count| {
            let factor = self.unrolled_factor.saturating_mul(count);
            factor.saturating_mul(num_nodes(body)) <= MAX_UNROLLED_NODES
        });
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
        let mut write_round = |this: &mut Self, round, condition, states: &[Value]| {
            let inputs = [&[round, condition], states].concat();
            let outputs = this.inner(body, &inputs, scope);
            let outputs = outputs.map_err(|error| error.within("body"))?;
            Ok(outputs.map(|outputs| Round {
                condition: Some(outputs[0]),
                states: outputs[1..=num_states].to_vec(),
                items: outputs[1 + num_states..].to_vec(),
            }))
        };
        let looped = match num_rounds {
            Some(num_rounds) => {
                let factor = self.unrolled_factor;
                self.unrolled_factor *= num_rounds;
                let written = self.unrolled(&place, start, num_rounds, write_round);
                self.unrolled_factor = factor;
                written?
            }
            None => self.looped(&place, start, |this, round, condition, states| {
                write_round(this, round, condition, states)
            })?,
        };
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
        let num_scanned = num_scanned(node);
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
        check_directions(&[&directions[..], &output_directions].concat())?;
        let mut operands = Vec::new();
        for index in 0..node.inputs.len() {
            operands.push(self.needed(node, index, scope)?);
        }
        let scan = Scan {
            body,
            axes,
            directions,
            output_axes,
            output_directions,
            place: node.label(),
        };
        let limit = self.common_extent(&operands[num_states..], &scan.axes, &scan.place);
        let results = self.scanned(&scan, operands, num_states, limit, scope)?;
        Ok(Some(match results {
            Some(results) => known(results),
            None => vec![Known::Missing; node.outputs.len()],
        }))
    }

    /// Returns the extent of an axis, as a list of one number.
    fn extent(&mut self, value: Value, axis: i64, place: &str) -> Value {
        let mut range = vec![("start", Attr::Int(axis))];
        if axis != -1 {
            range.push(("end", Attr::Int(axis.saturating_add(1))));
        }
        self.builder.call("nn.Shape", &[value], &range, 1, place)[0]
    }

    /// Returns the extent that all values have along their axes, as a list of one number. It is an
    /// error of the run if they have others.
    fn common_extent(&mut self, values: &[Value], axes: &[i64], place: &str) -> Value {
        if let (&[value], &[axis]) = (values, axes) {
            return self.extent(value, axis, place);
        }
        let axes = [("axes", Attr::Ints(axes.to_vec()))];
        self.builder
            .call("nn.CommonExtent", values, &axes, 1, place)[0]
    }

    /// Writes the loop of a scan, which has as many iterations as `limit` says. The operands are
    /// the states, then the values that are scanned. Returns the last states and the stacked
    /// values; nothing if the body is not supported.
    fn scanned(
        &mut self,
        scan: &Scan<'_>,
        mut operands: Vec<Value>,
        num_states: usize,
        limit: Value,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Value>>, ImportError> {
        let scanned = operands.split_off(num_states);
        let start = Start {
            limit: Some(limit),
            condition: None,
            states: operands,
            num_lists: scan.output_axes.len(),
        };
        // What is read backwards begins at its last part that counts.
        let last = match scan.directions.contains(&1) {
            true => {
                let minus_one = self.builder.weight("", scalar(-1_i64)?);
                let operands = [limit, minus_one];
                let last = self
                    .builder
                    .call("tf.AddV2", &operands, &[], 1, &scan.place);
                let shape = self.builder.weight("", numbers_tensor(&[])?);
                let operands = [last[0], shape];
                Some(
                    self.builder
                        .call("nn.Reshape", &operands, &[], 1, &scan.place)[0],
                )
            }
            false => None,
        };
        let looped = self.looped(&scan.place, start, |this, round, _, states| {
            let mut inputs = states.to_vec();
            let backwards = last.map(|last| {
                let operands = [last, round];
                this.builder.call("tf.Sub", &operands, &[], 1, &scan.place)[0]
            });
            for (at, &value) in scanned.iter().enumerate() {
                let step = backwards.filter(|_| scan.directions[at] == 1);
                let operands = [value, step.unwrap_or(round)];
                let axis = [("axis", Attr::Int(scan.axes[at]))];
                let gather = this
                    .builder
                    .call("nn.Gather", &operands, &axis, 1, &scan.place);
                inputs.push(gather[0]);
            }
            let outputs = this.inner(scan.body, &inputs, scope)?;
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
            return Ok(None);
        };
        for (at, list) in lists.into_iter().enumerate() {
            let (axis, is_reverse) = (scan.output_axes[at], scan.output_directions[at] == 1);
            let declared = &scan.body.outputs[num_states + at].ty;
            results.push(self.stacked(list, declared, axis, is_reverse, &scan.place));
        }
        Ok(Some(results))
    }

    /// Lowers a scan of opset 8: the first axis of every operand and result counts examples, the
    /// second one of scanned values their parts. The first operand may give the length of each
    /// example; zeros follow the results of an example that is shorter than others.
    fn batched_scan(
        &mut self,
        node: &Node,
        scope: &mut Scope<'a>,
    ) -> Result<Option<Vec<Known>>, ImportError> {
        let body = graph(node, "body")?;
        let num_operands = node.inputs.len().saturating_sub(1);
        let num_scanned = num_scanned(node);
        let num_states = num_operands.checked_sub(num_scanned).filter(|&states| {
            num_scanned > 0 && body.inputs.len() == num_operands && body.outputs.len() >= states
        });
        let Some(num_states) = num_states else {
            return Err(ImportError::new(format!(
                "`num_scan_inputs` is {num_scanned}, which does not match {num_operands} operands \
                 and the body"
            )));
        };
        let num_lists = body.outputs.len() - num_states;
        let directions = per_value(node, "directions", num_scanned)?;
        check_directions(&directions)?;
        let mut operands = Vec::new();
        for index in 1..node.inputs.len() {
            operands.push(self.needed(node, index, scope)?);
        }
        let lengths = self.operand(node, 0, scope)?;
        let scan = Scan {
            body,
            axes: vec![0; num_scanned],
            directions,
            output_axes: vec![0; num_lists],
            output_directions: vec![0; num_lists],
            place: node.label(),
        };
        let place = &scan.place;
        let num_examples = self.common_extent(&operands, &vec![0; num_operands], place);
        let scanned = &operands[num_states..];
        let longest = self.common_extent(scanned, &vec![1; num_scanned], place);
        let start = Start {
            limit: Some(num_examples),
            condition: None,
            states: Vec::new(),
            num_lists: body.outputs.len(),
        };
        let one = self.builder.weight("", numbers_tensor(&[1])?);
        let zero = self.builder.weight("", numbers_tensor(&[0])?);
        let looped = self.looped(place, start, |this, example, _, _| {
            let row = |this: &mut Self, value: Value| {
                let axis = [("axis", Attr::Int(0))];
                this.builder
                    .call("nn.Gather", &[value, example], &axis, 1, place)[0]
            };
            let rows = operands.iter().map(|&value| row(this, value)).collect();
            let length = lengths.map(|lengths| {
                let length = row(this, lengths);
                this.builder
                    .call("nn.Reshape", &[length, one], &[], 1, place)[0]
            });
            let limit = length.unwrap_or(longest);
            let results = this.scanned(&scan, rows, num_states, limit, scope)?;
            let Some(mut items) = results else {
                return Ok(None);
            };
            if let Some(length) = length {
                let rest = this
                    .builder
                    .call("tf.Sub", &[longest, length], &[], 1, place)[0];
                let axis = [("axis", Attr::Int(0))];
                let pads = this
                    .builder
                    .call("nn.Concat", &[zero, rest], &axis, 1, place)[0];
                for list in &mut items[num_states..] {
                    let operands = [*list, pads, zero];
                    let attrs = [
                        ("mode", Attr::Text("constant".to_owned())),
                        ("slots", Attr::Ints(vec![0, 1, 3])),
                    ];
                    *list = this.builder.call("nn.Pad", &operands, &attrs, 1, place)[0];
                }
            }
            Ok(Some(Round {
                condition: None,
                states: Vec::new(),
                items,
            }))
        })?;
        let Some(End { lists, .. }) = looped else {
            return Ok(Some(vec![Known::Missing; node.outputs.len()]));
        };
        let stacked = lists.into_iter().zip(&body.outputs).enumerate();
        let stacked = stacked.map(|(at, (list, output))| {
            // Without examples, a result has the dimensions of one, behind those of the scan.
            let declared = match at < num_states {
                true => output.ty.clone(),
                false => stacked_type(&output.ty),
            };
            self.stacked(list, &declared, 0, false, &scan.place)
        });
        Ok(Some(known(stacked.collect())))
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

/// Returns the number of the operands that a node scans.
fn num_scanned(node: &Node) -> usize {
    match node.attributes.get("num_scan_inputs") {
        Some(Attribute::Int(count)) => usize::try_from(*count).unwrap_or(0),
        _ => 0,
    }
}

fn check_directions(directions: &[i64]) -> Result<(), ImportError> {
    match directions
        .iter()
        .find(|direction| !matches!(direction, 0 | 1))
    {
        Some(other) => Err(ImportError::new(format!(
            "expected a direction that is 0 or 1, found {other}"
        ))),
        None => Ok(()),
    }
}

/// Returns the type of the stacked values of iterations.
fn stacked_type(item: &ValueType) -> ValueType {
    let mut stacked = item.clone();
    if let ValueType::Tensor {
        dims: Some(dims), ..
    } = &mut stacked
    {
        dims.insert(0, Dim::Unknown);
    }
    stacked
}

/// Returns the graph in an attribute.
/// Returns the number of nodes of a graph and of those in it.
fn num_nodes(graph: &Graph) -> usize {
    let mut pending = vec![graph];
    let mut count = 0;
    while let Some(graph) = pending.pop() {
        count += graph.nodes.len();
        let inner = graph.nodes.iter().flat_map(Node::graphs);
        pending.extend(inner.map(|(_, graph)| graph));
    }
    count
}

/// Returns the number of iterations of a loop, if it is a constant, small, and the condition is
/// always true.
fn known_rounds(node: &Node, body: &Graph, scope: &Scope<'_>) -> Option<usize> {
    let constant = |index: usize| {
        let name = node.inputs.get(index).filter(|name| !name.is_empty())?;
        Some(scope.values.get(name))
    };
    let Some(Known::Constant(limit)) = constant(0)? else {
        return None;
    };
    let limit = limit.dense()?;
    let limit = match limit.elements::<i64>().ok()?[..] {
        [limit] => usize::try_from(limit).ok()?,
        _ => return None,
    };
    let starts = match constant(1) {
        None => true,
        Some(Some(Known::Constant(condition))) => is_true(condition),
        Some(_) => false,
    };
    let fits = (1..=MAX_UNROLLED).contains(&limit);
    (fits && starts && stays_true(body, scope)).then_some(limit)
}

/// Returns `true` if the condition that the body of a loop returns is the one that it gets, or is
/// always true.
fn stays_true(body: &Graph, scope: &Scope<'_>) -> bool {
    let (Some(condition), Some(result)) = (body.inputs.get(1), body.outputs.first()) else {
        return false;
    };
    let mut name = &result.name;
    // Each node is after those whose values it takes.
    for node in body.nodes.iter().rev() {
        if !node.outputs.contains(name) {
            continue;
        }
        match (node.domain.as_str(), node.op.as_str(), &node.inputs[..]) {
            ("", "Identity", [input]) => name = input,
            ("", "Constant", []) => {
                let value = node.attributes.get("value");
                return matches!(value, Some(Attribute::Tensor(tensor)) if is_true(tensor));
            }
            _ => return false,
        }
    }
    if *name == condition.name {
        return true;
    }
    let mut own = body.initializers.iter();
    match own.find(|tensor| tensor.name == *name) {
        Some(tensor) => is_true(tensor),
        None => matches!(scope.values.get(name), Some(Known::Constant(tensor)) if is_true(tensor)),
    }
}

/// Returns `true` if a tensor is one Boolean, which is true.
fn is_true(tensor: &Tensor) -> bool {
    let elements = tensor
        .dense()
        .map(|dense| dense.elements::<tfrt_tensor::I1>());
    matches!(elements, Some(Ok(elements)) if matches!(elements[..], [truth] if bool::from(truth)))
}

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
