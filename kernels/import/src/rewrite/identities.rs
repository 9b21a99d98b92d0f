//! Ops that do nothing, and pairs of ops that are one.

use tfrt_support::DType;

use super::graph::Graph;
use super::infer::Dim;
use super::matching::{
    constant_integers, is_real, leaves_shape, orders, uniform, uniform_number, with_number,
};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, OpKind, Value};

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "drop-identity",
        summary: "Drops an op that returns its operand.",
        phase: Phase::Simplify,
        roots: &["nn.Identity"],
        apply: |graph, number| graph.operand(number, 0),
    },
    RewriteRule {
        name: "drop-product-with-one",
        summary: "Drops a product with one.",
        phase: Phase::Simplify,
        roots: &["tf.Mul"],
        apply: |graph, number| neutral(graph, number, 1.0),
    },
    RewriteRule {
        name: "drop-sum-with-zero",
        summary: "Drops a sum with zero. The sign of a zero may change.",
        phase: Phase::Simplify,
        roots: &["tf.AddV2"],
        apply: |graph, number| neutral(graph, number, 0.0),
    },
    RewriteRule {
        name: "drop-difference-from-zero",
        summary: "Drops the subtraction of zero.",
        phase: Phase::Simplify,
        roots: &["tf.Sub"],
        apply: |graph, number| neutral_on_the_right(graph, number, 0.0),
    },
    RewriteRule {
        name: "drop-quotient-by-one",
        summary: "Drops a division by one.",
        phase: Phase::Simplify,
        roots: &["nn.Div"],
        apply: |graph, number| neutral_on_the_right(graph, number, 1.0),
    },
    RewriteRule {
        name: "drop-cast",
        summary: "Drops a conversion to the element type that a value has.",
        phase: Phase::Simplify,
        roots: &["tfrt.Cast"],
        apply: cast,
    },
    RewriteRule {
        name: "join-casts",
        summary: "Converts once instead of twice, if the first conversion loses nothing.",
        phase: Phase::Simplify,
        roots: &["tfrt.Cast"],
        apply: join_casts,
    },
    RewriteRule {
        name: "power-to-product",
        summary: "Computes the second power as a product, and the power one half as a square root.",
        phase: Phase::Simplify,
        roots: &["nn.Pow"],
        apply: power,
    },
    RewriteRule {
        name: "join-transposes",
        summary: "Joins two transpositions, and drops one that changes nothing.",
        phase: Phase::Simplify,
        roots: &["nn.Transpose"],
        apply: join_transposes,
    },
    RewriteRule {
        name: "scale-before-transpose",
        summary: "Multiplies with a number before a transposition, which then joins what follows.",
        phase: Phase::Simplify,
        roots: &["nn.Div", "tf.Mul"],
        apply: scale_before_transpose,
    },
    RewriteRule {
        name: "transpose-into-product",
        summary: "Reads a transposed factor of a matrix product in place.",
        phase: Phase::Simplify,
        roots: &["nn.MatMul"],
        apply: transpose_into_product,
    },
    RewriteRule {
        name: "join-reshapes",
        summary: "Drops a reshape before another one.",
        phase: Phase::Simplify,
        roots: &["nn.Reshape"],
        apply: join_reshapes,
    },
    RewriteRule {
        name: "pad-into-window",
        summary: "Makes the padding of zeros before a convolution or a mean its own, and that of \
                  -∞ before a maximum.",
        phase: Phase::Simplify,
        roots: &["nn.AveragePool", "nn.Conv", "nn.MaxPool"],
        apply: pad_into_window,
    },
];

fn neutral(graph: &mut Graph, number: usize, neutral: f64) -> Option<Value> {
    let (x, found) = with_number(graph, number)?;
    (found == neutral).then_some(x)
}

fn neutral_on_the_right(graph: &mut Graph, number: usize, neutral: f64) -> Option<Value> {
    let &[x, right] = graph.operands(number) else {
        return None;
    };
    (uniform(graph, right, x)? == neutral).then_some(x)
}

fn cast(graph: &mut Graph, number: usize) -> Option<Value> {
    let x = graph.operand(number, 0)?;
    match graph.attr(number, "DstT")? {
        Attr::Type(to) if graph.known(x).dtype == Some(*to) => Some(x),
        _ => None,
    }
}

