//! Attention, rotary embedding, and non-maximum suppression.

mod heads;

use tfrt::prelude::*;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;
use tfrt_compute::softmax::softmax;
use tfrt_compute::unary::{self, Unary};
use tfrt_tensor::{DenseHostTensor, I1, OwnedElementsMut};

use crate::number::{Number, with_real};
use crate::pairs::{Stretched, common};
use crate::{
    Slots, allocate, dense, invalid, made, real_numbers, scratch, unspecified, whole_numbers,
};

use heads::{Heads, Wide, joined};

/// Queries that are computed together.
const TILE: usize = 64;

/// Fewer queries read keys and values where they are.
const MIN_PACKED: usize = 16;

const OP: &str = "nn.Attention";

/// Computes attention: `softmax(Q · Kᵀ · scale + mask) · V`. Operands are queries, keys, values, a
/// mask of Booleans or summands, past keys and values, and the number of keys in each batch that
/// are not padding. Returns the result, all keys and values, and the scores, selected by `scores`:
/// 0 for the products, 1 after the soft cap, 2 after the mask, 3 after the softmax. With -1, the
/// scores are not stored, and that result is empty. Equally many neighbouring heads of queries
/// share each head of keys.
///
/// Numbers of double precision are computed in double precision, all others in single precision.
/// Those of half precision are rounded once, in the results.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.Attention")]
#[expect(clippy::too_many_arguments, reason = "as many as the op has")]
fn attention(
    operands: &[AnyRef],
    #[attr(default = 0)] q_heads: i64,
    #[attr(default = 0)] kv_heads: i64,
    #[attr] scale: Option<f32>,
    #[attr(default = 0.0)] soft_cap: f32,
    #[attr(default = false)] is_causal: bool,
    #[attr(default = 0)] scores: i64,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<(
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
)> {
    let slots = Slots::new(OP, operands, slots);
    let given = Given {
        q: slots.need(0, "q")?,
        k: slots.need(1, "k")?,
        v: slots.need(2, "v")?,
        mask: slots.get(3)?,
        past: slots.get(4)?.zip(slots.get(5)?),
        valid: slots
            .get(6)?
            .map(|lengths| whole_numbers(OP, &lengths))
            .transpose()?,
        num_heads: [q_heads, kv_heads],
        scale,
        soft_cap,
        is_causal,
        scores,
    };
    let of_double = |tensor: &DenseHostTensor| tensor.dtype() == DType::F64;
    match [&given.q, &given.k, &given.v].into_iter().any(of_double) {
        true => attend::<f64>(&given, ctx),
        false => attend::<f32>(&given, ctx),
    }
}

/// The operands and attributes of an attention.
struct Given {
    q: DenseHostTensor,
    k: DenseHostTensor,
    v: DenseHostTensor,
    mask: Option<DenseHostTensor>,
    past: Option<(DenseHostTensor, DenseHostTensor)>,
    valid: Option<Vec<i64>>,
    /// Those of queries, and those of keys and values.
    num_heads: [i64; 2],
    scale: Option<f32>,
    soft_cap: f32,
    is_causal: bool,
    scores: i64,
}

