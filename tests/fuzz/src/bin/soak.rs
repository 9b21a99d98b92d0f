//! Runs a target for as long as one likes, on stable Rust: mutation knows the formats, but nothing
//! of coverage.
//!
//! ```text
//! soak TARGET [--seconds N] [--executions N] [--seed N] [--max-bytes N] [--findings FOLDER]   > /dev/null
//! soak TARGET --input FILE
//! ```
//!
//! Standard output is the programs'; what there is to say goes to standard error. A finding is an
//! input that makes the target panic, or that takes a minute: it is saved, and the last line counts
//! it. The exit status is 1 if there was one.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tfrt_fuzz::catalog::{Feed, TARGETS, Target, find};
use tfrt_fuzz::seeds::Seeds;

/// How long an input may take before it counts as a hang.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone)]
struct Options {
    target: Target,
    seconds: u64,
    executions: u64,
    seed: u64,
    max_bytes: usize,
    findings: PathBuf,
    input: Option<PathBuf>,
}

impl Options {
    fn parse() -> Result<Self, String> {
        let mut arguments = std::env::args().skip(1);
        let names = TARGETS.map(|target| target.name).join(", ");
        let name = arguments
            .next()
            .ok_or(format!("expected a target: {names}"))?;
        let target = find(&name).ok_or(format!("expected a target ({names}), found `{name}`"))?;
        let mut options = Self {
            target,
            seconds: 60,
            executions: u64::MAX,
            seed: 1,
            max_bytes: 8 << 10,
            findings: Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts"),
            input: None,
        };
        while let Some(option) = arguments.next() {
            let value = arguments
                .next()
                .ok_or(format!("expected a value for `{option}`"))?;
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|error| format!("`{option} {value}`: {error}"))
            };
            match option.as_str() {
                "--seconds" => options.seconds = number()?,
                "--executions" => options.executions = number()?,
                "--seed" => options.seed = number()?,
                "--max-bytes" => options.max_bytes = number()? as usize,
                "--findings" => options.findings = value.into(),
                "--input" => options.input = Some(value.into()),
                _ => return Err(format!("unknown option `{option}`")),
            }
        }
        Ok(options)
    }
}

thread_local! {
    /// Where the last panic of this thread came from.
    static LAST_PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

fn main() -> ExitCode {
    let outcome = Options::parse().and_then(|options| match &options.input {
        Some(path) => run_one(&options, path),
        None => Ok(watch(&options)),
    });
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(message) => {
            eprintln!("soak: {message}");
            ExitCode::from(2)
        }
    }
}

/// Soaks on a separate thread, and gives up once an input has taken too long. Returns the number of
/// findings.
fn watch(options: &Options) -> usize {
    let current = Arc::new(Current::default());
    let (sender, receiver) = mpsc::channel();
    let (options_there, current_there) = (options.clone(), Arc::clone(&current));
    thread::spawn(move || {
        let num_findings = soak(&options_there, &current_there);
        // Nobody listens any more if the last input was given up just now.
        let _ = sender.send(num_findings);
    });
    let (mut last, mut since) = (u64::MAX, Instant::now());
    loop {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(num_findings) => return num_findings,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                eprintln!("soak: the golden files cannot be read");
                return 1;
            }
        }
        let number = current.number.load(Ordering::Relaxed);
        if number != last {
            (last, since) = (number, Instant::now());
        } else if since.elapsed() > PATIENCE {
            let input = current.input.lock().unwrap_or_else(PoisonError::into_inner);
            let path = save(options, &input, "hang");
            let Options { target, seed, .. } = options;
            eprintln!(
                "{}: execution {number} hangs, seed {seed}\n  saved: {}",
                target.name,
                path.display()
            );
            return 1;
        }
    }
}

/// Runs one input, with the usual report of panics.
fn run_one(options: &Options, path: &Path) -> Result<usize, String> {
    let input = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let is_accepted = (options.target.run)(&input);
    eprintln!("accepted: {is_accepted}");
    Ok(0)
}

/// Returns the number of findings.
fn soak(options: &Options, current: &Current) -> usize {
    std::panic::set_hook(Box::new(|info| {
        LAST_PANIC.with_borrow_mut(|last| *last = info.to_string());
    }));
    let Options { target, seed, .. } = *options;
    let seeds = Seeds::read(options.max_bytes);
    for (name, num_bytes) in &seeds.left_out {
        eprintln!(
            "soak: `{name}` has {num_bytes} bytes and is no seed: more than --max-bytes {}",
            options.max_bytes
        );
    }
    let mut feed = Feed::new(target.food, &seeds, options.max_bytes, seed);
    let start = Instant::now();
    let (mut num_executions, mut num_accepted) = (0_u64, 0_u64);
    let mut findings = HashSet::new();
    while num_executions < options.executions {
        if num_executions.is_multiple_of(64) && start.elapsed().as_secs() >= options.seconds {
            break;
        }
        let input = feed.next_input();
        current.set(&input, num_executions);
        num_executions += 1;
        match catch_unwind(AssertUnwindSafe(|| (target.run)(&input))) {
            Ok(true) => {
                num_accepted += 1;
                feed.keep(input);
            }
            Ok(false) => {}
            Err(_) => {
                let message = LAST_PANIC.take();
                // One finding for each place: the first line has it.
                let place = message.lines().next().unwrap_or_default().to_owned();
                if findings.insert(place) {
                    let path = save(options, &input, "panic");
                    eprintln!("{}: {message}\n  saved: {}", target.name, path.display());
                }
            }
        }
    }
    eprintln!(
        "{}: {num_executions} executions, {num_accepted} accepted, {} findings, seed {seed}, {} s",
        target.name,
        findings.len(),
        start.elapsed().as_secs()
    );
    findings.len()
}

fn save(options: &Options, input: &[u8], what: &str) -> PathBuf {
    let folder = options.findings.join(options.target.name);
    // The same input has the same name.
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("{what}-{hash:016x}"));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, input));
    if let Err(error) = written {
        eprintln!("soak: {}: {error}", path.display());
    }
    path
}

/// The input that is being run, for the thread that watches.
#[derive(Default)]
struct Current {
    input: Mutex<Vec<u8>>,
    number: AtomicU64,
}

impl Current {
    fn set(&self, input: &[u8], number: u64) {
        let mut current = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        current.clear();
        current.extend_from_slice(input);
        // Who watches only compares numbers: relaxed.
        self.number.store(number, Ordering::Relaxed);
    }
}
