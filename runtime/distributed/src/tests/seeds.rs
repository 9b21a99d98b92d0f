//! Initialization, payloads, collectives and the end of contexts, on networks with delays, losses
//! and cuts, for many seeds. `TFRT_LONG_TESTS` runs ten thousand.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use prost::bytes::Bytes;
use tfrt_host::HostContext;
use tfrt_support::Error;
use tfrt_tensor::DenseHostTensor;

use crate::cluster::TaskHandle;
use crate::collective::{Collective, Reduction, all_reduce};
use crate::context::DistributedContext;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::message::DistributedContextConfiguration;
use crate::payload::Payload;
use crate::server::{Server, ServerConfig};
use crate::testing::{host, started, wait};

const SIZE: usize = 3;

/// The first timeout for tasks that are cut off. On a busy machine, tasks may take a slow one for
/// lost: after the start, that ends the same things, and a start is tried again with more time.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The timeout with which a start has to succeed.
const LONG_TIMEOUT: Duration = Duration::from_secs(30);

/// Numbers that look random, the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

/// What one seed does.
#[derive(Clone, Copy, Debug)]
struct Plan {
    seed: u64,
    max_delay: Duration,
    is_multi_client: bool,
    /// The number of requests, and of answers, that are lost of a thousand.
    lost_per_mille: u64,
    cut: Option<(Cut, When)>,
    /// The time after which a task that is cut off is connected again.
    healed_after: Option<Duration>,
    /// The task whose server is shut down first.
    first_to_end: usize,
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    /// All connections of a task.
    Task(usize),
    /// The connection of a task to its right neighbour.
    Connection(usize),
}

#[derive(Clone, Copy, Debug)]
enum When {
    /// So long after the initialization has started.
    Starting(Duration),
    /// Once so many operations have started.
    Operation(u64),
}

impl Plan {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        // The first ones are alike.
        numbers.below(2);
        let max_delay = Duration::from_micros(1 << numbers.below(11));
        let is_multi_client = numbers.below(2) == 0;
        let cut = (numbers.below(3) == 0).then(|| {
            let task = numbers.below(SIZE as u64) as usize;
            let when = match numbers.below(3) {
                0 => When::Starting(Duration::from_micros(numbers.below(4000))),
                _ => When::Operation(numbers.below(3)),
            };
            match numbers.below(2) {
                0 => (Cut::Task(task), when),
                _ => (Cut::Connection(task), when),
            }
        });
        let is_healed = matches!(cut, Some((Cut::Task(_), _))) && numbers.below(2) == 0;
        Self {
            seed,
            max_delay,
            is_multi_client,
            lost_per_mille: match numbers.below(6) {
                0 => 20,
                1 => 200,
                _ => 0,
            },
            cut,
            healed_after: is_healed.then(|| Duration::from_millis(numbers.below(20))),
            first_to_end: numbers.below(SIZE as u64) as usize,
        }
    }

    /// Returns `true` if nothing but a slow machine is in the way of the initialization.
    fn starts_well(&self) -> bool {
        self.lost_per_mille == 0 && !matches!(self.cut, Some((_, When::Starting(_))))
    }

    /// Returns `true` if all that starts succeeds.
    fn goes_well(&self) -> bool {
        self.lost_per_mille == 0 && self.cut.is_none()
    }

    /// Returns `true` if a payload may be lost although its sender and its receiver live on. Then
    /// the receiver waits until somebody ends the context.
    fn loses_payloads(&self) -> bool {
        self.lost_per_mille > 0 || self.healed_after.is_some()
    }
}

/// Something in progress, and what it gives if it succeeds.
struct Pending {
    what: String,
    outcome: Receiver<Result<Vec<u8>, Error>>,
    expected: Vec<u8>,
}

fn contexts(
    plan: Plan,
    host: &Arc<HostContext>,
    servers: &[Arc<Server>],
    configs: &[DistributedContextConfiguration],
) -> Result<Vec<Arc<DistributedContext>>, String> {
    if plan.is_multi_client {
        let done = servers
            .iter()
            .zip(configs)
            .map(|(server, config)| started(|done| server.initialize_multi_client(config, done)));
        let done: Vec<_> = done.collect();
        let contexts = done.iter().map(|done| wait(host, done));
        return contexts
            .map(|context| context.map_err(|errors| errors.to_string()))
            .collect();
    }
    let first = started(|done| servers[0].initialize_single_client(Some(1), &configs[0], done));
    let first = wait(host, &first).map_err(|errors| errors.to_string())?;
    let others = servers[1..].iter().map(|server| {
        let context = server.context(1);
        context.map_err(|error| error.to_string())
    });
    std::iter::once(Ok(first)).chain(others).collect()
}

