//! The algorithm that divides the ops of one block into streams.
//!
//! Does not know IR: a block is a list of nodes with costs and operands, in program order, under a
//! virtual *root* that defines the values that come into the block.
//!
//! ```text
//! forward    each node picks the operand at the end of the longest path as its parent: the nodes become a tree
//! backward   each node, children first, continues the costliest stream among its children (or starts one);
//!            children that are cheaper than the threshold are gathered into streams that reach it
//! ```
//!
//! Streams are numbered in order of creation and are never renumbered, so the numbers of merged
//! streams stay unused.
//!
//! The cost is linear in the operands without `merges_inter_dependent`; with it, each stream
//! rescans its side dependencies once for each node that it grows by.

use std::cell::Cell;
use std::collections::BTreeSet;

use tfrt_support::entity::{EntityId, PrimaryMap};

tfrt_support::define_id! {
    /// A stream of a block: a sequence of ops that runs best on one thread.
    pub struct StreamId("stream");
}

tfrt_support::define_id! {
    /// A node of a [`StreamGraph`]: an op of the block, by its position.
    pub struct NodeId("node");
}

/// Options that decide how ops are gathered into streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOptions {
    /// The cost of an op that does not declare another, and the minimal cost of a separate stream.
    /// At least 1.
    pub cost_threshold: i64,
    /// The cost from which a stream is not continued; `None` if there is no limit.
    pub upper_cost_threshold: Option<i64>,
    /// Whether cheap sibling streams that use each other's values are merged first.
    pub merges_inter_dependent: bool,
}

impl Default for StreamOptions {
    fn default() -> Self {
        Self {
            cost_threshold: 1,
            upper_cost_threshold: None,
            merges_inter_dependent: false,
        }
    }
}

/// The ops of a block in program order, the terminator included, as [`assign_streams`] sees them.
pub type StreamGraph = PrimaryMap<NodeId, StreamNode>;

/// One op.
#[derive(Clone, Debug)]
pub struct StreamNode {
    /// Its cost, at least 1.
    pub cost: i64,
    /// Its operands, in order.
    pub operands: Vec<StreamOperand>,
}

/// One operand of an op.
#[derive(Clone, Copy, Debug)]
pub struct StreamOperand {
    /// The op that defines it, which comes earlier; `None` if it comes from outside the block.
    pub definer: Option<NodeId>,
    /// Whether it is a chain. Such an operand orders ops, but does not draw streams together.
    pub is_chain: bool,
}

/// The streams of a block.
///
/// ```
/// use tfrt_compiler::stream_analysis::graph::{assign_streams, StreamGraph, StreamNode, StreamOperand, StreamOptions};
///
/// let mut graph = StreamGraph::new();
/// let a = graph.push(StreamNode { cost: 1, operands: vec![] });
/// let b = graph.push(StreamNode { cost: 1, operands: vec![] });
/// let uses_a = StreamOperand { definer: Some(a), is_chain: false };
/// let c = graph.push(StreamNode { cost: 1, operands: vec![uses_a] });
///
/// let streams = assign_streams(&graph, StreamOptions::default());
/// assert_eq!(streams.of(c), streams.of(a));
/// assert_ne!(streams.of(b), streams.of(a));
/// assert_eq!(streams.cost(streams.root()), 3);
/// assert_eq!(streams.parent(streams.of(b)), Some(streams.root()));
/// ```
#[derive(Clone, Debug)]
pub struct Streams {
    root: StreamId,
    of_node: PrimaryMap<NodeId, StreamId>,
    cost: PrimaryMap<StreamId, i64>,
    parent: PrimaryMap<StreamId, Option<StreamId>>,
}

impl Streams {
    /// Returns the stream of the virtual root, on which the block starts.
    #[must_use]
    pub fn root(&self) -> StreamId {
        self.root
    }

    /// Returns the stream of an op.
    #[must_use]
    pub fn of(&self, node: NodeId) -> StreamId {
        self.of_node[node]
    }

