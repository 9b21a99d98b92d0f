//! The model of a drawing: nodes, edges between them, and scopes around them.

use std::collections::HashMap;

use tfrt_compiler::stream_analysis::analyze_block;
use tfrt_compiler::stream_analysis::graph::NodeId;
use tfrt_ir::print_attribute;
use tfrt_ir::{BlockId, Module, OpId, ValueDef, ValueId};
use tfrt_ods::CHAIN_TYPE;
use tfrt_ods::{FunctionForm, OpTraits};
use tfrt_support::entity::EntityId;

/// The number of letters of an attribute that are shown.
const MAX_ATTRIBUTE_CHARS: usize = 40;

/// Everything that is drawn at once.
#[derive(Debug)]
pub(super) struct Graph {
    /// The name of the program.
    pub(super) title: String,
    /// The functions.
    pub(super) functions: Vec<Scope>,
    /// All edges, those within regions included.
    pub(super) edges: Vec<Edge>,
}

/// A function or a region: nodes in program order, arguments first.
#[derive(Debug)]
pub(super) struct Scope {
    /// Its label.
    pub(super) label: String,
    /// Its nodes.
    pub(super) nodes: Vec<Node>,
}

/// An op, or an argument.
#[derive(Debug)]
pub(super) struct Node {
    /// Its number, unique in the graph; numbers start at 0 and follow the order of the program.
    pub(super) id: usize,
    /// The lines of its text.
    pub(super) lines: Vec<String>,
    /// The stream that it runs on; none for arguments.
    pub(super) stream: Option<usize>,
    /// The scopes inside it.
    pub(super) regions: Vec<Scope>,
}

impl Scope {
    fn num_nodes(&self) -> usize {
        let inside = self.nodes.iter().flat_map(|node| &node.regions);
        self.nodes.len() + inside.map(Self::num_nodes).sum::<usize>()
    }

    /// Appends the numbers of all nodes, in ascending order.
    fn push_ids(&self, ids: &mut Vec<usize>) {
        for node in &self.nodes {
            ids.push(node.id);
            node.regions.iter().for_each(|region| region.push_ids(ids));
        }
    }
}

/// A use of a value.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    /// The node that returns the value.
    pub(super) from: usize,
    /// The node that takes it.
    pub(super) to: usize,
    /// The index of the result, if there are several.
    pub(super) result: Option<usize>,
    /// The number of results of the node.
    pub(super) num_results: usize,
    /// The type of the value, with its shape if the type contains it.
    pub(super) ty: String,
}

impl Edge {
    /// Returns which of the results it is, if only of one.
    pub(super) fn port(&self) -> usize {
        self.result.unwrap_or(0)
    }

    /// Returns `true` if it is another use of the same value.
    pub(super) fn is_parallel_to(&self, other: &Self) -> bool {
        self.from == other.from && self.port() == other.port()
    }

    /// Returns its label: the type of the data, and the index if there are several results.
    pub(super) fn label(&self) -> String {
        let ty = if self.is_chain() { "" } else { &self.ty };
        match self.result {
            Some(result) if ty.is_empty() => result.to_string(),
            Some(result) => format!("{result}: {ty}"),
            None => ty.to_owned(),
        }
    }

    /// Returns `true` if it stands for order rather than data.
    pub(super) fn is_chain(&self) -> bool {
        self.ty == CHAIN_TYPE
    }
}

impl Graph {
    /// Returns the number of boxes.
    pub(super) fn num_nodes(&self) -> usize {
        self.functions.iter().map(Scope::num_nodes).sum()
    }

    /// Returns one graph for each function, with the same numbers.
    pub(super) fn into_functions(self) -> impl Iterator<Item = Self> {
        let edges = self.edges;
        self.functions.into_iter().map(move |function| {
            let mut ids = Vec::new();
            function.push_ids(&mut ids);
            let is_inside = |edge: &&Edge| ids.binary_search(&edge.to).is_ok();
            Self {
                title: function.label.clone(),
                edges: edges.iter().filter(is_inside).cloned().collect(),
                functions: vec![function],
            }
        })
    }

    /// Returns the graph of these functions, with at most this many nodes: functions beyond that
    /// are folded to one node each, but for a single one.
    pub(super) fn of_functions(
        module: &Module,
        title: &str,
        functions: &[OpId],
        max_nodes: usize,
    ) -> Self {
        let mut builder = Builder {
            module,
            nodes_of: HashMap::new(),
            num_nodes: 0,
            edges: Vec::new(),
        };
        let is_single = functions.len() == 1;
        let mut num_left = max_nodes;
        let functions = functions.iter().map(|&func| {
            let num_ops = module.walk(func).len();
            if num_ops <= num_left || is_single {
                num_left = num_left.saturating_sub(num_ops);
                builder.function(func)
            } else {
                builder.folded_function(func, num_ops)
            }
        });
        let functions = functions.collect();
        Self {
            title: title.to_owned(),
            functions,
            edges: builder.edges,
        }
    }
}

