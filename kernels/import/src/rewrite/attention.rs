//! Attention from its pieces.

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::graph::Graph;
use super::infer::Dim;
use super::matching::{factors, orders, uniform};
use super::{Phase, RewriteRule, fused_place};
use crate::program::{Attr, Value};

pub(super) const RULES: &[RewriteRule] = &[RewriteRule {
    name: "attention-from-pieces",
    summary: "Computes `softmax(q · kᵀ · scale + mask) · v` without storing the scores. Masks are added, \
              or choose the scores to hide.",
    phase: Phase::Combine,
    roots: &["nn.MatMul"],
    apply: attention,
}];

/// The op of attention.
pub(super) const NAME: &str = "nn.DotProductAttention";

/// What the scores of an attention are.
struct Scores {
    q: Value,
    k: Value,
    scale: f64,
    masks: Masks,
}

/// The parts of an attention.
struct Parts {
    scores: Scores,
    v: Value,
    /// So many heads of queries share a head of keys and values.
    groups: usize,
    /// The shapes that the kernel needs keys and values in, if they do not have them.
    flat: [Option<[i64; 3]>; 2],
}

/// What is done to the scores before their softmax.
#[derive(Clone, Copy, Default)]
struct Masks {
    added: Option<Value>,
    hiding: Option<Hiding>,
}

/// `where(mask, hidden, scores)`, or with the last two operands the other way round.
#[derive(Clone, Copy)]
struct Hiding {
    mask: Value,
    hidden_if: bool,
    hidden_score: f64,
    /// Whether scores are hidden before the other mask is added.
    is_first: bool,
}

/// Why a product with a softmax is not the end of an attention.
type Missed = &'static str;

fn attention(graph: &mut Graph, number: usize) -> Option<Value> {
    let &[weights, v] = graph.operands(number) else {
        return None;
    };
    let (probabilities, zeroes_nan) = match without_nan(graph, weights) {
        Some(probabilities) => (probabilities, true),
        None => (weights, false),
    };
    let softmax = graph.made_by(probabilities, "nn.Softmax")?;
    let found = match parts(graph, number, softmax, weights, v) {
        Ok(found) => found,
        Err(why) => {
            graph.miss(number, RULES[0].name, why);
            return None;
        }
    };
    let Parts {
        scores: mut found,
        mut v,
        groups,
        flat,
    } = found;
    let place = fused_place(graph.place(softmax), graph.place(number));
    for (value, shape) in [&mut found.k, &mut v].into_iter().zip(flat) {
        if let Some(shape) = shape {
            let shape = graph.weight("", DenseHostTensor::vector(&shape).ok()?);
            *value = graph.make(
                number,
                "nn.Reshape",
                &[*value, shape],
                Vec::new(),
                1,
                &place,
            )[0];
        }
    }
    let mut operands = vec![found.q, found.k, v];
    let mut slots = vec![0, 1, 2];
    let mut attrs = vec![("scale".to_owned(), Attr::Float(found.scale as f32))];
    if groups > 1 {
        attrs.push(("groups".to_owned(), Attr::Int(groups as i64)));
    }
    if zeroes_nan {
        attrs.push(("zeroes_nan".to_owned(), Attr::Bool(true)));
    }
    if let Some(added) = found.masks.added {
        operands.push(added);
        slots.push(3);
    }
    if let Some(hiding) = found.masks.hiding {
        operands.push(hiding.mask);
        slots.push(4);
        let score = hiding.hidden_score as f32;
        attrs.extend([
            ("hidden_score".to_owned(), Attr::Float(score)),
            ("hidden_if".to_owned(), Attr::Bool(hiding.hidden_if)),
            ("hides_first".to_owned(), Attr::Bool(hiding.is_first)),
        ]);
    }
    if slots == [0, 1, 2, 4] {
        attrs.push(("slots".to_owned(), Attr::Ints(slots)));
    }
    Some(graph.make(number, NAME, &operands, attrs, 1, &place)[0])
}

