//! Initialization, contexts and errors, on clusters in this process.

mod callers;

mod closing;

mod joining;

mod orders;

mod producers;

pub(crate) mod seeds;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tfrt_async::AnyRef;
use tfrt_support::ErrorCode;

use crate::chain::RemoteChains;
use crate::fabric::in_process::{Faults, InProcessNetwork};
use crate::fabric::{self, CallOptions, CancelCall, Reply, RequestHandler};
use crate::message::{
    CloseContextRequest, CreateContextRequest, DeleteRemoteObjectsRequest,
    DistributedContextConfiguration, FetchObjectRequest, KeepAliveRequest, Method,
    RegisterFunctionRequest, RemoteExecuteRequest, RemoteObjectIdProto, RemoteOutput, Request,
    Response, SendDataRequest,
};
use crate::server::{Server, ServerConfig};
use crate::testing::{Cluster, finish, server, started, wait};

#[test]
fn a_single_client_knows_all_devices_and_chains() {
    for queue in ["s", "mstd:2"] {
        let cluster = Cluster::new(queue, 4);
        let contexts = cluster.contexts();
        for context in &contexts {
            let devices = context.devices().to_messages();
            let names: Vec<&str> = devices.iter().map(|device| &*device.name).collect();
            for task in 0..4 {
                let name = format!("/job:worker/task:{task}/device:CPU:0");
                assert!(names.contains(&&*name), "{names:?}");
            }
            assert!(devices.iter().all(|device| device.r#type == "remote_cpu"));
            let device = context.devices().find(names[0]).unwrap();
            assert!(context.cluster().task(device.task()).is_ok());
        }
        let chains = RemoteChains::new(&contexts[0]);
        for (index, context) in contexts.iter().enumerate() {
            let name = format!("/job:worker/task:{index}");
            let task = contexts[0].cluster().find(&name).unwrap();
            let chain = chains.get(task).unwrap();
            assert_eq!(&chain, context.own_ready_chain());
            assert!(context.objects().get(&chain).is_concrete());
            assert_eq!(chain.local(), 1);
        }
        let error = chains.get(crate::TaskHandle::NONE).unwrap_err();
        assert_eq!(error.message, "No remote chain for task task_handle[0].");
    }
}

#[test]
fn workers_may_start_later() {
    let cluster = Cluster::new("mstd:2", 2);
    let address = cluster.configs[1].own_address().unwrap().to_owned();
    let mut cluster = cluster;
    drop(cluster.servers.remove(1));
    let done = started(|done| {
        cluster.servers[0].initialize_single_client(None, &cluster.configs[0], done);
    });
    assert!(done.recv_timeout(Duration::from_millis(5)).is_err());
    let late = server(&cluster.host, &cluster.network, &address);
    let context = wait(&cluster.host, &done).unwrap();
    assert!(late.context(context.id()).is_ok());
}

#[test]
fn a_failed_initialization_leaves_no_context() {
    let cluster = Cluster::new("s", 3);
    let taken = cluster.servers[2].create_context(5, &cluster.configs[2]);
    assert!(taken.is_ok());
    let errors = finish(&cluster.host, |done| {
        cluster.servers[0].initialize_single_client(Some(5), &cluster.configs[0], done);
    })
    .unwrap_err();
    assert_eq!(
        errors.to_string(),
        "DistributedContextAlreadyExists: Failed to create DistributedContext: the context with \
         id <5> already exists."
    );
    cluster.host.quiesce().unwrap();
    let has_context = |server: &Arc<Server>| server.context(5).is_ok();
    let left: Vec<bool> = cluster.servers.iter().map(has_context).collect();
    assert_eq!(left, [false, false, true]);
}

#[test]
fn contexts_are_known_by_their_ids() {
    let cluster = Cluster::new("s", 1);
    let server = &cluster.servers[0];
    server.create_context(3, &cluster.configs[0]).unwrap();
    let error = server.create_context(3, &cluster.configs[0]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Unknown: Failed to create DistributedContext: context ID 3 already exists!"
    );
    let error = server.context(4).unwrap_err();
    assert_eq!(
        error.to_string(),
        "InvalidDistributedContextId: Context with id 4 does not exist."
    );
    server.close_context(3).unwrap();
    assert!(server.close_context(3).is_err());
}

fn initialize_all(
    cluster: &Cluster,
    order: &[usize],
) -> Vec<crate::Answer<Arc<crate::DistributedContext>>> {
    let mut done: Vec<_> = (0..order.len()).map(|_| None).collect();
    for &task in order {
        done[task] = Some(started(|done| {
            cluster.servers[task].initialize_multi_client(&cluster.configs[task], done);
        }));
    }
    let done = done.into_iter().map(Option::unwrap);
    done.map(|done| wait(&cluster.host, &done)).collect()
}

#[test]
fn many_clients_initialize_in_any_order() {
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]] {
        let cluster = Cluster::new("mstd:2", 4);
        let contexts = initialize_all(&cluster, &order);
        let contexts: Vec<_> = contexts.into_iter().map(Result::unwrap).collect();
        for context in &contexts {
            assert_eq!(context.ready_chains().len(), 3);
            let own = context.cluster().own_task();
            assert!(!context.ready_chains().contains_key(&own));
        }
        let again = finish(&cluster.host, |done| {
            cluster.servers[1].initialize_multi_client(&cluster.configs[1], done);
        });
        assert_eq!(
            again.unwrap_err().to_string(),
            "Unknown: Trying to initialize multi-client distributed context while a previous \
             initialization attempt has started."
        );
    }
}

