//! A run as one task of a cluster: every task runs the same program.

use std::sync::Arc;

use tfrt::distributed::collective::{self, Collective, Reduction};
use tfrt::distributed::{DistContext, Server};
use tfrt::prelude::{AsyncValueRef, Chain};
use tfrt_host::HostContext;
use tfrt_tensor::{DenseHostTensor, Shape};

use crate::cluster_arguments::{ClusterArguments, FoundCluster, TaskArguments};
use crate::failure::Failure;
use crate::shut_down::shut_down;

/// The task that this process is.
#[derive(Debug)]
pub(super) struct Member {
    server: Arc<Server>,
    context: DistContext,
    /// Keeps the entry of this task where the tasks have met.
    _found: FoundCluster,
}

impl Member {
    /// Joins a cluster: waits until all tasks have.
    pub(super) fn join(
        program: &str,
        cluster: &ClusterArguments,
        task: &TaskArguments,
        host: &Arc<HostContext>,
    ) -> Result<Self, Failure> {
        let found = cluster.configuration(task)?;
        let config = &found.config;
        let server = cluster.start(config, task, host)?;
        let (promise, joined) = AsyncValueRef::<DistContext>::unconstructed();
        let own_server = Arc::clone(&server);
        server.initialize_multi_client(config, move |outcome| match outcome {
            Ok(context) => promise.emplace(DistContext::with_server(context, own_server)),
            Err(errors) => {
                let host = own_server.host();
                promise.set_error(errors.to_value(host));
            }
        });
        let failed = |error| Failure::caused(format!("{program}: cannot join the cluster"), error);
        host.await_values(&[joined.clone().into()])
            .map_err(failed)?;
        let context = joined.as_result().map_err(failed)?.clone();
        Ok(Self {
            server,
            context,
            _found: found,
        })
    }

    /// Returns the context that programs find in their request.
    pub(super) fn context(&self) -> DistContext {
        self.context.clone()
    }

    /// Leaves the cluster once all tasks have run the program: a task that left before would be
    /// lost to the others. A task that failed leaves immediately, because others may wait for work
    /// that it did not do; they lose it, and their waits end.
    pub(super) fn leave(self, host: &Arc<HostContext>, is_well: bool) {
        if !is_well {
            shut_down(&self.server, host);
            return;
        }
        let context = self.context.context();
        let num_tasks = context.cluster().tasks().len();
        let groups = &context.config().collective_groups;
        let of_all = groups.iter().find(|group| group.members.len() == num_tasks);
        let number = Shape::new(&[1]).ok().and_then(|shape| {
            DenseHostTensor::from_elements(host.allocator(), shape, &[0_u8]).ok()
        });
        if let (Some(group), Some(number)) = (of_all, number) {
            let barrier = Collective {
                context: Arc::clone(context),
                group: group.name.clone(),
                key: "tfrt run: the end".to_owned(),
            };
            let (promise, met) = AsyncValueRef::<Chain>::unconstructed();
            let (input, output) = (number.clone(), number);
            let done = move |outcome| match outcome {
                Ok(()) => promise.emplace(Chain),
                Err(error) => promise.set_error(error),
            };
            collective::all_reduce(barrier, Reduction::Sum, input, output, done);
            // An error: a task is lost, and the others are not waited for.
            let _ = host.await_available(&[met.into()]);
        }
        shut_down(&self.server, host);
    }
}
