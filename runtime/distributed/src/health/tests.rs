use std::sync::mpsc::channel;
use std::time::Instant;

use tfrt_support::Error;

use super::*;
use crate::collective::{Collective, Reduction, all_reduce};
use crate::fabric::CallOptions;
use crate::fabric::in_process::InProcessNetwork;
use crate::message::{DistributedContextConfiguration, KeepAliveRequest, RemoteExecuteRequest};
use crate::payload::Payload;
use crate::server::{RequestGate, Server, ServerConfig};
use crate::testing::{finish, host, started, wait};

/// Short enough for a test, and long enough for a busy machine: loss comes after it, and nothing is
/// measured.
const TIMEOUT: Duration = Duration::from_secs(5);

struct Cluster {
    network: InProcessNetwork,
    addresses: Vec<String>,
    hosts: Vec<Arc<tfrt_host::HostContext>>,
    servers: Vec<Arc<Server>>,
    contexts: Vec<Arc<DistributedContext>>,
}

/// Tasks with a host each, which take another one for lost after [`TIMEOUT`].
fn cluster(num_tasks: usize) -> Cluster {
    let network = InProcessNetwork::default();
    let addresses: Vec<String> = (0..num_tasks).map(|_| network.free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let hosts: Vec<_> = (0..num_tasks).map(|_| host("mstd:2")).collect();
    let start = |(host, address): (&Arc<tfrt_host::HostContext>, &String)| {
        let config = ServerConfig {
            failure_timeout: TIMEOUT,
            gate: Some(RequestGate::new()),
            ..ServerConfig::new("test", address)
        };
        Server::on_network(host, config, |handler| {
            network.listen(host, address, handler)
        })
        .unwrap()
    };
    let servers: Vec<_> = hosts.iter().zip(&addresses).map(start).collect();
    let first = finish(&hosts[0], |done| {
        servers[0].initialize_single_client(Some(1), &configs[0], done);
    });
    let others = servers[1..].iter().map(|server| server.context(1).unwrap());
    let contexts: Vec<_> = std::iter::once(first.unwrap()).chain(others).collect();
    let cluster = Cluster {
        network,
        addresses,
        hosts,
        servers,
        contexts,
    };
    cluster.wait_until(|| cluster.contexts.iter().all(knows_everybody));
    cluster
}

fn knows_everybody(context: &Arc<DistributedContext>) -> bool {
    let detector = context.lock_detector();
    let detector = detector.as_ref().expect("it was started");
    detector.knows_everybody()
}

impl Cluster {
    fn wait_until(&self, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_so() {
            assert!(
                Instant::now() < deadline,
                "it did not come to that within a minute"
            );
            std::thread::yield_now();
        }
    }

    fn task(&self, of: usize, number: i32) -> TaskHandle {
        self.contexts[of]
            .cluster()
            .find_task("worker", number)
            .unwrap()
    }

    fn cut(&self, task: usize) {
        self.network.cut(&self.addresses[task]);
    }
}

fn receive(
    context: &Arc<DistributedContext>,
    from: TaskHandle,
    key: &str,
) -> std::sync::mpsc::Receiver<Result<(), Error>> {
    let (sender, received) = channel();
    let receiver = move |payload: Result<Payload, Error>| sender.send(payload.map(|_| ())).unwrap();
    context.receive(from, key, Box::new(receiver));
    received
}

#[test]
fn what_waits_for_a_lost_task_ends_and_the_rest_goes_on() {
    let cluster = cluster(3);
    let context = &cluster.contexts[0];
    let (lost, alive) = (cluster.task(0, 2), cluster.task(0, 1));
    let from_lost = receive(context, lost, "a");
    let from_alive = receive(context, alive, "b");
    cluster.cut(2);
    let error = wait(&cluster.hosts[0], &from_lost).unwrap_err();
    let text = error.message();
    assert!(
        text.starts_with("Unavailable: task /job:worker/task:2 is lost: "),
        "{text}"
    );
    assert!(text.contains("Heartbeat to in-process:"), "{text}");
    // Whoever comes later learns it at once.
    let later = receive(context, lost, "c").try_recv().unwrap().unwrap_err();
    assert_eq!(later.message(), text);
    let answer = finish(&cluster.hosts[0], |done| {
        context.call(
            lost,
            CallOptions::default(),
            KeepAliveRequest { context_id: 1 },
            done,
        );
    });
    let text = answer.unwrap_err().to_string();
    assert!(
        text.starts_with("RpcUnavailable: task /job:worker/task:2 is lost: "),
        "{text}"
    );
    assert!(text.ends_with(" (from task: /job:worker/task:2)"), "{text}");
    // The other task is not concerned.
    assert!(from_alive.try_recv().is_err());
    context
        .rendezvous()
        .send("b", Payload::new(vec![]))
        .unwrap();
    assert!(from_alive.try_recv().unwrap().is_ok());
}

#[test]
fn a_request_ends_with_the_task_that_has_it() {
    let cluster = cluster(2);
    let context = &cluster.contexts[0];
    let lost = cluster.task(0, 1);
    let request = RemoteExecuteRequest {
        context_id: 1,
        program_name: "f".to_owned(),
        ..RemoteExecuteRequest::default()
    };
    // The gate of the task holds it for ever.
    let answer = started(|done| context.call(lost, CallOptions::default(), request, done));
    cluster.hosts[1].quiesce().unwrap();
    cluster.cut(1);
    let text = wait(&cluster.hosts[0], &answer).unwrap_err().to_string();
    assert!(
        text.starts_with("RpcUnavailable: task /job:worker/task:1 is lost: "),
        "{text}"
    );
}

#[test]
fn a_lost_task_is_not_taken_for_a_closed_context_whatever_the_cause() {
    let cluster = cluster(2);
    let context = &cluster.contexts[0];
    let lost = cluster.task(0, 1);
    let request = RemoteExecuteRequest {
        context_id: 1,
        program_name: "f".to_owned(),
        ..RemoteExecuteRequest::default()
    };
    let call = || {
        let request = request.clone();
        started(|done| context.call(lost, CallOptions::default(), request, done))
    };
    // The gate of the task holds it for ever.
    let under_way = call();
    // The code of the error of a closed context.
    let cause = RemoteError::new(ErrorCode::Cancelled, "gone");
    for callback in context.health().mark_lost(lost, cause) {
        callback();
    }
    for answer in [under_way, call()] {
        assert_eq!(
            wait(&cluster.hosts[0], &answer).unwrap_err().to_string(),
            "RpcUnavailable: gone (from task: /job:worker/task:1)"
        );
    }
}

#[test]
fn collectives_fail_on_every_member_that_is_left() {
    let cluster = cluster(3);
    let start = |member: usize| {
        let tensor = tfrt_tensor::DenseHostTensor::vector(&[1_i32, 2, 3]).unwrap();
        let collective = Collective {
            context: Arc::clone(&cluster.contexts[member]),
            group: "group1".to_owned(),
            key: "k".to_owned(),
        };
        let (sender, done) = channel();
        all_reduce(
            collective,
            Reduction::Sum,
            tensor.clone(),
            tensor,
            move |outcome| sender.send(outcome).unwrap(),
        );
        done
    };
    // The third member never starts.
    let under_way = [start(0), start(1)];
    cluster.cut(2);
    for (member, done) in under_way.iter().enumerate() {
        let text = wait(&cluster.hosts[member], done).unwrap_err().to_string();
        assert!(
            text.contains("task /job:worker/task:2 is lost") || text.contains("RpcUnavailable"),
            "{text}"
        );
    }
    // The group is of no use any more, once that is known.
    let context = &cluster.contexts[0];
    let third = context.cluster().find("/job:worker/task:2").unwrap();
    cluster.wait_until(|| context.health().lost(third).is_some());
    let error = wait(&cluster.hosts[0], &start(0)).unwrap_err();
    assert!(
        error.message().contains("task /job:worker/task:2 is lost"),
        "{error}"
    );
}

#[test]
fn a_context_ends_with_the_client_that_owns_it() {
    let cluster = cluster(3);
    cluster.cut(0);
    cluster.wait_until(|| {
        cluster.servers[1].context(1).is_err() && cluster.servers[2].context(1).is_err()
    });
    // The client itself lost everybody, and keeps its context.
    assert!(cluster.servers[0].context(1).is_ok());
}

#[test]
fn a_task_that_closed_its_context_is_lost() {
    let cluster = cluster(2);
    let from_closed = receive(&cluster.contexts[0], cluster.task(0, 1), "a");
    cluster.servers[1].close_context(1).unwrap();
    let error = wait(&cluster.hosts[0], &from_closed).unwrap_err();
    assert_eq!(
        error.message(),
        "Unavailable: task /job:worker/task:1 is lost: it closed context 1"
    );
}

#[test]
fn another_process_at_the_address_is_not_the_task() {
    let mut cluster = cluster(2);
    let from_gone = receive(&cluster.contexts[0], cluster.task(0, 1), "a");
    let config = cluster.contexts[1].config().clone();
    cluster.contexts.truncate(1);
    // A request under way would keep a dropped server at its address.
    cluster.servers[1].shut_down();
    cluster.servers.truncate(1);
    let (host, address) = (&cluster.hosts[1], &cluster.addresses[1]);
    let next = Server::on_network(host, ServerConfig::new("test", address), |handler| {
        cluster.network.listen(host, address, handler)
    });
    let next = next.unwrap();
    next.create_context(1, &config).unwrap();
    let error = wait(&cluster.hosts[0], &from_gone).unwrap_err();
    let text = error.message();
    // A heartbeat may also have met the time between the two, when nobody listened.
    assert!(text.contains("task:1 is lost: "), "{text}");
}

#[test]
fn no_client_of_a_lost_task_is_made() {
    let mut cluster = cluster(2);
    let context = Arc::clone(&cluster.contexts[0]);
    let task = context.cluster().find_task("worker", 1).unwrap();
    assert!(context.has_client(task));
    cluster.contexts.pop();
    drop(cluster.servers.pop());
    cluster.wait_until(|| context.health().lost(task).is_some() && !context.has_client(task));
    // Longer than the pauses between attempts to hear it again.
    std::thread::sleep(TIMEOUT / 2);
    assert!(!context.has_client(task));
}

#[test]
fn a_task_with_busy_workers_is_not_lost() {
    let cluster = cluster(2);
    let (release, wait_here) = channel::<()>();
    let wait_here = Arc::new(Mutex::new(wait_here));
    // Both workers of the queue are blocked.
    for _ in 0..2 {
        let wait_here = Arc::clone(&wait_here);
        cluster.hosts[1].queue().add_task(Task::new(move || {
            let _ = wait_here.lock().unwrap().recv();
        }));
    }
    let (_sender, lost) = channel::<()>();
    assert!(lost.recv_timeout(TIMEOUT * 2).is_err());
    assert!(
        cluster.contexts[0]
            .health()
            .lost(cluster.task(0, 1))
            .is_none()
    );
    drop(release);
}

#[test]
fn a_watch_that_is_dropped_is_not_called() {
    let health = Arc::new(Health::default());
    let (sender, lost) = channel::<PeerEnd>();
    drop(health.watch(TaskHandle::NONE, move |end| sender.send(end).unwrap()));
    assert_eq!(health.num_watches(), 0);
    let error = RemoteError::new(ErrorCode::Unavailable, "x");
    assert_eq!(health.mark_lost(TaskHandle::NONE, error.clone()).len(), 0);
    assert!(lost.try_recv().is_err());
    // Lost once, lost for good: the first cause stays.
    let other = RemoteError::new(ErrorCode::Unavailable, "y");
    assert_eq!(health.mark_lost(TaskHandle::NONE, other).len(), 0);
    assert_eq!(health.lost(TaskHandle::NONE), Some(error));
}
