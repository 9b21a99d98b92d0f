//! A run with workers of its own: `tfrt run --spawn N`.
//!
//! This process is the client, `/job:client/task:0`. It starts the tasks of the job `worker` on
//! this machine, creates a context on all of them, and ends them after the program. If a worker
//! ends before the context is there, the wait for it is over.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;

use tfrt::distributed::DistContext;
use tfrt::distributed::discovery::{CLIENT_JOB, DEFAULT_JOB};
use tfrt_host::HostContext;
use tfrt_queue::Task;
use tfrt_support::Error;

use super::client::{Client, Joining};
use crate::cluster_arguments::{ClusterArguments, TaskArguments};
use crate::failure::Failure;
use crate::launch::{Event, LocalCluster, TaskCommand, Tasks, how_it_ended};
use crate::libraries::LibraryArguments;
use crate::task_traces::TaskTraces;

/// The workers of a run.
pub(super) struct Workers {
    client: Client,
    tasks: Tasks,
    events: Receiver<Event>,
}

impl Workers {
    /// Starts workers, and waits until all of them are there.
    pub(super) fn start(
        program: &str,
        (cluster, task): (&ClusterArguments, &TaskArguments),
        further: &WorkerArguments<'_>,
        host: &Arc<HostContext>,
    ) -> Result<Self, Failure> {
        let workers = LocalCluster::new(DEFAULT_JOB, further.num_workers)?;
        let own = LocalCluster::new(CLIENT_JOB, 1)?;
        let jobs = [own.description(), workers.description()];
        let described = jobs.join(";");
        let (cluster, task) = (cluster.of_jobs(&jobs), task.of(CLIENT_JOB, 0));
        let found = cluster.configuration(&task)?;
        own.adopt()
            .map_err(|error| Failure::caused(found.config.task_name(), error))?;
        let server = cluster.start_client(&found.config, &task, host)?;
        let (sender, events) = channel();
        // This tool may have been started under the name of one that has no workers.
        let command = |worker| TaskCommand {
            arguments: further.command_line(&task),
            trace: further.trace_file(worker),
        };
        let mut tasks = workers.start("tfrt", &described, &command, &sender)?;
        let (joining, joined) = Joining::new();
        let events = watched(events, joining.clone(), Arc::downgrade(host));
        match Client::join_with(program, server, found, host, (&joining, joined)) {
            Ok(client) => Ok(Self {
                client,
                tasks,
                events,
            }),
            Err(failure) => {
                let ended = tasks.first_end(&events)?;
                // What a worker has said about its end is shown first.
                tasks.finish(&events)?;
                Err(match ended {
                    Some((worker, status)) => Failure::new(format!(
                        "{program}: /job:{DEFAULT_JOB}/task:{worker} ended with {} before the \
                         program began",
                        how_it_ended(status).1
                    )),
                    None => failure,
                })
            }
        }
    }

    /// Returns the context that programs find in their request.
    pub(super) fn context(&self) -> DistContext {
        self.client.context()
    }

    /// Closes the context, and ends the workers.
    pub(super) fn end(self, host: &Arc<HostContext>) -> Result<(), Failure> {
        self.client.leave(host);
        self.tasks.finish(&self.events)
    }
}

/// What workers do besides serving.
pub(super) struct WorkerArguments<'a> {
    /// They load these.
    pub(super) libraries: &'a LibraryArguments,
    /// They write traces to files with names that begin with this one.
    pub(super) trace: Option<&'a str>,
    pub(super) num_workers: u16,
}

impl WorkerArguments<'_> {
    /// Returns the command line of a worker, without the name of the tool.
    fn command_line(&self, task: &TaskArguments) -> Vec<OsString> {
        let pid = std::process::id().to_string();
        let collectives = format!("--collectives={}", task.collectives());
        let flags = ["worker", "--quiet", "--under", &pid, &collectives];
        let mut arguments: Vec<OsString> = flags.map(OsString::from).into();
        for path in self.libraries.paths() {
            arguments.extend(["--kernel-library".into(), path.clone().into_os_string()]);
        }
        arguments
    }

    /// Returns the file for the trace of a worker, if it is to write one.
    fn trace_file(&self, worker: usize) -> Option<String> {
        let trace = self.trace?;
        Some(traces(trace, self.num_workers).file(worker))
    }
}

fn traces(merged: &str, num_workers: u16) -> TaskTraces<'_> {
    TaskTraces::new(merged, DEFAULT_JOB, num_workers)
}

/// Adds the traces of workers to that of their client, and removes their files.
pub(super) fn merge_traces(trace: &str, num_workers: u16) -> Result<(), Failure> {
    traces(trace, num_workers).merge(Some(format!("{CLIENT_JOB}/0")))
}

/// Passes events on. The end of a task ends a wait for all tasks.
fn watched(events: Receiver<Event>, joining: Joining, host: Weak<HostContext>) -> Receiver<Event> {
    let (sender, passed) = channel();
    thread::spawn(move || pass_on(&events, &sender, &joining, &host));
    passed
}

fn pass_on(
    events: &Receiver<Event>,
    sender: &Sender<Event>,
    joining: &Joining,
    host: &Weak<HostContext>,
) {
    for event in events {
        let is_end = matches!(event, Event::Ended(_));
        // First, so that whoever has waited finds it.
        if sender.send(event).is_err() {
            return;
        }
        if is_end && let Some(host) = host.upgrade() {
            let joining = joining.clone();
            let task = Task::new(move || joining.resolve(Err(Error::new("a worker has ended"))));
            host.queue().add_task(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use tfrt_host::HostContext;

    use super::super::cluster::RunClusterArguments;
    use super::*;
    use crate::failure::WithCauses;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        cluster: RunClusterArguments,

        #[command(flatten)]
        libraries: LibraryArguments,
    }

    #[test]
    fn workers_that_end_at_once_are_not_waited_for() {
        for queue in ["s", "mstd:2"] {
            let host = HostContext::builder()
                .queue(tfrt_queue::create_queue(queue).unwrap())
                .build();
            // The workers are this test under another name, with arguments that tests do not have.
            let line = Line::parse_from(["run", "--spawn=2", "--meeting-timeout=60"]);
            let joined = line.cluster.join("tfrt", &line.libraries, None, &host);
            let Err(Failure::Error(error)) = joined.map(|_| ()) else {
                panic!("a test is not a worker");
            };
            let error = WithCauses(&error).to_string();
            let [first, second] = [0, 1].map(|worker| {
                format!(
                    "tfrt: /job:worker/task:{worker} ended with exit status 101 before the \
                     program began"
                )
            });
            assert!(error == first || error == second, "{error}");
        }
    }

    #[test]
    fn workers_are_told_what_the_run_was_told() {
        let line = Line::parse_from([
            "run",
            "--spawn=2",
            "--kernel-library=a.so,b.so",
            "--kernel-library=c.so",
        ]);
        let further = WorkerArguments {
            libraries: &line.libraries,
            trace: Some("t.json"),
            num_workers: 2,
        };
        let arguments = further.command_line(&line.cluster.task);
        let libraries = ["a.so", "b.so", "c.so"].map(|path| ["--kernel-library", path]);
        let expected = [&["--collectives=ring"], &libraries.concat()[..]].concat();
        assert_eq!(arguments[4..], expected[..]);
        assert_eq!(further.trace_file(1).as_deref(), Some("t.json.worker.1"));
    }
}
