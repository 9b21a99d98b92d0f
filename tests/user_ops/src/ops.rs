//! Ops of every kind.

use std::sync::atomic::{AtomicI64, Ordering};

use tfrt::core::metadata::{same_as, same_as_both, scalar};
use tfrt::prelude::*;
use tfrt::tensor::Shape;

/// Returns each element times a factor.
#[tfrt_op("user.Scale", T = [f32, f64], metadata = scaled, forward = x, function = scale)]
pub fn scale_elements<T: Element + From<f32> + std::ops::Mul<Output = T>>(
    x: Forwarded<'_, T>,
    #[attr(default = 2.0)] factor: f32,
    #[out] y: &mut [T],
) {
    x.map_to(y, |x| x * T::from(factor));
}

fn scaled(x: &TensorMetadata, _factor: f32) -> TensorMetadata {
    x.clone()
}

/// Returns the product of a column and a row.
#[tfrt_op("user.Outer", T = [i32, f32], metadata = outer_shape, function = outer)]
pub fn outer_product<T: Element + std::ops::Mul<Output = T>>(
    column: &[T],
    row: &[T],
    #[out] mut product: TensorViewMut<'_, T, 2>,
) {
    for (i, &a) in column.iter().enumerate() {
        for (j, &b) in row.iter().enumerate() {
            product[[i, j]] = a * b;
        }
    }
}

fn outer_shape(column: &TensorMetadata, row: &TensorMetadata) -> Result<TensorMetadata> {
    match (&*column.extents, &*row.extents) {
        (&[m], &[n]) if column.dtype == row.dtype => Ok(TensorMetadata::new(row.dtype, [m, n])),
        _ => Err(Error::new(format!(
            "{column} and {row} are not two vectors"
        ))),
    }
}

/// Returns the larger of two tensors, element by element.
#[tfrt_op("user.Larger", T = [i32, i64], metadata = same_as_both, function = larger)]
pub fn larger_elements<T: Element + Ord>(a: &[T], b: &[T], #[out] y: &mut [T]) {
    for (y, (a, b)) in y.iter_mut().zip(a.iter().zip(b)) {
        *y = *a.max(b);
    }
}

/// Returns the sums of a matrix along an axis.
#[tfrt_op("user.SumAlong", metadata = sum_shape, function = sum_along)]
pub fn sum_of_matrix(
    matrix: TensorView<'_, f32, 2>,
    #[host] axis: &[i64],
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let [rows, columns] = matrix.dims();
    let cells = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
    let (len, along): (usize, fn((usize, usize)) -> usize) = match axis {
        [0] => (columns, |(_, j)| j),
        [1] => (rows, |(i, _)| i),
        _ => return Err(Error::new(format!("expected axis 0 or 1, found {axis:?}"))),
    };
    let mut sums = vec![0.0_f32; len];
    for (i, j) in cells {
        sums[along((i, j))] += matrix[[i, j]];
    }
    Ok(DenseHostTensor::from_elements(
        ctx.allocator(),
        Shape::new(&[len])?,
        &sums,
    )?)
}

/// Which axis it is only the data tells.
fn sum_shape(matrix: &TensorMetadata, _axis: &TensorMetadata) -> Result<Option<TensorMetadata>> {
    match matrix.extents.len() {
        2 => Ok(None),
        rank => Err(Error::new(format!("expected a matrix, found rank {rank}"))),
    }
}

/// Returns the smallest and the largest element.
#[tfrt_op("user.Range", metadata = two_scalars, function = range)]
pub fn range_of_elements(x: &[f32], #[out] least: &mut [f32], #[out] most: &mut [f32]) {
    least[0] = x.iter().copied().fold(f32::INFINITY, f32::min);
    most[0] = x.iter().copied().fold(f32::NEG_INFINITY, f32::max);
}

fn two_scalars(x: &TensorMetadata) -> (TensorMetadata, TensorMetadata) {
    let one = scalar(x.dtype);
    (one.clone(), one)
}

/// Returns the elements that are larger than a bound: nobody knows before how many.
#[tfrt_op("user.Above", function = above)]
pub fn elements_above(
    x: &[f32],
    bound: Option<&DenseHostTensor>,
    ctx: &ExecutionContext,
) -> Result<DenseHostTensor> {
    let bound = match bound {
        Some(bound) => bound.elements::<f32>()?.first().copied().unwrap_or(0.0),
        None => 0.0,
    };
    let found: Vec<f32> = x.iter().copied().filter(|x| *x > bound).collect();
    Ok(DenseHostTensor::from_elements(
        ctx.allocator(),
        Shape::new(&[found.len()])?,
        &found,
    )?)
}

/// Returns how many elements all operands have together.
#[tfrt_op("user.CountAll", function = count_all)]
pub fn count_elements(tensors: Operands<'_, DenseHostTensor>) -> Result<DenseHostTensor> {
    let count: usize = tensors.iter().map(DenseHostTensor::num_elements).sum();
    Ok(DenseHostTensor::vector(&[count as i64])?)
}

/// Adds one to each element, in place.
#[tfrt_op("user.Increment", function = increment)]
pub fn increment_elements(x: &mut DenseHostTensor) -> Result<()> {
    x.elements_mut::<i32>()?.iter_mut().for_each(|x| *x += 1);
    Ok(())
}

/// A number that is drawn once.
pub struct Tickets(AtomicI64);

/// Returns a roll of tickets.
#[tfrt_op("user.NewTickets", function = new_tickets)]
pub fn make_tickets(#[attr] first: i64) -> ResourceTensor {
    ResourceTensor::new(Tickets(AtomicI64::new(first)))
}

/// Returns the next ticket.
#[tfrt_op("user.Draw", effect = "tickets", function = draw)]
pub fn draw_ticket(#[resource] tickets: &Tickets) -> Result<DenseHostTensor> {
    let ticket = tickets.0.fetch_add(1, Ordering::Relaxed);
    Ok(DenseHostTensor::vector(&[ticket])?)
}

/// Returns its operand, after a while.
#[tfrt_op("user.Later", metadata = same_as, function = later)]
pub async fn pass_later(x: &DenseHostTensor, host: &HostContext) -> DenseHostTensor {
    host.timers()
        .sleep(std::time::Duration::from_millis(1))
        .await;
    x.clone()
}

/// Returns how many bytes a file has.
#[tfrt_op("user.FileSize", blocking, function = file_size)]
pub fn size_of_file(path: &StringHostTensor) -> Result<DenseHostTensor> {
    let [path] = path.strings() else {
        return Err(Error::new("expected one path"));
    };
    let path = std::str::from_utf8(path).map_err(Error::other)?;
    let metadata = std::fs::metadata(path).map_err(Error::other)?;
    Ok(DenseHostTensor::vector(&[metadata.len() as i64])?)
}

/// Returns as many ones as the attribute `len` says, which may be of either integer type.
#[tfrt_op("user.Ones", raw)]
fn ones(call: &mut OpCall<'_>) -> Result<()> {
    let attrs = call.attrs();
    let len = attrs
        .get::<i64>("len")
        .or_else(|| attrs.get::<i32>("len").map(i64::from));
    let len = len.ok_or_else(|| Error::new("the attribute `len` is missing"))?;
    let len = usize::try_from(len).map_err(Error::other)?;
    call.set_result(
        0,
        AnyRef::available(DenseHostTensor::vector(&vec![1.0_f32; len])?),
    );
    Ok(())
}
