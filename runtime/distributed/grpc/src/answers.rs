//! Deduplication of requests: a request that arrives twice runs once, and both get the same answer.
//!
//! A client that does not know whether its request arrived sends it again under the same number. It
//! counts its requests to a task, and tells with each of them below which number it has all
//! answers: those need not be kept any longer, and none of these requests runs any more, however
//! late a copy of it arrives.
//!
//! ```text
//! client                                         task
//!   request 7, all below 5 are over  ───────►  drops the answers 3 and 4, runs 7, keeps its answer
//!   request 7, all below 5 are over  ───────►  answers with the answer that it has kept
//!   request 8, all below 8 are over  ───────►  drops answer 7, runs 8
//!   request 7, which was held up     ───────►  does not run
//! ```
//!
//! Where a client leaves more answers than there is room for, the oldest are dropped, but not the
//! note that their requests ran: a copy of such a request is answered with an error.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use prost::bytes::Bytes;
use tokio::sync::oneshot;
use tonic::Status;

use crate::status;
use crate::wire::RequestId;

/// An answer as it is sent.
pub(crate) type Answer = Result<Bytes, Status>;

/// The maximum number of bytes of answers that are kept; the oldest are dropped first.
const MAX_KEPT_BYTES: usize = 64 << 20;

/// What an answer takes in addition to its bytes.
const OVERHEAD_BYTES: usize = 256;

/// The maximum number of requests of one client that are noted. Of more, those with the least
/// numbers are over, unless they are running.
const MAX_NOTED: usize = if cfg!(test) { 1 << 15 } else { 1 << 20 };

/// The maximum number of clients whose requests are noted. Those that have been silent for the
/// longest time are forgotten first.
const MAX_CLIENTS: usize = 4096;

/// What requests have in place of the number of a client that has none: those of older versions,
/// which number their requests at random.
const UNKNOWN_CLIENT: u64 = 0;

/// The answers to requests with a number.
#[derive(Debug, Default)]
pub(crate) struct Answers(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    clients: HashMap<u64, Client>,
    /// The answers that are kept, oldest first, and some that were dropped since.
    kept: VecDeque<Key>,
    num_kept: usize,
    num_bytes: usize,
    /// The number of requests that have arrived.
    num_arrived: u64,
}

/// The number of a client, and that of its request.
type Key = (u64, u64);

#[derive(Debug, Default)]
struct Client {
    /// All requests below this number are over.
    done_below: u64,
    /// Requests below this number that are not noted are over, too.
    noted_from: u64,
    requests: HashMap<u64, RequestState>,
    num_running: usize,
    /// The number of requests that had arrived when its last one did.
    last_arrival: u64,
}

#[derive(Debug)]
enum RequestState {
    Running(Vec<oneshot::Sender<Answer>>),
    Answered(Answer),
    /// Answered, but there was no room for the answer.
    Dropped,
}

/// The treatment of a request.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// The first request with its number. The code that runs it calls [`Answers::finish`].
    First,
    /// A repeated request: this receives the answer of the first one.
    Again(oneshot::Receiver<Answer>),
    /// A request that must not run, and the answer to it.
    Refused(Status),
}

impl Answers {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the arrival of a request.
    pub(crate) fn arrive(&self, number: &RequestId) -> Arrival {
        let state = &mut *self.lock();
        state.note(number);
        let Some(id) = number.request_id else {
            return Arrival::First;
        };
        let Some(client) = state.clients.get_mut(&number.client) else {
            return Arrival::First;
        };
        match client.requests.get_mut(&id) {
            Some(RequestState::Running(waiting)) => {
                let (sender, receiver) = oneshot::channel();
                waiting.push(sender);
                Arrival::Again(receiver)
            }
            Some(RequestState::Answered(answer)) => {
                let (sender, receiver) = oneshot::channel();
                // The receiver is right here.
                let _ = sender.send(answer.clone());
                Arrival::Again(receiver)
            }
            Some(RequestState::Dropped) => Arrival::Refused(Status::data_loss(
                "the request has run, but there was no room to keep its answer",
            )),
            None if id < client.done_below.max(client.noted_from) => {
                // Nobody waits for this answer.
                Arrival::Refused(Status::data_loss("the request was over when it arrived"))
            }
            None => {
                let running = RequestState::Running(Vec::new());
                client.requests.insert(id, running);
                client.num_running += 1;
                if client.requests.len() > MAX_NOTED && number.client != UNKNOWN_CLIENT {
                    state.forget_oldest(number.client);
                }
                Arrival::First
            }
        }
    }

