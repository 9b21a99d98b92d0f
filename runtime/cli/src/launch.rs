//! `tfrt launch`: starts a cluster on this machine and runs a program as each of its tasks.
//!
//! ```text
//!  launch ──► launch --under PID ──exec──► PROGRAM          standard input: the socket where the task listens
//!    ▲            dies with PID              │              output: copied line by line, with the name of the task in front
//!    └──────────── ended ◄───────────────────┘
//! ```
//!
//! Each task is a separate process group. The launcher opens the sockets, so every task knows all
//! addresses before any of them runs, and no other process can take a port. On Linux, the system
//! kills a task whose launcher has ended; processes that the task has started may continue.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use clap::Parser;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tfrt::distributed::discovery::DEFAULT_JOB;

use crate::cluster_arguments::{LISTENER_VARIABLE, ON_STANDARD_INPUT};
use crate::failure::{CliError, Failure};
use crate::run::TRACE_VARIABLE;
use crate::task_traces::TaskTraces;
use crate::worker::on_signals;

const EXAMPLES: &str = "\
Examples:
  tfrt launch -n 4 -- tfrt worker                             start four workers
  tfrt launch -n 2 -- tfrt run --distributed program.mlir     run a program on two tasks
  tfrt launch -n 2 --trace all.json -- tfrt run --distributed program.mlir
                                                              and record a trace of both

Each task gets the environment variables TFRT_CLUSTER, TFRT_JOB and TFRT_TASK, and its listening
socket as standard input; with `--trace`, also TFRT_TRACE, the file for its own trace, which `tfrt
run` and `tfrt worker` write. If a task fails, the others are stopped. SIGTERM and SIGINT stop all tasks; a
second signal kills them and what they have started. The exit status is that of the task that failed
first, or 128 plus the number of the signal that killed it.";

/// The time in which tasks must end after the request to end.
const PATIENCE: Duration = Duration::from_secs(5);

/// The time to wait for output of a task that has ended.
const LAST_OUTPUT: Duration = Duration::from_secs(10);

/// Start a cluster on this machine, with one process for each task
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The number of tasks to start
    #[arg(short = 'n', long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    num_tasks: u16,

    /// The name of the job
    #[arg(long, value_name = "JOB", default_value = DEFAULT_JOB)]
    job: String,

    /// Record traces of all tasks, and merge them into one file when the tasks have ended, with
    /// aligned clocks and arrows between tasks: see `tfrt trace`. Tasks that are killed, and
    /// programs other than `tfrt run` and `tfrt worker`, record nothing
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,

    /// Become the program, and die with the process of this number: how tasks are started
    #[arg(long, value_name = "PID", hide = true)]
    under: Option<i32>,

    /// The program to start, and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Events while tasks run.
pub(crate) enum Event {
    /// A task has ended, but has not been waited for.
    Ended(usize),
    /// A stream of a task is at its end.
    Closed,
    /// The user requested the end.
    Interrupted,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    match arguments.under {
        Some(launcher) => become_program(launcher, &arguments.program),
        None => match &arguments.trace {
            Some(path) => launch_recorded(program, arguments, path),
            None => launch(program, arguments, None),
        },
    }
}

/// Runs the tasks, and merges their traces, even if a task fails.
fn launch_recorded(program: &str, arguments: &Arguments, path: &str) -> Result<(), Failure> {
    if path == "-" {
        return Err(Failure::Usage(
            "error: `--trace`: expected a file, found `-`: standard output has that of the tasks"
                .to_owned(),
        ));
    }
    // Tasks may have other working directories.
    let absolute = std::path::absolute(path).map(PathBuf::into_os_string);
    let absolute = absolute.map(OsString::into_string);
    let cannot_name = |cause| Failure::caused(format!("`{path}` has no absolute path"), cause);
    let Ok(absolute) = absolute.map_err(cannot_name)? else {
        return Err(Failure::new("the working directory has no name in UTF-8"));
    };
    let traces = TaskTraces::new(&absolute, &arguments.job, arguments.num_tasks);
    traces.remove();
    let outcome = launch(program, arguments, Some(&traces));
    let merged = traces.merge(None);
    outcome.and(merged)
}

/// Lets the system kill this process when the one of this number ends, which has started it.
pub(crate) fn die_with(launcher: i32) -> Result<(), Failure> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| {
            Failure::caused("cannot watch the launcher", io::Error::from(error))
        })?;
        // The launcher may have ended just before.
        let parent = rustix::process::getppid().map(Pid::as_raw_pid);
        if parent != Some(launcher) {
            return Err(Failure::new("the launcher has ended"));
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = launcher;
    Ok(())
}

