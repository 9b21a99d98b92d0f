//! Attention, rotary embedding, and non-maximum suppression.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, I1};

use crate::number::{Number, with_real};
use crate::pairs::{Stretched, common};
use crate::{Slots, allocate, dense, invalid, made, real_numbers, unspecified, whole_numbers};

/// Queries, keys or values: `[batch, heads, length, size]`, in double precision.
struct Heads {
    batch: usize,
    heads: usize,
    length: usize,
    size: usize,
    numbers: Vec<f64>,
}

impl Heads {
    /// Parses `[batch, heads, length, size]`, or `[batch, length, heads · size]` with this number
    /// of heads.
    fn new(op: &'static str, x: &DenseHostTensor, num_heads: i64) -> Result<Self> {
        let numbers = real_numbers(op, x)?;
        match *x.shape().dims() {
            [batch, heads, length, size] => Ok(Self {
                batch,
                heads,
                length,
                size,
                numbers,
            }),
            [batch, length, all] => {
                let heads = usize::try_from(num_heads).unwrap_or(0);
                if heads == 0 || !all.is_multiple_of(heads) {
                    return Err(invalid(format!(
                        "`{op}`: {all} elements cannot be divided among {num_heads} heads"
                    )));
                }
                let size = all / heads;
                let mut moved = vec![0.0; numbers.len()];
                for (at, &number) in numbers.iter().enumerate() {
                    let (row, column) = (at / all, at % all);
                    let (image, step) = (row / length, row % length);
                    moved[((image * heads + column / size) * length + step) * size
                        + column % size] = number;
                }
                Ok(Self {
                    batch,
                    heads,
                    length,
                    size,
                    numbers: moved,
                })
            }
            _ => Err(invalid(format!(
                "`{op}`: expected 3 or 4 dimensions, found {}",
                x.metadata()
            ))),
        }
    }

    fn row(&self, image: usize, head: usize, step: usize) -> &[f64] {
        let start = ((image * self.heads + head) * self.length + step) * self.size;
        &self.numbers[start..start + self.size]
    }

    /// Returns these steps followed by others.
    fn followed_by(self, op: &str, next: Self) -> Result<Self> {
        if (self.batch, self.heads, self.size) != (next.batch, next.heads, next.size) {
            return Err(invalid(format!(
                "`{op}`: the shapes of the past and the new keys or values are incompatible"
            )));
        }
        let mut numbers = Vec::with_capacity(self.numbers.len() + next.numbers.len());
        for image in 0..self.batch * self.heads {
            let (own, others) = (self.length * self.size, next.length * next.size);
            numbers.extend_from_slice(&self.numbers[image * own..][..own]);
            numbers.extend_from_slice(&next.numbers[image * others..][..others]);
        }
        Ok(Self {
            length: self.length + next.length,
            numbers,
            ..self
        })
    }

    fn dims(&self) -> [usize; 4] {
        [self.batch, self.heads, self.length, self.size]
    }
}

