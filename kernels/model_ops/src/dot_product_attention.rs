//! Attention of single precision that never stores all scores.
//!
//! ```text
//!  for each head, for each tile of queries:   scores = q · kᵀ · scale ─► masks ─► softmax ─► · v
//! ```
//!
//! The scores of a tile stay in the cache between its two products. Keys and values are packed once
//! for all tiles of a head.

use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;
use tfrt_compute::softmax;
use tfrt_kernels::numeric::{after, start_rows, width};
use tfrt_tensor::{DenseHostTensor, I1, OwnedElements};

use crate::{Slots, invalid, product, unspecified};

/// Queries of a tile.
const TILE: usize = 64;

/// Fewer queries read keys and values where they are.
const MIN_PACKED: usize = 16;

/// The extents of all heads, and where the masks of heads begin.
struct Heads {
    queries: usize,
    keys: usize,
    size: usize,
    value_size: usize,
    scale: f32,
    zeroes_nan: bool,
    added: Option<Mask>,
    hiding: Option<Hiding>,
}

/// A Boolean mask that hides scores.
struct Hiding {
    mask: Mask,
    /// The truth value that hides a score.
    hidden_if: bool,
    /// What a hidden score is.
    hidden_score: f32,
    /// Whether scores are hidden before a mask is added.
    is_first: bool,
}

/// The place of a mask of scores.
struct Mask {
    /// Where that of each head begins.
    starts: Vec<usize>,
    /// The distance between queries, and between keys: 0 if all have the same.
    strides: [usize; 2],
}

/// Computes `softmax(q · kᵀ · scale + mask) · v` for each matrix of the last two dimensions. The
/// mask may be omitted, and is broadcast. Softmax of a row that is masked whole is NaN, or 0 if
/// `zeroes_nan` is true.
///
/// Where a Boolean mask, the fifth operand, equals `hidden_if`, scores are `hidden_score` instead:
/// after the other mask is added, or before if `hides_first` is true.
///
/// # Errors
/// If the operands do not match.
#[expect(
    clippy::too_many_arguments,
    reason = "the attributes of an op are parameters"
)]
#[tfrt_op("nn.DotProductAttention")]
fn dot_product_attention(
    operands: &[AnyRef],
    #[attr(default = 1.0)] scale: f32,
    #[attr(default = false)] zeroes_nan: bool,
    #[attr] hidden_score: Option<f32>,
    #[attr(default = true)] hidden_if: bool,
    #[attr(default = false)] hides_first: bool,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    const OP: &str = "nn.DotProductAttention";
    let slots = Slots::new(OP, operands, slots);
    let (q, k) = (slots.need(0, "q")?, slots.need(1, "k")?);
    let (v, mask, hiding) = (slots.need(2, "v")?, slots.get(3)?, slots.get(4)?);
    let refused = || {
        invalid(format!(
            "`{OP}`: queries {}, keys {} and values {} are incompatible",
            q.metadata(),
            k.metadata(),
            v.metadata()
        ))
    };
    let (Some((batch, &[queries, size])), Some((k_batch, &[keys, k_size]))) = (
        q.shape().dims().split_last_chunk::<2>(),
        k.shape().dims().split_last_chunk::<2>(),
    ) else {
        return Err(refused());
    };
    let Some((v_batch, &[v_keys, value_size])) = v.shape().dims().split_last_chunk::<2>() else {
        return Err(refused());
    };
    let is_single = [&q, &k, &v].into_iter().chain(&mask);
    if batch != k_batch
        || batch != v_batch
        || size != k_size
        || keys != v_keys
        || !is_single
            .into_iter()
            .all(|tensor| tensor.dtype() == DType::F32)
    {
        return Err(refused());
    }
    if let Some(hiding) = &hiding
        && hiding.dtype() != DType::I1
    {
        return Err(invalid(format!(
            "`{OP}`: expected a Boolean mask, found {}",
            hiding.metadata()
        )));
    }
    let scores = [batch, &[queries, keys]].concat();
    let mask_of = |mask: &DenseHostTensor| Mask::new(OP, mask, &scores);
    let heads = Heads {
        queries,
        keys,
        size,
        value_size,
        scale,
        zeroes_nan,
        added: mask.as_ref().map(mask_of).transpose()?,
        hiding: match &hiding {
            None => None,
            Some(hiding) => Some(Hiding {
                mask: mask_of(hiding)?,
                hidden_if,
                hidden_score: hidden_score.unwrap_or(f32::NEG_INFINITY),
                is_first: hides_first,
            }),
        },
    };
    let num_heads = product(batch);
    let mut y = unspecified(ctx, DType::F32, &[batch, &[queries, value_size]].concat())?;
    if y.num_elements() == 0 {
        return Ok(AnyRef::available(y));
    }
    let [q, k, v] = [&q, &k, &v].map(DenseHostTensor::elements_owned::<f32>);
    let (q, k, v) = (q?, k?, v?);
    let mask = mask
        .as_ref()
        .map(DenseHostTensor::elements_owned::<f32>)
        .transpose()?;
    let hiding = hiding
        .as_ref()
        .map(DenseHostTensor::elements_owned::<I1>)
        .transpose()?;
    // Errors of plans are those of extents, which are found before anything is shared.
    Tiles::new(&heads)?;
    let operations = num_heads
        .saturating_mul(queries.saturating_mul(keys))
        .saturating_mul(size + value_size);
    let output = y.elements_mut_owned::<f32>()?;
    let row_len = queries * value_size;
    // As many operations as a routine that is not vectorised would take in that time.
    let operations = if width(ctx) == 1 { 0 } else { operations / 4 };
    let done = start_rows(ctx, output, row_len, operations, move |range, part| {
        let Ok(mut tiles) = Tiles::new(&heads) else {
            return;
        };
        for (head, to) in range.zip(part.chunks_exact_mut(row_len)) {
            let masks = (mask.as_deref(), hiding.as_deref());
            tiles.head(&heads, head, [&q, &k, &v], masks, to);
        }
    })?;
    Ok(after(done, y))
}