/// Turns this process into the program.
fn become_program(launcher: i32, program: &[OsString]) -> Result<(), Failure> {
    die_with(launcher)?;
    let Some((name, arguments)) = program.split_first() else {
        return Err(Failure::new("expected a program to start"));
    };
    let error = Command::new(name).args(arguments).exec();
    let shown = name.to_string_lossy();
    Err(Failure::Status(
        127,
        CliError::caused(format!("cannot start `{shown}`"), error),
    ))
}

fn launch(
    program: &str,
    arguments: &Arguments,
    traces: Option<&TaskTraces<'_>>,
) -> Result<(), Failure> {
    let (sender, events) = mpsc::channel();
    let own_sender = sender.clone();
    on_signals(move |_| {
        // Nobody listens once all tasks are gone.
        let _ = own_sender.send(Event::Interrupted);
    })?;
    let cluster = LocalCluster::new(&arguments.job, arguments.num_tasks)?;
    let described = cluster.description();
    let pid = std::process::id().to_string();
    let under = ["launch", "--under", &pid, "--"].map(OsString::from);
    let become_program = [&under[..], &arguments.program].concat();
    let command = |task| TaskCommand {
        arguments: become_program.clone(),
        trace: traces.map(|traces| traces.file(task)),
    };
    let mut tasks = cluster.start(program, &described, &command, &sender)?;
    let mut failed: Option<(usize, ExitStatus)> = None;
    while tasks.num_running() > 0 {
        match tasks.wait(&events) {
            Some(Event::Ended(index)) => {
                let status = tasks.reap(index)?;
                if !status.success() && !tasks.is_ending() {
                    failed = Some((index, status));
                    tasks.end();
                }
            }
            Some(Event::Interrupted) if tasks.is_ending() => tasks.kill(),
            Some(Event::Interrupted) => tasks.end(),
            Some(Event::Closed) => tasks.num_open -= 1,
            None => tasks.kill(),
        }
    }
    tasks.read_last_output(&events);
    let Some((index, status)) = failed else {
        return Ok(());
    };
    let (code, how) = how_it_ended(status);
    let job = &arguments.job;
    let others = match tasks.children.len() {
        1 => "",
        _ => "; the other tasks were stopped",
    };
    let message = format!("/job:{job}/task:{index} ended with {how}{others}");
    let code = u8::try_from(code).unwrap_or(1);
    Err(Failure::Status(code, CliError::new(message)))
}

/// Returns the exit status of a shell for a process, and how the process has ended.
pub(crate) fn how_it_ended(status: ExitStatus) -> (i32, String) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (code, format!("exit status {code}")),
        (None, Some(signal)) => (128 + signal, format!("signal {signal}")),
        (None, None) => (1, "unknown status".to_owned()),
    }
}

/// The tasks of a cluster, until they are ended.
pub(crate) struct Tasks {
    children: Vec<Task>,
    /// The number of tasks' streams that have not ended.
    num_open: usize,
    /// When the tasks are killed, once they were asked to end.
    deadline: Option<Instant>,
}

struct Task {
    child: Child,
    group: Pid,
    is_running: bool,
}

/// How a task is started.
pub(crate) struct TaskCommand {
    /// Its command line, without the name of the tool.
    pub(crate) arguments: Vec<OsString>,
    /// The file for its trace, which the environment names.
    pub(crate) trace: Option<String>,
}

/// The sockets of tasks that have not been started.
pub(crate) struct LocalCluster {
    job: String,
    addresses: Vec<String>,
    listeners: Vec<TcpListener>,
}

impl LocalCluster {
    /// Opens a socket for each task of a job.
    pub(crate) fn new(job: &str, num_tasks: u16) -> Result<Self, Failure> {
        let cannot_listen = |error| Failure::caused("cannot listen on 127.0.0.1", error);
        let listeners: io::Result<Vec<TcpListener>> = (0..num_tasks)
            .map(|_| TcpListener::bind("127.0.0.1:0"))
            .collect();
        let listeners = listeners.map_err(cannot_listen)?;
        let addresses: io::Result<Vec<String>> = listeners
            .iter()
            .map(|listener| listener.local_addr().map(|address| address.to_string()))
            .collect();
        Ok(Self {
            job: job.to_owned(),
            addresses: addresses.map_err(cannot_listen)?,
            listeners,
        })
    }

