//! All-reduce: the elements of all members, combined, on every member. Reduce-scatter: a chunk of
//! them on each.
//!
//! With G members, the tensor is cut into G chunks. In step s, member i processes chunk (i − s) mod
//! G.
//!
//! | step | action of a member |
//! |---|---|
//! | 0 | sends its own chunk i |
//! | 1 … G−1 | receives a chunk, combines it with its own elements, and forwards it; after the last combination the chunk is finished and kept |
//! | G … 2G−2 | receives a finished chunk, keeps it, and forwards all but the last |
//!
//! A reduce-scatter ends with step G, in which every member receives the finished chunk of its own
//! number.
//!
//! So chunk c is `(((x_c ⊕ x_{c+1}) ⊕ x_{c+2}) …) ⊕ x_{c−1}`, with the indices of members mod G: a
//! fixed order, hence equal bits on all members, regardless of timing. A reduce-scatter produces
//! the same bits as an all-reduce.
//!
//! This is the algorithm of the ring, in the module `around`, which cuts chunks into segments.
//! Small chunks are exchanged in two rounds, with the same results: see the module `rounds`. The
//! others follow a schedule, in which members exchange all elements: see the module `schedule`.

mod around;

mod rounds;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::IntoIter;

use half::{bf16, f16};
use prost::bytes::Bytes;
use tfrt_support::{DType, Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, OwnedElements, Shape, TensorError};

use super::header::{Operation, Part};
use super::pieces::Pieces;
use super::ring::{Ring, abandon_with};
use super::schedule::{Algorithm, Step};
use super::split::{chunk, chunk_bytes};
use super::{Collective, Reducible, Reduction, copy_of, write_all, writes_input};
use crate::error::{Answer, Gather};

use around::Around;
use rounds::Rounds;

/// Combines a tensor with those of the other members and writes the result into `output`, and also
/// into `input` if that is another tensor, unless the host keeps inputs.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn all_reduce(
    collective: Collective,
    algorithm: Algorithm,
    reduction: Reduction,
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    dispatch(
        collective,
        (Operation::AllReduce, reduction, algorithm),
        input,
        output,
        Box::new(done),
    );
}

/// Waits until all members of the group have called this.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn barrier(
    collective: Collective,
    algorithm: Algorithm,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    // No member is done before all have sent empty chunks.
    let allocator = collective.context.host().allocator();
    let empty = Shape::new(&[0])
        .map_err(Error::from)
        .and_then(|shape| Ok(DenseHostTensor::zeroed(allocator, DType::Ui8, shape)?));
    let what = (Operation::Barrier, Reduction::Sum, algorithm);
    match empty {
        Ok(empty) => dispatch(collective, what, empty.clone(), empty, Box::new(done)),
        Err(error) => {
            done(Err(abandon_with(&collective, error)));
        }
    }
}

/// Combines a tensor with those of the other members and writes the chunk of this member into
/// `output`: with G members, the elements are divided into G chunks, of which the first ones have
/// one more element if the division has a remainder. Member i gets chunk i.
///
/// `done` runs on the work queue, or immediately if the collective cannot start.
pub(super) fn reduce_scatter(
    collective: Collective,
    algorithm: Algorithm,
    reduction: Reduction,
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: impl FnOnce(Result<(), Error>) + Send + 'static,
) {
    dispatch(
        collective,
        (Operation::ReduceScatter, reduction, algorithm),
        input,
        output,
        Box::new(done),
    );
}

fn dispatch(
    collective: Collective,
    reduction: (Operation, Reduction, Algorithm),
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: Done,
) {
    match input.dtype() {
        DType::I8 => start::<i8>(collective, reduction, input, output, done),
        DType::I16 => start::<i16>(collective, reduction, input, output, done),
        DType::I32 => start::<i32>(collective, reduction, input, output, done),
        DType::I64 => start::<i64>(collective, reduction, input, output, done),
        DType::Ui8 => start::<u8>(collective, reduction, input, output, done),
        DType::Ui16 => start::<u16>(collective, reduction, input, output, done),
        DType::Ui32 => start::<u32>(collective, reduction, input, output, done),
        DType::Ui64 => start::<u64>(collective, reduction, input, output, done),
        DType::F16 => start::<f16>(collective, reduction, input, output, done),
        DType::Bf16 => start::<bf16>(collective, reduction, input, output, done),
        DType::F32 => start::<f32>(collective, reduction, input, output, done),
        DType::F64 => start::<f64>(collective, reduction, input, output, done),
        other => {
            let message = format!("elements of type {other} cannot be reduced");
            let error = Error::new(message).with_code(ErrorCode::InvalidArgument);
            done(Err(abandon_with(&collective, error)));
        }
    }
}

type Done = Box<dyn FnOnce(Result<(), Error>) + Send>;

