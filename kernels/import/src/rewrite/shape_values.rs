//! The elements of small tensors of integers that are made from shapes.
//!
//! Exporters compute the operands of reshapes, slices and ranges from the shapes of other values.
//! Their elements are expressions over dimensions, which are followed from where a shape is taken
//! to where it is used.

use tfrt_support::DType;
use tfrt_tensor::DenseHostTensor;

use super::infer::{Known, axis_of, bounds, integers};
use super::symbols::Symbols;
use crate::dim_expr::DimExpr;
use crate::program::Attr;

/// The most elements that are followed.
pub(super) const MAX_ELEMENTS: usize = 64;

/// The elements of a tensor of at most one dimension, as far as they are known.
pub(crate) type Elements = Vec<Option<DimExpr>>;

/// Returns the elements of a constant.
pub(crate) fn of_constant(tensor: &DenseHostTensor) -> Option<Elements> {
    if tensor.num_elements() > MAX_ELEMENTS || tensor.shape().dims().len() > 1 {
        return None;
    }
    let numbers = integers(tensor)?.into_iter();
    Some(
        numbers
            .map(|number| Some(DimExpr::number(number)))
            .collect(),
    )
}

/// Returns the numbers of a constant list.
fn list_of(constants: &[Option<&DenseHostTensor>], at: usize) -> Option<Vec<i64>> {
    let list = (*constants.get(at)?)?;
    let is_short = list.num_elements() <= MAX_ELEMENTS && list.shape().rank() <= 1;
    is_short.then(|| integers(list))?
}

/// Returns `true` if an attribute is the axis of a list.
fn is_along_list(attrs: &[(String, Attr)], default: Option<i64>) -> bool {
    let axis = attrs.iter().find_map(|(name, attr)| match attr {
        Attr::Int(axis) if name == "axis" => Some(*axis),
        _ => None,
    });
    matches!(axis.or(default), Some(0 | -1))
}

/// Returns `true` if operands have one element type for certain: an op fails for different ones.
fn have_one_type(operands: &[Known]) -> bool {
    let mut types = operands.iter().map(|operand| operand.dtype);
    let first = types.next().flatten();
    first.is_some() && types.all(|dtype| dtype == first)
}

