//! The element types and shapes of values, as far as rules need them.
//!
//! A type is a claim of what a value is if it is not an error. Ops that are not listed have unknown
//! results.

mod fused;

pub(crate) mod sizes;

mod windows;

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use crate::program::{Attr, Constant};
use crate::types::{InputDim, InputType};

pub(crate) use fused::by_heads;

/// A dimension: a number, or a symbol that stands for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dim {
    Fixed(usize),
    Symbol(u32),
}

impl Dim {
    pub(crate) fn fixed(self) -> Option<usize> {
        match self {
            Self::Fixed(extent) => Some(extent),
            Self::Symbol(_) => None,
        }
    }
}

/// What is known of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) dtype: Option<DType>,
    pub(crate) dims: Option<Vec<Dim>>,
}

impl Known {
    pub(crate) fn of_constant(constant: &Constant) -> Self {
        let dims = constant.shape().dims().iter();
        Self {
            dtype: Some(constant.dtype()),
            dims: Some(dims.map(|&extent| Dim::Fixed(extent)).collect()),
        }
    }

    /// Returns what a model declares. `symbol` returns the dimension of an axis that has a name, or
    /// none.
    pub(crate) fn of_declared(
        declared: &InputType,
        mut symbol: impl FnMut(usize, Option<&str>) -> Dim,
    ) -> Self {
        let dims = declared.dims.as_ref().map(|dims| {
            let dims = dims.iter().enumerate().map(|(axis, dim)| match dim {
                InputDim::Fixed(extent) => Dim::Fixed(*extent),
                InputDim::Symbol(name) => symbol(axis, Some(name)),
                InputDim::Unknown => symbol(axis, None),
            });
            dims.collect()
        });
        Self {
            dtype: declared.dtype,
            dims,
        }
    }

    pub(crate) fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }
}

/// Ops whose result has the type of the first operand.
const SAME: &[&str] = &[
    "nn.Abs",
    "nn.Activation",
    "nn.BatchNormalization",
    "nn.Ceil",
    "nn.Clip",
    "nn.Cos",
    "nn.Cumulate",
    "nn.Erf",
    "nn.Exp",
    "nn.Floor",
    "nn.GroupNormalization",
    "nn.HardSwish",
    "nn.Identity",
    "nn.InstanceNormalization",
    "nn.LayerNormalization",
    "nn.LocalResponseNormalization",
    "nn.Log",
    "nn.Mish",
    "nn.Neg",
    "nn.PRelu",
    "nn.Reciprocal",
    "nn.Relu",
    "nn.RmsNormalization",
    "nn.Round",
    "nn.Sigmoid",
    "nn.Sign",
    "nn.Sin",
    "nn.Softmax",
    "nn.Softplus",
    "nn.Softsign",
    "nn.Sqrt",
    "nn.Tanh",
    "nn.Trilu",
    "tf.LogicalNot",
];

/// Ops whose operands are broadcast to one shape, and whose result is Boolean.
const COMPARE: &[&str] = &[
    "nn.And",
    "nn.Equal",
    "nn.Or",
    "nn.Xor",
    "tf.Greater",
    "tf.GreaterEqual",
    "tf.Less",
    "tf.LessEqual",
];

/// The most dimensions of a tensor: more are an error of the run.
const MAX_RANK: usize = 32;

/// The most pieces of a tensor whose shapes are inferred: their number is an attribute of the op.
const MAX_PIECES: usize = 1 << 16;

/// Returns the names of ops that the lists of this file contain.
pub(crate) fn op_names() -> impl Iterator<Item = &'static str> {
    [SAME, COMPARE, BROADCAST].into_iter().flatten().copied()
}

/// Ops whose operands are broadcast to one shape, and whose result has their element type.
const BROADCAST: &[&str] = &[
    "nn.Div", "nn.Max", "nn.Min", "nn.Sum", "tf.AddV2", "tf.Mul", "tf.Sub",
];

fn attr<'a>(attrs: &'a [(String, Attr)], name: &str) -> Option<&'a Attr> {
    attrs
        .iter()
        .find_map(|(known, attr)| (known == name).then_some(attr))
}