/// Computes an attention in one precision.
fn attend<W: Wide>(
    given: &Given,
    ctx: &ExecutionContext,
) -> Result<(
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
    DenseHostTensor,
)> {
    let [q_heads, kv_heads] = given.num_heads;
    let q = Heads::<W>::new(OP, &given.q, q_heads, ctx)?;
    let mut k = Heads::new(OP, &given.k, kv_heads, ctx)?;
    let mut v = Heads::new(OP, &given.v, kv_heads, ctx)?;
    let mut num_past = 0;
    if let Some((past_k, past_v)) = &given.past {
        let past = Heads::new(OP, past_k, kv_heads, ctx)?;
        num_past = past.length;
        k = past.followed_by(OP, k, ctx)?;
        v = Heads::new(OP, past_v, kv_heads, ctx)?.followed_by(OP, v, ctx)?;
    }
    let fits = q.batch == k.batch
        && k.batch == v.batch
        && q.size == k.size
        && k.length == v.length
        && k.heads == v.heads
        && k.heads > 0
        && q.heads.is_multiple_of(k.heads);
    if !fits {
        return Err(invalid(format!(
            "`{OP}`: queries {:?}, keys {:?} and values {:?} are incompatible",
            q.dims(),
            k.dims(),
            v.dims()
        )));
    }
    let valid = given.valid.as_ref();
    if valid.is_some_and(|valid| valid.len() != q.batch) {
        return Err(invalid(format!(
            "`{OP}`: expected a number of keys for each of {} batches",
            q.batch
        )));
    }
    let score_dims = [q.batch, q.heads, q.length, k.length];
    let mask = given.mask.as_ref();
    let mask = mask
        .map(|mask| Mask::new(OP, mask, &score_dims, ctx))
        .transpose()?;
    // Only the scores of a tile are in memory, unless all of them are a result.
    let kept_dims = match given.scores {
        0.. => score_dims,
        _ => [0; 4],
    };
    let mut kept_tensor = allocate(ctx, W::DTYPE, &kept_dims)?;
    let mut result_tensor = allocate(ctx, W::DTYPE, &[q.batch, q.heads, q.length, v.size])?;
    {
        let attention = Attention {
            share: q.heads / k.heads,
            scale: given.scale.map_or_else(
                || W::from_f64(1.0 / (q.size as f64).sqrt()),
                |scale| W::from_f32(scale),
            ),
            soft_cap: W::from_f32(given.soft_cap),
            num_past,
            valid: valid.map(Vec::as_slice),
            is_causal: given.is_causal,
            mask,
            kept: given.scores,
            q: &q,
            k: &k,
            v: &v,
        };
        let mut kept = kept_tensor.elements_mut::<W>()?;
        let mut results = result_tensor.elements_mut::<W>()?;
        attention.compute(&mut kept, &mut results, ctx)?;
    }
    let results = result_tensor.elements::<W>()?;
    let dims = [q.batch, q.heads, q.length, v.size];
    let y = match given.q.shape().rank() {
        3 => {
            let flat = [q.batch, q.length, q.heads * v.size];
            W::tensor(
                OP,
                &joined(&results, dims, ctx)?,
                given.q.dtype(),
                &flat,
                ctx,
            )?
        }
        _ => W::tensor(OP, &results, given.q.dtype(), &dims, ctx)?,
    };
    let present = |heads: &Heads<W>, like: &DenseHostTensor| {
        W::tensor(OP, &heads.numbers, like.dtype(), &heads.dims(), ctx)
    };
    let kept = kept_tensor.elements::<W>()?;
    let scores = W::tensor(OP, &kept, given.q.dtype(), &kept_dims, ctx)?;
    Ok((y, present(&k, &given.k)?, present(&v, &given.v)?, scores))
}

/// An attention whose operands match.
struct Attention<'a, W: 'static> {
    q: &'a Heads<W>,
    k: &'a Heads<W>,
    v: &'a Heads<W>,
    /// So many heads of queries share a head of keys and values.
    share: usize,
    scale: W,
    /// Not positive: none.
    soft_cap: W,
    is_causal: bool,
    /// The keys that count as before the first query.
    num_past: usize,
    /// The keys of each image that are not padding.
    valid: Option<&'a [i64]>,
    mask: Option<Mask<W>>,
    /// Which scores are kept; negative if none are.
    kept: i64,
}

