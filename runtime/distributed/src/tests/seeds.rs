//! Initialization, payloads and collectives on networks with delays and cuts, for many seeds.
//! `TFRT_LONG_TESTS` runs ten thousand.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
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
    /// What is cut, and the number of operations that have started before.
    cut: Option<(Cut, u64)>,
}

#[derive(Clone, Copy, Debug)]
enum Cut {
    /// All connections of a task.
    Task(usize),
    /// The connection of a task to its right neighbour.
    Connection(usize),
}

impl Plan {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers(seed);
        // The first ones are alike.
        numbers.below(2);
        Self {
            seed,
            max_delay: Duration::from_micros(1 << numbers.below(11)),
            is_multi_client: numbers.below(2) == 0,
            cut: (numbers.below(4) == 0).then(|| {
                let task = numbers.below(SIZE as u64) as usize;
                let at = numbers.below(3);
                match numbers.below(2) {
                    0 => (Cut::Task(task), at),
                    _ => (Cut::Connection(task), at),
                }
            }),
        }
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
    network: InProcessNetwork,
    addresses: Vec<String>,
    contexts: Vec<Arc<DistributedContext>>,
    _servers: Vec<Arc<Server>>,
}

fn cluster(plan: Plan, timeout: Duration) -> Result<Cluster, String> {
    let network = InProcessNetwork::with_faults(Faults {
        seed: plan.seed,
        max_delay: plan.max_delay,
        ..Faults::default()
    });
    let host = host("mstd:2");
    let addresses: Vec<String> = (0..SIZE).map(|_| network.free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start = |address: &String| {
        let mut config = ServerConfig::new("test", address);
        config.failure_timeout = timeout;
        let listen = |handler| network.listen(&host, address, handler);
        Server::on_network(&host, config, listen).unwrap()
    };
    let servers: Vec<Arc<Server>> = addresses.iter().map(start).collect();
    let contexts = contexts(plan, &host, &servers, &configs)?;
    Ok(Cluster {
        network,
        addresses,
        contexts,
        _servers: servers,
    })
}

/// A task sends to its right neighbour, which receives.
fn send(contexts: &[Arc<DistributedContext>], from: usize) -> Pending {
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
    contexts[from].send_data(handle(from, to), format!("k{from}"), payload, |_| ());
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

/// Runs a seed: whatever starts ends, with the right result or an error, and without a cut with the
/// right result.
fn run(plan: Plan) {
    let mut timeout = match plan.cut {
        Some(_) => TIMEOUT,
        None => LONG_TIMEOUT,
    };
    let Cluster {
        network,
        addresses,
        contexts,
        _servers,
    } = loop {
        match cluster(plan, timeout) {
            Ok(cluster) => break cluster,
            Err(error) if timeout >= LONG_TIMEOUT => panic!("{plan:?}: {error}"),
            Err(_) => timeout *= 4,
        }
    };
    let mut pending = Vec::new();
    for step in 0..=SIZE as u64 {
        match plan.cut {
            Some((Cut::Task(task), at)) if at == step => network.cut(&addresses[task]),
            Some((Cut::Connection(task), at)) if at == step => {
                network.cut_between(&addresses[task], &addresses[(task + 1) % SIZE]);
            }
            _ => {}
        }
        match step {
            0 => pending.extend(reduce(&contexts)),
            sender => pending.push(send(&contexts, sender as usize - 1)),
        }
    }
    let end = Instant::now() + Duration::from_secs(60);
    for one in pending {
        let left = end.saturating_duration_since(Instant::now());
        let outcome = one.outcome.recv_timeout(left);
        let outcome = outcome.unwrap_or_else(|_| panic!("{plan:?}: {} never ends", one.what));
        match outcome {
            Ok(found) => assert_eq!(found, one.expected, "{plan:?}: {}", one.what),
            Err(error) => assert!(plan.cut.is_some(), "{plan:?}: {}: {error}", one.what),
        }
    }
}

#[test]
fn whatever_starts_ends_for_every_seed() {
    let count = match std::env::var_os("TFRT_LONG_TESTS") {
        Some(_) => 10_000,
        None => 24,
    };
    let plans: Vec<Plan> = (0..count).map(Plan::new).collect();
    let is_cut = |is_it: fn(&Cut) -> bool| {
        let mut cuts = plans.iter().filter_map(|plan| plan.cut.as_ref());
        cuts.any(|(cut, _)| is_it(cut))
    };
    let is_of_task = |cut: &Cut| matches!(cut, Cut::Task(_));
    assert!(is_cut(is_of_task), "the seeds cut nobody off");
    let is_of_connection = |cut: &Cut| matches!(cut, Cut::Connection(_));
    assert!(is_cut(is_of_connection), "the seeds cut no connection");
    // Several at a time: they wait more than they compute.
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Relaxed: only uniqueness counts.
                let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                while let Some(plan) = plans.get(take()) {
                    run(*plan);
                }
            });
        }
    });
}