/// Returns the elements of the result of an op, of which `told` is known. They are only known if
/// the op cannot fail: rules drop ops that compute what is known.
pub(crate) fn result(
    name: &str,
    attrs: &[(String, Attr)],
    operands: &[Known],
    constants: &[Option<&DenseHostTensor>],
    elements: &[Option<Elements>],
    told: Option<&Known>,
    symbols: &Symbols,
) -> Option<Elements> {
    let rank = |at: usize| operands.get(at).and_then(Known::rank);
    let first = || elements.first()?.clone();
    match name {
        "nn.Shape" => {
            let dims = operands.first()?.dims.as_ref()?;
            let part = dims.get(bounds(attrs, dims.len()))?;
            Some(part.iter().map(|&dim| Some(symbols.extent(dim))).collect())
        }
        "nn.Size" => {
            let dims = operands.first()?.dims.as_ref()?;
            Some(vec![symbols.product(dims)])
        }
        "nn.Identity" => first(),
        "tfrt.Cast" => {
            let to = attrs.iter().find(|(name, _)| name == "DstT");
            let is_wide = to.is_some_and(|(_, to)| *to == Attr::Type(DType::I64));
            is_wide.then(first).flatten()
        }
        // A scalar becomes a list of one element, or the other way round.
        "nn.Reshape" | "nn.Squeeze" | "nn.Unsqueeze" => {
            let has_list = rank(0).is_some_and(|rank| rank <= 1);
            let is_list = told.and_then(Known::rank).is_some_and(|rank| rank <= 1);
            let fits = match (name, operands.len()) {
                ("nn.Squeeze", 1) => has_list,
                ("nn.Reshape", _) => matches!(list_of(constants, 1)?[..], [] | [1 | -1]),
                // Axes out of range leave no rank to tell, and repeated ones are an error.
                _ => has_list && is_list && list_of(constants, 1)?.len() <= 1,
            };
            first().filter(|elements| elements.len() == 1 && fits)
        }
        "tf.AddV2" | "tf.Sub" | "tf.Mul" | "nn.Div" | "nn.Min" | "nn.Max" => {
            let all = elements.iter().cloned().collect::<Option<Vec<_>>>()?;
            // Narrower integers wrap where expressions do not.
            let are_wide = |known: &Known| known.dtype == Some(DType::I64);
            if !operands.iter().all(are_wide) {
                return None;
            }
            let mut all = all.into_iter();
            let start = all.next()?;
            all.try_fold(start, |a, b| pairwise(name, &a, &b))
        }
        "nn.Equal" => match elements {
            [Some(a), Some(b)] if have_one_type(operands) => pairwise(name, a, b),
            _ => None,
        },
        "nn.Where" => match elements {
            [Some(condition), Some(x), Some(y)] if have_one_type(&operands[1..]) => {
                chosen(condition, x, y)
            }
            _ => None,
        },
        "nn.Range" => {
            let number = |at: usize| match elements.get(at)?.as_deref()? {
                [Some(one)] => one.as_number(),
                _ => None,
            };
            let (start, limit, step) = (number(0)?, number(1)?, number(2)?);
            let most = (MAX_ELEMENTS as i64).saturating_mul(step);
            let is_short = step > 0 && limit.checked_sub(start)? <= most;
            let step = usize::try_from(step).ok().filter(|_| is_short)?;
            let range = (start..limit).step_by(step);
            Some(range.map(|number| Some(DimExpr::number(number))).collect())
        }
        "nn.Fill" => {
            let [Some(len), Some(value)] = elements else {
                return None;
            };
            let len = match &len[..] {
                [] => 1,
                [Some(len)] => usize::try_from(len.as_number()?).ok()?,
                _ => return None,
            };
            (len <= MAX_ELEMENTS && value.len() == 1).then(|| vec![value[0].clone(); len])
        }
        "nn.Gather" => {
            let from = first().filter(|_| rank(0) == Some(1) && is_along_list(attrs, Some(0)))?;
            let indices = list_of(constants, 1)?;
            let picked = indices
                .iter()
                .map(|&index| Some(from[axis_of(index, from.len())?].clone()));
            picked.collect()
        }
        "nn.Slice" => {
            let from = first().filter(|_| rank(0) == Some(1))?;
            let is_plain = attrs.iter().all(|(name, _)| name != "slots");
            let number = |at: usize| match list_of(constants, at)?[..] {
                [number] => Some(number),
                _ => None,
            };
            let is_along = operands.len() <= 3 || matches!(number(3), Some(0 | -1));
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
            part.filter(|_| is_plain && is_along && steps_by_one)
        }
        "nn.Concat" => {
            let is_list = |at: usize| rank(at) == Some(1);
            let fits = is_along_list(attrs, None) && have_one_type(operands);
            if !fits || !(0..operands.len()).all(is_list) {
                return None;
            }
            let all = elements.iter().cloned().collect::<Option<Vec<_>>>()?;
            let all = all.concat();
            (all.len() <= MAX_ELEMENTS).then_some(all)
        }
        _ => None,
    }
}

/// Returns the elements at the same places of lists, one of which may be a single element.
fn places<'e>(lists: &[&'e Elements]) -> Option<Vec<Vec<&'e Option<DimExpr>>>> {
    let len = lists.iter().map(|list| list.len()).max()?;
    let fits = lists
        .iter()
        .all(|list| list.len() == len || list.len() == 1);
    let at = |list: &&'e Elements, index: usize| match list.len() {
        1 => &list[0],
        _ => &list[index],
    };
    let all = (0..len).map(|index| lists.iter().map(|list| at(list, index)).collect());
    fits.then(|| all.collect())
}

fn pairwise(name: &str, a: &Elements, b: &Elements) -> Option<Elements> {
    // One element of rank 1 and a scalar look alike; so do their results.
    let pairs = places(&[a, b])?.into_iter();
    let all = pairs.map(|pair| match pair[..] {
        [Some(a), Some(b)] => computed(name, a, b),
        _ => None,
    });
    Some(all.collect())
}

/// Returns `true` if a number is the same in a run, where integers wrap: its factors leave room for
/// dimensions. Sums and products need not be: what they are is wrapped in the end.
fn is_without_wrapping(extent: &DimExpr) -> bool {
    extent.as_number().is_some() || extent.times(&DimExpr::number(1 << 32)).is_some()
}