impl<W: Wide> Attention<'_, W> {
    /// Returns the plans of the products of some queries with keys, and of their weights with
    /// values.
    fn plans(&self, queries: usize) -> Result<[Matmul<W>; 2]> {
        let (keys, size) = (self.k.length, self.q.size);
        let scores = MatmulShape::new(queries, keys, size).transposed(false, true);
        let values = MatmulShape::new(queries, self.v.size, keys);
        Ok([Matmul::new(scores, 1)?, Matmul::new(values, 1)?])
    }

    fn compute(&self, kept: &mut [W], results: &mut [W], ctx: &ExecutionContext) -> Result<()> {
        if kept.is_empty() && results.is_empty() {
            return Ok(());
        }
        let (q, k, v) = (self.q, self.k, self.v);
        let (keys, tile) = (k.length, TILE.min(q.length));
        let whole = self.plans(tile)?;
        let rest = self.plans(q.length % TILE)?;
        let need = |plan: &Matmul<W>| plan.workspace_len() * plan.blocks();
        let workspace = whole.iter().chain(&rest).map(need).max().unwrap_or(0);
        let mut workspace = scratch::<W>(ctx, workspace)?;
        let len = tile.saturating_mul(keys);
        let (mut scores, mut weights) = (scratch::<W>(ctx, len)?, scratch::<W>(ctx, len)?);
        let is_packed = q.length >= MIN_PACKED;
        let pack = |plan: &Matmul<W>| match is_packed {
            true => scratch::<W>(ctx, plan.packed_b_len()),
            false => scratch::<W>(ctx, 0),
        };
        let mut packed = [pack(&whole[0])?, pack(&whole[1])?];
        let mut packed_head = None;
        for (image, head) in (0..q.batch).flat_map(|image| (0..q.heads).map(move |h| (image, h))) {
            let shared = head / self.share;
            let (own_k, own_v) = (k.head(image, shared), v.head(image, shared));
            if is_packed && packed_head != Some((image, shared)) {
                whole[0].pack_b(own_k, &mut packed[0])?;
                whole[1].pack_b(own_v, &mut packed[1])?;
                packed_head = Some((image, shared));
            }
            for first in (0..q.length).step_by(TILE) {
                let cancelled = ctx.request().cancel_value();
                if let Some(error) = cancelled.and_then(AnyRef::error_if_present) {
                    return Err(error.clone());
                }
                let rows = TILE.min(q.length - first);
                let plans = match rows == tile {
                    true => &whole,
                    false => &rest,
                };
                let row = (image * q.heads + head) * q.length + first;
                let mut keep = |stage: i64, scores: &[W]| {
                    if self.kept == stage {
                        kept[row * keys..][..scores.len()].copy_from_slice(scores);
                    }
                };
                let (scores, weights) = (&mut scores[..rows * keys], &mut weights[..rows * keys]);
                let queries = &q.head(image, head)[first * q.size..][..rows * q.size];
                let operands = match is_packed {
                    true => MatmulOperands::packed(queries, &packed[0]),
                    false => MatmulOperands::new(queries, own_k),
                };
                plans[0].run(&Serial, operands.alpha(self.scale), scores, &mut workspace)?;
                keep(0, scores);
                self.cap(scores);
                keep(1, scores);
                self.hide(scores, image, head, first);
                keep(2, scores);
                // A row that is masked whole is NaN, as softmax defines it.
                softmax(keys, scores, weights)?;
                keep(3, weights);
                let operands = match is_packed {
                    true => MatmulOperands::packed(weights, &packed[1]),
                    false => MatmulOperands::new(weights, own_v),
                };
                let to = &mut results[row * v.size..][..rows * v.size];
                plans[1].run(&Serial, operands, to, &mut workspace)?;
            }
        }
        Ok(())
    }

    /// Limits scores softly.
    fn cap(&self, scores: &mut [W]) {
        let cap = self.soft_cap;
        if cap > W::from_f32(0.0) {
            scores.iter_mut().for_each(|score| *score = *score / cap);
            unary::apply_in_place(Unary::Tanh, scores);
            scores.iter_mut().for_each(|score| *score = *score * cap);
        }
    }

    /// Applies the mask, and hides the keys that are padding or in the future, in the scores of the
    /// queries of a head from the first on.
    fn hide(&self, scores: &mut [W], image: usize, head: usize, first: usize) {
        let keys = self.k.length;
        let valid = self.valid.map_or(keys, |valid| {
            usize::try_from(valid[image]).unwrap_or(0).min(keys)
        });
        for (row, scores) in scores.chunks_exact_mut(keys.max(1)).enumerate() {
            let step = first + row;
            if let Some(mask) = &self.mask {
                mask.add([image, head, step], scores);
            }
            let visible = match self.is_causal {
                true => valid.min(step + self.num_past + 1),
                false => valid,
            };
            scores[visible..].fill(W::NEG_INFINITY);
        }
    }
}

