//! The signs of life of other tasks: which of them are silent for too long, and what their answers
//! mean. No clock, no network, no locks.
//!
//! ```text
//!               1 answers                      2 round: silent for the failure timeout
//!  not heard ───────────────► alive ─┬───────────────────────────────────────────────► lost
//!      │                        ▲ 1  ├ 3 answers with another incarnation ─────────────► lost
//!      │ 2 for the first limit  └────┼ 4 nobody listens, or the context is closed ─────► lost
//!      └──────────────► lost         └ 5 says that this task is lost to it ────────────► lost
//! ```
//!
//! A lost task is forgotten here: what it answers later does not count, and nobody asks it again.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::interval;
use crate::cluster::TaskHandle;

/// The number of failure timeouts until the first heartbeat of a task is due.
pub(super) const START_UP: u32 = 4;

/// The number of intervals without a heartbeat after which two are missing.
const NUM_MISSING: u32 = 2;

/// What a task answered to a heartbeat, or what the transport said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The process with this incarnation lives, and has the context.
    Alive(u64),
    /// The task that asks is lost to it.
    LostUs,
    /// It does not have the context; the error.
    NoContext { closed: String, error: String },
    /// Nobody listens at its address.
    NobodyListens {
        error: String,
        /// Whether it has sent requests before, without a heartbeat.
        has_spoken: bool,
    },
    /// No answer came; the error.
    Nothing(String),
}

/// The tasks that a round finds silent or asks.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Due {
    /// Those that are lost from now on, each with the cause.
    pub(super) silent: Vec<(TaskHandle, String)>,
    /// Those that get a heartbeat, or send it by a stream.
    pub(super) asked: Vec<TaskHandle>,
    /// Those of them that have not been heard for two intervals.
    pub(super) suspects: Vec<TaskHandle>,
}

/// The tasks that are not lost, with their signs of life.
#[derive(Debug)]
pub(super) struct Rounds {
    timeout: Duration,
    last_round: Instant,
    pub(super) peers: HashMap<TaskHandle, Peer>,
}

#[derive(Debug)]
pub(super) struct Peer {
    /// The last sign of life, or the start.
    silent_since: Instant,
    /// The time limit until its first answer.
    first_limit: Duration,
    /// None before the first sign of life.
    pub(super) incarnation: Option<u64>,
    /// The error of the last heartbeat, if it was not answered.
    cause: Option<String>,
}

impl Rounds {
    /// Starts to watch over tasks. A caller that has communicated with all of them passes
    /// `all_are_alive`.
    pub(super) fn new(
        tasks: &[TaskHandle],
        timeout: Duration,
        all_are_alive: bool,
        now: Instant,
    ) -> Self {
        let peer = || Peer {
            silent_since: now,
            first_limit: match all_are_alive {
                true => timeout,
                false => timeout.saturating_mul(START_UP),
            },
            incarnation: None,
            cause: None,
        };
        Self {
            timeout,
            last_round: now,
            peers: tasks.iter().map(|task| (*task, peer())).collect(),
        }
    }

    /// Returns `true` unless the task is lost or unknown.
    pub(super) fn knows(&self, task: TaskHandle) -> bool {
        self.peers.contains_key(&task)
    }

    /// Looks at all tasks, except those that are lost by other means.
    pub(super) fn round(&mut self, now: Instant, is_lost: impl Fn(TaskHandle) -> bool) -> Due {
        // This process was stopped for a while: the silence is its own.
        let was_suspended = now - self.last_round > self.timeout / 2;
        self.last_round = now;
        self.peers.retain(|task, _| !is_lost(*task));
        let mut due = Due::default();
        for (task, peer) in &mut self.peers {
            if was_suspended {
                peer.silent_since = now;
            }
            let limit = match peer.incarnation {
                Some(_) => self.timeout,
                None => peer.first_limit,
            };
            let silence = now - peer.silent_since;
            if silence > limit {
                let cause = peer.cause.clone();
                let cause = cause.unwrap_or_else(|| super::no_heartbeat(limit));
                due.silent.push((*task, cause));
                continue;
            }
            if peer.incarnation.is_some() && silence > interval(self.timeout) * NUM_MISSING {
                due.suspects.push(*task);
            }
            due.asked.push(*task);
        }
        for (task, _) in &due.silent {
            self.peers.remove(task);
        }
        due
    }

