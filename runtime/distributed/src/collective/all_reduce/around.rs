//! A reduction around the ring.
//!
//! Each chunk is cut into segments, as many on all members. A segment goes around the ring by
//! itself: while one is combined, the next one arrives, and the one before is sent.

use std::ops::Range;
use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, HostBuffer};

use super::super::header::Operation;
use super::super::split::{byte_range, num_segments, segment};
use super::super::{Collective, Reducible, shared_bytes};
use super::{Chunks, Done, Reducing, check_len};
use crate::error::Gather;

pub(super) struct Around<T: Reducible> {
    /// Their pieces are segments.
    chunks: Chunks<T>,
    num_segments: usize,
}

impl<T: Reducible> Around<T> {
    pub(super) fn new(reducing: Reducing, input: &DenseHostTensor) -> Result<Arc<Self>, Error> {
        let (len, size) = (reducing.part.num_elements, reducing.ring.size());
        let num_segments = num_segments(len, size, size_of::<T>());
        Ok(Arc::new(Self {
            chunks: Chunks::new(reducing, input, size * num_segments)?,
            num_segments,
        }))
    }

    pub(super) fn run(
        self: Arc<Self>,
        input: DenseHostTensor,
        output: DenseHostTensor,
        done: Done,
    ) {
        let (this, own) = (Arc::clone(&self), input.clone());
        let work = self
            .chunks
            .ring
            .work(move |sends| done(this.chunks.finish(sends, &input, &output)));
        for number in 0..self.num_segments {
            match self.own_segment(&own, number, &work) {
                Ok(bytes) => {
                    let (key, part) = (self.key(1, number), self.chunks.part);
                    self.chunks.ring.send(key, part, bytes, work.clone());
                }
                Err(error) => self.chunks.ring.fail(&error),
            }
            Arc::clone(&self).receive(1, number, work.clone());
        }
    }

    /// Returns the key of a segment that arrives in a step.
    fn key(&self, step: usize, number: usize) -> String {
        let Collective { group, key, .. } = self.chunks.ring.collective();
        match number {
            0 => format!("{group}:{key}:{step}"),
            _ => format!("{group}:{key}:{step}:{number}"),
        }
    }

    fn last_step(&self) -> usize {
        let size = self.chunks.ring.size();
        match self.chunks.part.operation {
            Operation::ReduceScatter => size,
            _ => 2 * size - 2,
        }
    }

    /// Returns the chunk that this member processes.
    fn chunk_of_step(&self, step: usize) -> usize {
        let (index, size) = (self.chunks.ring.index(), self.chunks.ring.size());
        // At most 2 G − 2 is taken away.
        (index + 2 * size - step) % size
    }

    /// Returns where a segment of a chunk is among all elements.
    fn range_of(&self, chunk_index: usize, number: usize) -> Range<usize> {
        segment(self.chunks.range(chunk_index), self.num_segments, number)
    }

    /// Returns a segment of the chunk that this member sends first.
    fn own_segment(
        &self,
        input: &DenseHostTensor,
        number: usize,
        work: &Gather,
    ) -> Result<Bytes, Error> {
        let ring = &self.chunks.ring;
        let range = byte_range(self.range_of(ring.index(), number), size_of::<T>());
        ring.own_bytes(input, range, ring.right(), work)
    }

    fn receive(self: Arc<Self>, step: usize, number: usize, work: Gather) {
        let (ring, part) = (Arc::clone(&self.chunks.ring), self.chunks.part);
        ring.clone()
            .receive(self.key(step, number), part, move |received| {
                let is_last = step == self.last_step();
                match received.and_then(|data| self.process(step, number, data)) {
                    Ok(data) if !is_last => {
                        let key = self.key(step + 1, number);
                        ring.send(key, part, data, work.clone());
                        self.receive(step + 1, number, work);
                    }
                    Ok(_) => {}
                    Err(error) => ring.fail(&error),
                }
            });
    }

    /// Processes a segment received in a step, and returns the data to forward.
    fn process(&self, step: usize, number: usize, mut data: HostBuffer) -> Result<Bytes, Error> {
        let Chunks {
            ring,
            reduction,
            finished,
            ..
        } = &self.chunks;
        let size = ring.size();
        let chunk_index = self.chunk_of_step(step);
        let range = self.range_of(chunk_index, number);
        check_len::<T>(&data, &range)?;
        if step < size {
            let own = self.chunks.own()?;
            let mut data = data.elements_mut::<T>()?;
            reduction.combine_into(&mut data, &own[range])?;
            if step == size - 1 {
                reduction.finish_all(&mut data, size);
            }
        }
        if step >= size - 1 && (!self.chunks.scatters() || chunk_index == ring.index()) {
            finished.put(chunk_index * self.num_segments + number, data.clone());
        }
        Ok(shared_bytes(&data)?)
    }
}