    /// Notes which answers a client has, as a message without a number says.
    pub(crate) fn confirm(&self, number: &RequestId) {
        self.lock().note(number);
    }

    /// Notes the answer to a request, for those of its number that wait and for those that come
    /// later.
    pub(crate) fn finish(&self, number: &RequestId, answer: &Answer) {
        let Some(id) = number.request_id else {
            return;
        };
        let mut state = self.lock();
        let running = state.finish((number.client, id), answer);
        drop(state);
        for sender in running {
            // A caller that gave up does not wait any more.
            let _ = sender.send(answer.clone());
        }
    }
}

impl State {
    /// Notes that a client is there, and which answers it has.
    fn note(&mut self, number: &RequestId) {
        self.num_arrived += 1;
        if !self.clients.contains_key(&number.client) {
            self.make_room_for_client();
        }
        let client = self.clients.entry(number.client).or_default();
        client.last_arrival = self.num_arrived;
        let old = client.done_below;
        let new = number.done_below.unwrap_or(0);
        if new <= old {
            return;
        }
        client.done_below = new;
        let mut drop_answer = |state: &RequestState| match state {
            // Its end drops it.
            RequestState::Running(_) => false,
            RequestState::Answered(answer) => {
                self.num_kept -= 1;
                self.num_bytes -= size(answer);
                true
            }
            RequestState::Dropped => true,
        };
        // The step is usually one. A client may say anything, though.
        if new - old <= client.requests.len() as u64 {
            for id in old..new {
                if client.requests.get(&id).is_some_and(&mut drop_answer) {
                    client.requests.remove(&id);
                }
            }
        } else {
            let requests = &mut client.requests;
            requests.retain(|id, state| *id >= new || !drop_answer(state));
        }
        self.sweep();
    }

    /// Removes answers that were dropped from the list of those that are kept, if they are many.
    fn sweep(&mut self) {
        if self.kept.len() > 2 * self.num_kept + MAX_CLIENTS {
            let clients = &self.clients;
            self.kept.retain(|key| is_kept(clients, *key));
        }
    }

    fn finish(&mut self, key: Key, answer: &Answer) -> Vec<oneshot::Sender<Answer>> {
        let (client, id) = key;
        // Clients with running requests are not forgotten.
        let Some(client) = self.clients.get_mut(&client) else {
            return Vec::new();
        };
        client.num_running = client.num_running.saturating_sub(1);
        let running = match id < client.done_below {
            true => client.requests.remove(&id),
            false => {
                self.kept.push_back(key);
                self.num_kept += 1;
                self.num_bytes += size(answer);
                let answered = RequestState::Answered(answer.clone());
                client.requests.insert(id, answered)
            }
        };
        // The newest one stays, however large it is.
        while self.num_kept > 1 && self.num_bytes > MAX_KEPT_BYTES {
            let Some(oldest) = self.kept.pop_front() else {
                break;
            };
            self.drop_answer(oldest);
        }
        match running {
            Some(RequestState::Running(waiting)) => waiting,
            _ => Vec::new(),
        }
    }

    /// Drops an answer, if it is still kept.
    fn drop_answer(&mut self, (client, id): Key) {
        let Some(Client { requests, .. }) = self.clients.get_mut(&client) else {
            return;
        };
        if let Some(state) = requests.get_mut(&id)
            && let RequestState::Answered(answer) = state
        {
            self.num_kept -= 1;
            self.num_bytes -= size(answer);
            *state = RequestState::Dropped;
        }
        // Its requests are never confirmed.
        if client == UNKNOWN_CLIENT {
            requests.remove(&id);
        }
    }

    /// Forgets the half of the requests of a client that have the least numbers and have run. A
    /// client that confirms none of so many answers waits for an execution that began before them.
    fn forget_oldest(&mut self, client: u64) {
        let Some(client) = self.clients.get_mut(&client) else {
            return;
        };
        let is_over = |state: &RequestState| !matches!(state, RequestState::Running(_));
        let over = client.requests.iter().filter(|(_, state)| is_over(state));
        let mut over: Vec<u64> = over.map(|(id, _)| *id).collect();
        // Those that run have a limit of their own.
        if over.len() < MAX_NOTED / 2 {
            return;
        }
        let half = over.len() / 2;
        let (_, from, _) = over.select_nth_unstable(half);
        client.noted_from = client.noted_from.max(*from);
        let noted_from = client.noted_from;
        client.requests.retain(|id, state| {
            let stays = *id >= noted_from || !is_over(state);
            if !stays && let RequestState::Answered(answer) = state {
                self.num_kept -= 1;
                self.num_bytes -= size(answer);
            }
            stays
        });
        self.sweep();
    }

