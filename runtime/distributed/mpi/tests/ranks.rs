//! Ranks of MPI, as processes that `mpirun` starts.
//!
//! This binary is the ranks, too. `TFRT_MPIRUN` names another `mpirun` than that of the path.

use std::collections::HashMap;
use std::env;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use libtest_mimic::{Arguments, Failed, Trial};
use tfrt_distributed::collective::conformance::{self, Extent};
use tfrt_distributed::collective::{Collectives, GroupMember, Reduction};
use tfrt_distributed::discovery::{ALL_TASKS, Told, discover};
use tfrt_distributed::{DistributedContext, Server, ServerConfig};
use tfrt_host::HostContext;
use tfrt_mpi::MpiCollectives;
use tfrt_queue::create_queue;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

const ROLE_VARIABLE: &str = "TFRT_TEST_ROLE";
const MPIRUN_VARIABLE: &str = "TFRT_MPIRUN";

/// The time that a run may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The time after which a rank that does not answer is lost, in the test that kills one.
const FAILURE_TIMEOUT: Duration = Duration::from_secs(5);

/// The time in which the others have noticed it, and have ended.
const BOUND: Duration = Duration::from_secs(20);

const POLL: Duration = Duration::from_millis(10);

fn main() -> ExitCode {
    if let Ok(role) = env::var(ROLE_VARIABLE) {
        return match be_a_rank(&role) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("failed: {}", error.message());
                ExitCode::FAILURE
            }
        };
    }
    let mut trials = vec![Trial::test("without_mpi_the_error_says_so", || {
        let output = Command::new(env::current_exe()?)
            .env(ROLE_VARIABLE, "alone")
            .env("TFRT_MPI", "/nowhere/libmpi.so")
            .output()?;
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = "failed: MPI cannot be loaded: /nowhere/libmpi.so: ";
        match printed.starts_with(expected) {
            true => Ok(()),
            false => Err(printed.into()),
        }
    })];
    match mpirun() {
        Some(mpirun) => {
            for size in [1, 2, 4] {
                let mpirun = mpirun.clone();
                let name = format!("mpi_conforms_with_{size}_ranks");
                trials.push(Trial::test(name, move || run(&mpirun, size, "conform")));
            }
            let leaves = mpirun.clone();
            trials.push(Trial::test("a_rank_that_leaves_is_noticed", move || {
                run(&leaves, 3, "leave")
            }));
            let dies = mpirun.clone();
            trials.push(Trial::test("a_rank_that_is_killed_is_lost", move || {
                lose_a_rank(&dies)
            }));
            trials.push(Trial::test("nothing_is_opened_after_the_end", move || {
                run(&mpirun, 1, "end")
            }));
        }
        None => println!("skipped: no `mpirun` in the path, and {MPIRUN_VARIABLE} names none"),
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// Returns the `mpirun` to use.
fn mpirun() -> Option<PathBuf> {
    if let Some(named) = env::var_os(MPIRUN_VARIABLE) {
        return Some(named.into());
    }
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join("mpirun"));
    files.find(|file| file.is_file())
}

/// Runs ranks with a role, and waits for them.
fn run(mpirun: &Path, size: usize, role: &str) -> Result<(), Failed> {
    let (status, printed) = output_of(mpirun, size, role)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("mpirun: {status}: {printed}").into()),
    }
}

/// Kills one of three ranks: the others say that it is lost, and end.
fn lose_a_rank(mpirun: &Path) -> Result<(), Failed> {
    let start = Instant::now();
    let (status, printed) = output_of(mpirun, 3, "die")?;
    let num_survivors = printed.matches("survived").count();
    if num_survivors == 2 && start.elapsed() < LIMIT / 2 {
        return Ok(());
    }
    let elapsed = start.elapsed();
    Err(format!("{num_survivors} survivors after {elapsed:?}: {status}: {printed}").into())
}

/// Runs ranks with a role, and returns what they have printed.
fn output_of(mpirun: &Path, size: usize, role: &str) -> Result<(ExitStatus, String), Failed> {
    // Sockets have short names.
    let folder = env::temp_dir().join(format!("tfrt-mpi-{}-{role}-{size}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let addresses: Vec<String> = (0..size)
        .map(|rank| format!("unix:{}/{rank}", folder.display()))
        .collect();
    let mut command = Command::new(mpirun);
    let is_open_mpi = Command::new(mpirun).arg("--version").output()?;
    let is_open_mpi = String::from_utf8_lossy(&is_open_mpi.stdout).contains("Open MPI");
    if is_open_mpi {
        // The ranks of a test share the processors.
        command.args(["--allow-run-as-root", "--oversubscribe"]);
    }
    if role == "die" {
        // The death of a rank does not end the others.
        match is_open_mpi {
            true => command.args(["--runtime-options", "recoverable"]),
            false => command.arg("-disable-auto-cleanup"),
        };
    }
    if let Some(libraries) = mpirun
        .parent()
        .and_then(Path::parent)
        .map(|root| root.join("lib"))
        && libraries.is_dir()
    {
        // One that is not where the system looks.
        let file = match is_open_mpi {
            true => "libmpi.so.40",
            false => "libmpi_abi.so.1",
        };
        command.env("TFRT_MPI", libraries.join(file));
    }
    let size = size.to_string();
    let child = command
        .args(["-n", &size])
        .arg(env::current_exe()?)
        .env(ROLE_VARIABLE, role)
        .env("TFRT_CLUSTER", format!("worker={}", addresses.join(",")))
        .env("TFRT_JOB", "worker")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let outcome = wait(child);
    // What is left are sockets.
    let _ = std::fs::remove_dir_all(&folder);
    outcome
}

fn wait(mut child: Child) -> Result<(ExitStatus, String), Failed> {
    let read = [
        child.stdout.take().map(|from| reading(Box::new(from))),
        child.stderr.take().map(|from| reading(Box::new(from))),
    ];
    let end = Instant::now() + LIMIT;
    while Instant::now() < end {
        if let Some(status) = child.try_wait()? {
            let printed = read.into_iter().flatten();
            let printed = printed.map(|one| one.join().unwrap_or_default());
            return Ok((status, printed.collect()));
        }
        thread::sleep(POLL);
    }
    // It ends its ranks.
    Command::new("kill").arg(child.id().to_string()).status()?;
    thread::sleep(Duration::from_secs(2));
    child.kill()?;
    child.wait()?;
    Err(format!("the ranks have not ended within {LIMIT:?}").into())
}

/// Reads what a process prints, on a thread of its own.
fn reading(mut from: Box<dyn Read + Send>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut printed = Vec::new();
        // What was read before an error is enough for the message.
        let _ = from.read_to_end(&mut printed);
        String::from_utf8_lossy(&printed).into_owned()
    })
}

