//! Objects that live on one task and are produced by another one, which fails or is lost.

use tfrt_host::{ExecutionContext, HostContext, RequestContextBuilder, ResourceContext};
use tfrt_support::Error;

use super::*;
use crate::cluster::TaskHandle;
use crate::context::DistributedContext;
use crate::execute::{Outputs, RemoteExecution, RemoteResults};
use crate::fabric::in_process::PayloadLoss;
use crate::object::RemoteObjectId;
use crate::payload::Payload;

/// The client, the producer, and the task on which objects live.
const SIZE: usize = 3;

const HOME: &str = "/job:worker/task:2/device:CPU:0";

fn exec_context(host: &Arc<HostContext>) -> ExecutionContext {
    let request = RequestContextBuilder::new(Arc::clone(host))
        .resources(Arc::new(ResourceContext::new()))
        .build();
    ExecutionContext::new(request)
}

fn task(context: &DistributedContext, number: usize) -> TaskHandle {
    let name = format!("/job:worker/task:{number}");
    context.cluster().find(&name).unwrap()
}

/// Executes a function on the second task, whose result lives on the third one.
fn produce(client: &Arc<DistributedContext>, id: &RemoteObjectId) -> RemoteResults {
    let execution = RemoteExecution {
        context: Arc::clone(client),
        task: task(client, 1),
        invocation: 0,
        program_name: "produce".to_owned(),
        inputs: Vec::new(),
        outputs: Outputs::Preallocated(vec![id.clone()]),
        num_handles: 0,
    };
    execution.start(&exec_context(client.host())).unwrap()
}

/// Asks the third task for the object, as a consumer that comes before the producer. Returns the
/// error that comes instead of a tensor.
fn consume(
    client: &Arc<DistributedContext>,
    id: &RemoteObjectId,
) -> std::sync::mpsc::Receiver<String> {
    let (sender, outcome) = std::sync::mpsc::channel();
    let receiver = move |payload: Result<Payload, Error>| {
        let error = payload.map_or_else(Some, |payload| payload.error());
        let text = error.map_or("no error".to_owned(), |error| error.message().to_owned());
        let _ = sender.send(text);
    };
    let home = task(client, 2);
    client.receive(home, "object", Box::new(receiver));
    let request = FetchObjectRequest {
        context_id: client.id(),
        object: Some(id.into()),
        receiver: client.cluster().own_name(),
        instance_key: "object".to_owned(),
    };
    client.call(home, CallOptions::until_lost(), request, |_| ());
    outcome
}

fn wait_until(host: &HostContext, what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "not after a minute: {what}");
        host.quiesce().unwrap();
        std::thread::yield_now();
    }
}

/// Answers no execution.
struct Silent {
    server: Arc<Server>,
    withheld: std::sync::Mutex<Vec<Reply<Response>>>,
}

impl RequestHandler for Silent {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        match request.method() {
            Method::RemoteExecute => self.withheld.lock().unwrap().push(reply),
            _ => Arc::clone(&self.server).handle(request, reply),
        }
    }
}

#[test]
fn a_placeholder_ends_with_the_task_that_was_to_produce_the_object() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("mstd:2");
    let addresses: [String; SIZE] = std::array::from_fn(|_| network.free_address());
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let client = server(&host, &network, &addresses[0]);
    let home = server(&host, &network, &addresses[2]);
    let silent = Arc::new(Silent {
        server: server(&host, &network, "elsewhere"),
        withheld: std::sync::Mutex::default(),
    });
    let handler: Arc<dyn RequestHandler> = Arc::clone(&silent) as _;
    let _listening = network
        .listen(&host, &addresses[1], Arc::downgrade(&handler))
        .unwrap();
    let context = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    });
    let context = context.unwrap();
    let theirs = home.context(1).unwrap();
    let id = context.new_object(HOME);
    let produced = produce(&context, &id);
    let consumed = consume(&context, &id);
    wait_until(&host, "a placeholder", || {
        theirs.leftovers().num_objects == 1
    });
    assert!(consumed.try_recv().is_err());
    // Only the task with the placeholder learns of the loss.
    let lost = crate::RemoteError::new(ErrorCode::Unavailable, "the producer is lost");
    for callback in theirs.health().mark_lost(task(&theirs, 1), lost) {
        callback();
    }
    let error = wait(&host, &consumed);
    assert_eq!(error, "Unavailable: the producer is lost");
    // The client waits for its answer, and then deletes the object.
    assert!(!produced.chain.is_available());
    silent.withheld.lock().unwrap().clear();
    drop((produced, id));
    wait_until(&host, "nothing is left", || theirs.leftovers().is_empty());
}

