//! Places for everything in a graph, without Graphviz: rows of boxes, each row below all that it uses.
//!
//! A scope is laid out from the inside out. A node with regions is a box around the boxes of its regions, which stand side by side. Within a
//! row, boxes stand in the order of the middle of what they use, so that most arrows do not cross. Lengths are in pixels.

use std::collections::HashMap;

use super::model::{Graph, Node, Scope, color};

const CHAR_WIDTH: f64 = 6.2;
/// The height of a line of text.
pub(super) const LINE_HEIGHT: f64 = 13.0;
const PADDING: f64 = 8.0;
const COLUMN_GAP: f64 = 14.0;
const ROW_GAP: f64 = 30.0;

/// A drawing: shapes, those that lie behind others first.
#[derive(Debug, Default)]
pub(super) struct Drawing {
    /// The size of the whole.
    pub(super) size: Size,
    /// The boxes.
    pub(super) boxes: Vec<PlacedBox>,
    /// The arrows.
    pub(super) arrows: Vec<Arrow>,
}

/// A size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A position: from the left, from the top.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// A box with text on top.
#[derive(Clone, Debug)]
pub(super) struct PlacedBox {
    pub(super) corner: Point,
    pub(super) size: Size,
    pub(super) lines: Vec<String>,
    pub(super) fill: &'static str,
    pub(super) hint: Option<String>,
}

/// An arrow down from one box to another.
#[derive(Clone, Debug)]
pub(super) struct Arrow {
    pub(super) from: Point,
    pub(super) to: Point,
    pub(super) is_dashed: bool,
    pub(super) label: Option<String>,
    pub(super) hint: String,
}

/// Finds a place for everything.
pub(super) fn place(graph: &Graph) -> Drawing {
    let mut operands: HashMap<usize, Vec<usize>> = HashMap::new();
    for edge in &graph.edges {
        operands.entry(edge.to).or_default().push(edge.from);
    }
    let functions = graph.functions.iter();
    let functions = functions.map(|function| place_scope(function, &operands));
    let whole = side_by_side(functions.collect());
    let mut drawing = Drawing {
        size: whole.size,
        ..Drawing::default()
    };
    let mut ends: HashMap<usize, (Point, Point)> = HashMap::new();
    for (part, node) in whole.parts {
        if let Some(node) = node {
            let middle = part.corner.x + part.size.width / 2.0;
            let top = Point {
                x: middle,
                ..part.corner
            };
            let bottom = Point {
                y: part.corner.y + part.size.height,
                ..top
            };
            ends.insert(node, (top, bottom));
        }
        drawing.boxes.push(part);
    }
    for edge in &graph.edges {
        if let (Some((_, from)), Some((to, _))) = (ends.get(&edge.from), ends.get(&edge.to)) {
            drawing.arrows.push(Arrow {
                from: *from,
                to: *to,
                is_dashed: edge.is_chain(),
                label: edge.result.map(|result| result.to_string()),
                hint: edge.ty.clone(),
            });
        }
    }
    drawing
}

/// Boxes that keep their places among each other, and the nodes they stand for.
#[derive(Default)]
struct Group {
    size: Size,
    parts: Vec<(PlacedBox, Option<usize>)>,
}

impl Group {
    fn take(&mut self, other: Self, corner: Point) {
        self.size.width = self.size.width.max(corner.x + other.size.width);
        self.size.height = self.size.height.max(corner.y + other.size.height);
        self.parts
            .extend(other.parts.into_iter().map(|(mut part, node)| {
                part.corner.x += corner.x;
                part.corner.y += corner.y;
                (part, node)
            }));
    }
}

fn side_by_side(groups: Vec<Group>) -> Group {
    let mut whole = Group::default();
    let mut x = 0.0;
    for group in groups {
        let width = group.size.width;
        whole.take(group, Point { x, y: 0.0 });
        x += width + COLUMN_GAP;
    }
    whole
}

