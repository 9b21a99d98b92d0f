//! Attention that reads heads inside of the rows of products.
//!
//! ```text
//!  [batch, row, columns] ─► Split ─► Reshape [batch, row, heads, size] ─► Transpose ─► attention
//! ```
//!
//! The kernel reads a head row by row instead, where it lies: nothing is moved for it.

use super::attention;
use super::graph::Graph;
use super::infer::{Dim, axis_of};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "heads-into-attention",
    summary: "Reads the heads of queries, keys and values inside of their rows, instead of moving \
              each head into a matrix of its own.",
    phase: Phase::Join,
    roots: &[attention::NAME],
    apply: read_inside,
}];

/// The heads of queries, keys or values inside of rows.
struct Inside {
    rows: Value,
    /// How many heads there are, where the first one begins, and how many columns each has.
    numbers: [i64; 3],
    /// The transposition of the heads.
    moved: usize,
}

fn read_inside(graph: &mut Graph, number: usize) -> Option<Value> {
    let mut inside = match graph.ints(number, "inside") {
        Some(numbers) => numbers.to_vec(),
        None => vec![0; 9],
    };
    let mut operands = graph.operands(number).to_vec();
    let mut place = graph.place(number).to_owned();
    let mut is_changed = false;
    // Queries, keys and values come first.
    for (operand, numbers) in operands.iter_mut().zip(inside.as_chunks_mut::<3>().0) {
        let found = match numbers[0] {
            0 => heads_inside(graph, *operand),
            _ => None,
        };
        if let Some(found) = found {
            *operand = found.rows;
            *numbers = found.numbers;
            place = fused_place(graph.place(found.moved), &place);
            is_changed = true;
        }
    }
    if !is_changed {
        return None;
    }
    let mut attrs = graph.attrs(number).to_vec();
    attrs.retain(|(name, _)| name != "inside");
    attrs.push(("inside".to_owned(), Attr::Ints(inside)));
    Some(graph.make(number, attention::NAME, &operands, attrs, 1, &place)[0])
}

/// Returns the rows that a value has the heads of, `[batch, heads, row, size]`.
fn heads_inside(graph: &Graph, value: Value) -> Option<Inside> {
    let moved = graph.made_by(value, "nn.Transpose")?;
    if graph.ints(moved, "perm")? != [0, 2, 1, 3] || !graph.is_used_once(value) {
        return None;
    }
    let split = graph.operand(moved, 0)?;
    let rows = graph.operand(graph.made_by(split, "nn.Reshape")?, 0)?;
    let (of_rows, of_split) = (graph.known(rows).dims?, graph.known(split).dims?);
    let (&[batch, row, Dim::Fixed(columns)], &[own_batch, own_row, Dim::Fixed(heads), size]) =
        (&of_rows[..], &of_split[..])
    else {
        return None;
    };
    let size = size.fixed().filter(|&size| size > 0)?;
    if heads == 0 || heads.checked_mul(size) != Some(columns) {
        return None;
    }
    // The reshape keeps the number of elements: one of the two extents decides about the other one
    // unless it is zero.
    let decides = |one: Dim, own: Dim| one == own && one.fixed().is_some_and(|extent| extent > 0);
    let is_same = (batch, row) == (own_batch, own_row);
    if !is_same && !decides(batch, own_batch) && !decides(row, own_row) {
        return None;
    }
    let (rows, first) = piece_of(graph, rows, columns).unwrap_or((rows, 0));
    let number = |number: usize| i64::try_from(number).ok();
    Some(Inside {
        rows,
        numbers: [number(heads)?, number(first)?, number(size)?],
        moved,
    })
}

/// Returns what rows are pieces of, and which column of it is their first one.
fn piece_of(graph: &Graph, rows: Value, columns: usize) -> Option<(Value, usize)> {
    let (split, piece) = graph.piece(rows, "nn.Split")?;
    let whole = graph.operand(split, 0)?;
    let dims = graph.known(whole).dims?;
    let axis = axis_of(graph.int(split, "axis")?, dims.len())?;
    let last = |value: Value| graph.known(value).dims?.last()?.fixed();
    let pieces = graph.op(split)?.results.iter().map(|&piece| last(piece));
    let pieces: Vec<usize> = pieces.collect::<Option<_>>()?;
    // Other sums of the pieces are errors.
    let sum = pieces
        .iter()
        .try_fold(0_usize, |sum, &len| sum.checked_add(len));
    let fits = axis + 1 == dims.len() && sum == last(whole) && pieces.get(piece) == Some(&columns);
    fits.then(|| (whole, pieces[..piece].iter().sum()))
}