/// Returns the parts of an attention, or why the product of a softmax and values is none.
fn parts(
    graph: &Graph,
    number: usize,
    softmax: usize,
    weights: Value,
    v: Value,
) -> Result<Parts, Missed> {
    if !is_plain(graph, number) || graph.flag(number, "transpose_b") {
        return Err("the product with the values reads one of its factors transposed");
    }
    let Some(rank) = graph.known(v).rank() else {
        return Err("the rank of the values is unknown");
    };
    if !(3..=4).contains(&rank) {
        return Err("the values do not have three or four dimensions");
    }
    let axis = graph.int(softmax, "axis").unwrap_or(-1);
    let is_last = axis == -1 || usize::try_from(axis).ok() == rank.checked_sub(1);
    if !is_last || graph.flag(softmax, "is_log") || graph.flag(softmax, "coerces") {
        return Err("the softmax is not over the last dimension");
    }
    if !graph.is_used_once(weights) {
        return Err("the weights have other users");
    }
    let scores = graph
        .operand(softmax, 0)
        .filter(|&scores| graph.is_used_once(scores));
    let scores = scores.ok_or("the scores have other users")?;
    let mut found = scores_of(graph, scores)?;
    let known = [found.q, found.k, v].map(|value| graph.known(value));
    let dtype = known[0].dtype;
    let dtype = dtype.filter(|dtype| matches!(dtype, DType::F16 | DType::Bf16 | DType::F32));
    let dtype = dtype.filter(|&dtype| known.iter().all(|known| known.dtype == Some(dtype)));
    let dtype =
        dtype.ok_or("queries, keys and values are not known to be of one type of up to f32")?;
    let [Some(q), Some(k), Some(values)] = known.map(|known| known.dims) else {
        return Err("the shapes of queries or keys are unknown");
    };
    let batch = rank - 2;
    if q.len() != rank || k.len() != rank {
        return Err("queries, keys and values do not have the same rank");
    }
    let (mut v, mut groups, mut flat) = (v, 1, [None; 2]);
    if q[..batch] == k[..batch] && k[..batch] == values[..batch] {
        if let (Some(of_k), Some(of_v)) = (repeated(graph, found.k), repeated(graph, v))
            && of_k.times == of_v.times
        {
            (found.k, v, groups) = (of_k.x, of_v.x, of_k.times);
            flat = [of_k.flat, of_v.flat];
        }
    } else if rank == 4
        && q[0] == k[0]
        && k[..batch] == values[..batch]
        && let (Dim::Fixed(heads), Dim::Fixed(1)) = (q[1], k[1])
    {
        groups = heads;
    } else {
        // Other broadcasting is left to the pieces.
        return Err("queries, keys and values are not known to have the same batches and heads");
    }
    // What is repeated may be known better.
    let of_k = graph.known(found.k).dims;
    let keys = of_k.and_then(|k| k.iter().rev().nth(1).copied());
    let keys = keys.ok_or("the shape of the keys is unknown")?;
    let shape = [&q[..batch], &[q[batch], keys][..]].concat();
    if let Some(added) = found.masks.added {
        check_mask(graph, added, dtype, &shape)?;
    }
    if let Some(hiding) = found.masks.hiding {
        check_mask(graph, hiding.mask, DType::I1, &shape)?;
    }
    Ok(Parts {
        scores: found,
        v,
        groups,
        flat,
    })
}

/// A value that has each head of another one several times in a row.
struct Repeated {
    x: Value,
    times: usize,
    /// The shape of `x` with one dimension of heads, if it has more of them than the value.
    flat: Option<[i64; 3]>,
}

