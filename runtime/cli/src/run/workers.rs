//! A run with workers of its own: `tfrt run --spawn N`.
//!
//! This process is the client, `/job:client/task:0`. It starts the tasks of the job `worker` on
//! this machine, creates a context on all of them, and ends them after the program.

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use tfrt::distributed::discovery::{DEFAULT_JOB, Told, discover};
use tfrt::distributed::{DistContext, Server, ServerConfig};
use tfrt::prelude::AsyncValueRef;
use tfrt_grpc::{GrpcNetwork, GrpcOptions};
use tfrt_host::HostContext;

use crate::failure::Failure;
use crate::launch::{Event, LocalCluster, Tasks};
use crate::shut_down::shut_down;

/// The job of the process that runs the program.
const CLIENT_JOB: &str = "client";

/// The workers of a run.
pub(super) struct Workers {
    server: Arc<Server>,
    context: DistContext,
    tasks: Tasks,
    events: Receiver<Event>,
}

impl Workers {
    /// Starts workers, and waits until all of them are there.
    pub(super) fn start(
        program: &str,
        num_workers: u16,
        host: &Arc<HostContext>,
    ) -> Result<Self, Failure> {
        let workers = LocalCluster::new(DEFAULT_JOB, num_workers)?;
        let own = LocalCluster::new(CLIENT_JOB, 1)?;
        let jobs = vec![own.description(), workers.description()];
        let described = jobs.join(";");
        let told = Told {
            jobs,
            job: Some(CLIENT_JOB.to_owned()),
            task: Some(0),
            ..Told::default()
        };
        let config = discover(&told, &|_| None).map_err(|error| Failure::new(error.to_string()))?;
        let cannot_listen = |error| Failure::caused(config.task_name(), error);
        own.adopt().map_err(cannot_listen)?;
        let network = GrpcNetwork::new(GrpcOptions::default());
        let address = config.own_address().unwrap_or_default();
        let server_config = ServerConfig::new(tfrt_grpc::TYPE_NAME, address);
        let listen = |handler| network.listen(host, address, handler);
        let server = Server::on_network(host, server_config, listen).map_err(cannot_listen)?;
        let (sender, events) = channel();
        let pid = std::process::id().to_string();
        let worker = ["worker", "--quiet", "--under", &pid].map(OsString::from);
        // This tool may have been started under the name of one that has no workers.
        let tasks = workers.start("tfrt", &described, &worker, &sender)?;
        let (promise, initialized) = AsyncValueRef::<DistContext>::unconstructed();
        let own_server = Arc::clone(&server);
        server.initialize_single_client(None, &config, move |outcome| match outcome {
            Ok(context) => promise.emplace(DistContext::with_server(context, own_server)),
            Err(errors) => promise.set_error(errors.to_value(own_server.host())),
        });
        let failed = |error| Failure::caused(format!("{program}: cannot reach the workers"), error);
        host.await_values(&[initialized.clone().into()])
            .map_err(failed)?;
        let context = initialized.as_result().map_err(failed)?.clone();
        Ok(Self {
            server,
            context,
            tasks,
            events,
        })
    }

    /// Returns the context that programs find in their request.
    pub(super) fn context(&self) -> DistContext {
        self.context.clone()
    }

    /// Closes the context, and ends the workers.
    pub(super) fn end(self, host: &Arc<HostContext>) -> Result<(), Failure> {
        let (promise, closed) = AsyncValueRef::<i32>::unconstructed();
        let context = Arc::clone(self.context.context());
        // A worker that is lost has closed it, too.
        context.close_remote_contexts(move |_| promise.emplace(0));
        let _ = host.await_available(&[closed.into()]);
        drop(context);
        shut_down(&self.server, host);
        self.tasks.finish(&self.events)
    }
}
