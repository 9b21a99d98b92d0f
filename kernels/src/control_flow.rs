//! Calls, choices and loops: kernels that start functions.
//!
//! Such a kernel never waits for the functions that it starts. It returns values that are not
//! available yet, and continues, if necessary, when a value that it needs becomes available. All
//! nested functions run in the context of the kernel, hence in its request.
//!
//! A non-strict op starts before its references are available; the kernels here pass references on
//! without inspecting them.

pub mod call;

pub mod conditional;

pub mod case;

pub mod repeat;

pub mod while_loop;

pub mod once;

pub mod parallel;

pub mod terminator;

use smallvec::SmallVec;
use tfrt::async_value::IndirectPromise;
use tfrt::prelude::*;

/// Values that are still to come, and the right to say which ones they are.
#[derive(Debug)]
pub(crate) struct Pending {
    promises: Vec<IndirectPromise>,
}

impl Pending {
    /// As many values as `count` says, none of them available.
    pub(crate) fn new(count: usize) -> (Self, Vec<AnyRef>) {
        let (promises, values) = (0..count).map(|_| AnyRef::indirect()).unzip();
        (Self { promises }, values)
    }

    /// Every value is the one at its position in `targets`. Where there is none, it is an error.
    pub(crate) fn forward_to(self, targets: Vec<AnyRef>) {
        for (promise, target) in self.promises.into_iter().zip(targets) {
            promise.forward_to(target);
        }
    }

    /// Returns the first value, and the others.
    pub(crate) fn split_first(mut self) -> (Self, Self) {
        let others = self.promises.split_off(self.promises.len().min(1));
        (self, Self { promises: others })
    }

    /// Every value is `target`.
    pub(crate) fn forward_all_to(self, target: &AnyRef) {
        for promise in self.promises {
            promise.forward_to(target.clone());
        }
    }
}

/// The values that a loop carries from round to round.
#[derive(Debug)]
pub(crate) struct Carried {
    pub(crate) values: Vec<AnyRef>,
    /// Kept from one round to the next for its memory. Empty between rounds.
    results: Vec<Option<AnyRef>>,
}

impl Carried {
    /// Returns those of the first round.
    pub(crate) fn new(values: &[AnyRef]) -> Self {
        Self {
            values: values.to_vec(),
            results: Vec::new(),
        }
    }

    /// Starts a round: replaces the values with the results of a function that takes them. What was
    /// carried is dropped once the round has started.
    pub(crate) fn advance(&mut self, body: &FunctionRef, ctx: &ExecutionContext) {
        self.results.resize_with(body.num_results(), || None);
        body.execute_into(ctx, &self.values, &mut self.results);
        self.replace_values();
    }

    /// As [`advance`](Self::advance), for a function that takes other values before those that are
    /// carried.
    pub(crate) fn advance_with(
        &mut self,
        body: &FunctionRef,
        first: &[AnyRef],
        ctx: &ExecutionContext,
    ) {
        self.results.resize_with(body.num_results(), || None);
        let arguments: SmallVec<[AnyRef; 4]> = first.iter().chain(&self.values).cloned().collect();
        body.execute_into(ctx, &arguments, &mut self.results);
        drop(arguments);
        self.replace_values();
    }

    /// As [`advance`](Self::advance), for a function that takes other values behind those that are
    /// carried.
    pub(crate) fn advance_in_front_of(
        &mut self,
        body: &FunctionRef,
        last: &[AnyRef],
        ctx: &ExecutionContext,
    ) {
        self.results.resize_with(body.num_results(), || None);
        let arguments: SmallVec<[AnyRef; 4]> = self.values.iter().chain(last).cloned().collect();
        body.execute_into(ctx, &arguments, &mut self.results);
        drop(arguments);
        self.replace_values();
    }

    fn replace_values(&mut self) {
        self.values.clear();
        let left_empty = || AnyRef::error(Error::new("a function did not set one of its results"));
        let results = self.results.drain(..);
        self.values
            .extend(results.map(|result| result.unwrap_or_else(left_empty)));
    }
}
