//! `tfrt cluster trace`, or `tfrt trace --cluster`: merges the traces of the tasks of a cluster
//! into one file.
//!
//! ```text
//!  task 0 ──[ send K to /job:worker/task:1 ]────────────────────►      clocks: each file has its own zero
//!                        ╲ arrow
//!  task 1 ────────────────[ receive K at /job:worker/task:1 ]───►
//! ```
//!
//! A message takes at least no time, so the one that seems the fastest in each direction limits how
//! far the clocks of two tasks can be apart; messages through other tasks limit it, too. The middle
//! of the two limits is taken, as with round trips, or the only one: then no message arrives before
//! it was sent. Tasks that exchange no messages with the others keep their times.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::output;

/// Merge the traces of tasks into one file, with aligned clocks and arrows between tasks
#[derive(Debug, Parser)]
pub(crate) struct Arguments {
    /// The file to write; `-` writes to standard output
    #[arg(value_name = "MERGED")]
    merged: String,

    /// The traces of the tasks, as `tfrt trace` writes them
    #[arg(value_name = "TRACE", required = true)]
    traces: Vec<PathBuf>,
}

/// Merges the files.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let named = arguments.traces.iter().map(|path| {
        let name = path.file_stem().unwrap_or(path.as_os_str());
        (name.to_string_lossy().into_owned(), path.as_path())
    });
    merge_files(&arguments.merged, named)
}

/// Merges files, each with the name of a task, into another one, which may be one of them.
pub(crate) fn merge_files<'a>(
    merged: &str,
    named: impl Iterator<Item = (String, &'a Path)>,
) -> Result<(), Failure> {
    let traces: Result<_, _> = named.map(|(name, path)| Trace::read(name, path)).collect();
    let text = format!("{}\n", merge(traces?));
    output::write(merged, text.as_bytes())
}

/// The trace of one task.
#[derive(Debug, Default)]
struct Trace {
    name: String,
    events: Vec<Value>,
}

/// A slice that a message begins or ends at.
#[derive(Clone, Copy, Debug)]
struct End {
    /// The number of the trace.
    task: usize,
    tid: u64,
    /// In microseconds, by the clock of the task.
    start: f64,
    length: f64,
}

/// A message between two tasks.
#[derive(Clone, Copy, Debug)]
struct Message {
    sent: End,
    received: End,
}

impl Trace {
    fn read(name: String, path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let text = fs::read(path)
            .map_err(|error| Failure::caused(format!("cannot read `{shown}`"), error))?;
        let mut trace: Value = serde_json::from_slice(&text)
            .map_err(|error| Failure::caused(format!("`{shown}` is not a trace"), error))?;
        let Some(Value::Array(events)) = trace.get_mut("traceEvents").map(Value::take) else {
            let message = format!("`{shown}` is not a trace: expected an array `traceEvents`");
            return Err(Failure::new(message));
        };
        if let Some(wrong) = events.iter().position(|event| !event.is_object()) {
            let message = format!("`{shown}` is not a trace: event {wrong} is not an object");
            return Err(Failure::new(message));
        }
        Ok(Self { name, events })
    }

    /// Returns the slices whose names begin like this, with the rest of their names.
    fn slices(&self, task: usize, prefix: &str) -> impl Iterator<Item = (&str, End)> {
        self.events.iter().filter_map(move |event| {
            let name = event["name"].as_str()?.strip_prefix(prefix)?;
            let end = End {
                task,
                tid: event["tid"].as_u64()?,
                start: event["ts"].as_f64()?,
                length: event["dur"].as_f64()?,
            };
            Some((name, end))
        })
    }
}

/// Returns the messages between tasks. One that was sent again counts from the first time.
fn messages(traces: &[Trace]) -> Vec<Message> {
    let mut received: HashMap<String, VecDeque<End>> = HashMap::new();
    for (task, trace) in traces.iter().enumerate() {
        for (name, end) in trace.slices(task, "receive ") {
            if let Some((key, at)) = name.rsplit_once(" at ") {
                let ends = received.entry(format!("{key} to {at}")).or_default();
                ends.push_back(end);
            }
        }
    }
    let mut messages = Vec::new();
    for (task, trace) in traces.iter().enumerate() {
        for (name, sent) in trace.slices(task, "send ") {
            if let Some(received) = received.get_mut(name).and_then(VecDeque::pop_front) {
                messages.push(Message { sent, received });
            }
        }
    }
    messages
}

