//! Damage to models that leaves them files: something else that a model could say.

use tfrt_import::{Limit, Limits};
use tfrt_onnx::proto::{AttributeProto, ModelProto, NodeProto};

/// Numbers at the ends of what is allowed, and beyond.
const EXTREMES: [i64; 10] = [0, -1, 1, 2, 3, 31, 255, 1 << 40, i64::MAX, i64::MIN];

/// Types of elements, by their code.
const ELEMENT_TYPES: [i32; 12] = [0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 16];

/// Returns small limits, so that damaged extents do not take long.
pub fn limits() -> Limits {
    Limits::default()
        .with(Limit::Nodes, 10_000)
        .with(Limit::ListElements, 1 << 16)
        .with(Limit::DenseBytes, 1 << 20)
        .with(Limit::ProgramBytes, 1 << 20)
        .with(Limit::FoldedResultBytes, 1 << 16)
        .with(Limit::FoldedBytes, 1 << 22)
}

/// Changes one thing that a model says. `below` returns a random number below a bound.
pub fn change(model: &mut ModelProto, below: &mut dyn FnMut(usize) -> usize) {
    if below(8) == 0 {
        change_version(model, below);
        return;
    }
    let Some(graph) = &mut model.graph else {
        return;
    };
    match below(4) {
        0 if !graph.initializer.is_empty() => {
            let num_weights = graph.initializer.len();
            let (one, other) = (below(num_weights), below(num_weights));
            match below(3) {
                // The elements of one weight with the extents of another.
                0 => graph.initializer[one].dims = graph.initializer[other].dims.clone(),
                1 => {
                    let element_type = ELEMENT_TYPES[below(ELEMENT_TYPES.len())];
                    graph.initializer[one].data_type = Some(element_type);
                }
                _ => {
                    let dims = &mut graph.initializer[one].dims;
                    match dims.len() {
                        0 => dims.push(EXTREMES[below(EXTREMES.len())]),
                        rank => dims[below(rank)] = EXTREMES[below(EXTREMES.len())],
                    }
                }
            }
        }
        1 if graph.input.len() > 1 => {
            let num_inputs = graph.input.len();
            let (one, other) = (below(num_inputs), below(num_inputs));
            graph.input[one].r#type = graph.input[other].r#type.clone();
        }
        _ => change_node(&mut graph.node, below),
    }
}

fn change_version(model: &mut ModelProto, below: &mut dyn FnMut(usize) -> usize) {
    match model.opset_import.first_mut() {
        Some(opset) if below(4) != 0 => opset.version = Some(below(29) as i64),
        _ => model.ir_version = Some(below(15) as i64),
    }
}

fn change_node(nodes: &mut Vec<NodeProto>, below: &mut dyn FnMut(usize) -> usize) {
    if nodes.is_empty() {
        return;
    }
    let (one, other) = (below(nodes.len()), below(nodes.len()));
    match below(9) {
        0 => nodes[one].op_type = nodes[other].op_type.clone(),
        1 => nodes[one].attribute = nodes[other].attribute.clone(),
        2 => nodes[one].input = nodes[other].input.clone(),
        3 => nodes[one].input.reverse(),
        4 => drop(nodes[one].input.pop()),
        5 => nodes.swap(one, other),
        6 => drop(nodes.remove(one)),
        7 => {
            let taken = nodes[other].input.first().cloned();
            let slots = &mut nodes[one].input;
            let at = below(slots.len() + 1);
            slots.splice(at..slots.len().min(at + 1), taken);
        }
        _ => {
            let attributes = &mut nodes[one].attribute;
            if !attributes.is_empty() {
                let at = below(attributes.len());
                change_attribute(&mut attributes[at], below);
            }
        }
    }
}

fn change_attribute(attribute: &mut AttributeProto, below: &mut dyn FnMut(usize) -> usize) {
    let number = EXTREMES[below(EXTREMES.len())];
    if let Some(graph) = &mut attribute.g {
        change_node(&mut graph.node, below);
    } else if attribute.i.is_some() {
        attribute.i = Some(number);
    } else if attribute.f.is_some() {
        attribute.f = Some([0.0, -1.0, 1e30, f32::NAN, f32::INFINITY][below(5)]);
    } else if let rank @ 1.. = attribute.ints.len() {
        match below(3) {
            0 => drop(attribute.ints.pop()),
            _ => attribute.ints[below(rank)] = number,
        }
    } else {
        attribute.r#type = Some(below(15) as i32);
    }
}