/// Returns what a value repeats the heads of: exporters insert a dimension behind that of the
/// heads, broadcast it, and join both, and sometimes the dimension of batches, too.
fn repeated(graph: &Graph, value: Value) -> Option<Repeated> {
    let dims = |value: Value| graph.known(value).dims;
    let joined = graph.made_by(value, "nn.Reshape")?;
    let expanded = graph.operand(joined, 0)?;
    let inserted = graph.operand(graph.made_by(expanded, "nn.Expand")?, 0)?;
    let insertion = graph.maker(inserted)?;
    if !matches!(graph.name(insertion)?, "nn.Unsqueeze" | "nn.Reshape") {
        return None;
    }
    let x = graph.operand(insertion, 0)?;
    let of_x = dims(x)?;
    let (outer, &[rows, columns]) = of_x.split_last_chunk::<2>()?;
    let of_expanded = dims(expanded)?;
    let [.., Dim::Fixed(times), _, _] = of_expanded[..] else {
        return None;
    };
    let with = |inner: usize| [outer, &[Dim::Fixed(inner), rows, columns][..]].concat();
    if dims(inserted)? != with(1) || of_expanded != with(times) {
        return None;
    }
    // The reshape keeps the number of elements, so that the dimension before the last is that of
    // rows.
    let columns = columns.fixed().filter(|&columns| columns > 0)?;
    let own = dims(value)?;
    let (own_outer, &[_, own_columns]) = own.split_last_chunk::<2>()?;
    let (heads, flat) = match (outer, own_outer) {
        (&[batch, Dim::Fixed(heads)], &[own_batch, _]) if batch == own_batch => (heads, None),
        (&[Dim::Fixed(heads)], &[_]) => (heads, None),
        (&[Dim::Fixed(batch), Dim::Fixed(heads)], &[_]) => {
            let heads = batch.checked_mul(heads)?;
            let number = |extent: usize| i64::try_from(extent).ok();
            (heads, Some([number(heads)?, -1, number(columns)?]))
        }
        _ => return None,
    };
    let all = heads.checked_mul(times).filter(|&all| all > 0)?;
    let is_so = own_outer.last() == Some(&Dim::Fixed(all)) && own_columns.fixed() == Some(columns);
    is_so.then_some(Repeated { x, times, flat })
}

/// Checks that a mask may be broadcast to scores of a shape, and that it is not known to be larger:
/// the kernel broadcasts scores to a mask that is, but computes keys and values again for it.
pub(super) fn check_mask(
    graph: &Graph,
    mask: Value,
    dtype: DType,
    scores: &[Dim],
) -> Result<(), Missed> {
    let known = graph.known(mask);
    let Some(dims) = known.dims else {
        return Err("the shape of the mask is unknown");
    };
    if known.dtype != Some(dtype) {
        return Err("the mask has another element type than the kernel takes");
    }
    let is_larger = |(own, scores): (&Dim, &Dim)| {
        own.fixed()
            .is_some_and(|own| own != 1 && scores.fixed().is_some_and(|scores| scores != own))
    };
    let skipped = scores.len().checked_sub(dims.len());
    match skipped {
        Some(skipped) if !dims.iter().zip(&scores[skipped..]).any(is_larger) => Ok(()),
        _ => Err("the mask is larger than the scores"),
    }
}

/// Returns `p` of `where(is_nan(p), 0, p)`, which exporters write for rows that are masked whole.
fn without_nan(graph: &Graph, value: Value) -> Option<Value> {
    let choice = graph.made_by(value, "nn.Where")?;
    let &[condition, zero, p] = graph.operands(choice) else {
        return None;
    };
    let asked = graph.operand(graph.made_by(condition, "nn.IsNaN")?, 0)?;
    let is_zero = uniform(graph, zero, p) == Some(0.0);
    // Nothing but the two ops may see the values.
    let is_free = graph.users(p).len() == 2 && graph.is_used_once(condition);
    (asked == p && is_zero && is_free && !graph.is_result(p)).then_some(p)
}

fn is_plain(graph: &Graph, number: usize) -> bool {
    graph.operands(number).len() == 2
        && graph.ints(number, "slots").is_none()
        && !graph.flag(number, "transpose_a")
}