/// Computes attention: `softmax(Q · Kᵀ · scale + mask) · V`. Operands are queries, keys, values, a
/// mask of Booleans or summands, past keys and values, and the number of keys in each batch that
/// are not padding. Returns the result, all keys and values, and the scores, selected by `scores`:
/// 0 for the products, 1 after the soft cap, 2 after the mask, 3 after the softmax. With -1, the
/// scores are not stored, and that result is empty. Equally many neighbouring heads of queries
/// share each head of keys.
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
    const OP: &str = "nn.Attention";
    let slots = Slots::new(OP, operands, slots);
    let (q_tensor, v_tensor) = (slots.need(0, "q")?, slots.need(2, "v")?);
    let q = Heads::new(OP, &q_tensor, q_heads)?;
    let k_tensor = slots.need(1, "k")?;
    let mut k = Heads::new(OP, &k_tensor, kv_heads)?;
    let mut v = Heads::new(OP, &v_tensor, kv_heads)?;
    let mut num_past = 0;
    if let (Some(past_k), Some(past_v)) = (slots.get(4)?, slots.get(5)?) {
        let past = Heads::new(OP, &past_k, kv_heads)?;
        num_past = past.length;
        k = past.followed_by(OP, k)?;
        v = Heads::new(OP, &past_v, kv_heads)?.followed_by(OP, v)?;
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
    let valid = slots
        .get(6)?
        .map(|lengths| whole_numbers(OP, &lengths))
        .transpose()?;
    if valid.as_ref().is_some_and(|valid| valid.len() != q.batch) {
        return Err(invalid(format!(
            "`{OP}`: expected a number of keys for each of {} batches",
            q.batch
        )));
    }
    let score_dims = [q.batch, q.heads, q.length, k.length];
    let mask = slots
        .get(3)?
        .map(|mask| Mask::new(OP, &mask, &score_dims))
        .transpose()?;
    let scale = scale.map_or_else(|| 1.0 / (q.size as f64).sqrt(), f64::from);
    let (soft_cap, share) = (f64::from(soft_cap), q.heads / k.heads);
    // Only the scores of one query are in memory, unless all of them are a result.
    let kept_dims = match scores {
        0.. => score_dims,
        _ => [0; 4],
    };
    let mut kept_tensor = allocate(ctx, DType::F64, &kept_dims)?;
    let mut kept = kept_tensor.elements_mut::<f64>()?;
    let result_dims = [q.batch, q.heads, q.length, v.size];
    let mut result_tensor = allocate(ctx, DType::F64, &result_dims)?;
    let mut results = result_tensor.elements_mut::<f64>()?;
    let mut weights = vec![0.0; k.length];
    for row in 0..q.batch * q.heads * q.length {
        if let Some(error) = ctx
            .request()
            .cancel_value()
            .and_then(AnyRef::error_if_present)
        {
            return Err(error.clone());
        }
        let (image, head, step) = (
            row / (q.heads * q.length),
            row / q.length % q.heads,
            row % q.length,
        );
        let query = q.row(image, head, step);
        let mut kept = match scores {
            0.. => Some(&mut kept[row * k.length..][..k.length]),
            _ => None,
        };
        // What is past counts as before the first query.
        let offset = num_past as i64;
        for (at, weight) in weights.iter_mut().enumerate() {
            let key = k.row(image, head / share, at);
            let product: f64 = query.iter().zip(key).map(|(q, k)| q * k).sum::<f64>() * scale;
            let capped = if soft_cap > 0.0 {
                soft_cap * (product / soft_cap).tanh()
            } else {
                product
            };
            let is_future = is_causal && at as i64 > step as i64 + offset;
            let is_padding = valid
                .as_ref()
                .is_some_and(|valid| at as i64 >= valid[image]);
            let summand = mask
                .as_ref()
                .map_or(0.0, |mask| mask.summand([image, head, step, at]));
            let masked = if is_future || is_padding {
                f64::NEG_INFINITY
            } else {
                capped + summand
            };
            if let Some(kept) = &mut kept {
                kept[at] = match scores {
                    0 => product,
                    1 => capped,
                    _ => masked,
                };
            }
            *weight = masked;
        }
        let greatest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shift = if greatest.is_finite() { greatest } else { 0.0 };
        weights
            .iter_mut()
            .for_each(|weight| *weight = (*weight - shift).exp());
        let sum: f64 = weights.iter().sum();
        // A row that is masked whole is NaN, as softmax defines it.
        let factor = 1.0 / sum;
        let result = &mut results[row * v.size..][..v.size];
        for (at, weight) in weights.iter_mut().enumerate() {
            *weight *= factor;
            let value = v.row(image, head / share, at);
            result
                .iter_mut()
                .zip(value)
                .for_each(|(to, value)| *to += *weight * value);
        }
        if let (3, Some(kept)) = (scores, kept) {
            kept.copy_from_slice(&weights);
        }
    }
    let (heads, length, size) = (q.heads, q.length, v.size);
    let is_flat = q_tensor.shape().rank() == 3;
    let y_dims = match is_flat {
        true => vec![q.batch, length, heads * size],
        false => vec![q.batch, heads, length, size],
    };
    let y = with_real!(OP, q_tensor.dtype(), T => made(ctx, &y_dims, |at| {
        let from = match is_flat {
            true => {
                let (row, column) = (at / (heads * size), at % (heads * size));
                let (image, step) = (row / length, row % length);
                ((image * heads + column / size) * length + step) * size + column % size
            }
            false => at,
        };
        T::of_f64(results[from])
    }))?;
    let typed = |dtype: DType, dims: &[usize], numbers: &[f64]| with_real!(OP, dtype, T => made(ctx, dims, |at| T::of_f64(numbers[at])));
    let present_k = typed(k_tensor.dtype(), &k.dims(), &k.numbers)?;
    let present_v = typed(v_tensor.dtype(), &v.dims(), &v.numbers)?;
    let scores = typed(q_tensor.dtype(), &kept_dims, &kept)?;
    Ok((y, present_k, present_v, scores))
}

/// The mask that is added to scores. Keys beyond its last are masked.
struct Mask {
    summands: Vec<f64>,
    /// How far a step along each dimension of the scores goes: 0 where the mask is repeated.
    strides: [usize; 4],
    /// Keys that it has.
    length: usize,
}

impl Mask {
    fn new(op: &'static str, mask: &DenseHostTensor, scores: &[usize; 4]) -> Result<Self> {
        let summands = match mask.dtype() {
            DType::I1 => {
                let truths = mask.elements::<I1>()?;
                truths
                    .iter()
                    .map(|&truth| if truth.into() { 0.0 } else { f64::NEG_INFINITY })
                    .collect()
            }
            _ => real_numbers(op, mask)?,
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

    /// Returns the summand of a score: of an image, a head, a query and a key.
    fn summand(&self, place: [usize; 4]) -> f64 {
        if place[3] >= self.length {
            return f64::NEG_INFINITY;
        }
        let steps = place.iter().zip(&self.strides);
        self.summands[steps.map(|(at, stride)| at * stride).sum::<usize>()]
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
    let heads = Heads::new(OP, &x, num_heads)?;
    let size = match usize::try_from(size) {
        Ok(0) | Err(_) => heads.size,
        Ok(size) => size.min(heads.size),
    };
    let half = size / 2;
    let rows = match slots.get(3)? {
        Some(positions) => whole_numbers(OP, &positions)?,
        None => (0..(heads.batch * heads.length) as i64).collect(),
    };
    let (cos, sin) = (real_numbers(OP, &cosines)?, real_numbers(OP, &sines)?);
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
    let mut rotated = heads.numbers.clone();
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
            .map(|operand| real_numbers(OP, &operand))
            .transpose()?;
        Ok(numbers.and_then(|numbers| numbers.first().copied()))
    };
    let limit = number(2)?.unwrap_or(0.0).max(0.0) as usize;
    let (overlap, least) = (number(3)?.unwrap_or(0.0), number(4)?);
    let (corners, scores) = (real_numbers(OP, &boxes)?, real_numbers(OP, &scores)?);
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
