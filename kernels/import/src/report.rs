//! The complete list of a model's unsupported parts.

use std::collections::BTreeMap;
use std::fmt;

use crate::names::shown;

/// The number of nodes that are named after an unsupported feature.
const MAX_SHOWN_NODES: usize = 3;

/// The kinds of unsupported features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum UnsupportedKind {
    /// An operator.
    Operator,
    /// A version of an operator, or an operator that the version of the model does not have.
    OperatorVersion,
    /// An element type, or a kind of values.
    Type,
    /// A version of the operator set.
    Opset,
    /// A form of an operator that is otherwise supported.
    Form,
}

impl UnsupportedKind {
    const ALL: [Self; 5] = [
        Self::Operator,
        Self::OperatorVersion,
        Self::Type,
        Self::Opset,
        Self::Form,
    ];

    /// Returns its name, in the singular.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::OperatorVersion => "operator version",
            Self::Type => "type",
            Self::Opset => "opset",
            Self::Form => "operator form",
        }
    }
}

/// Unsupported features, with the nodes that need them.
///
/// ```
/// use tfrt_import::report::{Unsupported, UnsupportedKind};
///
/// let mut unsupported = Unsupported::default();
/// unsupported.add(UnsupportedKind::Operator, "ImageDecoder (version 20)", "decode", "");
/// assert_eq!(
///     unsupported.to_string(),
///     "1 operator is not supported\n  ImageDecoder (version 20)\t1 node: decode"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsupported(BTreeMap<String, Need>);

/// The nodes that need something.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Need {
    kind: UnsupportedKind,
    /// As they are shown.
    nodes: Vec<String>,
    hint: String,
}

/// An unsupported feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsupportedFeature<'a> {
    /// Its kind.
    pub kind: UnsupportedKind,
    /// Its description, such as `ImageDecoder (version 20)`.
    pub what: &'a str,
    /// The nodes that need it, as messages show them.
    pub nodes: &'a [String],
    /// What helps, or an empty text.
    pub hint: &'a str,
}

impl Unsupported {
    /// Adds a node that needs `what`, with a hint that may be empty.
    pub fn add(&mut self, kind: UnsupportedKind, what: impl Into<String>, node: &str, hint: &str) {
        let need = self.0.entry(what.into()).or_insert_with(|| Need {
            kind,
            nodes: Vec::new(),
            hint: String::new(),
        });
        need.nodes.push(shown(node).to_string());
        if need.hint.is_empty() {
            need.hint = hint.to_owned();
        }
    }

    /// Returns `true` if everything is supported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the unsupported features, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = UnsupportedFeature<'_>> {
        self.0.iter().map(|(what, need)| UnsupportedFeature {
            kind: need.kind,
            what,
            nodes: &need.nodes,
            hint: &need.hint,
        })
    }

    /// Returns `true` if a feature is needed by more nodes than messages name.
    #[must_use]
    pub fn has_more_nodes(&self) -> bool {
        self.iter()
            .any(|feature| feature.nodes.len() > MAX_SHOWN_NODES)
    }

    /// Returns a text that names every node.
    #[must_use]
    pub fn with_all_nodes(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| self.write(f, usize::MAX))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, max_nodes: usize) -> fmt::Result {
        let counts = UnsupportedKind::ALL.map(|kind| {
            let count = self.iter().filter(|feature| feature.kind == kind).count();
            (kind, count)
        });
        let counts: Vec<String> = counts
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(kind, count)| {
                let s = if count == 1 { "" } else { "s" };
                format!("{count} {}{s}", kind.name())
            })
            .collect();
        let verb = if self.0.len() == 1 { "is" } else { "are" };
        let counts = match counts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, others)) => format!("{} and {last}", others.join(", ")),
            None => "0 operators".to_owned(),
        };
        write!(f, "{counts} {verb} not supported")?;
        for feature in self.iter() {
            let count = feature.nodes.len();
            let s = if count == 1 { "" } else { "s" };
            let named = feature.nodes[..count.min(max_nodes)].join(", ");
            let more = if count > max_nodes { ", …" } else { "" };
            write!(f, "\n  {}\t{count} node{s}: {named}{more}", feature.what)?;
            if !feature.hint.is_empty() {
                write!(f, "\n    {}", feature.hint)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, MAX_SHOWN_NODES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_counted_by_kind_and_the_first_nodes_are_named() {
        let mut unsupported = Unsupported::default();
        for node in ["a", "b", "c", "d"] {
            unsupported.add(UnsupportedKind::Operator, "x.Frob (version 1)", node, "");
        }
        unsupported.add(UnsupportedKind::Operator, "Decode (version 2)", "e", "why");
        unsupported.add(UnsupportedKind::Type, "Cast to FLOAT8E4M3FN", "f", "");
        assert!(unsupported.has_more_nodes());
        assert_eq!(
            unsupported.to_string(),
            "2 operators and 1 type are not supported\n  \
             Cast to FLOAT8E4M3FN\t1 node: f\n  \
             Decode (version 2)\t1 node: e\n    why\n  \
             x.Frob (version 1)\t4 nodes: a, b, c, …"
        );
        let all = unsupported.with_all_nodes().to_string();
        assert!(all.ends_with("4 nodes: a, b, c, d"), "{all}");
    }
}