#[test]
fn a_client_whose_execution_fails_tells_the_task_on_which_its_result_lives() {
    for loss in [0, 2] {
        let cluster = Cluster::new("mstd:2", SIZE);
        let contexts = cluster.contexts();
        let [client, producer, home] = &contexts[..] else {
            panic!("three tasks");
        };
        let id = client.new_object(HOME);
        // The reason may be lost on the way.
        let addresses = [0, 2].map(|task| contexts[task].config().own_address().unwrap());
        let loss = PayloadLoss {
            count: loss,
            ..PayloadLoss::default()
        };
        cluster
            .network
            .lose_payloads(addresses[0], addresses[1], loss);
        let consumed = consume(client, &id);
        let produced = produce(client, &id);
        // The producer does not know the program.
        let text = "InvalidArgument: Can't find program: [produce]";
        assert_eq!(wait(&cluster.host, &consumed), text);
        wait_until(&cluster.host, "an answer", || produced.chain.is_available());
        assert_eq!(produced.chain.as_result().unwrap_err().message(), text);
        drop((produced, id));
        for context in [client, producer, home] {
            wait_until(&cluster.host, "nothing is left", || {
                context.leftovers().is_empty()
            });
        }
    }
}

#[test]
fn a_set_object_stays_when_its_producer_fails_or_is_lost() {
    let cluster = Cluster::new("mstd:2", SIZE);
    let contexts = cluster.contexts();
    let id = contexts[0].new_object(HOME);
    id.set_producer("/job:worker/task:1");
    let theirs = RemoteObjectId::from(&RemoteObjectIdProto::from(&id));
    let value = contexts[2].object(&theirs);
    contexts[2]
        .objects()
        .set(&theirs, AnyRef::available(7_i32))
        .unwrap();
    let (sender, told) = std::sync::mpsc::channel::<()>();
    crate::transfer::fail_object(&contexts[0], &id, &Error::new("too late"), sender);
    wait_until(&cluster.host, "the other task knows", || {
        told.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected)
    });
    let lost = crate::RemoteError::new(ErrorCode::Unavailable, "the producer is lost");
    for callback in contexts[2].health().mark_lost(task(&contexts[2], 1), lost) {
        callback();
    }
    assert_eq!(value.get::<i32>(), Some(&7));
    // One that is lost already ends what comes later.
    let late = RemoteObjectId::new(id.prefix(), 99, HOME).produced_by("/job:worker/task:1");
    let late = contexts[2].object(&late);
    wait_until(&cluster.host, "an error", || late.is_available());
    let error = late.error_if_present().unwrap();
    assert_eq!(error.message(), "Unavailable: the producer is lost");
}

#[test]
fn a_lost_request_to_delete_objects_is_sent_again() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let ids: Vec<_> = (0..3)
        .map(|_| contexts[0].new_object("/job:worker/task:1/device:CPU:0"))
        .collect();
    for id in &ids {
        let known = RemoteObjectId::new(id.prefix(), id.local(), id.device());
        let value = AnyRef::available(1_i32);
        contexts[1].objects().set(&known, value).unwrap();
    }
    let address = contexts[1].config().own_address().unwrap();
    cluster.network.cut(address);
    drop(ids);
    // The first attempts fail, after the time for which ids wait for others.
    std::thread::sleep(Duration::from_millis(30));
    cluster.host.quiesce().unwrap();
    assert_eq!(contexts[1].leftovers().num_objects, 3);
    cluster.network.heal(address);
    wait_until(&cluster.host, "nothing is left", || {
        contexts[1].leftovers().is_empty()
    });
}

#[test]
fn a_failed_result_that_lives_here_is_deleted_with_its_id() {
    let cluster = Cluster::new("mstd:2", 2);
    let contexts = cluster.contexts();
    let id = contexts[0].new_object("/job:worker/task:0/device:CPU:0");
    let value = contexts[0].object(&id);
    let produced = produce(&contexts[0], &id);
    wait_until(&cluster.host, "an error", || value.is_available());
    let text = "InvalidArgument: Can't find program: [produce]";
    assert_eq!(value.error_if_present().unwrap().message(), text);
    drop((produced, id));
    for context in &contexts {
        wait_until(&cluster.host, "nothing is left", || {
            context.leftovers().is_empty()
        });
    }
}
