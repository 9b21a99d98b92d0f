//! The costs and latencies of queues: `cargo bench -p tfrt-queue --bench queue -- [NAME…]`.
//!
//! | name | question | aim |
//! |---|---|---|
//! | `idle` | How much processor time do idle threads take, and how soon after the last task do they sleep? | none, after 100 us |
//! | `wake` | How long does it take until a task runs that is added while all threads sleep? | 20 us |
//! | `load` | How late are small requests that arrive at 80 % of the throughput of the threads? | p99 is at most 3 times p50 |
//! | `tiny` | What does a second thread cost if tasks are too small for it? | 5 % |
//! | `add` | What does a task cost that is added alone, in a batch, and by a task? | |
//! | `million` | Is a task of a million that are added at once slower than one of a few? | no |
//!
//! Compare numbers of one run only: the machine may be busy with other work.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use tfrt_queue::{ConcurrentWorkQueue, SingleThreadedQueue, Task, WorkStealingQueue};

fn main() {
    let benches: [(&str, fn()); 6] = [
        ("idle", idle),
        ("wake", wake),
        ("load", load),
        ("tiny", tiny),
        ("add", add),
        ("million", million),
    ];
    // Cargo passes `--bench` before the arguments of the user.
    let names: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, bench) in benches {
        if names.is_empty() || names.iter().any(|wanted| wanted == name) {
            bench();
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the processor time of this process.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Takes a few hundred nanoseconds for every 100 of `amount`.
fn work(amount: u64) {
    let mut state = amount;
    for _ in 0..amount {
        state = black_box(
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
}

/// Returns the value that `percent` of the sorted `times` do not exceed.
fn percentile(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() * percent / 100).min(times.len() - 1)]
}

fn report(name: &str, what: &str, value: impl std::fmt::Display) {
    println!("{name:<8} {what:<58} {value}");
}

fn micros(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

fn idle() {
    let queue = WorkStealingQueue::new(cores(), 4);
    queue.add_tasks(&mut (0..1000).map(|_| Task::new(|| work(1000))));
    queue.quiesce().expect("not a task");
    // The processor time after the queue became quiescent, which it is once all threads are about
    // to sleep.
    let rounds: Vec<Duration> = (0..100)
        .map(|_| {
            queue.add_tasks(&mut (0..cores()).map(|_| Task::new(|| work(1000))));
            queue.quiesce().expect("not a task");
            let before = cpu_time();
            std::thread::sleep(Duration::from_millis(2));
            cpu_time() - before
        })
        .collect();
    let mean = rounds.iter().sum::<Duration>() / rounds.len() as u32;
    report(
        "idle",
        "computed in 2 ms after quiescence, the sleep included",
        micros(mean),
    );
    let before = cpu_time();
    std::thread::sleep(Duration::from_secs(1));
    report(
        "idle",
        "computed in one second of sleep",
        micros(cpu_time() - before),
    );
    // The queue is quiescent when the last of its threads is about to sleep.
    let mut spun: Vec<Duration> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            let (sender, receiver) = std::sync::mpsc::channel();
            queue.add_task(Task::new(move || {
                sender.send(begin.elapsed()).expect("it is received");
            }));
            let started = receiver.recv().expect("the task sends");
            queue.quiesce().expect("not a task");
            begin.elapsed() - started
        })
        .collect();
    spun.sort_unstable();
    report(
        "idle",
        "from the last task to the sleep of all threads, p50",
        micros(percentile(&spun, 50)),
    );
    report(
        "idle",
        "from the last task to the sleep of all threads, p99",
        micros(percentile(&spun, 99)),
    );
}

fn wake() {
    let queue = WorkStealingQueue::new(cores(), 1);
    let mut times: Vec<Duration> = (0..2000)
        .map(|_| {
            queue.quiesce().expect("not a task");
            // Long enough for the threads to be asleep in the system, too.
            std::thread::sleep(Duration::from_micros(200));
            let started = Arc::new(AtomicU64::new(0));
            let (inner, begin) = (Arc::clone(&started), Instant::now());
            queue.add_task(Task::new(move || {
                inner.store(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
            }));
            queue.quiesce().expect("not a task");
            Duration::from_nanos(started.load(Ordering::Relaxed))
        })
        .collect();
    times.sort_unstable();
    for percent in [50, 90, 99] {
        report(
            "wake",
            &format!("from adding to running, p{percent}"),
            micros(percentile(&times, percent)),
        );
    }
}

/// Open load: requests arrive at fixed times, whether or not earlier ones are done. There are many
/// short rounds, because all requests of a round suffer if the machine does other work for a while.
fn load() {
    const AMOUNT: u64 = 20_000;
    const NUM_REQUESTS: u32 = 1000;
    // One core is left for the thread that sends the requests.
    let num_threads = cores().saturating_sub(1).max(1);
    let queue = WorkStealingQueue::new(num_threads, 1);
    let mut rounds: Vec<[Duration; 3]> = (0..60)
        .map(|_| {
            let service = time_of_a_request(&queue, AMOUNT);
            let interval = service.mul_f64(1.0 / (0.8 * num_threads as f64));
            let times: Arc<[AtomicU64]> = (0..NUM_REQUESTS).map(|_| AtomicU64::new(0)).collect();
            let begin = Instant::now();
            for number in 0..NUM_REQUESTS {
                let due = interval * number;
                while begin.elapsed() < due {
                    std::hint::spin_loop();
                }
                let times = Arc::clone(&times);
                queue.add_task(Task::new(move || {
                    work(AMOUNT);
                    let late = begin.elapsed().saturating_sub(due);
                    times[number as usize].store(late.as_nanos() as u64, Ordering::Relaxed);
                }));
            }
            queue.quiesce().expect("not a task");
            let mut times: Vec<Duration> = times
                .iter()
                .map(|time| Duration::from_nanos(time.load(Ordering::Relaxed)))
                .collect();
            times.sort_unstable();
            [service, percentile(&times, 50), percentile(&times, 99)]
        })
        .collect();
    let ratio = |[_, p50, p99]: &[Duration; 3]| p99.as_secs_f64() / p50.as_secs_f64();
    rounds.sort_by(|one, other| ratio(one).total_cmp(&ratio(other)));
    for (name, percent) in [("best", 0), ("median", 50), ("worst", 100)] {
        let round = &rounds[(rounds.len() * percent / 100).min(rounds.len() - 1)];
        let [service, p50, p99] = round.map(micros);
        report(
            "load",
            &format!(
                "{name} of {} rounds, {num_threads} threads: p99 / p50",
                rounds.len()
            ),
            format!(
                "{:.2}  (alone {service}, p50 {p50}, p99 {p99})",
                ratio(round)
            ),
        );
    }
}

/// Returns the time that a request takes on a thread of the queue while this thread is as busy as
/// when it sends requests.
fn time_of_a_request(queue: &WorkStealingQueue, amount: u64) -> Duration {
    const NUM_REQUESTS: usize = 100;
    let times: Arc<[AtomicU64]> = (0..NUM_REQUESTS).map(|_| AtomicU64::new(0)).collect();
    let inner = Arc::clone(&times);
    queue.add_task(Task::new(move || {
        for time in &*inner {
            let begin = Instant::now();
            work(amount);
            time.store(begin.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }));
    while times[NUM_REQUESTS - 1].load(Ordering::Relaxed) == 0 {
        std::hint::spin_loop();
    }
    let mut times: Vec<u64> = times
        .iter()
        .map(|time| time.load(Ordering::Relaxed))
        .collect();
    times.sort_unstable();
    Duration::from_nanos(times[NUM_REQUESTS / 2])
}

/// A task that adds two of half its size, and so on: the load of a graph of small kernels.
fn fork(queue: &'static WorkStealingQueue, depth: u32, amount: u64) {
    work(amount);
    for _ in 0..if depth == 0 { 0 } else { 2 } {
        queue.add_task(Task::new(move || fork(queue, depth - 1, amount)));
    }
}

/// A task that adds one more, and so on: there is no work for a second thread.
fn chain(queue: &'static WorkStealingQueue, left: u32, amount: u64) {
    work(amount);
    if left > 0 {
        queue.add_task(Task::new(move || chain(queue, left - 1, amount)));
    }
}

fn tiny() {
    type Shape = fn(&'static WorkStealingQueue, u32, u64);
    let shapes: [(&str, Shape, u32); 2] = [("fork", fork, 16), ("chain", chain, 100_000)];
    // Never dropped, so that tasks share no reference count, which would dominate their costs.
    let queues: [&'static WorkStealingQueue; 2] =
        [1, 2].map(|num_threads| &*Box::leak(Box::new(WorkStealingQueue::new(num_threads, 1))));
    for (name, shape, size) in shapes {
        for amount in [0, 30, 300] {
            let mut best = [Duration::MAX; 2];
            // Alternating, so that other work of the machine affects both alike.
            for _ in 0..15 {
                for (queue, best) in queues.into_iter().zip(&mut best) {
                    let begin = Instant::now();
                    queue.add_task(Task::new(move || shape(queue, size, amount)));
                    queue.quiesce().expect("not a task");
                    *best = begin.elapsed().min(*best);
                }
            }
            let [one, two] = best.map(|time| time.as_secs_f64());
            report(
                "tiny",
                &format!("{name} of work {amount}: two threads / one thread"),
                format!(
                    "{:.2}  ({:.1} ms / {:.1} ms)",
                    two / one,
                    two * 1e3,
                    one * 1e3
                ),
            );
        }
    }
}

fn add() {
    const NUM_TASKS: u32 = 200_000;
    /// Shares nothing: a count that threads share would dominate the costs.
    fn task() -> Task {
        Task::new(|| work(1))
    }
    type Add<'a> = &'a dyn Fn(&dyn ConcurrentWorkQueue);
    let time = |queue: &dyn ConcurrentWorkQueue, add: Add<'_>| {
        let best = (0..10).map(|_| {
            let begin = Instant::now();
            add(queue);
            queue.quiesce().expect("not a task");
            begin.elapsed()
        });
        let each = best.min().unwrap_or_default().as_secs_f64() / f64::from(NUM_TASKS);
        format!("{:.1} ns", each * 1e9)
    };
    let queues: [(&str, Arc<dyn ConcurrentWorkQueue>); 3] = [
        ("s", Arc::new(SingleThreadedQueue::new())),
        ("mstd:1", Arc::new(WorkStealingQueue::new(1, 1))),
        ("mstd:2", Arc::new(WorkStealingQueue::new(2, 1))),
    ];
    for (name, queue) in &queues {
        let alone = |queue: &dyn ConcurrentWorkQueue| {
            (0..NUM_TASKS).for_each(|_| queue.add_task(task()));
        };
        let batches = |queue: &dyn ConcurrentWorkQueue| {
            (0..NUM_TASKS / 100).for_each(|_| queue.add_tasks(&mut (0..100).map(|_| task())));
        };
        let inner = Arc::clone(queue);
        let in_task = move |queue: &dyn ConcurrentWorkQueue| {
            let inner = Arc::clone(&inner);
            queue.add_task(Task::new(move || batches(&*inner)));
        };
        let ways: [(&str, Add); 3] = [
            ("alone", &alone),
            ("by 100", &batches),
            ("by 100 in a task", &in_task),
        ];
        for (way, add) in ways {
            let what = format!("{name}: a task, added {way}, until all are done");
            report("add", &what, time(&**queue, add));
        }
    }
}

fn million() {
    for num_tasks in [1_000_u32, 1_000_000] {
        let queue = Arc::new(WorkStealingQueue::new(cores(), 1));
        let best = (0..5).map(|_| {
            let begin = Instant::now();
            let inner = Arc::clone(&queue);
            queue.add_task(Task::new(move || {
                inner.add_tasks(&mut (0..num_tasks).map(|_| Task::new(|| work(10))));
            }));
            queue.quiesce().expect("not a task");
            begin.elapsed()
        });
        let each = best.min().unwrap_or_default().as_secs_f64() * 1e9 / f64::from(num_tasks);
        report(
            "million",
            &format!("a task of {num_tasks} at once"),
            format!("{each:.1} ns"),
        );
    }
}