/// Returns how many microseconds to add to the times of each task.
fn offsets(num_tasks: usize, messages: &[Message]) -> Vec<f64> {
    // The shortest apparent time of a message from one task to another.
    let mut shortest: HashMap<(usize, usize), f64> = HashMap::new();
    for message in messages {
        let (from, to) = (message.sent.task, message.received.task);
        let time = message.received.start - message.sent.start;
        let known = shortest.entry((from, to)).or_insert(time);
        *known = known.min(time);
    }
    // Also on ways through other tasks: collectives around a ring have no messages back.
    for through in 0..num_tasks {
        for from in (0..num_tasks).filter(|from| *from != through) {
            let Some(&first) = shortest.get(&(from, through)) else {
                continue;
            };
            for to in (0..num_tasks).filter(|to| *to != from && *to != through) {
                if let Some(&second) = shortest.get(&(through, to)) {
                    let known = shortest.entry((from, to)).or_insert(f64::INFINITY);
                    *known = known.min(first + second);
                }
            }
        }
    }
    // Each task goes where all tasks before it allow, so that no message between them arrives too
    // early. Such a place exists, because no way through a third task is shorter.
    let mut offsets: Vec<f64> = Vec::new();
    for other in 0..num_tasks {
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for (task, offset) in offsets.iter().enumerate() {
            if let Some(there) = shortest.get(&(task, other)) {
                least = least.max(offset - there);
            }
            if let Some(back) = shortest.get(&(other, task)) {
                most = most.min(offset + back);
            }
        }
        offsets.push(match (least.is_finite(), most.is_finite()) {
            (true, true) => f64::midpoint(least, most),
            // Only one limit is known: the fastest message took no time.
            (true, false) => least,
            (false, true) => most,
            (false, false) => 0.0,
        });
    }
    // No time is negative.
    let least = offsets.iter().copied().fold(0.0, f64::min);
    offsets.iter().map(|offset| offset - least).collect()
}

/// Returns one trace with a process for each task.
fn merge(traces: Vec<Trace>) -> Value {
    let messages = messages(&traces);
    let offsets = offsets(traces.len(), &messages);
    let mut merged = Vec::new();
    for (task, trace) in traces.into_iter().enumerate() {
        for mut event in trace.events {
            event["pid"] = json!(task + 1);
            let names_process = event["name"] == "process_name";
            if names_process
                && let Some(named) = event.get_mut("args").and_then(Value::as_object_mut)
            {
                named.insert("name".to_owned(), json!(trace.name));
            }
            if let Some(ts) = event["ts"].as_f64() {
                event["ts"] = json!(rounded(ts + offsets[task]));
            }
            // Numbers of arrows and spans are unique in a process alone.
            if let Some(id) = event["id"].as_u64() {
                event["id"] = json!(format!("{}:{id}", task + 1));
            }
            merged.push(event);
        }
    }
    for (number, message) in messages.iter().enumerate() {
        let (sent, received) = (message.sent, message.received);
        // Within the slices, so that the viewer finds them. The message may arrive while the slice
        // of its sender goes on.
        let ends = [("s", sent, 0.0), ("f", received, received.length / 2.0)];
        for (ph, end, into) in ends {
            let ts = rounded(end.start + into + offsets[end.task]);
            merged.push(json!({
                "pid": end.task + 1, "tid": end.tid, "ts": ts, "ph": ph, "bp": "e",
                "id": format!("message:{number}"), "cat": "message", "name": "message",
            }));
        }
    }
    json!({"displayTimeUnit": "ns", "traceEvents": merged})
}