fn start<T: Reducible>(
    collective: Collective,
    (operation, reduction, algorithm): (Operation, Reduction, Algorithm),
    input: DenseHostTensor,
    output: DenseHostTensor,
    done: Done,
) {
    let what = (operation, reduction, algorithm);
    let ring = match join(collective, operation) {
        Ok(ring) => ring,
        Err(error) => return done(Err(error)),
    };
    let started = part_of(&ring, what, &input, &output).and_then(|part| {
        let reducing = Reducing {
            ring: Arc::clone(&ring),
            part,
            reduction,
        };
        // With one member there is nothing to combine, in either way.
        match algorithm == Algorithm::Ring && reducing.ring.size() > 1 {
            true if part.in_rounds => Ok(Started::Rounds(Rounds::<T>::new(reducing, &input)?)),
            true => Ok(Started::Around(Around::<T>::new(reducing, &input)?)),
            false => Ok(Started::Scheduled(Scheduled::<T>::new(reducing, &input)?)),
        }
    });
    match started {
        Ok(Started::Rounds(this)) => this.run(input, output, done),
        Ok(Started::Around(this)) => this.run(input, output, done),
        Ok(Started::Scheduled(this)) => this.run(algorithm, input, output, done),
        Err(error) => {
            ring.refuse(&error);
            done(Err(error));
        }
    }
}

fn join(collective: Collective, operation: Operation) -> Result<Arc<Ring>, Error> {
    let name = match operation {
        Operation::ReduceScatter => "reducescatter",
        Operation::Barrier => "barrier",
        _ => "allreduce",
    };
    Ring::join_as_member(collective, name)
}

/// Checks the tensors of this member, and returns its operation.
fn part_of(
    ring: &Ring,
    (operation, reduction, algorithm): (Operation, Reduction, Algorithm),
    input: &DenseHostTensor,
    output: &DenseHostTensor,
) -> Result<Part, Error> {
    reduction.check(input.dtype())?;
    if output.dtype() != input.dtype() {
        return Err(TensorError::WrongDType {
            expected: input.dtype(),
            found: output.dtype(),
        }
        .into());
    }
    if operation == Operation::ReduceScatter {
        let expected = chunk(input.num_elements(), ring.size(), ring.index()).len();
        let found = output.num_elements();
        if found != expected {
            let index = ring.index();
            let message = format!(
                "expected an output of the {expected} elements of chunk {index}, found {found}"
            );
            return Err(Error::new(message).with_code(ErrorCode::InvalidArgument));
        }
    } else {
        output.expect_shape(input.shape())?;
    }
    Ok(Part {
        operation,
        dtype: input.dtype(),
        num_elements: input.num_elements(),
        reduction: Some(reduction),
        in_rounds: algorithm == Algorithm::Ring && rounds::suit(input, ring.size())?,
    })
}

/// What all ways of reducing have.
struct Reducing {
    ring: Arc<Ring>,
    part: Part,
    reduction: Reduction,
}

/// A reduction chunk by chunk, in either way.
///
/// The elements of this member are borrowed until the end, and read where they are. Finished pieces
/// stay in the memory that they arrived in until all of them can be written: a reduction that fails
/// leaves input and output as they are.
struct Chunks<T: Reducible> {
    ring: Arc<Ring>,
    reduction: Reduction,
    part: Part,
    /// The elements of this member, until the result is written.
    own: Mutex<Option<Arc<OwnedElements<T>>>>,
    finished: Pieces,
}

impl<T: Reducible> Chunks<T> {
    fn new(
        reducing: Reducing,
        input: &DenseHostTensor,
        num_pieces: usize,
    ) -> Result<Self, TensorError> {
        let Reducing {
            ring,
            part,
            reduction,
        } = reducing;
        Ok(Self {
            own: Mutex::new(Some(Arc::new(input.buffer().elements_owned::<T>()?))),
            finished: Pieces::new(num_pieces),
            ring,
            reduction,
            part,
        })
    }

    fn scatters(&self) -> bool {
        self.part.operation == Operation::ReduceScatter
    }

    /// Returns where a chunk is among all elements.
    fn range(&self, index: usize) -> Range<usize> {
        chunk(self.part.num_elements, self.ring.size(), index)
    }

    fn own(&self) -> Result<Arc<OwnedElements<T>>, Error> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        // Work under way keeps the collective from its end.
        own.clone()
            .ok_or_else(|| Error::new("the collective has ended"))
    }

    /// Writes the result, once nothing is under way any more.
    fn finish(
        &self,
        sends: Answer<()>,
        input: &DenseHostTensor,
        output: &DenseHostTensor,
    ) -> Result<(), Error> {
        self.ring.leave();
        // It may be the memory of the output.
        let own = self
            .own
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(own);
        self.ring.outcome(sends)?;
        self.finished.write(output)?;
        let host = self.ring.collective().context.host();
        if !self.scatters() && writes_input(host, input, output) {
            self.finished.write(input)?;
        }
        Ok(())
    }
}

/// Checks that a message has the elements of a range.
fn check_len<T>(data: &HostBuffer, range: &Range<usize>) -> Result<(), TensorError> {
    let (expected, found) = (range.len() * size_of::<T>(), data.len_bytes());
    if found != expected {
        return Err(TensorError::WrongBufferSize { expected, found });
    }
    Ok(())
}