impl Mask {
    fn new(op: &'static str, mask: &DenseHostTensor, scores: &[usize]) -> Result<Self> {
        let own = mask.shape().dims();
        if crate::pairs::common(op, own, scores)? != scores {
            return Err(invalid(format!(
                "`{op}`: the mask {} is incompatible with scores of shape {scores:?}",
                mask.metadata()
            )));
        }
        let mut dims = vec![1; scores.len() - own.len()];
        dims.extend_from_slice(own);
        let strides = crate::strides(&dims);
        let batch = scores.len() - 2;
        let step = |axis: usize| if dims[axis] == 1 { 0 } else { strides[axis] };
        let mut index = vec![0; batch];
        // Without scores there may be any number of heads.
        let num_heads = match scores.contains(&0) {
            true => 0,
            false => product(&scores[..batch]),
        };
        let starts = (0..num_heads).map(|_| {
            let start = index
                .iter()
                .enumerate()
                .map(|(axis, at)| at * step(axis))
                .sum();
            crate::advance(&mut index, &scores[..batch]);
            start
        });
        Ok(Self {
            starts: starts.collect(),
            strides: [step(batch), step(batch + 1)],
        })
    }

    /// Applies the mask to the scores of some queries of a head.
    fn apply<T: Copy>(
        &self,
        mask: &[T],
        Rows { head, first, keys }: Rows,
        scores: &mut [f32],
        apply: impl Fn(&mut f32, T),
    ) {
        let [by_query, by_key] = self.strides;
        for (query, scores) in scores.chunks_exact_mut(keys).enumerate() {
            let start = self.starts[head] + (first + query) * by_query;
            match by_key {
                0 => scores
                    .iter_mut()
                    .for_each(|score| apply(score, mask[start])),
                _ => {
                    let mask = &mask[start..start + keys];
                    let pairs = scores.iter_mut().zip(mask);
                    pairs.for_each(|(score, &mask)| apply(score, mask));
                }
            }
        }
    }
}

/// Some queries of a head, from the first on.
#[derive(Clone, Copy)]
struct Rows {
    head: usize,
    first: usize,
    keys: usize,
}

impl Heads {
    /// Applies the masks to the scores of some queries of a head.
    fn apply_masks(&self, (added, hiding): Masks<'_>, rows: Rows, scores: &mut [f32]) {
        let hide = |is_first: bool, scores: &mut [f32]| {
            if let (Some(mask), Some(hiding)) = (hiding, &self.hiding)
                && hiding.is_first == is_first
            {
                let (hidden_if, hidden) = (hiding.hidden_if, hiding.hidden_score);
                hiding.mask.apply(mask, rows, scores, |score, mask| {
                    if bool::from(mask) == hidden_if {
                        *score = hidden;
                    }
                });
            }
        };
        hide(true, scores);
        if let (Some(mask), Some(place)) = (added, &self.added) {
            place.apply(mask, rows, scores, |score, mask: f32| *score += mask);
        }
        hide(false, scores);
    }
}

