//! The transport beside what it is made of: requests and payloads between two processes, next to
//! the same bytes through tonic and through a TCP connection.
//!
//! Each row alternates between ours and the peer. The peers run in the same two processes, with the
//! same options of HTTP/2: see [`peers`].

mod peers;

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_async::AnyRef;
use tfrt_distributed::fabric::CallOptions;
use tfrt_distributed::message::{
    DistributedContextConfiguration, ProgramKind, RegisterFunctionRequest,
};
use tfrt_distributed::{
    Answer, DistributedContext, Outputs, RemoteExecuteSpec, RemoteExecution, RemoteObjectId,
    Server, ServerConfig, TaskHandle,
};
use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder};
use tfrt_queue::create_queue;
use tfrt_support::Error;

use peers::{Peer, PeerAddresses};

/// What the worker of a measurement is started with.
pub(crate) const WORKER: &str = "transport-worker";

/// `func @empty()`, and `func @echo(%c: !tfrt.chain) -> !tfrt.chain`, which returns its argument.
const EMPTY: &[u8] = include_bytes!("transport/empty.bef");
const ECHO: &[u8] = include_bytes!("transport/echo.bef");

/// The number of workers, of which the first one is measured.
const NUM_WORKERS: usize = 3;

/// The number of requests in flight together.
const IN_FLIGHT: usize = 64;

/// The device that the results of executions are on.
const DEVICE: &str = "/job:worker/task:1/device:CPU:0";

