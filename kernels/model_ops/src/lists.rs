//! Lists of tensors, optional values, and conditions of loops.
//!
//! A list is one value, a [`ListHostTensor`]. So is the mark that a value is absent; a present one
//! is the value itself.

use tfrt::prelude::*;
use tfrt_tensor::{DenseHostTensor, I1, ListHostTensor};

use crate::pieces::{concatenated, window};
use crate::{Slots, allocate, axis_of, dense, extents, invalid, made, pieces, whole_numbers};

/// Returns an operand as a list.
fn list(op: &str, operand: &AnyRef) -> Result<ListHostTensor> {
    let list = operand.try_read::<ListHostTensor>();
    let list = list.map_err(|_| invalid(format!("`{op}`: expected a list of tensors")))?;
    Ok(list.clone())
}

/// Returns the tensors of a present list.
fn tensors<'a>(op: &str, list: &'a ListHostTensor) -> Result<&'a [DenseHostTensor]> {
    let tensors = list.tensors();
    tensors.ok_or_else(|| invalid(format!("`{op}`: expected a list, found an absent value")))
}

/// Returns the number of tensors of a present list.
fn len(op: &str, operand: &AnyRef) -> Result<usize> {
    Ok(tensors(op, &list(op, operand)?)?.len())
}

/// Returns an operand as a list to change. Nothing is copied if this is the only reference to it;
/// the operand is lost then, so the kernel does this last.
fn taken(op: &str, operand: &AnyRef) -> Result<ListHostTensor> {
    let list = ListHostTensor::take(operand);
    list.map_err(|_| invalid(format!("`{op}`: expected a list of tensors")))
}

/// Returns the place in a list that a tensor of one integer means; negative ones count from the
/// end.
fn place(op: &'static str, number: &DenseHostTensor, len: usize) -> Result<usize> {
    let number = match whole_numbers(op, number)?[..] {
        [number] => number,
        _ => return Err(invalid(format!("`{op}`: expected a single position"))),
    };
    let from_start = if number < 0 {
        number.saturating_add(len as i64)
    } else {
        number
    };
    let place = usize::try_from(from_start)
        .ok()
        .filter(|&place| place < len);
    place.ok_or_else(|| {
        invalid(format!(
            "`{op}`: position {number} is out of range for a list of length {len}"
        ))
    })
}

/// Creates a list of tensors with the same element type.
///
/// # Errors
/// If there are no tensors, or the types differ.
#[tfrt_op("nn.List")]
fn list_of(operands: &[AnyRef]) -> Result<ListHostTensor> {
    const OP: &str = "nn.List";
    let tensors = operands.iter().map(dense).collect::<Result<Vec<_>>>()?;
    let Some(first) = tensors.first() else {
        return Err(invalid(format!(
            "`{OP}`: expected at least one tensor, found none"
        )));
    };
    Ok(ListHostTensor::new(first.dtype(), tensors)?)
}

/// Creates a list without tensors, for elements of a type.
#[tfrt_op("nn.EmptyList")]
fn empty_list(#[attr] dtype: DType) -> Result<ListHostTensor> {
    Ok(ListHostTensor::new(dtype, Vec::new())?)
}

/// Returns the tensor at an index of a list.
///
/// # Errors
/// If there is no such index.
#[tfrt_op("nn.ListAt")]
fn list_at(x: &AnyRef, at: &AnyRef) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ListAt";
    let list = list(OP, x)?;
    let tensors = tensors(OP, &list)?;
    Ok(tensors[place(OP, &dense(at)?, tensors.len())?].clone())
}

/// Returns the tensor at an index of a list; a tensor that is not a list is returned for every
/// index.
///
/// # Errors
/// If there is no such index.
#[tfrt_op("nn.ListOrSelfAt")]
fn list_or_self_at(x: &AnyRef, at: &AnyRef) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ListOrSelfAt";
    if x.is::<DenseHostTensor>() {
        return dense(x);
    }
    let list = list(OP, x)?;
    let tensors = tensors(OP, &list)?;
    Ok(tensors[place(OP, &dense(at)?, tensors.len())?].clone())
}

/// Inserts a tensor before an index of a list, or at its end. Operands are the list, the tensor and
/// the index, which may be omitted.
///
/// # Errors
/// If there is no such index, or the tensor has another type.
#[tfrt_op("nn.ListInsert")]
fn list_insert(operands: &[AnyRef]) -> Result<ListHostTensor> {
    const OP: &str = "nn.ListInsert";
    let (Some(x), Some(tensor)) = (operands.first(), operands.get(1)) else {
        return Err(invalid(format!("`{OP}`: expected a list and a tensor")));
    };
    let tensor = dense(tensor)?;
    let len = len(OP, x)?;
    let at = match operands.get(2) {
        // Behind the last one is a place, too; from the end, places count without it.
        Some(at) if whole_numbers(OP, &dense(at)?)? == [len as i64] => len,
        Some(at) => place(OP, &dense(at)?, len)?,
        None => len,
    };
    let mut list = taken(OP, x)?;
    list.insert(at, tensor)?;
    Ok(list)
}

