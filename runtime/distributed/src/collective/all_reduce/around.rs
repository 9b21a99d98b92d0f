//! A reduction around the ring.
//!
//! Each chunk is cut into segments, as many on all members. A segment goes around the ring by
//! itself: while one is combined, the next one arrives, and the one before is sent.
//!
//! The elements of this member are borrowed until the end, and read where they are. Finished
//! segments stay in the memory that they arrived in until all of them can be written: a reduction
//! that fails leaves input and output as they are.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use prost::bytes::Bytes;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, HostBuffer, OwnedElements, TensorError};

use super::super::header::{Operation, Part};
use super::super::pieces::Pieces;
use super::super::ring::Ring;
use super::super::split::{chunk, num_segments, segment};
use super::super::{Collective, Reducible, Reduction, lend, sent_copy, writes_input};
use super::{Done, Reducing};
use crate::error::{Answer, Gather};

pub(super) struct Around<T: Reducible> {
    ring: Arc<Ring>,
    reduction: Reduction,
    part: Part,
    num_segments: usize,
    /// The elements of this member, until the result is written.
    own: Mutex<Option<Arc<OwnedElements<T>>>>,
    /// The finished segments.
    finished: Pieces,
    /// Whether the right neighbour was told of a failure: once is enough.
    has_told: AtomicBool,
}

impl<T: Reducible> Around<T> {
    pub(super) fn new(reducing: Reducing, input: &DenseHostTensor) -> Result<Arc<Self>, Error> {
        let Reducing {
            ring,
            part,
            reduction,
        } = reducing;
        let (len, size) = (part.num_elements, ring.size());
        let num_segments = num_segments(len, size, size_of::<T>());
        Ok(Arc::new(Self {
            own: Mutex::new(Some(Arc::new(input.buffer().elements_owned::<T>()?))),
            finished: Pieces::new(size * num_segments),
            has_told: AtomicBool::new(false),
            num_segments,
            ring,
            reduction,
            part,
        }))
    }

    pub(super) fn run(
        self: Arc<Self>,
        input: DenseHostTensor,
        output: DenseHostTensor,
        done: Done,
    ) {
        let this = Arc::clone(&self);
        let work = Gather::new(move |sends| done(this.finish(sends, &input, &output)));
        for number in 0..self.num_segments {
            match self.own_segment(number) {
                Ok(bytes) => {
                    let key = self.key(1, number);
                    self.ring.send(key, self.part, bytes, work.clone());
                }
                Err(error) => self.ring.fail(&error),
            }
            Arc::clone(&self).receive(1, number, work.clone());
        }
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
        drop(
            self.own
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
        self.ring.outcome(sends)?;
        self.finished.write(output)?;
        let host = self.ring.collective().context.host();
        let scatters = self.part.operation == Operation::ReduceScatter;
        if !scatters && writes_input(host, input, output) {
            self.finished.write(input)?;
        }
        Ok(())
    }

    /// Returns the key of a segment that arrives in a step.
    fn key(&self, step: usize, number: usize) -> String {
        let Collective { group, key, .. } = self.ring.collective();
        match number {
            0 => format!("{group}:{key}:{step}"),
            _ => format!("{group}:{key}:{step}:{number}"),
        }
    }

    fn last_step(&self) -> usize {
        let size = self.ring.size();
        match self.part.operation {
            Operation::ReduceScatter => size,
            _ => 2 * size - 2,
        }
    }

    /// Returns the chunk that this member processes.
    fn chunk_of_step(&self, step: usize) -> usize {
        let (index, size) = (self.ring.index(), self.ring.size());
        // At most 2 G − 2 is taken away.
        (index + 2 * size - step) % size
    }

    /// Returns where a segment of a chunk is among all elements.
    fn range_of(&self, chunk_index: usize, number: usize) -> Range<usize> {
        let within = chunk(self.part.num_elements, self.ring.size(), chunk_index);
        segment(within, self.num_segments, number)
    }

    fn own(&self) -> Result<Arc<OwnedElements<T>>, Error> {
        let own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        // Work under way keeps the collective from its end.
        own.clone()
            .ok_or_else(|| Error::new("the collective has ended"))
    }

    /// Returns a copy of a segment of the chunk that this member sends first.
    fn own_segment(&self, number: usize) -> Result<Bytes, Error> {
        let own = self.own()?;
        let elements = &own[self.range_of(self.ring.index(), number)];
        Ok(sent_copy(elements, &self.ring.collective().context)?)
    }

    fn receive(self: Arc<Self>, step: usize, number: usize, work: Gather) {
        let (ring, part, key) = (Arc::clone(&self.ring), self.part, self.key(step, number));
        ring.receive(key, part, move |received| {
            let is_last = step == self.last_step();
            match received.and_then(|data| self.process(step, number, data)) {
                Ok(data) if !is_last => {
                    let key = self.key(step + 1, number);
                    self.ring.send(key, part, data, work.clone());
                    self.receive(step + 1, number, work);
                }
                Ok(_) => {}
                Err(error) => {
                    self.ring.fail(&error);
                    // Relaxed: nothing else is read or written by who tells it.
                    if !is_last && !self.has_told.swap(true, Ordering::Relaxed) {
                        let key = self.key(step + 1, number);
                        self.ring.send_error(key, part, &error, work);
                    }
                }
            }
        });
    }

    /// Processes a segment received in a step, and returns the data to forward.
    fn process(&self, step: usize, number: usize, mut data: HostBuffer) -> Result<Bytes, Error> {
        let size = self.ring.size();
        let chunk_index = self.chunk_of_step(step);
        let range = self.range_of(chunk_index, number);
        let (expected, found) = (range.len() * size_of::<T>(), data.len_bytes());
        if found != expected {
            return Err(TensorError::WrongBufferSize { expected, found }.into());
        }
        if step < size {
            let own = self.own()?;
            let mut data = data.elements_mut::<T>()?;
            self.reduction.combine_into(&mut data, &own[range])?;
            if step == size - 1 {
                self.reduction.finish_all(&mut data, size);
            }
        }
        let scatters = self.part.operation == Operation::ReduceScatter;
        if step >= size - 1 && (!scatters || chunk_index == self.ring.index()) {
            let place = chunk_index * self.num_segments + number;
            self.finished.put(place, data.clone());
        }
        Ok(lend(&data)?)
    }
}