/// The elements of the mask that is added, and of the one that hides.
type Masks<'a> = (Option<&'a [f32]>, Option<&'a [I1]>);

/// The plans of the two products, and their memory.
struct Tiles {
    packed_k: Option<Vec<f32>>,
    packed_v: Option<Vec<f32>>,
    scores: Vec<f32>,
    weights: Vec<f32>,
    workspace: Vec<f32>,
}

/// Returns the plans of the products of a tile.
fn plans(heads: &Heads, rows: usize) -> Result<[Matmul<f32>; 2], ComputeError> {
    let scores = MatmulShape::new(rows, heads.keys, heads.size).transposed(false, true);
    let values = MatmulShape::new(rows, heads.value_size, heads.keys);
    Ok([Matmul::new(scores, 1)?, Matmul::new(values, 1)?])
}

impl Tiles {
    fn new(heads: &Heads) -> Result<Self, ComputeError> {
        let rows = TILE.min(heads.queries);
        let plans = plans(heads, rows)?;
        let rest = self::plans(heads, heads.queries % TILE)?;
        let need = |plan: &Matmul<f32>| plan.workspace_len() * plan.blocks();
        let workspace = plans.iter().chain(&rest).map(need).max().unwrap_or(0);
        let packed = |plan: &Matmul<f32>| {
            (heads.queries >= MIN_PACKED).then(|| vec![0.0; plan.packed_b_len()])
        };
        Ok(Self {
            packed_k: packed(&plans[0]),
            packed_v: packed(&plans[1]),
            scores: vec![0.0; rows * heads.keys],
            weights: vec![0.0; rows * heads.keys],
            workspace: vec![0.0; workspace],
        })
    }

    /// Computes one head.
    fn head(
        &mut self,
        heads: &Heads,
        head: usize,
        [q, k, v]: [&OwnedElements<f32>; 3],
        masks: Masks<'_>,
        to: &mut [f32],
    ) {
        let part = |len: usize| head * len..(head + 1) * len;
        let q = &q[part(heads.queries * heads.size)];
        let k = &k[part(heads.keys * heads.size)];
        let v = &v[part(heads.keys * heads.value_size)];
        // The lengths are those of the plans, so that nothing below fails.
        let computed = self.tiles(heads, head, [q, k, v], masks, to);
        debug_assert!(computed.is_ok(), "the operands have been checked");
    }

    fn tiles(
        &mut self,
        heads: &Heads,
        head: usize,
        [q, k, v]: [&[f32]; 3],
        masks: Masks<'_>,
        to: &mut [f32],
    ) -> Result<(), ComputeError> {
        let whole = plans(heads, TILE)?;
        if let (Some(packed_k), Some(packed_v)) = (&mut self.packed_k, &mut self.packed_v) {
            whole[0].pack_b(k, packed_k)?;
            whole[1].pack_b(v, packed_v)?;
        }
        let tiles = q.chunks(TILE * heads.size.max(1));
        let outputs = to.chunks_mut(TILE * heads.value_size);
        for (tile, to) in outputs.enumerate() {
            let rows = to.len() / heads.value_size;
            let q = tiles.clone().nth(tile).unwrap_or_default();
            let plans = match rows {
                TILE => whole.clone(),
                rows => plans(heads, rows)?,
            };
            let len = rows * heads.keys;
            let (scores, weights) = (&mut self.scores[..len], &mut self.weights[..len]);
            let operands = match &self.packed_k {
                Some(packed) => MatmulOperands::packed(q, packed),
                None => MatmulOperands::new(q, k),
            };
            let operands = operands.alpha(heads.scale);
            plans[0].run(&Serial, operands, scores, &mut self.workspace)?;
            let part = Rows {
                head,
                first: tile * TILE,
                keys: heads.keys.max(1),
            };
            heads.apply_masks(masks, part, scores);
            if heads.keys > 0 {
                softmax::softmax(heads.keys, scores, weights)?;
                if heads.zeroes_nan {
                    let weights = weights.iter_mut();
                    weights
                        .filter(|weight| weight.is_nan())
                        .for_each(|weight| *weight = 0.0);
                }
            }
            let operands = match &self.packed_v {
                Some(packed) => MatmulOperands::packed(weights, packed),
                None => MatmulOperands::new(weights, v),
            };
            plans[1].run(&Serial, operands, to, &mut self.workspace)?;
        }
        Ok(())
    }
}
