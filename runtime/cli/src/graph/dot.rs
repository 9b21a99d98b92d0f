//! Graphs in the language of Graphviz.

use std::fmt::Write;

use tfrt_support::escape::escaped;

use super::model::{Graph, Node, Scope, color};

/// Returns the graph as text.
pub(super) fn write(graph: &Graph) -> String {
    let mut writer = Writer {
        out: String::new(),
        depth: 1,
        num_clusters: 0,
    };
    writer.out.push_str("digraph ");
    push_quoted(&graph.title, &mut writer.out);
    writer.out.push_str(" {\n");
    writer.line("node [shape=box, style=\"rounded,filled\", fontname=monospace, fontsize=10];");
    writer.line("edge [fontname=monospace, fontsize=8];");
    writer.line("graph [fontname=monospace, fontsize=10, style=rounded];");
    for function in &graph.functions {
        writer.scope(function);
    }
    for edge in &graph.edges {
        let mut attributes = String::from("tooltip=");
        push_quoted(&edge.ty, &mut attributes);
        if edge.is_chain() {
            attributes.push_str(", style=dashed");
        }
        let label = edge.label();
        if !label.is_empty() {
            attributes.push_str(", label=");
            push_quoted(&label, &mut attributes);
        }
        writer.line(&format!("n{} -> n{} [{attributes}];", edge.from, edge.to));
    }
    writer.out.push_str("}\n");
    writer.out
}

struct Writer {
    out: String,
    depth: usize,
    num_clusters: usize,
}

impl Writer {
    fn line(&mut self, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "{:width$}{text}", "", width = 2 * self.depth);
    }

    fn scope(&mut self, scope: &Scope) {
        self.open_cluster(&scope.label);
        for node in &scope.nodes {
            self.node(node);
        }
        self.close_cluster();
    }

    /// Writes a node, in a separate cluster with its regions if it has any.
    fn node(&mut self, node: &Node) {
        let has_regions = !node.regions.is_empty();
        if has_regions {
            self.open_cluster("");
        }
        let mut text = format!("n{} [label=", node.id);
        push_quoted(&node.lines.join("\n"), &mut text);
        let _ = write!(text, ", fillcolor=\"{}\"", color(node.stream));
        match node.stream {
            Some(stream) => {
                let _ = write!(text, ", tooltip=\"stream {stream}\"");
            }
            None => text.push_str(", shape=ellipse"),
        }
        text.push_str("];");
        self.line(&text);
        for region in &node.regions {
            self.scope(region);
        }
        if has_regions {
            self.close_cluster();
        }
    }

    fn open_cluster(&mut self, label: &str) {
        self.line(&format!("subgraph cluster_{} {{", self.num_clusters));
        self.num_clusters += 1;
        self.depth += 1;
        let mut text = String::from("label=");
        push_quoted(label, &mut text);
        text.push(';');
        self.line(&text);
    }

    fn close_cluster(&mut self) {
        self.depth -= 1;
        self.line("}");
    }
}

fn push_quoted(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let mut bytes = [0; 4];
                let c = escaped(c.encode_utf8(&mut bytes)).to_string();
                out.push_str(&c.replace('\\', "\\\\"));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
}