/// The mask that is added to scores. Keys beyond its last are masked.
struct Mask<W: 'static> {
    summands: OwnedElementsMut<W>,
    /// How far a step along each dimension of the scores goes: 0 where the mask is repeated.
    strides: [usize; 4],
    /// Keys that it has.
    length: usize,
}

impl<W: Wide> Mask<W> {
    fn new(
        op: &'static str,
        mask: &DenseHostTensor,
        scores: &[usize; 4],
        ctx: &ExecutionContext,
    ) -> Result<Self> {
        let summands = match mask.dtype() {
            DType::I1 => {
                let (shown, hidden) = (W::from_f32(0.0), W::NEG_INFINITY);
                let truths = mask.elements::<I1>()?;
                let mut summands = scratch::<W>(ctx, truths.len())?;
                for (summand, &truth) in summands.iter_mut().zip(&*truths) {
                    *summand = if truth.into() { shown } else { hidden };
                }
                summands
            }
            _ => W::numbers(op, mask, ctx)?,
        };
        let own = mask.shape().dims();
        let length = own.last().copied().unwrap_or(1);
        let mut dims = *scores;
        if length != 1 {
            dims[3] = length.min(scores[3]);
        }
        if length > scores[3] || common(op, own, &dims)? != dims {
            return Err(invalid(format!(
                "`{op}`: the mask {} is incompatible with scores of shape {scores:?}",
                mask.metadata()
            )));
        }
        let mut strides = [0; 4];
        let aligned = strides.iter_mut().rev().zip(own.iter().rev());
        for ((stride, &extent), step) in aligned.zip(crate::strides(own).into_iter().rev()) {
            *stride = if extent == 1 { 0 } else { step };
        }
        Ok(Self {
            summands,
            strides,
            length: dims[3],
        })
    }

    /// Adds the mask to the scores of a query: of an image, a head and a step.
    fn add(&self, place: [usize; 3], scores: &mut [W]) {
        let steps = place.iter().zip(&self.strides);
        let start: usize = steps.map(|(at, stride)| at * stride).sum();
        let (masked, hidden) = scores.split_at_mut(self.length);
        match self.strides[3] {
            0 => {
                if let Some(&summand) = self.summands.get(start) {
                    masked.iter_mut().for_each(|score| *score += summand);
                }
            }
            _ => {
                let summands = &self.summands[start..start + self.length];
                let pairs = masked.iter_mut().zip(summands);
                pairs.for_each(|(score, &summand)| *score += summand);
            }
        }
        hidden.fill(W::NEG_INFINITY);
    }
}

/// Rotates pairs of numbers by the angles of their positions: operands are the tensor, cosines,
/// sines, and positions; without positions each step has a separate row. The first `size` numbers
/// of each head are rotated, or all if it is 0. Pairs are neighbours with `interleaved`, otherwise
/// the two halves.
///
/// # Errors
/// If the operands do not match.
#[tfrt_op("nn.RotaryEmbedding")]
fn rotary_embedding(
    operands: &[AnyRef],
    #[attr(default = false)] interleaved: bool,
    #[attr(default = 0)] num_heads: i64,
    #[attr(default = 0)] size: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.RotaryEmbedding";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let [cosines, sines] = [slots.need(1, "cosines")?, slots.need(2, "sines")?];
    let heads = Heads::<f64>::new(OP, &x, num_heads, ctx)?;
    let size = match usize::try_from(size) {
        Ok(0) | Err(_) => heads.size,
        Ok(size) => size.min(heads.size),
    };
    let half = size / 2;
    let rows = match slots.get(3)? {
        Some(positions) => whole_numbers(OP, &positions)?,
        None => (0..(heads.batch * heads.length) as i64).collect(),
    };
    let (cos, sin) = (
        real_numbers(OP, &cosines, ctx)?,
        real_numbers(OP, &sines, ctx)?,
    );
    if rows.len() != heads.batch * heads.length || cos.len() != sin.len() {
        return Err(invalid(format!(
            "`{OP}`: expected a position for each step"
        )));
    }
    let num_rows = cos.len().checked_div(half).unwrap_or(0) as i64;
    if let Some(row) = rows
        .iter()
        .find(|&&row| half > 0 && !(0..num_rows).contains(&row))
    {
        return Err(invalid(format!(
            "`{OP}`: expected a position with angles, found {row}"
        )));
    }
    let mut rotated = scratch::<f64>(ctx, heads.numbers.len())?;
    rotated.copy_from_slice(&heads.numbers);
    for image in 0..heads.batch {
        for head in 0..heads.heads {
            for step in 0..heads.length {
                let row = rows[image * heads.length + step] as usize;
                let from = heads.row(image, head, step);
                let start = ((image * heads.heads + head) * heads.length + step) * heads.size;
                for pair in 0..half {
                    let (a, b) = if interleaved {
                        (2 * pair, 2 * pair + 1)
                    } else {
                        (pair, half + pair)
                    };
                    let (cos, sin) = (cos[row * half + pair], sin[row * half + pair]);
                    rotated[start + a] = cos * from[a] - sin * from[b];
                    rotated[start + b] = sin * from[a] + cos * from[b];
                }
            }
        }
    }
    let (num_heads, length, head_size) = (heads.heads, heads.length, heads.size);
    let is_flat = x.shape().rank() == 3;
    with_real!(OP, x.dtype(), T => made(ctx, x.shape().dims(), |at| {
        let from = match is_flat {
            true => {
                let (row, column) = (at / (num_heads * head_size), at % (num_heads * head_size));
                let (image, step) = (row / length, row % length);
                ((image * num_heads + column / head_size) * length + step) * head_size + column % head_size
            }
            false => at,
        };
        T::of_f64(rotated[from])
    }))
}

