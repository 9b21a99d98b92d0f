//! What a pipeline is, in words: how a checkpoint knows the pipeline that it belongs to.

use std::fmt;

use tfrt_async::AnyRef;
use tfrt_support::{Error, ErrorCode};

use crate::dataset::Dataset;
use crate::digest::digest_of;
use crate::function::{ElementFunction, StatefulOp};

/// The description of a dataset: every stage with the parameters that determine its elements, each
/// stage above its inputs.
///
/// Two pipelines with the same description deliver the same elements, as long as their sources do.
/// The description omits how far a stage draws ahead, and how many calls it keeps under way.
///
/// ```
/// use tfrt_data::Dataset;
///
/// let batches = Dataset::range(0, 10, 1)?.skip(2)?.batch(4)?;
/// assert_eq!(
///     batches.description().to_string(),
///     "batch (batch_size = 4, components = [], same_input_metadata = false, drop_remainder = false)\n  \
///        skip (count = 2)\n    \
///          range (element_type = i64, start = 0, stop = 10, step = 1)\n",
/// );
/// # Ok::<(), tfrt_support::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    pub(crate) nodes: Vec<Node>,
    /// What the first function with a state of its own does, if there is one.
    stateful: Option<String>,
}

/// One stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    /// How many stages stand above it.
    pub(crate) depth: u32,
    pub(crate) name: String,
    /// Names and values, in the order in which the stage tells them.
    pub(crate) attributes: Vec<(String, String)>,
}

/// What a [stage](crate::Stage) writes its description to: its attributes, then its inputs.
#[derive(Debug)]
pub struct StageDescription<'a> {
    description: &'a mut Description,
    /// The number of the node of this stage.
    node: usize,
    depth: u32,
}

impl StageDescription<'_> {
    /// Adds an attribute. What the elements depend on is one, and nothing else is.
    pub fn attribute(&mut self, name: &str, value: impl fmt::Display) {
        let attribute = (name.to_owned(), value.to_string());
        self.description.nodes[self.node].attributes.push(attribute);
    }

    /// Adds a function: its name and types and, if it is a function of a program, what it does.
    pub fn function(&mut self, function: &ElementFunction) {
        self.attribute("function", function.description());
        if let Some(digest) = function.digest() {
            self.attribute(BODY, format_args!("{digest:016x}"));
        }
        if let Some(state) = function.state() {
            for (name, of_state) in [("save", &state.save), ("restore", &state.restore)] {
                self.attribute(name, of_state.description());
                if let Some(digest) = of_state.digest() {
                    self.attribute(BODY, format_args!("{digest:016x}"));
                }
            }
            return;
        }
        let Description { nodes, stateful } = &mut *self.description;
        if stateful.is_none()
            && let Some(StatefulOp { name: op, class }) = function.stateful_op()
        {
            let stage = &nodes[self.node].name;
            *stateful = Some(format!(
                "the function {} of `{stage}` calls `{op}`, whose state (`{class}`) is not part of a checkpoint",
                function.description()
            ));
        }
    }

    /// Adds values that are given to a stage, such as a state or the bound values of a function:
    /// how many there are and, once they are available, a checksum of them.
    pub(crate) fn values(&mut self, name: &str, values: &[AnyRef]) {
        self.attribute(name, values.len());
        if let Some(digest) = digest_of(values) {
            self.attribute(DIGEST, format_args!("{digest:016x}"));
        }
    }

    /// Adds an attribute unless it has its default: pipelines that say nothing of it, and those
    /// that say the default, are the same.
    pub fn changed_attribute<T: fmt::Debug + PartialEq>(
        &mut self,
        name: &str,
        value: &T,
        default: &T,
    ) {
        if value != default {
            self.attribute(name, format_args!("{value:?}"));
        }
    }

    /// Adds an input, with everything below it.
    pub fn input(&mut self, input: &Dataset) {
        describe(input, self.depth + 1, self.description);
    }
}

fn describe(dataset: &Dataset, depth: u32, description: &mut Description) {
    let node = description.nodes.len();
    description.nodes.push(Node {
        depth,
        name: dataset.name().to_owned(),
        attributes: Vec::new(),
    });
    dataset.stage().describe(&mut StageDescription {
        description,
        node,
        depth,
    });
}

impl Dataset {
    /// Describes the last stage with its attributes.
    pub(crate) fn own_description(&self) -> String {
        let description = Description::of(self);
        let node = description.nodes.first();
        node.map(|node| node.to_string().trim_matches('`').to_owned())
            .unwrap_or_default()
    }
}

impl Description {
    pub(crate) fn of(dataset: &Dataset) -> Self {
        let mut description = Self::default();
        describe(dataset, 0, &mut description);
        description
    }

    /// Creates a description that was read from a checkpoint.
    pub(crate) fn of_nodes(nodes: Vec<Node>) -> Self {
        Self {
            nodes,
            stateful: None,
        }
    }

    /// Checks that no function of the pipeline has a state of its own, which a checkpoint would not
    /// contain.
    pub(crate) fn check_functions(&self) -> Result<(), Error> {
        match &self.stateful {
            None => Ok(()),
            Some(reason) => {
                let message = format!("the pipeline does not support checkpoints: {reason}");
                Err(Error::new(message).with_code(ErrorCode::Unimplemented))
            }
        }
    }

    /// How this pipeline differs from the one that `saved` describes: at the first stage that does.
    pub(crate) fn difference(&self, saved: &Self) -> Option<String> {
        for (index, node) in self.nodes.iter().enumerate() {
            let Some(other) = saved.nodes.get(index) else {
                return Some(format!("stage {index}: expected {node}, found none"));
            };
            if !node.is_alike(other) {
                return Some(format!("stage {index}: expected {node}, found {other}"));
            }
        }
        let other = saved.nodes.get(self.nodes.len())?;
        let index = self.nodes.len();
        Some(format!("stage {index}: expected none, found {other}"))
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}", self.name)?;
        self.fmt_attributes(f)?;
        f.write_str("`")
    }
}

/// The attribute of given values, which is missing while they are pending.
pub(crate) const DIGEST: &str = "digest";

/// The attribute of the body of a function, which is missing if the program is a file without the
/// types of attributes.
const BODY: &str = "body";

impl Node {
    /// Returns `true` if two stages are equal, as far as both are described.
    fn is_alike(&self, other: &Self) -> bool {
        let is_known = |wanted: &str| {
            let has = |node: &Self| node.attributes.iter().any(|(name, _)| name == wanted);
            has(self) && has(other)
        };
        let optional = [DIGEST, BODY].into_iter();
        let unknown: Vec<&str> = optional.filter(|name| !is_known(name)).collect();
        let attributes = |node: &'_ Self| {
            let attributes = node.attributes.iter();
            let compared = attributes.filter(|(name, _)| !unknown.contains(&&**name));
            compared.cloned().collect::<Vec<_>>()
        };
        (self.depth, &self.name) == (other.depth, &other.name)
            && attributes(self) == attributes(other)
    }

    fn fmt_attributes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.attributes.iter().enumerate() {
            let before = if index == 0 { " (" } else { ", " };
            write!(f, "{before}{name} = {value}")?;
        }
        if !self.attributes.is_empty() {
            f.write_str(")")?;
        }
        Ok(())
    }
}

/// One line for each stage, indented by its depth.
impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.nodes {
            for _ in 0..node.depth {
                f.write_str("  ")?;
            }
            f.write_str(&node.name)?;
            node.fmt_attributes(f)?;
            f.write_str("\n")?;
        }
        Ok(())
    }
}