    /// Returns the sum of the costs of the ops of a stream.
    #[must_use]
    pub fn cost(&self, stream: StreamId) -> i64 {
        self.cost[stream]
    }

    /// Returns the stream of the op after which a stream starts, or `None` for the root's stream.
    #[must_use]
    pub fn parent(&self, stream: StreamId) -> Option<StreamId> {
        self.parent[stream]
    }
}

/// Assigns every op of a block, and the virtual root, to a stream.
#[must_use]
pub fn assign_streams(graph: &StreamGraph, options: StreamOptions) -> Streams {
    let tree = longest_paths(graph);
    let mut builder = Builder {
        graph,
        tree: &tree,
        options,
        streams: PrimaryMap::new(),
        of_vertex: vec![None; graph.len() + 1],
    };
    for vertex in (0..=graph.len()).rev() {
        builder.build(vertex);
    }
    builder.finish()
}

/// The root or a node: 0 is the root, `n + 1` is node `n`.
type Vertex = usize;

const ROOT: Vertex = 0;
const ROOT_COST: i64 = 1;

fn vertex_of(definer: Option<NodeId>) -> Vertex {
    definer.map_or(ROOT, |node| node.index() + 1)
}

/// The result of the forward pass.
struct PathTree {
    /// The vertices that have this one as their parent, in program order.
    children: Vec<Vec<Vertex>>,
    /// The definers of the operands that are not chains, without the parent.
    sides: Vec<Vec<Vertex>>,
}

fn longest_paths(graph: &StreamGraph) -> PathTree {
    let len = graph.len() + 1;
    let mut path = vec![ROOT_COST; len];
    let mut tree = PathTree {
        children: vec![Vec::new(); len],
        sides: vec![Vec::new(); len],
    };
    for (node, StreamNode { cost, operands }) in graph.iter() {
        let vertex = vertex_of(Some(node));
        let (mut parent, mut longest) = (ROOT, 0);
        for operand in operands {
            let definer = vertex_of(operand.definer);
            if !operand.is_chain {
                tree.sides[vertex].push(definer);
            }
            if path[definer] > longest {
                (parent, longest) = (definer, path[definer]);
            }
        }
        tree.sides[vertex].retain(|&side| side != parent);
        tree.children[parent].push(vertex);
        path[vertex] = longest.saturating_add(*cost);
    }
    tree
}

/// A stream while it is being built.
struct Stream {
    cost: i64,
    /// The vertex after which it starts.
    parent: Option<Vertex>,
    /// The stream into which this one was merged, if any. Following the links leads to the final
    /// stream; they are shortened on the way.
    merged_into: Cell<Option<StreamId>>,
    /// The definers of its operands from elsewhere. May still list vertices that have joined the
    /// stream since; those are recognised by their current stream.
    sides: Vec<Vertex>,
}

struct Builder<'a> {
    graph: &'a StreamGraph,
    tree: &'a PathTree,
    options: StreamOptions,
    streams: PrimaryMap<StreamId, Stream>,
    of_vertex: Vec<Option<StreamId>>,
}

