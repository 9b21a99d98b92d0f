//! Two tasks in this process, which requests are sent to, and what must be as before at their end.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Once, OnceLock, Weak};
use std::time::{Duration, Instant};

use tfrt::async_value::live_values;
use tfrt::host::allocator::{HostAllocator, ProfiledAllocator};
use tfrt::prelude::HostContext;
use tfrt_core::{CoreRuntime, CoreRuntimeOp, OpHandler, OpHandlerRef, OpInvocation, RunOp};
use tfrt_distributed::fabric::in_process::InProcessNetwork;
use tfrt_distributed::fabric::{Reply, RequestHandler};
use tfrt_distributed::function::{CompilerPass, CompilerPasses, ParsedProgram, TEXT_PASS};
use tfrt_distributed::message::{
    CreateContextRequest, DeviceInfo, DistributedContextConfiguration, Request, Response,
};
use tfrt_distributed::name::TaskName;
use tfrt_distributed::{Answer, DistributedContext, Server, ServerConfig};
use tfrt_support::Error;

use super::programs_of_tasks;

/// After this time something hangs that should have come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The device of the second task, and the name of its op handler.
pub const DEVICE: &str = "/job:worker/task:1/device:CPU:0";

/// The device of the first task.
pub const OTHER_DEVICE: &str = "/job:worker/task:0/device:CPU:0";

/// The number of all ids that the first task creates.
pub const PREFIX: u64 = 7;

/// What payloads may take that nobody claims.
const MAX_UNCLAIMED_BYTES: usize = 1 << 20;

static NUM_PANICS: AtomicUsize = AtomicUsize::new(0);

/// The answer to a request, once it comes.
pub type Pending = Receiver<Answer<Response>>;

/// What pairs run on. Made once.
#[derive(Debug)]
struct Ground {
    host: Arc<HostContext>,
    memory: Arc<ProfiledAllocator>,
}

impl Ground {
    fn get() -> &'static Self {
        static GROUND: OnceLock<Ground> = OnceLock::new();
        GROUND.get_or_init(|| {
            let memory = Arc::new(ProfiledAllocator::default());
            let allocator: Arc<dyn HostAllocator> = memory.clone();
            let host = HostContext::builder()
                .registry(Arc::new(crate::programs::harmless_kernels()))
                .allocator(allocator)
                .diagnostic_handler(|_| ())
                .build();
            let runtime = CoreRuntime::of(&host);
            runtime.register_handler(DEVICE, OpHandlerRef::new(Forwarding));
            CompilerPasses::of(&host).register(TEXT_PASS, Arc::new(Reading));
            Self { host, memory }
        })
    }

    /// The numbers that grow if something stays.
    fn counts(&self) -> [(&'static str, usize); 3] {
        let bytes = self
            .memory
            .profile()
            .map_or(0, |profile| profile.current_bytes);
        [
            ("values", live_values()),
            ("bytes of tensors and payloads", bytes),
            ("timers", self.host.timers().num_pending()),
        ]
    }
}

/// Returns the arguments of ops, and fails where there are fewer than results.
#[derive(Clone, Copy, Debug)]
struct Forwarding;

impl RunOp for Forwarding {
    fn run(&self, invocation: &mut OpInvocation<'_>) {
        if invocation.arguments.len() < invocation.results.len() {
            return invocation.fail(&Error::new("too few arguments"));
        }
        let arguments = invocation.arguments.iter_mut();
        for (result, argument) in invocation.results.iter_mut().zip(arguments) {
            *result = std::mem::take(argument);
        }
    }
}

impl OpHandler for Forwarding {
    fn name(&self) -> &str {
        "forwarding"
    }

    fn make_op(&self, op_name: &str) -> Result<CoreRuntimeOp, Error> {
        match op_name {
            "forward" => Ok(CoreRuntimeOp::new(*self)),
            _ => Err(Error::new("the op is not known")),
        }
    }
}

/// Reads programs as they are.
struct Reading;

struct Read(Vec<u8>);

impl CompilerPass for Reading {
    fn parse(&self, program: &str, _host: &HostContext) -> Result<Box<dyn ParsedProgram>, Error> {
        let file = programs_of_tasks::encoded(program).ok_or_else(|| Error::new("no program"))?;
        Ok(Box::new(Read(file)))
    }
}

impl ParsedProgram for Read {
    fn compile(&mut self, _host: &HostContext) -> Result<Vec<String>, Error> {
        Ok(vec![DEVICE.to_owned()])
    }

    fn to_file(&self) -> Result<tfrt::bef::BefFile, Error> {
        Ok(tfrt::bef::BefFile::from_bytes(&self.0))
    }
}

/// Counts panics, also those that a work queue survives.
fn count_panics() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            // Relaxed: only read where the panicking task has ended.
            NUM_PANICS.fetch_add(1, Ordering::Relaxed);
            before(info);
        }));
    });
}

