//! How long small requests wait that come steadily, at a part of what the threads can do.
//!
//! Requests come at fixed times, whether or not those before are answered, and their time counts
//! from when they should have come: a queue that stalls is charged with everything that it kept
//! waiting.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::programs::{Program, Shape};
use crate::session::Session;

/// How many requests are made.
const NUM_REQUESTS: usize = 50_000;

/// How many requests are under way at once while it is measured how many the threads can answer.
const NUM_AT_ONCE: usize = 64;

/// How long requests took to be answered.
#[derive(Clone, Copy, Debug)]
pub struct Latency {
    /// The mean time between two requests.
    pub period: Duration,
    /// What half of them did not exceed.
    pub p50: Duration,
    /// What 99 of 100 of them did not exceed.
    pub p99: Duration,
}

/// Measures requests, of 200 kernels each that give their results from tasks, which come at so many
/// percent of what the queue can answer.
///
/// # Errors
/// If the name of the queue is unsound, or a request fails.
pub fn measure(queue: &str, percent: u32) -> Result<Latency, String> {
    let program = Program::new(Shape::Async, 200);
    let session = Session::of_requests(&program, queue).map_err(|error| error.to_string())?;
    let period = capacity(&session) * 100 / percent;
    let times_ns: Arc<[AtomicU64]> = (0..NUM_REQUESTS).map(|_| AtomicU64::new(0)).collect();
    let failed = Arc::new(Mutex::new(None));
    let begin = Instant::now();
    for number in 0..NUM_REQUESTS {
        let due = begin + period * number as u32;
        while Instant::now() < due {
            std::hint::spin_loop();
        }
        let (times_ns, failed) = (Arc::clone(&times_ns), Arc::clone(&failed));
        session.request(move |outcome| {
            let elapsed_ns = due.elapsed().as_nanos() as u64;
            times_ns[number].store(elapsed_ns, Ordering::Relaxed);
            if let Err(error) = outcome {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
            }
        });
    }
    session.wait();
    let failed = failed.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(message) = failed {
        return Err(message);
    }
    let mut times_ns: Vec<u64> = times_ns
        .iter()
        .map(|time_ns| time_ns.load(Ordering::Relaxed))
        .collect();
    times_ns.sort_unstable();
    let at = |percent: usize| Duration::from_nanos(times_ns[NUM_REQUESTS * percent / 100]);
    Ok(Latency {
        period,
        p50: at(50),
        p99: at(99),
    })
}

/// How long the queue takes for a request, where there are always enough of them.
fn capacity(session: &Session) -> Duration {
    let num_under_way = Arc::new(AtomicUsize::new(0));
    let num_made = NUM_REQUESTS / 5;
    let begin = Instant::now();
    for _ in 0..num_made {
        while num_under_way.load(Ordering::Relaxed) >= NUM_AT_ONCE {
            std::hint::spin_loop();
        }
        num_under_way.fetch_add(1, Ordering::Relaxed);
        let num_under_way = Arc::clone(&num_under_way);
        session.request(move |_| {
            num_under_way.fetch_sub(1, Ordering::Relaxed);
        });
    }
    session.wait();
    begin.elapsed() / num_made as u32
}

/// Prints what is measured at some loads.
///
/// # Errors
/// As [`measure`].
pub fn print(queue: &str) -> Result<(), String> {
    println!(
        "{:<6} {:>12} {:>10} {:>10} {:>6}",
        "load", "a request in", "p50", "p99", "ratio"
    );
    for percent in [20, 50, 80] {
        let Latency { period, p50, p99 } = measure(queue, percent)?;
        let micros = |time: Duration| format!("{:.1} us", time.as_secs_f64() * 1e6);
        println!(
            "{:<6} {:>12} {:>10} {:>10} {:>6.1}",
            format!("{percent} %"),
            micros(period),
            micros(p50),
            micros(p99),
            p99.as_secs_f64() / p50.as_secs_f64()
        );
    }
    Ok(())
}
