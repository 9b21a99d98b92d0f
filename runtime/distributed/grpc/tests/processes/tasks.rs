//! What the tasks do.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::stdin;
use std::net::TcpListener;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Instant;

use tfrt_async::AnyRef;
use tfrt_distributed::collective::conformance::{self, Extent};
use tfrt_distributed::collective::{BackEnd, Collectives, GroupMember, Reduction, regroup};
use tfrt_distributed::discovery::{ALL_TASKS, Told, discover};
use tfrt_distributed::fabric::CallOptions;
use tfrt_distributed::message::DistributedContextConfiguration;
use tfrt_distributed::message::{ProgramKind, RegisterFunctionRequest};
use tfrt_distributed::{
    Answer, DistributedContext, Outputs, Payload, RemoteExecuteSpec, RemoteExecution, Server,
    ServerConfig, TaskHandle,
};
use tfrt_grpc::TYPE_NAME;
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

use crate::{POLL, TIMEOUT};

// Links its back end.
use tfrt_shm as _;

pub const ROLE_VARIABLE: &str = "TFRT_TEST_ROLE";

/// Names the back end of collectives.
pub const COLLECTIVES_VARIABLE: &str = "TFRT_TEST_COLLECTIVES";

/// The number of steps after which a loop gives up.
const MAX_STEPS: usize = 1_000_000;

/// The number of elements of a tensor.
const SMALL_LEN: usize = 1000;

/// The same, if tensors are large.
const LARGE_LEN: usize = 1 << 20;

/// The number of steps that end without an error.
const NUM_STEPS: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Runs the conformance suite.
    Conformance,
    /// Runs collectives, sends and remote executions until one fails, regroups, and runs the
    /// conformance suite.
    Loop,
    /// The same, with large tensors, which members read from each other's memory if they can.
    LargeLoop,
    /// The same as `Loop`, and then waits until it is killed.
    Stay,
    /// Runs a few collectives.
    Steps,
    /// The first task is a client that sends the others something; they serve it.
    Client,
}

impl Role {
    const ALL: [Self; 6] = [
        Self::Conformance,
        Self::Loop,
        Self::LargeLoop,
        Self::Stay,
        Self::Steps,
        Self::Client,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Conformance => "conformance",
            Self::Loop => "loop",
            Self::LargeLoop => "large loop",
            Self::Stay => "stay",
            Self::Steps => "steps",
            Self::Client => "client",
        }
    }

    pub fn of_this_process() -> Option<Self> {
        let name = env::var(ROLE_VARIABLE).ok()?;
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

pub fn run(role: Role) -> Result<(), Error> {
    let variable = |name: &str| env::var(name).ok();
    let config = discover(&Told::default(), &variable).map_err(Error::other)?;
    let listener = stdin().as_fd().try_clone_to_owned()?;
    tfrt_grpc::adopt(TcpListener::from(listener))?;
    let queue = create_queue("mstd:2").map_err(Error::other)?;
    let host = HostContext::builder().queue(queue).build();
    let server_config = ServerConfig {
        failure_timeout: TIMEOUT,
        ..ServerConfig::new(TYPE_NAME, config.own_address().unwrap_or_default())
    };
    let server = Server::new(&host, server_config)?;
    if role == Role::Client {
        return serve_or_send(&server, &config);
    }
    let context = wait(&host, |done| server.initialize_multi_client(&config, done))?;
    let back_end = back_end()?;
    let member = back_end.open(ALL_TASKS, &context)?;
    match role {
        Role::Conformance => conform(&host, &*member, Extent::from_environment())?,
        Role::Steps => {
            for step in 0..NUM_STEPS {
                host.await_values(&start_step(&*member, step, SMALL_LEN)?)?;
                println!("step {step}");
            }
            println!("no error");
        }
        Role::Loop => return loop_until_lost(&host, &context, &*back_end, member, SMALL_LEN),
        Role::LargeLoop => {
            print_whether_members_lend();
            return loop_until_lost(&host, &context, &*back_end, member, LARGE_LEN);
        }
        Role::Stay => {
            loop_until_lost(&host, &context, &*back_end, member, SMALL_LEN)?;
            return wait_to_be_killed();
        }
        // Has a context of its own.
        Role::Client => {}
    }
    leave(&host, &*member);
    Ok(())
}

/// Says whether members can read each other's memory. The kernel decides on the memory of the
/// process that started this one as on that of another task: neither was started by this one.
/// A filter that forbids the system call alone is not noticed here.
fn print_whether_members_lend() {
    let parent = std::os::unix::process::parent_id();
    match fs::File::open(format!("/proc/{parent}/mem")) {
        Ok(_) => println!("members read each other's memory"),
        Err(error) => println!("members share segments alone, and lend nothing: {error}"),
    }
}

/// Returns the back end of this process.
fn back_end() -> Result<Arc<dyn Collectives>, Error> {
    let name = env::var(COLLECTIVES_VARIABLE).map_err(Error::other)?;
    let back_end = BackEnd::find(&name);
    let back_end = back_end.ok_or_else(|| Error::new(format!("no collectives {name}")))?;
    (back_end.make)()
}

/// Waits for what the callback gets.
fn wait<T: Send + 'static>(
    host: &HostContext,
    start: impl FnOnce(Box<dyn FnOnce(Answer<T>) + Send>),
) -> Result<T, Error> {
    let (sender, receiver) = channel();
    start(Box::new(move |outcome| {
        // This thread waits for it.
        let _ = sender.send(outcome);
    }));
    let outcome = receiver.recv().map_err(Error::other)?;
    outcome.map_err(|errors| errors.to_value(host))
}

