//! All-gather: the tensors of all members, side by side along an axis, on every member.
//!
//! The tensor of each member travels once around the ring in segments, under the key
//! `group:group:KEY:ORIGIN:RECEIVER`; all but the first one with their numbers behind it. Every
//! member passes the received elements on, and then scatters them into the result, `step` elements
//! at a time, for each index of the dimensions before the axis. An all-gather that fails may have
//! written parts of its output.

use std::ops::Range;
use std::sync::Arc;

use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape, TensorError};

use super::destination::Destination;
use super::header::{Operation, Part, parameter_of};
use super::ring::{Ring, abandon_first};
use super::split::{byte_range, num_segments, segment};
use super::{Collective, copy_of};
use crate::error::Gather;

pub(super) const WRONG_OUTPUT: &str =
    "Incorrect output dimension. All dimensions in the output must be equal except the axis.";
pub(super) const WRONG_RANK: &str = "All workers must have tensors of the same rank.";
pub(super) const WRONG_INPUT: &str = "All dimensions in the input must be equal except the axis";

/// Gathers tensors of one shape into `output`.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn all_gather_fixed_shape(
    collective: Collective,
    input: DenseHostTensor,
    output: DenseHostTensor,
    axis: u64,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    let ring = match Ring::join(collective, NAME, not_a_member) {
        Ok(ring) => ring,
        Err(error) => return done(Err(error)),
    };
    let prepared = check_axis(axis, &input).and_then(|axis| {
        let expected = along_axis(input.shape(), axis, ring.size());
        if output.dtype() != input.dtype() {
            return Err(TensorError::WrongDType {
                expected: input.dtype(),
                found: output.dtype(),
            }
            .into());
        }
        if output.shape().dims() != expected {
            return Err(invalid(WRONG_OUTPUT));
        }
        let origins = vec![input.shape().clone(); ring.size()];
        Layout::new(&origins, axis)
    });
    match prepared {
        Ok(layout) => {
            let operation = Operation::AllGather(layout.axis);
            let result = output.into_buffer();
            gather(ring, layout, (&input, result), operation, move |gathered| {
                done(gathered.map(drop));
            });
        }
        Err(error) => {
            ring.refuse(&error);
            done(Err(error));
        }
    }
}

/// Gathers tensors that differ along the axis. The members exchange their shapes first.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn all_gather_any_shape(
    collective: Collective,
    input: DenseHostTensor,
    axis: u64,
    done: impl FnOnce(Result<DenseHostTensor, Error>) + Send + 'static,
) {
    let of_shapes = Collective {
        key: key_of_shapes(&collective.key),
        ..collective.clone()
    };
    let ring_of_tensors = match Ring::join(collective.clone(), NAME, not_a_member) {
        Ok(ring) => ring,
        Err(error) => return done(Err(error)),
    };
    let prepared = check_axis(axis, &input).and_then(|axis| {
        let shape = shape_tensor(&collective, &input)?;
        let ring = Ring::join_first(of_shapes.clone(), NAME, not_a_member)?;
        let layout = Layout::new(&vec![shape.shape().clone(); ring.size()], 0)?;
        Ok((ring, axis, shape, layout))
    });
    let (ring, axis, shape, layout) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            abandon_first(&of_shapes, &error);
            ring_of_tensors.refuse(&error);
            return done(Err(error));
        }
    };
    ring_of_tensors.follows(&ring);
    let (size, rank) = (ring.size(), input.shape().rank());
    let allocator = Arc::clone(collective.context.host().allocator());
    let gathered_shapes = HostBuffer::zeroed(&allocator, size * rank * size_of::<i64>(), 64);
    let gathered_shapes = match gathered_shapes {
        Ok(memory) => memory,
        Err(error) => {
            let error = error.into();
            ring.refuse(&error);
            ring_of_tensors.refuse(&error);
            return done(Err(error));
        }
    };
    // A member of another rank sends another number of sizes: that is told by what it sends, and
    // not as a mismatch.
    let of_shapes = Operation::GatherShapes(parameter_of(axis));
    let sides = (&shape, gathered_shapes);
    gather(ring, layout, sides, of_shapes, move |shapes| {
        let prepared = shapes.and_then(|shapes| {
            let sizes = shapes.elements::<i64>()?;
            let origins: Result<Vec<Shape>, Error> = (0..size)
                .map(|member| Ok(Shape::from_signed(&sizes[member * rank..][..rank])?))
                .collect();
            let origins = origins?;
            let is_equal = |other: &Shape| {
                let dims = input.shape().dims().iter().zip(other.dims()).enumerate();
                dims.into_iter()
                    .all(|(position, (own, other))| position == axis || own == other)
            };
            if !origins.iter().all(is_equal) {
                return Err(invalid(WRONG_INPUT));
            }
            let layout = Layout::new(&origins, axis)?;
            let num_bytes = layout.num_bytes(input.dtype())?;
            Ok((layout, HostBuffer::zeroed(&allocator, num_bytes, 64)?))
        });
        let ring = ring_of_tensors;
        let (layout, result) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                ring.refuse(&error);
                return done(Err(error));
            }
        };
        let (dtype, dims) = (input.dtype(), layout.dims.clone());
        let operation = Operation::AllGather(layout.axis);
        let sides = (&input, result);
        gather(ring, layout, sides, operation, move |gathered| {
            done(gathered.and_then(|buffer| {
                let shape = Shape::new(&dims)?;
                Ok(DenseHostTensor::from_buffer(dtype, shape, buffer)?)
            }));
        });
    });
}

