//! Tasks that prove their names, and ask for what is not theirs.

use tfrt_host::{RequestContext, RequestContextBuilder, ResourceContext};

use super::*;
use crate::message::{
    CancelExecutionRequest, CreateContextResponse, RemoteExecuteOpRequest, SendReadyChainsRequest,
};
use crate::name::TaskName;
use crate::object::RemoteObjectId;

fn name(task: usize) -> TaskName {
    TaskName::parse(&format!("/job:worker/task:{task}")).unwrap()
}

/// Sends a request of a task to another one.
fn ask(cluster: &Cluster, from: usize, to: usize, request: impl Into<Request>) -> String {
    let answered = started::<Response>(|done| {
        let server = Arc::clone(&cluster.servers[to]);
        server.handle_from(&name(from), request.into(), Reply::new(done));
    });
    let answer = wait(&cluster.host, &answered);
    answer.map_or_else(|errors| errors.to_string(), |_| "done".to_owned())
}

#[test]
fn the_owner_alone_closes_the_contexts_of_a_single_client() {
    let cluster = Cluster::new("s", 3);
    let _contexts = cluster.contexts();
    let close = || CloseContextRequest { context_id: 1 };
    let refusal = "FailedPrecondition: CloseContext of /job:worker/task:2 is refused: the context \
                   belongs to `/job:worker/task:0`";
    // Neither that of another worker, nor that of the client.
    assert_eq!(ask(&cluster, 2, 1, close()), refusal);
    assert_eq!(ask(&cluster, 2, 0, close()), refusal);
    assert!(cluster.servers[0].context(1).is_ok());
    assert_eq!(ask(&cluster, 0, 1, close()), "done");
    assert!(cluster.servers[1].context(1).is_err());
}

#[test]
fn the_lead_task_alone_closes_the_contexts_of_many_clients() {
    let cluster = Cluster::new("s", 3);
    let contexts = initialize_all(&cluster, &[0, 1, 2]);
    let id = contexts[0].as_ref().unwrap().id();
    let close = || CloseContextRequest { context_id: id };
    let refused = ask(&cluster, 2, 1, close());
    assert!(
        refused.contains("belongs to `/job:worker/task:0`"),
        "{refused}"
    );
    assert_eq!(ask(&cluster, 0, 1, close()), "done");
}

#[test]
fn a_task_deletes_the_objects_of_ids_that_it_has_created() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let set = |creator: usize| {
        let objects = contexts[creator].objects();
        let id = objects.allocate("/job:worker/task:1/device:CPU:0");
        let value = AnyRef::available(1_i32);
        contexts[1].objects().set(&id, value).unwrap();
        id
    };
    let delete = |id: &RemoteObjectId| DeleteRemoteObjectsRequest {
        context_id: 1,
        input: vec![id.into()],
    };
    let (of_client, of_worker) = (set(0), set(2));
    let refusal = |caller: usize, id: &RemoteObjectId| {
        format!(
            "FailedPrecondition: DeleteRemoteObjects of {} is refused: another task has created \
             {id}",
            name(caller)
        )
    };
    // What the owner and the task itself have created is known.
    let own = contexts[1].own_ready_chain();
    assert_eq!(
        ask(&cluster, 2, 1, delete(&of_client)),
        refusal(2, &of_client)
    );
    assert_eq!(ask(&cluster, 0, 1, delete(own)), refusal(0, own));
    // Of another worker, it is known once that worker has used it.
    assert_eq!(ask(&cluster, 2, 1, delete(&of_worker)), "done");
    let again = set(2);
    assert_eq!(ask(&cluster, 0, 1, delete(&again)), refusal(0, &again));
    assert_eq!(ask(&cluster, 0, 1, delete(&of_client)), "done");
    assert_eq!(contexts[1].leftovers().num_objects, 1);
}

#[test]
fn an_op_makes_objects_of_ids_that_its_client_has_created() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let chain = contexts[1].own_ready_chain();
    let op = |out: &RemoteObjectId| RemoteExecuteOpRequest {
        context_id: 1,
        in_chain: Some(chain.into()),
        out_chain: Some(out.into()),
        ..RemoteExecuteOpRequest::default()
    };
    let device = "/job:worker/task:1/device:CPU:0";
    let of_client = contexts[0].objects().allocate(device);
    let refused = ask(&cluster, 2, 1, op(&of_client));
    assert!(refused.contains("another task has created"), "{refused}");
    assert_eq!(ask(&cluster, 0, 1, op(&of_client)), "done");
}