    /// Returns the job with the addresses of its tasks, as `TFRT_CLUSTER` has it.
    pub(crate) fn description(&self) -> String {
        format!("{}={}", self.job, self.addresses.join(","))
    }

    /// Makes this process listen at the sockets.
    pub(crate) fn adopt(self) -> Result<(), tfrt_support::Error> {
        for listener in self.listeners {
            tfrt_grpc::adopt(listener)?;
        }
        Ok(())
    }

    /// Starts this tool, under the name `program` and with the `command` of each task, for each
    /// task of a cluster that may have further jobs.
    pub(crate) fn start(
        self,
        program: &str,
        cluster: &str,
        command: &dyn Fn(usize) -> TaskCommand,
        sender: &Sender<Event>,
    ) -> Result<Tasks, Failure> {
        let own_path = std::env::current_exe().map_err(|error| {
            Failure::caused("cannot find the executable of this program", error)
        })?;
        let mut tasks = Tasks {
            children: Vec::with_capacity(self.listeners.len()),
            num_open: 0,
            deadline: None,
        };
        for (index, listener) in self.listeners.into_iter().enumerate() {
            let TaskCommand { arguments, trace } = command(index);
            let mut command = Command::new(&own_path);
            match trace {
                Some(path) => command.env(TRACE_VARIABLE, path),
                // All tasks would write to the file of this process.
                None => command.env_remove(TRACE_VARIABLE),
            };
            command
                .arg0(program)
                .args(arguments)
                .env("TFRT_CLUSTER", cluster)
                .env("TFRT_JOB", &self.job)
                .env("TFRT_TASK", index.to_string())
                .env(LISTENER_VARIABLE, ON_STANDARD_INPUT)
                .stdin(Stdio::from(OwnedFd::from(listener)))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .process_group(0);
            let child = command
                .spawn()
                .map_err(|error| Failure::caused(format!("cannot start task {index}"), error))?;
            tasks.add(child, index, &self.job, sender)?;
        }
        Ok(tasks)
    }
}

impl Tasks {
    fn add(
        &mut self,
        mut child: Child,
        index: usize,
        job: &str,
        sender: &Sender<Event>,
    ) -> Result<(), Failure> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let group = pid.ok_or_else(|| Failure::new("a process has no process id"))?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let prefix = prefix(job, index);
        let (own_prefix, closed) = (prefix.clone(), sender.clone());
        thread::spawn(move || {
            if let Some(stdout) = stdout {
                copy_lines(stdout, &own_prefix, || anstream::stdout().lock());
            }
            let _ = closed.send(Event::Closed);
        });
        let closed = sender.clone();
        thread::spawn(move || {
            if let Some(stderr) = stderr {
                copy_lines(stderr, &prefix, || anstream::stderr().lock());
            }
            let _ = closed.send(Event::Closed);
        });
        self.num_open += 2;
        self.children.push(Task {
            child,
            group,
            is_running: true,
        });
        let ended = sender.clone();
        thread::spawn(move || {
            // The number belongs to the task until `reap`, so that no other process can be meant by
            // it.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(
                waitid(WaitId::Pid(group), options),
                Err(rustix::io::Errno::INTR)
            ) {}
            let _ = ended.send(Event::Ended(index));
        });
        Ok(())
    }

    /// Returns the first task that has ended, if there is one, and how.
    pub(crate) fn first_end(
        &mut self,
        events: &mpsc::Receiver<Event>,
    ) -> Result<Option<(usize, ExitStatus)>, Failure> {
        for event in events.try_iter() {
            match event {
                Event::Ended(index) => return Ok(Some((index, self.reap(index)?))),
                Event::Closed => self.num_open -= 1,
                Event::Interrupted => {}
            }
        }
        Ok(None)
    }

    /// Ends tasks that only serve others, and waits for them.
    pub(crate) fn finish(mut self, events: &mpsc::Receiver<Event>) -> Result<(), Failure> {
        self.end();
        while self.num_running() > 0 {
            match self.wait(events) {
                Some(Event::Ended(index)) => {
                    self.reap(index)?;
                }
                Some(Event::Closed) => self.num_open -= 1,
                Some(Event::Interrupted) => {}
                None => self.kill(),
            }
        }
        self.read_last_output(events);
        Ok(())
    }

    /// Copies what tasks that have ended have written.
    fn read_last_output(&mut self, events: &mpsc::Receiver<Event>) {
        let deadline = Instant::now() + LAST_OUTPUT;
        while self.num_open > 0 {
            let left = deadline.saturating_duration_since(Instant::now());
            match events.recv_timeout(left) {
                Ok(Event::Closed) => self.num_open -= 1,
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }

    fn num_running(&self) -> usize {
        self.children.iter().filter(|task| task.is_running).count()
    }

    fn is_ending(&self) -> bool {
        self.deadline.is_some()
    }

    /// Returns the next event, or `None` if tasks did not end in time after the request to end.
    fn wait(&self, events: &mpsc::Receiver<Event>) -> Option<Event> {
        let left = match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            // Somebody tells when a task ends.
            None => Duration::MAX,
        };
        // This process has a sender, so that an error means that time is up.
        events.recv_timeout(left).ok()
    }

    /// Records the end of a task, and ends the remaining processes of its group.
    fn reap(&mut self, index: usize) -> Result<ExitStatus, Failure> {
        let task = &mut self.children[index];
        signal(task, Signal::KILL);
        task.is_running = false;
        task.child
            .wait()
            .map_err(|error| Failure::caused(format!("cannot wait for task {index}"), error))
    }

    /// Asks all tasks to end.
    fn end(&mut self) {
        if self.deadline.is_none() {
            self.deadline = Some(Instant::now() + PATIENCE);
            self.signal_all(Signal::TERM);
        }
    }

    /// Ends all tasks.
    fn kill(&mut self) {
        self.deadline = Some(Instant::now() + PATIENCE);
        self.signal_all(Signal::KILL);
    }

    fn signal_all(&self, kind: Signal) {
        for task in self.children.iter().filter(|task| task.is_running) {
            signal(task, kind);
        }
    }
}