    /// Forgets a client if there are too many.
    fn make_room_for_client(&mut self) {
        if self.clients.len() < MAX_CLIENTS {
            return;
        }
        let idle = self.clients.iter();
        let idle = idle.filter(|(_, client)| client.num_running == 0);
        let oldest = idle.min_by_key(|(_, client)| client.last_arrival);
        let Some(number) = oldest.map(|(number, _)| *number) else {
            return;
        };
        let forgotten = self.clients.remove(&number).unwrap_or_default();
        for state in forgotten.requests.values() {
            if let RequestState::Answered(answer) = state {
                self.num_kept -= 1;
                self.num_bytes -= size(answer);
            }
        }
    }
}

fn is_kept(clients: &HashMap<u64, Client>, (client, id): Key) -> bool {
    let state = clients
        .get(&client)
        .and_then(|client| client.requests.get(&id));
    matches!(state, Some(RequestState::Answered(_)))
}

fn size(answer: &Answer) -> usize {
    OVERHEAD_BYTES
        + match answer {
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

    /// A request of client 1.
    fn number(id: u64, done_below: u64) -> RequestId {
        RequestId {
            request_id: Some(id),
            client: 1,
            done_below: Some(done_below),
        }
    }

    #[track_caller]
    fn run(answers: &Answers, number: &RequestId, answer: &Answer) {
        assert!(matches!(answers.arrive(number), Arrival::First));
        answers.finish(number, answer);
    }

    #[track_caller]
    fn again(answers: &Answers, number: &RequestId) -> oneshot::Receiver<Answer> {
        match answers.arrive(number) {
            Arrival::Again(receiver) => receiver,
            other => panic!("{number:?}: {other:?}"),
        }
    }

    #[track_caller]
    fn refusal(answers: &Answers, number: &RequestId) -> String {
        match answers.arrive(number) {
            Arrival::Refused(status) => status.message().to_owned(),
            other => panic!("{number:?}: {other:?}"),
        }
    }

    /// Checks the sums over all clients.
    #[track_caller]
    fn check(answers: &Answers) {
        let state = answers.lock();
        let kept = state.clients.values().flat_map(|client| {
            let answered = |state: &RequestState| match state {
                RequestState::Answered(answer) => Some(size(answer)),
                _ => None,
            };
            client.requests.values().filter_map(answered)
        });
        let kept: Vec<usize> = kept.collect();
        let found = (state.num_kept, state.num_bytes);
        assert_eq!(found, (kept.len(), kept.iter().sum()));
        assert!(state.kept.len() <= 2 * state.num_kept + MAX_CLIENTS + 1);
    }

    #[test]
    fn later_requests_get_the_answer_of_the_first() {
        let answers = Answers::default();
        assert!(matches!(answers.arrive(&number(7, 0)), Arrival::First));
        let mut early = again(&answers, &number(7, 0));
        assert!(early.try_recv().is_err());
        answers.finish(&number(7, 0), &bytes("x"));
        let mut late = again(&answers, &number(7, 0));
        for receiver in [&mut early, &mut late] {
            assert_eq!(receiver.try_recv().unwrap().unwrap(), "x");
        }
        let of_another_client = RequestId {
            client: 2,
            ..number(7, 0)
        };
        run(&answers, &of_another_client, &bytes("y"));
        check(&answers);
    }

    #[test]
    fn any_number_of_answers_is_kept_until_they_are_confirmed() {
        let answers = Answers::default();
        for id in 0..20_000 {
            run(&answers, &number(id, 0), &bytes("x"));
        }
        for id in 0..20_000 {
            let mut answer = again(&answers, &number(id, 0));
            assert_eq!(answer.try_recv().unwrap().unwrap(), "x");
        }
        let confirmed = RequestId {
            request_id: None,
            ..number(0, 19_999)
        };
        answers.confirm(&confirmed);
        check(&answers);
        assert_eq!(answers.lock().num_kept, 1);
        for id in [0, 19_998] {
            let refusal = refusal(&answers, &number(id, 0));
            assert_eq!(refusal, "the request was over when it arrived");
        }
        assert!(again(&answers, &number(19_999, 0)).try_recv().is_ok());
    }

    #[test]
    fn requests_that_were_given_up_leave_nothing() {
        let answers = Answers::default();
        assert!(matches!(answers.arrive(&number(0, 0)), Arrival::First));
        // The client does not wait for request 0 any more.
        run(&answers, &number(1, 1), &bytes("x"));
        // A copy of it that was held up.
        let _waits = again(&answers, &number(0, 0));
        answers.finish(&number(0, 0), &bytes("y"));
        assert_eq!(
            refusal(&answers, &number(0, 0)),
            "the request was over when it arrived"
        );
        check(&answers);
        assert_eq!(answers.lock().num_kept, 1);
    }

    #[test]
    fn a_request_whose_answer_was_dropped_does_not_run_again() {
        let answers = Answers::default();
        let large = Bytes::from(vec![0; MAX_KEPT_BYTES / 4]);
        for id in 0..5 {
            run(&answers, &number(id, 0), &Ok(large.clone()));
            check(&answers);
        }
        let expected = "the request has run, but there was no room to keep its answer";
        assert_eq!(refusal(&answers, &number(0, 0)), expected);
        assert_eq!(refusal(&answers, &number(1, 0)), expected);
        for id in 2..5 {
            assert!(again(&answers, &number(id, 0)).try_recv().is_ok());
        }
        // The newest answer is kept, however large it is.
        let larger = Bytes::from(vec![0; MAX_KEPT_BYTES + 1]);
        run(&answers, &number(5, 0), &Ok(larger));
        assert!(again(&answers, &number(5, 0)).try_recv().is_ok());
        assert_eq!(refusal(&answers, &number(4, 0)), expected);
        check(&answers);
    }

    #[test]
    fn steps_of_any_size_confirm() {
        let answers = Answers::default();
        let mut seed = 1_u64;
        let mut next = 0;
        for _ in 0..10_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005) ^ 0x9e37;
            let draw = seed >> 33;
            let done_below = match draw % 8 {
                0 => next,
                1 => next / 2,
                _ => 0,
            };
            run(&answers, &number(next, done_below), &bytes("x"));
            next += 1 + draw % 3;
            check(&answers);
        }
        // Whatever a client says costs at most what is noted of it.
        let all = number(u64::MAX, u64::MAX);
        run(&answers, &all, &bytes("x"));
        assert_eq!(answers.lock().num_kept, 1);
        refusal(&answers, &number(next, 0));
        check(&answers);
    }

    #[test]
    fn a_request_that_runs_for_long_does_not_stop_the_others() {
        let answers = Answers::default();
        assert!(matches!(answers.arrive(&number(0, 0)), Arrival::First));
        let num_requests = 3 * MAX_NOTED as u64;
        for id in 1..num_requests {
            run(&answers, &number(id, 0), &bytes("x"));
        }
        check(&answers);
        let num_noted = answers.lock().clients[&1].requests.len();
        assert!(num_noted <= MAX_NOTED + 1, "{num_noted}");
        let expected = "the request was over when it arrived";
        assert_eq!(refusal(&answers, &number(1, 0)), expected);
        let mut last = again(&answers, &number(num_requests - 1, 0));
        assert!(last.try_recv().is_ok());
        // Its answer is kept like any other.
        let mut early = again(&answers, &number(0, 0));
        answers.finish(&number(0, 0), &bytes("y"));
        assert_eq!(early.try_recv().unwrap().unwrap(), "y");
        assert!(again(&answers, &number(0, 0)).try_recv().is_ok());
        check(&answers);
    }

    #[test]
    fn clients_that_were_silent_for_longest_are_forgotten() {
        let answers = Answers::default();
        let of = |client: u64| RequestId {
            client,
            ..number(0, 0)
        };
        // Its request is running.
        assert!(matches!(answers.arrive(&of(1)), Arrival::First));
        let num_clients = MAX_CLIENTS as u64;
        for client in 2..=num_clients + 1 {
            run(&answers, &of(client), &bytes("x"));
        }
        assert_eq!(answers.lock().clients.len(), MAX_CLIENTS);
        let _running = again(&answers, &of(1));
        let _kept = again(&answers, &of(3));
        assert!(matches!(answers.arrive(&of(2)), Arrival::First));
        check(&answers);
    }

    #[test]
    fn requests_of_older_clients_are_kept_as_long_as_there_is_room() {
        let answers = Answers::default();
        let of = |id: u64| RequestId {
            request_id: Some(id),
            ..RequestId::default()
        };
        let large = Bytes::from(vec![0; MAX_KEPT_BYTES / 4]);
        for id in 0..5 {
            run(&answers, &of(id), &Ok(large.clone()));
        }
        assert!(again(&answers, &of(4)).try_recv().is_ok());
        assert!(matches!(answers.arrive(&of(0)), Arrival::First));
        assert_eq!(answers.lock().clients[&UNKNOWN_CLIENT].requests.len(), 4);
        check(&answers);
    }
}