enum Started<T: Reducible> {
    Rounds(Arc<Rounds<T>>),
    Around(Arc<Around<T>>),
    Scheduled(Arc<Scheduled<T>>),
}

/// A reduction that follows a schedule.
struct Scheduled<T> {
    ring: Arc<Ring>,
    reduction: Reduction,
    part: Part,
    /// What was combined so far.
    elements: Mutex<HostBuffer>,
    of: PhantomData<fn() -> T>,
}

impl<T: Reducible> Scheduled<T> {
    fn new(reducing: Reducing, input: &DenseHostTensor) -> Result<Arc<Self>, Error> {
        let Reducing {
            ring,
            part,
            reduction,
        } = reducing;
        let elements = copy_of(input, &ring.collective().context)?;
        Ok(Arc::new(Self {
            elements: Mutex::new(elements),
            ring,
            reduction,
            part,
            of: PhantomData,
        }))
    }

    fn run(
        self: Arc<Self>,
        algorithm: Algorithm,
        input: DenseHostTensor,
        output: DenseHostTensor,
        done: Done,
    ) {
        let this = Arc::clone(&self);
        let work = self
            .ring
            .work(move |sends| done(this.finish(sends, &input, &output)));
        if self.ring.size() == 1 {
            // Nothing to combine: the mean of one element is that element.
            return drop(work);
        }
        let steps = algorithm.steps(self.ring.index(), self.ring.size());
        self.follow(steps.into_iter(), work);
    }

    /// Writes the result, once nothing is under way any more.
    fn finish(
        &self,
        sends: Answer<()>,
        input: &DenseHostTensor,
        output: &DenseHostTensor,
    ) -> Result<(), Error> {
        self.ring.leave();
        self.ring.outcome(sends)?;
        let elements = self.elements.lock();
        let elements = elements.unwrap_or_else(PoisonError::into_inner);
        let bytes = elements.read()?;
        if self.part.operation == Operation::ReduceScatter {
            let (len, size) = (self.part.num_elements, self.ring.size());
            let own = chunk_bytes(len, size, self.ring.index(), size_of::<T>());
            return Ok(write_all(output, &bytes[own])?);
        }
        write_all(output, &bytes)?;
        if writes_input(self.ring.collective().context.host(), input, output) {
            write_all(input, &bytes)?;
        }
        Ok(())
    }

    /// Follows the steps of a schedule, until one fails.
    fn follow(self: Arc<Self>, mut steps: IntoIter<Step>, work: Gather) {
        while let Some(step) = steps.next() {
            let done = match step {
                Step::Send(to) => self.send_to(to, &work),
                Step::Finish => self.finish_elements(),
                Step::Combine(from) | Step::Take(from) => {
                    let key = self.pair_key(from, self.ring.index());
                    let ring = Arc::clone(&self.ring);
                    return ring.receive_from(from, key, self.part, move |received| match received
                        .and_then(|theirs| self.take_in(step, theirs))
                    {
                        Ok(()) => self.follow(steps, work),
                        Err(error) => self.ring.fail(&error),
                    });
                }
            };
            if let Err(error) = done {
                return self.ring.fail(&error);
            }
        }
    }

    fn pair_key(&self, from: usize, to: usize) -> String {
        let Collective { group, key, .. } = self.ring.collective();
        format!("{group}:{group}:{key}:{from}:{to}")
    }

    /// Sends the elements to a member.
    fn send_to(&self, to: usize, work: &Gather) -> Result<(), Error> {
        let elements = self.elements.lock();
        let elements = elements.unwrap_or_else(PoisonError::into_inner);
        // A copy: the elements change while this is sent.
        let bytes = Bytes::copy_from_slice(&elements.read()?);
        let key = self.pair_key(self.ring.index(), to);
        self.ring.send_to(to, key, self.part, bytes, work.clone());
        Ok(())
    }

    fn finish_elements(&self) -> Result<(), Error> {
        let elements = self.elements.lock();
        let mut elements = elements.unwrap_or_else(PoisonError::into_inner);
        let mut combined = elements.elements_mut::<T>()?;
        self.reduction.finish_all(&mut combined, self.ring.size());
        Ok(())
    }

    /// Processes the elements of a member.
    fn take_in(&self, step: Step, mut theirs: HostBuffer) -> Result<(), Error> {
        let elements = self.elements.lock();
        let mut elements = elements.unwrap_or_else(PoisonError::into_inner);
        let (expected, found) = (elements.len_bytes(), theirs.len_bytes());
        if found != expected {
            return Err(TensorError::WrongBufferSize { expected, found }.into());
        }
        match step {
            Step::Combine(from) if from < self.ring.index() => {
                let mut so_far = theirs.elements_mut::<T>()?;
                let own = elements.elements::<T>()?;
                self.reduction.combine_into(&mut so_far, &own)?;
                drop((so_far, own));
                *elements = theirs;
            }
            Step::Combine(_) => {
                let mut so_far = elements.elements_mut::<T>()?;
                self.reduction
                    .combine_into(&mut so_far, &theirs.elements::<T>()?)?;
            }
            _ => elements.write()?.copy_from_slice(&theirs.read()?),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
