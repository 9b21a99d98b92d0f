//! The conformance suite over shared memory, and members that leave.
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use tfrt_distributed::collective::conformance::{self, Extent};
use tfrt_distributed::collective::{
    AUTO, AllReduceKeepsInput, BackEnd, Collective, Collectives, GroupMember, Reduction, all_reduce,
};
use tfrt_distributed::fabric::CommunicatorType;
use tfrt_distributed::message::DistributedContextConfiguration;
use tfrt_distributed::{DistributedContext, Server, ServerConfig};
use tfrt_host::HostContext;
use tfrt_queue::create_queue;
use tfrt_shm::ShmCollectives;
use tfrt_tensor::DenseHostTensor;

/// Tasks in this process.
struct Cluster {
    host: Arc<HostContext>,
    servers: Vec<Arc<Server>>,
    contexts: Vec<Arc<DistributedContext>>,
}

impl Cluster {
    fn new(size: usize, collectives: &str) -> Self {
        let queue = create_queue("mstd:2").unwrap();
        let host = HostContext::builder().queue(queue).build();
        let in_process = CommunicatorType::find("in_process").unwrap();
        let addresses: Vec<String> = (0..size)
            .map(|_| (in_process.free_address)().unwrap())
            .collect();
        let configs = DistributedContextConfiguration::local_cluster(&addresses);
        let servers: Vec<Arc<Server>> = addresses
            .iter()
            .map(|address| {
                let config = ServerConfig {
                    collectives: collectives.to_owned(),
                    ..ServerConfig::new("in_process", address)
                };
                Server::new(&host, config).unwrap()
            })
            .collect();
        let (sender, done) = channel();
        servers[0].initialize_single_client(Some(1), &configs[0], move |outcome| {
            sender.send(outcome).unwrap();
        });
        let first = done.recv().unwrap().unwrap();
        let others = servers[1..].iter().map(|server| server.context(1).unwrap());
        Self {
            contexts: std::iter::once(first).chain(others).collect(),
            host,
            servers,
        }
    }

    fn members(&self) -> Vec<Arc<dyn GroupMember>> {
        let open = |context| ShmCollectives.open("group1", context).unwrap();
        self.contexts.iter().map(open).collect()
    }
}

fn conform(size: usize) {
    let cluster = Cluster::new(size, "ring");
    AllReduceKeepsInput::set(&cluster.host, size.is_multiple_of(2));
    let members = cluster.members();
    let outcomes: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = members
            .iter()
            .map(|member| {
                scope.spawn(|| {
                    conformance::run(&cluster.host, &**member, Extent::from_environment())
                })
            })
            .collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    for outcome in outcomes {
        assert!(outcome.unwrap() > 500);
    }
    drop(members);
    // A task that has told an outcome, and the thread of a connection, may refer to a member a
    // moment longer.
    let deadline = Instant::now() + Duration::from_secs(60);
    for context in &cluster.contexts {
        let rendezvous = context.rendezvous();
        while !rendezvous.is_empty() {
            assert!(Instant::now() < deadline, "{rendezvous:?}");
            thread::yield_now();
        }
    }
}

#[test]
fn shared_memory_conforms() {
    for size in 1..=8 {
        conform(size);
    }
}

fn tensor(len: usize) -> DenseHostTensor {
    DenseHostTensor::vector(&vec![1.0_f32; len]).unwrap()
}