fn be_a_rank(role: &str) -> Result<(), Error> {
    let mpi = MpiCollectives::new()?;
    let (rank, _) = mpi.rank();
    let own = HashMap::from([("TFRT_TASK", rank.to_string())]);
    let variable = |name: &str| own.get(name).cloned().or_else(|| env::var(name).ok());
    let config = discover(&Told::default(), &variable).map_err(Error::other)?;
    let queue = create_queue("mstd:2").map_err(Error::other)?;
    let host = HostContext::builder().queue(queue).build();
    let address = config.own_address().unwrap_or_default();
    let mut server_config = ServerConfig::new(tfrt_grpc::TYPE_NAME, address);
    if role == "die" {
        server_config.failure_timeout = FAILURE_TIMEOUT;
    }
    let server = Server::new(&host, server_config)?;
    let (sender, receiver) = channel();
    server.initialize_multi_client(&config, move |outcome| {
        // This thread waits for it.
        let _ = sender.send(outcome);
    });
    let context = receiver.recv().map_err(Error::other)?;
    let context = context.map_err(|errors| errors.to_value(&host))?;
    let member = mpi.open(ALL_TASKS, &context)?;
    match role {
        "conform" => {
            conformance::run(&host, &*member, Extent::from_environment())?;
            // Larger than a transfer of MPI.
            let len = (65 << 20) + 1;
            let tensor = DenseHostTensor::vector(&vec![u8::from(rank == 0); len])?;
            let sent = member.broadcast("large", tensor.clone(), 0);
            host.await_values(&[sent.into()])?;
            if tensor.elements::<u8>()?.iter().any(|element| *element != 1) {
                return Err(Error::new("expected the elements of rank 0"));
            }
        }
        "die" => return lose(&host, &*member, rank),
        "leave" => leave(&host, &context, &*member)?,
        "end" => {
            drop(member);
            tfrt_mpi::finalize()?;
            return match mpi.open(ALL_TASKS, &context) {
                Err(error) if error.message() == "MPI has ended" => Ok(()),
                Err(error) => Err(error),
                Ok(_) => Err(Error::new("expected an error, found an open group")),
            };
        }
        _ => return Err(Error::new(format!("no role {role}"))),
    }
    let met = member.barrier("end");
    // In the role of a rank that leaves, the barrier fails.
    let _ = host.await_available(&[met.into()]);
    drop(member);
    // The contexts of the others end as soon as this one does not answer: wait for their ranks.
    tfrt_mpi::finalize()?;
    drop(server);
    Ok(())
}

/// Rank 2 is killed while the others send to it.
fn lose(host: &Arc<HostContext>, member: &dyn GroupMember, rank: usize) -> Result<(), Error> {
    host.await_values(&[member.barrier("start").into()])?;
    if rank == 2 {
        // Nothing of this process runs any more: no end of MPI, and no word to the others.
        let killed = Command::new("kill")
            .args(["-KILL", &std::process::id().to_string()])
            .status();
        return Err(Error::new(format!("expected to be killed: {killed:?}")));
    }
    let start = Instant::now();
    // Too large for MPI to keep.
    let tensor = DenseHostTensor::vector(&vec![1.0_f32; 8 << 20])?;
    let reduced = member.all_reduce("k", Reduction::Sum, tensor.clone(), tensor);
    let Err(error) = host.await_values(&[reduced.into()]) else {
        return Err(Error::new("expected an error, found a sum without rank 2"));
    };
    if !error.message().contains("task:2") {
        return Err(error);
    }
    // MPI does not end without the dead rank, and is not waited for.
    let ended = tfrt_mpi::finalize();
    match start.elapsed() < BOUND {
        true => {
            println!("survived: {}; {ended:?}", error.message());
            Ok(())
        }
        false => Err(Error::new(format!("the end took {:?}", start.elapsed()))),
    }
}

/// Rank 2 aborts the group while the others wait for it.
fn leave(
    host: &Arc<HostContext>,
    context: &Arc<DistributedContext>,
    member: &dyn GroupMember,
) -> Result<(), Error> {
    if member.index() == 2 {
        member.abort(&Error::new("rank 2 has had enough"));
        return Ok(());
    }
    let ended = member.barrier("never");
    let Err(error) = host.await_values(&[ended.into()]) else {
        return Err(Error::new(
            "expected an error, found a barrier without rank 2",
        ));
    };
    match error.message() == "rank 2 has had enough" && context.health().all_lost().is_empty() {
        true => Ok(()),
        false => Err(error),
    }
}