fn join_casts(graph: &mut Graph, number: usize) -> Option<Value> {
    let narrow = graph.operand(number, 0)?;
    let before = graph.made_by(narrow, "tfrt.Cast")?;
    let x = graph.operand(before, 0)?;
    let (from, through) = (graph.known(x).dtype?, graph.known(narrow).dtype?);
    let &Attr::Type(to) = graph.attr(number, "DstT")? else {
        return None;
    };
    if !is_lossless(from, through, to) {
        return None;
    }
    if from == to {
        return Some(x);
    }
    let place = fused_place(graph.place(before), graph.place(number));
    let attrs = graph.attrs(number).to_vec();
    Some(graph.make(number, "tfrt.Cast", &[x], attrs, 1, &place)[0])
}

/// Returns `true` if a conversion by way of another type has the result of the direct one.
fn is_lossless(from: DType, through: DType, to: DType) -> bool {
    /// Whether a type is real or signed, and how many digits its greatest number has at least.
    fn digits(dtype: DType) -> Option<(bool, bool, u32)> {
        Some(match dtype {
            DType::I1 => (false, false, 1),
            DType::Ui8 => (false, false, 8),
            DType::Ui16 => (false, false, 16),
            DType::Ui32 => (false, false, 32),
            DType::Ui64 => (false, false, 64),
            DType::I8 => (false, true, 7),
            DType::I16 => (false, true, 15),
            DType::I32 => (false, true, 31),
            DType::I64 => (false, true, 63),
            DType::Bf16 => (true, true, 8),
            DType::F16 => (true, true, 11),
            DType::F32 => (true, true, 24),
            DType::F64 => (true, true, 53),
            _ => return None,
        })
    }
    let (Some(own), Some(inner), Some(last)) = (digits(from), digits(through), digits(to)) else {
        return false;
    };
    let (is_real, is_signed, num_digits) = own;
    let holds_all = match (is_real, inner.0) {
        // The exponents of the two halves differ.
        (true, true) => num_digits < inner.2 && through != DType::F16 && through != DType::Bf16,
        (true, false) => false,
        (false, _) => num_digits <= inner.2 && (inner.1 || !is_signed),
    };
    // Integers keep their low bits, but real numbers become the nearest one.
    let is_same_way = is_real || !inner.0 || last.0 || from == to || from == DType::I1;
    holds_all && through != DType::I1 && is_same_way
}

fn power(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[x, exponent] = graph.operands(number) else {
        return None;
    };
    let (name, operands) = match uniform(graph, exponent, x)? {
        1.0 => return Some(x),
        // Products of bf16 have no kernel.
        2.0 if graph
            .known(x)
            .dtype
            .is_some_and(|dtype| dtype != DType::Bf16) =>
        {
            ("tf.Mul", vec![x, x])
        }
        0.5 if is_real(graph, x) => ("nn.Sqrt", vec![x]),
        _ => return None,
    };
    let place = graph.place(number).to_owned();
    Some(graph.make(number, name, &operands, Vec::new(), 1, &place)[0])
}

/// The most dimensions of a tensor: a permutation of more is an error of the run.
const MAX_RANK: usize = 32;

/// Returns the permutation of a transposition; negative numbers are resolved.
pub(super) fn permutation(graph: &Graph, number: usize) -> Option<Vec<usize>> {
    let perm = graph.ints(number, "perm")?;
    let rank = perm.len();
    if rank > MAX_RANK {
        return None;
    }
    let mut found = Vec::with_capacity(rank);
    for &axis in perm {
        let axis = if axis < 0 {
            axis.checked_add(i64::try_from(rank).ok()?)?
        } else {
            axis
        };
        let axis = usize::try_from(axis).ok().filter(|&axis| axis < rank)?;
        if found.contains(&axis) {
            return None;
        }
        found.push(axis);
    }
    Some(found)
}

/// Returns `true` if a value has a rank for certain. A transposition fails for any other one.
pub(super) fn has_rank(graph: &Graph, value: Value, rank: usize) -> bool {
    graph.known(value).rank() == Some(rank)
}

fn join_transposes(graph: &mut Graph, number: usize) -> Option<Value> {
    let x = graph.operand(number, 0)?;
    let second = permutation(graph, number)?;
    if second.is_sorted() && has_rank(graph, x, second.len()) {
        return Some(x);
    }
    let before = graph.made_by(x, "nn.Transpose")?;
    let first = permutation(graph, before)?;
    if first.len() != second.len() {
        return None;
    }
    let source = graph.operand(before, 0)?;
    let both: Vec<usize> = second.iter().map(|&axis| first[axis]).collect();
    if both.is_sorted() && has_rank(graph, source, both.len()) {
        return Some(source);
    }
    let perm = both.into_iter().map(|axis| axis as i64).collect();
    let place = fused_place(graph.place(before), graph.place(number));
    let attrs = vec![("perm".to_owned(), Attr::Ints(perm))];
    Some(graph.make(number, "nn.Transpose", &[source], attrs, 1, &place)[0])
}