#[test]
fn many_clients_initialize_again_once_the_context_is_closed() {
    let cluster = Cluster::new("s", 2);
    for _ in 0..2 {
        let contexts = initialize_all(&cluster, &[1, 0]);
        for (server, context) in cluster.servers.iter().zip(contexts) {
            server.close_context(context.unwrap().id()).unwrap();
        }
    }
}

#[test]
fn another_configuration_fails_on_both_sides() {
    let mut cluster = Cluster::new("s", 3);
    cluster.configs[2].collective_groups[0].members.reverse();
    let (expected, found) = (
        cluster.configs[2].to_string(),
        cluster.configs[0].for_task("worker", 2).to_string(),
    );
    let text = format!(
        "InvalidArgument: Incompatible distributed configuration when initializing multi-client \
         distributed context. Expecting {expected}, got {found}"
    );
    let leader = started(|done| {
        cluster.servers[0].initialize_multi_client(&cluster.configs[0], done);
    });
    let odd = started(|done| {
        cluster.servers[2].initialize_multi_client(&cluster.configs[2], done);
    });
    let fine = started(|done| {
        cluster.servers[1].initialize_multi_client(&cluster.configs[1], done);
    });
    assert_eq!(wait(&cluster.host, &odd).unwrap_err().to_string(), text);
    assert_eq!(wait(&cluster.host, &leader).unwrap_err().to_string(), text);
    // The third one has a context, which the leader closes.
    let closed = wait(&cluster.host, &fine).unwrap_err().to_string();
    assert!(closed.starts_with("Cancelled: context "), "{closed}");
    // After an error, tasks may try again.
    let again = started(|done| {
        cluster.servers[1].initialize_multi_client(&cluster.configs[1], done);
    });
    assert!(again.try_recv().is_err());
    cluster.servers[1].shut_down();
    let text = "Cancelled: the server is shut down";
    assert_eq!(wait(&cluster.host, &again).unwrap_err().to_string(), text);
    let late = finish(&cluster.host, |done| {
        cluster.servers[1].initialize_multi_client(&cluster.configs[1], done);
    });
    assert_eq!(late.unwrap_err().to_string(), text);
    cluster.configs[2] = cluster.configs[0].for_task("worker", 2);
    let again = started(|done| {
        cluster.servers[2].initialize_multi_client(&cluster.configs[2], done);
    });
    assert!(again.try_recv().is_err());
}

/// The request of `leader`, which says that it leads, to the second task.
fn claim(cluster: &Cluster, leader: &str) -> CreateContextRequest {
    let mut config = cluster.configs[1].clone();
    if let Some(config) = &mut config.cluster_config {
        config.lead_task_name = leader.to_owned();
    }
    CreateContextRequest {
        context_id: 77,
        dist_config: Some(config),
        is_multi_client: true,
        ..CreateContextRequest::default()
    }
}

