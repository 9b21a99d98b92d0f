//! A reduction in two rounds, for small chunks.
//!
//! In the first round, every member sends chunk c of its elements to member c, which combines the
//! elements of all in the order of the ring. In the second round, member c sends the finished chunk
//! to all others.
//!
//! ```text
//!   round 1    member 0 ──► member c ◄── member 1 …         x_c ⊕ x_{c+1} ⊕ … ⊕ x_{c−1}
//!   round 2    member 0 ◄── member c ──► member 1 …
//! ```
//!
//! The others do not need the chunk in a reduce-scatter: member c only tells them whether it is
//! finished, so that all members end in the same way. A barrier has empty chunks, and one round.
//!
//! An all-reduce sends as many messages and bytes as around the ring. But a member waits for two
//! messages in a row instead of 2 G − 2, and each wait costs several changes of threads. The price
//! is a connection between every two members.
//!
//! A member that fails sends nothing more.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use prost::bytes::Bytes;
use tfrt_support::Error;
use tfrt_tensor::{DenseHostTensor, HostBuffer, TensorError};

use super::super::header::Operation;
use super::super::split::{byte_range, chunk_bytes};
use super::super::{Collective, Reducible, Reduction, shared_bytes};
use super::{Chunks, Done, Reducing, check_len};
use crate::error::Gather;

/// The most bytes of a chunk. The ring is faster for larger chunks: with four tasks on two
/// processors, chunks of 4 MiB take 1.2 times as long in rounds. Tests have a smaller limit, so
/// that small tensors are reduced in both ways.
const MAX_CHUNK_BYTES: usize = if cfg!(test) { 1 << 8 } else { 256 << 10 };

/// The most bytes of a chunk that the thread of the transport combines when the last message has
/// arrived.
const MAX_LIGHT_BYTES: usize = 16 << 10;

/// The most members. Each has connections to all others.
const MAX_MEMBERS: usize = 32;

/// Returns `true` if a group of so many members reduces a tensor in rounds. All of them decide
/// alike.
pub(super) fn suit(tensor: &DenseHostTensor, num_members: usize) -> Result<bool, TensorError> {
    let element_bytes = tfrt_tensor::element_bytes(tensor.dtype())?;
    // The first chunk is a largest one.
    let largest = chunk_bytes(tensor.num_elements(), num_members, 0, element_bytes);
    // Around a ring of two, a member waits for two messages as well.
    Ok((3..=MAX_MEMBERS).contains(&num_members) && largest.len() <= MAX_CHUNK_BYTES)
}

pub(super) struct Rounds<T: Reducible> {
    /// Each is one piece. A reduce-scatter finishes only that of this member.
    chunks: Chunks<T>,
    state: Mutex<State>,
}

struct State {
    /// What the others have sent of the chunk of this member, by their positions.
    theirs: Vec<Option<HostBuffer>>,
    /// The number of members whose elements are missing.
    num_missing: usize,
}