/// Removes the tensor at an index of a list, by default the last one.
///
/// # Errors
/// If there is no such index.
#[tfrt_op("nn.ListErase")]
fn list_erase(operands: &[AnyRef]) -> Result<ListHostTensor> {
    const OP: &str = "nn.ListErase";
    let Some(x) = operands.first() else {
        return Err(invalid(format!("`{OP}`: expected a list")));
    };
    let len = len(OP, x)?;
    let at = match operands.get(1) {
        Some(at) => place(OP, &dense(at)?, len)?,
        None => len.checked_sub(1).ok_or_else(|| {
            invalid(format!(
                "`{OP}` cannot remove an element from an empty list"
            ))
        })?,
    };
    let mut list = taken(OP, x)?;
    list.remove(at)?;
    Ok(list)
}

/// Returns the number of tensors of a list.
///
/// # Errors
/// If the operand is not a list.
#[tfrt_op("nn.ListLen")]
fn list_len(x: &AnyRef, ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ListLen";
    let len = len(OP, x)? as i64;
    made(ctx, &[], |_| len)
}

/// The most parts of one size of a tensor without elements, each of which takes memory.
const MAX_EMPTY_PARTS: usize = 1 << 16;

/// Splits a tensor along an axis into a list of pieces. The second operand gives the sizes of the
/// pieces, or one size for all. Without it they have size 1, and the axis is removed unless
/// `keep_dims`.
///
/// # Errors
/// If there is no such axis, or the sizes do not add up to its extent.
#[tfrt_op("nn.SplitToList")]
fn split_to_list(
    operands: &[AnyRef],
    #[attr(default = 0)] axis: i64,
    #[attr(default = true)] keep_dims: bool,
    ctx: &ExecutionContext,
) -> Result<ListHostTensor> {
    const OP: &str = "nn.SplitToList";
    let slots = Slots::new(OP, operands, None);
    let x = slots.need(0, "x")?;
    let dims = x.shape().dims();
    let axis = axis_of(OP, axis, dims.len())?;
    let extent = dims[axis];
    let given = slots.get(1)?;
    let given_each = given.as_ref().filter(|sizes| sizes.shape().rank() == 0);
    if x.num_elements() == 0
        && extent > MAX_EMPTY_PARTS
        && (given.is_none() || given_each.is_some())
    {
        return Err(invalid(format!(
            "`{OP}`: a tensor of shape {dims:?} is empty, but its dimension {axis} is too large"
        )));
    }
    let sizes = match &given {
        None => vec![1; extent],
        Some(sizes) if sizes.shape().rank() == 0 => {
            let each = extents(OP, &whole_numbers(OP, sizes)?)?[0];
            if each == 0 {
                return Err(invalid(format!(
                    "`{OP}`: expected a positive size of parts, found 0"
                )));
            }
            (0..extent.div_ceil(each))
                .map(|piece| each.min(extent - piece * each))
                .collect()
        }
        Some(sizes) => extents(OP, &whole_numbers(OP, sizes)?)?,
    };
    let sum = sizes
        .iter()
        .try_fold(0_usize, |sum, &size| sum.checked_add(size));
    if sum != Some(extent) {
        return Err(invalid(format!(
            "`{OP}`: a dimension of size {extent} cannot be split into parts of sizes {sizes:?}"
        )));
    }
    let mut start = 0;
    let mut all = Vec::with_capacity(sizes.len());
    for size in sizes {
        let (mut begin, mut piece) = (vec![0; dims.len()], dims.to_vec());
        (begin[axis], piece[axis]) = (start, size);
        start += size;
        let cut = window(OP, &x, &begin, &vec![1; dims.len()], &piece, ctx)?;
        all.push(if given.is_none() && !keep_dims {
            piece.remove(axis);
            pieces::with_dims(&cut, &piece)?
        } else {
            cut
        });
    }
    Ok(ListHostTensor::new(x.dtype(), all)?)
}

/// Tensors of one shape, stacked along a new axis.
fn stacked(
    op: &'static str,
    tensors: &[DenseHostTensor],
    axis: i64,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let rank = tensors.first().map_or(0, |first| first.shape().rank());
    let axis = axis_of(op, axis, rank + 1)?;
    let wide = tensors.iter().map(|tensor| {
        let mut dims = tensor.shape().dims().to_vec();
        dims.insert(axis.min(dims.len()), 1);
        pieces::with_dims(tensor, &dims)
    });
    let wide = wide.collect::<Result<Vec<_>>>()?;
    concatenated(op, &wide, axis as i64, ctx)
}

/// Concatenates the tensors of a list along an axis, or stacks them along a new one.
///
/// # Errors
/// If the list is empty, or the tensors do not match.
#[tfrt_op("nn.ConcatList")]
fn concat_list(
    x: &AnyRef,
    #[attr] axis: i64,
    #[attr(default = false)] new_axis: bool,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.ConcatList";
    let list = list(OP, x)?;
    match tensors(OP, &list)? {
        [] => Err(invalid(format!(
            "`{OP}`: expected a list with tensors, found an empty list"
        ))),
        tensors if new_axis => stacked(OP, tensors, axis, ctx),
        tensors => concatenated(OP, tensors, axis, ctx),
    }
}