/// The tasks of a plan, with their contexts.
struct Cluster {
    host: Arc<HostContext>,
    network: InProcessNetwork,
    addresses: Vec<String>,
    contexts: Vec<Arc<DistributedContext>>,
    servers: Vec<Arc<Server>>,
}

fn cluster(plan: Plan, timeout: Duration) -> Result<Cluster, String> {
    let network = InProcessNetwork::with_faults(Faults {
        seed: plan.seed,
        max_delay: plan.max_delay,
        lost_requests_per_mille: plan.lost_per_mille,
        lost_answers_per_mille: plan.lost_per_mille,
    });
    let host = host("mstd:2");
    let addresses: Vec<String> = (0..SIZE).map(|_| network.free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start = |address: &String| {
        let mut config = ServerConfig::new("test", address);
        config.failure_timeout = timeout;
        config.initialization_timeout = Some(2 * timeout);
        config.reports_leftovers = false;
        let listen = |handler| network.listen(&host, address, handler);
        Server::on_network(&host, config, listen).unwrap()
    };
    let servers: Vec<Arc<Server>> = addresses.iter().map(start).collect();
    let mut cluster = Cluster {
        host,
        network,
        addresses,
        contexts: Vec::new(),
        servers,
    };
    if let Some((cut, When::Starting(after))) = plan.cut {
        let cut = cluster.cutting(cut, plan.healed_after);
        cluster.host.timers().schedule_after(after, cut);
    }
    match contexts(plan, &cluster.host, &cluster.servers, &configs) {
        Ok(contexts) => cluster.contexts = contexts,
        Err(error) => {
            cluster.end(plan);
            return Err(error);
        }
    }
    Ok(cluster)
}

impl Cluster {
    /// Returns what cuts a task or a connection, and connects the task again after a while.
    fn cutting(&self, cut: Cut, healed_after: Option<Duration>) -> impl FnOnce() + Send + 'static {
        let (network, host) = (self.network.clone(), Arc::clone(&self.host));
        let address = |task: usize| self.addresses[task % SIZE].clone();
        let (task, (first, second)) = match cut {
            Cut::Task(task) => (Some(address(task)), Default::default()),
            Cut::Connection(task) => (None, (address(task), address(task + 1))),
        };
        move || {
            let Some(task) = task else {
                return network.cut_between(&first, &second);
            };
            network.cut(&task);
            if let Some(after) = healed_after {
                host.timers()
                    .schedule_after(after, move || network.heal(&task));
            }
        }
    }

    /// Ends all servers, and checks that nothing waits any more.
    fn end(&self, plan: Plan) {
        let order = (0..SIZE).map(|place| &self.servers[(plan.first_to_end + place) % SIZE]);
        // The outcome says whether something was cut; then it is over, too.
        let ended = order.map(|server| started(|done| server.shut_down_then(done)));
        let ended: Vec<_> = ended.collect();
        for ended in ended {
            let _ = wait(&self.host, &ended);
        }
        self.host.quiesce().unwrap();
        for context in &self.contexts {
            let left = (context.leftovers(), context.health().num_watches());
            assert!(left.0.is_empty() && left.1 == 0, "{plan:?}: {left:?}");
            assert!(context.rendezvous().is_empty(), "{plan:?}");
            assert!(context.executions().is_empty(), "{plan:?}");
        }
    }
}

/// A task sends to its right neighbour, which receives. `sent` is told once the sender knows the
/// outcome.
fn send(contexts: &[Arc<DistributedContext>], from: usize, sent: Sender<()>) -> Pending {
    let to = (from + 1) % SIZE;
    let handle =
        |of: usize, index: usize| -> TaskHandle { contexts[of].group("group1").unwrap()[index] };
    let bytes = vec![from as u8; 100];
    let (sender, outcome) = channel();
    let receiver = move |payload: Result<Payload, Error>| {
        let bytes = payload.map(|payload| payload.buffers()[0].read().unwrap().to_vec());
        // A test that failed does not wait any more.
        let _ = sender.send(bytes);
    };
    contexts[to].receive(handle(to, from), &format!("k{from}"), Box::new(receiver));
    let payload = vec![Bytes::from(bytes.clone())];
    contexts[from].send_data(handle(from, to), format!("k{from}"), payload, |_| {
        drop(sent)
    });
    Pending {
        what: format!("a payload from task {from}"),
        outcome,
        expected: bytes,
    }
}

