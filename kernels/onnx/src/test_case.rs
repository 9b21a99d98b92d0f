//! What tests with recorded results must know about a model.

use crate::graph::Graph;
use crate::model::Model;

/// Ops whose results are random numbers.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Returns `true` if a model draws random numbers, so only the types and shapes of its outputs
/// match the recorded ones.
#[must_use]
pub fn is_random(model: &Model) -> bool {
    let functions = model.functions().values();
    let mut open: Vec<&Graph> = functions.map(|function| &function.body).collect();
    open.push(model.graph());
    while let Some(graph) = open.pop() {
        for node in &graph.nodes {
            // A dropout with a third operand may be one in training.
            let trains = node.op == "Dropout" && node.inputs.len() > 2;
            if trains || RANDOM.contains(&node.op.as_str()) {
                return true;
            }
            open.extend(node.graphs().map(|(_, graph)| graph));
        }
    }
    false
}
