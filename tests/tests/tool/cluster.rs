//! Tasks of a cluster as processes: `tfrt worker`, `tfrt launch`, `tfrt cluster` and `tfrt run`
//! with `--distributed`, `--cluster` and `--spawn`.

mod joining;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::{Failed, Trial};
use tfrt_tests::tool;

/// How long a process may take to be gone.
const LIMIT: Duration = Duration::from_secs(100);

/// Every task adds the numbers of all.
const PROGRAM: &str = r#"
func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %context = tfrt_dist.get_distributed_context
  %group = tfrt_test.get_string { value = "all" }
  %key = tfrt_test.get_string { value = "sum" }
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %s = tfrt_dht.set_tensor_with_constant_values.i32 %t, %ch [1 : i32, 20 : i32]
  %sum = tfrt_dist.cpu.allreduce.i32 %context, %group, %key, %t, %t, %s { reduction_fn = "sum" }
  %done = tfrt_dht.print_tensor %t, %sum
  tfrt.return %done : !tfrt.chain
}
"#;

/// A program that fails before it takes part in anything.
const FAILING: &str = r#"
func @main() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  tfrt.return %x : i32
}
"#;

pub(crate) fn trials() -> Vec<Trial> {
    let own = vec![
        Trial::test(
            "lines_of_tasks_are_told_apart",
            lines_of_tasks_are_told_apart,
        ),
        Trial::test("one_failure_ends_all_tasks", one_failure_ends_all_tasks),
        Trial::test("killing_the_launcher_ends_its_tasks", || {
            ending_the_launcher_ends_its_tasks("KILL")
        }),
        Trial::test("asking_the_launcher_to_end_ends_its_tasks", || {
            ending_the_launcher_ends_its_tasks("TERM")
        }),
        Trial::test(
            "workers_tell_how_they_are_until_they_end",
            workers_tell_how_they_are_until_they_end,
        ),
        Trial::test("all_tasks_run_one_program", all_tasks_run_one_program),
        Trial::test(
            "tasks_find_each_other_in_a_folder",
            tasks_find_each_other_in_a_folder,
        ),
        Trial::test(
            "a_signal_ends_a_worker_that_waits_for_others",
            a_signal_ends_a_worker_that_waits_for_others,
        ),
        Trial::test("a_run_has_workers_of_its_own", a_run_has_workers_of_its_own),
        Trial::test("traces_of_tasks_become_one", traces_of_tasks_become_one),
        Trial::test(
            "a_launcher_merges_the_traces_of_its_tasks",
            a_launcher_merges_the_traces_of_its_tasks,
        ),
        Trial::test(
            "a_trace_includes_those_of_workers",
            a_trace_includes_those_of_workers,
        ),
        Trial::test(
            "ending_the_launcher_twice_ends_what_tasks_have_started",
            ending_the_launcher_twice_ends_what_tasks_have_started,
        ),
        Trial::test(
            "a_task_that_fails_is_not_waited_for",
            a_task_that_fails_is_not_waited_for,
        ),
        Trial::test(
            "what_a_task_cannot_start_with_is_told",
            what_a_task_cannot_start_with_is_told,
        ),
    ];
    own.into_iter().chain(joining::trials()).collect()
}

/// A folder with the program, and with the tool under its name in `bin`.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let name = format!("cluster-{}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    // An earlier process may have had the same number.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("bin")).expect("the folder is new");
    let own_path = std::env::current_exe().expect("a test knows where it is");
    symlink(own_path, folder.join("bin/tfrt")).expect("the folder is new");
    fs::write(folder.join("program.mlir"), PROGRAM).expect("the folder is there");
    folder
});

/// The tool, which finds itself under its name.
fn tfrt(arguments: &[&str]) -> Result<Command, Failed> {
    let mut command = tool::command("tfrt", &FOLDER)?;
    let path = std::env::var("PATH").unwrap_or_default();
    command
        .args(arguments)
        .env("PATH", format!("{}:{path}", FOLDER.join("bin").display()));
    let inherited = [
        "TFRT_CLUSTER",
        "TFRT_JOB",
        "TFRT_TASK",
        "TFRT_LISTENER",
        "TFRT_CLUSTER_FOLDER",
        "TFRT_CLUSTER_ETCD",
        "TFRT_CLUSTER_SIZE",
        "TFRT_LISTEN",
        "TFRT_TRACE",
        "TF_CONFIG",
        "CLICOLOR",
        "CLICOLOR_FORCE",
    ];
    for variable in inherited {
        command.env_remove(variable);
    }
    Ok(command)
}

