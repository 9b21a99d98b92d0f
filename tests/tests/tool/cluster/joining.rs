//! Runs that join clusters: of workers that run, are missing, or end.
//!
//! The addresses are Unix sockets in a folder of each test, so that no other test has them.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::Instant;

use libtest_mimic::{Failed, Trial};
use tfrt_tests::tool;

use super::{FOLDER, LIMIT, require_equal, tfrt};

pub(super) fn trials() -> Vec<Trial> {
    vec![
        Trial::test(
            "the_commands_of_the_readme_run_two_processes",
            the_commands_of_the_readme_run_two_processes,
        ),
        Trial::test(
            "a_run_tells_whom_it_waits_for",
            a_run_tells_whom_it_waits_for,
        ),
        Trial::test(
            "a_task_that_serves_others_does_not_take_part",
            a_task_that_serves_others_does_not_take_part,
        ),
        Trial::test(
            "a_lead_task_that_ends_is_not_waited_for",
            a_lead_task_that_ends_is_not_waited_for,
        ),
        Trial::test(
            "a_worker_outlives_clients_unless_they_lead",
            a_worker_outlives_clients_unless_they_lead,
        ),
        Trial::test(
            "flags_without_an_effect_are_refused",
            flags_without_an_effect_are_refused,
        ),
    ]
}

/// A client that is still waiting when the worker has printed something.
const WAITING: &str = r#"
func @main() -> !t.tensor {
  %ch = tfrt.new.chain
  %context = tfrt_dist.get_distributed_context
  %worker = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}
  %there = tfrt_dist.register_tfrt_function (%ch, %context, %worker) "show" "func @show() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A %x = tfrt.constant.i32 42\0A %d = tfrt.print.i32 %x, %c\0A tfrt.return %d : !tfrt.chain\0A}"
  %spec = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %done, %id = tfrt_dist.remote_execute [%there, %context, %worker, %spec] "show" () : () -> !tfrt_dist.remote_object_id
  %key = tfrt_test.get_string { value = "never sent" }
  %payload = tfrt_dist.recv_bytes %context, %worker, %key
  %tensor = "tfrt_dist.deserialize"(%payload) : (!tfrt_dist.payload) -> !t.tensor
  tfrt.return %tensor : !t.tensor
}
"#;

/// The folder of the sockets of a test. Paths of sockets are short.
struct Sockets(PathBuf);

