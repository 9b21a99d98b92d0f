//! The collectives as exchanges: what is sent in each phase, and what becomes of it.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use half::{bf16, f16};
use prost::bytes::Bytes;
use tfrt_host::HostContext;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, HostBuffer, OwnedElements, Shape, TensorError};

use super::super::all_gather::{Layout, check_axis};
use super::super::header::{Operation, Part, parameter_of};
use super::super::split::{chunk, chunk_bytes};
use super::super::{Reducible, Reduction, checks, write_all, writes_input};
use super::MemberPlace;
use super::exchange::{Outgoing, Step, Then};
use super::message::Arrival;
use crate::error::Gather;

/// What an operation sends first, and what follows.
type First = (Outgoing, Step);

pub(super) const BARRIER: Part = Part {
    operation: Operation::Barrier,
    dtype: DType::Ui8,
    num_elements: 0,
    reduction: None,
};

pub(super) fn part_of(operation: Operation, tensor: &DenseHostTensor) -> Part {
    Part {
        operation,
        dtype: tensor.dtype(),
        num_elements: tensor.num_elements(),
        reduction: None,
    }
}

pub(super) fn reduction_of(
    operation: Operation,
    reduction: Reduction,
    tensor: &DenseHostTensor,
) -> Part {
    Part {
        reduction: Some(reduction),
        ..part_of(operation, tensor)
    }
}

pub(super) fn gather_along(axis: u64) -> Operation {
    Operation::AllGather(u32::try_from(axis).unwrap_or(u32::MAX))
}

/// The part of an all-gather of any shapes: the numbers of elements may differ.
pub(super) fn gather_any_along(axis: u64, tensor: &DenseHostTensor) -> Part {
    Part {
        num_elements: 0,
        ..part_of(
            Operation::GatherShapes(u32::try_from(axis).unwrap_or(u32::MAX)),
            tensor,
        )
    }
}

/// Elements that are borrowed while they are sent.
struct Lent {
    elements: OwnedElements<u8>,
    /// Ends after the borrow: fields are dropped in order.
    _work: Gather,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.elements
    }
}

/// Borrows the elements of a tensor until they are sent. The work lasts as long.
pub(super) fn lend(tensor: &DenseHostTensor, work: &Gather) -> Result<Bytes, Error> {
    Ok(Bytes::from_owner(Lent {
        elements: tensor.buffer().elements_owned()?,
        _work: work.clone(),
    }))
}

/// Checks the size of a message's elements.
fn require_bytes(arrival: &Arrival, expected: usize) -> Result<(), Error> {
    let found = arrival.elements.len_bytes();
    match found == expected {
        true => Ok(()),
        false => Err(TensorError::WrongBufferSize { expected, found }.into()),
    }
}

/// Writes ranges of bytes into a tensor.
fn write_ranges<'a>(
    tensor: &DenseHostTensor,
    parts: impl Iterator<Item = (Range<usize>, &'a HostBuffer)>,
) -> Result<(), Error> {
    // A handle of the same memory, which keeps its own borrows.
    let mut tensor = tensor.clone();
    let mut elements = tensor.buffer_mut().write()?;
    for (range, part) in parts {
        elements[range].copy_from_slice(&part.read()?);
    }
    Ok(())
}

/// Cuts elements into the chunks of all members.
fn chunks_of(elements: &Bytes, part_len: usize, size: usize, element_bytes: usize) -> Outgoing {
    let chunks =
        (0..size).map(|member| elements.slice(chunk_bytes(part_len, size, member, element_bytes)));
    Outgoing::Each(chunks.collect())
}

/// Combines the chunks of all members, the own one first.
type Combine = fn(
    &Arc<dyn HostAllocator>,
    MemberPlace,
    Reduction,
    &DenseHostTensor,
    Vec<Option<Arrival>>,
) -> Result<HostBuffer, Error>;

/// The number of elements that are combined at a time: those of several members fit into the first
/// caches.
const TILE_LEN: usize = 2048;

fn combine<T: Reducible>(
    allocator: &Arc<dyn HostAllocator>,
    place: MemberPlace,
    reduction: Reduction,
    input: &DenseHostTensor,
    mut arrivals: Vec<Option<Arrival>>,
) -> Result<HostBuffer, Error> {
    let MemberPlace { index, size } = place;
    let own = chunk(input.num_elements(), size, index);
    let elements = input.elements::<T>()?;
    let own = &elements[own];
    let mut in_order = (1..size).map(|distance| {
        let arrival = arrivals[(index + distance) % size].take();
        let arrival = arrival.ok_or_else(|| Error::new("the message of a member is missing"))?;
        require_bytes(&arrival, size_of_val(own))?;
        Ok::<_, Error>(arrival.elements)
    });
    let Some(first) = in_order.next() else {
        // Nothing to combine: the mean of one element is that element.
        return Ok(HostBuffer::copied(allocator, own)?);
    };
    // The result takes the place of the first chunk that has come.
    let mut combined = first?;
    let others: Vec<HostBuffer> = in_order.collect::<Result<_, _>>()?;
    let others: Result<Vec<_>, _> = others.iter().map(HostBuffer::elements::<T>).collect();
    let others = others?;
    let mut so_far = combined.elements_mut::<T>()?;
    for start in (0..own.len()).step_by(TILE_LEN) {
        let tile = start..own.len().min(start + TILE_LEN);
        let so_far = &mut so_far[tile.clone()];
        reduction.combine_onto(&own[tile.clone()], so_far)?;
        for other in &others {
            reduction.combine_into(so_far, &other[tile.clone()])?;
        }
        reduction.finish_all(so_far, size);
    }
    drop(so_far);
    Ok(combined)
}

