//! Deduplication of requests: a request that arrives twice runs once, and both get the same answer.
//!
//! A client that does not know whether its request arrived sends it again under the same number.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::bytes::Bytes;
use tokio::sync::oneshot;
use tonic::Status;

use crate::status;

/// An answer as it is sent.
pub(crate) type Answer = Result<Bytes, Status>;

/// The maximum number of answers that are kept.
const MAX_KEPT: usize = 4096;

/// The maximum number of bytes of answers that are kept; the oldest are dropped first.
const MAX_KEPT_BYTES: usize = 16 << 20;

/// The answers to requests with a number.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    by_id: HashMap<u64, RequestState>,
    /// The numbers of answered requests, oldest first.
    answered: VecDeque<u64>,
    num_bytes: usize,
}

#[derive(Debug)]
enum RequestState {
    Running(Vec<oneshot::Sender<Answer>>),
    Answered(Answer),
}

/// The treatment of a request.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// The first request with its number. The code that runs it calls [`Answers::finish`].
    First,
    /// A repeated request: this receives the answer of the first one.
    Again(oneshot::Receiver<Answer>),
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the arrival of a request.
    pub(crate) fn arrive(&self, id: u64) -> Arrival {
        let mut state = self.lock();
        let entry = state.by_id.get_mut(&id);
        let Some(entry) = entry else {
            state.by_id.insert(id, RequestState::Running(Vec::new()));
            return Arrival::First;
        };
        let (sender, receiver) = oneshot::channel();
        match entry {
            RequestState::Running(waiting) => waiting.push(sender),
            RequestState::Answered(answer) => {
                // The receiver is right here.
                let _ = sender.send(answer.clone());
            }
        }
        Arrival::Again(receiver)
    }

    /// Notes the answer to a request, for those of its number that wait and for those that come
    /// later.
    pub(crate) fn finish(&self, id: u64, answer: &Answer) {
        let mut state = self.lock();
        let running = state
            .by_id
            .insert(id, RequestState::Answered(answer.clone()));
        state.answered.push_back(id);
        state.num_bytes += size(answer);
        // The newest one stays, however large it is.
        let is_over =
            |state: &State| state.answered.len() > MAX_KEPT || state.num_bytes > MAX_KEPT_BYTES;
        while state.answered.len() > 1 && is_over(&state) {
            let Some(oldest) = state.answered.pop_front() else {
                break;
            };
            if let Some(RequestState::Answered(answer)) = state.by_id.remove(&oldest) {
                state.num_bytes -= size(&answer);
            }
        }
        drop(state);
        if let Some(RequestState::Running(waiting)) = running {
            for sender in waiting {
                // A caller that gave up does not wait any more.
                let _ = sender.send(answer.clone());
            }
        }
    }
}

fn size(answer: &Answer) -> usize {
    match answer {
        Ok(bytes) => bytes.len(),
        Err(status) => status.message().len() + status::size(status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &'static str) -> Answer {
        Ok(Bytes::from_static(text.as_bytes()))
    }

    fn again(answers: &Answers, id: u64) -> oneshot::Receiver<Answer> {
        match answers.arrive(id) {
            Arrival::Again(receiver) => receiver,
            Arrival::First => panic!("{id} ran twice"),
        }
    }

    #[test]
    fn later_requests_get_the_answer_of_the_first() {
        let answers = Answers::default();
        assert!(matches!(answers.arrive(7), Arrival::First));
        let mut early = again(&answers, 7);
        assert!(early.try_recv().is_err());
        answers.finish(7, &bytes("x"));
        let mut late = again(&answers, 7);
        for receiver in [&mut early, &mut late] {
            assert_eq!(receiver.try_recv().unwrap().unwrap(), "x");
        }
        assert!(matches!(answers.arrive(8), Arrival::First));
    }

    #[test]
    fn a_very_large_answer_is_kept_until_the_next_one() {
        let answers = Answers::default();
        let large = Bytes::from(vec![0; MAX_KEPT_BYTES + 1]);
        assert!(matches!(answers.arrive(1), Arrival::First));
        answers.finish(1, &Ok(large.clone()));
        assert_eq!(again(&answers, 1).try_recv().unwrap().unwrap(), large);
        assert!(matches!(answers.arrive(2), Arrival::First));
        answers.finish(2, &bytes("x"));
        assert!(matches!(answers.arrive(1), Arrival::First));
    }

    #[test]
    fn the_oldest_answers_go_first() {
        let answers = Answers::default();
        let large = Bytes::from(vec![0; MAX_KEPT_BYTES / 4]);
        for id in 0..5 {
            assert!(matches!(answers.arrive(id), Arrival::First));
            answers.finish(id, &Ok(large.clone()));
        }
        assert!(matches!(answers.arrive(0), Arrival::First));
        assert_eq!(again(&answers, 4).try_recv().unwrap().unwrap(), large);
        for id in 100..100 + MAX_KEPT as u64 + 1 {
            assert!(matches!(answers.arrive(id), Arrival::First));
            answers.finish(id, &bytes("y"));
        }
        assert!(matches!(answers.arrive(100), Arrival::First));
        assert_eq!(answers.lock().answered.len(), MAX_KEPT);
    }
}
