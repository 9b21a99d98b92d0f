//! Dimensions that are computed: sums, products and quotients of other dimensions.

use tfrt_tensor::DenseHostTensor;

use super::{Dim, Known, MAX_RANK, attr, axis_of, flag, integers, windows};
use crate::dim_expr::DimExpr;
use crate::program::Attr;
use crate::rewrite::shape_values::{self, Elements};
use crate::rewrite::symbols::Symbols;

/// What is known of the call of an op.
struct Call<'a> {
    name: &'a str,
    attrs: &'a [(String, Attr)],
    operands: &'a [Known],
    constants: &'a [Option<&'a DenseHostTensor>],
    /// The elements of operands that are made from shapes.
    elements: &'a [Option<Elements>],
}

/// What is known of the results of a call.
pub(crate) struct Inferred {
    pub(crate) told: Vec<Known>,
    /// The elements of the first result, if it is made from shapes.
    pub(crate) elements: Option<Elements>,
}

/// Returns what is known of the results of a call. `made` are the elements of operands that are
/// made from shapes.
pub(crate) fn inferred(
    name: &str,
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    made: Vec<Option<Elements>>,
    symbols: &mut Symbols,
) -> Inferred {
    let mut told = super::results(name, attrs, operands, constants, &mut symbols.last);
    let elements = made
        .into_iter()
        .zip(constants)
        .map(|(made, constant)| match constant {
            Some(constant) => shape_values::of_constant(constant),
            None => made,
        });
    let elements: Vec<Option<Elements>> = elements.collect();
    let call = Call {
        name,
        attrs,
        operands,
        constants,
        elements: &elements,
    };
    if let Some(dims) = of_result(&call, told.first(), symbols)
        && let Some(told) = told.first_mut()
    {
        told.dims = Some(dims);
    }
    let elements = shape_values::result(
        name,
        attrs,
        operands,
        constants,
        &elements,
        told.first(),
        symbols,
    );
    Inferred { told, elements }
}

/// Returns the dimensions of the first result of an op, if more is known of them than
/// [`results`](super::results) tells.
fn of_result(call: &Call<'_>, told: Option<&Known>, symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let x = call.operands.first()?;
    let own = x.dims.as_deref();
    match call.name {
        "nn.Reshape" => reshaped(call, x, call.elements.get(1)?.as_ref()?, symbols),
        "nn.Expand" => expanded(own?, call.elements.get(1)?.as_ref()?, symbols),
        "nn.Fill" => shaped(call.elements.first()?.as_ref()?, symbols),
        "nn.Concat" => concatenated(call, symbols),
        "nn.Flatten" => {
            let own = own?;
            let axis = match attr(call.attrs, "axis") {
                Some(Attr::Int(axis)) => *axis,
                _ => 1,
            };
            let axis = match usize::try_from(axis) {
                Ok(axis) if axis == own.len() => axis,
                _ => axis_of(axis, own.len())?,
            };
            let sides = [symbols.product(&own[..axis]), symbols.product(&own[axis..])];
            Some(sides.map(|side| symbols.dim_or_unknown(side)).to_vec())
        }
        "nn.Range" => {
            let number = |at: usize| match call.elements.get(at)?.as_deref()? {
                [one] => one.clone(),
                _ => None,
            };
            let (start, limit, step) = (number(0)?, number(1)?, number(2)?);
            let is_positive = step.as_number().is_some_and(|step| step > 0);
            let len = limit.minus(&start).filter(|_| is_positive)?;
            let len = at_least_zero(len.divided_up(&step)?)?;
            Some(vec![symbols.dim(&len)])
        }
        "nn.Tile" => {
            let repeats = call.elements.get(1)?.as_ref()?;
            let own = own.filter(|own| own.len() == repeats.len())?;
            let dims = own.iter().zip(repeats).map(|(&dim, times)| {
                let extent = times
                    .as_ref()
                    .and_then(|times| symbols.extent(dim).times(times));
                symbols.dim_or_unknown(extent)
            });
            Some(dims.collect())
        }
        "nn.Slice" => sliced(call, own?, symbols),
        "nn.Pad" => padded(call, own?, symbols),
        "nn.Resize" => resized(call, own?, symbols),
        "nn.Conv" | "nn.MaxPool" | "nn.AveragePool" => moved(call, own?, told?, symbols),
        _ => None,
    }
}

fn at_least_zero(extent: DimExpr) -> Option<DimExpr> {
    match extent.is_non_negative() {
        true => Some(extent),
        false => extent.greatest(&DimExpr::number(0)),
    }
}

/// Returns the dimensions that a list says.
fn shaped(shape: &Elements, symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let dims = shape
        .iter()
        .map(|extent| symbols.dim_or_unknown(extent.clone()));
    (shape.len() <= MAX_RANK).then(|| dims.collect())
}