/// Returns a tensor whose rows are broadcast to those of two others.
fn with_rows_of(
    op: &'static str,
    x: DenseHostTensor,
    others: [&DenseHostTensor; 2],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let Some((&size, rows)) = x.shape().dims().split_last() else {
        return Ok(x);
    };
    let mut dims = rows.to_vec();
    for other in others {
        let outer = other.shape().dims().split_last();
        dims = common(op, &dims, outer.map_or(&[], |(_, outer)| outer))?;
    }
    if dims == rows {
        return Ok(x);
    }
    dims.push(size);
    crate::shapes::stretched(op, &x, &dims, ctx)
}

/// Turns pairs of elements that are half a row apart: computes `x · cos + (-b, a) · sin`, where `a`
/// and `b` are the halves of a row of `x`. The tables of cosines and sines have whole rows; they
/// and `x` are broadcast to one shape. Each product and each sum is rounded.
///
/// # Errors
/// If the operands are not of single precision, or do not match.
#[tfrt_op("nn.RotateHalves")]
fn rotate_halves(
    x: &AnyRef,
    cos: &AnyRef,
    sin: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.RotateHalves";
    let [x, cos, sin] = [x, cos, sin].map(dense);
    let (x, cos, sin) = (x?, cos?, sin?);
    let x = with_rows_of(OP, x, [&cos, &sin], ctx)?;
    let dims = x.shape().dims();
    let refused = || {
        invalid(format!(
            "`{OP}`: {} cannot be turned by tables {} and {}",
            x.metadata(),
            cos.metadata(),
            sin.metadata()
        ))
    };
    let is_single = [&x, &cos, &sin]
        .iter()
        .all(|tensor| tensor.dtype() == DType::F32);
    let Some((&size, rows)) = dims.split_last() else {
        return Err(refused());
    };
    if !is_single || size % 2 != 0 {
        return Err(refused());
    }
    let table = |table: &DenseHostTensor| match table.shape().dims().split_last() {
        Some((&own, outer)) if own == size && common(OP, outer, rows)? == rows => {
            Ok(Stretched::new(outer, rows))
        }
        _ => Err(refused()),
    };
    let (cos_rows, sin_rows) = (table(&cos)?, table(&sin)?);
    let mut y = unspecified(ctx, DType::F32, dims)?;
    if y.num_elements() == 0 {
        return Ok(y);
    }
    {
        let (x, cos, sin) = (
            x.elements::<f32>()?,
            cos.elements::<f32>()?,
            sin.elements::<f32>()?,
        );
        let mut to = y.elements_mut::<f32>()?;
        let places = cos_rows.places().zip(sin_rows.places());
        let rows = to.chunks_exact_mut(size).zip(x.chunks_exact(size));
        for ((to, x), (cos_row, sin_row)) in rows.zip(places) {
            let (cos, sin) = (
                &cos[cos_row * size..][..size],
                &sin[sin_row * size..][..size],
            );
            let (a, b) = x.split_at(size / 2);
            let turned = b.iter().map(|b| -b).chain(a.iter().copied());
            let tables = cos.iter().zip(sin);
            for (((to, x), turned), (cos, sin)) in to.iter_mut().zip(x).zip(turned).zip(tables) {
                *to = x * cos + turned * sin;
            }
        }
    }
    Ok(y)
}