#[test]
fn a_message_may_be_larger_than_a_segment() {
    let cluster = Cluster::new(3, "ring");
    let members = cluster.members();
    // Several times 4 MiB, in both phases and directions at once.
    let len = (20 << 20) / 4 + 1;
    let tensors: Vec<_> = members.iter().map(|_| tensor(len)).collect();
    let chains: Vec<_> = members
        .iter()
        .zip(&tensors)
        .flat_map(|(member, tensor)| {
            let right = (member.index() + 1) % 3;
            [
                member
                    .all_reduce("k", Reduction::Sum, tensor.clone(), tensor.clone())
                    .into(),
                member
                    .send(
                        "k",
                        right,
                        &DenseHostTensor::vector(&vec![2_u8; 20 << 20]).unwrap(),
                    )
                    .into(),
                member.recv("k", (member.index() + 2) % 3).into(),
            ]
        })
        .collect();
    cluster.host.await_values(&chains).unwrap();
    for tensor in &tensors {
        assert!(
            tensor
                .elements::<f32>()
                .unwrap()
                .iter()
                .all(|sum| *sum == 3.0)
        );
    }
}

#[test]
fn a_member_that_leaves_ends_the_operations_of_the_others() {
    let cluster = Cluster::new(3, "ring");
    let mut members = cluster.members();
    // All are connected.
    let met: Vec<_> = members
        .iter()
        .map(|member| member.barrier("b").into())
        .collect();
    cluster.host.await_values(&met).unwrap();
    let gone = members.remove(1);
    let pending: Vec<_> = members
        .iter()
        .map(|member| member.all_reduce("k", Reduction::Sum, tensor(7), tensor(7)))
        .collect();
    drop(gone);
    for chain in pending {
        let error = cluster.host.await_values(&[chain.into()]).unwrap_err();
        assert_eq!(
            error.message(),
            "the connection to task /job:worker/task:1 has ended: the member has closed it"
        );
    }
    // Later operations fail at once; what two others do between them goes on.
    let later = members[0].barrier("later");
    assert!(cluster.host.await_values(&[later.into()]).is_err());
    let sent = members[0].send("t", 2, &tensor(3));
    let received = members[1].recv("t", 0);
    cluster
        .host
        .await_values(&[sent.into(), received.into()])
        .unwrap();
}

#[test]
fn collectives_of_a_context_go_through_the_chosen_back_end() {
    assert!(BackEnd::find("shm").is_some());
    let cluster = Cluster::new(2, "shm");
    let tensors = [tensor(5), tensor(5)];
    let (sender, ended) = channel();
    for (context, tensor) in cluster.contexts.iter().zip(&tensors) {
        let collective = Collective {
            context: Arc::clone(context),
            group: "group1".to_owned(),
            key: "k".to_owned(),
        };
        let sender = sender.clone();
        let done = move |outcome| sender.send(outcome).unwrap();
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor.clone(),
            done,
        );
    }
    for _ in 0..2 {
        ended.recv().unwrap().unwrap();
    }
    for tensor in &tensors {
        assert_eq!(*tensor.elements::<f32>().unwrap(), [2.0; 5]);
    }
    // The context has opened the group.
    for context in &cluster.contexts {
        let error = ShmCollectives.open("group1", context).unwrap_err();
        assert_eq!(error.message(), "group group1 is open already");
    }
    drop(cluster.servers);
    let closed = ShmCollectives.open("group1", &cluster.contexts[0]).unwrap();
    let outcome = cluster.host.await_values(&[closed.barrier("b").into()]);
    let error = outcome.unwrap_err();
    assert!(error.message().contains("context 1 is closed"), "{error}");
}

#[test]
fn other_addresses_go_around_the_ring() {
    // Addresses inside a process are none of the machine's.
    let cluster = Cluster::new(2, AUTO);
    assert!(!cluster.contexts[0].is_on_this_machine("group1"));
    let open = |context| ShmCollectives.open("group1", context);
    let (sender, ended) = channel();
    for context in &cluster.contexts {
        let collective = Collective {
            context: Arc::clone(context),
            group: "group1".to_owned(),
            key: "k".to_owned(),
        };
        let sender = sender.clone();
        let done = move |outcome| sender.send(outcome).unwrap();
        all_reduce(collective, Reduction::Sum, tensor(5), tensor(5), done);
    }
    for _ in 0..2 {
        ended.recv().unwrap().unwrap();
    }
    assert!(open(&cluster.contexts[0]).is_ok(), "it was not open");
}