impl<T: Reducible> Rounds<T> {
    pub(super) fn new(reducing: Reducing, input: &DenseHostTensor) -> Result<Arc<Self>, Error> {
        let size = reducing.ring.size();
        Ok(Arc::new(Self {
            chunks: Chunks::new(reducing, input, size)?,
            state: Mutex::new(State {
                theirs: vec![None; size],
                num_missing: size - 1,
            }),
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
        for member in self.others() {
            self.send_own(&own, member, &work);
        }
        for member in self.others() {
            Arc::clone(&self).receive(member, work.clone());
            if self.has_second_round() {
                Arc::clone(&self).receive_finished(member, work.clone());
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_second_round(&self) -> bool {
        self.chunks.part.operation != Operation::Barrier
    }

    /// Returns the positions of the other members, from the right neighbour on.
    fn others(&self) -> impl Iterator<Item = usize> + use<T> {
        let (index, size) = (self.chunks.ring.index(), self.chunks.ring.size());
        (1..size).map(move |distance| (index + distance) % size)
    }

    /// Returns the key under which a member sends in a round. The first one to the right neighbour
    /// is that of the ring: so members notice that they do not all decide alike.
    fn key(&self, round: usize, from: usize, to: usize) -> String {
        let Collective { group, key, .. } = self.chunks.ring.collective();
        let is_right = to == (from + 1) % self.chunks.ring.size();
        match round {
            1 if is_right => format!("{group}:{key}:1"),
            // Steps around the ring have no `~`.
            _ => format!("{group}:{key}:{round}~{from}"),
        }
    }

    /// Sends a member its chunk of the elements of this one.
    fn send_own(&self, input: &DenseHostTensor, member: usize, work: &Gather) {
        let Chunks { ring, part, .. } = &self.chunks;
        let range = byte_range(self.chunks.range(member), size_of::<T>());
        match ring.own_bytes(input, range, member, work) {
            Ok(elements) => {
                let key = self.key(1, ring.index(), member);
                ring.send_to(member, key, *part, elements, work.clone());
            }
            Err(error) => ring.fail(&error),
        }
    }

    /// Receives a member's elements of the chunk of this one.
    fn receive(self: Arc<Self>, from: usize, work: Gather) {
        let (ring, part) = (Arc::clone(&self.chunks.ring), self.chunks.part);
        let key = self.key(1, from, ring.index());
        ring.receive_light_from(from, key, part, move |received| {
            let ring = Arc::clone(&self.chunks.ring);
            let checked = received.and_then(|data| {
                check_len::<T>(&data, &self.chunks.range(ring.index()))?;
                Ok(data)
            });
            let data = match checked {
                Ok(data) => data,
                Err(error) => return Some(ring.failing(error, work)),
            };
            let is_last = {
                let mut state = self.lock();
                state.theirs[from] = Some(data);
                state.num_missing -= 1;
                state.num_missing == 0
            };
            if is_last && !self.is_light() {
                return Some(Box::new(move || {
                    if let Err(error) = self.finish_chunk(&work) {
                        self.chunks.ring.fail(&error);
                    }
                }));
            }
            if is_last && let Err(error) = self.finish_chunk(&work) {
                return Some(ring.failing(error, work));
            }
            drop(work);
            ring.release(self);
            None
        });
    }

    /// Returns `true` if it takes little time to finish the chunk of this member.
    fn is_light(&self) -> bool {
        let Chunks {
            ring, reduction, ..
        } = &self.chunks;
        let num_bytes = self.chunks.range(ring.index()).len() * size_of::<T>();
        num_bytes <= MAX_LIGHT_BYTES && !matches!(reduction, Reduction::User(_))
    }

    /// Finishes the chunk of this member, and sends it in the second round.
    fn finish_chunk(&self, work: &Gather) -> Result<(), Error> {
        let Chunks { ring, part, .. } = &self.chunks;
        let data = self.combine()?;
        let elements = match self.chunks.scatters() {
            true => Bytes::new(),
            false => shared_bytes(&data)?,
        };
        self.chunks.finished.put(ring.index(), data);
        if self.has_second_round() {
            for member in self.others() {
                let key = self.key(2, ring.index(), member);
                ring.send_to(member, key, *part, elements.clone(), work.clone());
            }
        }
        Ok(())
    }

    /// Combines the elements of all members, from this one on, in the memory of the next one's.
    fn combine(&self) -> Result<HostBuffer, Error> {
        let Chunks {
            ring, reduction, ..
        } = &self.chunks;
        let mut theirs = std::mem::take(&mut self.lock().theirs);
        // The last of them has arrived.
        let missing = || Error::new("the elements of a member are missing");
        let own = self.chunks.own()?;
        let own = &own[self.chunks.range(ring.index())];
        let mut combined = theirs[ring.right()].take().ok_or_else(missing)?;
        let mut elements = combined.elements_mut::<T>()?;
        reduction.combine_onto(own, &mut elements)?;
        for member in self.others().skip(1) {
            let data = theirs[member].as_ref().ok_or_else(missing)?;
            reduction.combine_into(&mut elements, &data.elements::<T>()?)?;
        }
        reduction.finish_all(&mut elements, ring.size());
        drop(elements);
        Ok(combined)
    }

    /// Receives the chunk that a member has finished; for a reduce-scatter, only that it has.
    fn receive_finished(self: Arc<Self>, from: usize, work: Gather) {
        let (ring, part) = (Arc::clone(&self.chunks.ring), self.chunks.part);
        let key = self.key(2, from, ring.index());
        ring.receive_light_from(from, key, part, move |received| {
            let ring = Arc::clone(&self.chunks.ring);
            let range = match self.chunks.scatters() {
                true => 0..0,
                false => self.chunks.range(from),
            };
            let checked = received.and_then(|data| {
                check_len::<T>(&data, &range)?;
                Ok(data)
            });
            match checked {
                Ok(data) if !self.chunks.scatters() => self.chunks.finished.put(from, data),
                Ok(_) => {}
                Err(error) => return Some(ring.failing(error, work)),
            }
            // The work lasts until the chunk is kept.
            drop(work);
            ring.release(self);
            None
        });
    }
}
