//! The operations of a member in progress: how they start, continue and fail.

use std::sync::Arc;

use prost::bytes::Bytes;
use tfrt_async::{AsyncValueRef, Chain};
use tfrt_support::{Error, ErrorCode};

use super::super::header::Part;
use super::exchange::{Delivered, Exchange, Failed, Outcome, Outgoing, Running, Step, Then};
use super::member::{DirectMember, Done, Later, State};
use super::message::{MAX_HEAD_BYTES, Message};
use crate::error::Gather;

impl DirectMember {
    /// Fails the operation under a key, if one is in progress.
    pub(super) fn fail(&self, state: &mut State, key: &str, error: &Error, later: &mut Vec<Later>) {
        let Some(exchange) = state.exchanges.get_mut(key) else {
            return;
        };
        let Some(Failed { running, owes_last }) = exchange.fail() else {
            return;
        };
        if owes_last {
            // Under the lock: nothing of the stream is sent after its last message.
            let others: Vec<usize> = self.others().collect();
            let message = Message::error(running.part, self.index, key, error);
            self.send(&others, &message);
        }
        let error = error.clone();
        later.push(Box::new(move || {
            let member = Arc::clone(running.member());
            if let Some(done) = running.take_done() {
                member.later(move || done(Err(error)));
            }
            // Without the lock: its elements are released.
            drop(running);
            member.take_back();
        }));
    }

    /// Does what follows a delivery.
    pub(super) fn follow(
        &self,
        state: &mut State,
        key: &str,
        outcome: Delivered,
        later: &mut Vec<Later>,
    ) {
        match outcome {
            Delivered::Waits => {}
            Delivered::IsReady(number) => later.push(self.step(key, number)),
            Delivered::Fails(error) => self.fail(state, key, &error, later),
        }
    }

    pub(super) fn forget_if_empty(&self, state: &mut State, key: &str) {
        if state.exchanges.get(key).is_some_and(Exchange::is_empty) {
            state.exchanges.remove(key);
        }
    }

    /// Returns the work that performs the next step of an operation, all of whose messages are
    /// there.
    fn step(&self, key: &str, number: u64) -> Later {
        let (weak, key) = (self.this.clone(), key.to_owned());
        Box::new(move || {
            if let Some(this) = weak.upgrade() {
                let own = Arc::clone(&this);
                this.later(move || own.run_step(&key, number));
            }
        })
    }

    fn run_step(&self, key: &str, number: u64) {
        let mut state = self.lock();
        let exchange = state.exchanges.get_mut(key);
        let Some((step, arrivals)) = exchange.and_then(|exchange| exchange.begin_step(number))
        else {
            return;
        };
        drop(state);
        let then = step(arrivals);
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        let Some(running) = state
            .exchanges
            .get_mut(key)
            .and_then(|exchange| exchange.running_mut(number))
        else {
            // It failed meanwhile.
            return;
        };
        match then {
            Ok(Then::Exchange(outgoing, next)) => {
                running.step = Some(next);
                running.is_stepping = false;
                self.send_phase(key, running, &outgoing);
                if let Delivered::IsReady(number) = running.try_begin() {
                    later.push(self.step(key, number));
                }
            }
            Ok(Then::Write(write)) => {
                let exchange = state.exchanges.get_mut(key);
                if let Some(running) = exchange.and_then(Exchange::end) {
                    running.set_write(write);
                    // Its end, unless some elements are still being sent.
                    later.push(Box::new(move || drop(running)));
                }
            }
            Err(error) => self.fail(&mut state, key, &error, &mut later),
        }
        self.forget_if_empty(&mut state, key);
        drop(state);
        for work in later {
            work();
        }
    }