/// A box with these lines on top and a group inside.
fn frame(
    lines: Vec<String>,
    inside: Group,
    fill: &'static str,
    hint: Option<String>,
    node: Option<usize>,
) -> Group {
    let longest = lines
        .iter()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0);
    let heading = Size {
        width: longest as f64 * CHAR_WIDTH,
        height: lines.len() as f64 * LINE_HEIGHT,
    };
    let gap = if inside.parts.is_empty() {
        0.0
    } else {
        PADDING
    };
    let size = Size {
        width: heading.width.max(inside.size.width) + 2.0 * PADDING,
        height: heading.height + gap + inside.size.height + 2.0 * PADDING,
    };
    let corner = Point {
        x: (size.width - inside.size.width) / 2.0,
        y: PADDING + heading.height + gap,
    };
    let outline = PlacedBox {
        corner: Point::default(),
        size,
        lines,
        fill,
        hint,
    };
    let mut group = Group {
        size,
        parts: vec![(outline, node)],
    };
    group.take(inside, corner);
    group
}

fn place_node(node: &Node, operands: &HashMap<usize, Vec<usize>>) -> Group {
    let regions = node.regions.iter();
    let regions = regions.map(|region| place_scope(region, operands));
    let hint = node.stream.map(|stream| format!("stream {stream}"));
    let inside = side_by_side(regions.collect());
    frame(
        node.lines.clone(),
        inside,
        color(node.stream),
        hint,
        Some(node.id),
    )
}

fn place_scope(scope: &Scope, operands: &HashMap<usize, Vec<usize>>) -> Group {
    let mut row_of: HashMap<usize, usize> = HashMap::new();
    let mut rows: Vec<Vec<&Node>> = Vec::new();
    for node in &scope.nodes {
        let used = operands.get(&node.id).into_iter().flatten();
        let row = used
            .filter_map(|id| row_of.get(id))
            .max()
            .map_or(0, |row| row + 1);
        row_of.insert(node.id, row);
        if rows.len() <= row {
            rows.resize_with(row + 1, Vec::new);
        }
        rows[row].push(node);
    }
    let mut middles: HashMap<usize, f64> = HashMap::new();
    let mut placed_rows = Vec::new();
    for row in rows {
        let mut ordered: Vec<(f64, &Node)> = row
            .into_iter()
            .map(|node| (middle_of_used(node, operands, &middles), node))
            .collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups: Vec<Group> = ordered
            .iter()
            .map(|(_, node)| place_node(node, operands))
            .collect();
        let width = groups
            .iter()
            .map(|group| group.size.width + COLUMN_GAP)
            .sum::<f64>()
            - COLUMN_GAP;
        let mut x = -width / 2.0;
        for (group, (_, node)) in groups.iter().zip(&ordered) {
            middles.insert(node.id, x + group.size.width / 2.0);
            x += group.size.width + COLUMN_GAP;
        }
        placed_rows.push(side_by_side(groups));
    }
    let width = placed_rows
        .iter()
        .map(|row| row.size.width)
        .fold(0.0, f64::max);
    let mut inside = Group::default();
    let mut y = 0.0;
    for row in placed_rows {
        let corner = Point {
            x: (width - row.size.width) / 2.0,
            y,
        };
        y += row.size.height + ROW_GAP;
        inside.take(row, corner);
    }
    frame(vec![scope.label.clone()], inside, "#ffffff", None, None)
}

/// The middle of what a node uses in its scope, counted from the middle of the rows; the middle itself if it uses nothing there.
fn middle_of_used(
    node: &Node,
    operands: &HashMap<usize, Vec<usize>>,
    middles: &HashMap<usize, f64>,
) -> f64 {
    let used = operands.get(&node.id).into_iter().flatten();
    let used: Vec<f64> = used.filter_map(|id| middles.get(id)).copied().collect();
    if used.is_empty() {
        0.0
    } else {
        used.iter().sum::<f64>() / used.len() as f64
    }
}
