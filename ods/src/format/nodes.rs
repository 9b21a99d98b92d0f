//! A parsed format without heap allocation, as constants require.
//!
//! Nodes are in one array, each group before its content; the operands and groups that nodes name
//! are in another.

use super::DictKeyword;

/// The maximum number of elements in a format, including those in groups.
pub(super) const MAX_NODES: usize = 64;

/// The maximum total number of names in the elements of a format.
pub(super) const MAX_NAMES: usize = 128;

/// The maximum number of operands, results, attributes and functions each of an op with a format.
pub(super) const MAX_PARTS: usize = 64;

/// A parsed format.
pub(super) struct Nodes {
    nodes: [Node; MAX_NODES],
    len: usize,
    names: [Named; MAX_NAMES],
    num_names: usize,
}

/// One element. Nodes are small, since all of them are copied after parsing: numbers are below the
/// limits above.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub(super) what: What,
    /// The byte offset in the text.
    pub(super) offset: u16,
    /// `true` if it decides whether the enclosing group is written.
    pub(super) is_anchor: bool,
}

/// The kind of an element. Numbers index the lists of the declaration.
#[derive(Clone, Copy)]
pub(super) enum What {
    Literal(&'static str),
    Blank(bool),
    Operands(Names),
    TypedOperands(u8),
    Attribute {
        attribute: u8,
        is_typed: bool,
    },
    Function(u8),
    AttrDict(DictKeyword),
    KeyValues(Names),
    Pairs(u8),
    Types(Names),
    FunctionType {
        inputs: Names,
        results: Names,
        is_parenthesised: bool,
    },
    ResultCount(u8),
    KnownTypes(Names),
    LastType(Names),
    SharedType {
        attribute: u8,
        result: u8,
    },
    Region {
        function: u8,
        arguments: Names,
    },
    WholeRegion(u8),
    EmptyRegion {
        function: u8,
        arguments: Names,
        terminator: &'static str,
    },
    Expect {
        operand: u8,
        what: &'static str,
    },
    /// The number of following nodes that are in the group.
    Optional(u8),
    /// The number of following nodes that are in the first list, then of those in the second one.
    Either(u8, u8),
}

/// The names in one element, in order.
#[derive(Clone, Copy)]
pub(super) struct Names {
    start: u8,
    end: u8,
}

/// A name in an element.
#[derive(Clone, Copy)]
pub(super) enum Named {
    Operand(u8),
    Result(u8),
    Attribute(u8),
    /// A separator of groups.
    Comma,
}

impl Nodes {
    pub(super) const fn new() -> Self {
        const NOTHING: Node = Node {
            what: What::Blank(false),
            offset: 0,
            is_anchor: false,
        };
        Self {
            nodes: [NOTHING; MAX_NODES],
            len: 0,
            names: [Named::Comma; MAX_NAMES],
            num_names: 0,
        }
    }

    /// Adds a node. Returns `false` if there is no room for it.
    pub(super) const fn push(&mut self, node: Node) -> bool {
        let has_room = self.len < MAX_NODES;
        if has_room {
            self.nodes[self.len] = node;
            self.len += 1;
        }
        has_room
    }

    /// Sets the kind of the node at `index`.
    pub(super) const fn set(&mut self, index: usize, what: What) {
        self.nodes[index].what = what;
    }

    /// Adds a name. Returns `false` if there is no room for it.
    pub(super) const fn push_name(&mut self, name: Named) -> bool {
        let has_room = self.num_names < MAX_NAMES;
        if has_room {
            self.names[self.num_names] = name;
            self.num_names += 1;
        }
        has_room
    }

    pub(super) const fn num_names(&self) -> usize {
        self.num_names
    }

    /// Returns the names added since there were `start` names.
    pub(super) const fn names_from(&self, start: usize) -> Names {
        Names {
            start: start as u8,
            end: self.num_names as u8,
        }
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn get(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    /// Returns the index of the node after the one at `index` and its content.
    pub(super) const fn after(&self, index: usize) -> usize {
        match self.nodes[index].what {
            What::Optional(num_inner) => index + 1 + num_inner as usize,
            What::Either(num_first, num_second) => {
                index + 1 + num_first as usize + num_second as usize
            }
            _ => index + 1,
        }
    }

    pub(super) const fn names(&self, names: Names) -> &[Named] {
        let (until, _) = self.names.split_at(names.end as usize);
        let (_, names) = until.split_at(names.start as usize);
        names
    }
}
