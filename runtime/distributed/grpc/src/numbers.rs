//! The numbers of the requests of one client to one task.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::wire::RequestId;

/// Numbers requests one after the other, and knows which of them are over.
#[derive(Debug)]
pub(crate) struct Numbers {
    /// The number of the client, which no other one has.
    client: u64,
    /// The first number. Tasks of version 1.0 know requests by their numbers alone, so those of
    /// clients are far from each other.
    first: u64,
    state: Mutex<State>,
    /// The first number in `state`, for those who only read it.
    done_below: AtomicU64,
}

#[derive(Debug)]
struct State {
    /// All requests below this number are over.
    done_below: u64,
    /// Whether the requests from there on are over. The first one is not.
    are_over: VecDeque<bool>,
}

impl Numbers {
    /// Numbers the requests of a client from a number on.
    pub(crate) fn new(client: u64, first: u64) -> Self {
        // There are enough numbers behind it.
        let first = first >> 1;
        let state = State {
            done_below: first,
            are_over: VecDeque::new(),
        };
        Self {
            client,
            first,
            state: Mutex::new(state),
            done_below: AtomicU64::new(first),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Numbers a request.
    pub(crate) fn next(&self) -> Numbered<'_> {
        let mut state = self.lock();
        let id = state.done_below + state.are_over.len() as u64;
        state.are_over.push_back(false);
        Numbered { numbers: self, id }
    }

    /// Returns what a message without a number says, if it says anything.
    pub(crate) fn confirmation(&self) -> Option<RequestId> {
        let id = self.fields(None);
        (id.done_below != Some(self.first)).then_some(id)
    }

    fn fields(&self, request_id: Option<u64>) -> RequestId {
        RequestId {
            request_id,
            client: self.client,
            // Relaxed: an older number only keeps answers for longer.
            done_below: Some(self.done_below.load(Ordering::Relaxed)),
        }
    }

    fn end(&self, id: u64) {
        let mut state = self.lock();
        let index = id - state.done_below;
        // It is there: a request ends once.
        if let Some(is_over) = usize::try_from(index)
            .ok()
            .and_then(|index| state.are_over.get_mut(index))
        {
            *is_over = true;
        }
        while state.are_over.pop_front_if(|is_over| *is_over).is_some() {
            state.done_below += 1;
        }
        // Within the lock, so that it never goes back.
        self.done_below.store(state.done_below, Ordering::Relaxed);
    }
}

/// The number of a request, which is not sent again once this is dropped.
#[derive(Debug)]
pub(crate) struct Numbered<'numbers> {
    numbers: &'numbers Numbers,
    id: u64,
}

impl Numbered<'_> {
    /// Returns the fields that the request has when it is sent now.
    pub(crate) fn fields(&self) -> RequestId {
        self.numbers.fields(Some(self.id))
    }
}

impl Drop for Numbered<'_> {
    fn drop(&mut self) {
        self.numbers.end(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_over_is_known_up_to_the_first_that_is_not() {
        let numbers = Numbers::new(9, 200);
        assert_eq!(numbers.confirmation(), None);
        let [first, second, third] = [(); 3].map(|()| numbers.next());
        let expected = |id: u64, done_below: u64| RequestId {
            request_id: Some(100 + id),
            client: 9,
            done_below: Some(100 + done_below),
        };
        assert_eq!(third.fields(), expected(2, 0));
        drop(second);
        assert_eq!(third.fields(), expected(2, 0));
        drop(first);
        assert_eq!(third.fields(), expected(2, 2));
        let fourth = numbers.next();
        drop(third);
        assert_eq!(fourth.fields(), expected(3, 3));
        drop(fourth);
        let all = RequestId {
            request_id: None,
            ..expected(0, 4)
        };
        assert_eq!(numbers.confirmation(), Some(all));
        assert_eq!(numbers.next().fields(), expected(4, 4));
        assert!(numbers.lock().are_over.is_empty());
    }
}
