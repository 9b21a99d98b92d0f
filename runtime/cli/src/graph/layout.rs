//! The layout of graphs without Graphviz: rows of boxes, each row below the boxes that it uses.
//!
//! A scope is laid out from the inside out. A node with regions is a box around the boxes of its
//! regions, which are placed side by side.
//!
//! ```text
//!   ┌───┐ ┌─────┐      row
//!   │ a │ │  b  │
//!   └─┬─┘ └─┬─┬─┘      an arrow goes straight down past the boxes of its row,
//!     │    ╭╯ │        bends between rows alone,
//!   ┌─┴─┐  │  │        and has a lane of its own in each row that it passes:
//!   │ c │  │  │        it crosses no box, and so no text of one
//!   └─┬─┘  │  ▼ 7
//! ```
//!
//! Within a row, boxes and lanes are sorted by the centre of their predecessors, so most arrows do
//! not cross. Rows that are too wide are broken, and columns that are too high continue in another
//! column: an arrow between columns is cut, and each end shows the number of the node at the other
//! end. Lengths are in pixels.

use std::collections::HashMap;

use super::model::{Edge, Graph, Node, Scope, color};

const CHAR_WIDTH: f64 = 6.2;
/// The height of a line of text.
pub(super) const LINE_HEIGHT: f64 = 13.0;
const PADDING: f64 = 8.0;
const COLUMN_GAP: f64 = 14.0;
const ROW_GAP: f64 = 34.0;
/// The width of an arrow in a row that it passes.
const LANE_WIDTH: f64 = 4.0;
/// The maximum width of a row and height of a column.
const MAX_ROW_WIDTH: f64 = 1600.0;
const MAX_COLUMN_HEIGHT: f64 = 2000.0;
/// The length of the stub of a cut arrow.
const STUB: f64 = 12.0;

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
    /// The node that it stands for.
    pub(super) node: Option<usize>,
}

/// A way down: straight from each point with an even index to the next one, and bent from there on.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrow {
    pub(super) points: Vec<Point>,
    pub(super) is_dashed: bool,
    /// Whether it ends in a tip, rather than where it is cut.
    pub(super) has_tip: bool,
    /// The label at its start.
    pub(super) label: Option<String>,
    /// The label at the cut.
    pub(super) elsewhere: Option<(Point, String)>,
    pub(super) hint: String,
}

/// Finds a place for everything.
pub(super) fn place(graph: &Graph) -> Drawing {
    let links = Links::new(graph);
    let functions = graph.functions.iter();
    let functions = functions.map(|function| place_scope(function, &links));
    let whole = in_lines(functions.collect());
    Drawing {
        size: whole.size,
        boxes: whole.boxes,
        arrows: whole.arrows,
    }
}

/// Edges as they are drawn: between two nodes of one scope. What a region uses of the scope around
/// it, its op uses.
struct Links<'a> {
    /// The edges to each node, and from where.
    into: HashMap<usize, Vec<&'a Edge>>,
}

impl<'a> Links<'a> {
    fn new(graph: &'a Graph) -> Self {
        let mut parents = HashMap::new();
        for function in &graph.functions {
            note_parents(function, None, &mut parents);
        }
        let mut into: HashMap<usize, Vec<&Edge>> = HashMap::new();
        for edge in &graph.edges {
            let Some(scope) = parents.get(&edge.from) else {
                continue;
            };
            let mut to = Some(edge.to);
            while let Some(node) = to
                && parents.get(&node) != Some(scope)
            {
                to = parents.get(&node).copied().flatten();
            }
            let Some(to) = to else {
                continue;
            };
            let known = into.entry(to).or_default();
            if !known.iter().any(|other| other.is_parallel_to(edge)) {
                known.push(edge);
            }
        }
        Self { into }
    }

    fn into(&self, node: usize) -> &[&'a Edge] {
        self.into.get(&node).map_or(&[], |edges| edges)
    }
}