impl Builder<'_> {
    /// Puts `vertex` into a stream. Everything after it is already in one.
    fn build(&mut self, vertex: Vertex) {
        let tree = self.tree;
        let mut children = Vec::with_capacity(tree.children[vertex].len());
        for &child in &tree.children[vertex] {
            if let Some(stream) = self.current(child) {
                self.streams[stream].parent = Some(vertex);
                children.push(stream);
            }
        }
        if self.options.merges_inter_dependent {
            children = self.merge_dependents(&children);
        }

        let mut best = Best {
            options: self.options,
            found: None,
            cost: 0,
        };
        // The last stream that gathers cheap children.
        let mut gathering: Option<StreamId> = None;
        for child in children {
            let candidate = match gathering {
                _ if !self.is_cheap(child) => child,
                Some(last) if self.is_cheap(last) => {
                    self.merge(child, last);
                    last
                }
                _ => {
                    gathering = Some(child);
                    child
                }
            };
            best.consider(candidate, self.streams[candidate].cost);
        }

        let Some(best) = best.found else {
            let fresh = self.streams.push(Stream {
                cost: 0,
                parent: None,
                merged_into: Cell::new(None),
                sides: Vec::new(),
            });
            self.assign(vertex, fresh);
            return;
        };
        self.streams[best].parent = None;
        self.assign(vertex, best);
        if let Some(last) = gathering
            && last != best
            && self.is_cheap(last)
        {
            self.merge(last, best);
        }
    }

    /// Merges cheap streams among `children` into those that use their values. Returns the
    /// remaining streams.
    fn merge_dependents(&mut self, children: &[StreamId]) -> Vec<StreamId> {
        let given: BTreeSet<StreamId> = children.iter().copied().collect();
        for &child in children {
            if self.streams[child].merged_into.get().is_some() {
                continue;
            }
            let mut candidates = BTreeSet::new();
            let mut sides = std::mem::take(&mut self.streams[child].sides);
            sides.retain(|&side| match self.current(side) {
                Some(stream) => {
                    if stream != child && given.contains(&stream) && self.is_cheap(stream) {
                        candidates.insert(stream);
                    }
                    stream != child
                }
                None => true,
            });
            self.streams[child].sides = sides;
            for candidate in in_visiting_order(candidates) {
                self.merge(candidate, child);
                if !self.is_cheap(child) {
                    break;
                }
            }
        }
        children
            .iter()
            .copied()
            .filter(|&child| self.streams[child].merged_into.get().is_none())
            .collect()
    }

    fn assign(&mut self, vertex: Vertex, stream: StreamId) {
        self.of_vertex[vertex] = Some(stream);
        let cost = if vertex == ROOT {
            ROOT_COST
        } else {
            self.graph[NodeId::from_index(vertex - 1)].cost
        };
        let target = &mut self.streams[stream];
        target.cost = target.cost.saturating_add(cost);
        if self.options.merges_inter_dependent {
            target.sides.extend_from_slice(&self.tree.sides[vertex]);
        }
    }

    fn merge(&mut self, from: StreamId, into: StreamId) {
        let mut sides = std::mem::take(&mut self.streams[from].sides);
        let cost = self.streams[from].cost;
        self.streams[from].merged_into.set(Some(into));
        let target = &mut self.streams[into];
        target.cost = target.cost.saturating_add(cost);
        if sides.len() > target.sides.len() {
            std::mem::swap(&mut sides, &mut target.sides);
        }
        target.sides.append(&mut sides);
    }

    /// Returns the stream that a vertex is in now, if it is in one.
    fn current(&self, vertex: Vertex) -> Option<StreamId> {
        let mut stream = self.of_vertex[vertex]?;
        while let Some(target) = self.streams[stream].merged_into.get() {
            if let Some(beyond) = self.streams[target].merged_into.get() {
                self.streams[stream].merged_into.set(Some(beyond));
            }
            stream = target;
        }
        Some(stream)
    }

    fn is_cheap(&self, stream: StreamId) -> bool {
        self.streams[stream].cost < self.options.cost_threshold
    }

    fn finish(self) -> Streams {
        // Every vertex has been built, the root last, so the fallbacks are never taken.
        let first = StreamId::from_index(0);
        let current = |vertex| self.current(vertex).unwrap_or(first);
        Streams {
            root: current(ROOT),
            of_node: self
                .graph
                .ids()
                .map(|node| current(vertex_of(Some(node))))
                .collect(),
            cost: self.streams.values().map(|stream| stream.cost).collect(),
            parent: self
                .streams
                .values()
                .map(|stream| stream.parent.map(current))
                .collect(),
        }
    }
}

