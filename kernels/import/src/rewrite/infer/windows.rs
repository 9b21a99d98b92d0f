//! The windows of convolutions and poolings: their sizes, and how often they fit.

use super::{Dim, attr, flag};
use crate::dim_expr::DimExpr;
use crate::program::Attr;

/// Returns the sizes of the windows of a convolution or pooling, if they are known.
pub(super) fn sizes(name: &str, attrs: &[(String, Attr)], w: Option<&[Dim]>) -> Option<Vec<usize>> {
    let is_last = flag(attrs, "channels_last");
    match name {
        "nn.Conv" => {
            let w = w?;
            let sizes = match is_last {
                true => w.get(..w.len().checked_sub(2)?)?,
                false => w.get(2..)?,
            };
            sizes.iter().map(|size| size.fixed()).collect()
        }
        "nn.MaxPool" | "nn.AveragePool" => match attr(attrs, "kernel_shape")? {
            Attr::Ints(sizes) => sizes
                .iter()
                .map(|&size| usize::try_from(size).ok())
                .collect(),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the number of windows of a size along an axis, of so many axes.
pub(super) fn result(
    attrs: &[(String, Attr)],
    [axis, num_axes]: [usize; 2],
    input: Dim,
    size: usize,
) -> Option<Dim> {
    let list = |name: &str, at: usize, default: i64| match attr(attrs, name) {
        None => Some(default),
        Some(Attr::Ints(numbers)) => numbers.get(at).copied(),
        Some(_) => None,
    };
    let stride = list("strides", axis, 1)?;
    let dilation = list("dilations", axis, 1)?;
    let covered = i64::try_from(size)
        .ok()?
        .checked_sub(1)?
        .checked_mul(dilation)?
        .checked_add(1)?;
    if stride < 1 || dilation < 1 || covered < 1 {
        return None;
    }
    let padding = match attr(attrs, "auto_pad") {
        None => None,
        Some(Attr::Text(mode)) => match mode.as_str() {
            "NOTSET" => None,
            "VALID" => Some(0),
            "SAME_UPPER" | "SAME_LOWER" => {
                return match input {
                    Dim::Fixed(extent) => {
                        let stride = usize::try_from(stride).ok()?;
                        Some(Dim::Fixed(extent.div_ceil(stride)))
                    }
                    Dim::Symbol(_) => (stride == 1).then_some(input),
                };
            }
            _ => return None,
        },
        Some(_) => return None,
    };
    let before = list("pads", axis, 0)?;
    let padding = match padding {
        Some(padding) => padding,
        None => before.checked_add(list("pads", num_axes + axis, 0)?)?,
    };
    let more = padding.checked_sub(covered)?;
    match input {
        // Rounding up and empty images have rules of their own.
        Dim::Fixed(extent) if extent > 0 && !flag(attrs, "ceil_mode") => {
            let room = i64::try_from(extent).ok()?.checked_add(more)?;
            let num = (room >= 0).then(|| room / stride + 1)?;
            usize::try_from(num).ok().map(Dim::Fixed)
        }
        Dim::Symbol(_) if stride == 1 && more == -1 => Some(input),
        _ => None,
    }
}

/// Returns the number of windows of a size along an axis that is an expression, unless rules for
/// rounding up apply.
pub(super) fn count(
    attrs: &[(String, Attr)],
    [axis, num_axes]: [usize; 2],
    input: &DimExpr,
    size: usize,
) -> Option<DimExpr> {
    let list = |name: &str, at: usize, default: i64| match attr(attrs, name) {
        None => Some(default),
        Some(Attr::Ints(numbers)) => numbers.get(at).copied(),
        Some(_) => None,
    };
    let stride = list("strides", axis, 1).filter(|&stride| stride > 0)?;
    let dilation = list("dilations", axis, 1).filter(|&dilation| dilation > 0)?;
    let auto_pad = match attr(attrs, "auto_pad") {
        Some(Attr::Text(mode)) => mode.as_str(),
        _ => "NOTSET",
    };
    let padding = match auto_pad {
        "NOTSET" => list("pads", axis, 0)?.checked_add(list("pads", num_axes + axis, 0)?)?,
        "VALID" => 0,
        "SAME_UPPER" | "SAME_LOWER" => return input.divided_up(&DimExpr::number(stride)),
        _ => return None,
    };
    if flag(attrs, "ceil_mode") {
        return None;
    }
    let covered = i64::try_from(size)
        .ok()?
        .checked_sub(1)?
        .checked_mul(dilation)?;
    let more = padding.checked_sub(covered)?.checked_sub(1)?;
    let room = input.plus(&DimExpr::number(more))?;
    room.divided(&DimExpr::number(stride))?
        .plus(&DimExpr::number(1))
}

#[cfg(test)]
mod tests {
    use super::super::tests::of;
    use super::super::{Known, results};
    use super::*;

    #[test]
    fn windows_have_as_many_results_as_they_move() {
        let ints = |name: &str, numbers: &[i64]| (name.to_owned(), Attr::Ints(numbers.to_vec()));
        let text = |name: &str, text: &str| (name.to_owned(), Attr::Text(text.to_owned()));
        let w = of(&[7, 3, 5, 3]);
        let result = |attrs: &[(String, Attr)], x: &Known| {
            let found = results(
                "nn.Conv",
                attrs,
                &[x.clone(), w.clone()],
                &[None; 2],
                &mut 100,
            );
            found[0].dims.clone().unwrap()
        };
        let fixed = |dims: [usize; 4]| dims.map(Dim::Fixed).to_vec();
        let x = of(&[2, 3, 12, 11]);
        assert_eq!(result(&[], &x), fixed([2, 7, 8, 9]));
        let attrs = [
            ints("strides", &[2, 3]),
            ints("pads", &[2, 1, 1, 0]),
            ints("dilations", &[2, 1]),
        ];
        assert_eq!(result(&attrs, &x), fixed([2, 7, 4, 4]));
        let same = [text("auto_pad", "SAME_UPPER"), ints("strides", &[2, 3])];
        assert_eq!(result(&same, &x), fixed([2, 7, 6, 4]));
        // A window that is larger than the image is an error of the op.
        assert!(result(&[], &of(&[2, 3, 4, 11]))[2].fixed().is_none());
        let mut symbolic = x;
        symbolic.dims.as_mut().unwrap()[2] = Dim::Symbol(1);
        let attrs = [ints("pads", &[2, 0, 2, 0])];
        let found = result(&attrs, &symbolic);
        assert_eq!(found[2..], [Dim::Symbol(1), Dim::Fixed(9)]);
        assert_eq!(result(&[], &symbolic)[2].fixed(), None);
        assert_ne!(result(&[], &symbolic)[2], Dim::Symbol(1));
    }
}
