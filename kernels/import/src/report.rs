//! The complete list of a model's unsupported parts.

use std::collections::BTreeMap;
use std::fmt;

use crate::names::shown;

/// The number of nodes named in a line.
const MAX_SHOWN_NODES: usize = 3;

/// Unsupported features, with the nodes that need them.
///
/// ```
/// use tfrt_import::report::Unsupported;
///
/// let mut unsupported = Unsupported::default();
/// unsupported.add("ImageDecoder (version 20)", "decode", "");
/// assert_eq!(
///     unsupported.to_string(),
///     "1 operator or type is not supported\n  ImageDecoder (version 20)\t1 node: decode"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsupported(BTreeMap<String, Need>);

/// The nodes that need something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Need {
    count: usize,
    /// The first of them, as they are shown.
    nodes: Vec<String>,
    hint: String,
}

impl Unsupported {
    /// Adds a node that needs `what`, with a hint that may be empty.
    pub fn add(&mut self, what: impl Into<String>, node: &str, hint: &str) {
        let need = self.0.entry(what.into()).or_default();
        need.count += 1;
        if need.nodes.len() < MAX_SHOWN_NODES {
            need.nodes.push(shown(node).to_string());
        }
        if need.hint.is_empty() {
            need.hint = hint.to_owned();
        }
    }

    /// Returns `true` if everything is supported.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the unsupported features, and the number of nodes that need each.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.0
            .iter()
            .map(|(what, need)| (what.as_str(), need.count))
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.len() {
            1 => f.write_str("1 operator or type is not supported")?,
            count => write!(f, "{count} operators or types are not supported")?,
        }
        for (what, Need { count, nodes, hint }) in &self.0 {
            let s = if *count == 1 { "" } else { "s" };
            let more = if *count > nodes.len() { ", …" } else { "" };
            write!(f, "\n  {what}\t{count} node{s}: {}{more}", nodes.join(", "))?;
            if !hint.is_empty() {
                write!(f, "\n    {hint}")?;
            }
        }
        Ok(())
    }
}