    /// Sends the messages of the next phase.
    fn send_phase(&self, key: &str, running: &mut Running, outgoing: &Outgoing) {
        running.num_sent += 1;
        let part = running.part;
        let is_last = running.num_sent == part.operation.num_phases();
        let message = |dims: &[usize], elements: &Bytes| {
            let content = (elements.clone(), running.work.clone());
            Message::elements(part, self.index, key, is_last, dims, content)
                .failing(&running.outcome)
        };
        match outgoing {
            Outgoing::All(dims, elements) => {
                let others: Vec<usize> = self.others().collect();
                self.send(&others, &message(dims, elements));
            }
            Outgoing::Each(elements) => {
                for position in self.others() {
                    self.send(&[position], &message(&[], &elements[position]));
                }
            }
        }
    }

    /// Starts an operation. `prepare` gets the part of the work that keeps borrowed elements, and
    /// returns what is sent first. Returns `false` if the key is in use.
    pub(super) fn start(
        &self,
        key: &str,
        part: Part,
        prepare: impl FnOnce(&Gather) -> Result<(Outgoing, Step), Error>,
        done: Done,
    ) -> bool {
        let Some(this) = self.this.upgrade() else {
            done(Err(Error::new("the group is closed")));
            return true;
        };
        let outcome = Arc::new(Outcome::new(Arc::clone(&this), done));
        // Ends once all is done and sent.
        let work = outcome.work();
        let prepared = match key.len() > MAX_HEAD_BYTES / 2 {
            true => {
                let (limit, found) = (MAX_HEAD_BYTES / 2, key.len());
                let message = format!("expected a key of at most {limit} bytes, found {found}");
                Err(Error::new(message).with_code(ErrorCode::InvalidArgument))
            }
            false => prepare(&work),
        };
        let mut later: Vec<Later> = Vec::new();
        let mut state = self.lock();
        let size = self.members.len();
        let (number, aborted) = (state.next_number, state.aborted.clone());
        let gone = state.gone.iter().min_by_key(|(position, _)| **position);
        let gone = gone.map(|(_, error)| error.clone());
        let exchange = state.exchanges.entry(key.to_owned());
        let exchange = exchange.or_insert_with(|| Exchange::new(size));
        let is_in_use = exchange.is_running();
        let refused = aborted.or_else(|| {
            is_in_use.then(|| {
                let (name, group) = (part.operation.name(), &self.group);
                let message = format!("{name} key {key} of group {group} is in use");
                Error::new(message).with_code(ErrorCode::AlreadyExists)
            })
        });
        if let Some(error) = refused {
            self.forget_if_empty(&mut state, key);
            drop(state);
            if let Some(done) = outcome.take_done() {
                done(Err(error));
            }
            return !is_in_use;
        }
        let (first, failure) = match (prepared, gone) {
            (Ok(first), None) => (Some(first), None),
            (Err(error), _) | (Ok(_), Some(error)) => (None, Some(error)),
        };
        let (outgoing, step) = first.unzip();
        let mut running = Running::new(part, number, (step, outcome), this, work);
        if let Some(outgoing) = outgoing {
            self.send_phase(key, &mut running, &outgoing);
        }
        exchange.start(running);
        let waited = exchange.deliver_waiting((&self.scope, key));
        state.next_number += 1;
        state.unclaimed_bytes -= waited.claimed_bytes;
        let outcome = failure.map_or(waited.then, Delivered::Fails);
        self.follow(&mut state, key, outcome, &mut later);
        self.forget_if_empty(&mut state, key);
        drop(state);
        for work in later {
            work();
        }
        true
    }

    /// Starts an operation whose result is written into tensors.
    pub(super) fn start_collective(
        &self,
        key: &str,
        part: Part,
        prepare: impl FnOnce(&Gather) -> Result<(Outgoing, Step), Error>,
    ) -> AsyncValueRef<Chain> {
        let (promise, chain) = AsyncValueRef::unconstructed();
        let done = |outcome| match outcome {
            Ok(()) => promise.emplace(Chain),
            Err(error) => promise.set_error(error),
        };
        self.start(key, part, prepare, Box::new(done));
        chain
    }
}
