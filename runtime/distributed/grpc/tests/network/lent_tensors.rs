//! Tensors of collectives are sent from where they are, and belong to the program again at the end.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tfrt_async::AnyRef;
use tfrt_distributed::collective::{Collectives, GroupMember, Reduction, RingCollectives};
use tfrt_distributed::message::DistributedContextConfiguration;
use tfrt_distributed::{Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME};
use tfrt_host::HostContext;
use tfrt_tensor::DenseHostTensor;

use super::proxy::Proxy;
use super::{MINUTE, free_address, host};

/// Three members of a group, each with a server of its own.
struct Members {
    host: Arc<HostContext>,
    servers: Vec<Arc<Server>>,
    members: Vec<Arc<dyn GroupMember>>,
}

impl Members {
    fn new() -> Self {
        let host = host();
        let addresses: Vec<String> = (0..3).map(|_| free_address()).collect();
        let configs = DistributedContextConfiguration::local_cluster(&addresses);
        let start = |address| Server::new(&host, ServerConfig::new(TYPE_NAME, address)).unwrap();
        let servers: Vec<_> = addresses.iter().map(start).collect();
        let (sender, done) = channel();
        servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
            sender.send(outcome).unwrap();
        });
        done.recv_timeout(MINUTE).unwrap().unwrap();
        let members = servers.iter().map(open).collect();
        Self {
            host,
            servers,
            members,
        }
    }

    /// Waits until the operation of every member has ended, and returns which ones succeeded. The
    /// tensors are written at once, as far as nobody reads them.
    fn end(&self, started: &[AnyRef], tensors: &mut [DenseHostTensor]) -> Vec<bool> {
        let outcomes = started.iter().zip(tensors).map(|(started, tensor)| {
            let available = self.host.await_available(std::slice::from_ref(started));
            assert_eq!(available, Ok(()));
            let mut elements = tensor
                .elements_mut::<f32>()
                .expect("the operation has given the tensor back");
            elements.fill(1.0);
            !started.is_error()
        });
        outcomes.collect()
    }
}

fn open(server: &Arc<Server>) -> Arc<dyn GroupMember> {
    let context = server.context(7).unwrap();
    RingCollectives.open("group1", &context).unwrap()
}

fn ones(len: usize) -> Vec<DenseHostTensor> {
    let tensor = || DenseHostTensor::vector(&vec![1.0_f32; len]).unwrap();
    (0..3).map(|_| tensor()).collect()
}

/// Messages of up to 64 KiB, of one frame, and of several frames and segments.
const LENS: [usize; 3] = [1_000, 100_000, 4_000_000];

#[test]
fn tensors_can_be_written_as_soon_as_a_collective_has_succeeded() {
    let cluster = Members::new();
    for len in LENS {
        let mut tensors = ones(len);
        for round in 0..20 {
            let members = cluster.members.iter().zip(&tensors).enumerate();
            let started = members.map(|(index, (member, tensor))| {
                let key = format!("{len} {round}");
                let tensor = tensor.clone();
                let started: AnyRef = match round % 4 {
                    0 => member
                        .all_reduce(&key, Reduction::Sum, tensor.clone(), tensor)
                        .into(),
                    1 => member.broadcast(&key, tensor, round % 3).into(),
                    2 => {
                        let all = DenseHostTensor::vector(&vec![0.0_f32; 3 * len]).unwrap();
                        member.all_gather(&key, tensor, all, 0).into()
                    }
                    _ => {
                        let own = len / 3 + usize::from(index < len % 3);
                        let own = DenseHostTensor::vector(&vec![0.0_f32; own]).unwrap();
                        member
                            .reduce_scatter(&key, Reduction::Max, tensor, own)
                            .into()
                    }
                };
                started
            });
            let started: Vec<AnyRef> = started.collect();
            assert_eq!(
                cluster.end(&started, &mut tensors),
                [true; 3],
                "{len} {round}"
            );
        }
    }
}