fn flag(attrs: &[(String, Attr)], name: &str) -> bool {
    matches!(attr(attrs, name), Some(Attr::Bool(true)))
}

/// Returns the integers of a constant.
pub(crate) fn integers(tensor: &DenseHostTensor) -> Option<Vec<i64>> {
    match tensor.dtype() {
        DType::I64 => Some(tensor.elements::<i64>().ok()?.to_vec()),
        DType::I32 => {
            let elements = tensor.elements::<i32>().ok()?;
            Some(elements.iter().map(|&number| number.into()).collect())
        }
        _ => None,
    }
}

/// Returns the dimensions whose extents `nn.Shape` returns.
pub(crate) fn bounds(attrs: &[(String, Attr)], rank: usize) -> std::ops::Range<usize> {
    let whole = i64::try_from(rank).unwrap_or(i64::MAX);
    let bound = |name: &str, default: usize| match attr(attrs, name) {
        Some(Attr::Int(at)) => {
            let at = if *at < 0 {
                at.saturating_add(whole)
            } else {
                *at
            };
            usize::try_from(at.clamp(0, whole)).unwrap_or(default)
        }
        _ => default,
    };
    let (start, end) = (bound("start", 0), bound("end", rank));
    start..end.max(start)
}

/// Returns the axis that a number means.
pub(crate) fn axis_of(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 {
        axis.checked_add(i64::try_from(rank).ok()?)?
    } else {
        axis
    };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

/// Returns the common shape to which two shapes are broadcast, if it is certain.
pub(super) fn broadcast(a: &[Dim], b: &[Dim], new: &mut impl FnMut() -> Dim) -> Vec<Dim> {
    let rank = a.len().max(b.len());
    let at = |dims: &[Dim], axis: usize| match (axis + dims.len()).checked_sub(rank) {
        Some(axis) => dims[axis],
        None => Dim::Fixed(1),
    };
    (0..rank)
        .map(|axis| match (at(a, axis), at(b, axis)) {
            (x, y) if x == y => x,
            (Dim::Fixed(1), other) | (other, Dim::Fixed(1)) => other,
            (Dim::Fixed(extent), Dim::Symbol(_)) | (Dim::Symbol(_), Dim::Fixed(extent)) => {
                Dim::Fixed(extent)
            }
            _ => new(),
        })
        .collect()
}

/// Returns the common shape to which operands are broadcast.
fn broadcast_all(operands: &[Known], new: &mut impl FnMut() -> Dim) -> Option<Vec<Dim>> {
    let mut operands = operands.iter();
    operands.try_fold(Vec::new(), |dims, operand| {
        Some(broadcast(&dims, operand.dims.as_ref()?, new))
    })
}

/// Returns what is known of the results of an op.
pub(crate) fn results(
    name: &str,
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    num_symbols: &mut u32,
) -> Vec<Known> {
    if name == "nn.Split" {
        return split(attrs, operands, constants, num_symbols).unwrap_or_default();
    }
    if name == "nn.SumNormalization" {
        let mut new = || {
            *num_symbols = num_symbols.saturating_add(1);
            Dim::Symbol(*num_symbols)
        };
        return fused::sum_normalization(attrs, operands, &mut new).unwrap_or_default();
    }
    one(name, attrs, operands, constants, num_symbols)
        .into_iter()
        .collect()
}

/// Returns what is known of the pieces of a tensor.
fn split(
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    num_symbols: &mut u32,
) -> Option<Vec<Known>> {
    let x = operands.first()?;
    let dims = x.dims.as_ref()?;
    let (Some(Attr::Int(count)), Some(Attr::Int(axis))) =
        (attr(attrs, "count"), attr(attrs, "axis"))
    else {
        return None;
    };
    let axis = axis_of(*axis, dims.len())?;
    let count = usize::try_from(*count).ok();
    let count = count.filter(|count| (1..=MAX_PIECES).contains(count))?;
    let sizes = match operands.len() {
        1 => {
            let even = dims[axis].fixed().filter(|extent| extent % count == 0);
            even.map(|extent| vec![(extent / count) as i64; count])
        }
        _ => constants.get(1).copied().flatten().and_then(integers),
    };
    let sizes = sizes.filter(|sizes| sizes.len() == count);
    let pieces = (0..count).map(|piece| {
        let size = sizes
            .as_ref()
            .and_then(|sizes| usize::try_from(sizes[piece]).ok());
        let mut dims = dims.clone();
        dims[axis] = size.map_or_else(
            || {
                *num_symbols = num_symbols.saturating_add(1);
                Dim::Symbol(*num_symbols)
            },
            Dim::Fixed,
        );
        Known {
            dtype: x.dtype,
            dims: Some(dims),
        }
    });
    Some(pieces.collect())
}

/// Returns the dimensions of a part of a tensor.
fn slice(
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    new: &mut impl FnMut() -> Dim,
) -> Option<Vec<Dim>> {
    let own = operands.first()?.dims.as_ref()?;
    let place = |slot: usize| match attr(attrs, "slots") {
        Some(Attr::Ints(slots)) => slots.iter().position(|&known| known == slot as i64),
        _ => (slot < operands.len()).then_some(slot),
    };
    let numbers = |slot: usize| integers((*constants.get(place(slot)?)?)?);
    let (starts, ends) = (numbers(1), numbers(2));
    let axes: Option<Vec<usize>> = match place(3) {
        Some(_) => numbers(3)?
            .into_iter()
            .map(|axis| axis_of(axis, own.len()))
            .collect(),
        None => starts.as_ref().map(|starts| (0..starts.len()).collect()),
    };
    // Axes that are not known may be any.
    let Some(axes) = axes else {
        return Some(own.iter().map(|_| new()).collect());
    };
    let steps = match place(4) {
        Some(_) => numbers(4),
        None => Some(vec![1; axes.len()]),
    };
    let mut dims = own.clone();
    for (at, &axis) in axes.iter().enumerate() {
        let extent = dims
            .get(axis)?
            .fixed()
            .and_then(|extent| i64::try_from(extent).ok());
        let range = || {
            let extent = extent?;
            let bound = |numbers: &Option<Vec<i64>>| {
                let number = *numbers.as_ref()?.get(at)?;
                let number = if number < 0 {
                    number.saturating_add(extent)
                } else {
                    number
                };
                Some(number.clamp(0, extent))
            };
            let step = *steps.as_ref()?.get(at)?;
            // Parts that are read backwards have other bounds.
            let len = bound(&ends)?.saturating_sub(bound(&starts)?).max(0);
            (step > 0).then(|| (len as usize).div_ceil(step as usize))
        };
        dims[axis] = range().map_or_else(&mut *new, Dim::Fixed);
    }
    Some(dims)
}

/// Returns the dimensions that a tensor of integers says: its elements, if they are constant, and
/// otherwise as many as it has.
fn said(
    shape: Option<&Known>,
    constant: Option<&DenseHostTensor>,
    new: &mut impl FnMut() -> Dim,
) -> Option<Vec<Dim>> {
    if let Some(extents) = constant.and_then(integers) {
        let dims = extents.iter().map(|&extent| match usize::try_from(extent) {
            Ok(extent) => Dim::Fixed(extent),
            Err(_) => new(),
        });
        return Some(dims.collect());
    }
    match shape?.dims.as_deref()? {
        [Dim::Fixed(rank)] if *rank <= MAX_RANK => Some((0..*rank).map(|_| new()).collect()),
        _ => None,
    }
}

/// Returns what is known of the tensor that a convolution or product adds to its result.
fn summand<'a>(name: &str, attrs: &[(String, Attr)], operands: &'a [Known]) -> Option<&'a Known> {
    const SUMMAND: i64 = 3;
    if !matches!(name, "nn.Conv" | "nn.Gemm" | "nn.MatMul") || operands.len() <= 2 {
        return None;
    }
    let place = match attr(attrs, "slots") {
        Some(Attr::Ints(slots)) => slots.iter().position(|&slot| slot == SUMMAND)?,
        _ => SUMMAND as usize,
    };
    operands.get(place)
}

