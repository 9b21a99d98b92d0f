//! The rules of graphs: the definition, the scope and the order of values.
//!
//! 1. A value is defined once: by an input, an initializer or a node. In the oldest files an
//!    initializer has an input with the same name.
//! 2. A graph in a node sees the values of the enclosing graphs, and does not redefine their names.
//! 3. All values that a node takes are defined.
//! 4. Nodes follow those whose values they take. If a file has another order, they are sorted, with
//!    a warning; a cycle is an error.
//!
//! Cost: linear in the size of the graph, for each level of nesting.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

use tfrt_import::ImportError;
use tfrt_import::names::shown;

use crate::attribute::Attribute;
use crate::graph::{Graph, captures};

/// The number of nodes of a cycle that a message names.
const MAX_SHOWN_NODES: usize = 10;

/// Checks a graph and those in it, and sorts their nodes. Returns warnings.
pub(crate) fn check(graph: &mut Graph) -> Result<Vec<String>, ImportError> {
    let mut check = Check {
        visible: HashSet::new(),
        warnings: Vec::new(),
    };
    check.graph(graph)?;
    Ok(check.warnings)
}

struct Check {
    /// The values of the enclosing graphs.
    visible: HashSet<String>,
    warnings: Vec<String>,
}

impl Check {
    fn graph(&mut self, graph: &mut Graph) -> Result<(), ImportError> {
        let makers = self.makers(graph)?;
        if let Some(order) = self.order(graph, &makers)? {
            let mut nodes: Vec<_> = std::mem::take(&mut graph.nodes)
                .into_iter()
                .map(Some)
                .collect();
            let sorted = order.into_iter().filter_map(|index| nodes[index].take());
            graph.nodes = sorted.collect();
            self.warnings.push(format!(
                "the nodes of graph '{}' are not in topological order and were sorted",
                shown(&graph.name)
            ));
        }
        for output in &graph.outputs {
            let name = &output.name;
            if !makers.contains_key(name) && !self.visible.contains(name) {
                let message = format!("no node produces the output '{}'", shown(name));
                return Err(ImportError::new(message));
            }
        }
        let ours: Vec<String> = makers.into_keys().collect();
        self.visible.extend(ours.iter().cloned());
        for node in &mut graph.nodes {
            let label = node.label();
            for (name, attribute) in &mut node.attributes {
                if let Attribute::Graph(inner) = attribute {
                    let place = |error: ImportError| {
                        error.within(format!("graph `{}` of {label}", shown(name)))
                    };
                    self.graph(inner).map_err(place)?;
                }
            }
        }
        for name in &ours {
            self.visible.remove(name);
        }
        Ok(())
    }

    /// Returns the definition of each value of a graph: a node, or none for inputs and
    /// initializers.
    fn makers(&self, graph: &Graph) -> Result<HashMap<String, Option<usize>>, ImportError> {
        let mut makers: HashMap<String, Option<usize>> = HashMap::new();
        let mut make = |name: &str, maker: Option<usize>| {
            if self.visible.contains(name) {
                let message = format!(
                    "the value '{}' is also defined outside of the graph",
                    shown(name)
                );
                return Err(ImportError::new(message));
            }
            match makers.insert(name.to_owned(), maker) {
                Some(_) => {
                    let message = format!("the value '{}' is defined twice", shown(name));
                    Err(ImportError::new(message))
                }
                None => Ok(()),
            }
        };
        let mut inputs = HashSet::new();
        for input in &graph.inputs {
            if input.name.is_empty() {
                return Err(ImportError::new("an input has no name"));
            }
            make(&input.name, None)?;
            inputs.insert(input.name.as_str());
        }
        let mut initializers = HashSet::new();
        for tensor in &graph.initializers {
            let name = tensor.name.as_str();
            if name.is_empty() {
                return Err(ImportError::new("an initializer has no name"));
            }
            if !initializers.insert(name) {
                let message = format!("the initializer '{}' is defined twice", shown(name));
                return Err(ImportError::new(message));
            }
            if !inputs.contains(name) {
                make(name, None)?;
            }
        }
        for (index, node) in graph.nodes.iter().enumerate() {
            for name in node.outputs.iter().filter(|name| !name.is_empty()) {
                make(name, Some(index)).map_err(|error| error.within(node.label()))?;
            }
        }
        Ok(makers)
    }

    /// Returns an order of the nodes, if they are not in order.
    fn order(
        &self,
        graph: &Graph,
        makers: &HashMap<String, Option<usize>>,
    ) -> Result<Option<Vec<usize>>, ImportError> {
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes.len()];
        let mut num_awaited = vec![0_usize; graph.nodes.len()];
        let mut is_sorted = true;
        for (index, node) in graph.nodes.iter().enumerate() {
            let mut taken: HashSet<&str> = node.inputs.iter().map(String::as_str).collect();
            for (_, inner) in node.graphs() {
                taken.extend(captures(inner));
            }
            for name in taken.into_iter().filter(|name| !name.is_empty()) {
                match makers.get(name) {
                    Some(&Some(maker)) => {
                        users[maker].push(index);
                        num_awaited[index] += 1;
                        is_sorted &= maker < index;
                    }
                    Some(None) => {}
                    None if self.visible.contains(name) => {}
                    None => {
                        let message = format!("no node produces its operand '{}'", shown(name));
                        return Err(ImportError::new(message).within(node.label()));
                    }
                }
            }
        }
        if is_sorted {
            return Ok(None);
        }
        let is_ready = |&index: &usize| num_awaited[index] == 0;
        let mut ready: BinaryHeap<Reverse<usize>> = (0..graph.nodes.len())
            .filter(is_ready)
            .map(Reverse)
            .collect();
        let mut order = Vec::with_capacity(graph.nodes.len());
        while let Some(Reverse(index)) = ready.pop() {
            order.push(index);
            for &user in &users[index] {
                num_awaited[user] -= 1;
                if num_awaited[user] == 0 {
                    ready.push(Reverse(user));
                }
            }
        }
        if order.len() == graph.nodes.len() {
            return Ok(Some(order));
        }
        Err(ImportError::new(format!(
            "nodes depend on each other: {}",
            cycle(graph, &users, &num_awaited)
        )))
    }
}

/// Returns the nodes of a cycle. `num_awaited` is not zero for those in a cycle and those behind
/// one.
fn cycle(graph: &Graph, users: &[Vec<usize>], num_awaited: &[usize]) -> String {
    // Backwards from a node that waits to one that it waits for, until one comes again.
    let mut maker = vec![None; users.len()];
    for (index, users) in users.iter().enumerate() {
        for &user in users.iter().filter(|_| num_awaited[index] > 0) {
            maker[user] = Some(index);
        }
    }
    let mut at = num_awaited.iter().position(|&awaited| awaited > 0);
    let mut seen = HashMap::new();
    let mut walked = Vec::new();
    while let Some(index) = at {
        if let Some(&start) = seen.get(&index) {
            let found: &[usize] = &walked[start..];
            let labels = found.iter().rev().take(MAX_SHOWN_NODES);
            let labels: Vec<String> = labels.map(|&index| graph.nodes[index].label()).collect();
            let more = match found.len().checked_sub(MAX_SHOWN_NODES) {
                Some(more) if more > 0 => format!(" and {more} more"),
                _ => String::new(),
            };
            return format!("{}{more}", labels.join(", "));
        }
        seen.insert(index, walked.len());
        walked.push(index);
        at = maker[index];
    }
    String::new()
}
