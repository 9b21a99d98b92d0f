//! Attention that never stores all scores.
//!
//! ```text
//!  for each head, for each tile of queries:   scores = q · kᵀ · scale ─► masks ─► softmax ─► · v
//! ```
//!
//! The scores of a tile stay in the cache between its two products. Keys and values are packed once
//! for all tiles of a head, and for all heads of a group, which share them. Half-precision numbers
//! are converted to single precision head by head, and rounded once, in the result.

mod sides;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use tfrt::prelude::*;
use tfrt_compute::ComputeError;
use tfrt_compute::job::Plan;
use tfrt_compute::matmul::{Matmul, MatmulOperands, MatmulShape};
use tfrt_compute::parallel::Serial;
use tfrt_compute::softmax;
use tfrt_kernels::numeric::{after, try_start_rows, width};
use tfrt_tensor::{DenseHostTensor, Element, I1, OwnedElements};

use crate::pairs::common;
use crate::shapes::stretched;
use crate::{Slots, invalid, product, unspecified};
use sides::{Place, Side};

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
    /// So many heads in a row share keys and values.
    groups: usize,
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
/// mask may be omitted; the scores and the mask are broadcast to one shape. Softmax of a row that
/// is masked whole is NaN, or 0 if `zeroes_nan` is true.
///
/// Where a Boolean mask, the fifth operand, equals `hidden_if`, scores are `hidden_score` instead:
/// after the other mask is added, or before if `hides_first` is true.
///
/// The last dimension before the matrices is that of heads: `groups` heads of queries in a row
/// share a head of keys and values.
///
/// `inside` has three numbers for each of queries, keys and values. If the first one is not 0, this
/// many heads are inside of the rows of the last two dimensions: the first head begins at the
/// column of the second number, and each has as many columns as the third number says.
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
    #[attr(default = 1)] groups: i64,
    #[attr] inside: Option<&[i64]>,
    #[attr] slots: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let slots = Slots::new(OP, operands, slots);
    let side = |side: usize, name: &str| Side::new(slots.need(side, name)?, side, inside);
    let operands = Operands {
        q: side(0, "q")?,
        k: side(1, "k")?,
        v: side(2, "v")?,
        added: slots.get(3)?,
        hiding: slots.get(4)?,
    };
    let groups = usize::try_from(groups).ok().filter(|&groups| groups > 0);
    let groups = groups.ok_or_else(|| operands.refused())?;
    let operands = operands.broadcast(groups, ctx)?;
    if let Some(hiding) = &operands.hiding
        && hiding.dtype() != DType::I1
    {
        return Err(invalid(format!(
            "`{OP}`: expected a Boolean mask, found {}",
            hiding.metadata()
        )));
    }
    let Some((batch, &[queries, size])) = operands.q.dims.split_last_chunk::<2>() else {
        return Err(operands.refused());
    };
    let Some((_, &[keys, value_size])) = operands.v.dims.split_last_chunk::<2>() else {
        return Err(operands.refused());
    };
    let scores = [batch, &[queries, keys]].concat();
    let mask_of = |mask: &DenseHostTensor| Mask::new(OP, mask, &scores);
    let heads = Heads {
        queries,
        keys,
        size,
        value_size,
        groups,
        scale,
        zeroes_nan,
        added: operands.added.as_ref().map(mask_of).transpose()?,
        hiding: match &operands.hiding {
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
    let dims = [batch, &[queries, value_size]].concat();
    match operands.q.tensor.dtype() {
        DType::F16 => start::<f16>(heads, operands, num_heads, &dims, ctx),
        DType::Bf16 => start::<bf16>(heads, operands, num_heads, &dims, ctx),
        _ => start::<f32>(heads, operands, num_heads, &dims, ctx),
    }
}

const OP: &str = "nn.DotProductAttention";

/// The operands of an attention.
struct Operands {
    q: Side,
    k: Side,
    v: Side,
    added: Option<DenseHostTensor>,
    hiding: Option<DenseHostTensor>,
}

impl Operands {
    #[cold]
    fn refused(&self) -> Error {
        invalid(format!(
            "`{OP}`: queries {}, keys {} and values {} are incompatible",
            self.q.tensor.metadata(),
            self.k.tensor.metadata(),
            self.v.tensor.metadata()
        ))
    }

    /// Checks the operands, and returns them with queries, keys and values for all scores: masks
    /// may have more heads and queries.
    fn broadcast(mut self, groups: usize, ctx: &ExecutionContext) -> Result<Self> {
        let [of_q, of_k, of_v] = [&self.q, &self.k, &self.v].map(|side| side.dims.clone());
        let (
            Some((batch, &[queries, size])),
            Some((k_batch, &[keys, k_size])),
            Some((v_batch, &[v_keys, value_size])),
        ) = (
            of_q.split_last_chunk::<2>(),
            of_k.split_last_chunk::<2>(),
            of_v.split_last_chunk::<2>(),
        )
        else {
            return Err(self.refused());
        };
        let mut shared = k_batch.to_vec();
        if let Some(heads) = shared.last_mut() {
            *heads = heads.saturating_mul(groups);
        }
        let dtype = self.q.tensor.dtype();
        let others = [&self.k.tensor, &self.v.tensor];
        let others = others.into_iter().chain(&self.added);
        let is_real = matches!(dtype, DType::F16 | DType::Bf16 | DType::F32);
        if batch != shared
            || k_batch != v_batch
            || size != k_size
            || keys != v_keys
            || !is_real
            || others.into_iter().any(|tensor| tensor.dtype() != dtype)
        {
            return Err(self.refused());
        }
        let scores = [batch, &[queries, keys]].concat();
        let mut all = scores.clone();
        for mask in self.added.iter().chain(&self.hiding) {
            all = common(OP, &all, mask.shape().dims())?;
        }
        if all == scores {
            return Ok(self);
        }
        // The product with the values needs a value for each key.
        let Some((all_batch, &[all_queries, all_keys])) = all.split_last_chunk::<2>() else {
            return Err(self.refused());
        };
        let mut kv_batch = all_batch.to_vec();
        if all_keys != keys || all.len() != scores.len() {
            return Err(self.refused());
        }
        if groups > 1
            && let (Some(heads), Some(own)) = (kv_batch.last_mut(), k_batch.last())
        {
            if Some(&*heads) != batch.last() {
                return Err(self.refused());
            }
            *heads = *own;
        }
        let stretch = |side: &Side, batch: &[usize], matrix: [usize; 2]| {
            let dims = [batch, &matrix[..]].concat();
            Side::of_matrices(stretched(OP, &side.by_heads(ctx)?, &dims, ctx)?)
        };
        self.q = stretch(&self.q, all_batch, [all_queries, size])?;
        self.k = stretch(&self.k, &kv_batch, [keys, size])?;
        self.v = stretch(&self.v, &kv_batch, [keys, value_size])?;
        Ok(self)
    }
}

/// An element of queries, keys and values.
trait AttentionElement: Element {
    /// Returns the numbers, if they are in single precision.
    fn single(numbers: &[Self]) -> Option<&[f32]>;

    /// Writes the numbers in single precision.
    fn widen(numbers: &[Self], to: &mut [f32]);

    /// Computes a result of this type: `compute` writes numbers of single precision.
    ///
    /// # Errors
    /// Those of `compute`.
    fn written(
        to: &mut [Self],
        buffer: &mut Vec<f32>,
        compute: impl FnOnce(&mut [f32]) -> Result<(), ComputeError>,
    ) -> Result<(), ComputeError>;
}

impl AttentionElement for f32 {
    fn single(numbers: &[Self]) -> Option<&[f32]> {
        Some(numbers)
    }

    fn widen(numbers: &[Self], to: &mut [f32]) {
        to.copy_from_slice(numbers);
    }

    fn written(
        to: &mut [Self],
        _: &mut Vec<f32>,
        compute: impl FnOnce(&mut [f32]) -> Result<(), ComputeError>,
    ) -> Result<(), ComputeError> {
        compute(to)
    }
}

macro_rules! impl_half {
    ($($ty:ty)*) => {$(
        impl AttentionElement for $ty {
            fn single(_: &[Self]) -> Option<&[f32]> {
                None
            }

            fn widen(numbers: &[Self], to: &mut [f32]) {
                numbers.convert_to_f32_slice(to);
            }

            fn written(
                to: &mut [Self],
                buffer: &mut Vec<f32>,
                compute: impl FnOnce(&mut [f32]) -> Result<(), ComputeError>,
            ) -> Result<(), ComputeError> {
                buffer.resize(to.len(), 0.0);
                compute(buffer)?;
                to.convert_from_f32_slice(buffer);
                Ok(())
            }
        }
    )*};
}

impl_half!(f16 bf16);

/// Returns a tensor of single precision with the numbers of one that may be of half precision.
fn single<T: AttentionElement>(
    x: &DenseHostTensor,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    if x.dtype() == DType::F32 {
        return Ok(x.clone());
    }
    let mut y = unspecified(ctx, DType::F32, x.shape().dims())?;
    T::widen(&x.elements::<T>()?, &mut y.elements_mut::<f32>()?);
    Ok(y)
}

/// Starts the computation of all heads.
fn start<T: AttentionElement>(
    heads: Heads,
    operands: Operands,
    num_heads: usize,
    dims: &[usize],
    ctx: &ExecutionContext,
) -> Result<AnyRef> {
    let Heads {
        queries,
        keys,
        size,
        value_size,
        ..
    } = heads;
    let mut y = unspecified(ctx, <T as Element>::DTYPE, dims)?;
    if y.num_elements() == 0 {
        return Ok(AnyRef::available(y));
    }
    let matrices = |side: Side| -> Result<Matrices<T>> {
        Ok(Matrices {
            elements: side.tensor.elements_owned()?,
            place: side.place,
        })
    };
    let sides = [
        matrices(operands.q)?,
        matrices(operands.k)?,
        matrices(operands.v)?,
    ];
    let mask = match &operands.added {
        Some(added) => Some(single::<T>(added, ctx)?.elements_owned::<f32>()?),
        None => None,
    };
    let hiding = operands
        .hiding
        .as_ref()
        .map(DenseHostTensor::elements_owned::<I1>)
        .transpose()?;
    // Errors of extents are found before anything is shared.
    Tiles::new(&heads)?;
    let operations = num_heads
        .saturating_mul(queries.saturating_mul(keys))
        .saturating_mul(size + value_size);
    let output = y.elements_mut_owned::<T>()?;
    let row_len = queries * value_size;
    // As many operations as a routine that is not vectorised would take in that time.
    let operations = if width(ctx) == 1 { 0 } else { operations / 4 };
    let done = try_start_rows(ctx, output, row_len, operations, move |range, part| {
        let mut tiles = Tiles::new(&heads)?;
        let mut buffer = Vec::new();
        for (head, to) in range.zip(part.chunks_exact_mut(row_len)) {
            let masks = (mask.as_deref(), hiding.as_deref());
            T::written(to, &mut buffer, |to| {
                tiles.head(&heads, head, &sides, masks, to)
            })?;
        }
        Ok(())
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

/// Queries, keys or values of all heads.
struct Matrices<T: 'static> {
    elements: OwnedElements<T>,
    place: Place,
}

/// The memory of the two products.
struct Tiles {
    /// The head of keys and values that is ready: copied, and packed if that is worth it.
    ready_head: Option<usize>,
    /// Queries, keys and values, in single precision and in one piece, if they are not so already.
    copies: [Vec<f32>; 3],
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

impl<T: AttentionElement> Matrices<T> {
    /// Returns the matrix of a head, by way of a copy if need be, which may be there already.
    fn matrix<'a>(&'a self, head: usize, copy: &'a mut Vec<f32>, is_copied: bool) -> &'a [f32] {
        if let Some(piece) = self.place.piece(&self.elements, head) {
            return piece;
        }
        if !is_copied {
            self.place.copy(&self.elements, head, copy);
        }
        copy
    }
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
            ready_head: None,
            copies: Default::default(),
            packed_k: packed(&plans[0]),
            packed_v: packed(&plans[1]),
            scores: vec![0.0; rows * heads.keys],
            weights: vec![0.0; rows * heads.keys],
            workspace: vec![0.0; workspace],
        })
    }

    /// Computes one head.
    fn head<T: AttentionElement>(
        &mut self,
        heads: &Heads,
        head: usize,
        [q, k, v]: &[Matrices<T>; 3],
        masks: Masks<'_>,
        to: &mut [f32],
    ) -> Result<(), ComputeError> {
        let shared = head / heads.groups;
        let is_ready = self.ready_head == Some(shared);
        let whole = plans(heads, TILE)?;
        let [of_q, of_k, of_v] = &mut self.copies;
        let q = q.matrix(head, of_q, false);
        let k = k.matrix(shared, of_k, is_ready);
        let v = v.matrix(shared, of_v, is_ready);
        if let (Some(packed_k), Some(packed_v)) = (&mut self.packed_k, &mut self.packed_v)
            && !is_ready
        {
            whole[0].pack_b(k, packed_k)?;
            whole[1].pack_b(v, packed_v)?;
        }
        self.ready_head = Some(shared);
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