/// Returns the parts of scores: a product, to which one mask of each kind may be applied.
fn scores_of(graph: &Graph, scores: Value) -> Result<Scores, Missed> {
    let (mut value, mut masks) = (scores, Masks::default());
    loop {
        let inner = if let Some(sum) = graph.made_by(value, "tf.AddV2")
            && masks.added.is_none()
        {
            // The summand that is a product, as the other one is the mask.
            let orders = orders(graph, sum);
            let mut orders = orders.into_iter();
            let found = orders.find(|&(scores, _)| leads_to_product(graph, scores));
            let Some((inner, mask)) = found else {
                return Err("neither summand is a product of queries and keys");
            };
            masks.added = Some(mask);
            inner
        } else if let Some(choice) = graph.made_by(value, "nn.Where")
            && masks.hiding.is_none()
        {
            let &[mask, a, b] = graph.operands(choice) else {
                return Err("the choice of scores has other operands");
            };
            let (hidden_if, hidden, inner) = match leads_to_product(graph, b) {
                true => (true, a, b),
                false => (false, b, a),
            };
            let Some(hidden_score) = uniform(graph, hidden, inner) else {
                return Err("hidden scores are not all one constant");
            };
            masks.hiding = Some(Hiding {
                mask,
                hidden_if,
                hidden_score,
                is_first: masks.added.is_some(),
            });
            inner
        } else {
            return products(graph, value, masks);
        };
        if !graph.is_used_once(inner) {
            return Err("the scores before a mask have other users");
        }
        value = inner;
    }
}

/// Returns `true` if a value is a product of matrices, scaled or masked.
fn leads_to_product(graph: &Graph, value: Value) -> bool {
    let mut value = value;
    // Two masks at most, and the scale.
    for _ in 0..3 {
        let (found, _) = factors(graph, value);
        let &[inner] = &found[..] else {
            return false;
        };
        if graph.made_by(inner, "nn.MatMul").is_some() {
            return true;
        }
        let next = if let Some(choice) = graph.made_by(inner, "nn.Where") {
            let operands = graph.operands(choice).get(1..).unwrap_or_default().iter();
            operands
                .copied()
                .find(|&value| graph.constant(value).is_none())
        } else if let Some(sum) = graph.made_by(inner, "tf.AddV2") {
            let operands = graph.operands(sum).iter().copied();
            let is_product = |&value: &Value| {
                let (found, _) = factors(graph, value);
                matches!(found[..], [inner] if graph.made_by(inner, "nn.MatMul").is_some()
                    || graph.made_by(inner, "nn.Where").is_some())
            };
            operands.into_iter().find(is_product)
        } else {
            None
        };
        match next {
            Some(next) => value = next,
            None => return false,
        }
    }
    false
}

/// Returns the parts of `q · kᵀ · scale`; the scale may be on the product or on either factor.
fn products(graph: &Graph, value: Value, masks: Masks) -> Result<Scores, Missed> {
    let (found, mut scale) = factors(graph, value);
    let &[product] = &found[..] else {
        return Err("the scores are a product with more than a number");
    };
    let Some(number) = graph.made_by(product, "nn.MatMul") else {
        return Err("the scores are no product of queries and keys, scaled by a constant");
    };
    if !is_plain(graph, number) {
        return Err(
            "the product of queries and keys has more operands, or reads queries transposed",
        );
    }
    if !graph.flag(number, "transpose_b") {
        return Err("the product of queries and keys does not read the keys transposed");
    }
    if product != value && !graph.is_used_once(product) {
        return Err("the product of queries and keys has other users");
    }
    let &[mut q, mut k] = graph.operands(number) else {
        return Err("the product of queries and keys has other operands");
    };
    for side in [&mut q, &mut k] {
        let (found, factor) = factors(graph, *side);
        if let &[inner] = &found[..]
            && inner != *side
        {
            (*side, scale) = (inner, scale * factor);
        }
    }
    Ok(Scores { q, k, scale, masks })
}