#[test]
fn an_execution_is_cancelled_by_the_task_that_has_started_it() {
    let cluster = Cluster::new("s", 3);
    let contexts = cluster.contexts();
    let executions = contexts[1].executions();
    let request = || -> Arc<RequestContext> {
        RequestContextBuilder::new(Arc::clone(&cluster.host))
            .resources(Arc::new(ResourceContext::new()))
            .build()
    };
    let cancel = |execution_id| CancelExecutionRequest {
        context_id: 1,
        execution_id,
    };
    let running = request();
    let _running = executions.begin_for(7, &running, Some(name(0)));
    assert_eq!(ask(&cluster, 2, 1, cancel(7)), "done");
    assert!(!running.is_cancelled());
    assert_eq!(ask(&cluster, 0, 1, cancel(7)), "done");
    assert!(running.is_cancelled());
    // The same holds for one that begins later.
    for (canceller, is_cancelled) in [(2, false), (0, true)] {
        assert_eq!(ask(&cluster, canceller, 1, cancel(8)), "done");
        let late = request();
        drop(executions.begin_for(8, &late, Some(name(0))));
        assert_eq!(late.is_cancelled(), is_cancelled);
    }
}

#[test]
fn messages_about_a_group_come_from_its_members() {
    let mut cluster = Cluster::new("s", 3);
    for config in &mut cluster.configs {
        config.collective_groups[0].members.truncate(2);
    }
    let contexts = cluster.contexts();
    let send = |key: &str| SendDataRequest {
        context_id: 1,
        instance_key: key.to_owned(),
        payload: Vec::new(),
    };
    for key in ["~aborted:group1~epoch0", "~abandoned:group1:k"] {
        let refused = ask(&cluster, 2, 1, send(key));
        assert!(
            refused.ends_with("the task is not a member of the group"),
            "{refused}"
        );
        assert_eq!(ask(&cluster, 0, 1, send(key)), "done");
    }
    assert_eq!(ask(&cluster, 2, 1, send("of a program")), "done");
    assert_eq!(contexts[1].rendezvous().num_payloads(), 3);
}

/// Answers that its ready chain is that of the client.
struct Impostor(Arc<Server>);

impl RequestHandler for Impostor {
    fn handle(self: Arc<Self>, request: Request, reply: Reply<Response>) {
        let reply = match request {
            Request::CreateContext(_) => reply.map(|response| match response {
                Response::CreateContext(CreateContextResponse { ready_chain }) => {
                    let ready_chain = ready_chain.map(|chain| RemoteObjectIdProto {
                        device: "/job:worker/task:0/device:CPU:0".to_owned(),
                        ..chain
                    });
                    CreateContextResponse { ready_chain }.into()
                }
                other => other,
            }),
            _ => reply,
        };
        Arc::clone(&self.0).handle(request, reply);
    }
}

#[test]
fn a_ready_chain_is_one_of_the_task_that_answers() {
    let network = InProcessNetwork::default();
    let host = crate::testing::host("s");
    let addresses = [network.free_address(), network.free_address()];
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let client = server(&host, &network, &addresses[0]);
    let worker = Arc::new(Impostor(server(&host, &network, "elsewhere")));
    let handler: Arc<dyn RequestHandler> = Arc::clone(&worker) as _;
    let _listening = network
        .listen(&host, &addresses[1], Arc::downgrade(&handler))
        .unwrap();
    let outcome = finish(&host, |done| {
        client.initialize_single_client(Some(1), &configs[0], done);
    });
    assert_eq!(
        outcome.unwrap_err().to_string(),
        "InvalidArgument: task /job:worker/task:1 has a ready chain on \
         /job:worker/task:0/device:CPU:0 of another task"
    );
}

#[test]
fn the_lead_task_alone_tells_ready_chains() {
    let cluster = Cluster::new("s", 3);
    let contexts = initialize_all(&cluster, &[0, 1, 2]);
    let chains = SendReadyChainsRequest {
        context_id: contexts[0].as_ref().unwrap().id(),
        ready_chains: Vec::new(),
    };
    let refused = ask(&cluster, 2, 1, chains);
    assert!(
        refused.contains("only the lead task may send it"),
        "{refused}"
    );
}