fn conform(host: &HostContext, member: &dyn GroupMember, extent: Extent) -> Result<(), Error> {
    let count = conformance::run(host, member, extent)?;
    println!("passed {count} checks");
    Ok(())
}

/// Waits for the others: whoever left before would be lost to them.
fn leave(host: &HostContext, member: &dyn GroupMember) {
    let met = member.barrier("end");
    // Whoever is lost now is not needed any more.
    let _ = host.await_available(&[met.into()]);
}

/// Starts an all-reduce, and passes a tensor around.
fn start_step(member: &dyn GroupMember, step: usize, len: usize) -> Result<Vec<AnyRef>, Error> {
    let (index, size) = (member.index(), member.size());
    // The reduction writes into its input, perhaps while the other one is read.
    let ones = || DenseHostTensor::vector(&vec![1.0_f32; len]);
    let (reduced, sent) = (ones()?, ones()?);
    let key = format!("step {step}");
    let right = (index + 1) % size;
    Ok(vec![
        member
            .all_reduce(&key, Reduction::Sum, reduced.clone(), reduced)
            .into(),
        member.send(&key, right, &sent).into(),
        member.recv(&key, (index + size - 1) % size).into(),
    ])
}

/// `func @echo(%c: !tfrt.chain) -> !tfrt.chain`, which returns its argument.
const ECHO: &[u8] = include_bytes!("echo.bef");

/// Executions on the right neighbour.
struct Neighbour {
    context: Arc<DistributedContext>,
    task: TaskHandle,
    ctx: ExecutionContext,
}

impl Neighbour {
    /// Sends the program to the neighbour.
    fn new(
        host: &Arc<HostContext>,
        context: &Arc<DistributedContext>,
        member: &dyn GroupMember,
    ) -> Result<Self, Error> {
        let members = context
            .group(ALL_TASKS)
            .map_err(|error| error.into_plain())?;
        let task = members[(member.index() + 1) % member.size()];
        let request = RegisterFunctionRequest {
            context_id: context.id(),
            program_name: "echo".to_owned(),
            program: ECHO.into(),
            program_kind: ProgramKind::Bef.into(),
            ..RegisterFunctionRequest::default()
        };
        wait(host, |done| {
            context.call(task, CallOptions::default(), request, done)
        })?;
        let request = RequestContextBuilder::new(Arc::clone(host)).build();
        Ok(Self {
            context: Arc::clone(context),
            task,
            ctx: ExecutionContext::new(request),
        })
    }

