//! Normalizations of rows of single precision, on several threads. A row may be the sum of several
//! rows, and these may be those of tables.
//!
//! ```text
//!  for each row:   table[index] + table[index] + x ─► sum ─► mean, variance ─► scale ─► bias
//!                  └──────────── a row in the cache ──────┘
//! ```

use std::sync::{Mutex, PoisonError};

use tfrt::prelude::*;
use tfrt_compute::binary::{self, Binary};
use tfrt_compute::normalization::RowNorm;
use tfrt_kernels::numeric::{after, start_rows};
use tfrt_tensor::{DenseHostTensor, OwnedElements, OwnedElementsMut};

use crate::pairs::{Stretched, common};
use crate::places::places_of;
use crate::{dense, invalid, product, scratch, unspecified};

/// The operations of an element, as many as a routine that is not vectorised would take in that
/// time.
const OPERATIONS_PER_ELEMENT: usize = 8;

/// What is done to each row.
pub(crate) struct Norm {
    scale: Option<OwnedElements<f32>>,
    bias: Option<OwnedElements<f32>>,
    epsilon: f64,
    is_centred: bool,
}

impl Norm {
    /// Returns a normalization whose parameters have an element for each of a row.
    pub(crate) fn new(
        scale: Option<&DenseHostTensor>,
        bias: Option<&DenseHostTensor>,
        epsilon: f32,
        is_centred: bool,
    ) -> Result<Self> {
        let elements = |tensor: Option<&DenseHostTensor>| {
            tensor
                .map(DenseHostTensor::elements_owned::<f32>)
                .transpose()
        };
        Ok(Self {
            scale: elements(scale)?,
            bias: elements(bias)?,
            epsilon: f64::from(epsilon),
            is_centred,
        })
    }
}

/// Rows that are added.
pub(crate) struct Summand {
    elements: OwnedElements<f32>,
    /// Where the row for each row of the sum begins; by default, they are in order.
    starts: Option<OwnedElementsMut<u64>>,
}

impl Summand {
    /// Returns the rows of a tensor, in order.
    pub(crate) fn in_order(x: &DenseHostTensor) -> Result<Self> {
        Ok(Self {
            elements: x.elements_owned()?,
            starts: None,
        })
    }

    fn row(&self, row: usize, len: usize) -> &[f32] {
        let start = match &self.starts {
            Some(starts) => starts[row] as usize,
            None => row * len,
        };
        &self.elements[start..start + len]
    }
}

/// What is kept of a row besides its result.
type Keep = Box<dyn Fn(usize, &[f32], (f64, f64)) + Send + Sync>;

/// What writes the row of a number.
type WriteRow = Box<dyn Fn(usize, &[f32]) + Send + Sync>;

/// Starts the normalization of the rows of a sum, which have `len` elements. `keep` is called with
/// the number of each row, the sum, and the statistics.
pub(crate) fn start(
    (dims, len): (&[usize], usize),
    summands: Vec<Summand>,
    norm: Norm,
    keep: Option<Keep>,
    ctx: &ExecutionContext,
) -> Result<(AsyncValueRef<Chain>, DenseHostTensor)> {
    let mut y = unspecified(ctx, DType::F32, dims)?;
    let output = y.elements_mut_owned::<f32>()?;
    let operations = output.len().saturating_mul(OPERATIONS_PER_ELEMENT);
    let done = start_rows(ctx, output, len, operations, move |range, part| {
        let norm = RowNorm {
            scale: norm.scale.as_deref(),
            offset: norm.bias.as_deref(),
            epsilon: norm.epsilon,
            is_centred: norm.is_centred,
        };
        let mut sum = Vec::new();
        for (row, to) in range.zip(part.chunks_exact_mut(len)) {
            let added = sum_of(&summands, row, len, &mut sum);
            let statistics = norm.apply_row(added, to);
            if let Some(keep) = &keep {
                keep(row, added, statistics);
            }
        }
    })?;
    Ok((done, y))
}

/// Returns the sum of the rows of a number, in the order of the summands.
fn sum_of<'a>(summands: &'a [Summand], row: usize, len: usize, sum: &'a mut Vec<f32>) -> &'a [f32] {
    let (first, others) = summands.split_first().expect("a sum has a summand");
    let first = first.row(row, len);
    let Some((second, others)) = others.split_first() else {
        return first;
    };
    sum.resize(len, 0.0);
    binary::apply(Binary::Add, first, second.row(row, len), sum);
    for other in others {
        binary::apply_in_place(Binary::Add, sum, other.row(row, len));
    }
    sum
}

/// Returns a tensor for rows that are kept, and what writes one of them.
///
/// The routine of rows has one output: the others are behind a lock, which is held for a copy.
pub(crate) fn kept_rows(
    dims: &[usize],
    len: usize,
    ctx: &ExecutionContext,
) -> Result<(DenseHostTensor, WriteRow)> {
    let mut kept = unspecified(ctx, DType::F32, dims)?;
    let rows = Mutex::new(kept.elements_mut_owned::<f32>()?);
    let write = move |row: usize, from: &[f32]| {
        let mut rows = rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows[row * len..][..len].copy_from_slice(from);
    };
    Ok((kept, Box::new(write)))
}

const OP: &str = "nn.SumNormalization";