/// The best stream to continue so far.
struct Best {
    options: StreamOptions,
    found: Option<StreamId>,
    /// Its cost when it was considered; it may have grown since.
    cost: i64,
}

impl Best {
    fn consider(&mut self, stream: StreamId, cost: i64) {
        if self
            .options
            .upper_cost_threshold
            .is_none_or(|upper| cost < upper)
            && cost > self.cost
        {
            (self.found, self.cost) = (Some(stream), cost);
        }
    }
}

/// Returns a set of streams in the order in which TFRT visits them: that of a hash table that is
/// never more than three quarters full.
fn in_visiting_order(streams: BTreeSet<StreamId>) -> Vec<StreamId> {
    let mut num_buckets = 64;
    while streams.len() * 4 >= num_buckets * 3 {
        num_buckets *= 2;
    }
    let mut ordered: Vec<StreamId> = streams.into_iter().collect();
    ordered.sort_by_key(|stream| stream.index().wrapping_mul(37) % num_buckets);
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(node: NodeId) -> StreamOperand {
        StreamOperand {
            definer: Some(node),
            is_chain: false,
        }
    }

    #[test]
    fn an_empty_block_has_the_stream_of_the_root() {
        let streams = assign_streams(&StreamGraph::new(), StreamOptions::default());
        assert_eq!(
            (streams.root().index(), streams.cost(streams.root())),
            (0, 1)
        );
        assert_eq!(streams.parent(streams.root()), None);
    }

    #[test]
    fn later_roots_get_lower_numbers() {
        let mut graph = StreamGraph::new();
        let roots: Vec<NodeId> = (0..3)
            .map(|_| {
                graph.push(StreamNode {
                    cost: 1,
                    operands: vec![],
                })
            })
            .collect();
        let streams = assign_streams(&graph, StreamOptions::default());
        assert_eq!(
            roots
                .iter()
                .map(|&node| streams.of(node).index())
                .collect::<Vec<_>>(),
            [2, 1, 0]
        );
        assert_eq!(streams.root().index(), 2);
    }

    #[test]
    fn cheap_children_are_gathered() {
        let mut graph = StreamGraph::new();
        let cheap: Vec<NodeId> = (0..4)
            .map(|_| {
                graph.push(StreamNode {
                    cost: 4,
                    operands: vec![],
                })
            })
            .collect();
        let dear = graph.push(StreamNode {
            cost: 30,
            operands: vec![],
        });
        let options = StreamOptions {
            cost_threshold: 10,
            ..StreamOptions::default()
        };
        let streams = assign_streams(&graph, options);
        assert_eq!(streams.of(cheap[0]), streams.of(cheap[2]));
        assert_eq!(streams.of(cheap[3]), streams.of(dear));
        assert_eq!(streams.cost(streams.of(cheap[0])), 12);
        assert_eq!(streams.cost(streams.root()), 35);
    }

    #[test]
    fn a_stream_at_the_upper_threshold_is_not_continued() {
        let mut graph = StreamGraph::new();
        let first = graph.push(StreamNode {
            cost: 5,
            operands: vec![],
        });
        let second = graph.push(StreamNode {
            cost: 5,
            operands: vec![value(first)],
        });
        let options = StreamOptions {
            upper_cost_threshold: Some(5),
            ..StreamOptions::default()
        };
        let streams = assign_streams(&graph, options);
        assert_ne!(streams.of(first), streams.of(second));
        assert_eq!(streams.parent(streams.of(second)), Some(streams.of(first)));
    }

    #[test]
    fn streams_are_visited_in_the_order_of_a_hash_table() {
        let visited = in_visiting_order((0..4).map(StreamId::from_index).collect());
        // 37 * {0, 1, 2, 3} mod 64 = {0, 37, 10, 47}.
        assert_eq!(
            visited
                .iter()
                .map(|stream| stream.index())
                .collect::<Vec<_>>(),
            [0, 2, 1, 3]
        );
    }
}