    /// Executes the program with the ready chain of the neighbour.
    fn execute(&self) -> Result<AnyRef, Error> {
        let chains = self.context.ready_chains();
        let chain = chains.get(&self.task).cloned();
        let chain = chain.ok_or_else(|| Error::new("the neighbour has no ready chain"))?;
        let devices = [chain.device().to_owned()];
        let spec = RemoteExecuteSpec::new(&self.context, devices);
        let execution = RemoteExecution {
            context: Arc::clone(&self.context),
            task: self.task,
            invocation: 0,
            program_name: "echo".to_owned(),
            inputs: vec![chain],
            outputs: Outputs::New(spec.map_err(|error| error.into_plain())?),
            num_handles: 0,
        };
        let results = execution
            .start(&self.ctx)
            .map_err(|error| error.into_plain())?;
        Ok(results.chain.into_any())
    }
}

/// The number of open files, and of threads.
fn resources() -> [usize; 2] {
    ["/proc/self/fd", "/proc/self/task"]
        .map(|folder| fs::read_dir(folder).map_or(0, Iterator::count))
}

/// The connections of TCP: the addresses of both ends, and the state, as the system tells them.
fn connections() -> BTreeSet<String> {
    let open = fs::read_dir("/proc/self/fd").into_iter().flatten();
    let open: Vec<String> = open
        .filter_map(|file| Some(fs::read_link(file.ok()?.path()).ok()?.display().to_string()))
        .collect();
    let table = fs::read_to_string("/proc/self/net/tcp").unwrap_or_default();
    let own = table.lines().filter_map(|line| {
        let columns: Vec<&str> = line.split_whitespace().collect();
        let [_, local, remote, state, .., inode] = columns.get(..10)? else {
            return None;
        };
        let is_own = open.contains(&format!("socket:[{inode}]"));
        is_own.then(|| format!("{local} {remote} {state}"))
    });
    own.collect()
}

