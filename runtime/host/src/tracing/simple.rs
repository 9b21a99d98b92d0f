//! The sink that logs a thread's activities when the thread ends.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::sink::{Activity, Arrival, TracingSink};
use crate::log;

/// The number of activities kept for each thread, as in the reference.
const MAX_ACTIVITIES: usize = 100;

/// Keeps the first 100 activities of each thread, including waits for results of asynchronous
/// kernels, and logs them when the thread ends, with times in microseconds since the first activity
/// of the process:
///
/// ```text
/// ::: [NAME]: START us -- END (DURATION ns)
/// Total activities collected: N
/// ```
///
/// ```
/// use std::sync::Arc;
/// use tfrt_host::tracing::{self, Scope, SimpleSink, TracingLevel};
///
/// tracing::set_sink(Some(Arc::new(SimpleSink)));
/// tracing::enable(TracingLevel::Default);
/// let worker = std::thread::spawn(|| drop(Scope::enter(TracingLevel::Default, || "work")));
/// worker.join().expect("it does not panic"); // The log has two lines by now.
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct SimpleSink;

thread_local! {
    static COLLECTED: RefCell<Collected> = const { RefCell::new(Collected::EMPTY) };
}

/// The activities of one thread.
struct Collected {
    /// In the order in which they began.
    activities: Vec<Timed>,
    /// The indices of the open scopes among the activities; `None` for those that are not kept.
    open: Vec<Option<usize>>,
}

struct Timed {
    name: Cow<'static, str>,
    start: Duration,
    end: Duration,
}

impl Collected {
    const EMPTY: Self = Self {
        activities: Vec::new(),
        open: Vec::new(),
    };

    /// Keeps an activity that begins now, if there is room. Returns its index.
    fn keep(&mut self, name: impl FnOnce() -> Cow<'static, str>) -> Option<usize> {
        if self.activities.len() >= MAX_ACTIVITIES {
            return None;
        }
        let now = since_start();
        self.activities.push(Timed {
            name: name(),
            start: now,
            end: now,
        });
        Some(self.activities.len() - 1)
    }
}

impl TracingSink for SimpleSink {
    fn begin(&self, activity: Activity<'_>) {
        with_collected(|collected| {
            let kept = collected.keep(|| activity.name);
            collected.open.push(kept);
        });
    }

    fn end(&self) {
        with_collected(|collected| {
            if let Some(kept) = collected.open.pop().flatten() {
                collected.activities[kept].end = since_start();
            }
        });
    }

    /// The wait is another activity of the thread that makes the result available.
    fn arrived(&self, arrival: Arrival) {
        with_collected(|collected| {
            let kept = collected.keep(|| format!("{} (pending)", arrival.kernel).into());
            if let Some(kept) = kept {
                let wait = &mut collected.activities[kept];
                wait.start = wait.end.saturating_sub(arrival.since.elapsed());
            }
        });
    }

    fn event(&self, name: &str) {
        with_collected(|collected| {
            collected.keep(|| name.to_owned().into());
        });
    }
}

/// Does nothing if the thread is ending.
fn with_collected(work: impl FnOnce(&mut Collected)) {
    let _ = COLLECTED.try_with(|collected| work(&mut collected.borrow_mut()));
}

fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

impl fmt::Display for Timed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "::: [{}]: {} us -- {} ({} ns)",
            self.name,
            self.start.as_micros(),
            self.end.as_micros(),
            (self.end - self.start).as_nanos()
        )
    }
}

impl Drop for Collected {
    /// Logs the activities when the thread ends.
    fn drop(&mut self) {
        if self.activities.is_empty() {
            return;
        }
        for activity in &self.activities {
            log::info!("{activity}");
        }
        log::info!("Total activities collected: {}", self.activities.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Cow<'static, str> {
        Cow::Owned(name.to_owned())
    }

    #[test]
    fn an_activity_is_one_line() {
        let activity = Timed {
            name: "tfrt.add.i32".into(),
            start: Duration::from_nanos(12_345_678),
            end: Duration::from_nanos(12_347_000),
        };
        assert_eq!(
            activity.to_string(),
            "::: [tfrt.add.i32]: 12345 us -- 12347 (1322 ns)"
        );
    }

    #[test]
    fn only_the_first_hundred_are_kept() {
        // Forgotten at the end, so the test logs nothing.
        let mut collected = std::mem::ManuallyDrop::new(Collected::EMPTY);
        for number in 0..MAX_ACTIVITIES {
            assert_eq!(collected.keep(|| named("early")), Some(number));
        }
        assert_eq!(collected.keep(|| named("late")), None);
        assert_eq!(collected.activities.len(), MAX_ACTIVITIES);
    }
}