fn combine_of(dtype: DType) -> Result<Combine, Error> {
    Ok(match dtype {
        DType::I8 => combine::<i8>,
        DType::I16 => combine::<i16>,
        DType::I32 => combine::<i32>,
        DType::I64 => combine::<i64>,
        DType::Ui8 => combine::<u8>,
        DType::Ui16 => combine::<u16>,
        DType::Ui32 => combine::<u32>,
        DType::Ui64 => combine::<u64>,
        DType::F16 => combine::<f16>,
        DType::Bf16 => combine::<bf16>,
        DType::F32 => combine::<f32>,
        DType::F64 => combine::<f64>,
        other => return Err(checks::cannot_be_reduced(other)),
    })
}

pub(super) fn all_reduce(
    place: MemberPlace,
    (host, memory): (&HostContext, Arc<dyn HostAllocator>),
    reduction: Reduction,
    input: DenseHostTensor,
    output: DenseHostTensor,
    work: &Gather,
) -> Result<First, Error> {
    checks::all_reduce(reduction, &input, &output)?;
    let combine = combine_of(input.dtype())?;
    let (len, size) = (input.num_elements(), place.size);
    let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
    let outgoing = chunks_of(&lend(&input, work)?, len, size, element_bytes);
    let writes_input = writes_input(host, &input, &output);
    let range_of = move |member| chunk_bytes(len, size, member, element_bytes);
    let step = move |arrivals: Vec<Option<Arrival>>| {
        let combined = combine(&memory, place, reduction, &input, arrivals)?;
        let bytes = Bytes::from_owner(combined.elements_owned::<u8>()?);
        let last = move |arrivals: Vec<Option<Arrival>>| {
            for (member, arrival) in arrivals.iter().enumerate() {
                if let Some(arrival) = arrival {
                    require_bytes(arrival, range_of(member).len())?;
                }
            }
            let write = move || {
                let parts = || {
                    arrivals.iter().enumerate().map(|(member, arrival)| {
                        let elements = arrival.as_ref().map(|arrival| &arrival.elements);
                        (range_of(member), elements.unwrap_or(&combined))
                    })
                };
                write_ranges(&output, parts())?;
                match writes_input {
                    true => write_ranges(&input, parts()),
                    false => Ok(()),
                }
            };
            Ok(Then::Write(Box::new(write)))
        };
        Ok(Then::Exchange(
            Outgoing::All(Vec::new(), bytes),
            Box::new(last),
        ))
    };
    Ok((outgoing, Box::new(step)))
}

pub(super) fn reduce_scatter(
    place: MemberPlace,
    memory: Arc<dyn HostAllocator>,
    reduction: Reduction,
    input: DenseHostTensor,
    output: DenseHostTensor,
    work: &Gather,
) -> Result<First, Error> {
    checks::reduce_scatter(place, reduction, &input, &output)?;
    let combine = combine_of(input.dtype())?;
    let (len, size) = (input.num_elements(), place.size);
    let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
    let outgoing = chunks_of(&lend(&input, work)?, len, size, element_bytes);
    let step = move |arrivals: Vec<Option<Arrival>>| {
        let combined = combine(&memory, place, reduction, &input, arrivals)?;
        let write = move || Ok(write_all(&output, &combined.read()?)?);
        Ok(Then::Write(Box::new(write)))
    };
    Ok((outgoing, Box::new(step)))
}

pub(super) fn broadcast(
    place: MemberPlace,
    tensor: DenseHostTensor,
    sender: usize,
    work: &Gather,
) -> Result<First, Error> {
    let is_sender = place.index == sender;
    let bytes = match is_sender {
        true => lend(&tensor, work)?,
        false => Bytes::new(),
    };
    let step = move |mut arrivals: Vec<Option<Arrival>>| {
        let arrival = arrivals[sender].take();
        if let Some(arrival) = &arrival {
            require_bytes(arrival, tensor.buffer().len_bytes())?;
        }
        let write = move || match arrival {
            Some(arrival) => Ok(write_all(&tensor, &arrival.elements.read()?)?),
            None => Ok(()),
        };
        Ok(Then::Write(Box::new(write)))
    };
    Ok((Outgoing::All(Vec::new(), bytes), Box::new(step)))
}

