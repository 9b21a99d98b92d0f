//! The end of contexts: who ends them, and what is left in them.

use super::*;

#[test]
fn contexts_without_accesses_are_collected() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("mstd:2");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let with_timeout = |address: &String, gc_timeout| {
        let config = ServerConfig {
            gc_timeout,
            // A heartbeat would find the context gone, and the task would be lost.
            failure_timeout: Duration::from_secs(3600),
            ..ServerConfig::new("test", address.as_str())
        };
        Server::on_network(&host, config, |handler| {
            network.listen(&host, address, handler)
        })
        .unwrap()
    };
    let client = with_timeout(&addresses[0], Duration::from_secs(600));
    let worker = with_timeout(&addresses[1], Duration::from_millis(2));
    let context = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    })
    .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    // Looking for the context would be an access.
    let task = context.cluster().find("/job:worker/task:1").unwrap();
    let held = worker
        .context(1)
        .map(|context| context.objects().get(&crate::RemoteObjectId::none()));
    if let Ok(held) = held {
        while !held.is_error() {
            assert!(Instant::now() < deadline, "it stays");
            std::thread::yield_now();
        }
    }
    let outcome = finish(&host, |done| {
        let request = KeepAliveRequest { context_id: 1 };
        context.call(task, CallOptions::default(), request, done);
    });
    assert_eq!(
        outcome.unwrap_err().code(),
        ErrorCode::InvalidDistributedContextId
    );
    // Accesses to the context of the client itself are not tracked.
    assert!(client.context(1).is_ok());
}

#[test]
fn a_closed_context_ends_its_requests_to_others() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("mstd:2");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let start = |address: &String, drain_timeout: Duration| {
        let config = ServerConfig {
            drain_timeout,
            ..ServerConfig::new("test", address.as_str())
        };
        let listen = |handler| network.listen(&host, address, handler);
        Server::on_network(&host, config, listen).unwrap()
    };
    let client = start(&addresses[0], Duration::from_millis(1));
    let worker = start(&addresses[1], Duration::from_secs(3600));
    let own = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    });
    let (own, other) = (own.unwrap(), worker.context(1).unwrap());
    let task = own.cluster().find("/job:worker/task:1").unwrap();
    let object = other.objects().allocate("/job:worker/task:1/device:CPU:0");
    let fetch = || {
        let request = FetchObjectRequest {
            context_id: 1,
            object: Some((&object).into()),
            receiver: own.cluster().own_name(),
            instance_key: "k".to_owned(),
        };
        started(|done| own.call(task, CallOptions::default(), request, done))
    };
    // Nobody sets the object.
    let before = fetch();
    host.quiesce().unwrap();
    assert!(before.try_recv().is_err());
    client.close_context(1).unwrap();
    let closed = "Cancelled: context 1 is closed";
    // Later requests end immediately, and those under way with the drain.
    let error = fetch().try_recv().unwrap().unwrap_err();
    assert_eq!(error.to_string(), closed);
    let error = wait(&host, &before).unwrap_err();
    assert_eq!(error.to_string(), closed);
    // The loss of a task is not the reason.
    assert!(own.health().lost(task).is_none());
}

#[test]
fn answers_under_way_arrive_in_a_closed_context() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let own = &contexts[0];
    let task = own.cluster().find("/job:worker/task:1").unwrap();
    let request = KeepAliveRequest { context_id: 1 };
    // The queue runs nothing until somebody waits.
    let answer = started(|done| own.call(task, CallOptions::default(), request, done));
    cluster.servers[0].close_context(1).unwrap();
    assert!(answer.try_recv().is_err());
    assert!(wait(&cluster.host, &answer).is_ok());
}

#[test]
fn what_is_left_in_a_context_is_counted() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let (own, other) = (&contexts[0], &contexts[1]);
    assert!(own.leftovers().is_empty(), "{}", own.leftovers());
    let id = own.objects().allocate("/job:worker/task:0/device:CPU:0");
    own.objects().set(&id, AnyRef::available(1_i32)).unwrap();
    let task = own.cluster().find("/job:worker/task:1").unwrap();
    own.receive(task, "never", Box::new(|_| ()));
    let payload = || crate::Payload::new(Vec::new());
    own.rendezvous().send("unclaimed", payload()).unwrap();
    own.rendezvous().send("another", payload()).unwrap();
    let text =
        "2 unclaimed payloads, 1 receiver without a payload and 1 object that was not deleted";
    assert_eq!(own.leftovers().to_string(), text);
    // What a member of a group waits for in any case is not counted.
    let member =
        crate::collective::Collectives::open(&crate::collective::RingCollectives, "group1", other);
    assert!(!other.rendezvous().is_empty());
    assert!(other.leftovers().is_empty(), "{}", other.leftovers());
    drop(member);
    // Other tasks are told the same.
    let load = finish(&cluster.host, |done| {
        let request = crate::message::GetDevicesRequest {};
        let own_task = own.cluster().own_task();
        own.call(own_task, CallOptions::default(), request, done);
    });
    let load = load.unwrap().load.unwrap();
    assert_eq!((load.num_unclaimed, load.num_unserved), (2, 1));
}