fn scale_before_transpose(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[a, b] = graph.operands(number) else {
        return None;
    };
    let name = match &graph.op(number)?.kind {
        OpKind::Call { name, .. } => name.clone(),
        _ => return None,
    };
    let sides: &[(usize, Value, Value)] = match name.as_str() {
        "nn.Div" => &[(0, a, b)],
        _ => &[(0, a, b), (1, b, a)],
    };
    let (side, before, source) = sides.iter().find_map(|&(side, x, factor)| {
        let before = graph.made_by(x, "nn.Transpose")?;
        let source = graph.operand(before, 0)?;
        let perm = permutation(graph, before)?;
        // A number has no dimensions that the transposition would move.
        let is_number = graph.constant(factor)?.num_elements() == 1;
        let is_number = is_number && leaves_shape(graph, factor, x);
        (is_number && graph.is_used_once(x) && has_rank(graph, source, perm.len()))
            .then_some((side, before, source))
    })?;
    let (place, of) = (
        graph.place(number).to_owned(),
        graph.place(before).to_owned(),
    );
    let (attrs, moved) = (graph.attrs(number).to_vec(), graph.attrs(before).to_vec());
    let mut operands = [a, b];
    operands[side] = source;
    let scaled = graph.make(number, &name, &operands, attrs, 1, &place)[0];
    Some(graph.make(number, "nn.Transpose", &[scaled], moved, 1, &of)[0])
}

/// A transposition that moves the last dimension to the place before it: the matrices are read
/// transposed instead, and the others are moved if need be.
fn transpose_into_product(graph: &mut Graph, number: usize) -> Option<Value> {
    if graph.ints(number, "slots").is_some() {
        return None;
    }
    let (side, before, mut perm) = (0..2).find_map(|side| {
        let before = graph.made_by(graph.operand(number, side)?, "nn.Transpose")?;
        let perm = permutation(graph, before)?;
        let rank = perm.len();
        (rank >= 2 && perm[rank - 2] == rank - 1).then_some((side, before, perm))
    })?;
    let source = graph.operand(before, 0)?;
    if !has_rank(graph, source, perm.len()) {
        return None;
    }
    let flag = ["transpose_a", "transpose_b"][side];
    let place = graph.place(number).to_owned();
    let rank = perm.len();
    perm.swap(rank - 1, rank - 2);
    let factor = if perm.is_sorted() {
        source
    } else {
        let perm = perm.into_iter().map(|axis| axis as i64).collect();
        let attrs = vec![("perm".to_owned(), Attr::Ints(perm))];
        let of = graph.place(before).to_owned();
        graph.make(number, "nn.Transpose", &[source], attrs, 1, &of)[0]
    };
    let mut operands = graph.operands(number).to_vec();
    operands[side] = factor;
    let is_set = graph.flag(number, flag);
    let mut attrs = graph.attrs(number).to_vec();
    attrs.retain(|(name, _)| name != flag);
    if !is_set {
        attrs.push((flag.to_owned(), Attr::Bool(true)));
    }
    Some(graph.make(number, "nn.MatMul", &operands, attrs, 1, &place)[0])
}

fn join_reshapes(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[x, shape] = graph.operands(number) else {
        return None;
    };
    let wanted = constant_integers(graph, shape)?;
    // A zero stands for a dimension of the operand.
    if wanted.contains(&0) {
        return None;
    }
    let before = graph
        .made_by(x, "nn.Reshape")
        .or_else(|| graph.made_by(x, "nn.Flatten"))?;
    let source = graph.operand(before, 0)?;
    if !always_fits(graph, before, source) {
        return None;
    }
    let place = fused_place(graph.place(before), graph.place(number));
    let attrs = graph.attrs(number).to_vec();
    Some(graph.make(number, "nn.Reshape", &[source, shape], attrs, 1, &place)[0])
}