fn host() -> Result<Arc<HostContext>, Error> {
    let queue = create_queue("mstd:1").map_err(Error::other)?;
    Ok(HostContext::builder().queue(queue).build())
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

/// Serves requests and takes payloads, until standard input ends. The first line of standard input
/// is the id of the context.
pub(crate) fn serve() -> Result<(), Error> {
    let host = host()?;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(Error::other)?;
    let address = tfrt_grpc::adopt(listener)?;
    let server = Server::new(&host, ServerConfig::new(tfrt_grpc::TYPE_NAME, &*address))?;
    let peers = peers::serve()?;
    println!("{address} {} {}", peers.tonic, peers.tcp);
    let mut lines = stdin().lock().lines();
    if let Some(id) = lines.next() {
        let id = id.map_err(Error::other)?;
        let context = server.context(id.parse().map_err(Error::other)?);
        let context = context.map_err(|error| error.into_plain())?;
        take_payload(&context, 0);
        println!("ready");
    }
    for line in lines {
        line.map_err(Error::other)?;
    }
    Ok(())
}

/// Takes the payload of this number, and then the next one.
fn take_payload(context: &Arc<DistributedContext>, number: u64) {
    let from = context.cluster().tasks()[0].handle;
    let next = Arc::downgrade(context);
    let receiver = move |payload: Result<_, Error>| {
        if let (Ok(_), Some(context)) = (&payload, next.upgrade()) {
            take_payload(&context, number + 1);
        }
    };
    context.receive(from, &payload_key(number), Box::new(receiver));
}

fn payload_key(number: u64) -> String {
    format!("payload {number}")
}

/// A process that serves, until this is dropped.
struct Worker {
    child: Child,
    address: String,
    peers: PeerAddresses,
    lines: BufReader<std::process::ChildStdout>,
}

impl Worker {
    fn start() -> Result<Self, Error> {
        let own_path = std::env::current_exe().map_err(Error::other)?;
        let mut child = Command::new(own_path)
            .arg(WORKER)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(Error::other)?;
        let stdout = child.stdout.take();
        let stdout = stdout.ok_or_else(|| Error::new("the output is a pipe"))?;
        let mut lines = BufReader::new(stdout);
        let mut line = String::new();
        lines.read_line(&mut line).map_err(Error::other)?;
        let [address, tonic, tcp] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            return Err(Error::new(format!(
                "expected three addresses, found `{line}`"
            )));
        };
        let (address, tonic, tcp) = (address.to_owned(), tonic.to_owned(), tcp.to_owned());
        Ok(Self {
            child,
            address,
            peers: PeerAddresses { tonic, tcp },
            lines,
        })
    }

    /// Lets the worker take payloads in a context.
    fn enter(&mut self, context: u64) -> Result<(), Error> {
        if let Some(stdin) = &mut self.child.stdin {
            writeln!(stdin, "{context}").map_err(Error::other)?;
        }
        let mut line = String::new();
        self.lines.read_line(&mut line).map_err(Error::other)?;
        match line.trim() {
            "ready" => Ok(()),
            found => Err(Error::new(format!("expected `ready`, found `{found}`"))),
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It ends with its standard input.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// The CPU time that this process and a worker have used.
fn cpu_time(worker: &Worker) -> Duration {
    let of = |pid: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        // User and system time, in ticks of a hundredth of a second.
        let ticks = fields.split(' ').skip(11).take(2);
        ticks
            .filter_map(|ticks| ticks.parse::<u64>().ok())
            .sum::<u64>()
    };
    Duration::from_millis(10 * (of("self") + of(&worker.child.id().to_string())))
}

/// The client of a measurement.
struct Client {
    host: Arc<HostContext>,
    context: Arc<DistributedContext>,
    task: TaskHandle,
    ctx: ExecutionContext,
    num_payloads: u64,
}

impl Client {
    fn register(&self, name: &str, program: &'static [u8]) -> Result<(), Error> {
        let request = RegisterFunctionRequest {
            context_id: self.context.id(),
            program_name: name.to_owned(),
            program: Bytes::from_static(program),
            program_kind: ProgramKind::Bef.into(),
            ..RegisterFunctionRequest::default()
        };
        wait(&self.host, |done| {
            self.context
                .call(self.task, CallOptions::default(), request, done);
        })?;
        Ok(())
    }

    /// Starts an execution, which takes these objects and has so many results.
    fn execute(
        &self,
        name: &str,
        inputs: Vec<RemoteObjectId>,
        num_results: usize,
    ) -> Result<(AnyRef, Vec<RemoteObjectId>), Error> {
        let devices = vec![DEVICE; num_results];
        let spec = RemoteExecuteSpec::new(&self.context, devices);
        let execution = RemoteExecution {
            context: Arc::clone(&self.context),
            task: self.task,
            invocation: 0,
            program_name: name.to_owned(),
            inputs,
            outputs: Outputs::New(spec.map_err(|error| error.into_plain())?),
            num_handles: 0,
        };
        let results = execution
            .start(&self.ctx)
            .map_err(|error| error.into_plain())?;
        Ok((results.chain.into_any(), results.ids))
    }

    fn call_many(&self, count: usize) -> Result<(), Error> {
        let started = (0..count).map(|_| Ok(self.execute("empty", Vec::new(), 0)?.0));
        let started: Result<Vec<AnyRef>, Error> = started.collect();
        self.host.await_values(&started?)
    }

    /// Each execution takes the result of the one before.
    fn call_in_a_row(&self, count: usize) -> Result<(), Error> {
        let chains = self.context.ready_chains();
        let chain = chains.get(&self.task).cloned();
        let mut last = vec![chain.ok_or_else(|| Error::new("the worker has no ready chain"))?];
        let mut answers = Vec::with_capacity(count);
        for _ in 0..count {
            let (answer, ids) = self.execute("echo", std::mem::take(&mut last), 1)?;
            answers.push(answer);
            last = ids;
        }
        self.host.await_values(&answers)
    }

    fn send(&mut self, payload: &Bytes) -> Result<(), Error> {
        let key = payload_key(self.num_payloads);
        self.num_payloads += 1;
        wait(&self.host, |done| {
            self.context
                .send_data(self.task, key, vec![payload.clone()], done);
        })
    }
}

/// The times of both sides of a row.
#[derive(Default)]
struct Times {
    ours: Vec<Duration>,
    peer: Vec<Duration>,
}

impl Times {
    /// Times both sides in turns; the first times are those of warming up.
    fn alternate(
        count: usize,
        mut ours: impl FnMut() -> Result<(), Error>,
        mut peer: impl FnMut() -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let mut times = Self::default();
        for round in 0..count + 2 {
            let start = Instant::now();
            ours()?;
            let own = start.elapsed();
            let start = Instant::now();
            peer()?;
            if round >= 2 {
                times.ours.push(own);
                times.peer.push(start.elapsed());
            }
        }
        times.ours.sort_unstable();
        times.peer.sort_unstable();
        Ok(times)
    }

    fn print(&self, row: &str) {
        let at = |times: &[Duration], percent: usize| {
            times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e6
        };
        let (own, peer) = (at(&self.ours, 50), at(&self.peer, 50));
        let (own_late, peer_late) = (at(&self.ours, 99), at(&self.peer, 99));
        println!(
            "{row:34}{own:12.0}{peer:12.0}{:8.2}{own_late:12.0}{peer_late:12.0}{:8.2}",
            own / peer,
            own_late / peer_late
        );
        // The row is there while the next one is measured.
        let _ = stdout().flush();
    }
}

/// Measures all rows.
pub(crate) fn run() -> Result<(), Error> {
    let host = host()?;
    let workers: Result<Vec<Worker>, Error> = (0..NUM_WORKERS).map(|_| Worker::start()).collect();
    let mut workers = workers?;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(Error::other)?;
    let mut addresses = vec![tfrt_grpc::adopt(listener)?];
    addresses.extend(workers.iter().map(|worker| worker.address.clone()));
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let server = Server::new(
        &host,
        ServerConfig::new(tfrt_grpc::TYPE_NAME, &*addresses[0]),
    )?;
    let start = Instant::now();
    let context = wait(&host, |done| {
        server.initialize_single_client(None, &configs[0], done);
    })?;
    println!(
        "4 processes initialized in {:.1} ms",
        start.elapsed().as_secs_f64() * 1e3
    );
    let worker = &mut workers[0];
    worker.enter(context.id())?;
    let request = RequestContextBuilder::new(Arc::clone(&host)).build();
    let mut client = Client {
        task: context.cluster().tasks()[1].handle,
        ctx: ExecutionContext::new(request),
        host,
        context,
        num_payloads: 0,
    };
    client.register("empty", EMPTY)?;
    client.register("echo", ECHO)?;
    let peer = Peer::connect(&worker.peers)?;
    println!(
        "{:34}{:>12}{:>12}{:>8}{:>12}{:>12}{:>8}",
        "median and 99th percentile, us", "ours", "peer", "ratio", "ours", "peer", "ratio"
    );
    let small = Bytes::from(vec![7; 64]);
    Times::alternate(2000, || client.call_many(1), || peer.echo(&small, 1))?
        .print("empty call / unary 64 B");
    Times::alternate(
        100,
        || client.call_many(IN_FLIGHT),
        || peer.echo(&small, IN_FLIGHT),
    )?
    .print("64 empty calls / 64 unary");
    Times::alternate(
        100,
        || client.call_in_a_row(IN_FLIGHT),
        || peer.echo(&small, IN_FLIGHT),
    )?
    .print("64 dependent calls / 64 unary");
    Times::alternate(1000, || client.send(&small), || peer.echo(&small, 1))?
        .print("send 64 B / unary 64 B");
    let medium = Bytes::from(vec![7; 1 << 20]);
    Times::alternate(100, || client.send(&medium), || peer.stream(&medium))?
        .print("send 1 MiB / streaming");
    let large = Bytes::from(vec![7; 64 << 20]);
    Times::alternate(30, || client.send(&large), || peer.copy(&large))?.print("send 64 MiB / TCP");
    Times::alternate(30, || client.send(&large), || peer.stream(&large))?
        .print("send 64 MiB / streaming");
    let before = cpu_time(worker);
    for _ in 0..20 {
        client.send(&large)?;
    }
    let between = cpu_time(worker);
    for _ in 0..20 {
        peer.stream(&large)?;
    }
    let (own, other) = (between - before, cpu_time(worker) - between);
    let per_byte = |time: Duration| time.as_secs_f64() * 1e9 / (20.0 * large.len() as f64);
    println!(
        "CPU time, ns per byte: ours {:.2}, streaming {:.2}, ratio {:.2}",
        per_byte(own),
        per_byte(other),
        own.as_secs_f64() / other.as_secs_f64()
    );
    Ok(())
}