impl Sockets {
    fn new(test: &str) -> Result<Self, Failed> {
        let folder = std::env::temp_dir().join(format!("tfrt-{test}-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    fn address(&self, name: &str) -> String {
        format!("unix:{}", self.0.join(name).display())
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        // A folder that stays is of no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process whose output is read line by line, and that is killed at the latest when the test
/// ends.
struct Process {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl Process {
    fn start(mut command: Command) -> Result<Self, Failed> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("the output is a pipe")?;
        let stderr = child.stderr.take().ok_or("the output is a pipe")?;
        Ok(Self {
            child,
            stdout: BufReader::new(stdout).lines(),
            stderr: BufReader::new(stderr).lines(),
        })
    }

    /// Starts a worker, and waits until it listens.
    fn worker(arguments: &[&str]) -> Result<Self, Failed> {
        let mut this = Self::start(tfrt(&[&["worker"][..], arguments].concat())?)?;
        this.printed("ready ")?;
        Ok(this)
    }

    /// Waits for a line of the output that contains a text.
    fn printed(&mut self, text: &str) -> Result<(), Failed> {
        find(&mut self.stdout, text)
    }

    /// Waits for a line of the messages that contains a text.
    fn told(&mut self, text: &str) -> Result<(), Failed> {
        find(&mut self.stderr, text)
    }

    fn ask_to_end(&self) -> Result<(), Failed> {
        let kill = format!("kill -TERM {}", self.child.id());
        let status = Command::new("sh").args(["-c", &kill]).status()?;
        require_equal(status.success(), true)
    }

    /// Waits for the end of the process, and returns its exit status.
    fn end(&mut self) -> Result<Option<i32>, Failed> {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status.code());
            }
            if begun.elapsed() > LIMIT {
                return Err("the process goes on".into());
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn find(
    lines: &mut impl Iterator<Item = std::io::Result<String>>,
    text: &str,
) -> Result<(), Failed> {
    let mut found = Vec::new();
    for line in lines {
        let line = line?;
        if line.contains(text) {
            return Ok(());
        }
        found.push(line);
    }
    Err(format!("expected `{text}`, found {found:#?}").into())
}

fn the_commands_of_the_readme_run_two_processes() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md"))?;
    let sockets = Sockets::new("readme")?;
    let command = |start: &str| -> Result<Command, Failed> {
        let mut lines = readme.lines();
        let line = lines.find(|line| line.starts_with(start));
        let line = line.ok_or_else(|| format!("the README has no line `{start}`"))?;
        // Another process may have the port.
        let line = line.replace("127.0.0.1:7700", &sockets.address("worker"));
        let arguments: Vec<&str> = line.split(' ').skip(1).collect();
        let mut command = tfrt(&arguments)?;
        command.current_dir(&root);
        Ok(command)
    };
    // The run is started first: it waits.
    let mut run = Process::start(command("tfrt run --cluster ")?)?;
    run.printed("Choosing ")?;
    let mut worker = Process::start(command("tfrt worker ")?)?;
    worker.printed("ready /job:worker/task:0 ")?;
    worker.printed("int32 = 42")?;
    require_equal(run.end()?, Some(0))?;
    // Other clients may come.
    let again = tool::run(command("tfrt run --cluster ")?)?;
    require_equal(again.status, Some(0))?;
    worker.printed("int32 = 42")?;
    worker.ask_to_end()?;
    require_equal(worker.end()?, Some(0))
}

fn a_run_tells_whom_it_waits_for() -> Result<(), Failed> {
    let sockets = Sockets::new("waits")?;
    let [here, missing] = ["here", "missing"].map(|name| sockets.address(name));
    let cluster = format!("--cluster=worker={here},{missing}");
    let _worker = Process::worker(&[&cluster, "--task=0"])?;
    let run = ["run", &cluster, "--meeting-timeout=4", "program.mlir"];
    let mut run = Process::start(tfrt(&run)?)?;
    let missing = format!("/job:worker/task:1 at {missing}");
    run.told(&format!("2 of 3 tasks are there; waiting for {missing}"))?;
    let failed = "tfrt: cannot reach the workers: RpcDeadlineExceeded: waited in vain for";
    run.told(&format!("{failed} {missing}: "))?;
    require_equal(run.end()?, Some(1))
}

fn a_task_that_serves_others_does_not_take_part() -> Result<(), Failed> {
    let sockets = Sockets::new("serves")?;
    let [first, second] = ["0", "1"].map(|name| sockets.address(name));
    let cluster = format!("--cluster=worker={first},{second}");
    let _worker = Process::worker(&[&cluster, "--task=1"])?;
    let options = ["--task=0", "--meeting-timeout=4", "program.mlir"];
    let run = [&["run", "--distributed", &cluster][..], &options].concat();
    let mut run = Process::start(tfrt(&run)?)?;
    run.told(&format!(
        "1 of 2 tasks take part; waiting for the program of /job:worker/task:1 at {second}"
    ))?;
    run.told(&format!(
        "waited in vain for /job:worker/task:1 at {second}: it answers, but its program does not \
         take part"
    ))?;
    require_equal(run.end()?, Some(1))
}

fn a_lead_task_that_ends_is_not_waited_for() -> Result<(), Failed> {
    let sockets = Sockets::new("leads")?;
    let addresses = ["0", "1", "2"].map(|name| sockets.address(name));
    let cluster = format!("--cluster=worker={}", addresses.join(","));
    let start = |task: &str| {
        let run = ["run", "--distributed", &cluster, task, "program.mlir"];
        Process::start(tfrt(&run)?)
    };
    let mut follower = start("--task=1")?;
    let leader = &addresses[0];
    follower.told(&format!(
        "waiting for /job:worker/task:0 at {leader}, which leads"
    ))?;
    let mut leading = start("--task=0")?;
    follower.told("/job:worker/task:0, which leads, is there; waiting for other tasks")?;
    leading.child.kill()?;
    follower.told("cannot join the cluster: Unavailable: task /job:worker/task:0 is lost: ")?;
    require_equal(follower.end()?, Some(1))
}

fn a_worker_outlives_clients_unless_they_lead() -> Result<(), Failed> {
    fs::write(FOLDER.join("waiting.mlir"), WAITING)?;
    let sockets = Sockets::new("outlives")?;
    let worker = format!("--cluster=worker={}", sockets.address("worker"));
    let client = format!("--cluster=client={}", sockets.address("client"));
    // A client that the worker knows nothing of.
    let mut serving = Process::worker(&[&worker, "--task=0"])?;
    for _ in 0..2 {
        let mut run = Process::start(tfrt(&["run", &worker, "waiting.mlir"])?)?;
        serving.printed("int32 = 42")?;
        run.child.kill()?;
        serving.told("task /job:client/task:0 is lost: ")?;
    }
    serving.ask_to_end()?;
    require_equal(serving.end()?, Some(0))?;
    // A client that leads the cluster of the worker.
    let task = ["--job=worker", "--task=0"];
    let mut serving = Process::worker(&[&[&*client, &worker][..], &task].concat())?;
    let mut run = Process::start(tfrt(&["run", &client, &worker, "waiting.mlir"])?)?;
    serving.printed("int32 = 42")?;
    run.child.kill()?;
    require_equal(serving.end()?, Some(3))?;
    serving.told("task /job:client/task:0 is lost: ")
}

fn flags_without_an_effect_are_refused() -> Result<(), Failed> {
    let check = |arguments: &[&str], status: i32, expected: &str| -> Result<(), Failed> {
        let output = tool::run(tfrt(&[arguments, &["program.mlir"]].concat())?)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        let is_told = stderr.contains(expected);
        require_equal((output.status, is_told), (Some(status), true))
            .map_err(|_| format!("{arguments:?}: {:?}, {stderr}", output.status).into())
    };
    for flag in [
        "--task=0",
        "--collectives=shm",
        "--token-file=t",
        "--any-order",
    ] {
        let name = flag.split('=').next().unwrap_or(flag);
        let expected = format!("error: `{name}` has no effect without `--distributed`");
        check(&["run", flag], 2, &expected)?;
    }
    let expected = "error: `--cluster` has no effect with `--spawn`";
    check(&["run", "--spawn=1", "--cluster=worker=a:1"], 2, expected)?;
    let cluster = "--cluster=worker=127.0.0.1:1";
    let expected = "--cluster-size has no effect, because a client uses the tasks that are there";
    check(&["run", cluster, "--cluster-size=1"], 1, expected)?;
    let expected = "--listen has no effect, because the addresses of all tasks are given";
    let member = ["run", "--distributed", "--task=0", "--listen=a:0", cluster];
    check(&member, 1, expected)?;
    let expected = "--listen: expected the name or address by which the workers reach this \
                    machine, found `0.0.0.0:0`";
    check(&["run", "--listen=0.0.0.0:0", cluster], 1, expected)?;
    let expected = "client/task:0: cannot listen on 192.0.2.1:7: ";
    check(
        &["run", "--listen=192.0.2.1:7", "--insecure-network", cluster],
        2,
        expected,
    )
}