/// Notes which requests arrive.
struct Noting {
    server: Arc<Server>,
    methods: std::sync::Mutex<Vec<Method>>,
}

impl RequestHandler for Noting {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        self.methods.lock().unwrap().push(request.method());
        Arc::clone(&self.server).handle(request, reply);
    }
}

#[test]
fn objects_are_deleted_before_their_context_is_closed() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("s");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let client = server(&host, &network, &addresses[0]);
    let worker = Arc::new(Noting {
        server: server(&host, &network, "elsewhere"),
        methods: std::sync::Mutex::default(),
    });
    let handler: Arc<dyn RequestHandler> = Arc::clone(&worker) as _;
    let _listening = network
        .listen(&host, &addresses[1], Arc::downgrade(&handler))
        .unwrap();
    let context = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    });
    let context = context.unwrap();
    let id = context.new_object("/job:worker/task:1/device:CPU:0");
    let theirs = worker.server.context(1).unwrap();
    // As the other task knows it.
    let known = crate::RemoteObjectId::new(id.prefix(), id.local(), id.device());
    theirs
        .objects()
        .set(&known, AnyRef::available(1_i32))
        .unwrap();
    assert_eq!(theirs.leftovers().num_objects, 1);
    drop(id);
    let closed = finish(&host, |done| context.close_remote_contexts(done));
    assert_eq!(closed, Ok(()));
    let methods = worker.methods.lock().unwrap();
    let last = [Method::DeleteRemoteObjects, Method::CloseContext];
    assert_eq!(methods[methods.len() - 2..], last);
}

/// Answers no request to delete objects.
struct Withholding {
    server: Arc<Server>,
    withheld: std::sync::Mutex<Vec<Reply<Response>>>,
}

impl RequestHandler for Withholding {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        match request.method() {
            Method::DeleteRemoteObjects => self.withheld.lock().unwrap().push(reply),
            _ => Arc::clone(&self.server).handle(request, reply),
        }
    }
}

#[test]
fn a_task_that_does_not_answer_keeps_no_other_context_open() {
    no_other_context_is_kept_open(1);
}

#[test]
fn a_context_is_closed_after_requests_to_delete_objects_that_are_under_way() {
    // So many are not waited with.
    no_other_context_is_kept_open(64);
}

fn no_other_context_is_kept_open(num_objects: usize) {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("s");
    let addresses = [0; 3].map(|_| network.free_address());
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let client = server(&host, &network, &addresses[0]);
    let silent = Arc::new(Withholding {
        server: server(&host, &network, "elsewhere"),
        withheld: std::sync::Mutex::default(),
    });
    let handler: Arc<dyn RequestHandler> = Arc::clone(&silent) as _;
    let _listening = network
        .listen(&host, &addresses[1], Arc::downgrade(&handler))
        .unwrap();
    let other = server(&host, &network, &addresses[2]);
    let context = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    });
    let context = context.unwrap();
    let new_object = |_| context.new_object("/job:worker/task:1/device:CPU:0");
    let objects: Vec<crate::RemoteObjectId> = (0..num_objects).map(new_object).collect();
    drop(objects);
    let closed = started(|done| context.close_remote_contexts(done));
    host.quiesce().unwrap();
    assert!(other.context(1).is_err(), "it is closed");
    assert!(silent.server.context(1).is_ok(), "its objects come first");
    assert!(closed.try_recv().is_err());
    let withheld = std::mem::take(&mut *silent.withheld.lock().unwrap());
    assert_eq!(withheld.len(), 1);
    drop(withheld);
    assert_eq!(wait(&host, &closed), Ok(()));
    assert!(silent.server.context(1).is_err());
}

/// Counts what keeps a task's contexts alive.
struct Counting {
    server: Arc<Server>,
    num_keep_alives: AtomicUsize,
}

impl RequestHandler for Counting {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        if matches!(request, Request::KeepAlive(_)) {
            // Relaxed: a counter that orders nothing.
            self.num_keep_alives.fetch_add(1, Ordering::Relaxed);
        }
        Arc::clone(&self.server).handle(request, reply);
    }
}

#[test]
fn contexts_of_other_tasks_are_kept_alive_until_they_are_closed() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("mstd:2");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let config = ServerConfig {
        gc_timeout: Duration::from_millis(2),
        failure_timeout: Duration::from_secs(3600),
        ..ServerConfig::new("test", addresses[0].as_str())
    };
    let client = Server::on_network(&host, config, |handler| {
        network.listen(&host, &addresses[0], handler)
    })
    .unwrap();
    let worker = Arc::new(Counting {
        server: server(&host, &network, "elsewhere"),
        num_keep_alives: AtomicUsize::new(0),
    });
    let handler: Arc<dyn RequestHandler> = Arc::clone(&worker) as _;
    let _listening = network
        .listen(&host, &addresses[1], Arc::downgrade(&handler))
        .unwrap();
    let context = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    })
    .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while worker.num_keep_alives.load(Ordering::Relaxed) < 3 {
        assert!(Instant::now() < deadline, "nothing keeps the context alive");
        std::thread::yield_now();
    }
    let closed = finish(&host, |done| context.close_remote_contexts(done));
    assert_eq!(closed, Ok(()));
    assert!(worker.server.context(1).is_err());
}