fn expanded(own: &[Dim], shape: &Elements, symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let shape = shaped(shape, symbols)?;
    Some(super::broadcast(own, &shape, &mut || symbols.unknown()))
}

/// Returns the dimensions of a reshaped tensor. An element of 0 stands for the operand's own
/// dimension, unless the op allows dimensions of 0; -1 stands for what the others leave.
fn reshaped(
    call: &Call<'_>,
    x: &Known,
    shape: &Elements,
    symbols: &mut Symbols,
) -> Option<Vec<Dim>> {
    if shape.len() > MAX_RANK {
        return None;
    }
    let allows_zero = flag(call.attrs, "allow_zero");
    let own = |axis: usize| x.dims.as_ref()?.get(axis).copied();
    let all = x.dims.as_ref().and_then(|own| symbols.product(own));
    let mut dims: Vec<Option<Dim>> = Vec::with_capacity(shape.len());
    // The sizes that are left: what -1 stands for, and those that may stand for the operand's own
    // sizes if they are 0 in a run.
    let mut left: Vec<(usize, Option<&DimExpr>)> = Vec::new();
    for (axis, element) in shape.iter().enumerate() {
        let number = element.as_ref().and_then(DimExpr::as_number);
        dims.push(match (number, element) {
            (Some(0), _) if !allows_zero => own(axis),
            (Some(-1), _) => {
                left.push((axis, None));
                None
            }
            (Some(size), _) => usize::try_from(size).ok().map(Dim::Fixed),
            (None, Some(element)) if element.is_non_negative() => {
                let own = own(axis).map(|dim| symbols.extent(dim));
                let is_safe = allows_zero
                    || own.is_some_and(|own| own == *element || own.vanishes_with(element));
                if !is_safe {
                    left.push((axis, Some(element)));
                }
                is_safe.then(|| symbols.dim(element))
            }
            (None, _) => None,
        });
    }
    if let (&[(axis, element)], Some(all)) = (&left[..], all) {
        let others = dims.iter().enumerate().filter(|(at, _)| *at != axis);
        let others: Option<Vec<Dim>> = others.map(|(_, dim)| *dim).collect();
        let rest = others.and_then(|others| {
            let product = symbols.product(&others)?;
            let rest = all.divided_exactly(&product)?;
            // If another size is 0, the product says nothing of this one: -1 then stands for 0. If
            // this one is 0, so are all elements: with other sizes than 0, the operand's own size
            // does not fit.
            let is_safe = others.iter().all(|dim| matches!(dim, Dim::Fixed(1..)))
                || element.is_none() && rest.vanishes_with(&product);
            let is_said = element.is_none_or(|element| *element == rest);
            (is_safe && is_said).then_some(rest)
        });
        dims[axis] = rest.map(|rest| symbols.dim(&rest));
    }
    let dims = dims.into_iter();
    Some(
        dims.map(|dim| dim.unwrap_or_else(|| symbols.unknown()))
            .collect(),
    )
}

fn concatenated(call: &Call<'_>, symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let Some(Attr::Int(axis)) = attr(call.attrs, "axis") else {
        return None;
    };
    let mut dims = call.operands.first()?.dims.clone()?;
    let axis = axis_of(*axis, dims.len())?;
    let mut operands = call.operands.iter();
    let sum = operands.try_fold(DimExpr::number(0), |sum, operand| {
        let dim = *operand.dims.as_ref()?.get(axis)?;
        sum.plus(&symbols.extent(dim))
    })?;
    dims[axis] = symbols.dim(&sum);
    Some(dims)
}

/// Returns the place of an operand, if the op has it.
fn place_of(call: &Call<'_>, slot: usize) -> Option<usize> {
    match attr(call.attrs, "slots") {
        Some(Attr::Ints(slots)) => slots.iter().position(|&known| known == slot as i64),
        _ => (slot < call.operands.len()).then_some(slot),
    }
}

/// Returns the elements of an operand that may be left out.
fn list_of<'c>(call: &'c Call<'_>, slot: usize) -> Option<&'c Elements> {
    call.elements.get(place_of(call, slot)?)?.as_ref()
}

/// Returns the numbers of an operand that may be left out.
fn numbers_of(call: &Call<'_>, slot: usize) -> Option<Vec<i64>> {
    integers((*call.constants.get(place_of(call, slot)?)?)?)
}

