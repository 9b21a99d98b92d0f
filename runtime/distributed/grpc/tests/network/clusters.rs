//! Clusters whose tasks start, wait for each other, and are lost.

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tfrt_distributed::message::{
    DistributedContextConfiguration, GetDevicesRequest, KeepAliveResponse,
};
use tfrt_distributed::name::TaskName;
use tfrt_distributed::{Server, ServerConfig};
use tfrt_grpc::{GrpcNetwork, GrpcOptions, TYPE_NAME};

use super::proxy::Proxy;
use super::{MINUTE, call, fake, free_address, host, ping, text};

#[test]
fn a_cluster_initializes_while_its_tasks_start() {
    let host = host();
    let addresses: Vec<String> = (0..3).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start =
        |address: &String| Server::new(&host, ServerConfig::new(TYPE_NAME, address)).unwrap();
    let client = start(&addresses[0]);
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    assert!(done.recv_timeout(Duration::from_millis(50)).is_err());
    let workers = [start(&addresses[1]), start(&addresses[2])];
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    for task in 0..3 {
        let device = format!("/job:worker/task:{task}/device:CPU:0");
        for context in [
            &context,
            &workers[0].context(7).unwrap(),
            &workers[1].context(7).unwrap(),
        ] {
            assert!(context.devices().get(&device).is_some(), "{device}");
        }
    }
}

#[test]
fn a_task_of_another_name_gets_no_requests() {
    let host = host();
    let addresses = [free_address(), free_address(), free_address()];
    // Two workers have each other's addresses.
    let names = [0, 2, 1].map(|number| TaskName::new("worker", number));
    let servers = [0, 1, 2].map(|index| {
        let config = ServerConfig {
            task: Some(names[index].clone()),
            ..ServerConfig::new(TYPE_NAME, &addresses[index])
        };
        Server::new(&host, config).unwrap()
    });
    let client = fake(&host, &GrpcOptions::default(), |_, _| ());
    let to = |name: &TaskName, address: &str| client.communicator.client_of(name, address);
    assert!(call(&*to(&names[1], &addresses[1]), GetDevicesRequest {}).is_ok());
    let others = call(&*to(&names[2], &addresses[1]), GetDevicesRequest {});
    let expected = |(name, address): (&TaskName, &String), found: &TaskName| {
        format!("RpcUnknown: GetDevices to {address}: expected the task `{name}`, found `{found}`")
    };
    let of_first = expected((&names[2], &addresses[1]), &names[1]);
    assert_eq!(text(others), of_first);
    // Whoever knows no name, or whose name nobody knows, is not checked.
    let unchecked = client.communicator.client(&addresses[1]);
    assert!(call(&*unchecked, GetDevicesRequest {}).is_ok());
    let unnamed = fake(&host, &GrpcOptions::default(), |_, reply| {
        reply.send(Ok(KeepAliveResponse {}.into()));
    });
    assert!(call(&*to(&names[1], unnamed.communicator.address()), ping()).is_ok());
    // A cluster is not initialized, and says why without trying again.
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let (sender, done) = channel();
    servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome.map(drop)).unwrap();
    });
    let errors = text(done.recv_timeout(MINUTE).unwrap());
    assert!(errors.contains(&of_first), "{errors}");
    assert!(servers.iter().all(|server| server.context(7).is_err()));
}

#[test]
fn receivers_and_replies_run_on_workers() {
    let host = host();
    let addresses: Vec<String> = (0..2).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start =
        |address: &String| Server::new(&host, ServerConfig::new(TYPE_NAME, address)).unwrap();
    let (client, worker) = (start(&addresses[0]), start(&addresses[1]));
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let here = done.recv_timeout(MINUTE).unwrap().unwrap();
    let there = worker.context(7).unwrap();
    let task = |number| here.cluster().find_task("worker", number).unwrap();
    let is_on_network = || {
        let thread = std::thread::current();
        thread
            .name()
            .is_some_and(|name| name.starts_with("tfrt-grpc"))
    };
    for index in 0..100 {
        let (key, size) = (format!("k{index}"), [8, 200 << 10][index % 2]);
        let (sender, outcomes) = channel();
        let replied = sender.clone();
        let receiver = move |payload: Result<tfrt_distributed::Payload, tfrt_support::Error>| {
            sender.send((payload.is_ok(), is_on_network())).unwrap();
        };
        there.receive(task(0), &key, Box::new(receiver));
        here.send_data(task(1), key, vec![vec![0; size].into()], move |answer| {
            replied.send((answer.is_ok(), is_on_network())).unwrap();
        });
        for _ in 0..2 {
            assert_eq!(outcomes.recv_timeout(MINUTE), Ok((true, false)));
        }
    }
}

