//! Starting the tasks on this machine, and killing one of them.

use std::env;
use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use tfrt::host::allocator::{HostAllocator, Malloc};
use tfrt::prelude::*;

use super::task::{FOLDER_VARIABLE, HALT_VARIABLE, Lesson, STEPS_VARIABLE, read};

/// The time after which tasks that have not ended are killed.
const LIMIT: Duration = Duration::from_secs(400);

/// Which task is killed, and in which step.
#[derive(Clone, Copy, Debug)]
pub struct Kill {
    /// The number of the task.
    pub task: usize,
    /// The step in which it is killed.
    pub step: i64,
}

/// What the tasks have learned.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The number of recognised digits.
    pub num_right: u64,
    num_tests: i64,
    weights: Vec<f32>,
    /// The lines of each task.
    pub lines: Vec<Vec<String>>,
}

impl Outcome {
    /// Returns the largest difference between two weights.
    pub fn distance(&self, other: &Self) -> f32 {
        assert_eq!(self.weights.len(), other.weights.len());
        let pairs = self.weights.iter().zip(&other.weights);
        pairs.fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            num_right,
            num_tests,
            ..
        } = self;
        write!(f, "{num_right} of {num_tests} unseen digits are recognised")
    }
}

/// The processes, which do not outlive this.
struct Tasks(Vec<Child>);

impl Drop for Tasks {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may be gone.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Runs tasks that learn together, and returns what they have learned.
pub fn tasks(num_tasks: usize, lesson: Lesson, kill: Option<Kill>) -> Result<Outcome> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    // Relaxed: only uniqueness counts.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("learn-together-{}-{number}", std::process::id());
    let folder = env::temp_dir().join(name);
    fs::create_dir_all(&folder)?;
    let outcome = tasks_in(&folder, num_tasks, lesson, kill);
    fs::remove_dir_all(&folder)?;
    outcome
}

fn tasks_in(
    folder: &std::path::Path,
    num_tasks: usize,
    lesson: Lesson,
    kill: Option<Kill>,
) -> Result<Outcome> {
    let listeners: std::io::Result<Vec<TcpListener>> = (0..num_tasks)
        .map(|_| TcpListener::bind("127.0.0.1:0"))
        .collect();
    let listeners = listeners?;
    let addresses = listeners.iter().map(TcpListener::local_addr);
    let addresses: std::io::Result<Vec<_>> = addresses.collect();
    let addresses: Vec<String> = addresses?.iter().map(ToString::to_string).collect();
    let (sender, lines) = channel();
    let mut tasks = Tasks(Vec::new());
    for (number, listener) in listeners.into_iter().enumerate() {
        let halt = kill.filter(|kill| kill.task == number);
        let mut child = Command::new(env::current_exe()?)
            .env(HALT_VARIABLE, halt.map_or(-1, |kill| kill.step).to_string())
            .env(STEPS_VARIABLE, lesson.num_steps.to_string())
            .env("TFRT_CLUSTER", format!("worker={}", addresses.join(",")))
            .env("TFRT_JOB", "worker")
            .env("TFRT_TASK", number.to_string())
            .env("TFRT_LISTENER", "stdin")
            .env(FOLDER_VARIABLE, folder)
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take();
        tasks.0.push(child);
        let sender = sender.clone();
        thread::spawn(move || {
            if let Some(stdout) = stdout {
                tell_lines(BufReader::new(stdout), number, &sender);
            }
        });
    }
    drop(sender);
    let deadline = Instant::now() + LIMIT;
    let mut said = vec![Vec::new(); num_tasks];
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let (number, line) = match lines.recv_timeout(left) {
            Ok(line) => line,
            // All have closed their outputs.
            Err(_) if Instant::now() < deadline => break,
            Err(_) => return Err(Error::new(format!("the tasks take more than {LIMIT:?}"))),
        };
        println!("[{number}] {line}");
        if let Some(kill) = kill
            && kill.task == number
            && line == format!("step {}", kill.step)
        {
            tasks.0[number].kill()?;
        }
        said[number].push(line);
    }
    for (number, child) in tasks.0.iter_mut().enumerate() {
        let status = child.wait()?;
        let is_killed = kill.is_some_and(|kill| kill.task == number);
        if status.success() == is_killed {
            return Err(Error::new(format!("task {number} ended with {status}")));
        }
    }
    let last = said[0].last().cloned().unwrap_or_default();
    let num_right = last
        .split(' ')
        .next()
        .and_then(|number| number.parse().ok());
    let num_right = num_right
        .ok_or_else(|| Error::new(format!("expected a number of digits, found `{last}`")))?;
    let allocator: Arc<dyn HostAllocator> = Arc::new(Malloc);
    let [first, second, _] = read(&folder.join("task-0.safetensors"), &allocator)?;
    let (first, second) = (first.elements::<f32>()?, second.elements::<f32>()?);
    Ok(Outcome {
        num_right,
        num_tests: lesson.num_tests,
        weights: [&*first, &*second].concat(),
        lines: said,
    })
}

fn tell_lines(from: impl BufRead, number: usize, to: &Sender<(usize, String)>) {
    for line in from.lines().map_while(std::io::Result::ok) {
        if to.send((number, line)).is_err() {
            return;
        }
    }
}