#[test]
fn payloads_are_taken_at_once_only_by_light_receivers_of_members() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let server = &cluster.servers[1];
    let take = |caller: &str, context_id: u64, key: &str| {
        let caller = crate::name::TaskName::parse(caller).unwrap();
        let arrived = crate::fabric::ArrivedPayload {
            context_id,
            instance_key: key.to_owned(),
            payload: crate::Payload::new(vec![]),
            room: crate::rendezvous::PayloadRoom::default(),
        };
        let taken = Arc::clone(server).take_at_once(Some(&caller), arrived);
        match taken {
            Ok(Ok(_)) => "taken".to_owned(),
            Ok(Err(errors)) => errors.to_string(),
            Err(arrived) => format!("returned {}", arrived.instance_key),
        }
    };
    let (member, id) = ("/job:worker/task:0", contexts[1].id());
    assert_eq!(take(member, id, "early"), "taken");
    assert!(contexts[1].rendezvous().payload("early").is_some());
    let again = take(member, id, "early");
    assert!(again.starts_with("AlreadyExists: "), "{again}");
    contexts[1].rendezvous().receive("heavy", Box::new(|_| ()));
    assert_eq!(take(member, id, "heavy"), "returned heavy");
    let expect = |caller: &str, context_id: u64| {
        let caller = crate::name::TaskName::parse(caller).unwrap();
        let server = Arc::clone(server);
        let expected = server.expect_payload(Some(&caller), context_id, "large", 1 << 20);
        expected.map(drop).map_err(|errors| errors.to_string())
    };
    assert_eq!(expect(member, id), Ok(()));
    let refused = expect("/job:worker/task:7", id).unwrap_err();
    assert!(
        refused.contains("SendData of /job:worker/task:7"),
        "{refused}"
    );
    let refused = expect(member, 1234).unwrap_err();
    assert!(refused.contains("Context with id 1234"), "{refused}");
    let refused = take("/job:worker/task:7", id, "other");
    assert!(
        refused.contains("SendData of /job:worker/task:7"),
        "{refused}"
    );
    let nowhere = take(member, id + 1, "other");
    assert!(nowhere.contains("does not exist"), "{nowhere}");
}

#[test]
fn a_task_follows_only_the_one_that_leads() {
    let stranger = "/job:worker/task:2";
    let refusal = "FailedPrecondition: the context belongs to `/job:worker/task:0`, not to the \
                   task that asks for it";
    // The other task comes before the client of this one, and after it.
    for is_early in [true, false] {
        let cluster = Cluster::new("s", 3);
        let follower = || {
            started(|done| {
                cluster.servers[1].initialize_multi_client(&cluster.configs[1], done);
            })
        };
        let ask = || {
            started::<Response>(|done| {
                let request = claim(&cluster, stranger).into();
                let caller = crate::name::TaskName::parse(stranger).unwrap();
                let server = Arc::clone(&cluster.servers[1]);
                server.handle_from(&caller, request, Reply::new(done));
            })
        };
        let (asked, followed) = match is_early {
            true => {
                let asked = ask();
                assert!(asked.try_recv().is_err());
                (asked, follower())
            }
            false => {
                let followed = follower();
                (ask(), followed)
            }
        };
        assert_eq!(
            wait(&cluster.host, &asked).unwrap_err().to_string(),
            refusal
        );
        assert!(followed.try_recv().is_err());
        let third = started(|done| {
            cluster.servers[2].initialize_multi_client(&cluster.configs[2], done);
        });
        let leader = finish(&cluster.host, |done| {
            cluster.servers[0].initialize_multi_client(&cluster.configs[0], done);
        });
        let id = leader.unwrap().id();
        for done in [followed, third] {
            assert_eq!(wait(&cluster.host, &done).unwrap().id(), id);
        }
    }
}

#[test]
fn the_loss_of_the_leader_ends_an_initialization() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("mstd:2");
    let addresses = [network.free_address(), network.free_address()];
    let config = ServerConfig {
        failure_timeout: Duration::from_millis(50),
        ..ServerConfig::new("test", &addresses[1])
    };
    let follower = Server::on_network(&host, config, |handler| {
        network.listen(&host, &addresses[1], handler)
    });
    let follower = follower.unwrap();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let done = started(|done| follower.initialize_multi_client(&configs[1], done));
    let created = finish::<Response>(&host, |done| {
        let request = CreateContextRequest {
            context_id: 77,
            dist_config: Some(configs[1].clone()),
            is_multi_client: true,
            ..CreateContextRequest::default()
        };
        Arc::clone(&follower).handle(request.into(), Reply::new(done));
    });
    assert!(created.is_ok());
    // The leader ends before it has sent the chains.
    let error = wait(&host, &done).unwrap_err().to_string();
    assert!(
        error.starts_with("Unavailable: task /job:worker/task:0 is lost: "),
        "{error}"
    );
    assert!(follower.context(77).is_err());
}