/// All tasks reduce.
fn reduce(contexts: &[Arc<DistributedContext>]) -> Vec<Pending> {
    let pending = contexts.iter().enumerate().map(|(index, context)| {
        let tensor = DenseHostTensor::vector(&[index as u8 + 1; 7]).unwrap();
        let collective = Collective {
            context: Arc::clone(context),
            group: "group1".to_owned(),
            key: "sum".to_owned(),
        };
        let (sender, outcome) = channel();
        let sum = tensor.clone();
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor,
            move |done| {
                // As above.
                let _ = sender.send(done.map(|()| sum.elements::<u8>().unwrap().to_vec()));
            },
        );
        Pending {
            what: format!("the sum of task {index}"),
            outcome,
            expected: vec![6; 7],
        }
    });
    pending.collect()
}

/// Runs a seed: whatever starts ends, with the right result or an error, and on a good network with
/// the right result. Returns `true` if all tasks had a context.
fn run(plan: Plan) -> bool {
    let mut timeout = match plan.goes_well() {
        true => LONG_TIMEOUT,
        false => TIMEOUT,
    };
    let cluster = loop {
        match cluster(plan, timeout) {
            Ok(cluster) => break cluster,
            Err(_) if !plan.starts_well() => return false,
            Err(error) if timeout >= LONG_TIMEOUT => panic!("{plan:?}: {error}"),
            Err(_) => timeout *= 4,
        }
    };
    let (sender, sent) = channel();
    let mut pending = Vec::new();
    for step in 0..=SIZE as u64 {
        match plan.cut {
            Some((cut, When::Operation(at))) if at == step => {
                cluster.cutting(cut, plan.healed_after)();
            }
            _ => {}
        }
        match step {
            0 => pending.extend(reduce(&cluster.contexts)),
            from => pending.push(send(&cluster.contexts, from as usize - 1, sender.clone())),
        }
    }
    drop(sender);
    let end = Instant::now() + Duration::from_secs(60);
    let left = || end.saturating_duration_since(Instant::now());
    let all_sent = sent.recv_timeout(left());
    assert_eq!(all_sent, Err(RecvTimeoutError::Disconnected), "{plan:?}");
    if plan.loses_payloads() {
        cluster.end(plan);
    }
    for one in &pending {
        let outcome = one.outcome.recv_timeout(left());
        let outcome = outcome.unwrap_or_else(|_| panic!("{plan:?}: {} never ends", one.what));
        match outcome {
            Ok(found) => assert_eq!(found, one.expected, "{plan:?}: {}", one.what),
            Err(error) => assert!(!plan.goes_well(), "{plan:?}: {}: {error}", one.what),
        }
    }
    cluster.end(plan);
    true
}

#[test]
fn whatever_starts_ends_for_every_seed() {
    let count = match std::env::var_os("TFRT_LONG_TESTS") {
        Some(_) => 10_000,
        None => 200,
    };
    let plans: Vec<Plan> = (0..count).map(Plan::new).collect();
    let num = |is_it: fn(&Plan) -> bool| plans.iter().filter(|plan| is_it(plan)).count();
    let kinds = [
        num(Plan::goes_well),
        num(|plan| plan.lost_per_mille > 0),
        num(|plan| plan.healed_after.is_some()),
        num(|plan| matches!(plan.cut, Some((Cut::Task(_), When::Starting(_))))),
        num(|plan| matches!(plan.cut, Some((Cut::Task(_), When::Operation(_))))),
        num(|plan| matches!(plan.cut, Some((Cut::Connection(_), When::Starting(_))))),
        num(|plan| matches!(plan.cut, Some((Cut::Connection(_), When::Operation(_))))),
    ];
    assert!(
        kinds.iter().all(|num| *num > count as usize / 60),
        "{kinds:?}"
    );
    // Several at a time: they wait more than they compute.
    let next = std::sync::atomic::AtomicUsize::new(0);
    let num_started = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                // Relaxed: only uniqueness counts.
                let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                while let Some(plan) = plans.get(take()) {
                    let has_started = usize::from(run(*plan));
                    num_started.fetch_add(has_started, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    println!("{count} seeds, {num_started:?} with all contexts; kinds: {kinds:?}");
}
