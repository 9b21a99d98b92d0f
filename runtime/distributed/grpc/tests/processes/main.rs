//! Tasks as processes on this machine, which are killed and stopped.
//!
//! This binary is the tasks, too. With `TFRT_LONG_TESTS` set, there are up to eight tasks, and
//! tasks are killed in 200 rounds instead of two.

mod tasks;

mod cluster;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};

use cluster::Cluster;
use tasks::Role;

/// The tasks' failure timeout.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The pause between two looks at something that takes a while.
const POLL: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    if let Some(role) = Role::of_this_process() {
        return match tasks::run(role) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("failed: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let trials = vec![
        Trial::test("collectives_conform_between_processes", || {
            let sizes: &[usize] = if is_long() { &[2, 4, 8] } else { &[2, 4] };
            let conform = |size: &usize| collectives_conform(*size, "ring");
            sizes.iter().try_for_each(conform)
        }),
        Trial::test(
            "shared_memory_conforms_between_processes",
            || match is_shared() {
                true => collectives_conform(4, "shm"),
                false => Ok(()),
            },
        ),
        Trial::test("survivors_of_a_kill_go_on", || {
            survivors_of_a_kill_go_on(Role::Loop, "ring")
        }),
        Trial::test("survivors_of_a_kill_share_memory", || match is_shared() {
            true => survivors_of_a_kill_go_on(Role::Loop, "shm"),
            false => Ok(()),
        }),
        Trial::test("survivors_of_a_kill_read_memory", || match is_shared() {
            true => survivors_of_a_kill_go_on(Role::LargeLoop, "shm"),
            false => Ok(()),
        }),
        Trial::test(
            "a_short_stop_does_not_lose_a_task",
            a_short_stop_does_not_lose_a_task,
        ),
        Trial::test(
            "a_task_stopped_for_too_long_is_out",
            a_task_stopped_for_too_long_is_out,
        ),
        Trial::test(
            "a_killed_client_leaves_nothing",
            a_killed_client_leaves_nothing,
        ),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn is_long() -> bool {
    std::env::var_os("TFRT_LONG_TESTS").is_some()
}

fn require(is_so: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failed> {
    match is_so {
        true => Ok(()),
        false => Err(otherwise().into()),
    }
}

/// Returns `true` where tasks can share memory.
fn is_shared() -> bool {
    let is_shared = cfg!(target_os = "linux");
    if !is_shared {
        println!("skipped: shared memory needs Linux");
    }
    is_shared
}

fn collectives_conform(num_tasks: usize, collectives: &str) -> Result<(), Failed> {
    let mut cluster = Cluster::start(num_tasks, Role::Conformance, collectives)?;
    for task in 0..num_tasks {
        cluster.wait_for(task, "passed")?;
    }
    cluster.end()
}

/// Returns a random number of a round; the generator is splitmix64.
fn random(round: u64) -> u64 {
    let state = round.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ state >> 31
}

fn survivors_of_a_kill_go_on(role: Role, collectives: &str) -> Result<(), Failed> {
    let (num_rounds, num_tasks) = if is_long() { (200, 8) } else { (2, 4) };
    for round in 0..num_rounds {
        let number = random(round) as usize;
        let victim = number % num_tasks;
        // Once a task is in a later step than the first, all have begun.
        let step = 1 + number / num_tasks % 40;
        let mut cluster = Cluster::start(num_tasks, role, collectives)?;
        if role == Role::LargeLoop {
            println!("{}", cluster.wait_for(victim, "members ")?);
        }
        cluster.wait_for(victim, &format!("step {step}"))?;
        cluster.kill(victim)?;
        let killed = Instant::now();
        let survivors = || (0..num_tasks).filter(|task| *task != victim);
        for task in survivors() {
            cluster.wait_for(task, "error")?;
            require(killed.elapsed() < 2 * TIMEOUT, || {
                format!("task {task} waits for {:?}", killed.elapsed())
            })?;
        }
        for task in survivors() {
            let group = cluster.wait_for(task, "regrouped as ")?;
            let expected = format!("regrouped as all~{victim}");
            require(group == expected, || {
                format!("expected {expected}, found {group}")
            })?;
            cluster.wait_for(task, "passed")?;
            let left = cluster.wait_for(task, "left: ")?;
            require(left == "left: nothing", || format!("task {task}: {left}"))?;
        }
        cluster.end()?;
        if is_long() {
            println!("round {round}: task {victim} was killed in step {step} or later");
        }
    }
    Ok(())
}

fn a_short_stop_does_not_lose_a_task() -> Result<(), Failed> {
    let mut cluster = Cluster::start(3, Role::Steps, "ring")?;
    cluster.wait_for(1, "step 5")?;
    cluster.signal(1, "STOP")?;
    // Shorter than the timeout: the stop is what is tested.
    std::thread::sleep(TIMEOUT / 4);
    require(!cluster.has_printed(0, "no error"), || {
        "expected a stop in the middle of the steps".to_owned()
    })?;
    cluster.signal(1, "CONT")?;
    for task in 0..3 {
        cluster.wait_for(task, "no error")?;
    }
    cluster.end()
}

fn a_task_stopped_for_too_long_is_out() -> Result<(), Failed> {
    // The survivors must be there when the task comes back: it learns from them that it is out.
    let mut cluster = Cluster::start(3, Role::Stay, "ring")?;
    cluster.wait_for(1, "step 5")?;
    cluster.signal(1, "STOP")?;
    for task in [0, 2] {
        let error = cluster.wait_for(task, "error")?;
        require(error.contains("/job:worker/task:1"), || error)?;
        cluster.wait_for(task, "regrouped as all~1")?;
    }
    cluster.signal(1, "CONT")?;
    cluster.wait_for(1, "error")?;
    let line = cluster.wait_for(1, "failed: ")?;
    let expected = "failed: task /job:worker/task:1 is lost to /job:worker/task:";
    require(line.starts_with(expected), || line)?;
    cluster.kill(1)?;
    for task in [0, 2] {
        cluster.wait_for(task, "passed")?;
        cluster.wait_for(task, "left: ")?;
    }
    for task in [0, 2] {
        cluster.kill(task)?;
    }
    cluster.end()
}

fn a_killed_client_leaves_nothing() -> Result<(), Failed> {
    let mut cluster = Cluster::start(3, Role::Client, "ring")?;
    cluster.wait_for(0, "ready")?;
    for worker in [1, 2] {
        let load = cluster.load(worker)?;
        require(load.num_contexts == 1, || format!("found {load:?}"))?;
        require(load.num_unclaimed == 1, || format!("found {load:?}"))?;
    }
    cluster.kill(0)?;
    let killed = Instant::now();
    for worker in [1, 2] {
        let is_empty = |cluster: &Cluster| -> Result<bool, Failed> {
            let load = cluster.load(worker)?;
            Ok(load.num_contexts + load.num_objects + load.num_unclaimed == 0)
        };
        while !is_empty(&cluster)? {
            require(killed.elapsed() < 2 * TIMEOUT, || {
                format!("worker {worker} still has {:?}", cluster.load(worker))
            })?;
            std::thread::sleep(POLL);
        }
        cluster.kill(worker)?;
    }
    cluster.end()
}
