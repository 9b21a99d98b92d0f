//! A cancelled request ends what it has started on other tasks, and what that has started on third
//! ones.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tfrt::distributed::fabric::CommunicatorType;
use tfrt::distributed::message::DistributedContextConfiguration;
use tfrt::distributed::{
    DistributedContext, Outputs, RemoteExecuteSpec, RemoteExecution, Server, ServerConfig,
    TaskHandle, register_function,
};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::create_queue;

tfrt::link!(tfrt_kernels, tfrt_distributed_kernels, tfrt_grpc);

const MINUTE: Duration = Duration::from_secs(60);

/// Waits for a payload that nobody sends.
const WAIT: &str = r#"
func @wait(%context: !tfrt_dist.dist_context) -> !tfrt_dist.payload {
  %client = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:0"}
  %key = tfrt_test.get_string { value = "never" }
  %payload = tfrt_dist.recv_bytes %context, %client, %key
  tfrt.return %payload : !tfrt_dist.payload
}
"#;

/// Lets the other workers wait.
const NESTED: &str = r#"
func @nested(%context: !tfrt_dist.dist_context) -> (!tfrt.chain, !tfrt.chain) {
  %ch = tfrt.new.chain
  %second = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:2"}
  %third = tfrt_dist.get_task_handle %context {task_name = "/job:worker/task:3"}
  %there = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:2/device:CPU:0"]}
  %other = tfrt_dist.create_remote_execute_spec %context {output_devices = ["/job:worker/task:3/device:CPU:0"]}
  %a, %x = tfrt_dist.remote_execute [%ch, %context, %second, %there] "wait" () : () -> !tfrt_dist.remote_object_id
  %b, %y = tfrt_dist.remote_execute [%ch, %context, %third, %other] "wait" () : () -> !tfrt_dist.remote_object_id
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
"#;

struct Cluster {
    servers: Vec<Arc<Server>>,
    context: Arc<DistributedContext>,
}

fn cluster(communicator: &str) -> Cluster {
    let kind = CommunicatorType::find(communicator).unwrap();
    let addresses: Vec<String> = (0..4).map(|_| (kind.free_address)().unwrap()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let start = |address: &String| {
        let host = HostContext::builder()
            .registry(Arc::clone(&kernels))
            .queue(create_queue("mstd:2").unwrap())
            .build();
        Server::new(&host, ServerConfig::new(communicator, address)).unwrap()
    };
    let servers: Vec<Arc<Server>> = addresses.iter().map(start).collect();
    let (sender, initialized) = channel();
    servers[0].initialize_single_client(Some(7), &configs[0], move |outcome| {
        sender.send(outcome).unwrap();
    });
    let context = initialized.recv_timeout(MINUTE).unwrap().unwrap();
    Cluster { servers, context }
}

impl Cluster {
    fn task(&self, number: i32) -> TaskHandle {
        self.context.cluster().find_task("worker", number).unwrap()
    }

    fn ctx(&self) -> ExecutionContext {
        let host = Arc::clone(self.context.host());
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    fn register(&self, number: i32, name: &str, program: &str) {
        let (sender, registered) = channel();
        let done = move |answer: Result<_, _>| sender.send(answer.map(drop)).unwrap();
        let program = (name, program, false);
        register_function(&self.ctx(), &self.context, self.task(number), program, done);
        registered.recv_timeout(MINUTE).unwrap().unwrap();
    }

    fn execute(
        &self,
        ctx: &ExecutionContext,
        number: i32,
        name: &str,
        num_results: usize,
    ) -> AnyRef {
        let device = format!("/job:worker/task:{number}/device:CPU:0");
        let execution = RemoteExecution {
            context: Arc::clone(&self.context),
            task: self.task(number),
            program_name: name.to_owned(),
            inputs: Vec::new(),
            outputs: Outputs::New(RemoteExecuteSpec::unchecked(vec![device; num_results])),
            num_handles: 0,
        };
        execution.start(ctx).unwrap().chain.into()
    }

    /// The number of executions in progress on each worker.
    fn num_running(&self) -> [usize; 3] {
        [1, 2, 3].map(|worker: usize| {
            let context = self.servers[worker].context(7).unwrap();
            context.executions().len()
        })
    }

    fn wait_until_running(&self, expected: [usize; 3]) {
        let end = Instant::now() + MINUTE;
        while self.num_running() != expected {
            assert!(Instant::now() < end, "found {:?}", self.num_running());
            std::thread::yield_now();
        }
    }
}

fn wait_for_error(host: &HostContext, value: &AnyRef) -> String {
    let end = Instant::now() + MINUTE;
    while !value.is_available() {
        assert!(Instant::now() < end, "it does not end");
        std::thread::yield_now();
    }
    host.quiesce().unwrap();
    value.error_if_present().unwrap().message().to_owned()
}

#[test]
fn a_cancelled_request_ends_its_executions_on_all_tasks() {
    for communicator in ["in_process", "grpc_communicator"] {
        let cluster = cluster(communicator);
        cluster.register(1, "nested", NESTED);
        cluster.register(2, "wait", WAIT);
        cluster.register(3, "wait", WAIT);
        let (ctx, other) = (cluster.ctx(), cluster.ctx());
        let chain = cluster.execute(&ctx, 1, "nested", 2);
        cluster.wait_until_running([1, 1, 1]);
        assert!(!chain.is_available());
        // Executions of another request go on.
        cluster.register(1, "wait", WAIT);
        let goes_on = cluster.execute(&other, 1, "wait", 1);
        cluster.wait_until_running([2, 1, 1]);
        ctx.request().cancel();
        let error = wait_for_error(cluster.context.host(), &chain);
        assert!(error.to_lowercase().contains("cancelled"), "{error}");
        cluster.wait_until_running([1, 0, 0]);
        assert!(!goes_on.is_available());
        other.request().cancel();
        wait_for_error(cluster.context.host(), &goes_on);
        cluster.wait_until_running([0, 0, 0]);
    }
}