#[test]
fn tensors_can_be_written_as_soon_as_a_collective_has_failed() {
    let cluster = Members::new();
    for len in LENS {
        for round in 0..6 {
            let mut tensors = ones(len);
            // One member has another function or another size.
            let started = cluster.members.iter().zip(&tensors).enumerate();
            let started = started.map(|(index, (member, tensor))| {
                let key = format!("{len} {round}");
                let tensor = tensor.clone();
                let started: AnyRef = match (index == round % 3, round < 3) {
                    (true, true) => member
                        .all_reduce(&key, Reduction::Min, tensor.clone(), tensor)
                        .into(),
                    (true, false) => {
                        let other = DenseHostTensor::vector(&vec![1.0_f32; len + 1]).unwrap();
                        member
                            .all_reduce(&key, Reduction::Sum, other.clone(), other)
                            .into()
                    }
                    _ => member
                        .all_reduce(&key, Reduction::Sum, tensor.clone(), tensor)
                        .into(),
                };
                started
            });
            let started: Vec<AnyRef> = started.collect();
            let outcomes = cluster.end(&started, &mut tensors);
            assert!(outcomes.contains(&false), "{len} {round}");
        }
    }
}

#[test]
fn tensors_can_be_written_as_soon_as_a_member_is_lost() {
    for len in LENS {
        let mut cluster = Members::new();
        let mut tensors = ones(len);
        let alive = cluster.members.iter().zip(&tensors).take(2);
        let started = alive.map(|(member, tensor)| {
            let tensor = tensor.clone();
            member
                .all_reduce("key", Reduction::Sum, tensor.clone(), tensor)
                .into()
        });
        let started: Vec<AnyRef> = started.collect();
        cluster.members.pop();
        drop(cluster.servers.pop());
        let outcomes = cluster.end(&started, &mut tensors);
        assert_eq!(outcomes, [false; 2], "{len}");
    }
}

#[test]
fn tensors_are_given_back_when_a_member_is_lost_whose_connections_stay_open() {
    let host = host();
    let addresses = [free_address(), free_address(), free_address()];
    // The transport itself notices nothing.
    let network = GrpcNetwork::new(GrpcOptions {
        keepalive_interval: Duration::from_secs(3600),
        ..GrpcOptions::default()
    });
    let servers = addresses.each_ref().map(|address| {
        let config = ServerConfig {
            failure_timeout: Duration::from_secs(2),
            ..ServerConfig::new(TYPE_NAME, address)
        };
        let listen = |handler| network.listen(&host, address, handler);
        Server::on_network(&host, config, listen).unwrap()
    });
    let proxy = Proxy::to(&addresses[2]);
    let known = [&addresses[0], &addresses[1], &proxy.address].map(String::clone);
    let configs = DistributedContextConfiguration::local_cluster(&known);
    let (sender, done) = channel();
    servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap();
    });
    done.recv_timeout(MINUTE).unwrap().unwrap();
    let cluster = Members {
        host,
        members: servers.iter().map(open).collect(),
        servers: servers.to_vec(),
    };
    let start = |key: &str, tensors: &[DenseHostTensor]| -> Vec<AnyRef> {
        let members = cluster.members.iter().zip(tensors);
        let started = members.map(|(member, tensor)| {
            let tensor = tensor.clone();
            let reduced = member.all_reduce(key, Reduction::Sum, tensor.clone(), tensor);
            reduced.into()
        });
        started.collect()
    };
    let mut tensors = ones(4_000_000);
    let started = start("first", &tensors);
    assert_eq!(cluster.end(&started, &mut tensors), [true; 3]);
    proxy.freeze();
    let started = start("second", &tensors[..2]);
    let end = Instant::now() + MINUTE;
    while !started.iter().all(AnyRef::is_available) {
        assert!(Instant::now() < end, "the tensors stay with the lost task");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(cluster.end(&started, &mut tensors), [false; 2]);
}