/// Returns the key under which the members of an all-gather of any shapes exchange their shapes.
#[must_use]
pub(super) fn key_of_shapes(key: &str) -> String {
    format!("{SHAPES_OF}{key}{SHAPES_END}")
}

/// Returns the key of the tensors whose shapes are exchanged under a key, or else the key itself.
#[must_use]
pub(super) fn key_of_tensors(key: &str) -> &str {
    let of = key.strip_prefix(SHAPES_OF);
    of.and_then(|key| key.strip_suffix(SHAPES_END))
        .unwrap_or(key)
}

const SHAPES_OF: &str = "gather_shapes:";
const SHAPES_END: &str = ":0";

/// The name of the collective in messages.
const NAME: &str = "allgather";

fn not_a_member(_: &str) -> String {
    "This worker is not part of the collective group ".to_owned()
}

#[cold]
pub(super) fn invalid(message: impl Into<String>) -> Error {
    Error::new(message).with_code(ErrorCode::InvalidArgument)
}

pub(super) fn check_axis(axis: u64, input: &DenseHostTensor) -> Result<usize, Error> {
    let rank = input.shape().rank();
    let known = usize::try_from(axis).ok().filter(|axis| *axis < rank);
    known.ok_or_else(|| {
        invalid(format!(
            "expected an axis below the rank {rank}, found {axis}"
        ))
    })
}

/// Returns the shape of `count` tensors side by side.
pub(super) fn along_axis(shape: &Shape, axis: usize, count: usize) -> Vec<usize> {
    let mut dims = shape.dims().to_vec();
    dims[axis] = dims[axis].saturating_mul(count);
    dims
}

/// Returns the sizes of a tensor's dimensions, as a tensor.
fn shape_tensor(
    collective: &Collective,
    input: &DenseHostTensor,
) -> Result<DenseHostTensor, Error> {
    let dims = input.shape().dims();
    let sizes: Vec<i64> = dims.iter().map(|dim| *dim as i64).collect();
    let shape = Shape::new(&[1, sizes.len()])?;
    let allocator = collective.context.host().allocator();
    Ok(DenseHostTensor::from_elements(allocator, shape, &sizes)?)
}

/// The positions of each member's elements.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The axis, as headers have it.
    axis: u32,
    /// The shape of the result.
    dims: Vec<usize>,
    /// The number of elements of each member.
    lens: Vec<usize>,
    /// The number of consecutive elements of one member.
    steps: Vec<usize>,
    /// The number of consecutive elements of all members together.
    interval: usize,
}

impl Layout {
    pub(super) fn new(origins: &[Shape], axis: usize) -> Result<Self, Error> {
        let too_large = || invalid("the gathered tensor is too large");
        let mut dims = origins[0].dims().to_vec();
        let extents = origins.iter().map(|shape| shape.dims()[axis]);
        dims[axis] = extents
            .clone()
            .try_fold(0_usize, |sum, extent| sum.checked_add(extent))
            .ok_or_else(too_large)?;
        // Whether the whole can be counted: its parts then can.
        Shape::new(&dims)?;
        let behind: usize = dims[axis + 1..].iter().product();
        Ok(Self {
            axis: parameter_of(axis),
            lens: origins.iter().map(Shape::num_elements).collect(),
            steps: extents.map(|extent| extent * behind).collect(),
            interval: dims[axis] * behind,
            dims,
        })
    }