#[test]
fn a_leader_that_has_no_name_is_an_error() {
    let mut cluster = Cluster::new("s", 1);
    let mut check = |name: &str, expected: ErrorCode| {
        let config = cluster.configs[0].cluster_config.as_mut().unwrap();
        config.lead_task_name = name.to_owned();
        let outcome = finish(&cluster.host, |done| {
            cluster.servers[0].initialize_multi_client(&cluster.configs[0], done);
        });
        assert_eq!(outcome.unwrap_err().code(), expected, "{name}");
    };
    check("boss", ErrorCode::InvalidArgument);
    check("/job:worker/task:9", ErrorCode::TaskNotFound);
    check("/job:boss/task:0", ErrorCode::TaskNotFound);
}

/// Returns the error of a request to the second of two tasks.
fn failure<C: crate::message::Call>(cluster: &Cluster, request: C) -> String
where
    C::Response: Send + std::fmt::Debug + 'static,
{
    let context = cluster.servers[0].context(1).unwrap();
    let task = context.cluster().find("/job:worker/task:1").unwrap();
    let client = context.client(task).unwrap();
    let outcome = finish(&cluster.host, |done| {
        fabric::call(&*client, CallOptions::default(), request, done);
    });
    outcome.unwrap_err().to_string()
}

#[test]
fn requests_about_unknown_contexts_and_objects_are_answered_once() {
    let cluster = Cluster::new("s", 2);
    let _contexts = cluster.contexts();
    let no_context = "InvalidDistributedContextId: Context with id 9 does not exist.";
    let context_id = 9;
    assert_eq!(
        failure(&cluster, KeepAliveRequest { context_id }),
        no_context
    );
    assert_eq!(
        failure(&cluster, CloseContextRequest { context_id }),
        no_context
    );
    let register = RegisterFunctionRequest {
        context_id,
        ..RegisterFunctionRequest::default()
    };
    assert_eq!(failure(&cluster, register), no_context);
    let execute = RemoteExecuteRequest {
        context_id,
        ..RemoteExecuteRequest::default()
    };
    assert_eq!(failure(&cluster, execute), no_context);
    let send = SendDataRequest {
        context_id,
        ..SendDataRequest::default()
    };
    assert_eq!(failure(&cluster, send), no_context);
    let delete = DeleteRemoteObjectsRequest {
        context_id: 1,
        input: vec![RemoteObjectIdProto::default()],
    };
    assert_eq!(
        failure(&cluster, delete),
        "InvalidArgument: Could not find object: RemoteObjectId{prefix_id: 0 local_id: 0 device: }"
    );
    let again = CreateContextRequest {
        context_id: 1,
        dist_config: Some(cluster.configs[1].clone()),
        ..CreateContextRequest::default()
    };
    assert!(failure(&cluster, again).starts_with("DistributedContextAlreadyExists"));
    let stranger = CreateContextRequest {
        context_id: 2,
        dist_config: Some(cluster.configs[1].for_task("nobody", 0)),
        ..CreateContextRequest::default()
    };
    assert!(failure(&cluster, stranger).starts_with("TaskNotFound"));
}

#[test]
fn a_program_without_a_pass_is_refused() {
    let cluster = Cluster::new("s", 2);
    let _contexts = cluster.contexts();
    let register = RegisterFunctionRequest {
        context_id: 1,
        program_name: "f".to_owned(),
        ..RegisterFunctionRequest::default()
    };
    assert_eq!(
        failure(&cluster, register.clone()),
        "NotFound: Compiler pass not found for program: f (from task: /job:worker/task:1)"
    );
    let damaged = RegisterFunctionRequest {
        program: b"no file"[..].into(),
        program_kind: crate::message::ProgramKind::Bef.into(),
        ..register
    };
    assert_eq!(
        failure(&cluster, damaged),
        "MalformattedMlirFile: Failed to open lowered BEF for function f."
    );
}