fn computed(name: &str, a: &DimExpr, b: &DimExpr) -> Option<DimExpr> {
    let wraps_alike = matches!(name, "tf.AddV2" | "tf.Sub" | "tf.Mul");
    if !wraps_alike && ![a, b].into_iter().all(is_without_wrapping) {
        return None;
    }
    match name {
        "tf.AddV2" => a.plus(b),
        "tf.Sub" => a.minus(b),
        "tf.Mul" => a.times(b),
        "nn.Min" => a.least(b),
        "nn.Max" => a.greatest(b),
        // Integers are rounded towards zero, and expressions down.
        "nn.Div" => {
            let is_positive = b.as_number().is_some_and(|number| number > 0);
            (is_positive && a.is_non_negative()).then(|| a.divided(b))?
        }
        "nn.Equal" => {
            let lead = a.minus(b)?;
            if let Some(number) = lead.as_number() {
                return Some(DimExpr::number((number == 0).into()));
            }
            // `length + 1` is 0 for no length.
            let one_less = lead.minus(&DimExpr::number(1))?;
            let behind = DimExpr::number(-1).minus(&lead)?;
            let differ = one_less.is_non_negative() || behind.is_non_negative();
            differ.then(|| DimExpr::number(0))
        }
        _ => None,
    }
}

/// Returns the elements that conditions choose.
fn chosen(condition: &Elements, x: &Elements, y: &Elements) -> Option<Elements> {
    let all = places(&[condition, x, y])?.into_iter();
    let all = all.map(|places| match places[..] {
        [Some(condition), x, y] => match condition.as_number()? {
            0 => y.clone(),
            _ => x.clone(),
        },
        [None, Some(x), Some(y)] if x == y => Some(x.clone()),
        _ => None,
    });
    Some(all.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::infer::Dim;

    fn list(extents: &[DimExpr]) -> Elements {
        extents.iter().cloned().map(Some).collect()
    }

    #[test]
    fn elements_are_those_of_ops_that_cannot_fail() {
        let list_of = |dtype| Known {
            dtype: Some(dtype),
            dims: Some(vec![Dim::Fixed(1)]),
        };
        let elements = [1, 2].map(|number| Some(list(&[DimExpr::number(number)])));
        let joined = |second: DType, axis: i64| {
            let operands = [list_of(DType::I64), list_of(second)];
            let axis = [("axis".to_owned(), Attr::Int(axis))];
            let symbols = Symbols::default();
            result(
                "nn.Concat",
                &axis,
                &operands,
                &[None, None],
                &elements,
                None,
                &symbols,
            )
        };
        let both = list(&[DimExpr::number(1), DimExpr::number(2)]);
        assert_eq!(joined(DType::I64, -1), Some(both));
        assert_eq!(joined(DType::I32, -1), None);
        assert_eq!(joined(DType::I64, 1), None);
    }

    #[test]
    fn elements_are_computed_one_by_one() {
        let n = DimExpr::number;
        let x = DimExpr::symbol("x");
        let all = list(&[n(7), x.clone()]);
        let one = list(&[n(2)]);
        let result = |name: &str| pairwise(name, &all, &one).unwrap();
        assert_eq!(result("tf.AddV2"), list(&[n(9), x.plus(&n(2)).unwrap()]));
        assert_eq!(result("nn.Div"), list(&[n(3), x.divided(&n(2)).unwrap()]));
        // What may be negative is rounded in another direction.
        let less = pairwise("tf.Sub", &all, &one).unwrap();
        assert_eq!(pairwise("nn.Div", &less, &one).unwrap()[1], None);
        assert_eq!(
            pairwise("nn.Equal", &all, &one).unwrap(),
            vec![Some(n(0)), None]
        );
        let minus = list(&[n(-1)]);
        assert_eq!(
            pairwise("nn.Equal", &all, &minus).unwrap(),
            list(&[n(0), n(0)])
        );
        let picked = chosen(&list(&[n(1), n(0)]), &one, &all).unwrap();
        assert_eq!(picked, list(&[n(2), x]));
        assert!(places(&[&all, &list(&[n(1), n(2), n(3)])]).is_none());
    }
}