fn loop_until_lost(
    host: &Arc<HostContext>,
    context: &Arc<DistributedContext>,
    back_end: &dyn Collectives,
    member: Arc<dyn GroupMember>,
    len: usize,
) -> Result<(), Error> {
    // Every member sends to every one, itself included, and executes on its neighbour: all
    // connections are open once all members have done so.
    let numbers = DenseHostTensor::vector(&vec![1.0_f32; member.size()])?;
    let own = member.index();
    let received = member.recv("connect itself", own);
    let sent = member.send("connect itself", own, &numbers.copied(host.allocator())?);
    let connected = member.all_to_all("connect", numbers.clone(), numbers);
    host.await_values(&[sent.into(), received.into(), connected.into()])?;
    host.await_values(&start_step(&*member, MAX_STEPS, len)?)?;
    let neighbour = Neighbour::new(host, context, &*member)?;
    host.await_values(&[neighbour.execute()?])?;
    host.await_values(&[member.barrier("connected").into()])?;
    let (before, connections_before) = (resources(), connections());
    // Nobody sends these. In the group, all of them end when a task is lost: no member may wait for
    // one that has given up. Outside of it, those from the lost task end.
    let never: Vec<AnyRef> = (0..member.size())
        .map(|from| member.recv("never", from).into())
        .collect();
    let members = context
        .cluster()
        .group(ALL_TASKS)
        .map_err(|error| error.into_plain())?;
    let (sender, ended) = channel();
    for from in members.iter().copied() {
        let sender = sender.clone();
        let receiver = move |payload: Result<Payload, Error>| {
            let _ = sender.send((from, payload.is_err()));
        };
        let key = format!("never from {from:?}");
        context.receive(from, &key, Box::new(receiver));
    }
    let error = (0..MAX_STEPS).find_map(|step| {
        println!("step {step}");
        let started = start_step(&*member, step, len);
        let values = started.and_then(|mut values| {
            values.push(neighbour.execute()?);
            Ok(values)
        });
        match values {
            Ok(values) => host.await_values(&values).err(),
            Err(error) => Some(error),
        }
    });
    let error = error.ok_or_else(|| Error::new("nobody was lost"))?;
    println!("error: {}", error.message().replace('\n', ";"));
    let group = wait_plainly(|done| regroup(context, ALL_TASKS, done))?;
    println!("regrouped as {group}");
    // The regrouping may have been faster than the task of the queue that tells this.
    host.await_available(&never)?;
    if !never.iter().all(AnyRef::is_error) {
        return Err(Error::new("expected errors of all that the group receives"));
    }
    let (from, is_error) = ended.recv_timeout(TIMEOUT).map_err(Error::other)?;
    if !is_error || context.health().lost(from).is_none() || ended.try_recv().is_ok() {
        return Err(Error::new("expected an error of the lost task alone"));
    }
    let former = member;
    let member = back_end.open(&group, context)?;
    // However many rounds there are: another test runs the long suite.
    conform(host, &*member, Extent::Short)?;
    // What waits for a living task would go on waiting.
    for from in members.iter() {
        let over = Error::new("the test is over");
        context
            .rendezvous()
            .give_up(&format!("never from {from:?}"), &over);
    }
    drop((former, neighbour));
    host.quiesce().map_err(Error::other)?;
    let mut left = Vec::new();
    let [before_files, before_threads] = before;
    // The connections to the lost task may take a while to end.
    let end = Instant::now() + TIMEOUT;
    let [files, threads] = loop {
        let now = resources();
        if now.iter().zip(before).all(|(now, before)| *now <= before) || Instant::now() > end {
            break now;
        }
        thread::sleep(POLL);
    };
    if files > before_files {
        let after = connections();
        let new: Vec<_> = after.difference(&connections_before).collect();
        let ended: Vec<_> = connections_before.difference(&after).collect();
        left.push(format!(
            "{files} files instead of {before_files}; new connections {new:?}, ended ones {ended:?}"
        ));
    }
    if threads > before_threads {
        left.push(format!("{threads} threads instead of {before_threads}"));
    }
    let num_payloads = context.rendezvous().num_payloads();
    // Others may have begun to leave: a member that has not gets a message from each of them.
    if num_payloads >= member.size() {
        left.push(format!("{num_payloads} payloads"));
    }
    match left.is_empty() {
        true => println!("left: nothing"),
        false => println!("left: {}", left.join(", ")),
    }
    leave(host, &*member);
    Ok(())
}

fn wait_plainly<T: Send + 'static>(
    start: impl FnOnce(Box<dyn FnOnce(Result<T, Error>) + Send>),
) -> Result<T, Error> {
    let (sender, receiver) = channel();
    start(Box::new(move |outcome| {
        // This thread waits for it.
        let _ = sender.send(outcome);
    }));
    receiver.recv().map_err(Error::other)?
}

fn serve_or_send(
    server: &Arc<Server>,
    config: &DistributedContextConfiguration,
) -> Result<(), Error> {
    if config.task_id == 0 {
        let host = server.host();
        let context = wait(host, |done| {
            server.initialize_single_client(None, config, done)
        })?;
        for worker in &context.cluster().tasks()[1..] {
            let payload = vec![vec![7; 1000].into()];
            wait(host, |done| {
                context.send_data(worker.handle, "k", payload, done)
            })?;
        }
        println!("ready");
    }
    wait_to_be_killed()
}

fn wait_to_be_killed() -> Result<(), Error> {
    thread::sleep(20 * TIMEOUT);
    Err(Error::new("expected to be killed"))
}