/// Notes the op around each node; functions have none.
fn note_parents(scope: &Scope, parent: Option<usize>, parents: &mut HashMap<usize, Option<usize>>) {
    for node in &scope.nodes {
        parents.insert(node.id, parent);
        for region in &node.regions {
            note_parents(region, Some(node.id), parents);
        }
    }
}

/// Boxes and arrows that keep their places among each other.
#[derive(Default)]
struct Group {
    size: Size,
    boxes: Vec<PlacedBox>,
    arrows: Vec<Arrow>,
}

impl Group {
    fn take(&mut self, mut other: Self, corner: Point) {
        self.size.width = self.size.width.max(corner.x + other.size.width);
        self.size.height = self.size.height.max(corner.y + other.size.height);
        let shift = |point: &mut Point| {
            point.x += corner.x;
            point.y += corner.y;
        };
        other
            .boxes
            .iter_mut()
            .for_each(|part| shift(&mut part.corner));
        for arrow in &mut other.arrows {
            arrow.points.iter_mut().for_each(shift);
            arrow
                .elsewhere
                .iter_mut()
                .for_each(|(place, _)| shift(place));
        }
        self.boxes.append(&mut other.boxes);
        self.arrows.append(&mut other.arrows);
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

/// Side by side, in as many lines as it takes.
fn in_lines(groups: Vec<Group>) -> Group {
    let mut whole = Group::default();
    let mut corner = Point::default();
    let mut line_height = 0.0_f64;
    for group in groups {
        if corner.x > 0.0 && corner.x + group.size.width > MAX_ROW_WIDTH {
            corner = Point {
                x: 0.0,
                y: corner.y + line_height + COLUMN_GAP,
            };
            line_height = 0.0;
        }
        let size = group.size;
        whole.take(group, corner);
        corner.x += size.width + COLUMN_GAP;
        line_height = line_height.max(size.height);
    }
    whole
}

/// Returns a box with these lines on top and a group inside.
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
    let gap = if inside.boxes.is_empty() {
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
        node,
    };
    let mut group = Group {
        size,
        boxes: vec![outline],
        arrows: Vec::new(),
    };
    group.take(inside, corner);
    group
}

fn place_node(node: &Node, links: &Links<'_>) -> Group {
    let regions = node.regions.iter();
    let regions = regions.map(|region| place_scope(region, links));
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

/// An item in a row.
#[derive(Clone, Copy, PartialEq)]
enum Item {
    /// The node at this index of the scope.
    Node(usize),
    /// An arrow from this node, from this one of its results, passes.
    Lane(usize, usize),
}

fn place_scope(scope: &Scope, links: &Links<'_>) -> Group {
    let groups: Vec<Group> = scope
        .nodes
        .iter()
        .map(|node| place_node(node, links))
        .collect();
    let rows = rows_of(scope, &groups, links);
    let mut columns: Vec<Vec<Vec<usize>>> = Vec::new();
    let mut height = f64::INFINITY;
    for row in rows {
        let row_height = row_height(&row, &groups) + ROW_GAP;
        if height + row_height > MAX_COLUMN_HEIGHT {
            columns.push(Vec::new());
            height = 0.0;
        }
        height += row_height;
        if let Some(column) = columns.last_mut() {
            column.push(row);
        }
    }
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    let columns = columns
        .into_iter()
        .map(|rows| place_column(scope, &rows, &mut groups, links));
    let inside = side_by_side(columns.collect());
    frame(vec![scope.label.clone()], inside, "#ffffff", None, None)
}

fn row_height(row: &[usize], groups: &[Group]) -> f64 {
    row.iter()
        .map(|&index| groups[index].size.height)
        .fold(0.0, f64::max)
}

/// Returns the nodes of each row, by their indices: each below the nodes that it uses, with a
/// limited width.
fn rows_of(scope: &Scope, groups: &[Group], links: &Links<'_>) -> Vec<Vec<usize>> {
    let mut row_of: HashMap<usize, usize> = HashMap::new();
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (index, node) in scope.nodes.iter().enumerate() {
        let used = links.into(node.id).iter();
        let row = used
            .filter_map(|edge| row_of.get(&edge.from))
            .max()
            .map_or(0, |row| row + 1);
        row_of.insert(node.id, row);
        if rows.len() <= row {
            rows.resize_with(row + 1, Vec::new);
        }
        rows[row].push(index);
    }
    let mut broken: Vec<Vec<usize>> = Vec::new();
    for row in rows {
        let mut width = f64::INFINITY;
        for index in row {
            let own_width = groups[index].size.width + COLUMN_GAP;
            match broken.last_mut() {
                Some(last) if width + own_width <= MAX_ROW_WIDTH => {
                    last.push(index);
                    width += own_width;
                }
                _ => {
                    broken.push(vec![index]);
                    width = own_width;
                }
            }
        }
    }
    broken
}

/// Returns where the arrows of one result of a node start: from the middle, or side by side.
fn port(corner: f64, width: f64, result: usize, num_results: usize) -> f64 {
    corner + width * (result + 1) as f64 / (num_results + 1) as f64
}

fn place_column(
    scope: &Scope,
    rows: &[Vec<usize>],
    groups: &mut [Option<Group>],
    links: &Links<'_>,
) -> Group {
    let mut row_of: HashMap<usize, usize> = HashMap::new();
    for (row, indices) in rows.iter().enumerate() {
        row_of.extend(indices.iter().map(|&index| (scope.nodes[index].id, row)));
    }
    let mut items: Vec<Vec<Item>> = rows
        .iter()
        .map(|row| row.iter().map(|&index| Item::Node(index)).collect())
        .collect();
    // A lane in each row between, shared by all arrows from one result.
    for (row, indices) in rows.iter().enumerate() {
        for &index in indices {
            for edge in links.into(scope.nodes[index].id) {
                let Some(&start) = row_of.get(&edge.from) else {
                    continue;
                };
                let lane = Item::Lane(edge.from, edge.port());
                for passed in &mut items[start + 1..row] {
                    if !passed.contains(&lane) {
                        passed.push(lane);
                    }
                }
            }
        }
    }
    let mut inside = Group::default();
    let mut spots: HashMap<usize, Spot> = HashMap::new();
    let mut lanes: HashMap<(usize, usize, usize), f64> = HashMap::new();
    let (mut bands, mut y): (Vec<(f64, f64)>, f64) = (Vec::new(), 0.0);
    let mut pending: Vec<(Group, Point)> = Vec::new();
    for (row, row_items) in items.into_iter().enumerate() {
        let middle = |item: &Item| middle_of_sources(*item, row, scope, links, &spots, &lanes);
        let mut ordered: Vec<(f64, Item)> =
            row_items.iter().map(|item| (middle(item), *item)).collect();
        ordered.sort_by(|a, b| a.0.total_cmp(&b.0));
        let widths: Vec<f64> = ordered
            .iter()
            .map(|(_, item)| match item {
                Item::Node(index) => groups[*index]
                    .as_ref()
                    .map_or(0.0, |group| group.size.width),
                Item::Lane(..) => LANE_WIDTH,
            })
            .collect();
        let gaps = COLUMN_GAP * ordered.len().saturating_sub(1) as f64;
        let width = widths.iter().sum::<f64>() + gaps;
        let (mut x, mut height) = (-width / 2.0, 0.0_f64);
        for ((_, item), own_width) in ordered.into_iter().zip(widths) {
            match item {
                Item::Lane(from, result) => {
                    lanes.insert((row, from, result), x + own_width / 2.0);
                }
                Item::Node(index) => {
                    let Some(group) = groups[index].take() else {
                        continue;
                    };
                    let spot = Spot {
                        row,
                        corner: Point { x, y },
                        size: group.size,
                    };
                    height = height.max(group.size.height);
                    spots.insert(scope.nodes[index].id, spot);
                    pending.push((group, Point { x, y }));
                }
            }
            x += own_width + COLUMN_GAP;
        }
        bands.push((y, y + height));
        y += height + ROW_GAP;
    }
    let leftmost = pending.iter().map(|(_, corner)| corner.x);
    let leftmost = leftmost.chain(lanes.values().copied()).fold(0.0, f64::min);
    let arrows = arrows_of(scope, rows, links, &spots, &lanes, &bands);
    for (group, corner) in pending {
        inside.take(group, corner);
    }
    inside.arrows.extend(arrows);
    let rightmost = lanes.values().copied().fold(inside.size.width, f64::max);
    inside.size.width = rightmost;
    let mut column = Group::default();
    let corner = Point {
        x: -leftmost,
        y: STUB + LINE_HEIGHT,
    };
    column.take(inside, corner);
    // What is left of arrows into other columns hangs below the last row.
    column.size.height += STUB + LINE_HEIGHT;
    column
}

/// The position of a node.
#[derive(Clone, Copy)]
struct Spot {
    row: usize,
    corner: Point,
    size: Size,
}

/// Returns the centre of an item's predecessors, or zero, which is the centre of the rows.
fn middle_of_sources(
    item: Item,
    row: usize,
    scope: &Scope,
    links: &Links<'_>,
    spots: &HashMap<usize, Spot>,
    lanes: &HashMap<(usize, usize, usize), f64>,
) -> f64 {
    let above = |from: usize, result: usize| {
        let lane = row
            .checked_sub(1)
            .and_then(|row| lanes.get(&(row, from, result)));
        lane.copied().or_else(|| {
            let spot = spots.get(&from)?;
            Some(spot.corner.x + spot.size.width / 2.0)
        })
    };
    let sources: Vec<f64> = match item {
        Item::Lane(from, result) => above(from, result).into_iter().collect(),
        Item::Node(index) => links
            .into(scope.nodes[index].id)
            .iter()
            .filter_map(|edge| above(edge.from, edge.port()))
            .collect(),
    };
    match sources.len() {
        0 => 0.0,
        count => sources.iter().sum::<f64>() / count as f64,
    }
}

fn arrows_of(
    scope: &Scope,
    rows: &[Vec<usize>],
    links: &Links<'_>,
    spots: &HashMap<usize, Spot>,
    lanes: &HashMap<(usize, usize, usize), f64>,
    bands: &[(f64, f64)],
) -> Vec<Arrow> {
    let mut arrows = Vec::new();
    let mut is_labelled: HashMap<(usize, usize), bool> = HashMap::new();
    for &index in rows.iter().flatten() {
        let node = &scope.nodes[index];
        let edges = links.into(node.id);
        let Some(to) = spots.get(&node.id) else {
            continue;
        };
        for (place, edge) in edges.iter().enumerate() {
            let x = port(to.corner.x, to.size.width, place, edges.len());
            let arrow = Arrow {
                is_dashed: edge.is_chain(),
                hint: edge.ty.clone(),
                ..Arrow::default()
            };
            let Some(from) = spots.get(&edge.from) else {
                // It comes from another column.
                let start = Point {
                    x,
                    y: to.corner.y - STUB,
                };
                arrows.push(Arrow {
                    points: vec![start, Point { x, y: to.corner.y }],
                    has_tip: true,
                    elsewhere: Some((start, format!("from {}", edge.from))),
                    ..arrow
                });
                continue;
            };
            let start_x = port(
                from.corner.x,
                from.size.width,
                edge.port(),
                edge.num_results.max(1),
            );
            let at = |x: f64, y: f64| Point { x, y };
            let mut points = vec![
                at(start_x, from.corner.y + from.size.height),
                at(start_x, bands[from.row].1),
            ];
            for (row, band) in bands.iter().enumerate().take(to.row).skip(from.row + 1) {
                let Some(&lane) = lanes.get(&(row, edge.from, edge.port())) else {
                    continue;
                };
                points.extend([at(lane, band.0), at(lane, band.1)]);
            }
            points.extend([at(x, to.corner.y), at(x, to.corner.y)]);
            let is_known = is_labelled.insert((edge.from, edge.port()), true);
            arrows.push(Arrow {
                points,
                has_tip: true,
                label: is_known.is_none().then(|| edge.label()),
                ..arrow
            });
        }
    }
    arrows.extend(stubs_of(scope, links, spots));
    arrows
}

/// Returns the stubs at the start of arrows into other columns.
fn stubs_of(scope: &Scope, links: &Links<'_>, spots: &HashMap<usize, Spot>) -> Vec<Arrow> {
    let mut targets: HashMap<(usize, usize), (&Edge, Vec<usize>)> = HashMap::new();
    for node in &scope.nodes {
        if spots.contains_key(&node.id) {
            continue;
        }
        for edge in links.into(node.id) {
            let known = targets.entry((edge.from, edge.port()));
            known.or_insert_with(|| (edge, Vec::new())).1.push(node.id);
        }
    }
    let mut targets: Vec<_> = targets.into_values().collect();
    targets.sort_by_key(|(edge, _)| (edge.from, edge.port()));
    let stub = |(edge, targets): (&Edge, Vec<usize>)| {
        let from = spots.get(&edge.from)?;
        let x = port(
            from.corner.x,
            from.size.width,
            edge.port(),
            edge.num_results.max(1),
        );
        let y = from.corner.y + from.size.height;
        let end = Point { x, y: y + STUB };
        let more = match targets.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        Some(Arrow {
            points: vec![Point { x, y }, end],
            is_dashed: edge.is_chain(),
            elsewhere: Some((
                Point {
                    x,
                    y: end.y + LINE_HEIGHT - 4.0,
                },
                format!("to {}{more}", targets[0]),
            )),
            hint: edge.ty.clone(),
            ..Arrow::default()
        })
    };
    targets.into_iter().filter_map(stub).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: usize, regions: Vec<Scope>) -> Node {
        let mut lines = vec![format!("t.op{id}")];
        lines.resize(1 + id % 3, "attribute = 1 : i32".into());
        Node {
            id,
            lines,
            stream: Some(id % 5),
            regions,
        }
    }

    fn edge(from: usize, to: usize, result: Option<usize>) -> Edge {
        Edge {
            from,
            to,
            result,
            num_results: if result.is_some() { 2 } else { 1 },
            ty: "i32".into(),
        }
    }

    fn graph(nodes: Vec<Node>, edges: Vec<Edge>) -> Graph {
        let label = "@f".into();
        Graph {
            title: "p".into(),
            functions: vec![Scope { label, nodes }],
            edges,
        }
    }

    /// Points of an arrow, close to each other.
    fn samples(arrow: &Arrow) -> Vec<Point> {
        let mut samples = Vec::new();
        for (index, pair) in arrow.points.windows(2).enumerate() {
            let (from, to) = (pair[0], pair[1]);
            for step in 0..=20 {
                let t = f64::from(step) / 20.0;
                // Odd ones bend: they leave and arrive straight down.
                let share = if index % 2 == 1 {
                    t * t * (3.0 - 2.0 * t)
                } else {
                    t
                };
                samples.push(Point {
                    x: from.x + share * (to.x - from.x),
                    y: from.y + (to.y - from.y) * t,
                });
            }
        }
        samples
    }

    /// Returns `true` if a point is inside of a box, rather than at its edge.
    fn is_inside(point: Point, part: &PlacedBox) -> bool {
        let (x, y) = (point.x - part.corner.x, point.y - part.corner.y);
        0.5 < x && x < part.size.width - 0.5 && 0.5 < y && y < part.size.height - 0.5
    }

    fn check_no_arrow_crosses_a_box(drawing: &Drawing) {
        for arrow in &drawing.arrows {
            let ends = [arrow.points.first(), arrow.points.last()].map(Option::unwrap);
            for part in drawing.boxes.iter().filter(|part| part.node.is_some()) {
                // A region lies in the box of its op, arrows inside included.
                if ends.iter().all(|end| is_inside(**end, part)) {
                    continue;
                }
                for point in samples(arrow) {
                    assert!(!is_inside(point, part), "{arrow:?} crosses {part:?}");
                }
            }
        }
    }

    fn check_nothing_overlaps(drawing: &Drawing) {
        let plain: Vec<&PlacedBox> = drawing
            .boxes
            .iter()
            .filter(|part| part.node.is_some())
            .collect();
        for (index, part) in plain.iter().enumerate() {
            for other in &plain[index + 1..] {
                let apart = part.corner.x + part.size.width <= other.corner.x
                    || other.corner.x + other.size.width <= part.corner.x
                    || part.corner.y + part.size.height <= other.corner.y
                    || other.corner.y + other.size.height <= part.corner.y;
                let is_around = is_inside(other.corner, part) || is_inside(part.corner, other);
                assert!(apart || is_around, "{part:?} overlaps {other:?}");
            }
        }
    }

    #[test]
    fn arrows_pass_boxes_and_never_cross_them() {
        let nodes = (0..40).map(|id| node(id, Vec::new())).collect();
        let mut edges: Vec<Edge> = (1..40)
            .map(|id: usize| edge(id.saturating_sub(1 + id % 2), id, None))
            .collect();
        edges.extend((5..40).map(|id| edge(0, id, Some(id % 2))));
        edges.extend((7..40).map(|id| edge(id - 6, id, None)));
        let drawing = place(&graph(nodes, edges));
        check_no_arrow_crosses_a_box(&drawing);
        check_nothing_overlaps(&drawing);
        let labels = drawing
            .arrows
            .iter()
            .filter_map(|arrow| arrow.label.as_ref());
        assert!(labels.clone().any(|label| label == "1: i32"));
        assert!(labels.clone().any(|label| label == "i32"));
    }

    #[test]
    fn what_a_region_uses_of_outside_its_op_uses() {
        let inner = Scope {
            label: "body".into(),
            nodes: vec![node(2, Vec::new()), node(3, Vec::new())],
        };
        let nodes = vec![
            node(0, Vec::new()),
            node(1, vec![inner]),
            node(4, Vec::new()),
        ];
        let edges = vec![
            edge(0, 2, None),
            edge(0, 3, None),
            edge(2, 3, None),
            edge(1, 4, None),
        ];
        let drawing = place(&graph(nodes, edges));
        assert_eq!(
            drawing.arrows.len(),
            3,
            "one to the op, one inside, one out of it"
        );
        check_no_arrow_crosses_a_box(&drawing);
        check_nothing_overlaps(&drawing);
    }

    #[test]
    fn wide_rows_and_high_columns_are_broken() {
        let wide = place(&graph(
            (0..500).map(|id| node(id, Vec::new())).collect(),
            Vec::new(),
        ));
        let nodes = (0..500).map(|id| node(id, Vec::new())).collect();
        let mut edges: Vec<Edge> = (1..500).map(|id| edge(id - 1, id, None)).collect();
        edges.extend((100..500).map(|id| edge(3, id, None)));
        let deep = place(&graph(nodes, edges));
        assert!(wide.size.width < 2.0 * MAX_ROW_WIDTH, "{:?}", wide.size);
        assert!(
            deep.size.height < 1.2 * MAX_COLUMN_HEIGHT,
            "{:?}",
            deep.size
        );
        for drawing in [&wide, &deep] {
            check_no_arrow_crosses_a_box(drawing);
            check_nothing_overlaps(drawing);
        }
        let cut = deep
            .arrows
            .iter()
            .filter_map(|arrow| arrow.elsewhere.as_ref());
        let texts: Vec<&str> = cut.map(|(_, text)| &**text).collect();
        assert!(texts.contains(&"from 3"));
        assert!(
            texts
                .iter()
                .any(|text| text.starts_with("to ") && text.ends_with(" more"))
        );
        // Both ends of each cut say where it goes on.
        let whole = deep.arrows.iter().filter(|arrow| !arrow.has_tip);
        assert!(whole.clone().count() > 0 && whole.clone().all(|arrow| arrow.elsewhere.is_some()));
    }
}