impl Drop for Tasks {
    fn drop(&mut self) {
        // A task that could not be started, for example, ends the ones before it.
        self.signal_all(Signal::KILL);
        for task in self.children.iter_mut().filter(|task| task.is_running) {
            // It is being killed.
            let _ = task.child.wait();
        }
    }
}

/// Sends a signal to the processes of a task that was not waited for.
fn signal(task: &Task, kind: Signal) {
    // They may be gone.
    let _ = kill_process_group(task.group, kind);
}

/// Returns the prefix of the lines of a task.
fn prefix(job: &str, index: usize) -> String {
    const COLOURS: [AnsiColor; 6] = [
        AnsiColor::Cyan,
        AnsiColor::Green,
        AnsiColor::Yellow,
        AnsiColor::Magenta,
        AnsiColor::Blue,
        AnsiColor::Red,
    ];
    let style = Style::new().fg_color(Some(COLOURS[index % COLOURS.len()].into()));
    format!("{style}[{job}/{index}]{style:#} ")
}

/// A line of a task that is longer becomes several.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Copies a stream, line by line, each in one piece. Ends early if no one reads the copy any more.
fn copy_lines<W: Write>(from: impl Read, prefix: &str, to: impl Fn() -> W) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(prefix.as_bytes());
        let mut piece = from.by_ref().take(MAX_LINE_BYTES);
        let is_end = !matches!(piece.read_until(b'\n', &mut line), Ok(1..));
        if is_end {
            return;
        }
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        let mut to = to();
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where copies go.
    struct Sink<'a>(&'a std::cell::RefCell<Vec<u8>>);

    impl Write for Sink<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_without_an_end_is_copied_in_pieces() {
        let copy = std::cell::RefCell::new(Vec::new());
        let endless = io::repeat(b'x').take(MAX_LINE_BYTES + 3);
        copy_lines(endless, "> ", || Sink(&copy));
        let copy = copy.into_inner();
        let lines = copy.split(|&byte| byte == b'\n');
        let lengths: Vec<usize> = lines.map(<[u8]>::len).collect();
        assert_eq!(lengths, [2 + MAX_LINE_BYTES as usize, 2 + 3, 0]);
    }

    #[test]
    fn lines_are_copied_whole_with_a_prefix() {
        let copy = std::cell::RefCell::new(Vec::new());
        copy_lines(&b"one\n\ntwo \xff"[..], "[w/1] ", || Sink(&copy));
        let copied = copy.into_inner();
        assert_eq!(copied, b"[w/1] one\n[w/1] \n[w/1] two \xff\n");
    }
}
