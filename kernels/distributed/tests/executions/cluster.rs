//! Four tasks in this process, of which the first is the client.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use tfrt::distributed::fabric::CommunicatorType;
use tfrt::distributed::message::DistributedContextConfiguration;
use tfrt::distributed::{
    DistributedContext, Outputs, RemoteExecuteSpec, RemoteExecution, RemoteObjectId, RemoteResults,
    Server, ServerConfig, TaskHandle, register_function,
};
use tfrt::host::RequestContextBuilder;
use tfrt::prelude::*;
use tfrt::queue::create_queue;

pub const MINUTE: Duration = Duration::from_secs(60);

pub struct Cluster {
    pub servers: Vec<Arc<Server>>,
    pub context: Arc<DistributedContext>,
}

pub fn cluster(communicator: &str) -> Cluster {
    cluster_with(communicator, |_| ())
}

/// Starts tasks whose configuration `change` changes.
pub fn cluster_with(communicator: &str, change: impl Fn(&mut ServerConfig)) -> Cluster {
    let kind = CommunicatorType::find(communicator).unwrap();
    let addresses: Vec<String> = (0..4).map(|_| (kind.free_address)().unwrap()).collect();
    let configs = DistributedContextConfiguration::local_cluster(&addresses);
    let kernels = Arc::new(KernelRegistry::from_link().unwrap());
    let start = |address: &String| {
        let host = HostContext::builder()
            .registry(Arc::clone(&kernels))
            .queue(create_queue("mstd:2").unwrap())
            .build();
        let mut config = ServerConfig::new(communicator, address);
        change(&mut config);
        Server::new(&host, config).unwrap()
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

    pub fn ctx(&self) -> ExecutionContext {
        let host = Arc::clone(self.context.host());
        ExecutionContext::new(RequestContextBuilder::new(host).build())
    }

    pub fn register(&self, number: i32, name: &str, program: &str) {
        let (sender, registered) = channel();
        let done = move |answer: Result<_, _>| sender.send(answer.map(drop)).unwrap();
        let program = (name, program, false);
        register_function(&self.ctx(), &self.context, self.task(number), program, done);
        registered.recv_timeout(MINUTE).unwrap().unwrap();
    }

    /// Executes a function of a task.
    pub fn execute(
        &self,
        ctx: &ExecutionContext,
        (number, name): (i32, &str),
        inputs: Vec<RemoteObjectId>,
        num_results: usize,
    ) -> RemoteResults {
        let device = format!("/job:worker/task:{number}/device:CPU:0");
        let execution = RemoteExecution {
            context: Arc::clone(&self.context),
            task: self.task(number),
            invocation: 0,
            program_name: name.to_owned(),
            inputs,
            outputs: Outputs::New(RemoteExecuteSpec::unchecked(vec![device; num_results])),
            num_handles: 0,
        };
        execution.start(ctx).unwrap()
    }

    /// The number of executions in progress on each worker.
    fn num_running(&self) -> [usize; 3] {
        [1, 2, 3].map(|worker: usize| {
            let context = self.servers[worker].context(7).unwrap();
            context.executions().len()
        })
    }

    pub fn wait_until_running(&self, expected: [usize; 3]) {
        let end = Instant::now() + MINUTE;
        while self.num_running() != expected {
            assert!(Instant::now() < end, "found {:?}", self.num_running());
            std::thread::yield_now();
        }
    }
}

/// Waits until a value is available.
pub fn wait(host: &HostContext, value: &AnyRef) {
    let end = Instant::now() + MINUTE;
    while !value.is_available() {
        assert!(Instant::now() < end, "it does not end");
        std::thread::yield_now();
    }
    host.quiesce().unwrap();
}
