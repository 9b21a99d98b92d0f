//! `tfrt worker`: a task of a cluster that serves the requests of other tasks.

use std::sync::mpsc::{self, Sender};
use std::thread;

use clap::Parser;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use tfrt::distributed::Server;
use tfrt::distributed::name::TaskName;
use tfrt_host::tracing::TracingLevel;
use tfrt_host::{HostContext, log};

use crate::cluster_arguments::{ClusterArguments, TaskArguments};
use crate::failure::{CliError, Failure};
use crate::front_end::FrontEnd;
use crate::launch;
use crate::libraries::LibraryArguments;
use crate::output::print_line;
use crate::run::{self, create_queue};
use crate::shut_down::shut_down;

const EXAMPLES: &str = "\
Examples:
  tfrt worker --cluster worker=a:7700,b:7700 --task 1     run the second task, at b:7700
  srun tfrt worker                                        run the tasks that SLURM assigns
  tfrt launch -n 4 -- tfrt worker                         run four tasks on this machine

The task prints `ready TASK ADDRESS` once it listens. SIGTERM and SIGINT stop the task: it cancels
what runs for other tasks, and waits for its end, up to 5 seconds. A second signal stops the task
immediately, and so does the first one while the task waits to meet the others in a folder or on an
etcd server.

Programs of clients come one after another or together: `tfrt run --cluster …` is a client. A client
that is lost takes its contexts with it, and the worker serves the next one. Only if the cluster of
the worker has the client as the task that leads (`lead_task_name` of a file; otherwise the first
task), the cluster is of no use without it, and the worker ends.

The exit status is 0 after the first signal to a task that has met the others, 1 if the cluster
description or the certificates are invalid, 2 if the task cannot listen, and 3 if the task that
leads is lost.";

/// The exit status of a task that has lost the task that leads.
const LOST_LEAD: u8 = 3;

/// Why the task ends.
enum End {
    /// A signal requests it.
    Requested,
    /// The task that leads is lost, for this reason.
    LostLead(String),
}

/// Run a task of a cluster that serves the requests of other tasks
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(flatten)]
    cluster: ClusterArguments,

    #[command(flatten)]
    task: TaskArguments,

    #[command(flatten)]
    libraries: LibraryArguments,

    /// The work queue: `mstd:N,B` runs kernels on N threads plus B threads for blocking work
    #[arg(
        long = "work_queue_type",
        value_name = "TYPE[:ARGUMENT]",
        default_value = "mstd"
    )]
    work_queue_type: String,

    /// Write a trace of every kernel to a file when the task ends: see `tfrt trace` [default: the
    /// file that TFRT_TRACE names, as with `tfrt launch --trace`]
    #[arg(long, value_name = "FILE")]
    trace: Option<String>,

    /// Do not print the line that says that the task is ready
    #[arg(long)]
    quiet: bool,

    /// Die with the process of this number, which has started this one
    #[arg(long, value_name = "PID", hide = true)]
    under: Option<i32>,
}

/// Runs the tool. `program` is the name it was started under.
pub(crate) fn run(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    if let Some(launcher) = arguments.under {
        launch::die_with(launcher)?;
    }
    let trace = arguments.trace.clone().or_else(run::path_in_environment);
    match &trace {
        Some(path) => run::record(path, TracingLevel::Debug, || serve(program, arguments)),
        None => serve(program, arguments),
    }
}

/// Runs the task until it ends.
fn serve(program: &str, arguments: &Arguments) -> Result<(), Failure> {
    let found = arguments.cluster.configuration(&arguments.task)?;
    let (sender, ended) = mpsc::channel();
    // Not before: a signal ends a process that waits for other tasks.
    tell_first_signal(sender.clone())?;
    let config = &found.config;
    let front_end = FrontEnd::from_link(program)?.with_libraries(&arguments.libraries)?;
    let host = HostContext::builder()
        .registry(front_end.kernels().clone())
        .queue(create_queue(program, &arguments.work_queue_type)?)
        .diagnostic_handler(|error| log::error!("{}", error.message()))
        .build();
    let server = arguments.cluster.start(config, &arguments.task, &host)?;
    tell_lost_lead(&server, config.lead_task_name(), sender);
    if !arguments.quiet {
        let address = config.own_address().unwrap_or_default();
        print_line(&format!("ready {} {address}", config.task_name()))?;
    }
    // An error means that the thread of the signals is gone, and nobody else could end the task.
    let end = ended.recv();
    shut_down(&server, &host);
    match end {
        Ok(End::LostLead(why)) => Err(Failure::Status(LOST_LEAD, CliError::new(why))),
        Ok(End::Requested) | Err(_) => Ok(()),
    }
}

/// Sends a message when the task is lost that leads the cluster, after it was the client of a
/// context here.
fn tell_lost_lead(server: &Server, leader: &str, sender: Sender<End>) {
    let Ok(leader) = TaskName::parse(leader) else {
        return;
    };
    server.on_owner_lost(move |owner, error| {
        if *owner == leader {
            // Whoever waited may be gone, as the process ends.
            let _ = sender.send(End::LostLead(error.message.clone()));
        }
    });
}

/// Sends a message at the first signal that requests the end. A second signal ends the process.
fn tell_first_signal(sender: Sender<End>) -> Result<(), Failure> {
    let mut is_first = true;
    on_signals(move |signal| {
        if is_first {
            // Whoever waited may be gone, as the process ends.
            let _ = sender.send(End::Requested);
        } else {
            // The process ends as it would without the thread of the signals.
            let _ = emulate_default_handler(signal);
        }
        is_first = false;
    })
}

/// Calls back, on a thread, at each signal that requests the end.
pub(crate) fn on_signals(mut callback: impl FnMut(i32) + Send + 'static) -> Result<(), Failure> {
    let mut signals = Signals::new([SIGTERM, SIGINT])
        .map_err(|error| Failure::caused("cannot wait for signals", error))?;
    thread::spawn(move || signals.forever().for_each(&mut callback));
    Ok(())
}