    /// Returns the shape of the result.
    pub(super) fn dims(&self) -> &[usize] {
        &self.dims
    }

    fn num_elements(&self) -> usize {
        self.lens.iter().sum()
    }

    /// Returns the number of bytes of the result.
    fn num_bytes(&self, dtype: DType) -> Result<usize, Error> {
        let element_bytes = tfrt_tensor::element_bytes(dtype)?;
        let num_bytes = self.num_elements().checked_mul(element_bytes);
        num_bytes.ok_or_else(|| invalid("the gathered tensor is too large"))
    }

    /// Returns the range of bytes that the elements of a member have in the result, if they are
    /// consecutive.
    pub(super) fn range(&self, member: usize, element_bytes: usize) -> Option<Range<usize>> {
        let start: usize = self.steps[..member].iter().sum();
        let end = start + self.steps[member];
        let is_consecutive = self.interval == self.num_elements();
        is_consecutive.then_some(start * element_bytes..end * element_bytes)
    }

    /// Copies the elements of a member to their positions.
    pub(super) fn scatter(
        &self,
        member: usize,
        element_bytes: usize,
        source: &[u8],
        result: &mut [u8],
    ) {
        self.scatter_from(member, element_bytes, 0, source, result);
    }

    /// Copies some elements of a member to their positions, of which the first one is at `start`
    /// among those of the member.
    fn scatter_from(
        &self,
        member: usize,
        element_bytes: usize,
        start: usize,
        mut source: &[u8],
        result: &mut [u8],
    ) {
        let step = self.steps[member] * element_bytes;
        let offset: usize = self.steps[..member].iter().sum::<usize>() * element_bytes;
        let mut at = start * element_bytes;
        // A member without elements has no source.
        while !source.is_empty() {
            let (row, within) = (at / step, at % step);
            let (elements, rest) = source.split_at(source.len().min(step - within));
            let place = row * self.interval * element_bytes + offset + within;
            result[place..place + elements.len()].copy_from_slice(elements);
            at += elements.len();
            source = rest;
        }
    }
}

/// Gathers the tensors of all members into memory, and returns it.
fn gather(
    ring: Arc<Ring>,
    layout: Layout,
    (input, result): (&DenseHostTensor, HostBuffer),
    operation: Operation,
    done: impl FnOnce(Result<HostBuffer, Error>) + Send + 'static,
) {
    let own = own_tensor(&ring, input, &result);
    let this = AllGather::new(Arc::clone(&ring), layout, (input, result), operation);
    match own.and_then(|own| Ok((own, this?))) {
        Ok((own, this)) => this.run(&own, done),
        Err(error) => {
            ring.refuse(&error);
            done(Err(error));
        }
    }
}

/// Returns the elements of this member: those of `input`, or a copy of them if what others send is
/// written over them.
fn own_tensor(
    ring: &Ring,
    input: &DenseHostTensor,
    result: &HostBuffer,
) -> Result<DenseHostTensor, Error> {
    let [own, all] = [input.buffer(), result].map(addresses);
    if own.start < all.end && all.start < own.end {
        let copy = copy_of(input, &ring.collective().context)?;
        let shape = input.shape().clone();
        return Ok(DenseHostTensor::from_buffer(input.dtype(), shape, copy)?);
    }
    Ok(input.clone())
}

/// A segment: the member that it comes from, and its number.
type Place = (usize, usize);

struct AllGather {
    ring: Arc<Ring>,
    layout: Layout,
    dtype: DType,
    element_bytes: usize,
    operation: Operation,
    destination: Destination,
}

impl AllGather {
    fn new(
        ring: Arc<Ring>,
        layout: Layout,
        (input, result): (&DenseHostTensor, HostBuffer),
        operation: Operation,
    ) -> Result<Arc<Self>, Error> {
        let expected = layout.num_bytes(input.dtype())?;
        let found = result.len_bytes();
        if found != expected {
            return Err(TensorError::WrongBufferSize { expected, found }.into());
        }
        Ok(Arc::new(Self {
            destination: Destination::new(result),
            layout,
            dtype: input.dtype(),
            element_bytes: tfrt_tensor::element_bytes(input.dtype())?,
            operation,
            ring,
        }))
    }