/// Stacks the tensors of a list along a new axis, in reverse with `reverse`. An empty list becomes
/// an empty tensor of `dtype`, whose other extents are `dims`.
///
/// # Errors
/// If the tensors do not match.
#[tfrt_op("nn.StackList")]
fn stack_list(
    x: &AnyRef,
    #[attr(default = 0)] axis: i64,
    #[attr(default = false)] reverse: bool,
    #[attr] dtype: Option<DType>,
    #[attr] dims: Option<&[i64]>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.StackList";
    let list = list(OP, x)?;
    let tensors = tensors(OP, &list)?;
    if tensors.is_empty() {
        let mut dims = extents(OP, dims.unwrap_or_default())?;
        let axis = axis_of(OP, axis, dims.len() + 1)?;
        dims.insert(axis, 0);
        return allocate(ctx, dtype.unwrap_or(list.dtype()), &dims);
    }
    if reverse {
        let turned: Vec<DenseHostTensor> = tensors.iter().rev().cloned().collect();
        return stacked(OP, &turned, axis, ctx);
    }
    stacked(OP, tensors, axis, ctx)
}

/// Adds a tensor to the end of a list; an empty list takes the tensor's type.
///
/// # Errors
/// If the type of the tensor differs from that of the list.
#[tfrt_op("nn.ListPush")]
fn list_push(x: &AnyRef, tensor: &AnyRef) -> Result<ListHostTensor> {
    const OP: &str = "nn.ListPush";
    let tensor = dense(tensor)?;
    let len = len(OP, x)?;
    if len == 0 {
        return Ok(ListHostTensor::new(tensor.dtype(), vec![tensor])?);
    }
    let mut list = taken(OP, x)?;
    list.insert(len, tensor)?;
    Ok(list)
}

/// Returns the mark that a value is absent.
#[tfrt_op("nn.Absent")]
fn absent() -> ListHostTensor {
    ListHostTensor::absent()
}

fn is_absent(x: &AnyRef) -> bool {
    let list = x.try_read::<ListHostTensor>();
    list.is_ok_and(|list| list.tensors().is_none())
}

/// Returns whether a value is present; `false` without an operand.
#[tfrt_op("nn.IsPresent")]
fn is_present(operands: &[AnyRef], ctx: &ExecutionContext) -> Result<DenseHostTensor> {
    let found = operands.first().is_some_and(|x| !is_absent(x));
    made(ctx, &[], |_| I1::from(found))
}

/// Returns a value that must be present.
///
/// # Errors
/// If it is absent.
#[tfrt_op("nn.Present")]
fn present(x: &AnyRef) -> Result<AnyRef> {
    if is_absent(x) {
        return Err(invalid(
            "`nn.Present`: expected a value, found an absent one",
        ));
    }
    Ok(x.clone())
}

/// Returns whether a loop continues: if its number of iterations is below the limit, and the
/// condition is true. Operands are the number, the limit and the condition, each with one element.
///
/// # Errors
/// If an operand does not have exactly one element.
#[tfrt_op("nn.GoesOn")]
fn goes_on(
    round: &AnyRef,
    limit: &AnyRef,
    condition: &AnyRef,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    const OP: &str = "nn.GoesOn";
    let number = |name: &str, x: &AnyRef| match whole_numbers(OP, &dense(x)?)?[..] {
        [number] => Ok(number),
        _ => Err(invalid(format!(
            "`{OP}`: expected `{name}` with a single element"
        ))),
    };
    let condition = dense(condition)?;
    if condition.num_elements() != 1 {
        return Err(invalid(format!(
            "`{OP}`: expected `condition` as a single boolean"
        )));
    }
    let is_true = bool::from(condition.elements::<I1>()?[0]);
    let goes_on = is_true && number("round", round)? < number("limit", limit)?;
    made(ctx, &[], |_| I1::from(goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_nobody_else_has_is_changed_in_place() {
        let number = |number: i64| DenseHostTensor::vector(&[number]).unwrap();
        let mut room = Vec::with_capacity(4);
        room.push(number(0));
        let list = ListHostTensor::new(DType::I64, room).unwrap();
        let place = |list: &ListHostTensor| list.tensors().unwrap().as_ptr();
        let first = place(&list);
        let operand = AnyRef::available(list);
        let pushed = list_push(&operand, &AnyRef::available(number(1))).unwrap();
        assert_eq!(place(&pushed), first);
        let operand = AnyRef::available(pushed);
        let inserted = list_insert(&[operand.clone(), AnyRef::available(number(2))]).unwrap();
        assert_ne!(place(&inserted), first);
        assert_eq!(len("nn.ListLen", &operand).unwrap(), 2);
        let inserted = list_insert(&[operand, AnyRef::available(number(2))]).unwrap();
        assert_eq!(place(&inserted), first);
        let erased = list_erase(&[AnyRef::available(inserted)]).unwrap();
        assert_eq!(
            (place(&erased), erased.tensors().unwrap().len()),
            (first, 2)
        );
    }
}
