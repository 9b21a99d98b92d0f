//! Ops whose sizes are computed from shapes, where these say nothing that the operand does not.
//!
//! ```text
//!   Reshape(x, Concat(Gather(Shape(x), 0), -1, 768))  ──►  Reshape(x, [0, -1, 768])
//! ```
//!
//! What computed the sizes is then unused and goes.

use tfrt_tensor::DenseHostTensor;

use super::graph::Graph;
use super::shape_values::Elements;
use super::{Phase, RewriteRule};
use crate::dim_expr::DimExpr;
use crate::program::Value;

pub(super) const RULES: &[RewriteRule] = &[
    RewriteRule {
        name: "reshape-to-known-sizes",
        summary: "Reshapes by constants instead of sizes that are computed from the operand's.",
        phase: Phase::Simplify,
        roots: &["nn.Reshape"],
        apply: reshape,
    },
    RewriteRule {
        name: "drop-expand",
        summary: "Drops an expansion to sizes that the operand has.",
        phase: Phase::Simplify,
        roots: &["nn.Expand"],
        apply: expand,
    },
    RewriteRule {
        name: "drop-slice",
        summary: "Drops a slice that takes everything.",
        phase: Phase::Simplify,
        roots: &["nn.Slice"],
        apply: slice,
    },
];

/// The most ops that are looked at to find out whose shapes sizes come from.
const MAX_LOOKED_AT: usize = 256;

/// Returns the elements of an operand that is computed, if it is a list, and what they are computed
/// from is needed by the other operand anyway: its errors must be seen.
fn computed(graph: &Graph, value: Value, x: Value) -> Option<Elements> {
    if graph.lazy_constant(value).is_some() {
        return None;
    }
    let elements = graph.elements(value)?.clone();
    if graph.known(value).rank() != Some(1) {
        return None;
    }
    let mut needed = None;
    let mut pending = vec![value];
    for _ in 0..MAX_LOOKED_AT {
        let Some(next) = pending.pop() else {
            return Some(elements);
        };
        let Some(maker) = graph.maker_of(next) else {
            continue;
        };
        let operands = graph.operands(maker);
        if !matches!(graph.name(maker), Some("nn.Shape" | "nn.Size")) {
            // An element that is not known may come from a division by 0, even if another one is
            // taken.
            if graph.elements(next)?.iter().any(Option::is_none) {
                return None;
            }
            pending.extend(operands);
            continue;
        }
        let of = *operands.first()?;
        let is_needed = of == x
            || graph.maker_of(of).is_none()
            || needed.get_or_insert_with(|| before(graph, x)).contains(&of);
        if !is_needed {
            return None;
        }
    }
    None
}

/// Returns values that a value is computed from, but not all if there are many.
fn before(graph: &Graph, value: Value) -> Vec<Value> {
    let mut found = vec![value];
    let mut next = 0;
    while next < found.len() && found.len() < MAX_LOOKED_AT {
        let maker = graph.maker_of(found[next]);
        next += 1;
        for &operand in maker.map_or(&[][..], |maker| graph.operands(maker)) {
            if !found.contains(&operand) {
                found.push(operand);
            }
        }
    }
    found
}

fn reshape(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[x, shape] = graph.operands(number) else {
        return None;
    };
    let elements = computed(graph, shape, x)?;
    let allows_zero = graph.flag(number, "allow_zero");
    let known = graph.known(x);
    let own = known.dims?;
    let mut sizes: Vec<i64> = Vec::with_capacity(elements.len());
    let mut rest = None;
    for (axis, element) in elements.iter().enumerate() {
        let element = element.as_ref()?;
        let own = own.get(axis).map(|&dim| graph.symbols().extent(dim));
        sizes.push(match element.as_number() {
            Some(number) => number,
            None if own.as_ref() == Some(element) && !allows_zero => 0,
            // A computed size of 0 stands for the operand's own, and -1 does not.
            None if rest.is_none()
                && (allows_zero || own.is_some_and(|own| own.vanishes_with(element))) =>
            {
                rest = Some(element);
                -1
            }
            None => return None,
        });
    }
    if let Some(rest) = rest {
        // With sizes that may be 0, nothing is left over to tell the size from; and if the sizes do
        // not fit, that is an error which stays one.
        let others = sizes.iter().filter(|&&size| size != -1);
        let product = others.copied().try_fold(1_i64, |all, size| {
            (size > 0).then(|| all.checked_mul(size)).flatten()
        })?;
        let all = graph.symbols().product(&own)?;
        let has_rest = sizes.iter().filter(|&&size| size == -1).count() == 1;
        if !has_rest || all.divided_exactly(&DimExpr::number(product)).as_ref() != Some(rest) {
            return None;
        }
    }
    let place = graph.place(number).to_owned();
    let sizes = DenseHostTensor::vector(&sizes).ok()?;
    let shape = graph.weight(&format!("sizes/{place}"), sizes);
    let attrs = graph.attrs(number).to_vec();
    Some(graph.make(number, "nn.Reshape", &[x, shape], attrs, 1, &place)[0])
}

fn expand(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[x, shape] = graph.operands(number) else {
        return None;
    };
    let elements = computed(graph, shape, x)?;
    let own = graph.known(x).dims?;
    let missing = own.len().checked_sub(elements.len())?;
    let mut pairs = own[missing..].iter().zip(&elements);
    let is_own = pairs.all(|(&dim, element)| {
        let element = element.as_ref();
        element.is_some_and(|element| {
            element.as_number() == Some(1) || *element == graph.symbols().extent(dim)
        })
    });
    is_own.then_some(x)
}

fn slice(graph: &mut Graph, number: usize) -> Option<Value> {
    let operands = graph.operands(number).to_vec();
    if operands.len() < 4 || graph.ints(number, "slots").is_some() {
        return None;
    }
    let x = operands[0];
    let numbers = |at: usize| match operands.get(at) {
        Some(&value) => super::matching::constant_integers(graph, value),
        None => Some(Vec::new()),
    };
    let (starts, axes, steps) = (numbers(1)?, numbers(3)?, numbers(4)?);
    let ends = computed(graph, operands[2], x)?;
    let own = graph.known(x).dims?;
    let fits = starts.len() == ends.len() && starts.len() == axes.len();
    if !fits || !starts.iter().all(|&start| start == 0) {
        return None;
    }
    let has_steps = operands.len() > 4;
    if has_steps && (steps.len() != starts.len() || !steps.iter().all(|&step| step == 1)) {
        return None;
    }
    // An axis that is listed twice is an error.
    let mut seen = vec![false; own.len()];
    let mut ends = axes.iter().zip(&ends);
    let takes_all = ends.all(|(&axis, end)| {
        let axis = super::infer::axis_of(axis, own.len());
        let axis = axis.filter(|&axis| !std::mem::replace(&mut seen[axis], true));
        let extent = axis.map(|axis| graph.symbols().extent(own[axis]));
        extent.is_some() && extent == *end
    });
    takes_all.then_some(x)
}