fn sliced(call: &Call<'_>, own: &[Dim], symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let (starts, ends) = (list_of(call, 1)?, list_of(call, 2)?);
    let axes: Vec<usize> = match place_of(call, 3) {
        Some(_) => numbers_of(call, 3)?
            .into_iter()
            .map(|axis| axis_of(axis, own.len()))
            .collect::<Option<_>>()?,
        None => (0..starts.len()).collect(),
    };
    let steps = match place_of(call, 4) {
        Some(_) => numbers_of(call, 4)?,
        None => vec![1; axes.len()],
    };
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return None;
    }
    let mut dims = own.to_vec();
    for (at, &axis) in axes.iter().enumerate() {
        let extent = symbols.extent(*own.get(axis)?);
        let step = DimExpr::number(steps[at]);
        let len = || {
            // Parts that are read backwards have other bounds.
            let is_forward = steps[at] > 0;
            let start = bound(starts[at].as_ref()?, &extent).filter(|_| is_forward)?;
            let end = bound(ends[at].as_ref()?, &extent)?;
            at_least_zero(end.minus(&start)?)?.divided_up(&step)
        };
        let len = len();
        dims[axis] = symbols.dim_or_unknown(len);
    }
    Some(dims)
}

/// Returns the bound of a slice: negative numbers count from the end, and numbers out of range
/// stand for the end.
fn bound(number: &DimExpr, extent: &DimExpr) -> Option<DimExpr> {
    match number.as_number() {
        Some(number) if number >= i64::from(i32::MAX) => Some(extent.clone()),
        Some(number) if number < 0 => at_least_zero(extent.plus(&DimExpr::number(number))?),
        Some(_) => number.least(extent),
        // Whether another number counts from the end depends on its sign.
        None => number.is_non_negative().then(|| number.least(extent))?,
    }
}

fn padded(call: &Call<'_>, own: &[Dim], symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let pads = list_of(call, 1)?;
    let axes: Vec<usize> = match place_of(call, 3) {
        Some(_) => numbers_of(call, 3)?
            .into_iter()
            .map(|axis| axis_of(axis, own.len()))
            .collect::<Option<_>>()?,
        None => (0..own.len()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return None;
    }
    let mut dims = own.to_vec();
    for (at, &axis) in axes.iter().enumerate() {
        let sum = || {
            let both = pads[at].as_ref()?.plus(pads[axes.len() + at].as_ref()?)?;
            symbols.extent(own[axis]).plus(&both)
        };
        let sum = sum();
        dims[axis] = symbols.dim_or_unknown(sum);
    }
    Some(dims)
}

/// Returns the dimensions of resized images, if the op is given sizes, or factors that are whole.
fn resized(call: &Call<'_>, own: &[Dim], symbols: &mut Symbols) -> Option<Vec<Dim>> {
    const SCALES: usize = 2;
    const SIZES: usize = 3;
    if attr(call.attrs, "aspect").is_some() {
        return None;
    }
    let axes: Vec<usize> = match attr(call.attrs, "axes") {
        Some(Attr::Ints(axes)) => axes
            .iter()
            .map(|&axis| axis_of(axis, own.len()))
            .collect::<Option<_>>()?,
        _ => (0..own.len()).collect(),
    };
    let mut dims = own.to_vec();
    if let Some(sizes) = list_of(call, SIZES) {
        let sizes = (sizes.len() == axes.len()).then_some(sizes)?;
        for (&axis, size) in axes.iter().zip(sizes) {
            dims[axis] = symbols.dim_or_unknown(size.clone());
        }
        return Some(dims);
    }
    let scales = (*call.constants.get(place_of(call, SCALES)?)?)?;
    let scales = scales.elements::<f32>().ok()?;
    if scales.len() != axes.len() {
        return None;
    }
    for (&axis, &scale) in axes.iter().zip(scales.iter()) {
        let is_whole = scale.fract() == 0.0 && (1.0..1e6).contains(&scale);
        let factor = is_whole.then(|| DimExpr::number(scale as i64));
        let size = factor.and_then(|factor| symbols.extent(own[axis]).times(&factor));
        dims[axis] = symbols.dim_or_unknown(size);
    }
    Some(dims)
}

/// Returns the dimensions of what windows are moved over, where they are not told.
fn moved(call: &Call<'_>, own: &[Dim], told: &Known, symbols: &mut Symbols) -> Option<Vec<Dim>> {
    let mut dims = told.dims.clone()?;
    let w = call.operands.get(1).and_then(|w| w.dims.as_deref());
    let sizes = windows::sizes(call.name, call.attrs, w)?;
    let first = if flag(call.attrs, "channels_last") {
        1
    } else {
        2
    };
    let skipped = sizes.len().saturating_sub(own.len().checked_sub(2)?);
    for (axis, &size) in sizes.iter().enumerate().skip(skipped) {
        let at = first + axis - skipped;
        let (&dim, place) = (own.get(at)?, dims.get_mut(at)?);
        if !matches!((dim, &place), (Dim::Symbol(_), Dim::Symbol(_))) || *place == dim {
            continue;
        }
        let extent = symbols.extent(dim);
        let count = windows::count(call.attrs, [axis, sizes.len()], &extent, size);
        *place = symbols.dim_or_unknown(count);
    }
    Some(dims)
}