/// Selects boxes in descending order of their scores that do not overlap a better one of their
/// class by more than a threshold. Operands are boxes, scores, the maximum number for each class
/// (default 0), the threshold of the overlap and that of the score. Returns rows of batch, class
/// and box.
///
/// # Errors
/// If boxes and scores do not match.
#[tfrt_op("nn.NonMaxSuppression")]
fn non_max_suppression(
    operands: &[AnyRef],
    #[attr(default = false)] is_centered: bool,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.NonMaxSuppression";
    let slots = Slots::new(OP, operands, slots);
    let (boxes, scores) = (slots.need(0, "boxes")?, slots.need(1, "scores")?);
    let (&[batches, num_boxes, 4], &[score_batches, classes, num_scores]) =
        (boxes.shape().dims(), scores.shape().dims())
    else {
        return Err(invalid(format!(
            "`{OP}`: expected boxes [batch, boxes, 4] and scores [batch, classes, boxes], found \
             {} and {}",
            boxes.metadata(),
            scores.metadata()
        )));
    };
    if (batches, num_boxes) != (score_batches, num_scores) {
        return Err(invalid(format!("`{OP}`: expected a score for each box")));
    }
    let number = |slot: usize| -> Result<Option<f64>> {
        let operand = slots.get(slot)?;
        let numbers = operand
            .map(|operand| real_numbers(OP, &operand, ctx))
            .transpose()?;
        Ok(numbers.and_then(|numbers| numbers.first().copied()))
    };
    let limit = number(2)?.unwrap_or(0.0).max(0.0) as usize;
    let (overlap, least) = (number(3)?.unwrap_or(0.0), number(4)?);
    let (corners, scores) = (
        real_numbers(OP, &boxes, ctx)?,
        real_numbers(OP, &scores, ctx)?,
    );
    let sides = |at: usize| {
        let &[a, b, c, d] = &corners[4 * at..4 * at + 4] else {
            return [0.0; 4];
        };
        match is_centered {
            true => [b - d / 2.0, a - c / 2.0, b + d / 2.0, a + c / 2.0],
            false => [a.min(c), b.min(d), a.max(c), b.max(d)],
        }
    };
    let ratio = |a: [f64; 4], b: [f64; 4]| {
        let area = |[top, left, bottom, right]: [f64; 4]| (bottom - top) * (right - left);
        let common = [
            a[0].max(b[0]),
            a[1].max(b[1]),
            a[2].min(b[2]),
            a[3].min(b[3]),
        ];
        if common[2] <= common[0] || common[3] <= common[1] {
            return 0.0;
        }
        area(common) / (area(a) + area(b) - area(common))
    };
    let mut selected: Vec<i64> = Vec::new();
    for batch in 0..batches {
        for class in 0..classes {
            let scores = &scores[(batch * classes + class) * num_boxes..][..num_boxes];
            let is_wanted = |&at: &usize| least.is_none_or(|least| scores[at] > least);
            let mut order: Vec<usize> = (0..num_boxes).filter(is_wanted).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            let mut kept: Vec<usize> = Vec::new();
            for at in order {
                if kept.len() == limit {
                    break;
                }
                let place = |at: usize| sides(batch * num_boxes + at);
                if kept
                    .iter()
                    .all(|&other| ratio(place(at), place(other)) <= overlap)
                {
                    kept.push(at);
                    selected.extend([batch as i64, class as i64, at as i64]);
                }
            }
        }
    }
    let mut result = allocate(ctx, DType::I64, &[selected.len() / 3, 3])?;
    result.elements_mut::<i64>()?.copy_from_slice(&selected);
    Ok(result)
}