fn one(
    name: &str,
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    num_symbols: &mut u32,
) -> Option<Known> {
    let mut new = || {
        *num_symbols = num_symbols.saturating_add(1);
        Dim::Symbol(*num_symbols)
    };
    let x = operands.first()?;
    if SAME.contains(&name) {
        return Some(x.clone());
    }
    if BROADCAST.contains(&name) {
        let others = operands.iter().skip(1);
        return Some(others.fold(x.clone(), |x, y| Known {
            dtype: x.dtype.or(y.dtype),
            dims: match (&x.dims, &y.dims) {
                (Some(x), Some(y)) => Some(broadcast(x, y, &mut new)),
                _ => None,
            },
        }));
    }
    if COMPARE.contains(&name) {
        return Some(Known {
            dtype: Some(DType::I1),
            dims: match (&x.dims, &operands.get(1)?.dims) {
                (Some(x), Some(y)) => Some(broadcast(x, y, &mut new)),
                _ => None,
            },
        });
    }
    let of_x = |dims: Option<Vec<Dim>>| {
        Some(Known {
            dtype: x.dtype,
            dims,
        })
    };
    if let Some(summand) = summand(name, attrs, operands) {
        let plain: Vec<(String, Attr)> = attrs
            .iter()
            .filter(|(name, _)| name != "slots")
            .cloned()
            .collect();
        // The factors, or the image and the filter, determine the result without the summand.
        let result = one(name, &plain, &operands[..2], &constants[..2], num_symbols)?;
        let mut new = || {
            *num_symbols = num_symbols.saturating_add(1);
            Dim::Symbol(*num_symbols)
        };
        return of_x(match (&result.dims, &summand.dims) {
            (Some(result), Some(summand)) => Some(broadcast(result, summand, &mut new)),
            _ => None,
        });
    }
    let has_epilogue = || attr(attrs, "slots").is_some();
    match name {
        "nn.Pow" => {
            let y = operands.get(1)?;
            of_x(match (&x.dims, &y.dims) {
                (Some(x), Some(y)) => Some(broadcast(x, y, &mut new)),
                _ => None,
            })
        }
        "nn.Conv" | "nn.ConvTranspose" | "nn.MaxPool" | "nn.AveragePool" | "nn.GlobalPool" => {
            // What is added to the result may have more dimensions.
            if has_epilogue() {
                return of_x(None);
            }
            let rank = x.rank().or_else(|| match name {
                "nn.Conv" | "nn.ConvTranspose" => operands.get(1)?.rank(),
                _ => None,
            });
            let is_last = flag(attrs, "channels_last");
            let Some(rank @ 3..) = rank else {
                return of_x(None);
            };
            let mut dims: Vec<Dim> = (0..rank).map(|_| new()).collect();
            if let Some(x) = &x.dims {
                dims[0] = x[0];
            }
            let channel = if is_last { rank - 1 } else { 1 };
            let w = operands.get(1).and_then(|w| w.dims.as_deref());
            match name {
                "nn.Conv" => {
                    let filters = match is_last {
                        true => w.and_then(|w| w.last()),
                        false => w.and_then(|w| w.first()),
                    };
                    dims[channel] = filters.copied().unwrap_or(dims[channel]);
                }
                "nn.ConvTranspose" => {
                    let filters = w.filter(|_| is_last).and_then(|w| w.get(w.len() - 2));
                    dims[channel] = filters.copied().unwrap_or(dims[channel]);
                }
                _ => {
                    if let Some(x) = &x.dims {
                        dims[channel] = x[channel];
                    }
                    if name == "nn.GlobalPool" {
                        for (axis, dim) in dims.iter_mut().enumerate().skip(1) {
                            if axis != channel {
                                *dim = Dim::Fixed(1);
                            }
                        }
                    }
                }
            }
            if let Some(x) = &x.dims
                && let Some(sizes) = windows::sizes(name, attrs, w)
            {
                let first = if is_last { 1 } else { 2 };
                // Sequences with channels last have the windows of images of one row.
                let skipped = sizes.len().saturating_sub(rank - 2);
                for (axis, &size) in sizes.iter().enumerate().skip(skipped) {
                    let at = first + axis - skipped;
                    let result = windows::result(attrs, [axis, sizes.len()], x[at], size);
                    dims[at] = result.unwrap_or(dims[at]);
                }
            }
            of_x(Some(dims))
        }
        "nn.Gemm" if !has_epilogue() => {
            let rows = usize::from(flag(attrs, "transpose_a"));
            let columns = usize::from(!flag(attrs, "transpose_b"));
            let side = |known: Option<&Known>, axis: usize| {
                known.and_then(|known| known.dims.as_ref()?.get(axis).copied())
            };
            let rows = side(operands.first(), rows).unwrap_or_else(&mut new);
            let columns = side(operands.get(1), columns).unwrap_or_else(&mut new);
            of_x(Some(vec![rows, columns]))
        }
        "nn.MatMul" if !has_epilogue() => {
            let (Some(a), Some(b)) = (&x.dims, &operands.get(1)?.dims) else {
                return of_x(None);
            };
            let (mut a, mut b) = (a.clone(), b.clone());
            if a.len() < 2 || b.len() < 2 {
                return of_x(None);
            }
            if flag(attrs, "transpose_a") {
                let rank = a.len();
                a.swap(rank - 1, rank - 2);
            }
            if flag(attrs, "transpose_b") {
                let rank = b.len();
                b.swap(rank - 1, rank - 2);
            }
            let (rows, columns) = (a[a.len() - 2], b[b.len() - 1]);
            let mut dims = broadcast(&a[..a.len() - 2], &b[..b.len() - 2], &mut new);
            dims.extend([rows, columns]);
            of_x(Some(dims))
        }
        "nn.Quantize" => Some(Known {
            dtype: match (operands.get(2), attr(attrs, "dtype")) {
                (Some(zero), _) => zero.dtype,
                (None, Some(Attr::Type(dtype))) => Some(*dtype),
                (None, _) => Some(DType::Ui8),
            },
            dims: x.dims.clone(),
        }),
        "nn.Dequantize" => Some(Known {
            dtype: match attr(attrs, "dtype") {
                Some(Attr::Type(dtype)) => Some(*dtype),
                _ => operands.get(1)?.dtype,
            },
            dims: x.dims.clone(),
        }),
        "nn.QuantizedAdd" => Some(Known {
            dtype: operands.get(7)?.dtype,
            dims: match (&x.dims, &operands.get(3)?.dims) {
                (Some(x), Some(y)) => Some(broadcast(x, y, &mut new)),
                _ => None,
            },
        }),
        "nn.QuantizedConv" => Some(Known {
            dtype: operands.get(7)?.dtype,
            dims: x.dims.as_ref().map(|x| {
                let mut dims: Vec<Dim> = x.iter().map(|_| new()).collect();
                if let (Some(dim), Some(batch)) = (dims.first_mut(), x.first()) {
                    *dim = *batch;
                }
                dims
            }),
        }),
        "nn.QuantizedMatMul" => Some(Known {
            dtype: operands.get(7)?.dtype,
            dims: match (&x.dims, operands.get(3)?.dims.as_deref()) {
                (Some(x), Some(&[_, columns])) if !x.is_empty() => {
                    Some([&x[..x.len() - 1], &[columns]].concat())
                }
                _ => None,
            },
        }),
        "nn.ElementWise" => Some(Known {
            dtype: Some(DType::F32),
            dims: broadcast_all(operands, &mut new),
        }),
        "nn.RotateHalves" => of_x(broadcast_all(operands, &mut new)),
        "nn.DotProductAttention" => of_x(fused::attention(attrs, operands, &mut new)),
        "nn.Flatten" => of_x(Some(vec![new(), new()])),
        "nn.Transpose" => {
            let dims = match (attr(attrs, "perm"), &x.dims) {
                (Some(Attr::Ints(perm)), Some(dims)) => perm
                    .iter()
                    .map(|&axis| Some(dims[axis_of(axis, dims.len())?]))
                    .collect(),
                (Some(Attr::Ints(perm)), None) => Some(perm.iter().map(|_| new()).collect()),
                (_, Some(dims)) => Some(dims.iter().rev().copied().collect()),
                _ => None,
            };
            of_x(dims)
        }
        "nn.Reshape" => {
            let wanted = constants.get(1).copied().flatten().and_then(integers);
            let wanted = wanted.filter(|wanted| wanted.len() <= MAX_RANK);
            let dims = wanted.map(|wanted| {
                let dims = wanted
                    .iter()
                    .enumerate()
                    .map(|(axis, &extent)| match extent {
                        0 if !flag(attrs, "allow_zero") => {
                            let own = x.dims.as_ref().and_then(|dims| dims.get(axis).copied());
                            own.unwrap_or_else(&mut new)
                        }
                        extent => match usize::try_from(extent) {
                            Ok(extent) => Dim::Fixed(extent),
                            Err(_) => new(),
                        },
                    });
                dims.collect()
            });
            of_x(dims.or_else(|| said(operands.get(1), None, &mut new)))
        }
        "nn.Slice" => of_x(slice(attrs, operands, constants, &mut new)),
        "nn.Expand" => {
            let target = said(
                operands.get(1),
                constants.get(1).copied().flatten(),
                &mut new,
            );
            of_x(match (&x.dims, target) {
                (Some(x), Some(target)) => Some(broadcast(x, &target, &mut new)),
                _ => None,
            })
        }
        // Only the rank is known: the ops compute the sizes.
        "nn.Pad" | "nn.Resize" => {
            let dims = x.dims.as_ref().map(|own| own.iter().map(|_| new()));
            of_x(dims.map(Iterator::collect))
        }
        "nn.Tile" => {
            let dims = x.dims.as_ref().map(|own| own.iter().map(|_| new()));
            of_x(dims.map(Iterator::collect))
        }
        "nn.Size" => Some(Known {
            dtype: Some(DType::I64),
            dims: Some(Vec::new()),
        }),
        "nn.Range" => of_x(Some(vec![new()])),
        "nn.Fill" => Some(Known {
            dtype: operands.get(1).and_then(|value| value.dtype),
            dims: said(Some(x), constants.first().copied().flatten(), &mut new),
        }),
        "nn.IsNaN" => Some(Known {
            dtype: Some(DType::I1),
            dims: x.dims.clone(),
        }),
        "nn.Unsqueeze" => {
            let axes = constants.get(1).copied().flatten().and_then(integers)?;
            let dims = x.dims.as_ref().and_then(|own| {
                // More dimensions are an error of the run.
                let rank = Some(own.len() + axes.len()).filter(|&rank| rank <= MAX_RANK)?;
                let axes: Option<Vec<usize>> =
                    axes.iter().map(|&axis| axis_of(axis, rank)).collect();
                let axes = axes?;
                let mut own = own.iter().copied();
                let dims = (0..rank).map(|axis| match axes.contains(&axis) {
                    true => Some(Dim::Fixed(1)),
                    false => own.next(),
                });
                dims.collect()
            });
            of_x(dims)
        }
        "nn.Squeeze" => {
            let axes = constants.get(1).copied().flatten().and_then(integers)?;
            let dims = x.dims.as_ref().and_then(|own| {
                let axes: Option<Vec<usize>> =
                    axes.iter().map(|&axis| axis_of(axis, own.len())).collect();
                let axes = axes?;
                let kept = own.iter().enumerate();
                let kept = kept.filter(|(axis, _)| !axes.contains(axis));
                Some(kept.map(|(_, dim)| *dim).collect())
            });
            of_x(dims)
        }
        "nn.Reduce" => {
            let axes = constants.get(1).copied().flatten().and_then(integers);
            let keeps = attr(attrs, "keep_dims") != Some(&Attr::Bool(false));
            let dims = match (axes, &x.dims) {
                (Some(axes), Some(own)) if !axes.is_empty() => {
                    let axes: Option<Vec<usize>> =
                        axes.iter().map(|&axis| axis_of(axis, own.len())).collect();
                    let axes = axes?;
                    let dims = own.iter().enumerate();
                    let dims = dims.filter_map(|(axis, dim)| match axes.contains(&axis) {
                        true => keeps.then_some(Dim::Fixed(1)),
                        false => Some(*dim),
                    });
                    Some(dims.collect())
                }
                _ => None,
            };
            of_x(dims)
        }
        "nn.Concat" => {
            let Some(Attr::Int(axis)) = attr(attrs, "axis") else {
                return of_x(None);
            };
            let dims = x.dims.as_ref().and_then(|own| {
                let axis = axis_of(*axis, own.len())?;
                let mut dims = own.clone();
                let extents: Option<Vec<usize>> = operands
                    .iter()
                    .map(|operand| operand.dims.as_ref()?.get(axis)?.fixed())
                    .collect();
                let sum = extents.and_then(|extents| {
                    let mut extents = extents.into_iter();
                    extents.try_fold(0_usize, usize::checked_add)
                });
                dims[axis] = sum.map_or_else(&mut new, Dim::Fixed);
                Some(dims)
            });
            of_x(dims)
        }
        "nn.Gather" => {
            let indices = operands.get(1)?;
            let axis = match attr(attrs, "axis") {
                Some(Attr::Int(axis)) => *axis,
                _ => 0,
            };
            let dims = match (&x.dims, &indices.dims) {
                (Some(own), Some(indices)) => axis_of(axis, own.len())
                    .map(|axis| [&own[..axis], indices, &own[axis + 1..]].concat()),
                _ => None,
            };
            of_x(dims)
        }
        "nn.Where" => {
            let (y, z) = (operands.get(1)?, operands.get(2)?);
            let dims = match (&x.dims, &y.dims, &z.dims) {
                (Some(x), Some(y), Some(z)) => {
                    let both = broadcast(y, z, &mut new);
                    Some(broadcast(x, &both, &mut new))
                }
                _ => None,
            };
            Some(Known {
                dtype: y.dtype.or(z.dtype),
                dims,
            })
        }
        "tfrt.Cast" => Some(Known {
            dtype: match attr(attrs, "DstT") {
                Some(Attr::Type(dtype)) => Some(*dtype),
                _ => None,
            },
            dims: x.dims.clone(),
        }),
        "nn.CommonExtent" => Some(Known {
            dtype: Some(DType::I64),
            dims: Some(vec![Dim::Fixed(1)]),
        }),
        "nn.Shape" => {
            let len = x.rank().map(|rank| bounds(attrs, rank).len());
            Some(Known {
                dtype: Some(DType::I64),
                dims: Some(vec![len.map_or_else(&mut new, Dim::Fixed)]),
            })
        }
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A tensor of f32.
    pub(super) fn of(dims: &[usize]) -> Known {
        Known {
            dtype: Some(DType::F32),
            dims: Some(dims.iter().map(|&extent| Dim::Fixed(extent)).collect()),
        }
    }

    #[test]
    fn pieces_have_no_shapes_if_they_are_too_many() {
        let pieces = |count: i64| {
            let attrs = [
                ("count".to_owned(), Attr::Int(count)),
                ("axis".to_owned(), Attr::Int(0)),
            ];
            results("nn.Split", &attrs, &[of(&[1 << 40, 3])], &[None], &mut 0)
        };
        assert_eq!(pieces(4), vec![of(&[1 << 38, 3]); 4]);
        assert_eq!(pieces(1 << 40), []);
        assert_eq!(pieces(0), []);
    }

    #[test]
    fn parts_keep_their_rank_if_nothing_else_is_known() {
        let operands = [of(&[2, 3]), Known::default(), Known::default()];
        let found = results("nn.Slice", &[], &operands, &[None; 3], &mut 0);
        assert_eq!(found[0].rank(), Some(2));
        assert!(
            found[0]
                .dims
                .as_ref()
                .unwrap()
                .iter()
                .all(|dim| dim.fixed().is_none())
        );
    }
}