#[test]
fn a_program_that_is_not_allowed_is_refused_before_it_is_read() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("mstd:2");
    let address = network.free_address();
    let config = ServerConfig {
        programs: crate::AllowedPrograms::these([b"allowed".to_vec()]),
        ..ServerConfig::new("test", &address)
    };
    let server = Server::on_network(&host, config, |handler| {
        network.listen(&host, &address, handler)
    });
    let server = server.unwrap();
    let configs = DistributedContextConfiguration::local_cluster(&[address]);
    let context = finish(&host, |done| {
        server.initialize_single_client(Some(1), &configs[0], done);
    });
    let context = context.unwrap();
    let refusal = |program: &'static [u8]| {
        let request = RegisterFunctionRequest {
            context_id: 1,
            program_name: "f".to_owned(),
            program: program.into(),
            ..RegisterFunctionRequest::default()
        };
        let own_task = context.cluster().own_task();
        let answer = finish(&host, |done| {
            context.call(own_task, CallOptions::default(), request, done);
        });
        answer.unwrap_err().to_string()
    };
    assert_eq!(
        refusal(b"another one"),
        "FailedPrecondition: expected a program that this task allows, found `f` (from task: \
         /job:worker/task:0)"
    );
    // Nobody reads programs here: this one was allowed.
    assert_eq!(
        refusal(b"allowed"),
        "NotFound: Compiler pass not found for program: f (from task: /job:worker/task:0)"
    );
}

#[test]
fn calls_end_by_deadline_cancel_and_loss() {
    let network = InProcessNetwork::with_faults(Faults {
        seed: 1,
        max_delay: Duration::from_secs(3600),
        ..Faults::default()
    });
    let host = crate::testing::host("mstd:2");
    let slow = server(&host, &network, "slow");
    let communicator = network
        .listen(&host, "caller", std::sync::Weak::<Server>::new())
        .unwrap();
    let client = communicator.client("slow");
    let call = |options: CallOptions| {
        let request = KeepAliveRequest { context_id: 1 };
        started(|done| fabric::call(&*client, options, request, done))
    };
    let timed = call(CallOptions {
        timeout: Some(Duration::from_millis(1)),
        ..CallOptions::default()
    });
    let cancel = CancelCall::default();
    let cancelled = call(CallOptions {
        cancel: Some(cancel.clone()),
        ..CallOptions::default()
    });
    cancel.start();
    let text = |outcome: crate::Answer<_>| outcome.map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        text(wait(&host, &timed)),
        "RpcDeadlineExceeded: KeepAlive to slow: the deadline passed"
    );
    assert_eq!(
        text(wait(&host, &cancelled)),
        "RpcCancelled: KeepAlive to slow: the call was cancelled"
    );
    drop(slow);
    let lossy = InProcessNetwork::with_faults(Faults {
        lost_requests_per_mille: 1000,
        ..Faults::default()
    });
    let _there = server(&host, &lossy, "there");
    let communicator = lossy
        .listen(&host, "caller", std::sync::Weak::<Server>::new())
        .unwrap();
    let client = communicator.client("there");
    let lost = started(|done| {
        let request = KeepAliveRequest { context_id: 1 };
        fabric::call(&*client, CallOptions::default(), request, done);
    });
    assert_eq!(
        text(wait(&host, &lost)),
        "RpcUnavailable: KeepAlive to there: the request was lost"
    );
}

#[test]
fn the_timer_of_a_deadline_goes_with_the_answer() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("s");
    let _there = server(&host, &network, "there");
    let communicator = network
        .listen(&host, "caller", std::sync::Weak::<Server>::new())
        .unwrap();
    let client = communicator.client("there");
    for _ in 0..3 {
        let options = CallOptions {
            timeout: Some(Duration::from_secs(3600)),
            ..CallOptions::default()
        };
        let request = KeepAliveRequest { context_id: 1 };
        let answer = finish(&host, |done| {
            fabric::call(&*client, options, request, done);
        });
        assert_eq!(
            answer.unwrap_err().code(),
            ErrorCode::InvalidDistributedContextId
        );
        assert_eq!(host.timers().num_pending(), 0);
    }
}

#[test]
fn an_unknown_communicator_leaves_a_server_without_network() {
    let host = crate::testing::host("s");
    let server = Server::new(&host, ServerConfig::new("pigeon", "loft")).unwrap();
    let config = DistributedContextConfiguration::local_cluster(&["loft".to_owned()]);
    let errors = finish(&host, |done| {
        server.initialize_single_client(Some(1), &config[0], done);
    })
    .unwrap_err();
    assert_eq!(
        errors.to_string(),
        "Unavailable: the server is not connected to a network"
    );
}