    /// Notes what was heard of a task. Returns the cause if the task is lost from now on.
    pub(super) fn hear(&mut self, task: TaskHandle, heard: Heard, now: Instant) -> Option<String> {
        let peer = self.peers.get_mut(&task)?;
        let was_alive = peer.incarnation.is_some();
        let lost_by = match heard {
            Heard::Alive(incarnation)
                if peer.incarnation.is_none_or(|known| known == incarnation) =>
            {
                peer.incarnation = Some(incarnation);
                peer.silent_since = now;
                peer.cause = None;
                return None;
            }
            Heard::Alive(_) => "another process has replaced it".to_owned(),
            Heard::LostUs => "it has lost this task".to_owned(),
            Heard::NoContext { closed, .. } if was_alive => closed,
            Heard::NobodyListens { error, has_spoken } if was_alive || has_spoken => error,
            Heard::NoContext { error, .. }
            | Heard::NobodyListens { error, .. }
            | Heard::Nothing(error) => {
                peer.cause = Some(error);
                return None;
            }
        };
        self.peers.remove(&task);
        Some(lost_by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(10);

    fn rounds(all_are_alive: bool) -> (Rounds, TaskHandle, Instant) {
        let (task, now) = (TaskHandle::draw(), Instant::now());
        (Rounds::new(&[task], TIMEOUT, all_are_alive, now), task, now)
    }

    /// Looks at the tasks every two seconds, until `end`.
    fn rounds_until(rounds: &mut Rounds, from: Instant, seconds: std::ops::Range<u64>) -> Vec<Due> {
        let times = seconds.step_by(2).map(|at| from + Duration::from_secs(at));
        times.map(|now| rounds.round(now, |_| false)).collect()
    }

    #[test]
    fn a_silent_task_is_lost_after_the_timeout_and_one_that_starts_after_four() {
        for (all_are_alive, num_asked) in [(true, 6), (false, 21)] {
            let (mut rounds, task, start) = rounds(all_are_alive);
            let all = rounds_until(&mut rounds, start, 0..60);
            let asked = all.iter().filter(|due| !due.asked.is_empty()).count();
            assert_eq!(asked, num_asked);
            let silent: Vec<_> = all.into_iter().flat_map(|due| due.silent).collect();
            let limit = TIMEOUT * if all_are_alive { 1 } else { START_UP };
            assert_eq!(silent, [(task, format!("no heartbeat for {limit:?}"))]);
        }
    }

    #[test]
    fn a_task_is_a_suspect_while_two_heartbeats_are_missing() {
        let (mut rounds, task, start) = rounds(true);
        assert_eq!(rounds.hear(task, Heard::Alive(1), start), None);
        let all = rounds_until(&mut rounds, start, 0..10);
        let suspected: Vec<bool> = all.iter().map(|due| !due.suspects.is_empty()).collect();
        assert_eq!(suspected, [false, false, false, true, true]);
        let again = start + Duration::from_secs(10);
        assert_eq!(rounds.hear(task, Heard::Alive(1), again), None);
        assert_eq!(rounds.round(again, |_| false).suspects, []);
    }

    #[test]
    fn the_silence_of_a_process_that_was_stopped_is_its_own() {
        let (mut rounds, task, start) = rounds(true);
        assert!(rounds.hear(task, Heard::Alive(1), start).is_none());
        let woken = start + Duration::from_secs(3600);
        assert_eq!(rounds.round(woken, |_| false).asked, [task]);
        let all = rounds_until(&mut rounds, woken, 2..20);
        let silent = all.into_iter().flat_map(|due| due.silent);
        assert_eq!(silent.count(), 1);
    }

    #[test]
    fn only_who_was_heard_is_lost_by_an_error() {
        let errors = [
            Heard::NoContext {
                closed: "closed".to_owned(),
                error: "error".to_owned(),
            },
            Heard::NobodyListens {
                error: "closed".to_owned(),
                has_spoken: false,
            },
        ];
        for error in errors {
            let (mut rounds, task, now) = rounds(true);
            assert_eq!(rounds.hear(task, error.clone(), now), None);
            assert_eq!(rounds.hear(task, Heard::Alive(1), now), None);
            assert_eq!(
                rounds.hear(task, Heard::Nothing("slow".to_owned()), now),
                None
            );
            let lost = rounds.hear(task, error.clone(), now);
            assert_eq!(lost.as_deref(), Some("closed"));
            // It is forgotten.
            assert_eq!(rounds.hear(task, error, now), None);
            assert_eq!(rounds.round(now, |_| false), Due::default());
        }
    }
}