/// Returns `true` if a reshape cannot fail.
fn always_fits(graph: &Graph, number: usize, source: Value) -> bool {
    let Some(rank) = graph.known(source).rank() else {
        return false;
    };
    if graph.name(number) == Some("nn.Flatten") {
        let axis = graph.int(number, "axis").unwrap_or(1);
        return axis.unsigned_abs() <= rank as u64;
    }
    let wanted = graph.operand(number, 1);
    let Some(wanted) = wanted.and_then(|shape| constant_integers(graph, shape)) else {
        return false;
    };
    let num_elements = |dims: &[Dim]| {
        let mut extents = dims.iter().map(|dim| dim.fixed());
        extents.try_fold(1_usize, |all, extent| all.checked_mul(extent?))
    };
    let own = graph.known(source).dims;
    if let Some(own) = own.as_deref().and_then(num_elements) {
        let fixed = wanted.iter().filter(|&&extent| extent != -1);
        let mut extents = fixed.map(|&extent| usize::try_from(extent).ok());
        let known = extents.try_fold(1_usize, |all, extent| all.checked_mul(extent?));
        return match known {
            Some(known @ 1..) if wanted.contains(&-1) => own.is_multiple_of(known),
            Some(known) => known == own && !wanted.contains(&0),
            None => false,
        };
    }
    // One dimension takes whatever there is.
    let unknown = wanted.iter().filter(|&&extent| extent == -1).count();
    unknown == 1 && wanted.iter().all(|&extent| extent == -1 || extent == 1)
}

fn pad_into_window(graph: &mut Graph, number: usize) -> Option<Value> {
    let x = graph.operand(number, 0)?;
    let pad = graph.made_by(x, "nn.Pad")?;
    if graph.text(pad, "mode") != Some("constant") || graph.attr(number, "auto_pad").is_some() {
        return None;
    }
    if graph.flag(number, "channels_last") {
        return None;
    }
    let (source, pads) = (graph.slot(pad, 0)?, graph.slot(pad, 1)?);
    if graph.slot(pad, 3).is_some() {
        return None;
    }
    let filler = match graph.slot(pad, 2) {
        Some(value) => uniform_number(graph.constant(value)?)?,
        None => 0.0,
    };
    let is_max = graph.name(number) == Some("nn.MaxPool");
    // A window behind the padding, which is rounded up to, goes.
    let is_plain_max = !graph.flag(number, "indices")
        && !graph.flag(number, "ceil_mode")
        && is_real(graph, source);
    if is_max && !(is_plain_max && filler == f64::NEG_INFINITY) || !is_max && filler != 0.0 {
        return None;
    }
    let added = constant_integers(graph, pads)?;
    let rank = graph.known(source).rank()?;
    if rank < 3 || added.len() != 2 * rank || added.iter().any(|&count| count < 0) {
        return None;
    }
    let (before, after) = added.split_at(rank);
    if before[..2] != [0, 0] || after[..2] != [0, 0] {
        return None;
    }
    let own = graph.ints(number, "pads").map(<[i64]>::to_vec);
    let spatial = rank - 2;
    let is_mean = graph.name(number) == Some("nn.AveragePool");
    if is_mean {
        // Its own padding may not count, and what it rounds up to never does.
        let has_padding = own
            .as_ref()
            .is_some_and(|own| own.iter().any(|&count| count != 0));
        let is_norm = graph.int(number, "p").unwrap_or(0) != 0;
        if has_padding || is_norm || graph.flag(number, "ceil_mode") {
            return None;
        }
    }
    let own = own.unwrap_or_else(|| vec![0; 2 * spatial]);
    if own.len() != 2 * spatial {
        return None;
    }
    let all = before[2..].iter().chain(&after[2..]);
    let pads: Option<Vec<i64>> = own
        .iter()
        .zip(all)
        .map(|(own, more)| own.checked_add(*more))
        .collect();
    let pads = pads?;
    let place = fused_place(graph.place(pad), graph.place(number));
    let mut operands = graph.operands(number).to_vec();
    operands[0] = source;
    let mut attrs = graph.attrs(number).to_vec();
    attrs.retain(|(name, _)| name != "pads" && name != "count_include_pad");
    attrs.push(("pads".to_owned(), Attr::Ints(pads)));
    let name = if is_mean {
        attrs.push(("count_include_pad".to_owned(), Attr::Bool(true)));
        "nn.AveragePool"
    } else if is_max {
        "nn.MaxPool"
    } else {
        "nn.Conv"
    };
    Some(graph.make(number, name, &operands, attrs, 1, &place)[0])
}

/// Returns the operands of a sum of which one is a constant vector of a length.
pub(super) fn vector_summand(graph: &Graph, number: usize) -> Vec<(Value, Value)> {
    let is_constant = |value: &Value| graph.constant(*value).is_some();
    let orders = orders(graph, number);
    orders
        .into_iter()
        .filter(|(_, constant)| is_constant(constant))
        .collect()
}
