//! The processes of a cluster, as the test sees them.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use tfrt_distributed::Server;
use tfrt_distributed::fabric::{self, CallOptions, FabricCommunicator};
use tfrt_distributed::message::{GetDevicesRequest, TaskLoad};
use tfrt_grpc::{GrpcNetwork, GrpcOptions};
use tfrt_host::HostContext;

use crate::POLL;
use crate::tasks::{COLLECTIVES_VARIABLE, ROLE_VARIABLE, Role};

/// The time that a line or the end of a process may take. Eight tasks on a busy machine take a
/// while for the conformance suite.
const LIMIT: Duration = Duration::from_secs(300);

/// Processes, which do not outlive the test.
pub struct Cluster {
    tasks: Vec<Task>,
    /// Asks the tasks for their load.
    observer: Arc<dyn FabricCommunicator>,
}

struct Task {
    child: Child,
    address: String,
    lines: Receiver<String>,
    is_killed: bool,
}

impl Cluster {
    /// Starts tasks with a role, whose groups use a back end of collectives.
    pub fn start(num_tasks: usize, role: Role, collectives: &str) -> Result<Self, Failed> {
        let mut listeners = Vec::new();
        for _ in 0..num_tasks {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            listeners.push((listener.local_addr()?.to_string(), listener));
        }
        let addresses: Vec<&str> = listeners.iter().map(|(address, _)| &**address).collect();
        let cluster = format!("worker={}", addresses.join(","));
        let queue = tfrt_queue::create_queue("mstd:1")?;
        let host = HostContext::builder().queue(queue).build();
        let nobody: Weak<Server> = Weak::new();
        let observer = GrpcNetwork::new(GrpcOptions::default());
        let observer = observer
            .listen(&host, "127.0.0.1:0", nobody)
            .map_err(|error| error.message().to_owned())?;
        let mut this = Self {
            tasks: Vec::new(),
            observer,
        };
        for (number, (address, listener)) in listeners.into_iter().enumerate() {
            let mut child = Command::new(std::env::current_exe()?)
                .env("TFRT_CLUSTER", &cluster)
                .env("TFRT_JOB", "worker")
                .env("TFRT_TASK", number.to_string())
                .env(ROLE_VARIABLE, role.name())
                .env(COLLECTIVES_VARIABLE, collectives)
                .stdin(Stdio::from(OwnedFd::from(listener)))
                .stdout(Stdio::piped())
                .spawn()?;
            let stdout = child.stdout.take().ok_or("the output is a pipe")?;
            let (sender, lines) = channel();
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
            this.tasks.push(Task {
                child,
                address,
                lines,
                is_killed: false,
            });
        }
        Ok(this)
    }

    /// Waits for a line of a task that begins with a text, and returns it.
    pub fn wait_for(&mut self, task: usize, start: &str) -> Result<String, Failed> {
        let end = Instant::now() + LIMIT;
        let mut last = "nothing".to_owned();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.tasks[task].lines.recv_timeout(left) {
                Ok(line) if line.starts_with(start) => return Ok(line),
                Ok(line) if line.starts_with("failed: ") => {
                    return Err(format!("task {task} {line}").into());
                }
                Ok(line) => last = line,
                Err(_) => {
                    let message = format!("task {task}: expected `{start}`, last found `{last}`");
                    return Err(message.into());
                }
            }
        }
    }

    /// Returns `true` if a task has printed a line that begins with a text. Forgets its lines.
    pub fn has_printed(&self, task: usize, start: &str) -> bool {
        let mut lines = self.tasks[task].lines.try_iter();
        lines.any(|line| line.starts_with(start))
    }

    /// Kills a task.
    pub fn kill(&mut self, task: usize) -> Result<(), Failed> {
        let task = &mut self.tasks[task];
        task.is_killed = true;
        Ok(task.child.kill()?)
    }

    pub fn signal(&self, task: usize, signal: &str) -> Result<(), Failed> {
        let pid = self.tasks[task].child.id();
        let status = Command::new("sh")
            .args(["-c", &format!("kill -{signal} {pid}")])
            .status()?;
        match status.success() {
            true => Ok(()),
            false => Err(format!("kill: {status}").into()),
        }
    }

    /// Asks a task for its load.
    pub fn load(&self, task: usize) -> Result<TaskLoad, Failed> {
        let client = self.observer.client(&self.tasks[task].address);
        let (sender, answer) = channel();
        let options = CallOptions {
            timeout: Some(LIMIT),
            ..CallOptions::default()
        };
        fabric::call(&*client, options, GetDevicesRequest {}, move |answer| {
            // The test waits for it.
            let _ = sender.send(answer);
        });
        let response = answer.recv_timeout(2 * LIMIT)?;
        let response = response.map_err(|errors| errors.to_string())?;
        response.load.ok_or_else(|| "a task tells its load".into())
    }

    /// Waits until all tasks have ended, those that were not killed with success.
    pub fn end(mut self) -> Result<(), Failed> {
        let end = Instant::now() + LIMIT;
        for (number, task) in self.tasks.iter_mut().enumerate() {
            let status = loop {
                if let Some(status) = task.child.try_wait()? {
                    break status;
                }
                if Instant::now() > end {
                    return Err(format!("task {number} does not end").into());
                }
                thread::sleep(POLL);
            };
            if !task.is_killed && !status.success() {
                return Err(format!("task {number} ended with {status}").into());
            }
        }
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for task in &mut self.tasks {
            // It may be gone.
            let _ = task.child.kill();
            let _ = task.child.wait();
        }
    }
}