/// A client, the first task, and a worker that answers requests, the second. There is a third task
/// in their cluster, which nobody reaches.
#[derive(Debug)]
pub struct Pair {
    ground: &'static Ground,
    counts: [(&'static str, usize); 3],
    num_panics: usize,
    configs: Vec<DistributedContextConfiguration>,
    servers: Vec<Arc<Server>>,
    contexts: Vec<Weak<DistributedContext>>,
}

impl Pair {
    /// Starts two tasks without contexts.
    ///
    /// # Panics
    /// If they cannot be started.
    #[must_use]
    pub fn start() -> Self {
        count_panics();
        let ground = Ground::get();
        let counts = ground.counts();
        let network = InProcessNetwork::default();
        // Nobody listens at the last one.
        let addresses = [(); 3].map(|()| network.free_address());
        let start = |address: &String| {
            let config = ServerConfig {
                // Nobody is lost by chance.
                failure_timeout: Duration::from_secs(3600),
                reports_leftovers: false,
                max_unclaimed_bytes: MAX_UNCLAIMED_BYTES,
                ..ServerConfig::new("fuzz", address)
            };
            let host = &ground.host;
            let listen = |handler| network.listen(host, address, handler);
            Server::on_network(host, config, listen).expect("the address is free")
        };
        Self {
            ground,
            counts,
            num_panics: NUM_PANICS.load(Ordering::Relaxed),
            configs: DistributedContextConfiguration::local_cluster(&addresses),
            servers: addresses[..2].iter().map(start).collect(),
            contexts: Vec::new(),
        }
    }

    /// Creates a context on the first task. It does not watch over the others: its first heartbeat
    /// would be early or late by chance.
    ///
    /// # Panics
    /// If there is one of this id.
    pub fn create_on_first(&mut self, id: u64) {
        let created = self.servers[0].create_context(id, &self.configs[0]);
        assert!(created.is_ok(), "{created:?}");
        self.note_context(0, id);
    }

    /// The request that creates a context on the second task; the first task owns it.
    #[must_use]
    pub fn creation(&self, context_id: u64) -> CreateContextRequest {
        let device = |name: &str| DeviceInfo {
            name: name.to_owned(),
            r#type: "cpu".to_owned(),
        };
        CreateContextRequest {
            context_id,
            dist_config: Some(self.configs[1].clone()),
            devices: vec![device(OTHER_DEVICE), device(DEVICE)],
            is_multi_client: false,
            owner: "/job:worker/task:0".to_owned(),
            owner_prefix: PREFIX,
        }
    }

    /// Sends a request to the second task, of the task `caller` if there is one, and lets it run as
    /// far as it can.
    pub fn send(&self, caller: Option<i32>, request: impl Into<Request>) -> Pending {
        let request = request.into();
        let (sender, answer) = channel();
        let reply = Reply::new(move |outcome| {
            // Those that nobody waits for any more are answered, too.
            let _ = sender.send(outcome);
        });
        let server = Arc::clone(&self.servers[1]);
        match caller {
            None => server.handle(request, reply),
            Some(caller) => server.handle_from(&TaskName::new("worker", caller), request, reply),
        }
        self.settle();
        answer
    }

    /// Runs what can run.
    pub fn settle(&self) {
        // The thread of the timers may add tasks at any time; those come later.
        let _ = self.ground.host.quiesce();
    }

    /// The context of this id on a task, if there is one.
    #[must_use]
    pub fn context(&self, task: usize, id: u64) -> Option<Arc<DistributedContext>> {
        self.servers[task].context(id).ok()
    }

    /// Checks at the end that a context is freed.
    pub fn note_context(&mut self, task: usize, id: u64) {
        self.contexts
            .extend(self.context(task, id).as_ref().map(Arc::downgrade));
    }

    /// Waits for something that must come.
    ///
    /// # Panics
    /// If it does not come.
    pub fn wait_until(&self, what: &str, mut is_so: impl FnMut() -> bool) {
        let start = Instant::now();
        self.settle();
        while !is_so() {
            assert!(start.elapsed() < PATIENCE, "not after a minute: {what}");
            std::thread::yield_now();
            self.settle();
        }
    }

    /// Shuts both tasks down. All requests are answered then, and nothing stays.
    ///
    /// # Panics
    /// If a request is not answered or forgotten, something stays, or a task has panicked.
    pub fn end(mut self, pending: Vec<(String, Pending)>) {
        let (sender, ended) = channel::<()>();
        for server in &self.servers {
            let sender = sender.clone();
            // The outcome says whether something was cut; then it is over, too.
            server.shut_down_then(move |_| drop(sender));
        }
        drop(sender);
        let has_ended = || matches!(ended.try_recv(), Err(TryRecvError::Disconnected));
        self.wait_until("the tasks have ended", has_ended);
        for (request, answer) in pending {
            let mut found = None;
            self.wait_until(&format!("an answer to {request}"), || {
                found = answer.try_recv().ok();
                found.is_some()
            });
            check_answer(&request, found);
        }
        let servers: Vec<_> = self.servers.iter().map(Arc::downgrade).collect();
        self.servers.clear();
        let contexts = std::mem::take(&mut self.contexts);
        self.wait_until("the tasks are freed", || {
            let num_servers: usize = servers.iter().map(Weak::strong_count).sum();
            let num_contexts: usize = contexts.iter().map(Weak::strong_count).sum();
            num_servers + num_contexts == 0
        });
        for (index, (what, before)) in self.counts.into_iter().enumerate() {
            let text = format!("as many {what} as before");
            self.wait_until(&text, || self.ground.counts()[index].1 <= before);
        }
        let num_panics = NUM_PANICS.load(Ordering::Relaxed) - self.num_panics;
        assert_eq!(num_panics, 0, "a task has panicked");
    }
}

/// Checks that an answer is one of a task, not one of who noticed that a request was dropped.
///
/// # Panics
/// If it is not.
pub fn check_answer(request: &str, answer: Option<Answer<Response>>) {
    if let Some(Err(errors)) = answer {
        let text = errors.to_string();
        assert!(
            !text.contains("was dropped without an answer"),
            "{request}: {text}"
        );
    }
}