/// Microseconds with whole nanoseconds.
fn rounded(micros: f64) -> f64 {
    (micros * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(name: &str, ts: f64) -> Value {
        json!({"pid": 1, "tid": 1, "ph": "X", "name": name, "ts": ts, "dur": 2.0})
    }

    fn trace(name: &str, events: Vec<Value>) -> Trace {
        Trace {
            name: name.to_owned(),
            events,
        }
    }

    #[test]
    fn clocks_are_aligned_by_the_fastest_messages() {
        // The clock of the second task is 1000 behind; messages take 10, one of them 50.
        let first = trace(
            "a",
            vec![
                slice("send x to /job:w/task:1", 1000.0),
                slice("send y to /job:w/task:1", 1100.0),
                slice("receive z at /job:w/task:0", 1210.0),
            ],
        );
        let second = trace(
            "b",
            vec![
                slice("receive x at /job:w/task:1", 50.0),
                slice("receive y at /job:w/task:1", 110.0),
                slice("send z to /job:w/task:0", 200.0),
            ],
        );
        let merged = merge(vec![first, second]);
        let events = merged["traceEvents"].as_array().unwrap();
        let at = |name: &str| {
            let event = events.iter().find(|event| event["name"] == name).unwrap();
            (
                event["pid"].as_u64().unwrap(),
                event["ts"].as_f64().unwrap(),
            )
        };
        assert_eq!(at("send y to /job:w/task:1"), (1, 1100.0));
        assert_eq!(at("receive y at /job:w/task:1"), (2, 1110.0));
        assert_eq!(at("send z to /job:w/task:0"), (2, 1200.0));
        let arrows = events.iter().filter(|event| event["cat"] == "message");
        let arrows: Vec<_> = arrows
            .map(|arrow| (arrow["ph"].as_str().unwrap(), arrow["ts"].as_f64().unwrap()))
            .collect();
        let of_z = [("s", 1200.0), ("f", 1211.0)];
        assert_eq!(arrows.len(), 6);
        assert_eq!(arrows[4..], of_z);
    }

    fn end(task: usize, start: f64) -> End {
        End {
            task,
            tid: 1,
            start,
            length: 2.0,
        }
    }

    #[test]
    fn a_task_that_answers_nobody_receives_no_message_before_it_was_sent() {
        let message = |from: usize, to: usize, time: f64| Message {
            sent: end(from, 100.0),
            received: end(to, 100.0 + time),
        };
        let messages = [message(0, 1, 10.0), message(1, 0, 10.0), message(1, 2, 5.0)];
        let offsets = offsets(3, &messages);
        for Message { sent, received } in &messages {
            let sent = sent.start + offsets[sent.task];
            assert!(
                sent <= received.start + offsets[received.task],
                "{offsets:?}"
            );
        }
    }

    #[test]
    fn no_message_around_a_ring_arrives_before_it_was_sent() {
        // Clocks that are behind the first one, and how long a message from each task takes.
        let (behind, times) = ([0.0, 500.0, 7000.0], [10.0, 4000.0, 30.0]);
        let message = |from: usize| {
            let to = (from + 1) % 3;
            let sent = 10_000.0 + 100.0 * from as f64;
            let end_at = |task: usize, at: f64| end(task, at - behind[task]);
            Message {
                sent: end_at(from, sent),
                received: end_at(to, sent + times[from]),
            }
        };
        let messages: Vec<Message> = (0..3).map(message).collect();
        let offsets = offsets(3, &messages);
        for message in messages {
            let sent = message.sent.start + offsets[message.sent.task];
            let received = message.received.start + offsets[message.received.task];
            assert!(sent <= received, "{message:?} with {offsets:?}");
        }
    }

    #[test]
    fn a_task_without_messages_keeps_its_times() {
        let alone = trace("a", vec![slice("work", 5.0)]);
        let other = trace("b", vec![slice("send x to /job:w/task:7", 3.0)]);
        let merged = merge(vec![alone, other]);
        let events = merged["traceEvents"].as_array().unwrap();
        let times: Vec<_> = events
            .iter()
            .map(|event| event["ts"].as_f64().unwrap())
            .collect();
        assert_eq!(times, [5.0, 3.0]);
    }
}