    fn run(
        self: Arc<Self>,
        own: &DenseHostTensor,
        done: impl FnOnce(Result<HostBuffer, Error>) + Send + 'static,
    ) {
        let this = Arc::clone(&self);
        let work = self.ring.work(move |sends| {
            this.ring.leave();
            let outcome = this.ring.outcome(sends);
            done(outcome.and_then(|()| Ok(this.destination.finish()?)));
        });
        let (own_index, right) = (self.ring.index(), self.ring.right());
        if self.ring.size() > 1 {
            for number in 0..self.num_segments(own_index) {
                let place = (own_index, number);
                let range = byte_range(self.range(place), self.element_bytes);
                match self.ring.own_bytes(own, range, right, &work) {
                    Ok(bytes) => {
                        let (key, part) = (self.key(place, right), self.part(own_index));
                        self.ring.send(key, part, bytes, work.clone());
                    }
                    Err(error) => self.ring.fail(&error),
                }
            }
        }
        for origin in (0..self.ring.size()).filter(|origin| *origin != own_index) {
            for number in 0..self.num_segments(origin) {
                Arc::clone(&self).receive((origin, number), work.clone());
            }
        }
        self.store(own_index, 0, own.buffer());
    }

    fn key(&self, (origin, number): Place, receiver: usize) -> String {
        let Collective { group, key, .. } = self.ring.collective();
        match number {
            0 => format!("{group}:{group}:{key}:{origin}:{receiver}"),
            _ => format!("{group}:{group}:{key}:{origin}:{receiver}:{number}"),
        }
    }

    fn num_segments(&self, origin: usize) -> usize {
        num_segments(self.layout.lens[origin], 1, self.element_bytes)
    }

    /// Returns the elements of a segment, among those of its member.
    fn range(&self, (origin, number): Place) -> Range<usize> {
        let len = self.layout.lens[origin];
        segment(0..len, self.num_segments(origin), number)
    }

    /// Returns the expected description of a member's part.
    fn part(&self, origin: usize) -> Part {
        let num_elements = match self.operation {
            // Another rank is told by the length of what is sent: there is an error of its own for
            // it.
            Operation::GatherShapes(_) => 0,
            _ => self.layout.lens[origin],
        };
        Part {
            operation: self.operation,
            dtype: self.dtype,
            num_elements,
            reduction: None,
            in_rounds: false,
        }
    }

    fn receive(self: Arc<Self>, place: Place, work: Gather) {
        let ((origin, _), ring) = (place, Arc::clone(&self.ring));
        let right = ring.right();
        let next = (right != origin).then(|| self.key(place, right));
        let (key, part) = (self.key(place, ring.index()), self.part(origin));
        let checking = Arc::clone(&self);
        ring.relay(
            (key, next),
            part,
            move |data| checking.check_size(place, data),
            move |data| self.store(origin, self.range(place).start, &data),
            work,
        );
    }

    fn check_size(&self, place: Place, data: &HostBuffer) -> Result<(), Error> {
        let (origin, _) = place;
        let (expected, found) = (
            self.range(place).len() * self.element_bytes,
            data.len_bytes(),
        );
        if found == expected {
            return Ok(());
        }
        Err(match self.operation {
            Operation::GatherShapes(_) => invalid(WRONG_RANK),
            _ => invalid(format!(
                "expected {expected} bytes from member {origin}, found {found}"
            )),
        })
    }

    /// Writes some elements of a member, of which the first one is at `start`.
    fn store(&self, origin: usize, start: usize, data: &HostBuffer) {
        self.destination.write(|result| {
            let elements = data.read()?;
            self.layout
                .scatter_from(origin, self.element_bytes, start, &elements, result);
            Ok(())
        });
    }
}

fn addresses(buffer: &HostBuffer) -> Range<usize> {
    buffer.address()..buffer.address() + buffer.len_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_lie_side_by_side_along_the_axis() {
        let shape = Shape::new(&[2, 3]).unwrap();
        let layout = Layout::new(&[shape.clone(), shape], 1).unwrap();
        assert_eq!(
            (&layout.dims[..], &layout.steps[..], layout.interval),
            (&[2, 6][..], &[3, 3][..], 6)
        );
        let mut result = [0; 12];
        layout.scatter(1, 1, &[1, 2, 3, 4, 5, 6], &mut result);
        assert_eq!(result, [0, 0, 0, 1, 2, 3, 0, 0, 0, 4, 5, 6]);
        // Segments begin and end anywhere.
        for cut in 0..=6 {
            let (first, last) = [1, 2, 3, 4, 5, 6].split_at(cut);
            let mut again = [0; 12];
            layout.scatter_from(1, 1, cut, last, &mut again);
            layout.scatter_from(1, 1, 0, first, &mut again);
            assert_eq!(again, result);
        }
    }
}