struct Builder<'a> {
    module: &'a Module,
    /// The node that produces each value.
    nodes_of: HashMap<ValueId, usize>,
    num_nodes: usize,
    edges: Vec<Edge>,
}

impl Builder<'_> {
    fn function(&mut self, func: OpId) -> Scope {
        let module = self.module;
        let name = module.symbol_name(func).unwrap_or_default();
        let regions = module.regions(func).iter();
        let blocks: Vec<BlockId> = regions
            .flat_map(|region| module.blocks(*region))
            .copied()
            .collect();
        let arguments = blocks
            .first()
            .map_or(&[][..], |block| module.block_arguments(*block));
        let types = arguments
            .iter()
            .map(|argument| module.type_spelling(module.value_type(*argument)));
        let label = match blocks.is_empty() {
            true => format!("@{name}"),
            false => format!("@{name}({})", types.collect::<Vec<_>>().join(", ")),
        };
        let mut scope = self.scope(label, &blocks);
        if blocks.is_empty() {
            let id = self.next_id();
            scope.nodes.push(Node {
                id,
                lines: vec!["declared only".to_owned()],
                stream: None,
                regions: Vec::new(),
            });
        }
        scope
    }

    fn folded_function(&mut self, func: OpId, num_ops: usize) -> Scope {
        let name = self.module.symbol_name(func).unwrap_or_default();
        let lines = vec![
            format!("{num_ops} ops"),
            format!("shown with --functions={name}"),
        ];
        Scope {
            label: format!("@{name}"),
            nodes: vec![Node {
                id: self.next_id(),
                lines,
                stream: None,
                regions: Vec::new(),
            }],
        }
    }

    fn scope(&mut self, label: String, blocks: &[BlockId]) -> Scope {
        let mut nodes = Vec::new();
        for &block in blocks {
            self.block(block, &mut nodes);
        }
        Scope { label, nodes }
    }

    fn block(&mut self, block: BlockId, nodes: &mut Vec<Node>) {
        let module = self.module;
        for (index, &argument) in module.block_arguments(block).iter().enumerate() {
            // Unused arguments only appear in the signature.
            if module.uses(argument).len() == 0 {
                continue;
            }
            let id = self.next_id();
            self.nodes_of.insert(argument, id);
            let ty = module.type_spelling(module.value_type(argument));
            nodes.push(Node {
                id,
                lines: vec![format!("argument {index}: {ty}")],
                stream: None,
                regions: Vec::new(),
            });
        }
        let streams = analyze_block(module, block);
        for (index, &op) in module.block_ops(block).iter().enumerate() {
            // The end of a body that returns nothing is not a kernel, and has no edges.
            let ends = module
                .op_def(op)
                .is_some_and(|def| def.traits.contains(OpTraits::TERMINATOR));
            if ends && module.operands(op).is_empty() && !nodes.is_empty() {
                continue;
            }
            let stream = streams.of(NodeId::from_index(index));
            let node = self.op(op, stream.index());
            nodes.push(node);
        }
    }

    fn op(&mut self, op: OpId, stream: usize) -> Node {
        let module = self.module;
        let id = self.next_id();
        self.nodes_of
            .extend(module.results(op).iter().map(|result| (*result, id)));
        for &operand in module.operands(op) {
            self.edge(operand, id);
        }
        let mut lines = vec![module.op_name(op).to_owned()];
        lines.extend(module.attributes(op).iter().map(|(name, value)| {
            let mut text = format!("{} = ", module.name(*name));
            print_attribute(module, *value, &mut text);
            shortened(&text)
        }));
        let names = module.op_def(op).map_or(&[][..], |def| def.functions);
        let mut names = names
            .iter()
            .filter(|function| function.form == FunctionForm::Region)
            .map(|function| function.name);
        let regions = module.regions(op).iter().map(|&region| {
            let label = names.next().unwrap_or("region").to_owned();
            self.scope(label, module.blocks(region))
        });
        Node {
            id,
            lines,
            stream: Some(stream),
            regions: regions.collect(),
        }
    }

    fn edge(&mut self, value: ValueId, to: usize) {
        let Some(&from) = self.nodes_of.get(&value) else {
            return;
        };
        let result = match self.module.value_def(value) {
            ValueDef::Result { op, index } if self.module.results(op).len() > 1 => Some(index),
            _ => None,
        };
        let num_results = match self.module.value_def(value) {
            ValueDef::Result { op, .. } => self.module.results(op).len(),
            ValueDef::Argument { .. } => 1,
        };
        let ty = self.module.type_spelling(self.module.value_type(value));
        self.edges.push(Edge {
            from,
            to,
            result,
            num_results,
            ty: ty.to_owned(),
        });
    }

    fn next_id(&mut self) -> usize {
        self.num_nodes += 1;
        self.num_nodes - 1
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(MAX_ATTRIBUTE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the colour of the boxes of a stream; there are more streams than colours.
pub(super) fn color(stream: Option<usize>) -> &'static str {
    const COLORS: [&str; 12] = [
        "#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462", "#b3de69", "#fccde5",
        "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f",
    ];
    stream.map_or("#ffffff", |stream| COLORS[stream % COLORS.len()])
}