#[test]
fn errors_of_tasks_arrive_with_their_types() {
    let host = host();
    let address = free_address();
    let server = Server::new(&host, ServerConfig::new(TYPE_NAME, &address)).unwrap();
    let network = GrpcNetwork::new(GrpcOptions::default());
    let nobody: std::sync::Weak<Server> = std::sync::Weak::new();
    let communicator = network.listen(&host, "127.0.0.1:0", nobody).unwrap();
    let client = communicator.client(&address);
    assert!(call(&*client, GetDevicesRequest {}).is_ok());
    let answer = call(&*client, ping());
    assert_eq!(
        text(answer),
        "InvalidDistributedContextId: Context with id 1 does not exist."
    );
    drop(server);
}

#[test]
fn a_task_that_goes_away_is_lost() {
    let host = host();
    let addresses: Vec<String> = (0..2).map(|_| free_address()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start = |address: &String| {
        let config = ServerConfig {
            failure_timeout: Duration::from_secs(1),
            ..ServerConfig::new(TYPE_NAME, address)
        };
        Server::new(&host, config).unwrap()
    };
    let (client, worker) = (start(&addresses[0]), start(&addresses[1]));
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let (sender, received) = channel();
    let task = context.cluster().find_task("worker", 1).unwrap();
    context.receive(
        task,
        "k",
        Box::new(move |payload| sender.send(payload.map(|_| ())).unwrap()),
    );
    drop(worker);
    let error = received.recv_timeout(MINUTE).unwrap().unwrap_err();
    let text = error.message();
    assert!(
        text.starts_with("Unavailable: task /job:worker/task:1 is lost: "),
        "{text}"
    );
}

#[test]
fn a_task_behind_a_half_open_connection_is_lost() {
    const TIMEOUT: Duration = Duration::from_secs(5);
    let host = host();
    let start = |address: &str| {
        let config = ServerConfig {
            failure_timeout: TIMEOUT,
            ..ServerConfig::new(TYPE_NAME, address)
        };
        Server::new(&host, config).unwrap()
    };
    let addresses = [free_address(), free_address()];
    let [client, worker] = addresses.each_ref().map(|address| start(address));
    // Each reaches the other one only through a proxy.
    let proxies = addresses.each_ref().map(|address| Proxy::to(address));
    let known = proxies.each_ref().map(|proxy| proxy.address.clone());
    let configs = DistributedContextConfiguration::local_cluster(&known);
    let (sender, done) = channel();
    client.initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap()
    });
    let context = done.recv_timeout(MINUTE).unwrap().unwrap();
    let task = context.cluster().find_task("worker", 1).unwrap();
    let receive = || {
        let (sender, received) = channel();
        let receiver = move |payload: Result<_, _>| {
            let _ = sender.send(payload.map(|_| ()));
        };
        context.receive(task, "k", Box::new(receiver));
        received
    };
    let received = receive();
    // Nobody closes a connection, and nothing arrives any more.
    proxies.iter().for_each(Proxy::freeze);
    let error = received.recv_timeout(MINUTE).unwrap().unwrap_err();
    let text = error.message();
    assert!(
        text.starts_with("Unavailable: task /job:worker/task:1 is lost: "),
        "{text}"
    );
    // The worker loses its client, and the context with it.
    let end = Instant::now() + MINUTE;
    let is_over =
        || worker.context(7).is_err() && proxies.iter().all(|proxy| proxy.num_open() == 0);
    while !is_over() {
        assert!(
            Instant::now() < end,
            "a connection to a lost task stays open"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}