pub(super) fn barrier() -> First {
    let step = |_| Ok(Then::Write(Box::new(|| Ok(()))));
    (Outgoing::All(Vec::new(), Bytes::new()), Box::new(step))
}

/// Places the elements of all members in a buffer.
fn scatter(
    layout: &Layout,
    element_bytes: usize,
    own: &DenseHostTensor,
    arrivals: &[Option<Arrival>],
    result: &mut [u8],
) -> Result<(), Error> {
    for (member, arrival) in arrivals.iter().enumerate() {
        let elements = arrival.as_ref().map(|arrival| &arrival.elements);
        let elements = elements.unwrap_or(own.buffer()).read()?;
        layout.scatter(member, element_bytes, &elements, result);
    }
    Ok(())
}

pub(super) fn all_gather(
    place: MemberPlace,
    input: DenseHostTensor,
    output: DenseHostTensor,
    axis: u64,
    work: &Gather,
) -> Result<First, Error> {
    let layout = checks::all_gather(place, &input, &output, axis)?;
    let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
    let outgoing = Outgoing::All(Vec::new(), lend(&input, work)?);
    let step = move |arrivals: Vec<Option<Arrival>>| {
        for arrival in arrivals.iter().flatten() {
            require_bytes(arrival, input.buffer().len_bytes())?;
        }
        let write = move || {
            if input.buffer().address() == output.buffer().address() {
                // The only member gathers its tensor into itself.
                return Ok(());
            }
            let mut output = output.clone();
            let mut result = output.buffer_mut().write()?;
            scatter(&layout, element_bytes, &input, &arrivals, &mut result)
        };
        Ok(Then::Write(Box::new(write)))
    };
    Ok((outgoing, Box::new(step)))
}

pub(super) fn all_gather_any(
    place: MemberPlace,
    host: &Arc<HostContext>,
    input: DenseHostTensor,
    axis: u64,
    gathered: Arc<Mutex<Option<DenseHostTensor>>>,
    work: &Gather,
) -> Result<First, Error> {
    let axis = check_axis(axis, &input)?;
    let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
    let outgoing = Outgoing::All(input.shape().dims().to_vec(), lend(&input, work)?);
    let host = Arc::clone(host);
    let step = move |arrivals: Vec<Option<Arrival>>| {
        let own = input.shape();
        let mut shapes = Vec::with_capacity(place.size);
        for arrival in &arrivals {
            let Some(arrival) = arrival else {
                shapes.push(own.clone());
                continue;
            };
            let shape = checks::shape_to_gather(own, axis, &arrival.dims)?;
            let expected = shape.num_elements().checked_mul(element_bytes);
            require_bytes(arrival, expected.unwrap_or(usize::MAX))?;
            shapes.push(shape);
        }
        let layout = Layout::new(&shapes, axis)?;
        let shape = Shape::new(layout.dims())?;
        let mut result = DenseHostTensor::zeroed(host.allocator(), input.dtype(), shape)?;
        let mut elements = result.buffer_mut().write()?;
        scatter(&layout, element_bytes, &input, &arrivals, &mut elements)?;
        drop(elements);
        let write = move || {
            *gathered.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            Ok(())
        };
        Ok(Then::Write(Box::new(write)))
    };
    Ok((outgoing, Box::new(step)))
}

pub(super) fn all_to_all(
    place: MemberPlace,
    input: DenseHostTensor,
    output: DenseHostTensor,
    work: &Gather,
) -> Result<First, Error> {
    let chunk_len = checks::all_to_all(place, &input, &output)?;
    let MemberPlace { index, size } = place;
    let len = input.num_elements();
    let element_bytes = tfrt_tensor::element_bytes(input.dtype())?;
    let bytes = lend(&input, work)?;
    let outgoing = chunks_of(&bytes, len, size, element_bytes);
    // A copy: the output may be the input.
    let own = Bytes::copy_from_slice(&bytes[chunk_bytes(len, size, index, element_bytes)]);
    drop(bytes);
    let step = move |arrivals: Vec<Option<Arrival>>| {
        let chunk_bytes = chunk_len * element_bytes;
        for arrival in arrivals.iter().flatten() {
            require_bytes(arrival, chunk_bytes)?;
        }
        let write = move || {
            let mut output = output.clone();
            let mut result = output.buffer_mut().write()?;
            for (member, arrival) in arrivals.iter().enumerate() {
                let place = &mut result[member * chunk_bytes..][..chunk_bytes];
                match arrival {
                    Some(arrival) => place.copy_from_slice(&arrival.elements.read()?),
                    None => place.copy_from_slice(&own),
                }
            }
            Ok(())
        };
        Ok(Then::Write(Box::new(write)))
    };
    Ok((outgoing, Box::new(step)))
}

/// Returns a position as headers have it.
pub(super) fn sender(position: usize) -> Operation {
    Operation::Broadcast(parameter_of(position))
}
