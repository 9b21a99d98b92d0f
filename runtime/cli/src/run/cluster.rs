//! The cluster that a run takes part in, if the command line requests one.
//!
//! | flags | this process is |
//! |---|---|
//! | `--distributed` | a task of the cluster, all of whose tasks run the same program |
//! | `--cluster` and others that say which tasks there are | the only client of workers that run |
//! | `--spawn` | the only client of workers that it starts itself |

use std::sync::Arc;

use clap::Args;
use tfrt::distributed::DistContext;
use tfrt_host::HostContext;

use super::client::Client;
use super::member::Member;
use super::workers::{WorkerArguments, Workers, merge_traces};
use crate::cluster_arguments::{ClusterArguments, TaskArguments};
use crate::failure::Failure;
use crate::libraries::LibraryArguments;

/// Which cluster runs the program, and which part of it this process is.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Cluster")]
pub(crate) struct RunClusterArguments {
    /// Run the program as one task of a cluster in which every task runs the same program. In the
    /// program, `tfrt_dist.get_distributed_context` returns the context of the cluster. Without
    /// this flag, but with one of those that say which tasks there are, such as `--cluster`, the
    /// tasks are workers that run already: see `tfrt worker`. This process is then
    /// `/job:client/task:0`, unless `--job` and `--task` say otherwise
    #[arg(long)]
    distributed: bool,

    /// Start this many workers on this machine, and end them after the program. In the program,
    /// `tfrt_dist.get_distributed_context` returns the context of the cluster: this process is
    /// `/job:client/task:0`, and the workers are the tasks of the job `worker`
    #[arg(
        long,
        value_name = "COUNT",
        conflicts_with = "distributed",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    spawn: Option<u16>,

    #[command(flatten)]
    pub(super) task: TaskArguments,

    #[command(flatten)]
    cluster: ClusterArguments,
}

/// The part that this process has in a cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Alone,
    Member,
    Client,
    Spawning,
}

/// A cluster that this process takes part in.
pub(super) enum Joined {
    Member(Member),
    Client(Client),
    Spawning(Workers),
}

impl RunClusterArguments {
    fn role(&self) -> Role {
        match (self.distributed, self.spawn) {
            (true, _) => Role::Member,
            (false, Some(_)) => Role::Spawning,
            (false, None) if self.cluster.is_given() => Role::Client,
            (false, None) => Role::Alone,
        }
    }

    /// Adds the traces of the workers that a run has started to its own one.
    pub(super) fn merge_traces(&self, trace: &str) -> Result<(), Failure> {
        self.spawn
            .map_or(Ok(()), |num_workers| merge_traces(trace, num_workers))
    }

    /// Returns `true` if the program runs in a cluster.
    pub(super) fn is_given(&self) -> bool {
        self.role() != Role::Alone
    }

    /// Refuses flags that would have no effect.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let with_workers = ["--meeting-timeout", "--collectives", "--any-order"];
        let given = || self.cluster.given().chain(self.task.given());
        let (useless, why) = match self.role() {
            Role::Alone => (
                given().next(),
                "without `--distributed`, or a flag that says which tasks there are, such as \
                 `--cluster`",
            ),
            Role::Spawning => (
                given().find(|flag| !with_workers.contains(flag)),
                "with `--spawn`",
            ),
            Role::Member | Role::Client => (None, ""),
        };
        match useless {
            Some(flag) => Err(Failure::Usage(format!(
                "error: `{flag}` has no effect {why}"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses all flags, for a model.
    #[cfg(feature = "onnx")]
    pub(super) fn refuse_for_model(&self) -> Result<(), Failure> {
        self.check()?;
        match self.is_given() {
            true => Err(Failure::Usage(
                "error: models do not run on clusters: expected none of `--distributed`, \
                 `--cluster…` and `--spawn`"
                    .to_owned(),
            )),
            false => Ok(()),
        }
    }

    /// Joins the cluster, if there is to be one: waits until all tasks have. Workers that are
    /// started load the same libraries, and write traces to files with names that begin with
    /// `trace`.
    pub(super) fn join(
        &self,
        program: &str,
        libraries: &LibraryArguments,
        trace: Option<&str>,
        host: &Arc<HostContext>,
    ) -> Result<Option<Joined>, Failure> {
        let (cluster, task) = (&self.cluster, &self.task);
        match (self.role(), self.spawn) {
            (Role::Alone, _) | (Role::Spawning, None) => Ok(None),
            (Role::Member, _) => Member::join(program, cluster, task, host)
                .map(|member| Some(Joined::Member(member))),
            (Role::Client, _) => {
                let found = cluster.of_client(task)?;
                let server = cluster.start_client(&found.config, task, host)?;
                let client = Client::join(program, server, found, host)?;
                Ok(Some(Joined::Client(client)))
            }
            (Role::Spawning, Some(num_workers)) => {
                let further = WorkerArguments {
                    libraries,
                    trace,
                    num_workers,
                };
                let workers = Workers::start(program, (cluster, task), &further, host)?;
                Ok(Some(Joined::Spawning(workers)))
            }
        }
    }
}

impl Joined {
    /// Returns the context that programs find in their request.
    pub(super) fn context(&self) -> DistContext {
        match self {
            Self::Member(member) => member.context(),
            Self::Client(client) => client.context(),
            Self::Spawning(workers) => workers.context(),
        }
    }

    /// Leaves the cluster, after a program that was well or not.
    pub(super) fn leave(self, host: &Arc<HostContext>, is_well: bool) -> Result<(), Failure> {
        match self {
            Self::Member(member) => member.leave(host, is_well),
            Self::Client(client) => client.leave(host),
            Self::Spawning(workers) => return workers.end(host),
        }
        Ok(())
    }
}