/// Adds tensors, which are broadcast to one shape, and normalizes each row of the sum: subtracts
/// its mean if `is_centred` is true, divides it by its deviation or root mean square, multiplies it
/// with a scale and adds a bias. With `keeps_sum`, also returns the sum.
///
/// `gathers` has a number for each summand, in order: 0 for a tensor, and 1 for two operands, a
/// matrix and the indices of those of its rows that are added. The scale and the bias follow the
/// summands, and may be omitted.
///
/// # Errors
/// If the operands do not match or are not of single precision, or an index is out of range.
#[tfrt_op("nn.SumNormalization")]
fn sum_normalization(
    operands: &[AnyRef],
    #[attr] gathers: &[i64],
    #[attr] epsilon: f32,
    #[attr(default = true)] is_centred: bool,
    #[attr(default = false)] keeps_sum: bool,
    ctx: &ExecutionContext,
) -> Result<Vec<AnyRef>> {
    let mut operands = operands.iter();
    let (mut tensors, mut dims) = (Vec::with_capacity(gathers.len()), Vec::new());
    for &gathers in gathers {
        let rows = Rows::next(&mut operands, gathers != 0)?;
        dims = common(OP, &dims, &rows.dims)?;
        tensors.push(rows);
    }
    let Some((&len, row_dims)) = dims.split_last() else {
        return Err(invalid(format!("`{OP}`: expected rows, found none")));
    };
    let parameters = operands.map(|operand| parameter(operand, len));
    let parameters = parameters.collect::<Result<Vec<_>>>()?;
    if parameters.len() > 2 {
        return Err(invalid(format!(
            "`{OP}`: expected a scale and a bias behind the summands, found {} operands",
            parameters.len()
        )));
    }
    if product(&dims) == 0 {
        let empty = || Ok(AnyRef::available(unspecified(ctx, DType::F32, &dims)?));
        return (0..1 + usize::from(keeps_sum)).map(|_| empty()).collect();
    }
    let summands = tensors.iter().map(|rows| rows.summand(row_dims, len, ctx));
    let summands = summands.collect::<Result<Vec<_>>>()?;
    let norm = Norm::new(parameters.first(), parameters.get(1), epsilon, is_centred)?;
    let (sum, keep) = match keeps_sum {
        true => {
            let (sum, write) = kept_rows(&dims, len, ctx)?;
            let keep: Keep = Box::new(move |row, sum, _| write(row, sum));
            (Some(sum), Some(keep))
        }
        false => (None, None),
    };
    let (done, y) = start((&dims, len), summands, norm, keep, ctx)?;
    let results = std::iter::once(y).chain(sum);
    Ok(results.map(|result| after(done.clone(), result)).collect())
}

/// Returns a scale or a bias.
fn parameter(operand: &AnyRef, len: usize) -> Result<DenseHostTensor> {
    let tensor = dense(operand)?;
    if tensor.dtype() != DType::F32 || tensor.shape().dims() != [len] {
        return Err(invalid(format!(
            "`{OP}`: expected a scale or bias of f32 with {len} elements, found {}",
            tensor.metadata()
        )));
    }
    Ok(tensor)
}

/// The rows of a tensor, or those of a matrix that indices name.
struct Rows {
    tensor: DenseHostTensor,
    places: Option<Vec<i64>>,
    /// The shape of the rows that are added.
    dims: Vec<usize>,
}

impl Rows {
    fn next<'a>(operands: &mut impl Iterator<Item = &'a AnyRef>, gathers: bool) -> Result<Self> {
        let mut next = || {
            let missing = || invalid(format!("`{OP}`: expected more summands"));
            operands.next().ok_or_else(missing).and_then(dense)
        };
        let tensor = next()?;
        let own = tensor.shape().dims();
        if tensor.dtype() != DType::F32 || own.is_empty() || gathers && own.len() != 2 {
            return Err(invalid(format!(
                "`{OP}`: expected {} of f32, found {}",
                if gathers { "a matrix" } else { "rows" },
                tensor.metadata()
            )));
        }
        let (places, dims) = match gathers {
            true => {
                let indices = next()?;
                // The op that looks up rows alone has this error, too.
                let places = places_of("nn.Gather", &indices, own[0])?;
                (Some(places), [indices.shape().dims(), &own[1..]].concat())
            }
            false => (None, own.to_vec()),
        };
        Ok(Self {
            tensor,
            places,
            dims,
        })
    }

    /// Returns the rows as a summand of rows of this shape, which have `len` elements.
    fn summand(&self, rows: &[usize], len: usize, ctx: &ExecutionContext) -> Result<Summand> {
        let own = self.dims.split_last();
        let Some((_, own)) = own.filter(|(own, _)| **own == len) else {
            return Err(invalid(format!(
                "`{OP}`: expected rows of {len} elements, found a summand of shape {:?}",
                self.dims
            )));
        };
        let elements = self.tensor.elements_owned()?;
        if self.places.is_none() && own == rows {
            let starts = None;
            return Ok(Summand { elements, starts });
        }
        let mut starts = scratch::<u64>(ctx, product(rows))?;
        for (start, row) in starts.iter_mut().zip(Stretched::new(own, rows).places()) {
            let row = match &self.places {
                Some(places) => places[row] as usize,
                None => row,
            };
            *start = (row * len) as u64;
        }
        let starts = Some(starts);
        Ok(Summand { elements, starts })
    }
}