#[test]
fn objects_end_with_their_context() {
    let cluster = Cluster::new("s", 1);
    let context = cluster.servers[0]
        .create_context(1, &cluster.configs[0])
        .unwrap();
    let id = context.objects().allocate("CPU:0");
    let placeholder = context.objects().get(&id);
    context
        .objects()
        .set(
            &context.objects().allocate("CPU:0"),
            AnyRef::available(1_i32),
        )
        .unwrap();
    cluster.servers[0].shut_down();
    let error = placeholder.error_if_present().unwrap();
    assert_eq!(error.message(), "Cancelled: context 1 is closed");
    assert!(context.objects().is_empty());
    assert!(
        cluster.servers[0]
            .create_context(2, &cluster.configs[0])
            .is_err()
    );
}

#[test]
fn results_of_an_execution_that_fails_are_errors() {
    let cluster = Cluster::new("s", 2);
    let contexts = cluster.contexts();
    let id = contexts[0]
        .objects()
        .allocate("/job:worker/task:1/device:CPU:0");
    // Somebody waits for the result already.
    let placeholder = contexts[1].objects().get(&id);
    let execute = RemoteExecuteRequest {
        context_id: 1,
        program_name: "nothing".to_owned(),
        output: vec![RemoteOutput {
            id: Some((&id).into()),
            need_metadata: false,
        }],
        ..RemoteExecuteRequest::default()
    };
    let text = "InvalidArgument: Can't find program: [nothing]";
    assert_eq!(failure(&cluster, execute), text);
    let error = placeholder.error_if_present().unwrap();
    assert_eq!(error.message(), text);
}

/// Requests that are answered by nobody, and wait on their thread until they may go on.
#[derive(Debug)]
struct Held {
    called: std::sync::mpsc::Sender<std::thread::ThreadId>,
    go_on: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
}

impl fabric::RemoteClient for Held {
    fn call(&self, _: CallOptions, _: Request, _: Reply<Response>) {
        self.called.send(std::thread::current().id()).unwrap();
        // A test that failed lets go.
        let _ = self.go_on.lock().unwrap().recv();
    }
}

#[derive(Debug)]
struct HoldingNetwork(Arc<Held>);

impl fabric::FabricCommunicator for HoldingNetwork {
    fn address(&self) -> &str {
        "here"
    }

    fn client(&self, _: &str) -> Arc<dyn fabric::RemoteClient> {
        Arc::clone(&self.0) as _
    }
}

#[test]
fn a_context_that_a_timer_uses_last_ends_on_the_work_queue() {
    let host = crate::testing::host("mstd:1");
    let config = &DistributedContextConfiguration::local_cluster(&["here".to_owned()])[0];
    let (called, calls) = std::sync::mpsc::channel();
    let (go_on, gate) = std::sync::mpsc::channel();
    let held = Held {
        called,
        go_on: std::sync::Mutex::new(gate),
    };
    let settings = crate::context::ContextSettings {
        max_unclaimed_bytes: 1 << 20,
        collectives: crate::collective::Selection::Ring,
        drain_timeout: Duration::ZERO,
        reports_leftovers: false,
    };
    let network: Arc<dyn fabric::FabricCommunicator> = Arc::new(HoldingNetwork(Arc::new(held)));
    let no_server = std::sync::Weak::new();
    let context =
        crate::DistributedContext::new(1, no_server, &host, config, Some(network), settings);
    let context = context.unwrap();
    context.client(context.cluster().own_task()).unwrap();
    // Its waiters run where the context ends.
    let (ended, ends) = std::sync::mpsc::channel();
    let placeholder = context.objects().get(&context.objects().allocate("d"));
    placeholder.watch(move |_| ended.send(std::thread::current().id()).unwrap());
    context.start_keep_alive(Duration::from_millis(1));
    let minute = Duration::from_secs(60);
    let of_timers = calls.recv_timeout(minute).unwrap();
    drop(context);
    assert!(ends.try_recv().is_err());
    go_on.send(()).unwrap();
    assert_ne!(ends.recv_timeout(minute).unwrap(), of_timers);
}