fn sorted_lines(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

fn require_equal<T: PartialEq + std::fmt::Debug>(found: T, expected: T) -> Result<(), Failed> {
    match found == expected {
        true => Ok(()),
        false => Err(format!("expected {expected:?}, found {found:?}").into()),
    }
}

fn lines_of_tasks_are_told_apart() -> Result<(), Failed> {
    let script = "echo $TFRT_JOB $TFRT_TASK; echo $TFRT_CLUSTER; printf wrong >&2";
    let command = tfrt(&["launch", "-n", "2", "--job", "ps", "--", "sh", "-c", script])?;
    let output = tool::run(command)?;
    require_equal(output.status, Some(0))?;
    let lines = sorted_lines(&output.stdout);
    let [own_first, first, own_second, second] = &lines[..] else {
        return Err(format!("{lines:?}").into());
    };
    let cluster = first.strip_prefix("[ps/0] ps=127.0.0.1:");
    require_equal(own_first.as_str(), "[ps/0] ps 0")?;
    require_equal(own_second.as_str(), "[ps/1] ps 1")?;
    // Both were told the same.
    require_equal(cluster, second.strip_prefix("[ps/1] ps=127.0.0.1:"))?;
    let expected = ["[ps/0] wrong".to_owned(), "[ps/1] wrong".to_owned()];
    require_equal(sorted_lines(&output.stderr), expected.to_vec())
}

fn one_failure_ends_all_tasks() -> Result<(), Failed> {
    // The other one runs for longer than the test may take, in a process of its own.
    let script = "test $TFRT_TASK = 0 && exit 7; sleep 1000 & wait";
    let output = tool::run(tfrt(&["launch", "-n", "3", "--", "sh", "-c", script])?)?;
    require_equal(output.status, Some(7))?;
    let expected = "/job:worker/task:0 ended with exit status 7; the other tasks were stopped\n";
    require_equal(&*String::from_utf8_lossy(&output.stderr), expected)?;
    let output = tool::run(tfrt(&["launch", "--", "sh", "-c", "kill -9 $$"])?)?;
    require_equal(output.status, Some(128 + 9))?;
    let output = tool::run(tfrt(&["launch", "--", "./no-such-program"])?)?;
    require_equal(output.status, Some(127))?;
    let expected = "[worker/0] cannot start `./no-such-program`: No such file or directory\n\
                    /job:worker/task:0 ended with exit status 127\n";
    require_equal(&*String::from_utf8_lossy(&output.stderr), expected)
}

/// A launcher that is killed at the latest when the test ends.
struct Launcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Launcher {
    fn start(arguments: &[&str]) -> Result<Self, Failed> {
        let mut command = tfrt(arguments)?;
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or("the output is a pipe")?;
        let lines = BufReader::new(stdout).lines();
        Ok(Self { child, lines })
    }

    /// The next two lines, without the names of the tasks, in their order.
    fn two_lines(&mut self) -> Result<[String; 2], Failed> {
        let mut next = || {
            self.lines
                .next()
                .ok_or("the launcher ended")?
                .map_err(Failed::from)
        };
        let mut lines = [next()?, next()?];
        lines.sort();
        let [first, second] = lines;
        let of = |line: String, prefix: &str| {
            let rest = line.strip_prefix(prefix).map(str::to_owned);
            rest.ok_or_else(|| Failed::from(format!("expected a line of {prefix}, found {line}")))
        };
        Ok([of(first, "[worker/0] ")?, of(second, "[worker/1] ")?])
    }

    fn signal(&self, signal: &str) -> Result<(), Failed> {
        let pid = self.child.id();
        let status = Command::new("sh")
            .args(["-c", &format!("kill -{signal} {pid}")])
            .status()?;
        require_equal(status.success(), true)
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // It may be gone.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a process runs: it may be dead, but not waited for.
fn is_running(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned());
    state.is_some_and(|state| !state.starts_with(['Z', 'X']))
}

fn ending_the_launcher_ends_its_tasks(signal: &str) -> Result<(), Failed> {
    if !Path::new("/proc/self/stat").exists() {
        println!("skipped: there is no /proc");
        return Ok(());
    }
    let script = "echo $$; exec sleep 1000";
    let mut launcher = Launcher::start(&["launch", "-n", "2", "--", "sh", "-c", script])?;
    let pids = launcher.two_lines()?;
    require_equal(pids.iter().all(|pid| is_running(pid)), true)?;
    launcher.signal(signal)?;
    let end = Instant::now() + LIMIT;
    while pids.iter().any(|pid| is_running(pid)) {
        if Instant::now() > end {
            return Err(format!("the tasks {pids:?} outlive their launcher").into());
        }
        std::thread::yield_now();
    }
    Ok(())
}

fn ending_the_launcher_twice_ends_what_tasks_have_started() -> Result<(), Failed> {
    if !Path::new("/proc/self/stat").exists() {
        println!("skipped: there is no /proc");
        return Ok(());
    }
    // Neither the shell nor what it starts ends when it is asked to; the shell says that it was.
    let script = "trap '' TERM; sleep 1000 & sleeper=$!; trap 'echo asked' TERM; echo $sleeper; \
                  while :; do wait; done";
    let mut launcher = Launcher::start(&["launch", "-n", "2", "--", "sh", "-c", script])?;
    let pids = launcher.two_lines()?;
    launcher.signal("TERM")?;
    require_equal(launcher.two_lines()?, ["asked", "asked"].map(str::to_owned))?;
    let asked = Instant::now();
    launcher.signal("TERM")?;
    launcher.child.wait()?;
    while pids.iter().any(|pid| is_running(pid)) {
        if asked.elapsed() > LIMIT {
            return Err(format!("the processes {pids:?} outlive the launcher").into());
        }
        std::thread::yield_now();
    }
    Ok(())
}

/// The standard input of a process, as the system names it.
fn standard_input(pid: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/fd/0")).ok()
}

fn workers_tell_how_they_are_until_they_end() -> Result<(), Failed> {
    let mut launcher = Launcher::start(&["launch", "-n", "2", "--", "tfrt", "serve"])?;
    let ready = launcher.two_lines()?;
    let address = |index: usize| {
        let prefix = format!("ready /job:worker/task:{index} ");
        let address = ready[index].strip_prefix(&prefix).map(str::to_owned);
        address.ok_or_else(|| Failed::from(format!("found {:?}", ready[index])))
    };
    let addresses = [address(0)?, address(1)?];
    let cluster = format!("worker={}", addresses.join(","));
    let status = |cluster: &str| {
        tool::run(tfrt(&[
            "cluster",
            "status",
            "--cluster",
            cluster,
            "--timeout=100",
        ])?)
        .map_err(Failed::from)
    };
    // Only the network has the socket: when it is dropped, nobody listens.
    let children = format!("/proc/{0}/task/{0}/children", launcher.child.id());
    for pid in fs::read_to_string(children)
        .unwrap_or_default()
        .split(' ')
        .filter(|pid| !pid.is_empty())
    {
        require_equal(standard_input(pid), Some(PathBuf::from("/dev/null")))?;
    }
    let output = status(&cluster)?;
    require_equal(output.status, Some(0))?;
    let lines = sorted_lines(&output.stdout);
    for (index, line) in lines.iter().enumerate() {
        let start = format!(
            "/job:worker/task:{index}  {}  up  devices: CPU:0",
            addresses[index]
        );
        let end = "; contexts: 0, objects: 0, unclaimed payloads: 0, waiting receivers: 0";
        require_equal(line.starts_with(&start) && line.ends_with(end), true)
            .map_err(|_| Failed::from(format!("found {line}")))?;
    }
    require_equal(lines.len(), 2)?;
    let ask = |command: &[&str]| -> Result<String, Failed> {
        let output = tool::run(tfrt(
            &[&["cluster"], command, &["--cluster", &cluster]].concat(),
        )?)?;
        require_equal(output.status, Some(0))?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let expected = "/job:worker/task:0/device:CPU:0  cpu\n/job:worker/task:1/device:CPU:0  cpu\n";
    require_equal(ask(&["devices"])?.as_str(), expected)?;
    require_equal(ask(&["programs"])?.as_str(), "")?;
    for (index, line) in ask(&["ping", "--count=3"])?.lines().enumerate() {
        let start = format!("/job:worker/task:{index}  {}  min ", addresses[index]);
        require_equal(line.starts_with(&start) && line.contains(", median "), true)
            .map_err(|_| Failed::from(format!("found {line}")))?;
    }
    launcher.signal("TERM")?;
    require_equal(launcher.child.wait()?.code(), Some(0))?;
    let output = status(&cluster)?;
    require_equal(output.status, Some(1))?;
    for line in sorted_lines(&output.stdout) {
        // Mostly because the connection is refused; another test may have its port by now.
        require_equal(line.contains("  down  "), true)
            .map_err(|_| Failed::from(format!("found {line}")))?;
    }
    Ok(())
}

fn all_tasks_run_one_program() -> Result<(), Failed> {
    let choices = [
        ("s", "ring"),
        ("mstd:2", "ring"),
        ("s", "shm"),
        ("mstd:2", "auto"),
        ("s", "tree"),
        ("mstd:2", "recursive_doubling"),
    ];
    for (queue, collectives) in choices {
        let queue = format!("--work_queue_type={queue}");
        let collectives = format!("--collectives={collectives}");
        let options = [&*queue, &collectives, "--any-order", "program.mlir"];
        let run = [&["tfrt", "run", "--distributed"][..], &options].concat();
        let command = tfrt(&[&["launch", "-n", "3", "--"][..], &run].concat())?;
        let output = tool::run(command)?;
        let printed = sorted_lines(&output.stdout);
        let sums = "DenseHostTensor dtype = i32, shape = [2], values = [3, 60]";
        for task in 0..3 {
            let line = format!("[worker/{task}] {sums}");
            if !printed.contains(&line) {
                let stderr = String::from_utf8_lossy(&output.stderr);
                return Err(format!("expected {line}, found {printed:?} and {stderr}").into());
            }
        }
        require_equal(output.status, Some(0))?;
    }
    let task = ["--cluster=worker=127.0.0.1:1", "--job=worker", "--task=0"];
    let run = [
        "run",
        "--distributed",
        "--collectives=pigeon",
        "program.mlir",
    ];
    // Only a group that allows any order may have one of its own.
    let options = ["--collectives=tree", "program.mlir"];
    let run_in_order = [&["tfrt", "run", "--distributed"][..], &options].concat();
    let refused = tool::run(tfrt(
        &[&["launch", "-n", "2", "--"][..], &run_in_order].concat(),
    )?)?;
    let printed = [refused.stdout, refused.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    let expected = "group all has the order of the ring: set its order to `any`";
    require_equal(printed.contains(expected), true).map_err(|_| Failed::from(printed))?;
    let wrong = tool::run(tfrt(&[&run[..], &task].concat())?)?;
    let stderr = String::from_utf8_lossy(&wrong.stderr).into_owned();
    let expected = "--collectives: expected `ring`, `shm`, `auto`, `tree`, `recursive_doubling` \
                    or, with the features of these names, `mpi` or `nccl`, found `pigeon`";
    require_equal(stderr.contains(expected), true).map_err(|_| Failed::from(stderr))
}

fn tasks_find_each_other_in_a_folder() -> Result<(), Failed> {
    let run = |task: &str| -> Result<tool::Output, Failed> {
        let common = ["run", "--distributed", "--cluster-folder=entries"];
        let own = ["--cluster-size=2", "--task", task, "program.mlir"];
        Ok(tool::run(tfrt(&[&common[..], &own].concat())?)?)
    };
    // The second time, with the entries of the first one.
    for _ in 0..2 {
        let outputs = thread::scope(|scope| {
            let tasks = ["0", "1"].map(|task| scope.spawn(move || run(task)));
            tasks.map(|task| task.join().expect("a run does not panic"))
        });
        for output in outputs {
            let output = output?;
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            let sums = "DenseHostTensor dtype = i32, shape = [2], values = [2, 40]".to_owned();
            require_equal(sorted_lines(&output.stdout).contains(&sums), true)
                .map_err(|_| Failed::from(stderr))?;
            require_equal(output.status, Some(0))?;
        }
    }
    let alone = [
        "run",
        "--distributed",
        "--cluster-folder=alone",
        "--cluster-size=2",
        "--task=0",
        "--meeting-timeout=0",
        "program.mlir",
    ];
    let alone = tool::run(tfrt(&alone)?)?;
    let stderr = String::from_utf8_lossy(&alone.stderr).into_owned();
    let expected = "alone: waited in vain for /job:worker/task:1";
    require_equal(stderr.contains(expected), true).map_err(|_| Failed::from(stderr))?;
    require_equal(alone.status, Some(1))
}

fn a_signal_ends_a_worker_that_waits_for_others() -> Result<(), Failed> {
    let folder = ["--cluster-folder=waiting", "--cluster-size=2", "--task=0"];
    let mut worker = Launcher::start(&[&["worker"][..], &folder].concat())?;
    let begun = Instant::now();
    while !FOLDER.join("waiting/worker.0").exists() {
        if begun.elapsed() > LIMIT {
            return Err("the worker publishes no address".into());
        }
        thread::yield_now();
    }
    worker.signal("TERM")?;
    // It would wait longer for the other task.
    while worker.child.try_wait()?.is_none() {
        if begun.elapsed() > LIMIT {
            return Err("the worker goes on after the signal".into());
        }
        thread::yield_now();
    }
    Ok(())
}

/// A function that each worker prints something in.
const WITH_WORKERS: &str = r#"
func @main() -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %context = tfrt_dist.get_distributed_context
  %first = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}
  %second = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:1"}
  %a = tfrt_dist.register_tfrt_function (%ch, %context, %first) "show" "func @show() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A %x = tfrt.constant.i32 42\0A %d = tfrt.print.i32 %x, %c\0A tfrt.return %d : !tfrt.chain\0A}"
  %b = tfrt_dist.register_tfrt_function (%ch, %context, %second) "show" "func @show() -> !tfrt.chain {\0A %c = tfrt.new.chain\0A %x = tfrt.constant.i32 43\0A %d = tfrt.print.i32 %x, %c\0A tfrt.return %d : !tfrt.chain\0A}"
  %there = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:0/device:CPU:0"]}
  %other = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:1/device:CPU:0"]}
  %c, %x = tfrt_dist.remote_execute [%a, %context, %first, %there] "show" () : () -> !tfrt_dist.remote_object_id
  %d, %y = tfrt_dist.remote_execute [%b, %context, %second, %other] "show" () : () -> !tfrt_dist.remote_object_id
  tfrt.return %c, %d : !tfrt.chain, !tfrt.chain
}
"#;

fn a_run_has_workers_of_its_own() -> Result<(), Failed> {
    fs::write(FOLDER.join("with_workers.mlir"), WITH_WORKERS)?;
    let output = tool::run(tfrt(&["run", "--spawn=2", "with_workers.mlir"])?)?;
    let (printed, stderr) = (sorted_lines(&output.stdout), sorted_lines(&output.stderr));
    for line in ["[worker/0] int32 = 42", "[worker/1] int32 = 43"] {
        require_equal(printed.iter().any(|printed| printed == line), true)
            .map_err(|_| Failed::from(format!("expected {line}, found {printed:?}, {stderr:?}")))?;
    }
    require_equal(stderr, Vec::new())?;
    require_equal(output.status, Some(0))
}

fn a_trace_includes_those_of_workers() -> Result<(), Failed> {
    fs::write(FOLDER.join("traced.mlir"), WITH_WORKERS)?;
    let trace = ["trace", "all.json", "--spawn=2", "traced.mlir"];
    let output = tool::run(tfrt(&trace)?)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    require_equal((output.status, &*stderr), (Some(0), ""))?;
    let trace: serde_json::Value = serde_json::from_slice(&fs::read(FOLDER.join("all.json"))?)?;
    let events = trace["traceEvents"]
        .as_array()
        .ok_or("a trace has events")?;
    let named = |name: &str, of: &str| {
        let events = events.iter().filter(|event| event["name"] == name);
        let found = events.filter_map(|event| match of {
            "" => event["pid"].as_u64().map(|pid| pid.to_string()),
            field => event["args"][field].as_str().map(str::to_owned),
        });
        found.collect::<BTreeSet<String>>()
    };
    let tasks = ["client/0", "worker/0", "worker/1"].map(str::to_owned);
    require_equal(named("process_name", "name"), BTreeSet::from(tasks))?;
    // The kernel that prints runs on the workers alone.
    let workers = ["2", "3"].map(str::to_owned);
    require_equal(named("tfrt.print.i32", ""), BTreeSet::from(workers))?;
    require_equal(FOLDER.join("all.json.worker.0").exists(), false)
}

fn traces_of_tasks_become_one() -> Result<(), Failed> {
    let script = "exec tfrt trace t$TFRT_TASK.json --distributed program.mlir";
    let output = tool::run(tfrt(&["launch", "-n", "3", "--", "sh", "-c", script])?)?;
    require_equal(output.status, Some(0))?;
    let merge = [
        "cluster",
        "trace",
        "merged.json",
        "t0.json",
        "t1.json",
        "t2.json",
    ];
    let output = tool::run(tfrt(&merge)?)?;
    require_equal(output.status, Some(0))?;
    // The same under another name.
    let again = [
        "trace",
        "--cluster",
        "again.json",
        "t0.json",
        "t1.json",
        "t2.json",
    ];
    require_equal(tool::run(tfrt(&again)?)?.status, Some(0))?;
    let read = |name: &str| fs::read(FOLDER.join(name));
    require_equal(read("again.json")? == read("merged.json")?, true)?;
    check_messages_of_three("merged.json")?;
    let wrong = tool::run(tfrt(&["cluster", "trace", "-", "program.mlir"])?)?;
    require_equal(wrong.status, Some(1))?;
    let stderr = String::from_utf8_lossy(&wrong.stderr);
    require_equal(stderr.starts_with("`program.mlir` is not a trace: "), true)
        .map_err(|_| Failed::from(format!("found {stderr}")))?;
    let strange = r#"{"traceEvents": [{"name": "process_name", "args": 1}, 7]}"#;
    fs::write(FOLDER.join("strange.json"), strange)?;
    let wrong = tool::run(tfrt(&["cluster", "trace", "-", "strange.json"])?)?;
    let stderr = String::from_utf8_lossy(&wrong.stderr);
    let expected = "`strange.json` is not a trace: event 1 is not an object\n";
    require_equal(&*stderr, expected)
}

/// Checks the arrows of a trace of three tasks that run the program.
fn check_messages_of_three(name: &str) -> Result<(), Failed> {
    let merged: serde_json::Value = serde_json::from_slice(&fs::read(FOLDER.join(name))?)?;
    let events = merged["traceEvents"]
        .as_array()
        .ok_or("a trace has events")?;
    let mut arrows: BTreeMap<&str, [(u64, f64); 2]> = BTreeMap::new();
    for event in events.iter().filter(|event| event["cat"] == "message") {
        let id = event["id"].as_str().ok_or("an arrow has a number")?;
        let end = (
            event["pid"].as_u64().ok_or("a task")?,
            event["ts"].as_f64().ok_or("a time")?,
        );
        arrows.entry(id).or_default()[usize::from(event["ph"] == "f")] = end;
    }
    // Each of three members sends to both others: in the two rounds of the all-reduce, and in the
    // barrier at the end.
    require_equal(arrows.len() >= 3 * 3 * 2, true)
        .map_err(|_| Failed::from(format!("found {} arrows", arrows.len())))?;
    let mut pairs = BTreeSet::new();
    for [(from, sent), (to, received)] in arrows.into_values() {
        pairs.insert((from, to));
        // Forwards in time, but for what the clocks are off.
        require_equal(received > sent - 1000.0, true)
            .map_err(|_| Failed::from(format!("sent at {sent}, received at {received}")))?;
    }
    let all = (1..=3).flat_map(|from| (1..=3).map(move |to| (from, to)));
    require_equal(pairs, all.filter(|(from, to)| from != to).collect())
}

fn a_launcher_merges_the_traces_of_its_tasks() -> Result<(), Failed> {
    // Tasks may go elsewhere.
    let script = "program=$PWD/program.mlir; cd bin; exec tfrt run --distributed $program";
    let launch = ["launch", "-n", "3", "--trace", "launched.json", "--"];
    let output = tool::run(tfrt(&[&launch[..], &["sh", "-c", script]].concat())?)?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    require_equal((output.status, &*stderr), (Some(0), ""))?;
    check_messages_of_three("launched.json")?;
    let is_left = |task: u16| FOLDER.join(format!("launched.json.worker.{task}")).exists();
    require_equal((0..3).any(is_left), false)?;
    // Those of workers end with the launcher.
    let served = ["launch", "-n", "2", "--trace", "served.json", "--"];
    let mut launcher = Launcher::start(&[&served[..], &["tfrt", "worker"]].concat())?;
    launcher.two_lines()?;
    launcher.signal("TERM")?;
    require_equal(launcher.child.wait()?.code(), Some(0))?;
    let text = fs::read_to_string(FOLDER.join("served.json"))?;
    for task in ["worker/0", "worker/1"] {
        require_equal(text.contains(task), true).map_err(|_| Failed::from(text.clone()))?;
    }
    // The failure of a task says more than that of the merge.
    let failing = [
        "launch",
        "--trace",
        "failed.json",
        "--",
        "sh",
        "-c",
        "exit 7",
    ];
    require_equal(tool::run(tfrt(&failing)?)?.status, Some(7))?;
    // What an earlier run has left is not part of this one.
    fs::write(FOLDER.join("none.json.worker.0"), "old")?;
    let check = |arguments: &[&str], status: i32, expected: &str| -> Result<(), Failed> {
        let output = tool::run(tfrt(&[&["launch", "--trace"], arguments].concat())?)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        require_equal((output.status, &*stderr), (Some(status), expected))
    };
    check(
        &["none.json", "--", "true"],
        1,
        "no task has written a trace: expected tasks that are `tfrt run` or `tfrt worker` and end \
         by themselves or when asked to\n",
    )?;
    check(
        &["-", "--", "true"],
        2,
        "error: `--trace`: expected a file, found `-`: standard output has that of the tasks\n",
    )
}

fn a_task_that_fails_is_not_waited_for() -> Result<(), Failed> {
    fs::write(FOLDER.join("failing.mlir"), FAILING)?;
    let script = "test $TFRT_TASK = 0 && exec tfrt run --distributed failing.mlir; \
                  exec tfrt run --distributed program.mlir";
    let output = tool::run(tfrt(&["launch", "-n", "2", "--", "sh", "-c", script])?)?;
    require_equal(output.status, Some(1))?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let expected = "/job:worker/task:0 ended with exit status 1; the other tasks were stopped";
    require_equal(stderr.contains(expected), true)
        .map_err(|_| Failed::from(format!("found {stderr}")))
}

fn what_a_task_cannot_start_with_is_told() -> Result<(), Failed> {
    let taken = TcpListener::bind("127.0.0.1:0")?;
    let address = taken.local_addr()?.to_string();
    fs::write(FOLDER.join("short"), "secret\n")?;
    let check = |arguments: &[&str], status: i32, expected: &str| -> Result<(), Failed> {
        let command = tfrt(&[&["worker"][..], arguments].concat())?;
        let output = tool::run(command)?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        require_equal((output.status, &*stderr), (Some(status), expected))
    };
    check(
        &["--cluster=worker=a:1", "--task=3"],
        1,
        "--task 3: job \"worker\" has 1 tasks\n",
    )?;
    check(
        &["--cluster", &format!("worker={address}"), "--task=0"],
        2,
        &format!(
            "/job:worker/task:0: cannot listen on {address}: Address already in use (os error 98)\n"
        ),
    )?;
    check(
        &["--cluster=worker=0.0.0.0:7700", "--task=0"],
        2,
        "/job:worker/task:0: refused to listen on 0.0.0.0:7700: unencrypted connections are \
         allowed only on loopback addresses; use TLS, or allow an insecure network\n",
    )?;
    check(
        &[
            "--cluster=worker=127.0.0.1:7700",
            "--task=0",
            "--token-file=short",
        ],
        1,
        "`short`: expected a token of at least 16 characters, found 6\n",
    )?;
    check(
        &["--cluster-file=none.json", "--task=0"],
        1,
        "cannot read `none.json`: No such file or directory\n",
    )
}
