//! Programs of certain shapes, of random size, that random graphs rarely have.

use crate::support::{ASYNC_SUM, CALL, CALL_EARLY, CANCEL, FAIL, Graph, Node, PANIC, Random, SUM};

/// A program of one of the shapes. `f0` has no arguments.
pub fn program(random: &mut Random) -> Vec<Graph> {
    match random.below(5) {
        0 => vec![fan(random)],
        1 => vec![diamonds(random)],
        2 => vec![ladder(random)],
        3 => nested_calls(random),
        _ => tree_of_calls(random),
    }
}

/// A typical kernel, on one of four streams: sometimes its result comes later, and rarely it fails.
fn node(random: &mut Random, operands: &[usize]) -> Node {
    let op = match random.below(60) {
        0 => &FAIL,
        1 => &PANIC,
        2 if random.below(4) == 0 => &CANCEL,
        3..=20 => &ASYNC_SUM,
        _ => &SUM,
    };
    Node::new(op, operands).on(u32::try_from(random.below(4)).expect("below 4"))
}

fn all_returned(nodes: Vec<Node>) -> Graph {
    Graph {
        returns: (0..nodes.len()).collect(),
        nodes,
        num_arguments: 0,
    }
}

/// One source, many users of it, and one kernel that reads all of their results.
fn fan(random: &mut Random) -> Graph {
    let width = 1 + random.below(60);
    let mut nodes = vec![node(random, &[])];
    nodes.extend((0..width).map(|_| node(random, &[0])));
    let all: Vec<usize> = (1..=width).collect();
    nodes.push(node(random, &all));
    all_returned(nodes)
}

/// A chain of diamonds: the end of one is the start of the next.
fn diamonds(random: &mut Random) -> Graph {
    let mut nodes = vec![node(random, &[])];
    for _ in 0..1 + random.below(20) {
        let start = nodes.len() - 1;
        nodes.push(node(random, &[start]));
        nodes.push(node(random, &[start]));
        nodes.push(node(random, &[start + 1, start + 2]));
    }
    all_returned(nodes)
}

/// Two chains with rungs between them.
fn ladder(random: &mut Random) -> Graph {
    let mut nodes = vec![node(random, &[]), node(random, &[])];
    for _ in 0..1 + random.below(30) {
        let [left, right] = [nodes.len() - 2, nodes.len() - 1];
        nodes.push(node(random, &[left, right]));
        nodes.push(node(random, &[right]));
    }
    all_returned(nodes)
}

/// Functions that call one another in a row, each with work before and after the call.
fn nested_calls(random: &mut Random) -> Vec<Graph> {
    let depth = 1 + random.below(12);
    (0..=depth)
        .map(|level| {
            let num_arguments = usize::from(level > 0);
            let mut nodes = match level {
                0 => vec![node(random, &[])],
                _ => vec![node(random, &[0])],
            };
            let mut last = num_arguments + nodes.len() - 1;
            if level < depth {
                let call = match random.below(2) {
                    0 => Node::new(&CALL, &[last]),
                    _ => Node::new(&CALL_EARLY, &[last]).non_strict(),
                };
                nodes.push(call.calling(level + 1));
                nodes.push(node(random, &[last, last + 1]));
                last += 2;
            }
            Graph {
                num_arguments,
                nodes,
                returns: vec![last],
            }
        })
        .collect()
}

/// Functions that call the next one several times each.
fn tree_of_calls(random: &mut Random) -> Vec<Graph> {
    let depth = 1 + random.below(4);
    (0..=depth)
        .map(|level| {
            let num_arguments = usize::from(level > 0);
            let mut nodes = vec![match level {
                0 => node(random, &[]),
                _ => node(random, &[0]),
            }];
            let first = num_arguments;
            let num_calls = if level < depth {
                1 + random.below(3)
            } else {
                0
            };
            nodes.extend((0..num_calls).map(|_| Node::new(&CALL, &[first]).calling(level + 1)));
            let all: Vec<usize> = (first..first + nodes.len()).collect();
            nodes.push(node(random, &all));
            Graph {
                num_arguments,
                returns: vec![num_arguments + nodes.len() - 1],
                nodes,
            }
        })
        .collect()
}
