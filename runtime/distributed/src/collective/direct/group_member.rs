//! The operations of a member, as every back end has them.

use std::sync::{Arc, Mutex, PoisonError};

use tfrt_async::{AsyncValueRef, Chain};
use tfrt_support::{Error, ErrorCode};
use tfrt_tensor::{DenseHostTensor, HostBuffer, Shape};

use super::super::header::Operation;
use super::super::lent::lend;
use super::super::ring::abandoned_in_use;
use super::super::{GroupMember, Reduction, back_end};
use super::exchange::Outcome;
use super::member::{DirectMember, OVERHEAD_BYTES, Waiting};
use super::message::{Arrival, Message};
use super::operations;

impl GroupMember for DirectMember {
    fn index(&self) -> usize {
        self.index
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn all_reduce(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let part = operations::reduction_of(Operation::AllReduce, reduction, &input);
        let (place, host, memory) = (self.place(), self.context.host(), self.memory());
        self.start_collective(key, part, |work| {
            operations::all_reduce(place, (host, memory), reduction, input, output, work)
        })
    }

    fn reduce_scatter(
        &self,
        key: &str,
        reduction: Reduction,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let part = operations::reduction_of(Operation::ReduceScatter, reduction, &input);
        let (place, memory) = (self.place(), self.memory());
        self.start_collective(key, part, |work| {
            operations::reduce_scatter(place, memory, reduction, input, output, work)
        })
    }

    fn broadcast(&self, key: &str, tensor: DenseHostTensor, sender: usize) -> AsyncValueRef<Chain> {
        let part = operations::part_of(operations::sender(sender), &tensor);
        let known = self.member(sender);
        let place = self.place();
        self.start_collective(key, part, |work| {
            operations::broadcast(place, tensor, known?, work)
        })
    }

    fn all_gather(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<Chain> {
        let part = operations::part_of(operations::gather_along(axis), &input);
        let (place, memory) = (self.place(), self.memory());
        self.start_collective(key, part, |work| {
            operations::all_gather(place, memory, (input, output), axis, work)
        })
    }

    fn all_gather_any(
        &self,
        key: &str,
        input: DenseHostTensor,
        axis: u64,
    ) -> AsyncValueRef<DenseHostTensor> {
        let part = operations::gather_any_along(axis, &input);
        let place = self.place();
        let (promise, value) = AsyncValueRef::unconstructed();
        let result = Arc::new(Mutex::new(None));
        let gathered = Arc::clone(&result);
        let done = move |outcome: Result<(), Error>| {
            let gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
            let gathered = { gathered }.take();
            let missing = || Error::new("the members gathered nothing");
            match outcome.and_then(|()| gathered.ok_or_else(missing)) {
                Ok(tensor) => promise.emplace(tensor),
                Err(error) => promise.set_error(error),
            }
        };
        let (host, memory) = (Arc::clone(self.context.host()), self.memory());
        self.start(
            key,
            part,
            |work| operations::all_gather_any(place, (&host, memory), input, axis, result, work),
            Box::new(done),
        );
        value
    }

    fn all_to_all(
        &self,
        key: &str,
        input: DenseHostTensor,
        output: DenseHostTensor,
    ) -> AsyncValueRef<Chain> {
        let part = operations::part_of(Operation::AllToAll, &input);
        let (place, memory) = (self.place(), self.memory());
        self.start_collective(key, part, |work| {
            operations::all_to_all(place, memory, input, output, work)
        })
    }

    fn send(&self, key: &str, to: usize, tensor: &DenseHostTensor) -> AsyncValueRef<Chain> {
        let to = match self.member(to) {
            Ok(to) => to,
            Err(error) => return AsyncValueRef::error(error),
        };
        let (promise, chain) = AsyncValueRef::unconstructed();
        let Some(this) = self.this.upgrade() else {
            return AsyncValueRef::error(Error::new("the group is closed"));
        };
        let done = move |outcome| match outcome {
            Ok(()) => promise.emplace(Chain),
            Err(error) => promise.set_error(error),
        };
        let outcome = Arc::new(Outcome::new(this, Box::new(done)));
        let weak = self.this.clone();
        outcome.set_write(Box::new(move || {
            let Some(this) = weak.upgrade() else {
                return Ok(());
            };
            let state = this.lock();
            let failure = state.aborted.as_ref().or_else(|| state.gone.get(&to));
            failure.cloned().map_or(Ok(()), Err)
        }));
        let work = outcome.work();
        let message = lend(tensor, &work)
            .and_then(|elements| Message::tensor(self.index, key, tensor, (elements, work)));
        let message = match message {
            Ok(message) => message.failing(&outcome),
            Err(error) => return AsyncValueRef::error(error),
        };
        // Under the lock: nothing is sent after the connections were told to end.
        let state = self.lock();
        let refused = state.aborted.as_ref().or_else(|| state.gone.get(&to));
        if let Some(error) = refused.cloned() {
            drop(state);
            return AsyncValueRef::error(error);
        }
        if to != self.index {
            self.send(&[to], &message);
            return chain;
        }
        drop(state);
        let allocator = self.context.host().allocator();
        match HostBuffer::copied(allocator, &message.elements) {
            Ok(copy) => {
                let size = copy.len_bytes() + message.head.len() + OVERHEAD_BYTES;
                self.lock().unclaimed_bytes += size;
                self.received(to, &message.head, copy);
                chain
            }
            Err(error) => AsyncValueRef::error(error.into()),
        }
    }

    fn recv(&self, key: &str, from: usize) -> AsyncValueRef<DenseHostTensor> {
        let from = match self.member(from) {
            Ok(from) => from,
            Err(error) => return AsyncValueRef::error(error),
        };
        let (promise, value) = AsyncValueRef::unconstructed();
        // The group stays open as long as a receiver waits.
        let Some(this) = self.this.upgrade() else {
            return AsyncValueRef::error(Error::new("the group is closed"));
        };
        let receiver = move |arrival: Result<Arrival, Error>| {
            let tensor = arrival.and_then(|arrival| {
                // Tensors are not lent: this copies nothing.
                let elements = arrival.elements.fetch(this.context.host().allocator())?;
                let dtype = arrival.dtype;
                let shape = Shape::new(&arrival.dims)?;
                Ok(DenseHostTensor::from_buffer(dtype, shape, elements)?)
            });
            // Waiters run on the work queue.
            this.later(move || match tensor {
                Ok(tensor) => promise.emplace(tensor),
                Err(error) => promise.set_error(error),
            });
        };
        let mut state = self.lock();
        let place = (from, key.to_owned());
        let outcome = match (state.aborted.clone(), state.tensors.remove(&place)) {
            (Some(error), _) => Err(error),
            (None, Some(Waiting::Tensors(mut tensors))) => match tensors.pop_front() {
                Some(arrival) => {
                    state.unclaimed_bytes -= arrival.size_bytes;
                    if !tensors.is_empty() {
                        state.tensors.insert(place, Waiting::Tensors(tensors));
                    }
                    Ok(arrival)
                }
                None => Err(Error::new("no tensor waits")),
            },
            (None, Some(first)) => {
                state.tensors.insert(place, first);
                let message = format!("Two receivers for key {key}.");
                Err(Error::new(message).with_code(ErrorCode::AlreadyExists))
            }
            (None, None) => match state.gone.get(&from).or(state.lost.as_ref()) {
                Some(error) => Err(error.clone()),
                None => {
                    let waiting = Waiting::Receiver(Box::new(receiver));
                    state.tensors.insert(place, waiting);
                    return value;
                }
            },
        };
        drop(state);
        receiver(outcome);
        value
    }

    fn barrier(&self, key: &str) -> AsyncValueRef<Chain> {
        self.start_collective(key, operations::BARRIER, |_| Ok(operations::barrier()))
    }

    fn abandon(&self, key: &str, error: &Error) -> Result<(), Error> {
        let error = error.clone();
        match self.start(key, operations::BARRIER, |_| Err(error), Box::new(|_| ())) {
            true => Ok(()),
            false => Err(abandoned_in_use(key, &self.group)),
        }
    }

    fn abort(&self, error: &Error) {
        back_end::tell_abort(
            &self.context,
            &self.scope,
            (&self.members, self.index),
            error,
        );
        self.end(error);
    }
}
