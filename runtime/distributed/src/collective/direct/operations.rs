//! The collectives as exchanges: what is sent in each phase, and what becomes of it.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use half::{bf16, f16};
use prost::bytes::Bytes;
use tfrt_host::HostContext;
use tfrt_host::allocator::HostAllocator;
use tfrt_support::{DType, Error};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape, TensorError};

use super::super::all_gather::{Layout, check_axis};
use super::super::header::{Operation, Part, parameter_of};
use super::super::lent::lend;
use super::super::split::{chunk, chunk_bytes};
use super::super::{Reducible, Reduction, checks, write_all, writes_input};
use super::MemberPlace;
use super::elements::Elements;
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
    in_rounds: false,
};

pub(super) fn part_of(operation: Operation, tensor: &DenseHostTensor) -> Part {
    Part {
        operation,
        dtype: tensor.dtype(),
        num_elements: tensor.num_elements(),
        reduction: None,
        in_rounds: false,
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

/// Checks the size of a message's elements.
fn require_bytes(arrival: &Arrival, expected: usize) -> Result<(), Error> {
    let found = arrival.elements.len_bytes();
    match found == expected {
        true => Ok(()),
        false => Err(TensorError::WrongBufferSize { expected, found }.into()),
    }
}

/// Reads the elements that other members lend: to where they belong in `output`, if it can be
/// written already, and otherwise into memory of this member. Returns the elements that are still
/// to be written, by member.
fn take_lent(
    memory: &Arc<dyn HostAllocator>,
    output: &DenseHostTensor,
    arrivals: Vec<Option<Arrival>>,
    range_of: impl Fn(usize) -> Range<usize>,
) -> Result<Vec<Option<HostBuffer>>, Error> {
    let is_lent = |arrival: &Arrival| arrival.elements.is_lent();
    let has_lent = arrivals.iter().flatten().any(is_lent);
    // A handle of the same memory, which keeps its own borrows. While it is lent itself, or used
    // by others, it cannot be written.
    let mut output = output.clone();
    let mut placed = match has_lent {
        true => output.buffer_mut().write().ok(),
        false => None,
    };
    let take = |(member, arrival): (usize, Option<Arrival>)| {
        let Some(arrival) = arrival else {
            return Ok(None);
        };
        match (arrival.elements, &mut placed) {
            (Elements::Lent(loan), Some(output)) => {
                loan.read(0, &mut output[range_of(member)])?;
                Ok(None)
            }
            (elements, _) => elements.fetch(memory).map(Some),
        }
    };
    arrivals.into_iter().enumerate().map(take).collect()
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

/// The same in bytes, if elements are read from other members: larger, so that there are fewer
/// system calls, and still small enough for the cache of a core. Of 32 KiB, 64 KiB, 256 KiB and
/// 1 MiB, 256 KiB were read fastest: 5.7 GB/s, as against 3.8 of 32 KiB.
const LENT_TILE_BYTES: usize = 256 << 10;

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
    let first = first?;
    let others: Vec<Elements> = in_order.collect::<Result<_, _>>()?;
    if first.is_lent() || others.iter().any(Elements::is_lent) {
        return combine_lent(allocator, (size, reduction), own, (first, others));
    }
    // Nothing is lent: nothing is copied.
    let fetch = |elements: Elements| elements.fetch(allocator);
    // The result takes the place of the first chunk that has come.
    let mut combined = fetch(first)?;
    let others: Vec<HostBuffer> = others.into_iter().map(fetch).collect::<Result<_, _>>()?;
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

/// Combines chunks of which some are lent. They are read tile by tile: so they pass through the
/// cache of the core, rather than through memory.
fn combine_lent<T: Reducible>(
    allocator: &Arc<dyn HostAllocator>,
    (size, reduction): (usize, Reduction),
    own: &[T],
    (first, others): (Elements, Vec<Elements>),
) -> Result<HostBuffer, Error> {
    let element_bytes = size_of::<T>();
    let (mut combined, first) = match first {
        Elements::Here(buffer) => (buffer, None),
        Elements::Lent(loan) => {
            let buffer = HostBuffer::unspecified(allocator, size_of_val(own))?;
            (buffer, Some(loan))
        }
    };
    let tile_len = LENT_TILE_BYTES / element_bytes;
    let mut read = HostBuffer::unspecified(allocator, tile_len.min(own.len()) * element_bytes)?;
    for start in (0..own.len()).step_by(tile_len) {
        let tile = start..own.len().min(start + tile_len);
        let bytes = tile.start * element_bytes..tile.end * element_bytes;
        if let Some(first) = &first {
            first.read(bytes.start, &mut combined.write()?[bytes.clone()])?;
        }
        let mut so_far = combined.elements_mut::<T>()?;
        let so_far = &mut so_far[tile.clone()];
        reduction.combine_onto(&own[tile.clone()], so_far)?;
        for other in &others {
            match other {
                Elements::Here(other) => {
                    reduction.combine_into(so_far, &other.elements::<T>()?[tile.clone()])?;
                }
                Elements::Lent(other) => {
                    other.read(bytes.start, &mut read.write()?[..bytes.len()])?;
                    reduction.combine_into(so_far, &read.elements::<T>()?[..tile.len()])?;
                }
            }
        }
        reduction.finish_all(so_far, size);
    }
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
            // All members have combined their chunks: none reads the own elements any more, and
            // the output may be the input.
            let mut chunks = take_lent(&memory, &output, arrivals, range_of)?;
            chunks[place.index] = Some(combined);
            let write = move || {
                let parts = chunks.iter().enumerate();
                let parts = parts.filter_map(|(member, chunk)| {
                    chunk.as_ref().map(|chunk| (range_of(member), chunk))
                });
                write_ranges(&output, parts)?;
                match writes_input {
                    true => Ok(write_all(&input, &output.buffer().read()?)?),
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
            Some(arrival) => match arrival.elements {
                Elements::Here(elements) => Ok(write_all(&tensor, &elements.read()?)?),
                Elements::Lent(loan) => {
                    // A handle of the same memory, which keeps its own borrows.
                    let mut tensor = tensor.clone();
                    loan.read(0, &mut tensor.buffer_mut().write()?)
                }
            },
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

/// Reads the elements that other members lend, as [`take_lent`] does.
fn take_scattered(
    memory: &Arc<dyn HostAllocator>,
    (layout, element_bytes): (&Layout, usize),
    output: &DenseHostTensor,
    arrivals: Vec<Option<Arrival>>,
) -> Result<Vec<Option<HostBuffer>>, Error> {
    let ranges: Option<Vec<Range<usize>>> = (0..arrivals.len())
        .map(|member| layout.range(member, element_bytes))
        .collect();
    match ranges {
        Some(ranges) => take_lent(memory, output, arrivals, |member| ranges[member].clone()),
        None => {
            let fetch = |arrival: Arrival| arrival.elements.fetch(memory);
            let fetched = arrivals.into_iter();
            fetched
                .map(|arrival| arrival.map(fetch).transpose())
                .collect()
        }
    }
}

/// Places the elements of all members in a buffer, unless they are there.
fn scatter(
    (layout, element_bytes): (&Layout, usize),
    (own_index, own): (usize, &DenseHostTensor),
    others: &[Option<HostBuffer>],
    result: &mut [u8],
) -> Result<(), Error> {
    for (member, elements) in others.iter().enumerate() {
        let elements = match member == own_index {
            true => Some(own.buffer()),
            false => elements.as_ref(),
        };
        if let Some(elements) = elements {
            layout.scatter(member, element_bytes, &elements.read()?, result);
        }
    }
    Ok(())
}

pub(super) fn all_gather(
    place: MemberPlace,
    memory: Arc<dyn HostAllocator>,
    (input, output): (DenseHostTensor, DenseHostTensor),
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
        let others = take_scattered(&memory, (&layout, element_bytes), &output, arrivals)?;
        let write = move || {
            if input.buffer().address() == output.buffer().address() {
                // The only member gathers its tensor into itself.
                return Ok(());
            }
            let mut output = output.clone();
            let mut result = output.buffer_mut().write()?;
            let own = (place.index, &input);
            scatter((&layout, element_bytes), own, &others, &mut result)
        };
        Ok(Then::Write(Box::new(write)))
    };
    Ok((outgoing, Box::new(step)))
}

pub(super) fn all_gather_any(
    place: MemberPlace,
    (host, memory): (&Arc<HostContext>, Arc<dyn HostAllocator>),
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
        let placed = (&layout, element_bytes);
        let others = take_scattered(&memory, placed, &result, arrivals)?;
        let mut elements = result.buffer_mut().write()?;
        scatter(placed, (place.index, &input), &others, &mut elements)?;
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
    memory: Arc<dyn HostAllocator>,
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
        let range_of = move |member| member * chunk_bytes..(member + 1) * chunk_bytes;
        let others = take_lent(&memory, &output, arrivals, range_of)?;
        let write = move || {
            let mut output = output.clone();
            let mut result = output.buffer_mut().write()?;
            result[range_of(index)].copy_from_slice(&own);
            for (member, elements) in others.iter().enumerate() {
                if let Some(elements) = elements {
                    result[range_of(member)].copy_from_slice(&elements.read()?);
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
