//! The elements of small tensors of integers that are made from shapes.
//!
//! Exporters compute the operand of a reshape from the shapes of other values. Its elements are
//! dimensions, which are followed from where a shape is taken to where it is used.

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::infer::{Dim, Known, axis_of, bounds, broadcast, integers};
use crate::program::Attr;

/// The most elements that are followed.
const MAX_ELEMENTS: usize = 64;

/// The elements of a tensor of at most one dimension, as far as they are dimensions.
pub(crate) type Elements = Vec<Option<Dim>>;

/// Returns the elements of a constant.
pub(crate) fn of_constant(tensor: &DenseHostTensor) -> Option<Elements> {
    if tensor.num_elements() > MAX_ELEMENTS || tensor.shape().dims().len() > 1 {
        return None;
    }
    let numbers = integers(tensor)?.into_iter();
    let dims = numbers.map(|number| usize::try_from(number).ok().map(Dim::Fixed));
    Some(dims.collect())
}

/// Returns the elements of the result of an op.
pub(crate) fn result(
    name: &str,
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    elements: &[Option<Elements>],
) -> Option<Elements> {
    let rank = |at: usize| operands.get(at).and_then(Known::rank);
    let first = || elements.first()?.clone();
    match name {
        "nn.Shape" => {
            let dims = operands.first()?.dims.as_ref()?;
            let part = dims.get(bounds(attrs, dims.len()))?;
            Some(part.iter().map(|&dim| Some(dim)).collect())
        }
        "nn.Identity" => first(),
        "tfrt.Cast" => {
            let to = attrs.iter().find(|(name, _)| name == "DstT");
            let is_wide = to.is_some_and(|(_, to)| *to == Attr::Type(DType::I64));
            is_wide.then(first).flatten()
        }
        // A scalar becomes a list of one element, or the other way round.
        "nn.Reshape" | "nn.Squeeze" | "nn.Unsqueeze" => {
            first().filter(|elements| elements.len() == 1)
        }
        "nn.Gather" => {
            let from = first().filter(|_| rank(0) == Some(1))?;
            let indices = (*constants.get(1)?)?;
            let is_short = indices.num_elements() <= MAX_ELEMENTS;
            let indices = is_short.then(|| integers(indices))??;
            let picked = indices
                .iter()
                .map(|&index| Some(from[axis_of(index, from.len())?]));
            picked.collect()
        }
        "nn.Slice" => {
            let from = first().filter(|_| rank(0) == Some(1))?;
            let is_plain = attrs.iter().all(|(name, _)| name != "slots");
            let number = |at: usize| match integers((*constants.get(at)?)?)?[..] {
                [number] => Some(number),
                _ => None,
            };
            let steps_by_one = operands.len() <= 4 || number(4) == Some(1);
            let len = i64::try_from(from.len()).ok()?;
            let place = |at: usize| {
                let number = number(at)?;
                let number = if number < 0 {
                    number.saturating_add(len)
                } else {
                    number
                };
                usize::try_from(number.clamp(0, len)).ok()
            };
            let (start, end) = (place(1)?, place(2)?);
            let part = from.get(start..end.max(start)).map(<[_]>::to_vec);
            part.filter(|_| is_plain && steps_by_one)
        }
        "nn.Concat" => {
            let is_list = |at: usize| rank(at) == Some(1);
            if !(0..operands.len()).all(is_list) {
                return None;
            }
            let all = elements.iter().cloned().collect::<Option<Vec<_>>>()?;
            let all = all.concat();
            (all.len() <= MAX_ELEMENTS).then_some(all)
        }
        _ => None,
    }
}

/// Returns the dimensions of a tensor that is broadcast to a shape.
pub(crate) fn expanded(own: &[Dim], shape: &Elements, mut new: impl FnMut() -> Dim) -> Vec<Dim> {
    let shape = shape.iter().map(|element| element.unwrap_or_else(&mut new));
    let shape: Vec<Dim> = shape.collect();
    broadcast(own, &shape, &mut new)
}

/// Returns the dimensions of a reshaped tensor. An element of 0 stands for the operand's own
/// dimension, unless the op allows dimensions of 0.
pub(crate) fn reshaped(
    attrs: &[(String, Attr)],
    x: &Known,
    shape: &Elements,
    mut new: impl FnMut() -> Dim,
) -> Vec<Dim> {
    let allows_zero = attrs
        .iter()
        .any(|(name, attr)| name == "allow_zero" && *attr == Attr::Bool(true));
    let own = |axis: usize| x.dims.as_ref()?.get(axis).copied();
    let dims = shape
        .iter()
        .enumerate()
        .map(|(axis, &element)| match element {
            Some(Dim::Fixed(0)) if !allows_zero => own(axis).unwrap_or_else(&mut new),
            // A size of 0 that is only known at run time takes that of the operand, too.
            Some(Dim::Fixed(size)) => Dim::Fixed(size),
            Some(dim) if allows_zero || own(axis) == Some(dim) => dim,
            _ => new(),
        });
    dims.collect()
}
